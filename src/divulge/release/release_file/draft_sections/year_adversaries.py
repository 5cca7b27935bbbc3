"""Adversaries of several files: who follows people through the years, or has two files of them.

They are drafted as comments: an adversary who links files by an id makes that id be published, as a
pseudonym. Without it the files go out unlinked, which is what a first draft should do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from divulge.data.proposals.file_relations import FileRelation
from divulge.records.plugin.longitudinal_attack import draft_years_adversary
from divulge.release.release_file import tuning
from divulge.release.release_file.draft_sections.comments import comment_on
from divulge.release.release_file.draft_sections.dataset_draft import DatasetDraft
from divulge.release.release_file.draft_sections.limits_section import (
    format_adversary,
    format_limit,
)
from divulge.release.release_file.draft_sections.profiles import Profile

NAMES = {"years": "archivist", "joint": "collector"}


def draft_year_adversaries(
    relations: Sequence[FileRelation], drafts: Mapping[str, DatasetDraft], profile: Profile
) -> Iterator[str]:
    """Whoever has all files of the same people, and knows what keys these have in common."""
    counts: dict[str, int] = {}
    for relation in relations:
        first = drafts[relation.names[0]]
        shared = [
            key
            for key in first.keys
            if all(key in drafts[name].keys for name in relation.names[1:])
        ] or first.keys
        if not shared or any(drafts[n].kind.kind == "histories" for n in relation.names):
            continue
        counts[relation.kind] = counts.get(relation.kind, 0) + 1
        number = counts[relation.kind]
        name = NAMES[relation.kind] + (f" {number}" if number > 1 else "")
        knows = shared[: tuning.MOST_KEYS]
        yield ""
        yield comment_on("related", reason=relation.reason, on=relation.on)
        yield from _format_as_comments(
            [
                *format_adversary(
                    name,
                    draft_years_adversary(relation.names, relation.on, knows),
                    comment_on(f"adversary.{NAMES[relation.kind]}"),
                ),
                *format_limit(
                    {
                        "adversary": name,
                        "measure": "deterministic.posterior",
                        "at_most": profile.certain,
                    },
                    comment_on("certain", source=profile.cite_source("certain")),
                ),
            ]
        )


def _format_as_comments(lines: Iterable[str]) -> Iterator[str]:
    """Tables that are taken up by removing the first letter of each line."""
    for line in lines:
        for part in line.split("\n"):
            if part:
                yield part if part.startswith("#") else f"# {part}"
