"""The distribution of an attribute before and after: what became of the cells of each value.

Values are told by rank, most frequent first, or by tenths of the records in their order: a value of
a record is named only to whoever asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from divulge.data import Column, Dataset
from divulge.data.value_texts import format_value, match_value_texts
from divulge.protection import tuning
from divulge.protection.result.cell_utility import list_ladders
from divulge.work.arrays import Bools, Ints

Grouping: TypeAlias = Literal["value", "tenth", "rest"]
"""One value; those of a tenth of the records, in order; or all that are not among the frequent."""


@dataclass(frozen=True, kw_only=True)
class ValueChange:
    """The cells that had one value, or one of several, and what became of them."""

    grouping: Grouping
    rank: int
    """From 1: the most frequent value, or the lowest tenth."""
    values: int
    first: str
    last: str
    """The values themselves: the first and the last of them in order. Confidential."""
    before: int
    unchanged: int
    coarser: int
    suppressed: int
    removed: int

    def to_dict(self, values: bool = False) -> dict[str, Any]:
        """The counts as plain values; what the values are only on request."""
        named = {"first": self.first, "last": self.last} if values else {}
        return {
            "grouping": self.grouping,
            "rank": self.rank,
            "values": self.values,
            **named,
            "before": self.before,
            "unchanged": self.unchanged,
            "coarser": self.coarser,
            "suppressed": self.suppressed,
            "removed": self.removed,
        }


@dataclass(frozen=True, kw_only=True)
class AttributeChange:
    """What became of the cells of an attribute: in all, by level of its hierarchy, by value.

    A cell is removed with its record, suppressed, coarser than `level`, or unchanged: as the whole
    column stands at `level` (0: as it was). The four add up to `before`.
    """

    name: str
    level: int
    height: int
    records: int
    absent: int
    """Cells that had no value before."""
    recoded: int
    """Published cells that show another value than before, the whole column's level included."""
    by_level: tuple[tuple[int | None, int], ...]
    """Published cells by the level that they show; None: a value of no level of the hierarchy."""
    values: tuple[ValueChange, ...]

    @property
    def before(self) -> int:
        """Cells that had a value."""
        return sum(each.before for each in self.values)

    @property
    def unchanged(self) -> int:
        """Cells that stand as the whole column does."""
        return sum(each.unchanged for each in self.values)

    @property
    def coarser(self) -> int:
        """Cells that are coarser than the whole column."""
        return sum(each.coarser for each in self.values)

    @property
    def suppressed(self) -> int:
        """Suppressed cells of records that are published."""
        return sum(each.suppressed for each in self.values)

    @property
    def removed(self) -> int:
        """Cells of records that were removed."""
        return sum(each.removed for each in self.values)

    def list_shares(self) -> list[tuple[float, float | None]]:
        """Of each of the values, its share before, and after among the cells left unchanged."""
        before, after = max(1, self.before), self.unchanged
        return [
            (each.before / before, each.unchanged / after if after else None)
            for each in self.values
        ]

    def to_dict(self, values: bool = False) -> dict[str, Any]:
        """The counts as plain values; what the values are only on request."""
        return {
            "name": self.name,
            "level": self.level,
            "height": self.height,
            "records": self.records,
            "absent": self.absent,
            "before": self.before,
            "unchanged": self.unchanged,
            "coarser": self.coarser,
            "suppressed": self.suppressed,
            "removed": self.removed,
            "recoded": self.recoded,
            "by_level": [{"level": level, "cells": cells} for level, cells in self.by_level],
            "values": [each.to_dict(values) for each in self.values],
        }


