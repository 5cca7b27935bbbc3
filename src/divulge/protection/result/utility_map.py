"""The map of risk and utility: ways to protect as points, the efficient ones, and a choice.

A point is efficient if no other has less of one and no more of the other. The efficient points are
the frontier: whoever chooses another gives something away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from divulge.assessment import Chart, Sentence, html
from divulge.assessment.sentence import format_percent, read_phrases
from divulge.protection.result.charts import draw_risk_utility
from divulge.protection.result.protected import Protected
from divulge.work import InvalidInput, Problem

if TYPE_CHECKING:
    from rich.console import RenderableType

RiskFigure: TypeAlias = Literal["average", "highest"]
RISK_FIGURES: tuple[RiskFigure, ...] = get_args(RiskFigure)

TOLERANCE = 1e-9
"""Figures that differ by less are equal: sums of floating numbers in another order do."""


@dataclass(frozen=True, kw_only=True)
class MapPoint:
    """One way to protect: what a careful adversary still finds, and what was lost."""

    method: str
    k: int
    loss: float
    average_risk: float
    """How many released records are found, on average, by who knows their victim and weighs."""
    highest_risk: float
    """The same of the record that is at the highest risk."""
    removed_records: int
    suppressed_cells: int
    levels: Mapping[str, int] = field(default_factory=dict)
    """Of the attributes that are coarser for all records."""
    is_efficient: bool = False
    """Whether no other point of the map has less risk or less loss, and no more of the other."""
    build: Callable[[], Protected] = field(repr=False, compare=False)

    def protected(self) -> Protected:
        """The data protected in this way."""
        return self.build()

    def risk(self, figure: RiskFigure = "average") -> float:
        """The average or the highest risk."""
        return self.average_risk if figure == "average" else self.highest_risk

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values."""
        return {
            "method": self.method,
            "k": self.k,
            "loss": self.loss,
            "average_risk": self.average_risk,
            "highest_risk": self.highest_risk,
            "removed_records": self.removed_records,
            "suppressed_cells": self.suppressed_cells,
            "levels": dict(self.levels),
            "efficient": self.is_efficient,
        }


