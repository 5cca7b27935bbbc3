"""Charts of audited tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from divulge.assessment import Chart
from divulge.assessment.chart import RISK_COLOUR, SAFE_COLOUR, build_title
from divulge.assessment.sentence import Sentence, format_percent, read_phrases
from divulge.tables.table.cells_by_level import CellsOfLevel
from divulge.tables.table.display import COLOURS, KIND_LETTERS, Crosstab, explain_kind
from divulge.work.arrays import Bools, Floats

CATALOGUE = "divulge.tables"

WidthBand = tuple[float, float]

FINE_BANDS: tuple[WidthBand, ...] = ((0, 0), (1, 4), (5, 9), (10, 49), (50, math.inf))
"""Widths of intervals in a table of small counts: known, nearly known, and ever wider."""


FINE_UP_TO = 100
"""Widths from which on bands are powers of ten."""
MOST_DECADES = 7
"""Bands of powers of ten at the most; what is narrower is put together."""


def choose_width_bands(*widths: Floats) -> list[WidthBand]:
    """Bands that fit the magnitude of the widths: exact ones apart, then powers of ten.

    Where nothing is wider than a hundred, they are fine enough for counts.

    >>> choose_width_bands(np.array([0.0, 12_000.0, 3e6]))
    [(0, 0), (1, 9999), (10000, 99999), (100000, 999999), (1000000, 9999999)]
    """
    wide = np.concatenate(widths) if widths else np.empty(0)
    wide = wide[np.isfinite(wide) & (wide > 0)]
    if not wide.size or wide.max() < FINE_UP_TO:
        return list(FINE_BANDS)
    lowest, highest = (math.floor(math.log10(each)) for each in (wide.min(), wide.max()))
    lowest = max(1, lowest, highest - MOST_DECADES + 1)
    edges = [1, *(10**power for power in range(lowest, highest + 2))]
    bands: list[WidthBand] = [
        (low, high - 1) for low, high in itertools.pairwise(edges) if high > low
    ]
    is_open = any(np.isinf(each).any() for each in widths)
    return [(0, 0), *bands, *([(edges[-1], math.inf)] if is_open else [])]


MAX_DRAWN_CELLS = 600
"""A table with more cells is not drawn: nobody could read it."""


def draw_audited_table(
    of_sensitive: Floats, tables: Sequence[Crosstab], levels: Sequence[CellsOfLevel] = ()
) -> Chart:
    """The crosstabs with their kinds of cells, and how wide the sensitive cells' intervals are.

    Where tables are too large to be read, `levels` tell at a glance how much of them is hidden.
    """
    import altair as alt

    width_chart, records, caption = _draw_widths(of_sensitive)
    small_tables = [
        table for table in tables if len(table.rows) * len(table.head) <= MAX_DRAWN_CELLS
    ]
    cells = [
        cell
        for number, table in enumerate(small_tables)
        for cell in _list_cell_records(number, table)
    ]
    if not cells and levels:
        level_chart, level_records, said = _draw_levels(levels)
        picture = alt.vconcat(level_chart, width_chart).resolve_scale(color="independent")
        return Chart.of(picture, [*level_records, *records], f"{said} {caption}")
    if not cells:
        return Chart.of(width_chart, records, caption)
    parts = [_draw_crosstab(number, table) for number, table in enumerate(small_tables)]
    counts = ", ".join(
        f"{sum(cell['kind'] == kind for cell in cells)} {explain_kind(kind)} ({KIND_LETTERS[kind]})"
        for kind in KIND_LETTERS
    )
    return Chart.of(
        alt.vconcat(*parts, width_chart).resolve_scale(color="independent"),
        [*records, *cells],
        _say("table.description", counts=counts, widths=caption),
    )


def _list_cell_records(number: int, table: Crosstab) -> Iterator[dict[str, Any]]:
    for row, kinds in zip(table.rows, table.kinds, strict=True):
        for column, text, kind in zip(table.head[1:], row[1:], kinds, strict=True):
            displayed_text = KIND_LETTERS.get(kind, text)
            yield {
                "table": number,
                "row": row[0],
                "column": column,
                "text": displayed_text,
                "kind": kind,
            }


def _draw_crosstab(number: int, table: Crosstab) -> Any:
    """Cells as squares: colour, and the letter for those who see no colours."""
    import altair as alt

    longest = max(len(name) for name in table.head[1:])
    step = min(max(36, 8 * longest), max(28, 700 // len(table.head)))
    angle = 0 if step >= 7 * longest else -40
    base = (
        alt.Chart(
            Chart.source(),
            title=alt.TitleParams(
                table.title or _say("table.title"),
                subtitle=[f"{KIND_LETTERS[kind]}  {explain_kind(kind)}" for kind in KIND_LETTERS],
            ),
        )
        .transform_filter(alt.datum.table == number)
        .encode(
            x=alt.X(
                "column:N",
                sort=list(table.head[1:]),
                title=None,
                axis=alt.Axis(orient="top", labelAngle=angle, domain=False, ticks=False),
            ),
            y=alt.Y(
                "row:N",
                sort=[row[0] for row in table.rows],
                title=table.head[0],
                axis=alt.Axis(domain=False, ticks=False),
            ),
        )
    )
    kinds, colours = list(COLOURS), list(COLOURS.values())
    squares = base.mark_rect(stroke="white").encode(
        color=alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=colours), legend=None)
    )
    pale = (alt.datum.kind == "") | (alt.datum.kind == "secondary")
    letters = base.mark_text(fontSize=12).encode(
        text="text:N", color=alt.condition(pale, alt.value("#1f2a37"), alt.value("white"))
    )
    return (squares + letters).properties(width=alt.Step(step), height=alt.Step(26))


def _draw_levels(levels: Sequence[CellsOfLevel]) -> tuple[Any, list[dict[str, Any]], str]:
    """By level, the share of cells and of the value that is suppressed, the finest level first."""
    import altair as alt

    kinds = read_phrases(CATALOGUE, "chart.levels.kinds")
    records: list[dict[str, Any]] = [
        {"level": each.name, "of": kind, "share": share}
        for each in levels
        for kind, share in zip(
            kinds,
            (each.suppressed / max(1, each.cells), each.suppressed_value / (each.value or 1)),
            strict=True,
        )
    ]
    worst = max(levels, key=lambda each: each.suppressed / max(1, each.cells))
    cells, suppressed = (sum(each.cells for each in levels), sum(e.suppressed for e in levels))
    finding = _say("levels.finding", cells=cells, suppressed=suppressed,
                   share=worst.suppressed / max(1, worst.cells), level=worst.name)  # fmt: skip
    chart = (
        alt.Chart(Chart.source(), title=build_title(finding, _say("levels.title")))
        .transform_filter("isValid(datum.level)")
        .mark_bar()
        .encode(
            y=alt.Y(
                "level:N",
                sort=[each.name for each in levels],
                title=None,
                axis=alt.Axis(labelLimit=260),
            ),
            x=alt.X("share:Q", title=_say("levels.share"), axis=alt.Axis(format="%")),
            yOffset=alt.YOffset("of:N", sort=list(kinds)),
            color=alt.Color(
                "of:N",
                sort=list(kinds),
                scale=alt.Scale(domain=list(kinds), range=[RISK_COLOUR, SAFE_COLOUR]),
                title=None,
            ),
        )
        .properties(width=380)
    )
    said = "; ".join(f"{r['level']}, {r['of']}: {format_percent(r['share'])}" for r in records)
    return chart, records, _say("levels.description", shares=said)


def _draw_widths(of_sensitive: Floats) -> tuple[Any, list[dict[str, Any]], str]:
    """How wide the intervals of the sensitive cells are: the known ones on the left."""
    import altair as alt

    bands = choose_width_bands(of_sensitive)
    labels = [_name_band(band) for band in bands]
    records: list[dict[str, Any]] = [
        {"width": label, "cells": int(_is_within_band(of_sensitive, band).sum())}
        for band, label in zip(bands, labels, strict=True)
    ]
    total, known = len(of_sensitive), records[0]["cells"]
    title = build_title(_say("widths.finding", total=total, known=known), _say("widths.title"))
    chart = (
        alt.Chart(Chart.source(), title=title)
        .transform_filter("isValid(datum.cells)")
        .mark_bar()
        .encode(
            y=alt.Y("width:N", sort=labels, title=None),
            x=alt.X(
                "cells:Q",
                title=_say("widths.cells"),
                axis=alt.Axis(format=",d", values=_list_whole_ticks(records)),
            ),
            color=alt.condition(
                alt.datum.width == labels[0], alt.value(RISK_COLOUR), alt.value(SAFE_COLOUR)
            ),
        )
        .properties(width=420)
    )
    counts_text = "; ".join(f"{record['width']}: {record['cells']}" for record in records)
    return chart, records, _say("widths.description", counts=counts_text)


def draw_matching_widths(by_sums: Floats, effective: Floats, required_width: int | None) -> Chart:
    """How wide sensitive cells are by the sums alone, and for who knows the suppressor."""
    import altair as alt

    knows = read_phrases(CATALOGUE, "chart.matching.knows")
    bands = choose_width_bands(by_sums, effective)
    labels = [_name_band(band) for band in bands]
    records = [
        {"width": label, "knows": knowledge, "cells": int(_is_within_band(widths, band).sum())}
        for knowledge, widths in zip(knows, (by_sums, effective), strict=True)
        for band, label in zip(bands, labels, strict=True)
    ]
    before, after = (int(np.count_nonzero(widths == 0)) for widths in (by_sums, effective))
    total = len(effective)
    finding = _say("matching.finding", total=total, known=after, before=before)
    title = build_title(finding, _say("matching.title"))
    chart = (
        alt.Chart(Chart.source(), title=title)
        .mark_bar()
        .encode(
            y=alt.Y("width:N", sort=labels, title=None),
            yOffset=alt.YOffset("knows:N", sort=list(knows)),
            x=alt.X(
                "cells:Q",
                title=_say("widths.cells"),
                axis=alt.Axis(format=",d", values=_list_whole_ticks(records)),
            ),
            color=alt.Color(
                "knows:N",
                sort=list(knows),
                scale=alt.Scale(domain=list(knows), range=[SAFE_COLOUR, RISK_COLOUR]),
                title=_say("matching.adversary"),
            ),
        )
        .properties(width=420)
    )
    key = "widths.description" if required_width is None else "matching.description"
    counts_text = "; ".join(f"{r['knows']}, {r['width']}: {r['cells']}" for r in records)
    return Chart.of(chart, records, _say(key, required=required_width, counts=counts_text))


def _name_band(band: WidthBand) -> str:
    """What a band of widths is called."""
    low, high = band
    if high == 0:
        return _say("widths.band.known")
    if math.isinf(high):
        return _say("widths.band.open", low=low)
    return _say("widths.band.range", low=low, high=high)


def _is_within_band(widths: Floats, band: WidthBand) -> Bools:
    low, high = band
    if high == 0:
        return np.asarray(widths == 0)
    # What is narrower than 1, and not known, is in the lowest band.
    inside: Bools = (widths >= low if low > 1 else widths > 0) & (widths < high + 1)
    return inside | (np.isinf(widths) & math.isinf(high))


def _list_whole_ticks(records: Sequence[dict[str, Any]]) -> list[int]:
    """Places for ticks on an axis of cells: half a cell there is not."""
    most = max(record["cells"] for record in records)
    power = 10 ** max(0, math.floor(math.log10(max(1, most))) - 1)
    step = next(n * power for n in (1, 2, 5, 10, 20) if 5 * n * power >= most)
    return list(range(0, most + step, step))


def _say(key: str, **values: Any) -> str:
    return str(Sentence(CATALOGUE, f"chart.{key}", values))
