"""What a killed run leaves for the next one: intermediate results in whole files."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from divulge.work.files import whole_file
from divulge.work.version import version

if TYPE_CHECKING:
    import numpy.typing as npt

Arrays: TypeAlias = "Mapping[str, npt.NDArray[Any]]"


class Checkpoints:
    """A folder of finished intermediate results, each under a key of all that it depends on.

    The key holds the data's fingerprint and every setting, so a checkpoint of other data or other
    settings is never taken for this run's.

    >>> import numpy as np, tempfile
    >>> kept = Checkpoints(tempfile.mkdtemp())
    >>> first = kept.remember("sizes", {"knows": ["age"]}, lambda: {"size": np.array([1, 2])})
    >>> again = kept.remember("sizes", {"knows": ["age"]}, lambda: {"size": np.array([0])})
    >>> again["size"].tolist()
    [1, 2]
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def remember(
        self, name: str, key: Mapping[str, object], compute: Callable[[], Arrays]
    ) -> Arrays:
        """The arrays kept under this name and key; computed and kept if there are none."""
        path = self._path(name, key)
        kept = _load(path)
        if kept is not None:
            return kept
        arrays = compute()
        try:
            _keep(path, arrays)
        except FileNotFoundError:  # another run in the same folder has ended and cleared it
            _keep(path, arrays)
        return arrays

    def clear(self) -> None:
        """Forget everything: the run has ended."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, name: str, key: Mapping[str, object]) -> Path:
        # Another version may count otherwise, so its checkpoints are not ours.
        text = json.dumps({"divulge": version(), **key}, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:24]
        return self.folder / f"{name}-{digest}.npz"


def _keep(path: Path, arrays: Arrays) -> None:
    import numpy as np

    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as part, part.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def _load(path: Path) -> Arrays | None:
    """The arrays of a checkpoint; None if there is none or it cannot be read (then redo it)."""
    import numpy as np

    try:
        # Opened here, because NumPy does not close a file that it cannot read.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            return {name: kept[name] for name in kept.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return None
