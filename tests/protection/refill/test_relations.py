"""Planted relations are found, and no others; twins that suppression makes are not believed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from divulge.protection import tuning
from divulge.protection.refill.columns import CodedColumn
from divulge.protection.refill.search.discovery import Completion, complete_columns
from divulge.protection.refill.search.ranges import measure_ranges, predict_by_ranges, rank_numbers
from divulge.work.arrays import Array, Ints

from .plain import ABSENT, HIDDEN

ROWS = 1_200


class Release:
    """Columns with hidden cells, and what they were."""

    def __init__(self, seed: int = 1) -> None:
        self.random = np.random.default_rng(seed)
        self.columns: list[CodedColumn] = []
        self.truth: dict[str, Ints] = {}

    def add(
        self,
        name: str,
        values: Array,
        hide: int = 0,
        absent: Array | None = None,
        text: bool = False,
    ) -> None:
        distinct, codes = np.unique(values, return_inverse=True)
        codes = codes.reshape(-1).astype(np.int32)
        if absent is not None:
            codes[absent] = ABSENT
        self.truth[name] = codes.copy()
        shown = np.flatnonzero(codes >= 0)
        codes[self.random.choice(shown, hide, replace=False)] = HIDDEN
        numbers = None if text else distinct.astype(float)
        self.columns.append(
            CodedColumn(name=name, codes=codes, cardinality=distinct.size, numbers=numbers)
        )

    def complete(self, *keys: str, ordered: bool = False) -> Completion:
        return complete_columns(self.columns, keys, ordered=ordered)

    def assert_filled(self, completion: Completion, name: str) -> None:
        assert (completion.columns[name].codes == self.truth[name]).all(), name


def noise(release: Release, values: int = 6) -> Ints:
    return release.random.integers(0, values, ROWS)


def test_a_household_tells_the_region_of_its_members() -> None:
    release = Release()
    household = np.arange(ROWS) // 4
    release.add("household", household, text=True)
    release.add("region", release.random.integers(0, 9, ROWS)[household], hide=100, text=True)
    release.add("sex", noise(release, 2), hide=30)
    completion = release.complete("region", "sex")
    told = completion.columns["region"].codes
    alone = [np.all(release.columns[1].codes[household == home] == HIDDEN) for home in household]
    assert ((told == release.truth["region"]) | alone).all()
    assert [(r.form, r.columns) for r in completion.relations] == [("determines", ("household",))]


def test_year_of_birth_and_age_tell_each_other() -> None:
    release = Release()
    age = noise(release, 80)
    release.add("age", age, hide=60)
    release.add("born", 2020 - age, hide=60)
    completion = release.complete("age", "born")
    both = (release.columns[0].codes == HIDDEN) & (release.columns[1].codes == HIDDEN)
    for name in ("age", "born"):
        told = completion.columns[name].codes == release.truth[name]
        assert (told | both).all()
    minus = [r for r in completion.relations if r.form == "minus"]
    assert {(r.target, r.constant) for r in minus} == {("age", 2020.0), ("born", 2020.0)}


@pytest.mark.parametrize("form", ["sum", "difference", "product", "ratio", "plus", "times"])
def test_a_number_follows_from_others(form: str) -> None:
    release = Release()
    first, second = noise(release, 900) + 1, noise(release, 900) + 1
    result = {
        "sum": first + second,
        "difference": first - second,
        "product": first * second,
        "ratio": first / second,
        "plus": first + 17,
        "times": first * 2.5,
    }[form]
    release.add("result", result, hide=90)
    release.add("first", first)
    release.add("second", second)
    completion = release.complete("result")
    release.assert_filled(completion, "result")
    assert form in {relation.form for relation in completion.relations}


def test_a_calculated_value_that_nobody_shows_is_filled_too() -> None:
    release = Release()
    first = noise(release, 400)
    first[0] = 5_000
    release.add("more", first + 3)
    release.add("first", first)
    codes = release.columns[0].codes.copy()
    codes[:40] = HIDDEN
    numbers = np.delete(np.unique(first + 3), -1).astype(float)
    release.columns[0] = replace(release.columns[0], codes=codes, numbers=numbers)
    filled = release.complete("more").columns["more"]
    assert filled.numbers is not None
    assert filled.numbers[filled.codes[0]] == 5_003


def test_the_size_of_a_household_is_the_number_of_its_members() -> None:
    release = Release()
    sizes = release.random.integers(1, 6, ROWS)
    household = np.repeat(np.arange(ROWS), sizes)[:ROWS]
    release.add("household", household, text=True)
    release.add("size", np.bincount(household)[household], hide=200)
    completion = release.complete("size")
    release.assert_filled(completion, "size")
    assert ("count", ("household",)) in {(r.form, r.columns) for r in completion.relations}


def test_a_weight_tells_the_stratum_it_was_made_for() -> None:
    release = Release()
    region = noise(release, 9)
    release.add("weight", 100 + 3.7 * region)
    release.add("region", region, hide=150, text=True)
    release.add("age", noise(release, 60), hide=50)
    completion = release.complete("region", "age")
    release.assert_filled(completion, "region")
    assert not (completion.columns["age"].teller >= 0).any()


def test_two_columns_tell_what_neither_tells_alone() -> None:
    release = Release()
    left, right = noise(release, 8), noise(release, 8)
    release.add("left", left, text=True)
    release.add("right", right, text=True)
    release.add("code", (left * 3 + right * 5) % 7, hide=150, text=True)
    completion = release.complete("code")
    release.assert_filled(completion, "code")
    assert {r.columns for r in completion.relations} == {("left", "right")}


def test_what_is_absent_tells_too() -> None:
    release = Release()
    status = noise(release, 5)
    release.add("status", status, hide=120, text=True)
    release.add("wage", noise(release, 700), absent=status == 3)
    release.add("sex", noise(release, 2))
    completion = release.complete("status", "sex")
    filled = completion.columns["status"]
    told = filled.teller >= 0
    was = release.truth["status"]
    assert told.sum() == ((release.columns[0].codes == HIDDEN) & (was == 3)).sum() > 0
    assert (filled.codes[told] == 3).all()
    assert completion.relations[0].columns == ("absence of wage",)


def test_relations_form_chains() -> None:
    release = Release()
    region = noise(release, 9)
    district = region * 10 + noise(release, 10)
    person = np.arange(ROWS) // 2
    release.add("person", person, text=True)
    district = district[person]
    release.add("district", district, hide=150, text=True)
    release.add("region", district // 10, hide=400, text=True)
    codes = release.columns[1].codes
    # Where the pair's other member shows the district, the region follows in two steps.
    partner = np.arange(ROWS) ^ 1
    region_codes = release.columns[2].codes
    region_codes[codes == HIDDEN] = HIDDEN
    region_codes[partner[codes == HIDDEN]] = HIDDEN
    release.add("sex", noise(release, 2), text=True)
    completion = release.complete("district", "region", "sex")
    is_chain = (codes == HIDDEN) & (codes[partner] >= 0)
    assert is_chain.sum() > 50
    assert (completion.columns["region"].codes == release.truth["region"])[is_chain].all()


def test_an_order_narrows_and_decides_where_one_value_is_left() -> None:
    release = Release()
    start = noise(release, 8)
    end = np.minimum(start + release.random.integers(0, 4, ROWS), 7)
    is_early = release.random.random(ROWS) < 0.3  # 0 is the most frequent value, not the last
    start[is_early] = end[is_early] = 0
    release.add("start", start)
    release.add("end", end, hide=200)
    completion = release.complete("end")
    [narrowing] = [n for n in completion.narrowings if n.target == "end"]
    assert (narrowing.column, narrowing.is_upper) == ("start", False)
    assert narrowing.cells > 100
    told = completion.columns["end"].teller >= 0
    assert (start[told] == 7).all()
    assert told.sum() == ((release.columns[1].codes == HIDDEN) & (start == 7)).sum() > 0


def test_neighbours_tell_only_if_the_order_means_something() -> None:
    release = Release()
    release.add("block", np.arange(ROWS) // 40, hide=60, text=True)
    release.add("sex", noise(release, 2))
    assert not release.complete("block").relations
    completion = release.complete("block", ordered=True)
    told = completion.columns["block"].teller >= 0
    assert told.sum() > 40
    assert (completion.columns["block"].codes == release.truth["block"])[told].mean() > 0.95


def test_a_unique_number_determines_nothing() -> None:
    release = Release()
    release.add("person", np.arange(ROWS), text=True)
    release.add("region", noise(release, 9), hide=100, text=True)
    assert not release.complete("region").relations


def test_the_most_frequent_value_is_no_relation() -> None:
    release = Release()
    release.add("group", noise(release, 100), text=True)
    release.add("rare", (release.random.random(ROWS) < 0.01).astype(int), hide=200)
    assert not release.complete("rare").relations


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_found_in_shuffled_columns(seed: int) -> None:
    release = Release(seed)
    household = np.arange(ROWS) // 4
    region = release.random.integers(0, 9, ROWS)[household]
    age = noise(release, 80)
    release.add("household", household, text=True)
    release.add("region", region, hide=100, text=True)
    release.add("age", age, hide=100)
    release.add("born", 2020 - age)
    release.add("size", np.bincount(household)[household])
    release.add("weight", 100 + 3.7 * region)
    release.add("day", age * 365 + noise(release, 365))
    release.add("part", noise(release, 900))
    release.add("rest", 2 * age - release.columns[-1].numbers[release.columns[-1].codes])  # type: ignore[index]
    assert release.complete("region", "age").relations
    release.columns = [
        replace(column, codes=release.random.permutation(column.codes))
        for column in release.columns
    ]
    assert not release.complete("region", "age").relations


def test_twins_left_by_suppression_are_not_believed() -> None:
    """Whoever differs from the few that share a weight was hidden: the rest agree, for no reason."""
    random = np.random.default_rng(5)
    rows = 3_000
    weight, status = random.integers(0, 300, rows), random.integers(0, 2, rows)
    age = random.integers(20, 60, rows)
    combination = (weight * 2 + status) * 100 + age
    _, place, counts = np.unique(combination, return_inverse=True, return_counts=True)
    codes = (age - 20).astype(np.int32)
    codes[counts[place] < 2] = HIDDEN  # k = 2: only twins keep their age
    columns = [
        CodedColumn(name="weight", codes=weight.astype(np.int32), cardinality=300),
        CodedColumn(name="status", codes=status.astype(np.int32), cardinality=2),
        CodedColumn(name="age", codes=codes, cardinality=40),
    ]
    by_group: dict[tuple[int, int], set[int]] = {}
    for row in np.flatnonzero(codes >= 0).tolist():
        by_group.setdefault((weight[row], status[row]), set()).add(int(codes[row]))
    agree = sum(len(ages) == 1 for ages in by_group.values())
    assert agree > 0.5 * len(by_group) > 50  # the forged evidence is there
    completion = complete_columns(columns, ["weight", "status", "age"])
    told = completion.columns["age"].teller >= 0
    right = told & (completion.columns["age"].codes == age - 20)
    assert told.sum() - right.sum() <= 0.05 * max(told.sum(), 1)


def test_a_single_key_has_no_twins() -> None:
    release = Release()
    household = np.arange(ROWS) // 2
    release.add("household", household, text=True)
    release.add("region", release.random.integers(0, 9, ROWS)[household], hide=400, text=True)
    assert release.complete("region").relations


def test_a_running_number_follows_from_the_record_before() -> None:
    release = Release()
    release.add("number", np.arange(ROWS), hide=200)
    release.columns[0].codes[:1] = 0
    release.add("sex", noise(release, 2))
    completion = release.complete("number", ordered=True)
    release.assert_filled(completion, "number")
    assert completion.relations[0].columns == ("number of the record before",)


def test_a_relation_that_is_wrong_for_hidden_cells_is_claimed_and_not_verified() -> None:
    release = Release()
    household = np.arange(ROWS) // 4
    release.add("household", household, text=True)
    release.add("region", release.random.integers(0, 9, ROWS)[household], hide=60, text=True)
    release.add("sex", noise(release, 2))
    hidden = np.flatnonzero(release.columns[1].codes == HIDDEN)
    for wrong, used in ((6, True), (30, False)):
        truth = release.truth["region"].copy()
        truth[hidden[:wrong]] = (truth[hidden[:wrong]] + 1) % 9
        keys = ["region", "sex"]
        verified = complete_columns(release.columns, keys, truth={"region": truth})
        assert bool(verified.relations) is used
    assert release.complete("region", "sex").relations


def test_evidence_from_a_draw_of_groups_fills_as_all_groups_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    release = Release()
    household = release.random.permutation(np.arange(ROWS) // 3)
    release.add("household", household, text=True)
    release.add("region", release.random.integers(0, 9, ROWS)[household], hide=100, text=True)
    release.add("size", noise(release, 4), hide=50)
    release.add("sex", noise(release, 2))
    whole = release.complete("region", "size", "sex")
    monkeypatch.setattr(tuning, "REFILL_ROWS", 400)
    monkeypatch.setattr(tuning, "REFILL_LEAST_GROUPS", 100)
    drawn = release.complete("region", "size", "sex")
    assert (drawn.columns["region"].codes == whole.columns["region"].codes).all()
    [by_draw], [by_all] = drawn.relations, whole.relations
    assert by_draw.cells == by_all.cells > 50
    assert 100 < by_draw.support.rows < 0.6 * by_all.support.rows


def test_a_date_of_birth_tells_the_age_of_who_was_born_between_two_of_the_same_age() -> None:
    release = Release()
    born = release.random.integers(0, 25_000, ROWS)
    release.add("born", born)
    release.add("age", 90 - born // 365, hide=100)
    release.add("sex", noise(release, 2), hide=20, text=True)
    completion = release.complete("age", "sex")
    told = completion.columns["age"].codes
    is_hidden = release.columns[1].codes == HIDDEN
    assert (told[is_hidden & (told >= 0)] == release.truth["age"][is_hidden & (told >= 0)]).all()
    assert (told[is_hidden] >= 0).sum() >= 75  # others stand at the edge of a year
    assert ("range", ("born",)) in {(r.form, r.columns) for r in completion.relations}
    assert not (completion.columns["sex"].teller >= 0).any()


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(-2, 2)), min_size=1, max_size=14),
    st.booleans(),
)
def test_ranges_predict_what_plain_loops_predict(rows: list[tuple[int, int]], own: bool) -> None:
    values: dict[int, set[int]] = {}
    for number, code in rows:
        values.setdefault(number, set()).update({code} if code >= 0 else set())

    def predict(number: int) -> int:
        below = [values[n] for n in sorted(values) if n < number and values[n]]
        above = [values[n] for n in sorted(values) if n > number and values[n]]
        if not below or not above or len(below[-1]) > 1 or below[-1] != above[0]:
            return -1
        return -1 if own and values[number] and values[number] != below[-1] else min(below[-1])

    numbers = np.array([number for number, _ in rows], float)
    codes = np.array([code for _, code in rows], np.int32)
    predicted = predict_by_ranges(rank_numbers(numbers), codes, own=own)
    assert predicted.tolist() == [predict(number) for number, _ in rows]
    if not own:
        count = [(code, predict(number)) for number, code in rows if code >= 0]
        count = [(code, told) for code, told in count if told >= 0]
        support = measure_ranges(rank_numbers(numbers), codes, 1)
        assert (support.rows, support.right) == (len(count), sum(c == t for c, t in count))
        others = [(code, told) for code, told in count if code != 1]
        assert support.other_rows == len(others)
        assert support.other_right == sum(code == told for code, told in others)
        groups = {number for number, code in rows if code >= 0 and predict(number) >= 0}
        assert support.groups == len(groups)


@pytest.mark.parametrize("exceptions", [0, 10])
def test_a_total_and_its_parts_tell_each_other(exceptions: int) -> None:
    release = Release()
    parts = [np.where(noise(release, 2), 0, noise(release, 50_000)) / 100 for _ in range(6)]
    total = np.round(np.sum(parts, axis=0), 2)
    total[release.random.choice(ROWS, exceptions, replace=False)] += 3
    release.add("total", total, hide=90)
    for number, part in enumerate(parts):
        release.add(f"part {number}", part, hide=60 if not number else 0)
    release.add("noise", noise(release, 900))
    completion = release.complete("total", "part 0")
    both = (release.columns[0].codes == HIDDEN) & (release.columns[1].codes == HIDDEN)
    for place, name in enumerate(["total", "part 0"]):
        is_hidden = release.columns[place].codes == HIDDEN
        wrong = is_hidden & ~both & (completion.columns[name].codes != release.truth[name])
        assert wrong.sum() <= exceptions
        linear = [r for r in completion.relations if (r.form, r.target) == ("linear", name)]
        assert [len(relation.columns) for relation in linear] == [6]


def test_a_part_that_is_absent_adds_nothing_to_its_total() -> None:
    release = Release()
    parts = [noise(release, 5_000) for _ in range(3)]
    absent = [noise(release, 3) == 0 for _ in range(3)]
    total = np.sum([np.where(gone, 0, part) for part, gone in zip(parts, absent, strict=True)], 0)
    release.add("total", total, hide=90)
    for number, (part, gone) in enumerate(zip(parts, absent, strict=True)):
        release.add(f"part {number}", part, absent=gone)
    release.assert_filled(release.complete("total"), "total")
