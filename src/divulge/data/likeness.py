"""How alike two names of attributes are: by their words, and where those fail by their letters.

Letters alone mislead ("age" and "wage" share most of theirs), so words count first: the same
words, the same words in another order or run together, known words among others. Only long names
are compared letter by letter, for misspellings.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

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
    from rapidfuzz import fuzz

    mine, theirs = words_of(name), words_of(known)
    if not mine or not theirs:
        return 0.0
    if mine == theirs:
        return 1.0
    together, other = "".join(mine), "".join(theirs)
    if together == other or sorted(mine) == sorted(theirs):
        return 0.98
    best = 0.0
    content = [_singular(word) for word in mine if word not in _SMALL_WORDS]
    wanted = [_singular(word) for word in theirs if word not in _SMALL_WORDS]
    if content and wanted:
        if sorted(content) == sorted(wanted):
            best = 0.95
        elif set(wanted) < set(content):
            best = 0.7 + 0.25 * len(wanted) / len(content)
    if min(len(together), len(other)) >= _LETTERS_FROM:
        letters = fuzz.ratio(together, other, score_cutoff=_MISSPELT)
        best = max(best, 0.95 * letters / 100)
    return best


def _singular(word: str) -> str:
    """One household weight and many household weights are the same attribute."""
    return word.removesuffix("s") if len(word) > 4 else word
