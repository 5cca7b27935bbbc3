"""What a protection changed, in numbers: by attribute, and by reason; no record by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from divulge.assessment import Sentence
from divulge.assessment.sentence import format_number, format_percent, read_phrases
from divulge.protection.result.recoding_summary import count_coarser_cells, find_height

if TYPE_CHECKING:
    from divulge.protection.result.protected import Protected

CATALOGUE = "divulge.protection"
Rows = Sequence[tuple[str, ...]]


def read_change_heads() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The headings of changes by attribute, and of changes by reason."""
    by_attribute = read_phrases(CATALOGUE, "changes.by_attribute")
    return by_attribute, read_phrases(CATALOGUE, "changes.by_reason")


def list_changes_by_attribute(protected: Protected) -> Rows:
    """By attribute: its level, and how many cells are suppressed and coarser."""
    rows = max(1, protected.original.rows)
    suppressed = dict.fromkeys(protected.among, 0)
    for change in protected.decisions.changes:
        if change.kind == "suppressed" and change.attribute is not None:
            suppressed[change.attribute] = suppressed.get(change.attribute, 0) + len(change.records)
    lines = []
    for name, cells in suppressed.items():
        coarser = count_coarser_cells(protected, name)
        level, height = protected.levels.get(name, 0), find_height(protected, name)
        said = str(Sentence(CATALOGUE, "changes.level", {"level": level, "height": height}))
        lines.append(
            (
                name,
                said if height else "",
                format_number(cells),
                format_percent(cells / rows),
                format_number(coarser),
                format_percent(coarser / rows),
            )
        )
    return lines


def list_changes_of_figures(protected: Protected) -> Rows:
    """By attribute: how far its shares moved, and its mean before and after where it has one."""
    utility = protected.utility
    names = dict.fromkeys((*utility.distribution_shift, *utility.means))
    lines = []
    for name in names:
        shift = utility.distribution_shift.get(name)
        moved = "" if shift is None else format_percent(shift)
        means = utility.means.get(name, (None, None))
        lines.append((name, moved, *("" if m is None else format_number(m) for m in means)))
    return lines


def list_changes_by_reason(protected: Protected) -> Rows:
    """By kind of change and the rule that asked for it: how many cells or records."""
    counts: dict[tuple[str, str], int] = {}
    for change in protected.decisions.changes:
        key = change.kind, change.rule
        size = protected.original.rows if change.whole_column else len(change.records)
        counts[key] = counts.get(key, 0) + size
    return [
        (str(Sentence(CATALOGUE, f"changes.kind.{kind}")), rule, format_number(count))
        for (kind, rule), count in sorted(counts.items(), key=lambda each: -each[1])
    ]
