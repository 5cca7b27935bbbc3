"""What the tests of the library share: small made-up companies, and a program run on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from hypothesis import settings
from hypothesis import strategies as st

from divulge.data import Dataset
from divulge.rules import Facts, evaluate, list_dictionary_facts, load_library

FEW = settings(max_examples=6)
"""An example runs a program on several datasets at once, since each run takes a while."""

_AREAS = st.sampled_from(["North", "South", "Center"])
_SECTORS = st.sampled_from(["Commerce", "Textiles"])
_STAFF = st.integers(1, 2)
_WEIGHTS = st.sampled_from([1, 1.5, 2, 30.25, 7])


@st.composite
def companies(
    draw: st.DrawFn, number: int = 0, *, with_nulls: bool = True, max_rows: int = 8
) -> Dataset:
    """Few companies with few values, weighed or not; their keys are of this dataset alone."""
    rows = draw(st.integers(1, max_rows))
    cells: dict[str, Any] = {"Id": [f"{number}-{row}" for row in range(rows)]}
    for name, values in (("Area", _AREAS), ("Sector", _SECTORS), ("Staff", _STAFF)):
        column = (st.none() | values) if with_nulls else values
        cells[name] = draw(st.lists(column, min_size=rows, max_size=rows))
    roles = {"quasi_identifier": ["Area", "Sector", "Staff"], "identifier": ["Id"]}
    if draw(st.booleans()):
        cells["Weight"] = draw(st.lists(_WEIGHTS, min_size=rows, max_size=rows))
        roles["weight"] = ["Weight"]
    return Dataset.from_arrow(pa.table(cells), roles=roles, name=f"companies {number}")


@st.composite
def several_companies(
    draw: st.DrawFn, *, with_nulls: bool = True, max_rows: int = 8
) -> list[Dataset]:
    """Up to six datasets of companies, which rules must keep apart."""
    drawn = companies
    return [
        draw(drawn(number, with_nulls=with_nulls, max_rows=max_rows))
        for number in range(draw(st.integers(1, 6)))
    ]


def copy_roles(dataset: Dataset) -> dict[str, str | list[str]]:
    """The roles of a dataset as another one takes them."""
    return {str(role): names for role, names in dataset.roles.items()}


def run_library(datasets: Dataset | Iterable[Dataset], *names: str, **given: list[Any]) -> Facts:
    """Programs of the library on one dataset or several; what is given besides are rows."""
    listed = [datasets] if isinstance(datasets, Dataset) else list(datasets)
    program = load_library(*names)
    facts = [list_dictionary_facts(dataset, program) for dataset in listed]
    joined = {
        name: pa.concat_tables([one[name] for one in facts], promote_options="permissive")
        for name in facts[0]
    }
    return evaluate(program, {**joined, **given})


def read_by_record(facts: Facts, predicate: str, dataset: Dataset) -> list[float]:
    """Facts (I, figure), one for each record, in the order of the records."""
    figures = dict(facts.rows(predicate))
    assert len(figures) == facts.count(predicate)
    keys = dataset.to_arrow().column("Id").to_pylist()
    return [float(figures[key]) for key in keys]
