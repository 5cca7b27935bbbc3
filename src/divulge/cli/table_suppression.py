"""The verb `divulge tables suppress`: sensitive cells, and as few others as protect them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from divulge.cli.options import Effort, Overwrite, StopAfter
from divulge.cli.output import print_json, tolerate_closed_pipe
from divulge.cli.table_files import print_crosstabs, read_table, write_page, write_published
from divulge.cli.table_options import (
    By,
    Contributor,
    Hierarchies,
    Html,
    Json,
    Pair,
    Percent,
    Separator,
    ShareOption,
    Singletons,
    Source,
    Value,
    ZerosOption,
    ZerosPrimary,
    build_rules,
    parse_hierarchies,
)


def suppress(
    source: Source,
    min_frequency: Annotated[
        int | None, typer.Option(min=1, help="Cells with fewer contributors are sensitive.")
    ] = None,
    width: Annotated[
        float | None, typer.Option(min=0, help="How wide the intervals of sensitive cells become.")
    ] = None,
    zeros_primary: ZerosPrimary = False,
    share: ShareOption = None,
    zeros: ZerosOption = None,
    dominance: Pair = None,
    p_percent: Percent = None,
    pq: Pair = None,
    request: Percent = None,
    singletons: Singletons = False,
    by: By = None,
    value: Value = None,
    contributor: Contributor = None,
    hierarchy: Hierarchies = None,
    method: Annotated[Literal["optimal", "fast"], typer.Option(help="How to choose.")] = "optimal",
    cost: Annotated[
        Literal["number", "value"], typer.Option(help="What a suppressed cell costs.")
    ] = "number",
    margins: Annotated[
        Literal["published", "suppressible"], typer.Option(help="May totals be suppressed?")
    ] = "published",
    seconds: Effort = 60,
    stop_after: StopAfter = None,
    resist_matching: Annotated[
        bool, typer.Option(help="Draw the pattern, so that knowing the algorithm does not help.")
    ] = False,
    seed: Annotated[int | None, typer.Option(help="The secret of the draw.")] = None,
    sealed: Annotated[
        Path | None, typer.Option(help="A file that keeps the draw for the next release.")
    ] = None,
    method_secret: Annotated[
        bool, typer.Option(help="Nobody outside knows the rules: do not try who does.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where the published table goes: a crosstab (CSV), or Parquet; "
            "several become name-1, name-2, with one row per cell."
        ),
    ] = None,
    html: Html = None,
    separator: Separator = ",",
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Suppress the sensitive cells of a table, and as few others as protect them."""
    from divulge import tables
    from divulge.cli.run_context import set_run_conditions
    from divulge.tables.plugin import TablesSettings
    from divulge.tables.release_attack import assess_suppression

    rules = build_rules(
        min_frequency=min_frequency,
        zeros_primary=zeros_primary,
        dominance=dominance,
        p_percent=p_percent,
        pq=pq,
        request=request,
        singletons=singletons,
    )
    outputs = {"--html": html, "--out": out}
    files = [source, *(path for _, path in parse_hierarchies(hierarchy))]
    with set_run_conditions(stop_after, outputs, files, overwrite):
        if source.suffix.lower() == ".jj":
            from divulge.tables.suppression.result import protect_table

            beside = {
                "--min-frequency": min_frequency,
                "--width": width,
                "--zeros-primary": zeros_primary,
                "--share": share,
                "--zeros": zeros,
                "--dominance": dominance,
                "--p-percent": p_percent,
                "--pq": pq,
                "--request": request,
                "--singletons": singletons,
                "--by": by,
                "--value": value,
                "--contributor": contributor,
                "--hierarchy": hierarchy,
                "--cost": cost != "number",
                "--margins": margins != "published",
                "--resist-matching": resist_matching,
                "--seed": seed is not None,
                "--sealed": sealed,
            }
            _refuse_beside_jj([option for option, said in beside.items() if said])
            jj_file = tables.read_jj(source)
            result = protect_table(
                jj_file.table, jj_file.problem(), method, seconds, jj_file.cost_unit
            )
        else:
            result = tables.suppress(
                read_table(source, by, value, contributor, hierarchy, separator),
                width=width,
                method=method,
                **asdict(rules),
                share=share,
                zeros=zeros,
                cost=cost,
                margins=margins,
                seconds=seconds,
                resist_matching=resist_matching,
                seed=seed,
                sealed=sealed,
            )
        judged = None
        if source.suffix.lower() != ".jj":  # which says what is sensitive, and not by what rule
            settings = TablesSettings(
                by=[],
                **asdict(rules),
                suppress=method,
                width=width,
                share=share,
                zeros=zeros,
                margins=margins,
                seconds=seconds,
                method="secret" if method_secret else "known",
            )
            judged = assess_suppression(settings, result.table, result, source.name)
        sentences = [*(judged.explain() if judged else []), *result.explain()]
        if result.resistance is not None:
            sentences += result.resistance.explain()
        write_published(result.published, out)
        write_page(result.crosstabs(), sentences, html, str(source.name))
    if json:
        with tolerate_closed_pipe():
            head = {"assessment": judged.to_dict()} if judged else {}
            print_json({**head, **result.to_dict()})
    else:
        print_crosstabs(result.crosstabs(), sentences)


def _refuse_beside_jj(options: Sequence[str]) -> None:
    """A JJ file says itself what is sensitive, by how much, and what cells cost."""
    from divulge.work import Problems

    problems = Problems("tables suppress")
    for option in options:
        problems.add(option, "a JJ file says this itself: leave the option out.")
    problems.raise_any()
