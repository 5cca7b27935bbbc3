"""The verbs of protection: what they print, write and refuse."""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import divulge as dv
from divulge.cli.main import app
from divulge.work import InvalidInput

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "protection" / "release.toml"
runner = CliRunner()


def run(*arguments: object) -> str:
    result = runner.invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_protect_writes_what_may_go_out_and_explain_tells_why(tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = run("protect", EXAMPLE, "--out", out, "--mapping", tmp_path / "mapping.csv")
    assert "PASS" in said
    assert sorted(p.name for p in out.iterdir()) == [
        "editions", "internal", "manifest.json", "release",
    ]  # fmt: skip
    goes_out = {p.name for p in (out / "release").iterdir()}
    assert goes_out == {"companies.csv", "methods-note.txt"}
    assert {p.name for p in (out / "internal").iterdir()} == {
        "certificate-key.json", "decisions.parquet", "decisions.txt", "mapping.csv", "published.json",
        "published_1.parquet", "report.html", "result.json", "secret.json",
    }  # fmt: skip
    assert (out / "internal").stat().st_mode & 0o777 == 0o700
    assert all(p.stat().st_mode & 0o777 == 0o600 for p in (out / "internal").iterdir())
    assert "town" in dv.read(tmp_path / "mapping.csv").to_arrow()["attribute"].to_pylist()
    changed = [
        r
        for r in pq.read_table(out / "internal" / "decisions.parquet")["record"].to_pylist()
        if r is not None
    ]
    told = run("explain", "record", changed[0] + 1, "--log", out)
    assert f"Record {changed[0] + 1}: " in told
    assert "was recoded in every record" in told
    found = json.loads(run("explain", "record", changed[0] + 1, "--log", out, "--json"))
    assert found["record"] == changed[0] + 1
    assert {row["record"] for row in found["decisions"]} == {None, changed[0]}


def test_suppress_takes_a_file_and_says_what_it_did(tmp_path: Path) -> None:
    data = tmp_path / "companies.csv"
    dv.datasets.local_suppression_example().write(data)
    keys = [
        part
        for name in ("Area", "Sector", "Employees", "Residential Rev.")
        for part in ("-q", name)
    ]
    said = run(
        "suppress",
        data,
        *keys,
        "-k",
        2,
        "--nulls",
        "maybe",
        "--accept-count-only",
        "--identifier",
        "Id",
        "--out",
        tmp_path / "safe.csv",
        "--log",
        tmp_path / "log.parquet",
    )
    assert "2 of 28 cells were suppressed" in said
    released = dv.read(tmp_path / "safe.csv").to_arrow()
    assert released["Sector"].to_pylist().count("suppressed") == 1
    assert "Id" not in released.column_names
    assert "Nothing was changed in record 3." in run(
        "explain", "record", 3, "--log", tmp_path / "log.parquet"
    )
    assert "Sector was suppressed (null 2)" in run(
        "explain", "record", 1, "--log", tmp_path / "log.parquet"
    )
    counted = ["suppress", data, *keys, "-k", 2, "--nulls", "maybe"]
    found = json.loads(run(*counted, "--accept-count-only", "--json"))
    assert found["suppressed_cells"] == found["bound"] == 2
    assert found["published"]["by_count_only"]
    refused = runner.invoke(app, [*map(str, counted), "--out", str(tmp_path / "no.csv")])
    assert refused.exit_code == 1
    assert "It holds by count only" in " ".join(refused.output.split())
    assert not (tmp_path / "no.csv").exists()
    for option in ("--out", "--log"):
        with pytest.raises(InvalidInput, match=f"{option}: is an input.*never overwritten"):
            run("suppress", data, *keys, option, data, "--overwrite")
    with pytest.raises(InvalidInput, match="--log: exists already"):
        run("suppress", data, *keys, "--log", tmp_path / "log.parquet")
    with pytest.raises(InvalidInput, match="the same file as --out"):
        run(
            "suppress",
            data,
            *keys,
            "--log",
            tmp_path / "a.parquet",
            "--out",
            tmp_path / "a.parquet",
        )


def test_suppress_writes_nothing_that_a_published_column_undoes(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    home = np.arange(900) // 3
    region = random.choice(list("abcdef"), 300, p=[0.5, 0.3, 0.1, 0.05, 0.03, 0.02])[home]
    people = pa.table(
        {
            "region": region,
            "age": random.integers(0, 9, 900) * 10,
            "income": 1_000 + 7 * home,
        }
    )
    data, out = tmp_path / "people.csv", tmp_path / "safe.csv"
    dv.Dataset.from_arrow(people).write(data)
    given = ["suppress", data, "-q", "region", "-q", "age", "-k", 3, "--never", "age"]
    given += ["--out", out]
    refused = runner.invoke(app, [*map(str, given), "--unlisted", "non_identifying"])
    said = " ".join(refused.output.split())
    assert refused.exit_code == 1
    assert "can be read from other records with the same income" in said
    assert "do not satisfy 3-anonymity (bayes); nothing was written" in said
    assert not out.exists()
    assert "all satisfy 3-anonymity" in " ".join(run(*given, "--unlisted", "drop").split())
    assert dv.read(out).names == ["region", "age"]


@pytest.mark.parametrize("verb", ["suppress", "recode"])
@pytest.mark.parametrize("kept", [["--identifier", "id"], ["--unlisted", "drop"]])
def test_what_does_not_go_out_cannot_be_kept_as_it_is(
    tmp_path: Path, verb: str, kept: list[str]
) -> None:
    data, out = tmp_path / "people.csv", tmp_path / "safe.csv"
    data.write_text("id,age\n" + "".join(f"{n},{n // 3}\n" for n in range(30)))
    given = [verb, data, "-q", "age", "-k", 3, "--out", out, *kept]
    run(*given)
    out.unlink()
    with pytest.raises(InvalidInput, match=r'never: "id" is not published as it is'):
        runner.invoke(app, [*map(str, given), "--never", "id"], catch_exceptions=False)
    assert not out.exists()


def test_the_sources_of_a_release_are_never_overwritten(tmp_path: Path) -> None:
    for file in EXAMPLE.parent.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    release, source = tmp_path / "release.toml", tmp_path / "companies.csv"
    before = source.read_bytes()
    with pytest.raises(InvalidInput, match="--out: is an input"):
        run("suppress", release, "--out", source, "--overwrite")
    with pytest.raises(InvalidInput, match="--mapping: is an input"):
        run("protect", release, "--mapping", source, "--overwrite")
    assert source.read_bytes() == before


def test_explain_needs_a_log(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no log of decisions"):
        run("explain", "record", 1, "--log", tmp_path)
    (tmp_path / "log.parquet").write_text("nothing of the kind")
    with pytest.raises(InvalidInput, match="is not a log of decisions"):
        run("explain", "record", 1, "--log", tmp_path / "log.parquet")


def test_other_ways_that_cannot_be_compared_do_not_stop_a_protection(tmp_path: Path) -> None:
    folder = tmp_path / "people"
    shutil.copytree(Path(__file__).parents[2] / "examples" / "people", folder)
    answer = runner.invoke(
        app, ["protect", str(folder / "release.toml"), "--out", str(tmp_path / "out"), "--frontier"]
    )
    assert answer.exit_code == 0
    assert 'Other ways to protect dataset "purchases" are not compared' in answer.output
    assert (tmp_path / "out" / "release").is_dir()
