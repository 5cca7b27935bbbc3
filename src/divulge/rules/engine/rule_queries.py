"""Rules as SQL statements: what is run to derive the facts of a head.

A contributor aggregate is a two-level GROUP BY: the best value of each contributor, then the
aggregate over contributors. Inside recursion the contributions are kept, and only groups to which
something was added are aggregated again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from divulge.rules.checks.body_plan import BodyPlan
from divulge.rules.checks.type_inference import Types, infer_aggregate, infer_term, number_type
from divulge.rules.checks.value_types import DOUBLE, ValueType
from divulge.rules.engine.body_query import (
    BodyQuery,
    ReadAtom,
    Refuse,
    Restrict,
    RunStatement,
    Task,
)
from divulge.rules.engine.expressions import Translator
from divulge.rules.engine.predicate_tables import PredicateTable
from divulge.rules.engine.sql_values import (
    DIALECT,
    Typed,
    convert,
    fill,
    need_finite,
    write_sql,
)
from divulge.rules.language.syntax import Aggregate, Atom, Rule, Term, Variable


@dataclass(frozen=True, kw_only=True)
class RuleContext:
    """What the compiler knows of the program: types, tables, plug-ins."""

    types: Types
    plugin_types: Types
    plugin_inputs: Mapping[str, int]
    tables: Mapping[str, PredicateTable]
    """Where the facts of each predicate are: names of users never reach SQL."""
    answers: Mapping[str, str]
    """The table of each plug-in's answers."""
    derived: Collection[str] = ()
    """Predicates that rules derive: their tables repeat no fact."""

    def read_full(self, _number: int, atom: Atom) -> str:
        """Every atom is read from all facts."""
        if atom.is_plugin:
            return self.answers[atom.predicate]
        return self.tables[atom.predicate].facts

    def read_new(self, place: int) -> ReadAtom:
        """The atom at a place is read from the facts of the last round, others from all."""

        def read_atom(number: int, atom: Atom) -> str:
            if number != place:
                return self.read_full(number, atom)
            return self.tables[atom.predicate].changes

        return read_atom


def build_body(
    plan: BodyPlan,
    context: RuleContext,
    read_atom: ReadAtom,
    prefix: str,
    *,
    restrict: Restrict | None = None,
) -> BodyQuery:
    """The steps of a plan as a query."""
    query = BodyQuery(
        types=context.types,
        plugin_types=context.plugin_types,
        read_atom=read_atom,
        prefix=prefix,
        restrict=restrict,
        distinct_predicates=context.derived,
    )
    for step in plan.steps:
        literal = step.literal
        inputs = context.plugin_inputs.get(literal.predicate, 0) if isinstance(literal, Atom) else 0
        query.add(step, inputs)
    return query


def compile_rule(
    rule: Rule,
    number: int,
    plan: BodyPlan,
    context: RuleContext,
    read_atom: ReadAtom,
    *,
    is_recursive: bool = False,
) -> list[Task]:
    """What derives the candidates of a rule's head."""
    query = build_body(plan, context, read_atom, f"b{number}")
    if not plan.aggregates:
        return [*select_head(rule, number, query, context)]
    compiler = _AggregateCompiler(
        rule=rule, number=number, plan=plan, body=query, is_recursive=is_recursive
    )
    query, tasks = compiler.compile_groups(context)
    for step in plan.conditions:
        query.add(step)
    return [*tasks, *select_head(rule, number, query, context)]


def select_head(rule: Rule, number: int, query: BodyQuery, context: RuleContext) -> list[Task]:
    """What puts the head's facts among the candidates, for a body that is complete."""
    table = context.tables[rule.head.predicate]
    columns = [
        _translate_argument(query, argument, kind).copy().as_(f"a{place}")
        for place, (argument, kind) in enumerate(zip(rule.head.arguments, table.kinds, strict=True))
    ] or [exp.Literal.number(0).as_("a0")]
    columns.append(exp.cast(exp.Literal.number(number), "INTEGER", dialect=DIALECT).as_("r"))
    select = query.select(*columns, distinct=True)
    insert = exp.insert(select, table.candidates, dialect=DIALECT)
    return [*query.tasks, *query.check_calculations(), RunStatement(write_sql(insert))]


def _translate_argument(query: BodyQuery, argument: Term, kind: ValueType) -> exp.Expr:
    """What a fact says in one place; what was calculated is looked at, columns were before."""
    value = query.translate(argument)
    if value.type == DOUBLE and not isinstance(value.sql, exp.Column):
        value = Typed(need_finite(value.sql), DOUBLE)
    return convert(value, kind)


