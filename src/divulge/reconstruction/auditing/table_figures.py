"""The figures of a table of totals as exact numbers, and what they say by one rule or several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

import numpy as np

from divulge.reconstruction.auditing.totals import Totals, read_amounts
from divulge.reconstruction.problem.amounts import MAX_SUM_IN_UNITS, NotAnAmount, parse_decimal
from divulge.reconstruction.problem.rounding import (
    Rule,
    SumIntervals,
    interpret_totals,
    read_by_any_rule,
    read_by_several,
    read_within,
)
from divulge.work.arrays import Ints


class TableFigures:
    """The totals of a table beside the amounts of all records, each in its unit."""

    def __init__(
        self, table: Totals, amounts: Mapping[str, Ints], units: Mapping[str, Decimal]
    ) -> None:
        self.names = tuple(table.summed)
        self.amounts = {name: amounts[name] for name in self.names}
        self.units = {name: units[name] for name in self.names}
        self.steps = {name: _find_granularity(table, name, units[name]) for name in self.names}
        self.totals = _collect_totals(table, self.steps)
        # Totals that are called exact may still be rounded, if they look like it.
        for name in self.names:
            if not any(total % Decimal(table.step) for total in self.totals[name]):
                self.steps[name] = Decimal(table.step)
        self.tolerance = None if table.tolerance is None else Decimal(table.tolerance)
        self.noises = table.noises()

    @property
    def has_visible_rounding(self) -> bool:
        """Whether some amount may have more digits than its totals: else all rules are one."""
        return any(self.units[name] % self.steps[name] for name in self.names)

    def read_by_rule(
        self, rule: Rule, records: Ints | None = None, rows: Ints | None = None
    ) -> list[SumIntervals]:
        """What totals say by a rule (or within their tolerance), one reading an amount.

        Of some records and rows only, if they are given, in their order.
        """
        readings = []
        for name in self.names:
            amounts, totals, unit = self.amounts[name], self.totals[name], self.units[name]
            amounts = amounts if records is None else amounts[records]
            totals = totals if rows is None else [totals[row] for row in rows]
            if self.tolerance is not None:
                readings.append(read_within(amounts, totals, unit, self.tolerance))
            else:
                changed = any(self.noises)
                readings.append(
                    interpret_totals(
                        rule, amounts, totals, unit=unit, step=self.steps[name], changed=changed
                    )
                )
        return self._widen_by_noise(readings, rows)

    def read_by_rules(self, rules: Sequence[Rule]) -> list[SumIntervals]:
        """What totals say if they were rounded by one of several rules of sums."""
        return [read_by_several(both) for both in zip(*map(self.read_by_rule, rules), strict=True)]

    def read_by_any_rule(self) -> list[SumIntervals]:
        """What totals say by whatever rule they were rounded."""
        readings = [
            read_by_any_rule(
                self.amounts[name], self.totals[name], self.units[name], self.steps[name]
            )
            for name in self.names
        ]
        return self._widen_by_noise(readings, None)

    def _widen_by_noise(
        self, readings: list[SumIntervals], rows: Ints | None
    ) -> list[SumIntervals]:
        """Readings of totals that were changed besides."""
        noises = self.noises if rows is None else [self.noises[row] for row in rows]
        if not any(noises):
            return readings
        widened = []
        for name, reading in zip(self.names, readings, strict=True):
            by = np.array([math.ceil(noise / self.units[name]) for noise in noises], np.int64)
            widened.append(replace(reading, low=reading.low - by, high=reading.high + by))
        return widened


def _find_granularity(table: Totals, name: str, unit: Decimal) -> Decimal:
    """Of what the totals of an amount must be whole multiples: their step, if a rule says so.

    Exact ones are of the unit, and so are those whose rule is yet to be found, if not of the step.
    """
    step = Decimal(table.step)
    if table.rounding == "exact":
        return unit
    if table.rounding != "diagnose":
        return step
    values = table.dataset.columns[table.summed[name]].values.to_pylist()
    try:
        whole = not any(parse_decimal(value) % step for value in values)
    except NotAnAmount:
        return step  # what is wrong with each of them is said when they are read
    return step if whole else unit


def _collect_totals(table: Totals, steps: Mapping[str, Decimal]) -> dict[str, list[Decimal]]:
    """The totals as they are written; those that may be wrong by a distance need no step."""
    if table.tolerance is not None:
        try:
            return {name: _read_decimals(table, column) for name, column in table.summed.items()}
        except NotAnAmount:
            pass  # what is wrong with each of them is said in a moment
    multiples, _ = read_amounts(table.dataset, table.summed, steps, "refuse", "steps")
    return {name: [int(total) * steps[name] for total in multiples[name]] for name in table.summed}


def _read_decimals(table: Totals, column: str) -> list[Decimal]:
    own = table.dataset.columns[column]
    values = [parse_decimal(value) for value in own.values.to_pylist()]
    if (
        own.has_missing
        or min(values, default=Decimal(0)) < 0
        or max(values, default=0) >= MAX_SUM_IN_UNITS
    ):
        raise NotAnAmount(f'some of "{column}"')
    return [values[code] for code in own.codes]
