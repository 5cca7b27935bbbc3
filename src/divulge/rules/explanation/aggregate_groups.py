"""The group of bindings that gave a fact by aggregates, and what each contributor brought to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from divulge.rules.checks.body_plan import BodyPlan, PlannedLiteral
from divulge.rules.checks.program_check import NumberedRule
from divulge.rules.engine.facts import Facts
from divulge.rules.explanation.term_values import (
    UnknownValue,
    evaluate_term,
    fold_values,
    holds,
)
from divulge.rules.language.syntax import (
    Aggregate,
    Atom,
    Term,
    TupleTerm,
    Variable,
    list_variables,
)


@dataclass(frozen=True)
class Contribution:
    """What a contributor brought, and under which binding."""

    key: tuple[Any, ...]
    value: Any
    binding: Mapping[str, Any]


@dataclass(frozen=True)
class AggregateGroup:
    """A group: the variables that its bindings share, and its aggregates."""

    shared: Mapping[str, Any]
    contributions: Mapping[Aggregate, Sequence[Contribution]]
    values: Mapping[Aggregate, Any]


def choose_group(
    facts: Facts,
    numbered: NumberedRule,
    bindings: Sequence[Mapping[str, Any]],
    values: Sequence[Any],
) -> AggregateGroup:
    """Of the groups of a rule that fit the head, the first whose aggregates give these values."""
    plan = numbered.plan
    parts: dict[tuple[Any, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for binding in bindings:
        parts[tuple(_evaluate_if_known(term, binding) for term in plan.group)].append(binding)
    groups = [_make_group(plan, part) for part in parts.values()]
    for group in groups:
        for extended in _apply_conditions(facts, plan.conditions, {**group.shared, **group.values}):
            head = [_evaluate_if_known(term, extended) for term in numbered.rule.head.arguments]
            if all(map(_is_same, head, values)):
                shared = {name: value for name, value in extended.items() if isinstance(name, str)}
                return AggregateGroup(shared, group.contributions, group.values)
    return groups[0]


def _make_group(plan: BodyPlan, bindings: Sequence[Mapping[str, Any]]) -> AggregateGroup:
    first = bindings[0]
    shared = {
        name: first[name]
        for name in list_variables(*plan.group)
        if all(binding[name] == first[name] for binding in bindings)
    }
    contributions = {
        aggregate: _list_contributions(aggregate, plan, bindings) for aggregate in plan.aggregates
    }
    values = {
        aggregate: fold_values(aggregate.function, [one.value for one in found])
        for aggregate, found in contributions.items()
    }
    return AggregateGroup(shared, contributions, values)


def _list_contributions(
    aggregate: Aggregate, plan: BodyPlan, bindings: Sequence[Mapping[str, Any]]
) -> list[Contribution]:
    """For each contributor its largest value (`mmin`: its smallest), with `munion` all of them."""
    best: dict[tuple[Any, ...], Contribution] = {}
    for binding in bindings:
        key = tuple(evaluate_term(term, binding) for term in _list_contributors(aggregate, plan))
        value = None
        if aggregate.argument is not None:
            value = evaluate_term(aggregate.argument, binding)
        place = (*key, value) if aggregate.function == "munion" else key
        known = best.get(place)
        if known is None or _is_better(aggregate, value, known.value):
            best[place] = Contribution(key, value, binding)
    return list(best.values())


def _list_contributors(aggregate: Aggregate, plan: BodyPlan) -> Sequence[Term]:
    if aggregate.contributors or aggregate.function in ("mmin", "mmax", "munion"):
        return aggregate.contributors
    if aggregate.function == "mcount" and aggregate.argument is not None:
        return (aggregate.argument,)
    return tuple(Variable(name) for name in plan.variables)


def _is_better(aggregate: Aggregate, value: Any, known: Any) -> bool:
    if aggregate.function in ("mcount", "munion"):
        return False
    return bool(value < known if aggregate.function == "mmin" else value > known)


def _apply_conditions(
    facts: Facts, conditions: Sequence[PlannedLiteral], binding: dict[Any, Any]
) -> Iterator[dict[Any, Any]]:
    """The bindings under which what comes after the aggregates holds."""
    if not conditions:
        yield binding
        return
    for extended in _apply_condition(facts, conditions[0], binding):
        yield from _apply_conditions(facts, conditions[1:], extended)


def _apply_condition(
    facts: Facts, step: PlannedLiteral, binding: dict[Any, Any]
) -> Iterator[dict[Any, Any]]:
    literal = step.literal
    if isinstance(literal, Atom):
        yield from _apply_atom(facts, step, literal, binding)
    elif step.act == "test":
        if holds(literal, binding):
            yield binding
    elif step.pattern is not None and step.source is not None:
        source = _evaluate_if_known(step.source, binding)
        for value in source if step.act == "range" else [source]:
            yield from _match(step.pattern, value, binding)


def _apply_atom(
    facts: Facts, step: PlannedLiteral, atom: Atom, binding: dict[Any, Any]
) -> Iterator[dict[Any, Any]]:
    pattern = tuple(_evaluate_if_known(term, binding) for term in atom.arguments)
    if step.act == "ask":
        yield binding  # what a plug-in answered was looked at when the fact was derived
        return
    found = facts.find_facts(atom.predicate, pattern)
    if step.act == "absent":
        yield from () if found else (binding,)
        return
    for values in found:
        yield from _match(TupleTerm(atom.arguments), values, binding)


def _match(pattern: Term, value: Any, binding: dict[Any, Any]) -> Iterator[dict[Any, Any]]:
    """A value laid on variables and tuples of them."""
    if isinstance(pattern, TupleTerm):
        extended = [binding]
        for item, part in zip(pattern.items, value, strict=True):
            extended = [new for old in extended for new in _match(item, part, old)]
        yield from extended
    elif isinstance(pattern, Variable) and pattern.name not in binding:
        yield {**binding, pattern.name: value}
    else:
        known = _evaluate_if_known(pattern, binding)
        if known is None or known == value:
            yield binding


def _evaluate_if_known(term: Term, binding: Mapping[Any, Any]) -> Any:
    try:
        return evaluate_term(term, binding)
    except UnknownValue:
        return None


def _is_same(one: Any, other: Any) -> bool:
    """Equal, up to the last digits of approximate numbers; what is not known fits everything."""
    if one is None or one == other:
        return True
    try:
        return abs(float(one) - float(other)) <= 1e-9 * max(1.0, abs(float(other)))
    except (TypeError, ValueError):
        return str(one) == str(other)
