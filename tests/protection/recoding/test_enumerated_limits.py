"""Limits and utilities of every kind: the best levels are those that trying all of them finds.

Beside what `test_optimal_levels` tries: limits on different attributes, distances with an order or
a tree, lists and weights of a population, averages, adversaries, and utilities under limits that
do not exclude finer levels.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.protection.recoding import plain
from tests.protection.recoding.test_optimal_levels import draw_case

from divulge import Dataset, Hierarchy, Limit, protection
from divulge.protection import tuning
from divulge.work import InvalidInput

Figure = Callable[[list[plain.Row]], bool]
"""From the coarse rows that are left: whether a figure of all of them holds."""

SECRET_TREE = {"x": ("x", "u", "all"), "y": ("y", "u", "all"), "z": ("z", "v", "all")}


def classes_of(view: list[tuple[plain.Row, str]]) -> dict[plain.Row, list[int]]:
    classes: dict[plain.Row, list[int]] = {}
    for place, (row, _) in enumerate(view):
        classes.setdefault(row, []).append(place)
    return classes


def fail_distances(
    view: list[tuple[plain.Row, str]], distance: Callable[[Counter[str], Counter[str]], float],
    most: float,
) -> set[int]:  # fmt: skip
    overall = Counter(secret for _, secret in view)
    return {
        place
        for members in classes_of(view).values()
        if distance(Counter(view[m][1] for m in members), overall) > most + 1e-9
        for place in members
    }


def share(counts: Counter[str], values: Sequence[str]) -> float:
    return sum(counts[value] for value in values) / sum(counts.values())


def ordered_distance(inside: Counter[str], overall: Counter[str]) -> float:
    values = sorted(overall)
    if len(values) < 2:
        return 0.0
    gaps = [
        abs(share(inside, values[: place + 1]) - share(overall, values[: place + 1]))
        for place in range(len(values) - 1)
    ]
    return sum(gaps) / (len(values) - 1)


def tree_distance(inside: Counter[str], overall: Counter[str]) -> float:
    """Half a step for what moves below u, a whole one for what moves from u to v."""
    gap = {value: share(inside, [value]) - share(overall, [value]) for value in "xyz"}
    below = min(max(gap["x"], 0) + max(gap["y"], 0), max(-gap["x"], 0) + max(-gap["y"], 0))
    return 0.5 * below + abs(gap["z"])


def log_distance(inside: Counter[str], overall: Counter[str]) -> float:
    if len(inside) < len(overall):
        return math.inf
    return max(abs(math.log(share(inside, [v]) / share(overall, [v]))) for v in overall)


def fail_part(places: int, k: int) -> plain.Test:
    """k records alike on the first attributes."""
    return lambda view: plain.k_test(k)([(row[:places], secret) for row, secret in view])


CLASS_LIMITS: dict[str, tuple[list[Limit], list[plain.Test]]] = {
    "two sets of attributes": (
        [
            Limit("k_anonymity", at_least=2),
            Limit("k_anonymity", at_least=4, among=["q0"]),
        ],
        [plain.k_test(2), fail_part(1, 4)],
    ),
    "diversity of some attributes": (
        [
            Limit("k_anonymity", at_least=2),
            Limit("distinct_l_diversity", at_least=3, attribute="s", among=["q0"]),
        ],
        [
            plain.k_test(2),
            lambda view: plain.distinct_test(3)([(row[:1], secret) for row, secret in view]),
        ],
    ),
    "ordered": (
        [Limit("t_closeness", at_most=0.25, attribute="s", distance="ordered", order=list("xyz"))],
        [lambda view: fail_distances(view, ordered_distance, 0.25)],
    ),
    "hierarchical": (
        [Limit("t_closeness", at_most=0.3, attribute="s", distance="hierarchical")],
        [lambda view: fail_distances(view, tree_distance, 0.3)],
    ),
    "disclosure": (
        [Limit("delta_disclosure", at_most=1.0, attribute="s")],
        [lambda view: fail_distances(view, log_distance, 1.0)],
    ),
    "journalist": ([Limit("journalist_risk", at_most=0.34)], [plain.k_test(3)]),
    "unique sets": (
        [Limit("minimal_unique_size", at_least=4, max_size=3)],
        [lambda view: find_uniques(view, 3)],
    ),
}


def find_uniques(view: list[tuple[plain.Row, str]], most: int) -> set[int]:
    """Who is alone on some set of at most so many attributes."""
    from itertools import combinations

    alone: set[int] = set()
    width = len(view[0][0]) if view else 0
    for size in range(1, most + 1):
        for chosen in combinations(range(width), size):
            keys = [tuple(row[a] for a in chosen) for row, _ in view]
            counts = Counter(keys)
            alone |= {place for place, key in enumerate(keys) if counts[key] == 1}
    return alone


def build_case(
    rows: Sequence[plain.Row], secrets: Sequence[str], ladders: Sequence[dict[str, Any]]
) -> Dataset:
    names = [f"q{a}" for a in range(len(ladders))]
    columns = dict(zip(names, (list(column) for column in zip(*rows, strict=True)), strict=True))
    trees = {
        name: Hierarchy.from_levels([list(ladder[leaf]) for leaf in ladder])
        for name, ladder in zip(names, ladders, strict=True)
        if len(next(iter(ladder.values()))) > 1
    }
    trees["s"] = Hierarchy.from_levels([list(ladder) for ladder in SECRET_TREE.values()])
    return Dataset.from_arrow(
        pa.table({**columns, "s": list(secrets)}),
        roles={"quasi_identifier": names, "sensitive": ["s"]},
        hierarchies=trees,
    )


def enumerate_all(
    case: tuple[list[plain.Row], list[str], list[dict[str, tuple[str, ...]]]],
    tests: list[plain.Test],
    removable: float,
    *,
    utility: str = "loss",
    holds: Figure = lambda _: True,
) -> plain.Best | None:
    """The least loss of all combinations that meet the tests, and figures of the whole."""
    from itertools import product

    rows, secrets, ladders = case
    best: plain.Best | None = None
    for levels in product(*(range(len(next(iter(ladder.values())))) for ladder in ladders)):
        coarse = [plain.coarsen(row, ladders, levels) for row in rows]
        removed = plain.remove_failing(coarse, secrets, tests)
        left = [row for place, row in enumerate(coarse) if place not in removed]
        if len(removed) > int(removable * len(rows) + 1e-9) or not left or not holds(left):
            continue
        loss = plain.measure_loss(
            rows, ladders, levels, removed, utility=utility, weights=[1.0] * len(ladders)
        )
        if best is None or loss < best.loss - 1e-9:
            best = plain.Best(loss, {levels})
        elif loss < best.loss + 1e-9:
            best.levels.add(levels)
    return best


def compare(
    seed: int, removable: float, limits: list[Limit], tests: list[plain.Test], *,
    utility: Any = "loss", is_of_classes: bool = True, holds: Figure = lambda _: True,
) -> None:  # fmt: skip
    case = draw_case(seed)
    rows, secrets, ladders = case
    if any(limit.measure == "k_anonymity" and limit.bound > len(rows) for limit in limits):
        return
    best = enumerate_all(case, tests, removable, utility=utility, holds=holds)
    try:
        p = protection.recode(build_case(*case), limits, removable, utility=utility)
    except protection.OutOfReachError:
        assert best is None
        return
    except InvalidInput:  # fewer values than a limit asks for
        assert best is None or len(set(secrets)) < 3
        return
    assert best is not None
    assert p.proof is not None
    assert p.proved is is_of_classes
    if p.proved:
        proof = p.proof
        assert proof.checked + proof.excluded + proof.bounded == proof.combinations
    assert tuple(p.levels.get(f"q{a}", 0) for a in range(len(ladders))) in best.levels
    assert all(outcome.held for outcome in p.outcomes)
    kept = sorted(set(range(len(rows))) - set(p.decisions.removed_records.tolist()))
    table = p.dataset.to_arrow().to_pydict()
    shown = list(zip(*(table[f"q{a}"] for a in range(len(ladders))), strict=True))
    assert not set().union(*(t(list(zip(shown, table["s"], strict=True))) for t in tests), set())
    assert holds(shown)
    assert len(rows) - len(kept) <= int(removable * len(rows) + 1e-9)


@pytest.mark.parametrize("which", sorted(CLASS_LIMITS))
@given(seed=st.integers(0, 10**6), removable=st.sampled_from([0.0, 0.1, 0.3, 1.0]))
def test_the_best_levels_under_every_limit_on_classes_are_found_and_proved(
    which: str, seed: int, removable: float
) -> None:
    limits, tests = CLASS_LIMITS[which]
    compare(seed, removable, limits, tests)


@pytest.mark.parametrize("utility", ["granularity", "precision", "entropy"])
@pytest.mark.parametrize("which", ["entropy", "closeness", "two sets of attributes"])
@given(seed=st.integers(0, 10**6), removable=st.sampled_from([0.0, 0.3, 1.0]))
def test_every_utility_is_searched_to_the_end_under_limits_that_do_not_prune(
    which: str, utility: str, seed: int, removable: float
) -> None:
    limits, tests = {
        "entropy": (
            [Limit("entropy_l_diversity", at_least=1.6, attribute="s")],
            [plain.entropy_test(1.6)],
        ),
        "closeness": (
            [Limit("t_closeness", at_most=0.35, attribute="s")],
            [plain.closeness_test(0.35)],
        ),
        **CLASS_LIMITS,
    }[which]
    compare(seed, removable, limits, tests, utility=utility)


def is_average_below(most: float) -> Figure:
    """Of everybody found again by a best guess: one of each class."""
    return lambda left: len(set(left)) / len(left) <= most + 1e-9


FIGURES: dict[str, tuple[Limit, Figure]] = {
    "average risk": (Limit("marketer_risk", at_most=0.4), is_average_below(0.4)),
    "adversary who guesses": (Limit("probabilistic.posterior", at_most=0.4), is_average_below(0.4)),
    "adversary who is sure": (
        Limit("deterministic.posterior", at_most=0.1),
        lambda left: sum(n == 1 for n in Counter(left).values()) / len(left) <= 0.1 + 1e-9,
    ),
}


@pytest.mark.parametrize("which", sorted(FIGURES))
@given(seed=st.integers(0, 10**6), removable=st.sampled_from([0.0, 0.2]))
def test_levels_for_a_figure_of_the_whole_are_the_best_and_not_called_proved(
    which: str, seed: int, removable: float
) -> None:
    limit, holds = FIGURES[which]
    compare(
        seed, removable, [Limit("k_anonymity", at_least=2), limit], [plain.k_test(2)],
        is_of_classes=False, holds=holds,
    )  # fmt: skip


@pytest.mark.parametrize("which", ["ordered", "disclosure", "two sets of attributes"])
def test_no_levels_of_a_large_lattice_lose_less_than_the_bound(
    which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "MOST_LEVEL_COMBINATIONS", 0)
    limits, tests = CLASS_LIMITS[which]
    reached = 0
    for seed in range(40):
        case = draw_case(seed)
        best = enumerate_all(case, tests, 0.3)
        try:
            p = protection.recode(build_case(*case), limits, 0.3, seconds=0.05)
        except (protection.OutOfReachError, InvalidInput):
            continue
        assert best is not None
        assert p.proof is not None
        assert p.proof.lower_bound <= best.loss + 1e-9
        assert p.loss >= best.loss - 1e-9
        if p.proved:
            assert p.loss == pytest.approx(best.loss)
            reached += 1
    assert reached > 0
