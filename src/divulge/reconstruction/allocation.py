"""`allocate`: packages without a bin, bins with totals; which package can be in which bin?

Packages are records whose place is not published, bins are places whose totals are (Favato et
al. 2022). An allocation gives every package one bin so that all totals come out right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from divulge import work
from divulge.assessment.assessment import Finding
from divulge.reconstruction.auditing.rounding_diagnosis import TIGHTEST_FIRST
from divulge.reconstruction.problem.amounts import Amount, Ints, Shares
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.premises import WITH_EXTRA, Outcome, Premise
from divulge.reconstruction.problem.puzzle_request import Puzzle
from divulge.reconstruction.problem.solution import Solution
from divulge.reconstruction.reporting.allocation_result import Allocation
from divulge.reconstruction.solving.ladder import solve
from divulge.reconstruction.solving.mismatched_totals import (
    LEAST_SHARE,
    inconsistencies,
    not_misled,
    settle,
)
from divulge.work import Effort

DOUBTS = 0.3
"""Of the time, what is kept to ask whether something is certain by whatever rule."""


def allocate(
    packages: Mapping[Any, Sequence[Amount] | Amount],
    bins: Mapping[Any, Sequence[Amount] | Amount],
    units: Sequence[Amount] | Amount,
    rounding: str = "sum_then_round",
    tolerance: Amount | None = None,
    prior: Mapping[Any, Mapping[Any, float]] | None = None,
    *,
    step: Amount = 1,
    rule_is_known: bool = False,
    premise: Premise = "complete",
    truth: Mapping[Any, Any] | None = None,
    seconds: float = 10.0,
) -> Allocation:
    """Find for every package all bins that it can be in.

    Args:
        packages: the amounts of every package, one or several, by its name.
        bins: the published totals of every bin, in the same order.
        units: of every amount the unit of which all packages are whole multiples.
        rounding: what was done to the totals (see `RULES`), or "diagnose" to take the tightest
            rule that fits.
        tolerance: by how much a total may be wrong to either side, instead of a rule.
        prior: how likely each bin is for each package; bins not named are as likely as the least.
        step: to multiples of what totals were rounded.
        rule_is_known: whether the rounding rule is beyond doubt. If not, a package is called
            certain only if it is so by whatever rule totals can have been rounded.
        premise: "complete" (the totals are of just these packages), "excluded" (some were left
            out of them), "extra" (they hold one record more), "both" (they lack one and hold one
            more), or "any" (find out).
        truth: where each package really is, if that is known: a start for the search of others.
        seconds: the effort, in nominal seconds: counted steps, about as many as a quiet core makes
            in that time, so that results do not depend on the machine. What is not settled then
            stays open.

    >>> found = allocate(
    ...     packages={"p1": ("3.20", "1.5"), "p2": ("4.10", "2.5"), "p3": ("9.00", "0.4")},
    ...     bins={"north": ("7", "4"), "south": ("9", "0")},
    ...     units=("0.01", "0.1"),
    ... )
    >>> found.status, found.count, found.possible["p1"], found.finding["p1"]
    ('closed', 1, {'north'}, 'certain')
    """
    puzzle = Puzzle(packages, bins, units, rounding, tolerance, step, premise, seconds)
    weights, start = puzzle.prior(prior), puzzle.truth(truth)
    effort = _Effort(seconds, in_doubt=not rule_is_known or premise == "any")
    with work.partial_results():
        if puzzle.rounding == "diagnose":
            return _diagnosed(puzzle, weights, start, effort)
        instance = puzzle.instance()
        outcome = settle(instance, premise, effort.to_look, weights, start)
        sure = _sure(puzzle, outcome, rule_is_known, effort)
        return _told(puzzle, instance, outcome, sure)


class _Effort:
    """The effort that `allocate` was given: most to look, the rest to ask what that rests on."""

    def __init__(self, seconds: float, in_doubt: bool) -> None:
        self._whole = Effort(seconds)
        self._kept = DOUBTS * seconds if in_doubt else 0.0
        self._least = LEAST_SHARE * seconds

    @property
    def to_look(self) -> float:
        """What may be spent before doubts are asked."""
        return max(self._whole.left - self._kept, self._least)

    @property
    def left(self) -> float:
        """What may be spent on one more question."""
        return max(self._whole.left, self._least)


def _diagnosed(
    puzzle: Puzzle, prior: Shares | None, truth: Ints | None, effort: _Effort
) -> Allocation:
    """The tightest rule by which an allocation exists; it was guessed, so it is not known."""
    for rule in TIGHTEST_FIRST:
        instance = puzzle.instance(rule)
        outcome = settle(instance, "complete", effort.to_look, prior, truth)
        if outcome.solution.status != "infeasible":
            break
    else:
        if puzzle.premise != "complete":
            instance = puzzle.instance("unknown_hard")
            outcome = settle(instance, puzzle.premise, effort.to_look, prior)
    puzzle.rounding = rule
    return _told(puzzle, instance, outcome, _sure(puzzle, outcome, False, effort))


def _sure(puzzle: Puzzle, outcome: Outcome, known: bool, effort: _Effort) -> np.ndarray[Any, Any]:
    """Which packages have one bin left whatever is in doubt."""
    sure = _by_whatever_rule(puzzle, outcome, known, effort)
    if puzzle.premise == "any" and sure.any():
        doubtful = not known and puzzle.tolerance is None
        widest = puzzle.by_any_rule() if doubtful else outcome.instance
        sure = sure & not_misled(widest, outcome, effort.left)
    return sure


def _by_whatever_rule(
    puzzle: Puzzle, outcome: Outcome, known: bool, effort: _Effort
) -> np.ndarray[Any, Any]:
    """Which packages have one bin left by whatever rule totals were rounded."""
    possible = outcome.solution.possible
    alone = possible.sum(axis=1) == 1
    if known or puzzle.tolerance is not None or not alone.any():
        return np.ones(len(alone), bool) if puzzle.rounding != "unknown_clt" else ~alone
    if puzzle.rounding == "unknown_clt":
        return np.zeros(len(alone), bool)
    widest = settle(puzzle.by_any_rule(), outcome.premise, effort.left).solution.possible
    if puzzle.premise == "any" and outcome.premise != "complete":
        # By another rule the totals might be of just these packages.
        complete = solve(puzzle.by_any_rule(), effort.left).possible
        widest = widest.copy()
        widest[:, : complete.shape[1]] |= complete
    sure: np.ndarray[Any, Any] = (widest.sum(axis=1) == 1) & (widest == possible).all(axis=1)
    return sure


def _told(
    puzzle: Puzzle, instance: Instance, outcome: Outcome, sure: np.ndarray[Any, Any]
) -> Allocation:
    found = outcome.solution
    names: list[Any] = list(puzzle.bin_names)
    inside = range(len(names))
    labels: list[Any] = [*names, *([None] if found.possible.shape[1] > len(names) else [])]
    possible, proved, finding = {}, {}, {}
    marginals: dict[Any, Mapping[Any, float] | None] = {}
    counts: dict[Any, Mapping[Any, int]] = {}
    rests = set()
    for p, package in enumerate(puzzle.package_names):
        possible[package] = {names[b] for b in inside if found.possible[p, b]}
        proved[package] = {names[b] for b in inside if found.proved[p, b]}
        finding[package] = _finding(found, p, bool(sure[p]), len(names))
        if found.possible[p].sum() == 1 and possible[package] and not sure[p]:
            rests.add(package)
        marginals[package], counts[package] = None, {}
        if found.shares is not None and found.status == "closed":
            some = [b for b in inside if found.possible[p, b]]
            marginals[package] = {names[b]: float(found.shares[p, b]) for b in some}
            if found.pairs is not None:
                counts[package] = {names[b]: int(found.pairs[p, b]) for b in some}
    excluded: dict[Any, float | None] = {}
    if outcome.may_be_discarded is not None:
        for left_out in np.flatnonzero(outcome.may_be_discarded):
            share = None if outcome.discarded is None else float(outcome.discarded[left_out])
            excluded[puzzle.package_names[left_out]] = share
    violated: list[tuple[Any, int]] = []
    if found.status == "infeasible":
        violated = [(names[v.bin], v.attribute) for v in inconsistencies(instance)]
    return Allocation(
        found.status,
        found.count,
        possible,
        proved,
        finding,
        marginals,
        counts,
        puzzle.rounding if puzzle.tolerance is None else "tolerance",
        outcome.premise,
        instance.complexity,
        found.seconds,
        [
            {package: labels[b] for package, b in zip(puzzle.package_names, row, strict=True)}
            for row in found.certificates
        ],
        frozenset(rests),
        excluded,
        violated,
        puzzle.premise == "any" and outcome.premise in WITH_EXTRA,
        (puzzle.amounts, names, puzzle.package_names, puzzle.totals, puzzle.units),
        instance,
        outcome,
        work.is_stopped(),
    )


def _finding(found: Solution, p: int, sure: bool, bins: int) -> Finding:
    if found.status == "infeasible":
        return "open"
    if found.possible[p].sum() == 1:
        # A package that was surely left out of the totals has no bin to be certain of.
        shown = bool(found.proved.any())  # else the premise itself may not hold
        return "certain" if sure and shown and found.possible[p, :bins].any() else "open"
    return "ambiguous" if found.proved[p].sum() > 1 else "open"
