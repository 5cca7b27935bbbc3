"""Covering certificates: few allocations that together have every pair that any of them has."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from divulge.work.arrays import Bools, Ints


class Proofs:
    """Allocations that are kept, and the pairs that they, or others before, have proved."""

    def __init__(self, proved: Bools) -> None:
        self.proved, self.allocations = proved.copy(), list[Ints]()

    def add_allocation(self, of_package: Ints) -> None:
        """Keep an allocation."""
        self.allocations.append(of_package)
        self.proved[np.arange(len(of_package)), of_package] = True

    def add_if_new(self, of_package: Ints) -> None:
        """Keep an allocation that has a pair which none has yet."""
        if not self.proved[np.arange(len(of_package)), of_package].all():
            self.add_allocation(of_package)

    def add_per_package(self, b: int, rows: Bools, allocation: Callable[[int], Ints]) -> None:
        """One allocation for every package that some row has in a bin: one of the first such row.

        >>> proofs = Proofs(np.zeros((2, 1), bool))
        >>> rows = np.array([[True, False], [True, True]])
        >>> proofs.add_per_package(0, rows, lambda row: np.array([0, 0]))
        >>> proofs.to_array().tolist()
        [[0, 0]]
        """
        for package in np.flatnonzero(rows.any(axis=0)):
            if not self.proved[package, b]:
                self.add_allocation(allocation(int(rows[:, package].argmax())))

    def to_array(self) -> Ints:
        """The allocations, one per row."""
        return np.array(self.allocations, np.int16).reshape(-1, len(self.proved))
