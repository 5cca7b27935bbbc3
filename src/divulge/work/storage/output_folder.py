"""A folder of results that is replaced as a whole: who reads it sees the old set or the new one.

The new set is written in a staging folder and changes names with the old one, at once. Where the
system cannot do that (another file system, a mount point), the manifest is removed first and
written last, and no reader of ours takes a set without its manifest for one.

A folder is ours if its manifest lists every file in it. One that holds anything else is refused,
and of two runs that write to the same place the second is refused before it begins.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from divulge.work.context import current, writing_at_once
from divulge.work.problems import InvalidInput, Problem
from divulge.work.storage import filesystem
from divulge.work.storage.checkpoints import CHECKPOINT_FOLDER, Checkpoints, is_checkpoint_folder
from divulge.work.storage.inputs import Inputs, usable_path
from divulge.work.storage.lock import lock_place
from divulge.work.storage.manifest import (
    FORMAT,
    REPLACEMENT_NOTE,
    build_manifest,
    find_changed_file,
    list_own_files,
    read_manifest,
)
from divulge.work.storage.staging import (
    MANIFEST_FILE,
    SET_FOLDER,
    Staging,
    is_staging,
    remove_staging,
)

MOST_NAMED = 5


@dataclass
class OutputFolder:
    """A place for a set of results.

    Args:
        folder: the place; it is new, empty, or holds an earlier set of the same kind.
        kind: what the set is ("results of a check"), for messages and for the manifest.
        overwrite: whether a set, also one that somebody has changed, may be replaced.
        renewed: whether an unchanged set may be replaced without being asked.
        private: folders in the set that only their owner may read.
        inputs: what is read: a folder that holds an input, or lies in one, is refused.
    """

    folder: Path
    kind: str
    overwrite: bool = False
    renewed: bool = True
    private: tuple[str, ...] = ()
    inputs: Inputs | None = None
    _new_folders: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder = usable_path(self.folder).resolve()

    @property
    def checkpoints(self) -> Path:
        """Where a run that fills this folder keeps what it has finished."""
        return self.folder / CHECKPOINT_FOLDER

    @contextmanager
    def held(self) -> Iterator[OutputFolder]:
        """Hold the place for this run, from before the work until the results are written.

        Raises:
            InvalidInput: if the folder is not one to put results into.
            BeingWritten: if another run holds it.
        """
        self.check()
        self._new_folders = filesystem.make_parents(self.folder)
        try:
            with lock_place(self.folder):
                self.check()  # what was there may have changed while we waited
                yield self
        except BaseException:
            filesystem.remove_empty(self._new_folders)
            raise

    def check(self) -> None:
        """Refuse a folder that is not one to put results into."""
        message = self._describe_input_conflict() or self._describe_content_conflict()
        if message is not None:
            raise InvalidInput(str(self.folder), [Problem("", message)])

    def write(self, fill: Callable[[Path], None]) -> None:
        """Let `fill` write a new set, and put it in the place of the old one."""
        old_names = list_own_files(self.folder)
        is_beside = not self.folder.exists() or _can_exchange(self.folder)
        with Staging(self.folder.parent if is_beside else self.folder) as staging:
            new = staging.path / SET_FOLDER
            filesystem.make_folder(new, filesystem.PRIVATE_FOLDER)
            with writing_at_once():
                fill(new)
            for leftover in [path for path in new.rglob(".divulge-*.part") if is_staging(path)]:
                remove_staging(leftover)  # that of a file in the set, which could not be removed
            files = _list_files(new)
            names = sorted(files | old_names)
            self._set_modes(new, files)
            filesystem.write_text(new / MANIFEST_FILE, build_manifest(self.kind, new, files))
            if self.private:  # a digest is enough to try out guesses at a private file
                filesystem.set_mode(new / MANIFEST_FILE, filesystem.PRIVATE_FILE)
            _sync_all(new)
            self.check()  # the last look before anything is replaced
            if not self.folder.exists():
                filesystem.rename_new(new, self.folder)
            elif not (is_beside and _exchange_sets(new, self.folder)):
                _replace_one_by_one(self.folder, new, names)
            filesystem.sync(self.folder.parent if is_beside else self.folder)

    def _describe_input_conflict(self) -> str | None:
        folder, inputs = self.folder, self.inputs or current().inputs
        if folder.exists() and not folder.is_dir():
            return "is a file or a device; give a folder."
        if inputs is None:
            return None
        if folder in inputs or inputs.folder_around(folder / MANIFEST_FILE) is not None:
            return "is a folder of inputs; give another."
        return (
            "contains an input of this run; give another folder." if inputs.inside(folder) else None
        )

    def _describe_content_conflict(self) -> str | None:
        """What lies in the folder must be ours, of the same kind, and not be wanted any more."""
        foreign = sorted(_list_foreign_files(self.folder)) if self.folder.exists() else []
        if foreign:
            more = f" and {len(foreign) - MOST_NAMED} more" if len(foreign) > MOST_NAMED else ""
            first_names = ", ".join(f'"{name}"' for name in foreign[:MOST_NAMED])
            return (
                f"contains files that Divulge did not write ({first_names}{more}); "
                "give a new folder, or move these files."
            )
        manifest = read_manifest(self.folder)
        if manifest is None:
            return None
        allow = "give another folder, or allow it to be overwritten (--overwrite)."
        if manifest["kind"] != self.kind:
            return f"contains {manifest['kind']}, not {self.kind}; give another folder."
        if not self.overwrite and not self.renewed:
            return f"exists already; {allow}"
        if not self.overwrite and (changed_file := find_changed_file(self.folder, manifest)):
            return f'"{changed_file}" was changed after it was written; {allow}'
        return None

    def _set_modes(self, new: Path, files: Iterable[str]) -> None:
        """Everybody's settings for what may be seen, its owner's eyes for what may not."""
        for name in sorted(files):
            is_private = self._is_private(name)
            mode = filesystem.PRIVATE_FILE if is_private else filesystem.usual_mode()
            filesystem.set_mode(new / name, mode)
        for path in sorted(path for path in new.rglob("*") if path.is_dir()):
            is_private = self._is_private(f"{path.relative_to(new).as_posix()}/")
            mode = filesystem.PRIVATE_FOLDER if is_private else filesystem.usual_mode(folder=True)
            filesystem.set_mode(path, mode)
        filesystem.set_mode(new, filesystem.usual_mode(folder=True))

    def _is_private(self, name: str) -> bool:
        """Whether a file, or a folder with a slash behind it, is only for its owner."""
        return any(name.startswith(f"{folder}/") for folder in self.private)


def _can_exchange(folder: Path) -> bool:
    """Whether a folder may change names with one beside it."""
    parent = folder.parent
    same = parent.stat().st_dev == folder.stat().st_dev and not os.path.ismount(folder)
    return same and os.access(parent, os.W_OK)


def _exchange_sets(new: Path, folder: Path) -> bool:
    """Let the new set change names with the old one; False where that is not possible."""
    try:
        filesystem.exchange(new, folder)
    except filesystem.ExchangeUnavailable:
        return False
    # Whatever somebody put into the old set in the last moment goes into the new one.
    for name in _list_foreign_files(new):
        filesystem.make_parents(folder / name)
        filesystem.rename_new(new / name, folder / name)
    return True


def _replace_one_by_one(folder: Path, new: Path, names: list[str]) -> None:
    """Replace a set where it stands: from the first change to the last it has no manifest."""
    filesystem.write_text(folder / REPLACEMENT_NOTE, json.dumps({"format": FORMAT, "files": names}))
    filesystem.sync(folder / REPLACEMENT_NOTE)
    filesystem.unlink(folder / MANIFEST_FILE)
    filesystem.sync(folder)
    files = _list_files(new) - {MANIFEST_FILE}
    for name in names:
        if name not in files:
            filesystem.unlink(folder / name)
    for name in sorted(files):
        filesystem.make_parents(folder / name)
        filesystem.rename(new / name, folder / name)
    for path in sorted((p for p in new.rglob("*") if p.is_dir()), reverse=True):
        filesystem.set_mode(folder / path.relative_to(new), path.stat().st_mode & 0o777)
    _sync_all(folder)
    filesystem.rename(new / MANIFEST_FILE, folder / MANIFEST_FILE)
    filesystem.unlink(folder / REPLACEMENT_NOTE)
    _remove_checkpoints(folder)
    _remove_empty_folders(folder)


def _remove_checkpoints(folder: Path) -> None:
    if is_checkpoint_folder(folder / CHECKPOINT_FOLDER):
        Checkpoints(folder / CHECKPOINT_FOLDER).clear()


def _remove_empty_folders(folder: Path) -> None:
    for path in sorted((p for p in folder.rglob("*") if p.is_dir()), reverse=True):
        if not any(path.iterdir()):
            filesystem.remove_folder(path)


def _list_foreign_files(folder: Path) -> set[str]:
    """The files (and empty folders) in a folder of results that are not ours."""
    ours = {MANIFEST_FILE, REPLACEMENT_NOTE, *list_own_files(folder)}
    foreign = set()
    for path in folder.rglob("*"):
        inside = path.relative_to(folder)
        top = folder / inside.parts[0]
        if is_staging(top) or (inside.parts[0] == CHECKPOINT_FOLDER and is_checkpoint_folder(top)):
            continue
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()) and not _is_parent_of_any(inside.as_posix(), ours):
                foreign.add(inside.as_posix())
        elif inside.as_posix() not in ours or path.is_symlink():
            foreign.add(inside.as_posix())
    return foreign


def _is_parent_of_any(folder: str, names: Iterable[str]) -> bool:
    return any(name.startswith(f"{folder}/") for name in names)


def _list_files(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if not p.is_dir()}


def _sync_all(folder: Path) -> None:
    for path in sorted(folder.rglob("*")):
        filesystem.sync(path)
    filesystem.sync(folder)
