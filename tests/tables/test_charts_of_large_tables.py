"""Charts of large tables: scales that fit magnitudes, and what is suppressed level by level."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from divulge import Dataset, Hierarchy, tables
from divulge.tables.table.cells_by_level import count_cells_by_level
from divulge.tables.table.charts import choose_width_bands, draw_audited_table

WIDTHS = st.one_of(
    st.just(0.0),
    st.just(np.inf),
    st.integers(1, 10**12).map(float),
    st.floats(0.001, 1e9),
)


@given(st.lists(WIDTHS, min_size=1, max_size=30))
def test_every_width_is_in_one_band_whatever_its_magnitude(widths: list[float]) -> None:
    chart = draw_audited_table(np.array(widths), [])
    assert sum(record["cells"] for record in chart.records) == len(widths)
    assert chart.records[0] == {"width": "0", "cells": widths.count(0.0)}


@given(st.lists(WIDTHS, max_size=30))
def test_bands_of_widths_follow_each_other_without_gap(widths: list[float]) -> None:
    bands = choose_width_bands(np.array(widths))
    for (_, high), (low, _) in itertools.pairwise(bands):
        assert low == high + 1
    assert len(bands) <= 10


def test_cells_of_a_turnover_are_not_all_in_one_bar() -> None:
    chart = draw_audited_table(np.array([0.0, 900.0, 20_000.0, 3_000_000.0]), [])
    assert max(record["cells"] for record in chart.records) == 1


def test_what_is_suppressed_is_counted_level_by_level() -> None:
    towns = Hierarchy.from_pairs([("Roma", "Centre"), ("Milano", "North"), ("Torino", "North")])
    rows = [("Roma", "F", 4), ("Milano", "F", 5), ("Milano", "M", 6), ("Torino", "M", 50)]
    dataset = Dataset.from_arrow(
        pa.table(
            {
                name: list(cells)
                for name, cells in zip(("town", "sex", "pay"), zip(*rows, strict=True), strict=True)
            }
        ),
        hierarchies={"town": towns},
    )
    table = tables.Table.from_records(dataset, ["town", "sex"], value="pay")
    structure = table.structure
    suppressed = np.zeros(structure.size, np.bool_)
    found = {each.name: each for each in count_cells_by_level(structure, table.units, suppressed)}
    # Three towns, and two areas, each by two sexes.
    finest, areas = found["the finest level"], found["subtotals of town"]
    assert (finest.cells, finest.value, finest.suppressed) == (6, 65, 0)
    assert (areas.cells, areas.value) == (4, 65)
    assert found["totals over town and sex"].value == 65
    assert sum(each.cells for each in found.values()) == structure.size
    suppressed[:] = True
    for each in count_cells_by_level(structure, table.units, suppressed):
        assert (each.suppressed, each.suppressed_value) == (each.cells, each.value)


def test_a_table_too_large_to_be_drawn_is_seen_at_a_glance() -> None:
    table = tables.Table.from_cells([[(7 * r + c) % 5 + 1 for c in range(30)] for r in range(30)])
    published = table.publish({(0, 0), (0, 1), (1, 0), (1, 1)})
    levels = count_cells_by_level(table.structure, table.units, published.suppressed)
    chart = draw_audited_table(np.array([3.0]), tables.intervals(published).crosstabs(), levels)
    assert chart.title.startswith("4 of 961 cells are suppressed")
    shares = {(r["level"], r["of"]): r["share"] for r in chart.records if "level" in r}
    assert shares["the finest level", "of the cells"] == pytest.approx(4 / 900)
    assert shares["totals over row and column", "of the value"] == 0
    assert chart.svg().startswith("<svg")
