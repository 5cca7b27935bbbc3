"""Spark Connect sessions: one client for Apache Spark, for who serves it, and for Sail.

The client is thin: it sends SQL and takes Arrow tables. Of Python, only the walk over blocks of
rows runs on the server (`map_blocks`), whose workers then need this package.
"""

from __future__ import annotations

import logging
import re
import shutil
import socket
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy.typing as npt

from divulge import work
from divulge.engines import tuning
from divulge.engines.duck import write_batches
from divulge.engines.engine_errors import translate_error
from divulge.engines.sail import SailServer
from divulge.engines.session import EngineError

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.engines.session import BlockQuery

T = TypeVar("T")

SCHEME = "sc://"
DEFAULT_PORT = 15002
LACKS_CLIENT = (
    'an engine at "sc://..." needs the package pyspark-client: pip install "divulge[spark]"'
)


class SparkConnectSession:
    """One session on a server that speaks Spark Connect, for the time of a `with` block.

    Args:
        address: `sc://host:port`, with parameters such as a token if the server wants them; None
            for a Sail of this process.
    """

    walks_here = False

    def __init__(self, address: str | None) -> None:
        self._address = address
        self._resources = ExitStack()
        self._is_lost = False

    @property
    def engine(self) -> str:
        """The engine as messages name it: never with what follows the host, which may be a token.

        >>> SparkConnectSession("sc://lake:15002/;token=secret").engine
        'the Spark server at lake:15002'
        """
        if self._address is None:
            return "Sail"
        host, port = split_address(self._address)
        return f"the Spark server at {host}:{port}"

    def __enter__(self) -> Self:
        try:
            address = self._address
            if address is None:
                address = self._resources.enter_context(SailServer()).address
            self._refuse_silent_server(address)
            self._thread = self._resources.enter_context(ThreadPoolExecutor(max_workers=1))
            self._spark = self._execute(lambda: _connect(address))
            self._resources.callback(self._stop)
        except BaseException:
            self._resources.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._resources.close()

    def arrays(self, sql: str) -> dict[str, npt.NDArray[Any]]:
        """The result of a query in DuckDB's dialect, as one array a column."""
        found = self.table(sql)
        return {
            name: column.to_numpy(zero_copy_only=False)
            for name, column in zip(found.column_names, found.combine_chunks().columns, strict=True)
        }

    def table(self, sql: str) -> pa.Table:
        """The same as an Arrow table."""
        spark_sql = translate_sql(sql)
        return self._execute(lambda: self._spark.sql(spark_sql).toArrow())

    def write_parquet(self, sql: str, path: Path, names: Sequence[str]) -> None:
        """Write the result of a query as one Parquet file, with names for its columns.

        The server writes it in parts, which must be on a disk that is also ours.
        """
        spark_sql = translate_sql(sql)
        parts = path.with_name(f"{path.name}.parts")
        place = f"file://{parts.absolute()}"
        self._execute(lambda: self._spark.sql(spark_sql).write.parquet(place))
        files = sorted(parts.rglob("*.parquet")) if parts.is_dir() else []
        if not files:
            message = f"{self.engine} wrote to a disk of its own: give --out a place that both see"
            raise EngineError(message)
        write_batches(_read_parts(files), path, names)
        shutil.rmtree(parts)

    def register(self, name: str, table: pa.Table) -> None:
        """Offer a small table under a name of ours."""
        self._execute(lambda: self._spark.createDataFrame(table).createOrReplaceTempView(name))

    def define(self, name: str, sql: str) -> None:
        """Give a query a name of ours: a view."""
        spark_sql = translate_sql(sql)
        self._execute(lambda: self._spark.sql(spark_sql).createOrReplaceTempView(name))

    def keep(self, name: str, sql: str) -> None:
        """Give a query a name, and keep its result on the server, where that can."""
        spark_sql = translate_sql(sql)

        def keep() -> None:
            self._spark.sql(spark_sql).createOrReplaceTempView(name)
            with suppress(Exception):  # not every server can; one that is away is told next
                self._spark.catalog.cacheTable(name)

        self._execute(keep)

    def forget(self, name: str) -> None:
        """Let go of what was kept under a name."""

        def forget() -> None:
            with suppress(Exception):
                self._spark.catalog.uncacheTable(name)
            self._spark.catalog.dropTempView(name)

        self._execute(forget)

    def map_blocks(self, query: BlockQuery) -> Iterator[pa.Table]:
        """What a function gives of the rows of a query, run by the server's Python workers."""
        spark_sql, reduce_sql = translate_sql(query.sql), translate_sql(query.reduce)
        walk = query.walk

        def walk_part(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield from walk(batches)

        def map_parts() -> pa.Table:
            from pyspark.sql.pandas.types import from_arrow_schema

            schema = from_arrow_schema(query.schema)
            parts = max(tuning.LEAST_PARTS, -(-query.rows // tuning.ROWS_OF_A_PART))
            frame = self._spark.sql(spark_sql).repartition(parts, *query.by)
            frame.mapInArrow(walk_part, schema).createOrReplaceTempView("parts")
            return self._spark.sql(reduce_sql).toArrow()

        yield self._execute(map_parts)

    def offer_files(self, name: str, paths: list[str]) -> None:
        """Offer Parquet files; their columns get names of ours."""
        self._offer(name, lambda: self._spark.read.parquet(*paths))

    def offer_table(self, name: str, table: str) -> list[str]:
        """Offer a table of the server's catalogue; its columns get names of ours.

        Returns:
            The names that the columns have there.
        """
        return self._offer(name, lambda: self._spark.read.table(table))

    def schema(self, name: str) -> pa.Schema:
        """The columns of a table or view, with their types."""
        return self.table(f"SELECT * FROM {name} LIMIT 0").schema

    def fingerprint(self, name: str) -> str:
        """A digest of all records of a table, in whatever order they are."""
        columns = ", ".join(self.schema(name).names)
        wide = "CAST({} AS DECIMAL(38, 0))"
        # Sums do not depend on the order, and a record that is there twice counts twice.
        sql = (
            f"SELECT count(*) AS n, sum({wide.format('h')}) AS a, bit_xor(h) AS b, "
            f"sum({wide.format('(h % 4294967291)')} * (h % 65521)) AS c "
            f"FROM (SELECT xxhash64({columns}) AS h FROM {name})"
        )
        found = self._execute(lambda: self._spark.sql(sql).toArrow())
        return "-".join(str(column[0].as_py()) for column in found.columns)

    def cancel(self) -> None:
        """Stop the query that runs."""
        with suppress(Exception):  # a server that does not know how, or is away
            self._spark.interruptAll()

    def _offer(self, name: str, read: Callable[[], Any]) -> list[str]:
        def offer() -> list[str]:
            frame = read()
            names = list(frame.columns)
            renamed = frame.toDF(*(f"c{place}" for place in range(len(names))))
            renamed.createOrReplaceTempView(name)
            return names

        return self._execute(offer)

    def _execute(self, carry_out: Callable[[], T]) -> T:
        """Run a query in a thread of its own while this one looks whether it is time to stop."""
        work.check()
        with _silence_known_warnings():
            query = self._thread.submit(carry_out)
            try:
                while not wait([query], timeout=tuning.SECONDS_BETWEEN_CHECKS).done:
                    work.check()
            except BaseException:
                self.cancel()
                wait([query], timeout=tuning.SECONDS_TO_CANCEL)
                raise
        try:
            return query.result()
        except work.DivulgeError:
            raise
        except Exception as error:  # gRPC, Arrow and PySpark have no common class
            self._is_lost = True
            # What the engine says may show values, so it is not passed on.
            raise translate_error(error, self.engine) from None

    def _refuse_silent_server(self, address: str) -> None:
        """The client itself would go on trying for minutes."""
        host, port = split_address(address)
        try:
            with socket.create_connection((host, port), timeout=tuning.SECONDS_TO_CONNECT):
                pass
        except OSError:
            message = f"{self.engine} does not answer: is it running, and is the address right?"
            raise EngineError(message) from None

    def _stop(self) -> None:
        if self._is_lost:  # a server that is gone needs no good-bye
            self._spark.client.set_retry_policies([])
        with suppress(Exception), _silence_known_warnings():
            self._spark.stop()


def _read_parts(files: Sequence[Path]) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    for file in files:
        with pq.ParquetFile(file) as part:
            yield from part.iter_batches(tuning.ROWS_OF_A_BATCH)


def split_address(address: str) -> tuple[str, int]:
    """Host and port of a Spark Connect address.

    >>> split_address("sc://lake.example:443/;token=secret"), split_address("sc://localhost")
    (('lake.example', 443), ('localhost', 15002))
    """
    place = hide_secrets(address).removeprefix(SCHEME)
    host, colon, port = place.rpartition(":")
    if not colon:
        return place, DEFAULT_PORT
    return host.strip("[]"), int(port) if port.isdigit() else DEFAULT_PORT


def hide_secrets(address: str) -> str:
    """An address as messages and results show it: host and port, no name, no token, no parameter.

    >>> hide_secrets("sc://somebody@lake:443/;token=secret"), hide_secrets("sc://lake;token=secret")
    ('sc://lake:443', 'sc://lake')
    """
    place = re.split(r"[/;?#]", address.removeprefix(SCHEME), maxsplit=1)[0]
    return SCHEME + place.rpartition("@")[2]


def translate_sql(sql: str) -> str:
    """A query in DuckDB's dialect as Spark understands it.

    >>> translate_sql("SELECT CAST(n AS VARCHAR) FROM records")
    'SELECT CAST(n AS STRING) FROM records'
    """
    from sqlglot import parse_one

    return parse_one(sql, read="duckdb").sql(dialect="spark")


def _connect(address: str) -> Any:
    try:
        with _seem_interactive():
            from pyspark.sql import SparkSession
            from pyspark.sql.connect.client.retries import DefaultPolicy
    except ImportError:
        raise EngineError(LACKS_CLIENT) from None
    # It reports every retry of its own; what comes of it is said by our errors.
    logging.getLogger("pyspark").setLevel(logging.CRITICAL)
    spark: Any = SparkSession.builder.remote(address).create()
    # A server that died is given a few seconds to come back, not ten minutes.
    spark.client.set_retry_policies([DefaultPolicy(max_retries=tuning.RETRIES)])
    # "Age" and "age" are two attributes, and a moment is the same wherever it is read.
    spark.conf.set("spark.sql.caseSensitive", "true")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    # As in DuckDB, what is divided by zero is null. Sail else guards divisions by an error that it
    # may raise where nothing is zero; no sum of ours comes near the largest whole number.
    spark.conf.set("spark.sql.ansi.enabled", "false")
    return spark


@contextmanager
def _seem_interactive() -> Iterator[None]:
    """PySpark ends a process without a main file (`python -c`, a worker of tests) as its doctests.

    It does so when it is first imported, unless somebody seems to type.
    """
    if hasattr(sys, "ps1"):
        yield
        return
    sys.ps1 = ">>> "
    try:
        yield
    finally:
        del sys.ps1


@contextmanager
def _silence_known_warnings() -> Iterator[None]:
    """PySpark warns of pandas 3, through which nothing of ours goes, and of lost connections."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        warnings.filterwarnings("ignore", category=UserWarning, module=r"pyspark\.")
        yield
