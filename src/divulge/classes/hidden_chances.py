"""How likely a cell that is hidden, or shown coarser, holds the value that an adversary knows.

A coarser value weighs the part that the known value has in all that is shown so. Hidden cells weigh
the share of the known values among the complete records that agree on the rest; as these may be few
or none, some records are added to them in which attributes are independent of each other (the mean
of a Dirichlet prior). The more of a victim a record shows, the more it weighs, as it must be: the
chance of values given few others is that of some of them times that of the rest given these too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from divulge.classes import tuning
from divulge.work.arrays import Floats, Ints


def weigh_shown_codes(
    starts: Ints, flat: Ints, occurrences: Sequence[int] | Ints, cardinality: int
) -> Floats:
    """What each way to show a value weighs, with 1 for the way that tells most.

    The value with code c may be shown as `flat[starts[c]:starts[c + 1]]`, and has `occurrences[c]`.

    >>> # 25 (once) is shown as itself or as 20 to 29; 27 (three times) as 20 to 29 only.
    >>> weigh_shown_codes(np.array([0, 2, 3]), np.array([0, 1, 1]), [1, 3], 2).tolist()
    [1.0, 0.25, 1.0]
    """
    of_way = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    weight = np.maximum(np.asarray(occurrences, np.float64), 1.0)[of_way]
    share = weight / np.bincount(flat, weight, cardinality)[flat]
    most = np.zeros(len(starts) - 1)
    np.maximum.at(most, of_way, share)
    weights: Floats = share / most[of_way]
    return weights


def sum_shown_weights(starts: Ints, flat: Ints, share: Floats, count: Floats) -> Floats:
    """For each value, the weight of the records that show it in some way; `count` is by code."""
    of_way = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return np.bincount(of_way, share * count[flat], len(starts) - 1).astype(np.float64)


def estimate_shown_share(fitting: Floats, shown: float) -> Floats:
    """The share of a value among the records that show the attribute.

    A victim whose value none of them shows would be one more among them.
    """
    return np.where(fitting > 0, fitting / max(shown, 1.0), 1 / (shown + 1))


def estimate_hidden_chance(whole: Floats, comparable: Floats, independent: Floats) -> Floats:
    """The chance that hidden cells hold the values of each victim.

    Args:
        whole: complete records that have all values of the victim.
        comparable: complete records that agree on what is not hidden.
        independent: the product of the shares of the victim's values in the hidden attributes.
    """
    added = tuning.ADDED_RECORDS
    return np.asarray((whole + added * independent) / (comparable + added), np.float64)
