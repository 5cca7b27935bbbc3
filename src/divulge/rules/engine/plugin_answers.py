"""What plug-ins answered: each input is asked once, in batches, and kept for the evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from divulge.rules import tuning
from divulge.rules.checks.type_inference import Types
from divulge.rules.checks.value_bounds import NULL_MARK, find_misfit
from divulge.rules.engine.body_query import Ask
from divulge.rules.engine.sql_values import name_sql_type
from divulge.rules.engine.stored_values import store_column
from divulge.rules.engine.task_runner import TaskRunner
from divulge.rules.language.syntax import EqualityRule, Rule
from divulge.rules.plugin_atoms import RulePlugin
from divulge.work import Interruption, format_quantity

if TYPE_CHECKING:
    import pyarrow as pa


class PluginAnswers:
    """The tables of questions (`y`) and answers (`x`) of all plug-ins."""

    def __init__(self, runner: TaskRunner, plugins: Mapping[str, RulePlugin], types: Types) -> None:
        self._runner = runner
        self._plugins = plugins
        self._types = types
        self.tables = {name: f"x{number}" for number, name in enumerate(sorted(plugins))}
        for name, table in self.tables.items():
            kinds = [name_sql_type(kind) for kind in types[name]]
            columns = [f"a{place} {kind}" for place, kind in enumerate(kinds)]
            inputs = len(plugins[name].inputs)
            runner.run(f"CREATE TABLE {table} ({', '.join(columns) or 'a0 INTEGER'})")
            asked = ", ".join(columns[:inputs]) or "a0 INTEGER"
            runner.run(f"CREATE TABLE {self._name_asked(name)} ({asked})")

    def _name_asked(self, name: str) -> str:
        return self.tables[name].replace("x", "y")

    def forget(self, name: str) -> None:
        """Ask a plug-in anew for everything."""
        self._runner.run(f"TRUNCATE {self.tables[name]}")
        self._runner.run(f"TRUNCATE {self._name_asked(name)}")

    def ask(self, question: Ask, statement: Rule | EqualityRule) -> None:
        """Ask a plug-in for what it was not asked yet."""
        known = self._plugins[question.plugin]
        columns = [f"a{place}" for place in range(max(1, len(known.inputs)))]
        same = " AND ".join(f"old.{column} = new.{column}" for column in columns)
        asked = self._name_asked(question.plugin)
        order = ", ".join(f"new.{column}" for column in columns)
        inputs = self._runner.table(
            f"SELECT new.* FROM ({question.sql}) AS new "
            f"WHERE NOT EXISTS (SELECT 1 FROM {asked} AS old WHERE {same}) ORDER BY {order}",
            statement,
        )
        if not inputs.num_rows:
            return
        self._insert(asked, inputs)
        for start in range(0, inputs.num_rows, tuning.PLUGIN_BATCH):
            batch = inputs.slice(start, tuning.PLUGIN_BATCH)
            answers = self._call(known, batch, statement)
            if answers.num_rows:
                self._insert(self.tables[question.plugin], answers)

    def _insert(self, target: str, rows: pa.Table) -> None:
        self._runner.load("plugin_rows", rows)
        self._runner.run(f"INSERT INTO {target} FROM plugin_rows")
        self._runner.unload("plugin_rows")

    def _call(
        self, known: RulePlugin, inputs: pa.Table, statement: Rule | EqualityRule
    ) -> pa.Table:
        """The answers to a batch, without those that were not given."""
        import pyarrow as pa

        arguments = [
            _show_nulls(inputs.column(place).combine_chunks()) for place in range(len(known.inputs))
        ]
        try:
            given = known.function(*arguments)
        except Interruption:
            raise
        except Exception as error:
            # Its own message may show values, so only its kind is told.
            message = f'the plug-in "#{known.name}" failed with {type(error).__name__}.'
            raise self._runner.fail(statement, message) from error
        outputs = self._list_outputs(known, given, inputs.num_rows, statement)
        kept = [
            row
            for row in range(inputs.num_rows)
            if all(column[row] is not None for column in outputs)
        ]
        if not known.outputs:
            kept = [row for row in kept if outputs[0][row]]
            outputs = []
        for column in outputs:
            misfit = next(filter(None, (find_misfit(column[row]) for row in kept)), None)
            if misfit is not None:
                raise self._runner.fail(statement, f'the plug-in "#{known.name}" gave {misfit}.')
        kinds = self._types[known.name][len(known.inputs) :]
        columns = [
            inputs.column(place).take(pa.array(kept, pa.int64()))
            for place in range(inputs.num_columns)
        ]
        columns = columns[: len(known.inputs)]
        try:
            for values, kind in zip(outputs, kinds, strict=True):
                columns.append(store_column([values[row] for row in kept], kind))
        except (TypeError, ValueError, ArithmeticError, pa.ArrowException):
            wanted = ", ".join(known.outputs)
            message = (
                f'the plug-in "#{known.name}" gave values that are not of its kinds: {wanted}.'
            )
            raise self._runner.fail(statement, message) from None
        names = [f"a{place}" for place in range(len(columns))]
        if not columns:
            return pa.table({"a0": [0] * len(kept)})
        return pa.table(columns, names=names)

    def _list_outputs(
        self, known: RulePlugin, given: Any, rows: int, statement: Rule | EqualityRule
    ) -> list[Sequence[Any]]:
        import pyarrow as pa

        columns = list(given) if len(known.outputs) > 1 and isinstance(given, tuple) else [given]
        listed: list[Sequence[Any]] = []
        for column in columns:
            if isinstance(column, pa.Array | pa.ChunkedArray):
                column = column.to_pylist()
            elif hasattr(column, "tolist"):
                column = column.tolist()
            listed.append(list(column) if isinstance(column, Sequence) else [])
        if len(listed) != max(1, len(known.outputs)) or any(len(one) != rows for one in listed):
            count = max(1, len(known.outputs))
            wanted = format_quantity(count, "sequence", "sequences")
            message = (
                f'the plug-in "#{known.name}" was asked for {rows:,} inputs and must give '
                f"{wanted} of that length, and gave something else."
            )
            raise self._runner.fail(statement, message)
        return listed


def _show_nulls(column: pa.Array) -> pa.Array:
    """A column for people's functions: nulls are missing values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type):
        return column
    is_null = pc.starts_with(column, NULL_MARK)
    return pc.if_else(is_null, pa.scalar(None, column.type), column)
