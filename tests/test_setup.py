"""The set-up says what is missing, with the line that installs it."""

import os
import subprocess
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
