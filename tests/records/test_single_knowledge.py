"""Of single records more is known, or only some: each is looked for by what is known of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge import Dataset, InvalidInput, Release, datasets, protection, records

NAMES = ("a", "b", "c")
Pairs = list[tuple[int, str]]


@st.composite
def surveys(draw: st.DrawFn) -> Dataset:
    rows = draw(st.integers(1, 9))
    columns: dict[str, Any] = {
        name: draw(st.lists(st.none() | st.integers(0, 2), min_size=rows, max_size=rows))
        for name in (*NAMES, "secret")
    }
    columns["id"] = [f"r{number}" for number in range(rows)]
    return Dataset.from_arrow(
        pa.table(columns),
        roles={"quasi_identifier": list(NAMES), "sensitive": "secret", "identifier": "id"},
    )


def draw_pairs(data: st.DataObject, rows: int) -> Pairs:
    pair = st.tuples(st.integers(0, rows - 1), st.sampled_from(NAMES))
    return data.draw(st.lists(pair, max_size=6))


def find_plainly(dataset: Dataset, knows: str, also: Pairs, only: Pairs, secret: bool) -> Any:
    """Who is certain, and how likely the truth is, record by record, by looking at all pairs."""
    rows = dataset.to_arrow().to_pylist()
    certain, risk = [], []
    for number, row in enumerate(rows):
        own = {name for record, name in only if record == number} or {knows}
        own |= {name for record, name in also if record == number}
        fitting = [
            place
            for place, other in enumerate(rows)
            if all(other[name] == row[name] for name in own)
        ]
        if secret:
            values = Counter(rows[place]["secret"] for place in fitting)
            certain.append(len(values) == 1)
            risk.append(values[row["secret"]] / len(fitting))
        else:
            certain.append(fitting == [number])
            risk.append(1 / len(fitting))
    return np.array(certain), np.array(risk)


@given(surveys(), st.booleans(), st.data())
def test_each_record_is_found_as_by_looking_at_all_others(
    dataset: Dataset, secret: bool, data: st.DataObject
) -> None:
    also, only = draw_pairs(data, dataset.rows), draw_pairs(data, dataset.rows)
    seeks: dict[str, Any] = {"seeks": "secret"} if secret else {}
    found = records.attack(
        dataset, "CAS" if secret else "CRS", knows="a", knows_also=also, knows_only=only, **seeks
    )
    certain, risk = find_plainly(dataset, "a", also, only, secret)
    assert found.certain.posterior == certain.sum()
    assert np.allclose(found.risk(), risk)
    by_name = records.attack(
        dataset,
        "CAS" if secret else "CRS",
        knows="a",
        on="id",
        knows_also=[(f"r{record}", name) for record, name in also],
        knows_only=pa.table(
            {"id": [f"r{r}" for r, _ in only], "attribute": [name for _, name in only]}
        ),
        **seeks,
    )
    assert by_name.risk().tolist() == found.risk().tolist()


@given(surveys(), st.data())
def test_knowing_more_never_singles_out_fewer(dataset: Dataset, data: st.DataObject) -> None:
    some, more = draw_pairs(data, dataset.rows), draw_pairs(data, dataset.rows)
    less = records.attack(dataset, knows="a", knows_also=some)
    best = records.attack(dataset, knows="a", knows_also=some + more)
    assert best.deterministic.posterior >= less.deterministic.posterior
    assert (best.risk() >= less.risk() - 1e-12).all()


@given(surveys(), st.sampled_from(["CRS", "CAS"]))
def test_who_knows_the_same_of_all_is_an_ordinary_adversary(dataset: Dataset, model: str) -> None:
    seeks: dict[str, Any] = {"seeks": "secret"} if model == "CAS" else {}
    every = [(record, "b") for record in range(dataset.rows)]
    one = records.attack(dataset, model, knows="a", knows_also=every, **seeks)
    two = records.attack(dataset, model, knows=["a", "b"], **seeks)
    assert (one.certain, one.right) == (two.certain, two.right)
    assert one.deterministic == two.deterministic
    three = records.attack(dataset, model, knows="c", knows_only=every, knows_also=[], **seeks)
    four = records.attack(dataset, model, knows="b", **seeks)
    assert (three.certain, three.right) == (four.certain, four.right)


@settings(deadline=None)
@given(surveys(), st.data())
def test_with_the_original_each_record_is_found_as_by_an_adversary_who_knows_as_much(
    dataset: Dataset, data: st.DataObject
) -> None:
    also = draw_pairs(data, dataset.rows)
    hidden: dict[str, Any] = {"a": np.arange(0, dataset.rows, 3)}
    released = protection.changes.changes.hide_cells(dataset, hidden)
    found = records.attack(dataset, "CRS", "a", release=released, knows_also=also)
    for record in range(dataset.rows):
        own = sorted({"a"} | {name for place, name in also if place == record})
        plain = records.attack(dataset, "CRS", own, release=released)
        assert found.risk()[record] == pytest.approx(plain.risk()[record])


def test_one_person_is_known_by_what_is_said_of_them() -> None:
    pupils = datasets.school_year_example()
    rows = pupils.to_arrow().to_pylist()
    target = {"grade": rows[0]["grade"], "gender": rows[0]["gender"]}
    found = records.attack(pupils, "IRS", "grade", target=target, knows_also=[(0, "gender")])
    plain = records.attack(pupils, "IRS", ["gender", "grade"], target=target)
    assert (found.certain, found.right) == (plain.certain, plain.right)
    with pytest.raises(InvalidInput, match="known by just these attributes"):
        nobody = [(1, "gender")] if rows[1]["gender"] != rows[0]["gender"] else []
        records.attack(pupils, "IRS", "grade", target=target, knows_also=nobody)


@pytest.mark.parametrize("model", ["CMS", "IMS", "CRL", "CAL"])
def test_other_models_refuse(model: str) -> None:
    pupils = datasets.school_year_example()
    options: dict[str, Any] = {"C": {}, "I": {"target": {"grade": 1}}}[model[0]] | (
        {"population": pupils} if model[1] == "M" else {}
    )
    if model.endswith("L"):
        options |= {"on": "grade"}
    if model[1] == "A":
        options |= {"seeks": "gender"}
    data = [pupils, pupils] if model.endswith("L") else pupils
    with pytest.raises(InvalidInput, match=f"not for {model}"):
        records.attack(data, model, knows=["grade"], knows_also=[(0, "gender")], **options)


def test_what_is_not_known_of_single_records_is_said_beside_what_is() -> None:
    dataset = Dataset.from_arrow(pa.table({"a": [1, 1, 2], "b": [1, 2, 3], "c": [1, 1, 1]}))
    found = records.attack(
        dataset, "CRS", knows=["a", "b"], knows_only=[(0, "b"), (1, "c")], knows_also=[(0, "c")]
    )
    told = found.explain()
    assert "More is known about 2 of 3 records (c)." in told
    lowered = "About 2 of 3 records the adversary is assumed not to know a and b, or part of it"
    assert any(sentence.startswith(lowered) for sentence in told)


def test_pairs_that_cannot_be_are_refused_and_strangers_are_counted() -> None:
    pupils = datasets.school_year_example()
    for pairs, message in (
        ([(99, "gender")], "names records that are not there"),
        ([(0, "gendr")], 'no attribute "gendr".*gender'),
        ([(0,)], "contains what is no pair"),
    ):
        with pytest.raises(InvalidInput, match=message):
            records.attack(pupils, knows="grade", knows_also=pairs)
    table = pa.table({"id": ["x", "y"], "a": [1, 1], "b": [1, 2]})
    people = Dataset.from_arrow(table, roles={"quasi_identifier": ["a", "b"], "identifier": "id"})
    found = records.attack(people, knows="a", on="id", knows_also=[("x", "b"), ("z", "b")])
    assert found.certain.posterior == 1
    assert "1 pair of what is known names a record that is not in the data." in found.explain()
    assert "More is known about 1 of 2 records (b)." in found.explain()


RELEASE = """
[[dataset]]
name = "firms"
source = "firms.csv"
subjects = "firms"
roles = { identifier = ["id"], quasi_identifier = ["area", "size", "revenue"] }

