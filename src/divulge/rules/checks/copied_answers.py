"""Whether rules do nothing with the answers of a plug-in but hand them on.

Then what follows for other answers need not be derived anew: an answer stands wherever it stood
before. Nothing may compare it, calculate with it, count it, or join by it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from divulge.rules.language.syntax import (
    Atom,
    EqualityRule,
    FactSource,
    Rule,
    Statement,
    Term,
    Variable,
    Wildcard,
    list_aggregates,
    walk_nodes,
)

Place = tuple[str, int]
"""A predicate and the number of one of its arguments."""


def is_copied(
    statements: Sequence[Statement],
    plugin: str,
    *,
    inputs: int,
    target: Place,
    given: Collection[str] = (),
) -> bool:
    """Whether an argument holds nothing but answers of a plug-in, which are used for nothing else.

    Args:
        statements: the program.
        plugin: the plug-in, which is asked for `inputs` values.
        inputs: how many of its arguments are questions.
        target: the argument.
        given: predicates that have facts from outside of the program.

    >>> from divulge.rules import Program
    >>> handed_on = Program.parse("risk(I, R) :- rich(I), #risk(I, R).").statements
    >>> is_copied(handed_on, "risk", inputs=1, target=("risk", 1), given=["rich"])
    True
    >>> compared = Program.parse("risk(I, R) :- rich(I), #risk(I, R), R > 0.1.").statements
    >>> is_copied(compared, "risk", inputs=1, target=("risk", 1), given=["rich"])
    False
    """
    rules = [each for each in statements if isinstance(each, Rule)]
    if any(isinstance(each, EqualityRule) for each in statements):
        return False
    if any(rule.existentials for rule in rules):
        return False
    holding: set[Place] = set()
    while True:
        found: set[Place] = set()
        for rule in rules:
            places = _follow_answers(rule, plugin, inputs, holding)
            if places is None:
                return False
            found |= places
        if found <= holding:
            break
        holding |= found
    outside = {*given, *(each.predicate for each in statements if isinstance(each, FactSource))}
    return target in holding and not any(
        name in outside
        or any(
            rule.head.predicate == name and not _holds_answer(rule, place, plugin, inputs, holding)
            for rule in rules
        )
        for name, place in holding
    )


def _follow_answers(
    rule: Rule, plugin: str, inputs: int, holding: Collection[Place]
) -> set[Place] | None:
    """Arguments of the head into which answers are copied; None if they are used otherwise."""
    terms: list[Term] = []
    for atom in _list_atoms(rule):
        found = _list_answers(atom, plugin, inputs, holding)
        if atom.is_negated and any(not isinstance(term, Wildcard) for term in found):
            return None
        terms += found
    if terms and list_aggregates(rule.head, *rule.body):
        return None
    if not all(isinstance(term, Variable | Wildcard) for term in terms):
        return None
    names = [term.name for term in terms if isinstance(term, Variable)]
    used = [
        node.name
        for part in (rule.head, *rule.body)
        for node in walk_nodes(part)
        if isinstance(node, Variable)
    ]
    places: set[Place] = set()
    for name in names:
        mine = {
            (rule.head.predicate, place)
            for place, argument in enumerate(rule.head.arguments)
            if isinstance(argument, Variable) and argument.name == name
        }
        if used.count(name) != 1 + len(mine) or len(mine) > 1:
            return None
        places |= mine
    return places


def _holds_answer(
    rule: Rule, place: int, plugin: str, inputs: int, holding: Collection[Place]
) -> bool:
    """Whether an argument of the head is an answer under every binding."""
    argument = rule.head.arguments[place] if place < len(rule.head.arguments) else None
    return isinstance(argument, Variable) and any(
        isinstance(term, Variable) and term.name == argument.name
        for atom in _list_atoms(rule)
        for term in _list_answers(atom, plugin, inputs, holding)
    )


def _list_atoms(rule: Rule) -> list[Atom]:
    return [literal for literal in rule.body if isinstance(literal, Atom)]


def _list_answers(
    atom: Atom, plugin: str, inputs: int, holding: Collection[Place]
) -> Sequence[Term]:
    """The arguments of an atom that are answers."""
    if atom.is_plugin:
        return atom.arguments[inputs:] if atom.predicate == plugin else ()
    return [
        argument
        for place, argument in enumerate(atom.arguments)
        if (atom.predicate, place) in holding
    ]
