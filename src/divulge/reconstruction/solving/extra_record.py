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

from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.premises import (
    Premise,
    PremiseOutcome,
    bound_difference,
    build_plain_outcome,
)
from divulge.reconstruction.problem.solution import InstanceSolution, build_infeasible_solution
from divulge.reconstruction.solving.ladder import solve_instance
from divulge.work import Effort
from divulge.work.arrays import Bools, Floats, Ints


def place_extra_record(instance: Instance, b: int) -> Instance | None:
    """The instance where one bin holds a record that only the totals have; None if it cannot be.

    >>> one = Instance.from_intervals(np.array([[5]]), np.array([[5], [3]]), np.array([[5], [3]]))
    >>> place_extra_record(one, 1).is_allocation(np.array([0]))
    True
    """
    roomier = allow_one_more_record(instance)
    extra_low, extra_high = bound_extra_amounts(instance)
    if (extra_high < 0).any():
        return None
    low, high = instance.low.copy(), instance.high.copy()
    low[b] -= extra_high
    high[b] -= extra_low
    if (high[b] + roomier.slack_by_count[:, -1] + roomier.extra_above[:, -1] < 0).any():
        return None
    bin_counts = instance.already_in_bin.copy()
    bin_counts[b] += instance.counts_matter
    return replace(roomier, low=low, high=high, already_in_bin=bin_counts)


def bound_extra_amounts(instance: Instance) -> tuple[Ints, Ints]:
    """What one record more must have at least and can have at most, for the totals to be right.

    >>> one = Instance.from_intervals(np.array([[5]]), np.array([[5], [3]]), np.array([[5], [3]]))
    >>> [side.tolist() for side in bound_extra_amounts(one)]
    [[3], [3]]
    """
    at_least, at_most = bound_difference(allow_one_more_record(instance))
    return np.maximum(-at_most, 0), -at_least


def allow_one_more_record(instance: Instance) -> Instance:
    """The same, where bins may hold one package more than there are: it is rounded, and counts."""
    if not instance.counts_matter:
        return instance
    slack, extra = (
        _extend_by_one_record(instance.slack_by_count),
        _extend_by_one_record(instance.extra_above),
    )
    return replace(instance, slack_by_count=slack, extra_above=extra)


def find_extra_bin(instance: Instance, allocation: Ints) -> int | None:
    """The one bin of which an allocation falls short: an extra record is there; None if not so.

    >>> one = Instance.from_intervals(np.array([[5]]), np.array([[5], [3]]), np.array([[5], [3]]))
    >>> find_extra_bin(one, np.array([0]))
    1
    """
    sums = np.array([instance.amounts[allocation == b].sum(axis=0) for b in range(instance.bins)])
    count = instance.already_in_bin + np.bincount(allocation, minlength=instance.bins)
    is_short = (sums < instance.low - instance.slack_by_count[:, count].T).any(axis=1)
    if is_short.sum() != 1:
        return None
    b = int(is_short.argmax())
    assumed_instance = place_extra_record(instance, b)
    return (
        b if assumed_instance is not None and assumed_instance.is_allocation(allocation) else None
    )


def _extend_by_one_record(by_count: Ints) -> Ints:
    """By as much more as any package before, per attribute; of one alone, a half may be cut off."""
    steps = np.diff(by_count, axis=1)
    step = steps.max(axis=1, keepdims=True, initial=0)
    if steps.shape[1] == 1:
        step += step > 0
    return np.hstack([by_count, by_count[:, -1:] + step])


def discard_package(instance: Instance, p: int) -> Instance:
    """The instance with a last bin for one package that was left out of the totals.

    >>> one = Instance.from_intervals(np.array([[5], [4]]), np.array([[4]]), np.array([[4]]))
    >>> discard_package(one, 0).is_allocation(np.array([1, 0]))
    True
    >>> discard_package(one, 1).is_allocation(np.array([0, 1]))
    False
    """
    allowed = np.hstack([instance.allowed, np.zeros((instance.packages, 1), bool)])
    allowed[p] = np.arange(instance.bins + 1) == instance.bins
    return replace(
        instance,
        low=np.vstack([instance.low, instance.amounts[p]]),
        high=np.vstack([instance.high, instance.amounts[p]]),
        allowed=allowed,
        already_in_bin=np.append(instance.already_in_bin, 0),
    )


def find_left_out_and_extra(instance: Instance, truth: Ints) -> tuple[int, int] | None:
    """The package that the totals lack and the bin with one too many, if a truth is right.

    >>> totals = np.array([[4], [5], [6]])
    >>> one = Instance.from_intervals(np.array([[5], [4], [3], [2]]), totals, totals)
    >>> find_left_out_and_extra(one, np.array([0, 0, 1, 1]))
    (0, 2)
    """
    sums = np.array([instance.amounts[truth == b].sum(axis=0) for b in range(instance.bins)])
    count = instance.already_in_bin + np.bincount(truth, minlength=instance.bins)
    every = np.arange(instance.bins)
    wrong = ~_are_within_intervals(instance, every, sums, count)
    if not wrong.any():
        return None
    fits_without = _are_within_intervals(
        instance, truth, sums[truth] - instance.amounts, count[truth] - 1
    )
    still_wrong = wrong.sum() - wrong[truth] + ~fits_without
    for p in np.flatnonzero(still_wrong == 1).tolist():
        allocation = np.where(np.arange(instance.packages) == p, instance.bins, truth)
        b = find_extra_bin(discard_package(instance, p), allocation)
        if b is not None:
            return p, b
    return None


