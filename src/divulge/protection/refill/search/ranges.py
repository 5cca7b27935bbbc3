"""Ranges of a number or date that share a value: a date of birth tells the age.

Where a column is a coarser form of another (age and date of birth, bracket and income, district and
number of the street), equal values need not meet: what lies between two records of the same age was
born between them. Each value of the finer column is predicted from those before and after it that
are shown, never from its own records.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from divulge.protection import tuning
from divulge.protection.refill.kernels import HIDDEN
from divulge.protection.refill.search.state import RefillState, Target
from divulge.protection.refill.search.support import Support
from divulge.work.arrays import Floats, Ints

NO_PREDICTION = -1


@dataclass(frozen=True, eq=False)
class Ranking:
    """By row, the rank of its number among all that occur, -1 if it has none; and how many."""

    ranks: Ints
    total: int


class RangeFinder:
    """Ranges of each column of numbers, ranked once as long as the column stays what it is."""

    def __init__(self, state: RefillState) -> None:
        self._state = state
        self._rankings: dict[int, tuple[int, Ranking]] = {}
        self._supports: dict[tuple[int, int], tuple[int, Support]] = {}

    def offer_ranges(self) -> None:
        """Offer what both sides of a hidden cell show, by the order of a column."""
        for target in self._state.targets:
            if not target.is_open:
                continue
            for place, support in self.screen_ranges(target):
                if is_step(support) or support.is_plausible(target.boldness):
                    codes = target.known if target.evidence is target.shown else target.evidence
                    predicted = predict_by_ranges(
                        self._rank_rows(place), codes, own=codes is target.known
                    )
                    rows = np.flatnonzero((target.known == HIDDEN) & (predicted >= 0))
                    key = ("range", (place,), target.place)
                    self._state.offer(key, support, (rows, predicted[rows]))  # type: ignore[arg-type]

    def screen_ranges(self, target: Target) -> Iterator[tuple[int, Support]]:
        """The columns of numbers, and how often ranges of each tell what is shown of the target."""
        for place in self._state.sources:
            if self._state.columns[place].numbers is None or not target.may_read((place,)):
                continue
            version, kept = self._state.versions[place], self._supports.get((place, target.place))
            if kept is None or kept[0] != version:
                kept = version, measure_ranges(self._rank_rows(place), target.evidence, target.mode)
                self._supports[place, target.place] = kept
            yield place, kept[1]

    def _rank_rows(self, place: int) -> Ranking:
        version, kept = self._state.versions[place], self._rankings.get(place)
        if kept is None or kept[0] != version:
            kept = version, rank_numbers(self._state.list_numbers(place))
            self._rankings[place] = kept
        return kept[1]


def is_step(support: Support) -> bool:
    """Whether ranges tell so surely that one column is a coarser form of the other.

    What is merely usual in a range (who has a pension is retired) is a guess, and counted there.
    """
    return support.suffices and support.lower_bound >= tuning.REFILL_RANGE_LOWER_BOUND


def rank_numbers(numbers: Floats) -> Ranking:
    """The rows in the order of their numbers; not-a-number where a row has none."""
    ranks = np.full(numbers.size, -1, np.int64)
    is_known = np.isfinite(numbers)
    distinct, ranks[is_known] = np.unique(numbers[is_known], return_inverse=True)
    return Ranking(ranks, int(distinct.size))


def measure_ranges(ranking: Ranking, shown: Ints, mode: int) -> Support:
    """How often the values on both sides of a number are its own."""
    from divulge.protection.refill import kernels

    _, sides = kernels.compare_sides(ranking.ranks, shown, ranking.total)
    figures = kernels.count_side_support(ranking.ranks, shown, sides, mode)
    rows, right, other_rows, other_right, groups = figures.tolist()
    return Support(
        rows=rows, right=right, other_rows=other_rows, other_right=other_right, groups=groups
    )


def predict_by_ranges(ranking: Ranking, codes: Ints, *, own: bool = True) -> Ints:
    """For each row, the code that the numbers before and after its own have; -1 if they differ.

    Args:
        ranking: the order of the rows.
        codes: what is predicted, negative where it is not shown.
        own: whether a row must agree with what others of the same number show.

    >>> born = rank_numbers(np.array([1950.2, 1950.4, 1950.7, 1951.1, 1951.3]))
    >>> predict_by_ranges(born, np.array([70, -2, 70, 69, -2], np.int32)).tolist()
    [-1, 70, -1, -1, -1]
    """
    from divulge.protection.refill import kernels

    shared, sides = kernels.compare_sides(ranking.ranks, codes, ranking.total)
    if own:
        sides = np.where((shared == NO_PREDICTION) | (shared == sides), sides, NO_PREDICTION)
    return np.append(sides, NO_PREDICTION)[ranking.ranks]
