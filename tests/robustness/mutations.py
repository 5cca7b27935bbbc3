"""Seeded damage to files: the same random source damages the same bytes in the same way.

Damage is of three kinds: to bytes (a bad disk, a broken transfer), to text (a slip of the hand, a
wrong export), and to plain values such as JSON holds (a file of another program or version).
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Random: TypeAlias = random.Random
Mutation: TypeAlias = Callable[[bytes, Random], bytes]

MOST_MUTATIONS = 4
LONGEST = 1 << 20
"""A damaged input is cut off here: what is looked for is odd files, not large ones."""

NUMBERS = ("-1", "0", "1e309", "-1e309", "nan", "inf", "1e-320", "0x10", "9" * 30, "9" * 5000, "٣",
           "1_000", "1,5", "--2", "2147483648", "9223372036854775808", "0.1.2")  # fmt: skip
DELIMITERS = (",", ";", "\t", "|", "\n", "\r", "\r\n", "\n\n", " ", ":", "=", "[", "]", "{", "}")
QUOTES = ('"', "'", '""', '"""', "\\", '\\"', "`", "“")
MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00", b"\x00" * 64, b"\xff", b"\x1a")
LETTERS = (
    "é",
    "\u2028",
    "\u0085",
    "\x0b",
    "\x0c",
    "\x1b[31m",
    "\U0001f600",
    "\u202e",
    "\u0131",
    "ß",
)
NAMES = ("", ".", "..", "../beside.txt", "/dev/null", "a\0b", "x" * 5000, "*", "%s", "-", "~")


def mutate(content: bytes, others: Sequence[bytes], source: Random, text: bool) -> bytes:
    """An input with one or some damages; `others` are inputs that it may be spliced with."""
    mutations = [*OF_BYTES, *(OF_TEXT * 3 if text else ())]
    for _ in range(source.randint(1, MOST_MUTATIONS)):
        if others and source.random() < 0.1:
            content = splice(content, source.choice(others), source)
        else:
            content = source.choice(mutations)(content, source)
    return content[:LONGEST]


def splice(one: bytes, other: bytes, source: Random) -> bytes:
    """The beginning of one input and the end of another."""
    return one[: _place(one, source)] + other[_place(other, source) :]


def flip_bits(content: bytes, source: Random) -> bytes:
    """Some single bits are turned."""
    damaged = bytearray(content)
    for _ in range(source.choice((1, 1, 2, 8, 64)) if damaged else 0):
        damaged[source.randrange(len(damaged))] ^= 1 << source.randrange(8)
    return bytes(damaged)


def replace_byte(content: bytes, source: Random) -> bytes:
    """A byte is another one, often one at the end of its range."""
    damaged = bytearray(content)
    if damaged:
        value = source.choice((0, 1, 127, 128, 255, source.randrange(256)))
        damaged[source.randrange(len(damaged))] = value
    return bytes(damaged)


def replace_number(content: bytes, source: Random) -> bytes:
    """Four or eight bytes are a number of another size, as of a length or an offset."""
    width = source.choice((2, 4, 8))
    number = source.choice((0, 1, -1, 1 << 31, (1 << 31) - 1, (1 << 62), len(content), 1 << 20))
    kept = number & ((1 << 8 * width) - 1)
    place = _place(content, source)
    written = kept.to_bytes(width, source.choice(("little", "big")))
    return content[:place] + written + content[place + width :]


def delete(content: bytes, source: Random) -> bytes:
    """A block is missing."""
    begin, end = _block(content, source)
    return content[:begin] + content[end:]


def duplicate(content: bytes, source: Random) -> bytes:
    """A block is there twice, or many times."""
    begin, end = _block(content, source)
    times = source.choice((2, 2, 3, 50))
    return content[:begin] + content[begin:end] * times + content[end:]


def move(content: bytes, source: Random) -> bytes:
    """A block is in another place."""
    begin, end = _block(content, source)
    rest = content[:begin] + content[end:]
    place = _place(rest, source)
    return rest[:place] + content[begin:end] + rest[place:]


def insert_noise(content: bytes, source: Random) -> bytes:
    """A block of noise is put in."""
    place = _place(content, source)
    return content[:place] + source.randbytes(source.choice((1, 4, 30, 600))) + content[place:]


def insert_mark(content: bytes, source: Random) -> bytes:
    """A byte order mark, a NUL or another byte that text does not have, mostly in front."""
    place = 0 if source.random() < 0.4 else _place(content, source)
    return content[:place] + source.choice(MARKS) + content[place:]


def truncate(content: bytes, source: Random) -> bytes:
    """The file ends too early."""
    return content[: _place(content, source)]


def insert_text(content: bytes, source: Random) -> bytes:
    """A number, quotation mark, delimiter or letter where none belongs."""
    kind = source.choice((NUMBERS, DELIMITERS, QUOTES, LETTERS))
    place = _place(content, source)
    return content[:place] + source.choice(kind).encode() + content[place:]


def replace_field(content: bytes, source: Random) -> bytes:
    """What stands between two delimiters is something else."""
    ends = [k for k, byte in enumerate(content) if byte in b',;\t\n =|()[]"']
    if len(ends) < 2:
        return content
    place = source.randrange(len(ends) - 1)
    word = source.choice((source.choice(NUMBERS), source.choice(NAMES), source.choice(LETTERS)))
    return content[: ends[place] + 1] + word.encode() + content[ends[place + 1] :]


def swap_lines(content: bytes, source: Random) -> bytes:
    """Two lines change places."""
    lines = content.splitlines(keepends=True)
    if len(lines) > 1:
        one, other = source.sample(range(len(lines)), 2)
        lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def delete_line(content: bytes, source: Random) -> bytes:
    """A line is missing, often the first."""
    lines = content.splitlines(keepends=True)
    if lines:
        del lines[0 if source.random() < 0.3 else source.randrange(len(lines))]
    return b"".join(lines)


def repeat_line(content: bytes, source: Random) -> bytes:
    """A line is there twice, the second time in another place."""
    lines = content.splitlines(keepends=True)
    if lines:
        lines.insert(source.randrange(len(lines) + 1), source.choice(lines))
    return b"".join(lines)


def recode(content: bytes, source: Random) -> bytes:
    """The text is in another encoding, or its line ends are of another system."""
    text = content.decode("utf-8", "replace")
    way = source.choice(("utf-16", "utf-16-le", "latin-1", "cp1252", "utf-8-sig", "\r", "\r\n"))
    if way.strip() == "":
        return text.replace("\n", way).encode()
    return text.encode(way, "replace")


OF_BYTES: tuple[Mutation, ...] = (flip_bits, replace_byte, replace_number, delete, duplicate, move,
                                  insert_noise, insert_mark, truncate)  # fmt: skip
OF_TEXT: tuple[Mutation, ...] = (insert_text, replace_field, swap_lines, delete_line, repeat_line,
                                 recode)  # fmt: skip


def mutate_value(value: Any, source: Random) -> Any:
    """Plain values (of JSON) in which one, somewhere inside, is another, missing or renamed."""
    if isinstance(value, dict) and value and source.random() < 0.8:
        key = source.choice(sorted(value))
        way = source.random()
        if way < 0.15:
            return {name: inner for name, inner in value.items() if name != key}
        if way < 0.3:
            return {**value, source.choice(NAMES): source.choice((None, 0, "", value[key]))}
        if way < 0.45:
            new = source.choice(NAMES)
            return {new if name == key else name: inner for name, inner in value.items()}
        return {**value, key: mutate_value(value[key], source)}
    if isinstance(value, list) and value and source.random() < 0.8:
        place = source.randrange(len(value))
        return [*value[:place], mutate_value(value[place], source), *value[place + 1 :]]
    return source.choice((None, True, 0, -1, 1 << 70, 0.5, "", [], {}, [[]], {"": None}, [value],
                          source.choice(NAMES), source.choice(NUMBERS), "é\ud800"))  # fmt: skip


def mutate_json(content: bytes, source: Random) -> bytes:
    """A JSON text whose values are damaged, and now and then nested as deep as no one writes."""
    value = json.loads(content)
    for _ in range(source.randint(1, 2)):
        value = mutate_value(value, source)
    text = json.dumps(value).encode()
    if source.random() < 0.05:
        deep = source.choice((200, 100_000))
        return b"[" * deep + text + b"]" * deep
    return text


def _place(content: bytes, source: Random) -> int:
    return source.randint(0, len(content))


def _block(content: bytes, source: Random) -> tuple[int, int]:
    begin = _place(content, source)
    length = source.choice((1, 2, 8, 40, 400, len(content) // 2))
    return begin, min(len(content), begin + length)
