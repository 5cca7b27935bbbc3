"""Values that are words of a known kind: sexes, marital states, countries, levels of education.

The words are in six languages; countries are known by name, by their codes of two and three letters
and of three digits (Unicode CLDR, see NOTICE). What the words say of an attribute is said without
repeating any of them.
"""

from __future__ import annotations

import csv
import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from divulge.data import tuning
from divulge.data.dictionary import ROLES, Role
from divulge.data.proposals.role_evidence import RoleEvidence

_GERMAN_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
# First two letters of regions of the EU and of its neighbours (NUTS); Greece and the United Kingdom
# have letters of their own there.
_NUTS_COUNTRIES = re.compile(
    "AT|BE|BG|CY|CZ|DE|DK|EE|EL|ES|FI|FR|HR|HU|IE|IT|LT|LU|LV|MT|NL|PL|PT|RO|SE|SI|SK|UK"
    "|AL|CH|IS|LI|ME|MK|NO|RS|TR"
)
_NUTS = re.compile(r"[A-Z]{2}[0-9A-Z]{1,3}")
_NACE = re.compile(r"[A-U][0-9]{2}(\.[0-9]{1,2})?|[0-9]{2}\.[0-9]{1,2}")


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """Words of one kind, and what an attribute of such values is."""

    role: Role
    topic: str
    reason: str
    least_values: int
    most_values: int
    share: float
    whole: frozenset[str]
    within: frozenset[str]

    def covers(self, text: str) -> bool:
        """Whether a folded value is one of the words, or holds one."""
        return text in self.whole or not self.within.isdisjoint(text.split())


def find_vocabulary_evidence(texts: Sequence[str]) -> RoleEvidence | None:
    """What the distinct values of an attribute are, if they are words of a known kind.

    >>> print(find_vocabulary_evidence(["Frau", "Mann"]).reason)
    its values name the sexes
    >>> find_vocabulary_evidence(["Peru", "Brazil", "Kenya", "Italy"]).topic
    'home'
    >>> find_vocabulary_evidence(["red", "green", "blue"])
    """
    folded = [fold_text(text) for text in texts]
    for vocabulary in _read_vocabularies().values():
        if not vocabulary.least_values <= len(folded) <= vocabulary.most_values:
            continue
        covered = sum(vocabulary.covers(text) for text in folded)
        if covered >= max(vocabulary.least_values, vocabulary.share * len(folded)):
            return RoleEvidence(
                vocabulary.role, vocabulary.reason, topic=vocabulary.topic, is_sure=True
            )
    return _find_place_evidence(texts)


def find_continents(values: Sequence[Any]) -> list[str] | None:
    """The continent of every value, if nearly all are countries; "other" for what is none.

    >>> find_continents(["Italy", "Pérou", "JP", "Unspecified", "Kenya", "Kongo-Kinshasa"])
    ['Europe', 'America', 'Asia', 'other', 'Africa', 'Africa']
    """
    continents = _read_countries()
    found = [continents.get(fold_text(str(value)), "other") for value in values]
    known = len(found) - found.count("other")
    enough = max(tuning.MIN_COUNTRIES, tuning.COUNTRY_SHARE * len(found))
    return found if known >= enough else None


def fold_text(text: str) -> str:
    """A text in small letters without accents, marks and doubled spaces."""
    plain = unicodedata.normalize("NFKD", text.lower().translate(_GERMAN_LETTERS))
    letters = "".join(c for c in plain if not unicodedata.combining(c))
    return " ".join(re.findall(r"[a-z0-9]+", letters))


def _find_place_evidence(texts: Sequence[str]) -> RoleEvidence | None:
    if len(texts) >= tuning.MIN_COUNTRIES and find_continents(texts) is not None:
        return RoleEvidence(
            "quasi_identifier", "its values are countries", topic="home", is_sure=True
        )
    least = tuning.NEARLY_ALL_SHARE * len(texts)
    if len(texts) < tuning.MIN_COUNTRIES:
        return None
    regions = sum(bool(_NUTS.fullmatch(t) and _NUTS_COUNTRIES.match(t)) for t in texts)
    if regions >= least and any(len(text) > 2 for text in texts):
        return RoleEvidence(
            "quasi_identifier", "its values are codes of regions (NUTS)", topic="home", is_sure=True
        )
    if sum(_NACE.fullmatch(t) is not None for t in texts) >= least:
        return RoleEvidence(
            "quasi_identifier", "its values look like codes of activities (NACE)", topic="work"
        )
    return None


@cache
def _read_vocabularies() -> Mapping[str, Vocabulary]:
    text = (resources.files(__package__) / "vocabularies.toml").read_text(encoding="utf-8")
    return {
        name: Vocabulary(
            role=next(role for role in ROLES if role == about["role"]),
            topic=about["topic"],
            reason=about["reason"],
            least_values=about["least_values"],
            most_values=about["most_values"],
            share=about["share"],
            whole=frozenset(about.get("whole", ())),
            within=frozenset(about.get("within", ())),
        )
        for name, about in tomllib.loads(text).items()
    }


@cache
def _read_countries() -> Mapping[str, str]:
    """The continent of each country, by name in six languages and by code."""
    text = (resources.files(__package__) / "countries.csv").read_text(encoding="utf-8")
    continents: dict[str, str] = {}
    for row in csv.DictReader(text.splitlines(), delimiter=";"):
        continent = row.pop("continent")
        for name in (*row.pop("codes").split("|"), *row.values()):
            continents.setdefault(fold_text(name), continent)
            # "Cocos (Keeling) Islands" is also found without what stands in brackets.
            continents.setdefault(fold_text(re.sub(r"\(.*?\)", "", name)), continent)
    continents.pop("", None)
    return continents | _OTHER_NAMES


_OTHER_NAMES = {
    "usa": "America", "united states of america": "America", "uk": "Europe",
    "great britain": "Europe", "england": "Europe", "scotland": "Europe", "eire": "Europe",
    "holland": "Europe", "holand netherlands": "Europe", "yugoslavia": "Europe", "rsa": "Africa",
    "korea": "Asia", "columbia": "America", "trinadad tobago": "America", "hong": "Asia",
    "czech republic": "Europe", "channel islands": "Europe", "taiwan": "Asia",
}  # fmt: skip
