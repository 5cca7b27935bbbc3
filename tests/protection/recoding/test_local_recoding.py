"""Local recoding: every limit holds, never worse than the same levels for all, nothing by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.protection.recoding import plain, plain_local
from tests.protection.recoding.test_optimal_levels import build_dataset, draw_case

from divulge import Dataset, Hierarchy
from divulge.protection import tuning
from divulge.protection.changes.decision_log import DecisionLog
from divulge.protection.recoding.class_tests import (
    ClassTest,
    DistinctTest,
    SizeTest,
    ValueSharesTest,
)
from divulge.protection.recoding.evaluation import LevelEvaluator
from divulge.protection.recoding.lattice import GeneralisationLattice, build_lattice
from divulge.protection.recoding.lattice_search.branch_and_bound import find_optimal_levels
from divulge.protection.recoding.local.clusters import find_clusters
from divulge.protection.recoding.local.local_outcome import REMOVED, LocalOutcome, choose_better
from divulge.protection.recoding.local.local_release import build_local_release
from divulge.protection.recoding.local.neighbours import bound_local_loss
from divulge.protection.recoding.local.nested import find_nested_levels
from divulge.work import Effort
from divulge.work.arrays import Bools, Ints

METHODS = {"nested": find_nested_levels, "clusters": find_clusters}

seeds = st.integers(0, 10**6)


def add_top(ladders: list[dict[str, tuple[str, ...]]]) -> list[dict[str, tuple[str, ...]]]:
    """The same hierarchies with a single top each."""
    return [{leaf: (*ladder[leaf], "*") for leaf in ladder} for ladder in ladders]


def list_levels(lattice: GeneralisationLattice, outcome: LocalOutcome) -> list[tuple[int, ...]]:
    """By record, its levels."""
    return [tuple(map(int, outcome.levels[:, u])) for u in lattice.unit_of_record]


def list_classes(lattice: GeneralisationLattice, outcome: LocalOutcome) -> set[frozenset[int]]:
    """The classes as sets of records."""
    classes: dict[int, set[int]] = {}
    for record, unit in enumerate(lattice.unit_of_record):
        classes.setdefault(int(outcome.class_of_unit[unit]), set()).add(record)
    return {frozenset(members) for members in classes.values()}


def read_values(dataset: Dataset, lattice: GeneralisationLattice) -> tuple[Ints, int]:
    """The sensitive value of each unit, and how many there are."""
    column = dataset.columns["s"]
    first = np.zeros(lattice.units, np.int64)
    first[lattice.unit_of_record[::-1]] = np.arange(dataset.rows - 1, -1, -1)
    return column.codes[first].astype(np.int64), len(column.values) + 1


def build_tests(
    which: str, dataset: Dataset, lattice: GeneralisationLattice
) -> tuple[list[ClassTest], list[plain.Test]]:
    """Limits as tests of units, and the same in plain Python."""
    names = lattice.names
    values, value_count = read_values(dataset, lattice)

    def is_entropic(of_class: Ints, code: Ints, count: Ints, classes: int) -> Bools:
        size = np.bincount(of_class, count, classes)
        share = count / size[of_class]
        entropy = np.bincount(of_class, -share * np.log(share), classes)
        return np.asarray(np.exp(entropy) < 1.6 * (1 - 1e-9))

    def is_far(of_class: Ints, code: Ints, count: Ints, classes: int) -> Bools:
        overall = np.bincount(code, count, value_count) / count.sum()
        table = np.zeros((classes, value_count))
        np.add.at(table, (of_class, code), count)
        table /= table.sum(axis=1, keepdims=True)
        distance = 0.5 * np.abs(table - overall).sum(axis=1)
        return np.asarray(distance > 0.35 * (1 + 1e-9) + 1e-12)

    if which == "k":
        return [SizeTest(names, 3)], [plain.k_test(3)]
    if which == "distinct":
        return (
            [
                SizeTest(names, 2),
                DistinctTest(among=names, least=2, values=values, value_count=value_count),
            ],
            [plain.k_test(2), plain.distinct_test(2)],
        )
    if which == "entropy":
        return [
            ValueSharesTest(
                among=names, values=values, value_count=value_count, is_failing=is_entropic
            )
        ], [plain.entropy_test(1.6)]
    return (
        [
            SizeTest(names, 2),
            ValueSharesTest(among=names, values=values, value_count=value_count, is_failing=is_far),
        ],
        [plain.k_test(2), plain.closeness_test(0.35)],
    )


LIMITS = ["k", "distinct", "entropy", "closeness"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("which", LIMITS)
@given(seed=seeds)
def test_every_limit_holds_for_whoever_is_not_removed(method: str, which: str, seed: int) -> None:
    rows, secrets, ladders = draw_case(seed)
    if seed % 2:
        ladders = add_top(ladders)
    dataset = build_dataset(rows, secrets, ladders)
    names = [f"q{a}" for a in range(len(ladders))]
    lattice = build_lattice(dataset, names, apart=() if which == "k" else ["s"])
    tests, plain_tests = build_tests(which, dataset, lattice)
    outcome = METHODS[method](lattice, tests, seed=seed)
    levels = list_levels(lattice, outcome)
    kept = [i for i, u in enumerate(lattice.unit_of_record) if outcome.class_of_unit[u] != REMOVED]
    failing = plain_local.find_failing(
        [rows[i] for i in kept], [secrets[i] for i in kept], ladders,
        [levels[i] for i in kept], plain_tests,
    )  # fmt: skip
    assert not failing
    assert outcome.removed_records == len(rows) - len(kept)
    if all(len({ladder[leaf][-1] for leaf in ladder}) == 1 for ladder in ladders):
        # With single tops, nobody is removed unless all records together fail.
        together: list[tuple[plain.Row, str]] = [(("*",), secret) for secret in secrets]
        fails = any(test(together) for test in plain_tests)
        assert len(kept) == (0 if fails else len(rows))
    if len(kept) == len(rows):
        assert outcome.loss == pytest.approx(plain_local.measure_local_loss(rows, ladders, levels))


@given(seed=seeds)
def test_nested_classes_are_those_of_plain_splits(seed: int) -> None:
    rows, secrets, ladders = draw_case(seed)
    lattice = build_lattice(
        build_dataset(rows, secrets, ladders), [f"q{a}" for a in range(len(ladders))]
    )
    outcome = find_nested_levels(lattice, [SizeTest(lattice.names, 2)], seed=seed)
    ranks = np.random.default_rng(seed).permutation(len(ladders)).tolist()
    try:
        levels, out_of_reach = plain_local.split_nested(
            rows, ladders, 2, lambda tied: min(tied, key=ranks.__getitem__)
        )
    except plain_local.TiedChildrenError:
        assume(False)
    assert list_levels(lattice, outcome) == levels
    removed = outcome.class_of_unit[lattice.unit_of_record] == REMOVED
    assert set(np.flatnonzero(removed).tolist()) == out_of_reach


class AnySizeTest:
    """The same limit as k-anonymity, of which nobody knows that only sizes count."""

    def __init__(self, among: tuple[str, ...], least: int) -> None:
        self.among, self.least, self.prunes = among, least, True

    def find_failing(self, class_of_unit: Ints, classes: int, counts: Ints) -> Bools:
        sizes = np.bincount(class_of_unit, counts, classes)
        return np.asarray((sizes > 0) & (sizes < self.least))


@given(seed=seeds, least=st.integers(2, 4))
def test_sizes_are_split_quickly_as_any_limit_is_split(seed: int, least: int) -> None:
    rows, secrets, ladders = draw_case(seed)
    names = [f"q{a}" for a in range(len(ladders))]
    lattice = build_lattice(build_dataset(rows, secrets, ladders), names, apart=["s"])
    quick = find_nested_levels(lattice, [SizeTest(lattice.names, least)], seed=seed)
    slow = find_nested_levels(lattice, [AnySizeTest(lattice.names, least)], seed=seed)
    assert np.array_equal(quick.levels, slow.levels)
    assert np.array_equal(quick.class_of_unit, slow.class_of_unit)


@given(seed=seeds)
def test_nested_classes_are_boxes_and_all_different(seed: int) -> None:
    """All records of a class have the same ancestors, and no two classes show the same."""
    rows, secrets, ladders = draw_case(seed)
    ladders = add_top(ladders)
    assume(len(rows) >= 3)
    names = [f"q{a}" for a in range(len(ladders))]
    lattice = build_lattice(build_dataset(rows, secrets, ladders), names)
    outcome = find_nested_levels(lattice, [SizeTest(lattice.names, 3)], seed=seed)
    levels = list_levels(lattice, outcome)
    shown = [plain_local.show(row, ladders, own) for row, own in zip(rows, levels, strict=True)]
    by_class: dict[int, set[object]] = {}
    for record, unit in enumerate(lattice.unit_of_record):
        by_class.setdefault(int(outcome.class_of_unit[unit]), set()).add(shown[record])
    assert all(len(tuples) == 1 for tuples in by_class.values())
    assert len(set(shown)) == len(by_class) == outcome.classes


@pytest.mark.parametrize("method", METHODS)
@given(seed=seeds, utility=st.sampled_from(["loss", "granularity", "precision", "entropy"]))
def test_local_levels_are_never_worse_than_the_best_for_all(
    method: str, seed: int, utility: str
) -> None:
    rows, secrets, ladders = draw_case(seed)
    names = [f"q{a}" for a in range(len(ladders))]
    lattice = build_lattice(
        build_dataset(rows, secrets, ladders),
        names,
        utility=utility,  # type: ignore[arg-type]
    )
    tests = [SizeTest(lattice.names, 3)]
    for share in (0, len(rows)):
        evaluator = LevelEvaluator(lattice=lattice, tests=tests, most_removed=share)
        best = find_optimal_levels(evaluator).best
        local = METHODS[method](lattice, tests, seed=seed)
        better = choose_better(evaluator, local, best)
        if best is None:
            assert better is None or better is local
            continue
        assert better is not None
        assert better.loss <= best.loss + 1e-12
        assert better.removed_records <= share
        assert better is local or better.loss == pytest.approx(best.loss)


@given(seed=seeds, k=st.integers(2, 3))
def test_the_bound_is_the_distance_of_the_others_that_are_needed(seed: int, k: int) -> None:
    rows, secrets, ladders = draw_case(seed)
    names = [f"q{a}" for a in range(len(ladders))]
    lattice = build_lattice(build_dataset(rows, secrets, ladders), names)
    bound = bound_local_loss(lattice, k)
    assert bound is not None
    assert bound == pytest.approx(plain_local.bound_loss(rows, ladders, k), rel=1e-5, abs=1e-7)
    may_remove = bound_local_loss(lattice, k, may_remove=True)
    assert may_remove is not None
    assert may_remove <= min(bound, 1.0)


@given(seed=seeds)
def test_no_classes_lose_less_than_the_bound_nor_clusters_less_than_the_best(seed: int) -> None:
    rows, secrets, ladders = draw_case(seed)
    rows, secrets, ladders = rows[:7], secrets[:7], add_top(ladders)
    assume(len(rows) >= 2)
    names = [f"q{a}" for a in range(len(ladders))]
    lattice = build_lattice(build_dataset(rows, secrets, ladders), names)
    best = plain_local.find_least_loss(rows, ladders, 2, together=False)
    bound = bound_local_loss(lattice, 2)
    assert bound is not None
    assert bound <= best + 1e-7
    for method in METHODS.values():
        assert method(lattice, [SizeTest(lattice.names, 2)], seed=seed).loss >= best - 1e-7


def test_clusters_find_the_best_classes_of_most_small_data() -> None:
    """Of thirty small datasets, all but a few are solved, and all together nearly so."""
    lost = least = 0.0
    solved = 0
    for seed in range(30):
        rows, secrets, ladders = draw_case(seed)
        rows, secrets, ladders = (rows * 4)[:8], (secrets * 4)[:8], add_top(ladders)
        names = [f"q{a}" for a in range(len(ladders))]
        lattice = build_lattice(build_dataset(rows, secrets, ladders), names)
        loss = find_clusters(lattice, [SizeTest(lattice.names, 3)], seed=seed).loss
        best = plain_local.find_least_loss(rows, ladders, 3, together=True)
        lost, least, solved = lost + loss, least + best, solved + (loss < best + 1e-9)
    assert solved >= 27
    assert lost <= 1.02 * least


@pytest.mark.parametrize("method", METHODS)
@given(seed=seeds)
def test_the_order_of_the_records_and_secrets_change_nothing_where_only_sizes_count(
    method: str, seed: int
) -> None:
    rows, secrets, ladders = draw_case(seed)
    names = [f"q{a}" for a in range(len(ladders))]
    order = np.random.default_rng(seed).permutation(len(rows)).tolist()
    shuffled = ["xyz"[(ord(secrets[i]) + i) % 3] for i in range(len(rows))]
    classes = []
    for chosen, values in ((range(len(rows)), secrets), (order, secrets), (order, shuffled)):
        dataset = build_dataset([rows[i] for i in chosen], [values[i] for i in chosen], ladders)
        lattice = build_lattice(dataset, names, apart=["s"])
        outcome = METHODS[method](lattice, [SizeTest(lattice.names, 3)], seed=seed)
        found = list_classes(lattice, outcome)
        classes.append({frozenset(chosen[i] for i in members) for members in found})
    assert classes[0] == classes[1] == classes[2]


def make_large_case(records: int = 600) -> tuple[list[plain.Row], list[str], Dataset]:
    """Some hundred records over three hierarchies with tops, many of them alike."""
    draws = np.random.default_rng(5)
    ladders = [
        {f"{a}{i}": (f"{a}{i}", f"{a}-{i // 3}", f"{a}={i // 6}", "*") for i in range(12)}
        for a in "abc"
    ]
    places = np.minimum(draws.geometric(0.25, (records, 3)) - 1, 11)
    rows = [tuple(list(lad)[p] for lad, p in zip(ladders, r, strict=True)) for r in places]
    secrets = ["xyz"[i] for i in draws.integers(0, 3, records)]
    return rows, secrets, build_dataset(rows, secrets, ladders)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_classes_and_another_others(method: str) -> None:
    _, _, dataset = make_large_case()
    lattice = build_lattice(dataset, ["q0", "q1", "q2"])
    tests = [SizeTest(lattice.names, 5)]
    outcomes = [METHODS[method](lattice, tests, seed=seed) for seed in (1, 1, 2, 3, 4)]
    assert np.array_equal(outcomes[0].levels, outcomes[1].levels)
    assert any(not np.array_equal(outcomes[0].levels, other.levels) for other in outcomes[2:])


def test_clusters_lose_less_than_nested_classes_and_these_less_than_levels_for_all() -> None:
    _, _, dataset = make_large_case()
    lattice = build_lattice(dataset, ["q0", "q1", "q2"])
    tests = [SizeTest(lattice.names, 5)]
    clusters = find_clusters(lattice, tests, seed=1).loss
    nested = find_nested_levels(lattice, tests, seed=1).loss
    best = find_optimal_levels(LevelEvaluator(lattice=lattice, tests=tests, most_removed=0)).best
    bound = bound_local_loss(lattice, 5)
    assert best is not None
    assert bound is not None
    assert bound < clusters < nested < best.loss


def test_clusters_under_further_limits_lose_less_than_where_they_begin() -> None:
    _, _, dataset = make_large_case()
    lattice = build_lattice(dataset, ["q0", "q1", "q2"], apart=["s"])
    values, value_count = read_values(dataset, lattice)
    tests: list[ClassTest] = [
        SizeTest(lattice.names, 5),
        DistinctTest(among=lattice.names, least=3, values=values, value_count=value_count),
    ]
    clusters, nested = (
        method(lattice, tests, seed=1) for method in (find_clusters, find_nested_levels)
    )
    assert clusters.loss < nested.loss


def test_effort_ends_the_search_after_the_same_steps() -> None:
    _, _, dataset = make_large_case()
    lattice = build_lattice(dataset, ["q0", "q1", "q2"])
    tests = [SizeTest(lattice.names, 5)]
    none = [find_clusters(lattice, tests, seed=1, effort=Effort(0)) for _ in range(2)]
    assert np.array_equal(none[0].levels, none[1].levels)
    assert find_clusters(lattice, tests, seed=1).loss < none[0].loss


@pytest.mark.parametrize("which", ["k", "distinct"])
def test_wide_attributes_climb_and_find_the_same(
    which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, dataset = make_large_case(200)
    lattice = build_lattice(dataset, ["q0", "q1", "q2"], apart=["s"])
    tests, _ = build_tests(which, dataset, lattice)
    looked_up = find_clusters(lattice, tests, seed=1)
    bound = bound_local_loss(lattice, 3)
    monkeypatch.setattr(tuning, "JOIN_TABLE_ENTRIES", 0)
    climbed = find_clusters(lattice, tests, seed=1)
    assert np.array_equal(looked_up.levels, climbed.levels)
    assert bound_local_loss(lattice, 3) == pytest.approx(bound)


def test_a_bound_that_would_take_too_long_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, dataset = make_large_case(50)
    monkeypatch.setattr(tuning, "MOST_BOUNDED_UNITS", 10)
    assert bound_local_loss(build_lattice(dataset, ["q0", "q1", "q2"]), 3) is None


def build_release(
    rows: Sequence[Sequence[str | None]], method: str
) -> tuple[Dataset, Dataset, DecisionLog]:
    ladders = [{str(i): (str(i), f"<{i // 3}>", "*") for i in range(9)} for _ in range(2)]
    dataset = build_dataset(rows, ["x"] * len(rows), ladders)
    lattice = build_lattice(dataset, ["q0", "q1"])
    tests = [SizeTest(lattice.names, 3)]
    outcome = METHODS[method](lattice, tests, seed=3)
    released, changes = build_local_release(dataset, lattice, outcome, tests=tests, rule="k >= 3")
    return dataset, released, DecisionLog("people", tuple(changes), dataset)


@pytest.mark.parametrize("method", METHODS)
@given(
    rows=st.lists(
        st.tuples(*[st.none() | st.sampled_from([str(i) for i in range(9)])] * 2),
        min_size=3,
        max_size=25,
    )
)
def test_what_is_released_is_made_of_ancestors_in_classes_that_are_large_enough(
    method: str, rows: list[tuple[str | None, ...]]
) -> None:
    dataset, released, log = build_release(rows, method)
    names = ["q0", "q1"]
    shown = list(zip(*(released.to_arrow()[name].to_pylist() for name in names), strict=True))
    kept = sorted(set(range(len(rows))) - set(log.removed_records.tolist()))
    assert len(shown) == len(kept)
    if shown:
        assert plain_local.count_smallest_class(shown) >= 3
    for record, cells in zip(kept, shown, strict=True):
        for value, cell in zip(rows[record], cells, strict=True):
            if value is None:
                assert cell is None
            else:
                assert cell in (value, f"<{int(value) // 3}>", "*")
    replayed = log.replayed(dataset)
    assert all(replayed.columns[name].equals(released.columns[name]) for name in names)
    changed = sum(
        cell != value
        for record, cells in zip(kept, shown, strict=True)
        for value, cell in zip(rows[record], cells, strict=True)
    )
    assert sum(len(change) for change in log.changes if change.kind == "recoded") == changed


def test_decisions_tell_who_needed_it_and_who_joined_them() -> None:
    rows = [("0", "0")] * 3 + [("1", "0"), ("1", "0"), ("8", "8"), ("8", "8"), ("8", "8")]
    _, released, log = build_release(rows, "nested")
    assert released.to_arrow()["q0"].to_pylist() == ["<0>"] * 5 + ["8"] * 3
    needed, joined = log.of_record(3), log.of_record(0)
    assert [(d.attribute, d.binding["from"], d.binding["to"]) for d in needed] == [
        ("q0", "1", "<0>")
    ]
    assert needed[0].reason == "only 2 records share its values"
    assert needed[0].before == 0.5
    assert needed[0].after == 0.2
    assert joined[0].reason == "other records need matches (it now shows the same as they do)"


def test_whoever_has_no_common_top_with_enough_others_is_removed() -> None:
    rows = [("0", "0")] * 3 + [(None, "0")] * 2
    _, released, log = build_release(rows, "clusters")
    assert log.removed_records.tolist() == [3, 4]
    assert released.rows == 3
    assert "at the coarsest level" in log.of_record(3)[0].reason


def test_numbers_that_become_coarser_are_texts_and_others_stay_numbers() -> None:
    table = pa.table({"age": [20, 21, 30, 30], "sex": [1, 1, 2, 2]})
    dataset = Dataset.from_arrow(
        table,
        hierarchies={"age": Hierarchy.from_levels([["20", "20s"], ["21", "20s"], ["30", "30s"]])},
    )
    lattice = build_lattice(dataset, ["age", "sex"])
    outcome = find_nested_levels(lattice, [SizeTest(lattice.names, 2)], seed=0)
    released, _ = build_local_release(dataset, lattice, outcome)
    assert released.to_arrow()["age"].to_pylist() == ["20s", "20s", "30", "30"]
    assert released.to_arrow()["sex"].to_pylist() == [1, 1, 2, 2]


def test_classes_that_show_the_same_are_one() -> None:
    """Two classes of a search may show the same: outside they are one, and are counted so."""
    from divulge.protection.recoding.local.local_outcome import build_outcome

    _, _, dataset = make_large_case(60)
    lattice = build_lattice(dataset, ["q0", "q1", "q2"])
    levels = np.full((3, lattice.units), 3, np.int8)
    outcome = build_outcome(lattice, levels, np.zeros_like(lattice.counts))
    assert outcome.classes == 1
    assert outcome.loss == pytest.approx(1.0)
    removed = replace(outcome, removed=lattice.counts)
    assert removed.removed_records == dataset.rows