[[dataset]]
name = "listed"
source = "listed.csv"
roles = { identifier = ["firm"], non_identifying = ["attribute"] }

[[adversary]]
name = "analyst"
attack = "records"
dataset = "firms"
knows = ["area"]
knows_also = "listed"
on = "id"

[[limit]]
adversary = "analyst"
measure = "deterministic.posterior"
at_most = 0.0
"""
FIRMS = "id,area,size,revenue\n" + "\n".join(
    f"f{n},{'north' if n < 6 else 'south'},{n % 2},{100 if n == 0 else 10}" for n in range(12)
)


def write_release(folder: Path, text: str = RELEASE) -> Release:
    (folder / "firms.csv").write_text(FIRMS)
    (folder / "listed.csv").write_text("firm,attribute\nf0,revenue\nf9,revenue\n")
    (folder / "release.toml").write_text(text)
    return Release.load(folder / "release.toml")


def test_a_release_names_a_dataset_of_pairs_and_is_protected_from_who_knows_them(
    tmp_path: Path,
) -> None:
    release = write_release(tmp_path)
    [assessment] = release.check().assessments
    assert assessment.certain.posterior == 1
    result = release.protect()
    assert [outcome.held for outcome in result.after.outcomes] == [True]
    assert set(result.after.publications) == {"firms"}
    revenue = result.parts["firms"].dataset.to_arrow()["revenue"].to_pylist()
    assert revenue[0] != 100


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('on = "id"\n', "", "on is missing|on.*is missing"),
        ('knows_also = "listed"', 'knows_also = "lsted"', 'no dataset "lsted"'),
        ('attack = "records"', 'attack = "records"\nmodel = "CMS"', "not for CMS"),
    ],
)
def test_mistakes_in_a_release_are_told(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        write_release(tmp_path, RELEASE.replace(old, new))
