"""Protecting a release: every limit holds, originals stay, and files are whole or not there."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.parquet as pq
import pytest

import divulge as dv
from divulge import Release, datasets
from divulge.protection import OutOfReachError, ProtectedHistory
from divulge.release import result_schema
from divulge.work import InvalidInput
from divulge.work.storage.staging import MARK_FILE, Staging

EXAMPLES = Path(__file__).parent.parent.parent / "examples"

PUPILS = """
[[dataset]]
name = "pupils"
source = "pupils.csv"
roles = { identifier = ["id"], quasi_identifier = ["age", "gender", "grade"], sensitive = ["disability"] }
"""
CLASSMATE = """
[[adversary]]
name = "classmate"
attack = "records"
model = "CRS"
knows = ["gender", "grade"]

[[limit]]
adversary = "classmate"
measure = "deterministic.posterior"
at_most = 0
"""


def released(folder: Path, text: str) -> Release:
    datasets.school_year_example().write(folder / "pupils.csv")
    (folder / "release.toml").write_text(PUPILS + text)
    return Release.load(folder / "release.toml")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_was_protected_is_attacked_again_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from divulge.release.attack_again import attack_again

    calls = []

    def count_calls(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        return attack_again(*arguments, **options)

    monkeypatch.setattr("divulge.release.protect.attack_again", count_calls)
    assert released(tmp_path, CLASSMATE).protect().passed
    assert len(calls) == 1


def test_after_protection_the_written_data_pass_their_own_release(tmp_path: Path) -> None:
    release = released(tmp_path, CLASSMATE)
    assert not release.check().passed
    before = files(tmp_path)
    p = release.protect(out=tmp_path / "out")
    assert p.passed
    assert {name: files(tmp_path)[name] for name in before} == before  # originals as they were
    written = tmp_path / "out" / "release" / "pupils.csv"
    (tmp_path / "again.toml").write_text(
        PUPILS.replace('identifier = ["id"], ', "").replace('"pupils.csv"', f'"{written}"')
        + CLASSMATE
    )
    assert Release.load(tmp_path / "again.toml").check().passed
    assert "id" not in dv.read(written).names


def test_the_result_keeps_to_its_schema_and_the_log_names_no_value(tmp_path: Path) -> None:
    p = released(tmp_path, CLASSMATE).protect(out=tmp_path / "out")
    result: Any = json.loads((tmp_path / "out" / "internal" / "result.json").read_text())
    jsonschema.validate(result, result_schema())
    assert result["passed"]
    log = pq.read_table(tmp_path / "out" / "internal" / "decisions.parquet")
    assert log.num_rows == len(p.decisions) > 0
    assert "from" not in log.column_names
    with_values = Release.load(tmp_path / "release.toml").protect(
        out=tmp_path / "told", values=True
    )
    assert (
        "from" in pq.read_table(tmp_path / "told" / "internal" / "decisions.parquet").column_names
    )
    assert len(with_values.decisions) == len(p.decisions)


def test_an_original_is_never_overwritten_and_files_only_if_that_is_said(tmp_path: Path) -> None:
    release = released(tmp_path, CLASSMATE)
    before = files(tmp_path)
    with pytest.raises(InvalidInput, match="contains an input of this run"):
        release.protect(out=tmp_path, overwrite=True)
    assert files(tmp_path) == before
    release.protect(out=tmp_path / "out")
    with pytest.raises(InvalidInput, match="exists already"):
        release.protect(out=tmp_path / "out")
    release.protect(out=tmp_path / "out", overwrite=True)


def test_what_cannot_be_reached_leaves_nothing_behind(tmp_path: Path) -> None:
    impossible = (
        '[[limit]]\nmeasure = "distinct_l_diversity"\nattribute = "disability"\nat_least = 9\n'
    )
    with pytest.raises(InvalidInput, match="9 cannot be"):
        released(tmp_path, impossible).protect(out=tmp_path / "out")
    never = '[[limit]]\nmeasure = "k_anonymity"\nat_least = 5\n[protection]\nmethods = ["suppress"]\nnever = ["age"]\n'
    (tmp_path / "pupils.csv").unlink()
    with pytest.raises(OutOfReachError, match="which must not be touched"):
        released(tmp_path, never).protect(out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_where_no_method_helps_the_change_of_the_release_that_would_is_named(
    tmp_path: Path,
) -> None:
    datasets.school_year_example(2).write(tmp_path / "second.csv")
    text = """
[[dataset]]
name = "second"
source = "second.csv"
roles = { identifier = ["id"], quasi_identifier = ["age", "grade"] }

[[adversary]]
name = "a year later"
attack = "longitudinal"
dataset = ["pupils", "second"]
on = "id"
knows = ["age", "grade"]

