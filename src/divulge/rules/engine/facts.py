"""What a program derived: tables of facts, conflicts, and where each fact comes from."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from divulge.engines.duck import DuckSession
from divulge.rules.checks.program_check import CheckedProgram
from divulge.rules.checks.value_types import ValueType
from divulge.rules.engine.equalities import Conflict
from divulge.rules.engine.fixpoint import Fixpoint
from divulge.rules.engine.given_facts import NO_RULE
from divulge.rules.engine.predicate_tables import PredicateTable
from divulge.rules.engine.sql_values import NULL_MARK, Typed, convert, fill, write_sql
from divulge.rules.engine.stored_values import read_rows, write_value
from divulge.rules.engine.task_runner import TaskRunner

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class FactRow:
    """A fact: its values, the number of the statement that gave it (None: data), and when.

    A fact that was derived in a round follows from facts of earlier rounds alone; data and facts of
    the program are of round 0. Where only the latest value of an argument is kept, the round is
    that of this value, which may be later than that of a fact that followed from an earlier one.
    """

    values: tuple[Any, ...]
    rule: int | None
    round: int


class Facts(Mapping[str, "pa.Table"]):
    """All facts by predicate, each an Arrow table with its columns in the order of the arguments.

    Nulls are missing values there; `rows` tells them apart by their labels. The facts live in a
    database until this is closed, or nobody holds it any more.
    """

    def __init__(
        self,
        checked: CheckedProgram,
        session: DuckSession,
        runner: TaskRunner,
        fixpoint: Fixpoint,
        names: Mapping[str, tuple[str, ...]],
    ) -> None:
        self.program = checked.program
        self.checked = checked
        self.plugins = checked.plugins
        self.conflicts: tuple[Conflict, ...] = tuple(fixpoint.conflicts)
        self.invented_nulls = fixpoint.invented
        self._runner = runner
        self._context = fixpoint.context
        self._names = names
        self._close = weakref.finalize(self, session.__exit__, None, None, None)

    def __getitem__(self, predicate: str) -> pa.Table:
        import pyarrow as pa

        table = self._tables[predicate]
        columns = [
            _show_column(Typed(exp.column(f"a{place}"), kind)).as_(f"a{place}")
            for place, kind in enumerate(table.kinds)
        ]
        if not columns:
            count = min(1, self._runner.count(f"SELECT count(*) FROM {table.facts}"))
            return pa.table({"holds": [True] * count})
        query = exp.select(*columns).distinct().from_(self._select_facts(table).subquery("w"))
        found = self._runner.table(f"{write_sql(query)} ORDER BY ALL")
        return found.rename_columns(list(self._names[predicate]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __enter__(self) -> Facts:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Facts of {len(self)} predicates"

    def close(self) -> None:
        """Let go of the database; nothing can be asked any more."""
        self._close()

    @property
    def types(self) -> Mapping[str, tuple[ValueType, ...]]:
        """The kinds of values of every predicate's arguments."""
        return self.checked.types

    @property
    def _tables(self) -> Mapping[str, PredicateTable]:
        return self._context.tables

    def count(self, predicate: str) -> int:
        """How many facts of a predicate there are."""
        query = self._select_facts(self._tables[predicate])
        return self._runner.count(f"SELECT count(*) FROM ({write_sql(query)}) AS w")

    def rows(self, predicate: str) -> list[tuple[Any, ...]]:
        """The facts as values of Python: sets are frozen sets, nulls have labels, in order."""
        table = self._tables[predicate]
        if not table.kinds:
            return [()] * self[predicate].num_rows
        query = write_sql(self._select_facts(table))
        return read_rows(self._runner.table(f"{query} ORDER BY ALL"), table.kinds)

    def find_rows(
        self,
        predicate: str,
        bound: Mapping[int, Collection[Any]] | None = None,
        *,
        limit: int | None = None,
    ) -> list[FactRow]:
        """Facts with certain values in some of their columns, in the order of rounds and values.

        Args:
            predicate: a predicate, or a plug-in such as `#risk`: then what it answered.
            bound: the values that are allowed, by column.
            limit: at most so many.
        """
        name, kinds, origin = self._find_table(predicate)
        conditions = []
        for place, values in (bound or {}).items():
            written = [_try_write(value, kinds[place]) for value in values]
            allowed = [value for value in written if value is not None]
            column = exp.column(f"a{place}")
            conditions.append(column.isin(*allowed) if allowed else exp.false())
        columns = [f"a{place}" for place in range(len(kinds))]
        query = exp.select(*columns, *origin).distinct().from_(name).where(*conditions)
        text = f"{write_sql(query)} ORDER BY {', '.join(['o', *columns, 'r'])}"
        found = self._runner.table(f"{text} LIMIT {limit}" if limit is not None else text)
        rows = read_rows(found, kinds) if kinds else [()] * found.num_rows
        rules = found.column("r").to_pylist()
        rounds = found.column("o").to_pylist()
        return [
            FactRow(values, None if rule == NO_RULE else rule, number)
            for values, rule, number in zip(rows, rules, rounds, strict=True)
        ]

    def _find_table(self, predicate: str) -> tuple[str, Sequence[ValueType], list[exp.Expr]]:
        """The table of a predicate or plug-in, its kinds, and where its rows come from."""
        if predicate.startswith("#"):
            name = predicate[1:]
            origin: list[exp.Expr] = [
                exp.cast(exp.Literal.number(NO_RULE), "INTEGER").as_("r"),
                exp.cast(exp.Literal.number(0), "INTEGER").as_("o"),
            ]
            return self._context.answers[name], self._context.plugin_types[name], origin
        table = self._tables[predicate]
        return table.facts, table.kinds, [exp.column("r"), exp.column("o")]

    def _select_facts(self, table: PredicateTable) -> exp.Select:
        return exp.select(*table.columns).distinct().from_(table.facts)


def _try_write(value: Any, kind: ValueType) -> exp.Expr | None:
    """A value as SQL, or None if none of this kind is stored: no fact has it."""
    try:
        return write_value(value, kind)
    except (TypeError, ValueError, ArithmeticError, AttributeError):
        return None


def _show_column(value: Typed) -> exp.Expr:
    """A column as people get it: nulls are missing, numbers among nulls are numbers."""
    kind = value.type
    if not kind.nullable:
        return value.sql
    known = fill(
        "CASE WHEN starts_with(V, M) THEN NULL ELSE V END",
        V=value.sql,
        M=exp.Literal.string(NULL_MARK),
    )
    if kind.kind in ("integer", "decimal", "double"):
        return convert(Typed(known, kind), replace(kind, nullable=False))
    return known
