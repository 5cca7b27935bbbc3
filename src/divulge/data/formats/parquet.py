"""Parquet files, read one column at a time so that only codes are held for long."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge import work
from divulge.data.column import Column, encode
from divulge.data.formats.contents import PARQUET
from divulge.work import InvalidInput, MemoryPlan, Problem

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.formats import Options


class Parquet:
    """The Parquet format."""

    kind = PARQUET

    def names(self, path: Path, options: Options) -> list[str]:  # noqa: ARG002  # text only
        """The names of the columns, read without the records."""
        with _opened(path) as file:
            return list(file.schema_arrow.names)

    def columns(self, path: Path, wanted: Sequence[str], options: Options) -> dict[str, Column]:  # noqa: ARG002  # text only
        """The columns that are wanted, as codes."""
        with _opened(path) as file, work.step(f"Reading {path.name}", len(wanted)) as step:
            _plan(path, file.metadata, len(wanted)).require("read fewer columns (columns=...)")
            found = {}
            for name in wanted:
                found[name] = _column(path, file, name)
                step.advance()
            return found

    def write(self, table: pa.Table, path: Path) -> None:
        """Write a table."""
        import pyarrow.parquet as pq

        pq.write_table(table, path, compression="zstd")


def _opened(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path)
    except (pa.ArrowInvalid, OSError):
        raise _damaged(path) from None


def _column(path: Path, file: Any, name: str) -> Column:
    import pyarrow as pa

    try:
        return encode(file.read(columns=[name]).column(name))
    except work.DivulgeError as error:
        raise InvalidInput(str(path), [Problem(f'column "{name}"', f"{error}.")]) from None
    except (pa.ArrowException, OSError):
        raise _damaged(path) from None


def _damaged(path: Path) -> InvalidInput:
    # Arrow's own text may quote what it stumbled over, so it is not passed on.
    return InvalidInput(str(path), [Problem("", "is a Parquet file that is damaged or cut off.")])


def _plan(path: Path, metadata: Any, columns: int) -> MemoryPlan:
    """Codes of all columns at four bytes, and one column decoded beside them."""
    sizes = [
        metadata.row_group(g).column(c).total_uncompressed_size
        for g in range(metadata.num_row_groups)
        for c in range(metadata.num_columns)
    ]
    largest = sum(sizes) * 2 // max(1, metadata.num_columns)
    codes = metadata.num_rows * columns * 4
    return MemoryPlan(f"reading {path.name}", {"codes": codes, "one column": largest})
