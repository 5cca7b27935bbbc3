"""Channels put together, mechanisms, capacities, refinement, gains and moves of belief."""

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from divulge.qif import (
    Hyper,
    bayes_vulnerability,
    cascade,
    dalenius,
    epsilon,
    exponential,
    g_vulnerability,
    gains,
    geometric,
    multiplicative_capacity,
    parallel,
    posterior_shift,
    randomised_response,
    randomised_rounding,
    refinement,
    release_capacity,
    shannon_capacity,
)

HALF = Fraction(1, 2)


def random_channel(seed: int, secrets: int, observations: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(observations), secrets)


# Composition


def test_composition_of_exact_channels_is_exact() -> None:
    noisy = randomised_response(2, odds=3)
    twice = cascade(noisy, noisy)
    assert twice.tolist() == [[Fraction(5, 8), Fraction(3, 8)], [Fraction(3, 8), Fraction(5, 8)]]
    assert parallel(noisy, [[1, 0], [0, 1]])[0].tolist() == [Fraction(3, 4), 0, Fraction(1, 4), 0]


@pytest.mark.parametrize("seed", range(5))
def test_composition_of_sparse_channels_is_that_of_dense_ones(seed: int) -> None:
    one, other = random_channel(seed, 4, 3), random_channel(seed + 100, 4, 5)
    one[0], other[1] = [0, 1, 0], [0, 0, 1, 0, 0]
    together = parallel(csr_array(one), csr_array(other))
    np.testing.assert_allclose(together.toarray(), parallel(one, other))
    after = random_channel(seed, 3, 2)
    np.testing.assert_allclose(
        cascade(csr_array(one), csr_array(after)).toarray(), cascade(one, after)
    )


def test_a_release_and_its_repetition_tell_more_together_than_each() -> None:
    noisy = randomised_response(2, odds=3)
    uniform = [HALF, HALF]
    once = bayes_vulnerability(Hyper.from_prior(uniform, noisy)).posterior
    thrice = bayes_vulnerability(
        Hyper.from_prior(uniform, parallel(parallel(noisy, noisy), noisy))
    ).posterior
    assert once == Fraction(3, 4)
    assert thrice == Fraction(27, 32)


# Dalenius


def test_what_is_told_of_a_secret_is_told_of_what_goes_with_it() -> None:
    smoker = Hyper.from_counts([[8, 2], [0, 10]], exact=True)
    correlation = [[Fraction(3, 4), Fraction(1, 4)], [1, 0]]
    ill = dalenius(smoker, correlation=correlation)
    assert ill.prior.tolist() == [Fraction(7, 8), Fraction(1, 8)]
    assert ill.posterior(0).tolist() == [Fraction(3, 4), Fraction(1, 4)]
    joint = [[Fraction(3, 8), Fraction(1, 8)], [HALF, 0]]
    assert dalenius(smoker, joint=joint).joint.tolist() == ill.joint.tolist()


def test_an_unrelated_secret_learns_nothing_from_the_release() -> None:
    h = Hyper.from_counts([[5, 0], [0, 5]])
    assert bayes_vulnerability(dalenius(h, correlation=[[0.3, 0.7], [0.3, 0.7]])).additive == 0


def test_dalenius_of_a_sparse_hyper_is_that_of_the_dense_one() -> None:
    counts, correlation = np.array([[3, 0, 1], [0, 2, 2]]), np.array([[0.5, 0.5, 0], [0, 0, 1]])
    dense = dalenius(Hyper.from_counts(counts), correlation=correlation)
    loose = dalenius(Hyper.from_counts(csr_array(counts)), correlation=csr_array(correlation))
    np.testing.assert_allclose(loose.joint.toarray(), dense.joint)


def test_dalenius_refuses_a_correlation_that_does_not_fit() -> None:
    h = Hyper.from_counts([[5, 0], [0, 5]])
    with pytest.raises(ValueError, match="either correlation or joint"):
        dalenius(h)
    with pytest.raises(ValueError, match="joint gives secret 0 another probability"):
        dalenius(h, joint=[[1, 1], [3, 3]])
    with pytest.raises(ValueError, match="correlation has 3 rows, not 2"):
        dalenius(h, correlation=np.eye(3))
    with pytest.raises(ValueError, match="joint has 3 rows for 2 secrets"):
        dalenius(h, joint=np.eye(3))


