"""Dictionary-encoded values of many cells: looked up for who asks, no object for who does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

from divulge.work.arrays import Array, Ints


class CodedValues(Sequence[Any]):
    """A sequence of values that are looked up when somebody asks for them.

    >>> import numpy as np
    >>> cells = CodedValues(np.array([0, 1, 1]), ["F", "M"])
    >>> len(cells), cells[1], list(cells[1:])
    (3, 'M', ['M', 'M'])
    """

    __slots__ = ("_codes", "_values")

    def __init__(self, codes: Array, values: Sequence[Any]) -> None:
        self._codes, self._values = codes, values

    def select(self, places: Ints) -> CodedValues:
        """The values at some places, in their order."""
        return CodedValues(self._codes[places], self._values)

    def __len__(self) -> int:
        return len(self._codes)

    def __iter__(self) -> Iterator[Any]:
        return map(self._values.__getitem__, self._codes.tolist())

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> CodedValues: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return CodedValues(self._codes[place], self._values)
        return self._values[int(self._codes[place])]
