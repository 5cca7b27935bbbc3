"""The verbs of tables: `divulge tables suppress | audit | attack`."""

from __future__ import annotations

import typer

from divulge.cli.commands.tables.audit import audit
from divulge.cli.commands.tables.matching import attack
from divulge.cli.commands.tables.suppression import suppress
from divulge.cli.data_reader import takes_reading_options

app = typer.Typer(
    help="Tables of totals: audit what is suppressed, suppress what must be.",
    no_args_is_help=True,
)
app.command()(takes_reading_options(suppress))
app.command()(takes_reading_options(audit))
app.command()(attack)
