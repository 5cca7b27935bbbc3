"""What verbs on a data file may be told in the same words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    Path, typer.Argument(help="A data file, or a release file (.toml).", show_default=False)
]
Attributes = Annotated[
    list[str] | None,
    typer.Option(
        "--quasi-identifier",
        "-q",
        help="A quasi-identifier, or several as age,sex; repeat.",
    ),
]
Hierarchies = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        help="An attribute and its file of levels, as age=levels.csv; repeat.",
    ),
]
Weight = Annotated[str | None, typer.Option(help="The attribute with the sampling weights.")]
Person = Annotated[
    str | None,
    typer.Option(help="The attribute that identifies persons, who may have several records."),
]
Household = Annotated[str | None, typer.Option(help="The attribute that identifies households.")]
Out = Annotated[
    Path | None, typer.Option(help="Write a column per record to this file (.csv, .parquet).")
]
ChartFile = Annotated[Path | None, typer.Option(help="Write the chart to an .svg or .png file.")]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
By = Annotated[str | None, typer.Option(help="Also show who bears the risk, by this attribute.")]
Resume = Annotated[
    Path | None, typer.Option(help="A folder from which an interrupted run resumes.")
]
StopAfter = Annotated[
    float | None,
    typer.Option(
        "--stop-after",
        min=0.001,
        help="Stop after this many seconds of real time; the result says so.",
        show_default=False,
    ),
]
Effort = Annotated[
    float,
    typer.Option(
        "--seconds",
        min=0.01,
        help="The effort: counted steps, about as many as a quiet core makes in this time.",
    ),
]
AtMost = Annotated[
    float | None, typer.Option(min=0, help="Exit with code 1 if the figure of a record is higher.")
]
AtLeast = Annotated[
    float | None, typer.Option(min=0, help="Exit with code 1 if the figure of a class is lower.")
]
TellParameters = Annotated[
    bool,
    typer.Option(
        "--tell-parameters",
        help="Let the external edition and the certificate tell what limits and rules allow.",
    ),
]
Pdf = Annotated[
    bool, typer.Option("--pdf", help="Write each page as PDF too, by a Chromium that is installed.")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace existing files; an input is never replaced.")
]


def check_share(option: str, share: float | None) -> None:
    """A share is a number from 0 to 1; who writes 5 means five percent.

    Raises:
        InvalidInput: if it is none, with what was meant.
    """
    from divulge.work import InvalidInput, Problem

    if share is not None and not 0 <= share <= 1:
        meant = f" For {share:g}% write {share / 100:g}." if 1 < share <= 100 else ""
        message = f"is a share, a number from 0 to 1.{meant}"
        raise InvalidInput("limits", [Problem(option, message)])


def check_percent(option: str, percent: float | None, example: str) -> None:
    """A percentage that is at most 1 is a share by mistake.

    Raises:
        InvalidInput: with what was meant.
    """
    from divulge.work import InvalidInput, Problem

    if percent is not None and 0 < percent <= 1:
        meant = example.format(f"{percent * 100:g}")
        message = f"is in percent: for {percent:g} of the total write {meant}."
        raise InvalidInput("tables", [Problem(option, message)])


def parse_level_files(pairs: list[str] | None) -> dict[str, Path]:
    """Files of levels by attribute, from `attribute=file`.

    Raises:
        InvalidInput: if a pair is none.

    >>> parse_level_files(["age=ages.csv"])
    {'age': PosixPath('ages.csv')}
    """
    from divulge.work import InvalidInput, Problem

    files = {}
    for pair in pairs or ():
        name, _, path = pair.partition("=")
        if not name or not path:
            message = "must be an attribute, an equals sign and a file, as age=levels.csv."
            raise InvalidInput("hierarchies", [Problem("--hierarchy", message)])
        files[name] = Path(path)
    return files
