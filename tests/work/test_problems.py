import pytest
from hypothesis import given
from hypothesis import strategies as st

from divulge.work import InvalidInput, Problem, Problems, nearest


def test_all_problems_are_raised_at_once_with_place_and_nearest_match() -> None:
    problems = Problems("release.toml")
    problems.add('adversary "neighbour", knows', 'no attribute "agee".', "agee", ["age", "sex"])
    problems.add("limit 1", "give either at_most or at_least.")
    with pytest.raises(InvalidInput) as raised:
        problems.raise_any()
    assert str(raised.value) == (
        "release.toml has 2 problems:\n"
        '  adversary "neighbour", knows: no attribute "agee". Did you mean "age"?\n'
        "  limit 1: give either at_most or at_least."
    )


def test_a_single_problem_is_one_line() -> None:
    error = InvalidInput("people.csv", [Problem("line 3", "has 2 fields.")])
    assert str(error) == "people.csv, line 3: has 2 fields."


def test_nothing_is_raised_where_nothing_is_wrong() -> None:
    problems = Problems("release.toml")
    problems.raise_any()
    assert not problems


def test_where_no_word_is_near_the_allowed_ones_are_listed_and_long_lists_cut() -> None:
    many = [f"attribute {n}" for n in range(20)]
    assert Problem("", "no.", "qqq", ["age"]).text == 'no. Allowed: "age".'
    assert Problem("", "no.", "zzz", many).text.endswith("and 8 more.")


def test_problems_of_a_part_stand_under_the_place_of_the_whole() -> None:
    problems = Problems("release.toml")
    problems.extend('dataset "a"', [Problem("roles", "x.")])
    with pytest.raises(InvalidInput, match='release.toml, dataset "a", roles: x.'):
        problems.raise_any()


@given(st.lists(st.text(min_size=1), min_size=1), st.data())
def test_a_word_that_is_allowed_is_its_own_nearest(allowed: list[str], data: st.DataObject) -> None:
    word = data.draw(st.sampled_from(allowed))
    found = nearest(word, allowed)
    assert found is not None
    assert found.lower() == word.lower()
