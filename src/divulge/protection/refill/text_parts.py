"""The beginnings and ends of texts as columns of their own: codes are made of other attributes.

A form number "NC-12345" begins with the region and the sector. Nearly every such text is unique, so
that the column as a whole bears nothing out; its first characters are few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from divulge.protection import tuning
from divulge.protection.refill.columns import CodedColumn, Origin
from divulge.work.arrays import Ints


def build_text_parts(name: str, codes: Ints, values: Any) -> list[CodedColumn]:
    """The first and the last characters of a column of texts, of every length that says something.

    Where values are few, the column says all that its parts do.

    Args:
        name: what the column is called.
        codes: its cells, negative where nothing is shown.
        values: what each code stands for (an Arrow array).
    """
    import pyarrow as pa

    kinds = int(np.unique(codes[codes >= 0]).size)
    is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    if not is_text or not kinds or kinds * tuning.REFILL_DICTIONARY_ROWS <= codes.size:
        return []
    texts = [text or "" for text in values.to_pylist()]
    return [
        CodedColumn(name=name, codes=part, cardinality=int(part.max()) + 1, origin=origin)
        for origin, part in _list_parts(texts, codes)
    ]


def _list_parts(texts: Sequence[str], codes: Ints) -> Iterator[tuple[Origin, Ints]]:
    """The codes of each part: few enough to mean something, more of them with every length."""
    shown = codes >= 0
    for origin, is_end in (("beginning", False), ("end", True)):
        known = 1
        for length in range(1, tuning.REFILL_TEXT_PART + 1):
            parts = [text[-length:] if is_end else text[:length] for text in texts]
            place_of = {part: place for place, part in enumerate(dict.fromkeys(parts))}
            own = np.array([place_of[part] for part in parts], np.int32)
            part_codes = np.where(shown, own[np.maximum(codes, 0)], codes).astype(np.int32)
            kinds = int(np.unique(part_codes[shown]).size)
            if kinds * tuning.REFILL_DICTIONARY_ROWS > codes.size:
                break
            if kinds > known:
                known = kinds
                yield origin, part_codes  # type: ignore[misc]
