"""Lexical analysis: the text of a program as tokens, with brackets matched and comments apart."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from divulge.rules.language.syntax import AGGREGATES, Place

KEYWORDS = (
    "not",
    "in",
    "is",
    "null",
    "case",
    "then",
    "else",
    "and",
    "or",
    "exists",
    "from",
    "subset",
)

FUNCTION_ARITIES = {
    "union": 2,
    "minus": 2,
    "size": 1,
    "without": 2,
    "abs": 1,
    "min": 2,
    "max": 2,
    "round": 2,
    "lower": 1,
    "trim": 1,
    "concat": 2,
}
"""The functions of terms, and how many terms each takes."""

NAME, VARIABLE, WILDCARD, NUMBER, TEXT = "name", "variable", "wildcard", "number", "text"
ILLEGAL, END = "illegal", "end"
SYMBOLS = (
    ":-",
    "=?",
    "!=",
    "<=",
    ">=",
    "=",
    "<",
    ">",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ".",
    "#",
    "*",
    "+",
    "-",
    "/",
)
"""What is neither a word nor a value; the longest first."""

_WORD = r"[^\W\d]\w*"
_TOKEN = re.compile(
    rf"""[ \t\r\n]*(?:
        (?P<word>{_WORD})
      | (?P<text>"(?:[^"\\\n]|\\.)*")
      | (?P<number>[0-9]++(?:\.[0-9]++)?+(?!\w))
      | (?P<symbol>{"|".join(map(re.escape, SYMBOLS))})
      | (?P<comment>%[^\r\n]*)
      | (?P<end>\Z)
      | (?P<illegal>"[^\n]*|[0-9]\w*(?:\.\w+)*|.)
    )""",
    re.VERBOSE,
)
_OPENINGS = {"(": ")", "[": "]", "{": "}"}
_CLOSINGS = frozenset(_OPENINGS.values())
_KINDS_OF_WORDS = {**{word: word for word in KEYWORDS}, "_": WILDCARD}


@dataclass(frozen=True)
class Comment:
    """A comment: what stands behind the `%`, and the token that follows it."""

    text: str
    start: int
    token: int


@dataclass(frozen=True, kw_only=True)
class TokenStream:
    """The tokens of a program in parallel lists, which is lean for millions of facts.

    A kind is the keyword or the symbol itself, or what sort of word or value it is.
    """

    text: str
    kinds: Sequence[str]
    words: Sequence[str]
    starts: Sequence[int]
    closings: dict[int, int]
    """For an opening bracket the number of the token that closes it, if one does."""
    comments: Sequence[Comment]
    line_starts: Sequence[int]

    def locate_offset(self, offset: int) -> Place:
        """Line and column of a character, counted from one."""
        line = bisect_right(self.line_starts, offset)
        return Place(line, offset - self.line_starts[line - 1] + 1)

    def locate_token(self, number: int) -> Place:
        """Line and column at which a token begins."""
        return self.locate_offset(self.starts[number])

    def find_end(self, number: int) -> int:
        """The offset behind a token."""
        return self.starts[number] + len(self.words[number])


def read_tokens(text: str) -> TokenStream:
    """All tokens of a text; what is none is a token of the kind `illegal`.

    >>> read_tokens("own(X, 0.6). % half").kinds
    ['name', '(', 'variable', ',', 'number', ')', '.', 'end']
    """
    kinds: list[str] = []
    words: list[str] = []
    starts: list[int] = []
    comments: list[Comment] = []
    for match in _TOKEN.finditer(text):
        group = match.lastgroup or END
        word = match[group]
        if group == "comment":
            comments.append(Comment(word[1:].rstrip(), match.start(group), len(kinds)))
            continue
        if group == "word":
            kind = _KINDS_OF_WORDS.get(word) or classify_word(word)
        elif group == "symbol":
            kind = word
        else:
            kind = group
        kinds.append(kind)
        words.append(word)
        starts.append(match.start(group))
        if kind == END:
            break
    return TokenStream(
        text=text,
        kinds=kinds,
        words=words,
        starts=starts,
        closings=_match_brackets(kinds),
        comments=comments,
        line_starts=[0, *(match.end() for match in re.finditer("\n", text))],
    )


def classify_word(word: str) -> str:
    """Whether a word is a variable (it begins with a capital or `_`) or a name."""
    return VARIABLE if word[0] == "_" or word[0].isupper() else NAME


def is_plain_name(text: str) -> bool:
    """Whether a text can be written as a name: in small letters, and no word of the language.

    >>> is_plain_name("owner"), is_plain_name("share in %"), is_plain_name("not")
    (True, False, False)
    """
    return (
        re.fullmatch(_WORD, text) is not None
        and classify_word(text) == NAME
        and text not in (*KEYWORDS, *AGGREGATES)
    )


def _match_brackets(kinds: Sequence[str]) -> dict[int, int]:
    """Pairs of brackets; a full stop closes none, so that one mistake spoils one statement."""
    closings: dict[int, int] = {}
    waiting: list[int] = []
    for number, kind in enumerate(kinds):
        if kind in _OPENINGS:
            waiting.append(number)
        elif kind in _CLOSINGS:
            if waiting and _OPENINGS[kinds[waiting[-1]]] == kind:
                closings[waiting.pop()] = number
        elif kind == ".":
            waiting.clear()
    return closings
