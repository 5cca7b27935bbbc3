"""Writing a protected release: a folder that appears whole, and never over an original."""

from __future__ import annotations

import glob
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from divulge.data.formats.postgres import is_address
from divulge.protection import DecisionLog, Protected, ProtectedHistory
from divulge.release.release import DatasetPlan, Release
from divulge.work import Problems, lives

if TYPE_CHECKING:
    from divulge.release.protected_release import ProtectedRelease

Also: TypeAlias = "Callable[[ProtectedRelease, Path], None]"
"""Writes something more of a result into its folder, while nobody sees it yet."""

RESULT = "result.json"
DECISIONS = "decisions.parquet"
SENTENCES = "decisions.txt"
OF_RELEASE = b"divulge.release"
"""Where a log tells of whole datasets: in the metadata of its file."""
REPORT = "report.html"


def check_folder(release: Release, folder: Path, overwrite: bool) -> None:
    """Refuse a folder in which an original, or something that may not be replaced, would go.

    Raises:
        InvalidInput: with every file that is in the way.
    """
    problems = Problems(str(folder))
    if folder.exists() and not folder.is_dir():
        problems.add("", "is a file; give a folder.")
        problems.raise_any()
    originals = originals_of(release)
    if folder.resolve() in originals or originals & set(folder.resolve().parents):
        problems.add("", "is a folder of originals; give another.")
        problems.raise_any()
    for name, file in file_names(release).items():
        place = (folder / file).resolve()
        if place in originals:
            message = f'the original of "{name}" is there; it is never overwritten.'
            problems.add(file, message)
        elif place.exists() and not overwrite:
            problems.add(file, "exists already; give another folder, or allow to overwrite.")
    tables = [table_name(a.name) for a in release.adversaries if a.attack == "tables"]
    for file in (RESULT, DECISIONS, SENTENCES, REPORT, *tables):
        place = (folder / file).resolve()
        if place in originals:
            problems.add(file, "is an original, or the release; it is never overwritten.")
        elif place.exists() and not overwrite:
            problems.add(file, "exists already; give another folder, or allow to overwrite.")
    problems.raise_any()


def file_names(release: Release) -> dict[str, str]:
    """What each dataset's file is called: as its source, or Parquet if that cannot be written."""
    from divulge.data.formats import ending_of, endings

    writable = set(endings()) - {".sas7bdat"}
    names: dict[str, str] = {}
    for name, plan in release.datasets.items():
        files = _files(plan)
        ending = ending_of(files[0]) if len(files) == 1 else ""
        stem = files[0].name.removesuffix(ending) if ending else _plain(name)
        file = f"{stem}{ending if ending in writable else '.parquet'}"
        while file in names.values():
            file = f"other_{file}"
        names[name] = file
    return names


def table_name(adversary: str) -> str:
    """What the file of a table that an adversary sees is called."""
    return f"table_{_plain(adversary)}.csv"


def originals_of(release: Release) -> set[Path]:
    """The files that nothing may be written over: the sources, and the release itself."""
    given = [path for plan in release.datasets.values() for path in _files(plan)]
    found = {path.resolve() for path in given}
    for path in given:
        if path.is_dir():
            found |= {each.resolve() for each in path.rglob("*")}
        elif glob.has_magic(path.name):
            found |= {each.resolve() for each in path.parent.glob(path.name)}
    return {*found, release.path.resolve()}


def write_protected(
    result: ProtectedRelease, folder: Path, values: bool, also: Also | None = None
) -> None:
    """Write data, tables, decisions and result, and what else is told; all of it, or nothing."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    shutil.rmtree(part, ignore_errors=True)
    _remove_abandoned(folder)
    part.mkdir()
    try:
        _write_all(result, part, values)
        if also is not None:
            also(result, part)
        if not folder.exists():
            part.rename(folder)
        else:
            _replace(result.release, folder, part)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _replace(release: Release, folder: Path, part: Path) -> None:
    """Put all files into a folder that exists; what an earlier run left beside them goes."""
    new = {file.name for file in part.iterdir()}
    problems = Problems(str(folder))
    for name in sorted(new):
        if (folder / name).is_dir():
            problems.add(name, "is a folder; give another place.")
    problems.raise_any()
    originals = originals_of(release)
    for path in (folder / name for name in _of_earlier_run(release, folder) - new):
        if path.is_file() and path.resolve() not in originals:
            path.unlink()
    for file in sorted(part.iterdir()):
        file.replace(folder / file.name)


def _of_earlier_run(release: Release, folder: Path) -> set[str]:
    """The files that an earlier run has left, by its result; none if there is no result of one."""
    try:
        told = json.loads((folder / RESULT).read_text(encoding="utf-8"))
        seen = {str(found["adversary"]) for found in told["assessments"]}
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {REPORT, *file_names(release).values(), *map(table_name, seen)}


def _remove_abandoned(folder: Path) -> None:
    """Remove what killed runs left of this folder (never what a living process is writing)."""
    for part in folder.parent.glob(f".{glob.escape(folder.name)}.*.part"):
        pid = part.name.split(".")[-2]
        if part.is_dir() and pid.isdecimal() and not lives(int(pid)):
            shutil.rmtree(part, ignore_errors=True)


def _write_all(result: ProtectedRelease, part: Path, values: bool) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from divulge.tables.files import write_crosstab

    names = file_names(result.release)
    for name in result.published:
        result.released(name).write(part / names[name])
    for name, found in result.tables.items():
        if len(found.structure.grids[0]) == 2:
            write_crosstab(found, part / table_name(name))
        else:
            found.write(part / table_name(name))
    logs = [p.decisions.to_arrow(values) for p in result.records.values()]
    log = pa.concat_tables(logs or [DecisionLog("").to_arrow(values)])
    pq.write_table(log.replace_schema_metadata({OF_RELEASE: _of_all(result)}), part / DECISIONS)
    lines = result.explain()
    for protected in result.parts.values():
        if isinstance(protected, Protected):
            lines += ["", *protected.decisions.explain(values=values)]
    (part / SENTENCES).write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = json.dumps(result.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    (part / RESULT).write_text(text + "\n", encoding="utf-8")


def _of_all(result: ProtectedRelease) -> bytes:
    """How many records each dataset had, and what was done to all of them at once."""
    told: dict[str, dict[str, object]] = {}
    for name, dataset in result.before.datasets.items():
        said = [
            str(sentence)
            for part in result.parts.values()
            if isinstance(part, ProtectedHistory) and part.original.name == dataset.name
            for sentence in part.sentences
        ]
        removed, replaced = result.identifiers.get(name, ([], []))
        told[name] = {"records": dataset.rows, "said": said, "names": [*removed, *replaced]}
    return json.dumps(told, ensure_ascii=False).encode()


def _files(plan: DatasetPlan) -> list[Path]:
    """The files of a dataset's source; none for a database."""
    given = plan.source.path
    if isinstance(given, Path):
        return [given]
    if isinstance(given, str):
        return [] if is_address(given) else [Path(given)]
    return [Path(path) for path in given]


def _plain(name: str) -> str:
    """A name as a file may have it."""
    return "".join(letter if letter.isalnum() else "_" for letter in name)
