"""What protection changed, variable by variable: distributions, moments, correlations, regression.

All figures count records, unweighted, as they are in the original and in what is released. They are
of the original data: for its owner alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np

from divulge.assessment import Chart
from divulge.data import Dataset
from divulge.protection import tuning
from divulge.protection.result.charts import draw_changes
from divulge.protection.result.comparison.distribution import AttributeChange, compare_distribution
from divulge.protection.result.comparison.least_squares import RegressionChange, compare_regressions
from divulge.protection.result.utility import compute_correlation, compute_mean, extract_numbers
from divulge.work.arrays import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class Moments:
    """Of a numeric attribute: how many records show it, their mean and their variance."""

    records: int
    mean: float | None
    variance: float | None
    """By n - 1; None of a single record, and where it is infinite."""


@dataclass(frozen=True, kw_only=True)
class MomentChange:
    """The moments of a numeric attribute before and after; after, None if it is no number now."""

    name: str
    before: Moments
    after: Moments | None


@dataclass(frozen=True, kw_only=True)
class CorrelationChange:
    """The correlation of two attributes before and after, among records that show both."""

    one: str
    other: str
    before: float | None
    after: float | None

    @property
    def moved(self) -> float:
        """By how much it changed; 1 where it cannot be computed any more."""
        if self.before is None:
            return 0.0
        return 1.0 if self.after is None else abs(self.after - self.before)


@dataclass(frozen=True, kw_only=True)
class VariableComparison:
    """What protection changed, variable by variable."""

    attributes: tuple[AttributeChange, ...]
    moments: tuple[MomentChange, ...]
    correlations: tuple[CorrelationChange, ...]
    """What moved most first."""
    regression: RegressionChange | None

    def chart(self) -> Chart:
        """By attribute, the share of its cells that were recoded, suppressed, or removed."""
        return draw_changes(self.attributes)

    def to_dict(self, values: bool = False) -> dict[str, Any]:
        """All figures as plain values; the values of records only on request.

        >>> import divulge as dv
        >>> p = dv.protection.suppress(dv.datasets.local_suppression_example(), k=2, nulls="maybe")
        >>> p.comparison.to_dict(values=True)["attributes"][1]["values"][0]["first"]
        'Commerce'
        """
        return {
            "attributes": [each.to_dict(values) for each in self.attributes],
            "moments": [
                {
                    "name": each.name,
                    "before": vars(each.before),
                    "after": None if each.after is None else vars(each.after),
                }
                for each in self.moments
            ],
            "correlations": [
                {"of": [c.one, c.other], "before": c.before, "after": c.after}
                for c in self.correlations
            ],
            "regression": None if self.regression is None else self.regression.to_dict(),
        }


def compare_variables(
    original: Dataset,
    released: Dataset,
    kept: Ints,
    among: Sequence[str],
    *,
    changed: Sequence[str] = (),
    levels: Mapping[str, int] | None = None,
    target: str | None = None,
) -> VariableComparison:
    """Compare every variable of a release with its original.

    Args:
        original: the records as they were.
        released: what is released of them.
        kept: the places, in the original, of the released records.
        among: the quasi-identifiers.
        changed: other attributes that were changed.
        levels: by attribute, the level to which the whole column was taken.
        target: the attribute of the regression; if not given, one is found.
    """
    names = [name for name in dict.fromkeys((*among, *changed)) if name in released.columns]
    levels = levels or {}
    before, after = extract_numbers(original), extract_numbers(released)
    pairs = islice(combinations(before, 2), tuning.MOST_COMPARED_PAIRS)
    correlations = [_compare_correlation(before, after, one, other) for one, other in pairs]
    return VariableComparison(
        attributes=tuple(
            compare_distribution(original, released, kept, name, levels.get(name, 0))
            for name in names
        ),
        moments=tuple(
            MomentChange(
                name=name,
                before=_compute_moments(numbers),
                after=_compute_moments(after[name]) if name in after else None,
            )
            for name, numbers in before.items()
            if name in released.columns and not np.all(np.isnan(numbers))
        ),
        correlations=tuple(
            sorted(
                (each for each in correlations if each.before is not None),
                key=lambda each: (-each.moved, each.one, each.other),
            )
        ),
        regression=compare_regressions(original, released, among, target),
    )


def _compute_moments(numbers: Floats) -> Moments:
    shown = numbers[~np.isnan(numbers)]
    if not shown.size:
        return Moments(records=0, mean=None, variance=None)
    with np.errstate(over="ignore", invalid="ignore"):
        variance = float(np.var(shown, ddof=1)) if shown.size > 1 else np.nan
    return Moments(
        records=int(shown.size),
        mean=compute_mean(shown),
        variance=variance if np.isfinite(variance) else None,
    )


def _compare_correlation(
    before: Mapping[str, Floats], after: Mapping[str, Floats], one: str, other: str
) -> CorrelationChange:
    return CorrelationChange(
        one=one,
        other=other,
        before=compute_correlation(before[one], before[other]),
        after=compute_correlation(after[one], after[other])
        if one in after and other in after
        else None,
    )
