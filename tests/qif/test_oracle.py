"""Random small channels against libqif, which was written by others in another language."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from divulge import qif as ours

oracle: Any = pytest.importorskip(
    "qif", reason="libqif (PyPI package qif), the independent implementation, is not installed"
)

SEEDS = range(40)


def case(seed: int) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(seed)
    secrets, observations, guesses = random.integers(2, 7, 3)
    channel = random.dirichlet(np.ones(observations), secrets)
    channel[random.random(channel.shape) < 0.2] = 0
    channel[:, 0] += 1 - channel.sum(axis=1)
    return random.dirichlet(np.ones(secrets)), channel, random.normal(size=(guesses, secrets))


@pytest.mark.parametrize("seed", SEEDS)
def test_vulnerabilities_and_entropies_are_libqifs(seed: int) -> None:
    prior, channel, gain = case(seed)
    h = ours.Hyper.from_prior(prior, channel)
    theirs = oracle.measure
    for mine, other, extra in (
        (ours.bayes_vulnerability(h), theirs.bayes_vuln, ()),
        (ours.shannon_entropy(h), theirs.shannon, ()),
        (ours.guessing_entropy(h), theirs.guessing, ()),
        (ours.g_vulnerability(h, gain), theirs.g_vuln, (gain,)),
    ):
        assert mine.prior == pytest.approx(other.prior(*extra, prior))
        assert mine.posterior == pytest.approx(other.posterior(*extra, prior, channel))


@pytest.mark.parametrize("seed", SEEDS)
def test_capacities_are_libqifs(seed: int) -> None:
    prior, channel, _ = case(seed)
    h = ours.Hyper.from_prior(prior, channel)
    assert ours.multiplicative_capacity(channel) == pytest.approx(
        oracle.measure.bayes_vuln.mult_capacity(channel)
    )
    assert ours.additive_capacity(h) == pytest.approx(
        oracle.measure.g_vuln.add_capacity(prior, channel, one_spanning_g=True)
    )
    value, _ = oracle.measure.shannon.add_capacity(channel)
    capacity = ours.shannon_capacity(channel, precision=1e-5)
    assert capacity.reached
    assert capacity.value == pytest.approx(value, abs=2e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_hypers_are_libqifs(seed: int) -> None:
    prior, channel, _ = case(seed)
    h = ours.Hyper.from_prior(prior, channel)
    # libqif gives an impossible observation a column of NaN, we one of zeros
    theirs = np.nan_to_num(oracle.channel.posteriors(channel, prior))
    np.testing.assert_allclose(h.posteriors, theirs)
    np.testing.assert_allclose(h.outer, prior @ channel)
    np.testing.assert_allclose(
        ours.parallel(channel, channel), oracle.channel.compose.parallel(channel, channel)
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_refinement_is_libqifs(seed: int) -> None:
    random = np.random.default_rng(seed)
    _, channel, _ = case(seed)
    processed = ours.cascade(channel, random.dirichlet(np.ones(3), channel.shape[1]))
    unrelated = random.dirichlet(np.ones(3), channel.shape[0])
    assert ours.refinement(channel, by=processed).holds
    for one, other in ((channel, unrelated), (unrelated, channel), (processed, channel)):
        assert ours.refinement(one, by=other).holds == oracle.refinement.refined_by(one, other)


@pytest.mark.parametrize("seed", range(10))
def test_exact_results_are_libqifs_fractions(seed: int) -> None:
    random = np.random.default_rng(seed)
    secrets, observations = random.integers(2, 5, 2)
    weights = random.integers(0, 9, (secrets, observations)) + np.eye(
        secrets, observations, dtype=int
    )
    weights[:, 0] += 1
    channel = np.array([[Fraction(int(v), int(row.sum())) for v in row] for row in weights])
    prior = np.array([Fraction(1, int(secrets))] * secrets)
    h = ours.Hyper.from_prior(prior, channel)
    assert ours.bayes_vulnerability(h).posterior == oracle.measure.bayes_vuln.posterior(
        prior, channel
    )
    assert ours.guessing_entropy(h).posterior == oracle.measure.guessing.posterior(prior, channel)
    assert ours.multiplicative_capacity(channel) == oracle.measure.bayes_vuln.mult_capacity(channel)


@pytest.mark.parametrize("strength", [0.1, 1.0, 3.0])
def test_mechanisms_are_libqifs(strength: float) -> None:
    theirs = oracle.mechanism.d_privacy
    np.testing.assert_allclose(
        ours.randomised_response(5, strength), theirs.randomized_response(5, strength)
    )
    np.testing.assert_allclose(ours.geometric(6, strength), theirs.geometric(6, strength))
    np.testing.assert_allclose(
        ours.geometric(4, strength, lowest=-2, highest=6),
        theirs.geometric(4, strength, 9, 0, -2),
    )
    distance = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    # theirs weighs by exp(-distance * strength / 2); ours divides by the sensitivity too
    np.testing.assert_allclose(
        ours.exponential(-distance, strength, sensitivity=1),
        theirs.exponential(5, lambda x, y: strength * abs(x - y)),
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_epsilon_is_libqifs_for_secrets_at_distance_one(seed: int) -> None:
    random = np.random.default_rng(seed)
    channel = random.dirichlet(np.ones(3), 4)
    theirs = oracle.measure.d_privacy.smallest_epsilon(channel, lambda x, y: float(x != y))
    assert ours.epsilon(channel) == pytest.approx(theirs)
    channel[0] = [1, 0, 0]
    assert ours.epsilon(channel) == math.inf
