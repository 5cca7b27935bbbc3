"""`divulge init` drafts a release file that can be checked as it is."""

from __future__ import annotations

import json
import tempfile
import tomllib
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.made_up_datasets import labelled
from typer.testing import CliRunner

import divulge as dv
from divulge.cli.main import app
from divulge.data import Dataset, Experience
from divulge.release.release_file.draft_file import draft, draft_dictionary, write_draft
from divulge.release.release_file.toml_text import format_value

SHIPPED = Experience.shipped()


def test_the_draft_of_the_examples_is_accepted_and_checked_at_once(tmp_path: Path) -> None:
    dv.datasets.inflation_and_growth_example().write(tmp_path / "data" / "companies.csv")
    dv.datasets.school_census(2000).write(tmp_path / "data" / "pupils.parquet")
    places = [tmp_path / "data" / "companies.csv", tmp_path / "data" / "pupils.parquet"]
    drafted = draft(places, tmp_path, experience=SHIPPED)
    write_draft(drafted, tmp_path / "release.toml")
    release = dv.Release.load(tmp_path / "release.toml")
    assert tomllib.loads(drafted.text)["format"] == 1
    names = [adversary.name for adversary in release.adversaries]
    assert names == [
        "competitor of companies",
        "maximum knowledge of companies",
        "neighbour of pupils",
        "colleague of pupils",
        "employer of pupils",
        "journalist with a register of pupils",
        "ex-partner of pupils",
        "data broker of pupils",
        "maximum knowledge of pupils",
    ]
    assert release.datasets["companies"].roles["weight"] == ["Weight"]
    assert release.check().outcomes


def test_conflicts_and_doubts_stand_in_the_draft_with_their_reasons(tmp_path: Path) -> None:
    table = pa.table({"domicilio": [1, 2] * 50, "V7": list(range(100)), "sexo": ["F", "M"] * 50})
    Dataset.from_arrow(table).write(tmp_path / "pessoas.csv")
    text = draft([tmp_path / "pessoas.csv"], tmp_path, experience=SHIPPED).text
    assert '# DECIDE: "domicilio" could be identifier or household' in text
    assert '# DOUBT: "V7": every record has a value of its own' in text
    assert 'quasi_identifier = ["sexo"]' in text


def test_what_was_not_recognised_is_drafted_as_left_out_and_protected_without_an_edit(
    tmp_path: Path,
) -> None:
    table = pa.table({"domicilio": [1, 2] * 50, "zz9": [3, 4] * 50, "sexo": ["F", "M"] * 50})
    Dataset.from_arrow(table).write(tmp_path / "pessoas.csv")
    drafted = draft([tmp_path / "pessoas.csv"], tmp_path, experience=SHIPPED)
    path = tmp_path / "release.toml"
    write_draft(drafted, path)
    assert '\nunlisted = "drop"' in drafted.text
    assert '# DECIDE: "zz9": not recognised; give it a role.' in drafted.text
    protected = dv.Release.load(path).protect(out=tmp_path / "out")
    assert protected.status == "pass"
    assert protected.datasets["pessoas"].names == ["sexo"]
    # Nobody in the draft knows what is left out, so that none of it is asked for.
    assert all("zz9" not in str(a.settings) for a in dv.Release.load(path).adversaries)


def test_of_what_nothing_would_be_published_nothing_is_judged(tmp_path: Path) -> None:
    Dataset.from_arrow(pa.table({"zz9": [3, 4] * 50})).write(tmp_path / "d.csv")
    drafted = draft([tmp_path / "d.csv"], tmp_path, experience=SHIPPED)
    assert '\n# unlisted = "drop"' in drafted.text
    write_draft(drafted, tmp_path / "release.toml")
    assert dv.Release.load(tmp_path / "release.toml").check().status == "not judged"


AWKWARD = st.text(min_size=1, max_size=12).filter(lambda s: s.strip() and "\x00" not in s)


@settings(max_examples=40)
@given(names=st.lists(AWKWARD, min_size=1, max_size=5, unique=True), rows=st.integers(1, 5))
def test_whatever_the_attributes_are_called_the_draft_can_be_checked(
    names: list[str], rows: int
) -> None:
    table = pa.table({name: list(range(rows)) for name in names})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.parquet"
        Dataset.from_arrow(table).write(path)
        file = Path(folder) / "release.toml"
        write_draft(draft([path], folder, experience=SHIPPED), file)
        assert list(dv.Release.load(file).check().datasets) == ["data"]


@settings(max_examples=25)
@given(dataset=labelled(tags=False))
def test_a_dictionary_saved_in_a_release_file_is_read_from_it_again(dataset: Dataset) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.parquet"  # which itself says nothing of labels
        dataset.write(path)
        head = f'[[dataset]]\nname = "data"\nsource = {format_value(path.name)}\n'
        (Path(folder) / "release.toml").write_text(head + "\n".join(draft_dictionary(dataset)))
        plan = dv.Release.load(Path(folder) / "release.toml").datasets["data"]
        again = plan.read()
    for name in dataset.names:
        before, after = dataset.dictionary[name], again.dictionary[name]
        if len(dataset.columns[name].values):  # a column of nothing has no type to label
            assert dict(after.labels) == dict(before.labels)
            assert after.missing == before.missing
        assert after.description == before.description


