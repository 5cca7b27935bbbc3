"""Prints which versions of Python are supported, and where each is found on this machine.

    python tools/supported_pythons.py             # a line a version
    python tools/supported_pythons.py --found     # only the programs, for a loop

The versions are the classifiers of pyproject.toml. A version is looked for by its name (python3.12)
and among those that pyenv has installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parent.parent
CLASSIFIER = re.compile(r'"Programming Language :: Python :: (\d+\.\d+)"')


def list_versions() -> list[str]:
    """The versions that pyproject.toml names, oldest first."""
    return CLASSIFIER.findall((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))


def find_python(version: str) -> str | None:
    """A program that runs as this version; a mere name of one (pyenv's shims) may not."""
    for program in _list_candidates(version):
        asked = [program, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        answer = subprocess.run(asked, capture_output=True, text=True, check=False)
        if answer.returncode == 0 and answer.stdout.strip() == version:
            return program
    return None


def _list_candidates(version: str) -> Iterator[str]:
    if named := shutil.which(f"python{version}"):
        yield named
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from map(str, sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}")))


if __name__ == "__main__":
    programs = {version: find_python(version) for version in list_versions()}
    if "--found" in sys.argv:
        print("\n".join(program for program in programs.values() if program))
    else:
        for version, program in programs.items():
            print(f"python{version}  {program or 'not found: not tested on this machine'}")
