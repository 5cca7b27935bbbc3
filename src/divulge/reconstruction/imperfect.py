"""Totals that were not made of just these packages: some left out, or one too many.

Whoever makes totals may discard records, or count one that is not published. A bin for discarded
packages has as capacity what the packages exceed the totals by; an extra record has the amounts
that the totals exceed the packages by, and is tried in every bin. What stays inconsistent is said
with the bin and attribute that would have to give way.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from divulge.reconstruction.amounts import Bools, Ints, Shares
from divulge.reconstruction.instance import Instance
from divulge.reconstruction.ladder import Solution, solve
from divulge.reconstruction.solver import least_violation

Premise: TypeAlias = Literal["complete", "excluded", "extra", "any"]
"""What is assumed: all packages are in the totals; some are not; one more is; find out."""

MOST_LEFT_OUT = 100_000
LEAST_SHARE = 0.1
"""Of the time, what every premise has at least, however long the one before it took."""

PREMISES: tuple[Premise, ...] = ("complete", "excluded", "extra", "any")


@dataclass(frozen=True, eq=False)
class Outcome:
    """A solution with the premise under which it holds.

    `checked` are the instances with the allocations that are their certificates. Under
    "excluded", `discarded` says in which share of allocations each package is left out of
    the totals (None where they were not counted), and `may_be_discarded` whether that is possible.
    """

    solution: Solution
    premise: Premise
    instance: Instance
    checked: tuple[tuple[Instance, Ints], ...] = ()
    may_be_discarded: Bools | None = None
    surely_discarded: Bools | None = None
    discarded: Shares | None = None

    def verify(self) -> bool:
        """Check every certificate by plain addition."""
        return all(instance.holds(row) for instance, rows in self.checked for row in rows)


def _plain(instance: Instance, solution: Solution, premise: Premise) -> Outcome:
    return Outcome(solution, premise, instance, ((instance, solution.certificates),))


def difference(instance: Instance) -> tuple[Ints, Ints]:
    """By how much the packages exceed the totals, at least and at most, per attribute.

    >>> one = Instance.of(np.array([[5], [4]]), np.array([[4]]), np.array([[6]]))
    >>> [side.tolist() for side in difference(one)]
    [[3], [5]]
    """
    most, deepest = _of_all_bins(instance.widening), _of_all_bins(instance.deeper)
    amounts = instance.amounts.sum(axis=0)
    low = amounts - (instance.high.sum(axis=0) + most + deepest)
    return low, amounts - (instance.low.sum(axis=0) - most)


def _of_all_bins(by_count: Ints) -> Ints:
    """The most that intervals of bins which share all packages can be wider, one added to another.

    As if every package had the most that a package of any bin has: where the width is no multiple
    of the count, several bins together may be wider than one with all packages.
    """
    counts = np.arange(1, by_count.shape[1])
    if not len(counts):
        return by_count[:, -1]
    widest: Ints = (-(-by_count[:, 1:] * counts[-1] // counts)).max(axis=1)
    return widest


def settle(
    instance: Instance,
    premise: Premise = "complete",
    seconds: float = 10.0,
    prior: Shares | None = None,
    truth: Ints | None = None,
    earlier: Ints | None = None,
) -> Outcome:
    """Solve an instance under a premise; "any" takes the first of them that is consistent.

    A truth that the totals contradict tells the premise: which records they leave out, or in which
    bin they have one too many. Allocations that were found `earlier` are proofs if they hold.
    """
    if premise == "excluded":
        return _with_discarded(instance, seconds, prior, truth, earlier)
    if premise == "extra":
        return _with_extra(instance, seconds, prior, truth, earlier)
    begun = time.monotonic()

    def left() -> float:
        return max(seconds - (time.monotonic() - begun), LEAST_SHARE * seconds)

    told = _as_told(instance, seconds, prior, truth, earlier) if premise == "any" else None
    if told is not None:
        return told
    plain = solve(instance, left(), prior, truth, earlier=earlier)
    if premise == "complete" or plain.status != "infeasible":
        return _plain(instance, plain, "complete")
    at_least, at_most = difference(instance)
    if (at_most >= 0).all():
        found = _with_discarded(instance, left(), prior, truth, earlier)
        if found.solution.status != "infeasible":
            return found
    if (at_least <= 0).all():
        found = _with_extra(instance, left(), prior, truth, earlier)
        if found.solution.status != "infeasible":
            return found
    return _plain(instance, plain, "complete")


def _as_told(
    instance: Instance,
    seconds: float,
    prior: Shares | None,
    truth: Ints | None,
    earlier: Ints | None,
) -> Outcome | None:
    """Solved under the premise that a truth tells if the totals contradict it; None otherwise."""
    if truth is None or instance.holds(truth):
        return None
    out = left_out(instance, truth)
    if out is not None and out.any():
        found = _with_discarded(instance, seconds, prior, truth, earlier)
    elif bin_of_extra(instance, truth) is not None:
        found = _with_extra(instance, seconds, prior, truth, earlier)
    else:
        return None
    return found if found.solution.status != "infeasible" else None


def not_misled(instance: Instance, outcome: Outcome, seconds: float) -> Bools:
    """Which packages stay where they are even if records are missing that the totals have room for.

    Where all packages fit the totals, some may be small enough to be missing from them unnoticed,
    and then others may be elsewhere.
    """
    found, n = outcome.solution, instance.packages
    if outcome.premise != "complete":
        return np.ones(n, bool)
    _, room = difference(instance)
    small = (instance.amounts <= room).all(axis=1)
    if not small.any():
        return np.ones(n, bool)
    if not ((found.possible.sum(axis=1) == 1) & ~small).any():
        return np.zeros(n, bool)  # nothing is told by one place left, so nothing is worth the time
    # An allocation of all packages is one where none is missing, and a proof of its pairs.
    bins = with_discarded_bin(instance) or instance
    wider = solve(bins, seconds, earlier=found.certificates, counting=False)
    same: Bools = (wider.possible[:, : instance.bins] == found.possible).all(axis=1)
    # An allocation of all packages is also one where none happens to be missing, so one was found.
    return same & ~wider.possible[:, instance.bins :].any(axis=1) & found.proved.any()


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


def _with_discarded(
    instance: Instance,
    seconds: float,
    prior: Shares | None,
    truth: Ints | None = None,
    earlier: Ints | None = None,
) -> Outcome:
    """One more bin, for what was left out of the totals."""
    wider = with_discarded_bin(instance)
    if wider is None:
        return _plain(instance, solve(instance, seconds, prior), "excluded")
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


def with_extra_in(instance: Instance, b: int) -> Instance | None:
    """The instance where one bin holds a record that only the totals have; None if it cannot be.

    >>> one = Instance.of(np.array([[5]]), np.array([[5], [3]]), np.array([[5], [3]]))
    >>> with_extra_in(one, 1).holds(np.array([0]))
    True
    """
    at_least, at_most = difference(instance)
    extra_low, extra_high = np.maximum(-at_most, 0), -at_least
    if (extra_high < 0).any():
        return None
    low, high = instance.low.copy(), instance.high.copy()
    low[b] -= extra_high
    high[b] -= extra_low
    if (high[b] + instance.widening[:, -1] + instance.deeper[:, -1] < 0).any():
        return None
    held = instance.held.copy()
    widened = instance.widening, instance.deeper
    if instance.counts_matter:
        # The extra record counts too; the widest it can make a bin is one package more.
        held[b] += 1
        widened = _one_more(instance.widening), _one_more(instance.deeper)
    return replace(instance, low=low, high=high, held=held, widening=widened[0], deeper=widened[1])


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


def _with_extra(
    instance: Instance,
    seconds: float,
    prior: Shares | None,
    truth: Ints | None = None,
    earlier: Ints | None = None,
) -> Outcome:
    """One run a bin: the record that only the totals hold is in it."""
    begun = time.monotonic()
    n, m = instance.packages, instance.bins
    possible, proved = np.zeros((n, m), bool), np.zeros((n, m), bool)
    total: int | None = 0
    pairs = np.zeros((n, m), object)
    certificates, statuses = [], []
    told = None if truth is None else bin_of_extra(instance, truth)
    # The bin that a truth tells comes first, and has as much time as all others.
    for number, b in enumerate(sorted(range(m), key=lambda b: b != told)):
        run = with_extra_in(instance, b)
        if run is None:
            continue
        left = seconds - (time.monotonic() - begun)
        if left <= 0:
            # No time to try the other bins: nothing is excluded that they might allow.
            possible |= instance.allowed
            statuses.append("open")
            total = None
            break
        share = left / (2 if b == told and m > 1 else m - number)
        found = solve(run, share, prior, truth, earlier=earlier)
        statuses.append(found.status)
        possible |= found.possible
        proved |= found.proved
        certificates.append((run, found.certificates))
        if found.count is None:
            total = None
        elif total is not None and found.pairs is not None:
            total += found.count
            pairs += found.pairs
    if not statuses or set(statuses) == {"infeasible"}:
        return _plain(instance, solve(instance, seconds, prior), "extra")
    closed = bool((possible == proved).all())
    shares = None if not total else (pairs / total).astype(np.float64)
    solution = Solution(
        "closed" if closed else "open",
        possible,
        proved,
        np.concatenate([np.empty((0, n), np.int16), *(rows for _, rows in certificates)]),
        total,
        pairs if total is not None else None,
        # Under a prior, the runs would have to be weighed against each other.
        shares if prior is None else None,
        time.monotonic() - begun,
    )
    return Outcome(solution, "extra", instance, tuple(certificates))


def _one_more(by_count: Ints) -> Ints:
    return np.hstack([by_count, by_count[:, -1:] + np.diff(by_count, axis=1).max(initial=0)])


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
