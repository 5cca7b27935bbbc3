"""`divulge events`: attacks on a history in a file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from divulge.cli.data_reader import DataReader, takes_reading_options
from divulge.cli.options import Overwrite
from divulge.cli.record_sources import (
    CountingEngine,
    MemoryLimit,
    list_source_files,
    read_source,
)
from divulge.cli.run_context import set_run_conditions

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

HISTORY_OPTIONS: dict[str, tuple[Any, Any]] = {
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
    "engine": (CountingEngine, None),
    "memory_limit": (MemoryLimit, None),
}
"""How the records are read, the same for every command: type and default of each option."""


@dataclass(frozen=True)
class HistorySource:
    """A file of records and how to read it."""

    source: str
    reader: DataReader
    reading: dict[str, Any]

    @property
    def files(self) -> list[Path]:
        """The files that are read; none of a server."""
        return list_source_files([self.source])

    def read_history(self, release: Path | None = None, rounded: str | None = None) -> History:
        """The history of the file, or of a release of it; usual names are looked for."""
        from divulge import events

        # What is not named is looked for; an amount only once negative ones are decided on.
        reading = dict(self.reading)
        kind, engine, limit = (reading.pop(name) for name in ("kind", "engine", "memory_limit"))
        for name in ("user", "time", "item", *(["amount"] if reading["returns"] else [])):
            if reading[name] is None:
                del reading[name]
        if release is not None:
            reading |= {"missing": "maybe", "rounded": rounded}
        if release is None and engine is not None:
            records = read_source(self.reader, self.source, {}, engine=engine, limit=limit)
        else:
            place = release or Path(self.source)
            records = self.reader.read(place, alone=release is None)
        return events.History.preset(records, kind, **reading)

    def read_release(self, release: Path | None, rounded: str | None) -> History | None:
        """The history of a release of the file, if there is one."""
        from divulge.work import InvalidInput, Problem

        if release is None and rounded is not None:
            message = "is said of the times of a release; give --release."
            raise InvalidInput("events", [Problem("rounded", message)])
        return None if release is None else self.read_history(release, rounded)


def add_history_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the file and the `HISTORY_OPTIONS` in place of its first argument."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    file = inspect.Parameter(
        "data",
        inspect.Parameter.KEYWORD_ONLY,
        annotation=Annotated[
            str,
            typer.Argument(
                help="The records (CSV, Parquet, ...), or a release file; with --engine also a "
                "pattern in quotation marks, or a Spark Connect server (sc://host:port).",
                show_default=False,
            ),
        ],
    )
    options = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
        )
        for name, (annotation, default) in HISTORY_OPTIONS.items()
    ]

    reader = inspect.Parameter("reader", file.kind, annotation=DataReader)

    def run_command(**arguments: Any) -> None:
        source, reader = arguments.pop("data"), arguments.pop("reader")
        reading = {name: arguments.pop(name) for name in HISTORY_OPTIONS}
        command(HistorySource(source, reader, reading), **arguments)

    by_name = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own]
    run_command.__name__, run_command.__doc__ = command.__name__, command.__doc__
    run_command.__signature__ = inspect.Signature([file, *by_name, *options, reader])  # type: ignore[attr-defined]
    run_command.__annotations__ = {}
    # What is missing is here what to do with records that miss something.
    return takes_reading_options(run_command, missing="missing_code")


@app.command()
@add_history_options
def attack(
    records: HistorySource,
    knows: Knows = ["day", "item"],  # noqa: B006  # typer copies it
    release: Release = None,
    rounded: Rounded = None,
    points: Annotated[int, typer.Option(help="Of how many events the adversary knows it.")] = 1,
    by: By = None,
    weight: Weight = "record",
    guess: Guess = "uniform",
    seed: Seed = 0,
    each: Annotated[
        bool, typer.Option("--each", help="Which day or item is dangerous, row by row.")
    ] = False,
    chart: ChartFile = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Attack a history with knowledge of events."""
    from divulge import events

    with set_run_conditions(None, {"--chart": chart}, [*records.files, release], overwrite):
        history = records.read_history()
        attacker: Any = events.Attacker(
            knows,
            points=points,
            weight=weight,  # type: ignore[arg-type]  # checked there
            guess=guess,  # type: ignore[arg-type]  # checked there
            attributes=history.dataset.names,
        )
        assessment = events.attack(history, attacker, records.read_release(release, rounded), seed)
        groups = None if by is None else assessment.by(by)
        rows = events.list_knowledge_risks(history, attacker) if each else None
        _save_chart(assessment, chart)
    content = assessment.to_dict()
    content |= {} if groups is None else {"by": groups.to_dict()}
    content |= {} if rows is None else {"each": rows.to_dict()}
    shown = None if rows is None else str(rows)
    _print_content(content if json else [assessment, groups, shown], json)


