"""Which predicates a program defines, which it asks for, and whether the two fit together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Sized

from divulge.rules import tuning
from divulge.rules.checks.strata import list_atoms
from divulge.rules.language.parser import NAME_HOLE, TOO_MANY_RULES
from divulge.rules.language.syntax import (
    Atom,
    EqualityRule,
    FactSource,
    Literal,
    Rule,
    Statement,
    Variable,
    list_variables,
    walk_nodes,
)
from divulge.rules.plugin_atoms import RulePlugin
from divulge.work import Problem, format_quantity, nearest


def list_body(statement: Statement) -> tuple[Literal, ...]:
    """The literals of a statement's body."""
    return () if isinstance(statement, FactSource) else statement.body


def list_asked_plugins(body: Sequence[Literal]) -> list[Atom]:
    """The plug-in atoms of a body."""
    return [literal for literal in body if isinstance(literal, Atom) and literal.is_plugin]


def list_defined(statements: Sequence[Statement]) -> list[str]:
    """The predicates of which the program has facts, sources or rules."""
    names = []
    for statement in statements:
        if isinstance(statement, Rule):
            names.append(statement.head.predicate)
        elif isinstance(statement, FactSource):
            names.append(statement.predicate)
    return list(dict.fromkeys(names))


def find_size_problems(statements: Sequence[Statement]) -> Iterator[Problem]:
    """Programs that no person wrote, also those of several files."""
    rules = [each for each in statements if isinstance(each, FactSource) or each.body]
    if len(rules) > tuning.MOST_RULES:
        yield Problem(str(rules[tuning.MOST_RULES].place), TOO_MANY_RULES)
    elif len(list_defined(statements)) > tuning.MOST_RULES:
        yield Problem("", TOO_MANY_RULES)


def find_arity_problems(
    statements: Sequence[Statement],
    given: Mapping[str, Sized],
    plugins: Mapping[str, RulePlugin],
) -> Iterator[Problem]:
    """Predicates that are used with different numbers of arguments."""
    known: dict[str, tuple[int, str]] = {
        name: (len(columns), "in the facts handed in") for name, columns in given.items()
    }
    for atom in _walk_atoms(statements):
        count = len(atom.arguments)
        expected, where = known.setdefault(atom.predicate, (count, f"at {atom.place}"))
        if count != expected:
            yield Problem(
                str(atom.place),
                f'"{atom.predicate}" has {format_quantity(count, "argument", "arguments")} here '
                f"and {expected} {where}. Write _ for those that do not matter.",
            )
    for statement in statements:
        for atom in list_asked_plugins(list_body(statement)):
            asked = plugins.get(atom.predicate)
            if asked is None:
                continue
            count = len(asked.inputs) + len(asked.outputs)
            if count != len(atom.arguments):
                yield Problem(
                    str(atom.place),
                    f'"#{atom.predicate}" has '
                    f"{format_quantity(len(asked.inputs), 'input', 'inputs')} and "
                    f"{format_quantity(len(asked.outputs), 'output', 'outputs')}, and "
                    f"{format_quantity(len(atom.arguments), 'argument', 'arguments')} here.",
                )


def list_widths(statements: Sequence[Statement]) -> dict[str, int]:
    """How many arguments each predicate has, by its first use."""
    widths: dict[str, int] = {}
    for atom in _walk_atoms(statements):
        widths.setdefault(atom.predicate, len(atom.arguments))
    return widths


def _walk_atoms(statements: Sequence[Statement]) -> Iterator[Atom]:
    for statement in statements:
        if isinstance(statement, FactSource):
            columns = tuple(Variable(f"C{number}") for number in range(len(statement.columns)))
            yield Atom(statement.predicate, columns, place=statement.place)
            continue
        if isinstance(statement, Rule):
            yield statement.head
        yield from list_atoms(statement.body)


