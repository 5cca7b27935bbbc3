"""A plain evaluator of rules: everything again until nothing is new, in Python values.

It is what `divulge.rules.evaluate` is held to. It shares the parser and the strata with it, and nothing
else: bodies are matched literal by literal in their written order as soon as they can be, and
recursive aggregates are worked out from scratch in every round.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from divulge.rules import Program
from divulge.rules.checks.strata import build_strata
from divulge.rules.language.syntax import (
    Aggregate,
    Atom,
    Call,
    CaseTerm,
    Comparison,
    CompoundCondition,
    Constant,
    EqualityRule,
    Literal,
    Membership,
    NullTest,
    Operation,
    Rule,
    SetAccess,
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

Database = dict[str, set[tuple[Any, ...]]]
Binding = dict[str, Any]


class Unknown:
    """A null, by its number; equal to itself alone."""

    def __init__(self, number: int) -> None:
        self.number = number


class NotBound(Exception):
    """A term has a variable that nothing has bound yet."""


class NoValue(Exception):
    """A name that is not in a set, or a calculation with a null: the binding falls away."""


def normalise(value: Any) -> Any:
    """Numbers as fractions, so that equal numbers are equal values."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | Decimal):
        return Fraction(value)
    if isinstance(value, float):
        return Fraction(Decimal(repr(value)))
    if isinstance(value, frozenset):
        return frozenset(map(normalise, value))
    if isinstance(value, tuple):
        return tuple(map(normalise, value))
    return value


def holds_unknown(value: Any) -> bool:
    return isinstance(value, Unknown)


def calculate(term: Term, binding: Binding, known: Mapping[Term, Any] | None = None) -> Any:
    """The value of a term."""
    if known and term in known:
        return known[term]
    if isinstance(term, Variable):
        if term.name not in binding:
            raise NotBound
        return binding[term.name]
    if isinstance(term, Constant):
        return normalise(term.value)
    if isinstance(term, TupleTerm):
        return tuple(calculate(item, binding, known) for item in term.items)
    if isinstance(term, SetTerm):
        return frozenset(calculate(item, binding, known) for item in term.items)
    if isinstance(term, Unpack):
        return calculate(term.collection, binding, known)
    return work_out(term, binding, known)


def work_out(term: Term, binding: Binding, known: Mapping[Term, Any] | None) -> Any:
    if isinstance(term, Operation):
        return operate(term.operator, [number(one, binding, known) for one in term.operands])
    if isinstance(term, SetAccess):
        return look_up(
            calculate(term.collection, binding, known), calculate(term.key, binding, known)
        )
    if isinstance(term, CaseTerm):
        for condition, result in term.branches:
            if holds(condition, binding, known):
                return calculate(result, binding, known)
        return calculate(term.otherwise, binding, known)
    if isinstance(term, Call):
        return call(term.function, [calculate(one, binding, known) for one in term.arguments])
    raise NotBound


def number(term: Term, binding: Binding, known: Mapping[Term, Any] | None) -> Fraction:
    value = calculate(term, binding, known)
    if not isinstance(value, Fraction):
        raise NoValue
    return value


def operate(operator: str, values: list[Fraction]) -> Fraction:
    if len(values) == 1:
        return -values[0]
    one, other = values
    if operator == "/":
        return one / other
    return {"+": one + other, "-": one - other, "*": one * other}[operator]


def look_up(collection: Any, key: Any) -> Any:
    if isinstance(key, frozenset):
        return frozenset(pair for pair in collection if pair[0] in key)
    found = [value for name, value in collection if name == key]
    if not found:
        raise NoValue
    [value] = found
    return value


def call(function: str, values: list[Any]) -> Any:
    functions: dict[str, Any] = {
        "union": lambda: values[0] | values[1],
        "minus": lambda: values[0] - values[1],
        "size": lambda: Fraction(len(values[0])),
        "without": lambda: frozenset(pair for pair in values[0] if pair[0] != values[1]),
        "abs": lambda: abs(values[0]),
        "min": lambda: min(values),
        "max": lambda: max(values),
        "lower": lambda: values[0].lower(),
        "concat": lambda: values[0] + values[1],
    }
    return functions[function]()


