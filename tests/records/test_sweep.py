from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from rich.console import Console

import divulge as dv
from divulge import work
from divulge.records import tuning
from divulge.records.sweep import cube_kernels, cube_rows, cube_walk, prefix_walk, subset_cube
from divulge.work import InvalidInput

from .plain import subsets, told, told_weighted

VALUES: st.SearchStrategy[list[Any]] = st.sampled_from(
    [[None, "a"], ["a", "b"], [0, 1, 2, 3, None], list(range(40)), ["only"]]
)


@st.composite
def tables(draw: st.DrawFn, most: int = 7, weights: bool = False) -> tuple[Any, ...]:
    """Rows with 1 to `most` attributes, some constant, some unique, some with missing values."""
    known = [f"q{i}" for i in range(draw(st.integers(1, most)))]
    sought = [f"s{i}" for i in range(draw(st.integers(0, 2)))]
    domains = {name: draw(VALUES) for name in [*known, *sought]}
    number = draw(st.integers(1, 40))
    rows = [
        {name: draw(st.sampled_from(domain)) for name, domain in domains.items()}
        for _ in range(number)
    ]
    unique = bool(draw(st.integers(0, 1)))
    if unique:
        for i, row in enumerate(rows):
            row[known[0]] = i
    for row in rows if weights else []:
        row["weight"] = draw(st.sampled_from([0.0, 0.25, 0.5, 1.0, 7.0]))
    if weights and not any(row["weight"] for row in rows):
        rows[0]["weight"] = 1.0
    return rows, known, sought


def dataset_of(rows: list[dict[str, Any]], known: list[str], sought: list[str]) -> dv.Dataset:
    table = pa.table({name: pa.array([row[name] for row in rows]) for name in rows[0]})
    roles: dict[str, Any] = {"quasi_identifier": known, "sensitive": sought}
    if "weight" in rows[0]:
        roles["weight"] = "weight"
    return dv.Dataset.from_arrow(table, roles=roles)


def assert_same(sweep: dv.records.Sweep, rows: list[dict[str, Any]], at_most: int) -> None:
    found = {tuple(row.pop("knows")): row for row in sweep.to_arrow().to_pylist()}
    expected = list(subsets(sweep.knows, at_most))
    assert list(found) == expected
    for knows in expected:
        answer = told(rows, knows, sweep.seeks)
        if "weight" in rows[0]:
            answer |= told_weighted(rows, knows, sweep.seeks, "weight")
        told_by_sweep = {name: found[knows][name] for name in answer}
        assert told_by_sweep == pytest.approx(answer, abs=1e-9)
        assert found[knows]["size"] == len(knows)


@settings(max_examples=60, deadline=None)
@given(tables(weights=True), st.data())
def test_the_sweep_says_of_every_set_what_a_plain_group_by_says(
    table: tuple[Any, ...], data: st.DataObject
) -> None:
    rows, known, sought = table
    at_most = data.draw(st.integers(1, len(known)))
    assert_same(dv.records.sweep(dataset_of(rows, known, sought), sizes=at_most), rows, at_most)


@settings(max_examples=40, deadline=None)
@given(tables(), st.data())
def test_however_the_work_is_cut_the_figures_are_the_same(
    table: tuple[Any, ...], data: st.DataObject
) -> None:
    """Short keys, few digits, small chunks and portions: every path of the driver."""
    rows, known, sought = table
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cube_rows, "KEY_BITS", data.draw(st.sampled_from([14, 63])))
        patch.setattr(tuning, "MOST_KEY_ATTRIBUTES", data.draw(st.sampled_from([1, 3, 10])))
        patch.setattr(tuning, "FEW_ROWS", data.draw(st.sampled_from([1, 4096])))
        patch.setattr(tuning, "ROWS_OF_A_CHUNK", data.draw(st.sampled_from([3, 1 << 16])))
        patch.setattr(tuning, "ROWS_OF_A_PORTION", data.draw(st.sampled_from([7, 1 << 22])))
        sweep = dv.records.sweep(dataset_of(rows, known, sought))
    assert_same(sweep, rows, len(known))


