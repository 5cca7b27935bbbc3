"""Differential privacy: mechanisms that add noise, as channels, and the epsilon they give.

Each returns secrets x observations. Where a mechanism is given by `odds` (e to the epsilon) as a
whole number or Fraction, its channel is exact.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from divulge.qif.channels import read_channel
from divulge.qif.matrix_input import read_signed_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from divulge.qif.columns import Numbers
    from divulge.qif.matrix_input import MatrixLike


def randomised_response(
    categories: int, epsilon: float | None = None, *, odds: Fraction | int | None = None
) -> Numbers:
    """Answer truthfully with some probability, else name one of the other categories.

    Args:
        categories: how many answers there are (2: yes or no).
        epsilon: the truth is e to the epsilon times as likely as each other answer.
        odds: instead, how many times as likely, exactly.

    >>> randomised_response(2, math.log(3)).round(2).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    >>> randomised_response(3, odds=2)[0].tolist()
    [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    """
    _require_count(categories, "categories")
    truth_odds = _resolve_odds(epsilon, odds)
    lie_probability = 1 / (truth_odds + categories - 1)
    channel: Numbers = np.full(
        (categories, categories), lie_probability, dtype=_choose_dtype(truth_odds)
    )
    np.fill_diagonal(channel, truth_odds * lie_probability)
    return channel


def geometric(
    secrets: int,
    epsilon: float | None = None,
    *,
    odds: Fraction | int | None = None,
    lowest: int = 0,
    highest: int | None = None,
    ends: Literal["truncate", "condition"] = "truncate",
) -> Numbers:
    """Add geometric noise to a count from 0 to secrets - 1, staying in a finite range.

    Args:
        secrets: how many counts there are.
        epsilon: each step away is e to the epsilon times less likely.
        odds: instead, how many times less likely, exactly.
        lowest: the smallest published count. The columns are lowest to highest.
        highest: the largest; without it, the largest count.
        ends: what happens to noise beyond the range. "truncate": it is published as the end of
            the range, which keeps epsilon between neighbouring counts. "condition": it is drawn
            again until it falls inside, which makes epsilon somewhat larger.

    >>> geometric(3, odds=2)[0].tolist()
    [Fraction(2, 3), Fraction(1, 6), Fraction(1, 6)]
    >>> geometric(3, odds=2, ends="condition")[0].tolist()
    [Fraction(4, 7), Fraction(2, 7), Fraction(1, 7)]
    """
    _require_count(secrets, "secrets")
    top = secrets - 1 if highest is None else highest
    if top < lowest:
        raise ValueError(f"highest is {top}, below lowest, which is {lowest}.")
    if ends not in ("truncate", "condition"):
        raise ValueError(f'ends is {ends!r}; it is "truncate" or "condition".')
    step = 1 / _resolve_odds(
        epsilon, odds
    )  # how likely each further step is, against the one before
    rows = [
        [
            _geometric_weight(step, secret, published, lowest=lowest, highest=top, ends=ends)
            for published in range(lowest, top + 1)
        ]
        for secret in range(secrets)
    ]
    weights: Numbers = np.array(rows, dtype=_choose_dtype(step))
    channel: Numbers = weights / weights.sum(axis=1, keepdims=True)
    return channel


def exponential(utility: MatrixLike, epsilon: float, sensitivity: float | None = None) -> Numbers:
    """Publish the more useful answers with exponentially greater probability.

    Args:
        utility: secrets x answers: how good each answer is for each secret.
        epsilon: an answer's probability is in proportion to e to the
            epsilon * utility / (2 * sensitivity).
        sensitivity: how much the utility of an answer can differ between two secrets. Without
            it, the largest difference in the matrix.

    >>> exponential([[1, 0], [0, 1]], 2 * math.log(3)).round(2).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    scores = read_signed_numbers(utility, "utility", dimensions=2).astype(np.float64)
    if not np.isfinite(scores).all():
        row, column = np.argwhere(~np.isfinite(scores))[0]
        raise ValueError(f"utility is not a finite number at row {row}, column {column}.")
    strength = math.log(_resolve_odds(epsilon, None))
    spread = float(np.ptp(scores, axis=0).max()) if sensitivity is None else sensitivity
    if not spread >= 0 or (sensitivity is not None and spread == 0):
        raise ValueError(f"sensitivity is {sensitivity}; it has to be positive.")
    exponents = strength * scores / (2 * spread) if spread > 0 else np.zeros_like(scores)
    weights = np.exp(exponents - exponents.max(axis=1, keepdims=True))
    channel: Numbers = weights / weights.sum(axis=1, keepdims=True)
    return channel


def randomised_rounding(values: Sequence[int], base: int, *, exact: bool = False) -> Numbers:
    """Round counts at random to a multiple of the base next to them, right on average.

    A count that is r above a multiple goes up with probability r / base. The columns are the
    multiples of the base from the one at or below the smallest count to the one at or above the
    largest.

    Args:
        values: the counts; one row each.
        base: what is rounded to, such as 3 or 5.
        exact: give Fractions.

    >>> randomised_rounding([0, 1, 2, 3], base=3, exact=True)[1].tolist()
    [Fraction(2, 3), Fraction(1, 3)]
    """
    _require_count(base, "base")
    counts = np.asarray(values)
    if counts.ndim != 1 or counts.size == 0 or counts.dtype.kind not in "iu":
        raise ValueError("values has to be a list of whole numbers, and not empty.")
    below = [int(count) // base for count in counts]
    first, last = min(below), max(-(-int(count) // base) for count in counts)
    channel = np.full((counts.size, last - first + 1), Fraction(0), dtype=object)
    for row, (count, step) in enumerate(zip(counts, below, strict=True)):
        up = Fraction(int(count) - step * base, base)
        channel[row, step - first] = 1 - up
        if up:
            channel[row, step - first + 1] = up
    return channel if exact else channel.astype(np.float64)


def epsilon(
    channel: MatrixLike,
    neighbours: Literal["all", "consecutive"] | Iterable[tuple[int, int]] = "all",
) -> float:
    """The differential privacy that a channel gives: the largest log-ratio in a column.

    Infinite where an observation is possible for one secret and impossible for another.

    Args:
        channel: secrets x observations; every row sums to one.
        neighbours: which secrets are to be indistinguishable: "all" pairs, "consecutive" ones
            (counts that differ by 1), or pairs of row numbers.

    >>> round(epsilon(randomised_response(4, 0.5)), 6)
    0.5
    >>> epsilon([[1, 0], [0.5, 0.5]])
    inf
    """
    columns = read_channel(channel, "channel")
    secrets = columns.shape[0]
    if isinstance(neighbours, str) and neighbours == "all":
        is_possible = columns.sizes > 0
        if (columns.sizes[is_possible] < secrets).any():
            return math.inf
        # Every shown column is full, so the values read as a table, observations x secrets.
        table = columns.values.reshape(-1, secrets)
        return _largest_log_ratio(table.max(axis=1), table.min(axis=1))
    if isinstance(neighbours, str):
        if neighbours != "consecutive":
            raise ValueError(f'neighbours is {neighbours!r}; it is "all", "consecutive" or pairs.')
        neighbours = zip(range(secrets - 1), range(1, secrets), strict=True)
    rows = columns.to_matrix()
    rows = rows.toarray() if columns.layout == "sparse" else rows
    largest = 0.0
    for one, other in neighbours:
        if not (0 <= one < secrets and 0 <= other < secrets):
            raise ValueError(
                f"neighbours names the pair ({one}, {other}); rows are 0 to {secrets - 1}."
            )
        high, low = np.maximum(rows[one], rows[other]), np.minimum(rows[one], rows[other])
        largest = max(largest, _largest_log_ratio(high[high > 0], low[high > 0]))
    return largest


def _largest_log_ratio(high: Numbers, low: Numbers) -> float:
    if (low == 0).any():
        return math.inf
    if high.dtype == object:
        return math.log((high / low).max())
    return float((np.log(high) - np.log(low)).max())  # a ratio could overflow


def _geometric_weight(
    step: Any, secret: int, published: int, *, lowest: int, highest: int, ends: str
) -> Any:
    """In proportion to the probability of publishing `published`."""
    if ends == "condition":
        return step ** abs(published - secret)
    if lowest == highest:
        return step**0
    if published == lowest:
        return _noise_tail_probability(step, secret - lowest)
    if published == highest:
        return _noise_tail_probability(step, highest - secret)
    return (1 - step) / (1 + step) * step ** abs(published - secret)


def _noise_tail_probability(step: Any, size: int) -> Any:
    """How likely two-sided geometric noise is at least so large; the same for at most minus it."""
    return step**size / (1 + step) if size > 0 else 1 - step ** (1 - size) / (1 + step)


def _resolve_odds(epsilon: float | None, odds: Fraction | int | None) -> Any:
    if (epsilon is None) == (odds is None):
        raise ValueError("give either epsilon or odds, and not both.")
    if odds is not None:
        if not odds >= 1:
            raise ValueError(f"odds is {odds}; it is at least 1.")
        return Fraction(odds)
    if epsilon is None or not 0 <= epsilon <= 700:  # beyond, e to the epsilon is no number
        raise ValueError(f"epsilon is {epsilon}; it is a number from 0 to 700.")
    return math.exp(epsilon)


def _choose_dtype(number: Any) -> type:
    return object if isinstance(number, Fraction) else float


def _require_count(number: int, name: str) -> None:
    if number < 1:
        raise ValueError(f"{name} is {number}; it is at least 1.")
