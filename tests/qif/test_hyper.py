"""How hypers are made, and what is refused."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse

from divulge.qif import (
    Hyper,
    bayes_vulnerability,
    cascade,
    deterministic_success,
    g_vulnerability,
    gains,
    guessing_entropy,
    k_guesses_vulnerability,
    multiplicative_capacity,
    parallel,
    posterior_shift,
    refinement,
    release_capacity,
    shannon_capacity,
    shannon_entropy,
    worst_case,
    worst_observation,
)

COUNTS = [[0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]]


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_every_sparse_format_gives_the_same_hyper(form: str, kind: Any) -> None:
    h = Hyper.from_counts(kind(np.array(COUNTS)).asformat(form))
    assert h.prior.tolist() == [0.25, 0.25, 0.5]
    assert h.outer.tolist() == [0.5, 0.25, 0.25, 0.0]
    assert isinstance(h.posteriors, sparse.csc_array)
    assert h.posteriors.toarray().tolist() == Hyper.from_counts(COUNTS).posteriors.tolist()
    assert h.channel.toarray().tolist() == Hyper.from_counts(COUNTS).channel.tolist()


def test_repeated_cells_and_stored_zeros_of_a_sparse_matrix_are_counted_right() -> None:
    given = sparse.coo_array(([1, 2, 0, 3], ([0, 0, 1, 1], [0, 0, 0, 1])), shape=(2, 2))
    h = Hyper.from_counts(given)
    assert h.joint.toarray().tolist() == [[0.5, 0], [0, 0.5]]
    assert deterministic_success(h).posterior == 1

    unsorted = sparse.csc_array(([1.0, 2.0, 3.0], [1, 0, 1], [0, 3]), shape=(2, 1))
    assert Hyper.from_counts(unsorted).prior.round(3).tolist() == [0.333, 0.667]
    assert unsorted.data.tolist() == [1.0, 2.0, 3.0]  # what users hold stays as it is


def test_joint_probabilities_and_counts_give_the_same_hyper() -> None:
    by_counts, by_shares = Hyper.from_counts(COUNTS), Hyper.from_counts(np.array(COUNTS) / 4)
    assert by_counts.joint.tolist() == by_shares.joint.tolist()
    assert bayes_vulnerability(by_counts) == bayes_vulnerability(by_shares)


def test_fractions_stay_fractions_in_every_figure() -> None:
    h = Hyper.from_counts([[Fraction(1, 3), 0], [Fraction(1, 3), Fraction(1, 3)]])
    for pair in (
        bayes_vulnerability(h),
        deterministic_success(h),
        guessing_entropy(h),
        k_guesses_vulnerability(h, 2),
        worst_case(h),
        g_vulnerability(h, [[3, -1], [0, 2]]),
        g_vulnerability(h, gains.worth_of_secrets([2, Fraction(1, 2)], Fraction(1, 7))),
        g_vulnerability(h, gains.within_distance([0, 5], at_most=1)),
    ):
        for number in (*pair, pair.additive):
            assert isinstance(number, Fraction), pair
    for array in (h.prior, h.outer, h.joint, h.posteriors, h.channel, h.posterior(0)):
        assert all(isinstance(each, Fraction) for each in array.flat)
    assert isinstance(shannon_entropy(h).posterior, float)


def test_a_rounded_gain_makes_an_exact_hyper_floating_but_whole_numbers_do_not() -> None:
    h = Hyper.from_counts(COUNTS, exact=True)
    assert isinstance(g_vulnerability(h, np.eye(3)).posterior, Fraction)
    assert isinstance(g_vulnerability(h, np.eye(3) * 0.1).posterior, float)


def test_whole_numbers_are_exact_only_on_request() -> None:
    assert not Hyper.from_counts(COUNTS).exact
    assert Hyper.from_counts(COUNTS, exact=True).exact
    assert Hyper.from_counts(sparse.csr_array(np.array(COUNTS)), exact=True).exact
    with pytest.raises(ValueError, match="whole numbers or Fractions"):
        Hyper.from_counts([[0.5, 0.5]], exact=True)


def test_the_selection_prior_moves_both_the_joint_and_the_prior_on_the_secret() -> None:
    secrets, observations = [0, 1, 1, 1], [0, 0, 1, 1]
    uniform = Hyper.from_records(secrets, observations)
    assert uniform.prior.tolist() == [0.25, 0.75]
    known_target = Hyper.from_records(secrets, observations, prior=[5, 5, 0, 0])
    assert known_target.prior.tolist() == [0.5, 0.5]
    assert known_target.outer.tolist() == [1.0, 0.0]
    assert bayes_vulnerability(known_target) == (0.5, 0.5)


def test_another_prior_on_the_secret_leaves_the_channel_as_it_is() -> None:
    h = Hyper.from_counts([[2, 2], [0, 4]]).with_prior([0.25, 0.75])
    assert h.prior.tolist() == [0.25, 0.75]
    assert h.channel.tolist() == [[0.5, 0.5], [0, 1]]


def test_an_impossible_observation_contributes_nothing_even_where_every_guess_loses() -> None:
    with_column = Hyper.from_counts([[1, 0, 2], [3, 0, 1]])
    without = Hyper.from_counts([[1, 2], [3, 1]])
    gain = [[-1, -5], [-4, -2]]
    assert g_vulnerability(with_column, gain) == g_vulnerability(without, gain)
    assert worst_case(with_column) == worst_case(without)
    assert worst_observation(with_column) == 0
    assert posterior_shift(with_column).observation.tolist() == [0, 2]


def test_an_impossible_secret_may_have_a_prior_of_zero_but_no_channel_row() -> None:
    h = Hyper.from_prior([1, 0], [[0.5, 0.5], [0, 1]])
    assert bayes_vulnerability(h) == (1, 1)
    with pytest.raises(ValueError, match="secret 1 has probability 0"):
        _ = h.channel


def test_a_hyper_shows_its_size_and_no_values() -> None:
    assert repr(Hyper.from_counts(COUNTS, exact=True)) == "Hyper(3 secrets, 4 observations, exact)"


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[1, 2], [3, -1]], "counts has a negative value at row 1, column 1"),
        ([[1.0, float("nan")], [3, 1]], "counts has a NaN at row 0, column 1"),
        ([[1.0, 2], [float("inf"), 1]], "counts has an infinite value at row 1, column 0"),
        ([[Fraction(1, 2), Fraction(-1, 2)]], "negative value at row 0, column 1"),
        (sparse.csr_array([[1, 2, 0], [0, 3, -1]]), "negative value at row 1, column 2"),
        (sparse.csr_array([[1.0, 0.0], [0.0, float("nan")]]), "NaN at row 1, column 1"),
        ([], "1 dimensions; it needs 2"),
        ([[]], r"counts is empty: its shape is \(1, 0\)"),
        (np.zeros((0, 3)), r"counts is empty: its shape is \(0, 3\)"),
        (sparse.csr_array((0, 3)), r"counts is empty"),
        ([[0, 0], [0, 0]], "all zero"),
        (sparse.csr_array((2, 3)), "all zero"),
        ([[1, 2], [3]], "rows differ in length"),
        ([["a", "b"]], "has to contain numbers"),
        ([[1j, 2]], "has to contain numbers"),
        ([[None, 2]], "NaN at row 0, column 0"),
        ([[object(), 2]], "has to contain numbers only"),
        ([1, 2, 3], "1 dimensions; it needs 2"),
    ],
)
def test_counts_that_cannot_be_are_refused_by_their_place(counts: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Hyper.from_counts(counts)


@pytest.mark.parametrize(
    ("prior", "channel", "message"),
    [
        ([0.5, 0.5], [[1, 0], [0.5, 0.4]], "row 1 sums to 0.9, not to 1"),
        ([0.5, 0.5], [[1, 1], [0.5, 0.4]], r"row 0 sums to 2.0, not to 1 \(1 other row"),
        ([0.5, 0.5], [[Fraction(1, 3)], [1]], "row 0 sums to 1/3, not to 1"),
        ([0.5, 0.6], [[1, 0], [0, 1]], "prior sums to 1.1"),
        ([0.5, 0.5], [[1, 0], [0, 1], [0, 1]], "prior has 2 secrets, channel has 3 rows"),
        ([1.5, -0.5], [[1, 0], [0, 1]], "prior has a negative value at index 1"),
        ([0.5, 0.5], [[2, -1], [0, 1]], "channel has a negative value at row 0, column 1"),
        ([[0.5, 0.5]], [[1, 0], [0, 1]], "prior has 2 dimensions"),
    ],
)
def test_what_is_no_distribution_is_refused_by_its_row(
    prior: Any, channel: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Hyper.from_prior(prior, channel)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0]), "2 secrets, but 1 observations"),
        (([0, 1], [0, 1], [1.0]), "2 records, but a prior on 1"),
        (([0, -1], [0, 1]), "negative code at index 1"),
        (([0.5, 1], [0, 1]), "whole numbers"),
        (([], []), "not empty"),
        (([0, 1], [0, 1], [1, -1]), "prior on records has a negative value at index 1"),
        (([0, 1], [0, 1], None, (1, 2)), r"too small: the codes need at least \(2, 2\)"),
    ],
)
def test_records_that_do_not_fit_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Hyper.from_records(*arguments)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda h: h.posterior(3), "observation 3 is impossible"),
        (lambda h: h.posterior(4), "observation 4 is not one of 0 to 3"),
        (lambda h: h.posterior(-1), "observation -1 is not one of 0 to 3"),
        (lambda h: posterior_shift(h, secret=3), "secret 3 is not one of 0 to 2"),
        (lambda h: posterior_shift(h).quantile(2), "level is 2"),
        (
            lambda h: g_vulnerability(h, np.eye(2)),
            "gain has 2 columns; it needs one for each of the 3",
        ),
        (lambda h: g_vulnerability(h, [1, 2, 3]), "gain has 1 dimensions"),
        (
            lambda h: g_vulnerability(h, [[1, 2, np.nan]]),
            "gain is not a finite number at row 0, column 2",
        ),
        (
            lambda h: g_vulnerability(h, gains.worth_of_secrets([1, 2])),
            "worth for 2 secrets; there are 3",
        ),
        (lambda _: gains.worth_of_secrets([1, -2]), "worth has a negative value at index 1"),
        (lambda _: gains.worth_of_secrets([1, 2], [1, 2, 3]), "worth has 2 secrets"),
        (lambda _: gains.within_distance([1, 2], at_most=-1), "at_most is -1"),
        (lambda _: gains.within_distance(range(10**6), at_most=1), "too large"),
        (lambda _: gains.someone_in_group([2, 0]), "True or False"),
        (lambda _: gains.one_of_k_guesses(0), "at least 1 guess"),
        (lambda _: gains.net_of_costs(bayes_vulnerability(_), {"age": -1}), "'age' is -1"),
        (lambda _: multiplicative_capacity([[0.5, 0.4]]), "row 0 sums to 0.9"),
        (lambda _: shannon_capacity([[1.0]], precision=0), "precision"),
        (lambda _: release_capacity({}), "at least one part"),
        (lambda _: release_capacity({"a": [[1]], "b": [[1], [1]]}), "part 'b' has 2 secrets"),
        (lambda _: cascade([[1, 0]], [[1]]), "they do not fit"),
        (lambda _: parallel([[1, 0]], [[1], [1]]), "1 and 2 rows"),
        (lambda _: refinement([[1, 0]], by=[[1], [1]]), "1 and 2 rows"),
    ],
)
def test_questions_that_make_no_sense_are_answered_by_what_is_wrong(ask: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ask(Hyper.from_counts(COUNTS))
