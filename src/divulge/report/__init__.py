"""Reports: one HTML file that can be opened anywhere, and asks for nothing from outside.

This package can be called: `dv.report(verdict, "report.html")` is `divulge.report.report`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from divulge.report.page import report
from divulge.report.results import build_result, check_into, write_results

if TYPE_CHECKING:
    from divulge.protection import RiskUtilityMap
    from divulge.report.page import ReportSubject

__all__ = ["build_result", "check_into", "report", "write_results"]


class _CallablePackage(ModuleType):
    """The public call has the name of this floor of the house, so the package answers to it."""

    def __call__(
        self,
        found: ReportSubject,
        path: Path | str,
        overwrite: bool = False,
        *,
        frontier: RiskUtilityMap | Sequence[RiskUtilityMap] | None = None,
    ) -> None:
        """Write a report."""
        report(found, path, overwrite, frontier=frontier)


sys.modules[__name__].__class__ = _CallablePackage
