"""`allocate`: packages without a bin, bins with totals; which package can be in which bin?

Packages are records whose place is not published, bins are places whose totals are (Favato et
al. 2022). An allocation gives every package one bin so that all totals come out right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

import numpy as np

from divulge.assessment.assessment import Finding
from divulge.reconstruction.allocated import Allocation
from divulge.reconstruction.amounts import (
    LARGEST,
    Amount,
    Ints,
    NotAnAmount,
    Shares,
    common_unit,
    decimal_of,
    in_units,
)
from divulge.reconstruction.diagnosis import TIGHTEST_FIRST
from divulge.reconstruction.imperfect import (
    PREMISES,
    Outcome,
    Premise,
    inconsistencies,
    not_misled,
    settle,
)
from divulge.reconstruction.instance import Instance
from divulge.reconstruction.ladder import Solution, solve
from divulge.reconstruction.rounding import (
    RULES,
    Reading,
    Rule,
    read_by_any_rule,
    read_totals,
    read_within,
)
from divulge.work import Problems


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
            out of them), "extra" (they hold one record more), or "any" (find out).
        truth: where each package really is, if that is known: a start for the search of others.
        seconds: how long to look; what is not settled then stays open.

    >>> found = allocate(
    ...     packages={"p1": ("3.20", "1.5"), "p2": ("4.10", "2.5"), "p3": ("9.00", "0.4")},
    ...     bins={"north": ("7", "4"), "south": ("9", "0")},
    ...     units=("0.01", "0.1"),
    ... )
    >>> found.status, found.count, found.possible["p1"], found.finding["p1"]
    ('closed', 1, {'north'}, 'certain')
    """
    asked = _Asked(packages, bins, units, rounding, tolerance, step, premise, seconds)
    if asked.rounding == "diagnose":
        return _diagnosed(asked, prior, truth, seconds)
    instance = asked.instance()
    weights = asked.prior(prior)
    start = asked.truth(truth)
    outcome = settle(instance, premise, seconds, weights, start)
    sure = _sure(asked, outcome, rule_is_known, seconds)
    return _told(asked, instance, outcome, sure)


