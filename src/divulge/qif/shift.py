"""How far beliefs move: "5% before, 30% after", for every observation.

Averages hide that a release can move what is believed of some people a long way without making
anything certain. This is the whole distribution of those moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from divulge.qif.columns import Columns, Numbers, as_number, zero_like

if TYPE_CHECKING:
    from divulge.qif.hyper import Hyper


class Move(NamedTuple):
    """One move of belief: from, to, and how probable it is.

    >>> Move(before=0.05, after=0.3, probability=0.01).after
    0.3
    """

    before: float
    after: float
    probability: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Shift:
    """How probable a secret was before and is after each possible observation.

    All arrays have one entry per possible observation; impossible ones are left out.

    >>> from divulge.qif import Hyper
    >>> shift = posterior_shift(Hyper.from_counts([[6, 14], [14, 366]]), secret=0)
    >>> for move in shift.moves():
    ...     print(f"{move.before:.0%} before, {move.after:.0%} after, for {move.probability:.0%}")
    5% before, 30% after, for 5%
    5% before, 4% after, for 95%
    """

    observation: Numbers
    """The number of the observation: its column in the hyper."""
    secret: Numbers
    """Which secret the figures are of."""
    probability: Numbers
    """How probable the observation is (the outer)."""
    before: Numbers
    after: Numbers

    def share(self, *, after_at_least: float, before_at_most: float = 1) -> float:
        """How likely it is that belief ends at least so high, having begun at most so high.

        >>> from divulge.qif import Hyper
        >>> shift = posterior_shift(Hyper.from_counts([[6, 14], [14, 366]]), secret=0)
        >>> shift.share(after_at_least=0.3, before_at_most=0.05)
        0.05
        """
        is_counted = (self.after >= after_at_least) & (self.before <= before_at_most)
        probabilities = self.probability[is_counted]
        return as_number(probabilities.sum() if probabilities.size else zero_like(self.probability))

    def quantile(self, level: float) -> float:
        """How high belief is after the observation, in at least this share of cases or fewer.

        >>> from divulge.qif import Hyper
        >>> posterior_shift(Hyper.from_counts([[6, 14], [14, 366]]), secret=0).quantile(1)
        0.3
        """
        if not 0 <= level <= 1:
            raise ValueError(f"level is {level}; it is a share from 0 to 1.")
        order = np.argsort(self.after, kind="stable")
        cumulative = np.cumsum(self.probability[order])
        place = int(np.searchsorted(cumulative, level * cumulative[-1]))
        return as_number(self.after[order[min(place, order.size - 1)]])

    def moves(self) -> list[Move]:
        """Every distinct move with its probability, the highest belief first.

        >>> from divulge.qif import Hyper
        >>> posterior_shift(Hyper.from_counts([[1, 1, 0], [0, 0, 2]])).moves()
        [Move(before=0.5, after=1.0, probability=1.0)]
        """
        before, before_code = np.unique(self.before, return_inverse=True)
        after, after_code = np.unique(self.after, return_inverse=True)
        code = after_code * before.size + before_code
        order = np.argsort(code, kind="stable")
        kinds, first = np.unique(code[order], return_index=True)
        probability = np.add.reduceat(self.probability[order], first)
        return [
            Move(
                as_number(before[kind % before.size]),
                as_number(after[kind // before.size]),
                as_number(share),
            )
            for kind, share in zip(kinds[::-1], probability[::-1], strict=True)
        ]

    def to_dict(self) -> dict[str, list[dict[str, float]]]:
        """Every distinct move as plain values.

        >>> from divulge.qif import Hyper
        >>> posterior_shift(Hyper.from_counts([[1, 0], [0, 1]])).to_dict()
        {'moves': [{'before': 0.5, 'after': 1.0, 'probability': 1.0}]}
        """
        moves = [{name: float(x) for name, x in m._asdict().items()} for m in self.moves()]
        return {"moves": moves}

    def __repr__(self) -> str:
        return f"Shift({self.observation.size} possible observations)"


def posterior_shift(h: Hyper, secret: int | None = None) -> Shift:
    """Compare what was believed before with what is believed after each observation.

    Args:
        h: what the adversary knows.
        secret: follow this secret. Without it, follow the best guess after each observation
            (the first, if several are equally likely): how probable was that secret before?

    Raises:
        ValueError: there is no such secret.

    >>> from divulge.qif import Hyper
    >>> shift = posterior_shift(Hyper.from_counts([[0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]]))
    >>> shift.secret.tolist(), shift.before.tolist(), shift.after.tolist()
    ([1, 0, 2], [0.25, 0.25, 0.5], [0.5, 1.0, 1.0])
    """
    possible = np.flatnonzero(h.weights.sizes)
    if secret is None:
        secrets, weights = _find_likeliest_secrets(h.weights)
    elif 0 <= secret < h.shape[0]:
        secrets = np.full(possible.size, secret)
        weights = _extract_secret_weights(h.weights, secret)[possible]
    else:
        raise ValueError(f"secret {secret} is not one of 0 to {h.shape[0] - 1}.")
    return Shift(
        observation=possible,
        secret=secrets,
        probability=h.outer[possible],
        before=h.prior[secrets],
        after=weights / h.weights.column_sums()[possible],
    )


def _find_likeliest_secrets(columns: Columns) -> tuple[Any, Numbers]:
    """The first of the likeliest secrets of every possible observation, and its weight."""
    owners = columns.column_indices()
    largest = np.flatnonzero(columns.values == columns.column_maxima()[owners])
    of_column = owners[largest]
    first = largest[np.concatenate([[True], of_column[1:] != of_column[:-1]])]
    return columns.rows[first], columns.values[first]


def _extract_secret_weights(columns: Columns, secret: int) -> Numbers:
    """The weight of one secret in every column."""
    weights = np.full(columns.shape[1], zero_like(columns.values), dtype=columns.values.dtype)
    here = np.flatnonzero(columns.rows == secret)
    weights[np.searchsorted(columns.starts, here, side="right") - 1] = columns.values[here]
    return weights
