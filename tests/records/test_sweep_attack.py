"""The sweep as an adversary of a release: judged by the worst of all sets, lowered by protection."""

from __future__ import annotations

import csv
import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import jsonschema
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

import divulge as dv
from divulge.assessment import attacks
from divulge.protection.changes.changes import hide_cells
from divulge.records.sweep.known_originals import assess_protected_sweep
from divulge.records.sweep.settings import SweepSettings
from divulge.release import result_schema
from divulge.report.results import check_into

NAMES = ["a", "b", "c"]


@st.composite
def small_datasets(draw: st.DrawFn) -> dv.Dataset:
    rows = draw(st.integers(2, 14))
    domains = [draw(st.sampled_from([["x"], ["x", "y"], list("xyzuvw")])) for _ in NAMES]
    columns: dict[str, Any] = {
        name: draw(st.lists(st.sampled_from(domain), min_size=rows, max_size=rows))
        for name, domain in zip(NAMES, domains, strict=True)
    }
    columns["s"] = draw(st.lists(st.sampled_from("pqr"), min_size=rows, max_size=rows))
    columns["w"] = draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=rows, max_size=rows))
    roles = {"quasi_identifier": NAMES, "sensitive": "s", "weight": "w"}
    return dv.Dataset.from_arrow(pa.table(columns), roles=roles)


def list_sets(size: int) -> list[tuple[str, ...]]:
    return [each for n in range(1, size + 1) for each in combinations(NAMES, n)]


def attack_all(dataset: dv.Dataset, size: int, seeks: str | None, **more: Any) -> list[Any]:
    model = "CRS" if seeks is None else "CAS"
    return [dv.records.attack(dataset, model, each, seeks, **more) for each in list_sets(size)]


CASES = st.tuples(
    st.integers(1, 3), st.sampled_from([None, "s"]), st.sampled_from([None, "weight"])
)


@settings(max_examples=30, deadline=None)
@given(small_datasets(), CASES)
def test_an_adversary_of_a_sweep_knows_as_much_as_by_the_worst_of_all_sets(
    dataset: dv.Dataset, case: tuple[int, str | None, Any]
) -> None:
    size, seeks, prior = case
    found = attacks()["sweep"].run(SweepSettings(sizes=size, seeks=seeks, prior=prior), [dataset])
    each = attack_all(dataset, size, seeks, prior=prior)
    for kind in ("deterministic", "probabilistic"):
        highest = max(getattr(a, kind).posterior for a in each)
        assert getattr(found, kind).posterior == pytest.approx(highest, abs=1e-12)
        assert getattr(found, kind).prior == pytest.approx(getattr(each[0], kind).prior)
    assert float(found.find_highest_risk()) == pytest.approx(max(a.risk().max() for a in each))
    assert set(found.knows) <= set(NAMES)
    assert len(found.knows) <= size


@settings(max_examples=30, deadline=None)
@given(small_datasets(), CASES, st.data())
def test_who_knows_the_original_is_judged_by_the_worst_set_whatever_is_left_out(
    dataset: dv.Dataset, case: tuple[int, str | None, Any], data: st.DataObject
) -> None:
    size, seeks, prior = case
    cells = {
        name: np.flatnonzero(
            data.draw(st.lists(st.booleans(), min_size=dataset.rows, max_size=dataset.rows))
        )
        for name in NAMES
    }
    released = hide_cells(dataset, cells)
    chosen = SweepSettings(sizes=size, seeks=seeks, prior=prior)
    found = assess_protected_sweep(dataset, released, chosen)
    each = attack_all(dataset, size, seeks, prior=prior, release=released)
    for kind in ("deterministic", "probabilistic"):
        highest = max(getattr(a, kind).posterior for a in each)
        assert getattr(found, kind).posterior == pytest.approx(highest, abs=1e-12)
    assert float(found.find_highest_risk()) == pytest.approx(max(a.risk().max() for a in each))


def test_people_with_several_records_are_counted_and_not_their_records() -> None:
    table = pa.table({
        "person": [1, 1, 2, 3, 4, 4, 5, 6], "age": [1, 2, 2, 2, 3, 3, 4, 4], "sex": list("mfmfmfmm")
    })  # fmt: skip
    roles = {"person": "person", "quasi_identifier": ["age", "sex"]}
    visits = dv.Dataset.from_arrow(table, roles=roles)
    found = attacks()["sweep"].run(SweepSettings(records_known="all"), [visits])
    assert (found.secrets, found.certain.posterior) == (6, 4)
    assert found.to_dict()["details"]["worst"][-1]["deterministic"] == pytest.approx(4 / 6)


