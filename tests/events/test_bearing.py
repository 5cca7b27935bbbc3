"""Who bears the risk: of each record, each user and each group, for every kind of attacker."""

from __future__ import annotations

from math import isclose

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.events import plain
from tests.events.histories import history, records

import divulge as dv
from divulge.events import Attacker, History, attack, ten_attackers, unicity
from divulge.events.ten_attackers import TEN, describe_ten
from divulge.events.unicity import list_granularities

WEIGHTS = st.sampled_from(["record", "event", "user"])


@given(records, st.integers(2, 3), WEIGHTS, st.sampled_from(["uniform", "best"]))
def test_several_items_are_borne_by_their_records(rows, size, weight, guess) -> None:  # type: ignore[no-untyped-def]
    h = history(rows)
    found = attack(h, Attacker([f"{size} items", "day"], weight=weight, guess=guess))
    for group in ("goods", "user"):
        parts = found.by(group).values()
        assert isclose(sum(part.right.posterior for part in parts), found.right.posterior)
        assert isclose(
            sum(part.certain.posterior for part in parts), found.certain.posterior, abs_tol=1e-9
        )
    risk = found.risk()
    assert np.all((risk >= -1e-12) & (risk <= 1 + 1e-12))
    if weight == "record":
        assert isclose(risk.mean(), found.probabilistic.posterior, abs_tol=1e-12)


def test_the_risk_of_a_record_is_the_mean_over_the_sets_it_is_in() -> None:
    # User 1 bought a, b, c; user 2 bought a, b. Of {a,b}, {a,c}, {b,c} only the first fits both.
    day = "2024-03-01"
    rows = [(1, day, "a"), (1, day, "b"), (1, day, "c"), (2, day, "a"), (2, day, "b")]
    columns = {name: [row[n] for row in rows] for n, name in enumerate(("user", "date", "goods"))}
    import pyarrow as pa

    h = History(dv.Dataset.from_arrow(pa.table(columns)), "user", "date", "goods")
    found = attack(h, Attacker("2 items"))
    assert found.risk().tolist() == pytest.approx([0.75, 0.75, 1, 0.5, 0.5])


@given(records, st.integers(1, 2), st.sampled_from(["record", "user"]))
def test_several_points_are_borne_by_users(rows, points, weight) -> None:  # type: ignore[no-untyped-def]
    found = unicity(history(rows), ["day", "item"], points, weight=weight)
    parts = found.by("user").values()
    assert isclose(sum(part.right.posterior for part in parts), found.right.posterior)
    by_user = found.users()
    together = np.dot(by_user["weight"].to_numpy(), by_user["risk"].to_numpy())
    assert isclose(together, found.right.posterior)
    assert isclose(sum(found.distribution()["share"].to_pylist()), 1)


@given(records, st.sampled_from(TEN), WEIGHTS)
def test_the_ten_are_counted_as_they_are_attacked(rows, knows, weight) -> None:  # type: ignore[no-untyped-def]
    number = TEN.index(knows)
    ten = ten_attackers(history(rows), weight=weight)
    twin = plain.attack(rows, list(knows), weight)
    assert isclose(ten.exact[number], twin.uniform)
    assert isclose(ten.certain[number], twin.certain, abs_tol=1e-12)
    best = ten_attackers(history(rows), weight=weight, guess="best")
    assert isclose(best.exact[number], twin.best)


@pytest.fixture
def purchases() -> History:
    return History(dv.datasets.purchases_example(), user="user", time="date", item="goods")


def test_each_of_the_ten_can_be_broken_down(purchases: History) -> None:
    ten = ten_attackers(purchases)
    groups = ten.by("goods")
    assert list(groups) == list(range(10))
    for number, parts in groups.items():
        right = sum(part.right.posterior for part in parts.values())
        assert right / 10 == pytest.approx(ten.exact[number])


def test_the_ten_in_one_assessment_are_as_dangerous_as_the_worst(purchases: History) -> None:
    ten = ten_attackers(purchases)
    found = ten.assessment()
    assert found.probabilistic.posterior == max(ten.exact)
    said = found.explain()
    assert said[0].startswith("Of the ten attackers, the most dangerous is number 9")
    assert said[1] == "9 of the ten are right in at least half of the cases."
    details = found.details()
    assert details is not None
    assert [row[1] for row in details.rows] == list(describe_ten())
    assert len(details.charts) == 5  # Figs. 1 to 5 of the paper


def test_how_far_estimates_are_from_the_exact_values_is_shown(purchases: History) -> None:
    ten = ten_attackers(purchases)
    largest = max(abs(e - x) for e, x in zip(ten.estimated, ten.exact, strict=True))
    assert ten.assessment().figures["largest_error_of_estimates"] == pytest.approx(largest)
    assert len(ten.to_dict()["attackers"]) == 10
    assert ten.to_dict()["attackers"][8]["error"] == pytest.approx(ten.errors[8])


@given(records)
@settings(max_examples=20)
def test_counting_records_of_an_event_is_asked_for_by_name(rows) -> None:  # type: ignore[no-untyped-def]
    by_records = ten_attackers(history(rows), count="records")
    for number in (2, 7):
        knows = ["records" if word == "kinds" else word for word in TEN[number]]
        assert isclose(by_records.exact[number], plain.attack(rows, knows).uniform)


def test_a_curve_is_drawn_for_each_granularity(purchases: History) -> None:
    assert list_granularities(["item"]) == [("item",)]
    assert list_granularities(["day", "item"], ["year"]) == [("day", "item"), ("year", "item")]
    details = unicity(purchases, ["day", "item"], points=2).details()
    assert details is not None
    assert [(row[0], row[1]) for row in details.rows] == [
        (f"{unit}, item", str(points)) for unit in ("day", "week", "month") for points in (1, 2)
    ]
    shares = [row["share"] for row in details.charts[0].records]
    assert shares[0] >= shares[2] >= shares[4]
