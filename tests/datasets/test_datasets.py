import inspect
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from divulge import datasets, records
from divulge.classes.class_sizes import count_dataset_classes
from divulge.data import Dataset
from divulge.datasets.companies import Balance
from divulge.datasets.school_census import QUASI_IDENTIFIERS, SENSITIVE
from divulge.work import DivulgeError

CENSUS = datasets.school_census(rows=60_000)


def share(attribute: str, value: object) -> float:
    column = CENSUS.columns[attribute]
    return float(np.mean(column.codes == column.values.to_pylist().index(value)))


def test_the_census_has_the_thirteen_attributes_of_the_paper() -> None:
    assert set(CENSUS.names) == {*QUASI_IDENTIFIERS, *SENSITIVE}
    assert (len(CENSUS.quasi_identifiers), len(CENSUS.names)) == (11, 13)


def test_the_same_seed_gives_the_same_census_and_another_gives_another() -> None:
    again = datasets.school_census(rows=60_000)
    other = datasets.school_census(rows=60_000, seed=1)
    assert again.fingerprint == CENSUS.fingerprint
    assert other.fingerprint != CENSUS.fingerprint


def test_one_pupil_in_forty_has_a_disability() -> None:
    assert share("disability", "yes") == pytest.approx(0.024, abs=0.003)


def test_three_in_four_were_born_where_they_live() -> None:
    born, lives = (
        CENSUS.columns[name].to_arrow().to_numpy(zero_copy_only=False)
        for name in ("city_of_birth", "city_of_residency")
    )
    at_home = np.mean([b == home for b, home in zip(born, lives, strict=True) if b == b])
    assert at_home == pytest.approx(0.75, abs=0.02)


def test_who_was_born_abroad_has_no_city_of_birth() -> None:
    abroad = CENSUS.columns["nationality"].to_arrow().to_numpy(zero_copy_only=False) != "Brazilian"
    missing = CENSUS.columns["city_of_birth"].codes == CENSUS.columns["city_of_birth"].missing_code
    assert np.array_equal(abroad, missing)
    assert 0 < abroad.mean() < 0.01


@pytest.mark.parametrize("attribute", ["city_of_residency", "school_code"])
def test_cities_and_schools_are_unequal_as_zipf_says(attribute: str) -> None:
    sizes = np.sort(np.bincount(CENSUS.columns[attribute].codes))[::-1]
    tenth = len(sizes) // 10
    assert sizes[:tenth].sum() > 1.4 * tenth * sizes.mean()
    assert sizes[0] > 3 * np.median(sizes)


def test_a_school_is_of_one_type_and_some_have_far_more_riders_than_others() -> None:
    rows = CENSUS.select(["school_code", "school_type", "transport"]).to_arrow().to_pylist()
    types: dict[int, set[str]] = {}
    for row in rows:
        types.setdefault(row["school_code"], set()).add(row["school_type"])
    assert all(len(of_school) == 1 for of_school in types.values())
    pupils = Counter(row["school_code"] for row in rows)
    riders = Counter(row["school_code"] for row in rows if row["transport"] == "yes")
    shares = [riders[school] / count for school, count in pupils.items() if count > 100]
    assert np.std(shares) > 0.1


def test_no_pupil_is_born_on_a_day_that_does_not_exist() -> None:
    longest = {
        1: 31,
        2: 28,
        3: 31,
        4: 30,
        5: 31,
        6: 30,
        7: 31,
        8: 31,
        9: 30,
        10: 31,
        11: 30,
        12: 31,
    }
    days = CENSUS.columns["day_of_birth"].to_arrow().to_pylist()
    months = CENSUS.columns["month_of_birth"].to_arrow().to_pylist()
    assert all(1 <= day <= longest[month] for day, month in zip(days, months, strict=True))


def test_knowing_more_singles_out_more_and_a_school_code_alone_some_are_few() -> None:
    """Alvim et al. 2022, Sec. 5.2: the pattern of the real census."""
    knows = ["school_code", "day_of_birth", "month_of_birth", "year_of_birth", "gender"]
    found = [records.attack(CENSUS, knows=knows[: n + 1]).deterministic.posterior for n in range(5)]
    assert found == sorted(found)
    assert found[-1] > 0.9


@pytest.mark.parametrize("count", [4, 5, 6, 8, 9])
def test_companies_have_the_number_of_quasi_identifiers_asked_for(count: int) -> None:
    companies = datasets.inflation_and_growth(rows=200, quasi_identifiers=count)
    assert len(companies.quasi_identifiers) == count
    assert companies.roles["weight"] == "Weight"


