"""Totals over the members of a household: they tell a member, and the members tell them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import divulge as dv
from divulge.protection.refill.columns import CodedColumn
from divulge.protection.refill.search.discovery import complete_columns
from divulge.protection.refill.search.member_sums import screen_member_sums
from divulge.protection.refill.search.state import RefillState
from divulge.work.arrays import Array, Floats, Ints

from .plain import ABSENT, HIDDEN

ROWS = 1_200


def make_homes(seed: int = 3, *, mean: bool = False) -> dict[str, Array]:
    """People in households of one to four, with their wages and what these add up to."""
    random = np.random.default_rng(seed)
    home = np.repeat(np.arange(ROWS), random.integers(1, 5, ROWS))[:ROWS]
    wage: Array = random.integers(0, 40, ROWS) * 250.5 * (random.random(ROWS) < 0.7)
    total: Array = np.bincount(home, wage)
    if mean:
        total = total / np.bincount(home)
    return {"home": home, "wage": wage, "income": total[home], "noise": random.integers(0, 9, ROWS)}


def encode(columns: dict[str, Array], hidden: dict[str, Ints]) -> list[CodedColumn]:
    coded = []
    for name, values in columns.items():
        distinct, codes = np.unique(values, return_inverse=True)
        codes = codes.reshape(-1).astype(np.int32)
        codes[hidden.get(name, np.empty(0, np.int64))] = HIDDEN
        coded.append(
            CodedColumn(
                name=name, codes=codes, cardinality=distinct.size, numbers=distinct.astype(float)
            )
        )
    return coded


def read_filled(columns: list[CodedColumn], name: str) -> Floats:
    filled = complete_columns(columns, [name]).columns[name]
    assert filled.numbers is not None
    return np.append(filled.numbers, [np.nan, np.nan])[filled.codes]


@pytest.mark.parametrize("mean", [False, True])
def test_the_income_of_a_household_tells_the_wage_of_its_last_member(mean: bool) -> None:
    homes = make_homes(mean=mean)
    rows = np.random.default_rng(1).choice(ROWS, 150, replace=False)
    columns = encode(homes, {"wage": rows})
    told = read_filled(columns, "wage")
    hidden = np.isin(np.arange(ROWS), rows)
    lone = np.bincount(homes["home"], hidden)[homes["home"]] == 1
    assert np.allclose(told[hidden & lone], homes["wage"][hidden & lone])
    assert np.isnan(told[hidden & ~lone]).sum() >= 0.9 * np.sum(hidden & ~lone)


@pytest.mark.parametrize("mean", [False, True])
def test_the_wages_of_its_members_tell_the_income_of_a_household(mean: bool) -> None:
    homes = make_homes(mean=mean)
    # The whole household is hidden: no member's income tells that of another.
    hidden = np.flatnonzero(homes["home"] % 7 == 0)
    told = read_filled(encode(homes, {"income": hidden}), "income")
    assert np.allclose(told, homes["income"])


def test_what_groups_a_household_need_not_be_its_number() -> None:
    homes = make_homes()
    weight = np.random.default_rng(5).permutation(ROWS)[homes["home"]] + 0.5
    rows = np.random.default_rng(1).choice(ROWS, 100, replace=False)
    columns = encode({**homes, "home": weight}, {"wage": rows})
    hidden = np.isin(np.arange(ROWS), rows)
    lone = np.bincount(homes["home"], hidden)[homes["home"]] == 1
    told = read_filled(columns, "wage")
    assert np.allclose(told[hidden & lone], homes["wage"][hidden & lone])


@given(st.integers(0, 200))
def test_shuffled_totals_tell_nothing(seed: int) -> None:
    homes = make_homes(seed)
    random = np.random.default_rng(seed)
    shuffled = {name: random.permutation(values) for name, values in homes.items()}
    columns = encode(shuffled, {"wage": np.arange(0, 200)})
    state = RefillState(columns, ["wage"])
    [target] = state.targets
    assert not list(screen_member_sums(state, target))


@given(st.integers(0, 10_000), st.booleans())
def test_what_is_told_is_what_plain_loops_tell(seed: int, mean: bool) -> None:
    random = np.random.default_rng(seed)
    homes = make_homes(seed, mean=mean)
    rows = random.choice(ROWS, 200, replace=False)
    columns = encode(homes, {"wage": rows})
    # Some wages are absent, and count as nothing: the total is made again without them.
    gone = random.choice(np.setdiff1d(np.arange(ROWS), rows), 60, replace=False)
    codes = columns[1].codes.copy()
    codes[gone] = ABSENT
    columns[1] = replace(columns[1], codes=codes)
    wage = np.where(np.isin(np.arange(ROWS), gone), 0.0, homes["wage"])
    total = np.bincount(homes["home"], wage)
    income = (total / np.bincount(homes["home"]) if mean else total)[homes["home"]]
    columns[2] = encode({"income": income}, {})[0]
    state = RefillState(columns, ["wage"])
    [target] = state.targets
    form = "rest_of_mean" if mean else "rest"
    [told] = [
        t for f, places, t, _ in screen_member_sums(state, target) if (f, places) == (form, (0, 2))
    ]
    is_hidden = columns[1].codes == HIDDEN
    for row in range(ROWS):
        others = [r for r in np.flatnonzero(homes["home"] == homes["home"][row]) if r != row]
        if is_hidden[others].any():
            assert np.isnan(told[row])
        else:
            whole = income[row] * (len(others) + 1 if mean else 1)
            assert told[row] == pytest.approx(whole - wage[others].sum(), abs=1e-6)


def test_a_wage_that_a_total_would_tell_is_known_beforehand() -> None:
    import pyarrow as pa

    homes = make_homes()
    people = dv.Dataset.from_arrow(pa.table(homes), roles={"quasi_identifier": ["wage"]})
    told = dv.protection.find_determined_attributes(people, ["wage"], ["home", "income"])["wage"]
    assert [(r.form, r.columns) for r in told] == [("rest", ("home", "income"))]
    assert "the others with the same home" in str(told[0])
