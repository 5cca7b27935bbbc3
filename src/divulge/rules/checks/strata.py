"""Stratification: predicates in the order in which they can be completed.

Predicates that depend on each other are one stratum (a strongly connected component of the graph of
dependencies, by Tarjan's algorithm). A negation or a stratum's own nulls may not run in a circle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from divulge.rules.checks.body_plan import place_of
from divulge.rules.language.syntax import (
    Atom,
    Comparison,
    EqualityRule,
    Literal,
    NullTest,
    Rule,
    walk_nodes,
)
from divulge.work import Problem

Node: TypeAlias = str | int
"""A predicate by its name, or an equality rule by its number."""


@dataclass(frozen=True)
class Stratum:
    """Predicates that are completed together, and the rules and equality rules that do it."""

    predicates: tuple[str, ...]
    rules: tuple[Rule, ...]
    equality_rules: tuple[EqualityRule, ...]

    def is_recursive(self, rule: Rule) -> bool:
        """Whether the body asks for a predicate of the stratum."""
        return any(atom.predicate in self.predicates for atom in list_atoms(rule.body))


def list_atoms(body: Iterable[Literal]) -> list[Atom]:
    """The atoms of facts in a body, negated ones too, plug-ins not."""
    return [literal for literal in body if isinstance(literal, Atom) and not literal.is_plugin]


def build_strata(
    rules: Sequence[Rule], equality_rules: Sequence[EqualityRule], with_nulls: Iterable[str]
) -> list[Stratum]:
    """The strata from the bottom up; `with_nulls` are predicates that may hold nulls.

    What an equality rule finds changes nulls wherever they are, so every predicate that may hold
    them is completed together with what the rule looks at.
    """
    edges = _collect_edges(rules, equality_rules, sorted(with_nulls))
    strata = []
    for component in find_components(edges):
        members = set(component)
        strata.append(
            Stratum(
                predicates=tuple(name for name in component if not isinstance(name, int)),
                rules=tuple(rule for rule in rules if rule.head.predicate in members),
                equality_rules=tuple(
                    rule for number, rule in enumerate(equality_rules) if number in members
                ),
            )
        )
    return [stratum for stratum in strata if stratum.rules or stratum.equality_rules]


def find_negation_problems(strata: Sequence[Stratum]) -> Iterator[Problem]:
    """Negations of what is not complete before."""
    for stratum in strata:
        rules: list[Rule | EqualityRule] = [*stratum.rules, *stratum.equality_rules]
        for rule in rules:
            for atom in list_atoms(rule.body):
                if atom.is_negated and atom.predicate in stratum.predicates:
                    circle = " and ".join(f'"{name}"' for name in stratum.predicates[:6])
                    problem = Problem(
                        str(atom.place),
                        f'"not {atom.predicate}" asks for what is not complete yet: it depends on '
                        f"{circle}, and this depends on it (the program is not stratified). Split "
                        "the predicate in two.",
                    )
                    yield place_of(problem, rule)


def find_early_null_problems(strata: Sequence[Stratum]) -> Iterator[Problem]:
    """Questions whether a value is a null before equality rules have found what it is."""
    for stratum in strata:
        rules: list[Rule | EqualityRule] = [*stratum.rules, *stratum.equality_rules]
        for rule in rules if stratum.equality_rules else []:
            if not any(atom.predicate in stratum.predicates for atom in list_atoms(rule.body)):
                continue
            for literal in rule.body:
                if any(_asks_for_null(part, literal) for part in walk_nodes(literal)):
                    problem = Problem(
                        str(literal.place),
                        "whether a value is a null is not known before the equality rules are "
                        "done, and they need what this rule gives. Ask in a rule that nothing of "
                        "theirs depends on.",
                    )
                    yield place_of(problem, rule)


def _asks_for_null(part: object, literal: Literal) -> bool:
    """A value that is known stays so, but a null may get a value: only one test is safe."""
    if isinstance(part, NullTest):
        return part is not literal or not part.is_negated
    return isinstance(part, Comparison) and part.operator == "=?"


def _collect_edges(
    rules: Sequence[Rule], equality_rules: Sequence[EqualityRule], with_nulls: Sequence[str]
) -> dict[Node, list[Node]]:
    """What each predicate, and each equality rule by its number, depends on."""
    edges: dict[Node, list[Node]] = {}
    for rule in rules:
        below = edges.setdefault(rule.head.predicate, [])
        below += [atom.predicate for atom in list_atoms(rule.body)]
    for number, equality in enumerate(equality_rules):
        edges[number] = [atom.predicate for atom in list_atoms(equality.body)]
        for name in with_nulls:
            edges.setdefault(name, []).append(number)
    return edges


def find_components(edges: Mapping[Node, Sequence[Node]]) -> list[list[Node]]:
    """Strongly connected components, those that others depend on first (Tarjan, without recursion).

    >>> find_components({"a": ["b"], "b": ["a", "c"]})
    [['c'], ['a', 'b']]
    """
    search = _StrataSearch(edges)
    for root in edges:
        if root not in search.order:
            search.explore(root)
    return search.components


class _StrataSearch:
    """Tarjan's search; the path to the node at hand is a list, so that its length has no limit."""

    def __init__(self, edges: Mapping[Node, Sequence[Node]]) -> None:
        self._edges = edges
        self.order: dict[Node, int] = {}
        self._lowest: dict[Node, int] = {}
        self._open: dict[Node, None] = {}
        self.components: list[list[Node]] = []

    def explore(self, root: Node) -> None:
        """Find the components that can be reached from a node."""
        path = [self._enter(root)]
        while path:
            node, children = path[-1]
            child = next((child for child in children if self._is_new(node, child)), None)
            if child is not None:
                path.append(self._enter(child))
                continue
            path.pop()
            if path:
                parent = path[-1][0]
                self._lowest[parent] = min(self._lowest[parent], self._lowest[node])
            if self._lowest[node] == self.order[node]:
                self._close_component(node)

    def _enter(self, node: Node) -> tuple[Node, Iterator[Node]]:
        self.order[node] = self._lowest[node] = len(self.order)
        self._open[node] = None
        return node, iter(self._edges.get(node, ()))

    def _is_new(self, node: Node, child: Node) -> bool:
        if child in self._open:
            self._lowest[node] = min(self._lowest[node], self.order[child])
        return child not in self.order

    def _close_component(self, root: Node) -> None:
        members: list[Node] = []
        while root not in members[-1:]:
            members.append(self._open.popitem()[0])
        self.components.append(sorted(members, key=lambda name: (str(type(name)), name)))
