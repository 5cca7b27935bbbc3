"""A place in the tokens of a program: what comes next, and what to say if it is something else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

from divulge.rules.language.syntax import AGGREGATES, COMPARISONS, Place
from divulge.rules.language.tokens import (
    END,
    FUNCTION_ARITIES,
    ILLEGAL,
    KEYWORDS,
    NAME,
    NUMBER,
    TEXT,
    VARIABLE,
    TokenStream,
)
from divulge.rules.tuning import MOST_NESTING
from divulge.work import nearest

_HABITS = {
    "'": 'A text stands in double quotation marks: "text".',
    ";": "Literals are joined by a comma; for an alternative write another rule.",
    "|": "For an alternative write another rule.",
    "&": "Literals are joined by a comma.",
    "!": 'Write "not" before an atom, and != for unequal.',
    "~": 'Write "not" before an atom; for likeness ask a plug-in, such as #similar(A, B, S).',
    ":": 'A rule is written "head :- body."',
    "?": "=? takes a null for maybe; a question needs no mark.",
    "∃": 'Write "exists".',
    "¬": 'Write "not".',
    "∈": 'Write "in".',
    "∧": "Literals are joined by a comma.",
    "≤": "Write <=.",
    "≥": "Write >=.",
    "≠": "Write !=.",
    "⊂": 'Write "subset".',
    "→": 'The conclusion stands first: "head :- body."',
    "\xa0": "This is a space that does not break; write a usual one.",
}
"""What people bring from other languages and from papers, and what is written here."""

_NAMES_OF_KINDS = {
    NAME: "The name",
    VARIABLE: "The variable",
    NUMBER: "The number",
    TEXT: "The text",
}


_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}


class SyntaxMistake(Exception):
    """What is wrong with one statement; the parser gathers it and goes on behind the full stop."""

    def __init__(
        self, message: str, offset: int, value: str | None = None, allowed: Sequence[str] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.value = value
        self.allowed = allowed


class TokenCursor:
    """Reads tokens one after the other."""

    def __init__(self, stream: TokenStream) -> None:
        self.stream = stream
        self.position = 0
        self.first = 0
        """The token with which the statement begins that is being read."""
        self._nesting = 0

    @property
    def kind(self) -> str:
        """The kind of the next token."""
        return self.stream.kinds[self.position]

    @property
    def word(self) -> str:
        """The next token as it is written."""
        return self.stream.words[self.position]

    @property
    def place(self) -> Place:
        """Where the next token begins."""
        return self.stream.locate_token(self.position)

    def peek_kind(self, distance: int = 1) -> str:
        """The kind of a token further on."""
        number = min(self.position + distance, len(self.stream.kinds) - 1)
        return self.stream.kinds[number]

    def skip(self, kind: str) -> bool:
        """Go past the next token if it is of this kind."""
        if self.stream.kinds[self.position] != kind:
            return False
        self.position += 1
        return True

    def take_word(self) -> str:
        """Go past the next token, whatever it is."""
        word = self.stream.words[self.position]
        self.position += 1
        return word

    def expect(self, kind: str, reason: str) -> None:
        """Go past the next token, which must be of this kind."""
        if not self.skip(kind):
            raise self.describe_surprise(reason)

    def is_before_bracket(self) -> bool:
        """Whether a word comes next, and then an opening bracket."""
        return self.kind in (NAME, VARIABLE) and self.peek_kind() == "("

    def find_kind_behind_bracket(self, number: int) -> str | None:
        """What follows the bracket that closes the one of this number, if one does."""
        closing = self.stream.closings.get(number)
        return None if closing is None else self.stream.kinds[closing + 1]

    def describe_surprise(self, reason: str) -> SyntaxMistake:
        """The mistake that something else was expected here."""
        kind, word = self.kind, self.word
        offset = self.stream.starts[self.position]
        if kind == ILLEGAL:
            return SyntaxMistake(_describe_illegal(word), offset)
        if kind == END:
            return SyntaxMistake(f"The program ends in the middle of a statement. {reason}", offset)
        if kind in _NAMES_OF_KINDS:
            allowed = [*KEYWORDS, *AGGREGATES, *FUNCTION_ARITIES] if kind == NAME else []
            message = f"{_NAMES_OF_KINDS[kind]}{self._show_word()} does not fit here. {reason}"
            return SyntaxMistake(message, offset, *_find_keyword(word, allowed))
        if kind == "-" and self.peek_kind() == ">":
            return SyntaxMistake(_HABITS["→"], offset)
        before = self.stream.words[self.position - 1] if self.position else ""
        if kind in COMPARISONS and before in COMPARISONS:
            return SyntaxMistake(_describe_comparison(before + word), offset)
        shown = f'The word "{word}" of the language' if kind in KEYWORDS else f'"{word}"'
        return SyntaxMistake(f"{shown} does not fit here. {reason}", offset)

    def is_in_rule(self) -> bool:
        """Whether the statement surely is a rule; the words of facts are data, never shown.

        A text beside a word tells of a lost quotation mark: what was data looks like words then.
        """
        kinds, last = self.stream.kinds, self.first
        while kinds[last] not in (".", END):
            last += 1
        between = kinds[self.first : last]
        words = (NAME, VARIABLE, NUMBER, ILLEGAL)
        is_torn = any(
            (one == TEXT and other in words) or (one in words and other == TEXT)
            for one, other in pairwise(between)
        )
        return ":-" in between and not is_torn and not self._has_open_text(self.first, last)

    def _has_open_text(self, first: int, last: int) -> bool:
        return any(
            self.stream.kinds[number] == ILLEGAL and self.stream.words[number].startswith('"')
            for number in range(first, last)
        )

    def _show_word(self) -> str:
        return f' "{self.word}"' if self.kind in (NAME, VARIABLE) and self.is_in_rule() else ""

    @contextmanager
    def nest(self) -> Iterator[None]:
        """Count brackets within each other, so that no text exhausts the stack."""
        self._nesting += 1
        try:
            if self._nesting > MOST_NESTING:
                raise SyntaxMistake(
                    f"More than {MOST_NESTING} brackets or cases stand within each other. "
                    "Give a part a name in the body: X = term.",
                    self.stream.starts[self.position],
                )
            yield
        finally:
            self._nesting -= 1


def _find_keyword(word: str, allowed: Sequence[str]) -> tuple[str | None, Sequence[str]]:
    """A word of the language that is meant, or nothing at all: the whole list is no help."""
    match = nearest(word, allowed) if len(word) > 1 else None
    return (None, ()) if match is None or match == word else (word, [match])


def _describe_comparison(written: str) -> str:
    meant = {"==": "=", "<>": "!=", "=<": "<=", "=>": ">="}.get(written)
    if meant is None:
        return f'"{written}" is no comparison. Allowed: {", ".join(COMPARISONS)}.'
    return f'"{written}" is written {meant} here.'


def _describe_illegal(word: str) -> str:
    if word.startswith('"'):
        return 'A text has no closing quotation mark on its line. Write \\" for one inside it.'
    if re.match(r"[0-9]+(?:\.[0-9]+)?[eE]", word):
        return "A number is written without an exponent: 1500 or 0.0015."
    if word[0].isdigit() and len(word) > 1:
        return "Neither a number nor a name begins like this; a code is a text in quotation marks."
    return _HABITS.get(word, f"The character {word!r} does not belong here.")


def unescape_text(inner: str, offset: int) -> str:
    """What stands between quotation marks, as the text that it means."""
    if "\\" not in inner:
        return inner

    def replace_escape(match: re.Match[str]) -> str:
        if match[1] not in _ESCAPED:
            raise SyntaxMistake(
                r"In a text a backslash stands before one of \" \\ n t; write \\ for itself.",
                offset + match.start(),
            )
        return _ESCAPED[match[1]]

    return _ESCAPE.sub(replace_escape, inner)


def escape_text(text: str) -> str:
    r"""A text between quotation marks, so that it is read back as it is.

    >>> print(escape_text('the "big" one'))
    "the \"big\" one"
    """
    for character, mark in (("\\", "\\"), ('"', '"'), ("\n", "n"), ("\t", "t")):
        text = text.replace(character, f"\\{mark}")
    return f'"{text}"'