def list_contributors(aggregate: Aggregate, plan: BodyPlan) -> Sequence[Term]:
    """The terms of which each combination counts once."""
    if aggregate.contributors:
        return aggregate.contributors
    if aggregate.function in ("mmin", "mmax", "munion"):
        return ()
    if aggregate.function == "mcount" and aggregate.argument is not None:
        return (aggregate.argument,)
    # Every binding is one: `_` has a name here too (see plan_body).
    return tuple(Variable(name) for name in plan.variables)


@dataclass(kw_only=True, frozen=True)
class _AggregateCompiler:
    """The aggregates of one rule, from bindings of the body to one row a group."""

    rule: Rule
    number: int
    plan: BodyPlan
    body: BodyQuery
    is_recursive: bool

    def compile_groups(self, context: RuleContext) -> tuple[BodyQuery, list[Task]]:
        """A query over the groups, and what must be run before it."""
        tasks: list[Task] = []
        tables: list[exp.Expr] = []
        for place, aggregate in enumerate(self.plan.aggregates):
            contributions = self._select_contributions(aggregate)
            if self._is_aggregated_at_once(contributions):
                tables.append(contributions.subquery("w"))
                continue
            tasks += self._keep_contributions(place, aggregate, contributions)
            name = f"{'g' if self.is_recursive else 'c'}{self.number}_{place}"
            tables.append(exp.to_table(name).as_("w"))
        if self.is_recursive:
            tasks += self._find_changed_groups()
        groups = self._select_groups(context, tables)
        return groups, [*self.body.tasks, *self.body.check_calculations(), *tasks]

    def _is_aggregated_at_once(self, contributions: exp.Select) -> bool:
        """Whether nothing is gained by keeping the contributions: they only read columns."""
        is_plain = not contributions.args.get("distinct") and not contributions.args.get("group")
        return is_plain and not self.is_recursive and not self.body.translator.guards

    def _name_keys(self) -> list[str]:
        return [f"k{place}" for place in range(max(1, len(self.plan.group)))]

    def _name_contributors(self, aggregate: Aggregate) -> list[str]:
        return [f"c{place}" for place in range(len(list_contributors(aggregate, self.plan)))]

    def _select_contributions(self, aggregate: Aggregate) -> exp.Select:
        """Group, contributor and its best value."""
        keys: list[exp.Expr] = [
            self.body.translate(term).sql.copy() for term in self.plan.group
        ] or [exp.Literal.number(0)]
        contributors = [
            self.body.translate(term).sql.copy() for term in list_contributors(aggregate, self.plan)
        ]
        names = [*self._name_keys(), *self._name_contributors(aggregate)]
        columns = [
            column.as_(name) for column, name in zip([*keys, *contributors], names, strict=True)
        ]
        value = self._translate_value(aggregate)
        is_one_each = self.body.determines_rows([*keys, *contributors])
        if value is not None:
            columns.append(value.copy().as_("v"))
        if value is None or aggregate.function == "munion":
            return self.body.select(*columns, distinct=not is_one_each)
        rows = self.body.select(*columns)
        if is_one_each:
            return rows
        best = "min(v) AS v" if aggregate.function == "mmin" else "max(v) AS v"
        return exp.select(*names, best, dialect=DIALECT).from_(rows.subquery("w")).group_by(*names)

    def _translate_value(self, aggregate: Aggregate) -> exp.Expr | None:
        if aggregate.function == "mcount" or aggregate.argument is None:
            return None
        argument = self.body.translate(aggregate.argument)
        if aggregate.function == "munion" or argument.type.kind == "text":
            return argument.sql
        kind = (
            DOUBLE if aggregate.function == "mprod" else number_type(argument.type, aggregate.place)
        )
        return self.body.translator.need_number(argument, kind)

    def _keep_contributions(
        self, place: int, aggregate: Aggregate, contributions: exp.Select
    ) -> list[Task]:
        fresh = f"c{self.number}_{place}"
        tasks: list[Task] = [RunStatement(_create_table(fresh, contributions))]
        if not self.is_recursive:
            return tasks
        bound = {"msum": 0, "mprod": 1}.get(aggregate.function)
        if bound is not None:
            refused = write_sql(exp.select("1 AS one").from_(fresh).where(f"v < {bound}").limit(1))
            least = "negative values" if bound == 0 else "values below 1"
            tasks.append(
                Refuse(refused, f"{aggregate.function} inside recursion takes no {least}.")
            )
        kept = f"g{self.number}_{place}"
        names = [*self._name_keys(), *self._name_contributors(aggregate)]
        same = [f"old.{name} = new.{name}" for name in names]
        if self._translate_value(aggregate) is not None:
            comparison = {"mmin": "<=", "munion": "="}.get(aggregate.function, ">=")
            same.append(f"old.v {comparison} new.v")
        better = (
            exp.select("new.*", dialect=DIALECT)
            .from_(exp.to_table(fresh).as_("new"))
            .where(
                exp.not_(
                    exp.Exists(
                        this=exp.select("1").from_(exp.to_table(kept).as_("old")).where(*same)
                    )
                )
            )
        )
        improved = f"i{self.number}_{place}"
        start = f"CREATE TEMP TABLE IF NOT EXISTS {kept} AS FROM {fresh} LIMIT 0"
        tasks.append(RunStatement(start))
        tasks.append(RunStatement(_create_table(improved, better)))
        tasks.append(RunStatement(f"INSERT INTO {kept} SELECT * FROM {improved}"))
        return tasks

    def _find_changed_groups(self) -> list[Task]:
        keys = ", ".join(self._name_keys())
        parts = [
            f"SELECT {keys} FROM i{self.number}_{place}"
            for place in range(len(self.plan.aggregates))
        ]
        union = " UNION ".join(parts)
        return [
            RunStatement(
                f"CREATE OR REPLACE TEMP TABLE q{self.number} AS "
                f"SELECT DISTINCT {keys} FROM ({union}) AS w"
            )
        ]

    def _select_groups(self, context: RuleContext, tables: Sequence[exp.Expr]) -> BodyQuery:
        """One row a group, with the value of every aggregate."""
        environment = self.body.translator.environment
        query = BodyQuery(
            types=context.types, plugin_types=context.plugin_types, read_atom=context.read_full
        )
        translator = Translator()
        for place, (aggregate, table) in enumerate(zip(self.plan.aggregates, tables, strict=True)):
            alias = f"q{place}"
            query.add_table(self._aggregate_table(aggregate, table, environment).subquery(alias))
            translator.known[aggregate] = Typed(
                exp.column("v", table=alias), infer_aggregate(aggregate, environment)
            )
            if place:
                query.conditions += [
                    fill("A = B", A=exp.column(key, table="q0"), B=exp.column(key, table=alias))
                    for key in self._name_keys()
                ]
        for key, term in zip(self._name_keys(), self.plan.group, strict=False):
            kept = Typed(exp.column(key, table="q0"), self.body.translate(term).type)
            if isinstance(term, Variable):
                translator.bindings[term.name] = kept
            else:
                translator.known[term] = kept
        query.translator = translator
        return query

    def _aggregate_table(
        self, aggregate: Aggregate, rows: exp.Expr, environment: Mapping[str, ValueType]
    ) -> exp.Select:
        keys = self._name_keys()
        if self.is_recursive:
            changed = " AND ".join(f"w.{key} = z.{key}" for key in keys)
            names = [*keys, *self._name_contributors(aggregate)]
            inner = exp.select(*(f"w.{name}" for name in names), dialect=DIALECT).from_(rows)
            inner = inner.where(f"EXISTS (SELECT 1 FROM q{self.number} AS z WHERE {changed})")
            if aggregate.function == "munion":
                inner = inner.select("w.v").distinct()
            elif self._translate_value(aggregate) is not None:
                best = "min(w.v) AS v" if aggregate.function == "mmin" else "max(w.v) AS v"
                inner = inner.select(best).group_by(*(f"w.{name}" for name in names))
            rows = inner.subquery("w")
        value = _fold_values(aggregate, dict(environment)).as_("v")
        return exp.select(*keys, value, dialect=DIALECT).from_(rows).group_by(*keys)


