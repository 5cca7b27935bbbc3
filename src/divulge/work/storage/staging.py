"""Staging folders: where a result is written until it is whole, unseen and for its owner alone.

A staging folder lies beside the place of its result, so that a rename can put it there. As long as
its run lives, it is locked; one that is not was left by a run that was interrupted, and the next
run that writes beside it removes it.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from divulge.work.storage import filesystem

MARK_FILE = ".divulge-staging"
"""The first file in a staging folder: only a folder that holds it is one of ours."""
MANIFEST_FILE = "manifest.json"
"""What a whole set of files says of itself: its names and their digests."""
SET_FOLDER = "set"
"""Where, in a staging folder, a set of files is written, or what it has replaced is taken away."""


class Staging:
    """A private folder in `parent`; it is removed at the end, with all that is still in it.

    >>> import tempfile
    >>> with Staging(Path(tempfile.mkdtemp())) as staging:
    ...     oct(staging.path.stat().st_mode & 0o777)
    '0o700'
    >>> staging.path.exists()
    False
    """

    def __init__(self, parent: Path) -> None:
        remove_abandoned_stagings(parent)
        self._lock: int | None = None
        is_blocked = True
        while is_blocked:  # a run beside us may take a folder without its mark for an old one
            self.path = parent / f".divulge-{secrets.token_hex(6)}.part"
            filesystem.make_folder(self.path, filesystem.PRIVATE_FOLDER)
            try:
                self._lock = _lock_folder(self.path)
                is_blocked = False
            except (BlockingIOError, FileNotFoundError):
                continue
            except OSError:  # no locks on this file system: then nobody clears away behind us
                is_blocked = False
        try:
            filesystem.write_text(self.path / MARK_FILE, "")
        except BaseException:
            if self._lock is not None:
                os.close(self._lock)
            raise

    def close(self) -> None:
        """Remove the folder; if that fails, the next run that writes here removes it."""
        try:
            with suppress(OSError):
                remove_staging(self.path)
        finally:
            if self._lock is not None:
                os.close(self._lock)
                self._lock = None

    def __enter__(self) -> Staging:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def is_staging(path: Path) -> bool:
    """Whether a folder is a staging folder of ours (also one that was left behind)."""
    has_staging_name = path.name.startswith(".divulge-") and path.name.endswith(".part")
    if not has_staging_name or path.is_symlink() or not path.is_dir():
        return False
    return (path / MARK_FILE).is_file() or not any(path.iterdir())


def remove_abandoned_stagings(parent: Path) -> None:
    """Remove the staging folders that interrupted runs left here."""
    for path in parent.glob(".divulge-*.part"):
        # Another run may remove it at the same time; somebody else's folder may be closed to us.
        with suppress(OSError):
            if not is_staging(path) or _has_foreign_files(path / SET_FOLDER):
                continue
            lock = _lock_folder(path)
            try:
                remove_staging(path)
            finally:
                os.close(lock)


def remove_staging(staging: Path) -> None:
    """Remove a staging folder; its mark goes last, so that it is known as ours until then."""
    for entry in sorted(staging.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            filesystem.remove_tree(entry)
        elif entry.name != MARK_FILE:
            filesystem.unlink(entry)
    filesystem.unlink(staging / MARK_FILE)
    filesystem.remove_folder(staging)


def _lock_folder(folder: Path) -> int:
    """The lock of a folder, as an open descriptor.

    Raises:
        BlockingIOError: if another process has it.
        OSError: if the file system has no locks.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _has_foreign_files(old_set: Path) -> bool:
    """Whether a set that was replaced holds a file that it does not list: that is not ours."""
    try:
        manifest_names = set(
            json.loads((old_set / MANIFEST_FILE).read_text(encoding="utf-8"))["files"]
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False  # a set that was never whole was written by us alone
    present_names = {str(p.relative_to(old_set)) for p in old_set.rglob("*") if not p.is_dir()}
    return any(
        not name.startswith(".divulge-")
        for name in present_names - manifest_names - {MANIFEST_FILE}
    )
