"""What an interrupted run leaves for the next one: intermediate results in whole files.

They lie in a folder of their own, marked as ours and closed to everybody else. Only files that we
wrote are ever removed from it, one by one, and a folder that holds anything else is refused.
"""

from __future__ import annotations

import glob
import hashlib
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from divulge.work.context import is_stopped
from divulge.work.problems import InvalidInput, Problem
from divulge.work.storage import filesystem
from divulge.work.storage.inputs import usable_path
from divulge.work.storage.staging import Staging, is_staging, remove_abandoned_stagings
from divulge.work.version import version

if TYPE_CHECKING:
    import numpy.typing as npt

Arrays: TypeAlias = "Mapping[str, npt.NDArray[Any]]"

CHECKPOINT_FOLDER = ".divulge-checkpoints"
"""What a folder of checkpoints is called inside a folder of results."""
MARK_FILE = "divulge-checkpoints.txt"
_MARK_TEXT = "Divulge keeps intermediate results here and removes them when its run has ended.\n"
_CHECKPOINT_NAME = re.compile(r"^[\w ().,+-]+-[0-9a-f]{24}-[0-9a-f]{32}\.npz$")


class Checkpoints:
    """A folder of finished intermediate results, each under a key of all that it depends on.

    The key holds the data's fingerprint and every setting, so a checkpoint of other data or other
    settings is never taken for this run's.

    Raises:
        InvalidInput: if the folder holds what Divulge did not write.

    >>> import numpy as np, tempfile
    >>> kept = Checkpoints(tempfile.mkdtemp())
    >>> first = kept.remember("sizes", {"knows": ["age"]}, lambda: {"size": np.array([1, 2])})
    >>> again = kept.remember("sizes", {"knows": ["age"]}, lambda: {"size": np.array([0])})
    >>> again["size"].tolist()
    [1, 2]
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = usable_path(folder)
        self._new_folders: list[Path] = []
        self._check_folder()

    def remember(
        self, name: str, key: Mapping[str, object], compute: Callable[[], Arrays]
    ) -> Arrays:
        """The arrays kept under this name and key; computed and kept if there are none."""
        stem = self._build_stem(name, key)
        for path in sorted(self.folder.glob(f"{glob.escape(stem)}-*.npz")):
            checkpoint = _read_arrays(path)
            if checkpoint is not None:
                return checkpoint
        arrays = compute()
        if is_stopped():  # what the clock has cut would be another result in another run
            return arrays
        try:
            self._write_arrays(stem, arrays)
        except FileNotFoundError:  # another run in the same folder has ended and cleared it
            self._write_arrays(stem, arrays)
        return arrays

    def clear(self) -> None:
        """Forget everything: the run has ended. Only files that we wrote are removed."""
        if not is_checkpoint_folder(self.folder):
            return
        entries = list(self.folder.iterdir())
        made_by_us = (self.folder / MARK_FILE).read_text(encoding="utf-8") == _MARK_TEXT
        if made_by_us and all(path.name == MARK_FILE or _is_ours(path) for path in entries):
            # Taken away as a whole, so that an interruption leaves no folder without its mark.
            with Staging(self.folder.parent) as staging:
                filesystem.rename_new(self.folder, staging.path / "checkpoints")
            filesystem.remove_empty(self._new_folders)
            return
        remove_abandoned_stagings(self.folder)
        for path in sorted(entries):
            if _is_checkpoint(path):
                filesystem.unlink(path)
        if not [path for path in self.folder.iterdir() if path.name != MARK_FILE]:
            filesystem.unlink(self.folder / MARK_FILE)

    def _check_folder(self) -> None:
        """Refuse a folder in which something lies that we did not write."""
        folder = self.folder
        if folder.exists() and not folder.is_dir():
            raise InvalidInput(str(folder), [Problem("", "is a file; give a folder.")])
        if not folder.exists() or not any(folder.iterdir()):
            return
        if not is_checkpoint_folder(folder):
            message = (
                "is not a folder of checkpoints: Divulge did not make it. Give a new folder; "
                "it is removed when the run has ended."
            )
            raise InvalidInput(str(folder), [Problem("", message)])
        others = [p for p in folder.iterdir() if p.name != MARK_FILE and not _is_ours(p)]
        if others:
            message = (
                "contains files that Divulge did not write; give a new folder, or move these files."
            )
            raise InvalidInput(str(folder), [Problem("", message)])

    def _write_arrays(self, stem: str, arrays: Arrays) -> None:
        import numpy as np

        self._make_folder()
        with Staging(self.folder) as staging:
            part = staging.path / "part"
            with part.open("wb") as file:
                np.savez(file, allow_pickle=False, **arrays)
            filesystem.set_mode(part, filesystem.PRIVATE_FILE)
            filesystem.sync(part)
            filesystem.rename(part, self.folder / f"{stem}-{_compute_digest(part)}.npz")

    def _make_folder(self) -> None:
        if is_checkpoint_folder(self.folder):
            return
        self._new_folders += filesystem.make_parents(self.folder)
        if self.folder.exists():
            # A folder that the user made stays when the checkpoints go.
            with Staging(self.folder) as staging:
                part = _write_mark(staging.path, f"{_MARK_TEXT}The folder itself is not ours.\n")
                filesystem.rename(part, self.folder / MARK_FILE)
            return
        with Staging(self.folder.parent) as staging:  # it appears with its mark
            new = staging.path / "checkpoints"
            filesystem.make_folder(new, filesystem.PRIVATE_FOLDER)
            _write_mark(new, _MARK_TEXT)
            try:
                filesystem.rename_new(new, self.folder)
            except FileExistsError:
                if not is_checkpoint_folder(self.folder):  # else another run has just made it
                    raise

    def _build_stem(self, name: str, key: Mapping[str, object]) -> str:
        """What a checkpoint is called by its key; the digest of its contents follows."""
        # Another version may count otherwise, so its checkpoints are not ours.
        text = json.dumps({"divulge": version(), **key}, sort_keys=True)
        return f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:24]}"


def _write_mark(folder: Path, text: str) -> Path:
    path = folder / MARK_FILE
    filesystem.write_text(path, text)
    filesystem.set_mode(path, filesystem.PRIVATE_FILE)
    return path


def is_checkpoint_folder(folder: Path) -> bool:
    """Whether a folder is marked as one of checkpoints."""
    try:
        return (folder / MARK_FILE).read_text(encoding="utf-8").startswith(_MARK_TEXT)
    except (OSError, ValueError):
        return False


def _is_ours(path: Path) -> bool:
    return _is_checkpoint(path) or is_staging(path)


def _is_checkpoint(path: Path) -> bool:
    return bool(_CHECKPOINT_NAME.match(path.name)) and path.is_file() and not path.is_symlink()


def _compute_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


def _read_arrays(path: Path) -> Arrays | None:
    """The arrays of a checkpoint; None if it cannot be read, or is not as it was kept (redo it)."""
    import numpy as np

    try:
        if not path.stem.endswith(f"-{_compute_digest(path)}"):
            return None
        # Opened here, because NumPy does not close a file that it cannot read.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return None
