"""Laws of attacks on histories, and the fast way held to the plain one."""

from __future__ import annotations

import datetime as dt
from math import isclose

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.events import plain
from tests.events.histories import history, records

from divulge.events import Attacker, Marginals, attack, estimate, ten_attackers, unicity
from divulge.events.history import ordering_kernels
from divulge.events.known_points import points_kernels
from divulge.events.known_points.points import Points
from divulge.events.matching import kernels
from divulge.events.matching.matching import KnowledgeMatching
from divulge.events.ten_attackers import TEN
from divulge.events.unicity import wilson_interval
from divulge.qif.kernels import compiled

WORDS = [
    "day", "week", "month", "quarter", "year", "item", "kinds", "kinds by 2", "records",
    "all items", "all items as multiset",
]  # fmt: skip
knowledge = st.lists(st.sampled_from(WORDS), unique=True, max_size=4)
weights = st.sampled_from(["record", "event", "user"])


@given(records, knowledge, weights)
@settings(max_examples=200)
def test_the_fast_attack_is_the_plain_one(rows, knows, weight) -> None:  # type: ignore[no-untyped-def]
    twin = plain.attack(rows, knows, weight)
    uniform = attack(history(rows), Attacker(knows, weight=weight))
    best = attack(history(rows), Attacker(knows, weight=weight, guess="best"))
    assert isclose(uniform.probabilistic.posterior, twin.uniform)
    assert isclose(best.probabilistic.posterior, twin.best)
    assert isclose(uniform.deterministic.posterior, twin.certain, abs_tol=1e-12)
    shares = KnowledgeMatching.from_attacker(
        history(rows), Attacker(knows, weight=weight)
    ).compute_shares()
    assert np.allclose(shares, (twin.uniform, twin.best, twin.certain))


@given(records, st.integers(2, 4), st.booleans(), weights)
def test_some_items_of_a_basket_fit_every_basket_that_holds_them(rows, size, day, weight) -> None:  # type: ignore[no-untyped-def]
    knows = [f"{size} items", *(["day"] if day else [])]
    found = attack(history(rows), Attacker(knows, weight=weight))
    twin = plain.attack_with_items(rows, size, day, weight)
    assert isclose(found.probabilistic.posterior, twin)


@given(records, knowledge, weights)
def test_risk_lies_between_one_in_n_and_one_and_above_occupied_cells(rows, knows, weight) -> None:  # type: ignore[no-untyped-def]
    h = history(rows)
    found = attack(h, Attacker(knows, weight=weight))
    risk = found.probabilistic.posterior
    assert 1 / h.users - 1e-12 <= risk <= 1 + 1e-12
    if weight != "user":
        assert risk >= found.figures["cells"] / found.secrets - 1e-12


@given(records, knowledge, st.sampled_from(WORDS), st.sampled_from(["record", "user"]))
def test_knowing_more_never_lowers_the_risk(rows, knows, more, weight) -> None:  # type: ignore[no-untyped-def]
    finer = knows if more in knows else [*knows, more]
    less = attack(history(rows), Attacker(knows, weight=weight))
    found = attack(history(rows), Attacker(finer, weight=weight))
    assert found.probabilistic.posterior >= less.probabilistic.posterior - 1e-12
    assert found.deterministic.posterior >= less.deterministic.posterior - 1e-12


@given(records, knowledge, weights, st.integers(2, 4))
def test_replication_under_fresh_users_divides_the_risk(rows, knows, weight, times) -> None:  # type: ignore[no-untyped-def]
    copies = [(user + 10 * copy, day, item) for copy in range(times) for user, day, item in rows]
    once = attack(history(rows), Attacker(knows, weight=weight)).probabilistic.posterior
    again = attack(history(copies), Attacker(knows, weight=weight)).probabilistic.posterior
    assert isclose(again, once / times)


@given(records, knowledge, weights)
def test_a_best_guess_is_at_least_as_good_as_any(rows, knows, weight) -> None:  # type: ignore[no-untyped-def]
    found = attack(history(rows), Attacker(knows, weight=weight))
    assert found.figures["best_guess"] >= found.probabilistic.posterior - 1e-12
    assert found.figures["best_guess"] >= found.figures["best_guess_before"] - 1e-12


