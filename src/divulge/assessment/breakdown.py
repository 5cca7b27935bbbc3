"""Who bears the risk: the figures of an assessment for every value of an attribute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from divulge.assessment import html
from divulge.assessment.assessment import Assessment
from divulge.assessment.chart import RISK_COLOUR, Chart
from divulge.assessment.plain_text import align_table
from divulge.assessment.sentence import Sentence, format_number, format_percent, read_phrases

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import RenderableType

MOST_BARS = 40


@dataclass(frozen=True, repr=False)
class Breakdown(Mapping[Any, Assessment]):
    """One assessment a group; the group of those whose value is missing has the key None."""

    attribute: str
    assessments: Mapping[Any, Assessment]

    def __getitem__(self, value: Any) -> Assessment:
        return self.assessments[value]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.assessments)

    def __len__(self) -> int:
        return len(self.assessments)

    def to_dict(self) -> dict[str, Any]:
        """The figures by group, for JSON."""
        groups = [{"value": _format_group(v), **a.to_dict()} for v, a in self.assessments.items()]
        return {"attribute": self.attribute, "groups": groups}

    def to_arrow(self) -> pa.Table:
        """One row per group; the group of those whose value is missing is null."""
        import pyarrow as pa

        return pa.table(
            {
                "group": list(self.assessments),
                "secrets": [a.secrets for a in self.assessments.values()],
                "certain": [a.certain.posterior for a in self.assessments.values()],
                "deterministic": [a.deterministic.posterior for a in self.assessments.values()],
                "right": [float(a.right.posterior) for a in self.assessments.values()],
                "probabilistic": [a.probabilistic.posterior for a in self.assessments.values()],
            }
        )

    def chart(self) -> Chart:
        """The share known for certain in every group, the most exposed first."""
        import altair as alt

        ranking = sorted(
            self.assessments.items(), key=lambda group: -group[1].deterministic.posterior
        )
        records = [
            {
                "group": _format_group(value),
                "certain": a.deterministic.posterior,
                "secrets": a.secrets,
            }
            for value, a in ranking[:MOST_BARS]
        ]
        bars = (
            alt.Chart(Chart.source(), title=_say("title", attribute=self.attribute))
            .mark_bar(color=RISK_COLOUR)
            .encode(
                x=alt.X("certain:Q", title=_say("certain"), axis=alt.Axis(format="%")),
                y=alt.Y("group:N", title=self.attribute, sort=None),
            )
            .properties(width=420)
        )
        shares = "; ".join(
            f"{r['group']}: {format_percent(float(str(r['certain'])))}" for r in records
        )
        description = _say("description", attribute=self.attribute, shares=shares)
        return Chart.of(bars, records, description)

    def rows(self) -> list[tuple[str, str, str, str]]:
        """The figures as a table for people: group, secrets, known for certain, guessed right."""
        return [
            (
                _format_group(value),
                format_number(a.secrets),
                (
                    f"{format_number(a.certain.posterior)} "
                    f"({format_percent(a.deterministic.posterior)})"
                ),
                (
                    f"{format_number(round(a.right.posterior, 1))} "
                    f"({format_percent(a.guessed.posterior)})"
                ),
            )
            for value, a in self.assessments.items()
        ]

    @property
    def head(self) -> tuple[str, str, str, str]:
        """What the columns of `rows` are."""
        secrets, certain, right = read_phrases("divulge.assessment", "head.groups")
        return self.attribute, secrets, certain, right

    def __rich__(self) -> RenderableType:
        from rich.table import Column, Table
        from rich.text import Text

        table = Table(*(Column(Text(name)) for name in self.head), box=None, header_style="dim")
        for row in self.rows():
            table.add_row(*map(Text, row))
        return table

    def __repr__(self) -> str:
        # Never a value: results are printed into logs.
        return f'Breakdown by "{self.attribute}": {len(self)} groups'

    def __str__(self) -> str:
        return align_table(self.head, self.rows())

    def _repr_html_(self) -> str:
        return html.render_table(self.head, self.rows())


def _format_group(value: Any) -> str:
    return str(Sentence("divulge.assessment", "row.missing")) if value is None else str(value)


def _say(key: str, **values: Any) -> str:
    return str(Sentence("divulge.assessment", f"chart.breakdown.{key}", values))
