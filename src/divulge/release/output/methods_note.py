"""The note on methods that goes out with protected data: what was done, and no figure of anything.

How many cells were suppressed tells, with what is missing in the file, how many were missing
before; bounds tell an attacker who knows the method what the hidden values cannot be. Neither is
here: both stay in `internal/`, and whoever publishes may add what they choose to tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge.assessment import Sentence
from divulge.assessment.sentence import read_phrases
from divulge.data.formats import has_declared_missing, has_tagged_missing
from divulge.data.hidden_marks import list_marks
from divulge.protection import Protected, ProtectedHistory

if TYPE_CHECKING:
    from divulge.data import Dataset
    from divulge.release.protected_release import Part, ProtectedRelease

CATALOGUE = "divulge.release"


def build_methods_note(
    result: ProtectedRelease, files: Mapping[str, str], tables: Mapping[str, Sequence[str]]
) -> str:
    """The text of the note: files, and for each what kinds of changes were made to what."""
    lines = [_say("title"), "", _say("files")]
    lines += [f"  {file}" for file in _list_files(files, tables)]
    for names, changes in list_methods(result, files, tables):
        lines += ["", *names, *(f"  {line}" for line in changes)]
    lines += ["", *read_phrases(CATALOGUE, "note.closing")]
    return "\n".join(lines) + "\n"


def list_methods(
    result: ProtectedRelease, files: Mapping[str, str], tables: Mapping[str, Sequence[str]]
) -> Iterator[tuple[Sequence[str], list[str]]]:
    """Files that go out together, and what kinds of changes were made to what in them."""
    for name, file in files.items():
        yield [file], list(_describe_changes(result, name, file))
    for name, of_table in tables.items():
        yield of_table, list(_describe_table(result, name))


def _list_files(files: Mapping[str, str], tables: Mapping[str, Sequence[str]]) -> list[str]:
    return sorted([*files.values(), *(file for of_table in tables.values() for file in of_table)])


def _describe_changes(result: ProtectedRelease, name: str, file: str) -> Iterator[str]:
    """What was done to a dataset, one line per kind of change."""
    dataset = result.datasets[name]
    parts = [part for part in result.parts.values() if part.original.name == dataset.name]
    written = result.released(name)
    lines = [line for part in parts for line in _describe_part(part, written, file)]
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


def _describe_part(part: Part, dataset: Dataset, file: str) -> Iterator[str]:
    if isinstance(part, ProtectedHistory):
        yield _say("history")
        return
    if not isinstance(part, Protected):
        yield _say("changed")
        return
    touched = {(change.kind, change.attribute) for change in part.decisions.changes}
    recoded = [name for name in dataset.names if ("recoded", name) in touched]
    if recoded:
        yield _say("recoded", names=recoded)
    suppressed = {name for name in dataset.names if ("suppressed", name) in touched}
    path = Path(file)
    marks = list_marks(dataset, has_tagged_missing(path), has_declared_missing(path))
    for (kind, mark), marked in marks.items():
        names = [name for name in marked if name in suppressed]
        if names:
            yield _say(f"suppressed.{kind}", names=names, mark=mark)
    if part.decoys:
        yield _say("decoys")
    if part.removed:
        yield _say("removed_records")


def _describe_table(result: ProtectedRelease, name: str) -> Iterator[str]:
    if result.tables[name].suppressed.any():
        is_crosstab = result.tables[name].is_crosstab
        yield _say("cells_withheld.crosstab" if is_crosstab else "cells_withheld.rows")
    else:
        yield _say("cells_published")


def _say(key: str, **values: Any) -> str:
    return Sentence(CATALOGUE, f"note.{key}", values).render()
