"""Totals that were not made of just these packages: some left out, or one too many.

Which premise holds is found out in turn: that all are in the totals, that some were left out, that
one record is only in them, or that they lack one and have one too many. What stays inconsistent is
said with the bin and attribute that would have to give way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from divulge.reconstruction import tuning
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.premises import (
    WITH_EXTRA,
    Premise,
    PremiseOutcome,
    bound_difference,
    build_plain_outcome,
    find_may_be_missing,
)
from divulge.reconstruction.solving.cp_sat_pool import find_least_violation
from divulge.reconstruction.solving.extra_record import (
    bound_extra_amounts,
    find_extra_bin,
    find_left_out_and_extra,
    solve_with_both,
    solve_with_extra,
)
from divulge.reconstruction.solving.ladder import solve_instance
from divulge.reconstruction.solving.left_out_records import (
    add_discard_bin,
    find_left_out,
    solve_with_discards,
)
from divulge.work import Effort
from divulge.work.arrays import Bools, Floats, Ints


def solve_under_premise(
    instance: Instance,
    premise: Premise = "complete",
    seconds: float = 10.0,
    *,
    prior: Floats | None = None,
    truth: Ints | None = None,
    earlier: Ints | None = None,
    beyond_doubt: Bools | None = None,
) -> PremiseOutcome:
    """Solve an instance under a premise; "any" takes the first of them that is consistent.

    A truth that the totals contradict shows the premise: which records they leave out, or in which
    bin they have one too many. Allocations that were found `earlier` are proofs if they hold. Where
    packages may go may have been concluded as if none were missing; `beyond_doubt` is where they
    may go if some are.
    """
    if premise in _SOLVE_BY_PREMISE:
        return _SOLVE_BY_PREMISE[premise](instance, seconds, prior, truth, earlier)
    effort = Effort(seconds)

    def remaining_seconds() -> float:
        return max(effort.left, tuning.PREMISE_LEAST_SHARE * seconds)

    at_large = instance if beyond_doubt is None else replace(instance, allowed=beyond_doubt)
    true_premise = _infer_premise(instance, truth) if premise == "any" else None
    if true_premise is not None:
        outcome = _SOLVE_BY_PREMISE[true_premise](at_large, seconds, prior, truth, earlier)
        if outcome.solution.status != "infeasible":
            return outcome
    first = solve_instance(instance, remaining_seconds(), prior, truth=truth, earlier=earlier)
    if premise == "complete" or first.status != "infeasible":
        return build_plain_outcome(instance, first, "complete")
    for other in _list_plausible_premises(instance):
        outcome = _SOLVE_BY_PREMISE[other](at_large, remaining_seconds(), prior, truth, earlier)
        # That both are wrong explains much: it is believed only if an allocation shows it.
        is_believable = other != "both" or outcome.solution.proved.any()
        if outcome.solution.status != "infeasible" and is_believable:
            return outcome
    return build_plain_outcome(instance, first, "complete")


_SOLVE_BY_PREMISE = {
    "excluded": solve_with_discards,
    "extra": solve_with_extra,
    "both": solve_with_both,
}
"""How to solve an instance whose totals are not of just its packages, by premise."""


def _list_plausible_premises(instance: Instance) -> list[Premise]:
    """Premises that the sums of all packages and totals do not exclude, the plainest first."""
    _, at_most = bound_difference(instance)
    premises: list[Premise] = ["both"]
    if (bound_extra_amounts(instance)[1] >= 0).all():
        premises.insert(0, "extra")
    if (at_most >= 0).all():
        premises.insert(0, "excluded")
    return premises


def _infer_premise(instance: Instance, truth: Ints | None) -> Premise | None:
    """The premise that a truth shows if the totals contradict it; None if it shows none."""
    if truth is None or instance.is_allocation(truth):
        return None
    is_left_out = find_left_out(instance, truth)
    if is_left_out is not None and is_left_out.any():
        return "excluded"
    if find_extra_bin(instance, truth) is not None:
        return "extra"
    return None if find_left_out_and_extra(instance, truth) is None else "both"


def find_certain_despite_missing(
    instance: Instance, outcome: PremiseOutcome, seconds: float, beyond_doubt: Bools | None = None
) -> Bools:
    """Which packages stay where they are even if records are missing that the totals have room for.

    Where all packages fit the totals, some may be small enough to be missing from them unnoticed,
    and then others may be elsewhere: wherever they may go `beyond_doubt`. A record that only the
    totals have can hide any of them.
    """
    solution, n = outcome.solution, instance.packages
    if outcome.premise != "complete":
        return np.full(n, outcome.premise not in WITH_EXTRA)
    small = find_may_be_missing(instance)
    if not small.any():
        return np.ones(n, bool)
    if not ((solution.possible.sum(axis=1) == 1) & ~small).any():
        return np.zeros(n, bool)  # one place is left only to records that may be missing
    # An allocation of all packages is one where none is missing, and a proof of its pairs.
    at_large = instance if beyond_doubt is None else replace(instance, allowed=beyond_doubt)
    bins = add_discard_bin(at_large) or at_large
    wider = solve_instance(bins, seconds, earlier=solution.certificates, counting=False)
    same: Bools = (wider.possible[:, : instance.bins] == solution.possible).all(axis=1)
    same &= ~wider.possible[:, instance.bins :].any(axis=1)
    # What is in the totals and has no other place even so needs no further proof.
    same |= (at_large.allowed == solution.possible).all(axis=1) & ~small
    # An allocation of all packages is also one where none happens to be missing, so one was found.
    return same & solution.proved.any()


@dataclass(frozen=True)
class Inconsistency:
    """A bin and attribute whose total no allocation meets, and by how many units at least."""

    bin: int
    attribute: int
    excess: int


def find_inconsistencies(instance: Instance, seconds: float = 2.0) -> tuple[Inconsistency, ...]:
    """Where an infeasible instance would have to give way: as few totals as possible.

    >>> low, high = np.array([[4], [4]]), np.array([[4], [4]])
    >>> one = Instance.from_intervals(np.array([[5], [4]]), low, high)
    >>> find_inconsistencies(one)
    (Inconsistency(bin=..., attribute=0, excess=1),)
    """
    violations = find_least_violation(instance, seconds) or []
    return tuple(Inconsistency(*violation) for violation in violations)
