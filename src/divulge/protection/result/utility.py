"""What protection costs: how much the data say less than they did.

Nulls and information loss as Bellomarini et al. (Sec. 5.1) count them; Loss as anonymisers score
it (how many values a released one stands for); discernibility; and what users compute: shares,
means, correlations, tables of two attributes, a model that predicts. An infinite number is a value
like any other where values are counted; means and correlations with one are not defined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from divulge.assessment import Sentence
from divulge.classes.keys import assign_classes
from divulge.data import Column, Dataset
from divulge.data.hierarchy_rules import format_value
from divulge.protection import tuning
from divulge.work.arrays import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class Utility:
    """What the data lost; every figure but the counts is 0 where nothing was lost."""

    nulls: int
    information_loss: float
    """Nulls over all cells of the records that were at risk (Sec. 5.1)."""
    loss: float
    discernibility: float
    """Records that each one cannot be told from, squared and summed; removed ones count all."""
    discernibility_before: float
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

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values."""
        return {
            "nulls": self.nulls,
            "information_loss": self.information_loss,
            "loss": self.loss,
            "discernibility": self.discernibility,
            "discernibility_before": self.discernibility_before,
            "distribution_shift": dict(self.distribution_shift),
            "means": {name: list(pair) for name, pair in self.means.items()},
            "correlations": self.correlations,
            "contingency": self.contingency,
            "model": None if self.model is None else list(self.model),
            "model_of": self.model_of,
        }

    def rows(self) -> list[tuple[str, str]]:
        """The figures for people."""
        rows = [
            (_say("nulls"), f"{self.nulls:,}"),
            (_say("information_loss"), f"{self.information_loss:.2%}"),
            (_say("loss"), f"{self.loss:.4f}"),
            (
                _say("discernibility"),
                _say(
                    "change",
                    before=f"{self.discernibility_before:,.0f}",
                    after=f"{self.discernibility:,.0f}",
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
        return rows


def _format_figure(figure: float | None) -> str:
    return _say("undefined") if figure is None else f"{figure:.4f}"


def _say(key: str, **values: Any) -> str:
    return Sentence("divulge.protection", f"lost.{key}", values).render()


def measure_utility(
    original: Dataset, released: Dataset, kept: Ints, among: Sequence[str], k: int = 2
) -> Utility:
    """Compare a release with its original.

    Args:
        original: the records as they were.
        released: what is released of them.
        kept: the places, in the original, of the released records.
        among: the quasi-identifiers.
        k: records with fewer that look like them count as at risk (information loss).

    >>> import divulge as dv
    >>> before = dv.datasets.local_suppression_example()
    >>> p = dv.protection.suppress(before, k=2, nulls="maybe")
    >>> round(p.utility.information_loss, 3), p.utility.nulls
    (0.167, 2)
    """
    removed = original.rows - kept.size
    # What was absent before is no loss, in a record that was removed either.
    nulls = _count_nulls(released, among) + removed * len(among) - _count_nulls(original, among)
    size = _count_equal_records(original, among)
    cells = int((size < k).sum()) * len(among)
    fine = float((size.astype(np.float64)).sum())
    after = _count_equal_records(released, among)
    shift = {name: _measure_shift(original, released, [name]) for name in among}
    pairs = list(combinations(among, 2))[: tuning.MOST_CONTINGENCY_PAIRS]
    pair_shifts = [_measure_shift(original, released, list(pair)) for pair in pairs]
    model_scores = _compare_models(original, released, kept, among)
    return Utility(
        nulls=nulls,
        information_loss=min(1.0, nulls / cells) if cells else 0.0,
        loss=_average_loss(original, released, kept, among),
        discernibility=float(after.sum()) + float(removed) * original.rows,
        discernibility_before=fine,
        distribution_shift=shift,
        means=_compare_means(original, released),
        correlations=_compare_correlations(original, released),
        contingency=float(np.mean(pair_shifts)) if pair_shifts else 0.0,
        model=None if model_scores is None else model_scores[1],
        model_of=None if model_scores is None else model_scores[0],
    )


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


def _average_loss(original: Dataset, released: Dataset, kept: Ints, among: Sequence[str]) -> float:
    losses = [compute_attribute_loss(original, released, kept, name) for name in among]
    return float(np.mean(losses)) if losses else 0.0


def compute_attribute_loss(original: Dataset, released: Dataset, kept: Ints, name: str) -> float:
    """Of one attribute (mean share - 1/|D|) / (1 - 1/|D|); a removed record has share 1.

    Cells that were absent before have nothing to lose: the mean is of the others.
    """
    before, column = original.columns[name], released.columns[name]
    share, domain = compute_leaf_shares(original, column, name)
    is_present = before.codes != before.missing_code
    count = int(is_present.sum())
    if domain < 2 or count == 0:
        return 0.0
    cells = share[column.codes[is_present[kept]]]
    removed = count - int(cells.size)
    mean: float = (float(cells.sum()) + removed) / count
    return (mean - 1 / domain) / (1 - 1 / domain)


def compute_leaf_shares(original: Dataset, column: Column, name: str) -> tuple[Floats, int]:
    """The share of all values that each released value stands for (a null: all), and their number.

    With a hierarchy, all values are its leaves; without, those that the original has.
    """
    before = original.columns[name]
    hierarchy = original.dictionary[name].hierarchy
    values = [format_value(value) for value in before.values.to_pylist()]
    if hierarchy is not None:
        table = (hierarchy if hierarchy.table is not None else hierarchy.over(values)).table
        domain = len(table or {})
        under: dict[str, int] = {}
        for leaf, ladder in (table or {}).items():
            # A ladder repeats its last step where it is short: each node counts a leaf once.
            for node in dict.fromkeys((leaf, *ladder)):
                under[node] = under.get(node, 0) + 1
    else:
        domain, under = len(values), dict.fromkeys(values, 1)
    released_texts = [format_value(value) for value in column.values.to_pylist()]
    shares = [under.get(value, domain) / max(domain, 1) for value in released_texts]
    return np.array([*shares, 1.0]), domain


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


def _extract_numbers(dataset: Dataset) -> dict[str, Floats]:
    """The numeric attributes that are neither identifiers nor weights; NaN where missing."""
    import pyarrow as pa

    numbers = {}
    for name, column in dataset.columns.items():
        kind = column.values.type
        plain = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        if plain and dataset.dictionary[name].role not in ("identifier", "weight", "household"):
            values = np.array([*column.values.to_pylist(), np.nan], np.float64)
            numbers[name] = values[column.codes]
    return numbers


def _compare_means(
    original: Dataset, released: Dataset
) -> dict[str, tuple[float | None, float | None]]:
    before, after = _extract_numbers(original), _extract_numbers(released)
    return {
        name: (_compute_mean(before[name]), _compute_mean(after[name]))
        for name in before
        if name in after
        and not np.all(np.isnan(after[name]))
        and not np.all(np.isnan(before[name]))
    }


def _compute_mean(numbers: Floats) -> float | None:
    with np.errstate(over="ignore", invalid="ignore"):
        return _finite_or_none(float(np.nanmean(numbers)))


def _compare_correlations(original: Dataset, released: Dataset) -> float | None:
    before, after = _extract_numbers(original), _extract_numbers(released)
    names = [name for name in before if name in after]
    infinite = {n for n in names if np.any(np.isinf(before[n])) or np.any(np.isinf(after[n]))}
    changes = []
    for one, other in combinations([name for name in names if name not in infinite], 2):
        then, now = (
            _compute_correlation(before[one], before[other]),
            _compute_correlation(after[one], after[other]),
        )
        if then is not None and now is not None:
            changes.append(abs(then - now))
    # Where nothing can be correlated nothing is lost, unless infinite numbers are to blame.
    return max(changes, default=None if infinite and len(names) > 1 else 0.0)


def _compute_correlation(one: Floats, other: Floats) -> float | None:
    both = ~(np.isnan(one) | np.isnan(other))
    x, y = one[both], other[both]
    # Numbers near the largest that there are have squares that are not.
    with np.errstate(over="ignore", invalid="ignore"):
        if x.size < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
            return None
        return _finite_or_none(float(np.corrcoef(x, y)[0, 1]))


def _finite_or_none(figure: float) -> float | None:
    return figure if np.isfinite(figure) else None


def _compare_models(
    original: Dataset, released: Dataset, kept: Ints, among: Sequence[str]
) -> tuple[str, tuple[float, float]] | None:
    """Naive Bayes from the quasi-identifiers, fitted on nine tenths before and after.

    Both are asked about the same tenth of the original; a coarser value is learnt as what it is,
    and asked for as what the original's value became.
    """
    dictionary = original.dictionary
    targets = [*dictionary.having("sensitive"), *dictionary.having("non_identifying")]
    targets = [
        name
        for name in targets
        if 2 <= len(original.columns[name].values) <= tuning.MOST_TARGET_VALUES
    ]
    if not targets or original.rows < tuning.FEWEST_MODEL_RECORDS:
        return None
    target = targets[0]
    secret = original.columns[target].codes
    held_out = np.arange(original.rows) % tuning.HELD_OUT_STEP == 0
    fitted_before = _fit_naive_bayes([original.columns[n] for n in among], secret, ~held_out)
    right_before = _score_predictions(
        fitted_before, [original.columns[n] for n in among], secret, held_out
    )
    train = ~held_out[kept]
    fitted = _fit_naive_bayes([released.columns[n] for n in among], secret[kept], train)
    right = _score_predictions(
        fitted, [released.columns[n] for n in among], secret[kept], held_out[kept]
    )
    return target, (right_before, right)


def _fit_naive_bayes(columns: Sequence[Column], secret: Any, chosen: Any) -> list[Floats]:
    kinds = int(secret.max()) + 1
    prior = np.log(np.bincount(secret[chosen], minlength=kinds) + 1.0)
    tables = [prior]
    for column in columns:
        width = len(column.values) + 1
        joint = np.bincount(
            secret[chosen].astype(np.int64) * width + column.codes[chosen], minlength=kinds * width
        ).reshape(kinds, width)
        likely = np.log(joint + 1.0) - np.log((joint + 1.0).sum(axis=1, keepdims=True))
        likely[:, -1] = 0.0  # a missing value says nothing
        tables.append(likely)
    return tables


def _score_predictions(
    tables: Sequence[Floats], columns: Sequence[Column], secret: Any, chosen: Any
) -> float:
    if not np.any(chosen):
        return 0.0
    score = np.repeat(tables[0][None, :], int(chosen.sum()), axis=0)
    for table, column in zip(tables[1:], columns, strict=True):
        score = score + table[:, column.codes[chosen]].T
    return float((score.argmax(axis=1) == secret[chosen]).mean())
