"""A protected dataset in sentences: what was done, what it costs, and what an attack finds now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Sentence

if TYPE_CHECKING:
    from divulge.protection.changes.decision_log import Change
    from divulge.protection.result.protected import Protected


def describe_protected(protected: Protected) -> tuple[Sentence, ...]:
    """What was done, and what an attack finds now."""
    changed = [c.records for c in protected.decisions.changes if c.kind == "suppressed"]
    values: dict[str, Any] = {
        "cells": protected.suppressed_cells,
        "all_cells": protected.original.rows * len(protected.among),
        "records": int(np.unique(np.concatenate([np.empty(0, int), *changed])).size),
        "total": protected.original.rows,
        "subjects": protected.original.subjects,
        "rule": protected.rule,
        "removed": protected.removed,
        "bound": protected.bound,
        "proved": int(protected.cost <= protected.bound and not protected.decoy_cells),
        "alone": protected.alone()["bayes"],
        "alone_before": protected.frequencies[0].others["bayes"],
        "k": protected.k,
        "short": protected.short,
        "undone": protected.undone,
    }
    sentences = [*protected.notes]
    if protected.undone:
        sentences.append(_build_sentence("undone", values))
    elif protected.suppressed_cells or not (protected.notes or protected.removed):
        sentences.append(_build_sentence("cells", values))
    sentences += _describe_limit(protected)
    sentences += [failure.sentence for failure in protected.unobeyed]
    if protected.flatters:
        sentences.append(_build_sentence("flatters", values))
    if protected.determined or protected.dropped:
        sentences += _describe_resistance(protected)
    if protected.bound and protected.suppressed_cells:
        sentences.append(_build_sentence("bound", values))
    sentences += _describe_removals(protected)
    sentences += _describe_method(protected)
    if len(protected.decisions) and not protected.flatters:
        sentences.append(_build_sentence("attacked_again", values))
    return tuple(sentences)


def _describe_limit(protected: Protected) -> list[Sentence]:
    """That more records were suppressed or removed than recoding was to leave."""
    changed, rows = protected.changed_records, protected.original.rows
    if not protected.leaves_few or changed <= protected.suppression_limit * rows:
        return []
    values = {
        "changed": changed,
        "total": rows,
        "share": changed / rows,
        "limit": protected.suppression_limit,
        "subjects": protected.original.subjects,
    }
    return [_build_sentence("exceeded", values)]


def _describe_removals(protected: Protected) -> list[Sentence]:
    """How many records were removed because a rule says so, for what refills them, and for else."""
    refilled = str(Sentence("divulge.protection", "reason.refilled"))
    removals = [each for each in protected.decisions.changes if each.kind == "removed"]
    counts = {
        "removed_by_rules": _count_records(c for c in removals if c.origin == "directive"),
        "removed_refilled": _count_records(c for c in removals if c.reason == refilled),
    }
    if protected.proof is None:  # of which the sentence is another
        key = "removed_spared" if protected.determined else "removed"
        counts[key] = protected.removed - sum(counts.values())
    return [_build_sentence(key, {"removed": n}) for key, n in counts.items() if n > 0]


def _count_records(changes: Iterable[Change]) -> int:
    records = [change.records for change in changes]
    return int(np.unique(np.concatenate(records)).size) if records else 0


def _describe_method(protected: Protected) -> list[Sentence]:
    """What the method gives away, and what decoys change in that for which price."""
    sentences = [] if protected.method is None else list(protected.method.sentences())
    remaining, needed = protected.method_on_needed, protected.needed
    if remaining is not None and needed is not None and needed.method is not None:
        before = needed.method.figures
        values = {
            "decoys": protected.decoy_cells,
            "needed": needed.suppressed_cells,
            "wanted": round(protected.decoys * needed.suppressed_cells),
            "loss": protected.loss,
            "loss_before": needed.loss,
            "right_before": before.right,
            "base_before": before.base,
            "right": remaining.excluding,
        }
        sentences.append(_build_sentence("decoys.price", values))
        if protected.decoy_cells:
            sentences.append(_build_sentence("decoys.remaining", values))
        if 0 < protected.decoy_cells < values["wanted"]:
            sentences.append(_build_sentence("decoys.fewer", values))
    return sentences


def _describe_resistance(protected: Protected) -> list[Sentence]:
    """What was not hidden because other columns tell it, and what that costs."""
    sentences = [
        _build_sentence("resistance.dropped", {"column": name, "attributes": attributes})
        for name, attributes in protected.dropped.items()
    ]
    for name, columns in protected.determined.items():
        key = "recoded" if name in protected.levels else "determined"
        sentences.append(
            _build_sentence(f"resistance.{key}", {"attribute": name, "columns": columns})
        )
    if protected.naive_cells is not None:
        cells = {"naive": protected.naive_cells, "cells": protected.suppressed_cells}
        sentences.append(_build_sentence("resistance.price", cells))
    return sentences


def _build_sentence(key: str, values: Mapping[str, Any]) -> Sentence:
    return Sentence("divulge.protection", key, values)
