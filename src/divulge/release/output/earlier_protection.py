"""Two protections of the same data, put together: whoever has both sees what either of them shows.

What was published of each record is kept with what does not go out, under a keyed mark of the
record. A protection that revises another is judged twice: by itself, and with every cell as the
finer of the two shows it, and every record that either of them has. Records that changed in between
have another mark, and are judged by themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import PublishedTable, Sentence
from divulge.data import Column, Dataset, Hierarchy
from divulge.data.column import column_from_codes, find_hidden_cells
from divulge.data.value_texts import format_value
from divulge.protection.changes.changes import hide_values, replace_values
from divulge.release.publication import Publication, Reservation
from divulge.work import InvalidInput, Problem, filesystem
from divulge.work.arrays import Ints
from divulge.work.secret_key import SecretKey

if TYPE_CHECKING:
    import pyarrow as pa

FILE = "published.json"
FORMAT = 1
SHOWN, ABSENT = "=", "-"
"""What stands before a text that is shown, and for a value that was never there."""
MARKS = ("mark_1", "mark_2")


@dataclass(frozen=True, kw_only=True)
class EarlierProtection:
    """What an earlier protection published, of each dataset and of each table."""

    columns: Mapping[str, list[str]]
    records: Mapping[str, pa.Table] = field(repr=False)
    """Marks, and of each attribute that was changed what it showed; null where it was hidden."""
    patterns: Mapping[str, str]
    """By adversary, which cells of a table were withheld, as a digest."""


@dataclass(frozen=True, kw_only=True)
class JointProtection:
    """What a dataset and an earlier protection of it show together."""

    dataset: Dataset
    rows: Ints
    """The places of its records in the source."""
    is_more: bool
    """Whether that is more than is published now."""
    departed: int
    """Records of the earlier one that are not in the source now, or not as they were."""
    is_finer: bool
    """Whether records that both have show more now than they did then."""


def write_published(
    folder: Path,
    secret: SecretKey,
    *,
    sources: Mapping[str, Dataset],
    released: Mapping[str, Dataset],
    publications: Mapping[str, Publication],
    tables: Mapping[str, PublishedTable],
) -> None:
    """Keep what is published of each record, for protections that revise this one.

    `sources` holds, record by record, what `released` was before protection.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    summary: dict[str, Any] = {"format": FORMAT, "datasets": {}, "patterns": {}}
    for number, (name, publication) in enumerate(publications.items(), start=1):
        source, dataset = sources[name], released[name]
        columns = [each for each in dataset.names if each in publication.published]
        kept: dict[str, Any] = dict(zip(MARKS, mark_records(source, secret), strict=True))
        for each in columns:
            column, before = dataset.columns[each], source.columns[each]
            if each not in publication.pseudonyms and _is_changed(column, before):
                kept[f"cell {each}"] = pa.array(_read_texts(column), pa.string())
        file = f"published_{number}.parquet"
        pq.write_table(pa.table(kept), folder / file)
        summary["datasets"][name] = {"file": file, "columns": columns}
    summary["patterns"] = {name: _digest_pattern(table) for name, table in tables.items()}
    filesystem.write_text(folder / FILE, json.dumps(summary, indent=2) + "\n")


