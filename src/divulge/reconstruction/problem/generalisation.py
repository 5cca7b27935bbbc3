"""An attribute of the records as others have it: its first characters, or a level up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from divulge.data import Dataset
from divulge.data.dictionary import find_name_problems
from divulge.work import Problem


@dataclass(frozen=True)
class Generalised:
    """An attribute of the records as a table of totals has it: its first characters, or a level.

    >>> Generalised("product", prefix=4).of("52083900")
    '5208'
    """

    attribute: str
    prefix: int | None = None
    level: int | None = None

    def of(self, value: Any, hierarchy: Any = None) -> str:
        """What a value of the records is called in the totals."""
        if self.level is not None:
            return str(hierarchy.at(value, self.level))
        text = str(value)
        return text if self.prefix is None else text[: self.prefix]

    def problems(self, records: Dataset) -> Iterator[Problem]:
        """An attribute that does not exist, or that has no such level."""
        source = f'dataset "{records.name}"'
        yield from find_name_problems("", [self.attribute], records.names, source)
        if self.level is not None and self.attribute in records.names:
            hierarchy = records.dictionary[self.attribute].hierarchy
            if hierarchy is None or not 0 < self.level <= hierarchy.height:
                message = f'"{self.attribute}" has no level {self.level} of a hierarchy.'
                yield Problem("level", message)

    def at_least_as_fine_as(self, other: Generalised) -> bool:
        """Whether every value of this one has one value of the other."""
        if self.attribute != other.attribute or self.level != other.level:
            return False
        if other.prefix is None:
            return self.prefix is None
        return self.prefix is None or self.prefix >= other.prefix
