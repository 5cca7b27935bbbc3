"""The verb `divulge tables attack`: the matching attack, by who knows how cells were suppressed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from divulge.cli.options import Effort, Overwrite, StopAfter
from divulge.cli.output import build_sentence, print_json, print_text, tolerate_closed_pipe

if TYPE_CHECKING:
    from divulge.tables import Matching

FINE, LIMIT_FAILS = 0, 1


def attack(
    crosstab: Annotated[
        Path,
        typer.Argument(help="A published crosstab with margins (CSV).", show_default=False),
    ],
    min_frequency: Annotated[
        int | None, typer.Option(min=1, help="Smaller cells were primary.")
    ] = None,
    width: Annotated[
        float | None, typer.Option(min=0, help="How wide primary cells were made.")
    ] = None,
    zeros_primary: Annotated[bool, typer.Option(help="Whether 0 was primary too.")] = False,
    primary_mark: Annotated[
        str | None, typer.Option(help="The mark of primary cells, if the release labels them.")
    ] = None,
    suppressor: Annotated[
        Literal["first optimum", "any optimum", "minimal", "resisting"],
        typer.Option(help="How the pattern was chosen."),
    ] = "first optimum",
    unknown: Annotated[
        bool, typer.Option(help="The adversary knows neither minimum frequency nor width.")
    ] = False,
    mode: Annotated[
        Literal["interval", "full"], typer.Option(help="Intervals only, or chances too.")
    ] = "interval",
    cost: Annotated[
        Literal["number", "value"], typer.Option(help="What a suppressed cell cost.")
    ] = "number",
    margins: Annotated[
        Literal["published", "suppressible"], typer.Option(help="Could totals be suppressed?")
    ] = "published",
    zeros: Annotated[
        Literal["known", "secret"] | None,
        typer.Option(
            help="Whether readers know which cells are empty; known, unless 0 was primary."
        ),
    ] = None,
    candidates: Annotated[
        int, typer.Option(min=1, help="The largest number of candidate tables to list.")
    ] = 1_000_000,
    seconds: Effort = 60,
    stop_after: StopAfter = None,
    html: Annotated[Path | None, typer.Option(help="Where a page with the crosstab goes.")] = None,
    separator: Annotated[str, typer.Option(help="What stands between fields.")] = ",",
    overwrite: Overwrite = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Attack a published crosstab with the knowledge of how its cells were suppressed."""
    from divulge import tables
    from divulge.cli.run_context import set_run_conditions
    from divulge.tables.table.crosstab_files import find_marked_cells, read_crosstab

    with set_run_conditions(stop_after, {"--html": html}, [crosstab], overwrite):
        published = read_crosstab(crosstab, separator)
        labels = None
        if primary_mark is not None:
            labels = find_marked_cells(crosstab, primary_mark, separator)
        result = tables.matching_attack(
            published,
            min_frequency,
            width,
            zeros_primary,
            labels is not None,
            suppressor=None if suppressor == "first optimum" else suppressor,
            mode=mode,
            primary=labels,
            parameters="unknown" if unknown else "known",
            cost=cost,
            margins=margins,
            zeros=zeros,
            most_candidates=candidates,
            seconds=seconds,
            name=crosstab.name,
        )
        if html is not None:
            _write_page(result, html, crosstab.name)
    with tolerate_closed_pipe():
        if json:
            print_json(result.to_dict())
        else:
            _print_intervals(result)
    raise typer.Exit(LIMIT_FAILS if result.unsafe else FINE)


def _write_page(result: Matching, html: Path, name: str) -> None:
    """A page with what is left to every suppressed cell; P are those that are judged."""
    from divulge.tables.table.display import render_page
    from divulge.work import whole_file

    structure = result.published.structure
    sentences = str(result.assessment).splitlines()
    sentences += [
        build_sentence("matching.unsafe", cell=structure.describe_cell(structure.cell_number(key)))
        for key in result.unsafe
    ]
    html_text = render_page(name, sentences, result.intervals.crosstabs(result.sensitive_cells))
    with whole_file(html) as part:
        part.write_text(html_text, encoding="utf-8")


def _print_intervals(result: Matching) -> None:
    from rich.table import Table as RichTable
    from rich.text import Text

    from divulge.assessment.sentence import read_phrases

    head = read_phrases("divulge.cli", "matching.head")
    table = RichTable(*head, box=None, header_style="dim")
    structure, unsafe = result.published.structure, set(result.unsafe)
    judged = set(result.sensitive_cells)
    for key, (low, high) in result.intervals.items():
        before = result.feasible[key]
        mark = "unsafe" if key in unsafe else "" if key in judged else "not_judged"
        label = structure.describe_cell(structure.cell_number(key))
        intervals = (
            build_sentence("matching.interval", low=a, high=b) for a, b in (before, (low, high))
        )
        mark_text = build_sentence(f"matching.mark.{mark}") if mark else ""
        table.add_row(*map(Text, (label, *intervals, mark_text)))
    print_text(table)
    print_text("")
    print_text(str(result.assessment))
