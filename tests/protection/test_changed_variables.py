"""What changed, variable by variable: equal to a count cell by cell, and to plain least squares."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from dataclasses import replace

import jsonschema
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.protection.test_utility import draw_release

from divulge import Dataset, Hierarchy, datasets, protection
from divulge.protection.changes.changes import hide_cells, replace_values, select_records
from divulge.protection.result.comparison.comparison import compare_variables
from divulge.protection.result.comparison.distribution import compare_distribution
from divulge.protection.result.comparison.least_squares import compare_regressions
from divulge.release import result_schema


def list_cells(dataset: Dataset, name: str) -> list[object]:
    column = dataset.columns[name]
    return [column.value(int(code)) for code in column.codes]


@given(st.integers(0, 10_000))
def test_every_cell_has_one_fate_and_is_counted_with_its_value(seed: int) -> None:
    original, released, kept, ladders = draw_release(seed)
    for name, ladder in zip(original.names, ladders, strict=True):
        change = compare_distribution(original, released, kept, name)
        before, after = list_cells(original, name), list_cells(released, name)
        fates: Counter[tuple[str, str]] = Counter()
        levels: Counter[int | None] = Counter()
        place_of = {record: place for place, record in enumerate(kept.tolist())}
        for record, value in enumerate(before):
            if value is None:
                continue
            fates[str(value), "before"] += 1
            if record not in place_of:
                fates[str(value), "removed"] += 1
                continue
            shown = after[place_of[record]]
            fate = "suppressed" if shown is None else "unchanged" if shown == value else "coarser"
            fates[str(value), fate] += 1
            if shown is not None:
                nodes = ladder[str(value)]
                levels[nodes.index(str(shown)) if shown in nodes else None] += 1
        told = {
            (each.first, fate): getattr(each, fate)
            for each in change.values
            for fate in ("before", "unchanged", "coarser", "suppressed", "removed")
            if getattr(each, fate)
        }
        assert told == dict(fates)
        assert dict(change.by_level) == dict(levels)
        assert change.absent == before.count(None)
        kept_apart = change.unchanged + change.coarser + change.suppressed + change.removed
        assert kept_apart == change.before
        assert change.recoded == change.coarser
        ranks = [each.before for each in change.values]
        assert ranks == sorted(ranks, reverse=True)


def test_a_column_at_a_level_is_compared_at_that_level() -> None:
    towns = Hierarchy.from_levels(
        [["Roma", "Centre"], ["Milano", "North"], ["Torino", "North"], ["Bari", "South"]]
    )
    original = Dataset.from_arrow(
        pa.table({"town": ["Roma", "Milano", "Torino", "Torino", "Bari", "Bari"]}),
        roles={"quasi_identifier": ["town"]},
        hierarchies={"town": towns},
    )
    coarse = {**original.columns, "town": towns.coarsen(original.columns["town"], 1)}
    released = hide_cells(replace(original, columns=coarse), {"town": np.array([0])})
    change = compare_distribution(original, released, np.arange(6), "town", 1)
    assert [(v.first, v.before, v.unchanged, v.suppressed) for v in change.values] == [
        ("North", 3, 3, 0),
        ("South", 2, 2, 0),
        ("Centre", 1, 0, 1),
    ]
    assert change.list_shares() == [(0.5, 0.6), (1 / 3, 0.4), (1 / 6, 0.0)]
    assert (change.recoded, change.coarser, change.by_level) == (5, 0, ((1, 5),))


def test_many_numbers_are_told_by_tenths_and_many_words_by_the_frequent_ones() -> None:
    numbers = list(range(100))
    words = [f"w{n % 30 if n < 60 else n}" for n in numbers]
    original = Dataset.from_arrow(
        pa.table({"n": numbers, "w": words}), roles={"quasi_identifier": ["n", "w"]}
    )
    released = hide_cells(original, {"n": np.array([0, 1, 2, 99])})
    change = compare_distribution(original, released, np.arange(100), "n")
    assert [each.grouping for each in change.values] == ["tenth"] * 10
    assert [each.before for each in change.values] == [10] * 10
    assert [each.suppressed for each in change.values] == [3, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    assert (change.values[1].first, change.values[1].last) == ("10", "19")
    change = compare_distribution(original, released, np.arange(100), "w")
    assert [each.grouping for each in change.values] == ["value"] * 19 + ["rest"]
    assert (change.values[-1].values, change.values[-1].before) == (51, 62)


def test_values_are_named_only_on_request() -> None:
    found = protection.suppress(datasets.local_suppression_example(), k=2, nulls="maybe")
    names = {str(v) for name in found.among for v in list_cells(found.original, name)} - {"None"}
    unasked = json.dumps(found.comparison.to_dict())
    assert not any(f'"{name}"' in unasked for name in names)
    asked = json.dumps(found.comparison.to_dict(values=True))
    assert all(f'"{name}"' in asked for name in names)


def draw_numbers(seed: int) -> tuple[Dataset, Dataset, np.ndarray]:
    """Records with two numbers and a word as keys, and a number that follows them; some hidden."""
    draws = random.Random(seed)  # noqa: S311  # made-up data
    rows = draws.randint(40, 80)
    age = [draws.randint(18, 90) for _ in range(rows)]
    size = [draws.choice([1.5, 2.0, 7.25, 1e6]) for _ in range(rows)]
    town = [draws.choice("abcd") for _ in range(rows)]
    wage = [
        None if draws.random() < 0.1 else 3.0 * a + (ord(t) - 96) ** 2 + draws.gauss(0, 5)
        for a, t in zip(age, town, strict=True)
    ]
    original = Dataset.from_arrow(
        pa.table({"age": age, "size": size, "town": town, "wage": wage}),
        roles={"quasi_identifier": ["age", "size", "town"], "sensitive": "wage"},
    )
    kept = np.array(sorted(draws.sample(range(rows), rows - 3)), np.int64)
    released = select_records(original, kept)
    places = np.array(sorted(draws.sample(range(rows - 3), 5)), np.int64)
    return original, hide_cells(released, {"age": places, "town": places[:2]}), kept


def fit_plainly(dataset: Dataset) -> tuple[int, float, float, dict[str, float], float]:
    """Least squares with a column of ones, a number a column, and indicators of all towns but a."""
    table = dataset.to_arrow().to_pandas().dropna(subset=["age", "size", "town", "wage"])
    towns = sorted(set(table["town"]))[1:]
    design = [np.ones(len(table)), table["age"], table["size"]]
    design += [(table["town"] == town).astype(float) for town in towns]
    matrix, wage = np.column_stack(design), table["wage"].to_numpy(float)
    beta = np.linalg.lstsq(matrix, wage, rcond=None)[0]
    rest = wage - matrix @ beta
    r_squared = 1 - float(rest @ rest) / float(((wage - wage.mean()) ** 2).sum())
    deviation = math.sqrt(float(rest @ rest) / (len(wage) - matrix.shape[1]))
    parts = {
        "age": float(np.std(matrix[:, 1] * beta[1])),
        "size": float(np.std(matrix[:, 2] * beta[2])),
        "town": float(np.std(matrix[:, 3:] @ beta[3:])),
    }
    return len(wage), r_squared, deviation, parts, float(beta[1])


@given(st.integers(0, 10_000))
def test_the_regression_is_that_of_plain_least_squares(seed: int) -> None:
    original, released, _ = draw_numbers(seed)
    found = compare_regressions(original, released, ["age", "size", "town"])
    assert found is not None
    assert found.target == "wage"
    for fit, dataset in ((found.before, original), (found.after, released)):
        assert fit is not None
        records, r_squared, deviation, parts, slope = fit_plainly(dataset)
        assert fit.records == records
        assert fit.r_squared == pytest.approx(r_squared, abs=1e-7)
        assert fit.residual_deviation == pytest.approx(deviation, rel=1e-6)
        effects = {each.name: each for each in fit.effects}
        for name, part in parts.items():
            assert effects[name].contribution == pytest.approx(part, rel=1e-5, abs=1e-5)
        assert effects["age"].coefficient == pytest.approx(slope, rel=1e-6, abs=1e-9)
        assert effects["town"].coefficient is None


def test_what_two_keys_tell_alike_is_ascribed_to_neither() -> None:
    numbers = list(range(40))
    dataset = Dataset.from_arrow(
        pa.table(
            {
                "a": numbers,
                "twice": [2 * n for n in numbers],
                "w": [["x", "y"][n % 2] for n in numbers],
                "y": [3.0 * n + 5 * (n % 2) for n in numbers],
            }
        )
    )
    found = compare_regressions(dataset, dataset, ["a", "twice", "w"], "y")
    assert found is not None
    assert found.before is not None
    assert found.before.r_squared == pytest.approx(1)
    contributions = {each.name: each.contribution for each in found.before.effects}
    assert contributions["a"] is None
    assert contributions["twice"] is None
    assert contributions["w"] == pytest.approx(2.5)


def test_a_word_is_regressed_as_whether_it_is_the_most_frequent() -> None:
    words = ["rare", "often", "often"] * 20
    dataset = Dataset.from_arrow(
        pa.table({"k": [["p", "q", "q"][n % 3] for n in range(60)], "word": words}),
        roles={"quasi_identifier": ["k"], "sensitive": "word"},
    )
    found = compare_regressions(dataset, dataset, ["k"])
    assert found is not None
    assert found.before is not None
    assert (found.is_indicator, found.target) == (True, "word")
    assert found.before.r_squared == pytest.approx(1)


@given(st.integers(0, 10_000))
def test_moments_and_correlations_are_those_of_pandas(seed: int) -> None:
    original, released, kept = draw_numbers(seed)
    found = compare_variables(original, released, kept, ["age", "size", "town"])
    before, after = (each.to_arrow().to_pandas() for each in (original, released))
    for each in found.moments:
        for moments, table in ((each.before, before), (each.after, after)):
            assert moments is not None
            numbers = table[each.name].astype(float)
            assert moments.records == numbers.count()
            assert moments.mean == pytest.approx(numbers.mean())
            assert moments.variance == pytest.approx(numbers.var())
    for pair in found.correlations:
        for figure, table in ((pair.before, before), (pair.after, after)):
            columns = table[[pair.one, pair.other]].astype(float)
            assert figure == pytest.approx(columns.corr().iloc[0, 1], abs=1e-9)
    moved = [pair.moved for pair in found.correlations]
    assert moved == sorted(moved, reverse=True)


def test_of_a_number_that_became_ranges_nothing_is_computed_afterwards() -> None:
    original, _, _ = draw_numbers(1)
    coarse = replace_values(
        original.columns["age"], np.arange(original.rows), ["18-90"] * original.rows
    )
    released = replace(original, columns={**original.columns, "age": coarse})
    found = compare_variables(original, released, np.arange(original.rows), ["age", "town"])
    [age] = [each for each in found.moments if each.name == "age"]
    assert age.after is None
    assert all(pair.after is None for pair in found.correlations if "age" in (pair.one, pair.other))


def test_what_changed_is_as_the_schema_says() -> None:
    found = protection.suppress(datasets.inflation_and_growth(200, quasi_identifiers=4), k=2)
    schema = result_schema()["properties"]["protection"]["properties"]["datasets"]
    jsonschema.validate({"companies": json.loads(json.dumps(found.to_dict()))}, schema)
    assert found.to_dict()["changes"]["attributes"][0]["records"] == 200


def test_ids_of_people_and_groups_have_no_mean() -> None:
    numbers = list(range(30))
    dataset = Dataset.from_arrow(
        pa.table(dict.fromkeys(("no", "who", "home", "firm", "weight", "age", "pay"), numbers)),
        roles={
            "identifier": ["no"],
            "person": "who",
            "household": "home",
            "group": "firm",
            "weight": "weight",
            "quasi_identifier": ["age"],
        },
    )
    found = compare_variables(dataset, dataset, np.arange(30), ["age"])
    assert [each.name for each in found.moments] == ["age", "pay"]
    assert [(each.one, each.other) for each in found.correlations] == [("age", "pay")]
