"""A sweep in a terminal: the most dangerous sets of each size, and what each attribute adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from divulge.assessment.sentence import Sentence, format_percent, read_phrases

if TYPE_CHECKING:
    from divulge.records.sweep.result import Success, Sweep

CATALOGUE = "divulge.records"


def build_sweep_table(sweep: Sweep) -> RenderableType:
    """For every size the set that singles out most, and what it tells of each secret.

    Where there are weights, the same shares stand beside with each record as likely as it weighs.
    """
    secrets = [
        str(Sentence(CATALOGUE, "head.sweep_secret", {"secret": name})) for name in sweep.seeks
    ]
    by_weight = read_phrases(CATALOGUE, "head.sweep_by_weight") if sweep.is_weighted else ()
    head = (*read_phrases(CATALOGUE, "head.sweep"), *secrets, *by_weight)
    table = Table(*head, box=None, header_style="dim", pad_edge=False)
    success = sweep.success()
    guessed = sweep.success(kind="probabilistic")
    kinds: tuple[Success, ...] = ("deterministic", "probabilistic") if sweep.is_weighted else ()
    weighted = [sweep.success(kind=kind, weighted=True) for kind in kinds]
    for size in np.unique(sweep.figures.size):
        of_size = np.flatnonzero(sweep.figures.size == size)
        worst = int(of_size[np.argmax(success[of_size] + 1e-9 * guessed[of_size])])
        secret_shares = [format_percent(float(sweep.success(name)[worst])) for name in sweep.seeks]
        table.add_row(
            str(size),
            ", ".join(sweep.names(worst)),
            format_percent(float(success[worst])),
            format_percent(float(guessed[worst])),
            *secret_shares,
            *(format_percent(float(shares[worst])) for shares in weighted),
        )
    head = read_phrases(CATALOGUE, "head.sweep_attribute")
    added = Table(*head, box=None, header_style="dim", pad_edge=False)
    for row in sweep.marginal().to_pylist():
        added.add_row(
            row["attribute"], format_percent(row["average"]), format_percent(row["worst"])
        )
    values = {"dataset": sweep.dataset.name, "sets": len(sweep)}
    summary = str(Sentence(CATALOGUE, "sweep", values))
    return Group(Text(summary), Text(), table, Text(), added)
