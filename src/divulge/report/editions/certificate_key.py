"""The key of certificates: who has it can tell of which original a certificate speaks.

A plain digest of an original confirms guesses of it; one with a key tells nothing to whom lacks
the key. It is derived from the secret of a release and tells nothing of what else is.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from hashlib import sha256
from pathlib import Path

from divulge.work import InvalidInput, Problem, filesystem
from divulge.work.secret_key import KEY_BYTES, SecretKey

KEY_FILE = "certificate-key.json"
FORMAT = 1
PURPOSE = "certificates"


def derive_certificate_key(secret: SecretKey) -> bytes:
    """The key of the certificates of a release."""
    return secret.derive_key(PURPOSE)


def write_certificate_key(key: bytes, path: Path) -> None:
    """Keep the key; its owner alone may read it."""
    text = json.dumps({"format": FORMAT, "key": key.hex()}, indent=2)
    filesystem.write_text(path, text + "\n")


def read_certificate_key(path: Path) -> bytes:
    """The key that was kept.

    Raises:
        InvalidInput: if the file holds none.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found, key = content["format"], bytes.fromhex(content["key"])
    except (ValueError, KeyError, TypeError, RecursionError):
        found, key = None, b""
    if found != FORMAT or len(key) != KEY_BYTES:
        message = f"contains no key of certificates; it is called {KEY_FILE}."
        raise InvalidInput(str(path), [Problem("key", message)])
    return key


def sign_bytes(key: bytes, content: bytes) -> str:
    """The keyed digest of some bytes (HMAC-SHA-256)."""
    return hmac.new(key, content, sha256).hexdigest()


def sign_file(key: bytes, path: Path) -> str:
    """The keyed digest of a file (HMAC-SHA-256)."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hmac.new(key, digestmod=sha256)).hexdigest()


def digest_file(path: Path) -> str:
    """The plain digest of a file that everybody may have (SHA-256)."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
