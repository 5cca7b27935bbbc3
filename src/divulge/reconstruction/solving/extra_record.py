"""A record that only the totals have: tried in every bin.

Its amounts are what the totals exceed the packages by. Where also a package is missing from the
totals, that is tried with every package, whose amounts the extra record then has on top.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from divulge.reconstruction.problem.amounts import Bools, Ints, Shares
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.premises import Outcome, Premise, difference, plain
from divulge.reconstruction.problem.solution import Solution, infeasible
from divulge.reconstruction.solving.ladder import solve
from divulge.work import Effort


def with_extra_in(instance: Instance, b: int) -> Instance | None:
    """The instance where one bin holds a record that only the totals have; None if it cannot be.

    >>> one = Instance.of(np.array([[5]]), np.array([[5], [3]]), np.array([[5], [3]]))
    >>> with_extra_in(one, 1).holds(np.array([0]))
    True
    """
    counted = with_one_more(instance)
    extra_low, extra_high = amounts_of_extra(instance)
    if (extra_high < 0).any():
        return None
    low, high = instance.low.copy(), instance.high.copy()
    low[b] -= extra_high
    high[b] -= extra_low
    if (high[b] + counted.widening[:, -1] + counted.deeper[:, -1] < 0).any():
        return None
    held = instance.held.copy()
    held[b] += instance.counts_matter
    return replace(counted, low=low, high=high, held=held)


def amounts_of_extra(instance: Instance) -> tuple[Ints, Ints]:
    """What one record more must have at least and can have at most, for the totals to be right.

    >>> one = Instance.of(np.array([[5]]), np.array([[5], [3]]), np.array([[5], [3]]))
    >>> [side.tolist() for side in amounts_of_extra(one)]
    [[3], [3]]
    """
    at_least, at_most = difference(with_one_more(instance))
    return np.maximum(-at_most, 0), -at_least


def with_one_more(instance: Instance) -> Instance:
    """The same, where bins may hold one package more than there are: it is rounded, and counts."""
    if not instance.counts_matter:
        return instance
    wider, deeper = _one_more(instance.widening), _one_more(instance.deeper)
    return replace(instance, widening=wider, deeper=deeper)


def bin_of_extra(instance: Instance, allocation: Ints) -> int | None:
    """The one bin of which an allocation falls short: an extra record is there; None if not so.

    >>> one = Instance.of(np.array([[5]]), np.array([[5], [3]]), np.array([[5], [3]]))
    >>> bin_of_extra(one, np.array([0]))
    1
    """
    sums = np.array([instance.amounts[allocation == b].sum(axis=0) for b in range(instance.bins)])
    count = instance.held + np.bincount(allocation, minlength=instance.bins)
    short = (sums < instance.low - instance.widening[:, count].T).any(axis=1)
    if short.sum() != 1:
        return None
    b = int(short.argmax())
    run = with_extra_in(instance, b)
    return b if run is not None and run.holds(allocation) else None


def _one_more(by_count: Ints) -> Ints:
    """By as much more as any package before, per attribute; of one alone, a half may be cut off."""
    steps = np.diff(by_count, axis=1)
    step = steps.max(axis=1, keepdims=True, initial=0)
    if steps.shape[1] == 1:
        step += step > 0
    return np.hstack([by_count, by_count[:, -1:] + step])


def without_one(instance: Instance, p: int) -> Instance:
    """The instance with a last bin for one package that was left out of the totals.

    >>> one = Instance.of(np.array([[5], [4]]), np.array([[4]]), np.array([[4]]))
    >>> without_one(one, 0).holds(np.array([1, 0])), without_one(one, 1).holds(np.array([0, 1]))
    (True, False)
    """
    allowed = np.hstack([instance.allowed, np.zeros((instance.packages, 1), bool)])
    allowed[p] = np.arange(instance.bins + 1) == instance.bins
    return replace(
        instance,
        low=np.vstack([instance.low, instance.amounts[p]]),
        high=np.vstack([instance.high, instance.amounts[p]]),
        allowed=allowed,
        held=np.append(instance.held, 0),
    )


def left_out_and_extra(instance: Instance, truth: Ints) -> tuple[int, int] | None:
    """The package that the totals lack and the bin with one too many, if a truth is right.

    >>> totals = np.array([[4], [5], [6]])
    >>> one = Instance.of(np.array([[5], [4], [3], [2]]), totals, totals)
    >>> left_out_and_extra(one, np.array([0, 0, 1, 1]))
    (0, 2)
    """
    sums = np.array([instance.amounts[truth == b].sum(axis=0) for b in range(instance.bins)])
    count = instance.held + np.bincount(truth, minlength=instance.bins)
    every = np.arange(instance.bins)
    wrong = ~_fits(instance, every, sums, count)
    if not wrong.any():
        return None
    left = _fits(instance, truth, sums[truth] - instance.amounts, count[truth] - 1)
    still_wrong = wrong.sum() - wrong[truth] + ~left
    for p in np.flatnonzero(still_wrong == 1).tolist():
        without = np.where(np.arange(instance.packages) == p, instance.bins, truth)
        b = bin_of_extra(without_one(instance, p), without)
        if b is not None:
            return p, b
    return None


def _fits(instance: Instance, bins: Ints, sums: Ints, count: Ints) -> Bools:
    """Whether sums of so many packages lie in the intervals of bins, one per row."""
    wide, deep = instance.widening[:, count].T, instance.deeper[:, count].T
    low, high = instance.low[bins] - wide, instance.high[bins] + wide + deep
    return np.array(((sums >= low) & (sums <= high)).all(axis=1), bool)


def with_extra(
    instance: Instance,
    seconds: float,
    prior: Shares | None,
    truth: Ints | None = None,
    earlier: Ints | None = None,
) -> Outcome:
    """One run a bin: the record that only the totals have is in it."""
    told = None if truth is None else bin_of_extra(instance, truth)
    # The bin that a truth tells comes first.
    order = sorted(range(instance.bins), key=lambda b: b != told)
    runs = ((with_extra_in(instance, b), truth) for b in order)
    tried = _Tried(instance.allowed, len(order), told is not None)
    return tried.outcome("extra", instance, runs, seconds, prior, earlier)


def with_both(
    instance: Instance,
    seconds: float,
    prior: Shares | None,
    truth: Ints | None = None,
    earlier: Ints | None = None,
) -> Outcome:
    """One run for every package and bin: the one is left out of the totals, the other too full."""
    n, m = instance.packages, instance.bins
    told = None if truth is None else left_out_and_extra(instance, truth)
    order = sorted(itertools.product(range(n), range(m)), key=lambda pair: pair != told)

    def run(p: int, b: int) -> tuple[Instance | None, Ints | None]:
        start = None if truth is None else np.where(np.arange(n) == p, m, truth)
        return with_extra_in(without_one(instance, p), b), start

    if prior is not None:
        # Whether a record was left out has nothing to do with where it would have gone.
        prior = np.hstack([prior, prior.max(axis=1, keepdims=True)])
    allowed = np.hstack([instance.allowed, np.ones((n, 1), bool)])
    tried = _Tried(allowed, len(order), told is not None)
    runs = (run(p, b) for p, b in order)
    found = tried.outcome("both", instance, runs, seconds, prior, earlier)
    solution = found.solution
    if solution.status == "infeasible":
        return found
    last = solution.possible[:, -1]
    surely = last & (solution.possible.sum(axis=1) == 1)
    shares = None if solution.shares is None else solution.shares[:, -1]
    return replace(found, may_be_discarded=last, surely_discarded=surely, discarded=shares)


@dataclass(eq=False)
class _Tried:
    """What several runs found together: each is one way in which totals and records differ.

    `allowed` is where packages may go, `told` whether the first run is the one that a truth tells,
    which has as much effort as all others.
    """

    allowed: Bools
    how_many: int
    told: bool
    statuses: set[str] = field(default_factory=set)
    certificates: list[tuple[Instance, Ints]] = field(default_factory=list)
    total: int | None = 0

    def __post_init__(self) -> None:
        self.possible, self.proved = np.zeros_like(self.allowed), np.zeros_like(self.allowed)
        self.pairs: npt.NDArray[np.object_] = np.zeros(self.allowed.shape, object)

    def outcome(
        self,
        premise: Premise,
        instance: Instance,
        runs: Iterable[tuple[Instance | None, Ints | None]],
        seconds: float,
        prior: Shares | None,
        earlier: Ints | None,
    ) -> Outcome:
        """Try one after the other, each with its start; infeasible if none of them can be."""
        effort = Effort(seconds)
        for number, (run, truth) in enumerate(runs):
            if run is None:
                continue
            left = effort.left
            if left <= 0:
                # The others are not tried: nothing is excluded that they might allow.
                self.possible |= self.allowed
                self.statuses.add("open")
                self.total = None
                break
            half = number == 0 and self.told and self.how_many > 1
            share = left / (2 if half else self.how_many - number)
            self._add(run, solve(run, share, prior, truth, earlier=earlier))
        if self.statuses <= {"infeasible"}:
            return plain(instance, infeasible(instance), premise)
        # Under a prior, the runs would have to be weighed against each other.
        solution = self._solution(effort.used, weighed=prior is not None)
        return Outcome(solution, premise, instance, tuple(self.certificates))

    def _add(self, run: Instance, found: Solution) -> None:
        self.statuses.add(found.status)
        if found.status == "infeasible":
            return
        self.possible |= found.possible
        self.proved |= found.proved
        self.certificates.append((run, found.certificates))
        if found.count is None:
            self.total = None
        elif self.total is not None and found.pairs is not None:
            self.total += found.count
            self.pairs += found.pairs

    def _solution(self, seconds: float, weighed: bool) -> Solution:
        none = np.empty((0, len(self.allowed)), np.int16)
        shares = None if not self.total else (self.pairs / self.total).astype(np.float64)
        return Solution(
            "closed" if (self.possible == self.proved).all() else "open",
            self.possible,
            self.proved,
            np.concatenate([none, *(rows for _, rows in self.certificates)]),
            self.total,
            self.pairs if self.total is not None else None,
            shares if not weighed else None,
            seconds,
        )
