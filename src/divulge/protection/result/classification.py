"""Classification: how well an attribute is predicted from the others, before and after.

Naive Bayes from the quasi-identifiers, fitted on nine tenths of the records as they were and as
they are released, and asked about the last tenth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from divulge.data import Column, Dataset
from divulge.data.value_texts import format_value
from divulge.protection import tuning
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Bools, Floats, Ints

_UNKNOWN = -1
"""The label of a record that shows none."""


@dataclass(frozen=True, kw_only=True)
class ModelComparison:
    """How often models are right on records that they have not seen."""

    target: str
    before: float
    after: float
    baseline: float
    """By always guessing the most frequent value."""


def compare_models(
    original: Dataset, released: Dataset, kept: Ints, among: Sequence[str], target: str | None
) -> ModelComparison | None:
    """Fit a model before and after, and ask both about the same records; None without a target.

    A coarser value is learnt as what it is, and asked for as what the original's value became. A
    removed record is asked about with nothing known of it. A target that is itself made coarser is
    told rightly only where the prediction is the value that it was.

    Raises:
        InvalidInput: if the target that was named cannot be one.
    """
    target = _find_target(original) if target is None else _check_target(original, target)
    if target is None:
        return None
    labels = _list_labels(original.columns[target], original.columns[target])
    labels_after = np.full(original.rows, _UNKNOWN, np.int64)
    if target in released.columns:
        labels_after[kept] = _list_labels(original.columns[target], released.columns[target])
    is_asked = _hold_out(original.rows) & (labels != _UNKNOWN)
    predictors = [name for name in among if name != target]
    kinds = len(original.columns[target].values)
    everybody = np.arange(original.rows)
    before = [_spread_codes(original.columns[n], everybody, original.rows) for n in predictors]
    after = [_spread_codes(released.columns[n], kept, original.rows) for n in predictors]
    learnt = labels[~_hold_out(original.rows) & (labels != _UNKNOWN)]
    most_frequent = int(np.bincount(learnt, minlength=kinds).argmax())
    return ModelComparison(
        target=target,
        before=_score_model(before, labels, labels, kinds, is_asked=is_asked),
        after=_score_model(after, labels_after, labels, kinds, is_asked=is_asked),
        baseline=float((labels[is_asked] == most_frequent).mean()) if is_asked.any() else 0.0,
    )


def _find_target(original: Dataset) -> str | None:
    """The first sensitive attribute, or else one that does not identify, with few values."""
    dictionary = original.dictionary
    targets = [*dictionary.having("sensitive"), *dictionary.having("non_identifying")]
    fitting = [name for name in targets if _describe_unfit(original, name) is None]
    return fitting[0] if fitting else None


def _check_target(original: Dataset, target: str) -> str:
    [target] = original.attributes(target, "target")
    message = _describe_unfit(original, target)
    if message is not None:
        raise InvalidInput(f'utility of "{original.name}"', [Problem("target", message)])
    return target


def _describe_unfit(original: Dataset, name: str) -> str | None:
    """Why an attribute cannot be predicted; None if it can."""
    values = len(original.columns[name].values)
    if not 2 <= values <= tuning.MOST_TARGET_VALUES:
        return (
            f'"{name}" has {values:,} values; a model is fitted to 2 to '
            f"{tuning.MOST_TARGET_VALUES}: make the attribute coarser."
        )
    if original.rows < tuning.FEWEST_MODEL_RECORDS:
        return (
            f"{original.rows:,} records are too few to fit a model; it takes "
            f"{tuning.FEWEST_MODEL_RECORDS}."
        )
    return None


def _hold_out(rows: int) -> Bools:
    """The records that nothing is learnt from."""
    held_out: Bools = np.arange(rows) % tuning.HELD_OUT_STEP == 0
    return held_out


def _list_labels(before: Column, column: Column) -> Ints:
    """Of each record, which of the original values it shows; unknown if none of them."""
    number = {format_value(value): code for code, value in enumerate(before.values.to_pylist())}
    texts = map(format_value, column.values.to_pylist())
    label_of_code = np.array([*(number.get(text, _UNKNOWN) for text in texts), _UNKNOWN], np.int64)
    labels: Ints = label_of_code[column.codes]
    return labels


def _spread_codes(column: Column, kept: Ints, rows: int) -> tuple[Ints, int]:
    """The codes of all original records; one that was removed shows nothing."""
    codes = np.full(rows, column.missing_code, np.int64)
    codes[kept] = column.codes
    return codes, len(column.values)


def _score_model(
    columns: Sequence[tuple[Ints, int]],
    labels: Ints,
    truth: Ints,
    kinds: int,
    *,
    is_asked: Bools,
) -> float:
    """Fit naive Bayes to the labels that are known; the share that it tells rightly."""
    is_learnt = ~_hold_out(labels.size) & (labels != _UNKNOWN)
    if not is_learnt.any() or not is_asked.any():
        return 0.0
    learnt = labels[is_learnt]
    score: Floats = np.log(np.bincount(learnt, minlength=kinds) + 1.0)[None, :]
    for codes, values in columns:
        width = values + 1
        joint = np.bincount(learnt * width + codes[is_learnt], minlength=kinds * width)
        smooth = joint.reshape(kinds, width) + 1.0
        likely = np.log(smooth) - np.log(smooth.sum(axis=1, keepdims=True))
        likely[:, -1] = 0.0  # a missing value says nothing
        score = score + likely[:, codes[is_asked]].T
    best = np.broadcast_to(score, (int(is_asked.sum()), kinds)).argmax(axis=1)
    return float((best == truth[is_asked]).mean())
