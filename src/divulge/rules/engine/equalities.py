"""Equality rules: nulls that become other values everywhere, and conflicts of constants.

Values that must be one are joined by union-find; a null gives way to a constant, and among nulls
the one that came first stays. Two constants are a conflict: it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from divulge.rules import tuning
from divulge.rules.checks.program_check import NumberedEquality
from divulge.rules.checks.type_inference import infer_term
from divulge.rules.checks.value_bounds import NULL_MARK
from divulge.rules.checks.value_types import ValueType, join_types
from divulge.rules.engine.body_query import Task
from divulge.rules.engine.predicate_tables import PredicateTable
from divulge.rules.engine.rule_queries import RuleContext, build_body
from divulge.rules.engine.sql_values import (
    Typed,
    fill,
    is_stored_as_text,
    make_tuple,
    normalise_set,
    take_field,
    write_sql,
)
from divulge.rules.engine.stored_values import read_value
from divulge.rules.engine.task_runner import TaskRunner
from divulge.rules.language.syntax import EqualityRule

MERGE_MAP = "merges"


@dataclass(kw_only=True, frozen=True)
class Conflict:
    """Two different constants that a rule says are one: a row for a person to decide.

    `binding` has the value of every variable of the rule's body, from which each of the facts that
    led here can be found and explained.
    """

    rule: EqualityRule
    number: int
    left: Any
    right: Any
    binding: Mapping[str, Any]


@dataclass(kw_only=True, frozen=True)
class EqualityQuery:
    """An equality rule as statements: what to do first, and a query for unequal pairs."""

    numbered: NumberedEquality
    tasks: tuple[Task, ...]
    pairs: str
    """The two sides, as texts, where one of them is a null."""
    conflicts: str
    """The two sides and all variables, where neither is a null."""
    kind: ValueType
    variables: Mapping[str, ValueType]


def compile_equality(numbered: NumberedEquality, context: RuleContext) -> EqualityQuery:
    """Statements for an equality rule."""
    rule, plan = numbered.rule, numbered.plan
    body = build_body(plan, context, context.read_full, f"b{numbered.number}")
    environment = body.translator.environment
    kind = join_types(infer_term(rule.left, environment), infer_term(rule.right, environment))
    left, right = body.translate(rule.left, kind).sql, body.translate(rule.right, kind).sql
    body.conditions.append(fill("A <> B", A=left, B=right))
    names = [name for name in plan.variables if name in environment and " " not in name]
    columns = [
        body.translator.bindings[name].sql.copy().as_(f"v{place}")
        for place, name in enumerate(names)
    ]
    sides = [left.copy().as_("l"), right.copy().as_("q")]
    if is_stored_as_text(kind):
        is_null = fill(
            "starts_with(A, M) OR starts_with(B, M)",
            A=left,
            B=right,
            M=exp.Literal.string(NULL_MARK),
        )
    else:
        is_null = exp.false()
    pairs = body.select(*sides, distinct=True).where(is_null.copy())
    conflicts = body.select(*sides, *columns, distinct=True).where(exp.not_(exp.paren(is_null)))
    conflicts = conflicts.order_by(*(column.alias for column in (*sides, *columns)))
    return EqualityQuery(
        numbered=numbered,
        tasks=(*body.tasks, *body.check_calculations()),
        pairs=write_sql(pairs),
        conflicts=write_sql(conflicts.limit(2 * tuning.MOST_CONFLICTS)),
        kind=kind,
        variables={name: environment[name] for name in names},
    )


def find_merges(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Which null becomes which value, by union-find.

    >>> n1, n2 = NULL_MARK + "n1", NULL_MARK + "n2"
    >>> find_merges([(n1, n2), (n2, "area")]) == {n1: "area", n2: "area"}
    True
    """
    parents: dict[str, str] = {}

    def find_root(value: str) -> str:
        root = value
        while parents.get(root, root) != root:
            root = parents[root]
        while parents.get(value, value) != root:
            parents[value], value = root, parents[value]
        return root

    for one, other in sorted(pairs):
        first, second = sorted((find_root(one), find_root(other)), key=rank_value)
        # Two constants stay two, whatever null lies between them.
        if first != second and second.startswith(NULL_MARK):
            parents[second] = first
    return {value: find_root(value) for value in parents if find_root(value) != value}


