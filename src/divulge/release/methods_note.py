"""The note on methods that goes out with protected data: what was done, and no figure of anything.

How many cells were suppressed tells, with what is missing in the file, how many were missing
before; bounds tell an attacker who knows the method what the hidden values cannot be. Neither is
here: both stay in `internal/`, and whoever publishes may add what they choose to tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from divulge.assessment import Sentence
from divulge.assessment.sentence import read_phrases
from divulge.protection import Protected, ProtectedHistory

if TYPE_CHECKING:
    from divulge.release.protected_release import Part, ProtectedRelease

CATALOGUE = "divulge.release"


def build_methods_note(
    result: ProtectedRelease, files: Mapping[str, str], tables: Mapping[str, str]
) -> str:
    """The text of the note: files, and for each what kinds of changes were made to what."""
    lines = [_say("title"), "", _say("files")]
    lines += [f"  {file}" for file in sorted([*files.values(), *tables.values()])]
    for name, file in files.items():
        lines += ["", file, *(f"  {line}" for line in _describe_changes(result, name))]
    for name, file in tables.items():
        lines += ["", file, *(f"  {line}" for line in _describe_table(result, name))]
    lines += ["", *read_phrases(CATALOGUE, "note.closing")]
    return "\n".join(lines) + "\n"


def _describe_changes(result: ProtectedRelease, name: str) -> Iterator[str]:
    """What was done to a dataset, one line per kind of change."""
    dataset = result.datasets[name]
    parts = [part for part in result.parts.values() if part.original.name == dataset.name]
    lines = [line for part in parts for line in _describe_part(part, dataset.names)]
    yield from lines
    publication = result.publications[name]
    if publication.withheld:
        yield _say("identifiers")
    if publication.pseudonyms:
        yield _say("pseudonyms", names=list(publication.pseudonyms))
    if not publication.ordered:
        yield _say("order")
    if name in result.merged:
        yield _say("merged")
    if not lines:
        yield _say("unchanged")


def _describe_part(part: Part, names: Sequence[str]) -> Iterator[str]:
    if isinstance(part, ProtectedHistory):
        yield _say("history")
        return
    if not isinstance(part, Protected):
        yield _say("changed")
        return
    for kind in ("recoded", "suppressed"):
        touched = {change.attribute for change in part.decisions.changes if change.kind == kind}
        attributes = [name for name in names if name in touched]
        if attributes:
            yield _say(kind, names=attributes)
    if part.removed:
        yield _say("removed_records")


def _describe_table(result: ProtectedRelease, name: str) -> Iterator[str]:
    if result.tables[name].suppressed.any():
        yield _say("cells_withheld")
    else:
        yield _say("cells_published")


def _say(key: str, **values: Any) -> str:
    return Sentence(CATALOGUE, f"note.{key}", values).render()
