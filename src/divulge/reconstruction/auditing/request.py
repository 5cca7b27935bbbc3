"""The checked arguments of a reconstruction, all problems at once, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import cast

import numpy as np

from divulge.data import Dataset
from divulge.data.dictionary import find_name_problems
from divulge.reconstruction.auditing.input_report import InputReport
from divulge.reconstruction.auditing.rounding_diagnosis import allow_everywhere, diagnose_rule
from divulge.reconstruction.auditing.rounding_evidence import find_fitting_rules
from divulge.reconstruction.auditing.suppressed_codes import spread_slack_across
from divulge.reconstruction.auditing.table_figures import TableFigures
from divulge.reconstruction.auditing.table_state import TableState
from divulge.reconstruction.auditing.totals import Totals, match_records, read_amounts
from divulge.reconstruction.problem.amounts import (
    MAX_SUM_IN_UNITS,
    Amount,
    describe_scale_problem,
    find_common_unit,
    infer_unit,
    is_within_integers,
    parse_decimal,
)
from divulge.reconstruction.problem.premises import PREMISES, Premise
from divulge.reconstruction.problem.rounding import RULES, Rule
from divulge.work import Problems
from divulge.work.arrays import Ints

FINEST_UNIT = Decimal("1e-9")
"""Finer decimals are traces of arithmetic with floats, and show no unit."""


class ReconstructionRequest:
    """The arguments, checked, as numbers."""

    def __init__(
        self,
        transactions: Dataset,
        totals: Sequence[Totals],
        parties: Dataset,
        *,
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
        self.units = self._determine_units(units, totals, transactions, problems)
        problems.raise_any()
        self.transactions, self.premise, self.truth = transactions, premise, truth
        # The table with the most columns of places is the finest.
        ranked = sorted(totals, key=lambda table: -len(table.places))
        self.place = place or ranked[0].finest
        self.totals = ranked
        problems.extend(
            "parties",
            find_name_problems("place", [self.place], parties.names, f'"{parties.name}"'),
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
        amount_names = {name: name for table in ranked for name in table.summed}
        self.amounts, unusable = read_amounts(transactions, amount_names, self.units, bad)
        self._refine_units()
        self._refuse_too_large()
        self.used = ~unusable
        self.value_amount = next(iter(ranked[0].summed))
        self.parties = parties
        self.parties_at = self._count_parties()

    def _determine_units(
        self,
        units: dict[str, Amount] | None,
        totals: Sequence[Totals],
        records: Dataset,
        problems: Problems,
    ) -> dict[str, Decimal]:
        """The unit of every amount: as given, or as the decimals of the records show it."""
        unit_by_name = {}
        for name in dict.fromkeys(name for table in totals for name in table.summed):
            if units is None:
                if name in records.names:  # else that is said already
                    unit_by_name[name] = infer_unit(records.columns[name].values.to_pylist())
                    if unit_by_name[name] < FINEST_UNIT:
                        message = f'"{name}" has more than 9 decimals; give its unit.'
                        problems.add("units", message)
                continue
            if name not in units:
                problems.add("units", f'give the unit of "{name}".', name, list(units))
                continue
            wrong = describe_scale_problem(units[name])
            if wrong is not None:
                problems.add(f"units, {name}", wrong)
                continue
            unit_by_name[name] = parse_decimal(units[name])
        return unit_by_name

    def _refine_units(self) -> None:
        """Take units of which the steps of rounding are whole multiples too."""
        for table in self.totals:
            for name in table.summed:
                finer = find_common_unit(self.units[name], Decimal(table.step))
                self.amounts[name] = self.amounts[name] * int(self.units[name] / finer)
                self.units[name] = finer

    def _refuse_too_large(self) -> None:
        """Sums of any records must fit into the integers that they are added up in."""
        problems = Problems("reconstruct")
        for name, own in self.amounts.items():
            if own.sum(dtype=np.float64) >= MAX_SUM_IN_UNITS:
                message = f'all "{name}" together are too large for units of {self.units[name]}.'
                problems.add("units", message)
        for table in self.totals:
            step = Decimal(table.step)
            tolerance = None if table.tolerance is None else Decimal(table.tolerance)
            distances = {"step": step, "tolerance": tolerance, "noise": max(table.noises())}
            times = max(table.dataset.rows, self.transactions.rows)
            for what, distance in distances.items():
                for name in table.summed:
                    if not is_within_integers(distance, self.units[name], times):
                        message = f'is too large for units of {self.units[name]} of "{name}".'
                        problems.add(f'dataset "{table.dataset.name}", {what}', message)
        problems.raise_any()

    def _count_parties(self) -> dict[str, int]:
        own = self.parties.columns[self.place]
        counts = np.bincount(own.codes, minlength=own.cardinality)
        names = [str(v) for v in own.values.to_pylist()]
        return dict(zip(names, counts[: len(names)].tolist(), strict=True))

    def build_table_state(self, table: Totals) -> TableState:
        """A table with its records found and its totals read by its rule, or by one that fits."""
        totals_match = match_records(table, self.transactions)
        figures = TableFigures(table, self.amounts, self.units)
        rule = cast("Rule", table.rounding)
        rule_is_known = self.rule_is_known if self.rule_is_known is not None else rule in RULES
        slack = np.zeros((table.dataset.rows, len(figures.names)), np.int64)
        amounts = np.stack(list(figures.amounts.values()), axis=1)
        units = tuple(figures.units.values())
        level = TableState(
            totals_match=totals_match,
            rule=rule,
            rule_is_known=rule_is_known,
            attributes=figures.names,
            units=units,
            amounts=amounts,
            readings=[],
            slack=slack,
            figures=figures,
        )
        level.premise = self.premise
        if table.rounding == "diagnose":
            level.rule = diagnose_rule(level, figures.read_by_rule)
        level.readings = figures.read_by_rule(level.rule)
        if level.rule == "unknown_clt":
            level.rule_is_known = False
        if table.tolerance is not None:
            level.rule_is_known = True  # by how much a total may be wrong is no matter of a rule
        level.possible = [allow_everywhere(group) for group in totals_match.groups]
        level.beyond_doubt = [allow_everywhere(group) for group in totals_match.groups]
        level.results = [None] * len(totals_match.groups)
        return level

    def build_table_states(self) -> list[TableState]:
        """All tables, the finest first: what each may hold besides, and whether to believe it."""
        levels = [self.build_table_state(table) for table in self.totals]
        spread_slack_across(levels)
        for level in levels:
            shows_rounding = (
                level.totals_match.totals.tolerance is None and level.figures.has_visible_rounding
            )
            if shows_rounding and level.rule_is_known and self.rule_is_known is None:
                # What a key holds besides its records would speak for another rule.
                complete_groups = [
                    group
                    for group in level.totals_match.groups
                    if self.used[group.records].all() and not level.slack[group.rows].any()
                ]
                level.other_rules = find_fitting_rules(
                    level.rule, complete_groups, level.figures.read_by_rule
                )
                level.rule_is_known = not level.other_rules
        return levels

    def number_true_places(self, level: TableState) -> Ints | None:
        """The true place of every record as a number of the level's names; -1 if it has none."""
        column = level.totals_match.totals.finest
        if self.truth is None or column not in self.truth.names:
            return None
        own = self.truth.columns[column]
        where = {name: number for number, name in enumerate(level.totals_match.names)}
        numbers = [where.get(str(v), -1) for v in own.values.to_pylist()]
        return np.append(numbers, -1)[own.codes]

    def build_input_report(self, levels: Sequence[TableState]) -> InputReport:
        """What was found in the data, as counts."""
        return InputReport.from_tables(
            [level.totals_match for level in levels],
            self.transactions,
            self.parties,
            places_of_parties=set(self.parties_at),
            dropped=int((~self.used).sum()),
            unused_weights=self.unused_weights,
        )
