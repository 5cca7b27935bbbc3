"""`dv.read` takes what data scientists have in their hands."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import divulge as dv
from divulge.work import InvalidInput

VALUES = {"age": [25, None, 31], "town": ["Roma", "Bari", None]}
ROLES = {"quasi_identifier": ["age", "town"]}


@pytest.mark.parametrize(
    "frame",
    [
        pa.table(VALUES),
        pl.DataFrame(VALUES),
        pd.DataFrame(VALUES),
        pd.DataFrame(VALUES, index=["x", "y", "z"]),
        pa.RecordBatchReader.from_batches(pa.table(VALUES).schema, pa.table(VALUES).to_batches()),
    ],
    ids=["arrow", "polars", "pandas", "pandas with an index", "arrow stream"],
)
def test_frames_of_every_library_are_the_same_records(frame: Any) -> None:
    people = dv.read(frame, roles=ROLES, name="people")
    assert people.equals(dv.data.Dataset.from_arrow(pa.table(VALUES)))
    assert (people.name, people.quasi_identifiers) == ("people", ["age", "town"])


def test_of_a_frame_some_columns_are_taken_and_marks_are_read() -> None:
    frame = pl.DataFrame({"age": ["25", "suppressed"], "town": ["Roma", "Bari"]})
    people = dv.read(frame, columns=["age"], hidden="suppressed")
    assert people.to_arrow().to_pydict() == {"age": ["25", None]}


def test_options_of_files_are_refused_for_a_frame() -> None:
    with pytest.raises(InvalidInput, match="this is a data frame"):
        dv.read(pl.DataFrame(VALUES), encoding="utf-8")


def test_results_print_as_tables_and_show_as_escaped_html() -> None:
    frame = pl.DataFrame({"<age>": [25, 25, 31], "town": ["<b>", "<b>", "Bari"]})
    people = dv.read(frame, roles={"quasi_identifier": ["<age>", "town"]})
    swept: Any = dv.records.sweep(people)
    assert "attributes  most dangerous set" in str(swept)
    assert "&lt;age&gt;" in swept._repr_html_()
    assert "<age>" not in swept._repr_html_()
    groups: Any = dv.records.attack(people, model="CRS", knows=["<age>"]).by("town")
    assert str(groups).splitlines()[0].startswith("town  ")
    assert [line.split()[0] for line in str(groups).splitlines()[1:]] == ["<b>", "Bari"]
    assert "<b>" not in groups._repr_html_()
    purchases = dv.events.History(dv.datasets.purchases_example(), "user", "date", "goods")
    ten: Any = dv.events.ten_attackers(purchases)
    assert ten._repr_html_().startswith("<table>")
    assert len(str(ten).splitlines()) == 12
