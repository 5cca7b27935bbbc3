"""Sources that a program names: files beside it, and datasets that are handed in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from divulge.rules.checks.program_check import HasStatements
from divulge.rules.engine.given_facts import read_table
from divulge.rules.language.syntax import FactSource
from divulge.work import DivulgeError, Interruption, InvalidInput, Problem, Problems

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class SourceTable:
    """What a source holds, its columns in the order of the arguments."""

    predicate: str
    table: pa.Table
    label: str
    dataset: str | None
    """The name under which it was handed in, if it is no file."""


def read_sources(
    program: HasStatements,
    data: Mapping[str, Any],
    files_from: Path | str | None,
    subject: str,
) -> list[SourceTable]:
    """Read all sources of a program; every problem is told."""
    folder = files_from if files_from is not None else getattr(program, "folder", None)
    problems = Problems(subject)
    sources = []
    for statement in program.statements:
        if not isinstance(statement, FactSource):
            continue
        try:
            table = (
                _find_dataset(statement, data)
                if statement.is_dataset
                else _read_file(statement, Path(folder) if folder is not None else None)
            )
            dataset = statement.origin if statement.is_dataset else None
            label = f'"{statement.origin}"'
            sources.append(
                SourceTable(statement.predicate, _order_columns(statement, table), label, dataset)
            )
        except Interruption:
            raise
        except InvalidInput as error:
            problems.extend(str(statement.place), error.problems)
        except DivulgeError as error:
            problems.add(str(statement.place), str(error))
    problems.raise_any()
    return sources


def _find_dataset(statement: FactSource, data: Mapping[str, Any]) -> pa.Table:
    if statement.origin not in data:
        message = f'there is no dataset "{statement.origin}".'
        raise InvalidInput("", [Problem("", message, statement.origin, list(data))])
    return read_table(data[statement.origin], statement.origin)


def _read_file(statement: FactSource, folder: Path | None) -> pa.Table:
    from divulge.data import read

    name = statement.origin
    if folder is None:
        message = (
            f'the file "{name}" cannot be found: the program comes from no file. Say in which '
            "folder its files are (files_from)."
        )
        raise InvalidInput("", [Problem("", message)])
    if PurePath(name).is_absolute() or ".." in PurePath(name).parts or "://" in name:
        message = f'"{name}" is not beside the program. Files are named from its folder on.'
        raise InvalidInput("", [Problem("", message)])
    path = folder / name
    if not path.exists():
        neighbours = (
            sorted(one.name for one in path.parent.iterdir()) if path.parent.is_dir() else []
        )
        raise InvalidInput(
            "", [Problem("", f'there is no file "{name}".', PurePath(name).name, neighbours)]
        )
    return read(path).to_arrow()


def _order_columns(statement: FactSource, table: pa.Table) -> pa.Table:
    """The columns that the arguments name, in their order."""
    wanted = statement.columns
    if all(column is None for column in wanted):
        if len(wanted) != table.num_columns:
            message = (
                f'"{statement.origin}" has {table.num_columns} columns and '
                f'"{statement.predicate}" {len(wanted)} arguments. Name the columns: '
                f'{statement.predicate}("{table.column_names[0]}", ...).'
            )
            raise InvalidInput("", [Problem("", message)])
        return table
    names = [
        column if column is not None else variable
        for column, variable in zip(wanted, statement.variables or [""] * len(wanted), strict=True)
    ]
    problems = [
        Problem("", f'"{statement.origin}" has no column "{name}".', name, table.column_names)
        for name in names
        if name not in table.column_names
    ]
    if problems:
        raise InvalidInput("", problems)
    return table.select(names)
