"""The experience base: attributes whose category is known, in six languages, and one's own.

The base that comes with Divulge holds names that statistical offices use, with their role and a
topic (who would know such a thing: a neighbour, a colleague, the holder of a register). What a
user accepts goes into a base of their own, a small text file, and outranks the shipped one.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from divulge.data.dictionary import ROLES, Role
from divulge.work import Problems, whole_file

LANGUAGES: Mapping[str, str] = {
    "en": "English",
    "pt": "Portuguese",
    "it": "Italian",
    "es": "Spanish",
    "fr": "French",
    "de": "German",
}


@dataclass(frozen=True)
class KnownAttribute:
    """One attribute whose role is known, and where from."""

    name: str
    role: Role
    topic: str = ""
    source: str = "the shipped base"

    @property
    def is_own(self) -> bool:
        """Whether the user decided it."""
        return self.source == "your own base"


@dataclass(frozen=True)
class Experience:
    """A base of known attributes.

    >>> base = Experience.shipped()
    >>> len(base) >= 300, [known.role for known in base if known.name == "date of birth"]
    (True, ['quasi_identifier'])
    """

    known: tuple[KnownAttribute, ...] = ()

    @classmethod
    def shipped(cls) -> Experience:
        """The base that comes with Divulge."""
        return cls(_read_shipped_base())

    @classmethod
    def own(cls, path: Path | str | None = None) -> Experience:
        """The user's own base; empty if nothing was accepted yet.

        Raises:
            InvalidInput: naming each line of the file that is not `name;role`.
        """
        file = find_own_base_path() if path is None else Path(path)
        if not file.exists():
            return cls()
        problems = Problems(str(file))
        attributes = []
        try:
            with file.open(encoding="utf-8", newline="") as text:
                rows = list(csv.reader(text, delimiter=";"))
        except (OSError, UnicodeDecodeError, csv.Error):
            problems.add("", "is not a base of your own decisions; remove it, or correct it.")
            problems.raise_any()
        for number, row in enumerate(rows, start=1):
            if len(row) != 2:
                problems.add(f"line {number}", "is not name;role.")
            elif row[1] not in ROLES:
                problems.add(f"line {number}", "names no role.", "", ROLES)
            else:
                attributes.append(KnownAttribute(row[0], row[1], source="your own base"))
        problems.raise_any()
        return cls(tuple(attributes))

    def accept(self, roles: Mapping[str, Role]) -> Experience:
        """The base with decisions of the user; a later one replaces an earlier one.

        >>> Experience().accept({"Area": "non_identifying"}).known[0].role
        'non_identifying'
        """
        new = tuple(
            KnownAttribute(name, role, source="your own base") for name, role in roles.items()
        )
        return Experience((*(k for k in self.known if k.name not in roles), *new))

    def save(self, path: Path | str | None = None) -> Path:
        """Write the user's own decisions to their file, whole or not at all."""
        file = find_own_base_path() if path is None else Path(path)
        with (
            whole_file(file, overwrite=True) as part,
            part.open("w", encoding="utf-8", newline="") as text,
        ):
            writer = csv.writer(text, delimiter=";", lineterminator="\n")
            writer.writerows((k.name, k.role) for k in self.known if k.is_own)
        return file

    def __add__(self, other: Experience) -> Experience:
        return Experience((*self.known, *other.known))

    def __iter__(self) -> Iterator[KnownAttribute]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def find_own_base_path() -> Path:
    """Where a user's own base is kept: $DIVULGE_EXPERIENCE, or the user's settings folder."""
    own_base = os.environ.get("DIVULGE_EXPERIENCE")
    if own_base:
        return Path(own_base)
    settings = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(settings) / "divulge" / "experience.csv"


@cache
def _read_shipped_base() -> tuple[KnownAttribute, ...]:
    text = (resources.files(__package__) / "experience.csv").read_text(encoding="utf-8")
    return tuple(_parse_base_rows(csv.DictReader(text.splitlines(), delimiter=";")))


def _parse_base_rows(rows: Iterable[Mapping[str, str]]) -> Iterator[KnownAttribute]:
    earlier_names: set[tuple[str, str]] = set()
    for row in rows:
        role = next(role for role in ROLES if role == row["role"])
        for language in LANGUAGES:
            for name in row[language].split("|"):
                if (name, role) not in earlier_names:
                    earlier_names.add((name, role))
                    yield KnownAttribute(name, role, row["topic"])
