"""The attacks of this part in a release file."""

from __future__ import annotations

from pathlib import Path

import pytest

import divulge as dv

EXAMPLE = Path(__file__).parents[2] / "examples" / "records"


def test_the_example_release_shows_the_figures_of_the_paper() -> None:
    verdict = dv.Release.load(EXAMPLE / "release.toml").check()
    found = {a.adversary: a for a in verdict.assessments}
    assert found["classmate"].deterministic.posterior == 0.6
    assert found["classmate, a year later"].probabilistic.posterior == 0.9
    assert found["archivist"].deterministic.posterior == 0.6
    assert found["neighbour"].deterministic.posterior == 1
    assert found["register holder"].probabilistic.posterior == 0.7
    assert found["buyer"].probabilistic.posterior == pytest.approx(4.8)
    assert found["finder"].certain.posterior == 1
    assert found["finder"].figures["removed"] == 1
    assert "by gender" in found["finder"].chart().description
    assert found["who is in it"].secrets == 10
    assert [o.held for o in verdict.outcomes] == [True, True, False]


def test_what_is_wrong_with_adversaries_is_said_before_anything_is_read(tmp_path: Path) -> None:
    text = (EXAMPLE / "release.toml").read_text()
    for name in ("year_1.csv", "year_2.csv"):
        (tmp_path / name).write_bytes((EXAMPLE / name).read_bytes())
    text = text.replace('seeks = "disability"', 'seeks = "disabilty"', 1)
    text = text.replace('on = "id"', 'on = "idd"').replace('block = "gender"', 'block = "gendre"')
    (tmp_path / "release.toml").write_text(text)
    with pytest.raises(dv.InvalidInput) as error:
        dv.Release.load(tmp_path / "release.toml")
    said = str(error.value)
    for hint in ('"disability"?', '"id"?', '"gender"?'):
        assert f"Did you mean {hint}" in said


ADVERSARIES = """
[[dataset]]
name = "original"
source = "year_1.csv"

[[dataset]]
name = "released"
source = "released.csv"

[[dataset]]
name = "next year"
source = "year_2.csv"

[[dataset]]
name = "next year, as released"
source = "year_2.csv"

[[dataset]]
name = "town"
source = "year_1.csv"

[[adversary]]
name = "finder"
attack = "records"
dataset = ["original", "released"]
protected = true
on = "id"
model = "CRS"
knows = ["gender", "grade"]

[[adversary]]
name = "finder over the years"
attack = "records"
dataset = ["original", "next year", "released", "next year, as released"]
protected = true
on = "id"
model = "CRL"
knows = ["gender", "grade"]

[[adversary]]
name = "present?"
attack = "records"
dataset = ["original", "released", "town"]
protected = true
on = "id"
model = "CMS"
knows = ["gender", "grade"]

[[adversary]]
name = "with two guesses"
attack = "records"
dataset = "original"
model = "marketer"
knows = ["gender", "grade"]
gain = { guesses = 2 }

[[adversary]]
name = "archivist"
attack = "longitudinal"
dataset = ["original", "next year", "released", "next year, as released"]
protected = true
on = "id"
knows = ["gender", "grade"]

[[adversary]]
name = "paid"
attack = "longitudinal"
dataset = ["original", "next year"]
on = "id"
knows = ["gender", "grade"]
seeks = "disability"
prior = "age"
gain = { worth = { yes = 10 }, wrong = 1 }
"""


def test_protected_versions_gains_and_priors_in_a_release_file(tmp_path: Path) -> None:
    for name in ("year_1.csv", "year_2.csv"):
        (tmp_path / name).write_bytes((EXAMPLE / name).read_bytes())
    original = dv.read(tmp_path / "year_1.csv")
    dv.Dataset.from_arrow(original.to_arrow().slice(1)).write(tmp_path / "released.csv")
    (tmp_path / "release.toml").write_text(ADVERSARIES)
    found = {a.adversary: a for a in dv.Release.load(tmp_path / "release.toml").check().assessments}
    assert found["finder"].certain.posterior == 2
    assert found["finder"].figures["removed"] == 1
    assert found["finder over the years"].figures["datasets"] == 2
    assert found["archivist"].certain == found["finder over the years"].certain
    assert found["present?"].figures["released"] == 9
    assert found["with two guesses"].probabilistic.posterior == pytest.approx(0.9)
    years = [original, dv.read(tmp_path / "year_2.csv")]
    paid = dv.records.attack(years, "CAL", ["gender", "grade"], "disability", on="id", prior="age",
                             gain={"worth": {"yes": 10}, "wrong": 1})  # fmt: skip
    assert found["paid"].probabilistic == pytest.approx(paid.probabilistic)


def test_adversaries_with_too_many_datasets_or_a_strange_gain_are_refused(tmp_path: Path) -> None:
    for name in ("year_1.csv", "year_2.csv"):
        (tmp_path / name).write_bytes((EXAMPLE / name).read_bytes())
    (tmp_path / "released.csv").write_bytes((EXAMPLE / "year_1.csv").read_bytes())
    text = ADVERSARIES.replace("guesses = 2", "gueses = 2")
    text = text.replace('["original", "released"]', '["original", "released", "next year"]')
    (tmp_path / "release.toml").write_text(text)
    with pytest.raises(dv.InvalidInput) as error:
        dv.Release.load(tmp_path / "release.toml")
    assert "name the originals, then as many protected versions" in str(error.value)
    assert 'Did you mean "guesses"?' in str(error.value)


def test_a_year_without_the_person_is_named_in_a_release_file(tmp_path: Path) -> None:
    years = [dv.datasets.school_year_example(1), dv.datasets.school_year_example(2)]
    known = ["gender", "grade"]
    person = {"gender": "M", "grade": "D"}
    tables = "\n".join(
        f'[[dataset]]\nname = "y{n}"\nsource = "y{n}.csv"\nunlisted = "non_identifying"\n'
        for n, _ in enumerate(years)
    )
    for n, year in enumerate(years):
        year.write(tmp_path / f"y{n}.csv")
    values = ", ".join(f"{name} = {value!r}" for name, value in person.items())
    (tmp_path / "release.toml").write_text(
        f'format = 1\n{tables}[[adversary]]\nname = "aunt"\nattack = "records"\nmodel = "IRL"\n'
        f'dataset = ["y0", "y1"]\non = "id"\nknows = {known}\n'
        f'target = [{{ {values} }}, "absent"]\n',
        encoding="utf-8",
    )
    [judged] = dv.Release.load(tmp_path / "release.toml").check().assessments
    expected = dv.records.attack(years, "IRL", known, on="id", target=[person, None])
    assert judged.probabilistic.posterior == expected.probabilistic.posterior
