"""Aggregates inside recursion: values that move one way, and how they may be used.

While a stratum is worked out, the sum of a group can still grow. What is concluded from it must
stay true when it does, or the answer would depend on the order of work. So a moving value may be
compared in its own direction, contribute to an aggregate that goes the same way, and be handed to a
head, where the latest value replaces the one before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias

from divulge.rules.checks.body_plan import BodyPlan, PlannedLiteral, counts_bindings, place_of
from divulge.rules.checks.strata import Stratum
from divulge.rules.language.syntax import (
    Aggregate,
    Atom,
    Call,
    Comparison,
    Constant,
    Literal,
    Membership,
    Node,
    Operation,
    Place,
    Rule,
    Term,
    Unpack,
    Variable,
    list_aggregates,
    list_variables,
    walk_nodes,
)
from divulge.work import Problem

Position: TypeAlias = tuple[str, int]
Directions: TypeAlias = dict[Position, str]

UP, DOWN = "up", "down"
OPPOSITE = {UP: DOWN, DOWN: UP}
AGGREGATE_DIRECTION = {
    "msum": UP,
    "mcount": UP,
    "mprod": UP,
    "mmax": UP,
    "munion": UP,
    "mmin": DOWN,
}
_ORDER = "the answer would depend on the order of work"


class NotMonotone(Exception):
    """A moving value is used in a way that may become false."""

    def __init__(self, message: str, place: Place) -> None:
        super().__init__(message)
        self.place = place


def find_moving_positions(
    stratum: Stratum, plans: Mapping[int, BodyPlan]
) -> tuple[Directions, list[Problem]]:
    """Arguments of the stratum's predicates that keep only their latest value, by direction.

    `plans` are by the identity of the rule.
    """
    recursive = [rule for rule in stratum.rules if stratum.is_recursive(rule)]
    moving: Directions = {}
    rule: Rule | None = None
    if not any(plans[id(rule)].aggregates for rule in recursive):
        return moving, []
    try:
        grew = True
        while grew:
            before = len(moving)
            for rule in recursive:
                for index, direction in _follow_rule(rule, plans[id(rule)], moving):
                    if moving.setdefault((rule.head.predicate, index), direction) != direction:
                        raise _refuse_both_ways(rule, index)
            grew = len(moving) > before
    except NotMonotone as problem:
        found = Problem(str(problem.place), f"{problem}.")
        return moving, [place_of(found, rule) if rule is not None else found]
    return moving, []


def _refuse_both_ways(rule: Rule, index: int) -> NotMonotone:
    return NotMonotone(
        f'argument {index + 1} of "{rule.head.predicate}" both grows and falls inside its '
        f"recursion: {_ORDER}",
        rule.head.place,
    )


def _follow_rule(rule: Rule, plan: BodyPlan, moving: Directions) -> Iterator[tuple[int, str]]:
    """The head's arguments that move, with their direction."""
    directions: dict[str, str] = {}
    for step in (*plan.steps, *plan.conditions):
        _follow_literal(step, directions, moving)
    for aggregate in plan.aggregates:
        _check_aggregate(aggregate, directions)
    for term in plan.group:
        for name in (name for name in list_variables(term) if name in directions):
            raise NotMonotone(
                f'"{name}" can still change while its recursion is worked out, so nothing can be '
                "grouped by it",
                rule.place,
            )
    for index, argument in enumerate(rule.head.arguments):
        direction = _find_direction(argument, directions)
        if direction is not None:
            yield index, direction


def _follow_literal(step: PlannedLiteral, directions: dict[str, str], moving: Directions) -> None:
    literal = step.literal
    if isinstance(literal, Atom) and step.act == "join":
        _follow_join(literal, directions, moving)
    elif isinstance(literal, Atom):
        _check_question(literal, directions)
    elif step.act == "bind" and step.pattern is not None and step.source is not None:
        direction = _find_direction(step.source, directions)
        if direction is not None:
            _bind_moving(step.pattern, direction, directions)
    elif isinstance(literal, Membership):
        _check_membership(literal, directions)
    elif isinstance(literal, Comparison):
        _check_comparison(literal, directions)
    elif _find_moving_part(literal, directions):
        raise _refuse_use(literal, "tested", literal, directions)


def _follow_join(atom: Atom, directions: dict[str, str], moving: Directions) -> None:
    for index, argument in enumerate(atom.arguments):
        direction = moving.get((atom.predicate, index))
        if direction is not None:
            _bind_moving(argument, direction, directions)
        elif set(list_variables(argument)) & set(directions):
            raise _refuse_use(atom, "joined with other facts", argument, directions)


def _check_question(atom: Atom, directions: Mapping[str, str]) -> None:
    if set(list_variables(atom)) & set(directions):
        act = "denied" if atom.is_negated else "handed to a plug-in"
        raise _refuse_use(atom, act, atom, directions)


