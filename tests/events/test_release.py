"""On a protected release: what is hidden may be anything, what is coarser covers what it was."""

from __future__ import annotations

import datetime as dt
from itertools import combinations
from math import isclose
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.events import plain_release as plain
from tests.events.histories import DAYS, history, records

import divulge as dv
from divulge.data import Dataset, Hierarchy
from divulge.events import Attacker, History, attack, unicity
from divulge.events.known_points.points import Points
from divulge.events.protected import candidate_lookup_kernels
from divulge.events.protected.candidate_lookup import UserNumbering, build_lookup
from divulge.qif.kernels import compiled
from divulge.work import DivulgeError, InvalidInput

LEVELS = Hierarchy.from_pairs(list(plain.KINDS.items()))
SHOWN_DAYS = [*DAYS, (2010, 12), (2011, 4), None]
SHOWN_ITEMS = [*"abcd", "vowel", "consonant", None]


def released(days: list[Any], items: list[Any]) -> Any:
    shown = st.tuples(st.integers(1, 4), st.sampled_from(days), st.sampled_from(items))
    return st.lists(shown, min_size=1, max_size=16)


def original(rows: list[Any]) -> History:
    described = history(rows).dataset.describe(hierarchies={"goods": LEVELS})
    return History(described, "user", "day", "goods")


def release(rows: list[plain.Released]) -> History:
    """As it would be read: a month is text, what is hidden is empty."""

    def text(day: Any) -> str | None:
        if day is None:
            return None
        return day.isoformat() if isinstance(day, dt.date) else f"{day[0]}-{day[1]:02}"

    users, days, items = zip(*rows, strict=True)
    columns = {
        "user": pa.array(users),
        "day": pa.array([text(day) for day in days], pa.string()),
        "goods": pa.array(items, pa.string()),
    }
    return History(Dataset.from_arrow(pa.table(columns)), "user", "day", "goods", missing="maybe")


def assume_shared(rows: list[Any], shown: list[Any]) -> None:
    assume({row[0] for row in rows} & {row[0] for row in shown})


KNOWLEDGE = st.lists(
    st.sampled_from(["day", "week", "month", "item"]), unique=True, min_size=1, max_size=3
)
DRAWN = st.sampled_from(["record", "event", "user"])


@given(records, released(SHOWN_DAYS, SHOWN_ITEMS), KNOWLEDGE)
def test_hidden_and_coarser_values_may_be_what_is_known(rows, shown, knows) -> None:  # type: ignore[no-untyped-def]
    assume_shared(rows, shown)
    found = attack(original(rows), Attacker(knows), release=release(shown))
    chance, alone = plain.attack(rows, shown, knows)
    assert isclose(found.probabilistic.posterior, chance, abs_tol=1e-12)
    assert isclose(found.deterministic.posterior, alone, abs_tol=1e-12)
    assert isclose(np.mean(found.risk()), chance, abs_tol=1e-12)


@given(records, released(SHOWN_DAYS, SHOWN_ITEMS), KNOWLEDGE, DRAWN)
def test_groups_and_users_add_up_on_a_release(rows, shown, knows, weight) -> None:  # type: ignore[no-untyped-def]
    assume_shared(rows, shown)
    found = attack(original(rows), Attacker(knows, weight=weight), release=release(shown))
    parts = found.by("goods").values()
    assert isclose(sum(part.right.posterior for part in parts), found.right.posterior, abs_tol=1e-9)
    by_user = found.users()
    together = np.dot(by_user["weight"].to_numpy(), by_user["risk"].to_numpy())
    assert isclose(together, found.right.posterior, abs_tol=1e-9)


@given(records, released(SHOWN_DAYS, SHOWN_ITEMS), KNOWLEDGE, st.integers(1, 2))
def test_several_points_are_looked_up_in_the_release(rows, shown, knows, points) -> None:  # type: ignore[no-untyped-def]
    assume_shared(rows, shown)
    found = unicity(original(rows), knows, points, release=release(shown))
    alone, chance = plain.unicity(rows, shown, knows, points)
    assert found.claim == "exact"
    assert isclose(found.deterministic.posterior, alone, abs_tol=1e-12)
    assert isclose(found.probabilistic.posterior, chance, abs_tol=1e-12)


