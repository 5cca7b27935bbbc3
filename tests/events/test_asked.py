"""What cannot be asked is refused in words, whatever was given in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import divulge as dv
from divulge import events
from divulge.events import Attacker, History, Marginals
from divulge.work import DivulgeError, InvalidInput

PURCHASES = dv.datasets.purchases_example()
HISTORY = History(PURCHASES, user="user", time="date", item="goods")
KNOWN: Any = ["day", "item"]


def prior(chance: Any) -> dict[Any, Any]:
    return dict.fromkeys(HISTORY.user_values(), chance)


@pytest.mark.parametrize("points", [2.5, "2", None, True, 0, -1, float("nan")])
def test_points_are_a_whole_number_from_one(points: Any) -> None:
    for ask in (
        lambda: Attacker(["day"], points=points),
        lambda: events.unicity(HISTORY, ["day"], points=points),
        lambda: events.unicity_curve(HISTORY, ["day"], points=[points]),
    ):
        with pytest.raises(InvalidInput, match=r"points: .* is not a whole number from 1"):
            ask()


def test_words_that_can_be_run_through_once_are_words() -> None:
    assert Attacker(word for word in KNOWN).knows == ("day", "item")  # type: ignore[arg-type]
    once = events.unicity_curve(HISTORY, [iter(KNOWN)], points=[1])
    assert str(once) == str(events.unicity_curve(HISTORY, [KNOWN], points=[1]))
    totals = Marginals.of(HISTORY)
    assert events.estimate(totals, iter(KNOWN)) == events.estimate(totals, KNOWN)


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "knowledge that is no text": (lambda: Attacker([3]), "knows: .* is not text"),  # type: ignore[list-item]
    "no knowledge at all": (lambda: Attacker(None), "knows: None is not text"),  # type: ignore[arg-type]
    "a weight that is no word": (lambda: Attacker(KNOWN, weight=3), "weight: 3 is not a weight"),  # type: ignore[arg-type]
    "a guess in a list": (lambda: Attacker(KNOWN, guess=["best"]), "guess: .* is not a guess"),  # type: ignore[arg-type]
    "a prior of words": (
        lambda: events.attack(HISTORY, Attacker(KNOWN, weight=prior("x"))),
        "from 0",
    ),
    "a prior without end": (
        lambda: events.attack(HISTORY, Attacker(KNOWN, weight=prior(np.inf))),
        "must be numbers from 0",
    ),
    "a list for an attacker": (
        lambda: events.attack(HISTORY, KNOWN),
        "takes an attacker, not a list",
    ),
    "a dataset for a history": (
        lambda: events.attack(PURCHASES, Attacker(KNOWN)),  # type: ignore[arg-type]
        "takes a history, not a Dataset",
    ),
    "a dataset for a release": (
        lambda: events.attack(HISTORY, Attacker(KNOWN), PURCHASES),  # type: ignore[arg-type]
        "release: takes a history",
    ),
    "a seed below 0": (lambda: events.attack(HISTORY, Attacker(KNOWN), seed=-1), "seed: -1"),
    "a broken sample": (lambda: events.unicity(HISTORY, sample=1.5), "sample: 1.5"),  # type: ignore[arg-type]
    "a sample for no machine": (
        lambda: events.unicity(HISTORY, points=3, sample=10**12),
        "draw fewer",
    ),
    "confidence in words": (lambda: events.unicity(HISTORY, confidence="95%"), "confidence: "),  # type: ignore[arg-type]
    "unicity by event": (
        lambda: events.unicity(HISTORY, points=1, weight="event"),
        "belong to a user",
    ),
    "a curve of one number": (
        lambda: events.unicity_curve(HISTORY, points=4),  # type: ignore[arg-type]
        "points: 4 is not a list",
    ),
    "a curve of nothing": (lambda: events.unicity_curve(HISTORY, []), "facets: there are none"),
    "the ten on a dataset": (lambda: events.ten_attackers(PURCHASES), "takes a history"),  # type: ignore[arg-type]
    "the ten by a prior": (lambda: events.ten_attackers(HISTORY, prior(1.0)), "attack one by one"),  # type: ignore[arg-type]
    "the ten counting sheep": (lambda: events.ten_attackers(HISTORY, count="sheep"), "count: "),  # type: ignore[arg-type]
    "an eleventh of ten": (lambda: events.ten_attackers(HISTORY).attacker(10), "they are 0 to 9"),
    "a table for a dataset": (
        lambda: History(PURCHASES.to_arrow(), "user", "date", "goods"),
        "takes a dataset, not a Table",
    ),
    "no user": (lambda: History(PURCHASES, None, "date", "goods"), "user: None is not text"),  # type: ignore[arg-type]
    "gaps in a list": (
        lambda: History(PURCHASES, "user", "date", "goods", missing=["drop"]),  # type: ignore[arg-type]
        "missing: ",
    ),
    "a setting that is none": (lambda: History.preset(PURCHASES, "retail", usr="user"), "user"),
    "an estimate of a history": (lambda: events.estimate(HISTORY, KNOWN), "Marginals.of"),  # type: ignore[arg-type]
    "an estimate by pupil": (
        lambda: events.estimate(Marginals.of(HISTORY), KNOWN, weight="pupil"),
        "weight: ",
    ),
    "totals by dya": (lambda: Marginals.of(HISTORY, "dya"), 'Did you mean "day"'),
    "totals by the hour of days": (lambda: Marginals.of(HISTORY, "hour"), "days without hours"),
    "times by dya": (lambda: HISTORY.times("dya"), 'Did you mean "day"'),
    "codes of nothing": (lambda: HISTORY.codes("shop"), 'no attribute "shop"'),
}


@pytest.mark.parametrize("what", list(WRONG))
def test_what_cannot_be_is_refused_in_words(what: str) -> None:
    ask, said = WRONG[what]
    with pytest.raises(DivulgeError, match=said):
        ask()


def test_what_the_release_does_not_have_cannot_be_known_of_it() -> None:
    shops = PURCHASES.to_arrow().append_column("shop", pa.array(["north"] * 10))
    original = History(dv.Dataset.from_arrow(shops), "user", "date", "goods")
    with pytest.raises(InvalidInput, match='the release has no attribute "shop"'):
        events.attack(original, Attacker(["shop"]), release=HISTORY)


def test_a_history_of_which_returns_leave_nothing_is_refused() -> None:
    table = {"user": ["a", "a"], "date": ["2010-12-01"] * 2, "goods": ["x"] * 2, "number": [-1, 1]}
    with pytest.raises(InvalidInput, match="no record is left"):
        History(
            dv.Dataset.from_arrow(pa.table(table)),
            "user",
            "date",
            "goods",
            amount="number",
            returns="net",
        )


def test_more_points_or_items_than_anybody_has_are_all_that_there_are() -> None:
    few = events.unicity(HISTORY, ["item"], points=100, sample=300)
    many = events.unicity(HISTORY, ["item"], points=10**12, sample=300)
    assert few.deterministic == many.deterministic
    few = events.attack(HISTORY, Attacker(["4 items"]))
    many = events.attack(HISTORY, Attacker(["99999999999 items"]))
    assert few.probabilistic == many.probabilistic


def test_amounts_without_end_lie_in_a_band_of_their_own() -> None:
    table = {"user": ["a", "b"], "date": ["2010-12-01"] * 2, "goods": ["x"] * 2}
    table |= {"number": [np.inf, 1e300]}  # type: ignore[list-item]
    endless = dv.Dataset.from_arrow(pa.table(table))
    history = History(endless, "user", "date", "goods", amount="number")
    assert events.attack(history, Attacker(["amount by 10"])).deterministic.posterior == 0


def test_without_memory_for_all_pairs_users_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    assert events.unicity(HISTORY, ["item"], 2).claim == "exact"
    monkeypatch.setattr("divulge.events.known_points.points.available_memory", lambda: 0)
    assert events.unicity(HISTORY, ["item"], 2).claim == "estimate"
