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
from divulge.data.faithful_writer import write_faithfully
from divulge.protection import DecisionLog, Protected
from divulge.release.output.earlier_protection import write_published
from divulge.release.output.methods_note import build_methods_note
from divulge.release.output.release_secret import write_secret
from divulge.work import Inputs, OutputFolder, filesystem

if TYPE_CHECKING:
    from divulge.release.protected_release import ProtectedRelease
    from divulge.release.release import Release

ExtraWriter: TypeAlias = "Callable[[ProtectedRelease, Path], None]"
"""Writes something more of a result into its internal folder, while nobody sees it yet."""

FOLDER_KIND = "a protected release"
RELEASE, INTERNAL = "release", "internal"
METHODS_NOTE = "methods-note.txt"
RESULT = "result.json"
DECISIONS = "decisions.parquet"
SENTENCES = "decisions.txt"
MAPPING = "mapping.csv"
METADATA_KEY = b"divulge.release"
"""Where a log tells of whole datasets: in the metadata of its file."""


def build_output_folder(release: Release, folder: Path | str, overwrite: bool) -> OutputFolder:
    """The place of a protected release; one that holds an original is refused.

    Raises:
        InvalidInput: if the folder holds anything else, or an earlier protection and may not be
            overwritten.
    """
    return OutputFolder(
        Path(folder),
        FOLDER_KIND,
        overwrite,
        renewed=False,  # it may be what was published
        private=(INTERNAL,),
        inputs=list_inputs(release),
    )


def list_inputs(release: Release) -> Inputs:
    """The files that nothing may be written over: the sources, and the release itself."""
    inputs = Inputs([release.path, *release.rules])
    for name in release.datasets:
        for path in list_source_files(release, name):
            inputs.add(path)
    return inputs


def list_source_files(release: Release, dataset: str) -> list[Path]:
    """The files that a dataset is read from, in order; none where it is no file."""
    files: list[Path] = []
    for path in release.datasets[dataset].source.list_files():
        files += sorted(path.parent.glob(path.name)) if glob.has_magic(path.name) else [path]
    return files


def choose_file_names(release: Release) -> dict[str, str]:
    """What each dataset's file is called: as its source, or Parquet if that cannot be written."""
    from divulge.data.formats import list_writable_endings, parse_ending

    writable = set(list_writable_endings())
    names: dict[str, str] = {}
    used = {METHODS_NOTE, *choose_table_names(release).values()}
    for name, plan in release.datasets.items():
        files = plan.source.list_files()
        ending = parse_ending(files[0]) if len(files) == 1 else ""
        stem = files[0].name.removesuffix(ending) if ending else _to_file_name(name)
        file = f"{stem}{ending if ending in writable else '.parquet'}"
        while file in used:
            file = f"other_{file}"
        names[name] = file
        used.add(file)
    return names


def choose_table_names(release: Release) -> dict[str, str]:
    """What the file of each table is called, by the adversary who sees it."""
    names: dict[str, str] = {}
    for adversary in release.adversaries:
        if find_attack(adversary).publishes_table():
            file = f"table_{_to_file_name(adversary.name)}.csv"
            while file in names.values():
                file = f"other_{file}"
            names[adversary.name] = file
    return names


def write_protected_release(
    result: ProtectedRelease, place: OutputFolder, values: bool, also: ExtraWriter | None = None
) -> None:
    """Write what may go out, if all was judged, and what stays; all of it, or nothing."""

    def fill_folder(new: Path) -> None:
        for folder in (RELEASE, INTERNAL):
            filesystem.make_folder(new / folder, filesystem.PRIVATE_FOLDER)
        if result.status == "pass":
            _write_release(result, new / RELEASE)
        else:
            filesystem.remove_folder(new / RELEASE)
        _write_internal(result, new / INTERNAL, values)
        if also is not None:
            also(result, new / INTERNAL)

    place.write(fill_folder)


def _write_release(result: ProtectedRelease, folder: Path) -> None:
    guard = result.guard_formulas
    files, tables = list_published_files(result)
    for name, file in files.items():
        write_faithfully(result.released(name), folder / file, guard_formulas=guard)
    for name, table in result.tables.items():
        table.write(folder / tables[name][0], guard)
    note = build_methods_note(result, files, tables)
    filesystem.write_text(folder / METHODS_NOTE, note)


def list_published_files(result: ProtectedRelease) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The file of each dataset that goes out, and those of each table by who sees it."""
    names, tables = choose_file_names(result.release), choose_table_names(result.release)
    files = {name: names[name] for name in result.published}
    table_files = {
        name: _list_table_files(tables[name], table.files) for name, table in result.tables.items()
    }
    return files, table_files


def _list_table_files(name: str, count: int) -> list[str]:
    """The files of a table; linked ones become name-2, name-3 beside the first."""
    first = Path(name)
    return [name, *(first.with_stem(f"{first.stem}-{n}").name for n in range(2, count + 1))]


def _write_internal(result: ProtectedRelease, folder: Path, values: bool) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from divulge.data import Dataset

    logs = [p.decisions.to_arrow(values) for p in result.records.values()]
    log = pa.concat_tables(logs or [DecisionLog("").to_arrow(values)])
    pq.write_table(
        log.replace_schema_metadata({METADATA_KEY: _encode_dataset_summary(result)}),
        folder / DECISIONS,
    )
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
    write_secret(result.secret, folder)
    if result.status == "pass":
        write_published(
            folder,
            result.secret,
            sources=result.kept_sources,
            released=result.after.datasets,
            publications=result.publications,
            tables=result.tables,
        )


def _encode_dataset_summary(result: ProtectedRelease) -> bytes:
    """How many records each dataset had, and what was done to all of them at once."""
    summary: dict[str, dict[str, object]] = {}
    for name, dataset in result.before.datasets.items():
        sentences = [
            str(sentence)
            for part in result.parts.values()
            if not isinstance(part, Protected) and part.original.name == dataset.name
            for sentence in part.sentences
        ]
        publication = result.publications.get(name)
        names = [*publication.withheld, *publication.pseudonyms] if publication else []
        summary[name] = {"records": dataset.rows, "said": sentences, "names": names}
    return json.dumps(summary, ensure_ascii=False).encode()


def _to_file_name(name: str) -> str:
    """A name as a file may have it."""
    return "".join(letter if letter.isalnum() else "_" for letter in name)
