"""What protection costs: how much the data say less than they did.

Nulls and information loss as Bellomarini et al. (Sec. 5.1) count them; what cells lost (Loss,
granularity, precision, entropy); what classes lost (discernibility, their average size); and what
users compute: shares, means, correlations, tables of two attributes, a model that predicts. An
infinite number is a value like any other where values are counted; means and correlations with one
are not defined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from divulge.assessment import Sentence
from divulge.classes.keys import assign_classes
from divulge.data import Dataset
from divulge.data.dictionary import find_name_problems
from divulge.data.value_texts import format_value
from divulge.protection import tuning
from divulge.protection.result.cell_utility import measure_cells
from divulge.protection.result.classification import compare_models
from divulge.work import Problems, checks
from divulge.work.arrays import Floats, Ints

NO_QUANTITIES = ("identifier", "person", "household", "group", "weight")
"""Roles whose numbers nobody takes the mean of."""


@dataclass(frozen=True, kw_only=True)
class Utility:
    """What the data lost; every figure but the counts is 0 where nothing was lost.

    Granularity, precision and entropy are what is left: 1 where nothing was lost.
    """

    nulls: int
    information_loss: float
    """Nulls over all cells of the records that were at risk (Sec. 5.1)."""
    loss: float
    """How many values a released one stands for: the mean share of what could be lost."""
    granularity: float
    """The same as what is left, attributes weighing by 1 - 1/|D| (ARX's granularity)."""
    precision: float
    """1 less the mean of level over height of the hierarchy (Sweeney's precision)."""
    entropy: float
    """1 less the share of bits that were lost (non-uniform entropy)."""
    discernibility: float
    """Records that each one cannot be told from, squared and summed; removed ones count all."""
    discernibility_before: float
    class_size: float
    """Records over classes; removed records are one class more, of which nothing is told."""
    class_size_before: float
    distribution_shift: Mapping[str, float]
    """By attribute, how far its shares moved (total variation, 0 to 1)."""
    means: Mapping[str, tuple[float | None, float | None]]
    """By numeric attribute, before and after; None where it is not defined."""
    correlations: float | None
    """The largest change of a correlation of two numeric attributes; None if none is defined."""
    contingency: float
    """How far the tables of two attributes moved, on average (total variation)."""
    model: tuple[float, float] | None
    """How often a model fitted before and after predicts right, on records it has not seen."""
    model_of: str | None
    model_baseline: float | None = None
    """How often the most frequent value is right on these records."""

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values."""
        return {
            "nulls": self.nulls,
            "information_loss": self.information_loss,
            "loss": self.loss,
            "granularity": self.granularity,
            "precision": self.precision,
            "entropy": self.entropy,
            "discernibility": self.discernibility,
            "discernibility_before": self.discernibility_before,
            "class_size": self.class_size,
            "class_size_before": self.class_size_before,
            "distribution_shift": dict(self.distribution_shift),
            "means": {name: list(pair) for name, pair in self.means.items()},
            "correlations": self.correlations,
            "contingency": self.contingency,
            "model": None if self.model is None else list(self.model),
            "model_of": self.model_of,
            "model_baseline": self.model_baseline,
        }

    def rows(self) -> list[tuple[str, str]]:
        """The figures for people."""
        rows = [
            (_say("nulls"), f"{self.nulls:,}"),
            (_say("information_loss"), f"{self.information_loss:.2%}"),
            (_say("loss"), f"{self.loss:.4f}"),
            (_say("granularity"), f"{self.granularity:.4f}"),
            (_say("precision"), f"{self.precision:.4f}"),
            (_say("entropy"), f"{self.entropy:.4f}"),
            (
                _say("discernibility"),
                _say(
                    "change",
                    before=f"{self.discernibility_before:,.0f}",
                    after=f"{self.discernibility:,.0f}",
                ),
            ),
            (
                _say("class_size"),
                _say(
                    "change",
                    before=f"{self.class_size_before:,.2f}",
                    after=f"{self.class_size:,.2f}",
                ),
            ),
            (_say("shift"), f"{max(self.distribution_shift.values(), default=0):.2%}"),
            (_say("contingency"), f"{self.contingency:.2%}"),
            (_say("correlations"), _format_figure(self.correlations)),
        ]
        if self.model is not None:
            before, after = self.model
            change = _say("change", before=f"{before:.2%}", after=f"{after:.2%}")
            rows.append((_say("model", attribute=self.model_of), change))
            rows.append((_say("baseline"), f"{self.model_baseline or 0.0:.2%}"))
        return rows


def _format_figure(figure: float | None) -> str:
    return _say("undefined") if figure is None else f"{figure:.4f}"


def _say(key: str, **values: Any) -> str:
    return Sentence("divulge.protection", f"lost.{key}", values).render()


def measure_utility(
    original: Dataset,
    released: Dataset,
    kept: Ints,
    among: Sequence[str],
    k: int = 2,
    *,
    target: str | None = None,
    importance: Mapping[str, float] | None = None,
    levels: Mapping[str, int] | None = None,
) -> Utility:
    """Compare a release with its original.

    Args:
        original: the records as they were.
        released: what is released of them.
        kept: the places, in the original, of the released records.
        among: the quasi-identifiers.
        k: records with fewer that look like them count as at risk (information loss).
        target: the attribute that models predict; if not given, the first sensitive one with few
            values, or one that does not identify.
        importance: by attribute, how much it weighs in Loss, granularity, precision and entropy (1
            if not given).
        levels: by attribute, the level to which the whole column was taken, where that is known.

    Raises:
        InvalidInput: if the target cannot be predicted, or an importance is not above 0.

    >>> import divulge as dv
    >>> before = dv.datasets.local_suppression_example()
    >>> p = dv.protection.suppress(before, k=2, nulls="maybe")
    >>> round(p.utility.information_loss, 3), p.utility.nulls
    (0.167, 2)
    """
    _check_importance(original, importance or {})
    removed = original.rows - kept.size
    # What was absent before is no loss, in a record that was removed either.
    nulls = _count_nulls(released, among) + removed * len(among) - _count_nulls(original, among)
    size = _count_equal_records(original, among)
    cells = int((size < k).sum()) * len(among)
    shift = {name: _measure_shift(original, released, [name]) for name in among}
    pairs = list(combinations(among, 2))[: tuning.MOST_CONTINGENCY_PAIRS]
    pair_shifts = [_measure_shift(original, released, list(pair)) for pair in pairs]
    models = compare_models(original, released, kept, among, target)
    of_cells = measure_cells(original, released, kept, among, importance=importance, levels=levels)
    return Utility(
        nulls=nulls,
        information_loss=min(1.0, nulls / cells) if cells else 0.0,
        loss=of_cells.loss,
        granularity=of_cells.granularity,
        precision=of_cells.precision,
        entropy=of_cells.entropy,
        discernibility=measure_discernibility(original, released, kept, among),
        discernibility_before=float(size.sum()),
        class_size=measure_class_size(original, released, kept, among),
        class_size_before=measure_class_size(original, original, np.arange(original.rows), among),
        distribution_shift=shift,
        means=_compare_means(original, released),
        correlations=_compare_correlations(original, released),
        contingency=float(np.mean(pair_shifts)) if pair_shifts else 0.0,
        model=None if models is None else (models.before, models.after),
        model_of=None if models is None else models.target,
        model_baseline=None if models is None else models.baseline,
    )


def _check_importance(original: Dataset, importance: Mapping[str, float]) -> None:
    problems = Problems(f'utility of "{original.name}"')
    problems.extend("", find_name_problems("importance", importance, original.names))
    if any(not checks.is_finite_number(each) or not each > 0 for each in importance.values()):
        problems.add("importance", "contains a figure that is not above 0.")
    problems.raise_any()


def measure_discernibility(
    original: Dataset, released: Dataset, kept: Ints, among: Sequence[str]
) -> float:
    """The sum over records of how many look like them; a removed one cannot be told from any."""
    alike = float(_count_equal_records(released, among).sum())
    return alike + float(original.rows - kept.size) * original.rows


def measure_class_size(
    original: Dataset, released: Dataset, kept: Ints, among: Sequence[str]
) -> float:
    """Records over classes, all removed records being one class."""
    # Each class of n counts 1/n for each of its records.
    classes = round(float((1 / _count_equal_records(released, among)).sum()))
    classes += kept.size < original.rows
    return original.rows / classes if classes else 0.0


def _count_nulls(dataset: Dataset, among: Sequence[str]) -> int:
    return sum(
        int((dataset.columns[name].codes == dataset.columns[name].missing_code).sum())
        for name in among
    )


def _count_equal_records(dataset: Dataset, among: Sequence[str]) -> Ints:
    columns = [dataset.columns[name] for name in among]
    class_of_record = assign_classes(
        [c.codes for c in columns], [len(c.values) + 1 for c in columns], dataset.rows
    )
    return np.bincount(class_of_record)[class_of_record]


def _measure_shift(original: Dataset, released: Dataset, names: list[str]) -> float:
    """Total variation between the shares of combinations, among records that show them.

    Coarser values are compared with what the original's become: their shares are not moved.
    """
    before, after = _compute_distribution(original, names), _compute_distribution(released, names)
    if not before or not after or not set(after) <= set(before):
        return 0.0 if not before else _measure_coarse_shift(original, released, names)
    return 0.5 * sum(abs(before.get(key, 0.0) - after.get(key, 0.0)) for key in before)


def _measure_coarse_shift(original: Dataset, released: Dataset, names: list[str]) -> float:
    """The same where values were made coarser: an even spread over the values they stand for."""
    if len(names) > 1:
        return float(np.mean([_measure_coarse_shift(original, released, [name]) for name in names]))
    [name] = names
    before = _compute_distribution(original, names)
    hierarchy = original.dictionary[name].hierarchy
    leaves: dict[str, list[str]] = {}
    for (value,) in before:
        nodes = [value]
        if hierarchy is not None and not hierarchy.lacks([value]):
            nodes += [
                format_value(hierarchy.at(value, level)) for level in range(1, hierarchy.height + 1)
            ]
        for node in dict.fromkeys(nodes):
            leaves.setdefault(node, []).append(value)
    spread = dict.fromkeys((value for (value,) in before), 0.0)
    after = _compute_distribution(released, names)
    if not after:  # nulls stand for all values
        spread = dict.fromkeys(spread, 1 / len(spread))
    for (value,), share in after.items():
        under = leaves.get(value) or list(spread)
        for leaf in under:
            spread[leaf] += share / len(under)
    return 0.5 * sum(abs(before[(value,)] - share) for value, share in spread.items())


def _compute_distribution(dataset: Dataset, names: list[str]) -> dict[tuple[str, ...], float]:
    columns = [dataset.columns[name] for name in names]
    is_shown = np.ones(dataset.rows, np.bool_)
    for column in columns:
        is_shown &= column.codes != column.missing_code
    total = int(is_shown.sum())
    if total == 0:
        return {}
    joint = np.stack([column.codes[is_shown].astype(np.int64) for column in columns])
    distinct, count = np.unique(joint, axis=1, return_counts=True)
    texts = [[format_value(v) for v in column.values.to_pylist()] for column in columns]
    return {
        tuple(texts[a][code] for a, code in enumerate(codes)): share
        for codes, share in zip(distinct.T.tolist(), (count / total).tolist(), strict=True)
    }


def extract_numbers(dataset: Dataset) -> dict[str, Floats]:
    """The numeric attributes that are neither ids nor weights; NaN where missing."""
    import pyarrow as pa

    numbers = {}
    for name, column in dataset.columns.items():
        kind = column.values.type
        plain = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        if plain and dataset.dictionary[name].role not in NO_QUANTITIES:
            values = np.array([*column.values.to_pylist(), np.nan], np.float64)
            numbers[name] = values[column.codes]
    return numbers


def _compare_means(
    original: Dataset, released: Dataset
) -> dict[str, tuple[float | None, float | None]]:
    before, after = extract_numbers(original), extract_numbers(released)
    return {
        name: (compute_mean(before[name]), compute_mean(after[name]))
        for name in before
        if name in after
        and not np.all(np.isnan(after[name]))
        and not np.all(np.isnan(before[name]))
    }


def compute_mean(numbers: Floats) -> float | None:
    """The mean of the numbers that there are; None if it is infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _finite_or_none(float(np.nanmean(numbers)))


def _compare_correlations(original: Dataset, released: Dataset) -> float | None:
    before, after = extract_numbers(original), extract_numbers(released)
    names = [name for name in before if name in after]
    infinite = {n for n in names if np.any(np.isinf(before[n])) or np.any(np.isinf(after[n]))}
    changes = []
    for one, other in combinations([name for name in names if name not in infinite], 2):
        then, now = (
            compute_correlation(before[one], before[other]),
            compute_correlation(after[one], after[other]),
        )
        if then is not None and now is not None:
            changes.append(abs(then - now))
    # Where nothing can be correlated nothing is lost, unless infinite numbers are to blame.
    return max(changes, default=None if infinite and len(names) > 1 else 0.0)


def compute_correlation(one: Floats, other: Floats) -> float | None:
    """The correlation among records that show both; None where it is not defined."""
    both = ~(np.isnan(one) | np.isnan(other))
    x, y = one[both], other[both]
    # Numbers near the largest that there are have squares that are not.
    with np.errstate(over="ignore", invalid="ignore"):
        if x.size < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
            return None
        return _finite_or_none(float(np.corrcoef(x, y)[0, 1]))


def _finite_or_none(figure: float) -> float | None:
    return figure if np.isfinite(figure) else None
