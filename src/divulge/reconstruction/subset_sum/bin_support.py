"""Support of each pair in its bin (arc consistency): is there a set with the package, or without?

Where a bin has too many sets to list them all, one such question is often still easy. No set with
it excludes the pair; no set without it excludes the package's other bins. Sets that are found
answer for all their packages, and an allocation that is known answers for its pairs, so that few
questions are left.
"""

from __future__ import annotations

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.problem.bitsets import unpack_bitsets
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.propagation.propagation import propagate
from divulge.reconstruction.propagation.ratio_bounds import bound_set_by_ratios
from divulge.reconstruction.subset_sum import lattice_enumeration, meet_in_middle
from divulge.work import Effort
from divulge.work.arrays import Bools, Ints


class BinSupport:
    """What was found to support pairs so far; it goes on where it was left."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        nothing = np.empty((0, instance.packages), bool)
        self.sets = [nothing] * instance.bins
        self.past_questions: dict[tuple[int, int, bool], tuple[int, bytes]] = {}

    def exclude_unsupported(
        self, possible: Bools, proved: Bools, steps: int, effort: Effort
    ) -> Bools | None:
        """What stays possible, by questions of so many steps each; None if nothing can be.

        >>> low, high = np.array([[6], [5]]), np.array([[6], [5]])
        >>> one = Instance.from_intervals(np.array([[5], [4], [2]]), low, high)
        >>> nothing = np.zeros((3, 2), bool)
        >>> left = BinSupport(one).exclude_unsupported(one.allowed, nothing, 1000, Effort(1))
        >>> left.astype(int).tolist()
        [[0, 1], [1, 0], [1, 0]]
        """
        possible = possible.copy()
        changed = True
        while changed and not effort.spent:
            changed = False
            for b in np.argsort(possible.sum(axis=0), kind="stable"):
                before = int(possible.sum())
                self._ask_bin(possible, proved, int(b), steps, effort)
                if int(possible.sum()) == before:
                    continue
                changed = True
                remaining = propagate(self.instance, possible)
                if remaining is None:
                    return None
                possible = remaining
        return possible

    def _ask_bin(self, possible: Bools, proved: Bools, b: int, steps: int, effort: Effort) -> None:
        """Exclude what no set of a bin supports."""
        has_one_bin = possible.sum(axis=1) == 1
        unsure = possible[:, b] & ~has_one_bin & (possible & ~proved).any(axis=1)
        with_it = unsure & ~proved[:, b]
        # If no set lacks a package it is in this bin, and then it is not proved elsewhere.
        without_it = unsure & ~(proved & (np.arange(self.instance.bins) != b)).any(axis=1)
        for package, inside in [
            *((int(p), True) for p in np.flatnonzero(with_it)),
            *((int(p), False) for p in np.flatnonzero(without_it)),
        ]:
            if effort.spent:
                return
            work.charge(tuning.QUESTION)
            if not possible[package, b] or possible[package].sum() == 1:
                continue
            if self._is_supported(possible, b, package, inside):
                continue
            supporting_sets = self._find_set(
                possible, b, package, inside=inside, steps=steps, effort=effort
            )
            if supporting_sets is None:
                continue
            if len(supporting_sets):
                self.sets[b] = np.concatenate([self.sets[b], supporting_sets])
            elif inside:
                possible[package, b] = False
            else:
                possible[package] = False
                possible[package, b] = True

    def _is_supported(self, possible: Bools, b: int, package: int, inside: bool) -> bool:
        """Whether a set that is known and still allowed has the package, or lacks it."""
        sets = self.sets[b]
        if not len(sets):
            return False
        forced = possible[:, b] & (possible.sum(axis=1) == 1)
        sets = sets[sets[:, package] == inside]
        allowed = ~(sets & ~possible[:, b]).any(axis=1) & ~(forced & ~sets).any(axis=1)
        return bool(allowed.any())

    def _find_set(
        self, possible: Bools, b: int, package: int, *, inside: bool, steps: int, effort: Effort
    ) -> Bools | None:
        """A set of the bin with the package, or without it; none in it if there is none.

        None if that is not known after so many steps.
        """
        instance = self.instance
        forced = possible[:, b] & (possible.sum(axis=1) == 1)
        allowed = possible[:, b].copy()
        forced[package], allowed[package] = inside, inside
        candidates = _select_fitting(instance, b, allowed, forced)
        if candidates is None:
            return np.empty((0, instance.packages), bool)
        key = (package, b, inside)
        question = steps, candidates.tobytes() + forced.tobytes()
        if self.past_questions.get(key) == question:
            return None
        self.past_questions[key] = question
        bounds = _exclude_by_ratios(instance, b, candidates, forced)
        if bounds is None:
            return np.empty((0, instance.packages), bool)
        candidates, forced = bounds
        fitting_sets = lattice_enumeration.enumerate_fitting_sets(
            instance, b, candidates, forced=forced, most_steps=steps, most_sets=1, enough=1
        )
        if fitting_sets is None:
            short_effort = effort.part(tuning.SUPPORT_MEET_IN_MIDDLE_SECONDS)
            longest = min(tuning.SUPPORT_LONGEST_LIST, steps)
            fitting_sets = meet_in_middle.enumerate_sets_by_halves(
                instance,
                b,
                candidates,
                forced=forced,
                longest=longest,
                most_sets=1,
                effort=short_effort,
            )
        if fitting_sets is None:
            return None
        return unpack_bitsets(fitting_sets.sets[:1], instance.packages)


def _select_fitting(instance: Instance, b: int, candidates: Bools, forced: Bools) -> Bools | None:
    """Candidates that are not too large beside what is forced; None if that is too much itself."""
    most = int(instance.already_in_bin[b] + candidates.sum())
    room: Ints = instance.high[b] + instance.slack_by_count[:, most] + instance.extra_above[:, most]
    room = room - instance.amounts[forced].sum(axis=0)
    if (room < 0).any():
        return None
    small: Bools = candidates & (forced | (instance.amounts <= room).all(axis=1))
    return small


def _exclude_by_ratios(
    instance: Instance, b: int, candidates: Bools, forced: Bools
) -> tuple[Bools, Bools] | None:
    """Who may and who must be in a set of a bin, by two amounts at once; None if there is none."""
    most = int(instance.already_in_bin[b] + candidates.sum())
    slack, extra = instance.slack_by_count[:, most], instance.extra_above[:, most]
    base = instance.amounts[forced].sum(axis=0)
    low, high = instance.low[b] - slack - base, instance.high[b] + slack + extra - base
    free = np.flatnonzero(candidates & ~forced)
    bounds = bound_set_by_ratios(np.ascontiguousarray(instance.amounts[free]), low, high)
    if bounds is None:
        return None
    may, must = bounds
    candidates, forced = candidates.copy(), forced.copy()
    candidates[free[~may]], forced[free[must]] = False, True
    return candidates, forced
