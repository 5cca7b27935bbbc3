"""Columns whose values mostly mean one value: dictionaries with exceptions."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from divulge.protection import tuning
from divulge.protection.refill import kernels
from divulge.protection.refill.columns import CodedColumn
from divulge.protection.refill.search.discovery import complete_columns
from divulge.work.arrays import Ints

from .plain import ABSENT, HIDDEN

ROWS = 1_500


def make_strata(exceptions: float, seed: int = 3) -> list[CodedColumn]:
    """Regions of unequal size, and strata that tell them but for some records."""
    random = np.random.default_rng(seed)
    region = random.choice(6, ROWS, p=[0.35, 0.25, 0.15, 0.12, 0.08, 0.05])
    stratum = np.where(random.random(ROWS) < exceptions, random.integers(0, 6, ROWS), region)
    return [
        CodedColumn(name="region", codes=region.astype(np.int32), cardinality=6),
        CodedColumn(name="stratum", codes=stratum.astype(np.int32), cardinality=6),
        CodedColumn(name="age", codes=random.integers(0, 9, ROWS).astype(np.int32), cardinality=9),
    ]


def hide(columns: list[CodedColumn], rows: Ints) -> list[CodedColumn]:
    first, *others = columns
    codes = first.codes.copy()
    codes[rows] = HIDDEN
    return [CodedColumn(name=first.name, codes=codes, cardinality=first.cardinality), *others]


def count_by_loops(
    groups: Ints, target: Ints, combination: Ints, mode: int, least: int, share: float
) -> list[int]:
    """Leave every shown row of a large group out: does it have what most others have?"""
    figures = [0] * 5
    for number in np.unique(groups[groups >= 0]).tolist():
        rows = np.flatnonzero(groups == number).tolist()
        shown = [row for row in rows if target[row] >= 0]
        hidden = sum(target[row] == HIDDEN for row in rows)
        counts = Counter(int(target[row]) for row in shown)
        if len(shown) < least or len(shown) < hidden:
            continue
        if len({combination[row] for row in shown}) < 2:
            continue
        best, most = max(counts.items(), key=lambda pair: pair[1])
        if most < share * len(shown):
            continue
        figures[4] += 1
        for row in shown:
            others = counts - Counter([int(target[row])])
            rival = max((n for value, n in others.items() if value != best), default=0)
            is_right = target[row] == best and others[best] > rival
            figures[0] += 1
            figures[1] += is_right
            figures[2] += target[row] != mode
            figures[3] += is_right and target[row] != mode
    return figures


@given(st.integers(0, 100_000))
def test_the_evidence_is_that_of_plain_loops(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = int(random.integers(5, 120))
    groups = random.integers(-1, 5, rows).astype(np.int32)
    chances = [0.1, 0.1, 0.5, 0.2, 0.1]
    target = random.choice([HIDDEN, ABSENT, 0, 1, 2], rows, p=chances).astype(np.int32)
    combination, least = random.integers(0, 3, rows), int(random.integers(2, 9))
    shares = np.array([0.5, 0.7])
    partition = kernels.group_rows(groups, 5, 1)
    figures = kernels.count_majority_support(*partition, target, combination, 0, 3, least, shares)
    expected = [
        figure
        for share in shares.tolist()
        for figure in count_by_loops(groups, target, combination, 0, least, share)
    ]
    assert figures.tolist() == expected


@pytest.mark.parametrize(("exceptions", "is_claimed"), [(0.01, True), (0.08, False)])
def test_few_exceptions_are_believed_and_more_only_where_they_prove_right(
    exceptions: float, is_claimed: bool
) -> None:
    columns = make_strata(exceptions)
    agree = np.flatnonzero(columns[0].codes == columns[1].codes)
    rows = np.random.default_rng(1).choice(agree, 60, replace=False)
    released = hide(columns, rows)
    claimed = complete_columns(released, ["region", "age"], read_from=["stratum"])
    assert [r.form for r in claimed.relations] == (["majority"] if is_claimed else [])
    truth = {"region": columns[0].codes}
    verified = complete_columns(released, ["region", "age"], truth=truth, read_from=["stratum"])
    [relation] = [r for r in verified.relations if r.form == "majority"]
    assert relation.cells == 60
    assert np.array_equal(verified.columns["region"].codes, columns[0].codes)
    assert "stratum mostly determines region" in str(relation)


def test_a_majority_that_is_wrong_on_hidden_cells_is_not_verified() -> None:
    columns = make_strata(0.08)
    rows = np.flatnonzero(columns[0].codes != columns[1].codes)
    truth = {"region": columns[0].codes}
    found = complete_columns(hide(columns, rows), ["region"], truth=truth, read_from=["stratum"])
    assert not found.relations


def test_a_value_that_means_something_is_used_where_others_mean_nothing() -> None:
    columns = make_strata(0.0)
    random = np.random.default_rng(4)
    # Of the strata three tell the region, with exceptions; the rest are mixed.
    is_mixed = columns[0].codes < 2
    stratum = np.where(is_mixed, 9, columns[0].codes)
    is_moved = random.random(ROWS) < 0.06
    stratum = np.where(is_moved, random.permutation(stratum), stratum).astype(np.int32)
    columns[1] = CodedColumn(name="stratum", codes=stratum, cardinality=10)
    told = np.flatnonzero(~is_mixed & ~is_moved)[::6]
    truth = {"region": columns[0].codes}
    found = complete_columns(hide(columns, told), ["region"], truth=truth, read_from=["stratum"])
    [relation] = found.relations
    assert (relation.form, relation.cells) == ("majority", told.size)


@given(st.integers(0, 10_000))
def test_shuffled_columns_have_no_majority(seed: int) -> None:
    columns = make_strata(0.05, seed)
    random = np.random.default_rng(seed)
    shuffled = [
        CodedColumn(name=c.name, codes=random.permutation(c.codes), cardinality=c.cardinality)
        for c in columns
    ]
    rows = random.choice(ROWS, 100, replace=False)
    truth = {"region": shuffled[0].codes}
    for known in (None, truth):
        assert not complete_columns(hide(shuffled, rows), ["region"], truth=known).relations


def test_small_groups_have_no_majority() -> None:
    columns = make_strata(0.03)
    home = np.arange(ROWS) // (tuning.REFILL_MAJORITY_MEMBERS - 1)
    by_home = np.argsort(columns[0].codes, kind="stable")
    codes = np.empty(ROWS, np.int32)
    codes[by_home] = home
    columns[1] = CodedColumn(name="home", codes=codes, cardinality=int(home.max()) + 1)
    rows = np.random.default_rng(1).choice(ROWS, 60, replace=False)
    found = complete_columns(
        hide(columns, rows), ["region"], truth={"region": columns[0].codes}, read_from=["home"]
    )
    assert all(relation.form != "majority" for relation in found.relations)
