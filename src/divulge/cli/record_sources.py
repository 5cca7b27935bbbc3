"""Records on the command line: files, patterns, servers; read, or left where they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from divulge.cli.data_reader import DataReader, add_roles, is_of_release, split_attributes

if TYPE_CHECKING:
    from divulge.data import Dataset, Relation

Source = Annotated[
    str,
    typer.Argument(
        help="The data file, or a release file (release.toml#dataset); a folder, or a pattern in "
        "quotation marks; or a Spark Connect server (sc://host:port).",
        show_default=False,
    ),
]
CountingEngine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="Who counts: memory, duckdb, sail, sc://host:port; or auto (memory where the records "
        "fit, else DuckDB, which leaves them where they are).",
    ),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option("--memory-limit", help="What DuckDB may hold before it writes to disk, as 2GB."),
]


def list_source_files(sources: list[str]) -> list[Path]:
    """The files of sources, by which outputs are kept away from inputs; none of a server."""
    from divulge.data.relation.lake_scan import expand_place, is_address
    from divulge.work import DivulgeError

    files: list[Path] = []
    for source in sources:
        if is_of_release(source):
            files.append(Path(source))
        elif not is_address(source):
            try:
                place = expand_place(source)
            except DivulgeError:
                continue  # whoever reads it says so
            files += [Path(place)] if isinstance(place, str | Path) else map(Path, place)
    return files


def read_source(
    reader: DataReader,
    source: str,
    roles: dict[str, Any],
    *,
    engine: str | None,
    limit: str | None,
) -> Any:
    """The records where they may be counted: in memory if options say how a text file is read."""
    from divulge.data import Relation, scan
    from divulge.data.missing_kinds import separate_missing_kinds
    from divulge.work import InvalidInput, Problem

    table = reader.options.get("table")
    of_text = [option for option in reader.options if option != "table"]
    if is_of_release(source) or reader.dataset is not None or of_text:
        if engine not in (None, "auto", "memory", "cube"):
            message = "counts records where they are; what a release file or options of reading "
            message += "describe is read into memory."
            raise InvalidInput(source, [Problem("--engine", message)])
        return read_dataset(reader, Path(source), roles)
    found = scan(source, engine=engine or "auto", table=table, memory_limit=limit)
    if isinstance(found, Relation):
        named = {
            role: split_attributes([names] if isinstance(names, str) else names, found.names)
            for role, names in roles.items()
            if names
        }
        if named:
            found = scan(source, named, engine=engine or "auto", table=table, memory_limit=limit)
    if isinstance(found, Relation):
        _tell_engine(found)
        return found
    # Whoever sees the file tells kinds of missing values apart.
    return separate_missing_kinds(add_roles(found, roles))


def read_dataset(reader: DataReader, source: Path, roles: dict[str, Any] | None = None) -> Dataset:
    """The records as somebody sees them who sees the file: kinds of missing values differ."""
    from divulge.data.missing_kinds import separate_missing_kinds

    return separate_missing_kinds(reader.read(source, roles, alone=roles is not None))


def _tell_engine(relation: Relation) -> None:
    """Who counts, and why; beside the result, which a script may read."""
    from divulge.cli.output import build_sentence

    if relation.choice:
        said = build_sentence("records.stayed", engine=relation.engine, reason=relation.choice)
    else:
        said = build_sentence("records.elsewhere", engine=relation.engine)
    typer.echo(said, err=True)
