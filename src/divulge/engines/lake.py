"""Records that stay where they are: Parquet files, a database's table, a table behind Spark.

Whatever it is, a session offers it as `records`, with columns `c0`, `c1`, ... : a user's names end
at this door, and so do the ways in which one value may be written twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from divulge.engines.duck import DuckSession, identifier
from divulge.engines.session import EngineError, Session
from divulge.engines.spark import SparkConnectSession

if TYPE_CHECKING:
    import pyarrow as pa

RAW = "raw_records"

_FOOTER_LENGTH = 8
"""Bytes at the end of a Parquet file: the length of its footer, and a mark."""
_GLOB_SIGNS = "*?["
_SPARK_SIGNS = "*?[]{}\\,"


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files, read by DuckDB here or by a Spark server that sees the same files."""

    paths: tuple[Path, ...]
    engine: str = field(default="duckdb", repr=False)
    """Who counts; an address may hold a token, so it is never shown."""

    has_cheap_fingerprint = True
    """Whether the fingerprint is found without a look at all records."""

    def find_fingerprint(self, session: Session | None, name: str = RAW) -> str:  # noqa: ARG002  # files tell it
        """A digest of what the files are: their sizes, when they were written, what they hold.

        Raises:
            EngineError: if one is gone.
        """
        digest = hashlib.blake2b(digest_size=16)
        for path in self.paths:
            try:
                status = path.stat()
                digest.update(f"{path.name} {status.st_size} {status.st_mtime_ns} ".encode())
                digest.update(_read_footer(path, status.st_size))
            except OSError:
                message = f'"{path.name}" cannot be read: it was moved, removed or replaced'
                raise EngineError(message) from None
        return digest.hexdigest()


@dataclass(frozen=True)
class DatabaseTable:
    """A table of a DuckDB database file."""

    path: Path
    table: tuple[str, str]
    """Its schema and its name."""
    engine: str = "duckdb"

    has_cheap_fingerprint = True

    def find_fingerprint(self, session: Session | None, name: str = RAW) -> str:  # noqa: ARG002  # the file tells it
        """A digest of the file: its size, and when it was written."""
        try:
            status = self.path.stat()
        except OSError:
            message = f'"{self.path.name}" cannot be read: it was moved, removed or replaced'
            raise EngineError(message) from None
        return f"{status.st_size}-{status.st_mtime_ns}-{'.'.join(self.table)}"


@dataclass(frozen=True)
class LakeTable:
    """A table that a Spark server knows by name."""

    engine: str = field(repr=False)
    """The address of the server; it may hold a token, so it is never shown."""
    table: str

    has_cheap_fingerprint = False

    def find_fingerprint(self, session: Session | None, name: str = RAW) -> str:
        """A digest of all its records: a server tells no more of a table than what is in it."""
        if session is not None:
            return session.fingerprint(name)
        with open_raw(self) as own_session:
            return own_session.fingerprint(RAW)


Lake: TypeAlias = ParquetFiles | DatabaseTable | LakeTable
"""Where records lie that stay there."""


@dataclass(frozen=True, kw_only=True)
class LakeView:
    """Records of a lake under a name of ours, and which of its columns are counted."""

    name: str
    lake: Lake
    kinds: Sequence[pa.DataType | None] | None = None
    """Of each column its type, None where it is left out; no kinds: all columns as they are."""

    @property
    def raw_name(self) -> str:
        """What the records as they are are called."""
        return self.name if self.kinds is None else f"raw_{self.name}"


@contextmanager
def open_raw(lake: Lake, memory_limit: int | None = None) -> Iterator[Session]:
    """A session in which the records are `raw_records`, their columns c0, c1, ... as they are."""
    with open_views([LakeView(name=RAW, lake=lake)], memory_limit) as session:
        yield session