def rank_value(value: str) -> tuple[bool, int, str]:
    """Constants before nulls, earlier nulls before later ones."""
    return value.startswith(NULL_MARK), len(value), value


def replace_nulls(value: Typed) -> exp.Expr | None:
    """The value after the merges of the table `merges` (a map), or None if nothing can change."""
    kind = value.type
    if is_stored_as_text(kind):
        if not kind.nullable:
            return None
        return fill(
            f"CASE WHEN starts_with(V, M) THEN coalesce({MERGE_MAP}.pairs[V], V) ELSE V END",
            V=value.sql,
            M=exp.Literal.string(NULL_MARK),
        )
    if kind.kind == "set":
        inner = replace_nulls(Typed(exp.column("e"), kind.parts[0]))
        if inner is None:
            return None
        function = exp.Lambda(this=inner, expressions=[exp.to_identifier("e")], colon=True)
        return normalise_set(
            exp.func("list_transform", value.sql.copy(), function, dialect="duckdb")
        )
    if kind.kind == "tuple":
        items = [Typed(take_field(value.sql, n), part) for n, part in enumerate(kind.parts)]
        changed = [replace_nulls(item) for item in items]
        if not any(changed):
            return None
        return make_tuple([new or old.sql for new, old in zip(changed, items, strict=True)])
    return None


def apply_merges(
    runner: TaskRunner, merges: Mapping[str, str], tables: Mapping[str, Sequence[ValueType]]
) -> None:
    """Replace merged nulls in tables, given with the kinds of their leading columns."""
    import pyarrow as pa

    runner.load("merge_rows", pa.table({"old": list(merges), "new": list(merges.values())}))
    runner.run(
        f"CREATE OR REPLACE TEMP TABLE {MERGE_MAP} AS "
        "SELECT map(list(old), list(new)) AS pairs FROM merge_rows"
    )
    runner.unload("merge_rows")
    for name, kinds in tables.items():
        columns = _list_columns(runner, name)
        selected = []
        is_changed = False
        for place, column in enumerate(columns):
            new = None
            if place < len(kinds):
                new = replace_nulls(Typed(exp.column(column, table=name), kinds[place]))
            is_changed = is_changed or new is not None
            selected.append((new or exp.column(column, table=name)).as_(column))
        if is_changed:
            query = exp.select(*selected, copy=False).from_(name).join(MERGE_MAP, join_type="cross")
            runner.run(f"CREATE OR REPLACE TABLE {name} AS {write_sql(query)}")


def _list_columns(runner: TaskRunner, name: str) -> list[str]:
    return list(runner.table(f"SELECT * FROM {name} LIMIT 0").column_names)


def merge_duplicates(runner: TaskRunner, table: PredicateTable) -> None:
    """Facts that became equal are one, of the earliest origin."""
    columns = ", ".join(table.columns)
    runner.run(
        f"CREATE OR REPLACE TABLE {table.facts} AS SELECT {columns}, arg_min(r, (o, r)) AS r, "
        f"min(o) AS o FROM {table.facts} "
        f"GROUP BY {columns}"
    )


def read_conflicts(runner: TaskRunner, query: EqualityQuery) -> list[Conflict]:
    """The conflicts of a rule, each pair of facts once."""
    rows = runner.table(query.conflicts, query.numbered.rule)
    kinds = [query.kind, query.kind, *query.variables.values()]
    conflicts = []
    seen = set()
    for number in range(rows.num_rows):
        values = [
            read_value(rows.column(place)[number].as_py(), kind) for place, kind in enumerate(kinds)
        ]
        left, right, *bound = values
        # The same facts the other way round are the same conflict.
        key = (frozenset((left, right)), frozenset(zip(map(repr, bound), bound, strict=True)))
        if key in seen:
            continue
        seen.add(key)
        binding = dict(zip(query.variables, bound, strict=True))
        conflicts.append(
            Conflict(
                rule=query.numbered.rule,
                number=query.numbered.number,
                left=left,
                right=right,
                binding=binding,
            )
        )
    return conflicts[: tuning.MOST_CONFLICTS]
