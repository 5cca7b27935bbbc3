"""What an adversary may be limited in: figures of an assessment, by name.

Shares are fractions of counts wherever they can be: those are judged exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Literal, TypeAlias, cast

from divulge.assessment.assessment import Assessment
from divulge.qif import PriorPosterior

Scale: TypeAlias = Literal["share", "count", "factor"]

SCALES: Mapping[Scale, tuple[float, float, str]] = {
    "share": (0, 1, "a share (0 to 1)"),
    "count": (0, math.inf, "a number of records (0 or more)"),
    "factor": (1, math.inf, "a factor (1 or more)"),
}
"""By scale, the lowest and the highest bound, and how it is said."""

Figure: TypeAlias = Callable[[Assessment], Fraction | float]


def _build_success_measures(kind: str) -> dict[str, tuple[Scale, Figure]]:
    """The measures of one kind of success: `deterministic` or `probabilistic`."""
    return {
        f"{kind}.prior": ("share", lambda a: _compute_exact_shares(a, kind).prior),
        f"{kind}.posterior": ("share", lambda a: _compute_exact_shares(a, kind).posterior),
        f"{kind}.additive": ("share", lambda a: _compute_exact_shares(a, kind).additive),
        f"{kind}.multiplicative": (
            "factor",
            lambda a: _compute_exact_shares(a, kind).multiplicative,
        ),
        f"{kind}.count": ("count", lambda a: _select_counts(a, kind).posterior),
    }


def _select_counts(assessment: Assessment, kind: str) -> PriorPosterior:
    return assessment.certain if kind == "deterministic" else assessment.right


def _compute_exact_shares(assessment: Assessment, kind: str) -> PriorPosterior:
    """The shares as fractions of counts, so that a bound of 0.3 is met by 4/10 - 1/10."""
    shares: PriorPosterior = getattr(assessment, kind)
    counts = _select_counts(assessment, kind)

    def to_fraction(share: float, count: Any) -> float:
        if assessment.secrets == 0:  # nothing is sought, so nothing of it is known
            return cast("float", Fraction(share))
        count_share = Fraction(count) / assessment.secrets
        # With a gain, the figure is worth something and no share of the secrets; with a prior it
        # is no count. Such figures are as exact as floats are.
        is_whole = isinstance(count, Fraction) or count == int(count)
        is_count_share = float(count_share) == share and is_whole
        return cast("float", count_share if is_count_share else share)

    return PriorPosterior(
        to_fraction(shares.prior, counts.prior), to_fraction(shares.posterior, counts.posterior)
    )


HIGHEST_RISK = "risk.highest"
"""The highest risk of a record, which only attacks on single records tell."""

ASSESSMENT_MEASURES: Mapping[str, tuple[Scale, Figure]] = {
    **_build_success_measures("deterministic"),
    **_build_success_measures("probabilistic"),
    "additive_leakage": ("share", lambda a: _compute_exact_shares(a, "probabilistic").additive),
    "multiplicative_leakage": (
        "factor",
        lambda a: _compute_exact_shares(a, "probabilistic").multiplicative,
    ),
    HIGHEST_RISK: ("share", lambda a: a.find_highest_risk()),
}
"""What an adversary may be limited in, by name, with the scale of its bounds."""

GUESS_MEASURES = [
    name
    for name in ASSESSMENT_MEASURES
    if not name.startswith(("deterministic.", "risk.")) and not name.endswith(".count")
]
"""Those of them that are worth something, and no share, where guesses are weighed by a gain."""
