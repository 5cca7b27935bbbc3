"""Tables of a DuckDB database file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge import work
from divulge.data import tuning
from divulge.data.encoding import Batch
from divulge.data.formats.file_signature import DUCKDB
from divulge.data.formats.format import PlainFormat
from divulge.data.formats.names import DUCKDB_NAMES, find_name_rule_problems, format_name
from divulge.engines import identifier
from divulge.work import InvalidInput, Problem, Problems

if TYPE_CHECKING:
    from divulge.data.formats.format import EncodedRecords, Options

DEFAULT_TABLE = "records"


class DuckDbFile(PlainFormat):
    """DuckDB's own file; the option `table` says which of its tables is meant."""

    kind = DUCKDB

    def read_names(self, path: Path, options: Options) -> list[str]:
        """The names of the columns, read without the records."""
        with _open_database(path) as connection:
            table = _find_table(path, connection, options)
            return list(connection.sql(f"SELECT * FROM {table}").columns)

    def estimate_memory(
        self, path: Path, column_names: Sequence[str], options: Options
    ) -> Mapping[str, int]:
        """Codes at four bytes."""
        with _open_database(path) as connection:
            rows = _count_rows(connection, _find_table(path, connection, options))
        return {"codes": rows * (len(column_names) + 1) * 4}

    def read_batches(
        self, path: Path, column_names: Sequence[str], options: Options
    ) -> Iterator[Batch]:
        """The records, some at a time."""
        columns = ", ".join(map(identifier, column_names))
        with _open_database(path) as connection:
            table = _find_table(path, connection, options)
            rows = _count_rows(connection, table)
            with work.step(f"Reading {path.name}", rows) as step:
                for batch in _open_reader(connection, f"SELECT {columns} FROM {table}"):
                    yield Batch({name: batch.column(name) for name in column_names})
                    step.advance(batch.num_rows)

    def write(self, records: EncodedRecords, path: Path, options: Options) -> None:
        """Write records as the one table of a new database."""
        import duckdb

        table_name = options.table or DEFAULT_TABLE
        _refuse_names(records, table_name)
        # A view that had the name of the table would be taken for it.
        view = f"some of {table_name}"
        table, source = identifier(table_name), identifier(view)
        with duckdb.connect(str(path)) as connection:
            connection.register(view, records.schema.empty_table())
            connection.execute(f"CREATE TABLE {table} AS SELECT * FROM {source}")
            for part in records.iterate_tables():
                connection.register(view, part)
                connection.execute(f"INSERT INTO {table} SELECT * FROM {source}")
            connection.unregister(view)


def _refuse_names(records: EncodedRecords, table: str) -> None:
    """DuckDB cuts names at a NUL, and gives the second of "Age" and "age" another one."""
    problems = Problems("writing for DuckDB")
    problems.extend("", find_name_rule_problems(list(records.columns), DUCKDB_NAMES))
    objection = DUCKDB_NAMES.find_objection(table)
    if objection is not None:
        problems.add(f'table "{format_name(table)}"', objection)
    problems.raise_any()


@contextmanager
def _open_database(path: Path) -> Iterator[Any]:
    import duckdb

    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            yield connection
    except duckdb.Error as error:
        message = "is a DuckDB database that is damaged, or of a newer version."
        if "lock" in str(error).lower():
            message = "is in use by another program; close it there, or copy the file."
        raise InvalidInput(str(path), [Problem("", message)]) from None


def find_database_table(path: Path, options: Options) -> tuple[str, str]:
    """The schema and the name of the table that is meant."""
    with _open_database(path) as connection:
        return _choose_table(path, connection, options)


def _find_table(path: Path, connection: Any, options: Options) -> str:
    """The table that is meant, in SQL."""
    return ".".join(map(identifier, _choose_table(path, connection, options)))


def _choose_table(path: Path, connection: Any, options: Options) -> tuple[str, str]:
    """The table that is meant; a database of one table needs no name."""
    rows = connection.execute(
        "SELECT table_schema, table_name FROM information_schema.tables "
        "WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY ALL"
    ).fetchall()
    tables: dict[str | None, tuple[str, str]] = {
        name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in rows
    }
    if options.table is None and len(tables) == 1:
        return next(iter(tables.values()))
    if options.table in tables:
        return tables[options.table]
    message = "give the table to read." if options.table is None else f'no "{options.table}" in it.'
    if not tables:
        message = "the database has no tables."
    problem = Problem("table", message, options.table or "", [str(name) for name in tables])
    raise InvalidInput(str(path), [problem])


def _open_reader(connection: Any, sql: str) -> Any:
    relation = connection.sql(sql)
    if hasattr(relation, "to_arrow_reader"):
        return relation.to_arrow_reader(tuning.RECORDS_AT_A_TIME)
    return relation.fetch_arrow_reader(tuning.RECORDS_AT_A_TIME)  # DuckDB 1


def _count_rows(connection: Any, table: str) -> int:
    [(rows,)] = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
    return int(rows)
