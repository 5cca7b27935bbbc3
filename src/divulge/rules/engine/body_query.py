"""A rule's body as one query: joins, conditions, and the bindings of its variables.

A body is built literal by literal in the order of its plan. A plug-in cuts it in two: what is bound
so far is kept in a table, the plug-in is asked for its inputs, and the rest goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from sqlglot import exp

from divulge.rules import tuning
from divulge.rules.checks.body_plan import PlannedLiteral
from divulge.rules.checks.type_inference import Types
from divulge.rules.checks.value_types import ValueType, join_types
from divulge.rules.engine.expressions import Translator
from divulge.rules.engine.sql_values import Typed, convert, take_field, write_sql
from divulge.rules.language.syntax import (
    Atom,
    Term,
    TupleTerm,
    Unpack,
    Variable,
    Wildcard,
)

ReadAtom: TypeAlias = Callable[[int, Atom], str]
"""From which table the facts of an atom are read (counted over the joined atoms)."""

NOT_JOINED = -1
"""The number of an atom that is negated, or asked of a plug-in."""


@dataclass(frozen=True)
class RunStatement:
    """A statement to be carried out."""

    sql: str


@dataclass(frozen=True)
class Refuse:
    """A query that must give no row."""

    sql: str
    message: str


@dataclass(frozen=True)
class Ask:
    """A plug-in to be asked for the inputs that a query gives."""

    plugin: str
    sql: str


Restrict: TypeAlias = Callable[[Atom, str], Sequence[exp.Expr]]
"""Further conditions on the facts of an atom, which stand under an alias."""

Task: TypeAlias = RunStatement | Refuse | Ask


@dataclass(kw_only=True)
class BodyQuery:
    """A query under construction."""

    types: Types
    plugin_types: Types
    read_atom: ReadAtom
    prefix: str = "b"
    restrict: Restrict | None = None
    distinct_predicates: Collection[str] = ()
    """Predicates whose tables repeat no fact: those that rules derive. Data may repeat rows."""
    translator: Translator = field(default_factory=Translator)
    tables: list[exp.Expr] = field(default_factory=list)
    conditions: list[exp.Expr] = field(default_factory=list)
    risky: list[exp.Expr] = field(default_factory=list)
    """Conditions that calculate: they are no help to find a calculation that fails."""
    tasks: list[Task] = field(default_factory=list)
    joined: int = 0
    distinct_tables: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    """All columns of joined tables that repeat no row, by alias."""

    def add(self, step: PlannedLiteral, plugin_inputs: int = 0) -> None:
        """Take up the next literal of the plan."""
        literal = step.literal
        if isinstance(literal, Atom) and step.act == "absent":
            self._add_condition(exp.not_(self._find_fact(literal)))
        elif isinstance(literal, Atom) and step.act == "ask":
            self._ask_plugin(literal, plugin_inputs)
        elif isinstance(literal, Atom):
            self._join_facts(literal)
        elif step.pattern is not None and step.source is not None:
            self._bind_source(step, step.pattern, step.source)
        else:
            guards = len(self.translator.guards)
            condition = self.translator.translate_condition(literal)
            if len(self.translator.guards) > guards:
                self.risky.append(condition)
            else:
                self._add_condition(condition)

    def translate(self, term: Term, target: ValueType | None = None) -> Typed:
        """A term under the bindings so far."""
        return self.translator.translate(term, target)

    def select(
        self, *columns: exp.Expr, distinct: bool = False, extra: Sequence[exp.Expr] = ()
    ) -> exp.Select:
        """The query with these columns; call it after the columns were translated."""
        needed = [*self.translator.present, *self.translator.numeric, *extra]
        query = self._select_from([*self.conditions, *self.risky, *needed])
        query = query.select(*columns) if columns else query.select("1 AS one")
        return query.distinct() if distinct else query

    def determines_rows(self, columns: Sequence[exp.Expr]) -> bool:
        """Whether no two rows of the query agree in these columns.

        So it is where they have every column of tables that repeat no row.
        """
        selected = {
            (column.table, column.name) for column in columns if isinstance(column, exp.Column)
        }
        return all(
            self.distinct_tables.get(table.alias, {("", "")}) <= selected for table in self.tables
        )

    def check_calculations(self) -> list[Task]:
        """What must be refused before the query is trusted."""
        safe = [*self.conditions, *self.translator.present]
        tasks: dict[str, Task] = {}
        for guard in self.translator.guards:
            query = self._select_from([*safe, guard.condition]).select("1 AS one").limit(1)
            tasks[write_sql(query)] = Refuse(write_sql(query), guard.message)
        return list(tasks.values())

    def add_table(self, table: exp.Expr) -> None:
        """Join one more table; its conditions come apart."""
        self.tables.append(table)

    def _select_from(self, conditions: Sequence[exp.Expr]) -> exp.Select:
        query = exp.Select()
        for number, table in enumerate(self.tables):
            if number:
                query = query.join(table.copy(), join_type="cross", copy=False)
            else:
                query = query.from_(table.copy(), copy=False)
        for condition in conditions:
            query = query.where(condition.copy(), copy=False)
        return query

    def _add_condition(self, condition: exp.Expr) -> None:
        self.conditions.append(condition)

    def _join_facts(self, atom: Atom) -> None:
        table = self.read_atom(self.joined, atom)
        alias = f"t{self.joined}"
        self.joined += 1
        self.tables.append(exp.to_table(table).as_(alias))
        if atom.predicate in self.distinct_predicates:
            width = max(1, len(atom.arguments))
            self.distinct_tables[alias] = {(alias, f"a{number}") for number in range(width)}
        if self.restrict is not None:
            self.conditions += self.restrict(atom, alias)
        self._lay_arguments(atom, alias, self.types[atom.predicate])

    def _lay_arguments(self, atom: Atom, alias: str, types: Sequence[ValueType]) -> None:
        for number, (argument, kind) in enumerate(zip(atom.arguments, types, strict=True)):
            self.lay_pattern(argument, Typed(exp.column(f"a{number}", table=alias), kind))

    def lay_pattern(self, pattern: Term, value: Typed) -> None:
        """Bind what is not bound yet; the rest must be equal."""
        if isinstance(pattern, Wildcard):
            return
        if isinstance(pattern, Unpack):
            self.lay_pattern(pattern.collection, value)
        elif isinstance(pattern, Variable) and pattern.name not in self.translator.bindings:
            self.translator.bindings[pattern.name] = value
        elif isinstance(pattern, TupleTerm) and value.type.kind == "tuple":
            for number, (item, part) in enumerate(
                zip(pattern.items, value.type.parts, strict=True)
            ):
                self.lay_pattern(item, Typed(take_field(value.sql, number), part))
        elif isinstance(pattern, TupleTerm):  # of a predicate without a fact
            self._add_condition(exp.false())
            for item in pattern.items:
                self.lay_pattern(item, Typed(exp.null(), value.type))
        else:
            self._add_condition(self._equal(self.translate(pattern), value))

    def _equal(self, one: Typed, other: Typed) -> exp.Expr:
        kind = join_types(one.type, other.type)
        return exp.EQ(this=convert(one, kind).copy(), expression=convert(other, kind).copy())

    def _find_fact(self, atom: Atom) -> exp.Expr:
        """That there is a fact like this, for what is bound."""
        inner = BodyQuery(
            types=self.types, plugin_types=self.plugin_types, read_atom=self.read_atom
        )
        inner.translator = Translator(bindings=self.translator.bindings)
        table = self.read_atom(NOT_JOINED, atom)
        alias = f"n{len(self.conditions)}"
        inner.tables.append(exp.to_table(table).as_(alias))
        inner._lay_arguments(atom, alias, self.types[atom.predicate])
        # What is calculated in the arguments is calculated whether there is such a fact or not.
        self.translator.guards += inner.translator.guards
        self.translator.present += inner.translator.present
        self.translator.numeric += inner.translator.numeric
        return exp.Exists(this=inner.select())

    def _bind_source(self, step: PlannedLiteral, pattern: Term, source: Term) -> None:
        value = self.translate(source)
        if step.act == "bind":
            size = sum(1 for _ in value.sql.walk())
            # A variable stands for its term wherever it is used: equations that use each other
            # twice would double it each time.
            if size > tuning.MOST_REPEATED_NODES:
                value = Typed(self._unnest(exp.Array(expressions=[value.sql.copy()])), value.type)
            self.lay_pattern(pattern, value)
            return
        element = value.type.parts[0] if value.type.parts else value.type
        self.lay_pattern(pattern, Typed(self._unnest(value.sql.copy()), element))

    def _unnest(self, values: exp.Expr) -> exp.Expr:
        """Join the elements of a list; the column that they are in."""
        alias = f"u{len(self.tables)}"
        columns = exp.TableAlias(this=exp.to_identifier(alias), columns=[exp.to_identifier("x")])
        self.tables.append(exp.Unnest(expressions=[values], alias=columns))
        return exp.column("x", table=alias)

    def _ask_plugin(self, atom: Atom, inputs: int) -> None:
        """Keep what is bound, ask the plug-in for its inputs, go on from both."""
        self._keep_bindings()
        types = self.plugin_types[atom.predicate]
        table = self.read_atom(NOT_JOINED, atom)
        arguments = [
            self.translate(argument, kind).sql.as_(f"a{number}")
            for number, (argument, kind) in enumerate(
                zip(atom.arguments[:inputs], types, strict=False)
            )
        ]
        self.tasks.append(Ask(atom.predicate, write_sql(self.select(*arguments, distinct=True))))
        alias = f"x{len(self.tables)}"
        self.tables.append(exp.to_table(table).as_(alias))
        self._lay_arguments(atom, alias, types)

    def _keep_bindings(self) -> None:
        names = list(self.translator.bindings)
        kept = f"{self.prefix}_{len(self.tasks)}"
        columns = [
            self.translator.bindings[name].sql.as_(f"v{number}")
            for number, name in enumerate(names)
        ]
        query = self.select(*columns, distinct=True)
        self.tasks += self.check_calculations()
        create = exp.Create(this=exp.to_table(kept), kind="TABLE", expression=query, replace=True)
        create.set("properties", exp.Properties(expressions=[exp.TemporaryProperty()]))
        self.tasks.append(RunStatement(write_sql(create)))
        self.tables = [exp.to_table(kept)]
        self.conditions, self.risky = [], []
        self.translator = Translator(
            bindings={
                name: Typed(
                    exp.column(f"v{number}", table=kept), self.translator.bindings[name].type
                )
                for number, name in enumerate(names)
            }
        )
