"""Arrow files (also called Feather), mapped into memory and encoded column by column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge import work
from divulge.data.column import Column, encode
from divulge.data.formats.contents import ARROW
from divulge.work import InvalidInput, Problem

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.formats import Options


class ArrowFile:
    """The Arrow file format."""

    kind = ARROW

    def names(self, path: Path, options: Options) -> list[str]:  # noqa: ARG002  # text only
        """The names of the columns, read without the records."""
        with _opened(path) as file:
            return list(file.schema.names)

    def columns(self, path: Path, wanted: Sequence[str], options: Options) -> dict[str, Column]:  # noqa: ARG002  # text only
        """The columns that are wanted, as codes."""
        with _opened(path) as file, work.step(f"Reading {path.name}", len(wanted)) as step:
            table = file.read_all()
            found = {}
            for name in wanted:
                try:
                    found[name] = encode(table.column(name))
                except work.DivulgeError as error:
                    problem = Problem(f'column "{name}"', f"{error}.")
                    raise InvalidInput(str(path), [problem]) from None
                step.advance()
            return found

    def write(self, table: pa.Table, path: Path) -> None:
        """Write a table."""
        import pyarrow as pa

        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as file:
            file.write_table(table)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
            yield file
    except (pa.ArrowException, OSError):
        message = "is an Arrow file that is damaged or cut off."
        raise InvalidInput(str(path), [Problem("", message)]) from None
