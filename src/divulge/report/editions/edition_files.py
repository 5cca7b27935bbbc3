"""The editions of a result as files: what people outside may have, and apart the owner's key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from divulge.release import ProtectedRelease
from divulge.release.output.output_files import INTERNAL, RELEASE
from divulge.report.editions.certificate import (
    build_certificate,
    certificate_page,
    write_certificate_text,
)
from divulge.report.editions.certificate_key import (
    KEY_FILE,
    derive_certificate_key,
    read_certificate_key,
    write_certificate_key,
)
from divulge.report.editions.external_edition import external_page
from divulge.report.editions.public_facts import list_public_facts
from divulge.work import filesystem
from divulge.work.secret_key import SecretKey

if TYPE_CHECKING:
    from divulge.release import Verdict

EDITIONS = "editions"
EXTERNAL = "external.html"
CERTIFICATE = "certificate.json"
CERTIFICATE_PAGE = "certificate.html"


def write_editions(
    found: Verdict | ProtectedRelease, folder: Path, key: bytes, *, tell_parameters: bool = False
) -> None:
    """Write the external edition, the certificate, and its key, into a set of results.

    The key goes to what is internal; what was written for publication is digested.
    """
    facts = list_public_facts(found, tell_parameters=tell_parameters)
    published = folder / RELEASE
    certificate = build_certificate(
        facts, found.release, key, published if published.is_dir() else None
    )
    texts = {
        EXTERNAL: external_page(facts),
        CERTIFICATE: write_certificate_text(certificate),
        CERTIFICATE_PAGE: certificate_page(certificate),
    }
    for place in (folder / EDITIONS, folder / INTERNAL):
        if not place.is_dir():
            filesystem.make_folder(place, filesystem.PRIVATE_FOLDER)
    for name, text in texts.items():
        filesystem.write_text(folder / EDITIONS / name, text)
    write_certificate_key(key, folder / INTERNAL / KEY_FILE)


def find_certificate_key(folder: Path) -> bytes:
    """The key of the results that are in a folder, so that a rerun has the same; or a new one."""
    path = folder / INTERNAL / KEY_FILE
    return read_certificate_key(path) if path.is_file() else derive_certificate_key(SecretKey())