def _bind_moving(pattern: Term, direction: str, directions: dict[str, str]) -> None:
    if isinstance(pattern, Unpack):
        pattern = pattern.collection
    if isinstance(pattern, Variable) and pattern.name not in directions:
        directions[pattern.name] = direction
    elif isinstance(pattern, Variable | Constant):
        raise NotMonotone(
            "a value that can still change while its recursion is worked out is asked to be equal "
            f"to another: {_ORDER}",
            pattern.place,
        )


def _check_membership(literal: Membership, directions: Mapping[str, str]) -> None:
    collection = _find_direction(literal.collection, directions)
    item = _find_moving_part(literal.item, directions)
    if item or collection == DOWN or (collection and literal.is_negated):
        raise _refuse_use(literal, "tested", literal, directions)


def _check_comparison(literal: Comparison, directions: Mapping[str, str]) -> None:
    left = _find_direction(literal.left, directions)
    right = _find_direction(literal.right, directions)
    wanted = {">": (UP, DOWN), ">=": (UP, DOWN), "<": (DOWN, UP), "<=": (DOWN, UP)}
    wanted["subset"] = (DOWN, UP)
    allowed = wanted.get(literal.operator, (None, None))
    for direction, right_way in ((left, allowed[0]), (right, allowed[1])):
        if direction is not None and direction != right_way:
            verb = "grow" if direction == UP else "fall"
            way = "> or >=" if direction == UP else "< or <="
            raise NotMonotone(
                f"a value that can still {verb} while its recursion is worked out may be compared "
                f"with {way} only: {_ORDER}",
                literal.place,
            )


def _check_aggregate(aggregate: Aggregate, directions: Mapping[str, str]) -> None:
    for contributor in aggregate.contributors:
        if _find_moving_part(contributor, directions):
            raise _refuse_use(aggregate, "taken for a contributor", contributor, directions)
    if counts_bindings(aggregate) and directions:
        raise NotMonotone(
            f"{aggregate.function} without contributors counts a binding anew whenever a value in "
            f"it has changed: {_ORDER}. Name the contributors: <Z>",
            aggregate.place,
        )
    if aggregate.argument is None:
        return
    direction = _find_direction(aggregate.argument, directions)
    if direction not in (None, AGGREGATE_DIRECTION[aggregate.function]):
        raise NotMonotone(
            f"{aggregate.function} goes the other way than what contributes to it: {_ORDER}",
            aggregate.place,
        )


def _find_direction(term: Term, directions: Mapping[str, str]) -> str | None:
    """Which way a term moves, None if it stays; raises NotMonotone if nobody can tell."""
    if isinstance(term, Variable):
        return directions.get(term.name)
    if isinstance(term, Aggregate):
        return AGGREGATE_DIRECTION[term.function]
    if not _find_moving_part(term, directions):
        return None
    if isinstance(term, Unpack):
        return _find_direction(term.collection, directions)
    if isinstance(term, Operation):
        return _find_direction_of_operation(term, directions)
    if isinstance(term, Call) and term.function in ("min", "max", "union", "size", "round"):
        return _agree(term, [_find_direction(part, directions) for part in term.arguments])
    if isinstance(term, Call) and term.function == "minus":
        first, second = (_find_direction(part, directions) for part in term.arguments)
        return _agree(term, [first, OPPOSITE[second] if second else None])
    raise NotMonotone(
        "a value that can still change while its recursion is worked out is calculated with in a "
        f"way that may turn it round: {_ORDER}",
        term.place,
    )


def _find_direction_of_operation(term: Operation, directions: Mapping[str, str]) -> str | None:
    found = [_find_direction(operand, directions) for operand in term.operands]
    if term.operator == "+":
        return _agree(term, found)
    if term.operator == "-":
        last = found[-1]
        return _agree(term, [*found[:-1], OPPOSITE[last] if last else None])
    constants = [
        operand.value
        for operand in term.operands
        if isinstance(operand, Constant) and isinstance(operand.value, int | Decimal)
    ]
    is_scaled = len(constants) == 1 and constants[0] > 0
    if is_scaled and (term.operator == "*" or found[0] is not None):
        return found[0] or found[1]
    raise NotMonotone(
        "a value that can still change while its recursion is worked out may be multiplied or "
        f"divided by a positive number only: {_ORDER}",
        term.place,
    )


def _agree(term: Term, directions: Sequence[str | None]) -> str | None:
    found = {direction for direction in directions if direction}
    if len(found) > 1:
        raise NotMonotone(f"one part can still grow and another fall: {_ORDER}", term.place)
    return found.pop() if found else None


def _find_moving_part(node: Node, directions: Mapping[str, str]) -> bool:
    return bool(list_aggregates(node)) or any(
        isinstance(part, Variable) and part.name in directions for part in walk_nodes(node)
    )


def _refuse_use(
    literal: Literal | Aggregate, act: str, node: Node, directions: Mapping[str, str]
) -> NotMonotone:
    names = [name for name in list_variables(node) if name in directions]
    what = f'"{names[0]}"' if names else "an aggregate"
    return NotMonotone(
        f"{what} can still change while its recursion is worked out, and is {act}: {_ORDER}",
        literal.place,
    )
