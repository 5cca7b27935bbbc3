"""`divulge events`: attacks on a history in a file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from divulge.cli.options import Overwrite
from divulge.cli.running import conditions

if TYPE_CHECKING:
    from divulge.events import History
    from divulge.work import OutputFolder

app = typer.Typer(
    help="What an adversary who knows a little about someone's events can find.",
    no_args_is_help=True,
)

Knows = Annotated[list[str], typer.Option(help='What is known: "day", "item", "2 items", ...')]
Release = Annotated[Path | None, typer.Option(help="A protected version of the data.")]
Rounded = Annotated[str | None, typer.Option(help="The unit that the release's times stand for.")]
Weight = Annotated[str, typer.Option(help="What is drawn: record, event or user.")]
Guess = Annotated[str, typer.Option(help="Any user who fits (uniform), or the likeliest (best).")]
Seed = Annotated[int, typer.Option(help="The same seed draws the same sample.")]
By = Annotated[str | None, typer.Option(help="Who bears the risk: an attribute.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
ChartFile = Annotated[Path | None, typer.Option(help="Write the chart to an .svg or .png file.")]

READING: dict[str, tuple[Any, Any]] = {
    "user": (
        Annotated[str | None, typer.Option(help="The attribute that says whose record it is.")],
        None,
    ),
    "time": (Annotated[str | None, typer.Option(help="The attribute that says when.")], None),
    "item": (Annotated[str | None, typer.Option(help="The attribute that says what.")], None),
    "kind": (
        Annotated[
            str,
            typer.Option(help="Usual names are looked for of: card, retail, call, mobility data."),
        ],
        "retail",
    ),
    "event": (
        Annotated[str, typer.Option(help="A unit of time, or an attribute such as a receipt.")],
        "day",
    ),
    "amount": (Annotated[str | None, typer.Option(help="The attribute that says how much.")], None),
    "returns": (
        Annotated[str | None, typer.Option(help="Negative amounts: drop, keep or net.")],
        None,
    ),
    "missing": (
        Annotated[str, typer.Option(help="Records without user, time or item: refuse or drop.")],
        "refuse",
    ),
}
"""How the records are read, the same for every command: type and default of each option."""


@dataclass(frozen=True)
class Records:
    """A file of records and how to read it."""

    path: Path
    told: dict[str, Any]

    def history(self, release: Path | None = None, rounded: str | None = None) -> History:
        """The history of the file, or of a release of it; usual names are looked for."""
        import divulge as dv
        from divulge import events

        # What is not named is looked for; an amount only once negative ones are decided on.
        told = dict(self.told)
        kind = told.pop("kind")
        for name in ("user", "time", "item", *(["amount"] if told["returns"] else [])):
            if told[name] is None:
                del told[name]
        if release is not None:
            told |= {"missing": "maybe", "rounded": rounded}
        return events.History.preset(dv.read(release or self.path), kind, **told)

    def released(self, release: Path | None, rounded: str | None) -> History | None:
        """The history of a release of the file, if there is one."""
        from divulge.work import InvalidInput, Problem

        if release is None and rounded is not None:
            message = "is said of the times of a release; give --release."
            raise InvalidInput("events", [Problem("rounded", message)])
        return None if release is None else self.history(release, rounded)


def reads_records(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the file and the options of `READING` in place of its first argument."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    file = inspect.Parameter(
        "data",
        inspect.Parameter.KEYWORD_ONLY,
        annotation=Annotated[
            Path, typer.Argument(help="The records (CSV, Parquet, ...).", show_default=False)
        ],
    )
    options = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
        )
        for name, (annotation, default) in READING.items()
    ]

    def run(**given: Any) -> None:
        path = given.pop("data")
        command(Records(path, {name: given.pop(name) for name in READING}), **given)

    by_name = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature([file, *by_name, *options])  # type: ignore[attr-defined]
    run.__annotations__ = {}
    return run


@app.command()
@reads_records
def attack(
    records: Records,
    knows: Knows = ["day", "item"],  # noqa: B006  # typer copies it
    release: Release = None,
    rounded: Rounded = None,
    points: Annotated[int, typer.Option(help="Of how many events the adversary knows it.")] = 1,
    by: By = None,
    weight: Weight = "record",
    guess: Guess = "uniform",
    seed: Seed = 0,
    chart: ChartFile = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Attack a history with knowledge of events."""
    from divulge import events

    with conditions(None, {"--chart": chart}, [records.path, release], overwrite):
        history = records.history()
        attacker: Any = events.Attacker(
            knows,
            points=points,
            weight=weight,  # type: ignore[arg-type]  # checked there
            guess=guess,  # type: ignore[arg-type]  # checked there
            attributes=history.dataset.names,
        )
        found = events.attack(history, attacker, records.released(release, rounded), seed)
        groups = None if by is None else found.by(by)
        _draw(found, chart)
    told = found.to_dict() if groups is None else {**found.to_dict(), "by": groups.to_dict()}
    _show(told if json else [found, groups], json)


