"""How a table looks: a crosstab in which the kinds of its cells are seen at a glance.

A kind is told three ways, so that nobody needs colours: by a letter, by a colour, and in a page
also by the kind of frame and by words for those who hear it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from divulge.assessment import Sentence
from divulge.tables.table.structure import Structure
from divulge.work.arrays import Bools

if TYPE_CHECKING:
    from rich.console import RenderableType

KINDS = ("", "primary", "secondary", "disclosed")
"""What a cell may be: published, sensitive, suppressed for others, suppressed and yet known."""

KIND_LETTERS = {"primary": "P", "secondary": "*", "disclosed": "!"}
COLOURS = {"": "#f4f5f7", "primary": "#c2452d", "secondary": "#e9c46a", "disclosed": "#7b2d8b"}
_STYLES = {
    "primary": "bold white on red",
    "secondary": "black on yellow",
    "disclosed": "bold white on magenta",
}
_FRAMES = {"primary": "2px solid", "secondary": "2px dashed", "disclosed": "4px double"}
_INK = {"primary": "#fff", "secondary": "#1f2a37", "disclosed": "#fff"}


@dataclass(frozen=True)
class Crosstab:
    """A head, rows of text with their kinds, and a title where there are several tables."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    kinds: tuple[tuple[str, ...], ...]
    title: str = ""

    def to_text(self) -> RenderableType:
        """For a terminal: P primary, * secondary, ! suppressed and yet known."""
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(*self.head, box=None, header_style="dim", title=self.title or None)
        for row, of_row in zip(self.rows, self.kinds, strict=True):
            cells = [
                Text(_mark_text(text, kind), style=_STYLES.get(kind, ""))
                for text, kind in zip(row[1:], of_row, strict=True)
            ]
            table.add_row(Text(row[0]), *cells)
        return table

    def to_html(self) -> str:
        """For a page: marked by letter, frame and colour; the meaning is in the title."""
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in self.head)
        lines = []
        for row, of_row in zip(self.rows, self.kinds, strict=True):
            cells = "".join(map(_render_html_cell, row[1:], of_row))
            lines.append(f'<tr><th scope="row">{escape(row[0])}</th>{cells}</tr>')
        present = [kind for kind in KIND_LETTERS if any(kind in of_row for of_row in self.kinds)]
        legend = "; ".join(f"{KIND_LETTERS[kind]} {explain_kind(kind)}" for kind in present)
        caption = ". ".join(part for part in (escape(self.title), legend) if part)
        return (
            f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{''.join(lines)}</tbody></table>"
        )


def build_crosstabs(
    structure: Structure,
    texts: Sequence[str],
    kinds: Sequence[str],
) -> list[Crosstab]:
    """One crosstab a table: the last dimension goes across, the others down."""
    return [
        Crosstab(
            tuple(rows[0]),
            tuple(map(tuple, rows[1:])),
            tuple(tuple(row[1:]) for row in to_text_rows(structure, kinds, table)[1:]),
            _name_table(table + 1) if structure.is_linked else "",
        )
        for table in range(len(structure.grids))
        for rows in [to_text_rows(structure, texts, table)]
    ]


def to_text_rows(structure: Structure, texts: Sequence[str], table: int = 0) -> list[list[str]]:
    """A head and one row per code of the first dimensions; the last dimension goes across."""
    axes, numbers = structure.grids[table], structure.numbers[table]
    head = [" x ".join(axis.name for axis in axes[:-1]) or axes[-1].name, *axes[-1].codes]
    starts = [""]
    for axis in axes[:-1]:
        starts = [f"{start} {code}".strip() for start in starts for code in axis.codes]
    lines = numbers.reshape(-1, axes[-1].size).tolist()
    return [
        head,
        *(
            [start, *(texts[cell] for cell in line)]
            for start, line in zip(starts, lines, strict=True)
        ),
    ]


def classify_cells(suppressed: Bools, primary: Bools, disclosed: Bools) -> list[str]:
    """The kind of every cell."""
    kind = np.where(suppressed, np.where(primary, 1, 2), 0)
    kind[disclosed & suppressed] = 3
    return [KINDS[k] for k in kind.tolist()]


def render_page(title: str, sentences: Sequence[str], tables: Sequence[Crosstab]) -> str:
    """A page of its own that needs nothing from outside.

    >>> cross = Crosstab(("", "a"), (("x", "7"),), (("primary",),))
    >>> render_page("Firms", ["One cell."], [cross]).count('title="sensitive, suppressed"')
    1
    """
    paragraphs = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    tables_html = "".join(table.to_html() for table in tables)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{escape(title)}</h1>{paragraphs}{tables_html}</body></html>\n"
    )


def explain_kind(kind: str) -> str:
    """What a mark of a cell means."""
    return str(Sentence("divulge.tables", f"kind.{kind}"))


def _name_table(number: int) -> str:
    return str(Sentence("divulge.tables", "table.number", {"number": number}))


def _mark_text(text: str, kind: str) -> str:
    if not kind:
        return text
    return KIND_LETTERS[kind] if text in ("", "*") else f"{KIND_LETTERS[kind]} {text}"


def _render_html_cell(text: str, kind: str) -> str:
    if not kind:
        return f"<td>{escape(text)}</td>"
    style = f"background:{COLOURS[kind]};color:{_INK[kind]};border:{_FRAMES[kind]} #1f2a37"
    meaning = escape(explain_kind(kind))
    return f'<td style="{style}" title="{meaning}">{escape(_mark_text(text, kind))}</td>'


def format_intervals(
    texts: Sequence[str], interval_of_cell: Mapping[int, tuple[float, float]], decimals: int
) -> Iterator[str]:
    """The texts of all cells, with [from, to] where a cell is suppressed."""
    for cell, text in enumerate(texts):
        if cell in interval_of_cell:
            low, high = interval_of_cell[cell]
            top = "..." if high == float("inf") else f"{high:.{decimals}f}"
            yield f"[{low:.{decimals}f}, {top}]"
        else:
            yield text


_STYLE = (
    "body{font:16px/1.5 system-ui,Arial,sans-serif;color:#1f2a37;margin:24px}"
    "table{border-collapse:collapse;margin:16px 0}"
    "caption{text-align:left;color:#5b6472;white-space:nowrap}"
    "th,td{padding:4px 10px;border:1px solid #dfe3e8;text-align:right}"
    "th[scope=row]{text-align:left}"
)
