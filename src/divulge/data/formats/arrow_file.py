"""Arrow files (also called Feather), mapped into memory and encoded batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge import work
from divulge.data.encoding import Batch, describe_kind
from divulge.data.formats.file_signature import ARROW
from divulge.data.formats.format import PlainFormat
from divulge.data.formats.names import ARROW_NAMES, refuse_names
from divulge.work import InvalidInput, Problem

if TYPE_CHECKING:
    from divulge.data.formats.format import EncodedRecords, Options


class ArrowFile(PlainFormat):
    """The Arrow file format."""

    kind = ARROW

    def read_names(self, path: Path, options: Options) -> list[str]:  # noqa: ARG002  # text only
        """The names of the columns, read without the records."""
        with _open_arrow(path) as file:
            return list(file.schema.names)

    def read_kinds(self, path: Path, options: Options) -> Mapping[str, str]:  # noqa: ARG002  # text only
        """What the columns hold, in words."""
        with _open_arrow(path) as file:
            return {field.name: describe_kind(field.type) for field in file.schema}

    def read_batches(
        self,
        path: Path,
        column_names: Sequence[str],
        options: Options,  # noqa: ARG002  # text only
    ) -> Iterator[Batch]:
        """The records, as the file has them in batches."""
        with (
            _open_arrow(path) as file,
            work.step(f"Reading {path.name}", _count_batches(file)) as step,
        ):
            for number in range(_count_batches(file)):
                batch = file.get_batch(number)
                # A damaged batch may point outside of itself: look before it is used.
                batch.validate(full=True)
                yield Batch({name: batch.column(name) for name in column_names})
                step.advance()

    def write(self, records: EncodedRecords, path: Path, options: Options) -> None:  # noqa: ARG002  # text only
        """Write records."""
        import pyarrow as pa

        refuse_names(records.columns, ARROW_NAMES)
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, records.schema) as file:
            for table in records.iterate_tables():
                file.write_table(table)


@contextmanager
def _open_arrow(path: Path) -> Iterator[Any]:
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
            yield file
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        message = "is an Arrow file that is damaged or cut off."
        raise InvalidInput(str(path), [Problem("", message)]) from None


def _count_batches(file: Any) -> int:
    return int(file.num_record_batches)
