"""Traps that caught us once: each fault as a test, seen as a user sees it."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import Command
from tests.robustness.foreign_readers import by_pyreadstat, smallest_company
from tests.robustness.verbs import make_world

import divulge as dv
from divulge import InvalidInput, Release

AGE_ALONE = """
[[dataset]]
name = "people"
source = "{source}"
unlisted = "non_identifying"
roles = {{ quasi_identifier = ["age"] }}
[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 3
nulls = "value"
[protection]
methods = ["suppress"]
"""


def write_tagged(path: Path) -> None:
    """Six records that differ by why their age is missing, and nothing else."""
    import pandas as pd
    import pyreadstat

    ages = pd.DataFrame({"age": pd.Series(list("abcdef"), dtype=object), "x": [1.0] * 6})
    pyreadstat.write_dta(ages, str(path), missing_user_values={"age": list("abcdef")})


def test_tagged_missing_values_are_told_apart_in_the_judgement(tmp_path: Path) -> None:
    write_tagged(tmp_path / "people.dta")
    (tmp_path / "release.toml").write_text(AGE_ALONE.format(source="people.dta"))
    verdict = Release.load(tmp_path / "release.toml").check()
    assert verdict.status == "fail"
    assert verdict.outcomes[0].value == 1


def test_tagged_missing_values_are_alike_in_what_is_written(tmp_path: Path) -> None:
    write_tagged(tmp_path / "people.dta")
    (tmp_path / "release.toml").write_text(AGE_ALONE.format(source="people.dta"))
    p = Release.load(tmp_path / "release.toml").protect(out=tmp_path / "out")
    assert p.passed
    assert any("missing values that were distinguished" in line for line in p.explain())
    records = by_pyreadstat(tmp_path / "out" / "release" / "people.dta")
    assert smallest_company(records, ["age"], "value") == 6
    safe = dv.protection.suppress(dv.read(tmp_path / "people.dta"), 3, "value", among=["age"])
    safe.write(tmp_path / "safe.dta", unlisted="non_identifying")
    assert smallest_company(by_pyreadstat(tmp_path / "safe.dta"), ["age"], "value") == 6


def test_verbs_on_a_file_tell_tagged_missing_values_apart(divulge: Command, tmp_path: Path) -> None:
    write_tagged(tmp_path / "people.dta")
    done = divulge("risk", "people.dta", "-q", "age", "--measure", "k_anonymity", "--nulls",
                   "value", "--at-least", "3")  # fmt: skip
    assert done.returncode == 1, done.stdout


def test_a_release_without_limits_is_not_judged(divulge: Command, tmp_path: Path) -> None:
    make_world(tmp_path)
    text = (tmp_path / "release.toml").read_text()
    (tmp_path / "release.toml").write_text(text.replace("[[limit]]", "[[dataset]]\nname = 'no'"))
    (tmp_path / "release.toml").write_text(text[: text.index("[[limit]]")])
    done = divulge("check", "release.toml", "--out", "results", "--json")
    assert done.returncode == 3
    told = json.loads((tmp_path / "results" / "result.json").read_text())
    assert (told["status"], told["passed"]) == ("not judged", False)
    assert "Not judged" in (tmp_path / "results" / "report.html").read_text()
    done = divulge("protect", "release.toml", "--out", "protected")
    assert done.returncode == 3
    assert sorted(p.name for p in (tmp_path / "protected").iterdir()) == [
        "editions",
        "internal",
        "manifest.json",
    ]
    assert "nothing may be released" in done.stdout


def test_a_release_whose_limits_cannot_fail_is_not_judged(divulge: Command, tmp_path: Path) -> None:
    make_world(tmp_path)
    text = (tmp_path / "release.toml").read_text().replace("at_least = 2", "at_least = 1")
    (tmp_path / "release.toml").write_text(text)
    assert divulge("check", "release.toml").returncode == 3
    limit = '\n[[limit]]\nadversary = "neighbour"\nmeasure = "deterministic.posterior"\n'
    (tmp_path / "release.toml").write_text(text + limit + "at_most = 1\n")
    assert divulge("check", "release.toml").returncode == 3
    (tmp_path / "release.toml").write_text(text + limit + "at_most = 0.9\n")
    assert divulge("check", "release.toml").returncode == 0


def test_a_limit_in_a_senseless_direction_is_an_error(divulge: Command, tmp_path: Path) -> None:
    make_world(tmp_path)
    limit = '\n[[limit]]\nadversary = "neighbour"\nmeasure = "deterministic.posterior"\n'
    path = tmp_path / "release.toml"
    path.write_text(path.read_text() + limit + "at_least = 0.05\n")
    done = divulge("check", "release.toml", "--out", "results")
    assert done.returncode == 2
    assert "at_most" in done.stderr
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_infinite_numbers_are_values_like_others(tmp_path: Path, ending: str) -> None:
    numbers = [1.0, 1.0, math.inf, math.inf, -math.inf, 2.5]
    table = pa.table({"age": numbers, "sex": ["f", "f", "m", "m", "m", "f"]})
    if ending == ".parquet":
        pq.write_table(table, tmp_path / "people.parquet")
    else:
        rows = zip(numbers, table["sex"].to_pylist(), strict=True)
        lines = ["age,sex", *(f"{age},{sex}" for age, sex in rows)]
        (tmp_path / "people.csv").write_text("\n".join(lines))
    text = AGE_ALONE.format(source=f"people{ending}").replace("at_least = 3", "at_least = 2")
    text = "accept_count_only = true\n" + text.replace('"value"', '"maybe"')
    (tmp_path / "release.toml").write_text(text)
    p = Release.load(tmp_path / "release.toml").protect(out=tmp_path / "out")
    assert p.passed
    told = (tmp_path / "out" / "internal" / "result.json").read_text()
    json.loads(told, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))


def test_pipes_devices_and_impossible_paths_are_messages(divulge: Command, tmp_path: Path) -> None:
    make_world(tmp_path)
    os.mkfifo(tmp_path / "pipe.csv")
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    (tmp_path / "table.jj").write_text("0\n1000000000\n")
    for line in (
        ["init", ""],
        ["init", "pipe.csv"],
        ["init", "zero.csv"],
        ["risk", "pipe.csv", "-q", "age"],
        ["check", "pipe.toml"],
        ["check", "/dev/zero"],
        ["check", ""],
        ["tables", "audit", "pipe.csv"],
        ["tables", "audit", "zero.csv"],
        ["tables", "audit", "table.jj"],
    ):
        done = divulge(*line)
        assert done.returncode == 2, line
        assert "unexpected" not in done.stderr, line
        assert "Traceback" not in done.stderr, line


def test_a_nul_in_a_path_is_a_message(tmp_path: Path) -> None:
    for call in (
        lambda: dv.read("people\0.csv"),
        lambda: Release.load("release\0.toml"),
        lambda: dv.tables.read_crosstab("table\0.csv"),
        lambda: dv.tables.read_jj("table\0.jj"),
        lambda: dv.datasets.school_year_example().write(tmp_path / "a\0.csv"),
        lambda: dv.read(""),
    ):
        with pytest.raises(InvalidInput, match="path"):
            call()


@pytest.mark.parametrize("ending", [".dta", ".sav", ".zsav"])
def test_text_after_a_nul_is_not_cut_silently(tmp_path: Path, ending: str) -> None:
    texts = dv.Dataset.from_arrow(pa.table({"name": ["a\0b", "a\0c"]}))
    with pytest.raises(InvalidInput, match="name"):
        texts.write(tmp_path / f"names{ending}")
    assert list(tmp_path.iterdir()) == []


def test_an_even_number_of_stray_quotation_marks_swallows_no_record(tmp_path: Path) -> None:
    lines = ["id,town,age", '1,"Roma,20', "2,Roma,20", '3,Roma",20', "4,Bari,30", "5,Bari,30"]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(InvalidInput, match="line 2"):
        dv.read(tmp_path / "people.csv")


def test_formulas_are_guarded_one_to_one_in_text_files_and_not_elsewhere(tmp_path: Path) -> None:
    texts = ["=1+1", "'=1+1", "+cmd", "-5 to 0", "-5", "@x", "\tx", "plain", "''=1+1", "\uff1d1"]
    dataset = dv.Dataset.from_arrow(pa.table({"note": texts}))
    dataset.write(tmp_path / "guarded.csv")
    guarded = dv.read(tmp_path / "guarded.csv", text=["note"]).to_arrow()["note"].to_pylist()
    assert len(set(guarded)) == len(texts)
    assert not any(text.startswith(("=", "+", "@", "\t", "\uff1d")) for text in guarded)
    assert guarded[4] == "-5"
    dataset.write(tmp_path / "plain.csv", guard_formulas=False)
    plain = dv.read(tmp_path / "plain.csv", text=["note"]).to_arrow()["note"].to_pylist()
    assert plain == texts
    dataset.write(tmp_path / "plain.parquet")
    assert dv.read(tmp_path / "plain.parquet").to_arrow()["note"].to_pylist() == texts


def test_formulas_in_what_goes_out_are_guarded_unless_the_release_says_otherwise(
    tmp_path: Path,
) -> None:
    make_world(tmp_path)
    rows = (tmp_path / "people.csv").read_text().replace("cook", "=HYPERLINK(1)")
    (tmp_path / "people.csv").write_text(rows)
    release = tmp_path / "release.toml"
    Release.load(release).protect(out=tmp_path / "guarded")
    assert ",'=HYPERLINK" in (tmp_path / "guarded/release/people.csv").read_text().replace('"', "")
    release.write_text(release.read_text() + "guard_formulas = false\n")
    Release.load(release).protect(out=tmp_path / "as_it_is")
    written = (tmp_path / "as_it_is" / "release" / "people.csv").read_text()
    assert ",=HYPERLINK" in written.replace('"', "")


def test_a_set_without_its_manifest_is_refused_by_its_readers(
    divulge: Command, tmp_path: Path
) -> None:
    make_world(tmp_path)
    assert divulge("protect", "release.toml", "--out", "out").returncode == 0
    assert divulge("explain", "record", "1", "--log", "out").returncode == 0
    (tmp_path / "out" / "manifest.json").unlink()
    done = divulge("explain", "record", "1", "--log", "out")
    assert done.returncode == 2
    assert "manifest is missing" in done.stderr


def test_a_set_whose_files_do_not_fit_is_refused_by_its_readers(
    divulge: Command, tmp_path: Path
) -> None:
    make_world(tmp_path)
    assert divulge("protect", "release.toml", "--out", "out").returncode == 0
    other = np.frombuffer((tmp_path / "out/release/people.csv").read_bytes(), np.uint8).copy()
    other[-2] ^= 1
    (tmp_path / "out" / "release" / "people.csv").write_bytes(other.tobytes())
    done = divulge("explain", "record", "1", "--log", "out")
    assert done.returncode == 2
    assert "is not as it was written" in done.stderr


def test_a_report_is_written_where_no_chart_can_be_drawn(tmp_path: Path) -> None:
    make_world(tmp_path)
    line = f'ulimit -v 8000000; "{sys.executable}" -m divulge.cli check release.toml --out results'
    done = subprocess.run(
        ["/bin/bash", "-c", line],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode in (0, 1), done.stderr
    assert "could not be drawn" in (tmp_path / "results" / "report.html").read_text()
