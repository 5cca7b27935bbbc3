"""Rung 2b: allocations as exact covers by listed sets: all of them, or one for each open pair.

Where the sets of all bins but one or two can be listed, what they make together is searched: for
all covers if they are few, and else, pair by pair, for one that has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from divulge.reconstruction import tuning
from divulge.reconstruction.counting import fitting_sets
from divulge.reconstruction.exact_cover.cover_conclusions import CoverConclusions, Remainder
from divulge.reconstruction.exact_cover.cover_search import (
    BinSetLists,
)
from divulge.reconstruction.problem.bitsets import unpack_bitsets
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.propagation.state import SearchState
from divulge.work import Effort
from divulge.work.arrays import Ints


@dataclass
class CoverSolver:
    """The covers of one instance, looked for again with more time and when more is excluded.

    `solve` is for what is left to bins whose sets are not listed.
    """

    solve: Callable[[Instance, float], Remainder]
    listing_attempts: dict[int, tuple[bytes, int]] = field(default_factory=dict)

    def explore_covers(
        self, state: SearchState, bin_sets: dict[int, fitting_sets.BinSets], effort: Effort
    ) -> None:
        """Exclude what is in no cover, prove what is, and count, if the effort suffices."""
        instance = state.instance
        if instance.counts_matter or instance.bins < 3 or effort.spent:
            return
        if instance.bins**2 * instance.packages > tuning.COVER_MOST_CELLS:
            return
        if not self._list_bins(state, bin_sets, effort.share(tuning.COVER_LISTING_SHARE)):
            return
        listed_bins = [
            b for b in range(instance.bins) if fitting_sets.is_listed(state, b, bin_sets)
        ]
        if len(listed_bins) == instance.bins:
            listed_bins.remove(max(listed_bins, key=lambda b: bin_sets[b].count))
        seconds_left = tuning.COVER_ALL_SHARE * effort.left
        if seconds_left <= 0:
            return
        of_bins = {b: of_bin for b in listed_bins if (of_bin := bin_sets[b].sets) is not None}
        lists = BinSetLists(instance.restricted_to(state.possible), of_bins)
        most = (
            tuning.COVER_MOST_COVERS
            if len(lists.last) == 1
            else int(seconds_left * tuning.COVER_REMAINDERS_PER_SECOND)
        )
        complete, covers = lists.search_covers(most, tuning.EXACT_COVER.count_steps(seconds_left))
        if complete:
            conclusions = CoverConclusions(lists, covers)
            conclusions.solve_remainders(self.solve, effort)
            conclusions.update_state(state)
        else:
            for seconds in tuning.COVER_QUESTION_SECONDS:
                if state.is_settled:
                    return
                self._ask_open_pairs(state, lists, seconds, effort)

    def _list_bins(
        self, state: SearchState, bin_sets: dict[int, fitting_sets.BinSets], effort: Effort
    ) -> bool:
        """List the sets of all bins but one or two; False if that is not to be done.

        Bins with few sets come first; how many there are is estimated beforehand.
        """
        bins = range(state.instance.bins)
        unlisted = sum(not fitting_sets.is_listed(state, b, bin_sets) for b in bins)
        waiting = sorted(
            (bits, b)
            for b in bins
            if not fitting_sets.is_listed(state, b, bin_sets)
            if (bits := fitting_sets.estimate_log2_bin_sets(state, b)) <= tuning.COVER_MOST_BITS
        )
        in_time = tuning.LATTICE_ENUMERATION.count_steps(effort.left)
        if unlisted - len(waiting) > tuning.COVER_MOST_UNLISTED:
            return False
        if (
            sum(2.0**bits for bits, _ in waiting[: unlisted - 1]) * tuning.COVER_STEPS_PER_SET
            > in_time
        ):
            return False
        for _, b in waiting:
            if unlisted == 1:
                break
            steps = tuning.LATTICE_ENUMERATION.count_steps(effort.left)
            key = fitting_sets.build_sets_key(state, b)
            before, in_steps = self.listing_attempts.get(b, (b"", 0))
            if steps <= 0 or (before == key and steps <= in_steps):
                continue
            self.listing_attempts[b] = key, steps
            of_bin = fitting_sets.list_bin_sets(state, b, steps, tuning.COVER_MOST_SETS)
            if of_bin is not None:
                bin_sets[b] = of_bin
                unlisted -= 1
                if not of_bin.count:
                    state.infeasible = True
                    return False
        return unlisted <= min(tuning.COVER_MOST_UNLISTED, state.instance.bins - 1)

    def _ask_open_pairs(
        self, state: SearchState, lists: BinSetLists, seconds: float, effort: Effort
    ) -> None:
        """Ask for every pair that is open whether some cover has it."""
        for package, b in np.argwhere(state.possible & ~state.proved):
            if state.proved[package, b] or not state.possible[package, b]:
                continue
            seconds_left = min(seconds, effort.left)
            if seconds_left <= 0:
                return
            complete, covers = lists.search_covers(
                0 if len(lists.last) == 1 else tuning.COVER_FEW,
                tuning.EXACT_COVER.count_steps(seconds_left),
                lists.restrict_to_pair(package, b),
            )
            proof, sure = self._find_first_allocation(state, lists, covers, (package, b), effort)
            if proof is not None:
                state.add_certificates(proof[None])
            elif complete and sure:
                pair = np.zeros_like(state.possible)
                pair[package, b] = True
                if not state.exclude_pairs(pair):
                    return

    def _find_first_allocation(
        self,
        state: SearchState,
        lists: BinSetLists,
        covers: Ints,
        pair: tuple[int, int],
        effort: Effort,
    ) -> tuple[Ints | None, bool]:
        """An allocation of one of these covers; if there is none, whether that is sure."""
        allowed, sure = state.possible.copy(), True
        package, b = pair
        allowed[package] = np.arange(state.instance.bins) == b
        states = unpack_bitsets(lists.find_leftovers(covers), state.instance.packages)
        for cover, leftover in zip(covers, states, strict=True):
            of_package = lists.place_cover(cover)
            if len(lists.last) == 1:
                return of_package, True
            packages = np.flatnonzero(leftover)
            part = lists.build_remainder(packages, allowed)
            remainder = self.solve(part, effort.left)
            for of_left in remainder.certificates[:1]:
                of_package[packages] = np.array(lists.last)[of_left]
                return of_package, True
            sure &= remainder.count == 0 or not remainder.possible.any(axis=1).all()
        return None, sure