def compare_distribution(
    original: Dataset, released: Dataset, kept: Ints, name: str, level: int = 0
) -> AttributeChange:
    """What became of the cells of one attribute.

    Args:
        original: the records as they were.
        released: what is released of them.
        kept: the places, in the original, of the released records.
        name: the attribute.
        level: the level to which the whole column was taken.

    >>> import divulge as dv
    >>> p = dv.protection.suppress(dv.datasets.local_suppression_example(), k=2, nulls="maybe")
    >>> change = compare_distribution(p.original, p.dataset, p.kept, "Sector")
    >>> change.before, change.unchanged, change.suppressed
    (7, 6, 1)
    """
    before, after = original.columns[name], released.columns[name]
    hierarchy = original.dictionary[name].hierarchy
    if hierarchy is None or hierarchy.lacks(before.values.to_pylist()):
        level = 0
    standing = before if hierarchy is None else hierarchy.coarsen(before, level)
    is_present = standing.codes != standing.missing_code
    is_kept = np.zeros(original.rows, np.bool_)
    is_kept[kept] = True
    codes = np.full(original.rows, after.missing_code, np.int64)
    codes[kept] = after.codes
    is_shown = is_present & is_kept & (codes != after.missing_code)
    is_unchanged = is_shown & _show_the_same(standing, after, codes)
    fates = {
        "before": is_present,
        "unchanged": is_unchanged,
        "coarser": is_shown & ~is_unchanged,
        "suppressed": is_present & is_kept & ~is_shown,
        "removed": is_present & ~is_kept,
    }
    counts = {
        fate: np.bincount(standing.codes[which], minlength=len(standing.values))
        for fate, which in fates.items()
    }
    return AttributeChange(
        name=name,
        level=level,
        height=0 if hierarchy is None else hierarchy.height,
        records=original.rows,
        absent=int(np.count_nonzero(~is_present)),
        recoded=int(np.count_nonzero(is_shown & ~_show_the_same(before, after, codes))),
        by_level=_count_levels(original, name, after, codes, is_shown),
        values=tuple(_list_groups(standing, counts)),
    )


def _show_the_same(before: Column, after: Column, codes: Ints) -> Bools:
    """Whether each record shows afterwards what it had."""
    texts, released_texts = match_value_texts(before, after)
    place_of = {text: code for code, text in enumerate(released_texts)}
    same = np.array([*(place_of.get(text, -1) for text in texts), -1], np.int64)
    is_same: Bools = same[before.codes] == codes
    return is_same


def _count_levels(
    original: Dataset, name: str, after: Column, codes: Ints, is_shown: Bools
) -> tuple[tuple[int | None, int], ...]:
    """How many published cells show each level of the hierarchy."""
    before = original.columns[name]
    ladders = list_ladders(original, name)
    width = len(after.values) + 1
    pairs, numbers = np.unique(
        before.codes[is_shown].astype(np.int64) * width + codes[is_shown], return_counts=True
    )
    texts = [format_value(value) for value in before.values.to_pylist()]
    matched, released_texts = match_value_texts(before, after)
    counts: dict[int | None, int] = {}
    for pair, number in zip(pairs.tolist(), numbers.tolist(), strict=True):
        was, became = divmod(pair, width)
        shown = released_texts[became]
        ladder = ladders[texts[was]]
        level = 0 if shown == matched[was] else ladder.index(shown) if shown in ladder else None
        counts[level] = counts.get(level, 0) + number
    return tuple(sorted(counts.items(), key=lambda each: (each[0] is None, each[0] or 0)))


def _list_groups(column: Column, counts: dict[str, Ints]) -> Sequence[ValueChange]:
    """By value where they are few; else by tenths of what has an order, or the frequent ones."""
    frequency = counts["before"]
    present = np.flatnonzero(frequency)
    groups: list[tuple[Grouping, int, Ints]]
    most = tuning.MOST_COMPARED_VALUES
    if present.size > most and _has_order(column):
        below = np.cumsum(frequency) - frequency
        tenths = tuning.VALUE_GROUPS * below[present] // max(1, int(frequency.sum()))
        groups = [
            ("tenth", rank, present[tenths == tenth])
            for rank, tenth in enumerate(np.unique(tenths).tolist(), 1)
        ]
    else:
        ranked = present[np.argsort(-frequency[present], kind="stable")]
        listed = ranked if ranked.size <= most else ranked[: most - 1]
        groups = [("value", rank, listed[rank - 1 : rank]) for rank in range(1, listed.size + 1)]
        if listed.size < ranked.size:
            groups.append(("rest", listed.size + 1, np.sort(ranked[listed.size :])))
    texts = column.values
    return [
        ValueChange(
            grouping=grouping,
            rank=rank,
            values=int(codes.size),
            first=format_value(texts[int(codes[0])].as_py()),
            last=format_value(texts[int(codes[-1])].as_py()),
            **{fate: int(count[codes].sum()) for fate, count in counts.items()},
        )
        for grouping, rank, codes in groups
    ]


def _has_order(column: Column) -> bool:
    import pyarrow as pa

    kind = column.values.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return bool(is_number or pa.types.is_temporal(kind))
