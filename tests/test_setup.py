"""The set-up says what is missing, with the line that installs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parent.parent


def check_python(python: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", str(PROJECT / "tools" / "check-python.sh"), python],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path or os.environ["PATH"]},
        check=False,
    )


def pretend(folder: Path, script: str) -> str:
    python = folder / "python-pretended"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    return str(python)


def test_a_python_that_is_not_there_is_said() -> None:
    done = check_python("python-of-nowhere")
    assert done.returncode == 2
    assert "sudo apt install make python3 python3-venv" in done.stderr


def test_a_python_that_is_too_old_is_said(tmp_path: Path) -> None:
    old = pretend(tmp_path, 'case "$*" in *version_info*) exit 1;; *) echo "Python 3.9.2";; esac')
    done = check_python(old)
    assert done.returncode == 2
    assert "needs Python 3.11 or later" in done.stderr
    assert "Python 3.9.2" in done.stderr


def test_a_python_without_venv_is_said(tmp_path: Path) -> None:
    bare = pretend(tmp_path, 'case "$*" in *ensurepip*) exit 1;; *) exit 0;; esac')
    done = check_python(bare)
    assert done.returncode == 2
    assert "sudo apt install make python3-venv" in done.stderr


def test_the_python_at_hand_will_do() -> None:
    assert check_python("python3").returncode == 0


def test_a_named_chromium_is_taken_as_it_is() -> None:
    done = subprocess.run(
        ["/bin/sh", str(PROJECT / "tools" / "find-chromium.sh")],
        capture_output=True,
        text=True,
        env={**os.environ, "CHROMIUM": "/somewhere/chromium"},
        check=True,
    )
    assert done.stdout == "/somewhere/chromium\n"


def test_lines_are_counted_by_package(tmp_path: Path) -> None:
    def lines(of: int, run: int) -> dict[str, dict[str, int]]:
        return {"summary": {"num_statements": of, "covered_lines": run}}

    told = {
        "src/divulge/__init__.py": lines(4, 4),
        "src/divulge/data/formats/csv.py": lines(10, 5),
        "src/divulge/data/names.py": lines(10, 10),
        "src/divulge/work/__init__.py": lines(0, 0),
    }
    (tmp_path / "lines.json").write_text(json.dumps({"files": told}))
    tool = PROJECT / "tools" / "coverage_by_package.py"
    done = subprocess.run(
        [sys.executable, str(tool), str(tmp_path / "lines.json")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["package", "lines", "run", "share"],
        ["divulge", "4", "4", "100.0%"],
        ["divulge.data", "20", "15", "75.0%"],
        ["divulge.work", "0", "0", "-"],
        ["all", "24", "19", "79.2%"],
    ]


def run_supported_pythons(*options: str, **environment: str) -> list[str]:
    tool = PROJECT / "tools" / "supported_pythons.py"
    done = subprocess.run(
        [sys.executable, str(tool), *options],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=True,
    )
    return done.stdout.splitlines()


def test_a_supported_python_that_is_not_found_is_said(tmp_path: Path) -> None:
    lines = run_supported_pythons(PATH=str(tmp_path), PYENV_ROOT=str(tmp_path))
    assert [line.split()[0] for line in lines] == ["python3.11", "python3.12", "python3.13"]
    assert all(line.endswith("not found: not tested on this machine") for line in lines)
    found = run_supported_pythons("--found", PATH=str(tmp_path), PYENV_ROOT=str(tmp_path))
    assert "".join(found) == ""


def test_a_name_that_runs_as_another_python_or_not_at_all_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3.12").write_text("#!/bin/sh\nexit 127\n")
    (tmp_path / "bin" / "python3.13").write_text("#!/bin/sh\necho 3.9\n")
    installed = tmp_path / "pyenv" / "versions" / "3.12.1" / "bin" / "python3.12"
    installed.parent.mkdir(parents=True)
    installed.write_text("#!/bin/sh\necho 3.12\n")
    for program in [*(tmp_path / "bin").iterdir(), installed]:
        program.chmod(0o755)
    path, pyenv = str(tmp_path / "bin"), str(tmp_path / "pyenv")
    assert run_supported_pythons("--found", PATH=path, PYENV_ROOT=pyenv) == [str(installed)]
