"""The rules that a risk depends on, kept ready while protection changes the records.

What does not change is derived once. A state of the records that was seen before is looked up; and
where rules look at no cell and only hand on the risks that they ask for, it is derived once whose
risk goes where.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.data import Dataset
from divulge.release.rule_programs import tuning
from divulge.release.rule_programs.dataset_contents import ContentDigests
from divulge.release.rule_programs.evaluation import list_current_facts, list_lasting_facts
from divulge.release.rule_programs.record_risks import RecordPlaces, RecordRisks
from divulge.release.rule_programs.rule_data import RuleData
from divulge.release.rule_programs.rule_program import (
    ARGUMENTS,
    CELLS,
    ORIGINAL_VALUES,
    RISK,
    RuleProgram,
)
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.rules import Facts
    from divulge.rules.engine.prepared_evaluation import PreparedEvaluation


@dataclass(frozen=True)
class _SparseRisks:
    """The risks of records, of which most have none."""

    rows: int
    places: Ints
    values: Floats

    @classmethod
    def of(cls, risks: Floats) -> _SparseRisks:
        places = np.flatnonzero(risks)
        return cls(risks.size, places, risks[places])

    def fill(self) -> Floats:
        risks = np.zeros(self.rows)
        risks[self.places] = self.values
        return risks


@dataclass(frozen=True)
class _RiskSources:
    """Whose risk rules hand on to whom, as places in the records."""

    current: Mapping[str, pa.Table]
    places_of: RecordPlaces
    of_record: Ints
    source: Ints


class RiskEvaluator:
    """What `risk(I, R)` says of each record of a dataset, state after state."""

    def __init__(self, rules: RuleProgram, data: RuleData) -> None:
        from divulge.rules.checks.copied_answers import is_copied
        from divulge.rules.dictionary_facts import ARITIES

        self._rules = rules.select_for_risk()
        self._data = data
        self._risks = RecordRisks.of(self._rules, data)
        self._plugins = {RISK: self._risks.build_plugin()}
        self._digests = ContentDigests()
        self._by_state: dict[bytes, _SparseRisks] = {}
        self._kept_risks = 0
        reads_cells = any(map(self._rules.reads, CELLS))
        self._hands_on = not (reads_cells or self._risks.names_dataset) and is_copied(
            self._rules.program.statements,
            RISK,
            inputs=1,
            target=(RISK, self._rules.heads[RISK] - 1),
            given=[*ARITIES, ORIGINAL_VALUES],
        )
        self._sources: _RiskSources | None = None
        self._prepared: PreparedEvaluation | None = None

    def measure(self, dataset: Dataset) -> Floats:
        """The risk of each record; the highest where rules say several."""
        state = self._digests.digest(dataset)
        known = self._by_state.get(state)
        if known is None:
            known = _SparseRisks.of(self._measure_anew(dataset))
            self._kept_risks += 1 + known.places.size
            if self._kept_risks > tuning.MOST_KEPT_RISKS:
                self._by_state.clear()
                self._kept_risks = 1 + known.places.size
            self._by_state[state] = known
        return known.fill()

    def _measure_anew(self, dataset: Dataset) -> Floats:
        data = replace(self._data, datasets={**self._data.datasets, dataset.name: dataset})
        self._risks.look_at(data)
        current = list_current_facts(self._rules, data)
        if self._hands_on:
            sources = self._find_sources(dataset, current)
            if not sources.source.size:
                return np.zeros(dataset.rows)
            return _spread_highest(
                dataset.rows, sources.of_record, self._risks.measure_all()[sources.source]
            )
        facts = self._prepare().evaluate(current)
        rows = _read_risks(self._rules, facts, dataset)
        places = self._risks.find_places(dataset).find([record for record, _ in rows])
        values = np.array([risk for _, risk in rows], np.float64)
        return _spread_highest(dataset.rows, places, values)

    def _prepare(self) -> PreparedEvaluation:
        from divulge.rules.engine.prepared_evaluation import PreparedEvaluation

        if self._prepared is None:
            self._prepared = PreparedEvaluation(
                self._rules.program,
                list_lasting_facts(self._rules, self._data),
                plugins=self._plugins,
                asked_anew=[RISK],
            )
        return self._prepared

    def _find_sources(self, dataset: Dataset, current: Mapping[str, pa.Table]) -> _RiskSources:
        """Whose risk goes where: derived again only if other records, or columns, are there."""
        from divulge.rules import evaluate

        places_of = self._risks.find_places(dataset)
        known = self._sources
        if known is None or known.places_of is not places_of or not _equal(known.current, current):
            given = {**list_lasting_facts(self._rules, self._data), **current}
            self._risks.answers_places = True
            try:
                with evaluate(self._rules.program, given, plugins=self._plugins) as facts:
                    rows = _read_risks(self._rules, facts, dataset)
            finally:
                self._risks.answers_places = False
            known = self._sources = _RiskSources(
                current,
                places_of,
                places_of.find([record for record, _ in rows]),
                np.array([place for _, place in rows], np.float64).astype(np.int64),
            )
        return known


def _equal(tables: Mapping[str, pa.Table], others: Mapping[str, pa.Table]) -> bool:
    return tables.keys() == others.keys() and all(
        table.equals(others[name]) for name, table in tables.items()
    )


def _read_risks(rules: RuleProgram, facts: Facts, dataset: Dataset) -> list[tuple[Any, float]]:
    """What rules say of records of a dataset; no number where a risk is none."""
    has_dataset = rules.heads[RISK] > len(ARGUMENTS[RISK])
    return [
        (row[-2], _read_number(row[-1]))
        for row in facts.rows(RISK)
        if not has_dataset or row[0] == dataset.name
    ]


def _read_number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]  # what is no number is told by who asks
    except (TypeError, ValueError):
        return float("nan")


def _spread_highest(rows: int, places: Ints, values: Floats) -> Floats:
    """The highest of the values at each place, and nought where there is none.

    Raises:
        InvalidInput: if one is no number from 0 to 1.
    """
    wrong = int((~((values >= 0) & (values <= 1))).sum())
    if wrong:
        message = f"{wrong:,} of the risks that rules derive are no numbers from 0 to 1."
        raise InvalidInput("rules", [Problem(RISK, message)])
    risks = np.zeros(rows + 1)
    np.maximum.at(risks, places, values)
    return risks[:-1]