def holds(condition: Any, binding: Binding, known: Mapping[Term, Any] | None = None) -> bool:
    """Whether a condition holds."""
    if isinstance(condition, CompoundCondition):
        results = [holds(part, binding, known) for part in condition.parts]
        return all(results) if condition.operator == "and" else any(results)
    if isinstance(condition, NullTest):
        return holds_unknown(calculate(condition.term, binding, known)) != condition.is_negated
    if isinstance(condition, Membership):
        item = calculate(condition.item, binding, known)
        found = item in calculate(condition.collection, binding, known)
        return not found and not holds_unknown(item) if condition.is_negated else found
    left = calculate(condition.left, binding, known)
    right = calculate(condition.right, binding, known)
    return compare(condition.operator, left, right)


def compare(operator: str, left: Any, right: Any) -> bool:
    if operator == "=":
        return bool(left == right)
    if operator == "subset":
        return bool(left <= right)
    if operator == "=?":
        return match_maybe(left, right)
    if holds_unknown(left) or holds_unknown(right):
        return False
    return bool(
        {
            "!=": lambda: left != right,
            "<": lambda: left < right,
            "<=": lambda: left <= right,
            ">": lambda: left > right,
            ">=": lambda: left >= right,
        }[operator]()
    )


def match_maybe(left: Any, right: Any) -> bool:
    if isinstance(left, frozenset) and isinstance(right, frozenset):
        if {name for name, _ in left} != {name for name, _ in right}:
            return False
        values = dict(right)
        return all(match_maybe(value, values[name]) for name, value in left)
    if isinstance(left, tuple):
        return all(map(match_maybe, left, right))
    return left == right or holds_unknown(left) or holds_unknown(right)


def match(pattern: Term, value: Any, binding: Binding) -> Binding | None:
    """The binding with what a pattern binds, or None if it does not fit."""
    if isinstance(pattern, Wildcard):
        return binding
    if isinstance(pattern, Unpack):
        return match(pattern.collection, value, binding)
    if isinstance(pattern, Variable) and pattern.name not in binding:
        return {**binding, pattern.name: value}
    if isinstance(pattern, TupleTerm):
        found: Binding | None = binding
        for item, part in zip(pattern.items, value, strict=True):
            found = None if found is None else match(item, part, found)
        return found
    return binding if calculate(pattern, binding) == value else None


def list_bindings(
    body: Iterable[Literal], database: Database, start: Binding
) -> list[tuple[Binding, tuple[Any, ...]]]:
    """All bindings of a body, each with the facts that it was matched with."""
    states: list[tuple[Binding, tuple[Any, ...]]] = [(start, ())]
    waiting = list(body)
    while waiting and states:
        for literal in waiting:
            following = []
            try:
                for binding, facts in states:
                    following += [
                        (found, (*facts, *fact))
                        for found, fact in extend(literal, database, binding)
                    ]
            except NotBound:
                continue
            states = following
            waiting.remove(literal)
            break
        else:
            raise AssertionError("an unsafe body")
    return states if states else []


def extend(
    literal: Literal, database: Database, binding: Binding
) -> Iterator[tuple[Binding, tuple[Any, ...]]]:
    """The bindings that a literal leaves of one."""
    try:
        if isinstance(literal, Atom) and not literal.is_negated:
            for fact in database.get(literal.predicate, set()):
                found: Binding | None = binding
                for pattern, value in zip(literal.arguments, fact, strict=True):
                    found = None if found is None else match(pattern, value, found)
                if found is not None:
                    yield found, (fact,)
        elif isinstance(literal, Atom):
            if not set(list_variables(literal)) <= set(binding):
                raise NotBound
            plain = Atom(literal.predicate, literal.arguments)
            if not any(True for _ in extend(plain, database, binding)):
                yield binding, ()
        else:
            yield from ((found, ()) for found in extend_by_condition(literal, binding))
    except NoValue:
        return


