"""A dataset as somebody sees it who has another one of the same people beside it.

What the other one shows of a record was not withheld; and its further columns may tell what was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from divulge.data import Column, Dataset
from divulge.data.column import column_from_codes, find_hidden_cells
from divulge.data.dictionary import Dictionary
from divulge.data.value_texts import format_value
from divulge.protection.changes.changes import replace_values
from divulge.protection.resistance.published_view import PublishedView, refill_released
from divulge.release.publication import Publication
from divulge.work.arrays import Bools, Ints

Texts: TypeAlias = npt.NDArray[np.object_]


class RecordLinks:
    """Which records of two datasets are of the same people, found in one way or several."""

    def __init__(self, rows: int, other_rows: int) -> None:
        self._rows, self._other_rows = rows, other_rows
        self._pairs: list[tuple[Ints, Ints]] = []

    def add_ids(self, own: Texts, theirs: Texts) -> None:
        """Records that show the same id."""
        number: dict[str, int] = {}
        for text in theirs:
            if text is not None:
                number.setdefault(text, len(number))
        self._pairs.append(
            (
                np.array([number.get(text, -1) for text in own], np.int64),
                np.array([number.get(text, -1) for text in theirs], np.int64),
            )
        )

    def add_places(self, places: Ints) -> None:
        """By record, its place in the other dataset; -1 if it has none."""
        self._pairs.append((places, np.arange(self._other_rows)))

    def find_linked(self) -> Bools:
        """Whether each record is in the other dataset."""
        return self.find_told(np.ones(self._other_rows, np.bool_))

    def find_told(self, is_shown: Bools) -> Bools:
        """Whether one of the other dataset's records of this one is among the chosen."""
        is_told = np.zeros(self._rows, np.bool_)
        for own, theirs in self._pairs:
            is_known = np.zeros(int(max(own.max(initial=0), theirs.max(initial=0))) + 1, np.bool_)
            is_known[theirs[is_shown & (theirs >= 0)]] = True
            is_told |= (own >= 0) & is_known[np.maximum(own, 0)]
        return is_told

    def find_places(self) -> Ints:
        """By record, the first of the other dataset's records of it; -1 if there is none."""
        places = np.full(self._rows, -1, np.int64)
        for own, theirs in self._pairs:
            first = np.full(int(max(own.max(initial=0), theirs.max(initial=0))) + 1, -1, np.int64)
            rows = np.flatnonzero(theirs >= 0)[::-1]
            first[theirs[rows]] = rows
            found = np.where(own >= 0, first[np.maximum(own, 0)], -1)
            places = np.where(places >= 0, places, found)
        return places


def join_dataset(
    dataset: Dataset,
    source: Dataset,
    other: tuple[Dataset, Dataset],
    *,
    publications: tuple[Publication, Publication],
    shared: Mapping[str, str],
    links: RecordLinks,
) -> Iterator[Dataset]:
    """The dataset with what another one tells: by columns that both show, and by all of them.

    `other` is the other dataset as it goes out, and as it was.
    """
    columns = dict(dataset.columns)
    for name, theirs in shared.items():
        own, before = dataset.columns[name], source.columns[name]
        shown = _find_telling_cells(own, *(each.columns[theirs] for each in other))
        is_told = find_changed_cells(own, before) & links.find_told(shown)
        columns[name] = _restore_cells(own, before, np.flatnonzero(is_told))
    joined = replace(dataset, columns=columns)
    yield joined
    published = [name for name in joined.names if name in publications[0].published]
    keys = [
        name
        for name in published
        if find_changed_cells(columns[name], source.columns[name]).any()
        and name not in publications[0].pseudonyms
    ]
    places = links.find_places()
    beside = other[0]
    further = {
        _find_free_name(name, joined.names): name
        for name in beside.names
        if name in publications[1].shown
    }
    if not keys or not further:
        return
    cells = {free: _take_cells(beside.columns[name], places) for free, name in further.items()}
    attributes = {free: beside.dictionary[name] for free, name in further.items()}
    wide = replace(
        joined,
        columns={**columns, **cells},
        dictionary=Dictionary({**joined.dictionary.attributes, **attributes}),
    )
    view = PublishedView([*published, *further], publications[0].ordered)
    found = refill_released(wide, source, keys, view)
    if found is not None:
        for filled in (found.refilled_rightly, *found.refilled_partly):
            told = {name: filled.columns[name] for name in keys}
            yield replace(joined, columns={**columns, **told})


def find_changed_records(publication: Publication, dataset: Dataset, source: Dataset) -> Bools:
    """The records of which a published cell shows less than its source."""
    changed = np.zeros(dataset.rows, np.bool_)
    for name in dataset.names:
        if name in publication.published and name not in publication.pseudonyms:
            changed |= find_changed_cells(dataset.columns[name], source.columns[name])
    return changed


def find_changed_cells(column: Column, before: Column) -> Bools:
    """The cells that were hidden, or show something else than they did."""
    if column is before:
        return np.zeros(column.codes.size, np.bool_)
    is_changed = find_hidden_cells(column, before) | (read_texts(column) != read_texts(before))
    return np.asarray(is_changed, np.bool_)


def read_texts(column: Column) -> Texts:
    """What each record shows; None where nothing is shown."""
    texts = [format_value(value) for value in column.values.to_pylist()]
    return np.array([*texts, None], object)[column.codes]


def _find_telling_cells(own: Column, theirs: Column, before: Column) -> Bools:
    """The other dataset's cells that say more than a hidden or coarser one.

    Those that show what they were, and coarser ones that are not coarsened alike.
    """
    is_shown = theirs.codes != theirs.missing_code
    known = {format_value(value) for value in own.values.to_pylist()}
    is_hiding = bool(find_hidden_cells(own).any()) or own.has_missing
    is_alike = np.array([text in known and not is_hiding for text in read_texts(theirs)], np.bool_)
    return np.asarray(is_shown & ~(find_changed_cells(theirs, before) & is_alike), np.bool_)


def _restore_cells(column: Column, before: Column, rows: Ints) -> Column:
    """A column with some cells as they were."""
    import pyarrow.compute as pc

    if not rows.size:
        return column
    if column.values.type != before.values.type:
        texts = [before.value(int(code)) for code in before.codes[rows]]
        return replace_values(column, rows, texts)
    places = pc.index_in(column.values, before.values).to_pylist()
    if any(place is None for place in places):
        texts = [before.value(int(code)) for code in before.codes[rows]]
        return replace_values(column, rows, texts)
    codes = np.array([*places, before.missing_code], np.int64)[column.codes]
    codes[rows] = before.codes[rows]
    tags = None if column.tags is None else column.tags.copy()
    if tags is not None:
        tags[rows] = 0
    return replace(column_from_codes(codes, before.values), tags=tags)


def _take_cells(column: Column, places: Ints) -> Column:
    """The cells of other records, missing where there is none; what they hide is not sought."""
    codes = np.append(column.codes.astype(np.int64), column.missing_code)[places]
    return column_from_codes(codes, column.values)


def _find_free_name(name: str, names: Sequence[str]) -> str:
    """A name that none of the dataset's own columns has."""
    free = name
    while free in names:
        free = f"{free} (other dataset)"
    return free
