"""The server of `make test-spark`: found or said to be missing, and gone when the tests are."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent

# Stands for Java's launcher: it listens where it was told to, and writes down who it is.
LISTENER = """#!{python}
import os, re, socket, sys, time
told = " ".join(sys.argv)
port = int(re.search(r"binding.port=([0-9]+)", told)[1])
host = re.search(r"binding.address=(\\S+)", told)[1]
open({pid!r}, "w").write(str(os.getpid()))
if {dies}:
    print("no room for a heap")
    raise SystemExit(3)
with socket.create_server((host, port)) as server:
    while True:
        server.accept()[0].close()
"""


def find_java(**environment: str) -> str:
    done = subprocess.run(
        ["/bin/sh", str(PROJECT / "tools" / "find-java.sh")],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=True,
    )
    return done.stdout.strip()


def pretend_java(home: Path, version: str) -> Path:
    (home / "bin").mkdir(parents=True)
    java = home / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    java.chmod(0o755)
    return java


def pretend_server(folder: Path, dies: bool = False) -> Path:
    launcher = folder / "lib" / "python3.11" / "site-packages" / "pyspark" / "bin" / "spark-submit"
    launcher.parent.mkdir(parents=True)
    pid = str(folder / "pid")
    launcher.write_text(LISTENER.format(python=sys.executable, pid=pid, dies=dies))
    launcher.chmod(0o755)
    return folder


def run_beside(home: Path, *command: str, seconds: str = "60") -> subprocess.CompletedProcess[str]:
    tool = str(PROJECT / "tools" / "spark_server.py")
    options = ["--home", home.name, "--java", "/bin/true", "--seconds", seconds]
    return subprocess.run(
        [sys.executable, tool, *options, "--", *command],
        capture_output=True,
        text=True,
        cwd=home.parent,
    )


def lives(home: Path) -> bool:
    return Path(f"/proc/{(home / 'pid').read_text()}").exists()


def test_a_named_java_that_is_new_enough_is_taken(tmp_path: Path) -> None:
    java = pretend_java(tmp_path / "named", "21.0.2")
    assert find_java(JAVA_HOME=str(tmp_path / "named")) == str(java)


def test_a_java_that_is_too_old_is_passed_over(tmp_path: Path) -> None:
    pretend_java(tmp_path / "old", "1.8.0_402")
    new = pretend_java(tmp_path / "installed" / "java-17", "17.0.15")
    (tmp_path / "tools").mkdir()
    for tool in ("sed", "head"):
        found = next(p for p in ("/bin", "/usr/bin") if Path(p, tool).exists())
        (tmp_path / "tools" / tool).symlink_to(Path(found, tool))
    found = find_java(
        JAVA_HOME=str(tmp_path / "old"),
        JVM_FOLDER=str(tmp_path / "installed"),
        PATH=str(tmp_path / "tools"),
    )
    assert found == str(new)


def test_the_tests_are_told_where_the_server_is_and_how_they_end_is_passed_on(
    tmp_path: Path,
) -> None:
    home = pretend_server(tmp_path)
    code = "import os; print(os.environ['DIVULGE_SPARK']); raise SystemExit(5)"
    done = run_beside(home, sys.executable, "-c", code)
    assert done.returncode == 5
    assert done.stdout.startswith("sc://127.0.0.1:")
    assert not lives(home)


def test_tests_that_do_not_end_are_ended_and_so_is_the_server(tmp_path: Path) -> None:
    home = pretend_server(tmp_path)
    done = run_beside(home, "sleep", "600", seconds="0.5")
    assert done.returncode == 1
    assert "more than 0.5 seconds" in done.stderr
    assert not lives(home)


def test_a_server_that_does_not_start_says_what_it_said(tmp_path: Path) -> None:
    done = run_beside(pretend_server(tmp_path, dies=True), "true")
    assert done.returncode == 1
    assert "did not start" in done.stderr
    assert "no room for a heap" in done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone tells a child")
def test_a_server_does_not_outlive_whoever_was_killed(tmp_path: Path) -> None:
    home = pretend_server(tmp_path)
    code = "import os, signal, time; os.kill(os.getppid(), signal.SIGKILL); time.sleep(0.2)"
    done = run_beside(home, sys.executable, "-c", code)
    assert done.returncode == -9
    deadline = time.monotonic() + 60
    while lives(home):
        assert time.monotonic() < deadline, "the server is still there a minute later"
        time.sleep(0.05)


def test_client_and_server_are_of_one_minor_version() -> None:
    def read_pins(name: str) -> dict[str, str]:
        lines = (PROJECT / name).read_text().splitlines()
        return dict(line.split("==") for line in lines if "==" in line)

    client = read_pins("constraints.txt")["pyspark-client"]
    server = read_pins("constraints-spark.txt")["pyspark"]
    assert client.split(".")[:2] == server.split(".")[:2]


def test_all_that_runs_on_spark_is_where_its_tests_are_looked_for() -> None:
    marked = [
        path.relative_to(PROJECT / "tests").parts[0]
        for path in (PROJECT / "tests").rglob("test_*.py")
        if "pytest.mark." + "spark" in path.read_text(encoding="utf-8")
    ]
    assert set(marked) == {"engines"}
