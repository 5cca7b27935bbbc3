"""Readers of a table of totals: who knows that everything adds up, and how cells were hidden."""

from __future__ import annotations

from collections.abc import Iterator

from divulge.release.release_file.draft_sections.comments import comment_on
from divulge.release.release_file.draft_sections.dataset_draft import DatasetDraft
from divulge.release.release_file.draft_sections.limits_section import (
    format_adversary,
    format_limit,
)
from divulge.release.release_file.draft_sections.profiles import Profile
from divulge.tables.plugin import draft_reader

READER = "reader"


def draft_table_adversaries(draft: DatasetDraft, profile: Profile, suffix: str) -> Iterator[str]:
    """Somebody who reads the table; where it holds amounts, nobody can say what is sensitive."""
    table = draft.kind.table
    assert table is not None  # noqa: S101  # what makes it a table
    if not table.is_count:
        yield ""
        yield comment_on("amounts", value=table.value)
        return
    settings = draft_reader(draft.name, table.by, table.value, table.totals, profile.cell)
    yield from format_adversary(
        READER + suffix,
        settings,
        comment_on("adversary.reader"),
        comment_on("cell", least=profile.cell, source=profile.cite_source("cell")),
    )
    yield from format_limit(
        {"adversary": READER + suffix, "measure": "deterministic.posterior", "at_most": 0},
        comment_on("no_cell_known"),
    )
