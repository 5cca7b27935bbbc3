"""A file whose rows are cells is the table that its cells make; what does not fit is refused."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import divulge as dv
from divulge.data import Dataset
from divulge.tables.table.count_rows import build_table_of_counts

CELLS: dict[str, list[Any]] = {
    "region": ["N", "N", "N", "S", "S", "S", "All", "All", "All"],
    "sex": ["f", "m", "T", "f", "m", "T", "f", "m", "T"],
    "people": [1, 9, 10, 8, 12, 20, 9, 21, 30],
}


def dataset(**columns: list[Any]) -> Dataset:
    return Dataset.from_arrow(pa.table({**CELLS, **columns}))


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=2, max_size=4))
def test_cells_make_the_table_that_their_people_make(cells: list[list[int]]) -> None:
    rows = [(f"r{a}", f"c{b}", n) for a, line in enumerate(cells) for b, n in enumerate(line)]
    as_cells = pa.table(dict(zip(("a", "b", "n"), map(list, zip(*rows, strict=True)), strict=True)))
    made = build_table_of_counts(Dataset.from_arrow(as_cells), ["a", "b"], "n")
    people = list(itertools.chain(*([(a, b)] * n for a, b, n in rows)))
    counted = np.zeros(made.shape)
    for a, b in people:
        counted[np.ix_([int(a[1:]), -1], [int(b[1:]), -1])] += 1
    assert made.values.tolist() == counted.tolist()
    assert made.is_frequency


def test_rows_of_totals_are_computed_again_and_must_be_right() -> None:
    table = build_table_of_counts(dataset(), ["region", "sex"], "people", ["All", "T"])
    assert table.values.tolist() == [[1, 9, 10], [8, 12, 20], [9, 21, 30]]
    wrong = dataset(people=[1, 9, 10, 8, 12, 20, 9, 21, 31])
    with pytest.raises(dv.InvalidInput, match="1 rows of totals are not the sums"):
        build_table_of_counts(wrong, ["region", "sex"], "people", ["All", "T"])


def test_what_is_no_count_and_cells_that_are_twice_there_are_refused() -> None:
    with pytest.raises(dv.InvalidInput, match="is no count in 1 rows"):
        build_table_of_counts(
            dataset(people=[None, 9, 10, 8, 12, 20, 9, 21, 30]), ["region", "sex"], "people"
        )
    with pytest.raises(dv.InvalidInput, match="there twice"):
        build_table_of_counts(dataset(), ["region"], "people", ["All"])


def test_a_total_that_nobody_named_is_not_taken_for_a_region() -> None:
    with pytest.raises(dv.InvalidInput, match="say what stands for the total"):
        build_table_of_counts(
            dataset(region=["N"] * 3 + ["S"] * 3 + ["Total"] * 3), ["region", "sex"], "people"
        )


def test_a_release_of_cells_is_suppressed_and_what_goes_out_withstands_an_audit() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        random = np.random.default_rng(4)
        rows = [
            (f"r{a}", f"c{b}", int(n))
            for (a, b), n in np.ndenumerate(random.integers(1, 30, (6, 5)))
        ]
        lines = ["area,size,n", *(f"{a},{b},{n}" for a, b, n in rows)]
        (place / "cells.csv").write_text("\n".join(lines) + "\n")
        (place / "release.toml").write_text(
            '[[dataset]]\nname = "cells"\nsource = "cells.csv"\n'
            'roles = { quasi_identifier = ["area", "size"], non_identifying = ["n"] }\n'
            '[[adversary]]\nname = "reader"\nattack = "tables"\nby = ["area", "size"]\n'
            'value = "n"\ncells = true\nmin_frequency = 5\nwidth = 5\nresist_matching = true\n'
            '[[limit]]\nadversary = "reader"\nmeasure = "deterministic.posterior"\nat_most = 0\n'
        )
        protected = dv.Release.load(place / "release.toml").protect(out=place / "out")
        assert protected.status == "pass"
        [table] = (place / "out" / "release").glob("*.csv")
        published = dv.tables.read_crosstab(table)
        small = [(int(a[1:]), int(b[1:])) for a, b, n in rows if 0 < n < 5]
        bounds = dv.tables.intervals(published)
        assert small
        for cell in small:
            low, high = bounds[cell]
            assert high - low >= 5
