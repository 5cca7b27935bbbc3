"""An explanation as a drawing (SVG): an outline, in which what a fact rests on stands below it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from divulge.rules.explanation.explanation_text import list_sentences

if TYPE_CHECKING:
    from divulge.rules.explanation.explanation import Explanation, FactKey

BOX_WIDTH = 420
LETTERS_IN_A_LINE = 62
LINE_HEIGHT = 16
INDENT, GAP, MARGIN, PADDING = 28, 10, 16, 7
_FILLS = {"rule": "#e8f0fb", "missing": "#fbe9e7", "answer": "#fdf6e3"}
_OTHER_FILL = "#f5f5f5"
_REPEATED_FILL = "#ffffff"


@dataclass(kw_only=True, frozen=True)
class _Box:
    """A fact in the outline; one that stands further up is repeated without what is below it."""

    lines: Sequence[str]
    fill: str
    x: int
    y: int
    parent: int | None

    @property
    def height(self) -> int:
        return len(self.lines) * LINE_HEIGHT + 2 * PADDING


def draw_outline(explanation: Explanation) -> str:
    """The drawing as the text of an SVG file."""
    boxes = _place_boxes(explanation)
    width = max(box.x for box in boxes) + BOX_WIDTH + MARGIN
    height = boxes[-1].y + boxes[-1].height + MARGIN
    frame = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">'
    )
    ground = f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    lines = [line for box in boxes for line in _draw_line(boxes, box)]
    drawn = [part for box in boxes for part in _draw_box(box)]
    return "\n".join([frame, ground, *lines, *drawn, "</svg>"]) + "\n"


def _place_boxes(explanation: Explanation) -> list[_Box]:
    """The facts from top to bottom; depth first, without recursion: chains may be long."""
    sentences = list_sentences(explanation)
    boxes: list[_Box] = []
    shown: set[FactKey] = set()
    waiting: list[tuple[FactKey, int, int | None]] = [(explanation.question, 0, None)]
    y = MARGIN
    while waiting:
        key, depth, parent = waiting.pop()
        fact = explanation.facts[key]
        is_repeated = key in shown and bool(fact.list_facts())
        lines = [
            _clean_text(line)
            for sentence in sentences[key][: 1 if is_repeated else None]
            for line in textwrap.wrap(sentence, LETTERS_IN_A_LINE)
        ]
        fill = _REPEATED_FILL if is_repeated else _FILLS.get(fact.source, _OTHER_FILL)
        boxes.append(_Box(lines=lines, fill=fill, x=MARGIN + depth * INDENT, y=y, parent=parent))
        y += boxes[-1].height + GAP
        if key not in shown:
            number = len(boxes) - 1
            waiting += [(below, depth + 1, number) for below in reversed(fact.list_facts())]
        shown.add(key)
    return boxes


def _draw_line(boxes: Sequence[_Box], box: _Box) -> Iterator[str]:
    if box.parent is None:
        return
    parent = boxes[box.parent]
    x, top = parent.x + INDENT // 2, parent.y + parent.height
    middle = box.y + box.height // 2
    yield f'<path d="M{x},{top} V{middle} H{box.x}" fill="none" stroke="#8a98ab"/>'


def _draw_box(box: _Box) -> Iterator[str]:
    yield (
        f'<rect x="{box.x}" y="{box.y}" width="{BOX_WIDTH}" height="{box.height}" rx="4" '
        f'fill="{box.fill}" stroke="#5b6b80"/>'
    )
    for number, line in enumerate(box.lines):
        baseline = box.y + PADDING + number * LINE_HEIGHT + 12
        yield f'<text x="{box.x + PADDING}" y="{baseline}" fill="#1b2430">{line}</text>'


def _clean_text(line: str) -> str:
    """Text for XML, which has no place for control characters."""
    return escape("".join(letter if letter.isprintable() else "\ufffd" for letter in line))
