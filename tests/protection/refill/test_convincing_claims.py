"""Claims convince that are right more often than the claimed values are likely by the other keys."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import divulge as dv
from divulge import protection
from divulge.protection.changes.changes import hide_cells
from divulge.protection.refill.columns import AllowedValues, CodedColumn
from divulge.protection.refill.kernels import HIDDEN as HIDDEN_CODE
from divulge.protection.refill.outcomes.claim_chances import measure_claim_chances
from divulge.work.arrays import Ints

GROUPS, SIZE, HIDDEN = 60, 8, 30


def hide_where_codes_are(towns: Ints, right: int) -> tuple[dv.Dataset, dv.Dataset]:
    """A code that tells the town wherever that is shown, and of 30 hidden ones `right`.

    The other hidden ones are of a town that no such code has. `towns` are of the codes.
    """
    code = np.repeat(np.arange(GROUPS), SIZE)
    town = towns[code]
    first = np.arange(0, HIDDEN * SIZE, SIZE)
    town[first[right:]] = 0
    table = pa.table(
        {
            "town": [f"t{number}" for number in town] + ["t0"] * 200,
            "code": [1000 * number * number for number in [*code, *range(GROUPS, GROUPS + 200)]],
            "age": [number % 7 for number in range(code.size)] + list(range(200)),
        }
    )
    people = dv.Dataset.from_arrow(table, roles={"quasi_identifier": ["town", "age"]})
    return hide_cells(people, {"town": first}), people


def count_filled(towns: Ints, right: int) -> tuple[int, int, list[int]]:
    """Cells that are claimed, verified, and filled for who believes claims."""
    hidden, people = hide_where_codes_are(towns, right)
    r = protection.refill(hidden, people, columns=["code", "town", "age"])
    filled = [HIDDEN - part.to_arrow()["town"].null_count for part in r.refilled_partly]
    return r.claimed, r.verified or 0, filled


SIX_TOWNS = 1 + np.arange(GROUPS) % 6
ONE_TOWN_AND_A_RARE_ONE = np.where(np.arange(GROUPS) < 6, 9, 1)


@pytest.mark.parametrize("right", [8, 18])
def test_a_claim_that_beats_chance_is_believed_though_no_relation_is_verified(right: int) -> None:
    # Of 30 where each of six towns has 12% of the people: too few to be called verified, enough to
    # find people, though whoever says the most frequent town is right for 22 or for 12.
    assert count_filled(SIX_TOWNS, right) == (HIDDEN, 0, [right])


def test_a_claim_that_is_right_no_more_often_than_by_chance_convinces_nobody() -> None:
    assert count_filled(SIX_TOWNS, right=3) == (HIDDEN, 0, [])


def test_claims_of_a_rare_value_convince_though_those_of_a_frequent_one_are_wrong() -> None:
    # Six people of the rare town are told, all rightly. Of the frequent one 24 are claimed that
    # nobody finds: it is shown so often that one more is no surprise.
    hidden, people = hide_where_codes_are(ONE_TOWN_AND_A_RARE_ONE, right=6)
    assert count_filled(ONE_TOWN_AND_A_RARE_ONE, right=6) == (HIDDEN, 0, [6])
    shown = hidden.to_arrow().to_pandas()
    told = shown.groupby("code")["town"].transform("first")
    rare = told[shown["town"].isna()] == "t9"
    truth = people.to_arrow().to_pandas()["town"]
    assert rare.sum() == 6
    assert set(truth[rare[rare].index]) == {"t9"}


def expect_chance(column: CodedColumn, row: int, value: int, keys: list[CodedColumn]) -> float:
    """The same by plain loops, as docs/risk.md has it."""
    node = -1 if column.allowed is None else int(column.allowed.published[row])

    def is_possible(code: int) -> bool:
        if code < 0:
            return False
        return node < 0 or node in column.allowed.ancestors[:, code]  # type: ignore[union-attr]

    showing = [each for each, code in enumerate(column.codes.tolist()) if is_possible(code)]
    fitting = [each for each in showing if column.codes[each] == value]
    if node >= 0 and not showing:
        return 1 / sum(is_possible(code) for code in range(column.cardinality))
    comparable = [
        each
        for each in showing
        if all(key.codes[each] != HIDDEN_CODE for key in keys)
        and all(key.codes[row] in (HIDDEN_CODE, key.codes[each]) for key in keys)
    ]
    alike = [each for each in comparable if column.codes[each] == value] if keys else []
    independent = len(fitting) / len(showing) if fitting else 1 / (len(showing) + 1)
    total = len(comparable) if keys else 0
    return (len(alike) + 20 * independent) / (total + 20)


@given(st.data())
def test_the_chance_of_a_claimed_value_is_that_of_complete_records_that_agree(
    data: st.DataObject,
) -> None:
    size = data.draw(st.integers(2, 30))
    codes = st.lists(st.integers(-2, 3), min_size=size, max_size=size)
    keys = [
        CodedColumn(name=f"k{n}", codes=np.array(data.draw(codes), np.int32), cardinality=4)
        for n in range(data.draw(st.integers(0, 3)))
    ]
    of_column = np.array(data.draw(codes), np.int32)
    allowed = None
    if data.draw(st.booleans()):  # values 0 and 1 are one of 4, values 2 and 3 one of 5
        above = np.array([4, 4, 5, 5])
        nodes = st.lists(st.sampled_from([-1, 4, 5]), min_size=size, max_size=size)
        allowed = AllowedValues(
            published=np.array(data.draw(nodes)), ancestors=np.stack([np.arange(4), above])
        )
    column = CodedColumn(name="town", codes=of_column, cardinality=4, allowed=allowed)
    rows = np.flatnonzero(of_column == HIDDEN_CODE)
    values = np.array(
        data.draw(st.lists(st.integers(0, 5), min_size=rows.size, max_size=rows.size)), np.int64
    )
    found = measure_claim_chances(column, rows, values, keys)
    plain = [
        expect_chance(column, row, value, keys)
        for row, value in zip(rows.tolist(), values.tolist(), strict=True)
    ]
    assert found == pytest.approx(plain)