def _are_within_intervals(instance: Instance, bins: Ints, sums: Ints, count: Ints) -> Bools:
    """Whether sums of so many packages lie in the intervals of bins, one per row."""
    wide, deep = instance.slack_by_count[:, count].T, instance.extra_above[:, count].T
    low, high = instance.low[bins] - wide, instance.high[bins] + wide + deep
    return np.array(((sums >= low) & (sums <= high)).all(axis=1), bool)


def solve_with_extra(
    instance: Instance,
    seconds: float,
    prior: Floats | None,
    truth: Ints | None = None,
    earlier: Ints | None = None,
) -> PremiseOutcome:
    """One run a bin: the record that only the totals have is in it."""
    true_bin = None if truth is None else find_extra_bin(instance, truth)
    # The bin that a truth shows comes first.
    order = sorted(range(instance.bins), key=lambda b: b != true_bin)
    runs = ((place_extra_record(instance, b), truth) for b in order)
    union = _RunUnion(
        allowed=instance.allowed, run_count=len(order), truth_comes_first=true_bin is not None
    )
    return union.solve_runs("extra", instance, runs, seconds=seconds, prior=prior, earlier=earlier)


def solve_with_both(
    instance: Instance,
    seconds: float,
    prior: Floats | None,
    truth: Ints | None = None,
    earlier: Ints | None = None,
) -> PremiseOutcome:
    """One run for every package and bin: the one is left out of the totals, the other too full."""
    n, m = instance.packages, instance.bins
    true_pair = None if truth is None else find_left_out_and_extra(instance, truth)
    order = sorted(itertools.product(range(n), range(m)), key=lambda pair: pair != true_pair)

    def build_run(p: int, b: int) -> tuple[Instance | None, Ints | None]:
        start = None if truth is None else np.where(np.arange(n) == p, m, truth)
        return place_extra_record(discard_package(instance, p), b), start

    if prior is not None:
        # Whether a record was left out has nothing to do with where it would have gone.
        prior = np.hstack([prior, prior.max(axis=1, keepdims=True)])
    allowed = np.hstack([instance.allowed, np.ones((n, 1), bool)])
    union = _RunUnion(
        allowed=allowed, run_count=len(order), truth_comes_first=true_pair is not None
    )
    runs = (build_run(p, b) for p, b in order)
    outcome = union.solve_runs(
        "both", instance, runs, seconds=seconds, prior=prior, earlier=earlier
    )
    solution = outcome.solution
    if solution.status == "infeasible":
        return outcome
    last = solution.possible[:, -1]
    surely = last & (solution.possible.sum(axis=1) == 1)
    shares = None if solution.shares is None else solution.shares[:, -1]
    return replace(outcome, may_be_discarded=last, surely_discarded=surely, discarded=shares)


@dataclass(eq=False, kw_only=True)
class _RunUnion:
    """What several runs found together: each is one way in which totals and records differ.

    `allowed` is where packages may go, `truth_comes_first` whether the first run is the one that a
    truth shows, which has as much effort as all others.
    """

    allowed: Bools
    run_count: int
    truth_comes_first: bool
    statuses: set[str] = field(default_factory=set)
    certificates: list[tuple[Instance, Ints]] = field(default_factory=list)
    total: int | None = 0

    def __post_init__(self) -> None:
        self.possible, self.proved = np.zeros_like(self.allowed), np.zeros_like(self.allowed)
        self.pairs: npt.NDArray[np.object_] = np.zeros(self.allowed.shape, object)

    def solve_runs(
        self,
        premise: Premise,
        instance: Instance,
        runs: Iterable[tuple[Instance | None, Ints | None]],
        *,
        seconds: float,
        prior: Floats | None,
        earlier: Ints | None,
    ) -> PremiseOutcome:
        """Try one after the other, each with its start; infeasible if none of them can be."""
        effort = Effort(seconds)
        for number, (run, truth) in enumerate(runs):
            if run is None:
                continue
            remaining = effort.left
            if remaining <= 0:
                # The others are not tried: nothing is excluded that they might allow.
                self.possible |= self.allowed
                self.statuses.add("open")
                self.total = None
                break
            gets_half = number == 0 and self.truth_comes_first and self.run_count > 1
            share = remaining / (2 if gets_half else self.run_count - number)
            self._add_solution(run, solve_instance(run, share, prior, truth=truth, earlier=earlier))
        if self.statuses <= {"infeasible"}:
            return build_plain_outcome(instance, build_infeasible_solution(instance), premise)
        # Under a prior, the runs would have to be weighed against each other.
        solution = self._build_solution(effort.used, weighed=prior is not None)
        return PremiseOutcome(
            solution=solution,
            premise=premise,
            instance=instance,
            instance_certificates=tuple(self.certificates),
        )

    def _add_solution(self, run: Instance, solution: InstanceSolution) -> None:
        self.statuses.add(solution.status)
        if solution.status == "infeasible":
            return
        self.possible |= solution.possible
        self.proved |= solution.proved
        self.certificates.append((run, solution.certificates))
        if solution.count is None:
            self.total = None
        elif self.total is not None and solution.pairs is not None:
            self.total += solution.count
            self.pairs += solution.pairs

    def _build_solution(self, seconds: float, weighed: bool) -> InstanceSolution:
        none = np.empty((0, len(self.allowed)), np.int16)
        shares = None if not self.total else (self.pairs / self.total).astype(np.float64)
        return InstanceSolution(
            status="closed" if (self.possible == self.proved).all() else "open",
            possible=self.possible,
            proved=self.proved,
            certificates=np.concatenate([none, *(rows for _, rows in self.certificates)]),
            count=self.total,
            pairs=self.pairs if self.total is not None else None,
            shares=shares if not weighed else None,
            seconds=seconds,
        )
