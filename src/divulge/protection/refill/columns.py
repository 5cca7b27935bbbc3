"""What the attack works on: columns of integers, without a dataset around them.

Every relation that is sought reads from such columns and predicts one; beside the published ones
there are columns of what is absent, of the row before, and of groups known from elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from divulge.protection.refill.kernels import ABSENT
from divulge.work.arrays import Array, Bools, Floats, Ints

Origin: TypeAlias = Literal[
    "published", "group", "absence", "previous", "finer", "coarser",
    "beginning", "end", "character",
]  # fmt: skip
"""Where a column comes from: the release, elsewhere, what is absent, the row before; a published
column that was made coarser, by its finer values as far as they show, or all at one level; or the
first, the last or single characters of published codes."""

SINGLE_ORIGINS = ("beginning", "end", "character")
"""Columns that are read by themselves only: they are parts of others."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AllowedValues:
    """Which finer values each published value of a column may stand for."""

    published: Ints
    """By row, the code of the published value, negative if there is none."""
    ancestors: Ints
    """By level and finer code, the value that it is published as at that level; the code of a
    published value is that of its column, -1 if a level adds nothing."""

    def may_be(self, rows: Ints, codes: Ints) -> Bools:
        """Whether cells may have some finer values; where nothing is published, they may."""
        published = self.published[rows]
        is_known = (codes >= 0) & (codes < self.ancestors.shape[1])
        levels = self.ancestors[:, np.where(is_known, codes, 0)]
        is_above = (levels == published).any(axis=0) & is_known
        return np.asarray((published < 0) | is_above, np.bool_)

    def count_finer(self) -> Ints:
        """For each row, how many finer values its published one may stand for."""
        nodes = self.ancestors[self.ancestors >= 0]
        counts = np.bincount(nodes, minlength=int(self.published.max(initial=0)) + 1)
        return np.where(self.published >= 0, counts[np.maximum(self.published, 0)], 0)


@dataclass(frozen=True, eq=False, kw_only=True)
class CodedColumn:
    """A column as codes: 0 or more for a value, ABSENT or HIDDEN; and numbers, if it has them."""

    name: str
    codes: Ints
    cardinality: int
    numbers: Floats | None = None
    """The number that each code stands for; None if values are no numbers."""
    origin: Origin = "published"
    allowed: AllowedValues | None = None
    """Of a finer column: the values that the published, coarser ones leave."""
    copies: Mapping[str, Ints] = field(default_factory=dict)
    """Of a finer column: other columns that hold the same values, by code the finer one's code."""
    is_id: bool = False
    """Whether its values are names of persons, households or groups, which mean nothing else."""

    @property
    def key(self) -> str:
        """What tells a column of finer values from the published one of the same name."""
        return f"{self.name} finer" if self.origin == "finer" else self.name

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
