"""Evidence by leaving each row out: the compiled loops and the plain ones agree."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from divulge.protection.refill import kernels
from divulge.protection.refill.columns import CodedColumn
from divulge.protection.refill.search.discovery import complete_columns
from divulge.protection.refill.search.support import Support, bound_share_below, choose_support
from divulge.work.arrays import Ints

from .plain import HIDDEN, count_support_by_loops, refill_by_loops, wilson


def draw_codes(random: np.random.Generator, rows: int, values: int, missing: float) -> Ints:
    codes = random.integers(0, values, rows)
    codes[random.random(rows) < missing] = kernels.ABSENT
    codes[random.random(rows) < missing] = kernels.HIDDEN
    return codes.astype(np.int32)


def test_leaving_each_row_out_gives_what_plain_loops_give_in_300_cases() -> None:
    seen = np.zeros(10, np.int64)
    for seed in range(300):
        random = np.random.default_rng(seed)
        rows = int(random.integers(2, 60))
        group = draw_codes(random, rows, int(random.integers(1, 25)), 0.1)
        other = draw_codes(random, rows, int(random.integers(1, 4)), 0.1)
        target = draw_codes(random, rows, int(random.integers(1, 4)), 0.2)
        combination = random.integers(0, 3, rows)
        partition = kernels.group_rows(group, 25, 1)
        figures = kernels.count_support(*partition, target, combination, 0)
        assert figures.tolist() == count_support_by_loops(group, target, combination, 0)
        refined = kernels.refine_groups(*partition, other, 4)
        figures_of_two = kernels.count_support(*refined, target, combination, 0)
        pairs = list(zip(group.tolist(), other.tolist(), strict=True))
        assert figures_of_two.tolist() == count_support_by_loops(pairs, target, combination, 0)
        seen += figures
    assert (seen > 100).all()


def test_predictions_are_the_value_that_all_known_members_share() -> None:
    told = 0
    for seed in range(300):
        random = np.random.default_rng(seed)
        rows = int(random.integers(2, 40))
        group = draw_codes(random, rows, 12, 0.1)
        known = draw_codes(random, rows, 2, 0.3)
        places, values = kernels.predict_members(*kernels.group_rows(group, 12, 1), known)
        expected = {}
        for row in range(rows):
            members = known[group == group[row]]
            shared = set(members[members >= 0].tolist())
            if known[row] == HIDDEN and group[row] >= 0 and len(shared) == 1:
                expected[row] = shared.pop()
        assert dict(zip(places.tolist(), values.tolist(), strict=True)) == expected
        told += len(expected)
    assert told > 300


def test_guesses_by_classes_are_the_mode_of_the_others() -> None:
    for seed in range(200):
        random = np.random.default_rng(seed)
        rows = int(random.integers(2, 40))
        group, target = draw_codes(random, rows, 6, 0.1), draw_codes(random, rows, 3, 0.1)
        guesses = np.full(rows, 9, np.int32)
        kernels.guess_modes(*kernels.group_rows(group, 6, 1), target, 3, guesses)
        for row in range(rows):
            is_other = (group == group[row]) & (target >= 0) & (np.arange(rows) != row)
            others = target[is_other] if group[row] >= 0 else target[:0]
            expected = int(np.argmax(np.bincount(others))) if others.size else 9
            assert guesses[row] == expected


def test_a_draw_of_groups_tears_none_apart() -> None:
    codes = np.random.default_rng(3).integers(0, 5_000, 50_000).astype(np.int32)
    rows, starts = kernels.group_rows(codes, 5_000, 10)
    assert 3_000 < rows.size < 7_000
    for begin, end in itertools.pairwise(starts):
        code = codes[rows[begin]]
        assert set(rows[begin:end].tolist()) == set(np.flatnonzero(codes == code).tolist())


@pytest.mark.parametrize(("right", "total"), [(0, 5), (30, 30), (73, 73), (95, 100), (14, 15)])
def test_the_lower_bound_is_that_of_wilson(right: int, total: int) -> None:
    assert bound_share_below(right, total) == pytest.approx(wilson(right, total))


def test_evidence_of_twins_counts_only_if_there_is_very_much_of_it() -> None:
    def figures(rows: int, groups: int) -> Ints:
        return np.array([rows, rows, rows, rows, groups, 0, 0, 0, 0, 0])

    assert choose_support(figures(900, 300)) is None
    assert choose_support(figures(1_000, 49)) is None
    assert choose_support(figures(1_000, 50)) is not None
    assert choose_support(figures(900, 300), trusts_twins=True) is not None


def test_a_relation_that_was_never_wrong_comes_before_any_other() -> None:
    exact = Support(rows=80, right=80, other_rows=40, other_right=40, groups=20)
    other = Support(rows=9_999, right=9_998, other_rows=99, other_right=99, groups=9_999)
    assert exact.strength > other.strength
    assert other.lower_bound > exact.lower_bound


def test_cells_are_filled_as_plain_loops_fill_them() -> None:
    filled_by_one = filled_in_all = 0
    for seed in range(25):
        random = np.random.default_rng(seed)
        rows = 170
        household = random.permutation(np.arange(rows) // 4)
        region = random.integers(0, 4, rows)[household]
        area = np.where(random.random(rows) < 0.03, 3 - region, region) * 2 + household % 2
        left, up = random.integers(0, 5, rows), random.integers(0, 5, rows)
        both = (left * 3 + up * 2) % 5
        truth = [household, region, area, left, up, both]
        columns = [np.array(column, np.int32) for column in truth]
        for place in (1, 2, 3, 5):
            columns[place][random.random(rows) < 0.12] = HIDDEN
        expected = refill_by_loops([column.tolist() for column in columns])
        coded = [
            CodedColumn(name=str(place), codes=codes, cardinality=50)
            for place, codes in enumerate(columns)
        ]
        completion = complete_columns(coded, [column.name for column in coded])
        for name, column in completion.columns.items():
            assert column.codes.tolist() == expected[int(name)], (seed, name)
        for relation in completion.relations:
            filled_by_one += relation.used if len(relation.columns) == 1 else 0
            filled_in_all += relation.used
    assert filled_by_one > 100
    assert filled_in_all - filled_by_one > 100
