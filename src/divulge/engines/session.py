"""Sessions: what every engine can do for us, whatever it is and wherever it runs.

All SQL of the house is written in DuckDB's dialect and names only columns of ours; a session
translates it where its engine speaks another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from divulge.work import Interruption

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa


class EngineError(Interruption):
    """An engine could not answer: it is away, a file is gone, or the data are not as they were."""


class Session(Protocol):
    """A connection to an engine for the time of a `with` block, which closes it."""

    def __enter__(self) -> Self:
        """Connect."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close, whatever has happened."""

    def arrays(self, sql: str) -> dict[str, npt.NDArray[Any]]:
        """The result of a query in DuckDB's dialect, as one array a column."""

    def table(self, sql: str) -> pa.Table:
        """The same as an Arrow table."""

    def write_parquet(self, sql: str, path: Path, names: Sequence[str]) -> None:
        """Write the result of a query as one Parquet file, with names for its columns.

        It is never in memory as a whole.
        """

    def register(self, name: str, table: pa.Table) -> None:
        """Offer a small table under a name of ours."""

    def define(self, name: str, sql: str) -> None:
        """Give a query a name of ours: a view."""

    def schema(self, name: str) -> pa.Schema:
        """The columns of a table or view, with their types."""

    def fingerprint(self, name: str) -> str:
        """A digest of all records of a table, in whatever order they are."""

    def cancel(self) -> None:
        """Stop the query that runs."""
