"""Results as HTML for a notebook: paragraphs and tables, with everything escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def render_paragraphs(sentences: Iterable[str]) -> str:
    """One paragraph a sentence."""
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)


def render_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A plain table.

    >>> render_table(["town"], [["<b>"]])
    '<table><tr><th>town</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
    """
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    return f"<table><tr>{cells}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