# Refinement


@pytest.mark.parametrize("seed", range(10))
def test_post_processing_is_found_again(seed: int) -> None:
    channel, processing = random_channel(seed, 4, 3), random_channel(seed + 50, 3, 2)
    found = refinement(channel, by=cascade(channel, processing))
    assert found.holds
    assert found.residual < 1e-6
    np.testing.assert_allclose(found.witness.sum(axis=1), 1)
    np.testing.assert_allclose(channel @ found.witness, channel @ processing, atol=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_where_refinement_fails_an_adversary_is_named_who_prefers_the_other(seed: int) -> None:
    one, other = random_channel(seed, 4, 3), random_channel(seed + 50, 4, 3)
    found = refinement(one, by=other)
    assert not found.holds
    assert found.residual > 1e-6
    assert found.gain is not None
    assert found.prior is not None
    assert found.gain.min() == 0
    assert found.gain.max() == 1
    from_one = g_vulnerability(Hyper.from_prior(found.prior, one), found.gain).posterior
    from_other = g_vulnerability(Hyper.from_prior(found.prior, other), found.gain).posterior
    assert from_other > from_one + 1e-6
    assert found.expected == (from_one, from_other)


def test_more_noise_of_the_same_kind_refines_less_noise_and_not_the_other_way() -> None:
    weak, strong = geometric(5, 2.0), geometric(5, 0.5)
    assert refinement(weak, by=strong).holds
    assert not refinement(strong, by=weak).holds


# Capacity


def test_capacities_of_two_years_multiply_to_a_bound_that_knows_the_number_of_secrets() -> None:
    yearly = {"2014": randomised_response(4, odds=9), "2015": np.eye(4)}
    found = release_capacity(yearly)
    assert found.parts == {"2014": 3, "2015": 4}
    assert found.product == 12
    assert found.bound == 4


def test_shannon_capacity_of_a_binary_symmetric_channel_is_one_minus_its_entropy() -> None:
    flip = 0.11
    entropy = -flip * math.log2(flip) - (1 - flip) * math.log2(1 - flip)
    found = shannon_capacity([[1 - flip, flip], [flip, 1 - flip]], precision=1e-9)
    assert found.lower <= 1 - entropy + 1e-12 <= found.upper + 2e-12
    assert found.value == pytest.approx(1 - entropy, abs=1e-9)


def test_shannon_capacity_of_a_z_channel_is_known_in_closed_form() -> None:
    # log2(1 + (1 - p) * p ** (p / (1 - p))) for a one that is lost with probability p
    found = shannon_capacity([[1, 0], [0.5, 0.5]], precision=1e-7)
    assert found.reached
    assert found.value == pytest.approx(math.log2(1.25), abs=1e-7)
    assert found.prior == pytest.approx([0.6, 0.4], abs=1e-3)


def test_shannon_capacity_says_when_its_bounds_are_not_yet_as_close_as_asked() -> None:
    found = shannon_capacity([[1, 0], [0.5, 0.5]], precision=1e-9, max_iterations=2)
    assert not found.reached
    assert found.iterations == 2
    assert found.lower <= math.log2(1.25) <= found.upper


def test_a_release_that_says_nothing_has_no_capacity() -> None:
    found = shannon_capacity([[0.5, 0.5]] * 3)
    assert (found.lower, found.upper) == pytest.approx((0, 0), abs=1e-12)
    assert multiplicative_capacity([[HALF, HALF]] * 3) == 1


# Mechanisms


@given(st.integers(2, 6), st.fractions(1, 20))
def test_randomised_response_gives_the_epsilon_it_was_asked_for(
    categories: int, odds: Fraction
) -> None:
    channel = randomised_response(categories, odds=odds)
    assert {sum(row) for row in channel} == {1}
    assert epsilon(channel) == pytest.approx(math.log(odds))
    assert epsilon(randomised_response(categories, math.log(odds))) == pytest.approx(math.log(odds))


@given(st.integers(2, 6), st.fractions(1, 20), st.integers(-3, 2), st.integers(3, 8))
def test_truncated_geometric_noise_gives_epsilon_per_step(
    secrets: int, odds: Fraction, lowest: int, highest: int
) -> None:
    channel = geometric(secrets, odds=odds, lowest=lowest, highest=highest)
    assert {sum(row) for row in channel} == {1}
    assert epsilon(channel, neighbours="consecutive") <= math.log(odds) + 1e-12
    if lowest == 0 and highest >= secrets - 1:
        assert epsilon(channel) == pytest.approx(math.log(odds) * (secrets - 1))


def test_geometric_noise_drawn_again_outside_the_range_gives_up_some_epsilon() -> None:
    conditioned = geometric(3, odds=2, ends="condition")
    assert {sum(row) for row in conditioned} == {1}
    assert math.log(2) < epsilon(conditioned, neighbours="consecutive") <= 2 * math.log(2)


def test_geometric_noise_adds_up_to_the_tails_of_the_noise_that_it_cuts_off() -> None:
    odds, secrets, far = 3, 3, 200
    wide = geometric(secrets, odds=odds, lowest=-far, highest=far)
    narrow = geometric(secrets, odds=odds)
    for secret in range(secrets):
        assert wide[secret, : far + 1].sum() == narrow[secret, 0]
        assert wide[secret, far + 1] == narrow[secret, 1]
        assert wide[secret, far + 2 :].sum() == narrow[secret, 2]


def test_exponential_mechanism_keeps_its_epsilon_for_every_utility() -> None:
    utility = np.random.default_rng(3).normal(size=(5, 4))
    assert epsilon(exponential(utility, 1.5)) <= 1.5
    np.testing.assert_allclose(exponential(np.zeros((2, 3)), 1.0), 1 / 3)
    # utilities far beyond what e to the power of them could hold
    assert np.isfinite(exponential([[1e6, 0], [0, 1e6]], 1.0, sensitivity=1)).all()


def test_randomised_rounding_is_right_on_average_and_leaves_multiples_alone() -> None:
    counts, base = range(4, 17), 5
    channel = randomised_rounding(counts, base, exact=True)
    multiples = base * np.arange(channel.shape[1])  # from 0, at or below the smallest count
    assert (channel @ multiples).tolist() == list(counts)
    assert channel[1].tolist() == [0, 1, 0, 0, 0]
    assert epsilon(channel) == math.inf
    assert randomised_rounding([7], base=7).tolist() == [[1.0]]


def test_epsilon_of_chosen_neighbours_looks_at_these_alone() -> None:
    channel = [[HALF, HALF], [Fraction(1, 4), Fraction(3, 4)], [1, 0]]
    assert epsilon(channel) == math.inf
    assert epsilon(channel, neighbours=[(0, 1)]) == pytest.approx(math.log(2))
    assert epsilon(csr_array(np.array(channel, float)), neighbours=[(0, 1)]) == pytest.approx(
        math.log(2)
    )
    with pytest.raises(ValueError, match=r"pair \(0, 3\)"):
        epsilon(channel, neighbours=[(0, 3)])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: randomised_response(0, 1.0), "categories is 0"),
        (lambda: randomised_response(2), "either epsilon or odds"),
        (lambda: randomised_response(2, -1.0), "epsilon is -1.0"),
        (lambda: randomised_response(2, float("nan")), "epsilon is nan"),
        (lambda: randomised_response(2, odds=HALF), "odds is 1/2"),
        (lambda: geometric(3, 1.0, lowest=5), "below lowest"),
        (lambda: geometric(3, 1.0, ends="fold"), "truncate"),  # type: ignore[arg-type]
        (lambda: exponential([[1, 2]], 1.0, sensitivity=0), "sensitivity is 0"),
        (lambda: exponential([[1, math.inf]], 1.0), "row 0, column 1"),
        (lambda: randomised_rounding([], 3), "not empty"),
        (lambda: randomised_rounding([1], 0), "base is 0"),
        (lambda: epsilon([[1]], neighbours="near"), "consecutive"),  # type: ignore[arg-type]
    ],
)
def test_mechanisms_refuse_what_makes_no_noise(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]


