"""One problem of package allocation: packages, bins, and which sums a bin allows.

Everything is whole numbers. The sum of attribute i over the c packages of bin b must lie in

    [low[b, i] - slack_by_count[i, c],  high[b, i] + slack_by_count[i, c] + extra_above[i, c]]

where c also counts the packages that stand in the bin already (`already_in_bin`, whose amounts
have been taken off the interval).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from divulge.work.arrays import Bools, Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class Instance:
    """Packages (n x k amounts), bins (m x k intervals), and which package may go where."""

    amounts: Ints
    low: Ints
    high: Ints
    slack_by_count: Ints
    extra_above: Ints
    allowed: Bools
    already_in_bin: Ints

    @classmethod
    def from_intervals(
        cls,
        amounts: Ints,
        low: Ints,
        high: Ints,
        *,
        slack_by_count: Ints | None = None,
        extra_above: Ints | None = None,
        allowed: Bools | None = None,
    ) -> Instance:
        """An instance whose bins are empty; every package may go anywhere if nothing is said."""
        (packages, attributes), bins = amounts.shape, len(low)
        no_slack = np.zeros((attributes, packages + 1), np.int64)
        return cls(
            amounts=np.ascontiguousarray(amounts, np.int64),
            low=np.ascontiguousarray(low, np.int64),
            high=np.ascontiguousarray(high, np.int64),
            slack_by_count=no_slack
            if slack_by_count is None
            else np.ascontiguousarray(slack_by_count, np.int64),
            extra_above=no_slack
            if extra_above is None
            else np.ascontiguousarray(extra_above, np.int64),
            allowed=np.ones((packages, bins), bool) if allowed is None else allowed.copy(),
            already_in_bin=np.zeros(bins, np.int64),
        )

    @property
    def arrays(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """What kernels take first: amounts, and all that makes up an interval."""
        return self.amounts, self.low, self.high, self.slack_by_count, self.extra_above

    @property
    def packages(self) -> int:
        """How many packages there are."""
        return len(self.amounts)

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return len(self.low)

    @property
    def attributes(self) -> int:
        """How many amounts each package has."""
        return int(self.amounts.shape[1])

    @property
    def complexity(self) -> float:
        """The number of ways to distribute the packages, as a power of ten: log10 m^n."""
        return self.packages * math.log10(self.bins) if self.bins > 1 else 0.0

    @cached_property
    def counts_matter(self) -> bool:
        """Whether an interval depends on how many packages are in the bin."""
        return bool(self.slack_by_count.any() or self.extra_above.any())

    def complement_window(self, b: int, a: int, both: Ints) -> tuple[Ints, Ints]:
        """Between what bin b must sum up to if bins a and b share packages of these amounts.

        What bin b does not get, bin a must hold. Where intervals do not depend on counts.

        >>> low, high = np.array([[0], [3]]), np.array([[6], [9]])
        >>> one = Instance.from_intervals(np.array([[5], [4]]), low, high)
        >>> [side.tolist() for side in one.complement_window(1, 0, np.array([9]))]
        [[3], [9]]
        """
        low: Ints = np.maximum(self.low[b], both - self.high[a])
        high: Ints = np.minimum(self.high[b], both - self.low[a])
        return low, high

    def restricted_to(self, allowed: Bools) -> Instance:
        """The same instance where packages may go to fewer bins."""
        return replace(self, allowed=self.allowed & allowed)

    def is_allocation(self, of_package: Ints) -> bool:
        """Whether an allocation keeps to everything: the plain check of a certificate.

        >>> one = np.array([[0], [9]]), np.array([[1], [9]])
        >>> Instance.from_intervals(np.array([[1], [9]]), *one).is_allocation(np.array([0, 1]))
        True
        """
        for package, place in enumerate(of_package):
            if not self.allowed[package, place]:
                return False
        for place in range(self.bins):
            inside = of_package == place
            count = int(self.already_in_bin[place]) + int(inside.sum())
            for i in range(self.attributes):
                total = sum(int(a) for a in self.amounts[inside, i])
                slack, extra = int(self.slack_by_count[i, count]), int(self.extra_above[i, count])
                if not self.low[place, i] - slack <= total <= self.high[place, i] + slack + extra:
                    return False
        return True

    def are_allocations(self, allocations: Ints) -> Bools:
        """Which of many allocations, one per row, keep to everything, as in `is_allocation`.

        >>> low, high = np.array([[0], [9]]), np.array([[1], [9]])
        >>> one = Instance.from_intervals(np.array([[1], [9]]), low, high)
        >>> one.are_allocations(np.array([[0, 1], [1, 0]])).tolist()
        [True, False]
        """
        valid = np.array(((allocations >= 0) & (allocations < self.bins)).all(axis=1), bool)
        inside = np.minimum(allocations, self.bins - 1)
        valid &= self.allowed[np.arange(self.packages), inside].all(axis=1)
        for b in range(self.bins):
            in_bin = allocations == b
            sums, count = in_bin @ self.amounts, self.already_in_bin[b] + in_bin.sum(axis=1)
            slack, extra = self.slack_by_count[:, count].T, self.extra_above[:, count].T
            valid &= (sums >= self.low[b] - slack).all(axis=1)
            valid &= (sums <= self.high[b] + slack + extra).all(axis=1)
        return valid
