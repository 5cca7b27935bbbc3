"""The rules of a release evaluated on its datasets, as they are or as protection has left them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Limit
from divulge.data import Dataset
from divulge.protection.changes.changes import select_records
from divulge.protection.limits.goal_list import build_goals
from divulge.release.rule_programs.rule_program import (
    OF_HIERARCHIES,
    ORIGINAL_VALUES,
    VALUES,
    RuleProgram,
)
from divulge.rules.language.program import Program
from divulge.work import InvalidInput, Problem

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.rules import Facts
    from divulge.rules.plugin_atoms import RulePlugin


_READS_VALUES = Program.parse(f"cell(I) :- {VALUES}(_, I, _, _).")


@dataclass(frozen=True, kw_only=True)
class RuleData:
    """What the rules of a release look at: its datasets, and which of them go out as records."""

    datasets: Mapping[str, Dataset]
    originals: Mapping[str, Dataset]
    """The same before protection, for who knows what was hidden of their victim."""
    published: Sequence[str]

    def find_subject(self, name: str | None = None) -> Dataset:
        """The dataset that rules speak of: the one that they name, or the only one.

        Raises:
            InvalidInput: if there is no such dataset, or it is not clear which is meant.
        """
        if name is None and len(self.published) == 1:
            return self.datasets[self.published[0]]
        if name is None:
            message = (
                "the release publishes several datasets of records; say which is meant by a first "
                "argument: keep(M, I, A)."
                if self.published
                else "the release publishes no dataset of records that rules could speak of."
            )
            raise InvalidInput("rules", [Problem("", message)])
        if name not in self.published:
            message = f'"{name}" is no dataset of records that the release publishes.'
            raise InvalidInput("rules", [Problem("", message, name, self.published)])
        return self.datasets[name]


def evaluate_rules(rules: RuleProgram, data: RuleData) -> Facts:
    """All that follows from the rules of a release and the records of its datasets."""
    from divulge.rules import evaluate
    from divulge.rules.dictionary_facts import list_dictionary_facts

    program = rules.program
    # What rules read by name is what an expert knows: protection must not blind them to it.
    sources = {**data.datasets, **data.originals}
    given: dict[str, Any] = {
        source.origin: sources[source.origin]
        for source in program.sources
        if source.is_dataset and source.origin in sources
    }
    if rules.reads(ORIGINAL_VALUES):
        given[ORIGINAL_VALUES] = _concatenate(
            [
                list_dictionary_facts(data.originals[name], _READS_VALUES)[VALUES]
                for name in data.published
            ]
        )
    described = [_list_published_facts(program, data, name) for name in data.published]
    for predicate in dict.fromkeys(name for facts in described for name in facts):
        given[predicate] = _concatenate([facts[predicate] for facts in described])
    return evaluate(program, given, plugins={"risk": _build_risk_plugin(rules, data)})


def _list_published_facts(program: Program, data: RuleData, name: str) -> dict[str, pa.Table]:
    """What a published dataset says of itself: its cells as they are, its hierarchies as they were.

    Hierarchies tell of the values that occur, and those that were made coarser no longer do.
    """
    from divulge.rules.dictionary_facts import list_dictionary_facts

    facts = list_dictionary_facts(data.datasets[name], program)
    if data.originals[name] is data.datasets[name] or not set(facts) & set(OF_HIERARCHIES):
        return facts
    before = list_dictionary_facts(data.originals[name], program)
    return facts | {each: before[each] for each in OF_HIERARCHIES if each in before}


def _concatenate(tables: Sequence[pa.Table]) -> pa.Table:
    """One table of several; records are called by texts where one calls them by numbers."""
    import pyarrow as pa

    if len(tables) == 1:
        return tables[0]
    schemas = {str(table.schema) for table in tables if table.num_rows}
    if len(schemas) > 1:
        texts = pa.schema([(name, pa.string()) for name in tables[0].column_names])
        return pa.concat_tables([table.cast(texts) for table in tables])
    return pa.concat_tables(tables, promote_options="permissive")


def _build_risk_plugin(rules: RuleProgram, data: RuleData) -> RulePlugin:
    """`#risk(I, R)`: the risk of a record by the measure that the release names."""
    from divulge.rules.plugin_atoms import build_plugin

    risks = _RecordRisks(rules.risk_measure, data)

    def find_risks(records: pa.Array) -> list[float | None]:
        by_record = risks.by_record
        return [by_record.get(str(record)) for record in records.to_pylist()]

    return build_plugin("risk", find_risks, ["any"], ["number"])


@dataclass
class _RecordRisks:
    """The risk of each record, measured when it is first asked for."""

    measure: str
    data: RuleData

    @cached_property
    def by_record(self) -> Mapping[str, float]:
        from divulge.rules.dictionary_facts import read_record_keys

        dataset = self.data.find_subject()
        keys = read_record_keys(dataset)
        original = align_records(self.data.originals[dataset.name], dataset)
        [goal] = build_goals(dataset, [Limit(self.measure, at_most=1.0)], original=original)
        risk = goal.measure_standing(dataset, original).risk
        return dict(zip(map(str, keys.values.to_pylist()), risk.tolist(), strict=True))


def align_records(original: Dataset, dataset: Dataset) -> Dataset:
    """The records of an original that are still in a dataset, in its order, by their identifier."""
    from divulge.rules.dictionary_facts import read_record_keys

    if original.rows == dataset.rows:
        return original
    places = {key: place for place, key in enumerate(read_record_keys(original).values.to_pylist())}
    kept = [places[key] for key in read_record_keys(dataset).values.to_pylist()]
    return select_records(original, np.array(kept, np.int64))
