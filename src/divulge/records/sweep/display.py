"""A sweep in a terminal: the most dangerous sets of each size, and what each attribute adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from divulge.assessment import html
from divulge.assessment.plain_text import align_table
from divulge.assessment.sentence import Sentence, format_percent, read_phrases

if TYPE_CHECKING:
    from divulge.records.sweep.result import Success, Sweep

CATALOGUE = "divulge.records"


@dataclass(frozen=True)
class SweepTables:
    """What a sweep shows of itself: a sentence, and two tables of a head and rows."""

    summary: str
    sets: tuple[tuple[str, ...], list[tuple[str, ...]]]
    attributes: tuple[tuple[str, ...], list[tuple[str, ...]]]

    def __str__(self) -> str:
        return "\n\n".join([self.summary, align_table(*self.sets), align_table(*self.attributes)])

    def to_html(self) -> str:
        """The same for a notebook, escaped."""
        tables = html.render_table(*self.sets) + html.render_table(*self.attributes)
        return html.render_paragraphs([self.summary]) + tables

    def __rich__(self) -> RenderableType:
        tables = []
        for head, rows in (self.sets, self.attributes):
            table = Table(
                *(Column(Text(name)) for name in head), box=None, header_style="dim", pad_edge=False
            )
            for row in rows:
                table.add_row(*map(Text, row))
            tables.append(table)
        return Group(Text(self.summary), Text(), tables[0], Text(), tables[1])


def build_sweep_tables(sweep: Sweep) -> SweepTables:
    """For every size the set that singles out most, and what it tells of each secret.

    Where there are weights, the same shares stand beside with each record as likely as it weighs.
    """
    secrets = [
        str(Sentence(CATALOGUE, "head.sweep_secret", {"secret": name})) for name in sweep.seeks
    ]
    by_weight = read_phrases(CATALOGUE, "head.sweep_by_weight") if sweep.is_weighted else ()
    head = (*read_phrases(CATALOGUE, "head.sweep"), *secrets, *by_weight)
    success = sweep.success()
    guessed = sweep.success(kind="probabilistic")
    kinds: tuple[Success, ...] = ("deterministic", "probabilistic") if sweep.is_weighted else ()
    weighted = [sweep.success(kind=kind, weighted=True) for kind in kinds]
    rows: list[tuple[str, ...]] = []
    for size in np.unique(sweep.figures.size):
        of_size = np.flatnonzero(sweep.figures.size == size)
        worst = int(of_size[np.argmax(success[of_size] + 1e-9 * guessed[of_size])])
        secret_shares = [format_percent(float(sweep.success(name)[worst])) for name in sweep.seeks]
        rows.append(
            (
                str(size),
                ", ".join(sweep.names(worst)),
                format_percent(float(success[worst])),
                format_percent(float(guessed[worst])),
                *secret_shares,
                *(format_percent(float(shares[worst])) for shares in weighted),
            )
        )
    added: list[tuple[str, ...]] = [
        (row["attribute"], format_percent(row["average"]), format_percent(row["worst"]))
        for row in sweep.marginal().to_pylist()
    ]
    values = {"dataset": sweep.dataset.name, "sets": len(sweep)}
    summary = str(Sentence(CATALOGUE, "sweep", values))
    added_head = read_phrases(CATALOGUE, "head.sweep_attribute")
    return SweepTables(summary, (head, rows), (added_head, added))
