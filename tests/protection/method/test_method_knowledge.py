"""Somebody who knows the method: what they exclude, what they guess, and that it is told."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import divulge as dv
from divulge import protection
from divulge.protection.changes.changes import hide_cells
from divulge.protection.method.attack import exclude_by_method
from divulge.protection.method.outcomes import MethodFigures

from . import plain

KEYS = ["a", "b", "c"]


def make_people(seed: int, rows: int = 60) -> dv.Dataset:
    random = np.random.default_rng(seed)
    columns = {
        "a": random.choice(4, rows, p=[0.5, 0.3, 0.15, 0.05]),
        "b": random.integers(0, 3, rows),
        "c": random.choice(["x", "y", "z"], rows, p=[0.7, 0.2, 0.1]),
    }
    return dv.Dataset.from_arrow(pa.table(columns), roles={"quasi_identifier": KEYS})


def read_rows(released: dv.Dataset, original: dv.Dataset) -> plain.Rows:
    """The rows of a release; a cell that the original shows is hidden."""
    before, after = original.to_arrow().to_pylist(), released.to_arrow().to_pylist()
    return [
        tuple(plain.HIDDEN if new[n] is None and old[n] is not None else new[n] for n in KEYS)
        for old, new in zip(before, after, strict=True)
    ]


def attack_plainly(
    released: dv.Dataset, original: dv.Dataset, k: int, decoy_share: float
) -> dict[str, float]:
    """The figures of all attributes together, by plain loops."""
    rows = read_rows(released, original)
    truth = [tuple(row[n] for n in KEYS) for row in original.to_arrow().to_pylist()]
    total: dict[str, float] = dict.fromkeys(
        ["hidden", "narrowed", "misled", "certain", "base", "excluding", "weighing"], 0
    )
    total["excluded"] = 0.0
    for j in range(len(KEYS)):
        hidden = [r for r, row in enumerate(rows) if row[j] == plain.HIDDEN]
        domain = {row[j] for row in truth if row[j] is not None}
        right: dict[str, list[int]] = {"base": [], "excluding": [], "weighing": []}
        narrowed = sum(bool(plain.list_excluded(rows, r, j, k)) for r in hidden)
        share = min(1.0, decoy_share * len(hidden) / max(1, narrowed))
        sizes = {i: len({row[i] for row in truth} - {None}) for i in range(3) if i != j}
        for model in (sizes, {}):
            counts = dict.fromkeys(right, 0)
            for r in hidden:
                out = plain.list_excluded(rows, r, j, k)
                chances = plain.score_values(rows, r, j, model)
                sure = plain.weigh_values(chances, out, 0.0)
                for kind, weights in (
                    ("base", chances),
                    ("excluding", sure),
                    ("weighing", plain.weigh_values(chances, out, share)),
                ):
                    if chances:
                        best = max(weights.values())
                        near = [v for v, w in weights.items() if w == pytest.approx(best)]
                        if len(near) > 1:
                            pytest.skip("two guesses are as good: which comes first is no law")
                        counts[kind] += near[0] == truth[r][j]
                if model:
                    total["narrowed"] += bool(out)
                    total["misled"] += truth[r][j] in out
                    total["certain"] += bool(out) and domain - out == {truth[r][j]}
                    total["excluded"] += sum(chances.get(value, 0.0) for value in out)
            for kind, count in counts.items():
                right[kind].append(count)
        total["hidden"] += len(hidden)
        for kind, tries in right.items():
            total[kind] += max(tries)
    return total


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("decoys", [0.0, 0.5])
def test_exclusions_and_guesses_are_those_of_plain_loops(seed: int, decoys: float) -> None:
    people = make_people(seed)
    released = protection.suppress(people, k=3, decoys=decoys).dataset
    found = exclude_by_method(released, people, KEYS, 3, decoys)
    assert found is not None
    expected = attack_plainly(released, people, 3, decoys / (1 + decoys))
    for name, figure in expected.items():
        assert getattr(found.figures, name) == pytest.approx(figure), name


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(0, 25))
def test_any_hidden_cells_give_the_same_exclusions_as_plain_loops(
    seed: int, k: int, hidden: int
) -> None:
    people = make_people(seed, 30)
    random = np.random.default_rng(seed)
    cells: dict[str, Any] = {
        name: np.unique(random.integers(0, 30, hidden)) for name in KEYS if hidden
    }
    released = hide_cells(people, cells)
    found = exclude_by_method(released, people, KEYS, k)
    rows = read_rows(released, people)
    if found is None:
        assert not hidden
        return
    for j, name in enumerate(KEYS):
        narrowed = [
            bool(plain.list_excluded(rows, r, j, k))
            for r in np.flatnonzero([row[j] == plain.HIDDEN for row in rows]).tolist()
        ]
        assert found.cells[name].narrowed.tolist() == narrowed


def test_on_small_data_every_original_is_protected_again() -> None:
    p = protection.suppress(dv.datasets.local_suppression_example(), k=2, nulls="maybe")
    assert p.method is not None
    exact = protection.audit(p)
    assert (p.method.claim, exact.claim) == ("exact", "exact")
    assert p.method.figures.narrowed == len(exact.excluded)
    assert p.method.figures.misled == 0  # the truth gives the release that there is
    assert p.method.assessment().claim == "exact"


@pytest.mark.parametrize("rows", [60, 400])
def test_the_truth_is_excluded_only_where_others_joined_as_company(rows: int) -> None:
    """Whoever is at risk hides no needless cell; others hide one where those at risk are too few.

    Then no more than k hide the same, so that an adversary is sure of what they exclude elsewhere.
    """
    misled = 0
    for seed in range(6):
        people = make_people(seed, rows)
        p = protection.suppress(people, k=3)
        assert p.method is not None
        alike = Counter(released := read_rows(p.dataset, people))
        for cells in p.method.cells.values():
            assert cells.is_misled is not None
            for row in cells.rows[cells.is_misled].tolist():
                assert alike[released[row]] <= 3
                misled += 1
        figures = p.method.figures
        assert figures.excluding <= figures.hidden - (figures.misled or 0)
        assert figures.right >= max(figures.base, figures.excluding)
    assert misled


def test_without_the_original_what_is_right_is_expected() -> None:
    people = make_people(3, 400)
    released = protection.suppress(people, k=3).dataset
    found = exclude_by_method(released, None, KEYS, 3)
    told = exclude_by_method(released, people, KEYS, 3)
    assert found is not None
    assert told is not None
    assert found.figures.misled is None
    assert found.figures.narrowed == told.figures.narrowed
    assert 0 < found.figures.base <= found.figures.excluding <= found.figures.hidden
    assert "expected" in str(found)


def test_a_reader_sees_k_in_the_release() -> None:
    people = make_people(5, 600)
    released = protection.suppress(people, k=4).dataset
    found, told = (exclude_by_method(released, people, KEYS, k) for k in (None, 4))
    assert found is not None
    assert told is not None
    assert found.k >= 4
    assert found.figures.narrowed == told.figures.narrowed


def test_the_figures_are_told_with_the_protection_and_hold_no_value() -> None:
    p = protection.suppress(make_people(1, 300), k=3)
    assert p.method is not None
    told = p.to_dict()["method"]
    assert told["hidden"] == p.suppressed_cells
    assert told["claim"] == "bound"
    assert set(told["attributes"]) <= set(KEYS)
    assert any("knows the method" in sentence for sentence in p.explain())
    assert any("may know more" in sentence for sentence in p.explain())


def test_nothing_hidden_tells_nothing() -> None:
    people = dv.Dataset.from_arrow(
        pa.table({"a": [1, 1, 1], "b": [2, 2, 2]}), roles={"quasi_identifier": ["a", "b"]}
    )
    p = protection.suppress(people, k=3)
    assert p.method is None
    assert p.to_dict()["method"] is None


def test_who_bears_it_adds_up() -> None:
    p = protection.suppress(make_people(2, 300), k=3)
    assert p.method is not None
    whole, parts = p.method.assessment(), p.method.by("b").assessments.values()
    assert sum(part.secrets for part in parts) <= whole.secrets
    hidden = p.method.figures.hidden
    shown = hidden - p.method.by_attribute().get("b", _NOTHING).hidden
    assert sum(part.secrets for part in parts) >= shown * 0.5
    assert p.method.risk().shape == (300,)
    assert set(np.unique(p.method.risk()).tolist()) <= {0.0, 1.0}


_NOTHING = MethodFigures(
    hidden=0, narrowed=0, excluded=0, certain=0, misled=0, base=0, excluding=0, weighing=0, right=0
)


def test_what_counts_exclude_replays_exclude_too_where_nobody_joined_as_company() -> None:
    """The truth is never excluded by replays, and by counts only where k and no more hide alike."""
    cells = exact_pairs = counted_pairs = 0
    for seed in range(6):
        random = np.random.default_rng(seed)
        table = pa.table({name: random.integers(0, 2, 22) for name in KEYS})
        people = dv.Dataset.from_arrow(table, roles={"quasi_identifier": KEYS})
        p = protection.suppress(people, k=2)
        if not 0 < p.suppressed_cells <= 4:
            continue
        exact = protection.audit(p, candidates=16)
        assert exact.claim == "exact"
        rows = read_rows(p.dataset, people)
        alike = Counter(rows)
        for (record, name), possible in exact.possible.items():
            truth = table[name][record].as_py()
            assert truth in possible
            counted = plain.list_excluded(rows, record, KEYS.index(name), 2)
            cells, exact_pairs = (
                cells + 1,
                exact_pairs + len(exact.excluded.get((record, name), ())),
            )
            counted_pairs += len(counted)
            if counted & possible:
                assert alike[rows[record]] <= 2
        assert p.method is not None
        assert p.method.claim == "exact"
        assert p.method.figures.misled == 0
        assert p.method.figures.narrowed == len(exact.excluded)
    assert cells >= 4
    assert exact_pairs > 0
    assert counted_pairs > 0
