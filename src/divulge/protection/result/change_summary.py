"""What a protection changed, in numbers: by attribute, and by reason; no record by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from divulge.assessment import Sentence
from divulge.assessment.sentence import (
    format_number,
    format_percent,
    format_statistic,
    read_phrases,
)
from divulge.protection import tuning
from divulge.protection.result.comparison.comparison import Moments

if TYPE_CHECKING:
    from divulge.protection.result.comparison.distribution import AttributeChange
    from divulge.protection.result.comparison.least_squares import Fit, RegressionChange
    from divulge.protection.result.protected import Protected

CATALOGUE = "divulge.protection"
Rows = Sequence[tuple[str, ...]]


def read_change_heads() -> dict[str, tuple[str, ...]]:
    """The headings of all tables of changes, by what they tell."""
    names = ("by_attribute", "by_reason", "by_value", "of_moments", "of_correlations")
    return {name: read_phrases(CATALOGUE, f"changes.{name}") for name in names}


def list_changes_by_attribute(protected: Protected) -> Rows:
    """By attribute: its level, cells suppressed, coarser and removed, how far its shares moved."""
    shifts = protected.utility.distribution_shift
    lines = []
    for each in protected.comparison.attributes:
        rows = max(1, each.records)
        said = _render_phrase("level", level=each.level, height=each.height) if each.height else ""
        counts = (each.suppressed, each.recoded, each.removed)
        cells = [
            _render_phrase("cells", cells=n, share=n / rows) if n else format_number(n)
            for n in counts
        ]
        moved = format_percent(shifts[each.name]) if each.name in shifts else ""
        lines.append((each.name, said, *cells, moved))
    return lines


def list_changes_by_value(change: AttributeChange, values: bool = False) -> Rows:
    """Of an attribute, by value or group of values: counts, and its share before and after."""
    lines = []
    for each, (before, after) in zip(change.values, change.list_shares(), strict=True):
        named = _render_phrase("named", first=each.first, last=each.last, values=each.values)
        told = {"rank": each.rank, "values": each.values, "total": len(change.values)}
        counts = (each.before, each.unchanged, each.coarser, each.suppressed, each.removed)
        lines.append(
            (
                named if values else _render_phrase(f"group.{each.grouping}", **told),
                *map(format_number, counts),
                format_percent(before),
                "" if after is None else format_percent(after),
            )
        )
    return lines


def list_changes_of_moments(protected: Protected) -> Rows:
    """By numeric attribute: how many records show it, its mean and variance, before and after."""
    lines = []
    for each in protected.comparison.moments:
        now = each.after or Moments(records=0, mean=None, variance=None)
        pairs = ((each.before.mean, now.mean), (each.before.variance, now.variance))
        counts = (format_number(each.before.records), format_number(now.records))
        lines.append((each.name, *counts, *(_format_or_blank(f) for pair in pairs for f in pair)))
    return lines


def list_changes_of_correlations(protected: Protected) -> Rows:
    """The correlations that moved most, before and after."""
    return [
        (
            _render_phrase("pair", one=each.one, other=each.other),
            _format_or_blank(each.before),
            _format_or_blank(each.after),
        )
        for each in protected.comparison.correlations[: tuning.MOST_LISTED_CORRELATIONS]
    ]


def list_changes_of_regression(protected: Protected) -> Rows:
    """The regression before and after: records, fit, and what each key contributes."""
    found = protected.comparison.regression
    fits = [] if found is None else [fit for fit in (found.before, found.after) if fit is not None]
    if found is None or not fits:
        return []
    lines = [
        _compare_fits(found, "records", lambda fit: fit.records),
        _compare_fits(found, "r_squared", lambda fit: fit.r_squared),
        _compare_fits(found, "residual", lambda fit: fit.residual_deviation),
    ]
    for n, effect in enumerate(fits[0].effects):
        read = partial(_read_effect, n, "contribution")
        lines.append(_compare_fits(found, "contribution", read, attribute=effect.name))
        slope = _compare_fits(
            found, "coefficient", partial(_read_effect, n, "coefficient"), attribute=effect.name
        )
        lines += [slope] if any(slope[1:]) else []
    return lines


def _read_effect(n: int, figure: str, fit: Fit) -> float | None:
    value: float | None = getattr(fit.effects[n], figure)
    return value


def describe_regression(protected: Protected) -> str:
    """What was fitted, and what was left out of it; nothing where nothing was."""
    found = protected.comparison.regression
    if found is None or not list_changes_of_regression(protected):
        return ""
    said = _render_phrase("regression.indicator" if found.is_indicator else "regression.number",
                target=found.target)  # fmt: skip
    if not found.left_out:
        return said
    return f"{said} {_render_phrase('regression.left_out', names=list(found.left_out))}"


def _compare_fits(
    found: RegressionChange, key: str, read: Callable[[Fit], float | None], **values: str
) -> tuple[str, str, str]:
    before, after = (
        _format_or_blank(None if f is None else read(f)) for f in (found.before, found.after)
    )
    return _render_phrase(f"regression.{key}", **values), before, after


def _format_or_blank(figure: float | None) -> str:
    return "" if figure is None else format_statistic(figure)


def _render_phrase(key: str, **values: Any) -> str:
    return str(Sentence(CATALOGUE, f"changes.{key}", values))


def list_changes_by_reason(protected: Protected) -> Rows:
    """By kind of change and the rule that asked for it: how many cells or records."""
    counts: dict[tuple[str, str], int] = {}
    for change in protected.decisions.changes:
        key = change.kind, change.rule
        size = protected.original.rows if change.whole_column else len(change.records)
        counts[key] = counts.get(key, 0) + size
    return [
        (_render_phrase(f"kind.{kind}"), rule, format_number(count))
        for (kind, rule), count in sorted(counts.items(), key=lambda each: -each[1])
    ]
