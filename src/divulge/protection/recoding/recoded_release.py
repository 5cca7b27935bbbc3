"""What levels make of a dataset: the recoded records, and a decision for every change.

Each level is explained by the one below it: how many records would have to be removed there, or
what would be lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from divulge.assessment import Sentence
from divulge.data import Dataset
from divulge.protection.changes.changes import drop_records, value_at
from divulge.protection.changes.decision_log import Change
from divulge.protection.changes.recodings import (
    apply_recoding,
    coarsen_to_levels,
    drop_unfitting_labels,
)
from divulge.protection.recoding.evaluation import LevelEvaluator, LevelOutcome
from divulge.work.arrays import Ints

LevelChoice: TypeAlias = Literal["loss", "score", "person"]


@dataclass(frozen=True, kw_only=True)
class RecodedRelease:
    """Recoded records, and the decisions that made them."""

    dataset: Dataset
    changes: tuple[Change, ...]
    levels: dict[str, int]
    """Of the attributes that became coarser."""


def build_recoded_release(
    original: Dataset,
    evaluator: LevelEvaluator,
    outcome: LevelOutcome,
    removed: Ints,
    *,
    rule: str,
    chosen_by: LevelChoice = "loss",
) -> RecodedRelease:
    """The records at some levels, without those that are removed.

    `chosen_by` says by what the levels were chosen: what cells cost, another utility, or a person.
    """
    names = evaluator.lattice.names
    levels = {n: level for n, level in zip(names, outcome.levels, strict=True) if level}
    coarse = coarsen_to_levels(original, levels)
    described = coarse
    for name, level in levels.items():
        described = apply_recoding(
            replace(original, columns=coarse.columns, dictionary=described.dictionary),
            name,
            coarse.columns[name],
            level,
        )
    changes = []
    for name in levels:
        finer = _step_down(evaluator, outcome, name)
        reason = explain_level(evaluator, outcome, finer, name, chosen_by=chosen_by)
        changes.append(
            _build_recoding(
                original, coarse, name, evaluator, (outcome, finer), rule=rule, reason=str(reason)
            )
        )
    if removed.size:
        changes.append(_build_removal(removed, names, rule))
    released = drop_records(described, removed) if removed.size else described
    return RecodedRelease(
        dataset=drop_unfitting_labels(released, original), changes=tuple(changes), levels=levels
    )


def _build_recoding(
    original: Dataset,
    coarse: Dataset,
    name: str,
    evaluator: LevelEvaluator,
    outcomes: tuple[LevelOutcome, LevelOutcome],
    *,
    rule: str,
    reason: str,
) -> Change:
    """A column at its level; `outcomes` are those of the levels, and of the one below it."""
    old, new = original.columns[name], coarse.columns[name]
    first = np.zeros(old.cardinality, np.int64)
    first[old.codes[::-1]] = np.arange(len(old.codes) - 1, -1, -1)
    counts = np.bincount(old.codes, minlength=len(old.values) + 1)
    outcome, finer = outcomes
    records = evaluator.lattice.records
    return Change(
        kind="recoded",
        attribute=name,
        records=np.empty(0, np.int64),
        was=tuple(old.values.to_pylist()),
        became=tuple(value_at(new, int(first[code])) for code in range(len(old.values))),
        rule=rule,
        reason=reason,
        before=np.array([finer.removed_records / records]),
        after=np.array([outcome.removed_records / records]),
        company=counts[: len(old.values)],
        among=evaluator.lattice.names,
        whole_column=True,
    )


def _step_down(evaluator: LevelEvaluator, outcome: LevelOutcome, name: str) -> LevelOutcome:
    place = evaluator.lattice.names.index(name)
    levels = outcome.levels
    return evaluator.evaluate((*levels[:place], levels[place] - 1, *levels[place + 1 :]))


def explain_level(
    evaluator: LevelEvaluator,
    outcome: LevelOutcome,
    finer: LevelOutcome,
    name: str,
    *,
    chosen_by: LevelChoice = "loss",
) -> Sentence:
    """Why an attribute is not a level finer, all others being as they are."""
    values = {
        "level": finer.levels[evaluator.lattice.names.index(name)],
        "removed": finer.removed_records,
        "most": evaluator.most_removed,
        "loss": finer.loss,
        "chosen": outcome.loss,
    }
    if chosen_by == "person":
        key = "reason.level_chosen"
    elif not evaluator.is_allowed(finer):
        key = "reason.level_removed"
    elif chosen_by == "score":
        key = "reason.level_score"
    elif finer.loss >= outcome.loss:
        key = "reason.level_loss"
    else:
        key = "reason.level_limits"
    return Sentence("divulge.protection", key, values)


def _build_removal(removed: Ints, names: Sequence[str], rule: str) -> Change:
    none = np.zeros(removed.size)
    return Change(
        kind="removed",
        attribute=None,
        records=removed,
        was=(),
        became=(),
        rule=rule,
        reason=str(Sentence("divulge.protection", "reason.class_removed")),
        before=none + 1.0,
        after=none,
        company=np.zeros(removed.size, np.int64),
        among=tuple(names),
    )
