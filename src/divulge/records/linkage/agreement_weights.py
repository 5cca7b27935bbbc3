"""Fellegi-Sunter weights by expectation maximisation (EM): what agreement counts for in linkage.

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

from divulge.records import tuning
from divulge.records.linkage.comparison import MISSING
from divulge.work.arrays import Floats

ENOUGH_COMPARISONS = 3
MIN_PROBABILITY = 1e-9


@dataclass(frozen=True)
class ComparisonVectors:
    """The comparisons of all pairs: each way to agree (1), disagree (0) or be missing (2).

    `pairs` counts the pairs with each vector, `true` those known to be of one person.
    """

    patterns: npt.NDArray[np.int8]
    pairs: Floats
    true: Floats

    @property
    def total(self) -> float:
        """How many pairs there are."""
        return float(self.pairs.sum())


@dataclass(frozen=True)
class Evidence:
    """How often pairs agree on each comparison: true ones, others; the share of true pairs."""

    agree: Floats
    chance: Floats
    share: float

    @property
    def odds(self) -> list[tuple[float, float]]:
        """What agreement and disagreement multiply the odds of a pair by; missing says nothing."""
        return [
            (float(m / u), float((1 - m) / (1 - u)))
            for m, u in zip(self.agree, self.chance, strict=True)
        ]


def estimate_evidence(
    vectors: ComparisonVectors, share: float, most: float, given: Sequence[float | None]
) -> Evidence:
    """Estimate what agreement counts for from pairs of which it is not known which are true.

    Args:
        vectors: the comparisons of all pairs.
        share: the share of true pairs to start with; it stays if there are few comparisons.
        most: the highest share of true pairs that is possible.
        given: how often true pairs agree on each comparison, None where it is to be estimated.

    >>> compared = np.array([[1, 1, 1], [0, 0, 0], [1, 0, 0], [0, 1, 1]], np.int8)
    >>> vectors = ComparisonVectors(compared, np.array([90.0, 880.0, 20.0, 10.0]), np.zeros(4))
    >>> found = estimate_evidence(vectors, 0.1, 1.0, [None, None, None])
    >>> found.agree.round(2).tolist(), round(found.share, 2)
    ([0.91, 0.99, 0.99], 0.1)
    """
    is_agreed, is_present = vectors.patterns == 1, vectors.patterns != MISSING
    total = np.maximum((is_present * vectors.pairs[:, None]).sum(axis=0), MIN_PROBABILITY)
    overall = _clip_probability((is_agreed * vectors.pairs[:, None]).sum(axis=0) / total)
    fixed = np.array(
        [tuning.EXPECTED_AGREEMENT if each is None else each for each in given], np.float64
    )
    is_fixed = np.array([each is not None for each in given], bool)
    agree, chance = fixed.copy(), overall.copy()
    estimates_share = len(given) >= ENOUGH_COMPARISONS
    share = min(max(share, MIN_PROBABILITY), 1.0)
    for _ in range(tuning.MAX_EM_ROUNDS):
        belief = _compute_match_posterior(is_agreed, is_present, agree, chance, share)
        true, other = belief * vectors.pairs, (1 - belief) * vectors.pairs
        smoothed = _smooth_agreement_rate(
            is_agreed,
            is_present,
            true,
            np.full(len(given), tuning.EXPECTED_AGREEMENT),
            tuning.PRIOR_TRUE_PAIRS,
        )
        new_agree = np.where(is_fixed, fixed, smoothed)
        new_chance = _smooth_agreement_rate(
            is_agreed, is_present, other, overall, tuning.PRIOR_CHANCE_PAIRS
        )
        new_share = (
            min(true.sum() / max(vectors.total, MIN_PROBABILITY), most)
            if estimates_share
            else share
        )
        change = max(
            np.abs(new_agree - agree).max(initial=0),
            np.abs(new_chance - chance).max(initial=0),
            abs(new_share - share),
        )
        agree, chance, share = new_agree, new_chance, max(float(new_share), MIN_PROBABILITY)
        if change < tuning.EM_TOLERANCE:
            break
    # Agreement never speaks against a pair: below chance there is nothing to learn from it.
    return Evidence(np.maximum(agree, np.where(is_fixed, agree, chance)), chance, share)


def count_evidence(vectors: ComparisonVectors) -> Evidence:
    """Count what agreement counts for, where it is known which pairs are of one person."""
    is_agreed, is_present = vectors.patterns == 1, vectors.patterns != MISSING
    other = vectors.pairs - vectors.true

    def compute_rate(of: Floats) -> Floats:
        compared = (is_present * of[:, None]).sum(axis=0)
        agreed = (is_agreed * of[:, None]).sum(axis=0)
        return _clip_probability(
            np.divide(agreed, compared, where=compared > 0, out=np.full(len(agreed), 0.5))
        )

    return Evidence(
        compute_rate(vectors.true), compute_rate(other), float(vectors.true.sum() / vectors.total)
    )


def list_agreement_rates(agreement: Any, compare: Sequence[str]) -> list[float | None]:
    """How often true pairs agree on each comparison, as the user says; None: to be estimated."""
    if isinstance(agreement, Mapping):
        return [None if name not in agreement else float(agreement[name]) for name in compare]
    return [None if agreement is None else float(agreement)] * len(compare)


def _compute_match_posterior(
    is_agreed: Any, is_present: Any, agree: Floats, chance: Floats, share: float
) -> Floats:
    """How likely a pair with each vector is a true one."""
    agree = _clip_probability(agree)
    weight = np.where(is_agreed, np.log(agree / chance), np.log((1 - agree) / (1 - chance)))
    score = np.where(is_present, weight, 0.0).sum(axis=1) + np.log(share)
    if share >= 1:
        return np.ones(len(score))
    other = np.log(1 - share)
    belief: Floats = 1 / (1 + np.exp(np.clip(other - score, -700, 700)))
    return belief


def _smooth_agreement_rate(
    is_agreed: Any, is_present: Any, pairs: Floats, expected: Floats, pseudo_pairs: float
) -> Floats:
    agreed = (is_agreed * pairs[:, None]).sum(axis=0) + pseudo_pairs * expected
    return _clip_probability(agreed / ((is_present * pairs[:, None]).sum(axis=0) + pseudo_pairs))


def _clip_probability(rate: Any) -> Floats:
    """No probability is so sure that one pair could not change it."""
    return np.clip(np.asarray(rate, np.float64), MIN_PROBABILITY, 1 - MIN_PROBABILITY)