@app.command()
@reads_records
def ten(
    records: Records,
    weight: Weight = "record",
    guess: Guess = "uniform",
    count: Annotated[str, typer.Option(help="How many: kinds (distinct items) or records.")] = (
        "kinds"
    ),
    by: By = None,
    chart: ChartFile = None,
    charts: Annotated[Path | None, typer.Option(help="Write all charts to a folder.")] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Run the ten attackers of Ito et al. (2018): exact, estimated, ranked."""
    from divulge import events

    with (
        conditions(None, {"--chart": chart}, [records.path], overwrite),
        _folder(charts, records.path, overwrite) as place,
    ):
        history = records.history()
        found = events.ten_attackers(history, weight, guess, count)  # type: ignore[arg-type]
        groups = {} if by is None else found.by(by)
        _draw(found, chart)
        if place is not None:
            place.write(lambda folder: _draw_all(found, folder))
    remarks = [sentence.render() for sentence in history.remarks()]
    broken_down = {"by": {str(n): each.to_dict() for n, each in groups.items()}} if groups else {}
    parts = [part for n, each in groups.items() for part in (f"\nAttacker {n}:", each)]
    _show({**found.to_dict(), **broken_down} if json else [found, *remarks, *parts], json)


@app.command()
@reads_records
def unicity(
    records: Records,
    knows: Knows = ["day", "item"],  # noqa: B006  # typer copies it
    release: Release = None,
    rounded: Rounded = None,
    points: Annotated[int, typer.Option(help="Up to how many points are known.")] = 4,
    granularity: Annotated[
        list[str] | None, typer.Option(help="Also by other units of time: week, month, ...")
    ] = None,
    by: By = None,
    weight: Annotated[str, typer.Option(help="What is drawn: record or user.")] = "user",
    sample: Annotated[int, typer.Option(help="How many users are drawn.")] = 10_000,
    seed: Seed = 0,
    chart: ChartFile = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """How few points of a history single its user out, from one point on."""
    from divulge import events
    from divulge.events.unicity import granularities, steps

    with conditions(None, {"--chart": chart}, [records.path, release], overwrite):
        history = records.history()
        curve = events.unicity_curve(
            history,
            granularities(knows, granularity) if granularity else [knows],
            steps(points) or [points],
            weight=weight,  # type: ignore[arg-type]  # checked there
            sample=sample,
            seed=seed,
            release=records.released(release, rounded),
        )
        last = curve.assessments[tuple(knows), points]
        groups = None if by is None else last.by(by)
        _draw(curve, chart)
    told = {**last.to_dict(), **curve.to_dict()}
    told |= {} if groups is None else {"by": groups.to_dict()}
    _show(told if json else [str(curve), last, groups], json)


@contextmanager
def _folder(charts: Path | None, source: Path, overwrite: bool) -> Iterator[OutputFolder | None]:
    """The folder for all charts, if one is asked for."""
    from divulge.work import Inputs, OutputFolder

    if charts is None:
        yield None
        return
    with OutputFolder(charts, "charts", overwrite, inputs=Inputs([source])).held() as place:
        yield place


def _draw_all(found: Any, folder: Path) -> None:
    for name, drawn in found.charts().items():
        drawn.save(folder / f"{name.replace(' ', '-')}.svg")


def _show(content: Any, json: bool) -> None:
    from divulge.cli.showing import print_json, say, shown

    with shown():
        if json:
            print_json(content)
            return
        for part in content:
            if part is not None:
                say(part)


def _draw(found: Any, path: Path | None) -> None:
    """Before anything is shown: a run that ends in an error has no result to read."""
    if path is not None:
        found.chart().save(path)