@dataclass(frozen=True, kw_only=True)
class RiskUtilityMap:
    """Points of methods and of levels, for every k; which of them are worth a choice."""

    dataset: str
    points: Sequence[MapPoint]
    risk: RiskFigure
    """The risk that points are compared by."""
    combinations: int = 0
    """How many combinations of levels there are."""
    mapped: int = 0
    """How many of them are on the map."""

    @property
    def frontier(self) -> list[MapPoint]:
        """The efficient points, the least loss first."""
        efficient = [point for point in self.points if point.is_efficient]
        return sorted(efficient, key=lambda point: (point.loss, point.risk(self.risk)))

    def choose(
        self,
        loss_at_most: float | None = None,
        risk_at_most: float | None = None,
        removed_at_most: int | None = None,
    ) -> MapPoint:
        """The point with the least risk within a loss, or with the least loss within a risk.

        Args:
            loss_at_most: what may be lost; alone, the point with the least risk is chosen.
            risk_at_most: what may be left of risk: then the point with the least loss is.
            removed_at_most: how many records may be removed.

        Raises:
            InvalidInput: if nothing was asked for, or no point is within all bounds.

        >>> import divulge as dv
        >>> companies = dv.datasets.local_suppression_example()
        >>> found = dv.protection.risk_utility_map(companies, ks=(2, 3))
        >>> point = found.choose(risk_at_most=0.5)
        >>> point.method, point.k, point.protected().suppressed_cells
        ('suppress (bayes)', 2, 5)
        """
        if loss_at_most is None and risk_at_most is None:
            raise self._build_problem("name loss_at_most, risk_at_most, or both.")
        fitting = [
            point
            for point in self.points
            if (loss_at_most is None or point.loss <= loss_at_most + TOLERANCE)
            and (risk_at_most is None or point.risk(self.risk) <= risk_at_most + TOLERANCE)
            and (removed_at_most is None or point.removed_records <= removed_at_most)
        ]
        if not fitting:
            raise self._build_problem(self._describe_reach())
        if risk_at_most is None:
            return min(fitting, key=lambda point: (point.risk(self.risk), point.loss))
        return min(fitting, key=lambda point: (point.loss, point.risk(self.risk)))

    def _describe_reach(self) -> str:
        if not self.points:
            return "there is no point: no way to protect reaches any k."
        loss = min(point.loss for point in self.points)
        risk = min(point.risk(self.risk) for point in self.points)
        return (
            f"no point is within these bounds; the least loss is {loss:.4f}, and the least risk "
            f"{risk:.4f}."
        )

    def _build_problem(self, message: str) -> InvalidInput:
        return InvalidInput(f'risk-utility map of "{self.dataset}"', [Problem("choose", message)])

    def chart(self) -> Chart:
        """Risk against loss: combinations of levels, a line a method, and the frontier."""
        return draw_risk_utility(
            [point.to_dict() for point in self.points], self.dataset, self.risk
        )

    def to_dict(self) -> dict[str, Any]:
        """The points as plain values, and the frontier."""
        return {
            "dataset": self.dataset,
            "risk": self.risk,
            "combinations": self.combinations,
            "mapped": self.mapped,
            "points": [point.to_dict() for point in self.points],
            "frontier": [point.to_dict() for point in self.frontier],
            "sentences": [str(each) for each in self.sentences()],
        }

    def sentences(self) -> tuple[Sentence, ...]:
        """How many ways were compared, and how many are worth a choice."""
        values = {
            "points": len(self.points),
            "efficient": len(self.frontier),
            "combinations": self.combinations,
            "mapped": self.mapped,
        }
        sentences = [Sentence("divulge.protection", f"map.{self.risk}", values)]
        if self.combinations:
            key = "sampled" if self.mapped < self.combinations else "all"
            sentences.append(Sentence("divulge.protection", f"map.{key}", values))
        return tuple(sentences)

    def rows(self) -> list[tuple[str, ...]]:
        """The frontier for people, the least loss first."""
        return [describe_point(point) for point in self.frontier]

    def __str__(self) -> str:
        return "\n".join(map(str, self.sentences()))

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(*read_map_head(), box=None, header_style="dim", pad_edge=False)
        for row in self.rows():
            table.add_row(*map(Text, row))
        return Group(Text(str(self)), table)

    def _repr_html_(self) -> str:
        paragraphs = html.render_paragraphs([str(each) for each in self.sentences()])
        return paragraphs + html.render_table(read_map_head(), self.rows())


def mark_efficient(points: Sequence[MapPoint], risk: RiskFigure) -> list[MapPoint]:
    """Mark who is on the frontier: along rising loss, whoever has less risk than all before."""
    order = sorted(range(len(points)), key=lambda i: (points[i].loss, points[i].risk(risk)))
    efficient, least = set(), np.inf
    for i in order:
        # What differs only in the last digits is the same, and is said once.
        if points[i].risk(risk) < least - TOLERANCE:
            efficient.add(i)
            least = points[i].risk(risk)
    return [replace(point, is_efficient=i in efficient) for i, point in enumerate(points)]


def read_map_head() -> tuple[str, ...]:
    """What the columns of `rows` are."""
    return read_phrases("divulge.protection", "map.head")


def describe_point(point: MapPoint) -> tuple[str, ...]:
    """The figures of a point for people, in the order of the head."""
    levels = ", ".join(f"{name} {level}" for name, level in point.levels.items())
    return (
        point.method,
        str(point.k),
        format_percent(point.loss),
        format_percent(point.average_risk),
        format_percent(point.highest_risk),
        f"{point.removed_records:,}",
        f"{point.suppressed_cells:,}",
        levels,
    )
