"""What of a chart can be taken from a page: the picture as SVG, its numbers as CSV.

Both are in the page itself, as links that a browser saves, so that nothing is loaded and no script
runs.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from divulge.data.formats.formulas import guard_text
from divulge.report import tuning

_TAG = re.compile(r"<[^>]*>")
_SPOKEN = re.compile(r' (aria-[a-z]+|role|class|pointer-events)="[^"]*"')
_DECIMALS = re.compile(r"(?<![\d.])-?\d+\.\d{3,}(?![\de])")
_NOT_IN_NAMES = re.compile(r"[^\w]+")


def compact_svg(svg: str) -> str:
    """A picture without what is spoken mark by mark, and with coordinates to a hundredth.

    The page says what the picture shows in one sentence, and has its numbers as a table.

    >>> compact_svg('<g role="x" aria-label="a bar"><path d="M1.23456,2"/><text>0.12345</text></g>')
    '<g><path d="M1.23,2"/><text>0.12345</text></g>'
    """
    return _TAG.sub(lambda tag: _compact_tag(tag[0]), svg)


def _compact_tag(tag: str) -> str:
    return _DECIMALS.sub(lambda number: f"{float(number[0]):.2f}", _SPOKEN.sub("", tag))


def build_downloads(
    title: str, svg: str | None, records: Sequence[Mapping[str, Any]]
) -> list[dict[str, str]]:
    """The links to a picture and to its numbers: kind, name of the file, address.

    Numbers that would make a page too large are left out; `result.json` has them.

    >>> [link["name"] for link in build_downloads("Class sizes", None, [{"size": 2, "count": 5}])]
    ['class-sizes.csv']
    """
    name = _NOT_IN_NAMES.sub("-", title).strip("-").lower()[: tuning.MOST_NAME_LETTERS] or "chart"
    links = []
    if svg is not None:
        links.append({"kind": "svg", "name": f"{name}.svg", "address": _build_address("svg", svg)})
    text = write_records(records)
    if records and len(text) <= tuning.MOST_DOWNLOADED_LETTERS:
        links.append({"kind": "csv", "name": f"{name}.csv", "address": _build_address("csv", text)})
    return links


def _build_address(kind: str, text: str) -> str:
    types = {"svg": "image/svg+xml", "csv": "text/csv"}
    # What stays as it is keeps a page small. Never quotes, ampersands or angles: the address stands
    # in an attribute as it is.
    safe = " =/:;,.()'-+" if kind == "svg" else ",.()-/:;"
    return f"data:{types[kind]};charset=utf-8,{quote(text, safe=safe)}"


def write_records(records: Sequence[Mapping[str, Any]]) -> str:
    """The numbers of a chart as CSV; texts that a spreadsheet would run get an apostrophe."""
    head = list(dict.fromkeys(name for record in records for name in record))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([guard_text(name) for name in head])
    for record in records:
        cells = [record.get(name) for name in head]
        writer.writerow([guard_text(cell) if isinstance(cell, str) else cell for cell in cells])
    return text.getvalue()