def extend_by_condition(literal: Literal, binding: Binding) -> Iterator[Binding]:
    if isinstance(literal, Comparison) and literal.operator == "=":
        for pattern, source in ((literal.left, literal.right), (literal.right, literal.left)):
            is_pattern = isinstance(pattern, Variable | TupleTerm)
            if is_pattern and not set(list_variables(pattern)) <= set(binding):
                try:
                    found = match(pattern, calculate(source, binding), binding)
                except NotBound:
                    continue
                if found is not None:
                    yield found
                return
    if (
        isinstance(literal, Membership)
        and not literal.is_negated
        and not set(list_variables(literal.item)) <= set(binding)
    ):
        elements = calculate(literal.collection, binding)
        matched = [match(literal.item, element, binding) for element in elements]
        yield from (found for found in matched if found is not None)
        return
    if holds(literal, binding):
        yield binding


def list_derived(body: Iterable[Literal]) -> set[str]:
    """Variables that an aggregate gives its value."""
    names: set[str] = set()
    for _ in list(body):
        for literal in body:
            if isinstance(literal, Comparison) and literal.operator == "=":
                for side, other in ((literal.left, literal.right), (literal.right, literal.left)):
                    if isinstance(side, Variable) and (
                        list_aggregates(other) or set(list_variables(other)) & names
                    ):
                        names.add(side.name)
    return names


def apply_rule(rule: Rule, database: Database) -> set[tuple[Any, ...]]:
    """The facts that a rule gives."""
    if not list_aggregates(rule.head, *rule.body):
        found = set()
        for binding, _ in list_bindings(rule.body, database, {}):
            try:
                found.add(tuple(calculate(term, binding) for term in rule.head.arguments))
            except NoValue:
                continue
        return found
    return apply_aggregates(rule, database)


def apply_aggregates(rule: Rule, database: Database) -> set[tuple[Any, ...]]:
    derived = list_derived(rule.body)
    late = [
        literal
        for literal in rule.body
        if list_aggregates(literal) or set(list_variables(literal)) & derived
    ]
    early = [literal for literal in rule.body if literal not in late]
    keys = [
        term
        for term in rule.head.arguments
        if not list_aggregates(term) and not set(list_variables(term)) & derived
    ]
    inside = {
        id(part)
        for node in (rule.head, *late)
        for aggregate in list_aggregates(node)
        for part in walk_nodes(aggregate)
    }
    beside = {
        part.name
        for node in (*(term for term in rule.head.arguments if term not in keys), *late)
        for part in walk_nodes(node)
        if isinstance(part, Variable) and id(part) not in inside and part.name not in derived
    }
    groups: dict[Any, list[tuple[Binding, Any]]] = defaultdict(list)
    for binding, facts in list_bindings(early, database, {}):
        try:
            key = tuple(calculate(term, binding) for term in keys)
        except NoValue:
            continue
        outer = tuple(sorted((name, id_of(binding[name])) for name in beside))
        groups[key, outer].append((binding, facts))
    found = set()
    aggregates = list(dict.fromkeys(list_aggregates(rule.head, *rule.body)))
    for members in groups.values():
        first = members[0][0]
        known: dict[Term, Any] = {
            aggregate: aggregate_values(aggregate, members) for aggregate in aggregates
        }
        if any(value is None for value in known.values()):
            continue
        binding = {name: first[name] for name in beside}
        for term in keys:
            known[term] = calculate(term, first)
        try:
            bindings = [binding]
            for literal in sort_late(late):
                bindings = [
                    extended for one in bindings for extended in extend_late(literal, one, known)
                ]
            for one in bindings:
                values = {**one, **{t.name: known[t] for t in keys if isinstance(t, Variable)}}
                found.add(tuple(calculate(term, values, known) for term in rule.head.arguments))
        except NoValue:
            continue
    return found


def sort_late(late: list[Literal]) -> list[Literal]:
    """Definitions of variables before what uses them."""
    return sorted(late, key=lambda one: not (isinstance(one, Comparison) and one.operator == "="))


def extend_late(literal: Any, binding: Binding, known: Mapping[Term, Any]) -> Iterator[Binding]:
    values = {**binding, **{t.name: v for t, v in known.items() if isinstance(t, Variable)}}
    if isinstance(literal, Comparison) and literal.operator == "=":
        for side, other in ((literal.left, literal.right), (literal.right, literal.left)):
            if isinstance(side, Variable) and side.name not in values:
                yield {**binding, side.name: calculate(other, values, known)}
                return
    if holds(literal, values, known):
        yield binding


