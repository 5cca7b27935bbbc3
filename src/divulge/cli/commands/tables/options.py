"""What the verbs of tables may be told in the same words, and how it is read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from divulge.cli.options import check_percent

if TYPE_CHECKING:
    from divulge.tables import SensitivityRules

EXIT_CODES = {"pass": 0, "fail": 1, "not judged": 3}

Source = Annotated[
    Path,
    typer.Argument(
        help="A crosstab with margins (CSV, totals last), a JJ file (.jj), or with --by records.",
        show_default=False,
    ),
]
PublishedFiles = Annotated[
    list[Path],
    typer.Argument(
        help="A crosstab with margins, a JJ file, or with --by a file of one row per cell. "
        "Several files are linked tables.",
        show_default=False,
    ),
]
By = Annotated[
    list[str] | None,
    typer.Option(help="The dimensions, as in region,sex. Once per table; several are linked."),
]
Value = Annotated[str | None, typer.Option(help="What is summed; counts if not given.")]
Hierarchies = Annotated[
    list[str] | None, typer.Option(help="Subtotals: region=levels.csv, a file of levels.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Html = Annotated[Path | None, typer.Option(help="Where a page with the crosstab goes.")]
Percent = Annotated[float | None, typer.Option(help="A rule of sensitivity, in percent.")]
Pair = Annotated[str | None, typer.Option(help="A rule of sensitivity: two numbers, as in 2,85.")]

Contributor = Annotated[str | None, typer.Option(help="Whose records belong together.")]
ZerosPrimary = Annotated[bool, typer.Option(help="Whether 0 is sensitive too.")]
Singletons = Annotated[bool, typer.Option(help="Whether a single contributor is sensitive.")]
ShareOption = Annotated[
    float | None,
    typer.Option(min=0, help="How uncertain a cell must be above and below, in percent of it."),
]
ZerosOption = Annotated[
    Literal["known", "secret"] | None,
    typer.Option(
        help="Whether readers know which cells are empty; known, unless zeros are primary."
    ),
]


def build_rules(
    *,
    min_frequency: int | None,
    zeros_primary: bool,
    dominance: str | None,
    p_percent: float | None,
    pq: str | None,
    request: float | None,
    singletons: bool,
) -> SensitivityRules:
    """The rules of sensitivity that the options state."""
    from divulge.tables import SensitivityRules

    check_percent("--p-percent", p_percent, "{}")
    check_percent("--request", request, "{}")
    return SensitivityRules(
        min_frequency=min_frequency,
        zeros_primary=zeros_primary,
        dominance=parse_pair("--dominance", dominance, whole=True),
        p_percent=p_percent,
        pq=parse_pair("--pq", pq),
        request=request,
        singletons=singletons,
    )


def split_names(text: str) -> list[str]:
    """The names of an option that takes several, as in region,sex."""
    return [name.strip() for name in text.split(",") if name.strip()]


def parse_hierarchies(texts: Sequence[str] | None) -> list[tuple[str, Path]]:
    """The dimensions with subtotals, and the file of levels of each."""
    from divulge.work import Problems

    problems = Problems("tables")
    levels = []
    for text in texts or ():
        name, equals, path = text.partition("=")
        if not equals or not name or not path:
            problems.add("--hierarchy", f'"{text}" is not name=file, as in region=levels.csv.')
        levels.append((name, Path(path)))
    problems.raise_any()
    return levels


def parse_pair(option: str, text: str | None, whole: bool = False) -> tuple[int, float] | None:
    """The two numbers of a rule; the first is a whole one where it counts contributors."""
    from divulge.work import InvalidInput, Problem

    if text is None:
        return None
    try:
        first, second = (float(part) for part in text.split(","))
        if whole:
            first = int(text.partition(",")[0])  # 2.5 contributors are not two of them
    except ValueError:
        message = f'"{text}" is not two numbers, as in 2,85.'
        raise InvalidInput("tables", [Problem(option, message)]) from None
    check_percent(option, second, text.partition(",")[0] + ",{}")
    return first, second  # type: ignore[return-value]
