"""Reports: one HTML file that can be opened anywhere, and asks for nothing from outside.

This package can be called: `dv.report(verdict, "report.html")` is `divulge.report.report`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from divulge.report.editions.verification import verify_certificate
from divulge.report.report_file import report
from divulge.report.results import build_result, check_into, write_results

if TYPE_CHECKING:
    from divulge.protection import RiskUtilityMap
    from divulge.report.report_file import Edition, ReportSubject

__all__ = ["build_result", "check_into", "report", "verify_certificate", "write_results"]


class _CallablePackage(ModuleType):
    """The public call has the name of this floor of the house, so the package answers to it."""

    def __call__(
        self,
        found: ReportSubject,
        path: Path | str,
        overwrite: bool = False,
        *,
        frontier: RiskUtilityMap | Sequence[RiskUtilityMap] | None = None,
        edition: Edition = "internal",
        tell_parameters: bool = False,
    ) -> None:
        """Write a report."""
        report(
            found,
            path,
            overwrite,
            frontier=frontier,
            edition=edition,
            tell_parameters=tell_parameters,
        )


sys.modules[__name__].__class__ = _CallablePackage
