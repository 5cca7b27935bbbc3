"""The verb `divulge tables audit`: feasibility intervals of suppressed cells."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from divulge.cli.commands.tables.files import (
    print_crosstabs,
    read_published,
    read_table,
    write_page,
)
from divulge.cli.commands.tables.options import (
    EXIT_CODES,
    By,
    Contributor,
    Hierarchies,
    Html,
    Json,
    Pair,
    Percent,
    PublishedFiles,
    ShareOption,
    Singletons,
    Value,
    ZerosOption,
    ZerosPrimary,
    build_rules,
    parse_hierarchies,
)
from divulge.cli.data_reader import DataReader
from divulge.cli.options import Overwrite
from divulge.cli.output import print_json, tolerate_closed_pipe


def audit(
    published: PublishedFiles,
    reader: DataReader,
    original: Annotated[
        Path | None,
        typer.Option(help="The table behind it: a complete crosstab, or with --by records."),
    ] = None,
    contributor: Contributor = None,
    min_frequency: Annotated[
        int | None, typer.Option(min=1, help="Cells with fewer contributors are judged.")
    ] = None,
    zeros_primary: ZerosPrimary = False,
    dominance: Pair = None,
    p_percent: Percent = None,
    pq: Pair = None,
    request: Percent = None,
    singletons: Singletons = False,
    width: Annotated[
        float | None, typer.Option(min=0, help="How wide the interval of a judged cell must be.")
    ] = None,
    share: ShareOption = None,
    zeros: ZerosOption = None,
    insider: Annotated[
        bool, typer.Option(help="Try every contributor, who knows their own amount.")
    ] = False,
    by: By = None,
    value: Value = None,
    hierarchy: Hierarchies = None,
    html: Html = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Compute what the suppressed cells of a table can be, and which are known too closely."""
    from divulge import tables
    from divulge.cli.run_context import set_run_conditions

    originals = [] if original is None else [original]
    files = [*published, *originals, *(path for _, path in parse_hierarchies(hierarchy))]
    rules = build_rules(
        min_frequency=min_frequency,
        zeros_primary=zeros_primary,
        dominance=dominance,
        p_percent=p_percent,
        pq=pq,
        request=request,
        singletons=singletons,
    )
    _refuse_without_original({"--contributor": contributor, "--insider": insider}, original)
    with set_run_conditions(None, {"--html": html}, files, overwrite):
        table = None
        if original is not None:
            table = read_table(original, by, value, contributor, hierarchy, reader)
        result = tables.audit(
            read_published(published, by, value, hierarchy, reader),
            table,
            rules=rules,
            width=width,
            share=share,
            zeros=zeros,
            insider=insider,
        )
        crosstabs, sentences = result.intervals.crosstabs(), result.explain()
        reasons = [str(why) for why in result.intervals.disclosures()]
        write_page(crosstabs, sentences, html, ", ".join(path.name for path in published))
    if json:
        with tolerate_closed_pipe():
            print_json({**result.to_dict(), "reasons": reasons})
    else:
        print_crosstabs(crosstabs, sentences)
    raise typer.Exit(EXIT_CODES[result.status])


def _refuse_without_original(options: Mapping[str, object], original: Path | None) -> None:
    """Contributors are known from records only."""
    from divulge.work import Problems

    problems = Problems("tables audit")
    for option, content in options.items():
        if content and original is None:
            problems.add(option, "is of the records behind the table: give --original.")
    problems.raise_any()
