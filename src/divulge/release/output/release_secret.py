"""The secret of a release: kept with what does not go out, and taken from there by every rerun.

Protections of the same data with other random choices can be compared with each other, and what
one of them hides another shows. So a rerun and a revision draw nothing anew.
"""

from __future__ import annotations

import json
from pathlib import Path

from divulge.work import InvalidInput, Problem, filesystem
from divulge.work.secret_key import KEY_BYTES, SecretKey

FILE = "secret.json"
FORMAT = 1


def write_secret(secret: SecretKey, folder: Path) -> None:
    """Keep the secret in a folder of what does not go out."""
    text = json.dumps({"format": FORMAT, "key": secret.key.hex()}, indent=2)
    filesystem.write_text(folder / FILE, text + "\n")


def read_secret(folder: Path) -> SecretKey | None:
    """The secret that an earlier protection has left in a folder; None if there is none.

    Raises:
        InvalidInput: if the file is damaged: to draw another would let the two protections be
            compared.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found, key = content["format"], bytes.fromhex(content["key"])
    except (ValueError, KeyError, TypeError, OSError):
        found, key = FORMAT, b""
    if found != FORMAT:
        message = f"is of format {found}, which this version does not read."
        raise InvalidInput(str(path), [Problem("format", message)])
    if len(key) != KEY_BYTES:
        message = (
            "is damaged; restore it from a copy. A new one would allow both protections to be "
            "compared, which reveals what each of them hides."
        )
        raise InvalidInput(str(path), [Problem("secret", message)])
    return SecretKey(key)


def require_secret(folder: Path) -> SecretKey:
    """The secret of the protection that another one revises."""
    secret = read_secret(folder)
    if secret is None:
        message = "contains no secret of an earlier protection; name the folder that protect wrote."
        raise InvalidInput(str(folder), [Problem("revises", message)])
    return secret
