"""Sessions: what every engine can do for us, whatever it is and wherever it runs.

All SQL of the house is written in DuckDB's dialect and names only columns of ours; a session
translates it where its engine speaks another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

from divulge.work import Interruption

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa


class EngineError(Interruption):
    """An engine could not answer: it is away, a file is gone, or the data are not as they were."""


class WorkersLackDivulge(EngineError):
    """The workers of an engine cannot run what is ours: it is not there, or of another version."""


if TYPE_CHECKING:
    Batches: TypeAlias = Iterator[pa.RecordBatch]


@dataclass(frozen=True, kw_only=True)
class BlockQuery:
    """A query whose rows are given to a function block by block, where they are."""

    sql: str
    by: Sequence[str]
    """Columns of whole numbers: rows that agree on them are given together. In this process all
    rows come in this order; on a server each worker gets a part of them, in whatever order."""
    rows: int
    """About how many rows there are, for cutting them into parts."""
    walk: Callable[[Batches], Batches]
    """Takes the rows, and gives tables that belong together; on a server it must be importable."""
    schema: pa.Schema
    """Of what the function gives."""
    reduce: str
    """A query that adds up the tables of several parts, which stand in `parts`."""


class Session(Protocol):
    """A connection to an engine for the time of a `with` block, which closes it."""

    walks_here: bool
    """Whether `map_blocks` runs in this process, and not in the workers of a server."""

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

    def keep(self, name: str, sql: str) -> None:
        """Give a query a name, and keep its result, where the engine can, while it is needed."""

    def forget(self, name: str) -> None:
        """Let go of what was kept under a name."""

    def map_blocks(self, query: BlockQuery) -> Iterator[pa.Table]:
        """What a function gives of the rows of a query, in one table or in several."""

    def schema(self, name: str) -> pa.Schema:
        """The columns of a table or view, with their types."""

    def fingerprint(self, name: str) -> str:
        """A digest of all records of a table, in whatever order they are."""

    def cancel(self) -> None:
        """Stop the query that runs."""
