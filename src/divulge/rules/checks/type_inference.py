"""Types of predicates' arguments, inferred from facts and rules to a fixpoint.

What is given has its types from the data; a rule hands on what its body binds. Types only grow
(whole number, decimal, approximate number), so this ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TypeAlias

from divulge.rules import tuning
from divulge.rules.checks.body_plan import BodyPlan, PlannedLiteral, place_of
from divulge.rules.checks.strata import list_atoms
from divulge.rules.checks.value_bounds import find_misfit
from divulge.rules.checks.value_types import (
    DOUBLE,
    INTEGER,
    NULL,
    NUMBERS,
    TEXT,
    UNKNOWN,
    TypeClash,
    ValueType,
    decimal_type,
    join_types,
    measure_depth,
    set_type,
    tuple_type,
)
from divulge.rules.language.syntax import (
    Aggregate,
    Atom,
    Call,
    CaseTerm,
    Comparison,
    CompoundCondition,
    Condition,
    Constant,
    EqualityRule,
    Membership,
    NullTest,
    Operation,
    Place,
    Rule,
    SetAccess,
    SetTerm,
    Term,
    TupleTerm,
    Unpack,
    Variable,
    Wildcard,
)
from divulge.work import Problem

Types: TypeAlias = dict[str, tuple[ValueType, ...]]
Environment: TypeAlias = dict[str, ValueType]
PlannedRule: TypeAlias = tuple[Rule | EqualityRule, BodyPlan]


class TypeProblem(TypeClash):
    """A clash of types, with its place."""

    def __init__(self, message: str, place: Place) -> None:
        super().__init__(message)
        self.place = place


def infer_types(
    rules: Sequence[PlannedRule],
    given: Mapping[str, Sequence[ValueType]],
    plugins: Mapping[str, Sequence[ValueType]],
) -> tuple[Types, list[Problem]]:
    """The types of every predicate, and what does not fit together.

    `given` are the types of facts from outside, `plugins` those of all arguments of plug-ins.
    """
    types = {name: tuple(columns) for name, columns in given.items()}
    for rule, _ in rules:
        for atom in [*list_atoms(rule.body), *([rule.head] if isinstance(rule, Rule) else [])]:
            types.setdefault(atom.predicate, (UNKNOWN,) * len(atom.arguments))
    grew = True
    while grew:
        grew = False
        for rule, plan in rules:
            try:
                columns = _infer_rule(rule, plan, types, plugins)
                if isinstance(rule, Rule) and columns is not None:
                    name = rule.head.predicate
                    wider = _join_columns(types[name], columns, rule.head)
                    grew = grew or wider != types[name]
                    types[name] = wider
            except TypeClash as clash:
                place = getattr(clash, "place", rule.place)
                problem = Problem(str(place), f"the types do not fit: {clash}.")
                return types, [place_of(problem, rule)]
    return types, []


def _join_columns(
    known: Sequence[ValueType], further: Sequence[ValueType], head: Atom
) -> tuple[ValueType, ...]:
    joined = []
    for number, (one, other) in enumerate(zip(known, further, strict=True), start=1):
        try:
            joined.append(join_types(one, other))
        except TypeClash as clash:
            message = f'argument {number} of "{head.predicate}" is {clash}'
            raise TypeProblem(message, head.place) from None
        if measure_depth(joined[-1]) > tuning.DEEPEST_TYPE:
            message = f'argument {number} of "{head.predicate}" is put into itself without end'
            raise TypeProblem(message, head.place)
    return tuple(joined)


def _infer_rule(
    rule: Rule | EqualityRule,
    plan: BodyPlan,
    types: Types,
    plugins: Mapping[str, Sequence[ValueType]],
) -> list[ValueType] | None:
    environment = infer_environment(plan, types, plugins)
    if isinstance(rule, EqualityRule):
        join_types(infer_term(rule.left, environment), infer_term(rule.right, environment))
        return None
    environment |= dict.fromkeys(plan.existentials, NULL)
    return [infer_term(argument, environment) for argument in rule.head.arguments]


def infer_environment(
    plan: BodyPlan, types: Types, plugins: Mapping[str, Sequence[ValueType]]
) -> Environment:
    """The type of each variable that a body binds; a variable has the type of its first place."""
    environment: Environment = {}
    for step in (*plan.steps, *plan.conditions):
        _follow_step(step, environment, types, plugins)
    return environment


def _follow_step(
    step: PlannedLiteral,
    environment: Environment,
    types: Types,
    plugins: Mapping[str, Sequence[ValueType]],
) -> None:
    literal = step.literal
    if isinstance(literal, Atom):
        columns = plugins if literal.is_plugin else types
        unknown = (UNKNOWN,) * len(literal.arguments)
        pairs = zip(literal.arguments, columns.get(literal.predicate, unknown), strict=True)
        for argument, kind in pairs:
            _bind_pattern(argument, kind, environment, literal.place)
    elif step.pattern is not None and step.source is not None:
        source = infer_term(step.source, environment)
        if step.act == "range":
            source = _element_type(source, literal.place)
        _bind_pattern(step.pattern, source, environment, literal.place)
    else:
        check_condition(literal, environment)


def _bind_pattern(pattern: Term, kind: ValueType, environment: Environment, place: Place) -> None:
    if isinstance(pattern, Wildcard):
        return
    if isinstance(pattern, Unpack):
        _bind_pattern(pattern.collection, kind, environment, place)
    elif isinstance(pattern, Variable) and environment.get(pattern.name, UNKNOWN) == UNKNOWN:
        environment[pattern.name] = kind
    elif isinstance(pattern, TupleTerm):
        if kind.kind == "unknown":
            kind = tuple_type((UNKNOWN,) * len(pattern.items))
        if kind.kind != "tuple" or len(kind.parts) != len(pattern.items):
            raise TypeProblem(f"a tuple of {len(pattern.items)} is laid on a {kind}", place)
        for item, part in zip(pattern.items, kind.parts, strict=True):
            _bind_pattern(item, part, environment, place)
    else:
        _join_at(place, infer_term(pattern, environment), kind)


def _join_at(place: Place, *types: ValueType) -> ValueType:
    try:
        return join_types(*types)
    except TypeClash as clash:
        raise TypeProblem(f"{clash} are compared", place) from None


def _element_type(collection: ValueType, place: Place) -> ValueType:
    if collection.kind == "unknown":
        return UNKNOWN
    if collection.kind != "set":
        raise TypeProblem(f"in needs a set, and this is a {collection}", place)
    return collection.parts[0]


def check_condition(condition: Condition | Atom, environment: Environment) -> None:
    """Raise a TypeProblem if the sides of a condition cannot be compared."""
    if isinstance(condition, CompoundCondition):
        for part in condition.parts:
            check_condition(part, environment)
    elif isinstance(condition, Comparison):
        comparison_type(
            condition.operator,
            infer_term(condition.left, environment),
            infer_term(condition.right, environment),
            condition.place,
        )
    elif isinstance(condition, Membership):
        element = _element_type(infer_term(condition.collection, environment), condition.place)
        _join_at(condition.place, infer_term(condition.item, environment), element)
    elif isinstance(condition, NullTest):
        infer_term(condition.term, environment)


def comparison_type(operator: str, left: ValueType, right: ValueType, place: Place) -> ValueType:
    """The type in which two sides are compared: numbers by size, texts by their letters."""
    if operator == "subset":
        for side in (left, right):
            _element_type(side, place)
    if operator not in ("<", "<=", ">", ">="):
        return _join_at(place, left, right)
    kinds = {left.kind, right.kind}
    if kinds <= {"text", "any", "unknown"} and "text" in kinds:
        return TEXT
    return _join_at(place, number_type(left, place), number_type(right, place))


def number_type(kind: ValueType, place: Place) -> ValueType:
    """The type in which a value is calculated with."""
    if kind.kind == "any":
        return decimal_type(tuning.DIGITS_OF_ANY_VALUE)
    if kind.kind == "unknown":
        return decimal_type(tuning.DIGITS_OF_ANY_VALUE) if kind.nullable else INTEGER
    if kind.kind not in NUMBERS:
        raise TypeProblem(f"a {kind} is used as a number", place)
    return replace(kind, nullable=False)


def infer_term(term: Term, environment: Environment) -> ValueType:
    """The type of a term whose variables are bound."""
    if isinstance(term, Variable):
        return environment.get(term.name, UNKNOWN)
    if isinstance(term, Constant):
        misfit = find_misfit(term.value)
        if misfit is not None:
            raise TypeProblem(misfit, term.place)
        return constant_type(term.value)
    if isinstance(term, TupleTerm):
        return tuple_type(tuple(infer_term(item, environment) for item in term.items))
    if isinstance(term, SetTerm):
        items = [infer_term(item, environment) for item in term.items]
        return set_type(_join_at(term.place, *items))
    return _infer_calculation(term, environment)


def _infer_calculation(term: Term, environment: Environment) -> ValueType:
    if isinstance(term, Operation):
        return _infer_operation(term, environment)
    if isinstance(term, Call):
        return _infer_call(term, environment)
    if isinstance(term, SetAccess):
        return _infer_lookup(term, environment)
    if isinstance(term, Unpack):
        return infer_term(term.collection, environment)
    if isinstance(term, CaseTerm):
        return _infer_case(term, environment)
    if isinstance(term, Aggregate):
        return infer_aggregate(term, environment)
    raise TypeProblem("_ has no value that could be used", term.place)


def _infer_case(term: CaseTerm, environment: Environment) -> ValueType:
    for condition, _ in term.branches:
        check_condition(condition, environment)
    results = [*(result for _, result in term.branches), term.otherwise]
    return _join_at(term.place, *(infer_term(result, environment) for result in results))


def constant_type(value: str | int | Decimal) -> ValueType:
    """The type of a value that was written down.

    >>> print(constant_type("Roma"), "|", constant_type(Decimal("0.5")))
    text | number
    """
    if isinstance(value, str):
        return TEXT
    if isinstance(value, int):
        return INTEGER
    exponent = value.normalize().as_tuple().exponent
    return decimal_type(max(0, -exponent)) if isinstance(exponent, int) else DOUBLE


def _infer_operation(term: Operation, environment: Environment) -> ValueType:
    operands = [
        number_type(infer_term(operand, environment), term.place) for operand in term.operands
    ]
    if term.operator == "/":
        return DOUBLE
    joined = join_types(*operands)
    if term.operator == "*" and joined.kind != "double":
        return decimal_type(sum(operand.scale for operand in operands))
    return joined


def _infer_call(term: Call, environment: Environment) -> ValueType:
    arguments = [infer_term(argument, environment) for argument in term.arguments]
    if term.function == "size":
        _element_type(arguments[0], term.place)
        return INTEGER
    if term.function in ("union", "minus"):
        for argument in arguments:
            _element_type(argument, term.place)
        return _join_at(term.place, *arguments)
    if term.function == "without":
        _pair_type(arguments[0], term.place)
        return arguments[0]
    if term.function in ("abs", "min", "max"):
        return join_types(*(number_type(argument, term.place) for argument in arguments))
    if term.function == "round":
        number_type(arguments[0], term.place)
        return _infer_rounding(term)
    for argument in arguments:
        if argument.kind not in ("text", "any", "unknown"):
            raise TypeProblem(f"{term.function} needs a text, and this is a {argument}", term.place)
    return TEXT


def _infer_rounding(term: Call) -> ValueType:
    digits = term.arguments[1]
    if not isinstance(digits, Constant) or not isinstance(digits.value, int):
        raise TypeProblem("round needs a whole number of digits, such as round(X, 2)", term.place)
    return decimal_type(digits.value)


def _pair_type(collection: ValueType, place: Place) -> ValueType:
    element = _element_type(collection, place)
    if element.kind == "unknown":
        return tuple_type((UNKNOWN, UNKNOWN))
    if element.kind != "tuple" or len(element.parts) != 2:
        raise TypeProblem("names are looked up in sets of pairs (name, value) only", place)
    return element


def _infer_lookup(term: SetAccess, environment: Environment) -> ValueType:
    collection = infer_term(term.collection, environment)
    name, value = _pair_type(collection, term.place).parts
    key = infer_term(term.key, environment)
    if key.kind == "set":
        _join_at(term.place, name, key.parts[0])
        return collection
    _join_at(term.place, name, key)
    return value


def infer_aggregate(term: Aggregate, environment: Environment) -> ValueType:
    """The type of what an aggregate gives."""
    for contributor in term.contributors:
        infer_term(contributor, environment)
    if term.argument is None:
        return INTEGER
    argument = infer_term(term.argument, environment)
    if term.function == "mcount":
        return INTEGER
    if term.function == "munion":
        return argument if argument.kind == "set" else set_type(argument)
    if term.function in ("mmin", "mmax") and argument.kind == "text":
        return TEXT
    number = number_type(argument, term.place)
    return DOUBLE if term.function == "mprod" else number


def list_nullable_predicates(types: Mapping[str, Iterable[ValueType]]) -> list[str]:
    """Predicates in which nulls may stand, also inside sets and tuples."""
    return sorted(name for name, columns in types.items() if any(map(may_hold_nulls, columns)))


def may_hold_nulls(kind: ValueType) -> bool:
    """Whether a null may stand there or inside it."""
    return kind.nullable or any(map(may_hold_nulls, kind.parts))
