"""The verbs of tables: `divulge tables suppress | audit | attack`."""

from __future__ import annotations

import typer

from divulge.cli.matching import attack
from divulge.cli.table_audit import audit
from divulge.cli.table_suppression import suppress

app = typer.Typer(
    help="Tables of totals: audit what is suppressed, suppress what must be.",
    no_args_is_help=True,
)
app.command()(suppress)
app.command()(audit)
app.command()(attack)
