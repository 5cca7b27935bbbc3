"""Tables of a DuckDB database file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge import work
from divulge.data.encoding import RECORDS_AT_A_TIME, Batch
from divulge.data.formats import PlainFormat
from divulge.data.formats.contents import DUCKDB
from divulge.data.formats.names import DUCKDB_NAMES, problems_with_names, shown_name
from divulge.engines import identifier
from divulge.work import InvalidInput, Problem, Problems

if TYPE_CHECKING:
    from divulge.data.formats import Options, Records

DEFAULT_TABLE = "records"


class DuckDbFile(PlainFormat):
    """DuckDB's own file; the option `table` says which of its tables is meant."""

    kind = DUCKDB

    def names(self, path: Path, options: Options) -> list[str]:
        """The names of the columns, read without the records."""
        with _opened(path) as connection:
            table = _table(path, connection, options)
            return list(connection.sql(f"SELECT * FROM {table}").columns)

    def needs(self, path: Path, wanted: Sequence[str], options: Options) -> Mapping[str, int]:
        """Codes at four bytes."""
        with _opened(path) as connection:
            rows = _count(connection, _table(path, connection, options))
        return {"codes": rows * (len(wanted) + 1) * 4}

    def batches(self, path: Path, wanted: Sequence[str], options: Options) -> Iterator[Batch]:
        """The records, some at a time."""
        columns = ", ".join(map(identifier, wanted))
        with _opened(path) as connection:
            table = _table(path, connection, options)
            rows = _count(connection, table)
            with work.step(f"Reading {path.name}", rows) as step:
                for batch in _reader(connection, f"SELECT {columns} FROM {table}"):
                    yield Batch({name: batch.column(name) for name in wanted})
                    step.advance(batch.num_rows)

    def write(self, records: Records, path: Path, options: Options) -> None:
        """Write records as the one table of a new database."""
        import duckdb

        named = options.table or DEFAULT_TABLE
        _refuse_names(records, named)
        # A view that had the name of the table would be taken for it.
        view = f"some of {named}"
        table, source = identifier(named), identifier(view)
        with duckdb.connect(str(path)) as connection:
            connection.register(view, records.schema.empty_table())
            connection.execute(f"CREATE TABLE {table} AS SELECT * FROM {source}")
            for part in records.tables():
                connection.register(view, part)
                connection.execute(f"INSERT INTO {table} SELECT * FROM {source}")
            connection.unregister(view)


def _refuse_names(records: Records, table: str) -> None:
    """DuckDB cuts names at a NUL, and gives the second of "Age" and "age" another one."""
    problems = Problems("writing for DuckDB")
    problems.extend("", problems_with_names(list(records.columns), DUCKDB_NAMES))
    objection = DUCKDB_NAMES.objection(table)
    if objection is not None:
        problems.add(f'table "{shown_name(table)}"', objection)
    problems.raise_any()


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    import duckdb

    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            yield connection
    except duckdb.Error as error:
        message = "is a DuckDB database that is damaged, or of a newer version."
        if "lock" in str(error).lower():
            message = "is in use by another program; close it there, or copy the file."
        raise InvalidInput(str(path), [Problem("", message)]) from None


def _table(path: Path, connection: Any, options: Options) -> str:
    """The table that is meant, in SQL; a database of one table needs no name."""
    rows = connection.execute(
        "SELECT table_schema, table_name FROM information_schema.tables "
        "WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY ALL"
    ).fetchall()
    known = {
        name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in rows
    }
    if options.table is None and len(known) == 1:
        return ".".join(map(identifier, next(iter(known.values()))))
    if options.table in known:
        return ".".join(map(identifier, known[options.table]))
    message = "give the table to read." if options.table is None else f'no "{options.table}" in it.'
    if not known:
        message = "the database has no tables."
    problem = Problem("table", message, options.table or "", list(known))
    raise InvalidInput(str(path), [problem])


def _reader(connection: Any, sql: str) -> Any:
    relation = connection.sql(sql)
    if hasattr(relation, "to_arrow_reader"):
        return relation.to_arrow_reader(RECORDS_AT_A_TIME)
    return relation.fetch_arrow_reader(RECORDS_AT_A_TIME)  # DuckDB 1


def _count(connection: Any, table: str) -> int:
    [(rows,)] = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
    return int(rows)
