"""The rules of a release evaluated on its datasets, as they are or as protection has left them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from divulge.release.rule_programs.record_risks import RecordRisks
from divulge.release.rule_programs.rule_data import RuleData
from divulge.release.rule_programs.rule_program import (
    OF_HIERARCHIES,
    ORIGINAL_VALUES,
    RISK,
    VALUES,
    RuleProgram,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.rules import Facts


def evaluate_rules(rules: RuleProgram, data: RuleData) -> Facts:
    """All that follows from the rules of a release and the records of its datasets."""
    from divulge.rules import evaluate

    risks = RecordRisks.of(rules, data)
    given = {**list_lasting_facts(rules, data), **list_current_facts(rules, data)}
    return evaluate(rules.program, given, plugins={RISK: risks.build_plugin()})


def list_lasting_facts(rules: RuleProgram, data: RuleData) -> dict[str, Any]:
    """What protection does not change: originals, hierarchies, and what rules read by name.

    Hierarchies tell of the values that occur, and those that were made coarser no longer do.
    """
    from divulge.rules.dictionary_facts import list_dictionary_facts

    # What rules read by name is what an expert knows: protection must not blind them to it.
    sources = {**data.datasets, **data.originals}
    given: dict[str, Any] = {
        source.origin: sources[source.origin]
        for source in rules.program.sources
        if source.is_dataset and source.origin in sources
    }
    originals = [data.originals[name] for name in data.published]
    if rules.reads(ORIGINAL_VALUES):
        cells = [list_dictionary_facts(each, only=[VALUES])[VALUES] for each in originals]
        given[ORIGINAL_VALUES] = _concatenate(cells)
    of_hierarchies = [
        list_dictionary_facts(each, rules.program, only=OF_HIERARCHIES) for each in originals
    ]
    return given | _join_predicates(of_hierarchies)


def list_current_facts(rules: RuleProgram, data: RuleData) -> dict[str, pa.Table]:
    """What the published datasets say of themselves as they are now."""
    from divulge.rules.dictionary_facts import ARITIES, list_dictionary_facts

    of_now = [name for name in ARITIES if name not in OF_HIERARCHIES]
    return _join_predicates(
        [
            list_dictionary_facts(data.datasets[name], rules.program, only=of_now)
            for name in data.published
        ]
    )


def _join_predicates(described: Sequence[Mapping[str, pa.Table]]) -> dict[str, pa.Table]:
    """The facts of several datasets by predicate."""
    return {
        predicate: _concatenate([facts[predicate] for facts in described])
        for predicate in dict.fromkeys(name for facts in described for name in facts)
    }


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