@app.command()
@add_history_options
def ten(
    records: HistorySource,
    release: Release = None,
    rounded: Rounded = None,
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
    from divulge.cli.output import build_sentence

    with (
        set_run_conditions(None, {"--chart": chart}, [*records.files, release], overwrite),
        _open_chart_folder(charts, records.files, overwrite) as place,
    ):
        history = records.read_history()
        result = events.ten_attackers(
            history,
            weight,  # type: ignore[arg-type]  # checked there
            guess,  # type: ignore[arg-type]
            count,  # type: ignore[arg-type]
            release=records.read_release(release, rounded),
        )
        groups = {} if by is None else result.by(by)
        _save_chart(result, chart)
        if place is not None:
            place.write(lambda folder: _draw_all(result, folder))
    remarks = [sentence.render() for sentence in result.remarks()]
    broken_down = {"by": {str(n): each.to_dict() for n, each in groups.items()}} if groups else {}
    parts = [
        part
        for n, each in groups.items()
        for part in ("", build_sentence("events.attacker", number=n), each)
    ]
    _print_content(
        {**result.to_dict(), **broken_down} if json else [result, *remarks, *parts], json
    )


@app.command()
@add_history_options
def unicity(
    records: HistorySource,
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
    from divulge.events.unicity import choose_curve_points, list_granularities

    with set_run_conditions(None, {"--chart": chart}, [*records.files, release], overwrite):
        history = records.read_history()
        curve = events.unicity_curve(
            history,
            list_granularities(knows, granularity) if granularity else [knows],
            choose_curve_points(points) or [points],
            weight=weight,  # type: ignore[arg-type]  # checked there
            sample=sample,
            seed=seed,
            release=records.read_release(release, rounded),
        )
        last = curve.assessments[tuple(knows), points]
        groups = None if by is None else last.by(by)
        _save_chart(curve, chart)
    content = {**last.to_dict(), **curve.to_dict()}
    content |= {} if groups is None else {"by": groups.to_dict()}
    _print_content(content if json else [str(curve), last, groups], json)


@contextmanager
def _open_chart_folder(
    charts: Path | None, sources: list[Path], overwrite: bool
) -> Iterator[OutputFolder | None]:
    """The folder for all charts, if one is asked for."""
    from divulge.work import Inputs, OutputFolder

    if charts is None:
        yield None
        return
    with OutputFolder(charts, "charts", overwrite, inputs=Inputs(sources)).held() as place:
        yield place


def _draw_all(result: Any, folder: Path) -> None:
    for name, chart in result.charts().items():
        chart.save(folder / f"{name.replace(' ', '-')}.svg")


def _print_content(content: Any, json: bool) -> None:
    from divulge.cli.output import print_json, print_text, tolerate_closed_pipe

    with tolerate_closed_pipe():
        if json:
            print_json(content)
            return
        for part in content:
            if part is not None:
                print_text(part)


def _save_chart(result: Any, path: Path | None) -> None:
    """Before anything is shown: a run that ends in an error has no result to read."""
    if path is not None:
        result.chart().save(path)
