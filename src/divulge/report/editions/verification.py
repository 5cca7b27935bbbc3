"""A certificate held against files: are these the files that it speaks of, and was it changed?"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from divulge.assessment import Sentence
from divulge.report.editions.certificate import FORMAT, SEAL, compute_seal, list_published
from divulge.report.editions.certificate_key import digest_file, read_certificate_key, sign_file
from divulge.work import InvalidInput, Problem, input_file

CATALOGUE = "divulge.report"
LONGEST_CERTIFICATE = 10_000_000
"""Bytes; one of thousands of files has less."""

FileFinding: TypeAlias = Literal[
    "same", "differs", "missing", "extra", "unknown", "broken", "sealed"
]


@dataclass(frozen=True)
class FileComparison:
    """One thing that was held against a certificate."""

    subject: str
    finding: FileFinding

    @property
    def holds(self) -> bool:
        """Whether it is as the certificate says."""
        return self.finding in ("same", "sealed")

    @property
    def sentence(self) -> Sentence:
        """What was found, in words."""
        return Sentence(CATALOGUE, f"verify.{self.finding}", {"subject": self.subject})


@dataclass(frozen=True)
class Verification:
    """What a certificate says, and whether files are those that it speaks of."""

    certificate: dict[str, Any]
    comparisons: Sequence[FileComparison]
    has_key: bool

    @property
    def status(self) -> Literal["pass", "fail", "not judged"]:
        """Whether all that was compared is as the certificate says; not judged if nothing was."""
        if not self.comparisons:
            return "not judged"
        return "pass" if all(each.holds for each in self.comparisons) else "fail"

    def sentences(self) -> list[Sentence]:
        """What was found, and what was not looked at."""
        values = {"title": self.certificate["title"], "made": self.certificate["made"]}
        said = [Sentence(CATALOGUE, f"verify.verdict.{self.certificate['status']}", values)]
        said += [each.sentence for each in self.comparisons]
        if not self.has_key:
            said.append(Sentence(CATALOGUE, "verify.without_key"))
        said.append(Sentence(CATALOGUE, f"verify.all.{self.status}"))
        return said

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "status": self.status,
            "verdict": self.certificate["status"],
            "comparisons": [
                {"subject": each.subject, "finding": each.finding} for each in self.comparisons
            ],
            "sentences": [sentence.render() for sentence in self.sentences()],
        }

    def __str__(self) -> str:
        return "\n".join(map(str, self.sentences()))


def verify_certificate(
    certificate: Path | str,
    release: Path | str | None = None,
    originals: Sequence[Path | str] = (),
    key: Path | str | None = None,
) -> Verification:
    """Hold a certificate against the files that it speaks of.

    Args:
        certificate: the file `certificate.json`.
        release: the folder of what was published: it must hold the files of the certificate, as
            they were, and no other.
        originals: files that were read: sources, the release file, rules. They need the key.
        key: the file `certificate-key.json`, which the owner of the data keeps.

    Raises:
        InvalidInput: if the file is no certificate, the key none, or originals are given without.
    """
    read = read_certificate(Path(certificate))
    if originals and key is None:
        message = "originals are digested with a key; name the file of the key."
        raise InvalidInput(str(certificate), [Problem("key", message)])
    comparisons: list[FileComparison] = []
    if key is not None:
        secret = read_certificate_key(input_file(Path(key)))
        is_sealed = hmac.compare_digest(read[SEAL], compute_seal(read, secret))
        comparisons.append(FileComparison(str(certificate), "sealed" if is_sealed else "broken"))
        comparisons += _compare_originals(read, originals, secret)
    if release is not None:
        comparisons += _compare_release(read, Path(release))
    return Verification(read, comparisons, key is not None)


def read_certificate(path: Path) -> dict[str, Any]:
    """A certificate out of its file.

    Raises:
        InvalidInput: if it is none, or one that this version does not read.
    """
    file = input_file(path)
    try:
        is_short = file.stat().st_size <= LONGEST_CERTIFICATE
        content = json.loads(file.read_text(encoding="utf-8")) if is_short else None
    except (ValueError, RecursionError):
        content = None
    if not _is_certificate(content):
        message = f'is not a certificate that this version reads ("{FORMAT}"), as a JSON file.'
        raise InvalidInput(str(path), [Problem("certificate", message)])
    assert isinstance(content, dict)  # noqa: S101  # as was just seen
    return content


def _is_certificate(content: Any) -> bool:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        return False
    texts = all(isinstance(content.get(name), str) for name in ("title", "made", SEAL))
    is_known = content.get("status") in ("pass", "fail", "not judged")
    files, read = content.get("release"), content.get("read")
    return (
        texts
        and is_known
        and isinstance(files, list)
        and isinstance(read, list)
        and all(_has_texts(each, "file", "sha256") for each in files)
        and all(isinstance(each, dict) for each in read)
    )


def _has_texts(entry: Any, *names: str) -> bool:
    return isinstance(entry, dict) and all(isinstance(entry.get(name), str) for name in names)


def _compare_release(certificate: dict[str, Any], folder: Path) -> Iterator[FileComparison]:
    """Every file of the certificate, and every file of the folder."""
    if not folder.is_dir():
        raise InvalidInput(str(folder), [Problem("release", "is not a folder.")])
    digests = {each["file"]: each["sha256"] for each in certificate["release"]}
    there = {path.relative_to(folder).as_posix(): path for path in list_published(folder)}
    for name, digest in digests.items():
        path = there.pop(name, None)
        if path is None or not path.is_file():
            yield FileComparison(name, "missing")
        else:
            yield FileComparison(name, "same" if digest_file(path) == digest else "differs")
    for name in there:
        yield FileComparison(name, "extra")


def _compare_originals(
    certificate: dict[str, Any], originals: Sequence[Path | str], key: bytes
) -> Iterator[FileComparison]:
    """Whether each file is one of those that were read."""
    signed = {each.get("hmac") for each in certificate["read"]} - {None}
    for path in originals:
        is_known = sign_file(key, input_file(Path(path))) in signed
        yield FileComparison(str(path), "same" if is_known else "unknown")
