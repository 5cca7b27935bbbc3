"""The manifest of a set of files: their names and digests, so that a set is known to be whole.

A folder is ours if its manifest lists every file in it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from divulge.work.inputs import usable_path
from divulge.work.problems import InvalidInput, Problem
from divulge.work.staging import MANIFEST
from divulge.work.version import version

REPLACING = ".divulge-replacing.json"
"""The names of a set while it is replaced file by file: a run that follows knows them as ours."""
FORMAT = "divulge results 1"


def require_whole(folder: Path | str) -> Path:
    """A folder of results that is whole: with its manifest, and every file that it lists.

    Raises:
        InvalidInput: if it is not, as after a run that was interrupted while it replaced files.
    """
    path = usable_path(folder)
    manifest = read_manifest(path)
    if manifest is None:
        message = "is not a whole set of results: its manifest is missing. Write it again."
        raise InvalidInput(str(path), [Problem("", message)])
    for name in sorted(manifest["files"]):
        if not (path / name).is_file():
            message = f'is not a whole set of results: "{name}" is missing. Write it again.'
            raise InvalidInput(str(path), [Problem("", message)])
    changed = first_changed(path, manifest)
    if changed is not None:
        message = f'"{changed}" is not as it was written: the set cannot be trusted.'
        raise InvalidInput(str(path), [Problem("", message)])
    return path


def listed_files(folder: Path) -> set[str]:
    """The names that the manifest of a folder lists, or the note of a run that was replacing it."""
    manifest = read_manifest(folder)
    names = set() if manifest is None else set(manifest["files"])
    try:
        noted = json.loads((folder / REPLACING).read_text(encoding="utf-8"))
        if noted["format"] == FORMAT:
            names |= {str(name) for name in noted["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return names


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a folder; None if there is none of ours."""
    try:
        told = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        whole = told["format"] == FORMAT and isinstance(told["kind"], str)
        files = {str(name): str(digest) for name, digest in told["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return {**told, "files": files} if whole else None


def first_changed(folder: Path, manifest: dict[str, Any]) -> str | None:
    """The first file that is not as the manifest says; None if all are."""
    for name, digest in sorted(manifest["files"].items()):
        path = folder / name
        if path.is_symlink() or not path.is_file() or _digest(path) != digest:
            return str(name)
    return None


def manifest_of(kind: str, folder: Path, files: Iterable[str]) -> str:
    """The text of the manifest of the files in a folder."""
    digests = {name: _digest(folder / name) for name in sorted(files)}
    told = {"format": FORMAT, "divulge": version(), "kind": kind, "files": digests}
    return json.dumps(told, indent=1) + "\n"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
