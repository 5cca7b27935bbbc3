"""Laws of information flow, held on random channels.

Laws are stated in Fractions, so they hold to the last digit and need no tolerance; that floating,
sparse and dense results agree with the exact ones is a law of its own.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from divulge.qif import (
    Hyper,
    PriorPosterior,
    additive_capacity,
    bayes_vulnerability,
    cascade,
    dalenius,
    deterministic_success,
    g_vulnerability,
    gains,
    guessing_entropy,
    k_guesses_vulnerability,
    multiplicative_capacity,
    parallel,
    posterior_shift,
    shannon_capacity,
    shannon_entropy,
    worst_case,
)

SIZES = st.integers(1, 4)


@st.composite
def distributions(draw: st.DrawFn, size: int) -> list[Fraction]:
    weights = draw(st.lists(st.integers(0, 6), min_size=size, max_size=size))
    assume(any(weights))
    return [Fraction(weight, sum(weights)) for weight in weights]


@st.composite
def channels(draw: st.DrawFn, secrets: int) -> list[list[Fraction]]:
    observations = draw(SIZES)
    return [draw(distributions(observations)) for _ in range(secrets)]


@st.composite
def hypers(draw: st.DrawFn) -> Hyper:
    secrets = draw(SIZES)
    return Hyper.from_prior(draw(distributions(secrets)), draw(channels(secrets)))


@st.composite
def gain_matrices(draw: st.DrawFn, secrets: int, low: int, high: int = 6) -> list[list[Fraction]]:
    values = st.integers(low, high).map(Fraction)
    rows = st.lists(values, min_size=secrets, max_size=secrets)
    return draw(st.lists(rows, min_size=1, max_size=4))


def floating(h: Hyper) -> Hyper:
    return Hyper.from_counts(h.joint.astype(float))


def scattered(h: Hyper) -> Hyper:
    return Hyper.from_counts(csr_array(h.joint.astype(float)))


VULNERABILITIES: list[Any] = [
    bayes_vulnerability,
    deterministic_success,
    worst_case,
    lambda h: k_guesses_vulnerability(h, 2),
]


@given(hypers())
@pytest.mark.parametrize("vulnerability", VULNERABILITIES)
def test_no_release_makes_a_guess_worse(vulnerability: Any, h: Hyper) -> None:
    success = vulnerability(h)
    assert success.additive >= 0
    assert success.multiplicative >= 1


@given(st.data(), hypers())
def test_no_leakage_is_negative_whatever_the_gain(data: st.DataObject, h: Hyper) -> None:
    assert g_vulnerability(h, data.draw(gain_matrices(h.shape[0], -6))).additive >= 0


@given(hypers())
def test_no_release_adds_to_what_is_unknown(h: Hyper) -> None:
    assert guessing_entropy(h).additive <= 0
    assert shannon_entropy(h).additive <= 1e-12


@given(st.data(), hypers())
def test_post_processing_leaks_no_more_for_every_prior_and_gain(
    data: st.DataObject, h: Hyper
) -> None:
    assume(all(h.prior > 0))
    processed = Hyper.from_prior(h.prior, cascade(h.channel, data.draw(channels(h.shape[1]))))
    gain = data.draw(gain_matrices(h.shape[0], -6))
    assert g_vulnerability(processed, gain).posterior <= g_vulnerability(h, gain).posterior
    for vulnerability in VULNERABILITIES:
        assert vulnerability(processed).posterior <= vulnerability(h).posterior
    assert guessing_entropy(processed).posterior >= guessing_entropy(h).posterior
    assert shannon_entropy(processed).posterior >= shannon_entropy(h).posterior - 1e-12
    assert additive_capacity(processed) <= additive_capacity(h)
    assert multiplicative_capacity(processed.channel) <= multiplicative_capacity(h.channel)


@given(st.data(), SIZES)
def test_multiplicative_capacity_bounds_every_gain_that_is_not_negative(
    data: st.DataObject, secrets: int
) -> None:
    channel = data.draw(channels(secrets))
    h = Hyper.from_prior(data.draw(distributions(secrets)), channel)
    success = g_vulnerability(h, data.draw(gain_matrices(secrets, 0)))
    assume(success.prior > 0)
    assert success.multiplicative <= multiplicative_capacity(channel)


@given(st.data(), SIZES)
def test_multiplicative_capacity_is_reached_by_one_guess_from_a_uniform_prior(
    data: st.DataObject, secrets: int
) -> None:
    channel = data.draw(channels(secrets))
    uniform = Hyper.from_prior([Fraction(1, secrets)] * secrets, channel)
    assert bayes_vulnerability(uniform).multiplicative == multiplicative_capacity(channel)


@given(st.data(), hypers())
def test_additive_capacity_bounds_every_gain_of_spread_at_most_one(
    data: st.DataObject, h: Hyper
) -> None:
    gain = np.array(data.draw(gain_matrices(h.shape[0], -6)))
    widest = max(max(guess) - min(guess) for guess in gain)
    if widest > 0:
        gain = gain / widest
    assert g_vulnerability(h, gain).additive <= additive_capacity(h)


@given(hypers())
def test_additive_capacity_is_the_average_distance_of_posterior_and_prior(h: Hyper) -> None:
    distance = np.abs(h.posteriors - h.prior[:, None]).sum(axis=0) / 2
    assert additive_capacity(h) == (h.outer * distance).sum()


@given(st.data(), hypers())
def test_two_releases_multiply_success_by_no_more_than_the_product_of_their_capacities(
    data: st.DataObject, h: Hyper
) -> None:
    one, other = data.draw(channels(h.shape[0])), data.draw(channels(h.shape[0]))
    product = multiplicative_capacity(one) * multiplicative_capacity(other)
    assert multiplicative_capacity(parallel(one, other)) <= product


@given(st.data(), hypers())
def test_a_correlated_secret_leaks_no_more_than_the_channel_can(
    data: st.DataObject, h: Hyper
) -> None:
    assume(all(h.prior > 0))
    other = dalenius(h, correlation=data.draw(channels(h.shape[0])))
    assert bayes_vulnerability(other).multiplicative <= multiplicative_capacity(h.channel)


@given(st.data(), SIZES)
@settings(deadline=None)  # some channels take all the rounds they are given
def test_shannon_capacity_lies_between_its_bounds_and_above_every_prior(
    data: st.DataObject, secrets: int
) -> None:
    channel = data.draw(channels(secrets))
    capacity = shannon_capacity(channel, precision=1e-3, max_iterations=2_000)
    assert capacity.lower <= capacity.value <= capacity.upper
    assert not capacity.reached or capacity.upper - capacity.lower <= 1e-3
    told = -shannon_entropy(Hyper.from_prior(data.draw(distributions(secrets)), channel)).additive
    assert told <= capacity.upper + 1e-9
    best = -shannon_entropy(Hyper.from_prior(capacity.prior, np.array(channel, float))).additive
    assert best <= capacity.upper + 1e-9
    assert best >= capacity.lower - 1e-3 - 1e-9


@given(st.data(), hypers())
def test_exact_floating_sparse_and_dense_results_agree(data: st.DataObject, h: Hyper) -> None:
    gain = np.array(data.draw(gain_matrices(h.shape[0], -6)))
    worth = gains.worth_of_secrets(np.abs(gain[0]), Fraction(1, 3), may_abstain=False)
    figures: list[Any] = [
        bayes_vulnerability,
        deterministic_success,
        worst_case,
        guessing_entropy,
        shannon_entropy,
        lambda h: k_guesses_vulnerability(h, 3),
        lambda h: g_vulnerability(h, gain),
        lambda h: g_vulnerability(h, worth),
        lambda h: g_vulnerability(h, gains.membership_of_group([1] + [0] * (h.shape[0] - 1))),
    ]
    for figure in figures:
        exact = tuple(map(float, figure(h)))
        assert figure(floating(h)) == pytest.approx(exact, abs=1e-12)
        assert figure(scattered(h)) == pytest.approx(exact, abs=1e-12)
    assert additive_capacity(floating(h)) == pytest.approx(float(additive_capacity(h)), abs=1e-12)
    assert additive_capacity(scattered(h)) == pytest.approx(float(additive_capacity(h)), abs=1e-12)
    for other in (floating(h), scattered(h)):
        assert np.allclose(other.outer, h.outer.astype(float))
        posteriors = (
            other.posteriors if other.weights.layout == "dense" else other.posteriors.toarray()
        )
        assert np.allclose(posteriors, h.posteriors.astype(float))


@given(hypers(), st.integers(1, 5))
def test_the_k_likeliest_secrets_are_the_best_of_all_choices_of_k(h: Hyper, k: int) -> None:
    written_out = gains.one_of_k_guesses(k).matrix(h.shape[0])
    assert k_guesses_vulnerability(h, k) == g_vulnerability(h, written_out)


@given(st.data(), hypers(), st.booleans())
def test_the_short_way_to_the_best_price_is_the_long_one(
    data: st.DataObject, h: Hyper, may_abstain: bool
) -> None:
    worth, costs = data.draw(gain_matrices(h.shape[0], 0)), data.draw(gain_matrices(h.shape[0], 0))
    gain = gains.worth_of_secrets(worth[0], costs[0], may_abstain=may_abstain)
    assert g_vulnerability(h, gain) == g_vulnerability(h, gain.matrix(h.shape[0]))


@given(hypers())
def test_beliefs_move_but_on_average_stay_where_they_were(h: Hyper) -> None:
    for secret in range(h.shape[0]):
        shift = posterior_shift(h, secret)
        assert (shift.probability * shift.after).sum() == h.prior[secret]
        assert sum(move.probability for move in shift.moves()) == 1


@given(hypers())
def test_the_best_guess_moves_up_to_the_bayes_vulnerability(h: Hyper) -> None:
    shift = posterior_shift(h)
    assert (shift.probability * shift.after).sum() == bayes_vulnerability(h).posterior
    for observation, secret, after in zip(
        shift.observation, shift.secret, shift.after, strict=True
    ):
        assert h.posterior(observation)[secret] == after == max(h.posterior(observation))


@given(hypers())
def test_what_is_certain_is_what_the_posteriors_say_is_one(h: Hyper) -> None:
    certain = sum(h.outer[y] for y in range(h.shape[1]) if 1 in h.posteriors[:, y])
    assert deterministic_success(h) == PriorPosterior(int(max(h.prior) == 1), certain)


def test_a_leakage_too_small_for_floating_numbers_is_kept_where_figures_are_exact() -> None:
    tiny, half = Fraction(1, 10**15), Fraction(1, 2)
    channel = [[half + tiny, half - tiny], [half - tiny, half + tiny]]
    found = bayes_vulnerability(Hyper.from_prior([half, half], channel))
    assert found.additive == tiny
