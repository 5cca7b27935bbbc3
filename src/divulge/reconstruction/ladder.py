"""The ladder: from what is excluded at a glance to what takes a solver, rung by rung.

0. propagation, to a fixpoint, and one walk through all allocations if they are few;
1. the sets that fit into each bin, smallest bin first: what is in none is excluded, what is in
   all is forced;
2. the dynamic programme over these sets: the number of allocations, and exact shares;
3. walks from an allocation that is known or made to others, in turns with 1 and 2, then CP-SAT
   with pooled solutions.

What is `possible` has not been excluded; what is `proved` is in an allocation that is kept as a
certificate. Time that runs out leaves a gap between the two; it never drops anything.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from divulge.reconstruction import counting, halves, lattice, two_bins
from divulge.reconstruction.amounts import Bools, Ints
from divulge.reconstruction.instance import Instance
from divulge.reconstruction.parts import parts_of, restricted
from divulge.reconstruction.resplitting import Walk, construct
from divulge.reconstruction.search import some_allocation
from divulge.reconstruction.support import Support
from divulge.reconstruction.words import Words, masks_of, words_of

Status: TypeAlias = Literal["closed", "open", "infeasible"]
Shares: TypeAlias = npt.NDArray[np.float64]
Turns: TypeAlias = tuple[tuple[int, int, float, float, float], ...]

WALK = 30_000
BUDGETS = (20_000, 400_000, 8_000_000, 60_000_000, 160_000_000)
MOST_SETS = 20_000
MOST_PAIRS_ASKED = 1_500
LONGEST_TAIL = 16
STEPS_PER_SECOND = 100_000_000
TRIES = 300_000
MANY_PAIRS = 800
TURNS: Turns = (
    (0, 2, 1.0, 0.1, 0.25),
    (2, 4, 0.45, 0.55, 0.75),
    (4, 5, 0.85, 0.9, 0.98),
)
"""Sets, walks and questions take turns.

