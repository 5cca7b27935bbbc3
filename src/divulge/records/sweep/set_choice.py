"""Which sets of attributes a sweep assesses: all up to a size, those of some sizes, or a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from numbers import Integral
from typing import Any, TypeAlias

from divulge.data import Dataset
from divulge.data.dictionary import as_names, find_name_problems
from divulge.records import tuning
from divulge.work import Problems

AttributeSet: TypeAlias = tuple[int, ...]
"""Places in the list of known attributes."""


@dataclass(frozen=True)
class SetChoice:
    """Sets of so many attributes: all of some sizes, or those that are listed.

    >>> choice = SetChoice(3, (1, 3))
    >>> choice.count, choice.lattice, choice.list_sets()
    (4, 7, [(0,), (1,), (2,), (0, 1, 2)])
    """

    attributes: int
    sizes: tuple[int, ...]
    listed: tuple[AttributeSet, ...] | None = None

    @property
    def at_most(self) -> int:
        """The size of the largest."""
        return max(self.sizes)

    @property
    def count(self) -> int:
        """How many sets there are."""
        if self.listed is not None:
            return len(self.listed)
        return sum(comb(self.attributes, size) for size in self.sizes)

    @property
    def lattice(self) -> int:
        """How many sets a walk would count that cannot leave any out."""
        return sum(comb(self.attributes, size) for size in range(1, self.at_most + 1))

    @property
    def is_worth_a_walk(self) -> bool:
        """Whether a walk over the lattice is less work than the sets, one by one."""
        return self.lattice <= self.count * tuning.MOST_SETS_FOR_LISTED

    def list_sets(self) -> list[AttributeSet]:
        """All of them, small ones first."""
        if self.listed is not None:
            return sorted(self.listed, key=lambda each: (len(each), each))
        return [s for size in self.sizes for s in combinations(range(self.attributes), size)]

    def list_bits(self) -> list[int]:
        """The listed ones as bits; bit i is the i-th attribute."""
        return [sum(1 << place for place in each) for each in self.listed or ()]


def choose_known(
    dataset: Dataset, knows: str | Iterable[str] | None, listed: Sequence[Sequence[str]] | None
) -> list[str]:
    """The attributes of which sets are made: as given, or all that the listed ones name."""
    if knows is not None:
        return as_names(knows)
    if listed is None:
        return dataset.quasi_identifiers
    named = {name for each in listed for name in each}
    inside = [name for name in dataset.names if name in named]
    return [*inside, *sorted(named - set(inside))]


def choose_sets(
    problems: Problems,
    sizes: int | Iterable[int] | None,
    listed: Sequence[Sequence[str]] | None,
    known: Sequence[str],
) -> SetChoice:
    """The sets that are asked for; what is wrong with that is noted."""
    if listed is None:
        return SetChoice(len(known), tuple(_choose_sizes(problems, sizes, len(known))))
    if sizes is not None:
        problems.add("sizes", "goes with all sets, and sets are listed: leave one of the two out.")
    if not listed:
        problems.add("sets", "lists none.")
    elif not all(listed):
        problems.add("sets", "lists a set of no attribute.")
    for each in listed:
        problems.extend("", find_name_problems("sets", each, known, "what is known"))
    places = {name: place for place, name in enumerate(known)}
    chosen = {tuple(sorted({places.get(name, 0) for name in each})) for each in listed if each}
    chosen_sizes = sorted({len(each) for each in chosen}) or [1]
    return SetChoice(len(known), tuple(chosen_sizes), tuple(chosen))


def _choose_sizes(
    problems: Problems, sizes: int | Iterable[int] | None, attributes: int
) -> list[int]:
    """The sizes of the sets that are asked for."""
    if attributes == 0:
        return [1]  # that nothing is known is said already
    if sizes is None:
        set_sizes = list(range(1, attributes + 1))
    elif isinstance(sizes, Integral):
        set_sizes = list(range(1, min(int(sizes), attributes) + 1))
    else:
        raw_sizes: Any = sizes
        each = set(raw_sizes) if isinstance(raw_sizes, Iterable) else {raw_sizes}
        set_sizes = sorted(int(size) if isinstance(size, Integral) else 0 for size in each)
    wrong = [size for size in set_sizes if not 1 <= size <= max(1, attributes)]
    if wrong or not set_sizes:
        problems.add("sizes", f"a set has from 1 to {attributes} attributes.")
        return [1]
    sets = sum(comb(attributes, size) for size in range(1, max(set_sizes) + 1))
    if sets > tuning.MAX_SETS:
        allowed_sizes = [
            size
            for size in range(1, attributes + 1)
            if sum(comb(attributes, s) for s in range(1, size + 1)) <= tuning.MAX_SETS
        ]
        message = (
            f"{attributes} attributes have {sets:,} sets, and {tuning.MAX_SETS:,} are the most."
        )
        problems.add("sizes", f"{message} Give sizes={max(allowed_sizes, default=1)} or less.")
    return set_sizes
