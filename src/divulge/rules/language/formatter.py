"""Programs back to text, in one canonical form: what is read from it is the same program."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, TypeVar

from divulge.rules.language.comments import BLANK_LINE
from divulge.rules.language.cursor import escape_text
from divulge.rules.language.syntax import (
    NOWHERE,
    Aggregate,
    Atom,
    Call,
    CaseTerm,
    Comparison,
    CompoundCondition,
    Condition,
    Constant,
    EqualityRule,
    FactSource,
    Literal,
    Membership,
    NullTest,
    Operation,
    Place,
    SetAccess,
    SetTerm,
    Statement,
    Term,
    TupleTerm,
    Unpack,
    Variable,
    Wildcard,
)
from divulge.rules.language.tokens import is_plain_name
from divulge.work import InvalidInput, Problem

if TYPE_CHECKING:
    from divulge.rules.language.program import Program

LINE_LENGTH = 100
INDENT = "    "

_SUM, _PRODUCT, _FACTOR, _PRIMARY = 1, 2, 3, 4
"""How tightly a term binds: what stands inside a tighter one needs brackets."""
_STRENGTHS = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT}

_Tree = TypeVar("_Tree")


def format_program(program: Program) -> str:
    """A program as text: one statement a line, long rules with one literal a line, comments kept.

    >>> from divulge.rules import Program
    >>> print(format_program(Program.parse("rel(X,Y):-own(X,Y,W),W>0.5. % direct")), end="")
    % direct
    rel(X, Y) :- own(X, Y, W), W > 0.5.
    """
    lines: list[str] = []
    for statement in program.statements:
        lines += [_format_comment(comment) for comment in statement.comments]
        if not isinstance(statement, FactSource) and statement.name is not None:
            lines.append(f"% @name {escape_text(statement.name)}")
        lines.append(format_statement(statement))
    lines += [_format_comment(comment) for comment in program.comments]
    return "".join(f"{line}\n" for line in lines)


def format_statement(statement: Statement) -> str:
    """A statement without its comments.

    >>> from divulge.rules import Program
    >>> format_statement(Program.parse("own( a,b , 0.60 ).").statements[0])
    'own("a", "b", 0.60).'
    """
    if isinstance(statement, FactSource):
        return _format_source(statement)
    if isinstance(statement, EqualityRule):
        head = f"{_format_side(statement.left)} = {format_term(statement.right)}"
    else:
        head = _format_atom(statement.head)
        if statement.existentials:
            head = f"exists {', '.join(statement.existentials)} {head}"
    if not statement.body:
        return f"{head}."
    literals = [format_literal(literal) for literal in statement.body]
    line = f"{head} :- {', '.join(literals)}."
    if len(line) <= LINE_LENGTH:
        return line
    return f"{head} :-\n{INDENT}" + f",\n{INDENT}".join(literals) + "."


def remove_places(tree: _Tree) -> _Tree:
    """A program, or a part of one, that no longer knows where it stands: to compare by meaning.

    >>> from divulge.rules import Program
    >>> one, other = Program.parse("p(a)."), Program.parse("  p(a).")
    >>> one == other, remove_places(one) == remove_places(other)
    (False, True)
    """
    if isinstance(tree, Place):
        return NOWHERE  # type: ignore[return-value]
    if isinstance(tree, tuple):
        return tuple(remove_places(part) for part in tree)  # type: ignore[return-value]
    if not is_dataclass(tree) or isinstance(tree, type):
        return tree
    parts = {field.name: remove_places(getattr(tree, field.name)) for field in fields(tree)}
    return replace(tree, **parts)


def format_literal(literal: Literal | Condition, *, is_test: bool = False) -> str:
    """A literal of a body, or the test of a case.

    >>> from divulge.rules import Program
    >>> rule = Program.parse("p(X) :- q(X,S), X   not in S.").rules[0]
    >>> format_literal(rule.body[1])
    'X not in S'
    """
    if isinstance(literal, Atom):
        return f"{'not ' * literal.is_negated}{'#' * literal.is_plugin}{_format_atom(literal)}"
    if isinstance(literal, Comparison):
        right = _format_side(literal.right) if is_test else format_term(literal.right)
        return f"{_format_side(literal.left)} {literal.operator} {right}"
    if isinstance(literal, Membership):
        word = "not in" if literal.is_negated else "in"
        return f"{_format_side(literal.item)} {word} {_format_side(literal.collection)}"
    if isinstance(literal, NullTest):
        return f"{_format_side(literal.term)} is {'not ' * literal.is_negated}null"
    return _format_compound(literal)


def _format_compound(condition: CompoundCondition) -> str:
    is_loose = condition.operator == "and" and any(
        isinstance(part, CompoundCondition) for part in condition.parts
    )
    if is_loose:
        message = '"or" inside "and" cannot be written: split the case.'
        raise InvalidInput("rules", [Problem(str(condition.place), message)])
    return f" {condition.operator} ".join(
        format_literal(part, is_test=True) for part in condition.parts
    )


def _format_source(source: FactSource) -> str:
    names = source.variables or source.columns
    columns = [
        name if source.variables or is_plain_name(str(name)) else escape_text(str(name))
        for name in names
    ]
    facts = f"{source.predicate}({', '.join(map(str, columns))})"
    return f"{facts} from {'dataset ' * source.is_dataset}{escape_text(source.origin)}."


def _format_atom(atom: Atom) -> str:
    return f"{atom.predicate}({', '.join(map(format_term, atom.arguments))})"


def _format_side(term: Term) -> str:
    """A term beside a comparison: a case gets brackets, since what follows would go to its else."""
    return f"({format_term(term)})" if isinstance(term, CaseTerm) else format_term(term)


def format_term(term: Term) -> str:
    """A term as it is written.

    >>> from divulge.rules import Program
    >>> format_term(Program.parse("p(msum(W,<Z>)) :- q(W,Z).").rules[0].head.arguments[0])
    'msum(W, <Z>)'
    """
    if isinstance(term, Variable):
        return term.name
    if isinstance(term, Wildcard):
        return "_"
    if isinstance(term, Constant):
        return _format_constant(term.value)
    if isinstance(term, SetAccess):
        return f"{_format_operand(term.collection, _PRIMARY)}[{format_term(term.key)}]"
    if isinstance(term, Unpack):
        return f"*{format_term(term.collection)}"
    if isinstance(term, CaseTerm):
        return _format_case(term)
    if isinstance(term, Operation):
        return _format_operation(term)
    return _format_collection(term)


def _format_collection(term: TupleTerm | SetTerm | Call | Aggregate) -> str:
    if isinstance(term, Aggregate):
        return _format_aggregate(term)
    if isinstance(term, TupleTerm):
        return f"({_join_terms(term.items)})"
    if isinstance(term, SetTerm):
        return f"{{{_join_terms(term.items)}}}"
    return f"{term.function}({_join_terms(term.arguments)})"


def _join_terms(terms: tuple[Term, ...]) -> str:
    return ", ".join(map(format_term, terms))


def _format_constant(value: str | int | Decimal) -> str:
    if isinstance(value, str):
        return escape_text(value)
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _format_aggregate(aggregate: Aggregate) -> str:
    parts = [] if aggregate.argument is None else [format_term(aggregate.argument)]
    if aggregate.contributors:
        parts.append(f"<{_join_terms(aggregate.contributors)}>")
    return f"{aggregate.function}({', '.join(parts)})"


def _format_case(term: CaseTerm) -> str:
    branches = "".join(
        f"case {format_literal(test, is_test=True)} then {_format_side(value)} "
        for test, value in term.branches
    )
    return f"{branches}else {_format_side(term.otherwise)}"


def _format_operation(operation: Operation) -> str:
    if len(operation.operands) == 1:
        [operand] = operation.operands
        inner = _format_operand(operand, _PRIMARY)
        # Directly before a number the sign would be the number's own.
        is_number = isinstance(operand, Constant) and not isinstance(operand.value, str)
        return f"-({inner})" if is_number and not inner.startswith("(") else f"-{inner}"
    strength = _STRENGTHS[operation.operator]
    left, right = operation.operands
    return (
        f"{_format_operand(left, strength)} {operation.operator} "
        f"{_format_operand(right, strength + 1)}"
    )


def _format_operand(term: Term, strength: int) -> str:
    written = format_term(term)
    return written if _measure_strength(term) >= strength else f"({written})"


def _measure_strength(term: Term) -> int:
    if isinstance(term, CaseTerm):
        return 0
    if isinstance(term, Operation):
        return _STRENGTHS[term.operator] if len(term.operands) == 2 else _FACTOR
    is_negative = isinstance(term, Constant) and _format_constant(term.value).startswith("-")
    return _FACTOR if is_negative else _PRIMARY


def _format_comment(comment: str) -> str:
    if comment == BLANK_LINE:
        return ""
    is_rule_off = comment == "" or comment.startswith("%")
    return f"%{comment}" if is_rule_off else f"% {comment}"
