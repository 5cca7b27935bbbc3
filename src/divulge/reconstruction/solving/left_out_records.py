"""Records that the totals leave out: a bin for discarded packages.

Its capacity is what the packages exceed the totals by.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from divulge.reconstruction.problem.amounts import Bools, Ints, Shares
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.premises import Outcome, difference, plain
from divulge.reconstruction.problem.solution import infeasible
from divulge.reconstruction.solving.ladder import solve

MOST_LEFT_OUT = 100_000


def left_out(instance: Instance, truth: Ints) -> Bools | None:
    """Which packages the totals leave out if a truth is right: one or two of a bin, or None.

    >>> one = Instance.of(np.array([[5], [4]]), np.array([[4]]), np.array([[4]]))
    >>> left_out(one, np.array([0, 0])).tolist()
    [True, False]
    """
    out = np.zeros(instance.packages, bool)
    for b in range(instance.bins):
        inside = np.flatnonzero(truth == b)
        sums = instance.amounts[inside].sum(axis=0)
        for size in range(3):
            if math.comb(len(inside), size) > MOST_LEFT_OUT:
                return None
            some = np.array(list(itertools.combinations(inside, size)), np.int64)
            some = some.reshape(math.comb(len(inside), size), size)
            count = int(instance.held[b]) + len(inside) - size
            wide, deep = instance.widening[:, count], instance.deeper[:, count]
            rest = sums - instance.amounts[some].sum(axis=1)
            fits = (rest >= instance.low[b] - wide) & (rest <= instance.high[b] + wide + deep)
            if fits.all(axis=1).any():
                out[some[int(np.argmax(fits.all(axis=1)))]] = True
                break
        else:
            return None
    return out


def with_discarded_bin(instance: Instance) -> Instance | None:
    """The instance with a last bin for what was left out of the totals; None if nothing can be.

    >>> one = Instance.of(np.array([[5], [4]]), np.array([[4]]), np.array([[4]]))
    >>> with_discarded_bin(one).holds(np.array([1, 0]))
    True
    """
    at_least, at_most = difference(instance)
    if (at_most < 0).any():
        return None
    return Instance(
        instance.amounts,
        np.vstack([instance.low, np.maximum(at_least, 0)]),
        np.vstack([instance.high, at_most]),
        instance.widening,
        instance.deeper,
        np.hstack([instance.allowed, np.ones((instance.packages, 1), bool)]),
        np.append(instance.held, 0),
    )


def with_discarded(
    instance: Instance,
    seconds: float,
    prior: Shares | None,
    truth: Ints | None = None,
    earlier: Ints | None = None,
) -> Outcome:
    """One more bin, for what was left out of the totals."""
    wider = with_discarded_bin(instance)
    if wider is None:
        return plain(instance, infeasible(instance), "excluded")
    if prior is not None:
        # Whether a record was left out has nothing to do with where it would have gone.
        prior = np.hstack([prior, prior.max(axis=1, keepdims=True)])
    if truth is not None:
        out = left_out(instance, truth)
        truth = None if out is None else np.where(out, instance.bins, truth)
    found = solve(wider, seconds, prior, truth, earlier=earlier)
    last = found.possible[:, -1]
    surely = last & (found.possible.sum(axis=1) == 1)
    shares = None if found.shares is None else found.shares[:, -1]
    checked = ((wider, found.certificates),)
    return Outcome(found, "excluded", wider, checked, last, surely, shares)