@given(records, released(SHOWN_DAYS, SHOWN_ITEMS))
@settings(max_examples=10)
def test_three_points_in_a_release_are_sampled_with_an_interval(rows, shown) -> None:  # type: ignore[no-untyped-def]
    assume_shared(rows, shown)
    knows = ["day", "item"]
    found = unicity(
        original(rows), knows, 3, sample=2000, confidence=0.9999, release=release(shown)
    )
    alone, _ = plain.unicity(rows, shown, knows, 3)
    low, high = found.figures.get("low", alone), found.figures.get("high", alone)
    assert low - 1e-9 <= alone <= high + 1e-9


@given(records, released(DAYS, SHOWN_ITEMS), st.booleans(), st.booleans())
def test_an_event_may_be_all_baskets_that_its_labels_allow(rows, shown, every, day) -> None:  # type: ignore[no-untyped-def]
    assume_shared(rows, shown)
    words = "all items as multiset" if every else "all items"
    knows = [words, *(["day"] if day else [])]
    found = attack(original(rows), Attacker(knows), release=release(shown))
    twin = plain.attack_on_events(rows, shown, words, day)
    assert isclose(found.probabilistic.posterior, twin, abs_tol=1e-12)


@given(
    records,
    released(DAYS, [*"abcd", None]),
    st.sampled_from(["kinds", "all items", "2 items"]),
    st.booleans(),
)
def test_an_event_with_hidden_items_may_be_all_that_they_allow(rows, shown, words, day) -> None:  # type: ignore[no-untyped-def]
    assume_shared(rows, shown)
    knows = [words, *(["day"] if day else [])]
    found = attack(original(rows), Attacker(knows), release=release(shown))
    twin = plain.attack_on_events(rows, shown, words, day)
    assert isclose(found.probabilistic.posterior, twin, abs_tol=1e-12)
    assert isclose(np.mean(found.risk()), twin, abs_tol=1e-12)


@given(records, KNOWLEDGE, DRAWN)
@settings(max_examples=30)
def test_a_release_that_hides_everything_leaves_the_prior(rows, knows, weight) -> None:  # type: ignore[no-untyped-def]
    shown = [(user, None, None) for user, _, _ in rows]
    found = attack(original(rows), Attacker(knows, weight=weight), release=release(shown))
    assert isclose(found.probabilistic.posterior, found.probabilistic.prior)


@given(records, KNOWLEDGE, st.integers(0, 15))
@settings(max_examples=50)
def test_who_is_taken_out_of_the_release_is_not_found(rows, knows, place) -> None:  # type: ignore[no-untyped-def]
    gone = rows[place % len(rows)][0]
    kept = [row for row in rows if row[0] != gone]
    assume(kept)
    found = attack(original(rows), Attacker(knows), release=release(kept))
    risk = {row["user"]: row["risk"] for row in found.users().to_pylist()}
    assert risk[gone] == 0


def test_times_may_be_rounded_to_a_month() -> None:
    rows = [(1, dt.date(2010, 12, 1), "a"), (2, dt.date(2010, 12, 9), "a")]
    dates = history([(user, dt.date(2010, 12, 1), item) for user, _, item in rows])
    assert attack(original(rows), Attacker("day"), dates).probabilistic.posterior == 0.25
    rounded = History(dates.dataset, "user", "day", "goods", rounded="month")
    assert attack(original(rows), Attacker("day"), rounded).probabilistic.posterior == 0.5


def test_periods_are_read_from_the_text_of_a_release() -> None:
    rows = [(1, dt.date(2010, 12, 1), "a"), (2, dt.date(2011, 4, 9), "a")]
    for first, second in (("2010", "2011"), ("2010-Q4", "2011-Q2"), ("2010-W48", "2011-W14")):
        table = pa.table({"user": [1, 2], "day": [first, second], "goods": ["a", "a"]})
        shown = History(Dataset.from_arrow(table), "user", "day", "goods", missing="maybe")
        assert attack(original(rows), Attacker("day"), shown).deterministic.posterior == 1
    with pytest.raises(InvalidInput, match="2 of 2 records: each has no readable time"):
        months = pa.table({"user": [1, 2], "day": ["2010-12", "2010-13"], "goods": ["a", "a"]})
        History(Dataset.from_arrow(months), "user", "day", "goods")


