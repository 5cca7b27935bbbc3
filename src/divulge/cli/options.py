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
    typer.Option("--quasi-identifier", "-q", help="A quasi-identifier; may be repeated."),
]
Weight = Annotated[str | None, typer.Option(help="The attribute with the sampling weights.")]
Person = Annotated[
    str | None,
    typer.Option(help="The attribute that identifies persons, who may have several records."),
]
Household = Annotated[str | None, typer.Option(help="The attribute that identifies households.")]
Missing = Annotated[
    list[str] | None,
    typer.Option(help="A code for missing values in a text file; may be repeated."),
]
Hidden = Annotated[
    str | None,
    typer.Option(help="The code for values that an earlier protection has hidden."),
]
OfRelease = Annotated[str | None, typer.Option(help="The dataset of a release file to use.")]
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
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace existing files; an input is never replaced.")
]
