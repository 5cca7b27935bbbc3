"""Nulls for existential variables: one for each binding of the head, where no fact is there yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from divulge.rules.checks.program_check import NumberedRule
from divulge.rules.checks.value_bounds import NULL_MARK
from divulge.rules.checks.value_types import NULL
from divulge.rules.engine.body_query import BodyQuery, ReadAtom, RunStatement, Task
from divulge.rules.engine.expressions import Translator
from divulge.rules.engine.rule_queries import RuleContext, build_body, select_head
from divulge.rules.engine.sql_values import Typed, fill, name_sql_type, write_sql
from divulge.rules.language.syntax import Variable, list_variables


@dataclass(kw_only=True, frozen=True)
class Invention:
    """What an existential rule does: find new bindings, then make facts with nulls of them."""

    number: int
    preparation: tuple[Task, ...]
    """Leaves the bindings that need nulls in a table, numbered from one."""
    nulls: int
    """How many nulls a binding needs."""
    context: RuleContext
    numbered: NumberedRule
    bindings: dict[str, Typed]

    @property
    def table(self) -> str:
        """The table of bindings that need nulls."""
        return f"f{self.number}"

    @property
    def memory(self) -> str:
        """The table of bindings that have had theirs."""
        return f"m{self.number}"

    @property
    def columns(self) -> list[str]:
        """The columns of a binding."""
        return [f"u{place}" for place in range(max(1, len(self.bindings)))]

    def write_tasks(self, invented: int) -> list[Task]:
        """Make the facts; `invented` is how many nulls there are already."""
        translator = Translator(bindings=dict(self.bindings))
        for place, name in enumerate(self.numbered.plan.existentials):
            label = fill(
                "L || CAST(B + (num - 1) * N + P AS VARCHAR)",
                L=exp.Literal.string(f"{NULL_MARK}n"),
                B=exp.Literal.number(invented + 1),
                N=exp.Literal.number(self.nulls),
                P=exp.Literal.number(place),
            )
            translator.bindings[name] = Typed(label, NULL)
        query = BodyQuery(
            types=self.context.types,
            plugin_types=self.context.plugin_types,
            read_atom=self.context.read_full,
        )
        query.translator = translator
        query.add_table(exp.to_table(self.table))
        columns = ", ".join(self.columns)
        return [
            RunStatement(f"INSERT INTO {self.memory} SELECT {columns} FROM {self.table}"),
            *select_head(self.numbered.rule, self.number, query, self.context),
        ]


def compile_invention(
    numbered: NumberedRule, context: RuleContext, read_atom: ReadAtom
) -> Invention:
    """An existential rule as statements."""
    rule, plan = numbered.rule, numbered.plan
    query = build_body(plan, context, read_atom, f"b{numbered.number}")
    frontier = [name for name in list_variables(rule.head) if name not in plan.existentials]
    known = {name: query.translate(Variable(name)) for name in frontier}
    columns = [value.sql.copy().as_(f"u{place}") for place, value in enumerate(known.values())]
    found = query.select(*(columns or [exp.Literal.number(0).as_("u0")]), distinct=True)
    bindings = {
        name: Typed(exp.column(f"u{place}", table=f"f{numbered.number}"), value.type)
        for place, (name, value) in enumerate(known.items())
    }
    invention = Invention(
        number=numbered.number,
        preparation=(),
        nulls=len(plan.existentials),
        context=context,
        numbered=numbered,
        bindings=bindings,
    )
    names = invention.columns
    kinds = [name_sql_type(value.type) for value in known.values()] or ["INTEGER"]
    declared = ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
    remembered = " AND ".join(f"memory.{name} = f{numbered.number}.{name}" for name in names)
    conditions = [
        f"NOT EXISTS (SELECT 1 FROM {invention.memory} AS memory WHERE {remembered})",
        *_deny_known_facts(numbered, context, bindings),
    ]
    order = ", ".join(names)
    numbered_rows = (
        f"CREATE OR REPLACE TEMP TABLE {invention.table} AS "
        f"SELECT *, row_number() OVER (ORDER BY {order}) AS num FROM "
        f"({write_sql(found)}) AS {invention.table} WHERE {' AND '.join(conditions)}"
    )
    preparation: Sequence[Task] = [
        *query.tasks,
        *query.check_calculations(),
        RunStatement(f"CREATE TEMP TABLE IF NOT EXISTS {invention.memory} ({declared})"),
        RunStatement(numbered_rows),
    ]
    return Invention(
        number=numbered.number,
        preparation=tuple(preparation),
        nulls=invention.nulls,
        context=context,
        numbered=numbered,
        bindings=bindings,
    )


def _deny_known_facts(
    numbered: NumberedRule, context: RuleContext, bindings: dict[str, Typed]
) -> list[str]:
    """That no fact has the same values where no null is wanted.

    Where a null is wanted inside of a set or tuple there is nothing to compare with; then only the
    memory of bindings keeps a second null away.
    """
    table = context.tables[numbered.rule.head.predicate]
    existentials = numbered.plan.existentials
    translator = Translator(bindings=bindings)
    same: list[str] = []
    first_place: dict[str, str] = {}
    for place, (argument, kind) in enumerate(
        zip(numbered.rule.head.arguments, table.kinds, strict=True)
    ):
        column = f"known.a{place}"
        if isinstance(argument, Variable) and argument.name in existentials:
            if argument.name in first_place:
                same.append(f"{column} = {first_place[argument.name]}")
            first_place.setdefault(argument.name, column)
        elif set(list_variables(argument)) & set(existentials):
            return []
        else:
            value = write_sql(translator.translate(argument, kind).sql)
            same.append(f"{column} = {value}")
    return [
        f"NOT EXISTS (SELECT 1 FROM {table.facts} AS known WHERE {' AND '.join(same) or 'TRUE'})"
    ]
