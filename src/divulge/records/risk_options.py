"""What a limit on a measure of risk may be told beside its bound: words, numbers, other datasets.

Each kind of option says what is wrong with what was given, before any record is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from divulge.data import Dataset
from divulge.work import Problem


@dataclass(frozen=True)
class OneOf:
    """An option that is one of some words; the first is taken if it is not given."""

    words: tuple[str, ...]

    def problem(self, name: str, given: Any) -> Problem | None:
        """What is wrong with what was given."""
        if given in self.words:
            return None
        return Problem(name, f'"{given}" is not one of them.', str(given), self.words)


@dataclass(frozen=True)
class Positive:
    """An option that is a number above zero."""

    def problem(self, name: str, given: Any) -> Problem | None:
        """What is wrong with what was given."""
        number = isinstance(given, int | float) and not isinstance(given, bool)
        return None if number and given > 0 else Problem(name, "is not a number above 0.")


@dataclass(frozen=True)
class Whole:
    """An option that is a whole number from one, perhaps up to a largest one."""

    largest: int | None = None

    def problem(self, name: str, given: Any) -> Problem | None:
        """What is wrong with what was given."""
        number = isinstance(given, int) and not isinstance(given, bool)
        if number and 0 < given <= (self.largest or given):
            return None
        upto = f"from 1 to {self.largest}" if self.largest else "from 1"
        return Problem(name, f"is not a whole number {upto}.")


@dataclass(frozen=True)
class Words:
    """An option that is a list of values."""

    def problem(self, name: str, given: Any) -> Problem | None:
        """What is wrong with what was given."""
        return None if isinstance(given, list | tuple) else Problem(name, "is not a list.")


@dataclass(frozen=True)
class OtherDataset:
    """An option that names another dataset of the release; in Python, the dataset itself."""

    def problem(self, name: str, given: Any) -> Problem | None:
        """What is wrong with what was given."""
        if isinstance(given, Dataset) or (isinstance(given, str) and given):
            return None
        return Problem(name, "does not name a dataset.")


Option: TypeAlias = OneOf | Positive | Whole | Words | OtherDataset
