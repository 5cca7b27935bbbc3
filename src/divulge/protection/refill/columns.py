"""What the attack works on: columns of integers, without a dataset around them.

Every relation that is sought reads from such columns and predicts one; beside the published ones
there are columns of what is absent, of the row before, and of groups known from elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from divulge.protection.refill.kernels import ABSENT
from divulge.work.arrays import Array, Floats, Ints

Origin: TypeAlias = Literal["published", "group", "absence", "previous"]
"""Where a column comes from: the release, elsewhere, what is absent, the row before."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CodedColumn:
    """A column as codes: 0 or more for a value, ABSENT or HIDDEN; and numbers, if it has them."""

    name: str
    codes: Ints
    cardinality: int
    numbers: Floats | None = None
    """The number that each code stands for; None if values are no numbers."""
    origin: Origin = "published"

    def list_numbers(self, codes: Ints) -> Floats:
        """The numbers of some codes; not-a-number where there is no value."""
        assert self.numbers is not None  # noqa: S101  # asked before
        return np.append(self.numbers, np.nan)[np.where(codes >= 0, codes, -1)]


def build_absence_columns(columns: Sequence[CodedColumn]) -> list[CodedColumn]:
    """One column for every pattern of absent cells, named after the first column that has it."""
    patterns: dict[bytes, CodedColumn] = {}
    for column in columns:
        is_absent = column.codes == ABSENT
        if is_absent.any() and not is_absent.all():
            key = np.packbits(is_absent).tobytes()
            if key not in patterns:
                patterns[key] = CodedColumn(
                    name=column.name,
                    codes=is_absent.astype(np.int32),
                    cardinality=2,
                    origin="absence",
                )
    return list(patterns.values())


def shift_codes(codes: Ints) -> Ints:
    """The codes of the row before; the first row has none."""
    shifted = np.empty_like(codes)
    shifted[:1] = ABSENT
    shifted[1:] = codes[:-1]
    return shifted


def mix_codes(columns: Sequence[Array], rows: int) -> Ints:
    """A number for each row's combination of codes; equal combinations have equal numbers.

    Two different ones have the same number with a chance of 2**-64, and then count as alike.
    """
    mixed = np.zeros(rows, np.uint64)
    for codes in columns:
        mixed ^= (codes.astype(np.int64) + 3).view(np.uint64)
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed.view(np.int64)
