"""Arrow files (also called Feather), mapped into memory and encoded batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge import work
from divulge.data.encoding import Batch, kind_in_words
from divulge.data.formats import PlainFormat
from divulge.data.formats.contents import ARROW
from divulge.data.formats.names import ARROW_NAMES, refuse_names
from divulge.work import InvalidInput, Problem

if TYPE_CHECKING:
    from divulge.data.formats import Options, Records


class ArrowFile(PlainFormat):
    """The Arrow file format."""

    kind = ARROW

    def names(self, path: Path, options: Options) -> list[str]:  # noqa: ARG002  # text only
        """The names of the columns, read without the records."""
        with _opened(path) as file:
            return list(file.schema.names)

    def kinds(self, path: Path, options: Options) -> Mapping[str, str]:  # noqa: ARG002  # text only
        """What the columns hold, in words."""
        with _opened(path) as file:
            return {field.name: kind_in_words(field.type) for field in file.schema}

    def batches(self, path: Path, wanted: Sequence[str], options: Options) -> Iterator[Batch]:  # noqa: ARG002  # text only
        """The records, as the file has them in batches."""
        with _opened(path) as file, work.step(f"Reading {path.name}", _batches(file)) as step:
            for number in range(_batches(file)):
                batch = file.get_batch(number)
                # A damaged batch may point outside of itself: look before it is used.
                batch.validate(full=True)
                yield Batch({name: batch.column(name) for name in wanted})
                step.advance()

    def write(self, records: Records, path: Path, options: Options) -> None:  # noqa: ARG002  # text only
        """Write records."""
        import pyarrow as pa

        refuse_names(records.columns, ARROW_NAMES)
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, records.schema) as file:
            for table in records.tables():
                file.write_table(table)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
            yield file
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        message = "is an Arrow file that is damaged or cut off."
        raise InvalidInput(str(path), [Problem("", message)]) from None


def _batches(file: Any) -> int:
    return int(file.num_record_batches)
