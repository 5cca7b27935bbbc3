"""What recoding did: how coarse each attribute is, why it is no finer, and what that loses.

One for a protected dataset, for the report and for whoever asks: by attribute a level or a number
of coarser cells, the loss, and the reason; and what is known of other levels (a proof, a bound, or
how many ways were tried).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Chart, Sentence
from divulge.assessment.sentence import format_number, read_phrases
from divulge.data.value_texts import match_value_texts
from divulge.protection.changes.changes import select_records
from divulge.protection.result.cell_utility import compute_attribute_loss
from divulge.protection.result.charts import draw_attribute_losses

if TYPE_CHECKING:
    from divulge.protection.result.protected import Protected

CATALOGUE = "divulge.protection"


@dataclass(frozen=True, kw_only=True)
class RecodedAttribute:
    """One attribute after recoding."""

    name: str
    level: int
    """The level that all records were recoded to; 0 where none was, or single records were."""
    height: int
    coarser: int
    """How many released cells show a coarser value."""
    loss: float
    """What it lost in all, hidden cells and removed records included (0 to 1)."""
    reason: str
    """Why it is not a level finer, where all records are alike."""


@dataclass(frozen=True, kw_only=True)
class RecodingSummary:
    """How coarse a protection made each attribute, and why."""

    attributes: tuple[RecodedAttribute, ...]
    notes: tuple[Sentence, ...]
    """What was searched, and what is proven of it."""
    loss: float
    """The mean loss of all attributes in question; before it was 0."""

    def sentences(self) -> tuple[Sentence, ...]:
        """What was lost, and what is known of other ways."""
        recoded = [each.name for each in self.attributes if each.coarser]
        values = {
            "loss": self.loss,
            "attributes": recoded,
            "coarser": len(recoded),
            "count": len(self.attributes),
        }
        return (Sentence(CATALOGUE, "recoding.summary", values), *self.notes)

    def rows(self) -> Sequence[tuple[str, ...]]:
        """By attribute: its level, coarser cells, loss and reason."""
        return [
            (
                each.name,
                _describe_level(each),
                format_number(each.coarser),
                format_number(each.loss),
                each.reason,
            )
            for each in self.attributes
        ]

    def chart(self) -> Chart:
        """What each attribute lost."""
        return draw_attribute_losses({each.name: each.loss for each in self.attributes})

    def to_dict(self) -> dict[str, Any]:
        """All figures and sentences as plain values; no value of a record."""
        return {
            "loss": self.loss,
            "attributes": [
                {
                    "name": each.name,
                    "level": each.level,
                    "height": each.height,
                    "coarser_cells": each.coarser,
                    "loss": each.loss,
                    "reason": each.reason,
                }
                for each in self.attributes
            ],
            "sentences": [sentence.render() for sentence in self.sentences()],
        }


def read_summary_head() -> tuple[str, ...]:
    """The headings of its rows."""
    return read_phrases(CATALOGUE, "recoding.head")


def build_summary(protected: Protected) -> RecodingSummary | None:
    """The summary of a protection; None if nothing was made coarser."""
    changes = [c for c in protected.decisions.changes if c.kind == "recoded"]
    if not changes:
        return None
    reasons = {
        change.attribute: change.reason
        for change in changes
        if change.whole_column and change.attribute in protected.levels
    }
    attributes = tuple(
        RecodedAttribute(
            name=name,
            level=protected.levels.get(name, 0),
            height=find_height(protected, name),
            coarser=count_coarser_cells(protected, name),
            loss=compute_attribute_loss(
                protected.original, protected.dataset, protected.kept, name
            ),
            reason=reasons.get(name, ""),
        )
        for name in protected.among
    )
    notes = tuple(note for note in protected.notes if not note.key.startswith("recoded."))
    return RecodingSummary(attributes=attributes, notes=notes, loss=protected.loss)


def find_height(protected: Protected, name: str) -> int:
    """How many levels the hierarchy of an attribute has; 0 without one."""
    hierarchy = protected.original.dictionary[name].hierarchy
    return 0 if hierarchy is None else hierarchy.height


def count_coarser_cells(protected: Protected, name: str) -> int:
    """How many released cells show another text than the original has."""
    kept = select_records(protected.original, protected.kept)
    before, after = kept.columns[name], protected.dataset.columns[name]
    texts, released_texts = match_value_texts(before, after)
    place_of = {text: code for code, text in enumerate(released_texts)}
    same = np.array([place_of.get(text, -1) for text in texts] + [-1], np.int64)
    shown = (after.codes != after.missing_code) & (before.codes != before.missing_code)
    return int(np.count_nonzero(shown & (same[before.codes] != after.codes)))


def _describe_level(attribute: RecodedAttribute) -> str:
    values = {"level": attribute.level, "height": attribute.height}
    key = "single" if attribute.coarser else "none"
    if attribute.level:
        key = "all"
    return str(Sentence(CATALOGUE, f"recoding.level.{key}", values))