def read_earlier(folder: Path, *, was_published: bool) -> EarlierProtection | None:
    """What an earlier protection published; None if nothing was.

    Raises:
        InvalidInput: if it published something and what is kept of it is missing or damaged: the
            two could not be compared.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not was_published:
        return None
    try:
        summary = json.loads((folder / FILE).read_text(encoding="utf-8"))
        datasets = {FORMAT: summary["datasets"]}[summary["format"]]  # no other format is known
        return EarlierProtection(
            columns={name: list(of["columns"]) for name, of in datasets.items()},
            records={name: pq.read_table(folder / of["file"]) for name, of in datasets.items()},
            patterns=dict(summary["patterns"]),
        )
    except (ValueError, KeyError, TypeError, OSError, pa.ArrowException) as error:
        message = (
            "is missing or damaged, so that what both protections show together cannot be judged; "
            "restore it from a copy."
        )
        raise InvalidInput(str(folder / FILE), [Problem("revises", message)]) from error


def mark_records(dataset: Dataset, secret: SecretKey) -> tuple[Ints, Ints]:
    """128 bits a record, the same for the same values; they tell nothing without the secret."""
    key = secret.derive_key("marks of records")
    sums = np.zeros((2, dataset.rows), np.uint64)
    for name in sorted(dataset.names):
        column = dataset.columns[name]
        start = blake2b(name.encode() + b"\0", digest_size=16, key=key)
        digests = []
        for text in _list_texts(column):
            hashed = start.copy()
            hashed.update(b"=" + text.encode("utf-8", "surrogatepass"))
            digests.append(hashed.digest())
        # A missing value comes last, and is no text.
        halves = np.frombuffer(b"".join([*digests, start.digest()]), np.uint64).reshape(-1, 2)
        sums += halves[column.codes].T  # as each holds its name, in any order
    first, second = sums.view(np.int64)
    return first, second


def combine_with_earlier(
    earlier: EarlierProtection,
    current: Mapping[str, Dataset],
    sources: Mapping[str, Dataset],
    kept: Mapping[str, Ints],
    secret: SecretKey,
) -> dict[str, JointProtection]:
    """The datasets that an earlier protection published too, as both together show them.

    `kept` holds the places of the records of `current` in the source.
    """
    combined = {}
    for name, records in earlier.records.items():
        if name not in current:
            continue
        source, released = sources[name], current[name]
        rows, theirs = _match_records(mark_records(source, secret), records)
        both = np.union1d(kept[name], rows)
        is_more = both.size > kept[name].size
        columns, is_finer = {}, False
        for each, before in source.columns.items():
            now = np.full(source.rows, None, object)
            now[kept[name]] = _read_texts(released.columns[each])
            then = np.full(source.rows, None, object)
            is_told = f"cell {each}" in records.column_names
            shown = records[f"cell {each}"].to_numpy()[theirs] if is_told else None
            then[rows] = _read_texts(before)[rows] if shown is None else shown
            hierarchy = source.dictionary[each].hierarchy
            finer = _take_finer(before, now, then, hierarchy)
            is_more |= bool(np.any(finer[kept[name]] != now[kept[name]]))
            is_finer |= bool(np.any(finer[rows] != then[rows]))
            columns[each] = _show_texts(before, both, finer)
        combined[name] = JointProtection(
            dataset=replace(released, columns=columns),
            rows=both,
            is_more=is_more,
            departed=records.num_rows - rows.size,
            is_finer=is_finer,
        )
    return combined


def list_departed(combined: Mapping[str, JointProtection]) -> Iterator[Reservation]:
    """Where people who are no longer in the source had company that shows more now than it did.

    Whoever is told apart from that company has found them; what they hid is not kept, so that
    nobody can say to whom that happens. Where nobody shows more than before, they are as safe as
    they were.
    """
    for name, both in combined.items():
        if both.departed and both.is_finer:
            values = {"dataset": name, "departed": both.departed}
            sentence = Sentence("divulge.release", "earlier.departed", values)
            yield Reservation("not judged", sentence)


def list_incomparable(
    earlier: EarlierProtection,
    publications: Mapping[str, Publication],
    tables: Mapping[str, PublishedTable],
) -> Iterator[Reservation]:
    """What an earlier protection published that this one does not, or in another way."""
    for name, columns in earlier.columns.items():
        published = publications[name].published if name in publications else ()
        if missing := [each for each in columns if each not in published]:
            values = {"dataset": name, "names": missing}
            sentence = Sentence("divulge.release", "earlier.other_columns", values)
            yield Reservation("not judged", sentence)
    patterns = {_digest_pattern(table) for table in tables.values()}
    for adversary, pattern in earlier.patterns.items():
        if pattern not in patterns:
            sentence = Sentence("divulge.release", "earlier.other_table", {"adversary": adversary})
            yield Reservation("not judged", sentence)


def _match_records(marks: tuple[Ints, Ints], records: pa.Table) -> tuple[Ints, Ints]:
    """Places of records that both have, here and there; of equal ones the first is the first."""
    here = _number_repeats(np.stack(marks, axis=1))
    there = _number_repeats(np.stack([records[name].to_numpy() for name in MARKS], axis=1))
    place_of = {mark: place for place, mark in enumerate(there)}
    pairs = [(place, place_of[mark]) for place, mark in enumerate(here) if mark in place_of]
    found = np.array(pairs, np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _number_repeats(marks: Any) -> list[tuple[int, int, int]]:
    counts: dict[tuple[int, int], int] = {}
    numbered = []
    for first, second in marks.tolist():
        counts[first, second] = counts.get((first, second), 0) + 1
        numbered.append((first, second, counts[first, second]))
    return numbered


def _take_finer(source: Column, now: Any, then: Any, hierarchy: Hierarchy | None) -> Any:
    """Of two texts of every record, None where it is hidden, the one that says more."""
    own, finer = _read_texts(source), now.copy()
    levels: dict[tuple[str, str | None], float] = {}

    def find_level(row: int, text: str | None) -> float:
        pair = own[row], text
        if pair not in levels:
            value = source.value(int(source.codes[row]))
            levels[pair] = np.inf if text is None else _find_level(value, text, hierarchy)
        return levels[pair]

    for row in np.flatnonzero(now != then).tolist():
        if find_level(row, then[row]) < find_level(row, now[row]):
            finer[row] = then[row]
    return finer


def _show_texts(source: Column, rows: Ints, texts: Any) -> Column:
    """Some records of a column as these texts show them."""
    own, shown = _read_texts(source)[rows], texts[rows]
    tags = None if source.tags is None else source.tags[rows]
    column = replace(column_from_codes(source.codes[rows], source.values), tags=tags)
    is_hidden = np.array([text is None for text in shown], np.bool_)
    coarser = np.flatnonzero(~is_hidden & (shown != own))
    if coarser.size:
        column = replace_values(
            column, coarser, [text.removeprefix(SHOWN) for text in shown[coarser].tolist()]
        )
    return hide_values(column, np.flatnonzero(is_hidden)) if is_hidden.any() else column


def _find_level(value: Any, text: str, hierarchy: Hierarchy | None) -> float:
    """How coarse a text is for a value: 0 if it is the value itself."""
    if text == ABSENT or SHOWN + format_value(value) == text:
        return 0
    height = 0 if hierarchy is None or hierarchy.lacks([value]) else hierarchy.height
    for level in range(1, height + 1):
        if hierarchy is not None and SHOWN + format_value(hierarchy.at(value, level)) == text:
            return level
    return height + 1


def _is_changed(column: Column, before: Column) -> bool:
    """Whether a cell shows something else than before."""
    hides_alike = np.array_equal(find_hidden_cells(column), find_hidden_cells(before))
    if hides_alike and column.values.equals(before.values):
        return not np.array_equal(column.codes, before.codes)
    return bool(np.any(_read_texts(column) != _read_texts(before)))


def _read_texts(column: Column) -> Any:
    """What every record shows: SHOWN and a text, ABSENT, or None where it is hidden."""
    texts = np.array([*(SHOWN + text for text in _list_texts(column)), ABSENT], object)
    cells = texts[column.codes]
    cells[find_hidden_cells(column)] = None
    return cells


def _list_texts(column: Column) -> list[str]:
    return [format_value(value) for value in column.values.to_pylist()]


def _digest_pattern(table: PublishedTable) -> str:
    pattern = np.packbits(table.suppressed).tobytes()
    return blake2b(repr(table.subject).encode() + pattern, digest_size=16).hexdigest()
