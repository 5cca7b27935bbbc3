"""Files appear whole or not at all.

A file is written beside its place under a hidden name, flushed to the disk, and renamed; a rename
within a folder either happened or did not. What a killed run left under a hidden name is removed
by the next run that writes the same file.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

_PART = re.compile(r"\.(?P<pid>\d+)-[0-9a-f]{8}\.part$")


class WholeFiles:
    """Several files of one folder that appear together, once all are written.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "out"
    >>> with WholeFiles(folder) as files:
    ...     _ = files.path("result.json").write_text("{}")
    ...     folder.exists() and list(folder.glob("*.json"))
    []
    >>> [path.name for path in folder.iterdir()]
    ['result.json']
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self._parts: dict[Path, Path] = {}
        self._made: list[Path] = []

    def path(self, name: str) -> Path:
        """Where to write the file `name` for now."""
        self._make_folder()
        final = self.folder / name
        if final.is_dir():  # found out by the rename, it would leave some files without the others
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(final))
        _remove_abandoned(final)
        part = final.with_name(f".{name}.{os.getpid()}-{secrets.token_hex(4)}.part")
        self._parts[final] = part
        return part

    def __enter__(self) -> WholeFiles:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._commit()
            return
        self._abandon()
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(self.folder)  # a full disk does not say what was being written

    def _make_folder(self) -> None:
        for folder in [*reversed(self.folder.parents), self.folder]:
            if folder.is_dir():
                continue
            try:
                folder.mkdir()
            except FileExistsError:
                if not folder.is_dir():  # else another run has just made it
                    raise
            else:
                self._made.append(folder)

    def _commit(self) -> None:
        try:
            for part in self._parts.values():
                with part.open("rb") as file:
                    os.fsync(file.fileno())
            for final, part in self._parts.items():
                part.replace(final)
        except OSError:
            self._abandon()
            raise

    def _abandon(self) -> None:
        for part in self._parts.values():
            part.unlink(missing_ok=True)
        for folder in reversed(self._made):
            if not any(folder.iterdir()):
                folder.rmdir()


@contextmanager
def whole_file(path: Path | str) -> Iterator[Path]:
    """Write to the path that is given out; the file appears under its name when all is well.

    >>> import tempfile
    >>> final = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with whole_file(final) as part:
    ...     _ = part.write_text("all of it")
    >>> final.read_text()
    'all of it'
    """
    final = Path(path)
    with WholeFiles(final.parent) as files:
        yield files.path(final.name)


def _remove_abandoned(final: Path) -> None:
    """Remove what killed runs left of this file (never what a living process is writing)."""
    for part in final.parent.glob(f".{final.name}.*.part"):
        match = _PART.search(part.name)
        if match and not lives(int(match["pid"])):
            part.unlink(missing_ok=True)


def lives(pid: int) -> bool:
    """Whether a process is still there.

    >>> lives(os.getpid())
    True
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
