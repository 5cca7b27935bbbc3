"""What values mean to who looks them up: a stratum by its weight, a town by its code.

Nobody learns a meaning from the release, so the truth is what bears it out, and a column must have
few values: a postcode means something, an income does not. Few are those that many records share,
or not many more than what they tell: of 74 purchases of eight goods, eight numbers are the goods. A
code may also mean something within the coarser value alone, as numbers of municipalities do within
their county.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, lgamma, log

import numpy as np

from divulge.protection import tuning
from divulge.protection.refill.columns import AllowedValues, CodedColumn
from divulge.protection.refill.search.support import (
    Boldness,
    Support,
    choose_support,
    find_mode,
    read_support,
)
from divulge.work.arrays import Ints

NO_PREDICTION = -1


@dataclass(frozen=True, eq=False)
class ValueMeanings:
    """A column whose values mean one value of another, and what it says of every row."""

    place: int
    codes: Ints
    support: Support


def find_dictionaries(
    others: Sequence[CodedColumn],
    truth: Ints,
    cardinality: int,
    *,
    boldness: Boldness | None,
    allowed: AllowedValues | None = None,
) -> Iterator[ValueMeanings]:
    """The columns whose values mean one value of the truth, perhaps within what is published.

    Args:
        others: the columns that may be read.
        truth: the codes that are told, negative where nothing is to be told or known.
        cardinality: how many codes there are.
        boldness: from how many records on they are believed.
        allowed: what is published of them, where that is coarser.
    """
    within = None if allowed is None else _find_merged(allowed.published, truth, cardinality)
    for place, other in enumerate(others):
        if other.is_id:
            continue
        found = _read_meanings(other.codes, truth, cardinality, boldness)
        if found is not None:
            yield ValueMeanings(place, *found)
        elif within is not None and allowed is not None and _has_few(other.codes, truth):
            codes = _combine(np.where(within >= 0, allowed.published, -1), other.codes)
            found = _read_meanings(codes, within, cardinality, boldness)
            if found is not None and found[1].is_plausible(boldness):
                yield ValueMeanings(place, *found)


def _find_merged(published: Ints, truth: Ints, cardinality: int) -> Ints:
    """The truth where what is published stands for several values; the rest is told by itself."""
    known = (truth >= 0) & (published >= 0)
    pairs = np.unique(published[known].astype(np.int64) * cardinality + truth[known])
    counts = np.bincount(pairs // cardinality, minlength=int(published.max(initial=0)) + 1)
    is_merged = known & (counts[np.maximum(published, 0)] > 1)
    return np.where(is_merged, truth, -1).astype(np.int32)


def _has_few(codes: Ints, truth: Ints) -> bool:
    """Whether a column has so few values that they may be looked up."""
    known = codes[(codes >= 0) & (truth >= 0)]
    kinds = int(np.count_nonzero(np.bincount(known))) if known.size else 0
    return 0 < kinds * tuning.REFILL_DICTIONARY_ROWS <= truth.size


def _is_classification(codes: Ints, truth: Ints, chance: float) -> bool:
    """Whether each value means one of the truth, has not many like it, and this is no chance.

    Drawn by chance, at most `kinds of the truth ** values` of all orders of the truth fit so.
    """
    known = (codes >= 0) & (truth >= 0)
    pairs = np.unique(np.stack([codes[known], truth[known]]), axis=1)
    values, sizes = np.unique(codes[known]).size, np.bincount(truth[known])
    sizes = sizes[sizes > 0]
    if not 2 <= sizes.size <= values <= tuning.REFILL_FINER_CODES * sizes.size:
        return False
    if pairs.shape[1] > values:
        return False
    orders = lgamma(known.sum() + 1) - sum(lgamma(size + 1) for size in sizes.tolist())
    return exp(min(0.0, values * log(sizes.size) - orders)) <= chance


def _combine(first: Ints, second: Ints) -> Ints:
    """A code for every pair of codes; -1 where one of them is missing."""
    known = (first >= 0) & (second >= 0)
    pairs = first.astype(np.int64) * (int(second.max(initial=0)) + 1) + second
    codes = np.full(first.size, -1, np.int32)
    codes[known] = np.unique(pairs[known], return_inverse=True)[1].astype(np.int32)
    return codes


def _read_meanings(
    codes: Ints, truth: Ints, cardinality: int, boldness: Boldness | None
) -> tuple[Ints, Support] | None:
    """What each value mostly means, and how often others of the same value bear it out."""
    from divulge.protection.refill import kernels

    is_classification = boldness is not None and _is_classification(codes, truth, boldness.chance)
    if not is_classification and not _has_few(codes, truth):
        return None
    size = int(codes.max(initial=0)) + 1
    rows, starts = kernels.group_rows(codes, size, 1)
    mode, everybody = find_mode(truth, cardinality), np.arange(truth.size)
    figures = kernels.count_support(rows, starts, truth, everybody, mode)
    support = choose_support(figures, trusts_twins=True, boldness=boldness)
    if support is None and is_classification:
        support = read_support(figures)
    if support is None:
        return None
    known = (codes >= 0) & (truth >= 0)
    pairs = codes[known].astype(np.int64) * cardinality + truth[known]
    distinct, counts = np.unique(pairs, return_counts=True)
    meaning = np.full(size + 1, NO_PREDICTION, np.int64)
    for pair in distinct[np.argsort(counts, kind="stable")].tolist():
        meaning[pair // cardinality] = pair % cardinality
    return np.where(codes >= 0, meaning[codes], NO_PREDICTION), support