def test_amounts_and_places_may_be_hidden_too() -> None:
    columns = {
        "user": [1, 2, 3],
        "day": [DAYS[0]] * 3,
        "goods": ["a"] * 3,
        "paid": [3, 12, 18],
        "shop": ["north", "south", "south"],
    }
    whole = History(Dataset.from_arrow(pa.table(columns)), "user", "day", "goods", amount="paid")
    hiding = {**columns, "paid": [3, None, 18], "shop": ["north", None, "south"]}
    shown = History(
        Dataset.from_arrow(pa.table(hiding)), "user", "day", "goods", amount="paid", missing="maybe"
    )
    # 3 fits users 1 and 2; 12 and 18 fit 2 and 3. North fits 1 and 2, south 2 and 3.
    for words in ("amount by 10", "shop"):
        found = attack(whole, Attacker(words), release=shown)
        assert found.risk().tolist() == [0.5, 0.5, 0.5]


def test_what_an_event_holds_is_not_asked_of_a_release_without_events() -> None:
    rows = [(1, DAYS[0], "a"), (2, DAYS[0], "b")]
    hidden = release([(1, None, "a"), (2, DAYS[0], "b")])
    for words in ("kinds", "all items", "2 items"):
        with pytest.raises(DivulgeError, match="not every record says its day"):
            attack(original(rows), Attacker(words), release=hidden)


def test_all_items_are_asked_at_the_level_of_the_release() -> None:
    rows = [(1, DAYS[0], "a"), (1, DAYS[0], "b"), (2, DAYS[0], "b")]
    coarse = release([(1, DAYS[0], "vowel"), (1, DAYS[0], "consonant"), (2, DAYS[0], "consonant")])
    for words in ("all items", "all items at 1"):
        found = attack(original(rows), Attacker(words), release=coarse)
        assert found.deterministic.posterior == 1


def test_coarser_goods_count_as_one_kind_or_as_many() -> None:
    rows = [(1, DAYS[0], "b"), (1, DAYS[0], "c"), (2, DAYS[0], "b"), (3, DAYS[1], "a")]
    shown = [(1, DAYS[0], "consonant")] * 2 + [(2, DAYS[0], "consonant"), (3, DAYS[1], "a")]
    found = attack(original(rows), Attacker("kinds"), release=release(shown))
    # Two kinds: only user 1. One kind: 1 (both alike), 2 or 3.
    assert found.probabilistic.posterior == pytest.approx((1 + 1 + 1 / 3 + 1 / 3) / 4)


def test_an_original_hides_nothing_and_shares_its_users_with_the_release() -> None:
    rows = [(1, DAYS[0], "a")]
    with pytest.raises(InvalidInput, match="knowledge is of the original"):
        attack(release(rows), Attacker("day"))
    with pytest.raises(InvalidInput, match="the same names on both sides"):
        attack(original(rows), Attacker("day"), release=release([(2, DAYS[0], "a")]))


def test_what_the_release_hides_is_counted_in_the_assessment() -> None:
    shown = release([(1, None, "a"), (1, DAYS[0], None), (2, DAYS[0], "b")])
    said = attack(
        original([(1, DAYS[0], "b"), (2, DAYS[1], "a")]), Attacker("item"), shown
    ).explain()
    assert "1 record of the release has its time suppressed, so it may be any time." in said
    assert "1 record of the release has its item suppressed, so it may be any item." in said
    # User 2 is nowhere shown with an a; user 1 is, and may be anybody's mistake.
    assert "In 50% of cases it fits only others in the release." in said


def test_the_compiled_lookup_gives_what_the_plain_one_gives() -> None:
    random = np.random.default_rng(3)
    starts = np.stack([np.arange(0, 40, 4), np.arange(40, 80, 4)])
    unit = np.concatenate([np.sort(random.choice(12, 4, replace=False)) for _ in range(20)])
    arguments = (
        random.integers(-1, 10, (300, 3)), random.integers(0, 5, 300), starts, starts + 4, unit,
        random.random(80), np.arange(0, 162, 2), random.integers(0, 30, 160), 8,
        np.array([False, False]),
        np.sort(random.integers(0, 5, 12)), 5,
    )  # fmt: skip
    slow: Any = candidate_lookup_kernels.match_draws(*arguments)
    fast: Any = compiled(candidate_lookup_kernels.match_draws)(*arguments)
    for one, other in zip(slow, fast, strict=True):
        assert np.array_equal(one, other)


