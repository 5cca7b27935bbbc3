"""Attacks and measures of another package: checked, protected from, and trusted with nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

import divulge as dv
from divulge import InvalidInput, Release
from divulge.assessment import PluginError, ProtectionPlan, attacks, measures
from divulge.protection import OutOfReachError
from divulge.release import release_schema, result_schema

PACKAGE = Path(__file__).parents[1] / "foreign_package" / "foreign_attacks"

ENTRY_POINTS = """
[divulge.attacks]
register_match = foreign_attacks:RegisterMatch
register_match_in_full = foreign_attacks:RegisterMatchInFull
register_match_removed = foreign_attacks:RegisterMatchRemoved
register_match_mistaken = foreign_attacks:RegisterMatchMistaken
hidden_values = foreign_attacks:HiddenValues
outside_the_data = foreign_attacks:OutsideTheData
town_counts = foreign_attacks:TownCounts
broken = foreign_attacks:Broken
no_assessment = foreign_attacks:NoAssessment

[divulge.measures]
largest_share = foreign_attacks:LargestShare
town_risk = foreign_attacks:TownRisk
out_of_range = foreign_attacks:OutOfRange
broken_measure = foreign_attacks:BrokenMeasure
"""

# Ada and Ben can be told from the others; the rest live two by two or more in their towns.
PEOPLE = """name,town,age,illness
Ada,Alba,31,asthma
Ben,Bari,42,none
Cem,Como,50,none
Dan,Como,50,gout
Eva,Como,50,none
Fay,Como,50,gout
"""
REGISTER = """name,town,age
Ada,Alba,31
Ben,Bari,42
Cem,Como,50
Dan,Como,50
Eva,Como,50
Fay,Como,50
"""

RELEASE = """
[[dataset]]
name = "people"
source = "people.csv"
subjects = "people"
roles = { identifier = ["name"], quasi_identifier = ["town", "age"], sensitive = ["illness"] }

[[dataset]]
name = "register"
source = "register.csv"
roles = { identifier = ["name"] }

[[adversary]]
name = "clerk"
attack = "register_match"
dataset = ["people", "register"]
agree = ["town", "age"]

[[limit]]
adversary = "clerk"
measure = "deterministic.posterior"
at_most = 0.5

