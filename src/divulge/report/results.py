"""The files of a check: `result.json` for scripts and pages for people, all or none of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from divulge import work
from divulge.release import Release, Verdict
from divulge.release.output.output_files import INTERNAL, list_inputs
from divulge.release.overview.exposure import find_exposure
from divulge.release.overview.next_step import NextStep, find_next_steps
from divulge.report.editions.edition_files import find_certificate_key, write_editions
from divulge.report.page import page
from divulge.work import AtomicFiles, Checkpoints, OutputFolder

FOLDER_KIND = "the results of a check"
RESULT = "result.json"
REPORT = "report.html"


def check_into(
    release: Release,
    folder: Path | str,
    overwrite: bool = False,
    *,
    tell_parameters: bool = False,
    also: Callable[[Path], None] | None = None,
) -> Verdict:
    """Check a release and write its results to a folder: result, report, and editions.

    What limits and rules allow stands in the editions for people outside only if parameters are
    told. `also` writes something more into the folder before it appears, such as PDF.

    The folder is new, empty, or holds the results of an earlier check, which are replaced at once
    (if somebody has changed them: only with `overwrite`). A run that is interrupted leaves no half
    file; the next one takes up what it had counted.
    """
    inputs = list_inputs(release)
    place = OutputFolder(Path(folder), FOLDER_KIND, overwrite, private=(INTERNAL,), inputs=inputs)
    with place.held():
        key = find_certificate_key(place.folder)
        checkpoints = Checkpoints(place.checkpoints)
        try:
            with work.run_with(checkpoints=checkpoints):
                verdict = release.check()
        except work.InvalidInput:
            # What cannot be right next time either leaves nothing behind.
            checkpoints.clear()
            raise

        def fill_folder(new: Path) -> None:
            write_results(verdict, new)
            write_editions(verdict, new, key, tell_parameters=tell_parameters)
            if also is not None:
                also(new)

        place.write(fill_folder)
    return verdict


def write_results(verdict: Verdict, folder: Path | str, overwrite: bool = False) -> None:
    """Write `result.json` and `report.html`."""
    with work.step("Writing the report"), AtomicFiles(folder, overwrite) as files:
        steps = find_next_steps(verdict)
        result = build_result(verdict, steps)
        text = json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False)
        files.path(RESULT).write_text(text + "\n", encoding="utf-8")
        files.path(REPORT).write_text(page(verdict, steps), encoding="utf-8")


def build_result(verdict: Verdict, steps: Sequence[NextStep] | None = None) -> dict[str, Any]:
    """What `result.json` holds: the verdict, what to do next, and who bears the risk."""
    steps = find_next_steps(verdict) if steps is None else steps
    found = {each.adversary: find_exposure(verdict, each) for each in verdict.assessments}
    exposure = {name: each.to_dict() for name, each in found.items() if each is not None}
    next_steps = [step.to_dict() for step in steps]
    return {**verdict.to_dict(), "next_steps": next_steps, "exposure": exposure}
