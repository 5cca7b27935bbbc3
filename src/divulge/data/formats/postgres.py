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
from divulge.data.formats.types import NoSuchDate, typed
from divulge.engines import identifier
from divulge.work import DivulgeError, InvalidInput, Problem

if TYPE_CHECKING:
    from divulge.data.formats import Options

SCHEMES = ("postgresql://", "postgres://")


def is_address(given: object) -> bool:
    """Whether this is the address of a PostgreSQL database.

    >>> is_address("postgresql://localhost/survey"), is_address("people.csv")
    (True, False)
    """
    return isinstance(given, str) and given.startswith(SCHEMES)


def spoken(address: str) -> str:
    """An address without what is secret in it.

    >>> spoken("postgresql://clerk:secret@db.example:5433/survey?password=secret")
    'postgresql://db.example:5433/survey'
    """
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return f"postgresql://{host}{parts.path}"


def without_password(address: str) -> str:
    """An address that may be written down: the user stays, the password goes.

    >>> without_password("postgresql://clerk:secret@db.example/survey?password=secret&port=5")
    'postgresql://clerk@db.example/survey?port=5'
    """
    parts = urlsplit(address)
    user, at, host = parts.netloc.rpartition("@")
    query = "&".join(q for q in parts.query.split("&") if not q.startswith("password="))
    return urlunsplit(parts._replace(netloc=user.partition(":")[0] + at + host, query=query))


def names(address: str, options: Options) -> list[str]:
    """The names of a table's columns."""
    with _connected(address) as cursor:
        cursor.execute(f"SELECT * FROM {_table(address, options)} LIMIT 0")
        return list(cursor.fetch_record_batch().schema.names)


def columns(address: str, wanted: Sequence[str], options: Options) -> dict[str, Column]:
    """The columns that are wanted, as codes."""
    import pyarrow as pa

    chosen = ", ".join(map(identifier, wanted))
    encoder = TableEncoder(wanted)
    opaque: set[str] = set()
    with _connected(address) as cursor, work.step(f"Reading {spoken(address)}") as step:
        cursor.execute(f"SELECT {chosen} FROM {_table(address, options)}")
        reader = cursor.fetch_record_batch()
        # PostgreSQL's exact numbers arrive as text, so that no digit is lost on the way.
        opaque = {f.name for f in reader.schema if isinstance(f.type, pa.BaseExtensionType)}
        for batch in reader:
            try:
                encoder.add(Batch({name: batch.column(name) for name in wanted}))
            except DivulgeError as error:
                raise InvalidInput(spoken(address), [Problem("", f"{error}.")]) from None
            step.advance(batch.num_rows)
    if not encoder.rows:
        raise InvalidInput(spoken(address), [Problem("table", "has no records.")])
    found = encoder.columns()
    return {name: _typed(column) if name in opaque else column for name, column in found.items()}


def _typed(column: Column) -> Column:
    try:
        return typed(column)
    except NoSuchDate:
        return column


def _table(address: str, options: Options) -> str:
    if not options.table:
        message = 'give the table to read, as "people" or "schema.people".'
        raise InvalidInput(spoken(address), [Problem("table", message)])
    return ".".join(identifier(part) for part in options.table.split("."))


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    try:
        from adbc_driver_manager import Error
        from adbc_driver_postgresql import dbapi
    except ImportError:
        message = "needs a driver: pip install divulge[postgres]"
        raise InvalidInput(spoken(address), [Problem("", message)]) from None
    try:
        with dbapi.connect(address) as connection, connection.cursor() as cursor:
            yield cursor
    except Error as error:
        raise InvalidInput(spoken(address), [Problem("", _in_words(str(error)))]) from None


def _in_words(said: str) -> str:
    """What went wrong, without the server's text: it may repeat what was asked and answered."""
    text = said.lower()
    if "does not exist" in text and "relation" in text:
        return "the database has no such table (a table of another schema is schema.table)."
    if "does not exist" in text and "database" in text:
        return "the server has no such database."
    if "password" in text or "role" in text or "permission denied" in text:
        return "the server does not let this user in, or not read this table."
    if "connect" in text or "refused" in text or "could not translate" in text or "closed" in text:
        return "the database does not answer; is the server running, is the address right?"
    return "the server broke off; nothing of the table is used."
