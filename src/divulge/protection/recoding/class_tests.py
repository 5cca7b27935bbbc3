"""Limits as tests of classes of units: which classes fail, and whether that holds of their parts.

A test that *prunes* is failed by every part of a class that fails it (k-anonymity, k-map, distinct
l-diversity): who must be removed at some levels must be removed at all finer ones. Entropy and
recursive l-diversity, t-closeness, beta-likeness and delta-disclosure do not: a part of a class
that fails may pass. Of them it is known only that, where every class passes, coarser ones pass too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from divulge.work.arrays import Bools, Ints


class ClassTest(Protocol):
    """What a limit asks of classes of records that look alike on `among`."""

    @property
    def among(self) -> tuple[str, ...]:
        """The attributes on which records look alike."""

    @property
    def prunes(self) -> bool:
        """Whether each part of a class that fails must fail too."""

    def find_failing(self, class_of_unit: Ints, classes: int, counts: Ints) -> Bools:
        """Which classes fail; `counts` are the records that each unit still has."""


@dataclass(frozen=True)
class SizeTest:
    """k-anonymity: a class has at least `least` records, or none at all."""

    among: tuple[str, ...]
    least: float
    prunes: bool = True

    def find_failing(self, class_of_unit: Ints, classes: int, counts: Ints) -> Bools:
        """Classes that are too small."""
        from divulge.protection.recoding.kernels import sum_class_counts

        sizes = np.zeros(classes, np.int64)
        sum_class_counts(class_of_unit, counts, sizes)
        failing: Bools = (sizes < self.least) & (sizes > 0)
        return failing


@dataclass(kw_only=True, frozen=True)
class DistinctTest:
    """Distinct l-diversity: a class has at least `least` different sensitive values."""

    among: tuple[str, ...]
    least: float
    values: Ints
    """Of each unit."""
    value_count: int
    prunes: bool = True

    def find_failing(self, class_of_unit: Ints, classes: int, counts: Ints) -> Bools:
        """Classes that have too few different values."""
        from divulge.protection.recoding.kernels import count_distinct_pairs

        distinct = np.zeros(classes, np.int64)
        count_distinct_pairs(class_of_unit, self.values, self.value_count, counts, distinct)
        failing: Bools = (distinct < self.least) & (distinct > 0)
        return failing


@dataclass(kw_only=True, frozen=True)
class ValueSharesTest:
    """A figure of the sensitive values of each class: entropy, closeness, likeness."""

    among: tuple[str, ...]
    values: Ints
    """Of each unit."""
    value_count: int
    is_failing: Callable[[Ints, Ints, Ints, int], Bools]
    """From classes, values and counts of pairs (sorted by class), and how many classes."""
    prunes: bool = False

    def find_failing(self, class_of_unit: Ints, classes: int, counts: Ints) -> Bools:
        """Classes whose figure is beyond the limit."""
        alive = counts > 0
        keys = class_of_unit[alive].astype(np.int64) * self.value_count + self.values[alive]
        pairs, place = np.unique(keys, return_inverse=True)
        of_pair = np.bincount(place.reshape(-1), counts[alive], pairs.size).astype(np.int64)
        present, dense = np.unique(pairs // self.value_count, return_inverse=True)
        failing = np.zeros(classes, np.bool_)
        if present.size:
            failing[present] = self.is_failing(
                dense.reshape(-1).astype(np.int64), pairs % self.value_count, of_pair, present.size
            )
        return failing