@settings(max_examples=4, deadline=None)
@given(tables(most=1), st.integers(8, 12), st.randoms(use_true_random=False))
def test_twelve_attributes_are_swept_as_exactly_as_one(
    table: tuple[Any, ...], attributes: int, random: Any
) -> None:
    rows, _, sought = table
    known = [f"q{i}" for i in range(attributes)]
    for row in rows:
        row.update({name: random.choice([None, 1, 2]) for name in known})
    assert_same(dv.records.sweep(dataset_of(rows, known, sought)), rows, attributes)


@settings(max_examples=10, deadline=None)
@given(tables(most=3, weights=True))
def test_the_engine_that_spills_to_disk_gives_the_same_figures(table: tuple[Any, ...]) -> None:
    rows, known, sought = table
    assert_same(
        dv.records.sweep(dataset_of(rows, known, sought), engine="duckdb"), rows, len(known)
    )


def test_attributes_whose_codes_together_exceed_64_bits() -> None:
    """Eight attributes of ten thousand values each need 112 bits."""
    rows = [{f"q{i}": (n * (2 * i + 3)) % 10_007 % (i + 9_000) for i in range(8)}
            for n in range(10_500)]  # fmt: skip
    known = list(rows[0])
    sweep = dv.records.sweep(dataset_of(rows, known, []), sizes=2)
    assert subset_cube.SubsetCube(
        [subset_cube.CubeAttribute(sweep.dataset.columns[n].codes, 9_500) for n in known], []
    ).fixed_count
    assert_same(sweep, rows, 2)


