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
from divulge.reconstruction import tuning
from divulge.reconstruction.problem.amounts import Amount
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.premises import WITH_EXTRA, Premise, PremiseOutcome
from divulge.reconstruction.problem.puzzle_request import PuzzleRequest
from divulge.reconstruction.problem.rounding import TIGHTEST_FIRST
from divulge.reconstruction.problem.solution import InstanceSolution
from divulge.reconstruction.reporting.allocation_result import Allocation
from divulge.reconstruction.solving.ladder import solve_instance
from divulge.reconstruction.solving.mismatched_totals import (
    find_certain_despite_missing,
    find_inconsistencies,
    solve_under_premise,
)
from divulge.work import Effort
from divulge.work.arrays import Floats, Ints


def allocate(
    packages: Mapping[Any, Sequence[Amount] | Amount],
    bins: Mapping[Any, Sequence[Amount] | Amount],
    units: Sequence[Amount] | Amount,
    rounding: str = "sum_then_round",
    tolerance: Amount | None = None,
    *,
    prior: Mapping[Any, Mapping[Any, float]] | None = None,
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
    puzzle = PuzzleRequest(
        packages,
        bins,
        units,
        rounding=rounding,
        tolerance=tolerance,
        step=step,
        premise=premise,
        seconds=seconds,
    )
    weights, start = puzzle.parse_prior(prior), puzzle.parse_truth(truth)
    effort = _AllocationEffort(seconds, in_doubt=not rule_is_known or premise == "any")
    with work.partial_results():
        if puzzle.rounding == "diagnose":
            return _allocate_by_tightest_rule(puzzle, weights, start, effort)
        instance = puzzle.build_instance()
        outcome = solve_under_premise(
            instance, premise, effort.search_seconds, prior=weights, truth=start
        )
        sure = _find_certain_under_doubt(puzzle, outcome, rule_is_known, effort)
        return _build_result(puzzle, instance, outcome, sure)


class _AllocationEffort:
    """The effort that `allocate` was given: most to look, the rest to ask what that rests on."""

    def __init__(self, seconds: float, in_doubt: bool) -> None:
        self._whole = Effort(seconds)
        self._reserve = tuning.ALLOCATE_DOUBT_SHARE * seconds if in_doubt else 0.0
        self._minimum = tuning.PREMISE_LEAST_SHARE * seconds

    @property
    def search_seconds(self) -> float:
        """What may be spent before other rounding rules are tried."""
        return max(self._whole.left - self._reserve, self._minimum)

    @property
    def left(self) -> float:
        """What may be spent on one more question."""
        return max(self._whole.left, self._minimum)


def _allocate_by_tightest_rule(
    puzzle: PuzzleRequest, prior: Floats | None, truth: Ints | None, effort: _AllocationEffort
) -> Allocation:
    """The tightest rule by which an allocation exists; it was guessed, so it is not known."""
    for rule in TIGHTEST_FIRST:
        instance = puzzle.build_instance(rule)
        outcome = solve_under_premise(
            instance, "complete", effort.search_seconds, prior=prior, truth=truth
        )
        if outcome.solution.status != "infeasible":
            break
    else:
        if puzzle.premise != "complete":
            instance = puzzle.build_instance("unknown_hard")
            outcome = solve_under_premise(
                instance, puzzle.premise, effort.search_seconds, prior=prior, truth=truth
            )
    puzzle.rounding = rule
    return _build_result(
        puzzle, instance, outcome, _find_certain_under_doubt(puzzle, outcome, False, effort)
    )


def _find_certain_under_doubt(
    puzzle: PuzzleRequest, outcome: PremiseOutcome, rule_is_known: bool, effort: _AllocationEffort
) -> np.ndarray[Any, Any]:
    """Which packages have one bin left whatever is in doubt."""
    sure = _find_certain_by_any_rule(puzzle, outcome, rule_is_known, effort)
    if puzzle.premise == "any" and sure.any():
        doubtful = not rule_is_known and puzzle.tolerance is None
        widest = puzzle.build_widest_instance() if doubtful else outcome.instance
        sure = sure & find_certain_despite_missing(widest, outcome, effort.left)
    return sure


def _find_certain_by_any_rule(
    puzzle: PuzzleRequest, outcome: PremiseOutcome, rule_is_known: bool, effort: _AllocationEffort
) -> np.ndarray[Any, Any]:
    """Which packages have one bin left by whatever rule totals were rounded."""
    possible = outcome.solution.possible
    alone = possible.sum(axis=1) == 1
    if rule_is_known or puzzle.tolerance is not None or not alone.any():
        return np.ones(len(alone), bool) if puzzle.rounding != "unknown_clt" else ~alone
    if puzzle.rounding == "unknown_clt":
        return np.zeros(len(alone), bool)
    widest = solve_under_premise(
        puzzle.build_widest_instance(), outcome.premise, effort.left
    ).solution.possible
    if puzzle.premise == "any" and outcome.premise != "complete":
        # By another rule the totals might be of just these packages.
        complete = solve_instance(puzzle.build_widest_instance(), effort.left).possible
        widest = widest.copy()
        widest[:, : complete.shape[1]] |= complete
    sure: np.ndarray[Any, Any] = (widest.sum(axis=1) == 1) & (widest == possible).all(axis=1)
    return sure


def _build_result(
    puzzle: PuzzleRequest, instance: Instance, outcome: PremiseOutcome, sure: np.ndarray[Any, Any]
) -> Allocation:
    solution = outcome.solution
    names: list[Any] = list(puzzle.bin_names)
    inside = range(len(names))
    labels: list[Any] = [*names, *([None] if solution.possible.shape[1] > len(names) else [])]
    possible, proved, finding = {}, {}, {}
    marginals: dict[Any, Mapping[Any, float] | None] = {}
    counts: dict[Any, Mapping[Any, int]] = {}
    rule_dependent = set()
    for p, package in enumerate(puzzle.package_names):
        possible[package] = {names[b] for b in inside if solution.possible[p, b]}
        proved[package] = {names[b] for b in inside if solution.proved[p, b]}
        finding[package] = _classify_package(solution, p, bool(sure[p]), len(names))
        if solution.possible[p].sum() == 1 and possible[package] and not sure[p]:
            rule_dependent.add(package)
        marginals[package], counts[package] = None, {}
        if solution.shares is not None and solution.status == "closed":
            bins_left = [b for b in inside if solution.possible[p, b]]
            marginals[package] = {names[b]: float(solution.shares[p, b]) for b in bins_left}
            if solution.pairs is not None:
                counts[package] = {names[b]: int(solution.pairs[p, b]) for b in bins_left}
    excluded: dict[Any, float | None] = {}
    if outcome.may_be_discarded is not None:
        for number in np.flatnonzero(outcome.may_be_discarded):
            share = None if outcome.discarded is None else float(outcome.discarded[number])
            excluded[puzzle.package_names[number]] = share
    violated: list[tuple[Any, int]] = []
    if solution.status == "infeasible":
        violated = [(names[v.bin], v.attribute) for v in find_inconsistencies(instance)]
    return Allocation(
        status=solution.status,
        count=solution.count,
        possible=possible,
        proved=proved,
        finding=finding,
        marginals=marginals,
        counts=counts,
        rounding=puzzle.rounding if puzzle.tolerance is None else "tolerance",
        premise=outcome.premise,
        complexity=instance.complexity,
        seconds=solution.seconds,
        certificates=[
            {package: labels[b] for package, b in zip(puzzle.package_names, row, strict=True)}
            for row in solution.certificates
        ],
        rests_on_rule=frozenset(rule_dependent),
        excluded=excluded,
        violated=violated,
        _in_doubt=puzzle.premise == "any" and outcome.premise in WITH_EXTRA,
        _chart_data={
            "amounts": puzzle.amounts,
            "bins": names,
            "packages": puzzle.package_names,
            "totals": puzzle.totals,
            "units": puzzle.units,
        },
        _instance=instance,
        _outcome=outcome,
        is_cut=work.is_stopped(),
    )


def _classify_package(solution: InstanceSolution, p: int, sure: bool, bins: int) -> Finding:
    if solution.status == "infeasible":
        return "open"
    if solution.possible[p].sum() == 1:
        # A package that was surely left out of the totals has no bin to be certain of.
        has_proof = bool(solution.proved.any())  # else the premise itself may not hold
        return "certain" if sure and has_proof and solution.possible[p, :bins].any() else "open"
    return "ambiguous" if solution.proved[p].sum() > 1 else "open"
