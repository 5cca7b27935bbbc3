"""Prints which share of the lines of each package the tests have run.

    python tools/coverage_by_package.py build/coverage/lines.json

The file is what `coverage json` writes. Loops that numba compiles are not seen (CONTRIBUTING.md).
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

PACKAGE = "divulge"


def by_package(files: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """For each package, how many lines could be run and how many were."""
    lines: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for path, told in files.items():
        counted = lines[package_of(path)]
        counted[0] += told["summary"]["num_statements"]
        counted[1] += told["summary"]["covered_lines"]
    return {name: (all_of, run) for name, (all_of, run) in sorted(lines.items())}


def package_of(path: str) -> str:
    """The package of a file: the first folder below that of the project's."""
    parts = PurePath(path).parts
    below = parts[parts.index(PACKAGE) + 1 :]
    return f"{PACKAGE}.{below[0]}" if len(below) > 1 else PACKAGE


def table(packages: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """The lines to print, the sum last."""
    total = (sum(n for n, _ in packages.values()), sum(n for _, n in packages.values()))
    yield f"{'package':<24}{'lines':>8}{'run':>8}{'share':>8}"
    for name, (all_of, run) in [*packages.items(), ("all", total)]:
        share = f"{run / all_of:.1%}" if all_of else "-"
        yield f"{name:<24}{all_of:>8}{run:>8}{share:>8}"


if __name__ == "__main__":
    told = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    print("\n".join(table(by_package(told["files"]))))