@given(records, knowledge, weights, st.sampled_from(["uniform", "best"]))
def test_groups_and_users_and_records_add_up_to_the_whole(rows, knows, weight, guess) -> None:  # type: ignore[no-untyped-def]
    h = history(rows)
    found = attack(h, Attacker(knows, weight=weight, guess=guess))
    for group in ("goods", "user"):
        parts = found.by(group).values()
        assert isclose(sum(part.right.posterior for part in parts), found.right.posterior)
        assert isclose(
            sum(part.certain.posterior for part in parts), found.certain.posterior, abs_tol=1e-9
        )
    by_user = found.users()
    together = np.dot(by_user["weight"].to_numpy(), by_user["risk"].to_numpy())
    assert isclose(together, found.right.posterior)
    assert isclose(sum(found.distribution()["share"].to_pylist()), 1)
    if weight == "record":
        assert isclose(found.risk().mean(), found.probabilistic.posterior)


@given(records, records, st.lists(st.sampled_from(WORDS), unique=True, max_size=3))
def test_on_a_release_knowledge_is_the_originals_and_matches_are_the_releases(  # type: ignore[no-untyped-def]
    rows, release, knows
) -> None:
    assume({row[0] for row in rows} & {row[0] for row in release})
    found = attack(history(rows), Attacker(knows), release=history(release))
    twin = plain.released(rows, release, knows)
    assert isclose(found.probabilistic.posterior, twin.uniform, abs_tol=1e-12)
    assert isclose(found.deterministic.posterior, twin.certain, abs_tol=1e-12)


@given(records, knowledge, weights, st.sampled_from(["uniform", "best"]))
def test_a_release_that_changes_nothing_is_the_original(rows, knows, weight, guess) -> None:  # type: ignore[no-untyped-def]
    alone = attack(history(rows), Attacker(knows, weight=weight, guess=guess))
    found = attack(
        history(rows), Attacker(knows, weight=weight, guess=guess), release=history(rows)
    )
    assert isclose(found.probabilistic.posterior, alone.probabilistic.posterior)
    assert isclose(found.deterministic.posterior, alone.deterministic.posterior, abs_tol=1e-12)


@given(records, knowledge.filter(len), st.integers(1, 2))
def test_one_and_two_points_are_counted_exactly(rows, knows, points) -> None:  # type: ignore[no-untyped-def]
    found = unicity(history(rows), knows, points)
    alone, chance = plain.unicity(rows, knows, points)
    assert found.claim == "exact"
    assert isclose(found.deterministic.posterior, alone, abs_tol=1e-12)
    assert isclose(found.probabilistic.posterior, chance)


@given(records, st.integers(2, 5), st.integers(0, 1000))
def test_drawn_points_are_different_points_of_the_user(rows, points, seed) -> None:  # type: ignore[no-untyped-def]
    known = Points(history(rows), Attacker(["day", "item"], points=points, weight="user"))
    users = np.arange(known.history.users).repeat(5)
    drawn = known.draw_points(users, points, np.random.default_rng(seed))
    for user, chosen in zip(users, drawn, strict=True):
        own = set(known.points[known.user_starts[user] : known.user_starts[user + 1]].tolist())
        real = [point for point in chosen.tolist() if point >= 0]
        assert len(real) == len(set(real)) == min(points, len(own))
        assert set(real) <= own


@given(records, st.integers(3, 5))
def test_several_points_are_matched_as_by_brute_force(rows, points) -> None:  # type: ignore[no-untyped-def]
    known = Points(history(rows), Attacker(["day", "item"], points=points, weight="user"))
    users = np.arange(known.history.users).repeat(3)
    drawn = known.draw_points(users, points, np.random.default_rng(1))
    found = points_kernels.count_common_users(drawn, known.starts, known.users)
    having = [
        set(known.points[known.user_starts[user] : known.user_starts[user + 1]].tolist())
        for user in range(known.history.users)
    ]
    for chosen, count in zip(drawn.tolist(), found, strict=True):
        wanted = {point for point in chosen if point >= 0}
        assert count == sum(wanted <= own for own in having)


@given(records)
@settings(max_examples=15)
def test_a_sampled_share_comes_with_an_interval_that_holds_it(rows) -> None:  # type: ignore[no-untyped-def]
    found = unicity(history(rows), ["day", "item"], points=3, sample=2_000, confidence=0.9999)
    alone, _ = plain.unicity(rows, ["day", "item"], 3)
    low, high = found.figures.get("low", alone), found.figures.get("high", alone)
    assert low - 1e-9 <= alone <= high + 1e-9