[[limit]]
adversary = "a year later"
measure = "deterministic.posterior"
at_most = 0
"""
    with pytest.raises(OutOfReachError, match='linked by "id": release them without it'):
        released(tmp_path, text).protect(out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_setting_of_protection_that_cannot_be_is_said_when_the_file_is_read(
    tmp_path: Path,
) -> None:
    wrong = '[protection]\nmethods = ["recode"]\nnever = ["agee"]\nimportance = { grade = 0 }\n'
    with pytest.raises(InvalidInput) as caught:
        released(tmp_path, CLASSMATE + wrong)
    assert 'Did you mean "age"?' in str(caught.value)
    assert "not above 0" in str(caught.value)


def test_tables_are_suppressed_until_the_reader_knows_nothing_for_certain(tmp_path: Path) -> None:
    datasets.inflation_and_growth(400, balance="U").write(tmp_path / "companies.csv")
    (tmp_path / "release.toml").write_text("""
[[dataset]]
name = "companies"
source = "companies.csv"
roles = { identifier = ["Id"], weight = "Weight" }

[[adversary]]
name = "reader"
attack = "tables"
by = ["Area", "Sector"]
min_frequency = 5
suppress = "primary"

[[limit]]
adversary = "reader"
measure = "deterministic.posterior"
at_most = 0
""")
    release = Release.load(tmp_path / "release.toml")
    assert not release.check().passed
    p = release.protect(out=tmp_path / "out")
    assert p.passed
    assert "*" in (tmp_path / "out" / "release" / "table_reader.csv").read_text()


def test_only_what_is_published_is_written(tmp_path: Path) -> None:
    source = EXAMPLES / "risk"
    for file in source.glob("*.csv"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    datasets = (source / "release.toml").read_text().partition("# Somebody with a register")[0]
    limit = '[[limit]]\ndataset = "survey"\nmeasure = "k_anonymity"\noriginal = "original"\n'
    protection = '[protection]\nmethods = ["suppress"]\nout_of_reach = "remove"\n'
    (tmp_path / "release.toml").write_text(f"{datasets}{limit}at_least = 3\n{protection}")
    p = Release.load(tmp_path / "release.toml").protect(out=tmp_path / "out")
    assert p.published == ["survey"]
    assert sorted(path.name for path in (tmp_path / "out" / "release").iterdir()) == [
        "methods-note.txt",
        "survey.csv",
    ]


def test_histories_are_made_coarser_and_their_users_get_pseudonyms(tmp_path: Path) -> None:
    p = Release.load(EXAMPLES / "events" / "release.toml").protect(out=tmp_path / "out")
    assert p.passed
    [history] = p.parts.values()
    assert isinstance(history, ProtectedHistory)
    assert history.explain()
    customers = (
        dv.read(tmp_path / "out" / "release" / "purchases.csv").to_arrow()["customer"].to_pylist()
    )
    first = dv.read(EXAMPLES / "events" / "purchases.csv").to_arrow()["customer"].to_pylist()
    assert not set(map(str, customers)) & set(map(str, first))


HISTORY = """
[[dataset]]
name = "visits"
unlisted = "non_identifying"
source = "visits.csv"

[[adversary]]
name = "one"
attack = "events"
user = "user"
time = "date"
item = "goods"
knows = ["item"]

[[adversary]]
name = "two"
attack = "events"
user = "user"
time = "date"
item = "shop"
{two}

