"""What R writes when it saves an object: vectors with attributes, nested, some by reference.

Only what a data frame is made of is read: vectors, lists, and what hangs on them. Functions,
environments with content and other code are refused: nothing of a file is ever run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np

from divulge.data import tuning

NOT_A_TABLE = "contains more than a data frame of vectors: functions, formulas or the like."


class Kind(IntEnum):
    """What an item is, by the number that R gives it."""

    SYMBOL = 1
    PAIRS = 2
    ENVIRONMENT = 4
    CHARACTERS = 9
    LOGICAL = 10
    INTEGER = 13
    REAL = 14
    STRINGS = 16
    LIST = 19
    POINTER = 22
    ALTERNATIVE = 238
    PAIRS_WITH_ATTRIBUTES = 239
    NAMESPACE = 249
    PACKAGE = 250
    NULL = 254
    REFERENCE = 255


_NOTHING = (Kind.NULL, 242, 241, 253, 252, 251)
"""NULL, and environments that every session has."""


class NotReadable(Exception):
    """The bytes are no data frame that can be read; the message says why."""


@dataclass
class RVector:
    """A vector of R: numbers as an array, texts and lists as a list; what hangs on it."""

    values: Any
    is_logical: bool = False
    attributes: dict[str, RVector] = field(default_factory=dict)

    def read_texts(self, name: str) -> list[str]:
        """The texts of an attribute; none if it is not there."""
        attribute = self.attributes.get(name)
        texts = attribute.values if attribute is not None else []
        return [text for text in texts if isinstance(text, str)] if isinstance(texts, list) else []


class Unserializer:
    """Reads one object from the bytes of a file, which are big-endian (the usual) or little."""

    def __init__(self, content: bytes) -> None:
        if content[:2] not in (b"X\n", b"B\n"):
            message = "is not in a binary form of R; save it with saveRDS(data, file)."
            raise NotReadable(message)
        self._order = ">" if content[:1] == b"X" else "<"
        self._content = content
        self._place = 2
        self._references: list[Any] = []
        self._native_encoding = "utf-8"

    def read(self) -> Any:
        """The object.

        Raises:
            NotReadable: if it is damaged, or not made of vectors alone.
        """
        version, _, _ = (self._read_integer() for _ in range(3))
        if version not in (2, 3):
            raise NotReadable(f"is of version {version} of R's format; 2 and 3 can be read.")
        if version == 3:
            name = self._take(self._read_count()).decode("ascii", "replace").lower()
            self._native_encoding = "latin-1" if "8859-1" in name or "latin1" in name else "utf-8"
        return self._read_item(0)

    def _take(self, count: int) -> bytes:
        if count < 0 or self._place + count > len(self._content):
            raise NotReadable("is damaged or cut off.")
        self._place += count
        return self._content[self._place - count : self._place]

    def _read_integer(self) -> int:
        return int(np.frombuffer(self._take(4), f"{self._order}i4")[0])

    def _read_count(self) -> int:
        count = self._read_integer()
        if count == -1:  # longer than 2 billion: two halves
            high, low = self._read_integer(), self._read_integer()
            count = (high << 32) + (low & 0xFFFFFFFF)
        return count

    def _read_array(self, kind: str) -> Any:
        count = self._read_count()
        content = self._take(count * int(kind[1:]))
        return np.frombuffer(content, self._order + kind).astype(kind)

    def _read_item(self, depth: int) -> Any:
        if depth > tuning.MAX_NESTED_OBJECTS:
            raise NotReadable("is nested too deeply.")
        flags = self._read_integer() & 0xFFFFFFFF
        kind, has_attributes, has_tag = flags & 0xFF, bool(flags & 0x200), bool(flags & 0x400)
        if kind in _NOTHING:
            return None
        if kind == Kind.REFERENCE:
            return self._look_up((flags >> 8) or self._read_integer())
        if kind == Kind.CHARACTERS:
            return self._read_characters(flags >> 12)
        if kind in (Kind.PAIRS, Kind.PAIRS_WITH_ATTRIBUTES):
            has_attributes = has_attributes or kind == Kind.PAIRS_WITH_ATTRIBUTES
            return self._read_pairs(depth, has_attributes=has_attributes, has_tag=has_tag)
        if kind in (Kind.LOGICAL, Kind.INTEGER, Kind.REAL, Kind.STRINGS, Kind.LIST):
            return self._read_vector(kind, depth, has_attributes)
        return self._read_rare_item(kind, depth, has_attributes)

    def _read_rare_item(self, kind: int, depth: int, has_attributes: bool) -> Any:
        """Names of attributes, vectors in a shorter form, and what hangs on tables unasked."""
        if kind == Kind.SYMBOL:
            return self._remember(self._read_item(depth + 1))
        if kind == Kind.ALTERNATIVE:
            return self._read_alternative(depth)
        if kind not in (Kind.NAMESPACE, Kind.PACKAGE, Kind.POINTER, Kind.ENVIRONMENT):
            raise NotReadable(NOT_A_TABLE)
        self._remember(None)
        parts = 2 + has_attributes
        if kind != Kind.POINTER:
            self._read_integer()  # whether it is locked, or a 0
            parts = 4 if kind == Kind.ENVIRONMENT else self._read_count()
        for _ in range(parts):
            self._read_item(depth + 1)
        return None

    def _read_vector(self, kind: int, depth: int, has_attributes: bool) -> RVector:
        if kind in (Kind.LOGICAL, Kind.INTEGER):
            vector = RVector(self._read_array("i4"), is_logical=kind == Kind.LOGICAL)
        elif kind == Kind.REAL:
            vector = RVector(self._read_array("f8"))
        else:
            count = self._read_count()
            if not 0 <= count <= len(self._content) - self._place:
                raise NotReadable("is damaged or cut off.")
            vector = RVector([self._read_item(depth + 1) for _ in range(count)])
        if has_attributes:
            vector.attributes = self._read_attributes(depth)
        return vector

    def _read_attributes(self, depth: int) -> dict[str, RVector]:
        pairs = self._read_item(depth + 1)
        if not isinstance(pairs, list):
            return {}
        return {
            name: each
            for name, each in pairs
            if isinstance(name, str) and isinstance(each, RVector)
        }

    def _read_pairs(self, depth: int, *, has_attributes: bool, has_tag: bool) -> list[Any]:
        """A list of pairs, link by link: attributes of a long chain are not a deep one."""
        pairs: list[Any] = []
        while True:
            if has_attributes:
                self._read_item(depth + 1)
            tag = self._read_item(depth + 1) if has_tag else None
            pairs.append((tag, self._read_item(depth + 1)))
            before = self._place
            flags = self._read_integer() & 0xFFFFFFFF
            if flags & 0xFF not in (Kind.PAIRS, Kind.PAIRS_WITH_ATTRIBUTES):
                self._place = before
                self._read_item(depth + 1)  # the end, or what a dotted pair ends with
                return pairs
            has_attributes = bool(flags & 0x200) or flags & 0xFF == Kind.PAIRS_WITH_ATTRIBUTES
            has_tag = bool(flags & 0x400)

    def _read_characters(self, levels: int) -> str | None:
        length = self._read_integer()
        if length == -1:
            return None
        encoding = "utf-8" if levels & 8 else "latin-1" if levels & 4 else self._native_encoding
        try:
            return self._take(length).decode(encoding)
        except UnicodeDecodeError:
            raise NotReadable("contains text that is not in the encoding that it names.") from None

    def _read_alternative(self, depth: int) -> Any:
        """A vector that R keeps in a shorter form: a sequence, or one with a wrapper around it."""
        about, state = self._read_item(depth + 1), self._read_item(depth + 1)
        attributes = self._read_attributes(depth)
        name = about[0][1] if isinstance(about, list) and about else ""
        if name in ("compact_intseq", "compact_realseq") and _has_length(state, 3):
            count, first, step = (float(number) for number in state.values[:3])
            self._refuse_longer(count)
            values = first + step * np.arange(int(count))
            return RVector(values.astype("i4" if "int" in name else "f8"), False, attributes)
        if str(name).startswith("wrap_") and _has_length(state, 2):
            vector = state.values[0]
        elif name == "deferred_string" and isinstance(state, list) and _has_length(state[0][1], 0):
            vector = RVector([_write_number(number) for number in state[0][1].values])
        else:
            raise NotReadable(NOT_A_TABLE)
        if not isinstance(vector, RVector):
            raise NotReadable(NOT_A_TABLE)
        return RVector(vector.values, vector.is_logical, attributes or vector.attributes)

    def _refuse_longer(self, count: float) -> None:
        """A sequence of a few bytes may claim any length."""
        if not 0 <= count < 2**31:
            raise NotReadable("is damaged or cut off.")

    def _remember(self, value: Any) -> Any:
        self._references.append(value)
        return value

    def _look_up(self, number: int) -> Any:
        if not 1 <= number <= len(self._references):
            raise NotReadable("is damaged or cut off.")
        return self._references[number - 1]


def _has_length(item: Any, least: int) -> bool:
    """Whether it is a vector of so many values, which damaged bytes may not be."""
    return isinstance(item, RVector) and len(item.values) >= least


def _write_number(number: Any) -> str | None:
    """A number as R writes it where texts were numbers."""
    if isinstance(number, np.integer):
        return None if number == np.iinfo(np.int32).min else str(int(number))
    return None if np.isnan(number) else f"{float(number):.15g}"
