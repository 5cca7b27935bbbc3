"""Ranges of a number or date that share a value: a date of birth tells the age.

Where a column is a coarser form of another (age and date of birth, bracket and income, district and
number of the street), equal values need not meet: what lies between two records of the same age was
born between them. Each value of the finer column is predicted from those before and after it that
are shown, never from its own records.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from divulge.protection import tuning
from divulge.protection.refill.kernels import HIDDEN
from divulge.protection.refill.state import RefillState, Target
from divulge.protection.refill.support import Support, measure_predictions
from divulge.work.arrays import Floats, Ints

NO_PREDICTION = -1
MIXED = -2
"""Records of one number that do not share a value."""


def offer_ranges(state: RefillState) -> None:
    """Offer the value that is shown on both sides of a hidden cell, in the order of a column."""
    for target in state.targets:
        if not target.is_open:
            continue
        knows_truth = target.truth is not None
        for place, support in screen_ranges(state, target):
            if is_step(support) or (knows_truth and support.is_plausible):
                predicted = predict_by_ranges(state.list_numbers(place), target.known)
                rows = np.flatnonzero((target.known == HIDDEN) & (predicted >= 0))
                key = ("range", (place,), target.place)
                state.offer(key, support, (rows, predicted[rows]))  # type: ignore[arg-type]


def screen_ranges(state: RefillState, target: Target) -> Iterator[tuple[int, Support]]:
    """The columns of numbers, and how often ranges of each tell the target where it is shown."""
    for place in state.sources:
        column = state.columns[place]
        if column.numbers is None or not target.may_read((place,)):
            continue
        yield place, measure_ranges(state.list_numbers(place), target.shown, target.mode)


def is_step(support: Support) -> bool:
    """Whether ranges tell so surely that one column is a coarser form of the other.

    What is merely usual in a range (who has a pension is retired) is a guess, and counted there.
    """
    return support.suffices and support.lower_bound >= tuning.REFILL_RANGE_LOWER_BOUND


def measure_ranges(numbers: Floats, shown: Ints, mode: int) -> Support:
    """How often the values on both sides of a number are its own."""
    predicted = predict_by_ranges(numbers, shown, own=False)
    rows = np.flatnonzero((shown >= 0) & (predicted >= 0))
    is_right = predicted[rows] == shown[rows]
    groups = np.unique(numbers[rows]).size
    return measure_predictions(is_right, shown[rows] != mode, groups)


def predict_by_ranges(numbers: Floats, codes: Ints, *, own: bool = True) -> Ints:
    """For each row, the code that the numbers before and after its own have; -1 if they differ.

    Args:
        numbers: what the rows are ordered by; not-a-number where it is not known.
        codes: what is predicted, negative where it is not shown.
        own: whether a row must agree with what others of the same number show.

    >>> born = np.array([1950.2, 1950.4, 1950.7, 1951.1, 1951.3])
    >>> predict_by_ranges(born, np.array([70, -2, 70, 69, -2], np.int32)).tolist()
    [-1, 70, -1, -1, -1]
    """
    predicted = np.full(codes.size, NO_PREDICTION, np.int64)
    rows = np.flatnonzero(np.isfinite(numbers))
    if not rows.size:
        return predicted
    distinct, number = np.unique(numbers[rows], return_inverse=True)
    least = np.full(distinct.size, np.iinfo(np.int64).max)
    most = np.full(distinct.size, NO_PREDICTION, np.int64)
    is_shown = codes[rows] >= 0
    np.minimum.at(least, number[is_shown], codes[rows[is_shown]])
    np.maximum.at(most, number[is_shown], codes[rows[is_shown]])
    shared = np.where(most < 0, NO_PREDICTION, np.where(least == most, most, MIXED))
    has_any = np.flatnonzero(shared != NO_PREDICTION)
    # The numbers with something shown that are next below and next above each one.
    at = np.arange(distinct.size)
    below = np.searchsorted(has_any, at, side="left") - 1
    above = np.searchsorted(has_any, at, side="right")
    is_inside = (below >= 0) & (above < has_any.size)
    before = shared[has_any[np.where(is_inside, below, 0)]] if has_any.size else shared
    after = shared[has_any[np.where(is_inside, above, 0)]] if has_any.size else shared
    told = np.where(is_inside & (before == after) & (before >= 0), before, NO_PREDICTION)
    if own:
        told = np.where((shared == NO_PREDICTION) | (shared == told), told, NO_PREDICTION)
    predicted[rows] = told[number]
    return predicted