[[limit]]
dataset = "people"
measure = "largest_share"
attribute = "town"
at_most = 0.9
"""
ANONYMITY = """
[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 2

[protection]
methods = ["suppress"]
"""
ALONE = """
[[dataset]]
name = "people"
source = "people.csv"
roles = {{ identifier = ["name"], quasi_identifier = ["town", "age"] }}
unlisted = "non_identifying"

[[adversary]]
name = "stranger"
attack = "{attack}"

[[limit]]
adversary = "stranger"
measure = "deterministic.posterior"
at_most = {at_most}
"""


@pytest.fixture(autouse=True)
def installed(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """The foreign package, as pip would have installed it, for this test and its subprocesses."""
    site = tmp_path_factory.mktemp("site")
    shutil.copytree(PACKAGE, site / PACKAGE.name)
    about = site / "foreign_attacks-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: foreign-attacks\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv("PYTHONPATH", str(site))
    attacks.cache_clear()
    measures.cache_clear()
    yield
    attacks.cache_clear()
    measures.cache_clear()
    sys.modules.pop(PACKAGE.name, None)


def write_release(folder: Path, text: str) -> Path:
    (folder / "people.csv").write_text(PEOPLE)
    (folder / "register.csv").write_text(REGISTER)
    path = folder / "release.toml"
    path.write_text(text)
    return path


def load(folder: Path, text: str) -> Release:
    return Release.load(write_release(folder, text))


def divulge(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "divulge.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_limits_on_a_foreign_attack_and_a_foreign_measure_are_judged(tmp_path: Path) -> None:
    verdict = load(tmp_path, RELEASE).check()
    assert verdict.passed
    assert [outcome.subject for outcome in verdict.outcomes] == ["clerk", "people"]
    [found] = verdict.assessments
    assert found.certain.posterior == 2
    strict = RELEASE.replace("at_most = 0.9", "at_most = 0.6").replace("0.5", "0.25")
    assert [o.held for o in load(tmp_path, strict).check().outcomes] == [False, False]


def test_a_check_reports_a_foreign_attack_like_any_other(tmp_path: Path) -> None:
    path = write_release(tmp_path, RELEASE)
    told = divulge("check", path, "--out", tmp_path / "results")
    assert told.returncode == 0, told.stderr
    report = (tmp_path / "results" / "report.html").read_text()
    assert "clerk" in report
    assert "The foreign attack matches 2 secrets." in report
    result = json.loads((tmp_path / "results" / "result.json").read_text())
    jsonschema.validate(result, result_schema())
    assert {limit["measure"] for limit in result["limits"]} >= {"largest_share"}
    assert "register_match" in json.dumps(release_schema())


def test_the_register_of_a_foreign_attack_does_not_go_out(tmp_path: Path) -> None:
    path = write_release(tmp_path, RELEASE + ANONYMITY)
    told = divulge("protect", path, "--out", tmp_path / "out")
    assert told.returncode == 0, told.stderr
    assert files_in(tmp_path / "out" / "release") == ["methods-note.txt", "people.csv"]
    assert not list((tmp_path / "out").rglob("register*"))
    for file in (tmp_path / "out" / "release").iterdir():
        assert "Ada" not in file.read_text()
    reports = [file.read_text() for file in (tmp_path / "out" / "internal").glob("*.html")]
    assert reports
    assert all("clerk" in report for report in reports)


def test_what_an_attack_does_not_say_is_answered_safely(tmp_path: Path) -> None:
    release = load(tmp_path, RELEASE)
    [adversary] = release.adversaries
    attack, settings = attacks()["register_match"], adversary.settings
    assert attack.undisclosed(settings, ["one", "two", "three"]) == ["two", "three"]
    assert not attack.risk_per_record(settings)
    assert attack.needed_columns(settings) == {"town", "age"}
    assert not attack.publishes_table()
    assert attack.runs_after_protection()
    people = dv.read(tmp_path / "people.csv")
    plan = ProtectionPlan(
        settings=None, has_failing=lambda limits: True, protect_history=lambda: None
    )
    assert attack.protect([], people, plan) is None
    assert attack.run_with_original(settings, people, people) is None
    assert str(attack.advice(adversary)).startswith("No method of protection here lowers attack")


def test_an_attack_with_the_least_methods_is_run_again_on_protected_data(tmp_path: Path) -> None:
    p = load(tmp_path, RELEASE + ANONYMITY).protect()
    [before], [after] = p.before.assessments, p.after.assessments
    assert before.certain.posterior == 2
    assert after.certain.posterior < 2
    assert p.published == ["people"]
    assert p.publications["people"].withheld == ("name",)
    assert "name" not in p.datasets["people"].names


def test_what_a_foreign_attack_learns_from_the_protection_itself_is_found(tmp_path: Path) -> None:
    release = load(tmp_path, ALONE.format(attack="hidden_values", at_most=0) + ANONYMITY)
    [before] = release.check().assessments
    assert before.certain.posterior == 0
    with pytest.raises(OutOfReachError, match='lowers attack "hidden_values": change what is'):
        release.protect(out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_foreign_attack_that_no_method_lowers_fails_and_says_so(tmp_path: Path) -> None:
    strict = RELEASE.replace("at_most = 0.5", "at_most = 0")
    with pytest.raises(OutOfReachError, match='No method .* lowers attack "register_match"'):
        load(tmp_path, strict).protect(out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_foreign_attack_with_a_risk_per_record_is_lowered_by_our_methods(tmp_path: Path) -> None:
    strict = RELEASE.replace("at_most = 0.5", "at_most = 0")
    full = strict.replace('"register_match"', '"register_match_in_full"')
    p = load(tmp_path, full + '\n[protection]\nmethods = ["suppress"]\n').protect()
    [after] = p.after.assessments
    assert after.certain.posterior == 0
    assert p.suppressed_cells
    never = '\n[protection]\nmethods = ["suppress"]\nnever = ["town", "age"]\n'
    with pytest.raises(OutOfReachError):
        load(tmp_path, full + never).protect(out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_foreign_attack_may_say_that_more_datasets_go_out(tmp_path: Path) -> None:
    (tmp_path / "towns.csv").write_text("town,age\nComo,50\nBari,42\n")
    three = RELEASE.replace('["people", "register"]', '["people", "register", "towns"]')
    three += '[[dataset]]\nname = "towns"\nsource = "towns.csv"\n'
    assert load(tmp_path, three).protect().published == ["people"]
    full = three.replace('"register_match"', '"register_match_in_full"')
    assert load(tmp_path, full).protect().published == ["people", "towns"]


def test_a_dataset_that_is_kept_back_by_a_wrong_name_keeps_everything_back(tmp_path: Path) -> None:
    mistaken = RELEASE.replace('"register_match"', '"register_match_mistaken"')
    with pytest.raises(PluginError, match="keeps back a dataset that they do not see"):
        load(tmp_path, mistaken).protect(out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_foreign_attack_may_protect_by_a_method_of_its_own(tmp_path: Path) -> None:
    strict = RELEASE.replace("at_most = 0.5", "at_most = 0").replace("at_most = 0.9", "at_most = 1")
    removed = strict.replace('"register_match"', '"register_match_removed"')
    path = write_release(tmp_path, removed)
    told = divulge("protect", path, "--out", tmp_path / "out")
    assert told.returncode == 0, told.stderr
    written = dv.read(tmp_path / "out" / "release" / "people.csv")
    assert written.rows == 4
    assert written.names == ["town", "age"]
    [report] = (tmp_path / "out" / "internal").glob("*.html")
    assert "2 records were left out by the foreign attack." in report.read_text()
    note = (tmp_path / "out" / "release" / "methods-note.txt").read_text()
    assert "Values were changed, or records left out." in note


def test_a_foreign_table_goes_out_as_it_was_judged(tmp_path: Path) -> None:
    p = load(tmp_path, ALONE.format(attack="town_counts", at_most=0)).protect(out=tmp_path / "out")
    assert not p.before.passed
    assert p.passed
    assert p.published == []
    table = (tmp_path / "out" / "release" / "table_stranger.csv").read_text()
    assert table == "town,people\nAlba,*\nBari,*\nComo,4\n"


def test_what_need_not_be_run_again_stands_as_it_was_found(tmp_path: Path) -> None:
    p = load(tmp_path, ALONE.format(attack="outside_the_data", at_most=0) + ANONYMITY).protect()
    [before], [after] = p.before.assessments, p.after.assessments
    assert after is before
    assert sys.modules["foreign_attacks"].OutsideTheData.runs == 1


@pytest.mark.parametrize("verb", ["check", "protect"])
def test_a_foreign_attack_that_fails_is_named_and_quotes_no_record(
    tmp_path: Path, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_release(tmp_path, ALONE.format(attack="broken", at_most=0))
    told = divulge(verb, path, "--out", tmp_path / "out")
    assert told.returncode == 2
    assert '"broken" of foreign-attacks failed (KeyError)' in told.stderr
    assert "asthma" not in told.stderr + told.stdout
    assert not (tmp_path / "out").exists()
    monkeypatch.setenv("DIVULGE_TRACEBACK", "1")
    assert "Traceback" in divulge(verb, path, "--out", tmp_path / "out").stderr


def test_what_is_no_assessment_is_not_judged(tmp_path: Path) -> None:
    release = load(tmp_path, ALONE.format(attack="no_assessment", at_most=1))
    with pytest.raises(PluginError, match='"no_assessment" of foreign-attacks gives no assessment'):
        release.check()


def test_a_foreign_measure_that_fails_is_named_and_quotes_no_record(tmp_path: Path) -> None:
    broken = RELEASE.replace('"largest_share"\nattribute = "town"', '"broken_measure"')
    with pytest.raises(PluginError, match='"broken_measure" of foreign-attacks') as caught:
        load(tmp_path, broken).check()
    assert "asthma" not in str(caught.value)


def test_wrong_settings_of_foreign_attacks_and_measures_are_told_with_all_others(
    tmp_path: Path,
) -> None:
    wrong = RELEASE.replace('agree = ["town", "age"]', 'agree = ["twon"]')
    wrong = wrong.replace('attribute = "town"\n', "")
    wrong += (
        '[[adversary]]\nname = "guest"\nattack = "register_match"\ndataset = "people"\nagre = 1\n'
    )
    with pytest.raises(InvalidInput) as caught:
        load(tmp_path, wrong)
    said = str(caught.value)
    assert 'adversary "clerk", agree: dataset "people" has no attribute "twon".' in said
    assert 'Did you mean "town"?' in said
    assert 'adversary "guest": "agre" is not a setting here. Did you mean "agree"?' in said
    assert "limit 2, attribute: is missing; whose largest share?" in said


def test_a_subprocess_sees_the_package_only_where_it_is_installed(tmp_path: Path) -> None:
    path = write_release(tmp_path, RELEASE)
    without = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "divulge.cli", "check", str(path)]
    told = subprocess.run(command, capture_output=True, text=True, check=False, env=without)
    assert told.returncode == 2
    assert '"register_match" is not an attack that is installed.' in told.stderr


def test_a_measure_that_tells_the_risk_of_records_is_lowered_and_one_that_does_not_is_judged(
    tmp_path: Path,
) -> None:
    path = write_release(tmp_path, RELEASE)
    people = Release.load(path).datasets["people"].read()
    lonely = dv.Limit("town_risk", at_most=0.5)
    p = dv.protection.protect(people, [lonely], ["suppress"])
    assert [outcome.held for outcome in p.outcomes] == [True]
    assert p.dataset.to_arrow()["town"].to_pylist() == [None, None, *["Como"] * 4]
    assert p.dataset.to_arrow()["age"].to_pylist() == people.to_arrow()["age"].to_pylist()
    assert {decision.rule for decision in p.decisions} == {"town_risk at most 0.5"}
    with pytest.raises(InvalidInput, match="has no risk per record"):
        share = dv.Limit("largest_share", at_most=0.5, attribute="town")
        dv.protection.protect(people, [share], ["suppress"])
    with pytest.raises(InvalidInput, match="not from 0 to 1 for 6 of 6"):
        dv.protection.protect(people, [dv.Limit("out_of_range", at_most=0.5)], ["suppress"])


def test_divulge_protect_lowers_a_measure_of_another_package(tmp_path: Path) -> None:
    town_limit = '[[limit]]\ndataset = "people"\nmeasure = "town_risk"\nat_most = 0.5\n'
    people = "[[dataset]]" + RELEASE.split("[[dataset]]")[1]
    text = people + town_limit + ANONYMITY.partition("\n\n")[2]
    release = Release.load(write_release(tmp_path, text))
    assert [outcome.held for outcome in release.check().outcomes] == [False]
    assert [outcome.held for outcome in release.protect().after.outcomes] == [True]
