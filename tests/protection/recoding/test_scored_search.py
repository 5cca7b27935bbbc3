"""Utilities that are no sum over cells: all combinations are measured, or the best found is."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.protection.recoding import plain
from tests.protection.recoding.test_optimal_levels import build_dataset, draw_case

from divulge import Dataset, Limit, protection
from divulge.protection import tuning
from divulge.work import InvalidInput


def score_plainly(utility: str, coarse: list[plain.Row], removed: set[int]) -> float:
    """Discernibility and class size by their definitions."""
    sizes = Counter(row for i, row in enumerate(coarse) if i not in removed)
    if utility == "discernibility":
        return sum(n * n for n in sizes.values()) + len(removed) * len(coarse)
    return len(coarse) / (len(sizes) + bool(removed))


def enumerate_scores(
    utility: str, seed: int, share: float
) -> tuple[Dataset, dict[tuple[int, ...], float]]:
    rows, secrets, ladders = draw_case(seed)
    scores = {}
    for levels in product(*(range(len(next(iter(ladder.values())))) for ladder in ladders)):
        coarse = [plain.coarsen(row, ladders, levels) for row in rows]
        removed = plain.remove_failing(coarse, secrets, [plain.k_test(2)])
        if len(removed) <= min(int(share * len(rows) + 1e-9), len(rows) - 1):
            scores[levels] = score_plainly(utility, coarse, removed)
    return build_dataset(rows, secrets, ladders), scores


def read_levels(p: protection.Protected) -> tuple[int, ...]:
    return tuple(p.levels.get(name, 0) for name in p.among)


@pytest.mark.parametrize("utility", ["discernibility", "class_size"])
@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.0, 0.2, 1.0]))
def test_the_best_classes_are_those_that_trying_all_finds(
    utility: str, seed: int, share: float
) -> None:
    dataset, scores = enumerate_scores(utility, seed, share)
    limits = [Limit("k_anonymity", at_least=2)]
    if not scores:
        with pytest.raises(protection.OutOfReachError):
            protection.recode(dataset, limits, share, utility=utility)
        return
    p = protection.recode(dataset, limits, share, utility=utility)
    assert p.proof is not None
    assert p.proved
    assert p.proof.checked + p.proof.excluded == p.proof.combinations
    assert scores[read_levels(p)] == pytest.approx(min(scores.values()))
    assert p.proof.score == pytest.approx(min(scores.values()))
    assert p.utility.to_dict()[utility] == pytest.approx(min(scores.values()))


@given(seed=st.integers(0, 10**6))
def test_a_function_of_ones_own_chooses_the_levels(seed: int) -> None:
    dataset, scores = enumerate_scores("class_size", seed, 0.3)
    seen = []

    def prefer_coarse_keys(original: Dataset, released: Dataset, kept: np.ndarray) -> float:
        assert released.rows == kept.size
        assert original.rows == dataset.rows
        classes = Counter(
            tuple(row[name] for name in row if name != "s")
            for row in released.to_arrow().to_pylist()
        )
        seen.append(len(classes))
        return float(len(classes))

    if not scores:
        return
    p = protection.recode(
        dataset, [Limit("k_anonymity", at_least=2)], 0.3, utility=prefer_coarse_keys
    )
    assert p.proof is not None
    assert p.proof.score == min(seen)
    assert len(seen) == len(scores)
    assert f"has a better utility; here it is {min(seen)} (" in str(p)


def test_a_larger_lattice_is_searched_from_good_levels_and_not_called_proved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tuning, "MOST_SCORED_LEVELS", 3)
    reached = 0
    for seed in range(30):
        dataset, scores = enumerate_scores("discernibility", seed, 0.3)
        if len(scores) < 4:
            continue
        limits = [Limit("k_anonymity", at_least=2)]
        p = protection.recode(dataset, limits, 0.3, utility="discernibility")
        assert p.proof is not None
        assert not p.proved
        assert p.proof.score == scores[read_levels(p)]
        assert "this has the best utility of those measured" in str(p)
        reached += p.proof.score == min(scores.values())
    assert reached > 0


def test_the_reason_of_a_level_does_not_speak_of_loss() -> None:
    ladders = [{v: (v, "top") for v in "ab"}, {v: (v, "all") for v in "xy"}]
    rows = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")] * 3
    dataset = build_dataset(rows, list("12" * 6), ladders)
    coarsest = lambda _, released, __: float(len(set(released.to_arrow()["q0"].to_pylist())))  # noqa: E731
    p = protection.recode(dataset, [Limit("k_anonymity", at_least=2)], 0.0, utility=coarsest)
    assert p.levels == {"q0": 1}
    assert "a limit does not hold, or the utility that was asked for is no better" in str(
        p.decisions[0]
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"utility": lambda *_: float("nan")}, "gave nan, which is no number"),
        ({"utility": lambda *_: "good"}, 'gave "good", which is no number'),
        ({"utility": "discernibilty"}, 'Did you mean "discernibility"'),
        ({"utility": "class_size", "search": "climb"}, "levels of whole columns"),
        ({"utility": lambda *_: 0.0, "local": True}, "levels of whole columns"),
    ],
)
def test_a_utility_that_cannot_be_searched_is_said(change: dict[str, Any], said: str) -> None:
    rows, secrets, ladders = draw_case(1)
    dataset = build_dataset(rows, secrets, ladders)
    with pytest.raises(InvalidInput, match=said):
        protection.recode(dataset, [Limit("k_anonymity", at_least=2)], 0.5, **change)
