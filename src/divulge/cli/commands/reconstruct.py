"""`divulge reconstruct`: what tables of totals give away of the records behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from divulge.cli.options import Overwrite, StopAfter

ReleaseFile = Annotated[Path, typer.Argument(help="The release file (TOML).", show_default=False)]


def reconstruct(
    release: ReleaseFile,
    adversary: Annotated[
        str | None, typer.Option(help="The adversary, if several reconstruct records.")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            help="The effort for one instance, instead of the release's: counted steps, about as "
            "many as a quiet core makes in this time.",
        ),
    ] = None,
    in_all: Annotated[
        float | None,
        typer.Option(min=0.001, help="The effort for all instances together (approximate)."),
    ] = None,
    stop_after: StopAfter = None,
    workers: Annotated[int | None, typer.Option(min=1, help="The number of processes.")] = None,
    target: Annotated[
        int | None,
        typer.Option(min=0, help="Also show the phases for one record, by its number from 0."),
    ] = None,
    remedies: Annotated[
        bool,
        typer.Option(
            "--what-would-help", "--remedies", help="Also try remedies, and say what they cost."
        ),
    ] = False,
    prior: Annotated[
        Path | None,
        typer.Option(help="A file of what is likely: sector, kind, weight (with --about)."),
    ] = None,
    about: Annotated[
        str | None,
        typer.Option(help="What the kind of a prior is of the records: product, or product:2."),
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option(help="A file of the true places, one row per record; nothing of it is shown."),
    ] = None,
    truth_on: Annotated[
        str | None,
        typer.Option(help="The id by which a true place is a record's; else by their order."),
    ] = None,
    names: Annotated[
        str | None,
        typer.Option(help="Also name who was re-identified, by this column of the parties."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--resume", "--out", help="A folder from which an interrupted run resumes."),
    ] = None,
    chart: Annotated[Path | None, typer.Option(help="A file for the chart (.svg, .png).")] = None,
    overwrite: Overwrite = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Reconstruct where records belong from totals, and say who is re-identified."""
    from divulge.cli.output import print_json, tolerate_closed_pipe
    from divulge.cli.run_context import set_run_conditions
    from divulge.reconstruction import plugin
    from divulge.release import Release

    options = {"seconds": seconds, "in_all": in_all, "workers": workers}
    overrides: dict[str, Any] = {
        name: value for name, value in options.items() if value is not None
    }
    with set_run_conditions(
        stop_after, {"--chart": chart}, [release, prior, truth], overwrite, resume=out
    ):
        loaded = Release.load(release)
        chosen = _choose_adversary(loaded, adversary)
        datasets = [loaded.datasets[name].read() for name in chosen.datasets]
        _require_companion("--about", about, "--prior", prior)
        _require_companion("--truth-on", truth_on, "--truth", truth)
        if prior is not None:
            overrides["prior"] = _read_prior(prior, about)
        if truth is not None:
            overrides["truth"] = plugin.read_truth(chosen.settings, datasets, truth, truth_on)
        result = plugin.reconstruction(chosen.settings, datasets, **overrides)
        remedies = remedies or bool(chosen.settings.what_would_help)
        remedy_result = (
            plugin.evaluate_remedies(chosen.settings, datasets, result, **overrides)
            if remedies
            else None
        )
        identity_request = chosen.settings, datasets, result
        identities = None if names is None else plugin.list_identities(*identity_request, names)
        target = chosen.settings.target if target is None else target
        of_target = [] if target is None else result.table_4(target)
        if chart is not None:
            result.chart().save(chart)
    with tolerate_closed_pipe():
        if json:
            print_json(_to_plain_values(result, chosen.name, of_target, identities, remedy_result))
        else:
            _print_result(result, of_target, identities, remedy_result)


def _to_plain_values(
    result: Any, adversary: str, of_target: Any, identities: Any, remedies: Any
) -> dict[str, Any]:
    """The result for scripts; who was re-identified and what would help only if asked for."""
    content = {**result.to_dict(), "target": [vars(row) for row in of_target]}
    for one in (content, *content["assessments"]):
        one["adversary"] = adversary
    if identities is not None:
        content["identities"] = {str(record): str(name) for record, name in identities.items()}
    return content if remedies is None else {**content, "what_would_help": remedies.to_dict()}


def _print_result(result: Any, of_target: Any, identities: Any, remedies: Any) -> None:
    """The result for people."""
    from divulge.assessment.sentence import format_number, read_phrases
    from divulge.cli.output import print_text
    from divulge.reconstruction.reporting.details import format_complexity_rows, read_head

    print_text(str(result))
    print_text(_build_table(read_head("phases"), result.rows()))
    print_text(_build_table(read_head("complexity"), format_complexity_rows(result)))
    if of_target:
        rows = [(r.phase, f"1/{r.parties:,.0f}", f"x{r.factor:,.1f}") for r in of_target]
        print_text(_build_table(read_head("target"), rows))
    wrong = [(*where, format_number(by)) for *where, by in result.inconsistent()]
    if wrong:
        print_text(_build_table(read_head("contradictions"), wrong))
    if identities is not None:
        head = read_phrases("divulge.cli", "reconstruct.identities")
        parties = [(str(record), str(who)) for record, who in identities.items()]
        print_text(_build_table(head, parties))
    if remedies is not None:
        print_text(_build_table(read_head("remedies"), remedies.rows()))
        print_text(str(remedies))


def _choose_adversary(loaded: Any, name: str | None) -> Any:
    from divulge.work import Problem
    from divulge.work.problems import InvalidInput

    candidates = {a.name: a for a in loaded.adversaries if a.attack == "reconstruction"}
    if name is None and len(candidates) == 1:
        return next(iter(candidates.values()))
    if name not in candidates:
        message = 'name one adversary with attack = "reconstruction".'
        problem = Problem("adversary", message, value=name, allowed=list(candidates))
        raise InvalidInput(loaded.path.name, [problem])
    return candidates[name]


def _require_companion(option: str, value: str | None, file: str, path: Path | None) -> None:
    """Refuse what says more about a file that is not given."""
    from divulge.work import DivulgeError

    if value is not None and path is None:
        raise DivulgeError(f"{option} goes with {file}, which is not given")


def _read_prior(path: Path, about: str | None) -> Any:
    """A prior in a file: sector, kind and weight in this order, the kind as text."""
    from divulge.data.source import Source, read
    from divulge.reconstruction import Generalised, Prior
    from divulge.work import DivulgeError

    attribute, _, prefix = (about or "").partition(":")
    if not attribute or (prefix and (not prefix.isdecimal() or not int(prefix))):
        raise DivulgeError("--about: name the attribute of the records, as product or product:2")
    names = Source(path).names()
    if len(names) != 3:
        raise DivulgeError(f"--prior: {path.name} must have three columns: sector, kind, weight")
    sector, kind, weight = names
    weights = read(path, text=[sector, kind])
    of = Generalised(attribute, prefix=int(prefix) if prefix else None)
    return Prior.from_dataset(weights, of, sector, kind, weight)


def _build_table(head: tuple[str, ...], rows: Any) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(*head, box=None, header_style="dim")
    for row in rows:
        table.add_row(*map(Text, row))
    return table