def test_a_sensitive_attribute_of_many_values_beside_one_of_few() -> None:
    rows = [{"q": n % 50, "r": n % 7, "many": n // 2, "few": n % 3} for n in range(6_000)]
    assert_same(dv.records.sweep(dataset_of(rows, ["q", "r"], ["many", "few"])), rows, 2)


def test_a_killed_sweep_takes_up_what_it_had_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    census = dv.datasets.school_census(5_000)
    whole = dv.records.sweep(census).to_arrow()
    monkeypatch.setattr(tuning, "ROWS_OF_A_PORTION", 1_000)
    checkpoints = work.Checkpoints(tmp_path)
    walked: list[int] = []
    walk = cube_walk.BlockWalk._walk_chunks

    def counting(self: cube_walk.BlockWalk, *arguments: Any) -> Any:
        if len(walked) == 7:
            raise KeyboardInterrupt
        walked.append(1)
        return walk(self, *arguments)

    monkeypatch.setattr(cube_walk.BlockWalk, "_walk_chunks", counting)
    with work.run_with(checkpoints=checkpoints), pytest.raises(KeyboardInterrupt):
        dv.records.sweep(census)
    again: list[int] = []

    def noting(self: cube_walk.BlockWalk, *arguments: Any) -> Any:
        again.append(1)
        return walk(self, *arguments)

    monkeypatch.setattr(cube_walk.BlockWalk, "_walk_chunks", noting)
    with work.run_with(checkpoints=checkpoints):
        resumed = dv.records.sweep(census).to_arrow()
    assert resumed.select(["knows", "classes", "singletons", "transport.best"]).equals(
        whole.select(["knows", "classes", "singletons", "transport.best"])
    )
    kept = len(list(tmp_path.glob("sweep-*.npz")))
    assert kept == len(walked) + len(again)


def test_what_was_counted_with_other_weights_is_not_taken_up(tmp_path: Path) -> None:
    table = pa.table(
        {"q": [1, 2, 2, 3], "s": list("xyxy"), "a": [1.0] * 4, "b": [1.0, 5.0, 2.0, 1.0]}
    )

    def swept(weight: str | None, capacity: bool = True) -> pa.Table:
        roles: Any = {"quasi_identifier": ["q"], "sensitive": ["s"]}
        roles |= {"weight": weight} if weight else {}
        return dv.records.sweep(
            dv.Dataset.from_arrow(table, roles=roles), capacity=capacity
        ).to_arrow()

    asked: list[tuple[str | None, bool]] = [
        (None, True), ("a", True), ("b", True), ("b", False), (None, False),
    ]  # fmt: skip
    with work.run_with(checkpoints=work.Checkpoints(tmp_path)):
        kept = [swept(*each) for each in asked]
    assert [one.equals(swept(*each)) for one, each in zip(kept, asked, strict=True)] == [True] * 5


@settings(max_examples=25, deadline=None)
@given(tables(weights=True), st.data())
def test_small_sets_counted_from_their_prefixes_are_as_a_plain_group_by_says(
    table: tuple[Any, ...], data: st.DataObject
) -> None:
    rows, known, sought = table
    at_most = data.draw(st.integers(1, min(3, len(known))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subset_cube.SubsetCube, "count_patterns", lambda _: 10**6)
        sweep = dv.records.sweep(dataset_of(rows, known, sought), sizes=at_most)
    assert_same(sweep, rows, at_most)


def wide(attributes: int, records: int = 60) -> tuple[dv.Dataset, list[dict[str, Any]]]:
    """Many attributes of few values, the first and the last rarer ones."""
    rows: list[dict[str, Any]] = [
        {f"q{i}": (r * (i + 3) + r * r) % (2 + (i in (0, attributes - 1)) * 9 + i % 2)
         for i in range(attributes)} | {"ill": r % 7 == 0}
        for r in range(records)
    ]  # fmt: skip
    return dataset_of(rows, [f"q{i}" for i in range(attributes)], ["ill"]), rows


def test_ninety_attributes_are_swept_up_to_a_size() -> None:
    dataset, rows = wide(90)
    sweep = dv.records.sweep(dataset, sizes=2)
    assert_same(sweep, rows, 2)
    place = sweep.place(["q0", "q89"])
    assert sweep.names(place) == ["q0", "q89"]
    least = sweep.cheapest(0.01)[0]
    assert len(least) == 2
    assert sweep.success()[sweep.place(least)] > 0.01
    assert len(sweep.marginal()) == 90
    assert len(sweep.to_dict()["sets"]) == 90 + 89 * 45
    listed = dv.records.sweep(dataset, sets=[["q1", "q88"], ["q7"]])
    assert [listed.names(place) for place in range(2)] == [["q7"], ["q1", "q88"]]
    with pytest.raises(dv.InvalidInput, match="sizes=3 or less"):
        dv.records.sweep(dataset, sizes=4)


def test_the_sweep_of_small_sets_goes_on_where_it_was_and_in_any_number_of_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, _ = wide(70)
    monkeypatch.setattr(prefix_walk, "count_processors", lambda: 3)
    whole = dv.records.sweep(dataset, sizes=3).to_arrow()
    monkeypatch.setattr(prefix_walk, "count_processors", lambda: 1)
    count, branches = prefix_walk._PrefixSearch.count_branch, []

    def stop_at_fifth(self: Any, first: int, step: Any) -> Any:
        branches.append(first)
        if len(branches) == 5:
            raise KeyboardInterrupt
        return count(self, first, step)

    monkeypatch.setattr(prefix_walk._PrefixSearch, "count_branch", stop_at_fifth)
    checkpoints = work.Checkpoints(tmp_path)
    with work.run_with(checkpoints=checkpoints):
        with pytest.raises(KeyboardInterrupt):
            dv.records.sweep(dataset, sizes=3)
        resumed = dv.records.sweep(dataset, sizes=3).to_arrow()
    assert branches == [0, 1, 2, 3, 4, *range(4, 70)]
    assert resumed.equals(whole)


def test_more_attributes_than_suda_can_combine_are_refused() -> None:
    names = [f"q{i}" for i in range(63)]
    table = pa.table({name: [1, 2] for name in names})
    dataset = dv.Dataset.from_arrow(table, roles={"quasi_identifier": names})
    with pytest.raises(dv.InvalidInput, match="63 attributes; at most 62"):
        dv.records.suda(dataset, max_size=1)
    assert dv.records.suda(dataset, max_size=1, among=names[1:]).uniques[0]


KILLED = """
import os, signal, sys
import divulge as dv
from divulge import work
from divulge.records import tuning
from divulge.records.sweep import cube_walk

tuning.ROWS_OF_A_PORTION = 1_000
walk, walked = cube_walk.BlockWalk._walk_chunks, []

def killing(self, *arguments):
    if len(walked) == 6:
        os.kill(os.getpid(), signal.SIGKILL)
    walked.append(1)
    return walk(self, *arguments)

cube_walk.BlockWalk._walk_chunks = killing
with work.run_with(checkpoints=work.Checkpoints(sys.argv[1])):
    dv.records.sweep(dv.datasets.school_census(5_000))
"""


def test_a_sweep_whose_process_is_killed_goes_on_in_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No farewell: the operating system takes the process away in the middle of its work."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob("sweep-*.npz"))) == 6
    monkeypatch.setattr(tuning, "ROWS_OF_A_PORTION", 1_000)
    walk, again = cube_walk.BlockWalk._walk_chunks, []

    def noting(self: cube_walk.BlockWalk, *arguments: Any) -> Any:
        again.append(1)
        return walk(self, *arguments)

    monkeypatch.setattr(cube_walk.BlockWalk, "_walk_chunks", noting)
    census = dv.datasets.school_census(5_000)
    with work.run_with(checkpoints=work.Checkpoints(tmp_path)):
        resumed = dv.records.sweep(census)
    assert len(list(tmp_path.glob("sweep-*.npz"))) == 6 + len(again)
    walked_afresh = len(again)
    again.clear()
    whole = dv.records.sweep(census)
    assert len(again) == 6 + walked_afresh
    # Sums of shares may be added in another order; whole numbers may not differ at all.
    for name, values in whole.figures.columns.items():
        if name.endswith(".capacity"):
            assert resumed.figures.columns[name] == pytest.approx(values)
        else:
            assert resumed.figures.columns[name].tolist() == values.tolist()


def test_twenty_attributes_are_swept_in_full_on_few_records() -> None:
    """All 1,048,575 sets, looked at here and there; a limit on size gives the same figures."""
    random = np.random.default_rng(5)
    known = [f"q{i}" for i in range(20)]
    table = {name: random.integers(0, 3, 15).tolist() for name in known}
    rows = [{name: table[name][n] for name in known} | {"s": n % 2} for n in range(15)]
    dataset = dataset_of(rows, known, ["s"])
    sweep = dv.records.sweep(dataset, capacity=False)
    assert len(sweep) == 2**20 - 1
    for place in random.integers(0, len(sweep), 40).tolist():
        expected = told(rows, sweep.names(place), ["s"])
        found = {name: int(values[place]) for name, values in sweep.figures.columns.items()}
        assert found == {name: expected[name] for name in found}
    limited = dv.records.sweep(dataset, sizes=2, capacity=False)
    assert len(limited) == 20 + 190
    for name, values in limited.figures.columns.items():
        assert values.tolist() == sweep.figures.columns[name][: len(limited)].tolist()


def test_who_bears_the_risk_of_one_set() -> None:
    sweep = dv.records.sweep(dv.datasets.school_year_example())
    by = sweep.assessment(["gender", "grade"], "disability").by("gender")
    assert (by["F"].certain.posterior, by["M"].certain.posterior) == (4, 2)
    assert sweep.assessment(["gender", "grade"]).risk().sum() == pytest.approx(5)


def test_what_each_attribute_adds_is_a_plain_difference() -> None:
    pupils = dv.datasets.school_year_example()
    sweep = dv.records.sweep(pupils)
    success = {tuple(row["knows"]): row["singletons"] / 10 for row in sweep.to_arrow().to_pylist()}
    success[()] = 0.0
    for row in sweep.marginal().to_pylist():
        added = {
            without: success[with_] - success[without]
            for with_ in success
            for without in success
            if set(with_) - set(without) == {row["attribute"]} and set(without) <= set(with_)
        }
        assert row["average"] == pytest.approx(sum(added.values()) / len(added))
        assert row["worst"] == pytest.approx(max(added.values()))
        assert added[tuple(row["worst_beside"])] == pytest.approx(row["worst"])


def test_a_sweep_can_be_cancelled_and_reports_how_far_it_is() -> None:
    census = dv.datasets.school_census(2_000)
    seen: list[work.Progress] = []
    with work.run_with(reporter=seen.append):
        dv.records.sweep(census)
    assert seen[-1].share == pytest.approx(1.0)
    cancellation = work.Cancellation()
    cancellation.cancel()
    with work.run_with(cancellation=cancellation), pytest.raises(work.Cancelled):
        dv.records.sweep(census)


def test_the_share_that_is_done_only_grows_and_ends_at_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is expected of later parts is put right as rows become fewer, never backwards."""
    monkeypatch.setattr("divulge.work.tuning.SECONDS_BETWEEN_REPORTS", 0.0)
    monkeypatch.setattr(tuning, "ROWS_OF_A_CHUNK", 500)
    monkeypatch.setattr(tuning, "MOST_KEY_ATTRIBUTES", 8)
    census = dv.datasets.school_census(6_000)
    seen: list[work.Progress] = []
    with work.run_with(reporter=seen.append):
        dv.records.sweep(census)
    shares = [progress.share or 0.0 for progress in seen]
    assert len(shares) > 50
    assert all(later >= earlier - 1e-9 for earlier, later in pairwise(shares))
    assert shares[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("counts", [(9, 1), (1, 10), (12, 11), (4, 5, 1), (3, 3, 9), (1, 1, 1)])
def test_few_kinds_of_records_are_counted_like_many(counts: tuple[int, ...]) -> None:
    """Two or three kinds need no walk unless a part of them is large; both ways are exact."""
    kinds = [("a", 1, "x"), ("a", 2, "y"), ("b", 2, "x")]
    rows = [
        {"q": q, "r": r, "t": t, "s": (n + i) % 2}
        for i, ((q, r, t), many) in enumerate(zip(kinds, counts, strict=False))
        for n in range(many)
    ]
    assert_same(dv.records.sweep(dataset_of(rows, ["q", "r", "t"], ["s"])), rows, 3)


def test_what_each_attribute_adds_and_the_least_that_passes_a_limit() -> None:
    """Alvim et al. 2022, Table 3a: grade alone singles out one pupil, all three single out four."""
    sweep = dv.records.sweep(dv.datasets.school_year_example())
    assert sweep.most_dangerous(size=1)["knows"].to_pylist()[0] == ["age"]
    assert sweep.success()[sweep.place(["gender", "grade"])] == 0.1
    assert sweep.success("disability")[sweep.place(["grade", "gender"])] == 0.6
    assert sweep.success("disability", "probabilistic")[sweep.place(["gender", "grade"])] == 0.8
    assert sweep.prior("disability", "probabilistic") == 0.5
    assert sweep.cheapest(0.3) == [["age", "grade"]]
    assert sweep.cheapest(0.9) == []
    dear = sweep.cheapest(0.05, costs={"grade": 5, "age": 5, "gender": 1})
    assert dear == [["age"], ["grade"]]
    marginal = {row["attribute"]: row for row in sweep.marginal().to_pylist()}
    assert marginal["gender"]["worst_beside"] is not None


def test_the_assessment_of_a_set_is_that_of_the_attack() -> None:
    pupils = dv.datasets.school_year_example()
    sweep = dv.records.sweep(pupils)
    assert sweep.assessment(["gender", "grade"]).deterministic.posterior == 0.1
    assert sweep.assessment(["gender", "grade"], "disability").probabilistic.posterior == 0.8


def test_the_chart_has_a_dot_a_set_and_the_line_before() -> None:
    sweep = dv.records.sweep(dv.datasets.school_year_example())
    chart = sweep.chart("disability", "probabilistic")
    assert len(chart.records) == 7
    assert {record["before"] for record in chart.records} == {0.5}


def test_success_rises_with_every_attribute_that_is_known() -> None:
    """The synthetic census shows the pattern of Alvim et al. 2022, Fig. 2."""
    census = dv.datasets.school_census(100_000)
    sweep = dv.records.sweep(census)
    success = dict(zip(sweep.figures.sets.tolist(), sweep.success(), strict=True))
    for known, share in success.items():
        for bit in range(len(sweep.knows)):
            assert success[known | 1 << bit] >= share
    assert sweep.assessment("school_code", "disability").certain.posterior > 0


def test_the_school_alone_tells_who_some_pupils_are() -> None:
    """Alvim et al. 2022, Sec. 5.2: a few schools have one pupil."""
    found = dv.records.attack(dv.datasets.school_census(1_000_000), "CRS", "school_code")
    assert found.certain.posterior > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"knows": ["agee"]}, 'has no attribute "agee". Did you mean "age"?'),
        ({"knows": []}, "names no attribute, and no quasi-identifier is declared"),
        ({"seeks": "age"}, '"age" is known already'),
        ({"knows": ["age", "age"]}, 'names "age" more than once'),
        ({"sizes": [0]}, "a set has from 1 to 3 attributes"),
        ({"sizes": 2.5}, "a set has from 1 to 3 attributes"),
        ({"sizes": ["two"]}, "a set has from 1 to 3 attributes"),
        ({"engine": "sparc"}, '"sparc" is not an engine'),
        ({"seeks": "disabled"}, 'has no attribute "disabled". Did you mean "disability"?'),
    ],
)
def test_what_cannot_be_swept_is_said(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(dv.InvalidInput, match=said.replace("?", r"\?")):
        dv.records.sweep(dv.datasets.school_year_example(), **arguments)


def test_that_nothing_is_known_is_said_once() -> None:
    with pytest.raises(dv.InvalidInput) as error:
        dv.records.sweep(dv.datasets.school_year_example(), knows=[])
    assert len(error.value.problems) == 1


def test_more_sets_than_is_sensible_are_refused_with_the_size_that_works() -> None:
    rows = [{f"q{i}": i for i in range(30)}]
    with pytest.raises(dv.InvalidInput, match=r"30 attributes have 1,073,741,823 sets.*sizes=6"):
        dv.records.sweep(dataset_of(rows, list(rows[0]), []))


def test_too_little_memory_is_said_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    pupils = dv.datasets.school_year_example()
    monkeypatch.setattr("divulge.work.memory.available_memory", lambda: 10)
    with pytest.raises(work.NotEnoughMemory, match='use engine="duckdb"'):
        dv.records.sweep(pupils, engine="cube")


def test_a_sweep_gives_the_same_figures_to_the_last_digit_every_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some threads are held up, others every time; what they add up does not depend on it."""
    monkeypatch.setattr(tuning, "ROWS_OF_A_CHUNK", 50)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(3))
    walked, turn = cube_kernels.cube, [0]

    def held_up(*given: Any) -> None:
        first = given[5]  # where the chunk begins
        time.sleep(0.004 if (first + turn[0]) % 3 == 0 else 0)
        walked(*given)

    monkeypatch.setattr(cube_kernels, "cube", held_up)
    pupils = dv.datasets.school_census(30_000)
    knows = ["day_of_birth", "month_of_birth", "gender", "ethnicity", "school_code"]
    found = []
    for turn[0] in range(5):
        swept = dv.records.sweep(pupils, knows, ["disability", "year_of_birth"], engine="cube")
        found.append(swept.to_arrow())
    assert any("capacity" in name for name in found[0].column_names)
    assert all(other.equals(found[0]) for other in found[1:])


def test_weights_stand_in_the_table_for_people() -> None:
    people = pa.table({"age": [25, 25, 30, 40], "weight": [10.0, 20.0, 5.0, 65.0]})
    dataset = dv.Dataset.from_arrow(people).describe(
        {"quasi_identifier": "age", "weight": "weight"}
    )
    swept = dv.records.sweep(dataset)
    # Two of four records are unique; by weight they are 70 of 100, and of the others 20 are guessed.
    assert swept.success().tolist() == [0.5]
    assert swept.success(weighted=True).tolist() == [0.7]
    assert swept.success(kind="probabilistic", weighted=True).tolist() == [0.9]
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(swept)
    shown = console.export_text()
    assert "singled out, by weight" in shown
    assert "70%" in shown
    assert "90%" in shown
    without = dv.records.sweep(dv.Dataset.from_arrow(people), "age")
    with pytest.raises(dv.work.DivulgeError, match="swept without weights"):
        without.success(weighted=True)


def test_more_records_than_counts_can_hold_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subset_cube, "MOST_ROWS", 3)
    three = [{"q": n % 2, "r": n % 3} for n in range(3)]
    assert_same(dv.records.sweep(dataset_of(three, ["q", "r"], [])), three, 2)
    four = dataset_of([*three, {"q": 1, "r": 1}], ["q", "r"], [])
    with pytest.raises(InvalidInput, match='more than 3 records; give engine="duckdb"'):
        dv.records.sweep(four)


def test_a_system_that_does_not_tell_which_processors_are_ours_is_asked_how_many_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [{"q": n % 5, "r": n % 7} for n in range(50)]
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    for count in (2, None):
        monkeypatch.setattr(os, "cpu_count", lambda count=count: count)
        assert_same(dv.records.sweep(dataset_of(rows, ["q", "r"], [])), rows, 2)
