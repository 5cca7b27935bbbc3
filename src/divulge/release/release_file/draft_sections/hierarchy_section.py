"""Hierarchies of a draft: proposed from the values, kept as files beside it that can be edited.

A table that somebody is to read and change is better a file than a line; so is a rule, once it is
written out for the values that occur. What is drafted is a tree: it is read again from the rows
that are written, as the release will read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from divulge.data import Hierarchy, propose_hierarchy
from divulge.release.release_file import tuning
from divulge.release.release_file.draft_sections.comments import comment_on
from divulge.release.release_file.draft_sections.dataset_draft import DatasetDraft
from divulge.release.release_file.toml_text import format_comment, format_key, format_value
from divulge.work import InvalidInput

_UNSAFE = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, kw_only=True)
class HierarchyDraft:
    """How one attribute may become coarser, why, and the file of its levels."""

    attribute: str
    hierarchy: Hierarchy
    reason: str
    file: str | None
    """Relative to the release file; none for a rule that is too long to be written out."""


def propose_hierarchies(
    draft: DatasetDraft, folder: str, taken: set[str]
) -> dict[str, HierarchyDraft]:
    """A hierarchy for each key of a dataset that has none, and for the items of its events.

    Args:
        draft: the dataset.
        folder: where their files will be, relative to the release file.
        taken: names of files that are given out already; those given out here are added.
    """
    if draft.kind.kind in ("totals", "crosstab"):
        return {}
    wanted = [*draft.keys]
    if draft.kind.kind == "histories" and draft.kind.item not in wanted:
        wanted.append(str(draft.kind.item))
    drafts = {}
    for attribute in wanted:
        if draft.dataset.dictionary[attribute].hierarchy is not None:
            continue
        try:
            proposal = propose_hierarchy(draft.dataset, attribute, topic=draft.topic_of(attribute))
        except InvalidInput:  # a single value, or values with nothing coarser
            continue
        column = draft.dataset.columns[attribute]
        is_rule = proposal.hierarchy.rule is not None
        if is_rule and len(column.values) > tuning.MOST_LEVEL_ROWS:
            drafts[attribute] = HierarchyDraft(
                attribute=attribute,
                hierarchy=proposal.hierarchy,
                reason=proposal.reason,
                file=None,
            )
            continue
        table = (
            proposal.hierarchy.over(column.values.to_pylist()) if is_rule else proposal.hierarchy
        )
        drafts[attribute] = HierarchyDraft(
            attribute=attribute,
            hierarchy=table,
            reason=proposal.reason,
            file=f"{folder}/{_find_file_name(draft.name, attribute, taken)}",
        )
    return drafts


def _find_file_name(dataset: str, attribute: str, taken: set[str]) -> str:
    """A name that every system takes, whatever the attribute is called."""
    stem = _UNSAFE.sub("_", f"{dataset}-{attribute}").strip("._") or "attribute"
    candidates = (stem, *(f"{stem}-{number}" for number in range(2, len(taken) + 3)))
    name = next(c for c in candidates if c.casefold() not in taken)
    taken.add(name.casefold())
    return f"{name}.csv"


def format_hierarchies(
    hierarchies: Mapping[str, HierarchyDraft], has_table: bool = False
) -> Iterator[str]:
    """The table of hierarchies of a dataset, each with its reason; or more lines of one."""
    if not hierarchies:
        return
    if not has_table:
        yield ""
        yield "[dataset.hierarchies]"
    yield comment_on("hierarchies")
    for attribute, each in hierarchies.items():
        yield format_comment(f"{format_value(attribute)}: {each.reason}")
        setting = each.file if each.file is not None else each.hierarchy.as_settings()
        yield f"{format_key(attribute)} = {format_value(setting)}"
