"""Collective re-identification in one dataset, against the papers and a plain count."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import datasets as any_dataset

from divulge import Dataset, datasets, records
from divulge.work import InvalidInput


def plain_class_sizes(dataset: Dataset, knows: list[str]) -> list[int]:
    """The obviously right twin: how many records share each record's known values."""
    rows = [tuple(row[name] for name in knows) for row in dataset.to_arrow().to_pylist()]
    count = Counter(map(repr, rows))
    return [count[repr(row)] for row in rows]


def test_003_table_3a_knowing_gender_and_grade() -> None:
    """Alvim et al. 2022, Table 3a: certain 0 -> 10%, best guess 10 -> 50%."""
    found = records.attack(datasets.school_year_example(), "CRS", knows=["gender", "grade"])
    assert found.deterministic == (0.0, 0.1)
    assert found.probabilistic == (0.1, 0.5)
    assert (found.certain, found.right) == ((0, 1), (1, 5))
    assert found.multiplicative_leakage == 5
    assert found.additive_leakage == 0.4
    assert found.secrets == 10
    assert found.claim == "exact"


def test_002_figure_1_knowing_area_and_sector() -> None:
    """Bellomarini et al., Fig. 1: companies 1, 5, 9, 14, 15, 17 and 20 are singled out."""
    companies = datasets.inflation_and_growth_example()
    found = records.attack(companies, knows=["Area", "Sector"])
    assert found.certain.posterior == 7
    alone = np.flatnonzero(found.risk() == 1) + 1
    assert alone.tolist() == [1, 5, 9, 14, 15, 17, 20]
    assert str(found).startswith(
        "An adversary who knows Area and Sector singles out 7 of 20 companies (35%)."
    )


def test_002_figure_1_company_4_is_alone_in_the_north_in_textiles_with_a_thousand() -> None:
    companies = datasets.inflation_and_growth_example()
    found = records.attack(companies, knows=["Area", "Sector", "Employees"])
    assert found.risk()[3] == 1


@pytest.mark.data
def test_adult_marketer_risk(public_data: Any) -> None:
    """The average risk that established tools give for these five attributes."""
    from divulge import read

    adult = read(public_data / "adult" / "adult.csv")
    knows = ["sex", "age", "race", "marital-status", "education"]
    found = records.attack(adult, "marketer", knows=knows)
    assert found.probabilistic.posterior == pytest.approx(0.201313, abs=5e-7)


@given(any_dataset())
def test_the_figures_are_those_of_a_plain_count(dataset: Dataset) -> None:
    sizes = plain_class_sizes(dataset, dataset.names)
    found = records.attack(dataset)
    assert found.certain.posterior == sizes.count(1)
    assert found.right.posterior == sum(Fraction(1, size) for size in sizes)
    assert (
        found.figures["smallest_class"] == min(sizes) == records.k_anonymity(dataset, nulls="value")
    )
    assert found.risk().tolist() == [1 / size for size in sizes]


@given(any_dataset(), st.data())
def test_a_record_alone_on_some_attributes_is_alone_on_more(
    dataset: Dataset, data: st.DataObject
) -> None:
    some = data.draw(st.sets(st.sampled_from(dataset.names), min_size=1))
    fewer = records.attack(dataset, knows=sorted(some))
    more = records.attack(dataset)
    assert fewer.certain.posterior <= more.certain.posterior
    assert np.all(fewer.risk() <= more.risk())


@given(any_dataset())
def test_no_release_takes_knowledge_away(dataset: Dataset) -> None:
    found = records.attack(dataset)
    for success in (found.deterministic, found.probabilistic):
        assert 0 <= success.prior <= success.posterior <= 1
    assert found.deterministic.posterior <= found.probabilistic.posterior


@given(any_dataset(), st.data())
def test_the_groups_bear_the_whole_risk_between_them(dataset: Dataset, data: st.DataObject) -> None:
    group = data.draw(st.sampled_from(dataset.names))
    knows = data.draw(st.sets(st.sampled_from(dataset.names), min_size=1))
    whole = records.attack(dataset, knows=sorted(knows))
    parts = whole.by(group)
    values = dataset.to_arrow().column(group).to_pylist()
    sizes = plain_class_sizes(dataset, sorted(knows))
    assert set(parts) == set(values)
    assert sum(part.secrets for part in parts.values()) == whole.secrets
    for value, part in parts.items():
        of_group = [
            size for size, other in zip(sizes, values, strict=True) if repr(other) == repr(value)
        ]
        assert part.certain.posterior == of_group.count(1)
        assert part.right.posterior == pytest.approx(sum(1 / size for size in of_group))
        assert part.probabilistic.prior == pytest.approx(1 / len(values))


def test_who_bears_the_risk_in_table_3a() -> None:
    pupils = datasets.school_year_example()
    by_gender = records.attack(pupils, knows=["gender", "grade"]).by("gender")
    assert by_gender["F"].deterministic.posterior == pytest.approx(1 / 6)
    assert by_gender["M"].deterministic.posterior == 0
    assert by_gender.to_arrow().column("secrets").to_pylist() == [6, 4]


def test_attributes_whose_names_differ_in_case_only_are_two() -> None:
    import pyarrow as pa

    people = Dataset.from_arrow(pa.table({"Age": [1] * 5, "age": range(5)}))
    assert records.attack(people, knows=["Age", "age"]).certain.posterior == 5
    assert len(records.attack(people, knows=["age"]).by("Age")) == 1


@pytest.mark.parametrize("name", ["record_number", "of_group", "size", "a0", 'x"; DROP', "group"])
def test_no_name_of_an_attribute_disturbs_the_counting(name: str) -> None:
    import pyarrow as pa

    people = Dataset.from_arrow(pa.table({name: [1, 1, 2], "other": [1, 2, 2]}))
    found = records.attack(people, knows=name)
    assert found.risk().tolist() == [0.5, 0.5, 1.0]
    assert found.by(name)[2].certain.posterior == 1


def test_missing_values_are_alike_and_like_nothing_else() -> None:
    import pyarrow as pa

    people = Dataset.from_arrow(pa.table({"town": ["", None, None, "Roma"]}))
    assert records.attack(people, knows="town").certain.posterior == 2


def test_one_person_alone_is_known_before_anything_is_released() -> None:
    import pyarrow as pa

    alone = records.attack(Dataset.from_arrow(pa.table({"age": [25]})), knows=["age"])
    assert alone.deterministic == (1, 1)
    assert alone.multiplicative_leakage == 1


def test_the_model_and_the_attributes_must_exist() -> None:
    pupils = datasets.school_year_example()
    with pytest.raises(InvalidInput, match='"CRX" is not an attack model. Did you mean "CRS"?'):
        records.attack(pupils, "CRX")
    with pytest.raises(InvalidInput, match='no attribute "gendr". Did you mean "gender"?'):
        records.attack(pupils, knows=["gendr"])
    with pytest.raises(InvalidInput, match='names "age" more than once'):
        records.attack(pupils, knows=["age", "age"])
    with pytest.raises(InvalidInput, match="no quasi-identifier is declared"):
        records.attack(pupils.describe())
    with pytest.raises(InvalidInput, match='by: the dataset has no attribute "grad"'):
        records.attack(pupils).by("grad")


def test_the_chart_counts_every_record_once() -> None:
    census = datasets.school_census(rows=3000)
    found = records.attack(census, knows=["school_code", "day_of_birth", "gender"])
    bars = found.chart().records
    assert sum(bar["count"] for bar in bars) == census.rows
    assert bars[0] == {
        "alike": "1",
        "count": found.certain.posterior,
        "share": found.deterministic.posterior,
    }
