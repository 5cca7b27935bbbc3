"""The verbs of tables: `divulge tables suppress | audit` (`attack` stands in `matching`)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from divulge.cli.showing import print_json, say, shown

FINE, LIMIT_FAILS = 0, 1

app = typer.Typer(
    help="Tables of totals: audit what is suppressed, suppress what must be.",
    no_args_is_help=True,
)

Crosstab = Annotated[
    Path, typer.Argument(help="A crosstab with margins (CSV), totals last.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Separator = Annotated[str, typer.Option(help="What stands between fields.")]


@app.command()
def suppress(
    crosstab: Crosstab,
    min_frequency: Annotated[int, typer.Option(min=1, help="Smaller cells are sensitive.")],
    width: Annotated[float, typer.Option(min=0, help="How wide their intervals become.")] = 1,
    zeros_primary: Annotated[bool, typer.Option(help="Whether 0 is sensitive too.")] = False,
    method: Annotated[Literal["optimal", "fast"], typer.Option(help="How to choose.")] = "optimal",
    margins: Annotated[
        Literal["published", "suppressible"], typer.Option(help="May totals be suppressed?")
    ] = "published",
    seconds: Annotated[float, typer.Option(min=0.01, help="How long to look.")] = 60,
    resist_matching: Annotated[
        bool, typer.Option(help="Draw the pattern, so that knowing the algorithm does not help.")
    ] = False,
    seed: Annotated[int | None, typer.Option(help="The secret of the draw.")] = None,
    sealed: Annotated[
        Path | None, typer.Option(help="A file that keeps the draw for the next release.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where the published table goes (CSV).")] = None,
    separator: Separator = ",",
    json: Json = False,
) -> None:
    """Suppress the small cells of a crosstab, and as few others as protect them."""
    from divulge import tables
    from divulge.cli.running import conditions
    from divulge.tables.display import crosstab_text, kinds_of
    from divulge.tables.files import read_complete_crosstab, write_crosstab

    with conditions(None):
        table = read_complete_crosstab(crosstab, separator)
        found = tables.suppress(
            table,
            min_frequency,
            width,
            zeros_primary,
            method,
            margins=margins,
            seconds=seconds,
            resist_matching=resist_matching,
            seed=seed,
            sealed=sealed,
        )
    if out is not None:
        write_crosstab(found.published, out)
    if json:
        with shown():
            print_json(found.to_dict())
        return
    structure = table.structure
    hidden = found.published.suppressed
    kinds = kinds_of(structure, hidden, structure.mask(found.primary), hidden & False)
    primary = int(structure.mask(found.primary).sum())
    with shown():
        say(crosstab_text(found.published.to_rows(), kinds))
        say(
            f"\n{primary} sensitive cells (P) and {int(hidden.sum()) - primary} others (*) are "
            f"suppressed. Cost {found.cost:g}, at least {found.bound:g} (gap {found.gap:.1%})."
        )
        if found.resistance is not None:
            say(str(found.resistance))


@app.command()
def audit(crosstab: Crosstab, separator: Separator = ",", json: Json = False) -> None:
    """Compute what the suppressed cells of a crosstab can be, and which are known after all."""
    from divulge import tables
    from divulge.cli.running import conditions
    from divulge.tables.display import crosstab_text, kinds_of
    from divulge.tables.files import read_crosstab

    with conditions(None):
        published = read_crosstab(crosstab, separator)
        found = tables.intervals(published)
        reasons = [str(why) for why in found.disclosures()]
    if json:
        with shown():
            print_json({**found.to_dict(), "reasons": reasons})
    else:
        structure = published.structure
        nobody = published.suppressed & False
        kinds = kinds_of(structure, published.suppressed, nobody, structure.mask(found.disclosed))
        with shown():
            say(crosstab_text(published.to_rows(), kinds))
            say(f"\n{len(found)} cells are suppressed; {len(reasons)} of them are known (!).")
            for reason in reasons:
                say(reason)
    raise typer.Exit(LIMIT_FAILS if found.disclosed else FINE)
