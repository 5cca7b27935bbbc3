"""A release: its datasets, adversaries and limits in one file; checking it gives a verdict."""

from divulge.release.release import Release
from divulge.release.schemas import release_schema, result_schema
from divulge.release.verdict import Verdict

__all__ = ["Release", "Verdict", "release_schema", "result_schema"]
