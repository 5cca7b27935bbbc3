"""Columns whose values mostly mean one value of another: dictionaries with exceptions.

A weight that was made from the region tells it also where one record in twenty has moved since. No
group agrees without exception, so what all members share says nothing here; what most of them have
does. Only large groups have a majority that means something.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from divulge.protection import tuning
from divulge.protection.refill.kernels import SUPPORT_FIELDS
from divulge.protection.refill.search.state import StrippedPartition, Target
from divulge.protection.refill.search.support import Support, bound_share_below, read_support
from divulge.work.arrays import Ints


@dataclass(frozen=True)
class Majority:
    """From which share of a group on its majority is believed, and on what evidence."""

    share: float
    support: Support


def measure_majority(
    partition: StrippedPartition, target: Target, cardinality: int
) -> Majority | None:
    """How far the majorities of groups tell a column; None if nobody would believe them.

    With the truth at hand, it is enough that they are right as often as a relation must be that
    counts as verified; without it, they must have few exceptions.
    """
    from divulge.protection.refill import kernels

    if partition.rows.size < tuning.REFILL_MAJORITY_MEMBERS:
        return None
    is_bold = target.truth is not None
    shares = tuning.REFILL_BOLD_MAJORITIES if is_bold else (tuning.REFILL_MAJORITY,)
    figures = kernels.count_majority_support(
        partition.rows,
        partition.starts,
        target.evidence,
        target.combination,
        target.mode,
        cardinality,
        tuning.REFILL_MAJORITY_MEMBERS,
        np.array(shares),
    )
    for number, share in enumerate(shares):
        support = read_support(figures[number * SUPPORT_FIELDS :])
        if is_usual(support) if is_bold else is_nearly_exact(support):
            return Majority(share, support)
    return None


def predict_majority(
    majority: Majority, partition: StrippedPartition, target: Target, cardinality: int
) -> tuple[Ints, Ints]:
    """The hidden cells of groups with a majority, and what it has."""
    from divulge.protection.refill import kernels

    return kernels.predict_majorities(
        partition.rows,
        partition.starts,
        target.known,
        cardinality,
        tuning.REFILL_MAJORITY_MEMBERS,
        majority.share,
    )


def is_nearly_exact(support: Support) -> bool:
    """Whether there are so few exceptions that one column is a form of the other.

    What is merely usual is a guess, and counted there: hidden cells are often the exceptions.
    """
    return support.suffices and support.lower_bound >= tuning.REFILL_RANGE_LOWER_BOUND


def is_usual(support: Support) -> bool:
    """Whether predictions are right as often as those of a verified relation must be."""
    return (
        support.rows >= tuning.REFILL_LEAST_ROWS
        and support.other_rows >= tuning.REFILL_LEAST_OTHER_ROWS
        and support.lower_bound >= tuning.REFILL_VERIFIED_SHARE
        and bound_share_below(support.other_right, support.other_rows)
        >= tuning.REFILL_VERIFIED_SHARE
    )