class _Asked:
    """The arguments of `allocate`, checked, as numbers."""

    def __init__(
        self,
        packages: Mapping[Any, Any],
        bins: Mapping[Any, Any],
        units: Any,
        rounding: str,
        tolerance: Amount | None,
        step: Amount,
        premise: Premise,
        seconds: float,
    ) -> None:
        problems = Problems("allocate")
        self.package_names, self.bin_names = list(packages), list(bins)
        self.rounding, self.premise = rounding, premise
        self.units = [_positive(unit, "units", problems) for unit in _listed(units)]
        self.step = _positive(step, "step", problems)
        self.tolerance = None if tolerance is None else self._tolerance(tolerance, problems)
        for what, given in (("packages", packages), ("bins", bins)):
            if not given:
                problems.add(what, "are empty; give at least one.")
        if rounding not in (*RULES, "diagnose"):
            message = f'"{rounding}" is not a rule of rounding.'
            problems.add("rounding", message, rounding, (*RULES, "diagnose"))
        if premise not in PREMISES:
            problems.add("premise", f'"{premise}" is not a premise.', premise, PREMISES)
        if not seconds > 0:
            problems.add("seconds", "must be above 0.")
        problems.raise_any()
        # Amounts are held in units of which the step of rounding is a whole multiple too.
        finer = [common_unit(unit, self.step) for unit in self.units]
        self.amounts = self._amounts(packages, finer, problems)
        self.totals = self._totals(bins, problems)
        problems.raise_any()
        self.units = finer

    def _amounts(
        self, packages: Mapping[Any, Any], finer: Sequence[Decimal], problems: Problems
    ) -> Ints:
        rows = []
        for number, amounts in enumerate(packages.values(), start=1):
            listed = _listed(amounts)
            if len(listed) != len(self.units):
                message = f"has {len(listed)} amounts, and there are {len(self.units)} units."
                problems.add(f"package {number}", message)
                continue
            row = []
            for i, (amount, unit) in enumerate(zip(listed, self.units, strict=True), start=1):
                try:
                    row.append(in_units(amount, unit) * int(unit / finer[i - 1]))
                except NotAnAmount as error:
                    problems.add(f"package {number}, amount {i}", f"{error}.")
            rows.append(row)
        for i in range(0 if problems else len(self.units)):
            if sum(row[i] for row in rows) >= LARGEST:
                problems.add(f"amount {i + 1}", f"adds up to too much in units of {self.units[i]}.")
        if problems:
            return np.empty((0, 0), np.int64)
        return np.array(rows, np.int64).reshape(len(rows), len(self.units))

    def _totals(self, bins: Mapping[Any, Any], problems: Problems) -> list[list[Decimal]]:
        rows = []
        for number, totals in enumerate(bins.values(), start=1):
            listed = _listed(totals)
            if len(listed) != len(self.units):
                message = f"has {len(listed)} totals, and there are {len(self.units)} units."
                problems.add(f"bin {number}", message)
                continue
            row = []
            for i, total in enumerate(listed, start=1):
                place = f"bin {number}, total {i}"
                try:
                    row.append(decimal_of(total))
                except NotAnAmount as error:
                    problems.add(place, f"{error}.")
                    continue
                if row[-1] < 0:
                    problems.add(place, "is negative.")
                if row[-1] / self.units[i - 1] >= LARGEST:
                    problems.add(place, f"is too large for units of {self.units[i - 1]}.")
                rule = self.rounding not in ("exact", "diagnose") and self.tolerance is None
                if rule and row[-1] % self.step:
                    problems.add(place, f"is no multiple of the step {self.step} of rounding.")
            rows.append(row)
        return rows

    def _tolerance(self, tolerance: Amount, problems: Problems) -> Decimal:
        try:
            found = decimal_of(tolerance)
        except NotAnAmount as error:
            problems.add("tolerance", f"{error}.")
            return Decimal(0)
        if found < 0:
            problems.add("tolerance", "is negative; 0 means that totals are exact.")
        return found

    def instance(self, rule: Rule | None = None) -> Instance:
        """The instance by the rule asked for, or another."""
        return self._of([self._read(i, rule) for i in range(len(self.units))])

    def by_any_rule(self) -> Instance:
        """The instance by whatever rule totals were rounded."""
        return self._of(
            [
                read_by_any_rule(self.amounts[:, i], self._column(i), unit, self.step)
                for i, unit in enumerate(self.units)
            ]
        )

    def _read(self, i: int, rule: Rule | None) -> Reading:
        amounts, totals, unit = self.amounts[:, i], self._column(i), self.units[i]
        if self.tolerance is not None:
            return read_within(amounts, totals, unit, self.tolerance)
        return read_totals(rule or cast("Rule", self.rounding), amounts, totals, unit, self.step)

    def _column(self, i: int) -> list[Decimal]:
        return [row[i] for row in self.totals]

    def _of(self, readings: list[Reading]) -> Instance:
        return Instance.of(
            np.stack([r.amounts for r in readings], axis=1),
            np.stack([r.low for r in readings], axis=1),
            np.stack([r.high for r in readings], axis=1),
            np.stack([r.widening for r in readings]),
            np.stack([r.deeper for r in readings]),
        )

    def prior(self, given: Mapping[Any, Mapping[Any, float]] | None) -> Shares | None:
        """The prior as a matrix, every package's weights adding up to one."""
        if given is None:
            return None
        problems = Problems("allocate")
        weights = np.ones((len(self.package_names), len(self.bin_names)))
        for p, package in enumerate(self.package_names):
            of_package = given.get(package)
            if not of_package:
                continue
            unknown = [b for b in of_package if b not in self.bin_names]
            if unknown or min(of_package.values()) <= 0:
                problems.add("prior", f"package {p + 1}: give weights above 0 for known bins.")
                continue
            least = min(of_package.values())
            weights[p] = [of_package.get(b, least) for b in self.bin_names]
        for package in given:
            if package not in self.package_names:
                problems.add("prior", "names a package that does not exist.")
        problems.raise_any()
        normed: Shares = weights / weights.sum(axis=1, keepdims=True)
        return normed

    def truth(self, given: Mapping[Any, Any] | None) -> Ints | None:
        """The true bins as numbers."""
        if given is None:
            return None
        problems = Problems("allocate")
        where = {b: number for number, b in enumerate(self.bin_names)}
        for number, package in enumerate(self.package_names, start=1):
            if given.get(package) not in where:
                problems.add("truth", f"package {number} has no bin, or one that does not exist.")
        problems.raise_any()
        return np.array([where[given[package]] for package in self.package_names], np.int64)


