"""Files appear whole or not at all, and several of one run appear together.

A file is written in a staging folder beside its place, flushed to the disk, and renamed; a rename
within a folder either happened or did not. A file that exists is replaced only if the caller says
so, and where several are replaced, all old ones are taken away before the first new one appears:
whoever looks, and whenever the run ends, never sees old and new ones side by side.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from divulge.work.context import current
from divulge.work.storage import filesystem
from divulge.work.storage.places import require_place
from divulge.work.storage.staging import Staging


@dataclass(frozen=True)
class _Part:
    """A file that is being written: may it replace another, may others read it?"""

    path: Path
    private: bool
    overwrite: bool


class AtomicFiles:
    """Several files that appear together, once all are written.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "out"
    >>> with AtomicFiles(folder) as files:
    ...     _ = files.path("result.json").write_text("{}")
    ...     folder.exists() and list(folder.glob("*.json"))
    []
    >>> [path.name for path in folder.iterdir()]
    ['result.json']
    """

    def __init__(self, folder: Path | str = ".", overwrite: bool = False) -> None:
        self.folder = Path(folder)
        self.overwrite = overwrite
        self._parts: dict[Path, _Part] = {}
        self._stagings: dict[Path, Staging] = {}
        self._new_folders: list[Path] = []

    def path(self, name: Path | str, private: bool = False, overwrite: bool = False) -> Path:
        """Where to write the file `name` for now; `private` if only its owner may read it.

        `overwrite` lets this one replace a file, whatever holds for the others.

        Raises:
            InvalidInput: if it exists and may not be replaced, is an input, a device or a folder.
        """
        overwrite = overwrite or self.overwrite
        final = require_place(self.folder / name, overwrite)
        self._new_folders += filesystem.make_parents(final)
        if final.parent not in self._stagings:
            self._stagings[final.parent] = Staging(final.parent)
        staging = self._stagings[final.parent].path
        # A folder for each, because libraries leave files of their own beside what they write.
        part_folder = staging / str(len(self._parts))
        filesystem.make_folder(part_folder, filesystem.PRIVATE_FOLDER)
        self._parts[final] = _Part(part_folder / final.name, private, overwrite)
        return part_folder / final.name

    def __enter__(self) -> AtomicFiles:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        is_committed = False
        try:
            if kind is None:
                self._commit_files()
                is_committed = True
        finally:
            self._remove_stagings(is_committed)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(self.folder)  # a full disk does not say what was being written

    def _commit_files(self) -> None:
        for final, part in self._parts.items():
            filesystem.set_mode(part.path, _choose_mode(final, part.private))
            filesystem.sync(part.path)
            require_place(final, part.overwrite)  # it may have appeared while we were working
        if len(self._parts) == 1:
            [(final, part)] = self._parts.items()
            (filesystem.rename if part.overwrite else filesystem.rename_new)(part.path, final)
        else:
            self._replace_together()
        for folder in self._stagings:
            filesystem.sync(folder)

    def _replace_together(self) -> None:
        """Take away what is replaced, then put in place what is new; undo both if one fails."""
        renames: list[tuple[Path, Path]] = []
        try:
            for final, part in self._parts.items():
                if part.overwrite and final.exists():
                    old = part.path.with_name(f"{part.path.name}.old")
                    filesystem.rename_new(final, old)
                    renames.append((old, final))
            for final, part in self._parts.items():
                filesystem.rename_new(part.path, final)
                renames.append((final, part.path))
        except BaseException:
            for current_path, former_path in reversed(renames):
                filesystem.rename_new(current_path, former_path)
            raise

    def _remove_stagings(self, is_committed: bool) -> None:
        with ExitStack() as stack:  # all of them, also if one cannot be removed
            for staging in self._stagings.values():
                stack.callback(staging.close)
        if not is_committed:
            filesystem.remove_empty(self._new_folders)


def _choose_mode(final: Path, private: bool) -> int:
    """The mode of a file: as the one that it replaces has it, or as the user's settings say."""
    if private:
        return filesystem.PRIVATE_FILE
    return final.stat().st_mode & 0o777 if final.exists() else filesystem.usual_mode()


@contextmanager
def whole_file(path: Path | str, overwrite: bool = False, private: bool = False) -> Iterator[Path]:
    """Write to the path that is given out; the file appears under its name when all is well.

    Where the run gathers its files (`work.run_with(files=...)`), it appears with the others.

    >>> import tempfile
    >>> final = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with whole_file(final) as part:
    ...     _ = part.write_text("all of it")
    >>> final.read_text()
    'all of it'
    """
    run_files = current().files
    if run_files is not None:
        yield run_files.path(Path(path).absolute(), private, overwrite)
        return
    final = Path(path)
    with AtomicFiles(final.parent, overwrite) as files:
        yield files.path(final.name, private)


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
