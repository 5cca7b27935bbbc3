"""Synthetic holdings: what a register of companies promises, exactly."""

from collections import defaultdict
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge import datasets
from divulge.data import Dataset
from divulge.work import DivulgeError

FIRMS = 2_000
HOLDINGS = datasets.ownership(FIRMS, 6_000)
FIRST_OUTSIDE = 100_000 + FIRMS


def list_holdings(dataset: Dataset) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = dataset.to_arrow().to_pylist()
    return rows


def add_shares(dataset: Dataset) -> dict[int, Decimal]:
    totals: dict[int, Decimal] = defaultdict(Decimal)
    for row in list_holdings(dataset):
        totals[row["company"]] += row["share"]
    return totals


@given(
    firms=st.integers(2, 60),
    part=st.floats(0, 1),
    seed=st.integers(0, 1_000),
    outside=st.sampled_from([0.0, 0.25, 1.0]),
    share_classes=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_holdings_are_different_and_no_company_is_owned_more_than_once_over(
    firms: int, part: float, seed: int, outside: float, share_classes: bool
) -> None:
    outsiders = -(-firms // 5) if outside else 0
    most = (firms * outsiders if outside == 1 else firms * (firms - 1 + outsiders)) // 2
    edges = max(1, int(part * (most - 1)))
    made = datasets.ownership(firms, edges, seed, share_classes=share_classes, outside=outside)
    rows = list_holdings(made)
    assert len(rows) == edges
    assert len({tuple(v for k, v in row.items() if k != "share") for row in rows}) == edges
    assert all(row["owner"] != row["company"] for row in rows)
    assert all(row["share"] > 0 for row in rows)
    assert max(add_shares(made).values()) <= 1
    # Whatever is owned is a company; owners may be outside.
    assert {row["company"] for row in rows} <= set(range(100_000, 100_000 + firms))
    assert {row["owner"] for row in rows} <= set(range(100_000, 100_000 + firms + outsiders))


def test_shares_are_exact_decimals_some_of_exactly_a_half() -> None:
    assert HOLDINGS.to_arrow()["share"].type == pa.decimal128(7, 6)
    shares = [row["share"] for row in list_holdings(HOLDINGS)]
    assert shares.count(Decimal("0.5")) > 50
    assert sum(share > Decimal("0.5") for share in shares) > 0.15 * len(shares)
    assert sum(total == 1 for total in add_shares(HOLDINGS).values()) > 0.3 * FIRMS


def test_a_few_owners_hold_parts_of_many_companies() -> None:
    held: dict[int, int] = defaultdict(int)
    for row in list_holdings(HOLDINGS):
        held[row["owner"]] += 1
    numbers = sorted(held.values(), reverse=True)
    assert numbers[0] > 20 * (sum(numbers) / len(numbers))
    assert sum(number <= 3 for number in numbers) > len(numbers) / 2
    assert sum(numbers[: len(numbers) // 10]) > sum(numbers) / 3


def test_companies_own_each_other_and_holdings_run_in_longer_circles() -> None:
    pairs = {(row["owner"], row["company"]) for row in list_holdings(HOLDINGS)}
    crossed = {pair for pair in pairs if pair[::-1] in pairs}
    assert len(crossed) > 0.02 * len(pairs)
    owned = defaultdict(set)
    for owner, company in pairs:
        owned[owner].add(company)
    assert any(
        third != first and first in owned[third]
        for first, second in pairs
        for third in owned[second]
    )


def test_a_quarter_of_the_holdings_is_held_outside_the_survey() -> None:
    outside = [row for row in list_holdings(HOLDINGS) if row["owner"] >= FIRST_OUTSIDE]
    assert len(outside) / HOLDINGS.rows == pytest.approx(0.25, abs=0.03)
    nobody = datasets.ownership(FIRMS, 6_000, outside=0)
    assert all(row["owner"] < FIRST_OUTSIDE for row in list_holdings(nobody))


def test_companies_have_the_ids_of_the_survey_on_inflation_and_growth() -> None:
    survey = datasets.inflation_and_growth(FIRMS).to_arrow()["Id"].to_pylist()
    assert {row["company"] for row in list_holdings(HOLDINGS)} <= set(survey)


def test_an_owner_may_hold_two_classes_of_one_company_also_in_equal_parts() -> None:
    two = datasets.ownership(FIRMS, 6_000, share_classes=True)
    assert two.names == ["owner", "company", "share", "share_class"]
    held: dict[tuple[int, int], dict[str, Decimal]] = defaultdict(dict)
    for row in list_holdings(two):
        held[row["owner"], row["company"]][row["share_class"]] = row["share"]
    both = [classes for classes in held.values() if len(classes) == 2]
    assert len(both) == 750
    equal = [c["ordinary"] for c in both if c["ordinary"] == c["preference"]]
    # Neither class is a majority, and both together are.
    assert any(Decimal("0.25") < share <= Decimal("0.5") for share in equal)
    assert len(equal) < len(both)
    assert max(add_shares(two).values()) <= 1


def test_the_same_seed_gives_the_same_holdings_and_another_gives_others() -> None:
    assert datasets.ownership(FIRMS, 6_000).fingerprint == HOLDINGS.fingerprint
    assert datasets.ownership(FIRMS, 6_000, 1).fingerprint != HOLDINGS.fingerprint


@pytest.mark.parametrize(
    ("firms", "edges", "more", "complaint"),
    [
        (1, 1, {}, "firms: 1 is no number from 2"),
        (10, 5, {"outside": 1.5}, "outside: 1.5 is no share"),
        (0, 5, {"outside": -1}, "2 problems"),
        (10, 0, {}, "give 1 to 55 for 10 companies"),
        (10, 56, {}, "56 holdings: give 1 to 55 for 10 companies"),
        (10, 46, {"outside": 0}, "give 1 to 45 for 10 companies"),
    ],
)
def test_what_cannot_be_owned_is_refused(
    firms: int, edges: int, more: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(DivulgeError, match=complaint):
        datasets.ownership(firms, edges, **more)
