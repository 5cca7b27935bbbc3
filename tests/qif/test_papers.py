"""The worked examples of the papers, by their table numbers.

003 is Alvim et al. (2022), on the microdata of a school census; 000 is Favato et al. (2022), on
foreign trade statistics. Two slips of 003 are put right: in Table 4 the outer of (M, B, B) is
1/5, and in Appendix C the six certain records count 1/10 each.
"""

from fractions import Fraction as ExactFraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from divulge.qif import (
    Hyper,
    PriorPosterior,
    bayes_vulnerability,
    deterministic_success,
    g_vulnerability,
    gains,
)

Fraction: Any = ExactFraction  # results are declared as floats, which a Fraction stands in for

# Table 2a: (language, gender and age) of four people, in the table's order.
LANGUAGES = ["English", "Portuguese", "German"]
LOOKS = ["M <=30", "M >30", "F <=30", "F >30"]
PEOPLE = [
    ("English", "M >30"),
    ("Portuguese", "M <=30"),
    ("German", "F <=30"),
    ("German", "M <=30"),
]

# Table 3c: (gender, grade, grade a year later, disability) of ten pupils.
PUPILS = [
    ("F", "A", "B", "no"),
    ("F", "A", "A", "yes"),
    ("F", "C", "C", "yes"),
    ("M", "B", "B", "yes"),
    ("M", "B", "B", "no"),
    ("F", "C", "D", "yes"),
    ("F", "C", "C", "yes"),
    ("F", "E", "E", "no"),
    ("M", "D", "D", "no"),
    ("M", "D", "-", "no"),
]
OBSERVED = list(dict.fromkeys(pupil[:3] for pupil in PUPILS))
EACH = [Fraction(1, 10)] * 10


@pytest.fixture
def languages() -> Hyper:
    return Hyper.from_records(
        [LANGUAGES.index(language) for language, _ in PEOPLE],
        [LOOKS.index(looks) for _, looks in PEOPLE],
        prior=[Fraction(1, 4)] * 4,
        shape=(3, 4),
    )


@pytest.fixture
def disability() -> Hyper:
    secrets = [["yes", "no"].index(pupil[3]) for pupil in PUPILS]
    return Hyper.from_records(secrets, [OBSERVED.index(pupil[:3]) for pupil in PUPILS], prior=EACH)


@pytest.fixture
def identity() -> Hyper:
    return Hyper.from_records(
        range(10), [OBSERVED.index(pupil[:3]) for pupil in PUPILS], prior=EACH
    )


def test_table_2b_prior_has_german_twice_as_likely_as_the_others(languages: Hyper) -> None:
    assert list(languages.prior) == [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)]


def test_table_2c_hyper_keeps_the_column_of_old_women_whom_nobody_meets(languages: Hyper) -> None:
    assert list(languages.outer) == [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4), 0]
    half = Fraction(1, 2)
    assert languages.posteriors.tolist() == [[0, 1, 0, 0], [half, 0, 0, 0], [half, 0, 1, 0]]
    with pytest.raises(ValueError, match="observation 3 is impossible"):
        languages.posterior(3)


def test_table_9_channel_is_the_joint_conditioned_on_the_language(languages: Hyper) -> None:
    half = Fraction(1, 2)
    assert languages.channel.tolist() == [[0, 1, 0, 0], [1, 0, 0, 0], [half, 0, half, 0]]
    again = Hyper.from_prior(languages.prior, languages.channel)
    assert again.joint.tolist() == languages.joint.tolist()


@pytest.mark.parametrize(
    "gain",
    [
        [[4, 0, 0], [0, 4, 0], [0, 0, 4]],
        np.eye(3) * 4,
        lambda guess, secret: 4 if guess == secret else 0,
        gains.worth_of_secrets([4, 4, 4]),
    ],
)
def test_table_2_adversary_paid_4_dollars_expects_2_before_and_3_after(
    languages: Hyper, gain: Any
) -> None:
    expected = g_vulnerability(languages, gain)
    assert expected == (2, 3)
    assert isinstance(expected.posterior, ExactFraction)
    assert isinstance(expected.additive, ExactFraction)


def test_table_4_cal_attack_multiplies_best_guess_by_1_8(disability: Hyper) -> None:
    success = bayes_vulnerability(disability)
    assert success == PriorPosterior(Fraction(1, 2), Fraction(9, 10))
    assert success.multiplicative == Fraction(9, 5)
    assert success.additive == Fraction(2, 5)


def test_table_4_cal_attack_makes_80_percent_certain_where_none_was(disability: Hyper) -> None:
    assert deterministic_success(disability) == PriorPosterior(0, Fraction(4, 5))


def test_table_4d_outer_of_m_b_b_is_a_fifth(disability: Hyper) -> None:
    assert disability.outer[OBSERVED.index(("M", "B", "B"))] == Fraction(1, 5)
    assert disability.outer[OBSERVED.index(("F", "C", "C"))] == Fraction(1, 5)


def test_table_10_crl_attack_multiplies_reidentification_by_8(identity: Hyper) -> None:
    success = bayes_vulnerability(identity)
    assert success == PriorPosterior(Fraction(1, 10), Fraction(4, 5))
    assert success.multiplicative == 8


def test_table_10_crl_attack_identifies_60_percent_for_certain(identity: Hyper) -> None:
    assert deterministic_success(identity) == PriorPosterior(0, Fraction(3, 5))


def test_trade_table_4_the_importer_is_18430_times_as_exposed_after_three_phases() -> None:
    importers = 18_430
    # Each phase tells whether the importer is among those that are still possible; the target is.
    left_after = [4_923, 326, 1]
    beliefs = [np.full(importers, Fraction(1, importers), dtype=object)]
    for left in left_after:
        among = np.zeros((importers, 2))
        among[:left, 0] = among[left:, 1] = 1
        beliefs.append(Hyper.from_prior(beliefs[-1], among).posterior(0))
    success = [belief.max() for belief in beliefs]
    assert success == [Fraction(1, 18_430), Fraction(1, 4_923), Fraction(1, 326), 1]

    phases = [PriorPosterior(*pair) for pair in pairwise(success)]
    assert [round(float(phase.multiplicative), 1) for phase in phases] == [3.7, 15.1, 326.0]
    assert PriorPosterior(success[0], success[-1]).multiplicative == 18_430
