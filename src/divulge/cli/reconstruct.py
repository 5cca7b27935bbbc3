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
        str | None, typer.Option(help="Which adversary, if several reconstruct.")
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
        typer.Option(min=0.001, help="The effort for all instances together, about."),
    ] = None,
    stop_after: StopAfter = None,
    workers: Annotated[int | None, typer.Option(min=1, help="How many processes.")] = None,
    target: Annotated[
        int | None, typer.Option(min=0, help="Also show the phases for one record, from 0 on.")
    ] = None,
    remedies: Annotated[
        bool,
        typer.Option(
            "--what-would-help", "--remedies", help="Also try what would help, and what it costs."
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
    chart: Annotated[Path | None, typer.Option(help="Write the chart (.svg, .png).")] = None,
    overwrite: Overwrite = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Reconstruct where records belong from totals, and say who is re-identified."""
    from divulge.cli.running import conditions
    from divulge.cli.showing import print_json, shown
    from divulge.reconstruction import plugin
    from divulge.release import Release

    given = {"seconds": seconds, "in_all": in_all, "workers": workers}
    other: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    with conditions(stop_after, {"--chart": chart}, [release, prior, truth], overwrite, resume=out):
        loaded = Release.load(release)
        chosen = _chosen(loaded, adversary)
        datasets = [loaded.datasets[name].read() for name in chosen.datasets]
        _refuse_alone("--about", about, "--prior", prior)
        _refuse_alone("--truth-on", truth_on, "--truth", truth)
        if prior is not None:
            other["prior"] = _prior(prior, about)
        if truth is not None:
            other["truth"] = plugin.truth_in_file(chosen.settings, datasets, truth, truth_on)
        found = plugin.reconstruction(chosen.settings, datasets, **other)
        remedies = remedies or bool(chosen.settings.what_would_help)
        tried = plugin.remedies(chosen.settings, datasets, found, **other) if remedies else None
        asked_by_name = chosen.settings, datasets, found
        named = None if names is None else plugin.identities(*asked_by_name, names)
        target = chosen.settings.target if target is None else target
        of_target = [] if target is None else found.table_4(target)
        if chart is not None:
            found.chart().save(chart)
    with shown():
        if json:
            print_json(_plain(found, chosen.name, of_target, named, tried))
        else:
            _show(found, of_target, named, tried)


def _plain(found: Any, adversary: str, of_target: Any, named: Any, tried: Any) -> dict[str, Any]:
    """The result for scripts; who was re-identified and what would help only if asked for."""
    told = {**found.to_dict(), "target": [vars(row) for row in of_target]}
    for one in (told, *told["assessments"]):
        one["adversary"] = adversary
    if named is not None:
        told["identities"] = {str(record): str(name) for record, name in named.items()}
    return told if tried is None else {**told, "what_would_help": tried.to_dict()}


def _show(found: Any, of_target: Any, named: Any, tried: Any) -> None:
    """The result for people."""
    from divulge.assessment.sentence import number
    from divulge.cli.showing import say
    from divulge.reconstruction.reporting import details

    say(str(found))
    say(_table(details.BY_PHASE, found.rows()))
    say(_table(details.BY_COMPLEXITY, details.rows_by_complexity(found)))
    if of_target:
        rows = [(r.phase, f"1/{r.parties:,.0f}", f"x{r.factor:,.1f}") for r in of_target]
        say(_table(("phase", "chance", "factor"), rows))
    wrong = [(*where, number(by)) for *where, by in found.inconsistent()]
    if wrong:
        say(_table(details.OF_CONTRADICTIONS, wrong))
    if named is not None:
        say(_table(("record", "named"), [(str(record), str(who)) for record, who in named.items()]))
    if tried is not None:
        say(_table(details.BY_REMEDY, tried.rows()))
        say(str(tried))


def _chosen(loaded: Any, name: str | None) -> Any:
    from divulge.work import Problem
    from divulge.work.problems import InvalidInput

    able = {a.name: a for a in loaded.adversaries if a.attack == "reconstruction"}
    if name is None and len(able) == 1:
        return next(iter(able.values()))
    if name not in able:
        message = 'name one adversary with attack = "reconstruction".'
        problem = Problem("adversary", message, value=name, allowed=list(able))
        raise InvalidInput(loaded.path.name, [problem])
    return able[name]


def _refuse_alone(option: str, said: str | None, file: str, given: Path | None) -> None:
    """Refuse what says more about a file that is not given."""
    from divulge.work import DivulgeError

    if said is not None and given is None:
        raise DivulgeError(f"{option} goes with {file}, which is not given")


def _prior(path: Path, about: str | None) -> Any:
    """A prior in a file: sector, kind and weight in this order, the kind as text."""
    from divulge.data.reading import Source, read
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


def _table(head: tuple[str, ...], rows: Any) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(*head, box=None, header_style="dim")
    for row in rows:
        table.add_row(*map(Text, row))
    return table
