from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from divulge.assessment import in_words
from divulge.qif import Hyper, gains

# Alvim et al. 2022, Table 2: language by what is seen of four people.
PEOPLE = [[0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]]


def test_003_table_2_in_words_and_in_money() -> None:
    """An adversary paid $4 for the right language expects $2 before and $3 after."""
    paid = gains.worth_of_secrets([4, 4, 4])
    said = [str(s) for s in in_words(Hyper.from_counts(PEOPLE), "the language", paid)]
    assert said == [
        "The best guess of the language is right in 50% of cases before the release and 75% "
        "after: 1.5 times as often, 25 points more.",
        "In 50% of cases nothing is left to guess; before the release, in 0%.",
        "An adversary can expect $2 before the release and $3 after: "
        "seeing it is worth $1 to them.",
        "After the most informative observation, the adversary's best guess of the language is "
        "right in 100% of cases.",
        "In 100% of cases the release makes the adversary's best guess at least twice as likely "
        "as it was.",
        "The adversary is as uncertain as among 2.828 equally likely values before the release, "
        "and among 1.414 after (1.5 and 0.5 bits).",
        "Trying the most likely values first, the adversary needs 1.75 tries on average before "
        "the release and 1.25 after.",
        "Whatever an adversary believes and wants, this release cannot improve their success more "
        "than 2.5 times; starting from the same beliefs, by no more than 43.8 points of what is at "
        "stake.",
    ]


def test_a_release_that_tells_nothing_is_worth_nothing() -> None:
    silent = Hyper.from_counts([[1, 1], [1, 1]])
    said = [str(s) for s in in_words(silent, gain=gains.worth_of_secrets([10, 10]), currency="€")]
    assert any("€5 after: seeing it is worth nothing to them" in sentence for sentence in said)
    assert not any("twice as likely" in sentence for sentence in said)


@example([[0, 0, 3], [0, 3, 5], [5, 0, 3]])  # 1.625 times as often: a tie, or nearly one
@given(
    st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=2, max_size=4).filter(
        lambda rows: any(any(row) for row in rows)
    )
)
@example([[0, 3, 3], [1, 2, 5]])  # nine eighths: which way a half goes is not the last bit's say
def test_every_hyper_can_be_put_into_words_and_exact_ones_say_the_same(
    counts: list[list[int]],
) -> None:
    rounded = [str(s) for s in in_words(Hyper.from_counts(counts))]
    exact = [
        str(s) for s in in_words(Hyper.from_counts([[Fraction(n) for n in r] for r in counts]))
    ]
    assert rounded[0] == exact[0]
    assert len(rounded) >= 6


def test_a_secret_that_cannot_occur_does_not_disturb() -> None:
    said = [str(s) for s in in_words(Hyper.from_counts([[1, 1], [0, 0]]))]
    assert said[-1].startswith("Whatever an adversary believes")
    assert "100% of cases before the release and 100% after" in said[0]


def test_sparse_counts_are_put_into_words_too() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.csc_array(PEOPLE)
    assert [str(s) for s in in_words(Hyper.from_counts(matrix))] == [
        str(s) for s in in_words(Hyper.from_counts(PEOPLE))
    ]