# Gains


def test_a_wrong_guess_that_costs_more_than_it_wins_is_better_not_made() -> None:
    h = Hyper.from_counts([[9, 1], [1, 9]])
    bold = gains.worth_of_secrets([1, 1], cost_of_wrong_guess=9.5, may_abstain=False)
    careful = gains.worth_of_secrets([1, 1], cost_of_wrong_guess=9.5)
    assert g_vulnerability(h, bold).posterior == pytest.approx(0.9 - 0.95)
    assert g_vulnerability(h, careful) == (0, 0)


def test_an_attack_pays_only_if_the_observed_attributes_cost_less_than_they_bring() -> None:
    language = Hyper.from_counts([[0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]], exact=True)
    worth = g_vulnerability(language, gains.worth_of_secrets([4, 4, 4]))
    assert gains.net_of_costs(worth, {"gender": HALF, "age": Fraction(1, 4)}).additive == Fraction(
        1, 4
    )
    assert gains.net_of_costs(worth, [HALF, HALF, HALF]).additive < 0


def test_nearly_right_is_right_within_the_distance() -> None:
    ages = Hyper.from_counts([[2, 0], [1, 1], [0, 2]])
    assert g_vulnerability(ages, gains.within_distance([30, 31, 60], at_most=0)).posterior == 4 / 6
    assert g_vulnerability(ages, gains.within_distance([30, 31, 60], at_most=1)).posterior == 5 / 6
    apart = [[0, 1, 9], [1, 0, 9], [9, 9, 0]]
    assert gains.within_distance(apart, at_most=1).matrix(3).tolist() == [
        [1, 1, 0],
        [1, 1, 0],
        [0, 0, 1],
    ]