def test_the_less_balanced_the_companies_the_more_stand_alone() -> None:
    """Bellomarini et al., Sec. 5: W as surveyed, U unbalanced, V very unbalanced."""
    below = []
    for balance in ("W", "U", "V"):
        companies = datasets.inflation_and_growth(rows=25_000, balance=balance)
        below.append(count_dataset_classes(companies, companies.quasi_identifiers).records_below(5))
    assert below[0] < 50, "their survey needed less than 50 suppressions at k = 5"
    assert below[0] < below[1]
    assert below[0] < below[2]


@pytest.mark.parametrize(
    ("rows", "balance", "alone", "below_3"),
    [
        (25_000, "W", (0.0008, 0.0020), (0.0008, 0.0020)),
        (25_000, "U", (0.03, 0.06), (0.04, 0.08)),
        (25_000, "V", (0.05, 0.10), (0.07, 0.13)),
        (100_000, "W", (0.0008, 0.0020), (0.0008, 0.0020)),
        (100_000, "U", (0.015, 0.035), (0.025, 0.050)),
        (100_000, "V", (0.03, 0.06), (0.045, 0.080)),
    ],
)
def test_with_heavy_tails_many_companies_stand_alone_also_among_many(
    rows: int, balance: Balance, alone: tuple[float, float], below_3: tuple[float, float]
) -> None:
    companies = datasets.inflation_and_growth(rows, balance, heavy_tails=True)
    sizes = count_dataset_classes(companies, companies.quasi_identifiers)
    assert alone[0] < sizes.records_below(2) / rows < alone[1]
    assert below_3[0] < sizes.records_below(3) / rows < below_3[1]


def test_heavy_tails_change_some_cells_and_weights_and_nothing_else() -> None:
    plain = datasets.inflation_and_growth(2_000, "U")
    tailed = datasets.inflation_and_growth(2_000, "U", heavy_tails=True)
    for name in plain.quasi_identifiers:
        before, after = (each.to_arrow()[name].to_pylist() for each in (plain, tailed))
        rare = [now for was, now in zip(before, after, strict=True) if was != now]
        assert all(value.startswith("rare ") for value in rare)
        assert 0 < len(rare) < 0.04 * plain.rows
    others = [name for name in plain.names if name not in (*plain.quasi_identifiers, "Weight")]
    assert tailed.select(others).to_arrow().equals(plain.select(others).to_arrow())


@pytest.mark.parametrize(
    ("example", "rows", "total"),
    [
        (datasets.language_example, 4, None),
        (datasets.inflation_and_growth_example, 20, ("Weight", 2822)),
        (datasets.trade_transactions_example, 14, ("value", 168_768.92)),
        (datasets.trade_totals_example, 5, ("value", 168_769)),
        (datasets.occupations_example, 15, ("respondents", 361)),
        (datasets.frequency_table_example, 9, ("count", 291)),
        (datasets.purchases_example, 10, ("number", 40)),
        (datasets.local_suppression_example, 7, None),
    ],
)
def test_the_papers_tables_add_up(
    example: object, rows: int, total: tuple[str, float] | None
) -> None:
    dataset = example()  # type: ignore[operator]  # a function from the table above
    assert dataset.rows == rows
    if total is not None:
        name, wanted = total
        assert sum(dataset.columns[name].to_arrow().to_pylist()) == pytest.approx(wanted)


def test_codes_with_leading_zeros_stay_codes() -> None:
    orders = datasets.trade_transactions_example().columns["order"].to_arrow().to_pylist()
    assert orders[1] == "08986300003"


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: datasets.school_census(rows=0), "give a number from 1"),
        (lambda: datasets.inflation_and_growth(balance="Z"), "give one of W, U, V"),  # type: ignore[arg-type]
        (lambda: datasets.inflation_and_growth(quasi_identifiers=3), "give 4 to 9"),
        (lambda: datasets.inflation_and_growth(rows=0), "give a number from 1"),
        (lambda: datasets.school_year_example(3), "the years 1 and 2"),
        (lambda: datasets.trade_month(products=0), "products: 0 is no number from 1"),
        (lambda: datasets.trade_month(cities=-5, importers=0), "2 problems"),
        (lambda: datasets.trade_month(cities=0), "cities: 0 is no number from 1"),
        (lambda: datasets.trade_month(customs_units=-1), "customs_units: -1 is no number from 0"),
        (lambda: datasets.trade_month(extra=1.5), "extra: 1.5 is no share"),
        (lambda: datasets.trade_month(headings=1_416), "do not fit into 4 digits"),
        (lambda: datasets.trade_month(products=5, headings=6), "more than the 5 codes"),
        (lambda: datasets.trade_month(cities=26), "fewer than the 27 states"),
        (lambda: datasets.trade_month(products=10_001, headings=1), "too many for 1 headings"),
    ],
)
def test_what_cannot_be_made_is_refused(make: object, complaint: str) -> None:
    with pytest.raises(DivulgeError, match=complaint):
        make()  # type: ignore[operator]  # a function from the table above


