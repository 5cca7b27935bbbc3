"""Certificates of large tables say what the intervals of all cells say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import divulge as dv
from divulge.tables import SensitivityRules, Table, audit, tuning
from divulge.tables.feasibility.assess import Judgement, assess_judgement, judge_cells
from divulge.tables.feasibility.certificates import certify_cells
from divulge.tables.feasibility.sensitivity import compute_protection, find_sensitive_cells

LEVELS = dv.Hierarchy.from_levels([["s1", "s"], ["s2", "s"], ["t1", "t"], ["t2", "t"]])
SURVEY = dv.datasets.business_survey(firms=1000)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Table, Any]:
    """A table of two or three dimensions, hierarchical or linked, and a pattern of it."""
    kind = draw(st.sampled_from(["flat", "cube", "hierarchical", "linked"]))
    shape = {"flat": (3, 3), "cube": (2, 3, 2), "hierarchical": (4, 2, 2), "linked": (2, 2, 2)}
    size = int(np.prod(shape[kind]))
    cells = np.array(draw(st.lists(st.integers(0, 12), min_size=size, max_size=size)))
    cells = cells.reshape(shape[kind])
    if kind == "hierarchical":
        axes = [
            dv.tables.Axis.hierarchical("a", ["s1", "s2", "t1", "t2"], LEVELS),
            dv.tables.Axis.flat("b", ["x", "y"]),
            dv.tables.Axis.flat("c", ["u", "v"]),
        ]
        table = Table.from_cells(cells, axes=axes)
    elif kind == "linked":
        rows = [
            {"a": f"a{i}", "b": f"b{j}", "c": f"c{k}"}
            for (i, j, k), count in np.ndenumerate(cells)
            for _ in range(count)
        ] or [{"a": "a0", "b": "b0", "c": "c0"}]
        data = dv.Dataset.from_arrow(pa.Table.from_pylist(rows))
        table = dv.tables.link(
            *(Table.from_records(data, list(names)) for names in (("a", "b"), ("b", "c")))
        )
    else:
        table = Table.from_cells(cells)
    count = table.structure.size
    pattern = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    return table, np.array(pattern) > 0


def judge(table: Table, pattern: Any, most_exact: int, **settings: Any) -> Judgement:
    grids = table.structure.to_grids(pattern)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "MOST_EXACT_CELLS", most_exact)
        return judge_cells(table, table.publish(grids), grids, **settings)


@settings(max_examples=25)
@given(tables(), st.integers(1, 6), st.sampled_from(["known", "secret"]))
def test_what_is_certified_is_what_intervals_and_whole_tables_show(
    drawn: tuple[Table, Any], width: int, zeros: str
) -> None:
    table, pattern = drawn
    with_intervals = judge(table, pattern, 10**9, width=width, zeros=zeros)
    certified = judge(table, pattern, 0, width=width, zeros=zeros)
    assert certified.is_lacking.tolist() == with_intervals.is_lacking.tolist()
    assert certified.is_open.tolist() == with_intervals.is_open.tolist()
    assert certified.cell_intervals.disclosed == with_intervals.cell_intervals.disclosed
    # What stands for an interval lies within it.
    assert np.all(with_intervals.low <= certified.low)
    assert np.all(certified.high <= with_intervals.high)
    one = assess_judgement(table, certified, "t")
    other = assess_judgement(table, with_intervals, "t")
    assert one.certain == other.certain
    assert one.at_worst.certain == other.at_worst.certain
    assert one.right.posterior <= other.at_worst.right.posterior + 1e-9


@settings(max_examples=25)
@given(tables(), st.integers(1, 6))
def test_certified_values_are_reached_by_linear_programs_of_another_solver(
    drawn: tuple[Table, Any], width: int
) -> None:
    from scipy.optimize import linprog

    table, pattern = drawn
    view = table.read_with("known")
    published = view.publish(view.structure.to_grids(pattern))
    protection = compute_protection(view, SensitivityRules(), width)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "MOST_EXACT_CELLS", 0)
        found = certify_cells(published, view.units, pattern, protection)
    if found is None:
        return
    unknown = np.flatnonzero(published.unknown)
    relations = view.structure.relations.to_matrix(view.structure.size).toarray()
    right = -(relations @ np.where(published.unknown, 0, view.units))
    limits = [(float(published.floor[cell]), None) for cell in unknown]
    for cell in np.flatnonzero(found.is_certified)[:4]:
        objective = (unknown == cell).astype(float)
        reach = [
            linprog(sign * objective, A_eq=relations[:, unknown], b_eq=right, bounds=limits)
            for sign in (1, -1)
        ]
        assert reach[0].fun is not None
        assert reach[0].fun <= found.low[cell] + 1e-6
        is_unbounded = reach[1].fun is None
        assert is_unbounded or -(reach[1].fun or 0.0) >= found.high[cell] - 1e-6
        assert found.high[cell] - found.low[cell] >= width


def test_a_survey_of_businesses_is_judged_alike_by_certificates_and_by_intervals() -> None:
    rules = SensitivityRules(p_percent=10)
    records = SURVEY.to_arrow()
    sections = pa.array([code[0] for code in records["activity"].to_pylist()])
    data = dv.Dataset.from_arrow(records.append_column("section", sections))
    by = ["section", "region", "size"]
    table = Table.from_records(data, by, value="turnover", contributor="holding")
    sensitive = find_sensitive_cells(table, rules)
    random = np.random.default_rng(1)
    hidden = (sensitive | (random.random(len(sensitive)) < 0.5)) & (table.units > 0)
    published = table.publish(table.structure.to_grids(hidden))
    both = []
    for most in (0, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tuning, "MOST_EXACT_CELLS", most)
            both.append(audit(published, table, rules=rules))
    certified, exact = both
    assert len(certified.certified) > 100
    assert certified.status == exact.status
    assert certified.unprotected == exact.unprotected
    assert certified.undecided == exact.undecided
    assert certified.intervals.disclosed == exact.intervals.disclosed
    assert {**certified.intervals} == {key: exact.intervals[key] for key in certified.intervals}
    assert len(certified.intervals) + len(certified.certified) == int(hidden.sum())
    assert certified.to_dict()["certified"] == len(certified.certified)
    assert any("interval was not computed" in line for line in certified.explain())
    assert not any("interval was not computed" in line for line in exact.explain())
