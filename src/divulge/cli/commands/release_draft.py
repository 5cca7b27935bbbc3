"""`divulge init`: the draft is made and written, and what a person must decide is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from divulge.cli.data_reader import DataReader
from divulge.cli.options import Json, Overwrite
from divulge.cli.output import build_sentence, print_json, print_text, tolerate_closed_pipe
from divulge.cli.role_questions import RoleQuestions
from divulge.work import writing_at_once

if TYPE_CHECKING:
    from divulge.data.proposals.dataset_kind import DatasetKind
    from divulge.release import Draft


def accept_roles(file: Path) -> None:
    """Take the roles of a release file into the user's own experience base."""
    from divulge.data import Experience
    from divulge.release import Release

    release = Release.load(file)
    Experience.own().accept(release.decided_roles()).save()


def init(
    data: Annotated[list[str], typer.Argument(help="Data files, folders or database addresses.")],
    reader: DataReader,
    out: Annotated[Path, typer.Option(help="The release file to write.")] = Path("release.toml"),
    overwrite: Overwrite = False,
    ask: Annotated[
        bool,
        typer.Option(
            "--ask",
            help="Ask about every attribute whose role is not clear, one by one; your answers are "
            "remembered for later drafts.",
        ),
    ] = False,
    accept: Annotated[
        Path | None,
        typer.Option(
            help="A release file whose roles you confirmed; they are remembered for later drafts."
        ),
    ] = None,
    profile: Annotated[
        Literal["scientific-use", "public-use", "hipaa-expert", "acro", "strict"],
        typer.Option(help="The limits of the draft, each with its source."),
    ] = "scientific-use",
    json: Json = False,
) -> None:
    """Look at data and draft a release file: roles with reasons, adversaries, limits."""
    from divulge.cli.run_context import set_run_conditions
    from divulge.data import Experience
    from divulge.release import draft, write_draft

    options = reader.file_options
    questions = RoleQuestions() if ask else None
    with set_run_conditions(None, {"--out": out}, data, overwrite, is_quiet=ask):
        if accept is not None:
            with writing_at_once():  # the draft looks at the base
                accept_roles(accept)
        drafted = draft(data, out.parent, options, profile=profile, name=out.stem, ask=questions)
        write_draft(drafted, out, overwrite)
        if drafted.answers:
            Experience.own().accept(drafted.answers).save()
    with tolerate_closed_pipe():
        if json:
            print_json({"release": str(out), **drafted.to_dict()})
        else:
            print_text("\n".join(_describe_draft(drafted, out)))


def _describe_draft(drafted: Draft, out: Path) -> Iterator[str]:
    for name in drafted.proposals:
        yield from _summarise(drafted, name)
    if drafted.hierarchies:
        folder = (out.parent / next(iter(drafted.hierarchies))).parent
        yield from ("", build_sentence("init.hierarchies", folder=folder))
    if drafted.answers:
        yield from ("", build_sentence("init.remembered", answers=len(drafted.answers)))
    yield from ("", build_sentence("init.next", path=out))


def _summarise(release_draft: Draft, name: str) -> Iterator[str]:
    """What a dataset is taken for, what goes out, and what a person must decide."""
    categorisation, kind = release_draft.proposals[name], release_draft.kinds[name]
    yield build_sentence(
        "init.dataset",
        dataset=name,
        attributes=len(categorisation.proposals),
        published=len(release_draft.published[name]),
    )
    yield f"  {_name_kind(kind.kind)}"
    for doubt in kind.doubts:
        yield f"  {build_sentence('init.doubt', doubt=doubt)}"
    for proposal in (*categorisation.conflicts, *categorisation.doubts):
        yield f"  {proposal}".replace("\n", "\n  ")
    for proposal in categorisation.unknown:
        yield f"  {build_sentence('init.unknown', attribute=proposal.attribute)}"


def _name_kind(kind: DatasetKind) -> str:
    """What a dataset was taken for."""
    match kind:
        case "households":
            return build_sentence("init.kind.households")
        case "panel":
            return build_sentence("init.kind.panel")
        case "histories":
            return build_sentence("init.kind.histories")
        case "totals":
            return build_sentence("init.kind.totals")
        case "crosstab":
            return build_sentence("init.kind.crosstab")
        case "parties":
            return build_sentence("init.kind.parties")
    return build_sentence("init.kind.records")
