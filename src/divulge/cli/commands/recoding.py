"""`divulge recode`: the levels with the least loss, for a file or for the records of a release."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from divulge.cli.commands.protection import Json, Values, print_judged
from divulge.cli.data_reader import (
    DataReader,
    add_roles,
    is_of_release,
    split_attributes,
    split_dataset_name,
)
from divulge.cli.options import (
    Attributes,
    Data,
    Hierarchies,
    Overwrite,
    StopAfter,
    parse_level_files,
)

if TYPE_CHECKING:
    from divulge.assessment import Limit
    from divulge.data import Dataset
    from divulge.protection import Protected

SUPPRESSION_LIMIT = 0.05
"""The share of records that may be removed if nothing else is said."""


def recode(
    data: Data,
    reader: DataReader,
    quasi_identifier: Attributes = None,
    hierarchy: Hierarchies = None,
    k: Annotated[int | None, typer.Option("-k", min=1, help="Fewest records in a class.")] = None,
    sensitive: Annotated[
        str | None, typer.Option(help="The sensitive attribute, for diversity and closeness.")
    ] = None,
    diversity: Annotated[
        int | None, typer.Option("-l", min=1, help="Fewest different sensitive values in a class.")
    ] = None,
    closeness: Annotated[
        float | None, typer.Option("-t", min=0, max=1, help="Largest distance (t-closeness).")
    ] = None,
    suppression_limit: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="The share of records that may be removed (0.05, or what a recipe says).",
        ),
    ] = None,
    utility: Annotated[
        str,
        typer.Option(
            help="What is kept as high as can be: loss, granularity, precision, entropy, "
            "discernibility, class_size, or a function that a package registers."
        ),
    ] = "loss",
    importance: Annotated[
        list[str] | None,
        typer.Option(help="An attribute and how dear it is, as age=2; repeat (1 if not given)."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="An attribute: say how well models predict it, before and after."),
    ] = None,
    local: Annotated[
        bool, typer.Option(help="Recode single records, instead of whole attributes.")
    ] = False,
    search: Annotated[
        Literal["optimal", "climb", "nested", "clusters"],
        typer.Option(help="How; nested and clusters are ways to recode single records."),
    ] = "optimal",
    never: Annotated[
        list[str] | None, typer.Option(help="An attribute that must not be touched; repeat.")
    ] = None,
    identifier: Annotated[
        list[str] | None, typer.Option(help="An attribute that names people; repeat.")
    ] = None,
    unlisted: Annotated[
        Literal["drop", "non_identifying"] | None,
        typer.Option(help="What becomes of attributes without a role; not judged if not given."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where the recoded records go.")] = None,
    log: Annotated[Path | None, typer.Option(help="Where the decisions go (Parquet).")] = None,
    recipe: Annotated[
        Path | None, typer.Option(help="Where the recipe goes, to be applied to other data.")
    ] = None,
    apply: Annotated[
        Path | None, typer.Option(help="A recipe to apply, instead of a search for levels.")
    ] = None,
    values: Values = False,
    overwrite: Overwrite = False,
    json: Json = False,
    stop_after: StopAfter = None,
) -> None:
    """Recode attributes of a file so that every limit holds with the least loss."""
    from divulge.cli.run_context import set_run_conditions
    from divulge.protection import Recipe
    from divulge.protection import recode as recode_dataset
    from divulge.protection.published_judgement import withstand_recoding
    from divulge.protection.result.published_columns import (
        list_unlisted_columns,
        refuse_unpublished,
    )

    if apply is not None:
        _refuse_beside_recipe(
            {
                "-k": k,
                "-l": diversity,
                "-t": closeness,
                "--hierarchy": hierarchy,
                "--utility": utility if utility != "loss" else None,
                "--importance": importance,
                "--local": local or None,
                "--search": search if search != "optimal" else None,
                "--never": never,
            }
        )
    outputs = {"--out": out, "--log": log, "--recipe": recipe}
    inputs = [data, *([apply] if apply is not None else [])]
    with set_run_conditions(stop_after, outputs, inputs, overwrite):
        records = reader.read(data, {"quasi_identifier": quasi_identifier})
        more_roles = {"identifier": identifier, "sensitive": sensitive}
        _refuse_second_roles(records, more_roles)
        records = add_roles(records, more_roles, keep=True)
        refuse_unpublished(never or (), records, unlisted=unlisted)
        undecided = list_unlisted_columns(records) if out and unlisted is None else []
        recode_alike = None
        if apply is not None:
            protected = Recipe.load(apply).apply(
                records, suppression_limit=suppression_limit, unlisted=unlisted
            )
        else:
            is_local = local or search in ("nested", "clusters")
            limits = _list_limits(
                data,
                reader.dataset,
                k=k,
                sensitive=sensitive,
                diversity=diversity,
                closeness=closeness,
            )
            recode_records = partial(
                recode_dataset,
                records,
                limits,
                SUPPRESSION_LIMIT if suppression_limit is None else suppression_limit,
                utility,
                is_a=parse_level_files(hierarchy),
                never=never or (),
                importance=_parse_importance(importance or []),
            )
            protected = recode_records(search, local=is_local)
            recode_alike = recode_records if is_local else None
            protected = _note_left_out(protected, data, has_own=bool(k or diversity or closeness))
        protected, judgement = withstand_recoding(protected, unlisted, recode_alike=recode_alike)
        if target is not None:
            protected.utility_for(target)  # one that cannot be is said before anything is written
            protected = replace(protected, target=target)
        is_refused = bool(undecided) or judgement.status != "pass"
        if not is_refused:
            _write_results(
                protected, outputs, unlisted=unlisted, values=values, overwrite=overwrite
            )
    print_judged(protected, judgement, undecided, json)


def _list_limits(
    data: Path,
    name: str | None,
    *,
    k: int | None,
    sensitive: str | None,
    diversity: int | None,
    closeness: float | None,
) -> list[Limit]:
    """The limits that were given; of a release file without any, those on the dataset."""
    from divulge.assessment import Limit
    from divulge.release import Release
    from divulge.work import InvalidInput, Problem

    limits = []
    if k is not None:
        limits.append(Limit("k_anonymity", at_least=k))
    if diversity is not None:
        limits.append(Limit("distinct_l_diversity", at_least=diversity, attribute=sensitive))
    if closeness is not None:
        limits.append(Limit("t_closeness", at_most=closeness, attribute=sensitive))
    path, own_name = split_dataset_name(data)
    if not limits and is_of_release(data):
        release = Release.load(path)
        name = own_name or name or next(iter(release.datasets))
        limits = [
            limit
            for limit in release.limits
            if not limit.of_assessment
            and limit.dataset in (None, name)
            and not limit.compared_datasets
        ]
    if not limits:
        message = "names none; give -k, -l or -t, or a release file with limits on its dataset."
        raise InvalidInput("recode", [Problem("limits", message)])
    return limits


def _note_left_out(protected: Protected, data: Path, *, has_own: bool) -> Protected:
    """Say how many limits of a release file were not taken, since they are on adversaries."""
    from divulge.assessment import Sentence
    from divulge.release import Release

    if has_own or not is_of_release(data):
        return protected
    path, _ = split_dataset_name(data)
    left_out = sum(limit.of_assessment for limit in Release.load(path).limits)
    if not left_out:
        return protected
    note = Sentence("divulge.protection", "recoding.left_out", {"count": left_out})
    return replace(protected, notes=(*protected.notes, note))


def _refuse_beside_recipe(options: dict[str, object]) -> None:
    """What a recipe says already cannot be said again, or somebody would think that it counts."""
    from divulge.work import InvalidInput, Problem

    message = "is what the recipe says; leave it out, or edit the recipe."
    given = [name for name, content in options.items() if content is not None]
    if given:
        raise InvalidInput("recode --apply", [Problem(name, message) for name in given])


def _refuse_second_roles(records: Dataset, roles: dict[str, Any]) -> None:
    """A quasi-identifier that is given another role would silently be left out of the limits."""
    from divulge.data.dictionary import as_names
    from divulge.work import InvalidInput, Problem

    keys = set(as_names(records.roles.get("quasi_identifier", ())))
    problems = [
        Problem(
            f"--{role}",
            f'"{name}" is a quasi-identifier already, and cannot be both.',
        )
        for role, given in roles.items()
        for name in split_attributes(as_names(given or ()), records.names)
        if name in keys
    ]
    if problems:
        raise InvalidInput("recode", problems)


def _parse_importance(pairs: list[str]) -> dict[str, float]:
    """How dear attributes are, from `attribute=number`."""
    from divulge.work import InvalidInput, Problem

    weights = {}
    for pair in pairs:
        name, _, number = pair.rpartition("=")
        try:
            weights[name] = float(number)
        except ValueError:
            name = ""
        if not name:
            message = "must be an attribute, an equals sign and a number, as age=2."
            raise InvalidInput("recode", [Problem("--importance", message)])
    return weights


def _write_results(
    protected: Protected,
    paths: dict[str, Path | None],
    *,
    unlisted: Literal["drop", "non_identifying"] | None,
    values: bool,
    overwrite: bool,
) -> None:
    out, log, recipe = (paths[option] for option in ("--out", "--log", "--recipe"))
    if out is not None:
        protected.write(out, overwrite, unlisted=unlisted)
    if log is not None:
        protected.decisions.write(log, values, overwrite)
    if recipe is not None:
        protected.recipe.write(recipe, overwrite)
