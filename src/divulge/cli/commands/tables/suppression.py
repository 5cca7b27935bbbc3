"""The verb `divulge tables suppress`: sensitive cells, and as few others as protect them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from divulge.cli.commands.tables.files import (
    print_crosstabs,
    read_table,
    write_page,
    write_published,
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
    ShareOption,
    Singletons,
    Source,
    Value,
    ZerosOption,
    ZerosPrimary,
    build_rules,
    parse_hierarchies,
)
from divulge.cli.data_reader import DataReader
from divulge.cli.options import Effort, Overwrite, StopAfter
from divulge.cli.output import build_sentence, print_json, tolerate_closed_pipe


def suppress(
    source: Source,
    reader: DataReader,
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
        bool,
        typer.Option(help="State that nobody outside knows the rules: that attack is not tried."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where the table goes if it may be published: a crosstab (CSV), or Parquet; "
            "several become name-1, name-2, with one row per cell."
        ),
    ] = None,
    html: Html = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Suppress the sensitive cells of a table, and as few others as protect them.

    The result is attacked, also with knowledge of the method. Exit code 1 if a sensitive cell
    is known too closely, 3 if that could not be judged; --out is written only if neither is so.
    """
    from divulge import tables
    from divulge.cli.run_context import set_run_conditions
    from divulge.tables.release_attack import (
        assess_by_levels,
        assess_suppression,
        decide_status,
    )
    from divulge.tables.settings import TablesSettings

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
            assessment = assess_by_levels(
                result,
                jj_file.primary,
                jj_file.protection(),
                method="secret" if method_secret else "known",
                name=source.name,
            )
        else:
            result = tables.suppress(
                read_table(source, by, value, contributor, hierarchy, reader),
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
            assessment = assess_suppression(settings, result.table, result, source.name)
        status = decide_status(assessment)
        sentences = [*assessment.explain(), *result.explain()]
        if result.resistance is not None:
            sentences += result.resistance.explain()
        if out is not None and status == "pass":
            write_published(result.published, out)
        elif out is not None and status == "fail":
            sentences.append(build_sentence("tables.not_written.fails", path=out))
        elif out is not None:
            sentences.append(build_sentence("tables.not_written.not_judged", path=out))
        write_page(result.crosstabs(), sentences, html, str(source.name))
    if json:
        with tolerate_closed_pipe():
            head = {"status": status, "assessment": assessment.to_dict()}
            print_json({**head, **result.to_dict()})
    else:
        print_crosstabs(result.crosstabs(), sentences)
    raise typer.Exit(EXIT_CODES[status])


def _refuse_beside_jj(options: Sequence[str]) -> None:
    """A JJ file says itself what is sensitive, by how much, and what cells cost."""
    from divulge.work import Problems

    problems = Problems("tables suppress")
    for option in options:
        problems.add(option, "a JJ file says this itself: leave the option out.")
    problems.raise_any()
