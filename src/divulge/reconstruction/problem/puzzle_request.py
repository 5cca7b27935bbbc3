"""One puzzle as it was given: packages and bins with their totals, checked, as whole numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

import numpy as np

from divulge.reconstruction.problem.amounts import (
    LARGEST,
    Amount,
    Ints,
    NotAnAmount,
    Shares,
    common_unit,
    decimal_of,
    fits,
    in_units,
    wrong_scale,
)
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.premises import PREMISES, Premise
from divulge.reconstruction.problem.rounding import (
    RULES,
    Reading,
    Rule,
    read_by_any_rule,
    read_totals,
    read_within,
)
from divulge.work import Problems


class Puzzle:
    """Packages, bins and what is known of their totals: what `allocate` was given, checked."""

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
        for what, distance in (("step", self.step), ("tolerance", self.tolerance)):
            if not fits(distance, min(finer), max(len(bins), len(packages))):
                problems.add(what, f"is too large for units of {min(finer)}.")
        problems.raise_any()
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
        wrong = wrong_scale(tolerance, or_nothing=True)
        if wrong is not None:
            problems.add("tolerance", wrong)
            return Decimal(0)
        return decimal_of(tolerance)

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
    wrong = wrong_scale(given)
    if wrong is not None:
        problems.add(place, wrong)
        return Decimal(1)
    return decimal_of(given)
