"""What a measure of risk may be told beside its bound: words, numbers, lists, other datasets.

Each kind of option says what is wrong with what was given, before any record is read, and as
which field of an adversary's settings it is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from divulge.data import Dataset
from divulge.work import Problem, checks


@dataclass(frozen=True)
class OneOf:
    """An option that is one of some words; the first is taken if it is not given."""

    words: tuple[str, ...]
    description: str

    @property
    def default(self) -> str:
        """The word that is taken if none is given."""
        return self.words[0]

    @property
    def annotation(self) -> Any:
        """The type of the field."""
        return Literal[self.words]

    def problem(self, name: str, value: Any) -> Problem | None:
        """What is wrong with what was given."""
        return next(checks.one_of(name, value, self.words), None)


@dataclass(frozen=True)
class Number:
    """An option that is a number above zero, or from zero, perhaps up to a largest one."""

    description: str
    default: float | None = None
    zero: bool = False
    largest: float | None = None

    @property
    def annotation(self) -> Any:
        """The type of the field."""
        if self.zero:
            return Annotated[float, Field(ge=0, le=self.largest)]
        return Annotated[float, Field(gt=0, le=self.largest)]

    def problem(self, name: str, value: Any) -> Problem | None:
        """What is wrong with what was given."""
        positive = checks.is_number(value) and (value > 0 or (self.zero and value == 0))
        if positive and value <= (self.largest or value):
            return None
        upto = f" and up to {self.largest:g}" if self.largest else ""
        return Problem(name, f"is not a number {'from' if self.zero else 'above'} 0{upto}.")


@dataclass(frozen=True)
class WholeNumber:
    """An option that is a whole number from one, perhaps up to a largest one."""

    description: str
    largest: int | None = None
    default: int | None = None

    @property
    def annotation(self) -> Any:
        """The type of the field."""
        return Annotated[int, Field(ge=1, le=self.largest)]

    def problem(self, name: str, value: Any) -> Problem | None:
        """What is wrong with what was given."""
        if checks.is_whole_number(value) and value <= (self.largest or value):
            return None
        upto = f"from 1 to {self.largest}" if self.largest else "from 1"
        return Problem(name, f"is not a whole number {upto}.")


@dataclass(frozen=True)
class ValueList:
    """An option that is a list of values."""

    description: str
    default: None = None

    @property
    def annotation(self) -> Any:
        """The type of the field."""
        return list[Any]

    def problem(self, name: str, value: Any) -> Problem | None:
        """What is wrong with what was given."""
        return None if isinstance(value, list | tuple) else Problem(name, "is not a list.")


@dataclass(frozen=True)
class OtherDataset:
    """An option that names another dataset of the release; in Python, the dataset itself.

    It is no field of an adversary's settings: what they see, `dataset` lists.
    """

    def problem(self, name: str, value: Any) -> Problem | None:
        """What is wrong with what was given."""
        if isinstance(value, Dataset) or (isinstance(value, str) and value):
            return None
        return Problem(name, "does not name a dataset.")


@dataclass(frozen=True)
class RiskFunction:
    """An option that is a function: from a dataset to the risk of each of its records.

    It is no field of an adversary's settings: only who computes with Python has one.
    """

    def problem(self, name: str, value: Any) -> Problem | None:
        """What is wrong with what was given."""
        if callable(value):
            return None
        return Problem(name, "is not a function from a dataset to the risk of each record.")


Setting: TypeAlias = OneOf | Number | WholeNumber | ValueList
"""An option that is also a field of an adversary's settings."""

Option: TypeAlias = Setting | OtherDataset | RiskFunction