@given(records, st.sampled_from(TEN), weights)
def test_estimates_stay_between_one_in_n_and_one(rows, knows, weight) -> None:  # type: ignore[no-untyped-def]
    h = history(rows)
    totals = Marginals.of(h)
    for method in ("baskets", "marginals"):
        found = estimate(totals, knows, weight, method)
        assert 1 / h.users <= found <= 1
        assert (found.claim, found.weight, found.method) == ("estimate", weight, method)


def test_the_papers_product_is_no_probability() -> None:
    rows = [
        (user, day, item)
        for user in (1, 2)
        for day in [dt.date(2020, 1, d) for d in (1, 2, 3)]
        for item in "abc"
    ]
    assert estimate(Marginals.of(history(rows)), ["day", "item"], method="product") <= 1
    once = [(n, dt.date(2020, 1, 1 + n), "abcdef"[n]) for n in range(6)]
    assert estimate(Marginals.of(history(once)), ["day", "item"], method="product") == 6.0


@given(records)
@settings(max_examples=20)
def test_ranks_are_those_of_the_exact_values(rows) -> None:  # type: ignore[no-untyped-def]
    found = ten_attackers(history(rows))
    assert sorted(found.ranks) == list(range(1, 11))
    for one in range(10):
        for other in range(10):
            if found.exact[one] > found.exact[other] + 1e-9:
                assert found.ranks[one] < found.ranks[other]


def _kernel_cases() -> dict[object, tuple[object, ...]]:
    random = np.random.default_rng(5)
    event = np.sort(random.integers(0, 30, 300)).astype(np.int32)
    starts_of_events = np.searchsorted(event, np.arange(31))
    item = random.integers(0, 6, 300)
    item = item[np.lexsort((item, event))]
    user_of_event = np.sort(random.integers(0, 7, 30)).astype(np.int32)
    keys = np.sort((item.astype(np.uint64) << np.uint64(5)) | event.astype(np.uint64))
    in_order = np.sort((event.astype(np.uint64) << np.uint64(3)) | item.astype(np.uint64))
    starts = np.arange(0, 61, 6)
    posting = np.tile(np.arange(6), 10)
    cells = random.integers(0, 4, 30).astype(np.uint64) << np.uint64(32)
    cell_and_user = cells | user_of_event.astype(np.uint64)
    by_item = ordering_kernels.list_events_by_item(starts_of_events, item, 6)
    codes = random.integers(0, 5, (3, 300)).astype(np.uint16)
    hashes = random.integers(0, 2**63, (6, 2)).astype(np.uint64)
    return {
        ordering_kernels.pack_keys: (*codes, np.arange(5, dtype=np.uint64), 3, 3),
        ordering_kernels.unpack_keys: (in_order, 2, 3, np.zeros(300, np.uint16)),
        ordering_kernels.hash_baskets: (starts_of_events, item, hashes, False),
        ordering_kernels.list_events_by_item: (starts_of_events, item, 6),
        ordering_kernels.count_events_by_item: by_item,
        kernels.tally_knowledge: (keys, 5, user_of_event, random.random(30), True, 7, True),
        kernels.sum_knowledge: (keys, 5, user_of_event, random.random(30), True),
        kernels.sum_by_item: (*by_item, cell_and_user, 4, random.random(30), True, True),
        kernels.tally_subsets: (keys, random.random(300), keys, 5, 32),
        kernels.enumerate_subsets: (starts, np.ones(60, np.int64), np.arange(10), 3),
        points_kernels.transpose_postings: (starts, posting, 6),
        points_kernels.count_common_users: (
            random.integers(-1, 3, (20, 3)) + np.array([1, 0, 0]),
            starts,
            posting,
        ),
        points_kernels.list_shared_pairs: (starts, posting, np.full(6, 10)),
    }


@pytest.mark.parametrize("kernel", _kernel_cases(), ids=lambda kernel: kernel.__name__)
def test_compiled_kernels_give_what_plain_ones_give(kernel) -> None:  # type: ignore[no-untyped-def]
    with np.errstate(over="ignore"):
        slow = kernel(*_kernel_cases()[kernel])
    fast = compiled(kernel)(*_kernel_cases()[kernel])
    for one, other in zip(_arrays(slow), _arrays(fast), strict=True):
        assert np.allclose(one, other)


def _arrays(found: object) -> list[np.ndarray]:
    return list(found) if isinstance(found, tuple) else [found]  # type: ignore[list-item]


def test_wilsons_interval_never_leaves_zero_to_one() -> None:
    assert 0 <= wilson_interval(0.0, 10, 0.95)[0] < 1e-9
    assert 1 - 1e-9 < wilson_interval(1.0, 10, 0.95)[1] <= 1
