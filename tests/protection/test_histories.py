"""Histories: coarser, then fewer, until who saw a customer once cannot tell who it was."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from divulge import Dataset, Hierarchy, InvalidInput, Limit, datasets, events, protection
from divulge.protection import OutOfReachError
from divulge.protection.history.attacks import Setting
from divulge.protection.history.changes import (
    cap_baskets,
    coarsen_times,
    sample_users,
    select_common_items,
)

READ: dict[str, Any] = {"user": "user", "time": "date", "item": "goods"}
ONCE = {"next in the queue": events.Attacker(knows=["day", "item"])}


def test_a_history_is_made_coarser_only_as_far_as_the_limit_asks() -> None:
    payments = datasets.payment_histories(3_000)
    before = events.attack(events.History(payments, **READ), ONCE["next in the queue"])
    bound = before.probabilistic.posterior * 0.6
    p = protection.protect_history(
        payments, ONCE, [Limit("probabilistic.posterior", at_most=bound)], **READ
    )
    again = events.attack(events.History(p.dataset, **READ), ONCE["next in the queue"])
    assert again.probabilistic.posterior <= bound
    assert p.dataset.rows == payments.rows  # coarser times were enough
    assert all(outcome.held for outcome in p.outcomes)
    assert not all(outcome.held for outcome in p.outcomes_before)


def test_a_coarse_time_is_the_first_day_of_its_unit() -> None:
    payments = datasets.payment_histories(500)
    days = np.array(payments.to_arrow()["date"].to_pylist(), "M8[D]")
    for unit in ("week", "month", "quarter", "year"):
        coarse = np.array(
            coarsen_times(payments, "date", unit).to_arrow()["date"].to_pylist(), "M8[D]"
        )
        assert np.all(coarse <= days)
        if unit == "month":
            assert np.array_equal(coarse, days.astype("M8[M]").astype("M8[D]"))
        if unit == "week":
            assert {day.item().weekday() for day in coarse} == {0}


def test_rare_items_long_baskets_and_sampled_users() -> None:
    purchases = datasets.purchases_example()
    rows = purchases.to_arrow().to_pylist()
    users: dict[str, set[object]] = {}
    for row in rows:
        users.setdefault(row["goods"], set()).add(row["user"])
    kept = select_common_items(purchases, "user", "goods", 2)
    assert [i for i, row in enumerate(rows) if len(users[row["goods"]]) >= 2] == kept.tolist()
    single = cap_baskets(purchases, "user", "date", event="day", cap=1, seed=3)
    assert len(single) == len({(row["user"], row["date"]) for row in rows})
    some = sample_users(purchases, "user", 0.34, seed=3)
    assert len({rows[i]["user"] for i in some}) == 1


def test_when_nothing_helps_it_says_what_would() -> None:
    purchases = datasets.purchases_example()
    limit = [Limit("probabilistic.posterior", at_most=0.0)]
    with pytest.raises(OutOfReachError, match="give the items a hierarchy, or release counts"):
        protection.protect_history(purchases, ONCE, limit, methods=["time"], **READ)


def test_items_climb_their_hierarchy_where_that_helps_more() -> None:
    purchases = datasets.purchases_example().describe(
        {"identifier": ["user"], "time": "date"},
        {
            "goods": Hierarchy.from_pairs(
                [
                    (g, "goods")
                    for g in sorted(
                        set(datasets.purchases_example().to_arrow()["goods"].to_pylist())
                    )
                ]
            )
        },
    )
    p = protection.protect_history(
        purchases, ONCE, [Limit("probabilistic.posterior", at_most=0.75)], methods=["item"], **READ
    )
    assert p.setting.item == 1
    assert set(p.dataset.to_arrow()["goods"].to_pylist()) == {"goods"}


def test_a_limit_that_is_no_limit_of_an_attacker_is_refused() -> None:
    with pytest.raises(InvalidInput, match="does not limit from above"):
        protection.protect_history(
            datasets.purchases_example(),
            ONCE,
            [Limit("k_anonymity", at_least=2, nulls="maybe")],
            **READ,
        )


def _attacked_as_known(
    before: Dataset, p: protection.ProtectedHistory, who: events.Attacker
) -> Any:
    """Attacked by who knows the original and knows by how much times were rounded."""
    known = events.History(before, **READ)
    shown = events.History(p.dataset, **READ, missing="maybe", rounded=p.setting.time)
    return events.attack(known, who, release=shown)


def test_who_knows_the_month_is_not_misled_by_a_week_that_began_in_the_month_before() -> None:
    dates = ["2020-01-10"] * 9 + ["2020-02-01"]  # the week of the last began in January
    columns = {"user": list(range(10)), "date": dates, "goods": ["tea"] * 10}
    visits = Dataset.from_arrow(pa.table(columns))
    month = events.Attacker("month")
    limit = Limit("deterministic.posterior", at_most=0.05)
    p = protection.protect_history(visits, {"neighbour": month}, [limit], **READ)
    assert p.after.deterministic.posterior <= 0.05
    assert _attacked_as_known(visits, p, month).deterministic.posterior <= 0.05


def test_two_days_of_a_year_want_two_records_of_it() -> None:
    rows = [(1, 3), (1, 4), (2, 3), (2, 5), (3, 3), (4, 4)]
    columns = {
        "user": [user for user, _ in rows],
        "date": [f"2020-06-{day:02}" for _, day in rows],
        "goods": ["tea"] * len(rows),
    }
    visits = Dataset.from_arrow(pa.table(columns))
    twice = events.Attacker("day", points=2, weight="user")
    limit = Limit("probabilistic.posterior", at_most=0.3)
    with pytest.raises(OutOfReachError):  # 1 and 2 stay apart from 3 and 4, however coarse
        protection.protect_history(visits, {"neighbour": twice}, [limit], methods=["time"], **READ)
    looser = Limit("probabilistic.posterior", at_most=0.4)
    p = protection.protect_history(visits, {"neighbour": twice}, [looser], methods=["time"], **READ)
    again = _attacked_as_known(visits, p, twice).probabilistic.posterior
    assert p.after.probabilistic.posterior == again == pytest.approx((1 / 2 + 1 / 4) / 2)


def bought(rows: list[tuple[str, str, str]], **described: Any) -> Dataset:
    columns = zip(("user", "date", "goods"), zip(*rows, strict=True), strict=True)
    dataset = Dataset.from_arrow(pa.table({name: list(values) for name, values in columns}))
    return dataset.describe(**described) if described else dataset


FOOD = Hierarchy.from_pairs([(item, "food") for item in ("tea", "milk", "ham", "pie")])
BY = "probabilistic.posterior"


def test_who_knows_all_items_learns_no_less_from_coarser_ones_than_who_counts_them() -> None:
    day = "2010-12-01"
    rows = [("1", day, item) for item in ("tea", "milk", "ham")]
    rows += [("2", day, "tea"), ("3", day, "milk"), ("4", day, "ham"), ("5", day, "pie")]
    dataset = bought(rows, hierarchies={"goods": FOOD})
    limit = [Limit(BY, at_most=0.3)]
    for knows in (["kinds"], ["kinds", "all items"]):
        with pytest.raises(OutOfReachError):
            who = {"neighbour": events.Attacker(knows)}
            protection.protect_history(dataset, who, limit, methods=["item"], **READ)


def test_coarser_times_protect_nobody_who_is_not_known_by_time() -> None:
    dataset = bought(
        [
            ("1", "2010-12-06", "x"),
            ("1", "2010-12-07", "x"),
            ("2", "2010-12-06", "y"),
            ("3", "2010-12-06", "y"),
        ]
    )
    who = {"neighbour": events.Attacker(["item"], weight="event")}
    limit = [Limit("deterministic.posterior", at_most=0.4)]
    with pytest.raises(OutOfReachError, match="50%"):
        protection.protect_history(dataset, who, limit, methods=["time"], **READ)


def test_what_is_released_keeps_to_the_limits_by_itself() -> None:
    """Who knows that their victim is in a sample is not held off by those who are not."""
    dataset = bought([(f"u{n}", "2010-12-01", f"i{n}") for n in range(4)])
    who, limit = {"neighbour": events.Attacker(["item"])}, [Limit(BY, at_most=0.5)]
    with pytest.raises(OutOfReachError):
        protection.protect_history(dataset, who, limit, methods=["sample"], **READ)
    p = protection.protect_history(
        dataset, who, limit, methods=["sample"], members_known=False, **READ
    )
    assert p.setting.sample == 0.5
    assert p.explain() == ["2 of 4 users were kept."]


def test_what_does_not_help_is_taken_back() -> None:
    dataset = bought(
        [
            ("1", "2010-12-01", "tea"),
            ("2", "2010-12-01", "tea"),
            ("3", "2010-12-02", "tea"),
            ("1", "2010-12-02", "ham"),
        ]
    )
    who, limit = {"neighbour": events.Attacker(["item"])}, [Limit(BY, at_most=0.4)]
    p = protection.protect_history(dataset, who, limit, **READ)
    assert p.setting == Setting(rare=2)
    assert all(outcome.held for outcome in p.outcomes)


def test_who_knows_the_hour_is_asked_for_it_where_the_release_tells_days() -> None:
    dataset = bought([(f"u{n}", f"2010-12-06 0{8 + n % 2}:00", "a") for n in range(2)])
    who, limit = {"neighbour": events.Attacker(["hour"])}, [Limit(BY, at_most=0.5)]
    p = protection.protect_history(dataset, who, limit, methods=["time"], **READ)
    assert p.setting == Setting(time="day")
    assert p.after.probabilistic.posterior == pytest.approx(0.5)


def test_items_of_nobody_are_no_more_common() -> None:
    table = pa.table({"user": ["u1", None, "u2", "u3"], "date": ["2010-12-01"] * 4})
    dataset = Dataset.from_arrow(table.append_column("goods", pa.array(list("aabb"))))
    assert select_common_items(dataset, "user", "goods", 2).tolist() == [2, 3]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"limits": [Limit(BY, at_most=0.1, adversary="A")]}, 'no attacker "A"'),
        ({"limits": Limit(BY, at_most=0.1)}, "limits: must be a list"),
        ({"attackers": [events.Attacker("item")]}, "attackers: must be given by name"),
        ({"attackers": {"a": "item"}}, "must be of dv.events.Attacker"),
        ({"seed": -1}, "seed: -1 is no whole number"),
    ],
)
def test_what_is_no_wish_is_refused(change: dict[str, Any], why: str) -> None:
    asked: Any = {
        "attackers": {"a": events.Attacker("item")},
        "limits": [Limit(BY, at_most=0.1)],
        **change,
    }
    with pytest.raises(InvalidInput, match=why):
        protection.protect_history(datasets.purchases_example(), **asked, **READ)


def test_what_holds_no_times_cannot_be_told_by_the_month() -> None:
    with pytest.raises(InvalidInput, match="contains no times"):
        coarsen_times(datasets.purchases_example(), "goods", "month")


def test_who_knows_some_items_of_a_day_is_asked_for_all_of_the_week() -> None:
    """Of user 1 a and b were bought on one day, of all pairs in their week the telling one.

    They are found by it however the week is told; the mean over all pairs of the week would hide it.
    """
    rows = [("1", "2010-12-06", item) for item in "ab"]
    rows += [("1", f"2010-12-0{day}", "c") for day in (7, 8, 9)]
    rows += [(user, "2010-12-06", item) for user in "23" for item in "ac"]
    rows += [(user, "2010-12-06", item) for user in "45" for item in "bc"]
    limit, known = [Limit(BY, at_most=0.39)], (2 + 3 / 5 + 8 / 3) / 13
    assert known > 0.39
    for weight in ("record", "event"):
        asked: Any = {"knows": ["2 items"], "weight": weight}
        who = {"neighbour": events.Attacker(**asked)}
        with pytest.raises(OutOfReachError):
            protection.protect_history(bought(rows), who, limit, methods=["time"], **READ)


def test_two_kinds_of_a_day_want_two_records_of_the_week_however_coarse_they_are() -> None:
    kinds = Hierarchy.from_pairs([("i1", "f"), ("i2", "f"), ("i3", "g")])
    rows = [("1", "2010-11-02", "i1"), ("1", "2010-11-02", "i2"), ("3", "2010-11-01", "i3")]
    dataset = bought(rows, hierarchies={"goods": kinds})
    who = {"neighbour": events.Attacker(["kinds"], weight="user")}
    with pytest.raises(OutOfReachError):
        protection.protect_history(
            dataset, who, [Limit(BY, at_most=0.6)], methods=["time", "item"], **READ
        )


def test_who_knows_how_many_records_a_day_has_is_asked_for_those_of_the_week() -> None:
    rows = [("1", "2010-11-01", "a"), ("2", "2010-11-02", "a")]
    who = {"neighbour": events.Attacker(["day", "records"], weight="user")}
    p = protection.protect_history(
        bought(rows), who, [Limit(BY, at_most=0.6)], methods=["time"], **READ
    )
    assert p.setting == Setting(time="week")
    assert p.after.probabilistic.posterior == pytest.approx(0.5)
