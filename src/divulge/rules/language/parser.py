"""The parser of rule programs: statements by recursive descent, with all mistakes gathered.

After a mistake it goes on behind the next full stop, so that one run tells all that is wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal

from divulge.rules.language.comments import CommentReader
from divulge.rules.language.cursor import SyntaxMistake
from divulge.rules.language.syntax import (
    AGGREGATES,
    Atom,
    Comparison,
    Constant,
    EqualityRule,
    FactSource,
    Literal,
    Place,
    Rule,
    Statement,
    Term,
    list_variables,
)
from divulge.rules.language.term_parser import TOO_WIDE, TermParser
from divulge.rules.language.tokens import (
    END,
    ILLEGAL,
    NAME,
    NUMBER,
    TEXT,
    VARIABLE,
    TokenStream,
    read_tokens,
)
from divulge.rules.tuning import (
    MOST_CHARACTERS,
    MOST_CHARACTERS_OF_A_LABEL,
    MOST_LITERALS,
    MOST_PROBLEMS,
    MOST_RULES,
    MOST_TERMS,
)
from divulge.work import Problems

TOO_MANY_RULES = (
    f"A program has at most {MOST_RULES:,} rules, sources and predicates. "
    "Hand in as data what differs by its values alone."
)
NAME_HOLE = re.compile(r"\{(\w+)\}")
"""Where the name of a rule has the value of a variable."""


@dataclass(frozen=True)
class ParsedText:
    """The statements of a text, and the comments behind the last."""

    statements: tuple[Statement, ...]
    comments: tuple[str, ...]


def parse_text(text: str, origin: str) -> ParsedText:
    """Read a program.

    Raises:
        InvalidInput: with the place of every mistake, what is wrong and what to change.
    """
    problems = Problems(origin)
    if len(text) > MOST_CHARACTERS:
        problems.add(
            "",
            f"The program has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read. "
            'Facts by the million belong into a file of data: own(X, Y, W) from "ownership.csv".',
        )
        problems.raise_any()
    parser = _StatementParser(read_tokens(text), problems)
    parsed = ParsedText(parser.read_statements(), parser.read_last_comments())
    problems.raise_any()
    return parsed


def label_text(text: str) -> str:
    r"""A rule in a message: on one line, not too long, and without quotation marks.

    >>> label_text('risky(I) :-\n    area(I, "North").')
    "risky(I) :- area(I, 'North')."
    """
    words = " ".join(re.sub("%[^\n]*", "", text).split()).replace('"', "'")
    limit = MOST_CHARACTERS_OF_A_LABEL
    return words if len(words) <= limit else f"{words[: limit - 1]}…"


def format_place(place: Place, label: str | None) -> str:
    """Where something stands in a program, as messages say it.

    >>> print(format_place(Place(3, 12), "{X} controls {Y}"))
    line 3, column 12, rule "{X} controls {Y}"
    """
    return f'{place}, rule "{label}"' if label else str(place)


class _StatementParser(TermParser):
    """Statement by statement, from the first token to the last."""

    def __init__(self, stream: TokenStream, problems: Problems) -> None:
        super().__init__(stream)
        self.problems = problems
        self.comments = CommentReader(stream)
        self._is_ended = False

    def read_statements(self) -> tuple[Statement, ...]:
        """All statements; what is wrong goes to the problems."""
        statements: list[Statement] = []
        rules = 0
        while self.kind != END:
            self.first = self.position
            self._is_ended = False
            try:
                statements.append(self._read_commented())
                rules += isinstance(statements[-1], FactSource) or bool(statements[-1].body)
                if rules > MOST_RULES:
                    self._note_length()
                    break
            except SyntaxMistake as mistake:
                self._note_mistake(mistake)
                if len(self.problems) >= MOST_PROBLEMS:
                    break
                self._recover()
        return tuple(statements)

    def read_last_comments(self) -> tuple[str, ...]:
        """Comments behind the last statement."""
        self.first = len(self.stream.kinds) - 1
        try:
            return self.comments.read_last()
        except SyntaxMistake as mistake:
            if not self.problems:  # after other mistakes it may be a part of one of them
                self._note_mistake(mistake)
            return ()

    def _read_commented(self) -> Statement:
        statement = self._read_fact() or self._read_statement()
        name, comments = self.comments.read_around(self.first, self.position - 1)
        if name is None:
            return replace(statement, comments=comments) if comments else statement
        if isinstance(statement, FactSource):
            raise SyntaxMistake(
                "@name names a rule in words, and this statement reads facts from a file.",
                name.start,
            )
        self._check_name(name.text, name.start, statement)
        return replace(statement, comments=comments, name=name.text)

    def _read_fact(self) -> Rule | None:
        """A fact of constants alone, the usual statement of long programs; None for all else."""
        kinds, words, position = self.stream.kinds, self.stream.words, self.position
        if kinds[position] != NAME or kinds[position + 1] != "(" or words[position] in AGGREGATES:
            return None
        closing = self.stream.closings.get(position + 1)
        if closing is None or kinds[closing + 1] != "." or closing == position + 2:
            return None
        inner = kinds[position + 2 : closing]
        if any(kind not in (TEXT, NUMBER, NAME) for kind in inner[::2]):
            return None
        if any(kind != "," for kind in inner[1::2]) or len(inner) % 2 == 0:
            return None
        if len(inner) > 2 * MOST_TERMS:
            return None
        place = self.place
        arguments: list[Term] = []
        for number in range(position + 2, closing, 2):
            self.position = number
            arguments.append(Constant(self._read_constant(), self.stream.locate_token(number)))
        self.position = closing + 2
        return Rule(head=Atom(words[position], tuple(arguments), place=place), place=place)

    def _read_statement(self) -> Statement:
        if self.is_before_bracket() and self.find_kind_behind_bracket(self.position + 1) == "from":
            return self._read_source()
        if self.kind == "exists" or self.begins_atom():
            return self._read_rule()
        return self._read_equality()

    def _read_rule(self) -> Rule:
        place = self.place
        existentials: list[str] = []
        if self.skip("exists"):
            existentials = self._read_existentials()
        head = self.read_atom()
        body = self._read_body() if self.skip(":-") else ()
        self._expect_stop()
        return Rule(head=head, body=body, existentials=tuple(existentials), place=place)

    def _read_existentials(self) -> list[str]:
        names: list[str] = []
        while not names or self.skip(","):
            if self.kind != VARIABLE or self.is_before_bracket():
                raise self.describe_surprise(
                    '"exists" is followed by variables and a head: exists C cat(A, C) :- att(A).'
                )
            names.append(self.take_word())
        return names

    def _read_equality(self) -> EqualityRule:
        place = self.place
        comparison = self.read_condition() if self.kind not in ("#", "not") else None
        if not isinstance(comparison, Comparison) or comparison.operator != "=":
            raise SyntaxMistake(
                "A statement begins with a head: an atom such as rel(X, Y), or X = Y for an "
                "equality rule.",
                self.stream.starts[self.first],
            )
        self.expect(":-", "An equality rule says when the two are the same: X = Y :- body.")
        body = self._read_body()
        self._expect_stop()
        return EqualityRule(left=comparison.left, right=comparison.right, body=body, place=place)

    def _read_body(self) -> tuple[Literal, ...]:
        literals = [self.read_literal()]
        while self.skip(","):
            literals.append(self.read_literal())
            self.count_parts(
                literals, MOST_LITERALS, "A body", "literals", "Split the rule in two."
            )
        return tuple(literals)

    def _read_source(self) -> FactSource:
        place = self.place
        predicate = self.take_word()
        self.expect("(", "")
        columns: list[str | None] = []
        variables: list[str] = []
        while not columns or self.skip(","):
            if self.kind == VARIABLE:
                variables.append(self.take_word())
                columns.append(None)
            elif self.kind in (NAME, TEXT):
                columns.append(self.read_text() if self.kind == TEXT else self.take_word())
            else:
                raise self.describe_surprise(
                    "The columns of a file are variables, in its order, or names of columns."
                )
            self.count_parts(columns, MOST_TERMS, "A source", "columns", TOO_WIDE)
        self.expect_closing(")", "the columns")
        if variables and len(variables) < len(columns):
            raise SyntaxMistake(
                "Columns are given by their order, all as variables, or by their names, all in "
                "small letters or quotation marks: both are mixed here.",
                self.stream.starts[self.first],
            )
        self.expect("from", "")
        is_dataset = self._skip_word("dataset")
        if self.kind != TEXT:
            raise self.describe_surprise(
                'A file or dataset is named in quotation marks: from "own.csv".'
            )
        origin = self.read_text()
        self._expect_stop()
        return FactSource(
            predicate=predicate,
            columns=tuple(columns),
            variables=tuple(variables),
            origin=origin,
            is_dataset=is_dataset,
            place=place,
        )

    def _skip_word(self, word: str) -> bool:
        return self.word == word and self.skip(NAME)

    def _read_constant(self) -> str | int | Decimal:
        if self.kind == TEXT:
            return self.read_text()
        return self.read_number() if self.kind == NUMBER else self.take_word()

    def _expect_stop(self) -> None:
        if self.skip("."):
            return
        last = self.stream.find_end(self.position - 1)
        if self.kind == END or "\n" in self.stream.text[last : self.stream.starts[self.position]]:
            self._is_ended = True
            raise SyntaxMistake(
                "Here a full stop is missing, which ends the statement, or a comma, if it goes on.",
                last,
            )
        raise self.describe_surprise(
            "A comma and a further literal, or the full stop that ends the statement, is needed."
        )

    def _check_name(self, name: str, offset: int, statement: Rule | EqualityRule) -> None:
        """The name of a rule speaks only of variables that the rule has."""
        heads = (
            [statement.head] if isinstance(statement, Rule) else [statement.left, statement.right]
        )
        variables = list_variables(*heads, *statement.body)
        for hole in NAME_HOLE.findall(name):
            if hole not in variables:
                raise SyntaxMistake(
                    f'The name of the rule speaks of "{hole}", and the rule has no such variable.',
                    offset,
                    hole,
                    variables,
                )

    def _recover(self) -> None:
        """Go behind the full stop of the statement that has the mistake."""
        self._nesting = 0
        is_behind = self.position > self.first and self.stream.kinds[self.position - 1] == "."
        if is_behind or self._is_ended:
            return
        while self.kind not in (".", END):
            # A text without its closing mark has taken the full stop of its line with it.
            is_open_text = self.kind == ILLEGAL and self.word.startswith('"')
            self.position += 1
            if is_open_text:
                return
        self.skip(".")

    def _note_length(self) -> None:
        place = self.stream.locate_offset(self.stream.starts[self.first])
        self.problems.add(str(place), TOO_MANY_RULES)

    def _note_mistake(self, mistake: SyntaxMistake) -> None:
        place = self.stream.locate_offset(mistake.offset)
        self.problems.add(
            format_place(place, self._label_statement()),
            mistake.message,
            mistake.value,
            mistake.allowed,
        )

    def _label_statement(self) -> str:
        """The rule as it is written, cut short; of a fact only its place: its values are data."""
        if not self.is_in_rule():
            return ""
        kinds, words, last = self.stream.kinds, self.stream.words, self.first
        while kinds[last] not in (".", END) and last < self.first + MOST_CHARACTERS_OF_A_LABEL:
            last += 1
        start = self.stream.starts[self.first]
        text = self.stream.text[start : self.stream.find_end(max(self.first, last - 1))]
        for number in range(self.first, last):
            if kinds[number] in (TEXT, ILLEGAL):
                text = text.replace(words[number], "…")
        return label_text(text)