def _fold_values(aggregate: Aggregate, environment: dict[str, ValueType]) -> exp.Expr:
    """The aggregate over contributors; approximate numbers are added in the order of their size."""
    value = exp.column("v")
    if aggregate.function == "mcount" or aggregate.argument is None:
        return fill("CAST(count(*) AS BIGINT)")
    kind = infer_aggregate(aggregate, environment)
    if aggregate.function == "munion":
        is_set = infer_term(aggregate.argument, environment).kind == "set"
        template = (
            "list_sort(list_distinct(flatten(list(V))))"
            if is_set
            else "list_sort(list_distinct(list(V)))"
        )
        return fill(template, V=value)
    if aggregate.function in ("mmin", "mmax"):
        return fill(f"{aggregate.function[1:]}(V)", V=value)
    if aggregate.function == "mprod":
        return need_finite(fill("product(V ORDER BY V)", V=value))
    if kind == DOUBLE:
        return need_finite(fill("sum(V ORDER BY V)", V=value))
    return convert(Typed(fill("sum(V)", V=value), DOUBLE), kind)


def _create_table(name: str, query: exp.Expr) -> str:
    return f"CREATE OR REPLACE TEMP TABLE {name} AS {write_sql(query)}"


def list_kept_tables(number: int, plan: BodyPlan) -> list[str]:
    """The tables in which a recursive rule keeps what was contributed."""
    return [f"g{number}_{place}" for place in range(len(plan.aggregates))]
