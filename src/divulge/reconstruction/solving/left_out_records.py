"""Records that the totals leave out: a bin for discarded packages.

Its capacity is what the packages exceed the totals by.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from divulge.reconstruction import tuning
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.premises import (
    PremiseOutcome,
    bound_difference,
    build_plain_outcome,
)
from divulge.reconstruction.problem.solution import build_infeasible_solution
from divulge.reconstruction.solving.ladder import solve_instance
from divulge.work.arrays import Bools, Floats, Ints


def find_left_out(instance: Instance, truth: Ints) -> Bools | None:
    """Which packages the totals leave out if a truth is right: one or two of a bin, or None.

    >>> one = Instance.from_intervals(np.array([[5], [4]]), np.array([[4]]), np.array([[4]]))
    >>> find_left_out(one, np.array([0, 0])).tolist()
    [True, False]
    """
    is_left_out = np.zeros(instance.packages, bool)
    for b in range(instance.bins):
        inside = np.flatnonzero(truth == b)
        sums = instance.amounts[inside].sum(axis=0)
        for size in range(3):
            if math.comb(len(inside), size) > tuning.LEFT_OUT_MOST_COMBINATIONS:
                return None
            combinations = np.array(list(itertools.combinations(inside, size)), np.int64)
            combinations = combinations.reshape(math.comb(len(inside), size), size)
            count = int(instance.already_in_bin[b]) + len(inside) - size
            wide, deep = instance.slack_by_count[:, count], instance.extra_above[:, count]
            rest = sums - instance.amounts[combinations].sum(axis=1)
            fits = (rest >= instance.low[b] - wide) & (rest <= instance.high[b] + wide + deep)
            if fits.all(axis=1).any():
                is_left_out[combinations[int(np.argmax(fits.all(axis=1)))]] = True
                break
        else:
            return None
    return is_left_out


def add_discard_bin(instance: Instance) -> Instance | None:
    """The instance with a last bin for what was left out of the totals; None if nothing can be.

    >>> one = Instance.from_intervals(np.array([[5], [4]]), np.array([[4]]), np.array([[4]]))
    >>> add_discard_bin(one).is_allocation(np.array([1, 0]))
    True
    """
    at_least, at_most = bound_difference(instance)
    if (at_most < 0).any():
        return None
    return Instance(
        amounts=instance.amounts,
        low=np.vstack([instance.low, np.maximum(at_least, 0)]),
        high=np.vstack([instance.high, at_most]),
        slack_by_count=instance.slack_by_count,
        extra_above=instance.extra_above,
        allowed=np.hstack([instance.allowed, np.ones((instance.packages, 1), bool)]),
        already_in_bin=np.append(instance.already_in_bin, 0),
    )


def solve_with_discards(
    instance: Instance,
    seconds: float,
    prior: Floats | None,
    truth: Ints | None = None,
    earlier: Ints | None = None,
) -> PremiseOutcome:
    """One more bin, for what was left out of the totals."""
    wider = add_discard_bin(instance)
    if wider is None:
        return build_plain_outcome(instance, build_infeasible_solution(instance), "excluded")
    if prior is not None:
        # Whether a record was left out has nothing to do with where it would have gone.
        prior = np.hstack([prior, prior.max(axis=1, keepdims=True)])
    if truth is not None:
        is_left_out = find_left_out(instance, truth)
        truth = None if is_left_out is None else np.where(is_left_out, instance.bins, truth)
    solution = solve_instance(wider, seconds, prior, truth=truth, earlier=earlier)
    last = solution.possible[:, -1]
    surely = last & (solution.possible.sum(axis=1) == 1)
    shares = None if solution.shares is None else solution.shares[:, -1]
    certificates = ((wider, solution.certificates),)
    return PremiseOutcome(
        solution=solution,
        premise="excluded",
        instance=wider,
        instance_certificates=certificates,
        may_be_discarded=last,
        surely_discarded=surely,
        discarded=shares,
    )
