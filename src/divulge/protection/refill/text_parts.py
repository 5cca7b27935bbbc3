"""The parts of codes as columns of their own: codes are made of other attributes.

A form number "NC-12345" begins with the region and the sector; of "7104223" the fourth digit may be
the sector, of "55BG7186" two letters the region. Nearly every such code is unique, so that the
column as a whole bears nothing out; its first and last characters are few, and so are those at any
place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from divulge.protection import tuning
from divulge.protection.refill.columns import CodedColumn, Origin
from divulge.work.arrays import Ints


def build_text_parts(name: str, codes: Ints, values: Any) -> list[CodedColumn]:
    """The characters of a column of codes, first, last and between, as far as they say something.

    Where values are few, the column says all that its parts do.

    Args:
        name: what the column is called.
        codes: its cells, negative where nothing is shown.
        values: what each code stands for (an Arrow array).
    """
    kinds = int(np.unique(codes[codes >= 0]).size)
    if not kinds or kinds * tuning.REFILL_DICTIONARY_ROWS <= codes.size:
        return []
    texts = _list_texts(values)
    if texts is None:
        return []
    return [
        CodedColumn(name=name, codes=part, cardinality=int(part.max()) + 1, origin=origin)
        for origin, part in _list_parts(texts, codes)
    ]


def _list_texts(values: Any) -> list[str] | None:
    """The values as texts, if they are codes: texts, or whole numbers of the same length."""
    import pyarrow as pa

    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return [text or "" for text in values.to_pylist()]
    if not pa.types.is_integer(values.type):
        return None
    texts = [str(value) for value in values.to_pylist()]
    is_code = len({len(text) for text in texts}) == 1 and all(map(str.isdigit, texts))
    return texts if is_code else None


def _list_parts(texts: Sequence[str], codes: Ints) -> Iterator[tuple[Origin, Ints]]:
    """The codes of each part: few enough to mean something, more of them with every length."""
    most = tuning.REFILL_TEXT_PART
    for origin, is_end in (("beginning", False), ("end", True)):
        known = 1
        for length in range(1, most + 1):
            parts = [text[-length:] if is_end else text[:length] for text in texts]
            part, kinds = _encode_part(parts, codes)
            if kinds * tuning.REFILL_DICTIONARY_ROWS > codes.size:
                break
            if kinds > known:
                known = kinds
                yield origin, part  # type: ignore[misc]
    yield from _list_windows(texts, codes)


def _list_windows(texts: Sequence[str], codes: Ints) -> Iterator[tuple[Origin, Ints]]:
    """The codes of characters between the ends, one and several together, each partition once."""
    longest = max(map(len, texts), default=0)
    seen: set[bytes] = set()
    for width, most in enumerate(tuning.REFILL_TEXT_PLACES, start=1):
        # What begins or ends a code is a part already.
        for place in range(1, min(longest - width, most)):
            part, kinds = _encode_part([text[place : place + width] for text in texts], codes)
            if 1 < kinds <= codes.size // tuning.REFILL_DICTIONARY_ROWS:
                key = part.tobytes()  # numbered as they come: equal partitions have equal codes
                if key not in seen:
                    seen.add(key)
                    yield "character", part


def _encode_part(parts: Sequence[str], codes: Ints) -> tuple[Ints, int]:
    """A code for every different part, in the rows that show it; and how many there are."""
    shown = codes >= 0
    place_of = {part: place for place, part in enumerate(dict.fromkeys(parts))}
    own = np.array([place_of[part] for part in parts], np.int32)
    part_codes = np.where(shown, own[np.maximum(codes, 0)], codes).astype(np.int32)
    return part_codes, int(np.unique(part_codes[shown]).size)
