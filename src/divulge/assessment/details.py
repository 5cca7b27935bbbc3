"""What an attack shows beside its figures: a table of its own, and more pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from divulge.assessment.chart import Chart


@dataclass(frozen=True)
class Details:
    """A table for people (its head, its rows, and of each column if it holds numbers), and charts.

    >>> Details(("attacker", "share"), [("1", "55%")]).numeric
    ()
    """

    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    numeric: Sequence[int] = ()
    """The places of columns that hold numbers."""
    charts: Sequence[Chart] = ()
    title: str = ""
    """What the table is of, where there are several."""
    notes: Sequence[str] = ()
    """What is to be said of it, in sentences."""
    more: Sequence[Details] = ()
    """Further tables and pictures, shown below."""
