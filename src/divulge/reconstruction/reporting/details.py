"""What a report and a result show of a reconstruction beside its figures: the paper's tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Details
from divulge.assessment.sentence import format_number, format_percent

if TYPE_CHECKING:
    from divulge.reconstruction.remedies.remedies import Remedies
    from divulge.reconstruction.reporting.result import Reconstruction

PHASE_COLUMNS = ("phase", "chance", "by counting", "leakage", "placed", "named", "value")
TARGET_COLUMNS = ("phase", "chance", "factor")
COMPLEXITY_COLUMNS = (
    "complexity",
    "instances",
    "closed",
    "packages",
    "with a finding",
    "mean seconds",
)
STATUS_COLUMNS = ("instances", "count", "mean complexity", "mean seconds")
PLACE_COLUMNS = ("place", "records named", "value")
CONTRADICTION_COLUMNS = ("table", "place", "amount", "wrong at least by")
REMEDY_COLUMNS = (
    *("remedy", "strength", "places certain", "undecided"),
    *("named", "utility lost", "enough"),
)
_STATUS_LABELS = {"closed": "settled", "open": "not settled in time", "infeasible": "contradict"}


def build_details(
    reconstruction: Reconstruction, remedies: Remedies | None = None, target: int | None = None
) -> Details:
    """Success by phase (Table 6b), then instances (Table 5, Fig. 5), places (6a), remedies."""
    by_status = [
        (_STATUS_LABELS[status], format_number(count), f"{complexity:.2f}", f"{seconds:.4f}")
        for status, (count, complexity, seconds) in reconstruction.table_5.items()
    ]
    places = [
        (place, format_number(n), format_number(value))
        for place, n, value in reconstruction.table_6a()
    ]
    more = [
        Details(STATUS_COLUMNS, by_status, (1, 2, 3), title="Instances"),
        Details(
            COMPLEXITY_COLUMNS,
            format_complexity_rows(reconstruction),
            (1, 2, 3, 4, 5),
            (reconstruction.complexity_chart(),) if reconstruction.solved else (),
            title="Instances by complexity (log10 of bins to the packages)",
        ),
    ]
    if target is not None:
        more.insert(
            0,
            Details(
                TARGET_COLUMNS,
                format_target_rows(reconstruction, target),
                (1, 2),
                title="One target",
            ),
        )
    if places:
        title = "Places with the largest value re-identified"
        more.append(Details(PLACE_COLUMNS, places, (1, 2), title=title))
    contradictions = [
        (table, place, amount, format_number(by))
        for table, place, amount, by in reconstruction.inconsistent()
    ]
    if contradictions:
        title = "Totals that contradict the records: one way to make them fit"
        more.append(Details(CONTRADICTION_COLUMNS, contradictions, (3,), title=title))
    if remedies is not None:
        charts = (remedies.chart(),) if len(remedies) > 1 else ()
        as_it_is = remedies[0].sentences[1:]
        notes = [str(sentence) for sentence in [*as_it_is, *remedies.notes]]
        title, numbers = "What would help", (2, 3, 4, 5)
        more.append(
            Details(REMEDY_COLUMNS, remedies.rows(), numbers, charts, title=title, notes=notes)
        )
    return Details(
        PHASE_COLUMNS,
        format_phase_rows(reconstruction),
        (1, 2, 3, 4, 5, 6),
        title="Phase by phase",
        more=more,
    )


def build_plain_values(
    reconstruction: Reconstruction, remedies: Remedies | None = None, target: int | None = None
) -> dict[str, Any]:
    """The same as plain values, for JSON, without times: the result of a release stays the same."""
    plain: dict[str, Any] = {
        "input": vars(reconstruction.found_in_data),
        "rounding": {x.totals_match.totals.dataset.name: x.rule for x in reconstruction.levels},
        "phases": [vars(row) for row in reconstruction.table_6b],
        "instances": {
            status: {"count": count, "complexity": complexity}
            for status, (count, complexity, _) in reconstruction.table_5.items()
        },
        "by_complexity": [
            {
                **{name: value for name, value in vars(row).items() if name != "seconds"},
                "up_to": row.up_to if np.isfinite(row.up_to) else None,
            }
            for row in reconstruction.by_complexity
        ],
        "places": [
            {"place": place, "records": records, "value": value}
            for place, records, value in reconstruction.table_6a()
        ],
        "inconsistent": [
            {"table": table, "place": place, "amount": amount, "at_least": by}
            for table, place, amount, by in reconstruction.inconsistent()
        ],
    }
    if target is not None:
        plain["target"] = [vars(row) for row in reconstruction.table_4(target)]
    return plain if remedies is None else {**plain, "what_would_help": remedies.to_dict()}


def collect_times(reconstruction: Reconstruction) -> dict[str, Any]:
    """The mean seconds of an instance, by how it ended and by class of complexity (Fig. 5)."""
    return {
        "by_status": {
            status: seconds for status, (_, _, seconds) in reconstruction.table_5.items()
        },
        "by_complexity": [row.seconds for row in reconstruction.by_complexity],
    }


def format_phase_rows(reconstruction: Reconstruction) -> Sequence[tuple[str, ...]]:
    """Table 6b for people: phase, chance, by counting, leakage, places, records, value."""
    return [
        (
            row.phase,
            format_percent(row.probability),
            format_percent(row.by_counting),
            f"x{format_number(row.leakage)}",
            format_number(row.certain_places),
            format_number(row.identified),
            format_number(row.value),
        )
        for row in reconstruction.table_6b
    ]


def format_target_rows(reconstruction: Reconstruction, target: int) -> list[tuple[str, ...]]:
    """Table 4 for people: phase, chance, and the factor over the phase before."""
    return [
        (row.phase, f"1/{row.parties:,.0f}", f"x{row.factor:,.1f}")
        for row in reconstruction.table_4(target)
    ]


def format_complexity_rows(reconstruction: Reconstruction) -> list[tuple[str, ...]]:
    """Classes of complexity for people, those that have instances."""
    rows: list[tuple[str, ...]] = []
    for row in reconstruction.by_complexity:
        if row.instances:
            label = "one bin" if row.up_to == 0 else f"above {row.above:g}"
            closed = format_percent(row.closed / row.instances)
            finding = format_percent(row.with_finding / max(1, row.packages))
            figures = format_number(row.instances), closed, format_number(row.packages), finding
            rows.append((label, *figures, f"{row.seconds:.4f}"))
    return rows
