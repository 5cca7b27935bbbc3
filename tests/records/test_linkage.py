"""Linkage to a register against a plain loop over pairs."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given, settings

import divulge as dv

ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "town": st.sampled_from(["A", "B"]),
            "age": st.one_of(st.none(), st.integers(20, 24)),
            "name": st.sampled_from(["martha", "marhta", "john", "jon"]),
        }
    ),
    min_size=1,
    max_size=12,
)
SCHEMA = pa.schema(
    [("id", pa.int64()), ("town", pa.string()), ("age", pa.int64()), ("name", pa.string())]
)


def dataset(rows: list[dict[str, Any]], name: str) -> dv.Dataset:
    numbered = [{"id": number, **row} for number, row in enumerate(rows)]
    return dv.Dataset.from_arrow(pa.Table.from_pylist(numbered, SCHEMA), name=name)


@settings(deadline=None, max_examples=40)
@given(ROWS, ROWS)
def test_the_best_candidate_is_the_pair_with_the_highest_odds(
    released: list[dict[str, Any]], register: list[dict[str, Any]]
) -> None:
    found = dv.records.link(
        dataset(released, "release"), dataset(register, "register"), block="town",
        compare={"age": ("near", 1), "name": "equal"}, truth="id",
    )  # fmt: skip

    def agrees(one: dict[str, Any], other: dict[str, Any]) -> tuple[bool, bool]:
        ages = (one["age"], other["age"])
        near = None not in ages and abs(ages[0] - ages[1]) <= 1
        return near, one["name"] == other["name"]

    pairs = [(i, j, agrees(one, other)) for i, one in enumerate(released)
             for j, other in enumerate(register) if one["town"] == other["town"]]  # fmt: skip
    chance = [min(max(sum(p[2][k] for p in pairs) / max(1, len(pairs)), 1e-9), 1 - 1e-9)
              for k in range(2)]  # fmt: skip
    right = 0.0
    certain = 0
    for i in range(len(released)):
        candidates = []
        for _, j, agreed in (pair for pair in pairs if pair[0] == i):
            odds = 1.0
            for yes, u in zip(agreed, chance, strict=True):
                odds *= 0.95 / u if yes else 0.05 / (1 - u)
            candidates.append((odds, j))
        best = [j for odds, j in candidates if odds >= max(candidates)[0] * (1 - 1e-9)]
        right += (i in best) / max(1, len(best))
        certain += [j for _, j in candidates] == [i]
    assert found.right.posterior == pytest.approx(right)
    assert found.certain.posterior == certain
    assert found.figures["candidate_pairs"] == len(pairs)


def test_names_that_are_alike_speak_for_a_pair() -> None:
    release = dataset([{"town": "A", "age": 20, "name": "martha"}], "release")
    register = dataset([{"town": "A", "age": 20, "name": n} for n in ("marhta", "john")], "people")
    found = dv.records.link(
        release, register, block="town", compare={"name": ("likeness", 0.9)}, truth="id"
    )
    assert found.right.posterior == 1
    assert found.claim == "estimate"


def test_without_a_truth_the_chance_of_the_best_candidate_is_told() -> None:
    people = dataset([{"town": "A", "age": 20, "name": "john"}] * 4, "people")
    found = dv.records.link(people, people, block=["town", "age"])
    assert found.probabilistic.posterior == pytest.approx(0.25)
    assert "have candidates in the register" in str(found)


def test_what_cannot_be_linked_is_said_at_once() -> None:
    people = dataset([{"town": "A", "age": 20, "name": "john"}], "people")
    with pytest.raises(dv.InvalidInput) as error:
        dv.records.link(people, people, block=["twon"], compare={"age": ("nearly", 2)})
    assert 'Did you mean "town"?' in str(error.value)
    assert "is not a comparison" in str(error.value)
