"""Parquet files, read batch by batch so that only codes are held for long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge import work
from divulge.data.encoding import RECORDS_AT_A_TIME, Batch, kind_in_words
from divulge.data.formats import PlainFormat
from divulge.data.formats.contents import PARQUET
from divulge.data.formats.names import PARQUET_NAMES, refuse_names
from divulge.work import InvalidInput, Problem

if TYPE_CHECKING:
    from divulge.data.formats import Options, Records


class Parquet(PlainFormat):
    """The Parquet format."""

    kind = PARQUET

    def names(self, path: Path, options: Options) -> list[str]:  # noqa: ARG002  # text only
        """The names of the columns, read without the records."""
        with _opened(path) as file:
            return list(file.schema_arrow.names)

    def kinds(self, path: Path, options: Options) -> Mapping[str, str]:  # noqa: ARG002  # text only
        """What the columns hold, in words."""
        with _opened(path) as file:
            return {field.name: kind_in_words(field.type) for field in file.schema_arrow}

    def needs(self, path: Path, wanted: Sequence[str], options: Options) -> Mapping[str, int]:  # noqa: ARG002  # text only
        """Codes of all columns at four bytes, one column written anew, one batch decoded."""
        with _opened(path) as file:
            rows = file.metadata.num_rows
        batch = min(rows, RECORDS_AT_A_TIME) * 32
        return {"codes": rows * (len(wanted) + 1) * 4, "one batch": batch * len(wanted)}

    def batches(self, path: Path, wanted: Sequence[str], options: Options) -> Iterator[Batch]:  # noqa: ARG002  # text only
        """The records, some at a time, whatever the size of the row groups."""
        with (
            _opened(path, as_codes=True) as file,
            work.step(f"Reading {path.name}", file.metadata.num_rows) as step,
        ):
            for batch in file.iter_batches(RECORDS_AT_A_TIME, columns=list(wanted)):
                yield Batch({name: batch.column(name) for name in wanted})
                step.advance(batch.num_rows)

    def write(self, records: Records, path: Path, options: Options) -> None:  # noqa: ARG002  # text only
        """Write records, one row group after another."""
        import pyarrow.parquet as pq

        refuse_names(records.columns, PARQUET_NAMES)
        with pq.ParquetWriter(
            path, records.schema, compression="zstd", write_page_checksum=True
        ) as file:
            for table in records.tables():
                file.write_table(table)


@contextmanager
def _opened(path: Path, as_codes: bool = False) -> Iterator[Any]:
    """The file; texts come as the codes that the file itself keeps, where that is asked for."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    # A local file need not be held in memory before it is decoded.
    checked: dict[str, Any] = {"page_checksum_verification": True, "pre_buffer": False}
    try:
        with pq.ParquetFile(path, **checked) as file:
            metadata, fields = file.metadata, file.schema_arrow if as_codes else ()
            texts = [field.name for field in fields if kind_in_words(field.type) == "text"]
            if not texts:
                yield file
                return
        # What a file says of a hundred thousand columns is not read twice.
        with pq.ParquetFile(path, metadata=metadata, read_dictionary=texts, **checked) as file:
            yield file
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        # Arrow's own text may quote what it stumbled over, so it is not passed on.
        message = "is a Parquet file that is damaged or cut off."
        raise InvalidInput(str(path), [Problem("", message)]) from None
