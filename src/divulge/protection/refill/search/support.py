"""Evidence for a relation: how often it was right on cells that are shown, and when it suffices.

A relation is judged on shown cells only, each predicted from the others (leave-one-out), by the
lower bound of Wilson's interval. Values other than the most frequent one must be predicted too:
who always says the mode is often right and knows nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from divulge.protection import tuning
from divulge.protection.refill.kernels import SUPPORT_FIELDS
from divulge.work.arrays import Array, Bools, Ints

Z_95_PERCENT = 1.96


@dataclass(frozen=True)
class Boldness:
    """From how many cells on a relation that never fails is believed, if the truth is at hand."""

    rows: int
    other_rows: int
    chance: float = 0.0
    """How likely chance may make a classification that is believed on fewer cells."""


BOLDEST = Boldness(
    tuning.REFILL_PLAUSIBLE_ROWS, tuning.REFILL_PLAUSIBLE_OTHER_ROWS, tuning.REFILL_CODE_CHANCE
)
CAUTIOUS = Boldness(tuning.REFILL_LEAST_ROWS, tuning.REFILL_LEAST_OTHER_ROWS)


@dataclass(frozen=True, kw_only=True)
class Support:
    """On how many shown cells a relation was tried, and how often it was right.

    `other_rows` and `other_right` are the same among values that are not the mode.
    """

    rows: int
    right: int
    other_rows: int
    other_right: int
    groups: int

    @property
    def is_exact(self) -> bool:
        """Whether it was never wrong."""
        return self.rows == self.right

    @property
    def share(self) -> float:
        """How often it was right."""
        return self.right / self.rows if self.rows else 0.0

    @property
    def lower_bound(self) -> float:
        """How often it is right at the least (Wilson, 95%)."""
        return bound_share_below(self.right, self.rows)

    @property
    def strength(self) -> float:
        """What orders relations: those never wrong before all others, then by lower bound.

        Rows of one group share their fate, so here a group counts as one observation: a household
        number that was right in 4,000 groups comes before a weight that was right in 70.
        """
        groups = min(self.groups, self.rows)
        return bound_share_below(self.share * groups, groups) + int(self.is_exact)

    @property
    def suffices(self) -> bool:
        """Whether somebody without the original would trust it."""
        return (
            self.rows >= tuning.REFILL_LEAST_ROWS
            and self.other_rows >= tuning.REFILL_LEAST_OTHER_ROWS
            and self.lower_bound >= tuning.REFILL_LOWER_BOUND
            and bound_share_below(self.other_right, self.other_rows)
            >= tuning.REFILL_OTHER_LOWER_BOUND
        )

    def is_plausible(self, boldness: Boldness | None) -> bool:
        """Whether somebody might dare to use it: never wrong, on a few values of several kinds.

        Verified relations need no more, since the truth tells whether they hold on hidden cells;
        without the truth (None) nobody dares.
        """
        return (
            boldness is not None
            and self.is_exact
            and self.rows >= boldness.rows
            and self.other_rows >= boldness.other_rows
        )

    @property
    def outweighs_twins(self) -> bool:
        """Whether so many rows in so many groups were all right that twins cannot be the reason."""
        return (
            self.is_exact
            and self.rows >= tuning.REFILL_TRUSTED_ROWS
            and self.groups >= tuning.REFILL_TRUSTED_GROUPS
        )


def bound_share_below(right: float, total: int) -> float:
    """The lower end of Wilson's interval of a share, at 95%.

    >>> round(bound_share_below(73, 73), 3), bound_share_below(0, 0)
    (0.95, 0.0)
    """
    if total == 0:
        return 0.0
    share, square = right / total, Z_95_PERCENT**2
    centre = share + square / (2 * total)
    spread = Z_95_PERCENT * sqrt(share * (1 - share) / total + square / (4 * total**2))
    return max(0.0, (centre - spread) / (1 + square / total))


def choose_support(
    figures: Array, *, trusts_twins: bool = False, boldness: Boldness | None = None
) -> Support | None:
    """The evidence of groups, if it suffices; None if the relation is not to be trusted.

    Suppression leaves small groups of records that agree in everything, and these forge evidence:
    where a limit on k hid whoever differed, those who remain are twins. So only groups that are no
    twins count, unless all groups together outweigh them (or nothing was hidden).
    """
    everything, no_twins = read_support(figures), read_support(figures[SUPPORT_FIELDS:])
    if everything.is_plausible(boldness):
        return everything
    if everything.suffices and (trusts_twins or everything.outweighs_twins):
        return everything
    return no_twins if no_twins.suffices else None


def read_support(figures: Array) -> Support:
    """The first figures of a kernel as evidence."""
    rows, right, other_rows, other_right, groups = figures[:SUPPORT_FIELDS].tolist()
    return Support(
        rows=rows, right=right, other_rows=other_rows, other_right=other_right, groups=groups
    )


def measure_predictions(is_right: Bools, is_other: Bools, groups: int) -> Support:
    """The evidence of predictions that do not use the predicted column."""
    return Support(
        rows=int(is_right.size),
        right=int(np.count_nonzero(is_right)),
        other_rows=int(np.count_nonzero(is_other)),
        other_right=int(np.count_nonzero(is_right & is_other)),
        groups=groups,
    )


def find_mode(codes: Ints, cardinality: int) -> int:
    """The most frequent value; of several, the smallest code; -1 if none is shown.

    >>> find_mode(np.array([2, -2, 1, 2, -1]), 3)
    2
    """
    shown = codes[codes >= 0]
    return int(np.argmax(np.bincount(shown, minlength=cardinality))) if shown.size else -1
