"""The figures of a protected dataset: rows for people, plain values for files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from divulge.assessment import Sentence
from divulge.assessment.sentence import format_number, format_percent, read_phrases
from divulge.records.risk.null_readings import SEMANTICS

if TYPE_CHECKING:
    from divulge.protection.result.protected import Protected


def collect_figures(protected: Protected) -> dict[str, Any]:
    """All figures and sentences as plain values; no value of a record."""
    return {
        "dataset": protected.original.name,
        "records": protected.original.rows,
        "attributes": list(protected.among),
        "limits": [limit.to_dict() for limit in protected.limits],
        "suppressed_cells": protected.suppressed_cells,
        "suppressed_records": protected.suppressed_records,
        "removed_records": protected.removed,
        "cost": protected.cost,
        "bound": protected.bound,
        "levels": dict(protected.levels),
        "proved": protected.proved,
        "proof": None if protected.proof is None else protected.proof.to_dict(),
        "recoding": None if protected.recoding is None else protected.recoding.to_dict(),
        "decisions": len(protected.decisions),
        "unobeyed": [failure.to_dict() for failure in protected.unobeyed],
        "alone": protected.alone(),
        "short": protected.short,
        "determined": {name: list(columns) for name, columns in protected.determined.items()},
        "dropped_columns": {name: list(told) for name, told in protected.dropped.items()},
        "naive_cells": protected.naive_cells,
        "naive_levels": dict(protected.naive_levels),
        "decoys": protected.decoys,
        "decoy_cells": protected.decoy_cells,
        "loss_without_decoys": None if protected.needed is None else protected.needed.loss,
        "method": None if protected.method is None else protected.method.to_dict(),
        "method_on_needed": None
        if protected.method_on_needed is None
        else protected.method_on_needed.to_dict(),
        "method_without_decoys": None
        if protected.needed is None or protected.needed.method is None
        else protected.needed.method.figures.to_dict(),
        "flatters": protected.flatters,
        "outcomes": [outcome.to_dict() for outcome in protected.outcomes],
        "undone": protected.undone,
        "utility": protected.utility.to_dict(),
        "changes": protected.comparison.to_dict(),
        "before": protected.before.to_dict(),
        "after": protected.after.to_dict(),
        "sentences": protected.explain(),
    }


def build_rows(protected: Protected) -> Sequence[tuple[str, str, str]]:
    """The figures for people: what, before, after."""
    first, then = protected.frequencies
    rows = [
        (
            _say_row("unique", nulls=name),
            format_number(first.others[name]),
            format_number(then.others[name]),
        )
        for name in SEMANTICS
    ]
    rows.append(
        (
            _say_row("right"),
            format_percent(protected.before.probabilistic.posterior),
            format_percent(protected.after.probabilistic.posterior),
        )
    )
    rows.append((_say_row("cells"), "", format_number(protected.suppressed_cells)))
    return [*rows, *_build_model_rows(protected)]


def _build_model_rows(protected: Protected) -> list[tuple[str, str, str]]:
    """How well the attribute that somebody chose is predicted; no row where none was chosen."""
    if protected.target is None or protected.utility.model is None:
        return []
    before, after = (format_percent(share) for share in protected.utility.model)
    return [(_say_row("model", attribute=protected.target), before, after)]


def read_head() -> tuple[str, ...]:
    """What stands above the rows."""
    return read_phrases("divulge.protection", "head.figures")


def _say_row(key: str, **values: Any) -> str:
    return str(Sentence("divulge.protection", f"row.{key}", values))
