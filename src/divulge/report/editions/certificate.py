"""The certificate of a result: one page, and the same as a file that can be verified.

It names the verdict, the limits, the files that may go out by their digests, and what was read by
keyed digests. A seal over all of it, with the same key, shows whether it was changed.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge import work
from divulge.release.output.output_files import list_source_files
from divulge.report import tuning
from divulge.report.editions.certificate_key import digest_file, sign_bytes, sign_file
from divulge.report.page_parts import load_template, read_resource, read_words
from divulge.work import version, versions

if TYPE_CHECKING:
    from divulge.release import Release
    from divulge.report.editions.public_facts import PublicFacts

FORMAT = "divulge certificate 1"
SEAL = "seal"
MORE = 2
"""The number of a second file: the first is told apart where there is one."""


def build_certificate(
    facts: PublicFacts, release: Release, key: bytes, published: Path | None = None
) -> dict[str, Any]:
    """The certificate as plain values.

    Args:
        facts: what everybody may be told.
        release: the release, whose sources and settings are digested with the key.
        key: the key of certificates.
        published: the folder of the files that may go out; None if there are none.
    """
    certificate = {
        "format": FORMAT,
        "divulge": version(),
        "versions": versions(),
        "made": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        **facts.to_dict(),
        "release": [] if published is None else list(_digest_folder(published)),
        "read": list(_sign_inputs(release, key)),
    }
    return {**certificate, SEAL: compute_seal(certificate, key)}


def compute_seal(certificate: dict[str, Any], key: bytes) -> str:
    """The keyed digest of all that a certificate says."""
    content = {name: value for name, value in certificate.items() if name != SEAL}
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return sign_bytes(key, text.encode())


def write_certificate_text(certificate: dict[str, Any]) -> str:
    """The certificate as the text of its file."""
    return json.dumps(certificate, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def certificate_page(certificate: dict[str, Any]) -> str:
    """The certificate as a page to print; it names the file that can be verified by its digest."""
    return load_template("certificate.html.jinja").render(
        **read_words("certificate"),
        certificate=certificate,
        limits_in_short=_join_limits(certificate["limits"]),
        several={
            each["name"]
            for each in certificate["read"]
            if each["what"] == "dataset" and each["file"] == MORE
        },
        most=tuning.MOST_CERTIFIED_ROWS,
        digest=sha256(write_certificate_text(certificate).encode()).hexdigest(),
        style=read_resource("report.css"),
    )


def _join_limits(limits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Limits of one kind and outcome in one line: a page has room for few."""
    joined: dict[tuple[str, str, str | None], list[str]] = {}
    for each in limits:
        kind = (each["measure"], each["status"], each.get("allowed"))
        joined.setdefault(kind, []).append(each["subject"])
    return [
        {"measure": measure, "subject": ", ".join(subjects), "status": status, "allowed": allowed}
        for (measure, status, allowed), subjects in joined.items()
    ]


def list_published(folder: Path) -> list[Path]:
    """The files of a folder that goes out, by name."""
    return sorted(path for path in folder.rglob("*") if not path.is_dir())


def _digest_folder(folder: Path) -> Iterator[dict[str, str]]:
    for path in list_published(folder):
        name = path.relative_to(folder)
        # What a failed removal left of a file's staging is taken out of the set once it is whole.
        if not any(work.is_staging(folder / parent) for parent in name.parents[:-1]):
            yield {"file": name.as_posix(), "sha256": digest_file(path)}


def _sign_inputs(release: Release, key: bytes) -> Iterator[dict[str, Any]]:
    """What was read: the files of each dataset, the release file and its rules, never by name."""
    with work.step("Digesting what was read", len(release.datasets)) as step:
        for name in release.datasets:
            files = [file for path in list_source_files(release, name) for file in _open(path)]
            for number, file in enumerate(files, start=1):
                yield {
                    "what": "dataset",
                    "name": name,
                    "file": number,
                    "hmac": sign_file(key, file),
                }
            if not files:
                yield {"what": "dataset", "name": name, "file": None, "hmac": None}
            step.advance()
    yield {"what": "release file", "hmac": sign_file(key, release.path)}
    for number, path in enumerate(release.rules, start=1):
        yield {"what": "rules", "file": number, "hmac": sign_file(key, path)}


def _open(path: Path) -> list[Path]:
    """A file itself, or the files of a folder."""
    return list_published(path) if path.is_dir() else [path]
