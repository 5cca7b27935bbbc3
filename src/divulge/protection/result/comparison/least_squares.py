"""A regression before and after: ordinary least squares of one attribute on the keys.

Numbers enter as they are; every other key as an indicator of each of its values but the most
frequent one. Only records that show the target and all keys are used, as in the usual packages.
What a key contributes is the standard deviation of its part of the prediction: that figure can be
compared where a key is coarser than it was.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from divulge.data import Dataset
from divulge.data.value_texts import format_value
from divulge.protection import tuning
from divulge.work.arrays import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class KeyEffect:
    """What a key contributes to the prediction, and its coefficient if it is a number."""

    name: str
    contribution: float | None
    """None where it cannot be told from that of other keys."""
    coefficient: float | None


@dataclass(frozen=True, kw_only=True)
class Fit:
    """One fit of the regression."""

    records: int
    r_squared: float
    residual_deviation: float
    """The standard deviation of what is not predicted, by degrees of freedom."""
    effects: tuple[KeyEffect, ...]

    def to_dict(self) -> dict[str, Any]:
        """The fit as plain values."""
        return {
            "records": self.records,
            "r_squared": self.r_squared,
            "residual_deviation": self.residual_deviation,
            "effects": [vars(each) for each in self.effects],
        }


@dataclass(frozen=True, kw_only=True)
class RegressionChange:
    """The regression of one attribute on the keys, fitted before and after."""

    target: str
    is_indicator: bool
    """Whether it is whether a record shows the most frequent value, and no number."""
    before: Fit | None
    after: Fit | None
    """None where it cannot be fitted: too few records show everything, or all show the same."""
    left_out: tuple[str, ...]
    """Keys of too many values to enter one by one."""

    def to_dict(self) -> dict[str, Any]:
        """Both fits as plain values."""
        return {
            "target": self.target,
            "is_indicator": self.is_indicator,
            "before": None if self.before is None else self.before.to_dict(),
            "after": None if self.after is None else self.after.to_dict(),
            "left_out": list(self.left_out),
        }


def compare_regressions(
    original: Dataset, released: Dataset, among: Sequence[str], target: str | None = None
) -> RegressionChange | None:
    """Fit the regression on the original and on what is released; None if there is no target.

    If no target is given, it is the first sensitive attribute, or else the first that does not
    identify; of these, one that is a number comes before one that is not.

    >>> import divulge as dv
    >>> companies = dv.datasets.inflation_and_growth(300, quasi_identifiers=4)
    >>> compare_regressions(companies, companies, ["Area", "Sector"], "Employees").target
    'Employees'
    """
    target = _find_target(original, released, among) if target is None else target
    if target is None or target not in released.columns:
        return None
    predictors = [name for name in among if name != target and name in released.columns]
    left_out = [
        name
        for name in predictors
        if any(_count_indicators(d, name) > tuning.MOST_INDICATORS for d in (original, released))
    ]
    predictors = [name for name in predictors if name not in left_out]
    is_indicator = not _is_number(original, target)
    reference = _find_most_frequent(original, target) if is_indicator else None
    return RegressionChange(
        target=target,
        is_indicator=is_indicator,
        before=_fit_regression(original, target, predictors, reference),
        after=_fit_regression(released, target, predictors, reference),
        left_out=tuple(left_out),
    )


def _find_target(original: Dataset, released: Dataset, among: Sequence[str]) -> str | None:
    dictionary = original.dictionary
    for role in ("sensitive", "non_identifying"):
        names = [n for n in dictionary.having(role) if n in released.columns and n not in among]
        numbers = [n for n in names if _is_number(original, n) and _is_number(released, n)]
        if numbers or names:
            return (numbers or names)[0]
    return None


def _is_number(dataset: Dataset, name: str) -> bool:
    kind = dataset.columns[name].values.type
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _find_most_frequent(dataset: Dataset, name: str) -> str | None:
    """The text of the most frequent value, the first of them in order."""
    column = dataset.columns[name]
    counts = np.bincount(column.codes, minlength=len(column.values) + 1)[: len(column.values)]
    if counts.size == 0:
        return None
    return format_value(column.values[int(counts.argmax())].as_py())


def _count_indicators(dataset: Dataset, name: str) -> int:
    return 0 if _is_number(dataset, name) else len(dataset.columns[name].values)


@dataclass(frozen=True)
class _Term:
    """A key in the design: by code, the values of its columns."""

    name: str
    codes: Ints
    values: Floats
    """A row for each code (the last stands for missing), a column for each of the design."""
    scale: float | None
    """By what a number was divided, so that all columns are of one size; None of indicators."""


def _fit_regression(
    dataset: Dataset, target: str, predictors: Sequence[str], reference: str | None
) -> Fit | None:
    if reference is not None:
        texts = map(format_value, dataset.columns[target].values.to_pylist())
        of_code = np.array([*(float(text == reference) for text in texts), np.nan])
    elif _is_number(dataset, target):
        of_code = _list_numbers(dataset, target)
    else:
        return None
    outcome = of_code[dataset.columns[target].codes]
    is_used = np.isfinite(outcome)
    for name in predictors:
        column = dataset.columns[name]
        is_used &= column.codes != column.missing_code
        if _is_number(dataset, name):
            is_used &= np.isfinite(_list_numbers(dataset, name))[column.codes]
    used = np.flatnonzero(is_used)
    terms = [_build_term(dataset, name, used) for name in predictors]
    width = sum(term.values.shape[1] for term in terms)
    if used.size < max(tuning.FEWEST_MODEL_RECORDS, width + 2):
        return None
    return _solve_moments(terms, outcome[used])


def _list_numbers(dataset: Dataset, name: str) -> Floats:
    """By code, the number; the last one is not one."""
    return np.array([*dataset.columns[name].values.to_pylist(), np.nan], np.float64)


def _build_term(dataset: Dataset, name: str, used: Ints) -> _Term:
    column = dataset.columns[name]
    codes = column.codes[used].astype(np.int64)
    frequency = np.bincount(codes, minlength=len(column.values) + 1)
    if not _is_number(dataset, name):
        shown = np.flatnonzero(frequency)
        others = np.delete(shown, frequency[shown].argmax()) if shown.size else shown
        return _Term(name, codes, (np.arange(frequency.size)[:, None] == others) * 1.0, None)
    numbers = np.where(frequency > 0, _list_numbers(dataset, name), 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(numbers @ frequency) / max(1, codes.size)
        spread = float(np.sqrt((numbers - mean) ** 2 @ frequency / max(1, codes.size)))
    if not np.isfinite(spread) or spread == 0:  # all show the same: there is nothing to fit
        return _Term(name, codes, np.zeros((frequency.size, 1)), 1.0)
    return _Term(name, codes, ((numbers - mean) / spread)[:, None], spread)


def _solve_moments(terms: Sequence[_Term], outcome: Floats) -> Fit | None:
    """Least squares by the moments of the design, which are added up a chunk at a time."""
    records = outcome.size
    with np.errstate(over="ignore", invalid="ignore"):
        centred = outcome - outcome.mean()
        spread = float(np.sqrt(np.mean(centred**2)))
    if not np.isfinite(spread) or spread == 0:
        return None
    scaled = centred / spread
    width = sum(term.values.shape[1] for term in terms)
    squares, products, sums = np.zeros((width, width)), np.zeros(width), np.zeros(width)
    for start in range(0, records, tuning.DESIGN_CHUNK_RECORDS):
        part = slice(start, start + tuning.DESIGN_CHUNK_RECORDS)
        size = len(scaled[part])
        design = np.hstack([np.empty((size, 0)), *(t.values[t.codes[part]] for t in terms)])
        squares += design.T @ design
        products += design.T @ scaled[part]
        sums += design.sum(axis=0)
    covariance = squares / records - np.outer(sums, sums) / records**2
    roots, axes = np.linalg.eigh(covariance) if width else (np.empty(0), np.empty((0, 0)))
    is_free = roots > tuning.SINGULAR_SHARE * max(1.0, float(roots.max(initial=0)))
    inverse = (axes[:, is_free] / roots[is_free]) @ axes[:, is_free].T
    beta = inverse @ (products / records)
    explained = min(1.0, max(0.0, float(beta @ (products / records))))
    freedom = records - int(is_free.sum()) - 1
    effects, start = [], 0
    for term in terms:
        place = slice(start, start + term.values.shape[1])
        start = place.stop
        is_told = not np.any(np.abs(axes[place][:, ~is_free]) > tuning.SHARED_DIRECTION)
        part_of_prediction = float(beta[place] @ covariance[place, place] @ beta[place])
        slope = None if term.scale is None else float(beta[place][0]) * spread / term.scale
        effects.append(
            KeyEffect(
                name=term.name,
                contribution=spread * math.sqrt(max(0.0, part_of_prediction)) if is_told else None,
                coefficient=slope if is_told else None,
            )
        )
    return Fit(
        records=records,
        r_squared=explained,
        residual_deviation=spread * math.sqrt((1 - explained) * records / freedom),
        effects=tuple(effects),
    )
