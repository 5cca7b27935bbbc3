"""`divulge init`: the draft is made and written, and what a person must decide is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from divulge.cli.output import build_sentence
from divulge.cli.run_context import set_run_conditions
from divulge.data import Experience
from divulge.data.formats import Options
from divulge.data.proposals.dataset_kind import DatasetKind
from divulge.release import Draft, Release, draft, write_draft
from divulge.work import writing_at_once


def accept_roles(file: Path) -> None:
    """Take the roles of a release file into the user's own experience base."""
    release = Release.load(file)
    Experience.own().accept(release.decided_roles()).save()


def draft_release(
    data: Sequence[str],
    out: Path,
    overwrite: bool,
    options: Options,
    profile: str,
    accept: Path | None = None,
) -> tuple[str, dict[str, Any]]:
    """Draft the release of some data; what to say of it, in words and as plain values."""
    with set_run_conditions(None, {"--out": out}, data, overwrite):
        if accept is not None:
            with writing_at_once():  # the draft looks at the base
                accept_roles(accept)
        release_draft = draft(data, out.parent, options, profile=profile, name=out.stem)
        write_draft(release_draft, out, overwrite)
    lines = [line for name in release_draft.proposals for line in _summarise(release_draft, name)]
    if release_draft.hierarchies:
        folder = (out.parent / next(iter(release_draft.hierarchies))).parent
        lines += ["", build_sentence("init.hierarchies", folder=folder)]
    lines += ["", build_sentence("init.next", path=out)]
    return "\n".join(lines), {"release": str(out), **release_draft.to_dict()}


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
