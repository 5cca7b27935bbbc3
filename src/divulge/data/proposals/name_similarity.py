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

from divulge.data import tuning

Words: TypeAlias = tuple[str, ...]
"""The words of a name; numbers at the end of words are words of their own."""


_GERMAN_LETTERS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"}
)
_BOUNDARIES = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^0-9A-Za-z']+|'")
_NUMBER_AT_THE_END = re.compile(r"(?<=[^\d])(\d+)$")
_SHORT_FORMS = {
    "num": "number", "no": "number", "nr": "number", "nbr": "number", "rev": "revenue",
    "emp": "employees", "mths": "months", "mos": "months", "yr": "year", "yob": "year of birth",
    "mob": "month of birth", "addr": "address", "tel": "phone", "occ": "occupation",
    "edu": "education", "educ": "education", "inc": "income", "hh": "household",
    "nat": "nationality", "mun": "municipio", "qty": "quantity", "wgt": "weight", "wt": "weight",
    "dept": "department", "geogr": "geographic", "perc": "percent", "pct": "percent",
    "mar": "marital", "stat": "status", "amt": "amount", "bal": "balance", "occu": "occupation",
    "ethn": "ethnic", "etni": "ethnic", "ts": "timestamp", "cust": "customer",
    "resp": "respondent", "wght": "weight", "tot": "total", "lang": "language",
    "dob": "date of birth", "cntry": "country",
}  # fmt: skip
_SMALL_WORD_LIST = """
a an and at by d da das de del della delle der des di do dos du e el en et from i il im in is l la
las last le les lo los of on or per s the to total um und von y zu
"""
_SMALL_WORDS = frozenset(_SMALL_WORD_LIST.split())


@lru_cache(maxsize=65536)
def split_words(name: str) -> tuple[str, ...]:
    """The words of a name, whatever way they are run together; short forms in full.

    >>> split_words("Residential Rev."), split_words("dateOfBirth"), split_words("Größe_2019")
    (('residential', 'revenue'), ('date', 'of', 'birth'), ('groesse', '2019'))
    """
    folded = unicodedata.normalize("NFKD", name.translate(_GERMAN_LETTERS))
    letters = "".join(c for c in folded if not unicodedata.combining(c))
    parts = [part.lower() for part in _BOUNDARIES.split(letters) if part]
    parts = [piece for part in parts for piece in _NUMBER_AT_THE_END.split(part) if piece]
    return tuple(word for part in parts for word in expand_word(part))


def expand_word(word: str) -> Words:
    """A word in full, if it is a short form that everybody uses.

    >>> expand_word("yob"), expand_word("age")
    (('year', 'of', 'birth'), ('age',))
    """
    return tuple(_SHORT_FORMS.get(word, word).split())


def drop_numbers(words: Words) -> Words:
    """The words without numbers: what a name is like, where it is one of a series."""
    return tuple(word for word in words if not word.isdigit())


def measure_similarity(name: str, known: str) -> float:
    """How alike a name is to a known one, 0 to 1; `tuning.SIMILARITY_THRESHOLD` is alike.

    A number in the known name must be in the other too: what is known of `q12` says nothing of
    `q13`, and what is known of `income` does say something of `income 2019`.

    >>> measure_similarity("birthDate", "birth date")
    1.0
    >>> measure_similarity("monthly income", "income") >= tuning.SIMILARITY_THRESHOLD
    True
    >>> measure_similarity("wage", "age") >= tuning.SIMILARITY_THRESHOLD
    False
    >>> measure_similarity("ocupation", "occupation") >= tuning.SIMILARITY_THRESHOLD
    True
    >>> measure_similarity("q13", "q12"), measure_similarity("q12", "Q_12")
    (0.0, 1.0)
    """
    words, known_words = split_words(name), split_words(known)
    if drop_numbers(known_words) == known_words:
        words = drop_numbers(words)
    elif sorted(words) != sorted(known_words) and "".join(words) != "".join(known_words):
        return 0.0
    return _score_similarity(_WordForms.from_words(words), _WordForms.from_words(known_words))


