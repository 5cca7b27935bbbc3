"""Quotation marks that stand astray: two of them make one record of several, and no reader objects.

A field that begins with a quotation mark ends with one, and within it a mark is written twice.
Where a text keeps to that, all readers cut it alike; a few comparisons over a whole block show it.
Other blocks are walked record by record. A record over several lines, each of which has as many
fields as the header, is most likely several records that two stray marks have made one.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from divulge.data import tuning
from divulge.work import Problem

LINE_FEED, CARRIAGE_RETURN = 10, 13


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """How a text is cut: its marks as bytes, the fields of a record, what its line breaks mean."""

    separator: bytes
    quote: bytes
    fields: int
    line_breaks_meant: bool

    @cached_property
    def edges(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """The bytes that may stand before an opening mark and after a closing one."""
        edges = np.zeros(256, dtype=bool)
        edges[[*self.separator, *self.quote, LINE_FEED, CARRIAGE_RETURN]] = True
        return edges

    @cached_property
    def quoted_field(self) -> re.Pattern[bytes]:
        """A field in quotation marks without its closing mark."""
        mark = re.escape(self.quote)
        return re.compile(b"%b(?:[^%b]++|%b%b)*+" % (mark, mark, mark, mark))

    @cached_property
    def quoted_field_in_line(self) -> re.Pattern[bytes]:
        """A field in quotation marks that is closed before its line ends."""
        mark = re.escape(self.quote)
        return re.compile(b"%b((?:[^%b\r\n]++|%b%b)*+)%b" % (mark, mark, mark, mark, mark))

    @cached_property
    def field_pattern(self) -> re.Pattern[bytes]:
        """One field; a mark after its first letter is a letter like any other."""
        mark, cut = re.escape(self.quote), re.escape(self.separator)
        plain = b"(?!%b)[^%b\r\n]*+" % (mark, cut)
        return re.compile(b"%b%b(?=[%b\r\n])|%b" % (self.quoted_field.pattern, mark, cut, plain))

    @cached_property
    def record_pattern(self) -> re.Pattern[bytes]:
        """One record and the end of its line."""
        field, cut = self.field_pattern.pattern, re.escape(self.separator)
        return re.compile(b"(?:%b)(?:%b(?:%b))*+(?:\r\n?|\n)" % (field, cut, field))

    @cached_property
    def after_blank(self) -> re.Pattern[bytes]:
        """A field whose quotation mark has blanks before it."""
        return re.compile(b" +(?=%b)" % re.escape(self.quote))

    def may_be_record(self, line: bytes) -> bool:
        """Whether a line has the fields of a record, with a meaning of its marks or without."""
        if self.fields == 1:
            return True
        most = line.count(self.separator) + 1
        if most <= self.fields or self.quote not in line:
            return most == self.fields
        reader = csv.reader(
            [line.decode("latin-1")],
            delimiter=self.separator.decode(),
            quotechar=self.quote.decode(),
        )
        try:
            return len(next(reader)) == self.fields
        except csv.Error:
            return False


@dataclass(frozen=True)
class Fault:
    """A record that readers may cut in several ways: where it begins, where it goes wrong."""

    begin: int
    end: int
    message: str


NEVER_CLOSED = "opens a quotation mark that is never closed."
TOO_LONG = "is too long for a record."
TEXT_AFTER_MARK = (
    "{where} text right after a closing quotation mark; write a mark within a field twice, "
    'or give quote = "" if the file has none.'
)
BLANK_BEFORE_MARK = (
    "has a blank before a quotation mark, and readers differ on what that means; take the blank "
    'away, or give quote = "" if the file has none.'
)
SWALLOWED_RECORDS = (
    "opens a quotation mark that is closed in line {last}, yet each of these lines has as many "
    "fields as the header: they are probably records of their own. Mend the marks; if these line "
    "breaks are meant, say quote = {quote}."
)


def find_quote_problem(
    blocks: Callable[[], Iterator[bytes]], grammar: Grammar
) -> tuple[int, Problem] | None:
    r"""The first line whose quotation marks are not to be trusted, and what is wrong with it.

    Args:
        blocks: gives the text anew, as bytes in which all marks are ASCII.
        grammar: how the text is cut.

    >>> grammar = Grammar(separator=b",", quote=b'"', fields=2, line_breaks_meant=False)
    >>> _, problem = find_quote_problem(lambda: iter([b'a,b\n1,"5 inch\n2,6 inch"\n']), grammar)
    >>> print(problem)
    line 2: opens a quotation mark that is closed in line 3, yet each of these lines ...
    """
    fault = find_fault(blocks(), grammar)
    if fault is None:
        return None
    first, last = (_find_line_number(blocks(), offset) for offset in (fault.begin, fault.end))
    closed_later = f"opens a quotation mark that is closed in line {last}, with"
    where = "has" if first == last else closed_later
    mark = grammar.quote.decode()
    shown_quote = f"'{mark}'" if mark == '"' else f'"{mark}"'
    message = fault.message.format(where=where, last=last, quote=shown_quote)
    return first, Problem(f"line {first}", message)


def find_fault(blocks: Iterable[bytes], grammar: Grammar) -> Fault | None:
    """The first record of a text that readers may cut in several ways."""
    begin, next_size = 0, 0
    pending: list[bytes] = []
    for block, is_last in _mark_last_block(blocks):
        pending.append(block)
        if not is_last and sum(map(len, pending)) < next_size:
            continue
        text = b"".join([*pending, b"\n"] if is_last else pending)
        whole_bytes, fault = _scan_text(text, grammar)
        if fault is not None:
            return replace(fault, begin=fault.begin + begin, end=fault.end + begin)
        begin += whole_bytes
        rest = text[whole_bytes:]
        if rest and (is_last or len(rest) > tuning.LONGEST_RECORD):
            return Fault(begin, begin, NEVER_CLOSED if grammar.quote in rest else TOO_LONG)
        # A record that goes on and on is looked at again only when there is twice as much of it.
        pending, next_size = [rest], 0 if whole_bytes else 2 * len(rest)
    return None


def _mark_last_block(blocks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    before = b""
    for block in blocks:
        if before:
            yield before, False
        before = block
    yield before, True


def _scan_text(text: bytes, grammar: Grammar) -> tuple[int, Fault | None]:
    """How many bytes of a text are whole records, and what is wrong with the first that is not.

    The text begins where a record does; its last record may be cut off.
    """
    if grammar.quote not in text:
        return _find_last_line_end(text), None
    proof = _find_regular_records(text, grammar)
    if proof is None:
        return _scan_records(text, grammar)
    whole, several_lines = proof
    if not grammar.line_breaks_meant:
        for begin, end in several_lines:
            if _are_records(text[begin:end], grammar):
                return whole, Fault(begin, end - 1, SWALLOWED_RECORDS)
    return whole, None


def _find_regular_records(
    text: bytes, grammar: Grammar
) -> tuple[int, Iterable[tuple[int, int]]] | None:
    """Where whole records end, and those over several lines; None if some mark is out of place.

    Marks open and close in turn (one that is written twice closes and opens again). If each that
    opens stands after an edge and each that closes before one, turns are what any reader sees.
    """
    letters = np.frombuffer(text, np.uint8)
    marks = np.flatnonzero(letters == grammar.quote[0])
    opening, closing = marks[0::2], marks[1::2]
    opening = opening[1:] if opening[0] == 0 else opening
    closing = closing[:-1] if len(closing) and closing[-1] == len(text) - 1 else closing
    edges = grammar.edges
    if not (edges[letters[opening - 1]].all() and edges[letters[closing + 1]].all()):
        return None
    is_break = letters == LINE_FEED
    if b"\r" in text:
        is_break |= letters == CARRIAGE_RETURN
    breaks = np.flatnonzero(is_break)
    within = np.searchsorted(marks, breaks) % 2 == 1
    ends = breaks[~within]
    whole = int(ends[-1]) + 1 if len(ends) else 0
    inner = breaks[within]
    several = np.unique(np.searchsorted(ends, inner[inner < whole]))
    begins = np.append(0, ends + 1)
    return whole, zip(begins[several].tolist(), ends[several].tolist(), strict=True)


def _scan_records(text: bytes, grammar: Grammar) -> tuple[int, Fault | None]:
    """The same, record by record; only lines with a quotation mark are cut into fields."""
    place = 0
    while (mark := text.find(grammar.quote, place)) >= 0:
        begin = place + _find_last_line_end(text[place:mark])
        record = grammar.record_pattern.match(text, begin)
        if record is None:
            return begin, _find_fault_at(text, begin, grammar)
        place = record.end()
        body = record.group()
        if not grammar.line_breaks_meant and _are_records(body, grammar):
            return begin, Fault(begin, begin + len(body.rstrip(b"\r\n")), SWALLOWED_RECORDS)
        if _has_blank_before_mark(body, grammar):
            return begin, Fault(begin, begin, BLANK_BEFORE_MARK)
    return place + _find_last_line_end(text[place:]), None


def _find_fault_at(text: bytes, begin: int, grammar: Grammar) -> Fault | None:
    """What is wrong with a record that is none; nothing if the text only ends too early."""
    place = begin
    while place < len(text) and (field := grammar.field_pattern.match(text, place)):
        place = field.end() + 1
    unclosed = grammar.quoted_field.match(text, place)
    if unclosed is None or unclosed.end() + 1 >= len(text):
        return None
    return Fault(begin, unclosed.end(), TEXT_AFTER_MARK)


def _are_records(body: bytes, grammar: Grammar) -> bool:
    """Whether every line of a record over several lines could be a record by itself."""
    # An empty line says nothing: between records of several fields it would be passed over.
    lines = list(filter(None, body.splitlines()))
    # The last line of a text that is meant to have several is the likeliest to have few fields.
    return len(lines) > 1 and all(map(grammar.may_be_record, reversed(lines)))


def _has_blank_before_mark(body: bytes, grammar: Grammar) -> bool:
    """Whether a reader that passes over blanks would cut a record otherwise."""
    if grammar.separator == b" " or b" " + grammar.quote not in body:
        return False
    place = 0
    while place < len(body) and (field := grammar.field_pattern.match(body, place)):
        if blank := grammar.after_blank.match(body, place):
            quoted = grammar.quoted_field_in_line.match(body, blank.end())
            if quoted is None:
                return True
            is_closed = grammar.edges[body[quoted.end()]]
            if is_closed and grammar.separator in quoted.group(1):
                return True
        place = field.end() + 1
    return False


def _find_last_line_end(text: bytes) -> int:
    return max(text.rfind(b"\n"), text.rfind(b"\r")) + 1


def _find_line_number(blocks: Iterator[bytes], offset: int) -> int:
    """The number of the line in which a byte stands."""
    line, before = 1, b""
    for block in blocks:
        part = block[:offset]
        line += part.count(b"\n") + part.count(b"\r") - part.count(b"\r\n")
        line -= before.endswith(b"\r") and part.startswith(b"\n")
        before, offset = block, offset - len(part)
        if not offset:
            break
    return line
