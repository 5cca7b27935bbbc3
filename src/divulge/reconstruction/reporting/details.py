"""What a report and a result show of a reconstruction beside its figures: the paper's tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Details
from divulge.assessment.sentence import number, percent

if TYPE_CHECKING:
    from divulge.reconstruction.remedies.remedies import Remedies
    from divulge.reconstruction.reporting.result import Reconstruction

BY_PHASE = ("phase", "chance", "by counting", "leakage", "placed", "named", "value")
OF_TARGET = ("phase", "chance", "factor")
BY_COMPLEXITY = ("complexity", "instances", "closed", "packages", "with a finding", "mean seconds")
BY_STATUS = ("instances", "count", "mean complexity", "mean seconds")
BY_PLACE = ("place", "records named", "value")
OF_CONTRADICTIONS = ("table", "place", "amount", "wrong at least by")
BY_REMEDY = (
    *("remedy", "strength", "places certain", "undecided"),
    *("named", "utility lost", "enough"),
)
_STATUS = {"closed": "settled", "open": "not settled in time", "infeasible": "contradict"}


def details_of(
    found: Reconstruction, remedies: Remedies | None = None, target: int | None = None
) -> Details:
    """Success by phase (Table 6b), then instances (Table 5, Fig. 5), places (6a), remedies."""
    by_status = [
        (_STATUS[status], number(count), f"{complexity:.2f}", f"{seconds:.4f}")
        for status, (count, complexity, seconds) in found.table_5.items()
    ]
    places = [(place, number(n), number(value)) for place, n, value in found.table_6a()]
    more = [
        Details(BY_STATUS, by_status, (1, 2, 3), title="Instances"),
        Details(
            BY_COMPLEXITY,
            rows_by_complexity(found),
            (1, 2, 3, 4, 5),
            (found.complexity_chart(),) if found.solved else (),
            title="Instances by complexity (log10 of bins to the packages)",
        ),
    ]
    if target is not None:
        more.insert(0, Details(OF_TARGET, rows_of(found, target), (1, 2), title="One target"))
    if places:
        title = "Places with the largest value re-identified"
        more.append(Details(BY_PLACE, places, (1, 2), title=title))
    wrong = [
        (table, place, amount, number(by)) for table, place, amount, by in found.inconsistent()
    ]
    if wrong:
        title = "Totals that contradict the records: one way to make them fit"
        more.append(Details(OF_CONTRADICTIONS, wrong, (3,), title=title))
    if remedies is not None:
        drawn = (remedies.chart(),) if len(remedies) > 1 else ()
        as_it_is = remedies[0].sentences[1:]
        notes = [str(said) for said in [*as_it_is, *remedies.notes]]
        title, numbers = "What would help", (2, 3, 4, 5)
        more.append(Details(BY_REMEDY, remedies.rows(), numbers, drawn, title=title, notes=notes))
    return Details(
        BY_PHASE, rows_by_phase(found), (1, 2, 3, 4, 5, 6), title="Phase by phase", more=more
    )


def plain_of(
    found: Reconstruction, remedies: Remedies | None = None, target: int | None = None
) -> dict[str, Any]:
    """The same as plain values, for JSON, without times: the result of a release stays the same."""
    told: dict[str, Any] = {
        "input": vars(found.found_in_data),
        "rounding": {x.matched.totals.dataset.name: x.rule for x in found.levels},
        "phases": [vars(row) for row in found.table_6b],
        "instances": {
            status: {"count": count, "complexity": complexity}
            for status, (count, complexity, _) in found.table_5.items()
        },
        "by_complexity": [
            {
                **{name: value for name, value in vars(row).items() if name != "seconds"},
                "up_to": row.up_to if np.isfinite(row.up_to) else None,
            }
            for row in found.by_complexity
        ],
        "places": [
            {"place": place, "records": records, "value": value}
            for place, records, value in found.table_6a()
        ],
        "inconsistent": [
            {"table": table, "place": place, "amount": amount, "at_least": by}
            for table, place, amount, by in found.inconsistent()
        ],
    }
    if target is not None:
        told["target"] = [vars(row) for row in found.table_4(target)]
    return told if remedies is None else {**told, "what_would_help": remedies.to_dict()}


def times_of(found: Reconstruction) -> dict[str, Any]:
    """The mean seconds of an instance, by how it ended and by class of complexity (Fig. 5)."""
    return {
        "by_status": {status: seconds for status, (_, _, seconds) in found.table_5.items()},
        "by_complexity": [row.seconds for row in found.by_complexity],
    }


def rows_by_phase(found: Reconstruction) -> Sequence[tuple[str, ...]]:
    """Table 6b for people: phase, chance, by counting, leakage, places, records, value."""
    return [
        (
            row.phase,
            percent(row.probability),
            percent(row.by_counting),
            f"x{number(row.leakage)}",
            number(row.certain_places),
            number(row.identified),
            number(row.value),
        )
        for row in found.table_6b
    ]


def rows_of(found: Reconstruction, target: int) -> list[tuple[str, ...]]:
    """Table 4 for people: phase, chance, and the factor over the phase before."""
    return [
        (row.phase, f"1/{row.parties:,.0f}", f"x{row.factor:,.1f}") for row in found.table_4(target)
    ]


def rows_by_complexity(found: Reconstruction) -> list[tuple[str, ...]]:
    """Classes of complexity for people, those that have instances."""
    rows: list[tuple[str, ...]] = []
    for row in found.by_complexity:
        if row.instances:
            label = "one bin" if row.up_to == 0 else f"above {row.above:g}"
            closed = percent(row.closed / row.instances)
            finding = percent(row.with_finding / max(1, row.packages))
            many = number(row.instances), closed, number(row.packages), finding
            rows.append((label, *many, f"{row.seconds:.4f}"))
    return rows