def test_a_month_can_have_more_codes_than_headings_of_four_digits_suggest() -> None:
    month = datasets.trade_month(transactions=30_000, products=9_000)
    headings = set(month.by_city.columns["heading"].to_arrow().to_pylist())
    assert all(len(heading) == 4 for heading in headings)
    # All headings occur, the last one too, and those of the codes are those of the totals.
    assert {code[:4] for code in values(month.by_state, "product")} == headings
    assert max(headings) == "9998"


@pytest.fixture(scope="module")
def usual_month() -> datasets.TradeMonth:
    """A month with the usual places, codes and countries, of which fewer transactions are made."""
    return datasets.trade_month(transactions=100_000, excluded=0, extra=0)


def values(dataset: Dataset, name: str) -> set[Any]:
    return set(dataset.columns[name].to_arrow().to_pylist())


def test_a_usual_month_has_the_shape_of_the_case_study(usual_month: datasets.TradeMonth) -> None:
    usual = inspect.signature(datasets.trade_month).parameters
    assert usual["products"].default == 7_062
    assert usual["transactions"].default > 800_000
    month = usual_month
    for dataset in (month.by_city, month.by_state, month.importers, month.truth):
        assert len(values(dataset, "state")) == 27
    assert 1_500 < len(values(month.importers, "city")) < 2_300
    assert values(month.truth, "city") <= values(month.by_city, "city")
    assert values(month.by_city, "city") == values(month.importers, "city")
    assert 5_000 < len(values(month.by_state, "product")) <= 7_062
    assert all(len(code) == 8 for code in values(month.by_state, "product"))
    assert 1_100 < len(values(month.by_city, "heading")) <= 1_200
    assert len(values(month.by_city, "country")) == len(values(month.by_state, "country")) == 150
    # Both sides tell the customs unit; the largest of a hundred clears a seventh, or a bit more.
    assert values(month.transactions, "customs_unit") <= values(month.by_state, "customs_unit")
    assert 90 < len(values(month.by_state, "customs_unit")) <= 102
    cleared = np.bincount(month.transactions.columns["customs_unit"].codes)
    assert 1 / 8 < cleared.max() / month.transactions.rows < 1 / 5
    # A state has its cities, and a city lies in one state.
    lies_in = set(zip(*(month.importers.columns[c].codes for c in ("city", "state")), strict=True))
    assert len(lies_in) == len(values(month.importers, "city"))


def test_codes_of_few_importers_are_in_the_totals_only(usual_month: datasets.TradeMonth) -> None:
    month = usual_month
    published = values(month.transactions, "product")
    withheld = values(month.by_state, "product") - published
    assert published < values(month.by_state, "product")
    assert len(withheld) == month.suppressed_codes > 1_000
    # Fewer than four importers are in three states at most.
    states: dict[str, set[str]] = {}
    for row in month.by_state.select(["product", "state"]).to_arrow().to_pylist():
        states.setdefault(row["product"], set()).add(row["state"])
    assert max(len(states[code]) for code in withheld) == 3
    assert max(len(states[code]) for code in published) > 20


def test_records_have_decimals_and_totals_are_whole_numbers(
    usual_month: datasets.TradeMonth,
) -> None:
    amounts = usual_month.transactions.columns
    for name, decimals in (("value", 2), ("weight", 5)):
        some = np.array(sorted(values(usual_month.transactions, name)))
        assert (some > 0).all()
        assert np.abs(some - some.round(decimals)).max() == 0
        assert (some != some.round(decimals - 1)).mean() > 0.3
    assert {"freight", "insurance", "quantity"} <= set(amounts)
    for table in (usual_month.by_city, usual_month.by_state):
        for name in ("value", "weight"):
            assert pa.types.is_integer(table.columns[name].to_arrow().type)


def test_a_month_without_customs_units_is_the_same_but_for_them() -> None:
    asked: Any = {"transactions": 4_000, "importers": 200, "products": 90, "countries": 6}
    told, silent = datasets.trade_month(**asked), datasets.trade_month(**asked, customs_units=0)
    assert "customs_unit" not in {*silent.transactions.names, *silent.by_state.names}
    rest = [name for name in told.transactions.names if name != "customs_unit"]
    assert told.transactions.select(rest).to_arrow().equals(silent.transactions.to_arrow())
    assert told.by_city.to_arrow().equals(silent.by_city.to_arrow())
    assert told.truth.to_arrow().equals(silent.truth.to_arrow())
    # Without them, what several units cleared for a state is one total, rounded once.
    assert told.by_state.rows > 1.2 * silent.by_state.rows
    keys = ["product", "country", "state"]
    assert set(map(tuple, rows_of(told.by_state, keys))) == set(
        map(tuple, rows_of(silent.by_state, keys))
    )


def rows_of(dataset: Dataset, names: list[str]) -> list[list[Any]]:
    return [list(row.values()) for row in dataset.select(names).to_arrow().to_pylist()]