@given(records, released(SHOWN_DAYS, SHOWN_ITEMS), KNOWLEDGE, st.integers(2, 4))
def test_each_of_several_points_needs_a_record_of_its_own(rows, shown, knows, points) -> None:  # type: ignore[no-untyped-def]
    assume_shared(rows, shown)
    before, after = original(rows), release(shown)
    own = Points(before, Attacker(knows))
    found = build_lookup(UserNumbering(before, after), own.facets, "user")
    record_of = {int(x): before.order[at] for at, x in enumerate(found.x_of_record)}
    draws, users, twin = [], [], []
    for user in range(before.users):
        having = own.points[own.user_starts[user] : own.user_starts[user + 1]].tolist()
        for chosen in combinations(having, min(points, len(having))):
            draws.append([*chosen, *[-1] * (points - len(chosen))])
            users.append(user)
            known = [rows[record_of[x]] for x in chosen]
            twin.append(plain.fitting_all(shown, known, knows))
    matching, among, _ = found.match_draws(np.array(draws), np.array(users))
    assert matching.tolist() == [len(who) for who in twin]
    names = before.user_values()
    assert among.tolist() == [names[u] in who for u, who in zip(users, twin, strict=True)]


@given(records, released(DAYS, SHOWN_ITEMS), st.booleans())
def test_each_of_two_items_needs_a_record_of_its_own(rows, shown, day) -> None:  # type: ignore[no-untyped-def]
    assume_shared(rows, shown)
    knows = ["2 items", *(["day"] if day else [])]
    found = attack(original(rows), Attacker(knows), release=release(shown))
    assert found.claim == "exact"
    twin = plain.attack_on_events(rows, shown, "2 items", day)
    assert isclose(found.probabilistic.posterior, twin, abs_tol=1e-12)


def test_what_events_hold_beside_what_else_is_known_is_an_estimate_and_says_why() -> None:
    purchases = dv.datasets.purchases_example()
    shown = purchases.to_arrow()
    hidden = shown.set_column(
        shown.schema.get_field_index("goods"),
        "goods",
        pa.array([None, *shown["goods"].to_pylist()[1:]], pa.string()),
    )
    original = dv.events.History(purchases, "user", "date", "goods")
    claims = {}
    for name, table in (("as it was", shown.slice(2)), ("hidden", hidden)):
        release = dv.events.History(
            dv.Dataset.from_arrow(table), "user", "date", "goods", missing="maybe"
        )
        for knows, points in ((["day", "item"], 2), (["day", "kinds"], 2), (["kinds", "item"], 1)):
            attacker = Attacker(knows, points=points, weight="user")
            found = attack(original, attacker, release=release)
            said = any("within bounds" in sentence for sentence in found.explain())
            assert said == (found.claim == "estimate")
            claims[name, *knows] = found.claim
    assert {case for case, claim in claims.items() if claim == "estimate"} == {
        ("hidden", "day", "kinds"),
        ("hidden", "kinds", "item"),
    }


def test_each_record_bears_its_own_risk_where_events_are_drawn() -> None:
    rows: list[Any] = [(1, DAYS[0], "b"), (1, DAYS[1], "a"), (2, DAYS[0], "c")]
    found = attack(original(rows), Attacker("item", weight="event"), release=release(rows[1:]))
    assert found.risk().tolist() == [0, 1, 1]
    assert {g: a.probabilistic.posterior for g, a in found.by("goods").assessments.items()} == {
        "a": 1,
        "b": 0,
        "c": 1,
    }


def test_of_users_who_fit_alike_one_is_drawn_whatever_they_are_called() -> None:
    rows: list[Any] = [(1, DAYS[0], "a"), (1, DAYS[1], "b"), (1, DAYS[2], "c"), (2, DAYS[0], "d")]
    shown: list[Any] = [(1, DAYS[0], None), (2, DAYS[0], None)]
    for names in ({1: 1, 2: 2}, {1: 2, 2: 1}):
        called = [(names[user], *rest) for user, *rest in rows]
        hidden = [(names[user], *rest) for user, *rest in shown]
        found = attack(original(called), Attacker("item", guess="best"), release=release(hidden))
        assert found.probabilistic.posterior == 0.5
        assert found.risk().tolist() == [0.5] * 4


