"""Labels of a release: what they may stand for decides whom knowledge fits."""

from __future__ import annotations

from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from divulge.data import Dataset, Hierarchy
from divulge.events import Attacker, History, attack

# One group of a single good, one of two, and all of them.
LADDERS = {"a": ("A", "any"), "b": ("B", "any"), "c": ("B", "any")}
LEVELS = Hierarchy.from_levels([[good, *labels] for good, labels in LADDERS.items()])


def history(baskets: list[list[Any]], levels: Hierarchy = LEVELS, **more: Any) -> History:
    """One event for each user, on the same day."""
    users = [user for user, basket in enumerate(baskets) for _ in basket]
    goods = [good for basket in baskets for good in basket]
    columns = {"user": users, "day": ["2010-12-01"] * len(users), "goods": goods}
    data = Dataset.from_arrow(pa.table(columns).cast(_schema()))
    return History(data.describe(hierarchies={"goods": levels}), "user", "day", "goods", **more)


def _schema() -> pa.Schema:
    return pa.schema([("user", pa.int64()), ("day", pa.string()), ("goods", pa.string())])


def possible_kinds(shown: list[str]) -> set[int]:
    """How many kinds the shown goods may be, one possible basket after the other."""
    beneath = [[g for g in LADDERS if label == g or label in LADDERS[g]] for label in shown]
    return {len(set(basket)) for basket in product(*beneath)}


@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), min_size=1, max_size=3),
    st.data(),
)
def test_coarser_goods_are_as_many_kinds_as_there_are_goods_beneath(baskets, data) -> None:  # type: ignore[no-untyped-def]
    shown = [
        [data.draw(st.sampled_from([good, *LADDERS[good]])) for good in basket]
        for basket in baskets
    ]
    found = attack(history(baskets), Attacker("kinds"), release=history(shown, missing="maybe"))
    chances = []
    for basket in baskets:
        fits = sum(len(set(basket)) in possible_kinds(each) for each in shown)
        chances += [1 / fits] * len(basket)
    assert found.claim == "exact"
    assert found.probabilistic.posterior == pytest.approx(sum(chances) / len(chances))


def test_a_good_and_a_group_of_that_good_alone_may_be_one_kind() -> None:
    shown = history([["a", "A"]], missing="maybe")
    assert attack(history([["a", "a"]]), Attacker("kinds"), shown).probabilistic.posterior == 1


def test_a_label_of_two_levels_stands_for_all_beneath_the_higher() -> None:
    # Of uneven chains the shorter repeat their last step: "food" is bread at level 1.
    uneven = Hierarchy.from_pairs([("apple", "fruit"), ("fruit", "food"), ("bread", "food")])
    before = history([["apple"], ["bread"]], uneven)
    shown = history([["food"], ["food"]], uneven, missing="maybe")
    found = attack(before, Attacker("item"), release=shown)
    assert found.risk().tolist() == [0.5, 0.5]
    assert found.figures["misled"] == 0


def test_a_good_that_the_original_has_not_still_belongs_to_its_group() -> None:
    found = attack(history([["b"]]), Attacker("item at 1"), history([["c"]], missing="maybe"))
    assert found.probabilistic.posterior == 1


def test_kinds_beside_a_basket_by_groups_are_bounds_of_their_own() -> None:
    before = history([["a", "b"], ["b", "c", "b"]])
    shown = history([["a", "b"], ["b", "c", None]], missing="maybe")
    for knows, claim in (
        (["kinds", "all items at 1"], "estimate"),  # of two kinds, or of two groups, not both
        (["all items", "all items as multiset at 1"], "estimate"),
        (["kinds", "all items"], "exact"),
        (["kinds", "all items", "all items at 1"], "exact"),
        (["all items as multiset", "all items at 1"], "exact"),
    ):
        assert attack(before, Attacker(knows), release=shown).claim == claim
