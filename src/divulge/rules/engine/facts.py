"""What a program derived: tables of facts, conflicts, and where each fact comes from."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from divulge.engines.duck import DuckSession
from divulge.rules.checks.program_check import CheckedProgram, NumberedEquality, NumberedRule
from divulge.rules.checks.value_bounds import NULL_MARK
from divulge.rules.checks.value_types import ValueType
from divulge.rules.engine.body_query import BodyQuery
from divulge.rules.engine.equalities import Conflict
from divulge.rules.engine.fixpoint import Fixpoint
from divulge.rules.engine.given_facts import NO_RULE
from divulge.rules.engine.predicate_tables import PredicateTable
from divulge.rules.engine.rule_queries import build_body
from divulge.rules.engine.sql_values import Typed, convert, fill, write_sql
from divulge.rules.engine.stored_values import read_rows, write_value
from divulge.rules.engine.task_runner import TaskRunner
from divulge.rules.language.syntax import Atom, list_aggregates, list_variables

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

    def __contains__(self, predicate: object) -> bool:
        return predicate in self._tables  # a mapping of tables would read all facts to know

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

    def find_bindings(
        self,
        rule: int,
        values: tuple[Any, ...] | None = None,
        *,
        before: FactRow | None = None,
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

    def find_facts(
        self,
        predicate: str,
        pattern: Sequence[Any],
        *,
        before: FactRow | None = None,
        limit: int | None = None,
    ) -> list[tuple[Any, ...]]:
        """The facts that fit a pattern, in which None stands for any value.

        Args:
            predicate: whose facts.
            pattern: a value or None for each argument.
            before: only facts that were there before this one, as for bindings.
            limit: at most so many.
        """
        table = self._tables.get(predicate)
        if table is None or len(pattern) != len(table.kinds):
            return []
        try:
            conditions = [
                fill("A = B", A=exp.column(f"a{place}"), B=write_value(value, kind))
                for place, (value, kind) in enumerate(zip(pattern, table.kinds, strict=True))
                if value is not None
            ]
        except (TypeError, ValueError, ArithmeticError):
            return []
        if before is not None and not self._is_moving(predicate):
            conditions.append(_select_earlier(before))
        query = self._select_facts(table).where(*conditions)
        bound = f" LIMIT {limit}" if limit is not None else ""
        if not table.kinds:
            return [()] * min(
                1, self._runner.count(f"SELECT count(*) FROM ({write_sql(query)}) AS w")
            )
        found = self._runner.table(f"{write_sql(query)} ORDER BY ALL{bound}")
        return read_rows(found, table.kinds)

    def count_matching_steps(self, rule: int, values: tuple[Any, ...]) -> int:
        """How many steps of a rule's plan have a match for a fact; -1 if its head has none."""
        numbered = self._rules[rule]
        steps = numbered.plan.steps
        for count in range(len(steps) + 1):
            part = replace(numbered.plan, steps=steps[:count])
            body = self._build_body(replace(numbered, plan=part), None)
            try:
                if isinstance(numbered, NumberedRule):
                    self._lay_head(body, numbered, values)
            except (TypeError, ValueError, ArithmeticError):
                return -1
            self._runner.carry_out(body.tasks, numbered.rule, lambda *_: None)
            query = write_sql(body.select(exp.Literal.number(1).as_("one")).limit(1))
            if not self._runner.table(query, numbered.rule).num_rows:
                return count - 1
        return len(steps)

    def _is_moving(self, predicate: str) -> bool:
        """Whether facts of a predicate keep only their latest value."""
        return any(name == predicate for moving in self.checked.moving for name, _ in moving)

    def _build_body(
        self, numbered: NumberedRule | NumberedEquality, before: FactRow | None
    ) -> BodyQuery:
        def select_earlier(atom: Atom, alias: str) -> list[exp.Expr]:
            if before is None or self._is_moving(atom.predicate):
                return []
            return [_select_earlier(before, alias)]

        read_atom, prefix = self._context.read_full, f"e{numbered.number}"
        return build_body(numbered.plan, self._context, read_atom, prefix, restrict=select_earlier)

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


def _select_earlier(before: FactRow, table: str | None = None) -> exp.Expr:
    """The condition that a row of a table was there before a fact."""
    return fill("O < R", O=exp.column("o", table=table), R=exp.Literal.number(before.round))


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
