"""Histories that are not in order: counted and said, or refused with a reason."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

import divulge as dv
from divulge.data import Dataset, Hierarchy
from divulge.events import Attacker, History, attack, unicity
from divulge.work import DivulgeError, InvalidInput


def purchases(**columns: list[Any]) -> Dataset:
    usual: dict[str, list[Any]] = {
        "user": [1, 1, 2],
        "date": ["2024-03-01", "2024-03-02", "2024-03-02"],
        "goods": ["tea", "milk", "tea"],
    }
    return Dataset.from_arrow(pa.table({**usual, **columns}))


def history(dataset: Dataset, **more: Any) -> History:
    return History(dataset, user="user", time="date", item="goods", **more)


def test_times_that_cannot_be_read_are_counted_and_not_shown() -> None:
    data = purchases(date=["2024-03-01", "yesterday", "31.12.99"])
    with pytest.raises(InvalidInput) as refused:
        history(data)
    assert "time: 2 of 3 records: each has no readable time." in str(refused.value)
    assert "yesterday" not in str(refused.value)


def test_records_left_out_are_said_in_every_result() -> None:
    data = purchases(date=["2024-03-01", "yesterday", "2024-03-02"], goods=["tea", "milk", " "])
    with pytest.raises(InvalidInput, match="2 problems"):
        history(data)
    kept = history(data, missing="drop")
    assert kept.records == 1
    said = str(attack(kept, Attacker("day")))
    assert "1 record without a readable time was left out." in said
    assert "1 record without an item was left out." in said


def test_nothing_left_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no record is left"):
        history(purchases(user=[None, None, None]), missing="drop")


def test_mixed_time_zones_are_refused() -> None:
    data = purchases(
        date=["2024-03-01T10:00+01:00", "2024-03-01T10:00+00:00", "2024-03-01T10:00+01:00"]
    )
    with pytest.raises(InvalidInput, match="mixes 2 time zones"):
        history(data)


def test_times_with_and_without_a_zone_are_mixed() -> None:
    data = purchases(date=["2024-03-01T10:00+01:00", "2024-03-01T10:00", "2024-03-01"])
    with pytest.raises(InvalidInput, match="time zones"):
        history(data)


def test_a_time_of_one_zone_is_read_by_its_wall_clock() -> None:
    data = purchases(
        date=["2024-03-01T23:30+02:00", "2024-03-02T00:30+02:00", "2024-03-02T10:00+02:00"]
    )
    assert history(data).events == 3


def test_numbers_are_no_times() -> None:
    with pytest.raises(InvalidInput, match='"date" contains numbers'):
        history(purchases(date=[20240301, 20240302, 20240303]))


def test_users_with_one_record_are_said() -> None:
    assert "1 user has a single record." in str(attack(history(purchases()), Attacker("day")))


def test_returns_want_a_decision() -> None:
    data = purchases(number=[2, -1, 1])
    with pytest.raises(InvalidInput, match='returns="drop", "keep" or "net"'):
        history(data, amount="number")
    assert history(data, amount="number", returns="keep").records == 3
    assert history(data, amount="number", returns="drop").records == 2


def test_a_return_nets_what_it_returns() -> None:
    data = purchases(
        user=[1, 1, 1, 1, 2], date=["2024-03-01"] * 5, goods=["tea", "tea", "milk", "milk", "tea"],
        number=[2, -2, 3, -1, 1],
    )  # fmt: skip
    netted = history(data, amount="number", returns="net")
    # All tea of user 1 went back; some milk stayed.
    assert netted.records == 2
    said = [sentence.render() for sentence in netted.remarks()]
    assert "2 returns (negative amounts) were netted against what they return." in said
    assert "1 record was left out because all of it was returned." in said


def test_hours_are_not_known_of_days() -> None:
    days = purchases(date=[dt.date(2024, 3, 1)] * 3)
    with pytest.raises(InvalidInput, match="contains days without hours"):
        attack(history(days), Attacker("hour"))


def test_hours_are_finer_than_days() -> None:
    data = purchases(
        user=[1, 2, 3], date=["2024-03-01 08:10", "2024-03-01 08:50", "2024-03-01 09:00"]
    )
    assert attack(history(data), Attacker("day")).deterministic.posterior == 0
    assert attack(history(data), Attacker("hour")).deterministic.posterior == 1 / 3


def test_an_item_may_be_known_by_its_kind_only() -> None:
    kinds = Hierarchy.from_pairs([("tea", "drink"), ("milk", "drink"), ("soap", "other")])
    data = purchases(user=[1, 2, 3], goods=["tea", "milk", "soap"])
    with pytest.raises(InvalidInput, match="has no hierarchy"):
        attack(history(data), Attacker("item at 1"))
    described = history(data.describe(hierarchies={"goods": kinds}))
    assert attack(described, Attacker("item")).deterministic.posterior == 1
    assert attack(described, Attacker("item at 1")).deterministic.posterior == 1 / 3
    with pytest.raises(InvalidInput, match="levels are 0 to 1"):
        attack(described, Attacker("item at 2"))


def test_a_release_of_coarser_goods_hides_what_is_known_coarsely() -> None:
    kinds = Hierarchy.from_pairs([("tea", "drink"), ("milk", "drink"), ("soap", "other")])
    data = purchases(user=[1, 2, 3], goods=["tea", "milk", "soap"])
    original = history(data.describe(hierarchies={"goods": kinds}))
    release = history(purchases(user=[1, 2, 3], goods=["drink", "drink", "other"]))
    found = attack(original, Attacker("item at 1"), release=release)
    assert found.probabilistic.posterior == pytest.approx((0.5 + 0.5 + 1) / 3)
    # Whoever knows the good finds it under its kind, and no better.
    exact = attack(original, Attacker("item"), release=release)
    assert exact.probabilistic.posterior == pytest.approx((0.5 + 0.5 + 1) / 3)


def test_a_record_left_out_of_the_release_is_not_found() -> None:
    release = history(purchases().select(["user", "date", "goods"]))
    fewer = History(
        Dataset.from_arrow(purchases().to_arrow().slice(1)), user="user", time="date", item="goods"
    )
    assert attack(release, Attacker(["day", "item"])).deterministic.posterior == 1
    found = attack(release, Attacker(["day", "item"]), release=fewer)
    assert found.deterministic.posterior == pytest.approx(2 / 3)
    assert "fits nobody in the protected release in 33.3% of cases" in str(found)


def test_a_receipt_is_an_event_of_its_own() -> None:
    data = dv.datasets.purchases_example()
    by_receipt = History(data, user="user", time="date", item="goods", event="receipt")
    assert by_receipt.events == 6


def test_amounts_and_attributes_can_be_known() -> None:
    data = purchases(user=[1, 2, 3], number=[3, 8, 12], shop=["a", "a", "b"])
    h = history(data, amount="number")
    assert attack(h, Attacker("amount by 10")).deterministic.posterior == 1 / 3
    assert attack(h, Attacker("shop")).deterministic.posterior == 1 / 3
    with pytest.raises(InvalidInput, match='needs the width of its bands: "amount by 10"'):
        Attacker("amount")
    with pytest.raises(InvalidInput, match="has no amount"):
        attack(history(data), Attacker("amount by 10"))


def test_a_prior_draws_users_as_it_says() -> None:
    h = history(purchases())
    found = attack(h, Attacker("item", weight={1: 3, 2: 1}))
    # User 1 (3 of 4): tea or milk, half each; tea fits both users. User 2 (1 of 4): tea.
    assert found.probabilistic.posterior == pytest.approx(0.75 * (0.5 * 0.5 + 0.5) + 0.25 * 0.5)
    assert "Figures are by the prior that was given." in str(found)
    with pytest.raises(InvalidInput, match="the prior lacks 1 of 2 users"):
        attack(h, Attacker("item", weight={1: 1}))


def test_what_is_wrong_with_an_attacker_is_said_at_once() -> None:
    with pytest.raises(InvalidInput) as refused:
        Attacker(["dya"], points=0, weight="records", guess="bets")  # type: ignore[arg-type]
    said = str(refused.value)
    assert "attacker has 4 problems" in said
    assert 'Did you mean "record"?' in said
    assert 'Did you mean "best"?' in said
    assert 'Did you mean "day"?' in said


def test_several_points_are_not_drawn_by_event() -> None:
    with pytest.raises(InvalidInput, match='weigh by "user" or "record"'):
        Attacker("item", points=2, weight="event")
    with pytest.raises(DivulgeError, match="a point has one item"):
        unicity(history(purchases()), ["2 items"], points=2)


def test_unknown_names_are_met_with_the_nearest() -> None:
    with pytest.raises(InvalidInput) as refused:
        History(purchases(), user="usr", time="dat", item="goods", event="dya")
    said = str(refused.value)
    assert "3 problems" in said
    assert 'Did you mean "user"?' in said
    assert 'Did you mean "day"?' in said


@pytest.mark.parametrize(
    ("kind", "names", "found"),
    [
        ("card", ["Card ID", "timestamp", "merchant", "amount"], ("Card ID", "timestamp", "merchant")),
        ("retail", ["CustomerID", "InvoiceDate", "StockCode"], ("CustomerID", "InvoiceDate", "StockCode")),
        ("call", ["caller", "start", "callee", "duration"], ("caller", "start", "callee")),
        ("mobility", ["uid", "datetime", "antenna"], ("uid", "datetime", "antenna")),
    ],
)  # fmt: skip
def test_usual_names_are_found(kind: str, names: list[str], found: tuple[str, ...]) -> None:
    values: dict[str, list[Any]] = {name: [1, 2] for name in names}
    values[found[1]] = ["2024-03-01 10:00", "2024-03-02 11:00"]
    h = History.preset(Dataset.from_arrow(pa.table(values)), kind)
    assert (h.user, h.time, h.item) == found
    assert h.amount == (names[3] if len(names) > 3 else None)


def test_a_kind_or_a_name_that_is_not_usual_is_said() -> None:
    with pytest.raises(InvalidInput, match='Did you mean "retail"?'):
        History.preset(purchases(), "retial")
    with pytest.raises(InvalidInput, match="no attribute has a usual name .*; give item="):
        History.preset(purchases().select(["user", "date"]), "retail")


def test_a_return_kept_or_dropped_is_counted_and_said() -> None:
    data = purchases(number=[2, -1, 1])
    kept = history(data, amount="number", returns="keep")
    assert "1 return (a negative amount) counts as a record like any other." in [
        sentence.render() for sentence in kept.remarks()
    ]
    dropped = history(data, amount="number", returns="drop")
    assert "1 return (a negative amount) was left out." in [
        sentence.render() for sentence in dropped.remarks()
    ]


def test_an_empty_item_code_is_no_item() -> None:
    data = purchases(goods=["tea", "", None])
    with pytest.raises(InvalidInput, match="item: 2 of 3 records: each has no item"):
        history(data)
    assert history(data, missing="drop").items == 1


def test_only_users_with_one_record_can_be_attacked_too() -> None:
    data = purchases(user=[1, 2, 3])
    found = unicity(history(data), ["day", "item"], points=4)
    assert found.claim == "exact"  # there is but one draw of each
    assert found.deterministic.posterior == 1
    assert "3 users have fewer points than that" in str(found)


def test_a_unit_that_times_are_rounded_to_is_a_unit() -> None:
    with pytest.raises(InvalidInput, match='Did you mean "month"?'):
        history(purchases(), rounded="mnoth")


def test_a_clock_finer_than_microseconds_is_read() -> None:
    moments = pa.array([-1, 1, 86_400_000_000_001], pa.timestamp("ns"))
    assert history(purchases(date=moments)).times("day").tolist() == [-1, 0, 1]


def test_a_whole_week_is_no_day_of_an_original() -> None:
    weeks = purchases(date=["2010-W48", "2010-W48", "2010-W49"])
    with pytest.raises(InvalidInput, match="3 of 3 records: each has no readable time"):
        history(weeks)
    assert history(weeks, missing="maybe").times("week").tolist() == [2135, 2135, 2136]


@pytest.mark.parametrize("text", ["2010-12-01T08", "20101201T0845", "2010-12-01 08"])
def test_hours_are_read_without_a_colon_too(text: str) -> None:
    assert history(purchases(date=[text] * 3)).has_hours


def test_amounts_by_the_cent_are_told_apart() -> None:
    cents = [number / 100 for number in range(1, 201)]
    users = list(range(len(cents)))
    data = purchases(user=users, date=["2024-03-01"] * 200, goods=["tea"] * 200, amount=cents)
    found = attack(history(data, amount="amount"), Attacker("amount by 0.01"))
    assert found.deterministic.posterior == 1
    tenths = attack(history(data, amount="amount"), Attacker("amount by 0.1"))
    assert tenths.distribution().to_pydict()["users_who_match"] == [1, 9, 10]
