"""A place has one writer at a time: a second one is refused before it writes anything."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from divulge.work.problems import DivulgeError
from divulge.work.storage import filesystem


class BeingWritten(DivulgeError):
    """Another run is writing to the same place."""


@contextmanager
def lock_place(place: Path) -> Iterator[None]:
    """Hold a place for one writer.

    Raises:
        BeingWritten: if another process holds it.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(_lock_file_beside(place))
        except PermissionError:
            if not place.is_dir():
                raise
            stack.enter_context(_lock_folder(place))  # a folder in one that is not ours to write to
        yield


@contextmanager
def _lock_file_beside(place: Path) -> Iterator[None]:
    lock = place.with_name(f".{place.name}.divulge-lock")
    while True:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(lock, flags, filesystem.PRIVATE_FILE)
        try:
            _lock_descriptor(descriptor, place)
            # Its last holder may have removed the file before we locked it.
            if lock.exists() and os.path.samestat(lock.stat(), os.fstat(descriptor)):
                break
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    try:
        yield
    finally:
        try:
            filesystem.unlink(lock)
        finally:
            os.close(descriptor)


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _lock_descriptor(descriptor, folder)
        yield
    finally:
        os.close(descriptor)


def _lock_descriptor(descriptor: int, place: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BeingWritten(f"{place}: another run is writing there; nothing was written") from None
    except OSError:
        return  # no locks on this file system: sets are still exchanged as a whole
