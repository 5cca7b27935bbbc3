"""One puzzle as it was given: packages and bins with their totals, checked, as whole numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

import numpy as np

from divulge.reconstruction.problem.amounts import (
    MAX_SUM_IN_UNITS,
    Amount,
    NotAnAmount,
    describe_scale_problem,
    find_common_unit,
    is_within_integers,
    parse_decimal,
    to_units,
)
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.premises import PREMISES, Premise
from divulge.reconstruction.problem.rounding import (
    RULES,
    Rule,
    SumIntervals,
    interpret_totals,
    read_by_any_rule,
    read_within,
)
from divulge.work import Problems
from divulge.work.arrays import Floats, Ints


class PuzzleRequest:
    """Packages, bins and what is known of their totals: what `allocate` was given, checked."""

    def __init__(
        self,
        packages: Mapping[Any, Any],
        bins: Mapping[Any, Any],
        units: Any,
        *,
        rounding: str,
        tolerance: Amount | None,
        step: Amount,
        premise: Premise,
        seconds: float,
    ) -> None:
        problems = Problems("allocate")
        self.package_names, self.bin_names = list(packages), list(bins)
        self.rounding, self.premise = rounding, premise
        self.units = [_parse_positive(unit, "units", problems) for unit in _as_list(units)]
        self.step = _parse_positive(step, "step", problems)
        self.tolerance = None if tolerance is None else self._parse_tolerance(tolerance, problems)
        for what, mapping in (("packages", packages), ("bins", bins)):
            if not mapping:
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
        finer = [find_common_unit(unit, self.step) for unit in self.units]
        for what, distance in (("step", self.step), ("tolerance", self.tolerance)):
            if not is_within_integers(distance, min(finer), max(len(bins), len(packages))):
                problems.add(what, f"is too large for units of {min(finer)}.")
        problems.raise_any()
        self.amounts = self._parse_amounts(packages, finer, problems)
        self.totals = self._parse_totals(bins, problems)
        problems.raise_any()
        self.units = finer

    def _parse_amounts(
        self, packages: Mapping[Any, Any], finer: Sequence[Decimal], problems: Problems
    ) -> Ints:
        rows = []
        for number, amounts in enumerate(packages.values(), start=1):
            values = _as_list(amounts)
            if len(values) != len(self.units):
                message = f"has {len(values)} amounts, and there are {len(self.units)} units."
                problems.add(f"package {number}", message)
                continue
            row = []
            for i, (amount, unit) in enumerate(zip(values, self.units, strict=True), start=1):
                try:
                    row.append(to_units(amount, unit) * int(unit / finer[i - 1]))
                except NotAnAmount as error:
                    problems.add(f"package {number}, amount {i}", f"{error}.")
            rows.append(row)
        for i in range(0 if problems else len(self.units)):
            if sum(row[i] for row in rows) >= MAX_SUM_IN_UNITS:
                problems.add(f"amount {i + 1}", f"adds up to too much in units of {self.units[i]}.")
        if problems:
            return np.empty((0, 0), np.int64)
        return np.array(rows, np.int64).reshape(len(rows), len(self.units))

    def _parse_totals(self, bins: Mapping[Any, Any], problems: Problems) -> list[list[Decimal]]:
        rows = []
        for number, totals in enumerate(bins.values(), start=1):
            values = _as_list(totals)
            if len(values) != len(self.units):
                message = f"has {len(values)} totals, and there are {len(self.units)} units."
                problems.add(f"bin {number}", message)
                continue
            row = []
            for i, total in enumerate(values, start=1):
                place = f"bin {number}, total {i}"
                try:
                    row.append(parse_decimal(total))
                except NotAnAmount as error:
                    problems.add(place, f"{error}.")
                    continue
                if row[-1] < 0:
                    problems.add(place, "is negative.")
                if row[-1] / self.units[i - 1] >= MAX_SUM_IN_UNITS:
                    problems.add(place, f"is too large for units of {self.units[i - 1]}.")
                rule = self.rounding not in ("exact", "diagnose") and self.tolerance is None
                if rule and row[-1] % self.step:
                    problems.add(place, f"is no multiple of the step {self.step} of rounding.")
            rows.append(row)
        return rows

    def _parse_tolerance(self, tolerance: Amount, problems: Problems) -> Decimal:
        problem = describe_scale_problem(tolerance, or_nothing=True)
        if problem is not None:
            problems.add("tolerance", problem)
            return Decimal(0)
        return parse_decimal(tolerance)

    def build_instance(self, rule: Rule | None = None) -> Instance:
        """The instance by the rule that was given, or by another."""
        return self._combine_readings(
            [self._read_attribute(i, rule) for i in range(len(self.units))]
        )

    def build_widest_instance(self) -> Instance:
        """The instance by whatever rule totals were rounded."""
        return self._combine_readings(
            [
                read_by_any_rule(self.amounts[:, i], self._list_totals(i), unit, self.step)
                for i, unit in enumerate(self.units)
            ]
        )

    def _read_attribute(self, i: int, rule: Rule | None) -> SumIntervals:
        amounts, totals, unit = self.amounts[:, i], self._list_totals(i), self.units[i]
        if self.tolerance is not None:
            return read_within(amounts, totals, unit, self.tolerance)
        return interpret_totals(
            rule or cast("Rule", self.rounding), amounts, totals, unit=unit, step=self.step
        )

    def _list_totals(self, i: int) -> list[Decimal]:
        return [row[i] for row in self.totals]

    def _combine_readings(self, readings: list[SumIntervals]) -> Instance:
        return Instance.from_intervals(
            np.stack([r.amounts for r in readings], axis=1),
            np.stack([r.low for r in readings], axis=1),
            np.stack([r.high for r in readings], axis=1),
            slack_by_count=np.stack([r.slack_by_count for r in readings]),
            extra_above=np.stack([r.extra_above for r in readings]),
        )

    def parse_prior(self, prior: Mapping[Any, Mapping[Any, float]] | None) -> Floats | None:
        """The prior as a matrix, every package's weights adding up to one."""
        if prior is None:
            return None
        problems = Problems("allocate")
        weights = np.ones((len(self.package_names), len(self.bin_names)))
        for p, package in enumerate(self.package_names):
            package_weights = prior.get(package)
            if not package_weights:
                continue
            unknown = [b for b in package_weights if b not in self.bin_names]
            if unknown or min(package_weights.values()) <= 0:
                problems.add("prior", f"package {p + 1}: give weights above 0 for known bins.")
                continue
            least = min(package_weights.values())
            weights[p] = [package_weights.get(b, least) for b in self.bin_names]
        for package in prior:
            if package not in self.package_names:
                problems.add("prior", "names a package that does not exist.")
        problems.raise_any()
        normed: Floats = weights / weights.sum(axis=1, keepdims=True)
        return normed

    def parse_truth(self, true_bins: Mapping[Any, Any] | None) -> Ints | None:
        """The true bins as numbers."""
        if true_bins is None:
            return None
        problems = Problems("allocate")
        where = {b: number for number, b in enumerate(self.bin_names)}
        for number, package in enumerate(self.package_names, start=1):
            if true_bins.get(package) not in where:
                problems.add("truth", f"package {number} has no bin, or one that does not exist.")
        problems.raise_any()
        return np.array([where[true_bins[package]] for package in self.package_names], np.int64)


def _as_list(value: Any) -> list[Any]:
    return [value] if isinstance(value, str | int | float | Decimal) else list(value)


def _parse_positive(amount: Amount, place: str, problems: Problems) -> Decimal:
    problem = describe_scale_problem(amount)
    if problem is not None:
        problems.add(place, problem)
        return Decimal(1)
    return parse_decimal(amount)
