"""What is asked of a reconstruction: the arguments, checked all at once, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import cast

import numpy as np

from divulge.data import Dataset
from divulge.data.dictionary import problems_with_names
from divulge.reconstruction.auditing.input_report import InputReport
from divulge.reconstruction.auditing.rounding_diagnosis import diagnosed, everywhere
from divulge.reconstruction.auditing.rounding_evidence import rules_that_fit
from divulge.reconstruction.auditing.suppressed_codes import spread_all
from divulge.reconstruction.auditing.table_figures import Figures
from divulge.reconstruction.auditing.table_state import Level
from divulge.reconstruction.auditing.totals import Totals, amounts_of, matched
from divulge.reconstruction.problem.amounts import (
    LARGEST,
    Amount,
    Ints,
    common_unit,
    decimal_of,
    fits,
    unit_of,
    wrong_scale,
)
from divulge.reconstruction.problem.premises import PREMISES, Premise
from divulge.reconstruction.problem.rounding import RULES, Rule
from divulge.work import Problems

FINEST_SHOWN = Decimal("1e-9")
"""Finer decimals are traces of arithmetic with floats, and show no unit."""


class Asked:
    """The arguments, checked, as numbers."""

    def __init__(
        self,
        transactions: Dataset,
        totals: Sequence[Totals],
        parties: Dataset,
        units: dict[str, Amount] | None,
        place: str | None,
        rule_is_known: bool | None,
        premise: Premise,
        bad: str,
        truth: Dataset | None,
        unmatched: str = "count",
    ) -> None:
        problems = Problems("reconstruct")
        totals = [table.with_amounts(transactions, units) for table in totals]
        if not totals:
            problems.add("totals", "give at least one table.")
        for table in totals:
            table.problems(transactions, problems)
            if table.rounding not in (*RULES, "diagnose"):
                message = f'"{table.rounding}" is not a rule of rounding.'
                problems.add("rounding", message, table.rounding, (*RULES, "diagnose"))
        if premise not in PREMISES:
            problems.add("premise", f'"{premise}" is not a premise.', premise, PREMISES)
        if bad not in ("refuse", "drop"):
            problems.add("bad", f'"{bad}" is no choice.', bad, ("refuse", "drop"))
        if unmatched not in ("count", "refuse"):
            message = f'"{unmatched}" is no choice.'
            problems.add("unmatched", message, unmatched, ("count", "refuse"))
        self.units = self._units(units, totals, transactions, problems)
        problems.raise_any()
        self.transactions, self.premise, self.truth = transactions, premise, truth
        # The table with the most columns of places is the finest.
        ranked = sorted(totals, key=lambda table: -len(table.places))
        self.place = place or ranked[0].finest
        self.totals = ranked
        problems.extend(
            "parties",
            problems_with_names("place", [self.place], parties.names, f'"{parties.name}"'),
        )
        for table in ranked[1:]:
            if table.finest not in ranked[0].places:
                message = f'the finest table must have the column "{table.finest}" too.'
                problems.add("totals, place", message, table.finest, ranked[0].places)
        if truth is not None and truth.rows != transactions.rows:
            problems.add("truth", "must have one row per record, in the same order.")
        problems.raise_any()
        self.rule_is_known, self.unmatched = rule_is_known, unmatched
        self.unused_weights = 0
        wanted = {name: name for table in ranked for name in table.summed}
        self.amounts, unusable = amounts_of(transactions, wanted, self.units, bad)
        self._refine_units()
        self._refuse_too_large()
        self.used = ~unusable
        self.value_amount = next(iter(ranked[0].summed))
        self.parties = parties
        self.parties_at = self._parties()

    def _units(
        self,
        units: dict[str, Amount] | None,
        totals: Sequence[Totals],
        records: Dataset,
        problems: Problems,
    ) -> dict[str, Decimal]:
        """The unit of every amount: as given, or as the decimals of the records show it."""
        found = {}
        for name in dict.fromkeys(name for table in totals for name in table.summed):
            if units is None:
                if name in records.names:  # else that is said already
                    found[name] = unit_of(records.columns[name].values.to_pylist())
                    if found[name] < FINEST_SHOWN:
                        message = f'"{name}" has more than 9 decimals; give its unit.'
                        problems.add("units", message)
                continue
            if name not in units:
                problems.add("units", f'give the unit of "{name}".', name, list(units))
                continue
            wrong = wrong_scale(units[name])
            if wrong is not None:
                problems.add(f"units, {name}", wrong)
                continue
            found[name] = decimal_of(units[name])
        return found

    def _refine_units(self) -> None:
        """Take units of which the steps of rounding are whole multiples too."""
        for table in self.totals:
            for name in table.summed:
                finer = common_unit(self.units[name], Decimal(table.step))
                self.amounts[name] = self.amounts[name] * int(self.units[name] / finer)
                self.units[name] = finer

    def _refuse_too_large(self) -> None:
        """Sums of any records must fit into the integers that they are added up in."""
        problems = Problems("reconstruct")
        for name, own in self.amounts.items():
            if own.sum(dtype=np.float64) >= LARGEST:
                message = f'all "{name}" together are too large for units of {self.units[name]}.'
                problems.add("units", message)
        for table in self.totals:
            step = Decimal(table.step)
            tolerance = None if table.tolerance is None else Decimal(table.tolerance)
            distances = {"step": step, "tolerance": tolerance, "noise": max(table.noises())}
            times = max(table.dataset.rows, self.transactions.rows)
            for what, distance in distances.items():
                for name in table.summed:
                    if not fits(distance, self.units[name], times):
                        message = f'is too large for units of {self.units[name]} of "{name}".'
                        problems.add(f'dataset "{table.dataset.name}", {what}', message)
        problems.raise_any()

    def _parties(self) -> dict[str, int]:
        own = self.parties.columns[self.place]
        counts = np.bincount(own.codes, minlength=own.cardinality)
        names = [str(v) for v in own.values.to_pylist()]
        return dict(zip(names, counts[: len(names)].tolist(), strict=True))

    def level(self, table: Totals) -> Level:
        """A table with its records found and its totals read by its rule, or by one that fits."""
        found = matched(table, self.transactions)
        figures = Figures(table, self.amounts, self.units)
        rule = cast("Rule", table.rounding)
        known = self.rule_is_known if self.rule_is_known is not None else rule in RULES
        slack = np.zeros((table.dataset.rows, len(figures.names)), np.int64)
        amounts = np.stack(list(figures.amounts.values()), axis=1)
        units = tuple(figures.units.values())
        level = Level(found, rule, known, figures.names, units, amounts, [], slack, figures)
        level.premise = self.premise
        if table.rounding == "diagnose":
            level.rule = diagnosed(level, figures.read)
        level.readings = figures.read(level.rule)
        if level.rule == "unknown_clt":
            level.known = False
        if table.tolerance is not None:
            level.known = True  # by how much a total may be wrong is no matter of a rule
        level.possible = [everywhere(group) for group in found.groups]
        level.beyond_doubt = [everywhere(group) for group in found.groups]
        level.results = [None] * len(found.groups)
        return level

    def levels(self) -> list[Level]:
        """All tables, the finest first: what each may hold besides, and whether to believe it."""
        levels = [self.level(table) for table in self.totals]
        spread_all(levels)
        for level in levels:
            told = level.matched.totals.tolerance is None and level.figures.rounding_shows
            if told and level.known and self.rule_is_known is None:
                # What a key holds besides its records would speak for another rule.
                whole = [
                    group
                    for group in level.matched.groups
                    if self.used[group.records].all() and not level.slack[group.rows].any()
                ]
                level.others = rules_that_fit(level.rule, whole, level.figures.read)
                level.known = not level.others
        return levels

    def true_places(self, level: Level) -> Ints | None:
        """The true place of every record as a number of the level's names; -1 if it has none."""
        column = level.matched.totals.finest
        if self.truth is None or column not in self.truth.names:
            return None
        own = self.truth.columns[column]
        where = {name: number for number, name in enumerate(level.matched.names)}
        found = [where.get(str(v), -1) for v in own.values.to_pylist()]
        return np.append(found, -1)[own.codes]

    def report(self, levels: Sequence[Level]) -> InputReport:
        """What was found in the data, as counts."""
        return InputReport.of(
            [level.matched for level in levels],
            self.transactions,
            self.parties,
            set(self.parties_at),
            int((~self.used).sum()),
            self.unused_weights,
        )
