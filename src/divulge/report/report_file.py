"""The report of a result as one file, in the edition for people inside or outside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from divulge.report import page as pages
from divulge.report.editions.external_edition import external_page
from divulge.report.editions.public_facts import list_public_facts
from divulge.work import InvalidInput, Problem, whole_file

if TYPE_CHECKING:
    from divulge.protection import Protected, RiskUtilityMap
    from divulge.release import ProtectedRelease, Verdict

ReportSubject: TypeAlias = "Verdict | ProtectedRelease | Protected | RiskUtilityMap"
"""What a report can be written of."""
Edition: TypeAlias = Literal["internal", "external"]
"""For whom a report is: everything, or nothing that helps to undo a protection."""


def report(
    found: ReportSubject,
    path: Path | str,
    overwrite: bool = False,
    *,
    frontier: RiskUtilityMap | Sequence[RiskUtilityMap] | None = None,
    edition: Edition = "internal",
    tell_parameters: bool = False,
) -> None:
    """Write the report of a verdict, a protection or a map as one HTML file.

    It needs nothing outside.

    Args:
        found: a verdict, a protected release, protected records or a map.
        path: the file.
        overwrite: whether a file that exists is replaced.
        frontier: the map of other ways, or several; a section on its dataset shows those that are
            efficient.
        edition: for whom it is; the external one is of a verdict or a protected release.
        tell_parameters: whether the external edition tells what limits and rules allow.

    Raises:
        InvalidInput: if there is no external edition of the result.
    """
    if edition == "external":
        text = _write_external(found, tell_parameters=tell_parameters)
    else:
        text = _write_internal(found, frontier)
    with whole_file(path, overwrite) as part:
        part.write_text(text, encoding="utf-8")


def _write_internal(
    found: ReportSubject, frontier: RiskUtilityMap | Sequence[RiskUtilityMap] | None
) -> str:
    from divulge.protection import RiskUtilityMap
    from divulge.release import Verdict

    if isinstance(found, Verdict):
        return pages.page(found)
    if isinstance(found, RiskUtilityMap):
        return pages.map_page(found)
    return pages.protection_page(found, frontier)


def _write_external(found: ReportSubject, *, tell_parameters: bool) -> str:
    from divulge.release import ProtectedRelease, Verdict

    if not isinstance(found, Verdict | ProtectedRelease):
        message = "there is an external edition of a verdict and of a protected release only."
        raise InvalidInput("report", [Problem("edition", message)])
    return external_page(list_public_facts(found, tell_parameters=tell_parameters))
