"""How a table looks: rows of text, with the kinds of its cells seen at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from divulge.tables.structure import BoolArray, Structure

if TYPE_CHECKING:
    from rich.console import RenderableType


def rows_of(structure: Structure, texts: Sequence[str]) -> list[list[str]]:
    """A head and one row a code of the first dimensions; the last dimension goes across."""
    axes, numbers = structure.grids[0], structure.numbers[0]
    head = [" x ".join(axis.name for axis in axes[:-1]) or axes[-1].name, *axes[-1].codes]
    lines = numbers.reshape(-1, axes[-1].size)
    starts = [""]
    for axis in axes[:-1]:
        starts = [f"{start} {code}".strip() for start in starts for code in axis.codes]
    return [
        head,
        *(
            [start, *(texts[cell] for cell in line)]
            for start, line in zip(starts, lines.tolist(), strict=True)
        ),
    ]


KINDS = ("", "primary", "secondary", "disclosed")
"""What a cell may be: published, sensitive, suppressed for others, suppressed and yet known."""

_STYLES = {
    "primary": "bold white on red",
    "secondary": "black on yellow",
    "disclosed": "bold magenta",
}
_COLOURS = {"primary": "#c2452d", "secondary": "#e9c46a", "disclosed": "#7b2d8b"}
_MARKS = {"primary": "P", "secondary": "*", "disclosed": "!"}


def crosstab_text(rows: Sequence[Sequence[str]], kinds: Sequence[Sequence[str]]) -> RenderableType:
    """A crosstab for a terminal: P primary, * secondary, ! suppressed and yet known."""
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(*rows[0], box=None, header_style="dim")
    for row, of_row in zip(rows[1:], kinds, strict=True):
        cells = [
            Text(f"{_MARKS[kind]}", style=_STYLES[kind]) if kind else Text(text)
            for text, kind in zip(row[1:], of_row, strict=True)
        ]
        table.add_row(Text(row[0]), *cells)
    return table


def crosstab_html(rows: Sequence[Sequence[str]], kinds: Sequence[Sequence[str]]) -> str:
    """A crosstab as HTML, with the suppressed cells marked by colour and by letter.

    >>> crosstab_html([["", "a"], ["x", "7"]], [["primary"]]).count("P")
    1
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
    lines = []
    for row, of_row in zip(rows[1:], kinds, strict=True):
        cells = "".join(
            f'<td style="background:{_COLOURS[kind]}" title="{kind}">{_MARKS[kind]}</td>'
            if kind
            else f"<td>{escape(text)}</td>"
            for text, kind in zip(row[1:], of_row, strict=True)
        )
        lines.append(f"<tr><th>{escape(row[0])}</th>{cells}</tr>")
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>"


def kinds_of(
    structure: Structure, suppressed: BoolArray, primary: BoolArray, disclosed: BoolArray
) -> list[list[str]]:
    """The kind of every cell, in the rows of `rows_of`."""
    kind = np.where(suppressed, np.where(primary, 1, 2), 0)
    kind[disclosed] = 3
    lines = kind[structure.numbers[0]].reshape(-1, structure.grids[0][-1].size)
    return [[KINDS[k] for k in line] for line in lines.tolist()]
