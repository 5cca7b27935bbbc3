"""`divulge map`: ways to protect by what they leave of risk and of the data, and a choice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from divulge.cli.commands.protection import EXIT_CODES
from divulge.cli.data_reader import DataReader, add_hierarchies
from divulge.cli.options import (
    Attributes,
    ChartFile,
    Data,
    Hierarchies,
    Json,
    Overwrite,
    StopAfter,
    Weight,
    parse_level_files,
)

if TYPE_CHECKING:
    from divulge.protection import RiskUtilityMap
    from divulge.protection.result.utility_map import MapPoint


def draw_map(
    data: Data,
    reader: DataReader,
    quasi_identifier: Attributes = None,
    hierarchy: Hierarchies = None,
    k: Annotated[
        list[int] | None,
        typer.Option("-k", min=1, help="How many must look alike; repeat (2, 3, 5 and 10)."),
    ] = None,
    risk: Annotated[
        Literal["average", "highest"],
        typer.Option(help="Which risk of released records ways are compared by."),
    ] = "average",
    loss_at_most: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Choose the least risk within this loss."),
    ] = None,
    risk_at_most: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Choose the least loss within this risk."),
    ] = None,
    removed_at_most: Annotated[
        int | None, typer.Option(min=0, help="How many records the choice may remove.")
    ] = None,
    weight: Weight = None,
    out: Annotated[
        Path | None, typer.Option(help="Where the records go, protected as chosen.")
    ] = None,
    unlisted: Annotated[
        Literal["drop", "non_identifying"] | None,
        typer.Option(help="What becomes of attributes without a role; needed for --out."),
    ] = None,
    chart: ChartFile = None,
    report: Annotated[Path | None, typer.Option(help="Write the map as a page (.html).")] = None,
    overwrite: Overwrite = False,
    json: Json = False,
    stop_after: StopAfter = None,
) -> None:
    """Compare ways to protect: what each leaves of risk and of the data, and which to choose."""
    from divulge import protection
    from divulge.cli.output import print_json, print_text, tolerate_closed_pipe
    from divulge.cli.run_context import set_run_conditions
    from divulge.report import report as write_report
    from divulge.work import InvalidInput, Problem

    is_chosen = loss_at_most is not None or risk_at_most is not None
    if not is_chosen and (out is not None or removed_at_most is not None):
        message = "nothing is chosen; say --loss-at-most or --risk-at-most."
        raise InvalidInput("divulge map", [Problem("out" if out else "removed-at-most", message)])
    outputs = {"--out": out, "--chart": chart, "--report": report}
    with set_run_conditions(stop_after, outputs, [data], overwrite):
        records = reader.read(data, {"quasi_identifier": quasi_identifier, "weight": weight})
        records = add_hierarchies(records, parse_level_files(hierarchy))
        comparison = protection.risk_utility_map(records, k or (2, 3, 5, 10), risk=risk)
        chosen = None
        if is_chosen:
            chosen = comparison.choose(loss_at_most, risk_at_most, removed_at_most)
        judgement = None
        if chosen is not None and out is not None:
            protected = chosen.protected()
            judgement = protection.judge_published(protected, unlisted=unlisted)
            if judgement.status == "pass":
                protected.write(out, overwrite, unlisted=unlisted)
        if chart is not None:
            comparison.chart().save(chart, overwrite)
        if report is not None:
            write_report(comparison, report, overwrite)
    with tolerate_closed_pipe():
        if json:
            choice = None if chosen is None else chosen.to_dict()
            published = None if judgement is None else judgement.to_dict()
            print_json({**comparison.to_dict(), "chosen": choice, "published": published})
        else:
            _print_map(comparison, chosen)
            for sentence in () if judgement is None else judgement.sentences():
                print_text(str(sentence))
    raise typer.Exit(0 if judgement is None else EXIT_CODES[judgement.status])


def _print_map(comparison: RiskUtilityMap, chosen: MapPoint | None) -> None:
    """The efficient ways, and the chosen one in words."""
    from divulge.cli.output import print_sentence, print_text
    from divulge.protection.result.utility_map import describe_point

    print_text(comparison)
    if chosen is not None:
        print_text("")
        method, number, loss, average, highest, removed, cells, levels = describe_point(chosen)
        print_sentence(
            "map.chosen",
            method=method,
            k=number,
            loss=loss,
            average=average,
            highest=highest,
            removed=removed,
            cells=cells,
        )
        if levels:
            print_sentence("map.levels", levels=levels)
