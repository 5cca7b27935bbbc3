"""Writing a protected release: what may go out in one folder, everything else in another.

`release/` holds the data, the tables and a note on the methods, and no figure of the original.
`internal/` is for its owner's eyes: results, decisions, the report, how values were recoded. Both
appear together, or replace an earlier protection at once; never over an original.
"""

from __future__ import annotations

import glob
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from divulge.assessment import find_attack
from divulge.data.faithful_writing import write_faithfully
from divulge.data.formats.postgres import is_address
from divulge.protection import DecisionLog, Protected
from divulge.release.methods_note import methods_note
from divulge.release.release import DatasetPlan, Release
from divulge.work import Inputs, OutputFolder, filesystem

if TYPE_CHECKING:
    from divulge.release.protected_release import ProtectedRelease

Also: TypeAlias = "Callable[[ProtectedRelease, Path], None]"
"""Writes something more of a result into its internal folder, while nobody sees it yet."""

KIND = "a protected release"
RELEASE, INTERNAL = "release", "internal"
METHODS = "methods-note.txt"
RESULT = "result.json"
DECISIONS = "decisions.parquet"
SENTENCES = "decisions.txt"
MAPPING = "mapping.csv"
OF_RELEASE = b"divulge.release"
"""Where a log tells of whole datasets: in the metadata of its file."""


def folder_for(release: Release, folder: Path | str, overwrite: bool) -> OutputFolder:
    """The place of a protected release; one that holds an original is refused.

    Raises:
        InvalidInput: if the folder holds anything else, or an earlier protection and may not be
            overwritten.
    """
    return OutputFolder(
        Path(folder),
        KIND,
        overwrite,
        renewed=False,  # it may be what was published
        private=(INTERNAL,),
        inputs=inputs_of(release),
    )


def inputs_of(release: Release) -> Inputs:
    """The files that nothing may be written over: the sources, and the release itself."""
    inputs = Inputs([release.path, *release.rules])
    for plan in release.datasets.values():
        for path in _files(plan):
            found = path.parent.glob(path.name) if glob.has_magic(path.name) else [path]
            for each in found:
                inputs.add(each)
    return inputs


def file_names(release: Release) -> dict[str, str]:
    """What each dataset's file is called: as its source, or Parquet if that cannot be written."""
    from divulge.data.formats import ending_of, endings

    writable = set(endings()) - {".sas7bdat"}
    names: dict[str, str] = {}
    taken = {METHODS, *table_names(release).values()}
    for name, plan in release.datasets.items():
        files = _files(plan)
        ending = ending_of(files[0]) if len(files) == 1 else ""
        stem = files[0].name.removesuffix(ending) if ending else _plain(name)
        file = f"{stem}{ending if ending in writable else '.parquet'}"
        while file in taken:
            file = f"other_{file}"
        names[name] = file
        taken.add(file)
    return names


def table_names(release: Release) -> dict[str, str]:
    """What the file of each table is called, by the adversary who sees it."""
    names: dict[str, str] = {}
    for adversary in release.adversaries:
        if find_attack(adversary).publishes_table():
            file = f"table_{_plain(adversary.name)}.csv"
            while file in names.values():
                file = f"other_{file}"
            names[adversary.name] = file
    return names


def write_protected(
    result: ProtectedRelease, place: OutputFolder, values: bool, also: Also | None = None
) -> None:
    """Write what may go out, if all was judged, and what stays; all of it, or nothing."""

    def fill(new: Path) -> None:
        for folder in (RELEASE, INTERNAL):
            filesystem.make_folder(new / folder, filesystem.PRIVATE_FOLDER)
        if result.status == "pass":
            _write_release(result, new / RELEASE)
        else:
            filesystem.remove_folder(new / RELEASE)
        _write_internal(result, new / INTERNAL, values)
        if also is not None:
            also(result, new / INTERNAL)

    place.write(fill)


def _write_release(result: ProtectedRelease, folder: Path) -> None:
    guard = result.guard_formulas
    names, tables = file_names(result.release), table_names(result.release)
    for name in result.published:
        write_faithfully(result.released(name), folder / names[name], guard_formulas=guard)
    for name, table in result.tables.items():
        table.write(folder / tables[name], guard)
    files = {name: names[name] for name in result.published}
    note = methods_note(result, files, {name: tables[name] for name in result.tables})
    filesystem.write_text(folder / METHODS, note)


def _write_internal(result: ProtectedRelease, folder: Path, values: bool) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from divulge.data import Dataset

    logs = [p.decisions.to_arrow(values) for p in result.records.values()]
    log = pa.concat_tables(logs or [DecisionLog("").to_arrow(values)])
    pq.write_table(log.replace_schema_metadata({OF_RELEASE: _of_all(result)}), folder / DECISIONS)
    lines = result.explain()
    for protected in result.parts.values():
        if isinstance(protected, Protected):
            lines += ["", *protected.decisions.explain(values=values)]
    filesystem.write_text(folder / SENTENCES, "\n".join(lines) + "\n")
    mappings = [p.decisions.mapping() for p in result.records.values()]
    if any(mapping.num_rows for mapping in mappings):
        Dataset.from_arrow(pa.concat_tables(mappings)).write(folder / MAPPING)
    text = json.dumps(result.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    filesystem.write_text(folder / RESULT, text + "\n")


def _of_all(result: ProtectedRelease) -> bytes:
    """How many records each dataset had, and what was done to all of them at once."""
    told: dict[str, dict[str, object]] = {}
    for name, dataset in result.before.datasets.items():
        said = [
            str(sentence)
            for part in result.parts.values()
            if not isinstance(part, Protected) and part.original.name == dataset.name
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