def test_a_function_may_name_guesses_that_are_no_secrets() -> None:
    h = Hyper.from_counts([[2, 0], [1, 1], [0, 2]])
    both = g_vulnerability(h, lambda guess, secret: secret in guess, guesses=[{0, 1}, {1, 2}])
    assert both.posterior == 1


def test_a_group_with_many_secrets_needs_no_matrix() -> None:
    people = 200_000
    h = Hyper.from_records(np.arange(people), np.arange(people) // 2)
    minority = np.arange(people) % 100 == 0
    success = g_vulnerability(h, gains.someone_in_group(minority))
    assert success.prior == pytest.approx(1 / people)
    assert success.posterior == pytest.approx(0.01)


# Moves of belief


def test_section_6_1_a_candidate_moves_from_5_to_30_percent() -> None:
    disability = Hyper.from_counts([[6, 14], [14, 366]], exact=True)
    shift = posterior_shift(disability, secret=0)
    highest: tuple[object, ...] = shift.moves()[0]
    assert highest == (Fraction(1, 20), Fraction(3, 10), Fraction(1, 20))
    assert shift.share(after_at_least=0.3, before_at_most=0.05) == Fraction(1, 20)
    assert shift.share(after_at_least=0.31) == 0
    assert shift.quantile(0.95) == Fraction(7, 190)
    assert shift.quantile(1) == Fraction(3, 10)
    assert repr(shift) == "Shift(2 possible observations)"


def test_moves_of_many_observations_are_gathered() -> None:
    random = np.random.default_rng(5)
    h = Hyper.from_counts(csr_array(random.integers(0, 3, (3, 1_000))))
    moves = posterior_shift(h).moves()
    assert len({(move.before, move.after) for move in moves}) == len(moves) < 60
    assert sum(move.probability for move in moves) == pytest.approx(1)
    assert [move.after for move in moves] == sorted((move.after for move in moves), reverse=True)


# Imports


def test_importing_qif_loads_nothing_heavier_than_numpy() -> None:
    heavy = "scipy numba highspy pandas pyarrow duckdb"
    program = f"import sys, divulge.qif; print(sorted(set(sys.modules) & set({heavy!r}.split())))"
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"
