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
from divulge.reconstruction.auditing.cross_table_coupling import coupled
from divulge.reconstruction.auditing.input_report import InputReport
from divulge.reconstruction.auditing.phases import Phase
from divulge.reconstruction.auditing.remaining_risk import AtMost, at_most
from divulge.reconstruction.auditing.run import Solved
from divulge.reconstruction.auditing.table_state import Level
from divulge.reconstruction.problem.amounts import Bools
from divulge.reconstruction.reporting import charts, paper_tables
from divulge.reconstruction.reporting.assess import assessed
from divulge.reconstruction.reporting.details import details_of, plain_of, rows_by_phase, times_of
from divulge.reconstruction.reporting.paper_tables import ClassRow, PhaseRow, Target
from divulge.reconstruction.solving.mismatched_totals import inconsistencies

if TYPE_CHECKING:
    from divulge.reconstruction.remedies.remedies import Remedies

MOST_INCONSISTENT = 20
"""Of how many inconsistent instances of a table it is said which total would have to give way."""


@dataclass(frozen=True, eq=False, repr=False)
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
    levels: tuple[Level, ...]
    phases: tuple[Phase, ...]
    solved: tuple[Solved, ...]
    used: Bools
    parties_at: Mapping[str, int]
    value_amount: str
    sound: Bools
    place: str
    at_fixpoint: bool
    by_any_rule: tuple[Level, ...] = ()
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
        return paper_tables.by_phase(self.phases, self.value)

    def table_4(self, record: int) -> list[Target]:
        """The success for one record after every phase; the factor is that over the phase before.

        The record is given by its place in the transactions, counted from 0.
        """
        return paper_tables.of_target(self.phases, record)

    @property
    def table_5(self) -> dict[str, tuple[int, float, float]]:
        """Closed, open and inconsistent instances: how many, mean complexity, mean seconds."""
        return paper_tables.by_status(self.solved)

    @property
    def by_complexity(self) -> list[ClassRow]:
        """Instances by class of complexity: how many were closed, and how long that took."""
        return paper_tables.by_complexity(self.solved)

    def table_6a(self, count: int = 5, names: bool = False) -> list[tuple[str, int, float]]:
        """The places with the largest value re-identified: place, records, value.

        Where one party is alone, the name of its place is as good as its own: places are
        numbered unless names are asked for.
        """
        last = self.phases[-1]
        fine = self.levels[0]
        place = last.place
        some = np.flatnonzero(last.identified)
        found = []
        for number in np.unique(place[some]):
            here = some[place[some] == number]
            label = fine.matched.names[number]
            found.append((label, len(here), float(self.value[here].sum())))
        found.sort(key=lambda row: -row[2])
        return [
            (label if names else f"place {rank}", records, value)
            for rank, (label, records, value) in enumerate(found[:count], start=1)
        ]

    def inconsistent(self, most: int = 20) -> list[tuple[str, str, str, float]]:
        """Totals that no allocation meets: table, place, amount, and by how much at least.

        For the first instances that stayed inconsistent, smallest first.
        """
        return self._inconsistent[:most]

    @cached_property
    def _inconsistent(self) -> list[tuple[str, str, str, float]]:
        found = []
        for level in self.levels:
            failed = [
                n
                for n, result in enumerate(level.results)
                if result is not None and result.status == "infeasible"
            ]
            failed.sort(key=lambda n: level.possible[n].size)
            for n in failed[:MOST_INCONSISTENT]:
                group = level.matched.groups[n]
                every = np.ones_like(level.possible[n])
                instance = level.instance(group, level.readings, every)
                for violated in inconsistencies(instance):
                    place = level.matched.names[level.matched.place[group.rows[violated.bin]]]
                    name = level.attributes[violated.attribute]
                    table = level.matched.totals.dataset.name
                    by = float(violated.excess * level.units[violated.attribute])
                    found.append((table, place, name, by))
        return found

    def likely_excluded(self) -> Bools:
        """Records that most allocations leave out of the totals of the finest table."""
        found = np.zeros(self.transactions.rows, bool)
        for n, group in enumerate(self.levels[0].matched.groups):
            result = self.levels[0].results[n]
            if result is not None and result.premise in ("excluded", "both"):
                nowhere = result.discardable & ~result.possible.any(axis=1)
                found[group.records] = (result.discarded > 0.5) | nowhere
        return found

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
        names = fine.matched.names
        return {int(n): where[names[last.place[n]]] for n in np.flatnonzero(last.identified)}

    @property
    def assessments(self) -> list[Assessment]:
        """One assessment a phase."""
        return [assessed(self, phase) for phase in self.phases[1:]]

    @property
    def assessment(self) -> Assessment:
        """The assessment after the last phase."""
        return assessed(self, self.phases[-1])

    def assessments_of(self, record: int) -> list[Assessment]:
        """One assessment a phase for one record, given by its place counted from 0 (Table 4)."""
        self.table_4(record)
        alone = np.arange(self.transactions.rows) == record
        return [assessed(self, phase, alone) for phase in self.phases[1:]]

    def assessment_with(
        self, remedies: Remedies | None = None, target: int | None = None
    ) -> Assessment:
        """The assessment after the last phase, which also shows what would help, and one record."""
        return replace(
            self.assessment,
            _details=lambda: details_of(self, remedies, target),
            _plain=lambda: plain_of(self, remedies, target),
        )

    @cached_property
    def coupled(self) -> Bools:
        """Records of which the tables may tell more together than by the places each leaves."""
        return coupled(self.levels, self.transactions.rows)

    @cached_property
    def at_most(self) -> AtMost:
        """What may be known of every record if the audit went on."""
        names = self.levels[0].matched.names
        parties = np.array([self.parties_at.get(name, 0) for name in names], np.int64)
        read = self.levels, self.by_any_rule
        return at_most(*read, self.phases, parties, self.used, self.coupled, self.at_fixpoint)

    def chart(self) -> Chart:
        """The chance to name the party of a record, after every phase."""
        return charts.phases(self.table_6b)

    def complexity_chart(self) -> Chart:
        """The effort that instances took, by complexity (Fig. 5)."""
        return charts.seconds_by_complexity(self.solved)

    def explain(self) -> list[str]:
        """What was found, in sentences."""
        return self.assessment.explain()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        told = self.assessment.to_dict()
        phases = [one.to_dict() for one in self.assessments]
        for one in phases:
            one.pop("details")
        own = {**told.pop("details"), "seconds": times_of(self)}
        return {**told, **own, "assessments": phases}

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
        return rows_by_phase(self)
