"""What a report and a result show of a reconstruction beside its figures: the paper's tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Details, Sentence
from divulge.assessment.sentence import format_number, format_percent, read_phrases

if TYPE_CHECKING:
    from divulge.reconstruction.remedies.remedies import Remedies
    from divulge.reconstruction.reporting.result import Reconstruction

CATALOGUE = "divulge.reconstruction"


def build_details(
    reconstruction: Reconstruction, remedies: Remedies | None = None, target: int | None = None
) -> Details:
    """Success by phase (Table 6b), then instances (Table 5, Fig. 5), places (6a), remedies."""
    by_status = [
        (_say(f"status.{status}"), format_number(count), f"{complexity:.2f}", f"{seconds:.4f}")
        for status, (count, complexity, seconds) in reconstruction.table_5.items()
    ]
    places = [
        (place, format_number(n), format_number(value))
        for place, n, value in reconstruction.table_6a()
    ]
    more = [
        Details(read_head("instances"), by_status, (1, 2, 3), title=_say("title.instances")),
        Details(
            read_head("complexity"),
            format_complexity_rows(reconstruction),
            (1, 2, 3, 4, 5),
            (reconstruction.complexity_chart(),) if reconstruction.solved else (),
            title=_say("title.complexity"),
        ),
    ]
    if target is not None:
        more.insert(
            0,
            Details(
                read_head("target"),
                format_target_rows(reconstruction, target),
                (1, 2),
                title=_say("title.target"),
            ),
        )
    if places:
        title = _say("title.places")
        more.append(Details(read_head("places"), places, (1, 2), title=title))
    contradictions = [
        (table, place, amount, format_number(by))
        for table, place, amount, by in reconstruction.inconsistent()
    ]
    if contradictions:
        title = _say("title.contradictions")
        more.append(Details(read_head("contradictions"), contradictions, (3,), title=title))
    if remedies is not None:
        charts = (remedies.chart(),) if len(remedies) > 1 else ()
        as_it_is = remedies[0].sentences[1:]
        notes = [str(sentence) for sentence in [*as_it_is, *remedies.notes]]
        title, numbers = _say("title.remedies"), (2, 3, 4, 5)
        more.append(
            Details(
                read_head("remedies"), remedies.rows(), numbers, charts, title=title, notes=notes
            )
        )
    return Details(
        read_head("phases"),
        format_phase_rows(reconstruction),
        (1, 2, 3, 4, 5, 6),
        title=_say("title.phases"),
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
            label = (
                _say("complexity.one_bin")
                if row.up_to == 0
                else _say("complexity.above", bound=f"{row.above:g}")
            )
            closed = format_percent(row.closed / row.instances)
            finding = format_percent(row.with_finding / max(1, row.packages))
            figures = format_number(row.instances), closed, format_number(row.packages), finding
            rows.append((label, *figures, f"{row.seconds:.4f}"))
    return rows


def read_head(table: str) -> tuple[str, ...]:
    """The headings of one of the tables."""
    return read_phrases(CATALOGUE, f"head.{table}")


def _say(key: str, **values: Any) -> str:
    return Sentence(CATALOGUE, key, values).render()
