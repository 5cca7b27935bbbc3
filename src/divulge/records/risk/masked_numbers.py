"""Interval disclosure and distance-based record linkage: what masked numbers still tell.

Interval disclosure: the original lies within a small interval around its masked value, so the
mask hides nothing (Mateo-Sanz, Sebe & Domingo-Ferrer 2004). Distance-based record linkage: the
masked record nearest to an original is its own (Domingo-Ferrer & Torra 2001). Both compare the
records in the order in which they stand. A number that is missing, before or after, discloses
nothing, and a distance is that over the attributes that both records show.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np

from divulge.classes.people import require_one_record_each
from divulge.data import Dataset
from divulge.records import tuning
from divulge.records.risk.record_risk import RecordRisk
from divulge.work import Problems, checks, step
from divulge.work.arrays import Floats

INTERVALS = ("rank", "deviation")


def interval_disclosure(
    original: Dataset,
    masked: Dataset,
    among: str | Iterable[str],
    width: float = 0.05,
    by: str = "rank",
) -> RecordRisk:
    """Whether each original lies within an interval around its masked values, in all attributes.

    Args:
        original: the records before masking.
        masked: the same records, in the same order, after it.
        among: the numeric attributes that were masked.
        width: half the width of the interval: a share of all records (by rank), or a number of
            standard deviations (by deviation).
        by: `rank` or `deviation`.

    >>> import pyarrow as pa
    >>> before = Dataset.from_arrow(pa.table({"income": [10, 20, 30, 40]}))
    >>> after = Dataset.from_arrow(pa.table({"income": [11, 90, 30, 41]}))
    >>> interval_disclosure(before, after, "income", width=0.1, by="deviation").values.tolist()
    [1.0, 0.0, 1.0, 1.0]
    """
    require_one_record_each(original, "intervals are of records")
    names, first, second = _read_numbers(original, masked, among, width, by)
    inside = np.ones(original.rows, np.bool_)
    for column in range(len(names)):
        before, after = first[:, column], second[:, column]
        shown = ~np.isnan(before) & ~np.isnan(after)
        if by == "rank":
            ordered = np.sort(after[~np.isnan(after)])
            reach = round(width * ordered.size, 9)  # 0.07 of 100 are 7
            masked_values = after[shown]
            low = np.searchsorted(ordered, masked_values, "left")
            high = np.searchsorted(ordered, masked_values, "right") - 1
            lowest = ordered[np.clip(np.floor(low - reach), 0, None).astype(np.int64)]
            highest = ordered[
                np.clip(np.ceil(high + reach), None, ordered.size - 1).astype(np.int64)
            ]
            near = (before[shown] >= lowest) & (before[shown] <= highest)
        else:
            spread = before[~np.isnan(before)].std() if shown.any() else 0.0
            tolerance = 1e-12 * max(1.0, float(np.abs(before[shown]).max(initial=0.0)))
            near = np.abs(before[shown] - after[shown]) <= width * spread + tolerance
        inside &= shown
        inside[shown] &= near
    return RecordRisk(
        values=inside.astype(np.float64),
        measure="interval_disclosure",
        dataset=original,
        attributes=tuple(names),
        claim="exact",
    )


def distance_linkage(original: Dataset, masked: Dataset, among: str | Iterable[str]) -> RecordRisk:
    """The chance that the masked record nearest to each original is its own.

    Attributes are put on one scale (mean 0, deviation 1 of the originals). Where n masked records
    are equally near and its own is among them, the chance is 1/n.

    >>> import pyarrow as pa
    >>> before = Dataset.from_arrow(pa.table({"income": [10, 20, 30, 40]}))
    >>> after = Dataset.from_arrow(pa.table({"income": [12, 12, 31, 90]}))
    >>> distance_linkage(before, after, "income").values.tolist()
    [0.5, 0.5, 1.0, 0.0]
    """
    require_one_record_each(original, "the nearest records are linked")
    names, first, second = _read_numbers(original, masked, among, 0.0, "rank")
    for column in range(len(names)):
        shown = first[~np.isnan(first[:, column]), column]
        if shown.size:
            mean, deviation = shown.mean(), shown.std() or 1.0
            first[:, column] = (first[:, column] - mean) / deviation
            second[:, column] = (second[:, column] - mean) / deviation
    return RecordRisk(
        values=_compute_linkage_chance(first, second),
        measure="distance_linkage",
        dataset=original,
        attributes=tuple(names),
        claim="exact",
    )


def _compute_linkage_chance(first: Floats, second: Floats) -> Floats:
    """For each original, one over the masked records that are as near as its own, if none nearer.

    Trees find the nearest, one for each set of attributes that records show; only where its own
    is as near are those at that distance counted.
    """
    differences = (first - second) ** 2
    common = (~np.isnan(differences)).sum(axis=1)
    total = np.nansum(differences, axis=1)
    own = np.full(common.size, np.inf)
    own[common > 0] = np.sqrt(total[common > 0] / common[common > 0])
    chance = np.zeros(own.size)
    trees = _SearchTrees(second)
    with step("Linking masked records", own.size) as progress:
        for shows, rows in _group_by_shown(first):
            for start in range(0, rows.size, tuning.NEAREST_BLOCK_ROWS):
                part = rows[start : start + tuning.NEAREST_BLOCK_ROWS]
                chance[part] = trees.compute_own_chance(first[part], shows, own[part])
                progress.advance(part.size)
    return chance


class _SearchTrees:
    """The masked records by what they show, each searched on the attributes in common."""

    def __init__(self, masked: Floats) -> None:
        self.masked = masked
        self.groups = _group_by_shown(masked)
        self.trees: dict[tuple[int, bytes], Any] = {}
        # On one scale, values are as exact as the largest of them lets floats be.
        self.hair = 1e-14 * max(1.0, float(np.nanmax(np.abs(masked), initial=0.0)))

    def compute_own_chance(self, originals: Floats, shows: Any, own: Floats) -> Floats:
        """One over how many are as near as its own to each, or 0 if another is nearer."""
        trees = [(tree, common) for tree, common in self._iterate_trees(shows)]
        nearest = np.full(own.size, np.inf)
        for tree, common in trees:
            near, _ = tree.query(originals[:, common] / np.sqrt(common.sum()), k=1)
            nearest = np.minimum(nearest, near)
        # Equal distances may differ in the last digits of the values between which they lie.
        first = np.flatnonzero(np.isfinite(own) & (nearest >= own * (1 - 1e-12) - self.hair))
        chance = np.zeros(own.size)
        if first.size:
            reach = own[first] * (1 + 1e-12) + self.hair
            ties = np.zeros(first.size)
            for tree, common in trees:
                points = originals[first][:, common] / np.sqrt(common.sum())
                ties += tree.query_ball_point(points, reach, return_length=True)
            chance[first] = 1 / np.maximum(1, ties)
        return chance

    def _iterate_trees(self, shows: Any) -> Iterator[tuple[Any, Any]]:
        from scipy.spatial import KDTree

        for number, (theirs, rows) in enumerate(self.groups):
            common = shows & theirs
            if not common.any():
                continue
            key = (number, common.tobytes())
            if key not in self.trees:
                points = self.masked[rows][:, common] / np.sqrt(common.sum())
                self.trees[key] = KDTree(points)
            yield self.trees[key], common


def _group_by_shown(table: Floats) -> list[tuple[Any, Any]]:
    """The rows that show the same attributes, with which these are."""
    shown = ~np.isnan(table)
    kinds, of_row = np.unique(shown, axis=0, return_inverse=True)
    return [(kind, np.flatnonzero(of_row.reshape(-1) == n)) for n, kind in enumerate(kinds)]


def _read_numbers(
    original: Dataset, masked: Dataset, among: str | Iterable[str], width: float, by: str
) -> tuple[list[str], Floats, Floats]:
    names = original.attributes(among, "among")
    masked.attributes(names, "among")
    problems = Problems("masked data")
    if by not in INTERVALS:
        problems.add("by", f'"{by}" is not a kind of interval.', by, INTERVALS)
    if not width >= 0:
        problems.add("width", f"{width:g} is negative.")
    if original.rows != masked.rows:
        message = f"the original has {original.rows:,} records and the masked {masked.rows:,}; "
        problems.add("", message + "give the same records in the same order.")
    tables = []
    for dataset in (original, masked):
        columns = []
        for name in names:
            values = dataset.columns[name].to_arrow().to_pylist()
            values = [float(value) if isinstance(value, Decimal) else value for value in values]
            odd = sum(value is not None and not checks.is_finite_number(value) for value in values)
            if odd:
                message = f"is no finite number in {odd:,} of {dataset.rows:,} {dataset.subjects}."
                problems.add(f'"{dataset.name}", attribute "{name}"', message)
                values = []
            columns.append([np.nan if value is None else float(value) for value in values])
        if any(len(column) != dataset.rows for column in columns):
            continue
        tables.append(np.array(columns, np.float64).T.reshape(dataset.rows, len(names)))
    problems.raise_any()
    return names, tables[0], tables[1]
