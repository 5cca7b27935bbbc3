"""Tables of a PostgreSQL server, read through its own binary protocol into Arrow.

The address may hold a password, so no message repeats it: only the host and the database.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from divulge import work
from divulge.data.column import Column
from divulge.data.encoding import Batch, TableEncoder
from divulge.data.formats.text.column_types import NoSuchDate, infer_type
from divulge.engines import identifier
from divulge.work import DivulgeError, Interruption, InvalidInput, Problem

if TYPE_CHECKING:
    from divulge.data.formats.format import Options

SCHEMES = ("postgresql://", "postgres://")


def is_address(place: object) -> bool:
    """Whether this is the address of a PostgreSQL database.

    >>> is_address("postgresql://localhost/survey"), is_address("people.csv")
    (True, False)
    """
    return isinstance(place, str) and place.startswith(SCHEMES)


def redact_address(address: str) -> str:
    """An address without what is secret in it.

    >>> redact_address("postgresql://clerk:secret@db.example:5433/survey?password=secret")
    'postgresql://db.example:5433/survey'
    """
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return f"postgresql://{host}{parts.path}"


def remove_password(address: str) -> str:
    """An address that may be written down: the user stays, the password goes.

    >>> remove_password("postgresql://clerk:secret@db.example/survey?password=secret&port=5")
    'postgresql://clerk@db.example/survey?port=5'
    """
    parts = urlsplit(address)
    user, at, host = parts.netloc.rpartition("@")
    query = "&".join(q for q in parts.query.split("&") if not q.startswith("password="))
    return urlunsplit(parts._replace(netloc=user.partition(":")[0] + at + host, query=query))


def read_names(address: str, options: Options) -> list[str]:
    """The names of a table's columns."""
    with _open_cursor(address) as cursor:
        cursor.execute(f"SELECT * FROM {_quote_table(address, options)} LIMIT 0")
        return list(cursor.fetch_record_batch().schema.names)


def read_columns(address: str, column_names: Sequence[str], options: Options) -> dict[str, Column]:
    """The columns that are wanted, as codes."""
    import pyarrow as pa

    selection = ", ".join(map(identifier, column_names))
    encoder = TableEncoder(column_names)
    opaque: set[str] = set()
    with _open_cursor(address) as cursor, work.step(f"Reading {redact_address(address)}") as step:
        cursor.execute(f"SELECT {selection} FROM {_quote_table(address, options)}")
        reader = cursor.fetch_record_batch()
        # PostgreSQL's exact numbers arrive as text, so that no digit is lost on the way.
        opaque = {f.name for f in reader.schema if isinstance(f.type, pa.BaseExtensionType)}
        for batch in reader:
            try:
                encoder.add_batch(Batch({name: batch.column(name) for name in column_names}))
            except Interruption:
                raise
            except DivulgeError as error:
                raise InvalidInput(redact_address(address), [Problem("", f"{error}.")]) from None
            step.advance(batch.num_rows)
    if not encoder.rows:
        raise InvalidInput(redact_address(address), [Problem("table", "has no records.")])
    encoded_columns = encoder.build_columns()
    return {
        name: _infer_type_if_valid(column) if name in opaque else column
        for name, column in encoded_columns.items()
    }


def _infer_type_if_valid(column: Column) -> Column:
    try:
        return infer_type(column)
    except NoSuchDate:
        return column


def _quote_table(address: str, options: Options) -> str:
    if not options.table:
        message = 'give the table to read, as "people" or "schema.people".'
        raise InvalidInput(redact_address(address), [Problem("table", message)])
    return ".".join(identifier(part) for part in options.table.split("."))


@contextmanager
def _open_cursor(address: str) -> Iterator[Any]:
    try:
        from adbc_driver_manager import Error
        from adbc_driver_postgresql import dbapi
    except ImportError:
        message = "needs a driver: pip install divulge[postgres]"
        raise InvalidInput(redact_address(address), [Problem("", message)]) from None
    try:
        with dbapi.connect(address) as connection, connection.cursor() as cursor:
            yield cursor
    except Error as error:
        raise InvalidInput(
            redact_address(address), [Problem("", _describe_error(str(error)))]
        ) from None


def _describe_error(server_message: str) -> str:
    """What went wrong, without the server's text: it may repeat what was asked and answered."""
    text = server_message.lower()
    if "does not exist" in text and "relation" in text:
        return "the database has no such table (a table of another schema is schema.table)."
    if "does not exist" in text and "database" in text:
        return "the server has no such database."
    if "password" in text or "role" in text or "permission denied" in text:
        return "the server does not let this user in, or not read this table."
    if "connect" in text or "refused" in text or "could not translate" in text or "closed" in text:
        return "the database does not answer; is the server running, is the address right?"
    return "the server broke off; nothing of the table is used."