def id_of(value: Any) -> Any:
    return repr(value) if not isinstance(value, Unknown) else f"unknown {value.number}"


def aggregate_values(aggregate: Aggregate, members: list[tuple[Binding, Any]]) -> Any:
    """The value of an aggregate over the bindings of a group; None if nothing contributes."""
    name = aggregate.function
    contributions = collect_contributions(aggregate, members)
    if name == "mcount":
        return Fraction(len(contributions)) if contributions else None
    if name == "munion":
        collected: set[Any] = set()
        for value in itertools.chain.from_iterable(contributions.values()):
            collected |= value if isinstance(value, frozenset) else {value}
        return frozenset(collected)
    best = [min(values) if name == "mmin" else max(values) for values in contributions.values()]
    if not best:
        return None
    if name == "msum":
        return sum(best, Fraction(0))
    if name == "mprod":
        product = Fraction(1)
        for value in best:
            product *= value
        return product
    return min(best) if name == "mmin" else max(best)


def collect_contributions(
    aggregate: Aggregate, members: list[tuple[Binding, Any]]
) -> dict[Any, set[Any]]:
    """The values of each contributor."""
    contributions: dict[Any, set[Any]] = defaultdict(set)
    name = aggregate.function
    for binding, facts in members:
        value = None
        if aggregate.argument is not None:
            value = calculate(aggregate.argument, binding)
            is_number = name in ("msum", "mprod") or (
                name in ("mmin", "mmax") and not isinstance(value, str)
            )
            if is_number and not isinstance(value, Fraction):
                continue
        if aggregate.contributors:
            contributor: Any = tuple(calculate(one, binding) for one in aggregate.contributors)
        elif name == "mcount" and aggregate.argument is not None:
            contributor = value
        elif name in ("msum", "mprod", "mcount"):
            contributor = (facts, tuple(sorted((k, id_of(v)) for k, v in binding.items())))
        else:
            contributor = ()
        contributions[contributor].add(value)
    return contributions


def derive_plainly(program: Program, data: Mapping[str, Iterable[Any]] | None = None) -> Database:
    """All facts of a program without existential variables and equality rules."""
    database: Database = defaultdict(set)
    counter = itertools.count()
    for name, rows in (data or {}).items():
        for row in rows:
            values = [Unknown(next(counter)) if one is None else normalise(one) for one in row]
            database[name].add(tuple(values))
    rules = [one for one in program.statements if isinstance(one, Rule)]
    assert not any(isinstance(one, EqualityRule) for one in program.statements)
    for stratum in build_strata(rules, [], []):
        while True:
            before = {name: set(database[name]) for name in stratum.predicates}
            for rule in stratum.rules:
                database[rule.head.predicate] |= apply_rule(rule, database)
                keep_latest(rule, stratum, database)
            if all(database[name] == before[name] for name in stratum.predicates):
                break
    return database


def keep_latest(rule: Rule, stratum: Any, database: Database) -> None:
    """In recursion an argument that an aggregate gives keeps only its latest value.

    Only programs are handed in here in which such an argument is an aggregate, or was bound to one.
    """
    if not stratum.is_recursive(rule):
        return
    derived = {
        literal.left.name: aggregate
        for literal in rule.body
        if isinstance(literal, Comparison) and isinstance(literal.left, Variable)
        for aggregate in list_aggregates(literal.right)
    }
    places: dict[int, Aggregate] = {}
    for place, term in enumerate(rule.head.arguments):
        if isinstance(term, Aggregate):
            places[place] = term
        elif isinstance(term, Variable) and term.name in derived:
            places[place] = derived[term.name]
    if not places:
        return
    groups: dict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    for fact in database[rule.head.predicate]:
        key = tuple(value for place, value in enumerate(fact) if place not in places)
        groups[key].append(fact)
    kept = set()
    for facts in groups.values():
        best = list(facts[0])
        for place, aggregate in places.items():
            values = [fact[place] for fact in facts]
            if aggregate.function == "munion":
                best[place] = frozenset().union(*values)
            else:
                best[place] = min(values) if aggregate.function == "mmin" else max(values)
        kept.add(tuple(best))
    database[rule.head.predicate] = kept