Which budgets for sets (from, up to), until when; walks until when; questions until when. Proofs
that are found soon spare much: what is proved need not be excluded.
"""
TURNS_OF_MANY: Turns = (
    (0, 2, 0.3, 0.6, 0.8),
    (2, 3, 0.9, 1.0, 1.0),
)
"""Where there are many pairs, few can be excluded, and most of the time is for proofs."""
QUESTIONS = ((20_000, 0.03), (100_000, 0.15), (600_000, 0.6), (3_000_000, 2.5))
"""How much is tried to answer one question: steps for one bin, seconds for all."""
FEW = 24
"""Packages of which meeting in the middle lists all sets at once."""
WORTH_COUNTING = 66
"""Packages of two bins up to which allocations are counted, however many there are."""
COUNTING_SHARE = 0.8
SUMS_PER_SECOND = 50_000_000
NEVER = 2**62


@dataclass(frozen=True, eq=False)
class Solution:
    """What is known of one instance: pairs of package and bin as truth values (n x m)."""

    status: Status
    possible: Bools
    proved: Bools
    certificates: Ints
    count: int | None = None
    pairs: npt.NDArray[np.object_] | None = None
    shares: Shares | None = None
    seconds: float = 0.0


@dataclass
class _Known:
    """What the rungs have found so far of one part of an instance."""

    instance: Instance
    possible: Bools
    proved: Bools
    certificates: list[Ints] = field(default_factory=list)
    counted: counting.Counted | None = None
    uncounted: tuple[int, ...] = ()
    infeasible: bool = False

    @property
    def closed(self) -> bool:
        return bool((self.possible == self.proved).all())

    @property
    def settled(self) -> bool:
        return self.infeasible or self.counted is not None or self.closed

    def enter(self, allocations: Ints) -> None:
        for of_package in allocations:
            self.proved[np.arange(len(of_package)), of_package] = True
            self.certificates.append(of_package)


def solve(
    instance: Instance,
    seconds: float = 10.0,
    prior: Shares | None = None,
    truth: Ints | None = None,
    solver: bool = True,
) -> Solution:
    """Climb the ladder as far as needed, within a time.

    Args:
        instance: packages, bins and what they allow.
        seconds: how long; what is then not settled stays open.
        prior: how probable each bin is for each package before.
        truth: an allocation that is known to be right: exchanges start from it.
        solver: whether CP-SAT is asked where the rest does not suffice.
    """
    from divulge.reconstruction import kernels
    from divulge.reconstruction.warm import warm

    warm()  # compiling takes seconds, and they are not the instance's
    begun = time.monotonic()
    allowed = instance.allowed.astype(np.uint8)
    if not kernels.propagate(*_arrays(instance), allowed, instance.held):
        return _infeasible(instance, begun)
    possible = allowed.astype(bool)
    parts = parts_of(possible)
    solved = []
    for packages, bins in parts:
        part = restricted(instance, possible, packages, bins)
        left = max(0.0, seconds - (time.monotonic() - begun))
        known = _solve_part(
            part,
            left,
            None if prior is None else prior[np.ix_(packages, bins)],
            None if truth is None else _relabelled(truth, packages, bins),
            solver,
        )
        if known.infeasible:
            return _infeasible(instance, begun)
        solved.append((packages, bins, known))
    return _joined(instance, possible, solved, begun)


def _arrays(instance: Instance) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    return instance.amounts, instance.low, instance.high, instance.widening, instance.deeper


def _infeasible(instance: Instance, begun: float) -> Solution:
    none = np.zeros((instance.packages, instance.bins), bool)
    return Solution(
        "infeasible",
        none,
        none.copy(),
        np.empty((0, instance.packages), np.int16),
        0,
        seconds=time.monotonic() - begun,
    )


def _relabelled(truth: Ints, packages: Ints, bins: Ints) -> Ints | None:
    place = {int(b): number for number, b in enumerate(bins)}
    found = [place.get(int(b), -1) for b in truth[packages]]
    return None if -1 in found else np.array(found, np.int64)


def _solve_part(
    instance: Instance, seconds: float, prior: Shares | None, truth: Ints | None, solver: bool
) -> _Known:
    known = _Known(instance, instance.allowed.copy(), np.zeros_like(instance.allowed))
    begun = time.monotonic()
    if prior is None and _walked(known):
        return known
    sets: dict[int, _Sets] = {}
    support = Support(instance)
    walk = None
    many = known.possible.sum() > MANY_PAIRS
    for first, beyond, until, and_then, asking in TURNS_OF_MANY if many else TURNS:
        _by_sets(known, sets, BUDGETS[first:beyond], begun + until * seconds, prior)
        if known.settled and (prior is None or known.counted or known.infeasible):
            return known
        if first == 0:
            walk = _start(known, truth, begun + and_then * seconds)
        if walk is not None:
            walk.explore(known.possible, known.proved, begun + and_then * seconds)
        if known.settled and prior is None:
            return known
        if prior is None:
            _pair_by_pair(known, support, walk, first // 2, begun + asking * seconds)
            if known.settled:
                return known
    if solver and not known.closed:
        _asked(known, walk, begun + seconds)
    return known


def _pair_by_pair(
    known: _Known, support: Support, walk: Walk | None, first: int, end: float
) -> None:
    """Rung 3b: whether a pair is possible, one after the other, with more and more time for each.

    First whether some set of the bin has it, then whether some allocation has.
    """
    from divulge.reconstruction import kernels

    instance = known.instance
    for steps, at_most in QUESTIONS[first:]:
        if time.monotonic() > end:
            return
        narrowed = support.narrow(known.possible, known.proved, steps, end)
        known.infeasible = narrowed is None
        if narrowed is None:
            return
        known.possible = narrowed
        waiting = np.argwhere(known.possible & ~known.proved)
        # Large packages fit in few ways, so that they are decided soon, and that helps others.
        for package, b in waiting[np.argsort(-instance.amounts[waiting[:, 0], 0], kind="stable")]:
            if known.proved[package, b] or not known.possible[package, b]:
                continue
            now = time.monotonic()
            if now > end:
                return
            assumed = known.possible.copy()
            assumed[package] = False
            assumed[package, b] = True
            answer = some_allocation(instance, assumed, min(end, now + at_most), steps)
            if answer.allocation is not None:
                known.enter(answer.allocation.astype(np.int16)[None])
                if walk is not None:
                    walk.place = answer.allocation.astype(np.int64)
            elif answer.sure:
                left = known.possible.astype(np.uint8)
                left[package, b] = 0
                if not kernels.propagate(*_arrays(instance), left, instance.held):
                    known.infeasible = True
                    return
                known.possible = left.astype(bool)
        if known.closed:
            return
        if walk is not None:
            now = time.monotonic()
            walk.explore(known.possible, known.proved, now + 0.1 * max(0.0, end - now))


def _start(known: _Known, truth: Ints | None, end: float) -> Walk | None:
    """Where other allocations are looked for: from the truth, or from one that is made up."""
    instance = known.instance
    if truth is not None and instance.holds(truth):
        known.enter(truth[None].astype(np.int16))
        _exchanged(known, truth)
        return Walk(instance, truth, known.enter, _soon)
    if known.certificates:
        return Walk(instance, known.certificates[-1], known.enter, _soon)
    made = construct(instance, known.possible, end)
    if made is None:
        return None
    known.enter(made.astype(np.int16)[None])
    return Walk(instance, made, known.enter, _soon)


def _soon(instance: Instance, end: float) -> Ints:
    """Allocations of a small instance: all of its pairs, or those that are found at once."""
    known = _Known(instance, instance.allowed.copy(), np.zeros_like(instance.allowed))
    if not _walked(known):
        _by_sets(known, {}, BUDGETS[:2], end, None)
    return np.array(known.certificates, np.int64).reshape(-1, instance.packages)


def _walked(known: _Known) -> bool:
    """Rung 0: all allocations, one by one; False if there are too many."""
    from divulge.reconstruction import kernels

    instance = known.instance
    if instance.packages > 200:
        return False
    # Large packages first, those with few bins before: they decide most.
    spread = np.maximum(instance.amounts.sum(axis=0), 1)
    size = (instance.amounts / spread).sum(axis=1)
    order = np.lexsort((-size, instance.allowed.sum(axis=1) > 2))
    complete, total, pairs, proofs, kept = kernels.backtrack(
        *_arrays(instance), instance.allowed.astype(np.uint8), instance.held, order, WALK
    )
    if not complete:
        known.enter(proofs[:kept])
        return False
    known.infeasible = total == 0
    known.possible &= pairs > 0
    known.enter(proofs[:kept])
    shares = pairs / max(total, 1)
    known.counted = counting.Counted(total, pairs, shares, proofs[:kept])
    return True


@dataclass
class _Sets:
    """The sets that fit into one bin, for the packages that could go there when they were made."""

    candidates: bytes
    sets: Words | None
    count: int


def _by_sets(
    known: _Known,
    found: dict[int, _Sets],
    budgets: Sequence[int],
    end: float,
    prior: Shares | None,
) -> None:
    """Rungs 1 and 2, with budgets that grow."""
    for budget in budgets:
        if budget / STEPS_PER_SECOND > end - time.monotonic():
            return
        if _meets_in_two(known, budget, prior):
            if _of_two_bins(known, budget, end):
                return
            continue  # one bin for itself tells less than both
        if not _pruned(known, found, budget, end):
            known.infeasible = True
            return
        current = [
            found[b].sets if b in found and _is_current(known, b, found[b]) else None
            for b in range(known.instance.bins)
        ]
        unknown = sum(of_bin is None for of_bin in current)
        if unknown <= 2:
            if _counted(known, current, end, prior):
                return
            if unknown == 0:
                return


def _counted(known: _Known, sets: Sequence[Words | None], end: float, prior: Shares | None) -> bool:
    """Rung 2: the number of allocations, if it can be had in time."""
    tried = tuple(-1 if of_bin is None else len(of_bin) for of_bin in sets)
    if tried == known.uncounted:
        return False
    known.uncounted = tried
    limited = known.instance.limited(known.possible)
    left = max(0.02, end - time.monotonic())
    counted = counting.count(limited, sets, prior, left / 3)
    if counted is None:
        return False
    _take(known, counted)
    return True


def _meets_in_two(known: _Known, budget: int, prior: Shares | None) -> bool:
    two = known.instance.bins == 2 and not known.instance.counts_matter
    return two and prior is None and budget > BUDGETS[0]


def _of_two_bins(known: _Known, budget: int, end: float) -> bool:
    """Rung 2 where there are two bins: the sets of one whose complement fits the other."""
    instance = known.instance
    everything = instance.amounts.sum(axis=0)
    low = np.maximum(instance.low[:1], everything - instance.high[1:])
    high = np.minimum(instance.high[:1], everything - instance.low[1:])
    one = replace(instance, low=low, high=high)
    can, must = known.possible[:, 0], ~known.possible[:, 1]
    found = _all_sets(one, 0, can, must, budget, 0, end)
    if found is None and budget == BUDGETS[1] and instance.packages <= WORTH_COUNTING:
        left = COUNTING_SHARE * max(0.0, end - time.monotonic())
        counted = two_bins.counted(
            instance, known.possible, left * SUMS_PER_SECOND, time.monotonic() + left
        )
        if counted is not None:
            _take(known, counted)
            return True
        if instance.attributes > 2:
            found = lattice.fitting(one, 0, can, must, int(left * lattice.STEPS_PER_SECOND), 0)
    if found is None:
        return False
    pairs = np.stack([found.with_package, found.count - found.with_package], axis=1)
    proofs = (~masks_of(found.telling, instance.packages)).astype(np.int16)
    shares = pairs / max(found.count, 1)
    _take(known, counting.Counted(found.count, pairs, shares, proofs))
    return True


def _take(known: _Known, counted: counting.Counted) -> None:
    known.counted = counted
    known.infeasible = counted.count == 0
    known.possible = known.possible & (counted.pairs > 0).astype(bool)
    known.enter(counted.proofs)


def _is_current(known: _Known, b: int, of_bin: _Sets) -> bool:
    return of_bin.candidates == known.possible[:, b].tobytes() + _forced(known, b).tobytes()


def _forced(known: _Known, b: int) -> Bools:
    forced: Bools = known.possible[:, b] & (known.possible.sum(axis=1) == 1)
    return forced


def _pruned(known: _Known, found: dict[int, _Sets], budget: int, end: float) -> bool:
    """Enumerate bin after bin, smallest first, until no bin tells anything new."""
    from divulge.reconstruction import kernels

    instance = known.instance
    given_up: set[int] = set()
    while True:
        waiting = [
            b
            for b in range(instance.bins)
            if b not in given_up
            and not (b in found and _is_current(known, b, found[b]))
            and _may_tell(known, b)
        ]
        if not waiting or time.monotonic() > end:
            return True
        b = min(waiting, key=lambda b: int(known.possible[:, b].sum()))
        candidates, forced = known.possible[:, b], _forced(known, b)
        complete, count, sets, union, common = _enumerated(
            instance, b, candidates, forced, budget, end
        )
        if not complete:
            given_up.add(b)
            continue
        if count == 0:
            return False
        key = candidates.tobytes() + forced.tobytes()
        found[b] = _Sets(key, sets if count <= len(sets) else None, count)
        if count <= len(sets):
            found[b].sets = sets[:count]
        else:
            given_up.add(b)
        some = masks_of(union, instance.packages)
        always = masks_of(common, instance.packages)
        before = known.possible.sum()
        known.possible[:, b] &= some
        known.possible[always] = False
        known.possible[always, b] = True
        if known.possible.sum() != before:
            narrowed = known.possible.astype(np.uint8)
            if not kernels.propagate(*_arrays(instance), narrowed, instance.held):
                return False
            known.possible = narrowed.astype(bool)
            for other, of_bin in found.items():
                _filter(known, other, of_bin)
            given_up = {
                other
                for other in given_up
                if other in found and _is_current(known, other, found[other])
            }


def _may_tell(known: _Known, b: int) -> bool:
    """Whether the sets of a bin can exclude anything: some package of it has a pair unproved."""
    inside = known.possible[:, b]
    return bool((known.possible[inside] & ~known.proved[inside]).any())


def _filter(known: _Known, b: int, of_bin: _Sets) -> None:
    """Keep those sets of a bin that agree with what has been excluded since."""
    if of_bin.sets is None:
        return
    outside = words_of(~known.possible[:, b])
    inside = words_of(_forced(known, b))
    keep = ((of_bin.sets & outside) == 0).all(axis=1) & ((inside & ~of_bin.sets) == 0).all(axis=1)
    of_bin.sets = of_bin.sets[keep]
    if not len(of_bin.sets):
        return
    masks = masks_of(of_bin.sets, known.instance.packages)
    if (masks.any(axis=0) == known.possible[:, b]).all():
        tight = known.possible[:, b].tobytes() + _forced(known, b).tobytes()
        if (masks.all(axis=0) == _forced(known, b)).all():
            of_bin.candidates = tight


def _enumerated(
    instance: Instance, b: int, candidates: Bools, forced: Bools, budget: int, end: float
) -> tuple[bool, int, Words, Words, Words]:
    from divulge.reconstruction import kernels

    words = (instance.packages + 63) // 64
    most_sets = max(64, min(MOST_SETS, 400_000 // words))
    if budget > BUDGETS[0]:
        met = _all_sets(instance, b, candidates, forced, budget, most_sets, end)
        if met is None:
            nothing = words_of(np.zeros(instance.packages, bool))
            return False, 0, nothing[None], nothing, nothing
        union = np.bitwise_or.reduce(met.telling, axis=0)
        common = np.bitwise_and.reduce(met.telling, axis=0)
        return True, met.count, met.sets, union, common
    room = np.maximum(instance.high[b] - instance.low[b], 0) + 1
    spread = instance.amounts[candidates].sum(axis=0) / room
    lead = np.argsort(-spread)  # the attribute that tells most comes first
    amounts = np.ascontiguousarray(instance.amounts[:, lead])
    free = np.flatnonzero(candidates & ~forced)
    free = free[np.argsort(-amounts[free, 0], kind="stable")]
    tail = min(len(free), max(len(free) // 2, 4), LONGEST_TAIL, max(4, budget.bit_length() - 3))
    base = amounts[forced].sum(axis=0)
    complete, count, sets, union, common = kernels.fitting_sets(
        amounts,
        free,
        base,
        int(instance.held[b] + forced.sum()),
        np.ascontiguousarray(instance.low[b, lead]),
        np.ascontiguousarray(instance.high[b, lead]),
        np.ascontiguousarray(instance.widening[lead]),
        np.ascontiguousarray(instance.deeper[lead]),
        tail,
        words,
        budget,
        most_sets,
        NEVER,
    )
    always = words_of(forced)
    return complete, count, sets | always, union | always, common | always


def _all_sets(
    instance: Instance,
    b: int,
    candidates: Bools,
    forced: Bools,
    budget: int,
    most_sets: int,
    end: float,
) -> halves.Fitting | None:
    """All sets of a bin by the way that is likely to list them, then by the other."""
    if int((candidates & ~forced).sum()) > FEW:
        steps = int(budget * lattice.STEPS_PER_SECOND / STEPS_PER_SECOND)
        found = lattice.fitting(instance, b, candidates, forced, steps, most_sets)
        if found is not None:
            return found
    longest = budget // halves.STEPS_PER_SUM
    return halves.fitting(instance, b, candidates, forced, longest, most_sets, end)


def _exchanged(known: _Known, start: Ints) -> None:
    """Rung 3a: other allocations near one that is known."""
    from divulge.reconstruction import kernels

    instance = known.instance
    room = int(known.possible.sum() - known.proved.sum())
    if not room:
        return
    proofs = np.empty((min(room, 4096) + 1, instance.packages), np.int16)
    proved = known.proved.astype(np.uint8)
    new = kernels.exchange(
        *_arrays(instance),
        known.possible.astype(np.uint8),
        instance.held,
        start.astype(np.int64),
        proved,
        proofs,
        1,
        TRIES,
    )
    known.enter(proofs[:new])


def _asked(known: _Known, walk: Walk | None, end: float) -> None:
    """Rung 3c: CP-SAT, as long as there is time; a walk from the first that it finds."""
    from divulge.reconstruction.solver import pooled

    left = end - time.monotonic()
    if left <= 0.02 or known.possible.sum() > MOST_PAIRS_ASKED:
        return
    limited = known.instance.limited(known.possible)
    for of_package in pooled(limited, known.proved, left):
        if of_package is None:
            known.infeasible = not known.proved.any()
            known.possible &= known.proved
            return
        known.enter(of_package[None])
        if walk is None:
            walk = Walk(known.instance, of_package, known.enter, _soon)
            now = time.monotonic()
            walk.explore(known.possible, known.proved, now + 0.6 * (end - now))


def _joined(
    instance: Instance, possible: Bools, solved: list[tuple[Ints, Ints, _Known]], begun: float
) -> Solution:
    """The whole instance from its parts: counts multiply, certificates are laid side by side."""
    n, m = instance.packages, instance.bins
    possible = possible.copy()
    settled = possible.sum(axis=1) == 1
    base = np.where(settled, possible.argmax(axis=1), -1)
    complete = all(known.proved.any() for _, _, known in solved)
    rows = max([1, *(len(known.certificates) for _, _, known in solved)]) if complete else 0
    certificates = np.repeat(base[None].astype(np.int16), rows, axis=0)
    total: int | None = 1
    for packages, bins, known in solved:
        possible[np.ix_(packages, bins)] = known.possible
        for row in range(rows):
            of_part = known.certificates[min(row, len(known.certificates) - 1)]
            certificates[row, packages] = bins[of_part]
        total = None if total is None or known.counted is None else total * known.counted.count
    proved = np.zeros((n, m), bool)
    for of_package in certificates:
        proved[np.arange(n), of_package] = True
    closed = bool((proved == possible).all())
    pairs, shares = None, None
    if total is not None:
        pairs, shares = _shares(possible, solved, total)
    return Solution(
        "closed" if closed else "open",
        possible,
        proved,
        certificates,
        total,
        pairs,
        shares,
        time.monotonic() - begun,
    )


def _shares(
    possible: Bools, solved: list[tuple[Ints, Ints, _Known]], total: int
) -> tuple[npt.NDArray[np.object_], Shares]:
    pairs = np.zeros(possible.shape, object)
    pairs[possible] = total
    shares = possible.astype(np.float64)
    for packages, bins, known in solved:
        assert known.counted is not None  # noqa: S101  # there is a total
        others = total // known.counted.count
        where = np.ix_(packages, bins)
        pairs[where] = known.counted.pairs.astype(object) * others
        shares[where] = known.counted.shares
    return pairs, shares