[[limit]]
measure = "probabilistic.posterior"
at_most = 0.6
"""


@pytest.mark.parametrize("two", ['knows = ["item", "day"]', 'model = "ten"'])
def test_every_adversary_of_a_history_is_protected_from_as_they_read_it(
    tmp_path: Path, two: str
) -> None:
    # All bought the same on days of one week, each in a shop of the same chain on another day.
    rows = [f"{user},2010-12-{7 + user % 4:02},tea,north" for user in range(1, 5)]
    (tmp_path / "visits.csv").write_text("\n".join(["user,date,goods,shop", *rows]))
    (tmp_path / "release.toml").write_text(HISTORY.format(two=two))
    p = Release.load(tmp_path / "release.toml").protect()
    assert not p.before.passed
    assert p.passed
    [history] = p.parts.values()
    assert isinstance(history, ProtectedHistory)
    assert history.explain() == ["Times are given by the week."]


def test_a_report_of_a_protection_shows_decisions_and_no_value(tmp_path: Path) -> None:
    release = Release.load(EXAMPLES / "protection" / "release.toml")
    p = release.protect()
    dv.report(p, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "How release.toml was protected" in page
    assert "town was recoded in every record" in page
    for value in ("Milano", "Palermo", "10001"):
        assert value not in page
    [single] = p.records.values()
    dv.report(single, tmp_path / "single.html")
    assert "How companies was protected" in (tmp_path / "single.html").read_text()


def test_what_a_limit_compares_with_does_not_go_out(tmp_path: Path) -> None:
    pupils = datasets.school_year_example()
    pupils.write(tmp_path / "before.csv")
    text = PUPILS.replace("pupils", "before") + (
        '[[limit]]\ndataset = "pupils"\nmeasure = "k_anonymity"\nat_least = 2\n'
        'nulls = "bayes"\noriginal = "before"\n[protection]\nmethods = ["suppress"]\n'
    )
    p = released(tmp_path, text).protect(out=tmp_path / "out")
    assert p.published == ["pupils"]
    assert p.decisions
    assert (tmp_path / "out" / "release" / "pupils.csv").exists()
    assert not list((tmp_path / "out").rglob("before.csv"))
    assert not any('"before"' in sentence for sentence in p.explain())


def test_a_dataset_of_nothing_but_names_is_refused(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("id\nanna\nbert\n")
    text = CLASSMATE.replace('attack = "records"', 'attack = "records"\ndataset = "pupils"') + (
        '[[dataset]]\nname = "names"\nsource = "names.csv"\nroles = { identifier = ["id"] }\n'
    )
    with pytest.raises(InvalidInput, match="publishes nothing"):
        released(tmp_path, text).protect(out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_with_files_of_the_user_is_refused_before_any_work(tmp_path: Path) -> None:
    release = released(tmp_path, CLASSMATE)
    (tmp_path / "out").mkdir()
    for file in ("decisions.txt", "report.html"):
        (tmp_path / "out" / file).write_text("mine")
    with pytest.raises(InvalidInput, match=r"(?s)decisions\.txt.*report\.html"):
        release.protect(out=tmp_path / "out")


def test_what_an_interrupted_run_left_is_cleared_away_and_nothing_else(tmp_path: Path) -> None:
    mine = tmp_path / ".divulge-of-mine.part"
    mine.mkdir()
    (mine / "notes.txt").write_text("not a staging folder")
    with Staging(tmp_path) as living:
        left = tmp_path / ".divulge-0123456789ab.part"
        left.mkdir()
        for name in (MARK_FILE, "half"):
            (left / name).write_text("")
        released(tmp_path, CLASSMATE).protect(out=tmp_path / "out")
        assert living.path.exists()
    assert not left.exists()
    assert (mine / "notes.txt").exists()


def test_each_limit_stands_beside_its_own_figure_from_before(tmp_path: Path) -> None:
    table = (
        '[[adversary]]\nname = "reader"\nattack = "tables"\nby = ["age"]\n'
        'min_frequency = 1\nmethod = "secret"\n[[limit]]\nadversary = "reader"\n'
        'measure = "deterministic.posterior"\nat_most = 0\n'
    )
    p = released(tmp_path, table + CLASSMATE).protect()
    order = [(outcome.limit.measure, outcome.subject) for outcome in p.before.outcomes]
    assert order == [(outcome.limit.measure, outcome.subject) for outcome in p.after.outcomes]
    assert [subject for _, subject in order] == ["reader", "classmate"]
    assert all(outcome.held for outcome in p.after.outcomes)
    assert p.after.status == "pass"


def test_every_limit_out_of_reach_is_named_also_where_subjects_share_a_name(
    tmp_path: Path,
) -> None:
    datasets.school_year_example(2).write(tmp_path / "second.csv")
    text = """
[[dataset]]
name = "second"
source = "second.csv"
roles = { identifier = ["id"], quasi_identifier = ["age", "grade"] }

[[adversary]]
name = "pupils"
attack = "longitudinal"
dataset = ["pupils", "second"]
on = "id"
knows = ["age", "grade"]

[[limit]]
adversary = "pupils"
measure = "deterministic.posterior"
at_most = 0

[[limit]]
adversary = "pupils"
measure = "probabilistic.posterior"
at_most = 0.1

[[limit]]
dataset = "pupils"
measure = "correct_matches"
sampling_fraction = 0.5
at_most = 0
"""
    with pytest.raises(OutOfReachError) as caught:
        released(tmp_path, text).protect()
    [_, of_adversary, of_dataset] = str(caught.value).splitlines()
    assert "for certain" in of_adversary
    assert "guess" in of_adversary
    assert "share of correct matches" in of_dataset


def test_a_dataset_whose_limits_hold_is_not_protected_for_the_sake_of_another(
    tmp_path: Path,
) -> None:
    others = """
