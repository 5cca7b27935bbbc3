"""Codebooks of surveys: variable names that people know by heart, with what they mean.

`PY010N` says nothing to who has not read the codebook, and everything to who has. A codebook is
recognised by several of its names together, so that a single `V005` is not taken for the weight of
a survey that the file has nothing to do with. Where the names were read is in `codebooks.toml`.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from divulge.data import tuning
from divulge.data.dictionary import ROLES, Role
from divulge.data.proposals.known_attributes import Experience


@dataclass(frozen=True, kw_only=True)
class CodebookEntry:
    """One variable of a codebook: its name, what it is, and which part it plays."""

    codebook: str
    name: str
    role: Role
    topic: str
    description: str

    @property
    def reason(self) -> str:
        """Why an attribute of this name has this role."""
        return (
            f'its name is "{self.name}" in the codebook of {self.codebook} '
            f"({self.description}): {self.role}"
        )


def find_codebook_entries(names: Iterable[str]) -> dict[str, CodebookEntry]:
    """The entries of the codebook that the names of a dataset come from; none if of no codebook.

    >>> found = find_codebook_entries(["db030", "RB090", "py010n", "shoe size"])
    >>> {name: entry.role for name, entry in found.items()}
    {'db030': 'household', 'RB090': 'quasi_identifier', 'py010n': 'sensitive'}
    >>> find_codebook_entries(["V001", "V002", "V003", "V004", "V005"])
    {}
    """
    by_key = {name.strip().casefold(): name for name in names}
    found: dict[str, CodebookEntry] = {}
    best = 0
    for entries in _read_codebooks().values():
        shared = {key: entries[key] for key in by_key if key in entries}
        # Everybody calls an age "age": such names are no sign of a codebook.
        telling = [key for key in shared if key not in _list_everyday_names()]
        if len(telling) >= tuning.MIN_CODEBOOK_NAMES and len(telling) > best:
            best = len(telling)
            found = {by_key[key]: entry for key, entry in shared.items()}
    return found


def list_codebook_sources() -> Mapping[str, tuple[str, ...]]:
    """Where the names of each codebook were read.

    >>> sorted(list_codebook_sources())[:3]
    ['ACS', 'DHS', 'EU-LFS']
    """
    return {name: tuple(about["sources"]) for name, about in _read_descriptions().items()}


@cache
def _read_codebooks() -> Mapping[str, Mapping[str, CodebookEntry]]:
    text = (resources.files(__package__) / "codebooks.csv").read_text(encoding="utf-8")
    codebooks: dict[str, dict[str, CodebookEntry]] = {}
    for row in csv.DictReader(text.splitlines(), delimiter=";"):
        entry = CodebookEntry(
            codebook=row["codebook"],
            name=row["name"],
            role=next(role for role in ROLES if role == row["role"]),
            topic=row["topic"],
            description=row["description"],
        )
        codebooks.setdefault(entry.codebook, {})[entry.name.casefold()] = entry
    return codebooks


@cache
def _read_descriptions() -> Mapping[str, Mapping[str, list[str]]]:
    text = (resources.files(__package__) / "codebooks.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _list_everyday_names() -> frozenset[str]:
    return frozenset(known.name.casefold() for known in Experience.shipped())
