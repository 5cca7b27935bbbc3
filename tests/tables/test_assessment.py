"""What an adversary makes of a published table; rules of sensitivity; contributors."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from tests.tables.test_audit import FIGURE_2, published_tables

import divulge as dv
from divulge.tables import (
    Published,
    Table,
    assess,
    exposed_contributors,
    intervals,
    sensitive_cells,
)
from divulge.tables.feasibility.table_counts import count_marginals
from divulge.work import InvalidInput


def counted_plainly(published: Published) -> dict[int, Counter[int]]:
    """The twin: every value of every suppressed cell, kept where all sums are true."""
    found = intervals(published)
    matrix = published.structure.relations.to_matrix(published.structure.size).toarray()
    ranges = [range(int(a), int(b) + 1) for a, b in zip(found.lower, found.upper, strict=True)]
    counts: dict[int, Counter[int]] = {int(cell): Counter() for cell in found.cells}
    for values in product(*ranges):
        table = published.units.copy()
        table[found.cells] = values
        if not np.any(matrix @ table):
            for cell, value in zip(found.cells, values, strict=True):
                counts[int(cell)][value] += 1
    return counts


@settings(max_examples=40)
@given(published_tables())
def test_counting_tables_equals_trying_all(published: Published) -> None:
    found = intervals(published)
    if np.any(np.isinf(found.upper)) or np.prod(found.widths + 1) > 20_000:
        return
    plain = counted_plainly(published)
    for cell, counter in count_marginals(published, found).items():
        whole, mine = sum(plain[cell].values()), sum(counter.values())
        assert set(counter) == set(plain[cell])
        for value, count in counter.items():
            assert count * whole == plain[cell][value] * mine, "the same shares"


def test_example_1_is_guessed_once_in_eighteen() -> None:
    table = Table.from_cells(FIGURE_2)
    found = assess(table, table.publish({(0, 0), (0, 1), (1, 0), (1, 1)}), {(0, 0)}, zeros="secret")
    assert found.claim == "exact"
    assert found.probabilistic.posterior == pytest.approx(1 / 18)
    assert found.probabilistic.prior == pytest.approx(1 / 78), "0 to the column's total of 77"
    assert found.deterministic.posterior == 0
    assert found.chart().records[3] == {"width": "10-49", "cells": 1}


def test_a_cell_suppressed_alone_is_certain() -> None:
    table = Table.from_cells(FIGURE_2)
    found = assess(table, table.publish({(0, 0)}), {(0, 0)})
    assert found.deterministic.posterior == 1
    assert "1 of 1 sensitive cells can be computed exactly" in str(found)


def test_too_many_tables_to_count_give_a_bound() -> None:
    table = Table.from_cells(np.full((6, 6), 50))
    found = assess(
        table,
        table.publish(np.pad(np.ones((6, 6), bool), ((0, 1), (0, 1)))),
        {(0, 0)},
        zeros="secret",
    )
    assert found.claim == "bound"
    assert found.probabilistic.posterior == pytest.approx(1 / 301)


def figure_1() -> tuple[Table, Table]:
    cells = dv.datasets.occupations_example().to_arrow()
    counts = np.array(cells["respondents"]).reshape(3, 5)
    incomes = np.array(cells["income"]).reshape(3, 5)
    codes = [["M1", "M2", "M3"], ["P1", "P2", "P3", "P4", "P5"]]
    names = ["region", "occupation"]
    return (
        Table.from_cells(counts, codes, names),
        Table.from_cells(incomes, codes, names, measure="income"),
    )


def test_figure_1_exposes_one_respondent_to_all_and_two_to_each_other() -> None:
    counts, incomes = figure_1()
    found = exposed_contributors(counts.publish(), incomes.publish(), coalition=1)
    assert [(e.key, e.contributors, e.insiders) for e in found] == [((1, 2), 1, 0), ((2, 4), 2, 1)]
    assert str(found[0]).startswith("region=M2, occupation=P3: the amount of the only contributor")
    outsiders = exposed_contributors(counts.publish(), incomes.publish(), coalition=0)
    assert [e.key for e in outsiders] == [(1, 2)]


def test_a_suppressed_cell_that_can_be_computed_exposes_its_contributor_all_the_same() -> None:
    counts, incomes = figure_1()
    alone = incomes.publish({(1, 2)})
    assert [e.key for e in exposed_contributors(counts.publish(), alone, 0)] == [(1, 2)]
    hidden = incomes.publish({(1, 2), (1, 0), (0, 2), (0, 0)})
    assert exposed_contributors(counts.publish(), hidden, 0) == []


def firms() -> dv.Dataset:
    records = {
        "sector": ["a", "a", "a", "a", "b", "b", "b"],
        "size": ["s", "s", "s", "l", "s", "l", "l"],
        "owner": ["x", "x", "y", "z", "x", "y", "z"],
        "turnover": [50, 40, 10, 7, 30, 30, 40],
    }
    return dv.Dataset.from_arrow(pa.table(records))


def test_contributors_are_holdings_not_records() -> None:
    by_record = Table.from_records(firms(), ["sector", "size"], "turnover")
    by_owner = Table.from_records(firms(), ["sector", "size"], "turnover", contributor="owner")
    assert by_record.contributions is not None
    assert by_owner.contributions is not None
    place = by_owner.structure.cell_number((0, 1))  # sizes are in order: l, s
    assert by_record.contributions.count_contributors()[place] == 3
    assert by_owner.contributions.count_contributors()[place] == 2
    assert by_owner.contributions.find_largest_amounts(2)[place].tolist() == [90, 10]
    total = by_owner.structure.cell_number((2, 2))
    assert by_owner.contributions.find_largest_amounts(3)[total].tolist() == [120, 47, 40]


def test_the_rules_of_sensitivity_find_their_cells() -> None:
    table = Table.from_records(firms(), ["sector", "size"], "turnover")

    def cells(**rules: object) -> list[list[int]]:
        found: list[list[int]] = np.argwhere(sensitive_cells(table, **rules)).tolist()  # type: ignore[arg-type]
        return found

    assert cells(singletons=True) == [[0, 0], [1, 1]]
    assert cells(min_frequency=3) == [[0, 0], [1, 0], [1, 1]]
    assert cells(dominance=(1, 90)) == [[0, 0], [1, 1]]
    # sector a, small: 50, 40, 10; what is left beyond the two largest is 10, 20% of 50
    assert [0, 1] in cells(p_percent=25)
    assert [0, 1] not in cells(p_percent=15)
    assert cells(request=99) == [[0, 0], [1, 1]]


def test_rules_that_need_contributors_say_so() -> None:
    table = Table.from_cells([[5.5, 2.5], [1.5, 9.5]], measure="turnover")
    with pytest.raises(InvalidInput) as error:
        sensitive_cells(table, min_frequency=3, p_percent=10)
    assert "p_percent: needs the contributors" in str(error.value)
    assert "min_frequency: needs counts" in str(error.value)


def test_zeros_are_primary_by_name_only() -> None:
    table = Table.from_cells([[0, 9], [9, 9]])
    assert not sensitive_cells(table, min_frequency=3).any()
    assert np.argwhere(sensitive_cells(table, min_frequency=3, zeros_primary=True)).tolist() == [
        [0, 0]
    ]


def test_a_table_without_sensitive_cells_has_nothing_to_learn() -> None:
    table = Table.from_cells(FIGURE_2)
    found = assess(table, table.publish(), set())
    assert found.secrets == 0
    assert found.deterministic.posterior == 0
    assert "No cell is sensitive" in str(found)
    assert found.to_dict()["probabilistic"]["posterior"] == 0