class NameIndex:
    """Known names, of which those alike to a text are found without comparing it with every one.

    A name is alike by its words, which are looked up, or by its letters, which are compared for
    all texts at once; only what may be alike is then measured.

    >>> index = NameIndex(["age", "date of birth", "monthly income"])
    >>> [found] = index.find_similar([split_words("birthDate")]).values()
    >>> [(place, round(degree, 2)) for place, degree in found]
    [(1, 0.95)]
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._places: dict[Words, list[int]] = {}
        self._numbered: dict[Words, list[int]] = {}
        for place, name in enumerate(names):
            words = split_words(name)
            kind = self._places if drop_numbers(words) == words else self._numbered
            kind.setdefault(words, []).append(place)
        self._places.pop((), None)
        self._numbered_forms: dict[Hashable, list[Words]] = {}
        for words in self._numbered:
            for key in dict.fromkeys(_list_exact_keys(words)):
                self._numbered_forms.setdefault(key, []).append(words)
        self._forms = [_WordForms.from_words(words) for words in self._places]
        self._exact: dict[Hashable, list[int]] = {}
        word_counts = Counter(word for form in self._forms for word in form.content_words)
        self._by_word: dict[str, list[int]] = {}
        for number, form in enumerate(self._forms):
            for key in form.keys:
                self._exact.setdefault(key, []).append(number)
            if form.content_words:
                # A name whose words are all among others is found by the rarest of its own.
                rarest = min(form.content_words, key=lambda word: (word_counts[word], word))
                self._by_word.setdefault(rarest, []).append(number)
        self._long_forms = [
            n for n, f in enumerate(self._forms) if len(f.joined) >= tuning.MIN_LETTERS_COMPARED
        ]

    def find_similar(self, texts: Iterable[Words]) -> dict[Words, list[tuple[int, float]]]:
        """Of each text, given by its words, the places of the names alike and their likeness."""
        distinct_texts = list(dict.fromkeys(texts))
        plain_texts = {words: drop_numbers(words) for words in distinct_texts}
        similar_plainly = self._find_similar_plainly(plain_texts.values())
        return {
            words: sorted(
                [*similar_plainly.get(plain_texts[words], ()), *self._find_numbered(words)]
            )
            for words in distinct_texts
            if words
        }

    def _find_numbered(self, words: Words) -> Iterator[tuple[int, float]]:
        """Known names with numbers: only those of the same words and numbers are alike."""
        if drop_numbers(words) == words:
            return
        same = {w for key in _list_exact_keys(words) for w in self._numbered_forms.get(key, ())}
        for known in same:
            degree = _score_similarity(_WordForms.from_words(words), _WordForms.from_words(known))
            yield from ((place, degree) for place in self._numbered[known])

    def _find_similar_plainly(self, texts: Iterable[Words]) -> dict[Words, list[tuple[int, float]]]:
        """The same for known names without numbers, by texts without theirs."""
        forms = [_WordForms.from_words(words) for words in dict.fromkeys(texts) if words]
        similar_names = {}
        for form, misspellings in zip(forms, self._find_misspellings(forms), strict=True):
            numbers = set(misspellings)
            for key in form.keys:
                numbers.update(self._exact.get(key, ()))
            for word in form.content_words:
                numbers.update(self._by_word.get(word, ()))
            degrees = {number: _score_similarity(form, self._forms[number]) for number in numbers}
            similar_names[form.words] = sorted(
                (place, degree)
                for number, degree in degrees.items()
                if degree >= tuning.SIMILARITY_THRESHOLD
                for place in self._places[self._forms[number].words]
            )
        return similar_names

    def _find_misspellings(self, forms: Sequence[_WordForms]) -> Iterator[list[int]]:
        """Of each text the names that share most of its letters."""
        from rapidfuzz import fuzz, process

        choices = [self._forms[number].joined for number in self._long_forms]
        for start in range(0, len(forms), tuning.TEXTS_AT_A_TIME):
            batch = forms[start : start + tuning.TEXTS_AT_A_TIME]
            long_texts = [
                form.joined if len(form.joined) >= tuning.MIN_LETTERS_COMPARED else ""
                for form in batch
            ]
            # One less than is asked for, because scores are cut to whole ones here.
            scores = process.cdist(
                long_texts,
                choices,
                scorer=fuzz.ratio,
                score_cutoff=tuning.MISSPELLING_SCORE - 1,
                dtype=np.uint8,
            )
            for row in scores:
                yield [self._long_forms[place] for place in np.flatnonzero(row)]


def _list_exact_keys(words: Words) -> tuple[Hashable, Hashable]:
    return (0, "".join(words)), (1, tuple(sorted(words)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _WordForms:
    """The words of a name as they are compared."""

    words: Words
    joined: str
    sorted_words: Words
    content: Words
    content_words: frozenset[str]

    @classmethod
    @lru_cache(maxsize=65536)
    def from_words(cls, words: Words) -> _WordForms:
        content = tuple(sorted(_strip_plural(word) for word in words if word not in _SMALL_WORDS))
        return cls(
            words=words,
            joined="".join(words),
            sorted_words=tuple(sorted(words)),
            content=content,
            content_words=frozenset(content),
        )

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """What two names share that are the same, in another order, or but for small words."""
        same = ((0, self.joined), (1, self.sorted_words))
        return (*same, (2, self.content)) if self.content else same


def _score_similarity(mine: _WordForms, theirs: _WordForms) -> float:
    from rapidfuzz import fuzz

    if not mine.words or not theirs.words:
        return 0.0
    if mine.words == theirs.words:
        return 1.0
    if mine.joined == theirs.joined or mine.sorted_words == theirs.sorted_words:
        return 0.98
    best = 0.0
    if mine.content and theirs.content:
        if mine.content == theirs.content:
            best = 0.95
        elif theirs.content_words < mine.content_words:
            best = 0.7 + 0.25 * len(theirs.content) / len(mine.content)
    if min(len(mine.joined), len(theirs.joined)) >= tuning.MIN_LETTERS_COMPARED:
        letters = fuzz.ratio(mine.joined, theirs.joined, score_cutoff=tuning.MISSPELLING_SCORE)
        best = max(best, 0.95 * letters / 100)
    return best


def _strip_plural(word: str) -> str:
    """One household weight and many household weights are the same attribute."""
    return word.removesuffix("s") if len(word) > 4 else word
