"""The files of a check: `result.json` for scripts and `report.html` for people, both or neither."""

from __future__ import annotations

import json
from pathlib import Path

from divulge import work
from divulge.release import Release, Verdict
from divulge.report.page import page
from divulge.work import Checkpoints, WholeFiles

RESULT = "result.json"
REPORT = "report.html"
CHECKPOINTS = ".divulge-checkpoints"


def check_into(release: Release, folder: Path | str) -> Verdict:
    """Check a release and write its results to a folder.

    A run that is killed leaves no half file; the next one takes up what it had counted.
    """
    folder = Path(folder)
    was_there = folder.exists()
    checkpoints = Checkpoints(folder / CHECKPOINTS)
    try:
        with work.under(checkpoints=checkpoints):
            verdict = release.check()
        write_results(verdict, folder)
    except work.InvalidInput:
        # What cannot be right next time either leaves nothing behind.
        checkpoints.clear()
        if not was_there and folder.exists() and not any(folder.iterdir()):
            folder.rmdir()
        raise
    checkpoints.clear()
    return verdict


def write_results(verdict: Verdict, folder: Path | str) -> None:
    """Write `result.json` and `report.html`."""
    with work.step("Writing the report"), WholeFiles(folder) as files:
        text = json.dumps(verdict.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        files.path(RESULT).write_text(text + "\n", encoding="utf-8")
        files.path(REPORT).write_text(page(verdict), encoding="utf-8")
