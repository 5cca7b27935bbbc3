"""Totals that were not made of just these packages: some left out, or one too many.

Which premise holds is found out in turn: that all are in the totals, that some were left out, that
one record is only in them, or that they lack one and have one too many. What stays inconsistent is
said with the bin and attribute that would have to give way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from divulge.reconstruction.problem.amounts import Bools, Ints, Shares
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.premises import (
    WITH_EXTRA,
    Outcome,
    Premise,
    difference,
    may_be_missing,
    plain,
)
from divulge.reconstruction.solving.cp_sat_pool import least_violation
from divulge.reconstruction.solving.extra_record import (
    amounts_of_extra,
    bin_of_extra,
    left_out_and_extra,
    with_both,
    with_extra,
)
from divulge.reconstruction.solving.ladder import solve
from divulge.reconstruction.solving.left_out_records import (
    left_out,
    with_discarded,
    with_discarded_bin,
)
from divulge.work import Effort

LEAST_SHARE = 0.1
"""Of the effort, what every premise has at least, however much the one before it took."""


def settle(
    instance: Instance,
    premise: Premise = "complete",
    seconds: float = 10.0,
    prior: Shares | None = None,
    truth: Ints | None = None,
    earlier: Ints | None = None,
    beyond_doubt: Bools | None = None,
) -> Outcome:
    """Solve an instance under a premise; "any" takes the first of them that is consistent.

    A truth that the totals contradict tells the premise: which records they leave out, or in which
    bin they have one too many. Allocations that were found `earlier` are proofs if they hold. Where
    packages may go may have been concluded as if none were missing; `beyond_doubt` is where they
    may go if some are.
    """
    if premise in _DIFFERING:
        return _DIFFERING[premise](instance, seconds, prior, truth, earlier)
    effort = Effort(seconds)

    def left() -> float:
        return max(effort.left, LEAST_SHARE * seconds)

    at_large = instance if beyond_doubt is None else replace(instance, allowed=beyond_doubt)
    told = _told_by(instance, truth) if premise == "any" else None
    if told is not None:
        found = _DIFFERING[told](at_large, seconds, prior, truth, earlier)
        if found.solution.status != "infeasible":
            return found
    first = solve(instance, left(), prior, truth, earlier=earlier)
    if premise == "complete" or first.status != "infeasible":
        return plain(instance, first, "complete")
    for other in _may_be(instance):
        found = _DIFFERING[other](at_large, left(), prior, truth, earlier)
        # That both are wrong explains much: it is believed only if an allocation shows it.
        shown = other != "both" or found.solution.proved.any()
        if found.solution.status != "infeasible" and shown:
            return found
    return plain(instance, first, "complete")


_DIFFERING = {"excluded": with_discarded, "extra": with_extra, "both": with_both}
"""How to solve an instance whose totals are not of just its packages, by premise."""


def _may_be(instance: Instance) -> list[Premise]:
    """Premises that the sums of all packages and totals do not exclude, the plainest first."""
    _, at_most = difference(instance)
    found: list[Premise] = ["both"]
    if (amounts_of_extra(instance)[1] >= 0).all():
        found.insert(0, "extra")
    if (at_most >= 0).all():
        found.insert(0, "excluded")
    return found


def _told_by(instance: Instance, truth: Ints | None) -> Premise | None:
    """The premise that a truth tells if the totals contradict it; None if it tells none."""
    if truth is None or instance.holds(truth):
        return None
    out = left_out(instance, truth)
    if out is not None and out.any():
        return "excluded"
    if bin_of_extra(instance, truth) is not None:
        return "extra"
    return None if left_out_and_extra(instance, truth) is None else "both"


def not_misled(
    instance: Instance, outcome: Outcome, seconds: float, beyond_doubt: Bools | None = None
) -> Bools:
    """Which packages stay where they are even if records are missing that the totals have room for.

    Where all packages fit the totals, some may be small enough to be missing from them unnoticed,
    and then others may be elsewhere: wherever they may go `beyond_doubt`. A record that only the
    totals have can hide any of them.
    """
    found, n = outcome.solution, instance.packages
    if outcome.premise != "complete":
        return np.full(n, outcome.premise not in WITH_EXTRA)
    small = may_be_missing(instance)
    if not small.any():
        return np.ones(n, bool)
    if not ((found.possible.sum(axis=1) == 1) & ~small).any():
        return np.zeros(n, bool)  # nothing is told by one place left, so nothing is worth the time
    # An allocation of all packages is one where none is missing, and a proof of its pairs.
    at_large = instance if beyond_doubt is None else replace(instance, allowed=beyond_doubt)
    bins = with_discarded_bin(at_large) or at_large
    wider = solve(bins, seconds, earlier=found.certificates, counting=False)
    same: Bools = (wider.possible[:, : instance.bins] == found.possible).all(axis=1)
    same &= ~wider.possible[:, instance.bins :].any(axis=1)
    # What is in the totals and has no other place even so needs no further proof.
    same |= (at_large.allowed == found.possible).all(axis=1) & ~small
    # An allocation of all packages is also one where none happens to be missing, so one was found.
    return same & found.proved.any()


@dataclass(frozen=True)
class Inconsistency:
    """A bin and attribute whose total no allocation meets, and by how many units at least."""

    bin: int
    attribute: int
    excess: int


def inconsistencies(instance: Instance, seconds: float = 2.0) -> tuple[Inconsistency, ...]:
    """Where an infeasible instance would have to give way: as few totals as possible.

    >>> one = Instance.of(np.array([[5], [4]]), np.array([[4], [4]]), np.array([[4], [4]]))
    >>> inconsistencies(one)
    (Inconsistency(bin=..., attribute=0, excess=1),)
    """
    found = least_violation(instance, seconds) or []
    return tuple(Inconsistency(*violated) for violated in found)