def test_units_and_hierarchies_are_saved_too(tmp_path: Path) -> None:
    dataset = Dataset.from_arrow(pa.table({"age": [25, 40], "town": ["Roma", "Bari"]})).describe(
        hierarchies={
            "age": dv.Hierarchy.intervals([30, 60]),
            "town": dv.Hierarchy.from_levels([["Roma", "Center"], ["Bari", "South"]]),
        },
        units={"age": "years"},
    )
    dataset.write(tmp_path / "d.parquet")
    head = '[[dataset]]\nname = "d"\nsource = "d.parquet"\n'
    (tmp_path / "release.toml").write_text(head + "\n".join(draft_dictionary(dataset)))
    again = dv.Release.load(tmp_path / "release.toml").datasets["d"].read()
    assert again.dictionary["age"].unit == "years"
    ages, towns = again.dictionary["age"].hierarchy, again.dictionary["town"].hierarchy
    assert ages is not None
    assert towns is not None
    assert (ages.at(25, 1), towns.at("Bari", 1)) == ("< 30", "South")


def test_a_release_says_where_its_dictionary_and_its_data_do_not_fit(tmp_path: Path) -> None:
    Dataset.from_arrow(pa.table({"town": ["Roma", "Oslo"]})).write(tmp_path / "d.parquet")
    (tmp_path / "release.toml").write_text(
        '[[dataset]]\nname = "d"\nsource = "d.parquet"\n'
        'hierarchies = { town = { pairs = [["Roma", "Center"]] } }\n'
        'labels = { town = { Roma = "the capital", Bari = "a port" } }\n'
    )
    verdict = dv.Release.load(tmp_path / "release.toml").check()
    said = "\n".join(map(str, verdict.sentences))
    assert "1 of its 2 values without a place in its hierarchy" in said
    assert "labels for 1 value that does not occur" in said
    assert "Oslo" not in said


def test_several_files_are_one_dataset_of_a_release(tmp_path: Path) -> None:
    Dataset.from_arrow(pa.table({"a": [1]})).write(tmp_path / "1.parquet")
    Dataset.from_arrow(pa.table({"a": [2]})).write(tmp_path / "2.parquet")
    (tmp_path / "release.toml").write_text(
        '[[dataset]]\nname = "d"\nsource = ["1.parquet", "2.parquet"]\n'
    )
    assert dv.Release.load(tmp_path / "release.toml").datasets["d"].read().rows == 2


def test_init_on_the_command_line_writes_once_and_tells_what_to_decide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIVULGE_EXPERIENCE", str(tmp_path / "none.csv"))
    dv.datasets.inflation_and_growth_example().write(tmp_path / "companies.csv")
    given = ["init", str(tmp_path / "companies.csv"), "--out", str(tmp_path / "release.toml")]
    first = CliRunner().invoke(app, [*given, "--json"])
    assert first.exit_code == 0
    proposals = json.loads(first.stdout)["datasets"]["companies"]["proposals"]
    assert [p["role"] for p in proposals][:2] == ["identifier", "quasi_identifier"]
    with pytest.raises(dv.InvalidInput, match="exists already"):
        CliRunner().invoke(app, given, catch_exceptions=False)
    again = CliRunner().invoke(app, [*given, "--overwrite"])
    assert "divulge check" in again.stdout


def test_no_password_is_written_into_a_draft() -> None:
    from divulge.release.release_file.draft_file import _make_relative

    assert "hush" not in _make_relative("postgresql://clerk:hush@db/survey", ".")


def test_roles_that_a_user_decided_are_known_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIVULGE_EXPERIENCE", str(tmp_path / "own.csv"))
    Dataset.from_arrow(pa.table({"V12": [1, 2], "Area": ["a", "b"]})).write(tmp_path / "d.csv")
    (tmp_path / "decided.toml").write_text(
        '[[dataset]]\nname = "d"\nsource = "d.csv"\n'
        'roles = { sensitive = ["V12"], non_identifying = ["Area"] }\n'
    )
    given = ["init", str(tmp_path / "d.csv"), "--out", str(tmp_path / "release.toml")]
    ran = CliRunner().invoke(app, [*given, "--accept", str(tmp_path / "decided.toml"), "--json"])
    found = {p["attribute"]: p for p in json.loads(ran.stdout)["datasets"]["d"]["proposals"]}
    assert (found["V12"]["role"], found["V12"]["status"]) == ("sensitive", "settled")
    assert found["Area"]["role"] == "non_identifying"
    assert "your own base" in found["Area"]["reasons"][0]


def test_the_example_release_is_what_init_drafts_today() -> None:
    folder = Path(__file__).parents[2] / "examples" / "inflation_and_growth"
    drafted = draft([folder / "companies.csv"], folder, experience=SHIPPED)
    assert (folder / "release.toml").read_text(encoding="utf-8") == drafted.text
    for file, hierarchy in drafted.hierarchies.items():
        assert dv.Hierarchy.from_file(folder / file).table == hierarchy.table
