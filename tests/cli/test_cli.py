"""The command line, as a user or a script meets it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from tests.release_files import write_release

from divulge import datasets
from divulge.release import result_schema

Command = Callable[..., "subprocess.CompletedProcess[str]"]

# (pydantic is not among them: typer itself imports it where it is installed)
HEAVY = [
    "altair",
    "duckdb",
    "jinja2",
    "numba",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "scipy",
    "vl_convert",
]


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["--version"]])
def test_help_imports_no_heavy_module(arguments: list[str]) -> None:
    script = f"""
import sys
sys.argv = ["divulge", *{arguments!r}]
from divulge.cli import main
try:
    main()
except SystemExit as end:
    assert end.code == 0, end.code
print("HEAVY", [name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "HEAVY []"


def test_exit_0_when_limits_hold(divulge: Command, tmp_path: Path) -> None:
    done = divulge("check", write_release(tmp_path))
    assert done.returncode == 0
    assert done.stdout.startswith("PASS")
    assert done.stderr == ""


def test_exit_1_when_a_limit_fails(divulge: Command, tmp_path: Path) -> None:
    done = divulge("check", write_release(tmp_path, ("at_most = 0.10", "at_most = 0.05")))
    assert done.returncode == 1
    assert "FAIL After the release, neighbour knows 10% of the secrets for certain" in done.stdout


def test_exit_2_with_a_message_when_it_cannot_run(divulge: Command, tmp_path: Path) -> None:
    path = write_release(tmp_path, ('model = "CRS"', 'model = "CRX"'))
    done = divulge("check", path, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stdout == ""
    assert 'Did you mean "CRS"?' in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists(), "nothing is written"


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (b"", "is empty"),
        (b"PAR1", "is a Parquet file"),
        (b"gender,grade,id,disability\nF,A\n", "line 2: has 2 fields"),
        ("gender,grade,id,disability\nF,à,1,no\n".encode("latin-1"), "line 2: is not UTF-8"),
        (b"gender,grade,grade,id\nF,A,B,1\n", "has the same name as column 2"),
        (b"gender,grade,,id\nF,A,B,1\n", "has no name"),
    ],
)
def test_bad_data_is_exit_2_without_a_traceback_and_nothing_written(
    divulge: Command, tmp_path: Path, content: bytes, wanted: str
) -> None:
    path = write_release(tmp_path)
    (tmp_path / "pupils.csv").write_bytes(content)
    before = sorted(tmp_path.iterdir())
    done = divulge("check", path, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert wanted in done.stderr
    assert "pupils.csv" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_json_is_the_result_and_nothing_else(divulge: Command, tmp_path: Path) -> None:
    done = divulge("check", write_release(tmp_path), "--json", "--out", tmp_path / "out")
    told = json.loads(done.stdout)
    jsonschema.validate(told, result_schema())
    assert told == json.loads((tmp_path / "out" / "result.json").read_text())


def test_schemas_are_printed(divulge: Command) -> None:
    for of in ("release", "result"):
        done = divulge("schema", of)
        assert json.loads(done.stdout)["title"] == f"Divulge {of}"
    assert divulge("schema", "verdict").returncode == 2


def test_a_budget_that_is_spent_is_said(divulge: Command, tmp_path: Path) -> None:
    done = divulge("check", write_release(tmp_path), "--stop-after", "0.001")
    assert done.returncode == 2
    assert "stopped by the clock after 0.001 seconds" in done.stderr


def test_a_mistake_of_ours_shows_no_value_unless_asked(
    divulge: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import divulge.release.release as r\n"
        "def fail(*_): raise RuntimeError('zweiundvierzig')\n"
        "r.Release.load = fail\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    done = divulge("check", "release.toml")
    assert done.returncode == 2
    assert "RuntimeError" in done.stderr
    assert "zweiundvierzig" not in done.stderr
    monkeypatch.setenv("DIVULGE_TRACEBACK", "1")
    assert "zweiundvierzig" in divulge("check", "release.toml").stderr


@pytest.fixture(scope="module")
def demonstrated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a demonstration, and what it said."""
    folder = tmp_path_factory.mktemp("demonstration") / "demo"
    done = subprocess.run(
        [sys.executable, "-m", "divulge.cli", "demo", "--pupils", "2000", "--out", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_the_demonstration_says_where_the_report_is(demonstrated: tuple[Path, str]) -> None:
    folder, said = demonstrated
    assert f"The report is in {folder / 'results' / 'report.html'}" in said
    told = json.loads((folder / "results" / "result.json").read_text())
    assert len(told["assessments"]) == (folder / "release.toml").read_text().count("[[adversary]]")


def test_the_release_of_the_demonstration_is_judged_alike_again(
    demonstrated: tuple[Path, str], divulge: Command
) -> None:
    folder, _ = demonstrated
    told = json.loads((folder / "results" / "result.json").read_text())
    again = divulge("check", folder / "release.toml", "--json")
    assert json.loads(again.stdout)["assessments"] == told["assessments"]


def test_a_check_killed_at_any_moment_leaves_no_half_file(tmp_path: Path) -> None:
    path = write_release(tmp_path)
    datasets.school_census(rows=200_000).write(tmp_path / "pupils.csv", overwrite=True)
    text = path.read_text().replace('["gender", "grade"]', '["school_code", "day_of_birth"]')
    text = text.replace('identifier = ["id"], ', "")
    path.write_text(text)
    out = tmp_path / "out"
    for delay in (0.3, 0.9, 1.5, 2.4):  # every moment has its turn in test_fault_injection
        with subprocess.Popen(
            [sys.executable, "-m", "divulge.cli", "check", str(path), "--out", str(out)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        ) as run:
            time.sleep(delay)
            run.send_signal(signal.SIGKILL)
        visible = [p for p in out.glob("*.*") if not p.name.startswith(".")] if out.exists() else []
        for file in visible:
            if file.suffix == ".json":
                json.loads(file.read_text())
            else:
                assert file.read_text().rstrip().endswith("</html>")
    done = subprocess.run(
        [sys.executable, "-m", "divulge.cli", "check", str(path), "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in out.iterdir()) == [
        "editions", "internal", "manifest.json", "report.html", "result.json",
    ]  # fmt: skip


def test_a_reader_who_goes_away_does_not_change_the_verdict(tmp_path: Path) -> None:
    path = write_release(tmp_path)
    done = subprocess.run(
        [
            "/bin/bash",
            "-c",
            f'"{sys.executable}" -m divulge.cli check "{path}" | true; exit ${{PIPESTATUS[0]}}',
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_names_and_folders_are_shown_letter_by_letter(divulge: Command, tmp_path: Path) -> None:
    path = write_release(tmp_path, ('"neighbour"', '"[/b] :smile: n"'))
    done = divulge("check", path, "--out", tmp_path / "o[b]ut")
    assert done.returncode == 0, done.stderr
    assert "[/b] :smile: n" in done.stdout
    assert f"The report is in {tmp_path / 'o[b]ut' / 'report.html'}" in done.stdout


def test_a_folder_that_cannot_be_is_a_message(divulge: Command, tmp_path: Path) -> None:
    path = write_release(tmp_path)
    done = divulge("check", path, "--out", path)
    assert done.returncode == 2
    assert "is a file or a device; give a folder" in done.stderr
    assert "unexpected" not in done.stderr


def test_a_terminal_without_the_letters_still_gets_the_result(
    tmp_path: Path,
) -> None:
    path = write_release(tmp_path, ('"neighbour"', '"Łódź"'))
    done = subprocess.run(
        [sys.executable, "-m", "divulge.cli", "check", str(path)],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "?ód?".encode("latin-1") in done.stdout


def test_control_c_is_an_end_with_a_message(tmp_path: Path) -> None:
    path = write_release(tmp_path)
    datasets.school_census(rows=300_000).write(tmp_path / "pupils.csv", overwrite=True)
    path.write_text(
        path.read_text()
        .replace('["gender", "grade"]', '["school_code", "day_of_birth"]')
        .replace('identifier = ["id"], ', "")
    )
    with subprocess.Popen(
        [sys.executable, "-m", "divulge.cli", "check", str(path), "--out", str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        memory = Path(f"/proc/{run.pid}/maps")
        while run.poll() is None and "libarrow" not in memory.read_text():
            time.sleep(0.02)
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=300)
    assert (run.returncode, said) == (2, "divulge: stopped; nothing was written\n")
    assert not (tmp_path / "out" / "result.json").exists()