def _listed(given: Any) -> list[Any]:
    return [given] if isinstance(given, str | int | float | Decimal) else list(given)


def _positive(given: Amount, place: str, problems: Problems) -> Decimal:
    try:
        found = decimal_of(given)
    except NotAnAmount as error:
        problems.add(place, f"{error}.")
        return Decimal(1)
    if found <= 0:
        problems.add(place, "must be above 0.")
        return Decimal(1)
    return found


def _diagnosed(asked: _Asked, prior: Any, truth: Any, seconds: float) -> Allocation:
    """The tightest rule by which an allocation exists; it was guessed, so it is not known."""
    for rule in TIGHTEST_FIRST:
        instance = asked.instance(rule)
        outcome = settle(instance, "complete", seconds, asked.prior(prior), asked.truth(truth))
        if outcome.solution.status != "infeasible":
            break
    else:
        if asked.premise != "complete":
            instance = asked.instance("unknown_hard")
            outcome = settle(instance, asked.premise, seconds, asked.prior(prior))
    asked.rounding = rule
    return _told(asked, instance, outcome, _sure(asked, outcome, False, seconds))


def _sure(asked: _Asked, outcome: Outcome, known: bool, seconds: float) -> np.ndarray[Any, Any]:
    """Which packages have one bin left whatever is in doubt."""
    sure = _by_whatever_rule(asked, outcome, known, seconds)
    if asked.premise == "any" and sure.any():
        doubtful = not known and asked.tolerance is None
        widest = asked.by_any_rule() if doubtful else outcome.instance
        sure = sure & not_misled(widest, outcome, seconds)
    return sure


def _by_whatever_rule(
    asked: _Asked, outcome: Outcome, known: bool, seconds: float
) -> np.ndarray[Any, Any]:
    """Which packages have one bin left by whatever rule totals were rounded."""
    possible = outcome.solution.possible
    alone = possible.sum(axis=1) == 1
    if known or asked.tolerance is not None or not alone.any():
        return np.ones(len(alone), bool) if asked.rounding != "unknown_clt" else ~alone
    if asked.rounding == "unknown_clt":
        return np.zeros(len(alone), bool)
    widest = settle(asked.by_any_rule(), outcome.premise, seconds).solution.possible
    if asked.premise == "any" and outcome.premise != "complete":
        # By another rule the totals might be of just these packages.
        complete = solve(asked.by_any_rule(), seconds).possible
        widest = widest.copy()
        widest[:, : complete.shape[1]] |= complete
    sure: np.ndarray[Any, Any] = (widest.sum(axis=1) == 1) & (widest == possible).all(axis=1)
    return sure


def _told(
    asked: _Asked, instance: Instance, outcome: Outcome, sure: np.ndarray[Any, Any]
) -> Allocation:
    found = outcome.solution
    names: list[Any] = list(asked.bin_names)
    inside = range(len(names))
    labels: list[Any] = [*names, *([None] if found.possible.shape[1] > len(names) else [])]
    possible, proved, finding = {}, {}, {}
    marginals: dict[Any, Mapping[Any, float] | None] = {}
    counts: dict[Any, Mapping[Any, int]] = {}
    rests = set()
    for p, package in enumerate(asked.package_names):
        possible[package] = {names[b] for b in inside if found.possible[p, b]}
        proved[package] = {names[b] for b in inside if found.proved[p, b]}
        finding[package] = _finding(found, p, bool(sure[p]), len(names))
        if found.possible[p].sum() == 1 and not sure[p]:
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
            excluded[asked.package_names[left_out]] = share
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
        asked.rounding if asked.tolerance is None else "tolerance",
        outcome.premise,
        instance.complexity,
        found.seconds,
        [
            {package: labels[b] for package, b in zip(asked.package_names, row, strict=True)}
            for row in found.certificates
        ],
        frozenset(rests),
        excluded,
        violated,
        (asked.amounts, names, asked.package_names, asked.totals, asked.units),
        instance,
        outcome,
    )


def _finding(found: Solution, p: int, sure: bool, bins: int) -> Finding:
    if found.status == "infeasible":
        return "open"
    if found.possible[p].sum() == 1:
        # A package that was surely left out of the totals has no bin to be certain of.
        shown = bool(found.proved.any())  # else the premise itself may not hold
        return "certain" if sure and shown and found.possible[p, :bins].any() else "open"
    return "ambiguous" if found.proved[p].sum() > 1 else "open"
