"""A chart: a Vega-Lite specification and the records it draws; SVG and PNG without a network."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge.assessment.drawing import ChartNotDrawn, draw
from divulge.work import DivulgeError, whole_file

if TYPE_CHECKING:
    import altair as alt

TITLE_LETTERS = 62
"""Letters of a title in a line: about as wide as a chart."""

RECORDS = "records"
"""The name under which a specification refers to the chart's records."""

# Readable in print and for those who see red and green alike.
SAFE_COLOUR = "#9db8c9"
RISK_COLOUR = "#c2452d"
BEFORE_COLOUR = "#8a8f98"
LIMIT_COLOUR = "#1f2a37"

# Arial and the fonts made to its measure, so that text is as wide in a browser as when laid out.
_FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"
_THEME: dict[str, Any] = {
    "font": _FONT,
    "background": None,
    "view": {"stroke": None},
    "title": {
        "anchor": "start",
        "fontSize": 14,
        "fontWeight": 600,
        "offset": 12,
        "subtitleColor": "#56606d",
    },
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": 400,
        "grid": False,
        "titlePadding": 12,
        "labelPadding": 4,
        "domainColor": "#8a8f98",
        "tickColor": "#8a8f98",
    },
    # Browsers set text wider than the renderer measures it.
    "padding": {"left": 12, "top": 12, "right": 28, "bottom": 12},
    "legend": {"labelFontSize": 12, "titleFontSize": 12},
}


def build_title(finding: str, subject: str) -> alt.TitleParams:
    """A title that says what was found, in lines that fit; below it, smaller, what is drawn."""
    import altair as alt

    lines = textwrap.wrap(finding, TITLE_LETTERS) or [""]
    return alt.TitleParams(lines, subtitle=textwrap.wrap(subject, TITLE_LETTERS + 10))


@dataclass(frozen=True)
class Chart:
    """A picture of figures that stay available as records.

    The specification is made with Altair over `Chart.source()`; the records are plain dicts, so
    a reader of the chart, of a table beside it, or of a file sees the same numbers.
    """

    specification: Mapping[str, Any]
    records: Sequence[Mapping[str, Any]]
    description: str

    @classmethod
    def of(
        cls,
        drawn: alt.TopLevelMixin,
        records: Sequence[Mapping[str, Any]],
        description: str,
    ) -> Chart:
        """From an Altair chart over `Chart.source()`; the description is for who cannot see it."""
        return cls(drawn.to_dict(), list(records), description)

    @staticmethod
    def source() -> alt.NamedData:
        """What an Altair chart takes as its data: the records to come."""
        import altair as alt

        return alt.NamedData(name=RECORDS)

    @property
    def title(self) -> str:
        """What is written above it: of several pictures the first; else what it would show."""
        parts = [self.specification, *self.specification.get("vconcat", ())]
        parts += self.specification.get("hconcat", ())
        for part in parts:
            layers = [part, *part.get("layer", ())]
            for title in (layer.get("title") for layer in layers):
                text = title.get("text") if isinstance(title, Mapping) else title
                if text:
                    return text if isinstance(text, str) else " ".join(text)
        return self.description

    def to_dict(self) -> dict[str, Any]:
        """The whole Vega-Lite chart, records included."""
        return {
            **self.specification,
            "config": _THEME,
            "description": self.description,
            "datasets": {RECORDS: list(self.records)},
        }

    def svg(self) -> str:
        """The chart as SVG text; raises `ChartNotDrawn` if the drawing fails."""
        return draw("svg", self.to_dict()).decode()

    def png(self, scale: float = 2) -> bytes:
        """The chart as a PNG picture; raises `ChartNotDrawn` if the drawing fails."""
        chart = self.to_dict()
        chart["config"] = {**chart["config"], "background": "white"}
        return draw("png", chart, scale)

    def save(self, path: Path | str, overwrite: bool = False) -> None:
        """Write the chart to an .svg, .png or .json file; replace one only if told to."""
        makers: dict[str, Callable[[], bytes]] = {
            ".svg": lambda: self.svg().encode(),
            ".png": self.png,
            ".json": lambda: json.dumps(self.to_dict(), indent=1).encode(),
        }
        ending = Path(path).suffix.lower()
        if ending not in makers:
            raise DivulgeError(f'a chart is saved as .svg, .png or .json, not "{ending}"')
        with whole_file(path, overwrite) as part:
            part.write_bytes(makers[ending]())

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        # A picture, so that a notebook shows it without a network and without extensions.
        try:
            return {"image/svg+xml": self.svg(), "text/plain": self.description}
        except ChartNotDrawn as problem:
            return {"text/plain": f"{self.description}\n({problem})"}
