"""Releases whose truth is known, against answers that take another way to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from divulge.data import Hierarchy
from divulge.tables import (
    Axis,
    Published,
    Table,
    exposed_contributors,
    intervals,
    link,
    link_published,
    matching_attack,
    read_cells,
    read_crosstab,
    read_jj,
    suppress,
    write_jj,
)
from divulge.tables.suppression.result import protect_table
from divulge.work import InvalidInput


def inner_cells(tables: list[Table], lowest: int, linked: Table, hidden: Any, cell: int) -> Any:
    """The plain twin: unknown are the inner cells of each table, from `lowest`, and nothing else.

    Every published cell is the sum of inner cells, and a cell of two tables has the same sum.
    """
    offsets = np.cumsum([0, *(np.prod([a.leaves for a in table.axes]) for table in tables)])
    sums: dict[int, list[np.ndarray]] = {}
    for number, table in enumerate(tables):
        inside = tuple(axis.leaves for axis in table.axes)
        for key, cells in np.ndenumerate(linked.structure.numbers[number]):
            row = np.zeros(offsets[-1])
            for leaf in np.ndindex(inside):
                chains = (a.chain(k) for a, k in zip(table.axes, leaf, strict=True))
                if all(k in chain for k, chain in zip(key, chains, strict=True)):
                    row[offsets[number] + np.ravel_multi_index(leaf, inside)] = 1
            sums.setdefault(int(cells), []).append(row)
    rows: list[np.ndarray] = []
    right: list[float] = []
    for number, ways in sums.items():
        rows.extend(way - ways[0] for way in ways[1:])
        right.extend([0.0] * (len(ways) - 1))
        if not hidden[number]:
            rows.append(ways[0])
            right.append(float(linked.units[number]))
    found = []
    for sign in (1, -1):
        answer = linprog(
            sign * sums[cell][0], A_eq=rows or None, b_eq=right or None, bounds=(lowest, None)
        )
        found.append(np.inf if answer.status == 3 else sign * float(answer.fun or 0))
    return np.ceil(found[0] - 1e-6), np.floor(found[1] + 1e-6)


@settings(max_examples=15)
@given(st.data())
def test_linked_tables_with_a_lowest_value_below_0_are_audited_from_their_inner_cells(
    data: st.DataObject,
) -> None:
    cube = np.array(data.draw(st.lists(st.integers(0, 9), min_size=12, max_size=12)))
    cube = cube.reshape(2, 2, 3)
    lowest = data.draw(st.sampled_from([-4, 0]))
    tables = [
        Table.from_cells(cube.sum(axis=2), names=["region", "sex"], lowest=lowest),
        Table.from_cells(cube.sum(axis=1), names=["region", "age"], lowest=lowest),
    ]
    both = link(*tables)
    size = both.structure.size
    hidden = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    found = intervals(both.publish(hidden))
    for cell in np.flatnonzero(hidden):
        expected = inner_cells(tables, lowest, both, hidden, int(cell))
        assert found[both.structure.addresses[cell]] == expected


def test_a_linked_table_of_differences_is_protected_and_attacked() -> None:
    by_sex = Table.from_cells([[3, -9], [8, 4]], names=["region", "sex"], lowest=-10)
    by_age = Table.from_cells([[-8, 1, 1], [5, 6, 1]], names=["region", "age"], lowest=-10)
    found = suppress(link(by_sex, by_age), primary=[(0, 0, 0)], width=5)
    assert intervals(found.published)[(0, 0, 0)] == (-10, 4)


@pytest.mark.parametrize("unit", [1, 10**9, 10**12])
def test_large_amounts_in_a_cube_are_bounded_as_small_ones_are(unit: int) -> None:
    cells = np.array([[[unit, 5 * unit], [0, 2]], [[0, 0], [1, 5]]])
    shown = [(0, 0, 0), (0, 2, 0), (0, 2, 1), (0, 2, 2), (1, 0, 0), (1, 2, 0), (1, 2, 1)]
    shown += [(1, 2, 2), (2, 0, 0), (2, 1, 0), (2, 2, 0)]
    table = Table.from_cells(cells)
    found = intervals(table.publish(~table.structure.to_mask(shown)))
    assert found[(0, 0, 1)] == (0, 5 * unit + 2)
    assert found[(0, 0, 2)] == (unit, 6 * unit + 2)
    assert found.disclosed == [(0, 1, 0), (1, 1, 0), (2, 2, 1), (2, 2, 2)]


def test_a_subtotal_holds_all_that_bear_its_name_at_last() -> None:
    """Chains of different lengths: Y is part of X, as a is."""
    area = Hierarchy.from_pairs([("a", "X"), ("b", "Y"), ("Y", "X"), ("c", "Z")])
    axis = Axis.hierarchical("area", ["a", "b", "c"], area)
    table = Table.from_cells([1, 10, 100], axes=[axis])
    values = dict(zip(axis.codes, table.values.tolist(), strict=True))
    assert values["X"] == 11
    assert values["Total"] == 111


def test_a_value_called_like_its_group_is_part_of_it() -> None:
    area = Hierarchy.from_levels([["North", "North"], ["Milano", "North"], ["Roma", "Center"]])
    axis = Axis.hierarchical("town", ["North", "Milano", "Roma"], area)
    table = Table.from_cells([1, 10, 100], axes=[axis])
    values = dict(zip(axis.codes, table.values.tolist(), strict=True))
    assert (values["North"], values["North (level 1)"]) == (1, 11)


def test_a_name_that_in_the_end_gathers_everything_is_the_total() -> None:
    area = Hierarchy.from_pairs([("a", "X"), ("b", "Y"), ("Y", "X")])
    assert Axis.hierarchical("area", ["a", "b"], area).codes == ("a", "b", "Y", "Total")


def test_decimals_of_large_amounts_are_kept() -> None:
    table = Table.from_cells([[1_000_000_000.5, 2], [3, 4]])
    assert table.units[0] == 10_000_000_005
    assert table.decimals == 1


def test_a_lowest_value_with_decimals_is_kept_in_a_table_of_whole_numbers() -> None:
    table = Table.from_cells([[1, 2], [3, 4]], lowest=-0.5, measure="balance")
    published = table.publish({(0, 0), (0, 1), (1, 0), (1, 1)})
    assert intervals(published)[(0, 0)] == (-0.5, 3.5)


def test_published_tables_that_contradict_each_other_are_not_linked() -> None:
    names = ["region", "sex"]
    one = Table.from_cells([[3, 9], [8, 4]], names=names).publish()
    other = Table.from_cells([[5, 9], [8, 4]], names=names).publish()
    with pytest.raises(InvalidInput, match="another value"):
        link_published(one, other)


def test_a_value_called_total_is_not_the_total_of_linked_tables() -> None:
    codes = [["Total", "b"], ["x", "y"]]
    table = Table.from_cells([[1, 2], [3, 4]], codes, ["kind", "sex"])
    both = link(table, Table.from_cells([4, 6], [["x", "y"]], ["sex"]))
    assert both.structure.size == table.structure.size
    with pytest.raises(InvalidInput, match="same codes"):
        twice = Table.from_cells([[1, 2], [3, 4]], [["b", "b"], ["x", "y"]])
        link(twice, Table.from_cells([4, 6], [["x", "y"]], ["column"]))


def test_levels_and_costs_are_given_one_array_a_linked_table() -> None:
    """The tables have different shapes, so no single array holds both."""
    by_sex = Table.from_cells([[3, 9], [8, 4]], names=["region", "sex"])
    by_age = Table.from_cells([[5, 6, 1], [6, 2, 4]], names=["region", "age"])
    both = link(by_sex, by_age)
    costs = [np.ones((3, 3)), np.full((3, 4), 5)]
    found = suppress(both, primary=[(0, 0, 0)], width=2, cost=costs)
    assert found.cost == 4


def test_a_negative_amount_of_a_single_contributor_is_read_off() -> None:
    counts = Table.from_cells([[20, 1], [15, 2]]).publish()
    losses = [[360, -22], [375, -3]]
    amounts = Table.from_cells(losses, measure="profit", lowest=-1000).publish()
    found = exposed_contributors(counts, amounts)
    assert [(one.key, one.insiders) for one in found] == [((0, 1), 0), ((1, 1), 1)]


@pytest.mark.parametrize("text", ["nan", "inf", "-inf"])
def test_what_is_no_finite_number_is_no_cell(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"r,a,b,Total\nx,{text},*,5\ny,*,*,7\nTotal,6,6,12\n")
    with pytest.raises(InvalidInput, match="neither a number"):
        read_crosstab(path)
    path.write_text(f"r,count\na,{text}\nb,4\nTotal,*\n")
    with pytest.raises(InvalidInput, match="neither a number"):
        read_cells(path, ["r"])


def test_a_file_with_cells_below_0_is_refused(tmp_path: Path) -> None:
    """Suppressed cells may then be below 0 too, and an audit from 0 would leave the truth out."""
    path = tmp_path / "table.csv"
    path.write_text("r,a,b,Total\nx,*,*,5\ny,*,*,7\nz,-4,9,5\nTotal,6,11,17\n")
    with pytest.raises(InvalidInput, match="below 0"):
        read_crosstab(path)
    path.write_text("r,count\na,-1\nb,4\nTotal,3\n")
    with pytest.raises(InvalidInput, match="below 0"):
        read_cells(path, ["r"])
    table = Table.from_cells([-1, 4], lowest=-5)
    write_jj(table, table.structure.to_mask([(0,)]), tmp_path / "table.jj")
    with pytest.raises(InvalidInput, match="below 0"):
        read_jj(tmp_path / "table.jj")


def test_a_prior_and_labels_see_values_and_not_what_lies_above_the_lowest() -> None:
    table = Table.from_cells([[3, 6], [6, 1]], lowest=-2)
    published: Published = table.publish({(0, 0), (0, 1), (1, 0), (1, 1)})

    def everything(given: Table) -> np.ndarray:
        inner = np.zeros(given.shape, dtype=bool)
        inner[:2, :2] = True
        return inner

    def three(tables: np.ndarray) -> np.ndarray:
        return np.asarray(tables[:, 0, 0] == 3, dtype=float)

    found = matching_attack(published, suppressor=everything, mode="full", prior=three)
    assert found.posterior[(0, 0)][3] == 1
    labelled = matching_attack(
        published, 4, 1, labelled=True, primary=[(0, 0), (1, 1)], suppressor=everything
    )
    assert labelled.intervals[(0, 0)] == (3, 3)


def test_weights_with_decimals_are_costs_with_decimals(tmp_path: Path) -> None:
    table = Table.from_cells([[7, 11, 60], [10, 60, 11], [60, 12, 60]])
    primary = table.structure.to_mask([(0, 0)])
    path = tmp_path / "table.jj"
    write_jj(table, primary, path, width=3, cost=[5] * 16)
    lines = path.read_text().splitlines()
    for cell, weight in ((0, "0.4"), (1, "0.4"), (4, "0.2"), (5, "0.3")):
        fields = lines[2 + cell].split()
        lines[2 + cell] = " ".join([*fields[:2], weight, *fields[3:]])
    path.write_text("\n".join(lines) + "\n")
    given = read_jj(path)
    found = protect_table(given.table, given.problem(), "optimal", unit=given.cost_unit)
    assert found.cost == pytest.approx(1.3)


def test_a_jj_file_without_sums_bounds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "table.jj"
    path.write_text("0\n1\n0 7 1 u 0 100 0 0 3\n0\n")
    assert intervals(read_jj(path).table.publish([(0,)]))[(0,)] == (0, np.inf)


def test_costs_by_value_of_large_amounts_do_not_run_over() -> None:
    """Costs times widths beyond 64 bits sent the search in circles for ever."""
    large = [[110_000_000_003, 190_000_000_003], [0, 280_000_000_002]]
    table = Table.from_cells(large, measure="turnover")
    asked = {"width": 10**10, "upper": 5 * 10**9, "cost": "value", "margins": "suppressible"}
    asked["zeros"] = "secret"
    found = suppress(table, primary=[(0, 1)], **asked)  # type: ignore[arg-type]  # one by one
    assert found.gap == 0
    assert found.cost == 580_000_000_009


def test_costs_by_value_are_proven_where_units_are_tiny_beside_them() -> None:
    large = [[1, 1, 18], [520_000_000_001, 710_000_000_002, 0]]
    table = Table.from_cells(large, measure="turnover")
    found = suppress(
        table,
        primary=[(2, 1)],
        width=5,
        cost="value",
        margins="suppressible",
        publish=[(2, 2), (0, 2), (0, 3)],
        seconds=20,
    )
    assert (found.gap, found.cost) == (0, 2_460_000_000_008)


def test_amounts_that_no_sum_holds_are_refused() -> None:
    with pytest.raises(InvalidInput, match="too large"):
        Table.from_cells([[1e13, 0.123456], [3, 4]])
    with pytest.raises(InvalidInput, match="too large"):
        Table.from_cells([[2**62, 2**62], [3, 4]])


def test_a_draw_that_leaves_a_cell_without_bound_is_given_up_and_not_an_error() -> None:
    table = Table.from_cells([[1, 7], [5, 3]])
    drawn = suppress(table, 3, 4, margins="suppressible", resist_matching=True, seed=18)
    assert drawn.resistance is not None
    assert 0 < drawn.resistance.vulnerability < 1
