"""What may be assumed of totals and records: that they are of the same, or that some are not.

Whoever makes totals may discard records, or count one that is not published.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.solution import InstanceSolution
from divulge.work.arrays import Bools, Floats, Ints

Premise: TypeAlias = Literal["complete", "excluded", "extra", "both", "any"]
"""What is assumed: all packages are in the totals; some are not; one more is; one is not and one
more is; find out."""

PREMISES: tuple[Premise, ...] = ("complete", "excluded", "extra", "both", "any")

WITH_EXTRA: tuple[Premise, ...] = ("extra", "both")
"""Where one record is only in the totals: it may hide another that they lack."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PremiseOutcome:
    """A solution with the premise under which it holds.

    `instance_certificates` are the instances with the allocations that are their certificates.
    Under "excluded" and "both", `discarded` says in which share of allocations each package is
    left out of the totals (None where they were not counted), and `may_be_discarded` whether that
    is possible.
    """

    solution: InstanceSolution
    premise: Premise
    instance: Instance
    instance_certificates: tuple[tuple[Instance, Ints], ...] = ()
    may_be_discarded: Bools | None = None
    surely_discarded: Bools | None = None
    discarded: Floats | None = None

    def verify(self) -> bool:
        """Check every certificate by plain addition."""
        return all(
            instance.is_allocation(row)
            for instance, rows in self.instance_certificates
            for row in rows
        )


def build_plain_outcome(
    instance: Instance, solution: InstanceSolution, premise: Premise
) -> PremiseOutcome:
    """A solution of the instance as it is, with its premise."""
    return PremiseOutcome(
        solution=solution,
        premise=premise,
        instance=instance,
        instance_certificates=((instance, solution.certificates),),
    )


def bound_difference(instance: Instance) -> tuple[Ints, Ints]:
    """By how much the packages exceed the totals, at least and at most, per attribute.

    >>> one = Instance.from_intervals(np.array([[5], [4]]), np.array([[4]]), np.array([[6]]))
    >>> [side.tolist() for side in bound_difference(one)]
    [[3], [5]]
    """
    slack, extra = (
        _bound_total_slack(instance.slack_by_count),
        _bound_total_slack(instance.extra_above),
    )
    amounts = instance.amounts.sum(axis=0)
    low = amounts - (instance.high.sum(axis=0) + slack + extra)
    return low, amounts - (instance.low.sum(axis=0) - slack)


def find_may_be_missing(instance: Instance) -> Bools:
    """Which packages are so small that the totals have room to miss them unnoticed.

    >>> one = Instance.from_intervals(np.array([[5], [1]]), np.array([[4]]), np.array([[6]]))
    >>> find_may_be_missing(one).tolist()
    [False, True]
    """
    # A bin holds no less than nothing, whatever its total allows.
    at_least = np.maximum(instance.low, 0).sum(axis=0) - _bound_total_slack(instance.slack_by_count)
    room = instance.amounts.sum(axis=0) - at_least
    return np.array((instance.amounts <= room).all(axis=1), bool)


def _bound_total_slack(by_count: Ints) -> Ints:
    """The most that intervals of bins which share all packages can be wider, one added to another.

    As if every package had the most that a package of any bin has: where the width is no multiple
    of the count, several bins together may be wider than one with all packages.
    """
    counts = np.arange(1, by_count.shape[1])
    if not len(counts):
        return by_count[:, -1]
    widest: Ints = (-(-by_count[:, 1:] * counts[-1] // counts)).max(axis=1)
    return widest
