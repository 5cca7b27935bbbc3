"""Safety: an order of a body's literals in which every variable is bound before it is used.

The literals of a rule may be written in any order. A plan puts them into one that can be carried
out, tells what binds a variable from what only tests it, and what comes after the aggregates. A
rule without such an order is unsafe.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from divulge.rules.language.formatter import format_statement
from divulge.rules.language.parser import label_text
from divulge.rules.language.syntax import (
    Aggregate,
    Atom,
    Call,
    Comparison,
    EqualityRule,
    Literal,
    Membership,
    Node,
    Rule,
    SetTerm,
    Term,
    TupleTerm,
    Unpack,
    Variable,
    Wildcard,
    list_aggregates,
    list_variables,
    walk_nodes,
)
from divulge.work import Problem, nearest


@dataclass(frozen=True)
class PlannedLiteral:
    """A literal in its turn: what it does, and the side of it that binds variables.

    `act` is "join" (an atom), "absent" (a negated one), "ask" (a plug-in), "bind" (`X = term`),
    "range" (`X in set`) or "test".
    """

    literal: Literal
    act: str
    pattern: Term | None = None
    source: Term | None = None


@dataclass(frozen=True, kw_only=True)
class BodyPlan:
    """A body in the order of work; without aggregates everything is in `steps`."""

    steps: tuple[PlannedLiteral, ...]
    aggregates: tuple[Aggregate, ...]
    group: tuple[Term, ...]
    """What the group of the aggregates is made by: arguments of the head, and variables."""
    conditions: tuple[PlannedLiteral, ...]
    existentials: tuple[str, ...]
    variables: tuple[str, ...]
    """Everything that the steps bind."""

    def select_atoms(self) -> list[Atom]:
        """The atoms that facts are joined from, without negated ones and plug-ins."""
        return [
            step.literal
            for step in self.steps
            if step.act == "join" and isinstance(step.literal, Atom)
        ]


def plan_body(
    body: Sequence[Literal],
    head: Sequence[Term],
    plugin_inputs: Mapping[str, int] | None = None,
    declared: Sequence[str] = (),
    *,
    is_equality: bool = False,
) -> tuple[BodyPlan | None, list[Problem]]:
    """An order of the body, or what is wrong with it.

    Args:
        body: the literals.
        head: the arguments of the head, or the two sides of an equality rule.
        plugin_inputs: how many arguments go into each plug-in; of others all but the last.
        declared: the variables that `exists` names.
        is_equality: whether there is no head for which nulls could be invented.
    """
    problems = list(_find_misplaced_aggregates(body, head))
    if problems:
        return None, problems
    aggregates = tuple(dict.fromkeys(list_aggregates(*body, *head)))
    if any(counts_bindings(aggregate) for aggregate in aggregates):
        body = _name_wildcards(body)
    derived = _find_derived_variables(body)
    late = [literal for literal in body if _needs_aggregates(literal, derived)]
    early = [literal for literal in body if not _needs_aggregates(literal, derived)]
    steps, bound, waiting = _order_literals(early, set(), plugin_inputs or {})
    problems += _explain_waiting(waiting, bound)
    problems += _find_unbound_in_aggregates([*body, *head], bound)
    conditions, all_bound, late_waiting = _order_literals(late, set(bound), plugin_inputs or {})
    if not waiting:
        problems += _explain_waiting(late_waiting, all_bound)
    existentials = [name for name in list_variables(*head) if name not in all_bound]
    problems += _find_existential_problems(
        existentials, declared, all_bound, is_refused=is_equality or bool(aggregates)
    )
    problems += _find_complex_existentials(head, existentials)
    if problems:
        return None, problems
    plan = BodyPlan(
        steps=tuple(steps),
        aggregates=aggregates,
        group=_list_group(head, late, bound) if aggregates else (),
        conditions=tuple(conditions),
        existentials=tuple(existentials),
        variables=tuple(bound),
    )
    return plan, []


def counts_bindings(aggregate: Aggregate) -> bool:
    """Whether every binding of the body is a contributor of its own."""
    is_plain = aggregate.function in ("msum", "mprod") or (
        aggregate.function == "mcount" and aggregate.argument is None
    )
    return is_plain and not aggregate.contributors


def _name_wildcards(body: Sequence[Literal]) -> list[Literal]:
    """The body with names for `_` in atoms, so that bindings which differ there are two."""
    named: list[Literal] = []
    for number, literal in enumerate(body):
        if isinstance(literal, Atom) and not literal.is_negated and not literal.is_plugin:
            arguments = tuple(
                Variable(f"_ {number} {place}", argument.place)
                if isinstance(argument, Wildcard)
                else argument
                for place, argument in enumerate(literal.arguments)
            )
            named.append(replace(literal, arguments=arguments))
        else:
            named.append(literal)
    return named


def _find_existential_problems(
    existentials: Sequence[str], declared: Sequence[str], bound: Iterable[str], *, is_refused: bool
) -> Iterator[Problem]:
    for name in declared:
        if name in set(bound):
            yield Problem("", f'"exists {name}" names a variable that the body binds.')
        elif name not in existentials:
            yield Problem("", f'"exists {name}" names a variable that the head does not have.')
    if existentials and is_refused:
        yield Problem(
            "",
            f'the variable "{existentials[0]}" is not in the body.',
            value=existentials[0],
            allowed=_like_variables(existentials[0], bound),
        )


def _list_group(
    head: Sequence[Term], late: Sequence[Literal], bound: Iterable[str]
) -> tuple[Term, ...]:
    """Arguments that the body decides, and variables that stand beside an aggregate."""
    known = set(bound)
    group: list[Term] = []
    for node in (*head, *late):
        is_decided = not list_aggregates(node) and set(list_variables(node)) <= known
        if is_decided and node in head:
            group.append(node)  # type: ignore[arg-type]
        else:
            group += [Variable(name) for name in list_outer_variables(node) if name in known]
    first: dict[str, Term] = {}
    for term in group:
        first.setdefault(
            f"variable {term.name}" if isinstance(term, Variable) else repr(term), term
        )
    return tuple(first.values())


def list_outer_variables(node: Node) -> list[str]:
    """Variables that do not stand inside an aggregate."""
    inside = {id(part) for found in list_aggregates(node) for part in walk_nodes(found)}
    return list(
        dict.fromkeys(
            part.name
            for part in walk_nodes(node)
            if isinstance(part, Variable) and id(part) not in inside
        )
    )


def list_pattern_variables(pattern: Term) -> Iterator[str] | None:
    """The variables that a term binds when it is laid on a value, or None if it is no pattern."""
    if isinstance(pattern, Variable):
        return iter([pattern.name])
    if isinstance(pattern, Wildcard):
        return iter([])
    if isinstance(pattern, Unpack):
        return list_pattern_variables(pattern.collection)
    if isinstance(pattern, TupleTerm):
        parts = [list_pattern_variables(item) for item in pattern.items]
        return (name for part in parts if part is not None for name in part)
    return None


def _find_misplaced_aggregates(body: Sequence[Literal], head: Sequence[Term]) -> Iterator[Problem]:
    for literal in body:
        if isinstance(literal, Atom) and list_aggregates(literal):
            yield Problem(
                str(literal.place),
                "an aggregate cannot stand inside an atom of the body. Compare it "
                "(msum(W, <Z>) > 0.5) or name it (N = mcount(<Z>)).",
            )
    for found in list_aggregates(*body, *head):
        inner = [part for part in walk_nodes(found) if isinstance(part, Aggregate)][1:]
        if inner:
            yield Problem(
                str(inner[0].place),
                "an aggregate cannot stand inside another. Hand the inner one to a head first.",
            )


def _find_derived_variables(body: Sequence[Literal]) -> set[str]:
    """Variables that get their value from an aggregate, at once or by way of others."""
    bound_by_atoms = {
        name
        for literal in body
        if isinstance(literal, Atom) and not literal.is_negated
        for name in list_variables(literal)
    }
    derived: set[str] = set()
    grew = True
    while grew:
        grew = False
        for literal in body:
            if not (isinstance(literal, Comparison) and literal.operator == "="):
                continue
            for side, other in ((literal.left, literal.right), (literal.right, literal.left)):
                if not isinstance(side, Variable) or side.name in bound_by_atoms | derived:
                    continue
                if list_aggregates(other) or set(list_outer_variables(other)) & derived:
                    derived.add(side.name)
                    grew = True
    return derived


def _needs_aggregates(literal: Literal, derived: set[str]) -> bool:
    return bool(list_aggregates(literal)) or bool(set(list_variables(literal)) & derived)


def _order_literals(
    literals: Sequence[Literal], bound_before: set[str], plugin_inputs: Mapping[str, int]
) -> tuple[list[PlannedLiteral], dict[str, None], list[Literal]]:
    """Take the first literal that can be carried out, until none is left or none can."""
    waiting = list(literals)
    steps: list[PlannedLiteral] = []
    bound = dict.fromkeys(sorted(bound_before))
    progress = True
    while waiting and progress:
        progress = False
        for literal in waiting:
            step = _plan_literal(literal, bound.keys(), plugin_inputs)
            if step is not None:
                steps.append(step)
                bound |= dict.fromkeys(_list_bound_by(step))
                waiting.remove(literal)
                progress = True
                break
    return steps, bound, waiting


def _plan_literal(
    literal: Literal, bound: Iterable[str], plugin_inputs: Mapping[str, int]
) -> PlannedLiteral | None:
    """What the literal does if its turn is now, or None if it must wait."""
    known = set(bound)
    if isinstance(literal, Atom):
        if literal.is_negated:
            ready = set(list_variables(literal)) <= known
            return PlannedLiteral(literal, "absent") if ready else None
        count = plugin_inputs.get(literal.predicate, len(literal.arguments) - 1)
        needed = set(
            _list_needed(literal.arguments[:count], is_input=True) if literal.is_plugin else ()
        ) | set(_list_needed(literal.arguments))
        act = "ask" if literal.is_plugin else "join"
        return PlannedLiteral(literal, act) if needed <= known else None
    if isinstance(literal, Comparison) and literal.operator == "=":
        for pattern, source in ((literal.left, literal.right), (literal.right, literal.left)):
            names = list_pattern_variables(pattern)
            is_source_ready = set(list_outer_variables(source)) <= known
            if names is not None and is_source_ready and not set(names) <= known:
                return PlannedLiteral(literal, "bind", pattern, source)
    if isinstance(literal, Membership) and not literal.is_negated:
        names = list_pattern_variables(literal.item)
        is_source_ready = set(list_outer_variables(literal.collection)) <= known
        if names is not None and is_source_ready and not set(names) <= known:
            return PlannedLiteral(literal, "range", literal.item, literal.collection)
    return PlannedLiteral(literal, "test") if set(list_outer_variables(literal)) <= known else None


def _list_needed(arguments: Sequence[Term], *, is_input: bool = False) -> Iterator[str]:
    """Variables that must be bound before an atom is laid on facts: those inside calculations."""
    for argument in arguments:
        if is_input or list_pattern_variables(argument) is None:
            yield from list_variables(argument)
        elif isinstance(argument, TupleTerm):
            yield from _list_needed(argument.items)


def _list_bound_by(step: PlannedLiteral) -> Iterator[str]:
    if step.pattern is not None:
        yield from list_pattern_variables(step.pattern) or ()
    elif step.act in ("join", "ask") and isinstance(step.literal, Atom):
        yield from list_variables(step.literal)


def _explain_waiting(waiting: Sequence[Literal], bound: Iterable[str]) -> Iterator[Problem]:
    """The variables of literals that can never have their turn, each told once."""
    told: set[str] = set()
    for literal in waiting:
        for name in list_variables(literal):
            if name in set(bound) | told:
                continue
            told.add(name)
            where = "under not" if isinstance(literal, Atom) and literal.is_negated else "here"
            yield Problem(
                str(literal.place),
                f'the variable "{name}" is used {where} and bound nowhere. Name it in an atom '
                "of the body, or write _ for any value.",
                value=name,
                allowed=_like_variables(name, bound),
            )


def _like_variables(name: str, bound: Iterable[str]) -> list[str]:
    match = nearest(name, bound)
    return [match] if match else []


def _find_unbound_in_aggregates(nodes: Sequence[Node], bound: Iterable[str]) -> Iterator[Problem]:
    for aggregate in list_aggregates(*nodes):
        for name in list_variables(aggregate):
            if name not in set(bound):
                yield Problem(
                    str(aggregate.place),
                    f'the variable "{name}" of {aggregate.function} is bound nowhere in the body.',
                    value=name,
                    allowed=_like_variables(name, bound),
                )


def _find_complex_existentials(head: Sequence[Term], existentials: list[str]) -> Iterator[Problem]:
    """A null can be an argument or an item of a tuple or set; nothing can be calculated with it."""
    allowed_inside = (Variable, TupleTerm, SetTerm, Call, Unpack, Wildcard)
    for argument in head:
        for part in walk_nodes(argument):
            if isinstance(part, Wildcard):
                yield Problem(str(part.place), "_ cannot stand in a head: it has no value.")
            elif not isinstance(part, allowed_inside) and set(list_variables(part)) & set(
                existentials
            ):
                yield Problem(
                    str(part.place),
                    f'the variable "{list_variables(part)[0]}" is not in the body, and nothing can '
                    "be calculated with a null.",
                )


def find_fact_problems(rule: Rule) -> Iterator[Problem]:
    """A fact has no variables."""
    for name in list_variables(rule.head):
        yield Problem(
            str(rule.place),
            f'the fact has a variable, "{name}". Put a text into quotation marks, or give the rule '
            "a body.",
        )


def place_of(problem: Problem, statement: Rule | EqualityRule) -> Problem:
    """The problem with its rule, and with the place of the rule where it has none."""
    label = label_text(statement.name or format_statement(statement)) if statement.body else ""
    place = problem.place or str(statement.place)
    place = f'{place}, rule "{label}"' if label else place
    return Problem(place, problem.message, problem.value, tuple(problem.allowed))
