"""Who is in a protected release, against every way to give its records to people."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from scipy import sparse

import divulge as dv
from divulge.records.models.presence_chances import compute_presence_chances


def enumerate_chances(fits: list[list[bool]]) -> list[Fraction] | None:
    """By person the share of all ways in which some record is theirs; rows are records."""
    people = len(fits[0])
    ways, present = 0, [0] * people
    for choice in permutations(range(people), len(fits)):
        if all(fits[record][person] for record, person in enumerate(choice)):
            ways += 1
            for person in choice:
                present[person] += 1
    return [Fraction(each, ways) for each in present] if ways else None


VALUES = st.tuples(st.sampled_from("ab"), st.sampled_from("xy"))


@settings(deadline=None, max_examples=120)
@given(st.lists(VALUES, min_size=1, max_size=6), st.data())
def test_chances_are_the_share_of_all_ways(people: list[tuple[str, str]], data: Any) -> None:
    chosen = data.draw(st.lists(st.sampled_from(range(len(people))), min_size=1, unique=True))
    masks = data.draw(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=6, max_size=6))
    shown = [
        tuple(None if hides else value for hides, value in zip(masks[i], people[who], strict=True))
        for i, who in enumerate(chosen)
    ]
    fits = [
        [all(s is None or s == v for s, v in zip(record, person, strict=True)) for person in people]
        for record in shown
    ]
    expected = enumerate_chances(fits)
    assert expected is not None, "the records are of these people"
    found = compute_presence_chances(
        sparse.csr_array(np.array(fits, float).T), np.ones(len(people)), np.ones(len(shown))
    )
    assert found.is_exact
    assert found.chance == pytest.approx([float(each) for each in expected])
    # The same by the attack, whose classes and patterns are counted.
    assume(len(set(shown)) > 0 and any(value is not None for row in shown for value in row))

    def table(rows: list[Any]) -> dv.Dataset:
        columns = {"a": [r[0] for r in rows], "b": [r[1] for r in rows]}
        schema = pa.schema([("a", pa.string()), ("b", pa.string())])
        return dv.Dataset.from_arrow(pa.table(columns, schema))

    assume(all(any(value is not None for value in row) for row in shown))
    attack = dv.records.attack(
        table([people[i] for i in chosen]), "CMS", ["a", "b"],
        population=table(people), release=table(shown),
    )  # fmt: skip
    assert attack.claim == "exact"
    assert attack.risk() == pytest.approx([float(max(each, 1 - each)) for each in expected])


def test_a_sum_of_chances_is_not_clipped() -> None:
    """Two records that may be anybody's of three, and one of two: nobody is in for certain."""
    fits = sparse.csr_array(np.array([[1.0, 1.0], [0.0, 1.0]]))
    found = compute_presence_chances(fits, np.array([2.0, 2.0]), np.array([1.0, 2.0]))
    # One of the two is chosen; then two of the three who are left.
    assert found.chance == pytest.approx([1 - 1 / 2 * 1 / 3, 2 / 3])
    assert found.is_exact


def test_many_crossing_sets_are_estimated_and_as_many_are_in_as_there_are_records() -> None:
    rng = np.random.default_rng(5)
    fits = sparse.csr_array((rng.random((30, 25)) < 0.5).astype(float))
    people, records = np.full(30, 9.0), np.full(25, 3.0)
    found = compute_presence_chances(fits, people, records)
    assert not found.is_exact
    assert float(people @ found.chance) == pytest.approx(75)
    assert found.chance.min() >= 0
    assert found.chance.max() <= 1


def test_records_that_no_way_gives_to_people_are_noticed() -> None:
    """Four records for three people, though each of them may be two's."""
    fits = sparse.csr_array(np.array([[1.0, 0.0, 1.0, 1.0], [1, 1, 0, 0], [0, 1, 1, 1]]))
    found = compute_presence_chances(fits, np.ones(3), np.ones(4))
    assert found.short_patterns == 4
