"""Files that are read: plain files only, and each is remembered, so that nothing overwrites it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from divulge.work.context import current
from divulge.work.problems import InvalidInput, Problem


def input_file(given: Path | str) -> Path:
    """A file that can be read, noted as an input of this run.

    A pipe would be read to its end by the first look at it, and a device has no end.

    Raises:
        InvalidInput: for an empty or impossible path, a missing file, a folder, a pipe, a device.

    >>> input_file("")
    Traceback (most recent call last):
    divulge.work.problems.InvalidInput: file: the path is empty.
    """
    path = usable_path(given)
    try:
        status = path.stat()
    except FileNotFoundError:
        raise InvalidInput(str(path), [Problem("", "the file does not exist.")]) from None
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise InvalidInput(str(path), [Problem("", f"cannot be used: {reason}.")]) from None
    if stat.S_ISDIR(status.st_mode):
        raise InvalidInput(str(path), [Problem("", "is a folder; name a file in it.")])
    if not stat.S_ISREG(status.st_mode):
        message = "is a pipe or a device; give a plain file."
        raise InvalidInput(str(path), [Problem("", message)])
    note_input(path)
    return path


def usable_path(given: Path | str) -> Path:
    """A path that a file system can have.

    Raises:
        InvalidInput: if it is empty or holds a NUL character.
    """
    text = os.fspath(given)
    if not text:
        raise InvalidInput("file", [Problem("", "the path is empty.")])
    if "\0" in text:
        raise InvalidInput("file", [Problem("", "the path contains a NUL character.")])
    return Path(text)


def note_input(path: Path) -> None:
    """Remember a file or folder as an input of this run, if somebody keeps them."""
    inputs = current().inputs
    if inputs is not None:
        inputs.add(path)


class Inputs:
    """The files and folders that a run has read, by what they are and not by their names.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "people.csv").touch()
    >>> (folder / "link.csv").symlink_to(folder / "people.csv")
    >>> (folder / "link.csv") in Inputs([folder / "people.csv"])
    True
    """

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self._identities: set[tuple[int, int]] = set()
        self._folders: set[Path] = set()
        self._paths: set[Path] = set()
        for path in paths:
            self.add(path)

    def add(self, path: Path) -> None:
        """Take in one more."""
        identity = _read_identity(path)
        if identity is None:
            return
        self._identities.add(identity)
        real = path.resolve()
        (self._folders if real.is_dir() else self._paths).add(real)

    def __or__(self, others: Inputs) -> Inputs:
        """Both together."""
        both = Inputs()
        for name in ("_identities", "_folders", "_paths"):
            setattr(both, name, getattr(self, name) | getattr(others, name))
        return both

    def __contains__(self, path: Path) -> bool:
        identity = _read_identity(path)
        return identity is not None and identity in self._identities

    def folder_around(self, path: Path) -> Path | None:
        """The folder of inputs in which a path would lie: what is put there is an input too."""
        return next((f for f in path.resolve().parents if f in self._folders), None)

    def inside(self, folder: Path) -> bool:
        """Whether an input lies in a folder."""
        real = folder.resolve()
        return any(real in path.parents for path in (*self._paths, *self._folders))


def _read_identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