def test_records_that_stay_where_they_are_are_swept_as_those_in_memory(tmp_path: Path) -> None:
    pupils = dv.datasets.school_year_example()
    pupils.write(tmp_path / "pupils.parquet")
    roles = {"quasi_identifier": ["age", "gender", "grade"], "sensitive": "disability"}
    lake = dv.scan(tmp_path / "pupils.parquet", roles=roles)
    here = dv.read(tmp_path / "pupils.parquet", roles=roles)
    chosen = SweepSettings(sizes=2, seeks="disability")
    there, near = (attacks()["sweep"].run(chosen, [each]) for each in (lake, here))
    assert there.to_dict() == {**near.to_dict(), "dataset": there.dataset}


RELEASE = """
[[dataset]]
name = "pupils"
subjects = "pupils"
source = "pupils.csv"
roles = { quasi_identifier = ["day", "month", "year", "sex"], sensitive = "disability" }

[dataset.hierarchies]
day = { intervals = [[1, 11, 21], [1]] }
month = { intervals = [[1, 7], [1]] }
year = { intervals = [[1900, 2000, 2005, 2010], [1900]] }

[[adversary]]
name = "anybody"
attack = "sweep"
sizes = 3

[[adversary]]
name = "curious"
attack = "sweep"
sizes = 2
seeks = "disability"

[[limit]]
adversary = "anybody"
measure = "deterministic.posterior"
at_most = 0.05

[protection]
methods = METHODS
"""


def write_release(folder: Path, methods: str = '["recode", "suppress"]') -> Path:
    census = dv.datasets.school_census(300).to_arrow()
    names = ["day_of_birth", "month_of_birth", "year_of_birth", "gender", "disability"]
    table = census.select(names).rename_columns(["day", "month", "year", "sex", "disability"])
    dv.Dataset.from_arrow(table).write(folder / "pupils.csv")
    path = folder / "release.toml"
    path.write_text(RELEASE.replace("METHODS", methods))
    return path


def test_the_worst_sets_what_attributes_add_and_six_panels_are_reported(tmp_path: Path) -> None:
    path = write_release(tmp_path)
    verdict = check_into(dv.Release.load(path), tmp_path / "results")
    assert verdict.status == "fail"
    result = json.loads((tmp_path / "results" / "result.json").read_text())
    jsonschema.validate(result, result_schema())
    anybody, curious = (each["details"] for each in result["assessments"])
    assert [row["size"] for row in anybody["worst"]] == [1, 2, 3]
    assert anybody["worst"][-1]["knows"] == result["assessments"][0]["knows"]
    shares = [row["deterministic"] for row in anybody["worst"]]
    assert shares[-1] == result["assessments"][0]["deterministic"]["posterior"]
    assert {row["attribute"] for row in anybody["attributes"]} == {"day", "month", "year", "sex"}
    assert [(p["seeks"], p["success"]) for p in curious["panels"]] == [
        ("disability", "deterministic"), ("disability", "probabilistic"),
        (None, "deterministic"), (None, "probabilistic"),
    ]  # fmt: skip
    assert all(len(p["posterior"]) == len(anybody["listed"]) for p in anybody["panels"])
    page = (tmp_path / "results" / "report.html").read_text()
    assert page.count("<svg") == 1 + 2 * (1 + 1 + 3)  # all; of each: its own, what adds, the rest
    assert "The most dangerous sets" in page
    broken = json.loads(json.dumps(result))
    del broken["assessments"][0]["details"]["panels"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, result_schema())


@pytest.mark.parametrize("methods", ['["recode", "suppress"]', '["suppress"]'])
def test_protection_lowers_the_worst_set_as_counted_in_the_written_file(
    tmp_path: Path, methods: str
) -> None:
    release = dv.Release.load(write_release(tmp_path, methods))
    result = release.protect(tmp_path / "out")
    assert result.after.passed
    with (tmp_path / "out" / "release" / "pupils.csv").open() as file:
        rows = list(csv.DictReader(file))
    keys = [tuple((row[n], row.get(f"{n}_status")) for n in ("day", "month", "year", "sex"))
            for row in rows]  # fmt: skip
    for places in combinations(range(4), 3):
        classes = Counter(tuple(key[place] for place in places) for key in keys)
        assert sum(size == 1 for size in classes.values()) <= 0.05 * 300
    if "recode" in methods:
        told = " ".join(map(str, result.explain()))
        assert "day was recoded to level" in told
        assert "the share of records at risk went from" in (
            tmp_path / "out" / "internal" / "decisions.txt"
        ).read_text()  # fmt: skip


def test_what_cannot_be_swept_is_said_before_anything_is_read(tmp_path: Path) -> None:
    path = write_release(tmp_path)
    text = path.read_text()
    text = text.replace("sizes = 3", 'sizes = 3\nsets = [["dya", "sex"]]')
    path.write_text(text.replace('seeks = "disability"', 'seeks = "day"\nknows = ["day"]'))
    with pytest.raises(dv.InvalidInput) as error:
        dv.Release.load(path)
    said = str(error.value)
    for part in ('Did you mean "day"?', "leave one of the two out", "take it out of knows"):
        assert part in said
