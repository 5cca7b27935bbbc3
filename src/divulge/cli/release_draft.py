"""`divulge init`: the draft is made and written, and what a person must decide is said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from divulge.cli.output import build_sentence
from divulge.cli.run_context import set_run_conditions
from divulge.data import Experience
from divulge.data.formats import Options
from divulge.release import Release, draft, write_draft
from divulge.work import writing_at_once


def accept_roles(file: Path) -> None:
    """Take the roles of a release file into the user's own experience base."""
    release = Release.load(file)
    Experience.own().accept(release.decided_roles()).save()


def draft_release(
    data: Sequence[str],
    out: Path,
    overwrite: bool,
    separator: str | None,
    encoding: str | None,
    decimal: str | None,
    table: str | None,
    accept: Path | None = None,
) -> tuple[str, dict[str, Any]]:
    """Draft the release of some data; what to say of it, in words and as plain values."""
    options = Options(separator=separator, encoding=encoding, decimal=decimal, table=table)
    with set_run_conditions(None, {"--out": out}, data, overwrite):
        if accept is not None:
            with writing_at_once():  # the draft looks at the base
                accept_roles(accept)
        release_draft = draft(data, out.parent, options)
        write_draft(release_draft, out)
    lines = []
    for name, categorisation in release_draft.proposals.items():
        settled = sum(p.status == "settled" for p in categorisation.proposals.values())
        attributes = len(categorisation.proposals)
        lines.append(
            build_sentence("init.dataset", dataset=name, attributes=attributes, settled=settled)
        )
        lines += [
            f"  {p}".replace("\n", "\n  ")
            for p in (*categorisation.conflicts, *categorisation.doubts)
        ]
        lines += [
            f"  {build_sentence('init.unknown', attribute=p.attribute)}"
            for p in categorisation.unknown
        ]
    lines += ["", build_sentence("init.next", path=out)]
    return "\n".join(lines), {"release": str(out), **release_draft.to_dict()}