def find_undefined(
    statements: Sequence[Statement],
    given: Collection[str] | None,
    plugins: Mapping[str, RulePlugin],
) -> Iterator[Problem]:
    """Predicates and plug-ins that are asked for and come from nowhere."""
    defined = dict.fromkeys([*list_defined(statements), *(given or ())])
    told: set[str] = set()
    for statement in statements:
        for atom in list_atoms(list_body(statement)):
            if atom.predicate not in told and atom.predicate not in defined:
                told.add(atom.predicate)
                match = _find_nearest(atom.predicate, defined, told)
                yield Problem(
                    str(atom.place),
                    f'"{atom.predicate}" has no facts, no source and no rule.',
                    value=atom.predicate,
                    allowed=[match] if match else [],
                )
        for atom in list_asked_plugins(list_body(statement)):
            if f"#{atom.predicate}" not in told and atom.predicate not in plugins:
                told.add(f"#{atom.predicate}")
                yield Problem(
                    str(atom.place),
                    f'no plug-in is registered for "#{atom.predicate}".',
                    value=atom.predicate,
                    allowed=list(plugins),
                )


def _find_nearest(name: str, allowed: Collection[str], told: Sized) -> str | None:
    """The nearest name, of the first problems alone: likeness of thousands takes minutes."""
    return nearest(name, allowed) if len(told) <= tuning.MOST_PROBLEMS else None


def list_remarks(
    statements: Sequence[Statement], given: Collection[str] | None
) -> Iterator[Problem]:
    """What is no error, and worth a second look."""
    asked = {
        atom.predicate for statement in statements for atom in list_atoms(list_body(statement))
    }
    derived = {
        statement.head.predicate
        for statement in statements
        if isinstance(statement, Rule) and statement.body
    }
    told: set[str] = set()
    used, undefined = asked | derived, sorted(asked - set(list_defined(statements)))
    for statement in statements:
        name = _name_given(statement)
        if name is not None and name not in used and name not in told:
            told.add(name)
            match = _find_nearest(name, undefined, told)
            yield Problem(
                str(statement.place),
                f'no rule asks for "{name}"; a release may.',
                value=name,
                allowed=[match] if match else [],
            )
    for name in given or ():
        if name not in asked | derived and name not in list_defined(statements):
            told.add(name)
            match = _find_nearest(name, undefined, told)
            yield Problem(
                "",
                f'facts of "{name}" are handed in, and no rule asks for them.',
                value=name,
                allowed=[match] if match else [],
            )
    for statement in statements:
        if not isinstance(statement, FactSource):
            yield from _find_single_variables(statement)
            yield from _find_silent_existentials(statement)


def _name_given(statement: Statement) -> str | None:
    if isinstance(statement, FactSource):
        return statement.predicate
    is_fact = isinstance(statement, Rule) and not statement.body
    return statement.head.predicate if is_fact and isinstance(statement, Rule) else None


def _find_single_variables(statement: Rule | EqualityRule) -> Iterator[Problem]:
    heads = (statement.head,) if isinstance(statement, Rule) else (statement.left, statement.right)
    nodes = [part for node in (*heads, *statement.body) for part in walk_nodes(node)]
    counts = Counter(part.name for part in nodes if isinstance(part, Variable))
    in_heads = {name for node in heads for name in list_variables(node)}
    in_words = {*NAME_HOLE.findall(statement.name or "")}
    for part in nodes:
        if not isinstance(part, Variable) or part.name in in_heads | in_words:
            continue
        if part.name.startswith("_"):
            continue
        if counts[part.name] == 1:
            yield Problem(
                str(part.place),
                f'the variable "{part.name}" is used nowhere else. Write _ if any value will do.',
            )


def _find_silent_existentials(statement: Rule | EqualityRule) -> Iterator[Problem]:
    if not isinstance(statement, Rule) or not statement.body:
        return
    bound = {name for literal in statement.body for name in list_variables(literal)}
    for name in list_variables(statement.head):
        if name not in bound and name not in statement.existentials:
            yield Problem(
                str(statement.head.place),
                f'the variable "{name}" of the head is not in the body, so nulls are invented for '
                f"it. Write exists {name} before the head if that is meant.",
            )
