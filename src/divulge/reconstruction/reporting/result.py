"""What a reconstruction found: the paper's tables, and one assessment a phase.

No name of a party is in any of it, and no name of a place where somebody was re-identified, unless
it is asked for by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Assessment, Chart
from divulge.data import Dataset
from divulge.reconstruction import tuning
from divulge.reconstruction.auditing.cross_table_coupling import find_coupled_records
from divulge.reconstruction.auditing.input_report import InputReport
from divulge.reconstruction.auditing.phases import Phase
from divulge.reconstruction.auditing.remaining_risk import RiskBound, bound_remaining_risk
from divulge.reconstruction.auditing.run import InstanceSummary
from divulge.reconstruction.auditing.table_state import TableState
from divulge.reconstruction.reporting import charts, paper_tables
from divulge.reconstruction.reporting.assess import assess_phase
from divulge.reconstruction.reporting.details import (
    build_details,
    build_plain_values,
    collect_times,
    format_phase_rows,
)
from divulge.reconstruction.reporting.paper_tables import ClassRow, PhaseRow, TargetRow
from divulge.reconstruction.solving.mismatched_totals import find_inconsistencies
from divulge.work.arrays import Bools

if TYPE_CHECKING:
    from divulge.reconstruction.remedies.remedies import Remedies


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Reconstruction:
    """What tables of totals give away of the records behind them.

    `phases` are what is known after each phase, `solved` every instance with how it ended,
    `assessments` one a phase, `assessment` the last of them. `by_any_rule` are the tables read by
    every rule that they may be rounded by, if some rule is in doubt. `place` is the column of the
    parties with the finest place; `at_fixpoint` says whether tables limit each other no more,
    `is_cut` whether the clock stopped the search before its effort was spent.
    """

    transactions: Dataset
    found_in_data: InputReport
    levels: tuple[TableState, ...]
    phases: tuple[Phase, ...]
    solved: tuple[InstanceSummary, ...]
    used: Bools
    parties_at: Mapping[str, int]
    value_amount: str
    sound: Bools
    place: str
    at_fixpoint: bool
    by_any_rule: tuple[TableState, ...] = ()
    is_cut: bool = False

    @cached_property
    def value(self) -> Any:
        """The first amount of every record, in the records' own measure."""
        own = self.transactions.columns[self.value_amount]
        values = own.values.to_numpy(zero_copy_only=False).astype(np.float64)
        return np.append(values, 0.0)[own.codes] if own.has_missing else values[own.codes]

    @property
    def table_6b(self) -> list[PhaseRow]:
        """The adversary's success after every phase."""
        return paper_tables.tabulate_by_phase(self.phases, self.value)

    def table_4(self, record: int) -> list[TargetRow]:
        """The success for one record after every phase; the factor is that over the phase before.

        The record is given by its place in the transactions, counted from 0.
        """
        return paper_tables.tabulate_target(self.phases, record)

    @property
    def table_5(self) -> dict[str, tuple[int, float, float]]:
        """Closed, open and inconsistent instances: how many, mean complexity, mean seconds."""
        return paper_tables.tabulate_by_status(self.solved)

    @property
    def by_complexity(self) -> list[ClassRow]:
        """Instances by class of complexity: how many were closed, and how long that took."""
        return paper_tables.tabulate_by_complexity(self.solved)

    def table_6a(self, count: int = 5, names: bool = False) -> list[tuple[str, int, float]]:
        """The places with the largest value re-identified: place, records, value.

        Where one party is alone, the name of its place is as good as its own: places are
        numbered unless names are asked for.
        """
        last = self.phases[-1]
        fine = self.levels[0]
        place = last.place
        some = np.flatnonzero(last.identified)
        ranking = []
        for number in np.unique(place[some]):
            here = some[place[some] == number]
            label = fine.totals_match.names[number]
            ranking.append((label, len(here), float(self.value[here].sum())))
        ranking.sort(key=lambda row: -row[2])
        return [
            (label if names else f"place {rank}", records, value)
            for rank, (label, records, value) in enumerate(ranking[:count], start=1)
        ]

    def inconsistent(self, most: int = 20) -> list[tuple[str, str, str, float]]:
        """Totals that no allocation meets: table, place, amount, and by how much at least.

        For the first instances that stayed inconsistent, smallest first.
        """
        return self._inconsistent_totals[:most]

    @cached_property
    def _inconsistent_totals(self) -> list[tuple[str, str, str, float]]:
        rows = []
        for level in self.levels:
            failed = [
                n
                for n, result in enumerate(level.results)
                if result is not None and result.status == "infeasible"
            ]
            failed.sort(key=lambda n: level.possible[n].size)
            for n in failed[: tuning.REPORT_MOST_INCONSISTENT]:
                group = level.totals_match.groups[n]
                every = np.ones_like(level.possible[n])
                instance = level.build_instance(group, level.readings, every)
                for violation in find_inconsistencies(instance):
                    place = level.totals_match.names[
                        level.totals_match.place[group.rows[violation.bin]]
                    ]
                    name = level.attributes[violation.attribute]
                    table = level.totals_match.totals.dataset.name
                    by = float(violation.excess * level.units[violation.attribute])
                    rows.append((table, place, name, by))
        return rows

    def likely_excluded(self) -> Bools:
        """Records that most allocations leave out of the totals of the finest table."""
        is_excluded = np.zeros(self.transactions.rows, bool)
        for n, group in enumerate(self.levels[0].totals_match.groups):
            result = self.levels[0].results[n]
            if result is not None and result.premise in ("excluded", "both"):
                nowhere = result.discardable & ~result.possible.any(axis=1)
                is_excluded[group.records] = (result.discarded > 0.5) | nowhere
        return is_excluded

    def identities(self, parties: Dataset, column: str) -> dict[int, Any]:
        """Who was re-identified, for who asks by name: record -> value of a column of the parties.

        Args:
            parties: the list of parties.
            column: the column with the names that are asked for.
        """
        parties.attributes([column], "column")
        fine = self.levels[0]
        where: dict[str, Any] = {}
        table = parties.select(list(dict.fromkeys([self.place, column]))).to_arrow()
        for place, name in zip(
            table[self.place].to_pylist(), table[column].to_pylist(), strict=True
        ):
            where[str(place)] = name
        last = self.phases[-1]
        names = fine.totals_match.names
        return {int(n): where[names[last.place[n]]] for n in np.flatnonzero(last.identified)}

    @property
    def assessments(self) -> list[Assessment]:
        """One assessment a phase."""
        return [assess_phase(self, phase) for phase in self.phases[1:]]

    @property
    def assessment(self) -> Assessment:
        """The assessment after the last phase."""
        return assess_phase(self, self.phases[-1])

    def assessments_of(self, record: int) -> list[Assessment]:
        """One assessment a phase for one record, given by its place counted from 0 (Table 4)."""
        self.table_4(record)
        alone = np.arange(self.transactions.rows) == record
        return [assess_phase(self, phase, alone) for phase in self.phases[1:]]

    def assessment_with(
        self, remedies: Remedies | None = None, target: int | None = None
    ) -> Assessment:
        """The assessment after the last phase, which also shows what would help, and one record."""
        return replace(
            self.assessment,
            _details=lambda: build_details(self, remedies, target),
            _plain=lambda: build_plain_values(self, remedies, target),
        )

    @cached_property
    def coupled(self) -> Bools:
        """Records of which the tables may tell more together than by the places each leaves."""
        return find_coupled_records(self.levels, self.transactions.rows)

    @cached_property
    def at_most(self) -> RiskBound:
        """What may be known of every record if the audit went on."""
        names = self.levels[0].totals_match.names
        parties = np.array([self.parties_at.get(name, 0) for name in names], np.int64)
        return bound_remaining_risk(
            self.levels,
            self.by_any_rule,
            self.phases,
            parties_at=parties,
            used=self.used,
            coupled=self.coupled,
            at_fixpoint=self.at_fixpoint,
        )

    def chart(self) -> Chart:
        """The chance to name the party of a record, after every phase."""
        return charts.draw_phases(self.table_6b)

    def complexity_chart(self) -> Chart:
        """The effort that instances took, by complexity (Fig. 5)."""
        return charts.draw_seconds_by_complexity(self.solved)

    def explain(self) -> list[str]:
        """What was found, in sentences."""
        return self.assessment.explain()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        plain = self.assessment.to_dict()
        phases = [one.to_dict() for one in self.assessments]
        for one in phases:
            one.pop("details")
        own = {**plain.pop("details"), "seconds": collect_times(self)}
        return {**plain, **own, "assessments": phases}

    def __str__(self) -> str:
        return "\n".join(self.explain())

    def __repr__(self) -> str:
        last = self.phases[-1]
        return (
            f'Reconstruction of "{self.transactions.name}": {int(last.identified.sum()):,} of '
            f"{self.transactions.rows:,} {self.transactions.subjects} re-identified"
        )

    def rows(self) -> Sequence[tuple[str, ...]]:
        """Table 6b for people: phase, chance, by counting, leakage, records, value."""
        return format_phase_rows(self)
