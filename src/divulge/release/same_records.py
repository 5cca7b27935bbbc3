"""Whether two datasets hold the same records: in any order, whatever their columns are called.

What is judged of one dataset is judged of it alone; who calls the same records by two names would
keep what both tell together from being seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from divulge.data import Column, Dataset, Relation
from divulge.data.dictionary import WITHHELD_ROLES
from divulge.data.value_texts import format_value
from divulge.release import tuning
from divulge.work.arrays import Ints


def are_same_records(dataset: Dataset | None, other: Dataset | None) -> bool:
    """Whether two datasets show the same, record by record, of some columns that both have.

    All of them alike by all these columns; or nearly all, if ids are the same or if chance does not
    make two datasets so much alike. Of records that stay in an engine nothing is said.
    """
    if dataset is None or other is None or not _have_like_sizes(dataset, other):
        return False
    if isinstance(dataset, Relation) or isinstance(other, Relation):
        return False
    smaller = min(dataset.rows, other.rows)
    common = {
        name: name
        for name in dataset.names
        if name in other.columns
        and _count_both(dataset.columns[name], other.columns[name]) >= tuning.LEAST_ALIKE * smaller
    }
    common |= find_renamed_columns(
        (dataset, other),
        [name for name in dataset.names if name not in common],
        [name for name in other.names if name not in common],
    )  # what is coarser in one of them is left out
    pairs = [(dataset.columns[own], other.columns[theirs]) for own, theirs in common.items()]
    pairs = [pair for pair in pairs if min(len(column.values) for column in pair) > 1]
    if not pairs:
        return False
    counts, other_counts = _count_alike(pairs)
    alike = int(np.minimum(counts, other_counts).sum())
    larger = max(dataset.rows, other.rows)
    return alike == larger or (
        alike >= tuning.LEAST_ALIKE * larger
        and (_exceeds_chance(counts, other_counts) or _have_same_ids(dataset, other))
    )


def may_be_same_records(dataset: Dataset | None, other: Dataset | None) -> bool:
    """Whether records that stay in an engine, where they are not compared, may be those of another.

    They are about as many, and have a column in common.
    """
    if dataset is None or other is None or not _have_like_sizes(dataset, other):
        return False
    is_elsewhere = isinstance(dataset, Relation) or isinstance(other, Relation)
    return is_elsewhere and not {*dataset.names}.isdisjoint(other.names)


def _exceeds_chance(counts: Ints, other_counts: Ints) -> bool:
    """Whether two independent samples of one population would be far less alike.

    A combination that each of them has c times is had by the square root of c / pi more in one of
    them, on average.
    """
    differing = max(counts.sum(), other_counts.sum()) - np.minimum(counts, other_counts).sum()
    by_chance = np.sqrt((counts + other_counts) / 2 / np.pi).sum()
    is_many = counts.size >= tuning.LEAST_COMBINATIONS
    return bool(is_many and differing <= tuning.MOST_OF_CHANCE * by_chance)


def find_renamed_columns(
    datasets: tuple[Dataset, Dataset], names: Sequence[str], others: Sequence[str]
) -> dict[str, str]:
    """The columns that another dataset has under another name: about as many show each value."""
    counts, other_counts = (
        {name: _count_texts(dataset.columns[name]) for name in chosen}
        for dataset, chosen in zip(datasets, (names, others), strict=True)
    )
    smaller = min(dataset.rows for dataset in datasets)
    renamed: dict[str, str] = {}
    for name, of in counts.items():
        alike = {
            theirs: (of & found).total()
            for theirs, found in other_counts.items()
            if theirs not in renamed.values() and len(found) > 1
        }
        best = max(alike, key=lambda theirs: alike[theirs], default=None)
        if best is not None and alike[best] >= tuning.LEAST_ALIKE * smaller > 0:
            renamed[name] = best
    return renamed


def _have_like_sizes(dataset: Dataset, other: Dataset) -> bool:
    sizes = sorted((dataset.rows, other.rows))
    return sizes[0] >= tuning.LEAST_ALIKE * sizes[1] > 0


def _count_both(column: Column, other: Column) -> int:
    """How many records of one show what as many of the other do."""
    return (_count_texts(column) & _count_texts(other)).total()


def _count_texts(column: Column) -> Counter[str | None]:
    """How many records show each value; None of how many it is missing."""
    counts = np.bincount(column.codes, minlength=len(column.values) + 1).tolist()
    texts = [*map(format_value, column.values.to_pylist()), None]
    return Counter({text: count for text, count in zip(texts, counts, strict=True) if count})


def _count_alike(pairs: Sequence[tuple[Column, Column]]) -> tuple[Ints, Ints]:
    """How many records of either dataset show each combination of values that one of them has."""
    rows = pairs[0][0].codes.size
    combined = np.zeros(rows + pairs[0][1].codes.size, np.int64)
    for own, theirs in pairs:
        number: dict[str | None, int] = {None: 0}
        codes = [
            np.array([number.setdefault(text, len(number)) for text in texts])[column.codes]
            for column, texts in (
                (column, [*map(format_value, column.values.to_pylist()), None])
                for column in (own, theirs)
            )
        ]
        combined = combined * len(number) + np.concatenate(codes)
        _, combined = np.unique(combined, return_inverse=True)
    kinds = int(combined.max()) + 1
    return (
        np.bincount(combined[:rows], minlength=kinds),
        np.bincount(combined[rows:], minlength=kinds),
    )


def _have_same_ids(dataset: Dataset, other: Dataset) -> bool:
    """Whether ids of people or groups are nearly all the same, whatever they are called."""
    ids, theirs = (
        [
            {*map(format_value, each.columns[name].values.to_pylist())}
            for role in WITHHELD_ROLES
            for name in each.dictionary.having(role)
            if name in each.columns
        ]
        for each in (dataset, other)
    )
    return any(
        len(one & two) >= tuning.LEAST_ALIKE * max(len(one), len(two), 1)
        for one in ids
        for two in theirs
    )
