"""Numbers that were masked: can the original be told from the masked value, and the record found?

Interval disclosure: the original lies within a small interval around its masked value, so the
mask hides nothing (Mateo-Sanz, Sebe & Domingo-Ferrer 2004). Distance-based record linkage: the
masked record nearest to an original is its own (Domingo-Ferrer & Torra 2001). Both compare the
records in the order in which they stand.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from divulge.data import Dataset
from divulge.records.alike import FloatArray
from divulge.records.record_risk import RecordRisk
from divulge.work import Problems, step

BLOCK = 1024


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
    names, first, second = _numbers(original, masked, among, width, by)
    inside = np.ones(original.rows, np.bool_)
    for column in range(len(names)):
        before, after = first[:, column], second[:, column]
        if by == "rank":
            ordered = np.sort(after)
            reach = width * original.rows
            low = np.searchsorted(ordered, after, "left")
            high = np.searchsorted(ordered, after, "right") - 1
            lowest = ordered[np.clip(np.floor(low - reach), 0, None).astype(np.int64)]
            highest = ordered[np.clip(np.ceil(high + reach), None, after.size - 1).astype(np.int64)]
            inside &= (before >= lowest) & (before <= highest)
        else:
            inside &= np.abs(before - after) <= width * before.std()
    return RecordRisk(
        inside.astype(np.float64), "interval_disclosure", original, tuple(names), "exact"
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
    names, first, second = _numbers(original, masked, among, 0.0, "rank")
    mean, deviation = first.mean(axis=0), first.std(axis=0)
    deviation[deviation == 0] = 1
    first, second = (first - mean) / deviation, (second - mean) / deviation
    chance = _nearest(first, second)
    return RecordRisk(chance, "distance_linkage", original, tuple(names), "exact")


def _nearest(first: FloatArray, second: FloatArray) -> FloatArray:
    """For each original, one over the masked records that are as near as its own, if none nearer.

    A tree finds the nearest; only where its own is as near are those at that distance counted.
    """
    from scipy.spatial import KDTree

    tree = KDTree(second)
    own = np.sqrt(((first - second) ** 2).sum(axis=1))
    chance = np.zeros(own.size)
    with step("Linking masked records", own.size) as progress:
        for start in range(0, own.size, BLOCK):
            part = slice(start, min(start + BLOCK, own.size))
            nearest, _ = tree.query(first[part], k=1)
            # Distances of equal values may differ in the last digit.
            reach = own[part] * (1 + 1e-12) + 1e-300
            found = np.flatnonzero(nearest >= own[part] * (1 - 1e-12))
            if found.size:
                ties = tree.query_ball_point(first[part][found], reach[found], return_length=True)
                chance[start + found] = 1 / np.maximum(1, ties)
            progress.advance(part.stop - part.start)
    return chance


def _numbers(
    original: Dataset, masked: Dataset, among: str | Iterable[str], width: float, by: str
) -> tuple[list[str], FloatArray, FloatArray]:
    names = original.attributes(among, "among")
    masked.attributes(names, "among")
    problems = Problems("masked data")
    if by not in ("rank", "deviation"):
        problems.add("by", f'"{by}" is not a kind of interval.', by, ["rank", "deviation"])
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
            odd = sum(value is None or isinstance(value, str) for value in values)
            if odd:
                message = f"is missing or not a number in {odd:,} of {dataset.rows:,} records."
                problems.add(f'"{dataset.name}", attribute "{name}"', message)
            columns.append(
                [
                    0.0 if value is None or isinstance(value, str) else float(value)
                    for value in values
                ]
            )
        tables.append(np.array(columns, np.float64).T.reshape(dataset.rows, len(names)))
    problems.raise_any()
    return names, tables[0], tables[1]
