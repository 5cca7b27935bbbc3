"""Rung 2b: allocations as covers by listed sets: all of them, or one for each pair in question.

Where the sets of all bins but one or two can be listed, what they make together is searched: for
all covers if they are few, and else, pair by pair, for one that has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from divulge.reconstruction.counting import by_sets
from divulge.reconstruction.exact_cover.cover_conclusions import Covered, Remainder
from divulge.reconstruction.exact_cover.cover_search import MOST_COVERS, Lists, steps_in
from divulge.reconstruction.problem.amounts import Ints
from divulge.reconstruction.problem.bitsets import masks_of
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.propagation.state import Known
from divulge.reconstruction.subset_sum import lattice_enumeration
from divulge.work import Effort

MOST_SETS = 400_000
MOST_BITS = 20
"""Bins that probably have more sets than this power of 2 are not listed."""
MOST_UNLISTED = 2
STEPS_A_SET = 20
"""What listing takes for each set, at least."""
LEFT_PER_SECOND = 200
"""Remainders of covers that are solved in a nominal second, about."""
LISTING = 0.5
"""Of the time, for listing the sets of bins."""
FOR_ALL = 0.6
"""Of the time then left, for all covers; the rest is for one pair after the other."""
A_QUESTION = (0.01, 0.1, 1.0)
FEW_COVERS = 8
"""Covers with a pair whose remainders are solved before it is left open."""
MOST_ROOM = 2**28
"""What a search may keep, by bins twice and packages."""


@dataclass
class Covers:
    """The covers of one instance, looked for again with more time and when more is excluded.

    `solve` is for what is left to bins whose sets are not listed.
    """

    solve: Callable[[Instance, float], Remainder]
    tried: dict[int, tuple[bytes, int]] = field(default_factory=dict)

    def explore(self, known: Known, found: dict[int, by_sets.Sets], effort: Effort) -> None:
        """Exclude what is in no cover, prove what is, and count, if the effort suffices."""
        instance = known.instance
        if instance.counts_matter or instance.bins < 3 or effort.spent:
            return
        if instance.bins**2 * instance.packages > MOST_ROOM:
            return
        if not self._list(known, found, effort.share(LISTING)):
            return
        listed = [b for b in range(instance.bins) if by_sets.is_listed(known, b, found)]
        if len(listed) == instance.bins:
            listed.remove(max(listed, key=lambda b: found[b].count))
        left = FOR_ALL * effort.left
        if left <= 0:
            return
        of_bins = {b: of_bin for b in listed if (of_bin := found[b].sets) is not None}
        lists = Lists(instance.limited(known.possible), of_bins)
        most = MOST_COVERS if len(lists.last) == 1 else int(left * LEFT_PER_SECOND)
        complete, all_of_them = lists.covers(most, steps_in(left))
        if complete:
            covered = Covered(lists, all_of_them)
            covered.solve_left(self.solve, effort)
            covered.tell(known)
        else:
            for seconds in A_QUESTION:
                if known.settled:
                    return
                self._ask(known, lists, seconds, effort)

    def _list(self, known: Known, found: dict[int, by_sets.Sets], effort: Effort) -> bool:
        """List the sets of all bins but one or two; False if that is not to be done.

        Bins with few sets come first; whether there are few can be told beforehand.
        """
        bins = range(known.instance.bins)
        unlisted = sum(not by_sets.is_listed(known, b, found) for b in bins)
        waiting = sorted(
            (bits, b)
            for b in bins
            if not by_sets.is_listed(known, b, found)
            if (bits := by_sets.expected(known, b)) <= MOST_BITS
        )
        in_time = lattice_enumeration.steps_in(effort.left)
        if unlisted - len(waiting) > MOST_UNLISTED:
            return False
        if sum(2.0**bits for bits, _ in waiting[: unlisted - 1]) * STEPS_A_SET > in_time:
            return False
        for _, b in waiting:
            if unlisted == 1:
                break
            steps = lattice_enumeration.steps_in(effort.left)
            key = by_sets.key_of(known, b)
            before, in_steps = self.tried.get(b, (b"", 0))
            if steps <= 0 or (before == key and steps <= in_steps):
                continue
            self.tried[b] = key, steps
            of_bin = by_sets.listed(known, b, steps, MOST_SETS)
            if of_bin is not None:
                found[b] = of_bin
                unlisted -= 1
                if not of_bin.count:
                    known.infeasible = True
                    return False
        return unlisted <= min(MOST_UNLISTED, known.instance.bins - 1)

    def _ask(self, known: Known, lists: Lists, seconds: float, effort: Effort) -> None:
        """Ask for every pair that is open whether some cover has it."""
        for package, b in np.argwhere(known.possible & ~known.proved):
            if known.proved[package, b] or not known.possible[package, b]:
                continue
            left = min(seconds, effort.left)
            if left <= 0:
                return
            complete, some = lists.covers(
                0 if len(lists.last) == 1 else FEW_COVERS,
                steps_in(left),
                lists.with_pair(package, b),
            )
            proof, sure = self._first(known, lists, some, (package, b), effort)
            if proof is not None:
                known.enter(proof[None])
            elif complete and sure:
                pair = np.zeros_like(known.possible)
                pair[package, b] = True
                if not known.exclude(pair):
                    return

    def _first(
        self, known: Known, lists: Lists, covers: Ints, pair: tuple[int, int], effort: Effort
    ) -> tuple[Ints | None, bool]:
        """An allocation of one of these covers; if there is none, whether that is sure."""
        allowed, sure = known.possible.copy(), True
        package, b = pair
        allowed[package] = np.arange(known.instance.bins) == b
        states = masks_of(lists.left_by(covers), known.instance.packages)
        for cover, left in zip(covers, states, strict=True):
            of_package = lists.placed(cover)
            if len(lists.last) == 1:
                return of_package, True
            packages = np.flatnonzero(left)
            part = lists.share_out(packages, allowed)
            solved = self.solve(part, effort.left)
            for of_left in solved.certificates[:1]:
                of_package[packages] = np.array(lists.last)[of_left]
                return of_package, True
            sure &= solved.count == 0 or not solved.possible.any(axis=1).all()
        return None, sure
