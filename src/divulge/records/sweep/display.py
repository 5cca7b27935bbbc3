"""A sweep in a terminal: the most dangerous sets of each size, and what each attribute adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from divulge.assessment.sentence import format_percent

if TYPE_CHECKING:
    from divulge.records.sweep.result import Success, Sweep


def build_sweep_table(sweep: Sweep) -> RenderableType:
    """For every size the set that singles out most, and what it tells of each secret.

    Where there are weights, the same shares stand beside with each record as likely as it weighs.
    """
    secrets = [f"{name} known" for name in sweep.seeks]
    by_weight = ["singled out, by weight", "guessed right, by weight"] if sweep.is_weighted else []
    table = Table("attributes", "most dangerous set", "singled out", "guessed right", *secrets,
                  *by_weight, box=None, header_style="dim", pad_edge=False)  # fmt: skip
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
    added = Table("attribute", "adds on average", "adds at worst", box=None, header_style="dim",
                  pad_edge=False)  # fmt: skip
    for row in sweep.marginal().to_pylist():
        added.add_row(
            row["attribute"], format_percent(row["average"]), format_percent(row["worst"])
        )
    return Group(Text(repr(sweep)), Text(), table, Text(), added)
