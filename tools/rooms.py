"""What each module of a room is for, by the first line of its docstring: rooms.py records/risk.

Without a name all packages are listed, and their rooms. With `--words` only the modules are shown
whose name or first line has all of the words.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "divulge"


def list_modules(room: str) -> Iterator[tuple[str, str]]:
    """The modules of a room and of the rooms in it, each with its first line."""
    for path in sorted((SOURCE / room).rglob("*.py")):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        name = path.relative_to(SOURCE).as_posix().removesuffix("__init__.py")
        yield name or "divulge", docstring.partition("\n")[0]


def main() -> None:
    """Print them, one line a module."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("room", nargs="?", default="", help="records, records/risk, ...")
    parser.add_argument("--words", nargs="+", default=[], help="show only modules that say these")
    arguments = parser.parse_args()
    if not (SOURCE / arguments.room).is_dir():
        parser.error(f"there is no room {arguments.room} in {SOURCE.name}")
    is_overview = not arguments.room and not arguments.words
    for name, line in list_modules(arguments.room):
        text = f"{name} {line}".lower()
        is_wanted = name.endswith("/") if is_overview else True
        if is_wanted and all(word.lower() in text for word in arguments.words):
            print(f"{name:<58} {line}")


if __name__ == "__main__":
    main()