[[dataset]]
name = "others"
source = "others.csv"
roles = { quasi_identifier = ["gender"] }

[[limit]]
measure = "k_anonymity"
at_least = 2
"""
    (tmp_path / "others.csv").write_text("gender\nm\nm\nf\nf\n")
    p = released(tmp_path, others).protect()
    assert [*p.parts] == ["pupils"]


def test_the_example_of_records_protects_end_to_end(tmp_path: Path) -> None:
    """Years, an original, a register and a population, each read as its holder would."""
    release = dv.Release.load(Path("examples") / "records" / "release.toml")
    result = release.protect(tmp_path / "out")
    assert result.status == "pass"
    assert {path.name for path in (tmp_path / "out" / "release").iterdir()} >= {
        "year_1.csv",
        "year_2.csv",
        "protected.csv",
    }
    before = {each.adversary: each for each in result.before.assessments}
    for after in result.after.assessments:
        if after.adversary in ("finder", "who is in it"):
            assert after.deterministic == before[after.adversary].deterministic


def write_town(folder: Path, limits: str) -> Path:
    """Eight of sixteen people of a town, whose ages can be made coarser by ten."""
    ages = [21, 22, 23, 31, 32, 33, 41, 42]
    town = [*ages, 24, 25, 34, 35, 43, 44, 45, 46]
    for name, column in (("ill", ages), ("town", town)):
        lines = ["age,sex", *(f"{age},{'FM'[age % 2]}" for age in column)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    path = folder / "release.toml"
    roles = 'roles = { quasi_identifier = ["age", "sex"] }'
    hierarchy = "hierarchies = { age = { intervals = [[20, 30, 40, 50]] } }"
    path.write_text(
        f'[[dataset]]\nname = "ill"\nsource = "ill.csv"\n{roles}\n{hierarchy}\n'
        f'[[dataset]]\nname = "town"\nsource = "town.csv"\n{roles}\n{limits}',
        encoding="utf-8",
    )
    return path


def test_a_population_is_recoded_with_the_release(tmp_path: Path) -> None:
    """k-map and membership, after ages were made coarser for the sake of both."""
    path = write_town(
        tmp_path,
        '[[limit]]\nmeasure = "k_map"\ndataset = "ill"\npopulation = "town"\nat_least = 2\n'
        '[[adversary]]\nname = "nosy"\nattack = "records"\nmodel = "CMS"\n'
        'dataset = ["ill", "town"]\nknows = ["age", "sex"]\n'
        '[protection]\nmethods = ["recode"]\n',
    )
    result = dv.Release.load(path).protect()
    assert result.status == "pass"
    ill = result.after.datasets["ill"].to_arrow().to_pylist()
    assert {row["age"] for row in ill} == {"[20, 30)", "[30, 40)", "[40, 50)"}
    town = [
        (f"[{age // 10 * 10}, {age // 10 * 10 + 10})", "FM"[age % 2])
        for age in (21, 22, 23, 31, 32, 33, 41, 42, 24, 25, 34, 35, 43, 44, 45, 46)
    ]
    [outcome] = result.after.outcomes
    assert outcome.value == min(town.count((row["age"], row["sex"])) for row in ill)
    [nosy] = result.after.assessments
    shares = [
        sum((row["age"], row["sex"]) == person for row in ill) / town.count(person)
        for person in town
    ]
    assert nosy.risk().tolist() == pytest.approx([max(share, 1 - share) for share in shares])


def test_an_original_beside_the_release_loses_the_records_that_are_removed(tmp_path: Path) -> None:
    rows = ["a,b", *(["1,1"] * 3), *(["2,2"] * 3), "9,8"]
    for name in ("ill", "before"):
        (tmp_path / f"{name}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    roles = 'roles = { quasi_identifier = ["a", "b"] }'
    path = tmp_path / "release.toml"
    path.write_text(
        f'[[dataset]]\nname = "ill"\nsource = "ill.csv"\n{roles}\n'
        f'[[dataset]]\nname = "before"\nsource = "before.csv"\n{roles}\n'
        '[[adversary]]\nname = "knower"\nattack = "risk"\nmeasure = "reidentification"\n'
        'dataset = ["ill", "before"]\n'
        '[[limit]]\nmeasure = "k_anonymity"\ndataset = "ill"\nat_least = 3\n'
        '[protection]\nmethods = ["suppress"]\nnever = ["a", "b"]\nout_of_reach = "remove"\n',
        encoding="utf-8",
    )
    result = dv.Release.load(path).protect()
    assert result.status == "pass"
    assert result.after.datasets["ill"].rows == 6
    [knower] = result.after.assessments
    assert knower.risk().tolist() == pytest.approx([1 / 3] * 6)
