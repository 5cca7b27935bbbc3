"""Allocations that together have every pair of package and bin which any has."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from divulge.reconstruction.problem.amounts import Bools, Ints


class Proofs:
    """Allocations that are kept, and the pairs that they, or others before, have proved."""

    def __init__(self, proved: Bools) -> None:
        self.proved, self.kept = proved.copy(), list[Ints]()

    def show(self, of_package: Ints) -> None:
        """Keep an allocation."""
        self.kept.append(of_package)
        self.proved[np.arange(len(of_package)), of_package] = True

    def show_if_new(self, of_package: Ints) -> None:
        """Keep an allocation that has a pair which none has yet."""
        if not self.proved[np.arange(len(of_package)), of_package].all():
            self.show(of_package)

    def enter(self, b: int, rows: Bools, allocation: Callable[[int], Ints]) -> None:
        """One allocation for every package that some row has in a bin: one of the first such row.

        >>> proofs = Proofs(np.zeros((2, 1), bool))
        >>> rows = np.array([[True, False], [True, True]])
        >>> proofs.enter(0, rows, lambda row: np.array([0, 0]))
        >>> proofs.all_kept().tolist()
        [[0, 0]]
        """
        for package in np.flatnonzero(rows.any(axis=0)):
            if not self.proved[package, b]:
                self.show(allocation(int(rows[:, package].argmax())))

    def all_kept(self) -> Ints:
        """The allocations, one per row."""
        return np.array(self.kept, np.int16).reshape(-1, len(self.proved))
