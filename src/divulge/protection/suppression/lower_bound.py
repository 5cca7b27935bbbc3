"""Dual bounds (covering LP): how few cells any suppression needs, whatever is suppressed.

Where hidden cells count (`maybe`, `known`), it is the dual of a covering problem. Every record r
that lacks d(r) others needs that many wildcards whose masks reach it, or hides cells of its own.
Give each record a price u(r) so that no wildcard is paid more than it costs: for every mask and
every group of records that agree outside it, the prices add up to at most the cost of the mask
(less v, where (d - 1) u <= v pays for hiding one's own cells). Then all lacks together, at these
prices, cannot be cheaper than the sum of d u.

Where they are weighed (`bayes`), hidden cells are worth far less, since what a record may be is
shared out: `bound_hidden_records`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import ceil

import numpy as np
import numpy.typing as npt

from divulge.classes.keys import assign_classes
from divulge.protection import tuning
from divulge.protection.changes.kernels import HIDDEN
from divulge.work.arrays import Floats, Ints


def bound_suppression_cost(
    codes: npt.NDArray[np.int32],
    frequency: Ints,
    k: int,
    *,
    allowed: Sequence[int],
    costs: Floats,
    known: bool,
) -> float:
    """What any suppression costs at the least that gives everybody k (`maybe` or `known`).

    Args:
        codes: one row per record, HIDDEN where a value is missing.
        frequency: how many look like each record now.
        k: how many must.
        allowed: the attributes that may be hidden.
        costs: of one cell of each attribute, at the least.
        known: whether hiding one's own cells does not help.

    >>> rows = np.array([[0, 0], [0, 1], [0, 2]], np.int32)
    >>> once = np.ones(3, np.int64)
    >>> bound_suppression_cost(rows, once, 2, allowed=[0, 1], costs=np.ones(2), known=False)
    1.0
    """
    risky = frequency < k
    if not np.any(risky) or not allowed:
        return 0.0
    cheapest = float(costs[list(allowed)].min())
    if len(allowed) > tuning.MOST_BOUNDED_ATTRIBUTES or np.any(codes == HIDDEN):
        return cheapest
    lacks = (k - frequency[risky]).astype(np.float64)
    rows = codes[risky]
    groups, limits = [], []
    for size in range(1, len(allowed) + 1):
        for mask in combinations(allowed, size):
            visible = [a for a in range(codes.shape[1]) if a not in mask]
            columns = [rows[:, a].astype(np.int64) for a in visible]
            groups.append(assign_classes(columns, [int(c.max()) + 1 for c in columns], len(rows)))
            limits.append(float(costs[list(mask)].sum()))
    # Those who lack most need most wildcards: prices begin with them, and with all.
    steps = np.unique(np.quantile(lacks, np.linspace(0, 1, tuning.PRICE_STARTS)))
    best = max(_search_prices(groups, limits, lacks, lacks >= least, known) for least in steps)
    whole = np.all(costs == np.rint(costs))
    return max(cheapest, float(ceil(best - tuning.WHOLE_TOLERANCE)) if whole else best)


def bound_hidden_records(frequency: Ints, k: int) -> int:
    """How many records any suppression touches at the least that gives everybody k (`bayes`).

    Call a combination of values that f < k records have *rare*, and let R be the records that hide
    something. Two things are true of every suppression under which everybody weighs k or more:

    1. A rare combination of which no record is complete any more has all its f records in R.
    2. One of which a record is still complete has that record to compare with: it weighs 1, the
       most that anything weighs, so what fits the combination weighs k or more in all. Complete
       records that have it are f at most, and the rest, at least k - f, comes from R. What a record
       of R weighs for different combinations adds up to 1 at most: it is (w + a s) / (n + a), where
       the w complete records of each combination are among the n that agree with what the record
       shows, and the s are products of shares of values among the records that show them
       (`estimate_hidden_chance`), which over different combinations add up to 1 at most. So the
       records of R are at least as many as all these k - f together.

    If combinations of the second kind are A and the others Z, R has no fewer records than
    sum over A of (k - f), and no fewer than sum over Z of f; so for every t in [0, 1] no fewer
    than t times the first plus 1 - t times the second, which is at least the sum over all rare
    combinations of min(t (k - f), (1 - t) f), whatever A and Z are. That is concave and piecewise
    linear in t with corners at f / k: the best t is one of those.

    Args:
        frequency: for each record, how many have its values; nothing is hidden yet.
        k: how many must look alike.

    >>> bound_hidden_records(np.array([1, 1, 1, 1, 1, 2, 2]), 3)
    4
    """
    rare = frequency[frequency < k].astype(np.int64)
    records = np.bincount(rare, minlength=k)
    most = 0
    for corner in range(1, k):  # t = corner / k, and all sums are whole numbers of 1 / k
        worth = sum(
            int(records[f]) // f * min(corner * (k - f), (k - corner) * f) for f in range(1, k)
        )
        most = max(most, -(-worth // k))
    return most


def _search_prices(
    groups: Sequence[Ints],
    limits: Sequence[float],
    lacks: Floats,
    chosen: npt.NDArray[np.bool_],
    known: bool,
) -> float:
    """The best of a few rounds of prices, each scaled until no wildcard is paid too much."""
    prices, best = chosen.astype(np.float64), 0.0
    for _ in range(tuning.PRICE_ROUNDS):
        own = 0.0 if known else float(((lacks - 1) * prices).max())
        tightest = np.zeros(lacks.size)
        for group, limit in zip(groups, limits, strict=True):
            load = (np.bincount(group, prices) + own) / limit
            np.maximum(tightest, load[group], out=tightest)
        worst = float(tightest.max())
        best = max(best, float((lacks * prices).sum()) / worst)
        # Whoever stands in crowded groups is made cheaper, so that the prices can rise together.
        prices *= np.exp(-0.5 * tightest / worst)
    return best
