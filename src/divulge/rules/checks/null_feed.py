"""Whether nulls can lead to the invention of further nulls (weak acyclicity of positions).

A null may travel from argument to argument. If no null can reach what a null is invented for, only
so many can be invented as there are values, and the program ends by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from divulge.rules.checks.strata import Node, find_components
from divulge.rules.language.syntax import (
    Atom,
    Comparison,
    Membership,
    Operation,
    list_variables,
    walk_nodes,
)
from divulge.work import Problem

if TYPE_CHECKING:
    from divulge.rules.checks.program_check import NumberedRule

Edge: TypeAlias = tuple[str, str, bool]


def find_null_remark(rules: Sequence[NumberedRule]) -> Problem | None:
    """A remark on the first rule whose values may be new without end, or None."""
    edges = [(numbered, edge) for numbered in rules for edge in _list_edges(numbered)]
    graph: dict[Node, list[Node]] = {}
    for _, (source, target, _) in edges:
        graph.setdefault(source, []).append(target)
        graph.setdefault(target, [])
    component = {
        name: number for number, found in enumerate(find_components(graph)) for name in found
    }
    for numbered, (source, target, is_new) in edges:
        if is_new and component[source] == component[target]:
            what = "nulls" if numbered.plan.existentials else "values"
            return Problem(
                str(numbered.rule.place),
                f'the {what} that "{numbered.rule.head.predicate}" gets here can lead to further '
                "ones: the program may end only at its bound.",
            )
    return None


def _list_edges(numbered: NumberedRule) -> Iterator[Edge]:
    """From arguments of the body to arguments of the head; whether a new value arises there."""
    origins = _find_origins(numbered)
    head = numbered.rule.head
    frontier = {origin for name in list_variables(head) for origin in origins.get(name, ())}
    for index, argument in enumerate(head.arguments):
        target = f"{head.predicate}/{index}"
        names = list_variables(argument)
        if set(names) & set(numbered.plan.existentials):
            for source in sorted(frontier):
                yield source, target, True
        # What is calculated may be new each time: counting up never ends.
        is_calculated = any(isinstance(part, Operation) for part in walk_nodes(argument))
        for name in names:
            for source in sorted(origins.get(name, ())):
                yield source, target, is_calculated or name in _list_calculated(numbered)


def _find_origins(numbered: NumberedRule) -> dict[str, set[str]]:
    """The arguments of facts from which the value of each variable may come."""
    origins: dict[str, set[str]] = {}
    for step in (*numbered.plan.steps, *numbered.plan.conditions):
        literal = step.literal
        if isinstance(literal, Atom):
            if step.act == "absent":
                continue
            for index, argument in enumerate(literal.arguments):
                for name in list_variables(argument):
                    mark = "#" if literal.is_plugin else ""
                    origins.setdefault(name, set()).add(f"{mark}{literal.predicate}/{index}")
        elif isinstance(literal, Comparison | Membership) and step.pattern is not None:
            assert step.source is not None  # noqa: S101  # a pattern has one
            sources = {
                origin for name in list_variables(step.source) for origin in origins.get(name, ())
            }
            for name in list_variables(step.pattern):
                origins.setdefault(name, set()).update(sources)
    return origins


def _list_calculated(numbered: NumberedRule) -> set[str]:
    """Variables that were bound to the result of arithmetic."""
    return {
        name
        for step in (*numbered.plan.steps, *numbered.plan.conditions)
        if step.act == "bind" and step.pattern is not None and step.source is not None
        if any(isinstance(part, Operation) for part in walk_nodes(step.source))
        for name in list_variables(step.pattern)
    }
