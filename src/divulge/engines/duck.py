"""DuckDB sessions: a memory limit, a place to spill, interruptible, always closed."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from divulge import work

if TYPE_CHECKING:
    import pyarrow as pa

# DuckDB's own default is 80% of the machine; we leave room for the codes that it reads from us.
SHARE_OF_FREE_MEMORY = 0.6


class DuckSession:
    """One in-memory DuckDB database for the time of a `with` block.

    >>> import pyarrow as pa
    >>> with DuckSession(records=pa.table({"age": [25, 25, 49]})) as duck:
    ...     duck.arrays("SELECT count(*) AS n FROM records GROUP BY age ORDER BY n")["n"].tolist()
    [1, 2]
    """

    def __init__(self, **tables: pa.Table) -> None:
        self._tables = tables
        self._open = ExitStack()

    def __enter__(self) -> DuckSession:
        import duckdb

        spill = self._open.enter_context(tempfile.TemporaryDirectory(prefix="divulge-spill-"))
        limit = int(work.available_memory() * SHARE_OF_FREE_MEMORY)
        self._connection = duckdb.connect(
            ":memory:",
            config={"memory_limit": f"{limit}B", "temp_directory": spill},
        )
        self._open.callback(self._connection.close)
        for name, table in self._tables.items():
            self._connection.register(name, table)
        self._open.enter_context(
            work.current().cancellation.interrupting(self._connection.interrupt)
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def arrays(self, sql: str) -> dict[str, npt.NDArray[Any]]:
        """The result of a query as one array a column."""
        import duckdb

        work.check()
        try:
            result: dict[str, Any] = self._connection.execute(sql).fetchnumpy()
        except duckdb.InterruptException:
            work.check()
            raise
        work.check()
        return result


def identifier(name: str) -> str:
    """A name as SQL takes it, whatever characters it has.

    >>> identifier("Residential Rev.")
    '"Residential Rev."'
    """
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
