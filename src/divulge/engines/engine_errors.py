"""What engines say when something goes wrong, in our words: what it was, and what can be done.

An engine's own text may quote values of records, paths of a server or addresses with passwords, so
it is never passed on. What cannot be recognised is told by its kind.
"""

from __future__ import annotations

from collections.abc import Sequence

from divulge.engines.session import EngineError, WorkersLackDivulge
from divulge.work import Interruption, NotEnoughMemory

_OUT_OF_MEMORY = (
    "{engine} ran out of memory: give it more (memory_limit), or know and seek fewer attributes "
    "at a time"
)
_DISK_FULL = (
    "{engine} could not write what does not fit into memory: the disk for temporary files is full "
    "(TMPDIR says where it is)"
)
_FILE_GONE = "{engine} cannot read a file that was there before: it was moved, removed or replaced"
_DAMAGED = "{engine} cannot read a file: it is damaged, or was replaced meanwhile"
_DRIFT = "{engine} found other columns or types than before: the data changed, or files differ"
_TYPE = "{engine} cannot count a column of this type: leave it out (columns=...)"
_AWAY = "{engine} does not answer: it was stopped, or the connection broke; nothing was written"
_LOCKED = "{engine} cannot open a database: another program has it open for writing"
_REFUSED = "{engine} does not let us in: check the address and its token"
_TABLE = "{engine} has no such table, or it may not be read"
_LACKS_DIVULGE = (
    "{engine} runs Python workers that lack this version of divulge and pyarrow: install it there"
)
_OTHER = "{engine} could not carry out a query ({kind})"

# In the order in which they are tried: the first whose mark is in the engine's text.
_SIGNS: Sequence[tuple[Sequence[str], str]] = (
    (("no module named", "divulge of another version"), _LACKS_DIVULGE),
    (("no space left", "disk full", "max_temp_directory_size"), _DISK_FULL),
    (
        ("outofmemory", "out of memory", "memoryerror", "memory limit", "java heap space",
         "resources exhausted", "resource_exhausted", "failed to allocate"),
        _OUT_OF_MEMORY,
    ),
    (("could not set lock", "conflicting lock"), _LOCKED),
    (("table_or_view_not_found", "table not found", "table or view not found"), _TABLE),
    (
        ("no files found", "no such file", "path_not_found", "path does not exist",
         "file_not_exist", "does not exist", "filenotfound", "object at location"),
        _FILE_GONE,
    ),
    (
        ("schema mismatch", "unresolved_column", "column_data_type_mismatch",
         "incompatible_column", "cannot_merge_schema", "merge schema"),
        _DRIFT,
    ),
    (("unauthenticated", "permission_denied", "unauthorized"), _REFUSED),
    (
        ("unavailable", "connection refused", "connection reset", "socket closed",
         "deadline_exceeded", "session_not_found", "no_active_session", "session_changed",
         "operation_not_found", "invalid_handle", "goaway", "broken pipe", "stream removed"),
        _AWAY,
    ),
    (("unsupported_datatype", "unsupported_arrowtype", "unsupported data type",
      "not implemented"), _TYPE),
    (
        ("parquet", "corrupt", "checksum", "thrift", "magic bytes", "invalid input error"),
        _DAMAGED,
    ),
)  # fmt: skip


def translate_error(error: Exception, engine: str) -> Interruption:
    """An error of an engine in our words; its own text is not quoted.

    >>> print(translate_error(RuntimeError("IO Error: No space left on device"), "DuckDB"))
    DuckDB could not write what does not fit into memory: the disk for temporary files is full
    (TMPDIR says where it is)
    """
    kind = type(error).__name__
    text = f"{kind} {error}".lower()
    template = next((said for marks, said in _SIGNS if any(m in text for m in marks)), _OTHER)
    message = template.format(engine=engine, kind=kind)
    if template is _LACKS_DIVULGE:
        return WorkersLackDivulge(message)
    return NotEnoughMemory(message) if template is _OUT_OF_MEMORY else EngineError(message)
