"""What agreement counts for in linkage: how often it is met in true pairs, and by chance.

Fellegi and Sunter's model: a pair of a record and a person is a true one or not, and agrees on each
comparison with a probability that depends on that alone. Which pairs are true is not known, so the
probabilities are estimated with them (expectation and maximisation). Few comparisons cannot tell
everything: what the pairs leave open stays near a mild expectation, and the share of true pairs is
estimated only from three comparisons on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

AGREEMENT = 0.95
"""How often a true pair is expected to agree on a comparison, before the pairs are looked at."""
EXPECTED_PAIRS = 20.0
"""How many true pairs that expectation is worth."""
CHANCE_PAIRS = 2.0
ENOUGH_COMPARISONS = 3
MOST_ROUNDS = 2_000
SETTLED = 1e-10
LEAST = 1e-9
MISSING = 2


@dataclass(frozen=True)
class Vectors:
    """The comparisons of all pairs: each way to agree (1), disagree (0) or be missing (2).

    `pairs` counts the pairs with each vector, `true` those known to be of one person.
    """

    compared: npt.NDArray[np.int8]
    pairs: FloatArray
    true: FloatArray

    @property
    def total(self) -> float:
        """How many pairs there are."""
        return float(self.pairs.sum())


@dataclass(frozen=True)
class Evidence:
    """How often pairs agree on each comparison: true ones, others; the share of true pairs."""

    agree: FloatArray
    chance: FloatArray
    share: float

    @property
    def odds(self) -> list[tuple[float, float]]:
        """What agreement and disagreement multiply the odds of a pair by; missing says nothing."""
        return [
            (float(m / u), float((1 - m) / (1 - u)))
            for m, u in zip(self.agree, self.chance, strict=True)
        ]


def estimated(
    vectors: Vectors, share: float, most: float, given: Sequence[float | None]
) -> Evidence:
    """Estimate what agreement counts for from pairs of which it is not known which are true.

    Args:
        vectors: the comparisons of all pairs.
        share: the share of true pairs to start with; it stays if there are few comparisons.
        most: the highest share of true pairs that is possible.
        given: how often true pairs agree on each comparison, None where it is to be estimated.

    >>> compared = np.array([[1, 1, 1], [0, 0, 0], [1, 0, 0], [0, 1, 1]], np.int8)
    >>> vectors = Vectors(compared, np.array([90.0, 880.0, 20.0, 10.0]), np.zeros(4))
    >>> found = estimated(vectors, 0.1, 1.0, [None, None, None])
    >>> found.agree.round(2).tolist(), round(found.share, 2)
    ([0.91, 0.99, 0.99], 0.1)
    """
    met, here = vectors.compared == 1, vectors.compared != MISSING
    total = np.maximum((here * vectors.pairs[:, None]).sum(axis=0), LEAST)
    overall = _inside((met * vectors.pairs[:, None]).sum(axis=0) / total)
    fixed = np.array([AGREEMENT if each is None else each for each in given], np.float64)
    known = np.array([each is not None for each in given], bool)
    agree, chance = fixed.copy(), overall.copy()
    free = len(given) >= ENOUGH_COMPARISONS
    share = min(max(share, LEAST), 1.0)
    for _ in range(MOST_ROUNDS):
        belief = _belief(met, here, agree, chance, share)
        true, other = belief * vectors.pairs, (1 - belief) * vectors.pairs
        more = _rate(met, here, true, np.full(len(given), AGREEMENT), EXPECTED_PAIRS)
        new_agree = np.where(known, fixed, more)
        new_chance = _rate(met, here, other, overall, CHANCE_PAIRS)
        new_share = min(true.sum() / max(vectors.total, LEAST), most) if free else share
        moved = max(
            np.abs(new_agree - agree).max(initial=0),
            np.abs(new_chance - chance).max(initial=0),
            abs(new_share - share),
        )
        agree, chance, share = new_agree, new_chance, max(float(new_share), LEAST)
        if moved < SETTLED:
            break
    # Agreement never speaks against a pair: below chance there is nothing to learn from it.
    return Evidence(np.maximum(agree, np.where(known, agree, chance)), chance, share)


def from_truth(vectors: Vectors) -> Evidence:
    """Count what agreement counts for, where it is known which pairs are of one person."""
    met, here = vectors.compared == 1, vectors.compared != MISSING
    other = vectors.pairs - vectors.true

    def rate(of: FloatArray) -> FloatArray:
        compared = (here * of[:, None]).sum(axis=0)
        agreed = (met * of[:, None]).sum(axis=0)
        return _inside(
            np.divide(agreed, compared, where=compared > 0, out=np.full(len(agreed), 0.5))
        )

    return Evidence(rate(vectors.true), rate(other), float(vectors.true.sum() / vectors.total))


def agreements(given: Any, compare: Sequence[str]) -> list[float | None]:
    """How often true pairs agree on each comparison, as the user says; None: to be estimated."""
    if isinstance(given, Mapping):
        return [None if name not in given else float(given[name]) for name in compare]
    return [None if given is None else float(given)] * len(compare)


def _belief(met: Any, here: Any, agree: FloatArray, chance: FloatArray, share: float) -> FloatArray:
    """How likely a pair with each vector is a true one."""
    agree = _inside(agree)
    weight = np.where(met, np.log(agree / chance), np.log((1 - agree) / (1 - chance)))
    score = np.where(here, weight, 0.0).sum(axis=1) + np.log(share)
    if share >= 1:
        return np.ones(len(score))
    other = np.log(1 - share)
    belief: FloatArray = 1 / (1 + np.exp(np.clip(other - score, -700, 700)))
    return belief


def _rate(met: Any, here: Any, pairs: FloatArray, expected: FloatArray, worth: float) -> FloatArray:
    agreed = (met * pairs[:, None]).sum(axis=0) + worth * expected
    return _inside(agreed / ((here * pairs[:, None]).sum(axis=0) + worth))


def _inside(rate: Any) -> FloatArray:
    """No probability is so sure that one pair could not change it."""
    return np.clip(np.asarray(rate, np.float64), LEAST, 1 - LEAST)
