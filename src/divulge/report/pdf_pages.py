"""Pages as PDF, by a headless Chromium where there is one.

The pages are laid out for paper themselves, so whoever has no Chromium prints them from a browser.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from divulge import work
from divulge.assessment import Sentence
from divulge.release.output.output_files import RELEASE
from divulge.report import tuning
from divulge.work import DivulgeError, filesystem

CATALOGUE = "divulge.report"
VARIABLE = "CHROMIUM"
"""The variable of the environment that names a Chromium."""
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")


class PageNotPrinted(DivulgeError):
    """A page could not be made a PDF."""


def find_chromium() -> str | None:
    """The program that prints; None if there is none."""
    named = os.environ.get(VARIABLE)
    if named:
        return shutil.which(named)
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


def print_pages(folder: Path) -> Iterator[Sentence]:
    """Put a PDF beside each page of a folder of results; says which could not be made, and why."""
    program = find_chromium()
    if program is None:
        yield Sentence(CATALOGUE, "print.no_program")
        return
    pages = [
        path
        for path in sorted(folder.rglob("*.html"))
        if path.relative_to(folder).parts[0] != RELEASE  # which is of users' data alone
    ]
    with work.step("Printing the pages", len(pages)) as step:
        for page in pages:
            try:
                content = print_page(page.read_text(encoding="utf-8"), program)
                filesystem.write_bytes(page.with_suffix(".pdf"), content)
            except PageNotPrinted as problem:
                values = {"page": page.name, "reason": str(problem)}
                yield Sentence(CATALOGUE, "print.failed", values)
            step.advance()


def print_page(text: str, program: str) -> bytes:
    """A page of ours as PDF, with everything unfolded.

    Raises:
        PageNotPrinted: if the program fails, or takes longer than any page needs.
    """
    with tempfile.TemporaryDirectory(prefix="divulge-print-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        page, target = folder / "page.html", folder / "page.pdf"
        page.write_text(text.replace("<details>", "<details open>"), encoding="utf-8")
        line = [
            program,
            "--headless",
            "--disable-gpu",
            "--disable-background-networking",
            "--no-first-run",
            "--no-pdf-header-footer",
            f"--user-data-dir={folder / 'profile'}",
            f"--print-to-pdf={target}",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),  # it refuses to be root's otherwise
            page.as_uri(),
        ]
        try:
            subprocess.run(  # noqa: S603  # a browser that the user has installed or named
                line,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=tuning.PRINT_SECONDS,
                check=True,
            )
            return target.read_bytes()
        except subprocess.TimeoutExpired:
            message = "printing took too long."
        except (subprocess.CalledProcessError, OSError):
            message = "the browser could not print it."
        raise PageNotPrinted(message)
