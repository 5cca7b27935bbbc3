"""Local recoding in a protection: hidden cells as a last level, never worse than all alike."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge import Dataset, Hierarchy, Limit, Release, protection
from divulge.protection.changes.decision_log import DecisionLog
from divulge.protection.cycle.request import LocalSearch
from divulge.protection.directives.directives import Directives
from divulge.protection.recoding.lattice import build_lattice
from divulge.protection.result.recoding_summary import RecodedAttribute, RecodingSummary
from divulge.work import InvalidInput

TOWNS = {
    "Roma": "Center", "Pisa": "Center", "Siena": "Center",
    "Milano": "North", "Torino": "North", "Como": "North",
}  # fmt: skip
HIERARCHIES = {
    "town": Hierarchy.from_pairs(TOWNS.items()),
    "age": Hierarchy.intervals([20, 30, 40, 50], [20, 40]),
}
SEARCHES: tuple[LocalSearch, ...] = ("nested", "clusters")


def make_people(rows: list[tuple[str, int, str]]) -> Dataset:
    """Towns and ages that have hierarchies without a single top, and a sex that has none."""
    towns, ages, sexes = zip(*rows, strict=True)
    table = pa.table({"town": list(towns), "age": list(ages), "sex": list(sexes)})
    return Dataset.from_arrow(
        table,
        {"quasi_identifier": ["town", "age", "sex"]},
        HIERARCHIES,
    )


people = st.lists(
    st.tuples(st.sampled_from(list(TOWNS)), st.integers(20, 59), st.sampled_from("fm")),
    min_size=6,
    max_size=40,
)


def read_cells(dataset: Dataset) -> list[tuple[str | None, ...]]:
    """What each record shows, as texts; None is hidden."""
    columns = [dataset.columns[name].to_arrow().to_pylist() for name in ("town", "age", "sex")]
    return [tuple(None if v is None else str(v) for v in row) for row in zip(*columns, strict=True)]


def may_be(row: tuple[str, int, str], shown: tuple[str | None, ...]) -> bool:
    """Whether somebody may be whom a released record shows."""
    town, age, sex = row
    return (
        shown[0] in (None, town, TOWNS[town])
        and (shown[1] is None or is_age_in(age, shown[1]))
        and shown[2] in (None, sex)
    )


def is_age_in(age: int, shown: str) -> bool:
    """Whether an age is what is shown, such as 31, [20, 40) or >= 40."""
    if shown.isdigit():
        return age == int(shown)
    low, *high = map(int, re.findall(r"\d+", shown))
    return low <= age and (not high or age < high[0])


@pytest.mark.parametrize("local", SEARCHES)
@given(rows=people, k=st.integers(2, 4))
@settings(deadline=None, max_examples=20)
def test_classes_that_anybody_can_count_have_k_records(
    local: LocalSearch, rows: list[tuple[str, int, str]], k: int
) -> None:
    dataset = make_people(rows)
    try:
        p = protection.protect(dataset, [Limit("k_anonymity", at_least=k)], local=local)
    except protection.OutOfReachError:
        assert len(rows) < k or len(rows) <= 8
        return
    shown = read_cells(p.dataset)
    kept = [rows[place] for place in p.kept.tolist()]
    for row, own in zip(kept, shown, strict=True):
        assert may_be(row, own)
        assert sum(may_be(row, other) for other in shown) >= k
    assert p.outcomes[0].held


@pytest.mark.parametrize("local", SEARCHES)
@given(rows=people, k=st.integers(2, 4), limit=st.sampled_from([0.0, 0.05, 0.4]))
@settings(deadline=None, max_examples=12)
def test_no_worse_than_all_alike(
    local: LocalSearch, rows: list[tuple[str, int, str]], k: int, limit: float
) -> None:
    dataset, limits = make_people(rows), [Limit("k_anonymity", at_least=k)]
    published = ["town", "age", "sex"]
    try:
        alike = protection.protect(dataset, limits, suppression_limit=limit, published=published)
    except protection.OutOfReachError:
        return
    p = protection.protect(
        dataset, limits, suppression_limit=limit, published=published, local=local
    )
    assert p.loss <= alike.loss + 1e-9


@given(rows=people, k=st.integers(2, 4), local=st.sampled_from([False, *SEARCHES]), data=st.data())
@settings(deadline=None, max_examples=25)
def test_directives_are_obeyed_whatever_local_is(
    rows: list[tuple[str, int, str]], k: int, local: bool | LocalSearch, data: st.DataObject
) -> None:
    dataset = make_people(rows)
    records, names = st.integers(0, len(rows) - 1), st.sampled_from(dataset.quasi_identifiers)
    cells = st.lists(st.tuples(records, names), max_size=4, unique=True)
    directives = Directives(
        keep=data.draw(cells),
        hide=data.draw(cells),
        remove=[(record,) for record in data.draw(st.lists(records, max_size=2, unique=True))],
        recode=data.draw(st.sampled_from([[], [("town", 1)]])),
        threshold=[(record, k + 1) for record in data.draw(st.lists(records, max_size=2))],
    )
    published = data.draw(st.sampled_from([None, ["town", "age", "sex"]]))
    try:
        p = protection.protect(
            dataset,
            [Limit("k_anonymity", at_least=k)],
            local=local,
            published=published,
            out_of_reach="remove",
            directives=directives,
        )
    except protection.OutOfReachError:
        return
    shown = dict(zip(p.kept.tolist(), read_cells(p.dataset), strict=True))
    place = dict(zip(["town", "age", "sex"], range(3), strict=True))
    removed = {row.record for row in directives.remove}
    assert not removed & set(shown)
    unobeyed = {
        (record, failure.attribute)
        for failure in p.unobeyed
        if failure.directive == "keep"
        for record in failure.records
    }
    for row in directives.keep:
        is_contradicted = (
            row in directives.hide
            or row.record in removed
            or (row.attribute == "town" and bool(directives.recode))
        )
        if is_contradicted:
            assert (row.record, row.attribute) in unobeyed
        else:
            told = str(rows[row.record][place[row.attribute]])
            assert shown[row.record][place[row.attribute]] == told
    for row in directives.hide:
        assert row.record not in shown or shown[row.record][place[row.attribute]] is None
    if directives.recode:
        assert all(cells[0] in (None, *TOWNS.values()) for cells in shown.values())
    for row in directives.threshold:
        if row.record in shown:
            assert sum(may_be(rows[row.record], other) for other in shown.values()) > k
    assert all(outcome.held for outcome in p.outcomes)


@pytest.mark.parametrize("local", SEARCHES)
def test_where_rules_name_cells_no_classes_are_searched_and_that_is_told(
    local: LocalSearch,
) -> None:
    random = Random(3)  # noqa: S311
    rows = [
        (random.choice([*TOWNS]), random.randint(20, 59), random.choice("fm")) for _ in range(60)
    ]
    limits = [Limit("k_anonymity", at_least=3)]
    free = protection.protect(make_people(rows), limits, local=local, out_of_reach="remove")
    bound = protection.protect(
        make_people(rows),
        limits,
        local=local,
        out_of_reach="remove",
        directives=Directives(keep=[(0, "age")]),
    )
    assert f"recoding.single.{local}" in {note.key for note in free.notes}
    keys = {note.key for note in bound.notes}
    assert "recoding.moves.directives" in keys
    assert f"recoding.single.{local}" not in keys
    assert any("no nested classes or clusters were searched" in str(n) for n in bound.notes)


@pytest.mark.parametrize("seed", [0, 3])
def test_all_alike_are_not_taken_where_that_changes_what_is_kept(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    rows = [
        (random.choice([*TOWNS]), random.randint(20, 59), random.choice("fm")) for _ in range(30)
    ]
    p = protection.protect(
        make_people(rows),
        [Limit("k_anonymity", at_least=3)],
        local=True,
        out_of_reach="remove",
        directives=Directives(keep=[(0, "age"), (1, "town")]),
    )
    shown = dict(zip(p.kept.tolist(), read_cells(p.dataset), strict=True))
    assert (shown[0][1], shown[1][0]) == (str(rows[0][1]), rows[1][0])
    assert p.outcomes[0].held


def test_what_was_recoded_and_is_no_longer_shown_is_said() -> None:
    hidden = RecodedAttribute(name="town", level=0, height=1, coarser=0, loss=0.5, reason="")
    summary = RecodingSummary(attributes=(hidden,), notes=(), loss=0.5)
    [sentence] = summary.sentences()
    assert str(sentence).startswith("No attribute shows a coarser value")


@given(rows=people)
@settings(deadline=None, max_examples=12)
def test_decisions_replayed_make_the_release(rows: list[tuple[str, int, str]]) -> None:
    dataset = make_people(rows)
    try:
        p = protection.protect(dataset, [Limit("k_anonymity", at_least=3)], local=True)
    except protection.OutOfReachError:
        return
    assert isinstance(p.decisions, DecisionLog)
    assert read_cells(p.decisions.replayed(dataset)) == read_cells(p.dataset)
    hidden = sum(cell is None for row in read_cells(p.dataset) for cell in row)
    if not p.removed:
        assert p.suppressed_cells == hidden


def test_a_hidden_cell_is_a_level_where_values_still_differ() -> None:
    dataset = make_people([("Roma", 25, "f"), ("Milano", 45, "m"), ("Como", 33, "f")])
    plain = build_lattice(dataset, ["town", "age", "sex"])
    hiding = build_lattice(dataset, ["town", "age", "sex"], hidden={"town", "sex"})
    assert plain.heights == (1, 2, 0)
    assert hiding.heights == (2, 2, 1)
    # Of three attributes, hiding everything of one costs a third.
    assert hiding.level_costs[0, 2] == pytest.approx(1 / 3)
    assert hiding.level_costs[2, 1] == pytest.approx(1 / 3)
    np.testing.assert_allclose(hiding.level_costs[:, 0], plain.level_costs[:, 0])


def test_further_limits_are_left_to_suppression() -> None:
    rows = [(town, age, sex) for town in TOWNS for age in (21, 38, 44) for sex in "ffm"]
    limits = [
        Limit("k_anonymity", at_least=4),
        Limit("k_anonymity", at_least=12, among=["town", "sex"]),
    ]
    p = protection.protect(make_people(rows), limits, local=True, out_of_reach="remove")
    assert all(outcome.held for outcome in p.outcomes)


def test_what_another_column_tells_is_not_made_coarser() -> None:
    random = Random(5)  # noqa: S311
    rows = [
        (random.choice([*TOWNS]), random.choice([22, 35, 47]), random.choice("fm"))
        for _ in range(200)
    ]
    dataset = make_people(rows)
    born = pa.array([2020 - age for _, age, _ in rows])
    with_year = Dataset.from_arrow(
        dataset.to_arrow().append_column("born", born),
        {"quasi_identifier": ["town", "age", "sex"], "non_identifying": ["born"]},
        HIERARCHIES,
    )
    limits = [Limit("k_anonymity", at_least=6)]
    p = protection.protect(
        with_year, limits, local=True, published=[*with_year.names], out_of_reach="remove"
    )
    # Whoever subtracts sees the age: the shown year counts as if the age were shown.
    shown = p.dataset.to_arrow().to_pylist()
    kept = [rows[place] for place in p.kept.tolist()]
    for (town, age, sex), own in zip(kept, shown, strict=True):
        alike = [
            other
            for other in shown
            if other["born"] == own["born"] == 2020 - age
            and other["town"] in (None, town, TOWNS[town])
            and other["sex"] in (None, sex)
        ]
        assert len(alike) >= 6


def test_ties_are_drawn_with_the_secret_of_the_release(tmp_path: Path) -> None:
    release = write_release(tmp_path, 'local = "nested"')
    once = Release.load(release).protect(out=tmp_path / "out")
    assert once.status == "pass"
    first = (tmp_path / "out" / "release" / "people.csv").read_bytes()
    Release.load(release).protect(out=tmp_path / "out", overwrite=True)
    assert (tmp_path / "out" / "release" / "people.csv").read_bytes() == first


def write_release(folder: Path, local: str) -> Path:
    """A release of made-up people with the setting; towns and ages are in the file."""
    random = Random(7)  # noqa: S311
    places: list[tuple[str, int, str]] = [("Roma", 25, "f")] * 60
    places += [
        (random.choice([*TOWNS]), random.randint(20, 59), random.choice("fm")) for _ in range(140)
    ]
    with (folder / "people.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("town", "age", "sex"), *places])
    pairs = ", ".join(f'["{town}", "{part}"]' for town, part in TOWNS.items())
    text = f"""
