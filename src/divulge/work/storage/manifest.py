"""The manifest of a set of files: their names and digests, so that a set is known to be whole.

A folder is ours if its manifest lists every file in it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from divulge.work.problems import InvalidInput, Problem
from divulge.work.storage.inputs import usable_path
from divulge.work.storage.staging import MANIFEST_FILE
from divulge.work.version import version

REPLACEMENT_NOTE = ".divulge-replacing.json"
"""The names of a set while it is replaced file by file: a run that follows knows them as ours."""
FORMAT = "divulge results 1"
LONGEST_NAME = 1_000


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
            message = "is not a whole set of results: a file is missing. Write it again."
            raise InvalidInput(str(path), [Problem("", message)])
    changed_file = find_changed_file(path, manifest)
    if changed_file is not None:
        message = f'"{changed_file}" is not as it was written: the set cannot be trusted.'
        raise InvalidInput(str(path), [Problem("", message)])
    return path


def list_own_files(folder: Path) -> set[str]:
    """The names that the manifest of a folder lists, or the note of a run that was replacing it."""
    manifest = read_manifest(folder)
    names = set() if manifest is None else set(manifest["files"])
    note = _read_json(folder / REPLACEMENT_NOTE)
    if note is not None and isinstance(note.get("files"), list):
        note_names = [name for name in note["files"] if isinstance(name, str)]
        if all(map(_is_inside_folder, note_names)):
            names |= set(note_names)
    return names


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a folder; None if there is none of ours.

    What is listed counts as ours, and ours may be removed: a manifest that lists a file outside of
    its folder is none of ours.
    """
    manifest = _read_json(folder / MANIFEST_FILE)
    if manifest is None or not isinstance(manifest.get("kind"), str):
        return None
    files = manifest.get("files")
    if not isinstance(files, dict) or not all(isinstance(digest, str) for digest in files.values()):
        return None
    return manifest if all(map(_is_inside_folder, files)) else None


def _read_json(path: Path) -> dict[str, Any] | None:
    """A note of ours; None if there is none, or it is not one."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) and content.get("format") == FORMAT else None


def _is_inside_folder(name: str) -> bool:
    """Whether a name is of a file in the folder, as we write names: no `..`, no root, not long."""
    parts = name.split("/")
    return (
        "\0" not in name
        and len(name) <= LONGEST_NAME
        and all(part not in ("", ".", "..") and len(os.fsencode(part)) <= 255 for part in parts)
    )


def find_changed_file(folder: Path, manifest: dict[str, Any]) -> str | None:
    """The first file that is not as the manifest says; None if all are."""
    for name, digest in sorted(manifest["files"].items()):
        path = folder / name
        if path.is_symlink() or not path.is_file() or _compute_digest(path) != digest:
            return str(name)
    return None


def build_manifest(kind: str, folder: Path, files: Iterable[str]) -> str:
    """The text of the manifest of the files in a folder."""
    digests = {name: _compute_digest(folder / name) for name in sorted(files)}
    manifest = {"format": FORMAT, "divulge": version(), "kind": kind, "files": digests}
    return json.dumps(manifest, indent=1) + "\n"


def _compute_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
