"""The note on methods that goes out with protected data: what was done, and no figure of anything.

How many cells were suppressed tells, with what is missing in the file, how many were missing
before; bounds tell an attacker who knows the method what the hidden values cannot be. Neither is
here: both stay in `internal/`, and whoever publishes may add what they choose to tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from divulge.protection import Protected, ProtectedHistory

if TYPE_CHECKING:
    from divulge.release.protected_release import Part, ProtectedRelease

CHANGE_PHRASES = {
    "recoded": "Recoded to coarser values",
    "suppressed": "Single values withheld (missing in the file)",
}


def build_methods_note(
    result: ProtectedRelease, files: Mapping[str, str], tables: Mapping[str, str]
) -> str:
    """The text of the note: files, and for each what kinds of changes were made to what."""
    lines = ["How these data were protected", "", "Files"]
    lines += [f"  {file}" for file in sorted([*files.values(), *tables.values()])]
    for name, file in files.items():
        lines += ["", file, *(f"  {line}" for line in _describe_changes(result, name))]
    for name, file in tables.items():
        lines += ["", file, *(f"  {line}" for line in _describe_table(result, name))]
    lines += [
        "",
        "Before publication the data were checked against limits on disclosure risk, and attacked",
        "again after protection. Limits, results and decisions are kept by the data owner.",
    ]
    return "\n".join(lines) + "\n"


def _describe_changes(result: ProtectedRelease, name: str) -> Iterator[str]:
    """What was done to a dataset, one line per kind of change."""
    dataset = result.datasets[name]
    parts = [part for part in result.parts.values() if part.original.name == dataset.name]
    lines = [line for part in parts for line in _describe_part(part, dataset.names)]
    yield from lines
    removed, replaced = result.identifiers.get(name, ((), ()))
    if removed:
        yield "Direct identifiers were removed."
    if replaced:
        yield f"Replaced by pseudonyms: {', '.join(replaced)}."
    if name in result.merged:
        yield "Reasons for missing values are not told apart."
    if not lines:
        yield "The values are as they were collected."


def _describe_part(part: Part, names: Sequence[str]) -> Iterator[str]:
    if isinstance(part, ProtectedHistory):
        yield "Times, items or events were made coarser or left out."
        return
    if not isinstance(part, Protected):
        yield "Values were changed, or records left out."
        return
    for kind, phrase in CHANGE_PHRASES.items():
        touched = {change.attribute for change in part.decisions.changes if change.kind == kind}
        attributes = [name for name in names if name in touched]
        if attributes:
            yield f"{phrase}: {', '.join(attributes)}."
    if part.removed:
        yield "Some records were left out."


def _describe_table(result: ProtectedRelease, name: str) -> Iterator[str]:
    if result.tables[name].suppressed.any():
        yield "Some cells are withheld, marked *."
    else:
        yield "All cells are published."
