"""Parquet files, read batch by batch so that only codes are held for long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge import work
from divulge.data import tuning
from divulge.data.encoding import Batch, describe_kind
from divulge.data.formats.file_signature import PARQUET
from divulge.data.formats.format import PlainFormat
from divulge.data.formats.names import PARQUET_NAMES, refuse_names
from divulge.work import InvalidInput, Problem

if TYPE_CHECKING:
    from divulge.data.formats.format import EncodedRecords, Options


class Parquet(PlainFormat):
    """The Parquet format."""

    kind = PARQUET

    def read_names(self, path: Path, options: Options) -> list[str]:  # noqa: ARG002  # text only
        """The names of the columns, read without the records."""
        with _open_parquet(path) as file:
            return list(file.schema_arrow.names)

    def read_kinds(self, path: Path, options: Options) -> Mapping[str, str]:  # noqa: ARG002  # text only
        """What the columns hold, in words."""
        with _open_parquet(path) as file:
            return {field.name: describe_kind(field.type) for field in file.schema_arrow}

    def estimate_memory(
        self,
        path: Path,
        column_names: Sequence[str],
        options: Options,  # noqa: ARG002  # text only
    ) -> Mapping[str, int]:
        """Codes of all columns at four bytes, one column written anew, one batch decoded."""
        with _open_parquet(path) as file:
            rows = file.metadata.num_rows
        batch = min(rows, tuning.RECORDS_AT_A_TIME) * 32
        return {"codes": rows * (len(column_names) + 1) * 4, "one batch": batch * len(column_names)}

    def read_batches(
        self,
        path: Path,
        column_names: Sequence[str],
        options: Options,  # noqa: ARG002  # text only
    ) -> Iterator[Batch]:
        """The records, some at a time, whatever the size of the row groups."""
        with (
            _open_parquet(path, as_codes=True) as file,
            work.step(f"Reading {path.name}", file.metadata.num_rows) as step,
        ):
            for batch in file.iter_batches(tuning.RECORDS_AT_A_TIME, columns=list(column_names)):
                yield Batch({name: batch.column(name) for name in column_names})
                step.advance(batch.num_rows)

    def write(self, records: EncodedRecords, path: Path, options: Options) -> None:  # noqa: ARG002  # text only
        """Write records, one row group after another."""
        import pyarrow.parquet as pq

        refuse_names(records.columns, PARQUET_NAMES)
        with pq.ParquetWriter(
            path, records.schema, compression="zstd", write_page_checksum=True
        ) as file:
            for table in records.iterate_tables():
                file.write_table(table)


@contextmanager
def _open_parquet(path: Path, as_codes: bool = False) -> Iterator[Any]:
    """The file; texts come as the codes that the file itself keeps, where that is asked for."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    # A local file need not be held in memory before it is decoded.
    read_options: dict[str, Any] = {"page_checksum_verification": True, "pre_buffer": False}
    try:
        with pq.ParquetFile(path, **read_options) as file:
            metadata, fields = file.metadata, file.schema_arrow if as_codes else ()
            texts = [field.name for field in fields if describe_kind(field.type) == "text"]
            if not texts:
                yield file
                return
        # What a file says of a hundred thousand columns is not read twice.
        with pq.ParquetFile(path, metadata=metadata, read_dictionary=texts, **read_options) as file:
            yield file
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        # Arrow's own text may quote what it stumbled over, so it is not passed on.
        message = "is a Parquet file that is damaged or cut off."
        raise InvalidInput(str(path), [Problem("", message)]) from None