[[dataset]]
name = "people"
source = "people.csv"
roles = {{ quasi_identifier = ["town", "age", "sex"] }}
[dataset.hierarchies]
town = {{ pairs = [{pairs}] }}
age = {{ intervals = [[20, 30, 40, 50], [20, 40]] }}
[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 6
[protection]
methods = ["recode", "suppress"]
{local}
"""
    path = folder / "release.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("local", ["true", '"nested"', '"clusters"'])
def test_the_file_of_a_release_with_local_recoding_is_counted_again(
    tmp_path: Path, local: str
) -> None:
    release = write_release(tmp_path, f"local = {local}")
    assert Release.load(release).protect(out=tmp_path / "out").status == "pass"
    with (tmp_path / "out" / "release" / "people.csv").open(newline="") as file:
        rows = [tuple(row.values()) for row in csv.DictReader(file)]
    assert min(Counter(rows).values()) >= 6
    # Who has company in their town shows it, others do not.
    assert {row[0] in TOWNS for row in rows} == {True, False}


def test_a_way_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="nested"):
        protection.protect(
            make_people([("Roma", 25, "f")] * 4),
            [Limit("k_anonymity", at_least=2)],
            local="nestd",  # type: ignore[arg-type]
        )
    with pytest.raises(InvalidInput, match="local"):
        Release.load(write_release(tmp_path, 'local = "nestd"'))
