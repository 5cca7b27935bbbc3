"""A release: its datasets, adversaries and limits in one file; checking it gives a verdict."""

from divulge.release.protected_release import ProtectedRelease
from divulge.release.release import Release
from divulge.release.release_file.draft_file import Draft, draft, write_draft
from divulge.release.release_file.schemas import release_schema, result_schema
from divulge.release.verdict import Verdict

__all__ = [
    "Draft",
    "ProtectedRelease",
    "Release",
    "Verdict",
    "draft",
    "release_schema",
    "result_schema",
    "write_draft",
]
