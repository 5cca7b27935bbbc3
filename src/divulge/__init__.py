"""Before you publish, know what your release divulges, and fix it with the least damage.

The names here are loaded when they are first used, so that `import divulge` costs nothing:

>>> import divulge as dv
>>> pupils = dv.datasets.school_year_example()
>>> dv.records.attack(pupils, model="CRS", knows=["gender", "grade"]).deterministic.posterior
0.1
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from divulge import (
        assessment,
        data,
        datasets,
        events,
        protection,
        qif,
        reconstruction,
        records,
        release,
        rules,
        tables,
        work,
    )
    from divulge.assessment import Assessment, Chart, Decision, Limit
    from divulge.data import Dataset, Hierarchy, Relation, read, scan
    from divulge.qif import PriorPosterior
    from divulge.release import Release, Verdict
    from divulge.report import report
    from divulge.work import DivulgeError, InvalidInput

__version__ = "0.1.0"

# Where each public name lives; a package is its own home.
_HOMES = {
    "Assessment": "divulge.assessment",
    "Chart": "divulge.assessment",
    "Dataset": "divulge.data",
    "Decision": "divulge.assessment",
    "DivulgeError": "divulge.work",
    "Hierarchy": "divulge.data",
    "InvalidInput": "divulge.work",
    "Limit": "divulge.assessment",
    "PriorPosterior": "divulge.qif",
    "Relation": "divulge.data",
    "Release": "divulge.release",
    "Verdict": "divulge.release",
    "read": "divulge.data",
    "scan": "divulge.data",
}
_PACKAGES = (
    "assessment",
    "data",
    "datasets",
    "events",
    "protection",
    "qif",
    "reconstruction",
    "records",
    "release",
    "report",
    "rules",
    "tables",
    "work",
)

__all__ = [
    "Assessment",
    "Chart",
    "Dataset",
    "Decision",
    "DivulgeError",
    "Hierarchy",
    "InvalidInput",
    "Limit",
    "PriorPosterior",
    "Relation",
    "Release",
    "Verdict",
    "assessment",
    "data",
    "datasets",
    "events",
    "protection",
    "qif",
    "read",
    "reconstruction",
    "records",
    "release",
    "report",
    "rules",
    "scan",
    "tables",
    "work",
]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"divulge.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'divulge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
