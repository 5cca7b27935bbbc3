"""Changes of the file system: every one that Divulge makes goes through this door.

Tests listen at it (`observe_changes`): they let the n-th change fail, or the process end there, and
look at what is left. Other libraries write only into staging folders of ours, which nobody reads.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

Observer: TypeAlias = Callable[[str, Path], None]
"""Hears of every change before it is made; what it raises is what the change raises."""

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
"""For what nobody but its owner may read."""

_AT_FDCWD = -100
_NO_REPLACE, _EXCHANGE = 1, 2
_UNSUPPORTED_ERRORS = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM)

_observers: list[Observer] = []


@contextmanager
def observe_changes(observer: Observer) -> Iterator[None]:
    """Let somebody hear of every change that is made inside.

    >>> import tempfile
    >>> seen = []
    >>> with observe_changes(lambda change, path: seen.append((change, path.name))):
    ...     write_text(Path(tempfile.mkdtemp()) / "note.txt", "short")
    >>> seen
    [('write', 'note.txt')]
    """
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.remove(observer)


def _notify_observers(change: str, path: Path) -> None:
    for observer in _observers:
        observer(change, path)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole; its readers are those whom its folder lets in."""
    _notify_observers("write", path)
    path.write_bytes(content)


def overwrite_bytes(path: Path, offset: int, content: bytes) -> None:
    """Write bytes over those of a file, from a place on."""
    _notify_observers("write", path)
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(content)


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8."""
    write_bytes(path, text.encode("utf-8"))


def make_folder(path: Path, mode: int = 0o777) -> None:
    """Make a folder that is not there yet."""
    _notify_observers("make folder", path)
    path.mkdir(mode=mode)


def make_parents(path: Path) -> list[Path]:
    """Make the folders that a path needs; gives those that were made, outermost first."""
    new_folders = []
    for folder in reversed(path.parents):
        if folder.is_dir():
            continue
        try:
            make_folder(folder)
        except FileExistsError:
            if not folder.is_dir():  # else another run has just made it
                raise
        else:
            new_folders.append(folder)
    return new_folders


def remove_empty(folders: list[Path]) -> None:
    """Remove folders that were made for nothing, innermost first."""
    for folder in reversed(folders):
        with suppress(OSError):
            remove_folder(folder)


def rename(source: Path, target: Path) -> None:
    """Give a file its name, in place of another that may have it."""
    _notify_observers("rename", target)
    source.replace(target)


def rename_new(source: Path, target: Path) -> None:
    """Give a file or folder its name, unless something else has it.

    Raises:
        FileExistsError: if there is something of that name.
    """
    _notify_observers("rename", target)
    try:
        _rename_with_flag(source, target, _NO_REPLACE)
    except OSError as error:
        if error.errno not in _UNSUPPORTED_ERRORS:
            raise
        if source.is_dir():
            if target.exists() or target.is_symlink():
                raise FileExistsError(errno.EEXIST, "exists already", str(target)) from None
            source.rename(target)
        else:  # a second name is given only if it is free
            os.link(source, target, follow_symlinks=False)
            source.unlink()


def exchange(one: Path, other: Path) -> None:
    """Let two files or folders change names, at once.

    Raises:
        ExchangeUnavailable: where the system or the file system cannot.
    """
    _notify_observers("exchange", other)
    try:
        _rename_with_flag(one, other, _EXCHANGE)
    except OSError as error:
        if error.errno in (*_UNSUPPORTED_ERRORS, errno.EXDEV, errno.EBUSY, errno.EACCES):
            raise ExchangeUnavailable(error.errno, error.strerror, str(other)) from None
        raise


class ExchangeUnavailable(OSError):
    """Two folders cannot change names at once here."""


def unlink(path: Path) -> None:
    """Remove one file (of a link: the link)."""
    _notify_observers("unlink", path)
    path.unlink(missing_ok=True)


def remove_folder(path: Path) -> None:
    """Remove an empty folder."""
    _notify_observers("remove folder", path)
    path.rmdir()


def remove_tree(folder: Path) -> None:
    """Remove a folder that only we have written to, file by file; no link is followed."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            remove_tree(entry)
        else:
            unlink(entry)
    remove_folder(folder)


def set_mode(path: Path, mode: int) -> None:
    """Say who may read and write a file or folder."""
    _notify_observers("mode", path)
    path.chmod(mode)


def sync(path: Path) -> None:
    """Wait until a file, or the list of names in a folder, is on the disk."""
    _notify_observers("sync", path)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems do not sync folders
            raise
    finally:
        os.close(descriptor)


def usual_mode(folder: bool = False) -> int:
    """The mode that the user's settings give a new file or folder."""
    with suppress(OSError, StopIteration, ValueError):
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        mask = next(line.split()[1] for line in lines if line.startswith("Umask:"))
        return (0o777 if folder else 0o666) & ~int(mask, 8)
    mask_now = os.umask(0o077)  # there is no other way to ask
    os.umask(mask_now)
    return (0o777 if folder else 0o666) & ~mask_now


def _rename_with_flag(source: Path, target: Path, flag: int) -> None:
    call = _load_renameat2()
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), str(target))
    if call(_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), flag) != 0:
        error_number = ctypes.get_errno()
        raise OSError(error_number, os.strerror(error_number), str(target))


@lru_cache
def _load_renameat2() -> Any:
    """Linux's renaming with wishes; None where the C library lacks it."""
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return call
