"""What a program derived: tables of facts, conflicts, and where each fact comes from."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from divulge.engines.duck import DuckSession
from divulge.rules.checks.program_check import CheckedProgram, NumberedEquality, NumberedRule
from divulge.rules.checks.value_types import ValueType
from divulge.rules.engine.body_query import BodyQuery
from divulge.rules.engine.equalities import Conflict
from divulge.rules.engine.fixpoint import Fixpoint
from divulge.rules.engine.predicate_tables import PredicateTable
from divulge.rules.engine.rule_queries import build_body
from divulge.rules.engine.sql_values import NULL_MARK, Typed, convert, fill, write_sql
from divulge.rules.engine.stored_values import read_rows, write_value
from divulge.rules.engine.task_runner import TaskRunner
from divulge.rules.language.syntax import Atom, list_aggregates, list_variables

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class FactOrigin:
    """Which rule gave a fact, and when: `rule` counts the statements, -1 is data from outside."""

    rule: int
    stratum: int
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
        self.checked = checked
        self.conflicts: tuple[Conflict, ...] = tuple(fixpoint.conflicts)
        self.invented_nulls = fixpoint.invented
        self._runner = runner
        self._context = fixpoint.context
        self._names = names
        self._rules: dict[int, NumberedRule | NumberedEquality] = {
            numbered.number: numbered for numbered in checked.rules
        }
        self._rules |= {numbered.number: numbered for numbered in checked.equalities}
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

    def find_origin(self, predicate: str, values: tuple[Any, ...]) -> FactOrigin | None:
        """The rule that first gave a fact, and when; None if there is no such fact."""
        table = self._tables.get(predicate)
        if table is None or len(values) != len(table.kinds):
            return None
        try:
            conditions = [
                fill("A = B", A=exp.column(f"a{place}"), B=write_value(value, kind))
                for place, (value, kind) in enumerate(zip(values, table.kinds, strict=True))
            ]
        except (TypeError, ValueError, ArithmeticError):
            return None  # a text where numbers stand: there is no such fact
        query = exp.select("r", "s", "o").from_(table.facts).where(*conditions)
        found = self._runner.table(f"{write_sql(query)} ORDER BY s, o, r LIMIT 1")
        if not found.num_rows:
            return None
        return FactOrigin(*(column[0].as_py() for column in found.columns))

    def find_bindings(
        self,
        rule: int,
        values: tuple[Any, ...] | None = None,
        *,
        before: FactOrigin | None = None,
        limit: int | None = None,
    ) -> list[dict[str, Any]]:
        """The bindings of a rule's body under which it gives a fact, each variable with its value.

        Of a rule with aggregates these are the bindings that contribute.

        Args:
            rule: the number of the rule's statement.
            values: the arguments of the head; all bindings if not given.
            before: only from facts that were there before this one, so that explanations end; facts
                that keep only their latest value are taken as they are.
            limit: at most so many.
        """
        numbered = self._rules[rule]
        body = self._build_body(numbered, before)
        if values is not None and isinstance(numbered, NumberedRule):
            try:
                self._lay_head(body, numbered, values)
            except (TypeError, ValueError, ArithmeticError):
                return []
        bindings = body.translator.bindings
        names = [name for name in numbered.plan.variables if name in bindings]
        columns = [bindings[name].sql.copy().as_(f"v{place}") for place, name in enumerate(names)]
        self._runner.carry_out(body.tasks, numbered.rule, lambda *_: None)
        query = write_sql(body.select(*columns, distinct=True))
        ordered = f"{query} ORDER BY ALL" + (f" LIMIT {limit}" if limit is not None else "")
        found = self._runner.table(ordered, numbered.rule)
        if not names:
            return [{}] if found.num_rows else []
        kinds = [bindings[name].type for name in names]
        return [dict(zip(names, row, strict=True)) for row in read_rows(found, kinds)]

    def _build_body(
        self, numbered: NumberedRule | NumberedEquality, before: FactOrigin | None
    ) -> BodyQuery:
        moving = {name for directions in self.checked.moving for name, _ in directions}

        def read_atom(number: int, atom: Atom) -> tuple[str, exp.Expr | None]:
            table, _ = self._context.read_full(number, atom)
            if before is None or atom.is_plugin or atom.is_negated or atom.predicate in moving:
                return table, None
            earlier = fill(
                "t.s < S OR (t.s = S AND t.o < R)",
                S=exp.Literal.number(before.stratum),
                R=exp.Literal.number(before.round),
            )
            return table, exp.paren(earlier)

        return build_body(numbered.plan, self._context, read_atom, f"e{numbered.number}")

    def _lay_head(self, body: BodyQuery, numbered: NumberedRule, values: tuple[Any, ...]) -> None:
        """Ask for the bindings whose head has these values, as far as the body decides it."""
        table = self._tables[numbered.rule.head.predicate]
        bound = body.translator.bindings
        for argument, value, kind in zip(
            numbered.rule.head.arguments, values, table.kinds, strict=True
        ):
            if list_aggregates(argument) or not set(list_variables(argument)) <= set(bound):
                continue
            mine = body.translate(argument, kind).sql
            body.conditions.append(fill("A = B", A=mine, B=write_value(value, kind)))

    def _select_facts(self, table: PredicateTable) -> exp.Select:
        return exp.select(*table.columns).distinct().from_(table.facts)


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
