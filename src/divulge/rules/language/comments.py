"""Comments of a program: each goes to a statement, and `% @name` names the rule behind it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from divulge.rules.language.cursor import SyntaxMistake, unescape_text
from divulge.rules.language.tokens import Comment, TokenStream
from divulge.work import nearest

BLANK_LINE = "\n"
"""Among comments, an empty line: so that paragraphs of a program stay as they are."""

_NAME_COMMENT = re.compile(r'\s*@name\s+"((?:[^"\\]|\\.)*)"\s*')
_TAG = re.compile(r"\s*@(\w+)")


@dataclass(frozen=True)
class RuleName:
    """The words of a `% @name` comment, and where it stands."""

    text: str
    start: int


class CommentReader:
    """Hands out the comments of a program, statement by statement."""

    def __init__(self, stream: TokenStream) -> None:
        self._stream = stream
        self._next = 0
        self._end = 0

    def read_around(self, first: int, last: int) -> tuple[RuleName | None, tuple[str, ...]]:
        """Name and comments of the statement from one token to another.

        Comments before it, within it, and behind it on the same line are its own.
        """
        stream = self._stream
        start, previous_end, end = stream.starts[first], self._end, stream.find_end(last)
        leading = self._take_until(first)
        inner = self._take_until(last)
        behind = self._take_behind(last, end)
        self._end = behind[-1].start + len(behind[-1].text) + 1 if behind else end
        name, texts = self._sort_leading(leading, previous_end, start)
        for comment in (*inner, *behind):
            if _is_name(comment):
                raise SyntaxMistake("The name of a rule stands before the rule.", comment.start)
            texts.append(_strip_space(comment.text))
        return name, tuple(texts)

    def read_last(self) -> tuple[str, ...]:
        """The comments behind the last statement."""
        leading = self._take_until(len(self._stream.kinds))
        name, texts = self._sort_leading(leading, self._end, self._stream.starts[-1])
        if name is not None:
            raise SyntaxMistake("@name names the rule behind it, and none follows.", name.start)
        while texts and texts[-1] == BLANK_LINE:
            texts.pop()
        return tuple(texts)

    def _take_until(self, token: int) -> Sequence[Comment]:
        comments = self._stream.comments
        first = self._next
        while self._next < len(comments) and comments[self._next].token <= token:
            self._next += 1
        return comments[first : self._next]

    def _take_behind(self, last: int, end: int) -> Sequence[Comment]:
        """A comment on the same line, unless it names the next rule."""
        comments = self._stream.comments[self._next : self._next + 1]
        for comment in comments:
            is_next = comment.token == last + 1 and not _is_name(comment)
            if is_next and "\n" not in self._stream.text[end : comment.start]:
                self._next += 1
                return comments
        return ()

    def _sort_leading(
        self, comments: Sequence[Comment], end: int, start: int
    ) -> tuple[RuleName | None, list[str]]:
        name: RuleName | None = None
        texts: list[str] = []
        is_first = end == 0
        for comment in comments:
            self._add_blank_line(texts, end, comment.start)
            end = comment.start + len(comment.text) + 1
            if not _is_name(comment):
                texts.append(_strip_space(comment.text))
                continue
            if name is not None:
                raise SyntaxMistake("A rule has one name, and this is a second.", comment.start)
            name = _read_name(comment)
        self._add_blank_line(texts, end, start)
        if is_first and texts == [BLANK_LINE]:  # nothing stands before it
            texts = []
        return name, texts

    def _add_blank_line(self, texts: list[str], end: int, start: int) -> None:
        is_separate = end > 0 and self._stream.text.count("\n", end, start) > 1
        if is_separate and texts[-1:] != [BLANK_LINE]:
            texts.append(BLANK_LINE)


def _is_name(comment: Comment) -> bool:
    if "@" not in comment.text:
        return False
    tag = _TAG.match(comment.text)
    if tag is None or tag[1] == "name":
        return tag is not None
    if nearest(tag[1], ["name"]) is not None:
        raise SyntaxMistake(f'"@{tag[1]}" means nothing here.', comment.start, tag[1], ["name"])
    return False


def _read_name(comment: Comment) -> RuleName:
    match = _NAME_COMMENT.fullmatch(comment.text)
    if match is None:
        raise SyntaxMistake(
            'The name of a rule stands in quotation marks: % @name "{X} controls {Y}".',
            comment.start,
        )
    return RuleName(unescape_text(match[1], comment.start + 1 + match.start(1)), comment.start)


def _strip_space(text: str) -> str:
    return text.removeprefix(" ")
