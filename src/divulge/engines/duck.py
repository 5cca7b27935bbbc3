"""DuckDB sessions: a memory limit, a place to spill, interruptible, always closed."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy.typing as npt

from divulge import work
from divulge.engines import tuning
from divulge.engines.engine_errors import translate_error

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.engines.session import BlockQuery

T = TypeVar("T")

_SPILL_FOLDER = re.compile(r"^divulge-spill-(?P<pid>\d+)-")


class DuckSession:
    """One in-memory DuckDB database for the time of a `with` block.

    >>> import pyarrow as pa
    >>> with DuckSession(records=pa.table({"age": [25, 25, 49]})) as duck:
    ...     duck.arrays("SELECT count(*) AS n FROM records GROUP BY age ORDER BY n")["n"].tolist()
    [1, 2]
    """

    walks_here = True

    def __init__(
        self, memory_limit: int | None = None, raw_errors: bool = False, **tables: pa.Table
    ) -> None:
        self._tables = tables
        self._memory_limit = memory_limit
        self._raw_errors = raw_errors
        self._resources = ExitStack()

    def __enter__(self) -> DuckSession:
        try:
            self._connect()
        except BaseException:
            self._resources.close()
            raise
        return self

    def _connect(self) -> None:
        import duckdb

        _remove_abandoned_spills()
        spill = self._resources.enter_context(
            tempfile.TemporaryDirectory(prefix=f"divulge-spill-{os.getpid()}-")
        )
        limit = self._memory_limit
        if limit is None:
            limit = int(work.available_memory() * tuning.SHARE_OF_FREE_MEMORY)
        self._connection = duckdb.connect(
            ":memory:",
            config={
                "memory_limit": f"{limit}B",
                "temp_directory": spill,
                # Nothing is fetched from the network, whatever a query would like to have.
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            },
        )
        self._resources.callback(self._connection.close)
        self._thread = self._resources.enter_context(ThreadPoolExecutor(max_workers=1))
        for name, table in self._tables.items():
            self._connection.register(name, table)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._resources.close()

    def arrays(self, sql: str) -> dict[str, npt.NDArray[Any]]:
        """The result of a query as one array a column."""
        result: dict[str, Any] = self._execute(lambda: self._connection.execute(sql).fetchnumpy())
        return result

    def table(self, sql: str) -> pa.Table:
        """The result of a query as an Arrow table."""
        return self._execute(lambda: self._connection.sql(sql).to_arrow_table())

    def write_parquet(self, sql: str, path: Path, names: Sequence[str]) -> None:
        """Write the result of a query as one Parquet file, with names for its columns."""

        def write() -> None:
            reader = self._connection.sql(sql).to_arrow_reader(tuning.ROWS_OF_A_BATCH)
            write_batches(reader, path, names)

        self._execute(write)

    def run(self, sql: str) -> None:
        """Carry out a statement."""
        self._execute(lambda: self._connection.execute(sql))

    def register(self, name: str, table: pa.Table) -> None:
        """Offer one more table under a name of ours."""
        self._connection.register(name, table)

    def define(self, name: str, sql: str) -> None:
        """Give a query a name of ours: a view."""
        self.run(f"CREATE OR REPLACE TEMP VIEW {name} AS {sql}")

    def keep(self, name: str, sql: str) -> None:
        """Give a query a name, and keep its result; what does not fit is on disk."""
        self.run(f"CREATE TEMP TABLE {name} AS {sql}")

    def forget(self, name: str) -> None:
        """Let go of what was kept under a name."""
        self.run(f"DROP TABLE {name}")

    def map_blocks(self, query: BlockQuery) -> Iterator[pa.Table]:
        """What a function gives of the rows of a query; they pass through this process in order."""
        import pyarrow as pa

        sql = f"{query.sql} ORDER BY {', '.join(query.by)}"
        reader = self._execute(
            lambda: self._connection.sql(sql).to_arrow_reader(tuning.ROWS_OF_A_BATCH)
        )

        def read_batches() -> Iterator[pa.RecordBatch]:
            while (batch := self._execute(lambda: next(reader, None))) is not None:
                yield batch

        for batch in query.walk(read_batches()):
            yield pa.Table.from_batches([batch])

    def schema(self, name: str) -> pa.Schema:
        """The columns of a table or view, with their types."""
        return self.table(f"SELECT * FROM {name} LIMIT 0").schema

    def fingerprint(self, name: str) -> str:
        """A digest of all records of a table, in whatever order they are."""
        columns = ", ".join(self.schema(name).names)
        # Sums do not depend on the order, and a record that is there twice counts twice.
        found = self.table(
            f"SELECT count(*) AS n, sum(h) AS a, bit_xor(h) AS b, "
            f"sum(h % 4294967291 * (h % 65521)) AS c "
            f"FROM (SELECT hash({columns}) AS h FROM {name})"
        )
        return "-".join(str(column[0].as_py()) for column in found.columns)

    def cancel(self) -> None:
        """Stop the query that runs."""
        self._connection.interrupt()

    def unregister(self, name: str) -> None:
        """Take back a table that was offered."""
        self._connection.unregister(name)

    def _execute(self, carry_out: Callable[[], T]) -> T:
        """Run a query in a thread of its own while this one looks whether it is time to stop.

        A query cannot look by itself.
        """
        work.check()
        query = self._thread.submit(carry_out)
        try:
            while not wait([query], timeout=tuning.SECONDS_BETWEEN_CHECKS).done:
                work.check()
        except BaseException:
            # A query that has not begun yet does not hear it, so it is told until it ends.
            self.cancel()
            while not wait([query], timeout=tuning.SECONDS_BETWEEN_CHECKS).done:
                self.cancel()
            raise
        return self._take_result(query)

    def _take_result(self, query: Future[T]) -> T:
        import duckdb

        try:
            return query.result()
        except (duckdb.Error, MemoryError) as error:
            if self._raw_errors:
                raise
            # What the engine says may show values, so it is not passed on.
            raise translate_error(error, "DuckDB") from None
        except OSError as error:
            # Rows that come one batch after the other bring the engine's errors as those of a
            # stream, which have no number; those of the system have one.
            if error.errno is not None or self._raw_errors:
                raise
            raise translate_error(error, "DuckDB") from None


def write_batches(batches: Iterable[pa.RecordBatch], path: Path, names: Sequence[str]) -> None:
    """Write batches as they come, one after the other, into one Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with ExitStack() as stack:
        writer = None
        for batch in batches:
            named = pa.table(batch.columns, names=list(names))
            if writer is None:
                writer = stack.enter_context(pq.ParquetWriter(path, named.schema))
            writer.write_table(named)


def identifier(name: str) -> str:
    """The name of a table or column of somebody else's database, as SQL takes it.

    >>> identifier("Residential Rev.")
    '"Residential Rev."'
    """
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _remove_abandoned_spills() -> None:
    """Remove what killed runs have spilled: it holds codes of records."""
    for folder in Path(tempfile.gettempdir()).glob("divulge-spill-*"):
        owner = _SPILL_FOLDER.match(folder.name)
        if owner and not work.lives(int(owner["pid"])):
            shutil.rmtree(folder, ignore_errors=True)
