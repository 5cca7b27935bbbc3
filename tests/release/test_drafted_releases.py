"""From a stranger's file to what may go out: drafted, protected, and attacked from the file.

Nothing of a draft is edited here. What was published is read by the csv module, as others read it.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.release import made_up_sources as sources

import divulge as dv
from divulge.data import Experience
from divulge.release.protected_release import ProtectedRelease
from divulge.release.release_file.draft_file import Draft, draft, write_draft

SHIPPED = Experience.shipped()


def protect_draft(folder: Path, *places: Path) -> tuple[Draft, ProtectedRelease]:
    """Draft, write, protect: what `divulge init` and `divulge protect` do."""
    drafted = draft(list(places), folder, experience=SHIPPED)
    write_draft(drafted, folder / "release.toml")
    return drafted, dv.Release.load(folder / "release.toml").protect(out=folder / "out")


def read_published(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "out" / "release" / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def read_limits(folder: Path) -> list[dict[str, Any]]:
    return list(tomllib.loads((folder / "release.toml").read_text())["limit"])


def count_company(rows: list[dict[str, str]], among: list[str]) -> int:
    """The fewest records that could be the one somebody looks for: hidden cells fit anything."""
    classes: dict[tuple[str, ...], int] = {}
    for row in rows:
        key = tuple(
            "suppressed" if row.get(f"{name}_status") == "suppressed" else row[name]
            for name in among
        )
        classes[key] = classes.get(key, 0) + 1
    return min(
        sum(
            size
            for other, size in classes.items()
            if all(a == b or "suppressed" in (a, b) for a, b in zip(key, other, strict=True))
        )
        for key in classes
    )


@pytest.mark.parametrize(
    ("write", "kept", "gone"),
    [
        (
            sources.write_households,
            {"age", "sex", "income", "weight"},
            {"household id", "person id"},
        ),
        (sources.write_companies, {"region", "sector", "size class", "turnover"}, {"company id"}),
        (sources.write_panel, {"year", "sex", "age", "region", "wage"}, {"person id"}),
    ],
    ids=["households", "companies", "panel"],
)
def test_records_go_out_so_that_nobody_of_the_draft_singles_anybody_out(
    tmp_path: Path, write: Callable[[Path], Path], kept: set[str], gone: set[str]
) -> None:
    source = write(tmp_path)
    _, protected = protect_draft(tmp_path, source)
    assert protected.status == "pass"
    rows = read_published(tmp_path, source.name)
    assert kept <= set(rows[0])
    assert not gone & set(rows[0])
    limits = [limit for limit in read_limits(tmp_path) if limit["measure"] == "k_anonymity"]
    assert limits
    for limit in limits:
        assert len(limit["among"]) <= 8
        assert count_company(rows, limit["among"]) >= limit["at_least"] == 3
    published = protected.datasets[source.stem]
    original = protected.kept_sources[source.stem].select(published.names)
    assert not dv.protection.refill(published, original=original).verified


def test_a_purchase_history_is_judged_as_one_and_never_by_classes_of_rows(tmp_path: Path) -> None:
    source = sources.write_purchases(tmp_path)
    drafted, protected = protect_draft(tmp_path, source)
    assert drafted.kinds["till"].kind == "histories"
    assert protected.status == "pass"
    assert {limit["measure"] for limit in read_limits(tmp_path)} == {
        "deterministic.posterior", "probabilistic.posterior",
    }  # fmt: skip
    [adversary, *_] = tomllib.loads(drafted.text)["adversary"]
    assert {n: adversary[n] for n in ("attack", "user", "time", "item")} == {
        "attack": "events", "user": "customer id", "time": "purchase time", "item": "product",
    }  # fmt: skip
    rows = read_published(tmp_path, source.name)
    # Exact amounts would single events out: nothing makes them coarser, so they stay at home.
    assert not {"receipt", "quantity", "unit price"} & set(rows[0])
    with source.open(encoding="utf-8", newline="") as file:
        customers = {row["customer id"] for row in csv.DictReader(file)}
    assert customers.isdisjoint(row["customer id"] for row in rows)


def test_of_a_table_of_totals_no_small_cell_can_be_computed(tmp_path: Path) -> None:
    source = sources.write_table(tmp_path)
    drafted, protected = protect_draft(tmp_path, source)
    assert drafted.kinds["census"].kind == "totals"
    assert protected.status == "pass"
    [table] = (tmp_path / "out" / "release").glob("*.csv")
    bounds = dv.tables.intervals(dv.tables.read_crosstab(table))
    rows = list(csv.DictReader(source.read_text(encoding="utf-8").splitlines()))
    cells = {
        (row["region"], row["settlement"]): int(row["people"])
        for row in rows
        if "Total" not in row.values()
    }
    assert min(cells.values()) < 3
    for place, count in enumerate(cells.values()):
        if count < 3:
            low, high = bounds[sorted_place(cells, place)]
            assert high - low >= 3


def sorted_place(cells: dict[tuple[str, str], int], number: int) -> tuple[int, int]:
    """Where a cell of the file stands in the crosstab, whose codes are sorted."""
    region, settlement = list(cells)[number]
    regions, settlements = (sorted({key[k] for key in cells}) for k in (0, 1))
    return regions.index(region), settlements.index(settlement)


def test_years_go_out_unlinked_and_who_follows_people_is_drafted_beside(tmp_path: Path) -> None:
    random = np.random.default_rng(6)
    places = []
    for year in (2020, 2021):
        rows = [
            [person, int(random.integers(1, 3)), int(random.integers(20, 70))]
            for person in range(100 + 20 * (year - 2020), 400)
        ]
        places.append(
            sources.write_rows(tmp_path / f"work_{year}.csv", ["person id", "sex", "age"], rows)
        )
    drafted, protected = protect_draft(tmp_path, *places)
    assert protected.status == "pass"
    assert '# attack = "longitudinal"' in drafted.text
    assert '# dataset = ["work_2020", "work_2021"]' in drafted.text
    for place in places:
        assert "person id" not in read_published(tmp_path, place.name)[0]
    # Taken up, it is a release that can be judged.
    text = drafted.text.split("# Somebody who keeps every file")[1].split("# How the data")[0]
    lines = [
        line.removeprefix("# ") for line in text.splitlines()[1:] if " = " in line or "[[" in line
    ]
    (tmp_path / "linked.toml").write_text(drafted.text + "\n" + "\n".join(lines) + "\n")
    names = [a.name for a in dv.Release.load(tmp_path / "linked.toml").adversaries]
    assert "archivist" in names


def test_every_hierarchy_is_a_file_that_the_release_reads_and_a_person_may_edit(
    tmp_path: Path,
) -> None:
    source = sources.write_households(tmp_path)
    drafted = draft([source], tmp_path, experience=SHIPPED)
    write_draft(drafted, tmp_path / "release.toml")
    files = sorted(path.name for path in (tmp_path / "release-hierarchies").iterdir())
    assert "survey-age.csv" in files
    release = dv.Release.load(tmp_path / "release.toml")
    dataset = release.datasets["survey"].read()
    for name, file in tomllib.loads(drafted.text)["dataset"][0]["hierarchies"].items():
        hierarchy = dv.Hierarchy.from_file(tmp_path / file)
        values = dataset.columns[name].values.to_pylist()
        assert hierarchy.lacks(values) == []
        for level in range(1, hierarchy.height):
            merged: dict[str, str] = {}
            for value in values:  # a tree: what is one stays one
                above = hierarchy.at(value, level + 1)
                assert merged.setdefault(hierarchy.at(value, level), above) == above
    with pytest.raises(dv.InvalidInput, match="exists already"):
        write_draft(drafted, tmp_path / "release.toml")


@pytest.mark.parametrize(
    "profile", ["scientific-use", "public-use", "hipaa-expert", "acro", "strict"]
)
def test_a_profile_says_where_each_figure_is_from_or_that_it_is_our_choice(
    tmp_path: Path, profile: str
) -> None:
    source = sources.write_companies(tmp_path)
    drafted = draft([source], tmp_path, experience=SHIPPED, profile=profile)
    lines = drafted.text.splitlines()
    for number, line in enumerate(lines):
        if line == "[[limit]]" and "of companies" not in line:
            said = " ".join(lines[max(0, number - 3) : number])
            assert "our choice)" in said or "ACRO" in said or "ResDAC" in said
    with pytest.raises(dv.InvalidInput, match='Did you mean "acro"'):
        draft([source], tmp_path, experience=SHIPPED, profile="arco")


def test_an_identifier_that_comes_again_is_drafted_as_the_person_of_several_records(
    tmp_path: Path,
) -> None:
    # Three visits of one patient are no company for each other.
    random = np.random.default_rng(8)
    lines = ["patient_id,sex,age,zip,diagnosis"]
    for number in range(150):
        sex, age, place = random.choice(["m", "f"]), random.integers(20, 80), random.integers(3)
        for _ in range(random.integers(1, 4)):
            ill = random.choice(["flu", "HIV", "asthma"])
            lines.append(f"{number},{sex},{age},1234{place},{ill}")
    (tmp_path / "visits.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    drafted, protected = protect_draft(tmp_path, tmp_path / "visits.csv")
    assert 'person = "patient_id"' in drafted.text
    assert protected.status == "pass"
    [part] = protected.records.values()
    patients = part.original.to_arrow()["patient_id"].to_pylist()
    keys = [limit["among"] for limit in read_limits(tmp_path) if limit["measure"] == "k_anonymity"]
    rows = list(zip(*(part.dataset.to_arrow()[n].to_pylist() for n in keys[0]), strict=True))
    for row in rows:
        fits = [
            patient
            for patient, other in zip(patients, rows, strict=True)
            if all(a == b or None in (a, b) for a, b in zip(row, other, strict=True))
        ]
        assert len(set(fits)) >= 3


def test_the_number_of_another_record_is_not_the_person_of_this_one(tmp_path: Path) -> None:
    random = np.random.default_rng(9)
    lines = ["RB030,RB220,RB090,age"]
    for number in range(300):
        father = "" if number % 3 else str(1000 + number // 9)
        lines.append(f"{1000 + number},{father},{random.integers(1, 3)},{random.integers(1, 90)}")
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    drafted = draft([tmp_path / "people.csv"], tmp_path, experience=SHIPPED)
    assert "person =" not in drafted.text


def test_when_somebody_was_asked_is_known_of_them_where_nobody_is_asked_twice(
    tmp_path: Path,
) -> None:
    rows = [
        [f"2024-{1 + n % 3:02d}-{1 + n % 20:02d}", 20 + n % 50, "fm"[n % 2], 1000 + 7 * n]
        for n in range(600)
    ]
    sources.write_rows(tmp_path / "people.csv", ["interview date", "age", "sex", "income"], rows)
    drafted = draft([tmp_path / "people.csv"], tmp_path, experience=SHIPPED)
    assert drafted.kinds["people"].kind == "records"
    known = {n for limited in read_keys(drafted) for n in limited}
    assert "interview date" in known


def read_keys(drafted: Draft) -> list[list[str]]:
    limits = tomllib.loads(drafted.text)["limit"]
    return [limit["among"] for limit in limits if limit["measure"] == "k_anonymity"]
