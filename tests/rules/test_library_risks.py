"""The library's measures of risk (Algorithms 3 to 6) are the product's, on small random tables."""

from __future__ import annotations

from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.library_cases import (
    FEW,
    copy_roles,
    read_by_record,
    run_library,
    several_companies,
)

import divulge as dv
from divulge.data import Dataset


@FEW
@given(several_companies())
def test_reidentification_risk_is_that_of_the_kernel(datasets: list[Dataset]) -> None:
    with run_library(datasets, "reidentification_risk") as facts:
        for dataset in datasets:
            kernel = dv.records.reidentification_risk(dataset, nulls="maybe").values
            found = read_by_record(facts, "risk", dataset)
            assert found == pytest.approx(kernel.tolist(), rel=1e-12)


@FEW
@given(several_companies())
def test_individual_risk_is_that_of_the_kernel(datasets: list[Dataset]) -> None:
    with run_library(datasets, "individual_risk") as facts:
        for dataset in datasets:
            kernel = dv.records.individual_risk(dataset, "ratio", nulls="maybe").values
            found = read_by_record(facts, "risk", dataset)
            assert found == pytest.approx(kernel.tolist(), rel=1e-12)


@FEW
@given(several_companies(), st.integers(1, 5))
def test_k_anonymity_is_that_of_the_kernel(datasets: list[Dataset], k: int) -> None:
    with run_library(datasets, "k_anonymity", k=[(k,)]) as facts:
        for dataset in datasets:
            kernel = dv.records.frequencies(dataset, "maybe").sample.tolist()
            assert read_by_record(facts, "frequency", dataset) == kernel
            assert min(kernel) == dv.records.k_anonymity(dataset, nulls="maybe")
            risk = read_by_record(facts, "risk", dataset)
            assert risk == [float(count < k) for count in kernel]


@FEW
@given(several_companies(max_rows=6), st.integers(1, 4))
def test_special_uniques_are_those_of_the_kernel(datasets: list[Dataset], k: int) -> None:
    with run_library(datasets, "suda", k=[(k,)]) as facts:
        for dataset in datasets:
            kernel = dv.records.minimal_unique_size(dataset, nulls="maybe").values
            risk = read_by_record(facts, "risk", dataset)
            # Without any unique the kernel's figure is above the number of attributes.
            assert risk == [float(size < min(k, 4)) for size in kernel]


@FEW
@given(several_companies(with_nulls=False, max_rows=6))
def test_minimal_sample_uniques_are_those_of_the_definition(datasets: list[Dataset]) -> None:
    with run_library(datasets, "suda", k=[(4,)]) as facts:
        found = {(key, frozenset(dict(pairs))) for _, key, pairs in facts.rows("msu")}
    assert found == set().union(*map(_list_minimal_uniques, datasets))


def _list_minimal_uniques(dataset: Dataset) -> set[tuple[object, frozenset[str]]]:
    names = dataset.quasi_identifiers
    keys = dataset.to_arrow().column("Id").to_pylist()
    rows = dataset.to_arrow().select(names).to_pylist()
    found: set[tuple[object, frozenset[str]]] = set()
    for size in range(1, len(names) + 1):
        for chosen in combinations(names, size):
            shown = [tuple(row[name] for name in chosen) for row in rows]
            for key, values in zip(keys, shown, strict=True):
                if shown.count(values) == 1 and not any(
                    (key, frozenset(part)) in found
                    for smaller in range(1, size)
                    for part in combinations(chosen, smaller)
                ):
                    found.add((key, frozenset(chosen)))
    return found


def test_tuple_20_of_figure_1_has_two_minimal_sample_uniques_on_four_attributes() -> None:
    dataset = dv.datasets.inflation_and_growth_example()
    last = dataset.to_arrow().column("Id").to_pylist()[19]

    def list_uniques(dataset: Dataset) -> set[frozenset[str]]:
        with run_library(dataset, "suda", k=[(6,)]) as facts:
            rows = facts.rows("msu")
        return {frozenset(dict(pairs)) for _, key, pairs in rows if key == last}

    on_four = {frozenset({"Sector"}), frozenset({"Employees", "Residential Rev."})}
    roles = {"identifier": ["Id"], "quasi_identifier": dataset.quasi_identifiers[:4]}
    assert list_uniques(dataset.describe(roles=roles)) == on_four
    assert list_uniques(dataset) == on_four | {
        frozenset({"Employees", "Export Rev."}),
        frozenset({"Residential Rev.", "Export Rev."}),
    }


def test_the_highest_risk_of_several_uniques_counts() -> None:
    # The first record stands alone by one attribute, and by two others together.
    table = pa.table(
        {
            "Id": ["a", "b", "c", "d"],
            "x": ["1", "0", "0", "0"],
            "y": ["1", "1", "0", "0"],
            "z": ["1", "0", "1", "0"],
        }
    )
    roles = {"identifier": ["Id"], "quasi_identifier": ["x", "y", "z"]}
    dataset = Dataset.from_arrow(table, roles=roles)
    with run_library(dataset, "suda", k=[(2,)]) as facts:
        assert facts.rows("risk") == [("a", 1), ("b", 0), ("c", 0), ("d", 0)]
    with run_library(dataset, "suda", k=[(3,)]) as facts:
        sizes = sorted(len(pairs) for _, key, pairs in facts.rows("msu") if key == "a")
        assert sizes == [1, 2]
        assert dict(facts.rows("risk"))["a"] == 1


def test_the_risks_of_section_2_are_those_of_the_tuples_alone() -> None:
    dataset = dv.datasets.inflation_and_growth_example()
    with run_library(dataset, "reidentification_risk") as facts:
        risk = read_by_record(facts, "risk", dataset)
    assert (round(max(risk), 3), round(min(risk), 3)) == (0.033, 0.003)
    assert (risk.index(max(risk)) + 1, risk.index(min(risk)) + 1) == (15, 7)


def test_figure_5_before_and_after_suppression() -> None:
    before = dv.datasets.local_suppression_example()
    after = dv.datasets.local_suppression_example(protected=True)
    for dataset, frequencies in ((before, [1, 2, 2, 2, 2, 1, 1]), (after, [5, 3, 3, 3, 3, 2, 2])):
        with run_library(dataset, "k_anonymity", k=[(2,)]) as facts:
            assert read_by_record(facts, "frequency", dataset) == frequencies
            assert read_by_record(facts, "risk", dataset) == [f < 2 for f in frequencies]


def test_figure_5_with_nothing_but_the_sector_of_the_first_hidden() -> None:
    before = dv.datasets.local_suppression_example()
    table = before.to_arrow()
    place = table.column_names.index("Sector")
    hidden = pa.array([None, *table.column("Sector").to_pylist()[1:]])
    after = Dataset.from_arrow(table.set_column(place, "Sector", hidden), roles=copy_roles(before))
    with run_library(after, "k_anonymity", k=[(2,)]) as facts:
        assert read_by_record(facts, "frequency", after) == [5, 3, 3, 3, 3, 1, 1]
