"""One problem of package allocation: packages, bins, and which sums a bin allows.

Everything is whole numbers. The sum of attribute i over the c packages of bin b must lie in

    [low[b, i] - widening[i, c],  high[b, i] + widening[i, c] + deeper[i, c]]

where c also counts the packages that stand in the bin already (`held`, whose amounts have been
taken off the interval).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from divulge.reconstruction.problem.amounts import Bools, Ints


@dataclass(frozen=True, eq=False)
class Instance:
    """Packages (n x k amounts), bins (m x k intervals), and which package may go where."""

    amounts: Ints
    low: Ints
    high: Ints
    widening: Ints
    deeper: Ints
    allowed: Bools
    held: Ints

    @classmethod
    def of(
        cls,
        amounts: Ints,
        low: Ints,
        high: Ints,
        widening: Ints | None = None,
        deeper: Ints | None = None,
        allowed: Bools | None = None,
    ) -> Instance:
        """An instance whose bins are empty; every package may go anywhere if nothing is said."""
        (packages, attributes), bins = amounts.shape, len(low)
        nothing = np.zeros((attributes, packages + 1), np.int64)
        return cls(
            np.ascontiguousarray(amounts, np.int64),
            np.ascontiguousarray(low, np.int64),
            np.ascontiguousarray(high, np.int64),
            nothing if widening is None else np.ascontiguousarray(widening, np.int64),
            nothing if deeper is None else np.ascontiguousarray(deeper, np.int64),
            np.ones((packages, bins), bool) if allowed is None else allowed.copy(),
            np.zeros(bins, np.int64),
        )

    @property
    def arrays(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """What kernels take first: amounts, and all that makes up an interval."""
        return self.amounts, self.low, self.high, self.widening, self.deeper

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
        return bool(self.widening.any() or self.deeper.any())

    def window_beside(self, b: int, a: int, both: Ints) -> tuple[Ints, Ints]:
        """Between what bin b must sum up to if bins a and b share packages of these amounts.

        What bin b does not get, bin a must hold. Where intervals do not depend on counts.

        >>> one = Instance.of(np.array([[5], [4]]), np.array([[0], [3]]), np.array([[6], [9]]))
        >>> [side.tolist() for side in one.window_beside(1, 0, np.array([9]))]
        [[3], [9]]
        """
        low: Ints = np.maximum(self.low[b], both - self.high[a])
        high: Ints = np.minimum(self.high[b], both - self.low[a])
        return low, high

    def limited(self, allowed: Bools) -> Instance:
        """The same instance where packages may go to fewer bins."""
        return replace(self, allowed=self.allowed & allowed)

    def holds(self, of_package: Ints) -> bool:
        """Whether an allocation keeps to everything: the plain check of a certificate.

        >>> one = np.array([[0], [9]]), np.array([[1], [9]])
        >>> Instance.of(np.array([[1], [9]]), *one).holds(np.array([0, 1]))
        True
        """
        for package, place in enumerate(of_package):
            if not self.allowed[package, place]:
                return False
        for place in range(self.bins):
            inside = of_package == place
            count = int(self.held[place]) + int(inside.sum())
            for i in range(self.attributes):
                total = sum(int(a) for a in self.amounts[inside, i])
                wide, deep = int(self.widening[i, count]), int(self.deeper[i, count])
                if not self.low[place, i] - wide <= total <= self.high[place, i] + wide + deep:
                    return False
        return True

    def hold(self, allocations: Ints) -> Bools:
        """Which of many allocations keep to everything, one per row, as `holds` does for one.

        >>> one = np.array([[0], [9]]), np.array([[1], [9]])
        >>> Instance.of(np.array([[1], [9]]), *one).hold(np.array([[0, 1], [1, 0]])).tolist()
        [True, False]
        """
        good = np.array(((allocations >= 0) & (allocations < self.bins)).all(axis=1), bool)
        inside = np.minimum(allocations, self.bins - 1)
        good &= self.allowed[np.arange(self.packages), inside].all(axis=1)
        for b in range(self.bins):
            in_bin = allocations == b
            sums, count = in_bin @ self.amounts, self.held[b] + in_bin.sum(axis=1)
            wide, deep = self.widening[:, count].T, self.deeper[:, count].T
            good &= (sums >= self.low[b] - wide).all(axis=1)
            good &= (sums <= self.high[b] + wide + deep).all(axis=1)
        return good
