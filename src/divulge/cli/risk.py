"""`divulge risk` and `divulge suda`: the risk of each record of a file or a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from divulge.data import Dataset

FINE, LIMIT_FAILS = 0, 1

Data = Annotated[
    Path, typer.Argument(help="A data file, or a release file (.toml).", show_default=False)
]
Attributes = Annotated[
    list[str] | None,
    typer.Option("--quasi-identifier", "-q", help="An attribute to consider; repeat for more."),
]
Weight = Annotated[str | None, typer.Option(help="The attribute with the sampling weights.")]
Missing = Annotated[
    list[str] | None,
    typer.Option(help="What stands for a missing value in a text file; repeat for more."),
]
OfRelease = Annotated[str | None, typer.Option(help="Which dataset of a release file.")]
Out = Annotated[
    Path | None, typer.Option(help="Write a column per record to this file (.csv, .parquet).")
]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
By = Annotated[str | None, typer.Option(help="Also show who bears the risk, by this attribute.")]
Seconds = Annotated[
    float | None, typer.Option(min=0.001, help="Stop, and say so, after this many seconds.")
]
AtMost = Annotated[
    float | None, typer.Option(min=0, max=1, help="Exit with 1 if a record's risk is higher.")
]


def risk(
    data: Data,
    quasi_identifier: Attributes = None,
    measure: Annotated[
        Literal["individual", "reidentification", "household", "prosecutor", "journalist"],
        typer.Option(help="Which risk of each record."),
    ] = "individual",
    method: Annotated[
        Literal["approximate", "exact", "ratio"], typer.Option(help="Of individual risk.")
    ] = "approximate",
    nulls: Annotated[
        Literal["maybe", "standard", "value", "known", "bayes"],
        typer.Option(help="What a missing value may stand for."),
    ] = "maybe",
    weight: Weight = None,
    household: Annotated[str | None, typer.Option(help="The attribute with households.")] = None,
    original: Annotated[
        Path | None, typer.Option(help="The same records before protection (known, bayes).")
    ] = None,
    dataset: OfRelease = None,
    missing: Missing = None,
    threshold: Annotated[float, typer.Option(min=0, max=1, help="Records at risk.")] = 0.2,
    by: By = None,
    at_most: AtMost = None,
    out: Out = None,
    json: Json = False,
    seconds: Seconds = None,
) -> None:
    """Measure the risk that each record's owner is found."""
    from divulge import records
    from divulge.cli.running import conditions
    from divulge.data import read

    with conditions(seconds):
        held = read_records(data, dataset, quasi_identifier, weight, household, missing)
        before = read(original, missing=("", *(missing or ()))) if original is not None else None
        counted = records.frequencies(held, nulls, original=before)
        if measure == "household":
            found = records.household_risk(held, method, nulls=nulls)
        elif measure == "reidentification":
            found = records.reidentification_risk(held, nulls=nulls)
        elif measure == "prosecutor":
            found = counted.risk()
        elif measure == "journalist":
            found = records.journalist_risk(held)
        else:
            found = records.individual_risk(held, method, nulls=nulls, original=before)
        summary = {**found.summary(threshold), "frequencies": counted.to_dict()}
        said = found.assessment(threshold).explain()
        if measure != "prosecutor":
            # The claim comes last, and what both say is said once.
            said = list(dict.fromkeys([*map(str, counted.sentences()), *said]))
        _write(found.to_arrow(), out)
        _show({**summary, "sentences": said}, said, found.by(by) if by else None, json)
    raise typer.Exit(LIMIT_FAILS if at_most is not None and found.highest > at_most else FINE)


def suda(
    data: Data,
    quasi_identifier: Attributes = None,
    max_size: Annotated[
        int | None, typer.Option(min=1, help="The most attributes of a minimal unique.")
    ] = None,
    sampling_fraction: Annotated[
        float, typer.Option(help="The share of the population that is in the file.")
    ] = 0.01,
    dataset: OfRelease = None,
    missing: Missing = None,
    by: By = None,
    at_most: AtMost = None,
    out: Out = None,
    json: Json = False,
    seconds: Seconds = None,
) -> None:
    """Find what makes records special: minimal sample uniques, SUDA and DIS-SUDA scores."""
    from divulge import records
    from divulge.assessment.sentence import percent
    from divulge.cli.running import conditions

    with conditions(seconds):
        held = read_records(data, dataset, quasi_identifier, None, None, missing)
        found = records.suda(held, max_size, sampling_fraction)
        said = found.explain()
        said += [
            f"{name}: {percent(share)} of all scores"
            for name, share in sorted(found.contributions().items(), key=lambda each: -each[1])
        ]
        _write(found.to_arrow(), out)
        _show(found.to_dict(), said, found.by(by) if by else None, json)
    highest = float(found.dis.max())
    raise typer.Exit(LIMIT_FAILS if at_most is not None and highest > at_most else FINE)


def read_records(
    path: Path,
    name: str | None,
    attributes: list[str] | None,
    weight: str | None,
    household: str | None,
    missing: list[str] | None,
) -> Dataset:
    """A dataset with the roles that were given on top of those of a release."""
    from divulge.data import read
    from divulge.release import Release
    from divulge.work import InvalidInput, Problem

    if path.suffix.lower() == ".toml":
        plans = Release.load(path).datasets
        if name is None and len(plans) == 1:
            [name] = plans
        if name is None or name not in plans:
            message = "name one of its datasets with --dataset."
            raise InvalidInput(str(path), [Problem("dataset", message, name or "", list(plans))])
        held = plans[name].read()
    else:
        held = read(path, missing=("", *(missing or ())))
    roles: dict[str, Any] = {str(role): of for role, of in held.roles.items()}
    given = {"quasi_identifier": attributes, "weight": weight, "household": household}
    for role, names in given.items():
        if names:
            taken = [names] if isinstance(names, str) else names
            roles = {
                each: [n for n in ([of] if isinstance(of, str) else of) if n not in taken]
                for each, of in roles.items()
                if each != role
            }
            roles[role] = names
    hierarchies = {a.name: a.hierarchy for a in held.dictionary if a.hierarchy is not None}
    return held.describe({role: of for role, of in roles.items() if of}, hierarchies)


def _write(table: Any, out: Path | None) -> None:
    if out is not None:
        from divulge.data import Dataset

        Dataset.from_arrow(table).write(out)


def _show(summary: dict[str, Any], said: list[str], groups: Any, json: bool) -> None:
    from divulge.cli.showing import print_json, say, shown

    with shown():
        if json:
            print_json({**summary, **({"by": groups.to_dict()} if groups is not None else {})})
            return
        for sentence in said:
            say(sentence)
        if groups is not None:
            say(groups)
