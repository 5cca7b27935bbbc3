"""Amounts that tell nothing of their own are left out, and every allocation stays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reconstruction.strategies import instance_of, widened
from tests.reconstruction.test_covers import of_every

from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.propagation.redundant_amounts import drop_redundant_amounts
from divulge.reconstruction.solving.ladder import solve_instance

seeds = st.integers(0, 2**32 - 1)


def with_amounts_twice(random: np.random.Generator, one: Instance) -> Instance:
    """Some amounts once more, within intervals of their own; and one that limits next to nothing."""
    twice = random.integers(0, one.attributes, random.integers(0, 3))
    little = random.integers(0, 2, (one.packages, 1))
    shift = random.integers(-3, 4, (one.bins, len(twice)))
    none = np.zeros((1, one.packages + 1), np.int64)
    return replace(
        one,
        amounts=np.hstack([one.amounts, one.amounts[:, twice], little]),
        low=np.hstack([one.low, one.low[:, twice] + shift, np.zeros((one.bins, 1), np.int64)]),
        high=np.hstack(
            [one.high, one.high[:, twice] + shift, random.integers(1, 9, (one.bins, 1))]
        ),
        slack_by_count=np.vstack([one.slack_by_count, one.slack_by_count[twice], none]),
        extra_above=np.vstack([one.extra_above, one.extra_above[twice], none]),
    )


@settings(max_examples=200, deadline=None)
@given(seeds, st.integers(1, 6), st.integers(1, 4), st.integers(1, 3), st.booleans())
def test_every_allocation_stays_and_none_is_added(
    seed: int, packages: int, bins: int, attributes: int, widening: bool
) -> None:
    random = np.random.default_rng(seed)
    one, _ = instance_of(random, packages, bins, attributes)
    one = with_amounts_twice(random, widened(random, one) if widening else one)
    count, pairs = of_every(one)
    fewer, pairs_of_fewer = of_every(drop_redundant_amounts(one))
    assert fewer == count
    assert (pairs_of_fewer == pairs).all()
    found = solve_instance(one, 2)
    assert (found.count or 0) == count
    assert ((pairs > 0) == found.possible).all()


def test_weight_and_quantity_are_one_amount_if_goods_are_counted_in_kilograms() -> None:
    amounts = np.array([[7, 50, 50, 1], [9, 20, 20, 0], [4, 90, 90, 1]])
    low = np.array([[10, 60, 68, -5], [4, 80, 80, -5]])
    one = drop_redundant_amounts(Instance.from_intervals(amounts, low, low + 10))
    assert one.amounts.tolist() == [[7, 50], [9, 20], [4, 90]]
    assert one.low.tolist() == [[10, 68], [4, 80]]
    assert one.high.tolist() == [[20, 70], [14, 90]]


def test_the_same_amounts_stay_two_if_their_intervals_grow_otherwise() -> None:
    amounts = np.array([[5, 5], [4, 4]])
    low, high = np.array([[4, 4]]), np.array([[9, 9]])
    grows = np.array([[0, 1, 2], [0, 1, 1]])
    assert (
        drop_redundant_amounts(
            Instance.from_intervals(amounts, low, high, slack_by_count=grows)
        ).attributes
        == 2
    )
