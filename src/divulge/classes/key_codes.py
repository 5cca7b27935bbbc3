"""Codes of quasi-identifiers for counting: what was absent is a value, what is hidden is not.

A cell may be missing because the value was never there (absent), or because protection hid it.
Whoever knows their victim knows what is absent too, and other columns often tell the two apart; so
absence is a value of its own where an adversary weighs what they know (it never flatters: records
that are alike with absence known are alike without), and only what is hidden may be anything. Where
a reading counts nulls as such (`maybe`, `standard`, `value`), both are nulls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from divulge.data import Column, Dataset
from divulge.data.column import find_hidden_cells
from divulge.work.arrays import Array


@dataclass(frozen=True)
class KeyCodes:
    """One attribute: codes below `cardinality`, of which `hidden_code` may be anything."""

    codes: Array
    cardinality: int
    hidden_code: int

    @property
    def hides(self) -> bool:
        """Whether some cell may be anything."""
        return bool(np.any(self.codes == self.hidden_code))


def encode_nulls_alike(column: Column) -> KeyCodes:
    """Codes in which every missing value may be anything."""
    return KeyCodes(column.codes, len(column.values) + 1, column.missing_code)


def encode_absence_apart(column: Column, original: Column | None = None) -> KeyCodes:
    """Codes in which absence is the value after the last, and only hidden cells may be anything.

    What is missing in a release and was not in the `original` is hidden, marked or not.

    >>> import pyarrow as pa
    >>> from divulge.data.column import encode_array
    >>> before, after = encode_array(pa.array(["F", "M", None])), encode_array(
    ...     pa.array(["F", None, None])
    ... )
    >>> encode_absence_apart(after, before).codes.tolist()
    [0, 2, 1]
    """
    if not column.has_missing:
        return KeyCodes(column.codes, len(column.values) + 2, len(column.values) + 1)
    codes = column.codes.astype(np.int64)
    codes[find_hidden_cells(column, original)] = column.missing_code + 1
    return KeyCodes(codes, len(column.values) + 2, column.missing_code + 1)


def encode_keys(
    dataset: Dataset,
    names: Sequence[str],
    *,
    absence_apart: bool,
    original: Dataset | None = None,
) -> list[KeyCodes]:
    """The codes of some attributes, with or without absence as a value of its own."""
    if not absence_apart:
        return [encode_nulls_alike(dataset.columns[name]) for name in names]
    return [
        encode_absence_apart(
            dataset.columns[name], None if original is None else original.columns[name]
        )
        for name in names
    ]
