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
    typer.Option("--quasi-identifier", "-q", help="An attribute to consider; repeat for more."),
]
Weight = Annotated[str | None, typer.Option(help="The attribute with the sampling weights.")]
Person = Annotated[
    str | None, typer.Option(help="The attribute that says whose record it is, of several.")
]
Household = Annotated[str | None, typer.Option(help="The attribute with households.")]
Missing = Annotated[
    list[str] | None,
    typer.Option(help="What stands for a missing value in a text file; repeat for more."),
]
Hidden = Annotated[
    str | None,
    typer.Option(help="What stands for a value that an earlier protection has hidden."),
]
OfRelease = Annotated[str | None, typer.Option(help="Which dataset of a release file.")]
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
        help="Stop by the clock after this many seconds, and say so.",
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
    float | None, typer.Option(min=0, help="Exit with 1 if a record's figure is higher.")
]
AtLeast = Annotated[
    float | None, typer.Option(min=0, help="Exit with 1 if a class's figure is lower.")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace files that exist; never an input.")
]
