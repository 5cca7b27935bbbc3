"""The page of the matching-attack benchmark: the paper's tables and figures beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matching_attack import (
    PAPER_BY_DIMENSION,
    PAPER_SECONDS,
    PAPER_UNSAFE,
    PAPER_WIDTHS,
    WIDTH,
)

from divulge.assessment import Chart
from divulge.assessment.chart import BEFORE_COLOUR, RISK_COLOUR, SAFE_COLOUR

RecordsBySize = Mapping[tuple[int, bool], Sequence[Mapping[str, Any]]]
SOURCES = ("paper", "ours, zeros not primary", "ours, zeros primary")
COLOURS = [BEFORE_COLOUR, SAFE_COLOUR, RISK_COLOUR]

HEAD = """<!doctype html><html lang="en"><meta charset="utf-8">
<title>The matching attack: the paper's experiment beside ours</title>
<style>body{font:15px/1.5 Arial,'Liberation Sans',sans-serif;max-width:60rem;margin:2rem auto;
padding:0 1rem;color:#1f2a37}table{border-collapse:collapse;margin:1rem 0}
th,td{padding:.25rem .8rem;text-align:right;border-bottom:1px solid #dde3e8}
th:first-child,td:first-child{text-align:left}svg{max-width:100%;height:auto}</style>"""

SETUP_NOTE = """<p>Minami and Abe (2019), Section 4: square tables drawn from N(15, 10), minimum
frequency 5, width 8; 50 tables a size there; here, drawn by
ourselves (zeros not primary and primary): {count}. The paper does not
say whether zeros are primary cells (both rules are shown), whether the release is labelled (here:
not), nor how ties are broken (here: the first pattern in the order of cells). Its Equation 8 fixes
the suppressed cells where it means the published ones. Its Definition 3 asks for a width above 8,
its Definition 4 for at least 8 (here: at least). Its Algorithm 1 leaves the maximum of a cell wrong
where a candidate sets a new minimum (here: not), which makes some intervals too narrow.</p>"""

FOUR_SUPPRESSORS = """\
<p>Each is attacked by somebody who knows it, and all but the seed. The chance of a best
guess and the number of values that hold 95% of the posterior take every table that agrees with the
release as equally likely before; for random costs they are estimates.
Tables: {count}.</p>"""


def build_page(found: RecordsBySize, compared: RecordsBySize, defended: RecordsBySize) -> str:
    """The whole page, of what there is so far."""
    sizes = sorted(cells for cells, zeros in found if zeros and (cells, False) in found)
    counts = ", ".join(
        f"{len(found[cells, False])} and {len(found[cells, True])} of {cells} cells"
        for cells in sizes
    )
    parts = [
        HEAD,
        "<h1>The matching attack: the paper's experiment beside ours</h1>",
        SETUP_NOTE.format(count=counts or "none yet"),
    ]
    if sizes:
        parts += [
            "<h2>Table 2 and Figure 6: unsafe primary cells</h2>",
            _table_2(found, sizes),
            _figure_6(found, sizes).svg(),
            "<h2>Table 3: unsafe share by the dimension of the null space</h2>",
            _table_3(found, sizes),
            "<h2>Figure 7: candidate tables by the dimension of the null space</h2>",
            _figure_7(found).svg(),
            "<h2>Table 4 and Figure 8: widths of unsafe cells</h2>",
            _table_4(found, sizes),
            _figure_8(found, sizes).svg(),
            _describe_exact_cells(found, sizes),
            "<h2>Table 5: seconds an attack</h2>",
            _table_5(found, sizes),
        ]
    if compared:
        figures = {
            cells: summarise_suppressors(records)
            for (cells, _), records in sorted(compared.items())
        }
        counts_compared = ", ".join(
            f"{len(r)} of {cells} cells" for (cells, _), r in compared.items()
        )
        parts += [
            "<h2>Four suppressors side by side (zeros primary)</h2>",
            FOUR_SUPPRESSORS.format(count=counts_compared),
            _table_suppressors(figures),
            _figure_suppressors(figures).svg(),
        ]
    if defended:
        parts += ["<h2>Resisting: many tables</h2>", _table_draws(defended)]
    return "\n".join(parts)


def summarise_suppressors(records: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """The four suppressors over all tables: shares of primary cells, cells a table, price."""
    least = 0
    figures = {}
    for name in records[0]:
        sums = {key: sum(record[name][key] for record in records) for key in records[0][name]}
        least = least or sums["cells"]
        figures[name] = {
            "unsafe": sums["unsafe"] / sums["primary"],
            "vulnerability": sums["right"] / sums["primary"],
            "likely": sums["likely"] / sums["primary"],
            "cells": sums["cells"] / len(records),
            "price": sums["cells"] / least - 1,
        }
    return figures


def summarise_draws(records: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Drawn releases over all tables."""
    sums = {key: sum(record[key] for record in records) for key in records[0]}
    return {
        "tables": len(records),
        "primary": sums["primary"],
        "unsafe": sums["unsafe"],
        "draws": sums["draws"] / len(records),
        "price": sums["cells"] / sums["least"] - 1,
        "seconds": sums["seconds"] / len(records),
    }


def format_table(head: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    """A table in HTML."""
    top = "".join(f"<th>{text}</th>" for text in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{value}</td>" for value in line) + "</tr>" for line in lines
    )
    return f"<table><tr>{top}</tr>{body}</table>"


def _list_widths(records: Sequence[Mapping[str, Any]]) -> Any:
    return np.array([width for record in records for width in record["widths"]])


def _count_unsafe(records: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    widths = _list_widths(records)
    return int((widths < WIDTH).sum()), len(widths)


def _format_ratio(pair: tuple[int, int]) -> str:
    return f"{pair[0]} of {pair[1]} ({pair[0] / max(pair[1], 1):.2f})"


def _table_2(found: RecordsBySize, sizes: Sequence[int]) -> str:
    lines = [
        [
            cells,
            _format_ratio(PAPER_UNSAFE[cells]),
            _format_ratio(_count_unsafe(found[cells, False])),
            _format_ratio(_count_unsafe(found[cells, True])),
        ]
        for cells in sizes
    ]
    return format_table(["cells", *SOURCES], lines)


def _figure_6(found: RecordsBySize, sizes: Sequence[int]) -> Chart:
    import altair as alt

    records = []
    for cells in sizes:
        pairs = (
            PAPER_UNSAFE[cells],
            _count_unsafe(found[cells, False]),
            _count_unsafe(found[cells, True]),
        )
        for who, (unsafe, primary) in zip(SOURCES, pairs, strict=True):
            records.append({"cells": cells, "who": who, "share": unsafe / max(primary, 1)})
    drawn = (
        alt.Chart(Chart.source(), title="Share of primary cells that are unsafe")
        .mark_bar()
        .encode(
            x=alt.X("cells:O", title="cells of a table", axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("who:N", sort=list(SOURCES)),
            y=alt.Y("share:Q", title="unsafe", axis=alt.Axis(format=".0%")),
            color=_who_colour(),
        )
        .properties(width=480, height=240)
    )
    return Chart.of(drawn, records, "Unsafe shares by size of table, the paper's and ours")


def _who_colour() -> Any:
    import altair as alt

    scale = alt.Scale(domain=list(SOURCES), range=COLOURS)
    return alt.Color(
        "who:N",
        sort=list(SOURCES),
        scale=scale,
        title=None,
        legend=alt.Legend(labelLimit=300, orient="top", columnPadding=40),
    )


def _table_3(found: RecordsBySize, sizes: Sequence[int]) -> str:
    lines = []
    for cells in sizes:
        for who, zeros in zip(SOURCES, (None, False, True), strict=True):
            line: list[object] = [f"{cells}, {who}"]
            for dimension in range(1, 8):
                if zeros is None:
                    share = PAPER_BY_DIMENSION[cells].get(dimension)
                else:
                    chosen = [r for r in found[cells, zeros] if r["dimension"] == dimension]
                    pair = _count_unsafe(chosen)
                    share = pair[0] / pair[1] if pair[1] else None
                line.append("" if share is None else f"{share:.2f}")
            lines.append(line)
    return format_table(["cells, dimension", *map(str, range(1, 8))], lines)


def _figure_7(found: RecordsBySize) -> Chart:
    import altair as alt

    records = [
        {
            "size": f"{cells} cells",
            "dimension": record["dimension"],
            "candidates": record["candidates"],
        }
        for (cells, zeros), of_size in found.items()
        if zeros
        for record in of_size
        if record["complete"]
    ]
    drawn = (
        alt.Chart(Chart.source())
        .mark_boxplot(color=SAFE_COLOUR, median={"color": RISK_COLOUR}, size=16)
        .encode(
            x=alt.X("dimension:O", title="dimension", axis=alt.Axis(labelAngle=0)),
            y=alt.Y(
                "candidates:Q",
                scale=alt.Scale(type="log"),
                title="candidate tables",
                axis=alt.Axis(format="~s", tickCount=6),
            ),
            column=alt.Column("size:N", title="Candidate tables (zeros primary)"),
        )
        .properties(width=150, height=240)
    )
    return Chart.of(drawn, records, "Candidate tables by dimension of the null space and size")


def _count_widths(records: Sequence[Mapping[str, Any]]) -> list[int]:
    widths = _list_widths(records)
    return [int((widths == width).sum()) for width in range(WIDTH)]


def _table_4(found: RecordsBySize, sizes: Sequence[int]) -> str:
    lines = []
    for cells in sizes:
        counts_by_source = (
            PAPER_WIDTHS[cells],
            _count_widths(found[cells, False]),
            _count_widths(found[cells, True]),
        )
        lines += [
            [f"{cells}, {who}", *counts]
            for who, counts in zip(SOURCES, counts_by_source, strict=True)
        ]
    return format_table(["cells, width", *map(str, range(WIDTH))], lines)


def _figure_8(found: RecordsBySize, sizes: Sequence[int]) -> Chart:
    import altair as alt

    records = []
    for cells in sizes:
        counts_by_source = (
            PAPER_WIDTHS[cells],
            _count_widths(found[cells, False]),
            _count_widths(found[cells, True]),
        )
        for who, counts in zip(SOURCES, counts_by_source, strict=True):
            whole = max(sum(counts), 1)
            records += [
                {"size": f"{cells} cells", "who": who, "width": width, "share": count / whole}
                for width, count in enumerate(counts)
            ]
    drawn = (
        alt.Chart(Chart.source())
        .mark_bar()
        .encode(
            x=alt.X("width:O", title="width", axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("who:N", sort=list(SOURCES)),
            y=alt.Y("share:Q", title="share of unsafe cells", axis=alt.Axis(format=".0%")),
            color=_who_colour(),
            column=alt.Column("size:N", title="Widths of unsafe cells"),
        )
        .properties(width=190, height=220)
    )
    return Chart.of(drawn, records, "Widths of unsafe cells by size of table")


def _describe_exact_cells(found: RecordsBySize, sizes: Sequence[int]) -> str:
    """How many unsafe cells are known exactly, the paper's and ours."""
    sentences = []
    for cells in sizes:
        shares = [
            counts[0] / max(sum(counts), 1)
            for counts in (
                PAPER_WIDTHS[cells],
                _count_widths(found[cells, False]),
                _count_widths(found[cells, True]),
            )
        ]
        sentences.append(f"{cells} cells: " + ", ".join(f"{share:.0%}" for share in shares))
    return (
        "<p>Share of unsafe cells that are known exactly (paper; zeros not primary; primary): "
        f"{'; '.join(sentences)}.</p>"
    )


def _table_5(found: RecordsBySize, sizes: Sequence[int]) -> str:
    lines = []
    for cells in sizes:
        paper = PAPER_SECONDS[cells]
        line: list[object] = [cells, "" if paper is None else f"{paper:g}"]
        for zeros in (False, True):
            seconds = [record["seconds"] for record in found[cells, zeros]]
            line.append(f"{np.mean(seconds):.4f} / {np.median(seconds):.4f}")
        primary = float(np.mean([record["seconds"] for record in found[cells, True]]))
        line.append("" if paper is None else f"{paper / primary:,.0f}")
        line.append(sum(not record["complete"] for record in found[cells, True]))
        lines.append(line)
    head = ["cells", "paper, mean", *(f"{who}, mean / median" for who in SOURCES[1:])]
    return format_table([*head, "times faster", "estimates (zeros primary)"], lines)


def _table_suppressors(figures_by_size: Mapping[int, Any]) -> str:
    lines = [
        [
            f"{cells}, {name}",
            f"{figures['unsafe']:.2f}",
            f"{figures['vulnerability']:.2f}",
            f"{figures['likely']:.1f}",
            f"{figures['cells']:.1f}",
            f"{figures['price']:+.1%}",
        ]
        for cells, of_size in figures_by_size.items()
        for name, figures in of_size.items()
    ]
    head = ["cells, suppressor", "unsafe", "best guess", "likely values", "suppressed", "price"]
    return format_table(head, lines)


def _figure_suppressors(figures_by_size: Mapping[int, Any]) -> Chart:
    import altair as alt

    records = [
        {"size": f"{cells} cells", "suppressor": name, "figure": what, "share": figures[key]}
        for cells, of_size in figures_by_size.items()
        for name, figures in of_size.items()
        for what, key in (("unsafe cells", "unsafe"), ("best guess right", "vulnerability"))
    ]
    names = list(next(iter(figures_by_size.values())))
    figures = ["unsafe cells", "best guess right"]
    drawn = (
        alt.Chart(Chart.source())
        .mark_bar()
        .encode(
            y=alt.Y(
                "suppressor:N", sort=names, title=None, axis=alt.Axis(labelLimit=300, minExtent=150)
            ),
            yOffset=alt.YOffset("figure:N", sort=figures),
            x=alt.X("share:Q", title="share of primary cells", axis=alt.Axis(format=".0%")),
            color=alt.Color(
                "figure:N",
                sort=figures,
                scale=alt.Scale(domain=figures, range=[RISK_COLOUR, SAFE_COLOUR]),
                title=None,
                legend=alt.Legend(orient="top", columnPadding=40),
            ),
            column=alt.Column("size:N", title="Who knows the suppressor"),
        )
        .properties(width=220, height=200)
    )
    return Chart.of(drawn, records, "Unsafe cells and best guesses under four suppressors")


def _table_draws(defended: RecordsBySize) -> str:
    safe = {key: summarise_draws(records) for key, records in sorted(defended.items())}
    lines = [
        [
            f"{cells}, zeros {'primary' if zeros else 'not primary'}",
            draw_figures["tables"],
            _format_ratio((int(draw_figures["unsafe"]), int(draw_figures["primary"]))),
            f"{draw_figures['draws']:.2f}",
            f"{draw_figures['price']:+.1%}",
            f"{draw_figures['seconds']:.3f}",
        ]
        for (cells, zeros), draw_figures in safe.items()
    ]
    head = ["cells", "tables", "unsafe", "draws a table", "price in cells", "seconds a table"]
    return format_table(head, lines)