@settings(max_examples=60, deadline=None)
@given(records)
def test_the_best_guess_of_several_items_is_bounded_from_both_sides(rows) -> None:  # type: ignore[no-untyped-def]
    """Published as it was, it tells as much as the history itself, where all sets are counted."""
    attacker = Attacker("2 items", guess="best")
    alone = attack(original(rows), attacker)
    found = attack(original(rows), attacker, release=release(rows))
    assert (alone.claim, found.claim) == ("exact", "bound")
    assert found.certain == alone.certain
    assert found.at_worst.certain == alone.certain
    exact = alone.right.posterior
    assert found.right.posterior - 1e-9 <= exact <= found.at_worst.right.posterior + 1e-9
    assert attack(original(rows), Attacker("2 items"), release=release(rows)).claim == "exact"


def test_a_release_may_hide_every_amount() -> None:
    columns = {"user": [1, 2], "day": ["2010-12-01"] * 2, "goods": ["a", "a"]}
    read: dict[str, Any] = {"user": "user", "time": "day", "item": "goods", "amount": "paid"}
    before = History(Dataset.from_arrow(pa.table({**columns, "paid": [1.0, 2.0]})), **read)
    hidden = Dataset.from_arrow(pa.table({**columns, "paid": pa.array([None, None], pa.string())}))
    found = attack(before, Attacker("amount by 1"), History(hidden, **read, missing="maybe"))
    assert found.probabilistic.posterior == 0.5


@pytest.mark.parametrize(
    ("goods", "paid", "shown_goods", "shown_paid"),
    [
        (["tea", "milk", "milk"], [1.0, 1.0, -1.0], [None, "milk", None], [1.0, 1.0, -1.0]),
        (["tea", "tea"], [2.0, -1.0], ["tea", "tea"], [None, -1.0]),
    ],
)
def test_a_return_cancels_nothing_that_the_release_hides(
    goods: list[Any], paid: list[Any], shown_goods: list[Any], shown_paid: list[Any]
) -> None:
    def read(goods: list[Any], paid: list[Any], **more: Any) -> History:
        columns = {"user": [1] * len(goods), "day": ["2010-12-01"] * len(goods)}
        table = pa.table({**columns, "goods": goods, "paid": paid})
        data = Dataset.from_arrow(table)
        return History(data, "user", "day", "goods", amount="paid", returns="net", **more)

    after = read(shown_goods, shown_paid, missing="maybe")
    found = attack(read(goods, paid), Attacker("item"), release=after)
    assert found.probabilistic.posterior == 1


def test_numbers_are_the_same_however_a_file_writes_them() -> None:
    table = pa.table(
        {
            "user": list("abc"),
            "day": ["2010-12-01"] * 3,
            "goods": ["x"] * 3,
            "paid": [1.0, 2.5, 3.0],
        }
    )
    whole = History(Dataset.from_arrow(table), "user", "day", "goods")
    prices: list[Any] = [pa.array([1, 3]), pa.array(["1.0", "3"]), pa.array([1.0, 3.0])]
    for paid in prices:
        fewer = table.take([0, 2]).set_column(3, "paid", paid)
        shown = History(Dataset.from_arrow(fewer), "user", "day", "goods", missing="maybe")
        found = attack(whole, Attacker(["paid"]), release=shown)
        assert found.deterministic.posterior == pytest.approx(2 / 3)


@pytest.mark.parametrize("words", ["item", "all items", "all items as multiset"])
@pytest.mark.parametrize("name", ["phone", "plain phone"])
def test_a_kind_may_be_called_as_one_of_its_goods(name: str, words: str) -> None:
    levels = Hierarchy.from_levels(
        [[name, "phone", "*"], ["smart", "phone", "*"], ["pear", "fruit", "*"]], "goods"
    )
    table = pa.table({"user": [1, 2, 3], "day": [DAYS[0]] * 3, "goods": [name, "smart", "pear"]})
    described = Dataset.from_arrow(table).describe(hierarchies={"goods": levels})
    whole = History(described, "user", "day", "goods")
    coarse = release([(1, DAYS[0], "phone"), (2, DAYS[0], "phone"), (3, DAYS[0], "fruit")])
    found = attack(whole, Attacker([words]), release=coarse)
    assert found.probabilistic.posterior == pytest.approx(2 / 3)
    same = release([(1, DAYS[0], name), (2, DAYS[0], "smart"), (3, DAYS[0], "pear")])
    assert attack(whole, Attacker([words]), release=same).probabilistic.posterior == 1
