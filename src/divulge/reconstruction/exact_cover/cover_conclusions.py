"""Conclusions from all exact covers: which pairs are possible, proofs of them, and their number.

A cover gives every bin whose sets are listed one of them. What it leaves is for the last bins: for
one alone it fits, or else it would be no cover; several share it in ways that are found by solving
what is left as an instance of its own, once for all covers that leave the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from divulge.reconstruction.exact_cover.cover_search import BinSetLists
from divulge.reconstruction.problem.bitsets import Bitsets, unpack_bitsets
from divulge.reconstruction.problem.counts import AllocationCounts
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.proofs import Proofs
from divulge.reconstruction.propagation.state import SearchState
from divulge.work import Effort
from divulge.work.arrays import Bools, Ints


class Remainder(Protocol):
    """What is known of what is left to the last bins."""

    @property
    def possible(self) -> Bools:
        """Where packages may be, by package and last bin."""

    @property
    def certificates(self) -> Ints:
        """Some ways to share it out."""

    @property
    def count(self) -> int | None:
        """How many ways there are, if that is known."""

    @property
    def pairs(self) -> npt.NDArray[Any] | None:
        """In how many of them a package is in a bin."""


class CoverConclusions:
    """All covers, each by the place of every bin's set in its list, and what they leave."""

    def __init__(self, lists: BinSetLists, covers: Ints) -> None:
        self.lists, self.covers = lists, covers
        instance = lists.instance
        states, self.first, self.state, self.times = np.unique(
            lists.find_leftovers(covers),
            axis=0,
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        self.states, self.state = unpack_bitsets(states, instance.packages), self.state.ravel()
        n, several = instance.packages, len(lists.last)
        self.alive = np.ones(len(states), bool)
        self.counts: npt.NDArray[np.object_] | None = np.ones(len(states), object)
        self.possible_in_last = np.zeros((n, several), bool)
        self.pairs = np.zeros((n, several), object)
        self.ways: list[Ints] = []
        if several == 1:
            self.possible_in_last[:, 0] = self.states.any(axis=0)
            self.pairs[:, 0] = self.times @ self.states

    def solve_remainders(
        self, solve: Callable[[Instance, float], Remainder], effort: Effort
    ) -> None:
        """Find out how several bins can share what is left."""
        if len(self.lists.last) == 1:
            return
        for number, state in enumerate(self.states):
            packages = np.flatnonzero(state)
            part = self.lists.build_remainder(packages, self.lists.instance.allowed)
            remainder = solve(part, effort.left)
            self.alive[number] = remainder.count != 0 and remainder.possible.any(axis=1).all()
            self.ways.append(remainder.certificates)
            count = remainder.count if self.alive[number] else 0
            if count is None or self.counts is None:
                self.counts = None
            else:
                self.counts[number] = count
            if self.alive[number]:
                self.possible_in_last[packages] |= remainder.possible
                if remainder.pairs is not None:
                    self.pairs[packages] += remainder.pairs * int(self.times[number])

    def update_state(self, search_state: SearchState) -> None:
        """Enter what follows into what is known."""
        possible = np.zeros_like(search_state.possible)
        possible[:, self.lists.last] = self.possible_in_last
        for b, of_bin, rows in self._list_bin_rows():
            used = np.unique(rows[self.alive[self.state]])
            possible[:, b] = unpack_bitsets(of_bin[used], len(possible)).any(axis=0)
        if not possible.any(axis=1).all():
            search_state.infeasible = True
            return
        search_state.possible &= possible
        proofs = self._build_proofs(search_state.proved)
        if self.counts is None:
            search_state.add_certificates(proofs)
            return
        pairs = np.zeros(possible.shape, object)
        pairs[:, self.lists.last] = self.pairs
        ways = self.counts[self.state]
        for b, of_bin, rows in self._list_bin_rows():
            of_set = np.zeros(len(of_bin), object)
            np.add.at(of_set, rows, ways)
            used = np.flatnonzero(of_set)
            pairs[:, b] = of_set[used] @ unpack_bitsets(of_bin[used], len(possible)).astype(object)
        total = int(ways.sum())
        search_state.set_count(
            AllocationCounts(total, pairs, (pairs / total).astype(np.float64), proofs)
        )

    def _list_bin_rows(self) -> list[tuple[int, Bitsets, Ints]]:
        each = self.lists.of_bins.items()
        return [(b, sets, rows) for (b, sets), rows in zip(each, self.covers.T, strict=True)]

    def _build_proofs(self, proved: Bools) -> Ints:
        """Allocations that together have every pair of which one was found."""
        n, proofs = self.lists.instance.packages, Proofs(proved)

        def add_per_package(b: int, rows: Bools, covers: Ints) -> None:
            """One allocation for every package that these rows have, by a cover of the row."""
            proofs.add_per_package(b, rows, lambda row: self._build_allocation(int(covers[row])))

        several = len(self.lists.last) > 1
        has_ways = np.array([len(ways) > 0 for ways in self.ways], bool) if several else self.alive
        usable = np.flatnonzero(has_ways[self.state])
        for b, of_bin, rows in self._list_bin_rows():
            used, first = np.unique(rows[usable], return_index=True)
            add_per_package(b, unpack_bitsets(of_bin[used], n), usable[first])
        if not several:
            add_per_package(self.lists.last[0], self.states, self.first)
        for number, ways in enumerate(self.ways):
            for way in range(len(ways)):
                proofs.add_if_new(self._build_allocation(int(self.first[number]), way))
        return proofs.to_array()

    def _build_allocation(self, cover: int, way: int = 0) -> Ints:
        """A cover with one of the ways to share what it leaves."""
        of_package = self.lists.place_cover(self.covers[cover])
        state = int(self.state[cover])
        if len(self.lists.last) > 1:
            of_package[self.states[state]] = np.array(self.lists.last)[self.ways[state][way]]
        return of_package
