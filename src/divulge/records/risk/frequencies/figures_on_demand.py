"""Lazy figures and sentences of a result: made when somebody asks for them.

Protection measures the same risk after every change and looks at nothing but the values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import overload

from divulge.assessment import Sentence


class CountsOnDemand(Mapping[str, int]):
    """Counts by name, each made when it is first asked for.

    >>> counts = CountsOnDemand(["value"], len)
    >>> list(counts), counts["value"]
    (['value'], 5)
    """

    def __init__(self, names: Sequence[str], count: Callable[[str], int]) -> None:
        self._names = tuple(names)
        self._count = lru_cache(maxsize=None)(count)

    def __getitem__(self, name: str) -> int:
        if name not in self._names:
            raise KeyError(name)
        return self._count(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class SentencesOnDemand(Sequence[Sentence]):
    """Sentences that are made when they are first looked at."""

    def __init__(self, make: Callable[[], Sequence[Sentence]]) -> None:
        self._make = make

    @cached_property
    def _sentences(self) -> tuple[Sentence, ...]:
        return tuple(self._make())

    @overload
    def __getitem__(self, place: int) -> Sentence: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Sentence]: ...

    def __getitem__(self, place: int | slice) -> Sentence | Sequence[Sentence]:
        return self._sentences[place]

    def __len__(self) -> int:
        return len(self._sentences)
