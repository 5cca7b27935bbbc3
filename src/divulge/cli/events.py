"""`divulge events`: attacks on a history in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from divulge.events import History

app = typer.Typer(
    help="What an adversary who knows a little about someone's events can find.",
    no_args_is_help=True,
)

Data = Annotated[Path, typer.Argument(help="The records (CSV, Parquet, ...).", show_default=False)]
User = Annotated[str | None, typer.Option(help="The attribute that says whose record it is.")]
Time = Annotated[str | None, typer.Option(help="The attribute that says when.")]
Item = Annotated[str | None, typer.Option(help="The attribute that says what.")]
Kind = Annotated[
    str, typer.Option(help="Usual names are looked for of: card, retail, call or mobility data.")
]
Event = Annotated[str, typer.Option(help="A unit of time, or an attribute such as a receipt.")]
Amount = Annotated[str | None, typer.Option(help="The attribute that says how much.")]
Returns = Annotated[str | None, typer.Option(help="Negative amounts: drop, keep or net.")]
Missing = Annotated[str, typer.Option(help="Records without user, time or item: refuse or drop.")]
Knows = Annotated[list[str], typer.Option(help='What she knows: "day", "item", "2 items", ...')]
Weight = Annotated[str, typer.Option(help="What is drawn: record, event or user.")]
Guess = Annotated[str, typer.Option(help="Any user who fits (uniform), or the likeliest (best).")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
ChartFile = Annotated[Path | None, typer.Option(help="Write the chart to an .svg or .png file.")]


@app.command()
def attack(
    data: Data,
    knows: Knows = ["day", "item"],  # noqa: B006  # typer copies it
    release: Annotated[Path | None, typer.Option(help="A protected version of the data.")] = None,
    points: Annotated[int, typer.Option(help="Of how many events she knows it.")] = 1,
    by: Annotated[str | None, typer.Option(help="Who bears the risk: an attribute.")] = None,
    weight: Weight = "record",
    guess: Guess = "uniform",
    user: User = None,
    time: Time = None,
    item: Item = None,
    kind: Kind = "retail",
    event: Event = "day",
    amount: Amount = None,
    returns: Returns = None,
    missing: Missing = "refuse",
    chart: ChartFile = None,
    json: Json = False,
) -> None:
    """Attack a history with knowledge of events."""
    from divulge import events

    reading = (user, time, item, kind, event, amount, returns, missing)
    with _conditions():
        history = _history(data, *reading)
        attacker: Any = events.Attacker(
            knows,
            points=points,
            weight=weight,  # type: ignore[arg-type]  # checked there
            guess=guess,  # type: ignore[arg-type]  # checked there
            attributes=history.dataset.names,
        )
        against = None if release is None else _history(release, *reading)
        found = events.attack(history, attacker, against)
        groups = None if by is None else found.by(by)
    told = found.to_dict() if groups is None else {**found.to_dict(), "by": groups.to_dict()}
    _show(told if json else [found, groups], json)
    _draw(found, chart)


@app.command()
def ten(
    data: Data,
    weight: Weight = "record",
    guess: Guess = "uniform",
    count: Annotated[str, typer.Option(help="How many: kinds (distinct items) or records.")] = (
        "kinds"
    ),
    user: User = None,
    time: Time = None,
    item: Item = None,
    kind: Kind = "retail",
    event: Event = "day",
    amount: Amount = None,
    returns: Returns = None,
    missing: Missing = "refuse",
    chart: ChartFile = None,
    json: Json = False,
) -> None:
    """Run the ten attackers of Ito et al. (2018): exact, estimated, ranked."""
    from divulge import events

    with _conditions():
        history = _history(data, user, time, item, kind, event, amount, returns, missing)
        found = events.ten_attackers(history, weight, guess, count)  # type: ignore[arg-type]
    remarks = [sentence.render() for sentence in history.remarks()]
    _show(found.to_dict() if json else [found, *remarks], json)
    _draw(found, chart)


@app.command()
def unicity(
    data: Data,
    knows: Knows = ["day", "item"],  # noqa: B006  # typer copies it
    points: Annotated[int, typer.Option(help="Up to how many points are known.")] = 4,
    weight: Weight = "user",
    sample: Annotated[int, typer.Option(help="How many users are drawn.")] = 10_000,
    seed: Annotated[int, typer.Option(help="The same seed draws the same sample.")] = 0,
    user: User = None,
    time: Time = None,
    item: Item = None,
    kind: Kind = "retail",
    event: Event = "day",
    amount: Amount = None,
    returns: Returns = None,
    missing: Missing = "refuse",
    chart: ChartFile = None,
    json: Json = False,
) -> None:
    """How few points of a history single its user out, from one point on."""
    from divulge import events

    with _conditions():
        history = _history(data, user, time, item, kind, event, amount, returns, missing)
        curve = events.unicity_curve(
            history, [knows], range(1, points + 1), weight=weight, sample=sample, seed=seed
        )
    last = list(curve.assessments.values())[-1]
    told = {**last.to_dict(), **curve.to_dict()}
    _show(told if json else [str(curve), last], json)
    _draw(curve, chart)


def _history(
    path: Path,
    user: str | None,
    time: str | None,
    item: str | None,
    kind: str,
    event: str,
    amount: str | None,
    returns: str | None,
    missing: str,
) -> History:
    """The history of a file; what is not named is looked for under its usual names."""
    import divulge as dv
    from divulge import events

    dataset = dv.read(path)
    given: dict[str, Any] = {"user": user, "time": time, "item": item}
    given = {name: value for name, value in given.items() if value is not None}
    # An amount is asked for by name, since negative ones want a decision.
    more = {"event": event, "amount": amount, "returns": returns, "missing": missing}
    return events.History.preset(dataset, kind, **given, **more)


def _conditions() -> Any:
    from divulge.cli.running import conditions

    return conditions(None)


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
    if path is not None:
        found.chart().save(path)
