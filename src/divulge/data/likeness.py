"""How alike two names of attributes are: by their words, and where those fail by their letters.

Letters alone mislead ("age" and "wage" share most of theirs), so words count first: the same
words, the same words in another order or run together, known words among others. Only long names
are compared letter by letter, for misspellings.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

Words: TypeAlias = tuple[str, ...]

ALIKE = 0.8
"""From here on two names are sufficiently similar (the paper's A ~ A1)."""

_GERMAN = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"}
)
_BOUNDARIES = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^0-9A-Za-z']+|'")
_SHORT_FORMS = {
    "num": "number", "no": "number", "nr": "number", "nbr": "number", "rev": "revenue",
    "emp": "employees", "mths": "months", "mos": "months", "yr": "year", "yob": "year of birth",
    "mob": "month of birth", "addr": "address", "tel": "phone", "occ": "occupation",
    "edu": "education", "educ": "education", "inc": "income", "hh": "household",
    "nat": "nationality", "mun": "municipio", "qty": "quantity", "wgt": "weight", "wt": "weight",
    "dept": "department", "geogr": "geographic", "perc": "percent", "pct": "percent",
    "mar": "marital", "stat": "status",
}  # fmt: skip
_SMALL = """
a an and at by d da das de del della delle der des di do dos du e el en et from i il im in is l la
las last le les lo los of on or per s the to total um und von y zu
"""
_SMALL_WORDS = frozenset(_SMALL.split())
_LETTERS_FROM = 6
_MISSPELT = 88
_TEXTS_AT_A_TIME = 500


@lru_cache(maxsize=65536)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, whatever way they are run together; short forms in full.

    >>> words_of("Residential Rev."), words_of("dateOfBirth"), words_of("Größe_2019")
    (('residential', 'revenue'), ('date', 'of', 'birth'), ('groesse',))
    """
    folded = unicodedata.normalize("NFKD", name.translate(_GERMAN))
    letters = "".join(c for c in folded if not unicodedata.combining(c))
    parts = [part.lower() for part in _BOUNDARIES.split(letters) if part]
    parts = [re.sub(r"\d+$", "", part) or part for part in parts]
    full = " ".join(_SHORT_FORMS.get(part, part) for part in parts if not part.isdigit())
    return tuple(full.split())


def likeness(name: str, known: str) -> float:
    """How alike two names are, 0 to 1; `ALIKE` and above is alike.

    >>> likeness("birthDate", "birth date"), likeness("monthly income", "income") >= ALIKE
    (1.0, True)
    >>> likeness("wage", "age") >= ALIKE, likeness("ocupation", "occupation") >= ALIKE
    (False, True)
    """
    return _degree(_Form.of(words_of(name)), _Form.of(words_of(known)))


class NameIndex:
    """Known names, of which those alike to a text are found without comparing it with every one.

    A name is alike by its words, which are looked up, or by its letters, which are compared for
    all texts at once; only what may be alike is then measured.

    >>> index = NameIndex(["age", "date of birth", "monthly income"])
    >>> [found] = index.alike([words_of("birthDate")]).values()
    >>> [(place, round(degree, 2)) for place, degree in found]
    [(1, 0.95)]
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._places: dict[Words, list[int]] = {}
        for place, name in enumerate(names):
            self._places.setdefault(words_of(name), []).append(place)
        self._places.pop((), None)
        self._forms = [_Form.of(words) for words in self._places]
        self._exact: dict[Hashable, list[int]] = {}
        often = Counter(word for form in self._forms for word in form.content_words)
        self._by_word: dict[str, list[int]] = {}
        for number, form in enumerate(self._forms):
            for key in form.keys:
                self._exact.setdefault(key, []).append(number)
            if form.content_words:
                # A name whose words are all among others is found by the rarest of its own.
                rarest = min(form.content_words, key=lambda word: (often[word], word))
                self._by_word.setdefault(rarest, []).append(number)
        self._long = [n for n, f in enumerate(self._forms) if len(f.together) >= _LETTERS_FROM]

    def alike(self, texts: Iterable[Words]) -> dict[Words, list[tuple[int, float]]]:
        """Of each text, given by its words, the places of the names alike and their likeness."""
        forms = [_Form.of(words) for words in dict.fromkeys(texts) if words]
        found = {}
        for form, misspelt in zip(forms, self._misspelt(forms), strict=True):
            numbers = set(misspelt)
            for key in form.keys:
                numbers.update(self._exact.get(key, ()))
            for word in form.content_words:
                numbers.update(self._by_word.get(word, ()))
            degrees = {number: _degree(form, self._forms[number]) for number in numbers}
            found[form.words] = sorted(
                (place, degree)
                for number, degree in degrees.items()
                if degree >= ALIKE
                for place in self._places[self._forms[number].words]
            )
        return found

    def _misspelt(self, forms: Sequence[_Form]) -> Iterator[list[int]]:
        """Of each text the names that share most of its letters."""
        from rapidfuzz import fuzz, process

        choices = [self._forms[number].together for number in self._long]
        for start in range(0, len(forms), _TEXTS_AT_A_TIME):
            some = forms[start : start + _TEXTS_AT_A_TIME]
            long = [form.together if len(form.together) >= _LETTERS_FROM else "" for form in some]
            # One less than is asked for, because scores are cut to whole ones here.
            scores = process.cdist(
                long, choices, scorer=fuzz.ratio, score_cutoff=_MISSPELT - 1, dtype=np.uint8
            )
            for row in scores:
                yield [self._long[place] for place in np.flatnonzero(row)]


@dataclass(frozen=True, slots=True)
class _Form:
    """The words of a name as they are compared."""

    words: Words
    together: str
    ordered: Words
    content: Words
    content_words: frozenset[str]

    @classmethod
    @lru_cache(maxsize=65536)
    def of(cls, words: Words) -> _Form:
        content = tuple(sorted(_singular(word) for word in words if word not in _SMALL_WORDS))
        return cls(words, "".join(words), tuple(sorted(words)), content, frozenset(content))

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """What two names share that are the same, in another order, or but for small words."""
        same = ((0, self.together), (1, self.ordered))
        return (*same, (2, self.content)) if self.content else same


def _degree(mine: _Form, theirs: _Form) -> float:
    from rapidfuzz import fuzz

    if not mine.words or not theirs.words:
        return 0.0
    if mine.words == theirs.words:
        return 1.0
    if mine.together == theirs.together or mine.ordered == theirs.ordered:
        return 0.98
    best = 0.0
    if mine.content and theirs.content:
        if mine.content == theirs.content:
            best = 0.95
        elif theirs.content_words < mine.content_words:
            best = 0.7 + 0.25 * len(theirs.content) / len(mine.content)
    if min(len(mine.together), len(theirs.together)) >= _LETTERS_FROM:
        letters = fuzz.ratio(mine.together, theirs.together, score_cutoff=_MISSPELT)
        best = max(best, 0.95 * letters / 100)
    return best


def _singular(word: str) -> str:
    """One household weight and many household weights are the same attribute."""
    return word.removesuffix("s") if len(word) > 4 else word
