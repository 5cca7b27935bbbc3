"""Figures of information flow in everyday words, and what an attack may be worth in money."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from divulge.assessment.sentence import Sentence
from divulge.qif import (
    Hyper,
    PriorPosterior,
    additive_capacity,
    bayes_vulnerability,
    deterministic_success,
    g_vulnerability,
    guessing_entropy,
    multiplicative_capacity,
    posterior_shift,
    shannon_entropy,
    worst_case,
)

NOTABLE_FACTOR = 2.0
"""From which factor on a move of belief is worth a sentence."""


def in_words(
    h: Hyper, seeks: str = "the secret", gain: Any = None, currency: str = "$"
) -> list[Sentence]:
    """Say what a release tells about a secret, one sentence a figure.

    Args:
        h: what the adversary knows before and after.
        seeks: what the adversary wants to know, in words.
        gain: what a guess is worth to them in money (see `divulge.qif.gains`); then the sentences
            say what the attack may be worth.
        currency: the sign before amounts of money.

    >>> from divulge.qif import Hyper, gains
    >>> people = Hyper.from_counts([[0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]])
    >>> for sentence in in_words(people, "the language", gains.worth_of_secrets([4, 4, 4]))[1:3]:
    ...     print(sentence)
    In 50% of cases nothing is left to guess; before the release, in 0%.
    An adversary can expect $2 before the release and $3 after: seeing it is worth $1 to them.
    """
    return list(_describe_figures(h, seeks, gain, currency))


def _describe_figures(h: Hyper, seeks: str, gain: Any, currency: str) -> Iterator[Sentence]:
    guess = bayes_vulnerability(h)
    yield _build_sentence("guess", guess, seeks=seeks, points=guess.additive)
    yield _build_sentence("certain", deterministic_success(h))
    if gain is not None:
        worth = g_vulnerability(h, gain)
        key = "worth" if worth.additive > 0 else "worthless"
        yield _build_sentence(key, worth, currency=currency, gained=worth.additive)
    yield _build_sentence("worst", worst_case(h), seeks=seeks)
    doubled_share = _compute_doubled_share(h)
    if doubled_share > 0:
        yield Sentence("divulge.assessment", "information.doubled", {"share": doubled_share})
    bits = shannon_entropy(h)
    effective_sizes = PriorPosterior(2**bits.prior, 2**bits.posterior)
    yield _build_sentence(
        "uncertainty", effective_sizes, bits_before=bits.prior, bits_after=bits.posterior
    )
    yield _build_sentence("search", guessing_entropy(h))
    capacities = {"factor": _compute_capacity(h), "points": float(additive_capacity(h))}
    yield Sentence("divulge.assessment", "information.capacity", capacities)


def _build_sentence(key: str, pair: PriorPosterior, **more: Any) -> Sentence:
    values = {
        "before": float(pair.prior),
        "after": float(pair.posterior),
        "factor": float(pair.multiplicative),
        **{name: _to_plain_value(value) for name, value in more.items()},
    }
    return Sentence("divulge.assessment", f"information.{key}", values)


def _to_plain_value(value: Any) -> Any:
    return value if isinstance(value, str) else float(value)


def _compute_doubled_share(h: Hyper) -> float:
    """In which share of cases the best guess is at least twice as probable as it was."""
    shift = posterior_shift(h)
    return float(shift.probability[shift.after >= NOTABLE_FACTOR * shift.before].sum())


def _compute_capacity(h: Hyper) -> float:
    # A secret of probability zero has no row in the channel; it cannot be the secret either.
    possible = h.prior > 0
    if possible.all():
        return float(multiplicative_capacity(h.channel))
    joint = h.joint
    possible_joint = joint[possible.nonzero()[0]]
    return float(multiplicative_capacity(Hyper.from_counts(possible_joint).channel))
