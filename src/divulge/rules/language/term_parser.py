"""Terms, conditions and literals by recursive descent, as the published grammar has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TypeVar

from divulge.rules.language.cursor import SyntaxMistake, TokenCursor, unescape_text
from divulge.rules.language.syntax import (
    AGGREGATES,
    COMPARISONS,
    Aggregate,
    Atom,
    Call,
    CaseTerm,
    Comparison,
    CompoundCondition,
    Condition,
    Constant,
    Literal,
    Membership,
    NullTest,
    Operation,
    Place,
    SetAccess,
    SetTerm,
    Term,
    TupleTerm,
    Unpack,
    Variable,
    Wildcard,
)
from divulge.rules.language.tokens import (
    FUNCTION_ARITIES,
    KEYWORDS,
    NAME,
    NUMBER,
    TEXT,
    VARIABLE,
    WILDCARD,
    TokenStream,
)
from divulge.rules.tuning import MOST_DIGITS, MOST_OPERATIONS, MOST_TERMS, MOST_TESTS
from divulge.work import nearest

_Part = TypeVar("_Part")
_AFTER_TERMS = (*COMPARISONS, "in", "is", "not", "+", "-", "*", "/", "[")
"""What follows a term; behind the brackets of an atom none of it stands."""
TOO_WIDE = "Hand several values in as several facts, or as one set."
_SPLIT_CASE = "Write a fact for each case, and ask for it."
_TERM_NEEDED = "A term is needed: a variable, a value, or what is calculated of them."


class TermParser(TokenCursor):
    """Reads what statements are made of."""

    def __init__(self, stream: TokenStream) -> None:
        super().__init__(stream)
        self._operations = 0

    def read_literal(self) -> Literal:
        """`not p(X)`, `p(X)`, `#risk(I, R)`, `X < Y`."""
        place = self.place
        if self.skip("not"):
            return self._read_negated(place)
        if self.kind == "#":
            return self._read_plugin(place)
        if self.begins_atom():
            return self.read_atom()
        return self.read_condition()

    def read_atom(self, *, is_negated: bool = False, is_plugin: bool = False) -> Atom:
        """`own(X, Y, W)`."""
        place = self.place
        if not self.is_before_bracket():
            raise self.describe_surprise("An atom is needed, such as own(X, Y, W).")
        if self.word in AGGREGATES:
            raise SyntaxMistake(
                f'"{self.word}" is an aggregate: compare it, or give it to a variable.',
                self.stream.starts[self.position],
            )
        predicate = self.take_word()
        self.expect("(", "")
        arguments: list[Term] = []
        with self.nest():
            if self.kind != ")":
                arguments = self._read_list(self._read_argument, "an atom", MOST_TERMS)
        self.expect_closing(")", "the terms of an atom")
        for argument in arguments[:-1]:
            if isinstance(argument, Unpack):
                raise self.refuse_at(argument.place, "Only the last term of an atom may be *S.")
        return Atom(predicate, tuple(arguments), is_negated, is_plugin, place)

    def read_condition(self) -> Comparison | Membership | NullTest:
        """Two terms compared, an element of a set, a test for null."""
        place = self.place
        left = self.read_term()
        if self.kind in COMPARISONS:
            operator = self.take_word()
            return Comparison(operator, left, self.read_term(), place)
        if self.kind == "not" and self.peek_kind() == "in":
            self.position += 2
            return Membership(left, self.read_term(), True, place)
        if self.skip("in"):
            return Membership(left, self.read_term(), False, place)
        if self.skip("is"):
            is_negated = self.skip("not")
            self.expect("null", 'Only "is null" and "is not null" can be tested.')
            return NullTest(left, is_negated, place)
        if isinstance(left, Constant) and isinstance(left.value, str):
            word = nearest(left.value, KEYWORDS)
            if word is not None:
                message = f'"{left.value}" is not a word of the language.'
                raise self.refuse_at(place, message, left.value, [word])
        raise self.describe_surprise(
            "A condition needs a comparison, in, or is null; an atom is written name(terms)."
        )

    def read_term(self) -> Term:
        """Sums of products of factors."""
        outer = self._operations
        self._operations = 0
        with self.nest():
            term = self._read_chain(("+", "-"), self._read_product)
        self._operations = outer
        return term

    def _read_product(self) -> Term:
        return self._read_chain(("*", "/"), self._read_factor)

    def _read_chain(self, operators: tuple[str, str], read_operand: Callable[[], Term]) -> Term:
        place = self.place
        left = read_operand()
        while self.kind in operators:
            self._count_operation()
            operator = self.take_word()
            left = Operation(operator, (left, read_operand()), place)
        return left

    def _read_factor(self) -> Term:
        place = self.place
        is_negative = self.skip("-")
        if is_negative and self.kind == NUMBER and self.peek_kind() != "[":
            value = self.read_number()
            negative = -value if isinstance(value, int) else value.copy_negate()
            return Constant(negative, place)
        term = self._read_primary()
        while self.skip("["):
            self._count_operation()
            key = self.read_term()
            self.expect_closing("]", "the name that is looked up")
            term = SetAccess(term, key, term.place)
        return Operation("-", (term,), place) if is_negative else term

    def _read_primary(self) -> Term:
        kind, place = self.kind, self.place
        if self.is_before_bracket():
            return self._read_aggregate() if self.word in AGGREGATES else self._read_call()
        if kind == VARIABLE:
            return Variable(self.take_word(), place)
        if kind == TEXT:
            return Constant(self.read_text(), place)
        if kind == NUMBER:
            return Constant(self.read_number(), place)
        if kind == NAME:
            return Constant(self.take_word(), place)
        if kind == WILDCARD:
            self.position += 1
            return Wildcard(place)
        readers = {"(": self._read_brackets, "{": self._read_set, "case": self._read_case}
        if kind not in readers:
            raise self.describe_surprise(_TERM_NEEDED)
        return readers[kind]()

    def _read_call(self) -> Call:
        place = self.place
        name = self.word
        if name not in FUNCTION_ARITIES:
            shown = f' "{name}"' if self.is_in_rule() else " of this name"
            raise SyntaxMistake(
                f"There is no function{shown}. A predicate stands for itself in the body, "
                "not inside a term.",
                self.stream.starts[self.position],
                name,
                [*FUNCTION_ARITIES, *AGGREGATES],
            )
        self.position += 2
        arguments = () if self.kind == ")" else tuple(self._read_list(self.read_term, "a function"))
        self.expect_closing(")", "the terms of a function")
        arity = FUNCTION_ARITIES[name]
        if len(arguments) != arity:
            wanted = "1 term" if arity == 1 else f"{arity} terms"
            raise self.refuse_at(place, f"{name} takes {wanted}, not {len(arguments)}.")
        return Call(name, arguments, place)

    def _read_aggregate(self) -> Aggregate:
        place = self.place
        function = self.take_word()
        self.expect("(", "")
        argument: Term | None = None
        contributors: tuple[Term, ...] = ()
        has_list = self.kind == "<"
        if self.kind not in ("<", ")"):
            argument = self.read_term()
            has_list = self.skip(",")
        if has_list:
            reason = f"Contributors stand in angle brackets: {function}(W, <Z>)."
            self.expect("<", reason)
            contributors = tuple(self._read_list(self.read_term, "contributors"))
            self.expect(">", reason)
        self.expect_closing(")", "an aggregate")
        if argument is None and function != "mcount":
            raise self.refuse_at(
                place, f"{function} needs what it collects: {function}(W, <Z>); only mcount counts."
            )
        return Aggregate(function, argument, contributors, place)

    def _read_brackets(self) -> Term:
        place = self.place
        self.position += 1
        items = self._read_list(self.read_term, "a tuple")
        self.expect_closing(")", "a bracket")
        return items[0] if len(items) == 1 else TupleTerm(tuple(items), place)

    def _read_set(self) -> SetTerm:
        place = self.place
        self.position += 1
        items = [] if self.kind == "}" else self._read_list(self.read_term, "a set")
        self.expect_closing("}", "a set")
        return SetTerm(tuple(items), place)

    def _read_case(self) -> CaseTerm:
        place = self.place
        branches = []
        while self.skip("case"):
            test = self._read_test()
            self.expect("then", 'A case is written "case X < Y then 1 else 0".')
            branches.append((test, self.read_term()))
            self.count_parts(branches, MOST_TESTS, "A case", "tests", _SPLIT_CASE)
        self.expect("else", "A case ends with what holds otherwise: else 0.")
        return CaseTerm(tuple(branches), self.read_term(), place)

    def _read_test(self) -> Condition:
        return self._read_compound("or", lambda: self._read_compound("and", self.read_condition))

    def _read_compound(self, operator: str, read_part: Callable[[], Condition]) -> Condition:
        place = self.place
        parts = [read_part()]
        while self.skip(operator):
            parts.append(read_part())
            self.count_parts(parts, MOST_TESTS, "A case", "tests", _SPLIT_CASE)
        return parts[0] if len(parts) == 1 else CompoundCondition(operator, tuple(parts), place)

    def _read_argument(self) -> Term:
        place = self.place
        if not self.skip("*"):
            return self.read_term()
        return Unpack(self.read_term(), place)

    def _read_negated(self, place: Place) -> Atom:
        if self.kind == "#":
            raise self.describe_surprise(
                "A plug-in cannot be negated; ask it, and test what comes out."
            )
        if not self.begins_atom():
            raise self.describe_surprise(
                'Only atoms are negated: "not own(X, Y, _)". Conditions have words of their own: '
                '!=, "not in", "is not null".'
            )
        atom = self.read_atom()
        return Atom(atom.predicate, atom.arguments, is_negated=True, place=place)

    def _read_plugin(self, place: Place) -> Atom:
        self.position += 1
        if not self.is_before_bracket():
            raise self.describe_surprise("A plug-in is asked like #risk(I, R).")
        atom = self.read_atom()
        return Atom(atom.predicate, atom.arguments, is_plugin=True, place=place)

    def begins_atom(self) -> bool:
        """Whether a name and its bracket make an atom, rather than begin a condition."""
        if not self.is_before_bracket():
            return False
        closing = self.stream.closings.get(self.position + 1)
        if closing is None:
            return True
        following = self.stream.kinds[closing + 1]
        is_arrow = following == "-" and self.stream.kinds[closing + 2] == ">"
        return is_arrow or following not in _AFTER_TERMS

    def _read_list(
        self, read_item: Callable[[], _Part], whole: str, most: int | None = None
    ) -> list[_Part]:
        items = [read_item()]
        while self.skip(","):
            if self.kind in (")", "]", "}", ">"):
                raise self.describe_surprise(f"A comma in {whole} is followed by a further term.")
            items.append(read_item())
            if most is not None:
                self.count_parts(items, most, f"{whole[0].upper()}{whole[1:]}", "terms", TOO_WIDE)
        return items

    def count_parts(
        self, parts: Sequence[object], most: int, whole: str, kind: str, advice: str
    ) -> None:
        """Refuse what has more parts than anybody writes by hand."""
        if len(parts) > most:
            message = f"{whole} has at most {most:,} {kind}. {advice}"
            raise SyntaxMistake(message, self.stream.starts[self.position])

    def expect_closing(self, kind: str, whole: str) -> None:
        """Go past a closing bracket."""
        self.expect(kind, f'A comma or "{kind}" is needed, which closes {whole}.')

    def read_text(self) -> str:
        """A text, with what stands for quotation marks and line breaks in it."""
        offset = self.stream.starts[self.position] + 1
        return unescape_text(self.take_word()[1:-1], offset)

    def read_number(self) -> int | Decimal:
        """A whole number, or a decimal as it is written."""
        offset = self.stream.starts[self.position]
        word = self.take_word()
        whole, _, fraction = word.partition(".")
        if len(whole) > 1 and whole[0] == "0":
            raise SyntaxMistake(
                "A number does not begin with 0; a code is a text in quotation marks.", offset
            )
        if max(len(whole), len(fraction)) > MOST_DIGITS:
            raise SyntaxMistake(f"A number has at most {MOST_DIGITS} digits.", offset)
        return Decimal(word) if fraction else int(whole)

    def _count_operation(self) -> None:
        self._operations += 1
        if self._operations > MOST_OPERATIONS:
            raise SyntaxMistake(
                f"A term has more than {MOST_OPERATIONS} operations. Give a part a name in the "
                "body: X = term.",
                self.stream.starts[self.position],
            )

    def refuse_at(
        self, place: Place, message: str, value: str | None = None, allowed: Sequence[str] = ()
    ) -> SyntaxMistake:
        """A mistake of something that was read already."""
        offset = self.stream.line_starts[place.line - 1] + place.column - 1
        return SyntaxMistake(message, offset, value, allowed)