@contextmanager
def open_views(views: Sequence[LakeView], memory_limit: int | None = None) -> Iterator[Session]:
    """A session with the records of one lake or of several, equal values equal.

    Args:
        views: what is offered; all by one engine.
        memory_limit: bytes that DuckDB may take here before it writes to disk.

    Raises:
        EngineError: if they are counted by different engines.
    """
    engines = {view.lake.engine for view in views}
    if len(engines) > 1:
        raise EngineError("records that are counted together need one engine: scan them alike")
    with _open_session(views, engines.pop(), memory_limit) as session:
        for view in views:
            if view.kinds is not None:
                columns = ", ".join(
                    normalise_column(f"c{place}", kind)
                    for place, kind in enumerate(view.kinds)
                    if kind is not None
                )
                session.define(view.name, f"SELECT {columns} FROM {view.raw_name}")
        yield session


@contextmanager
def _open_session(
    views: Sequence[LakeView], engine: str, memory_limit: int | None
) -> Iterator[Session]:
    if engine == "duckdb":
        with DuckSession(memory_limit) as duck:
            duck.run("SET preserve_insertion_order = false")  # counting has no order
            databases: dict[Path, str] = {}
            for view in views:
                _offer_to_duck(duck, view, databases)
            yield duck
        return
    with SparkConnectSession(None if engine == "sail" else engine) as spark:
        for view in views:
            if isinstance(view.lake, LakeTable):
                spark.offer_table(view.raw_name, view.lake.table)
            elif isinstance(view.lake, ParquetFiles):
                paths = [_name_for_spark(path) for path in view.lake.paths]
                spark.offer_files(view.raw_name, paths)
        yield spark


def normalise_column(name: str, kind: pa.DataType) -> str:
    """A column as it is counted: not-a-number is missing, and minus zero is zero.

    >>> import pyarrow as pa
    >>> normalise_column("c0", pa.int64())
    'c0'
    """
    import pyarrow as pa

    if not pa.types.is_floating(kind):
        return name
    return (
        f"CASE WHEN isnan({name}) THEN NULL WHEN {name} = 0 THEN CAST(0 AS DOUBLE) "
        f"ELSE CAST({name} AS DOUBLE) END AS {name}"
    )


def read_lake_names(lake: Lake) -> list[str]:
    """The names of the columns of a table behind Spark."""
    if not isinstance(lake, LakeTable):
        raise TypeError("the names of files are read from the files")
    with SparkConnectSession(None if lake.engine == "sail" else lake.engine) as spark:
        return spark.offer_table(RAW, lake.table)


def _offer_to_duck(duck: DuckSession, view: LakeView, databases: dict[Path, str]) -> None:
    """A view whose columns have names of ours; a database is attached once, by its path."""
    lake = view.lake
    if isinstance(lake, ParquetFiles):
        files = ", ".join(_quote_for_duck(path) for path in lake.paths)
        source = f"read_parquet([{files}], hive_partitioning = false)"
    elif isinstance(lake, DatabaseTable):
        path = lake.path.resolve()
        if path not in databases:
            databases[path] = f"lake_{len(databases)}"
            duck.run(f"ATTACH {_quote_text(str(path))} AS {databases[path]} (READ_ONLY)")
        source = ".".join(identifier(name) for name in (databases[path], *lake.table))
    else:
        raise TypeError("a table behind Spark is not read by DuckDB")
    width = len(duck.table(f"SELECT * FROM {source} LIMIT 0").schema)
    names = ", ".join(f"c{place}" for place in range(width))
    duck.define(view.raw_name, f"SELECT * FROM {source} AS lake_records({names})")


def _quote_for_duck(path: Path) -> str:
    """A file's name as DuckDB takes it: signs that stand for many files stand for themselves."""
    text = "".join(f"[{sign}]" if sign in _GLOB_SIGNS else sign for sign in str(path.absolute()))
    return _quote_text(text)


def _quote_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _name_for_spark(path: Path) -> str:
    text = str(path.absolute())
    if any(sign in _SPARK_SIGNS for sign in text):
        message = (
            f'"{path.name}": a Spark server takes {_SPARK_SIGNS} in names for signs of its own'
        )
        raise EngineError(message)
    return f"file://{text}"


def _read_footer(path: Path, size: int) -> bytes:
    """What a Parquet file says of its records, among it the bounds of each column."""
    with path.open("rb") as file:
        file.seek(max(0, size - _FOOTER_LENGTH))
        end = file.read()
        length = min(int.from_bytes(end[:4], "little"), size)
        file.seek(max(0, size - _FOOTER_LENGTH - length))
        return file.read()
