"""Differences of counts: how many show a value in one dataset, less how many do in another.

Two datasets of the same people count as a table beside records does: what one hides of somebody is
among what the other shows more often. Where only one value is left, it can be read, though nobody
can be found by a record of theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from divulge.assessment import Sentence
from divulge.data import Dataset
from divulge.data.column import find_hidden_cells
from divulge.data.dictionary import WITHHELD_ROLES
from divulge.protection.directives.settlement import settle_directives
from divulge.release import tuning
from divulge.release.datasets_beside import find_shared_columns
from divulge.release.joined_dataset import Texts, read_texts
from divulge.release.publication import Publication, Reservation
from divulge.work.arrays import Bools, Ints

if TYPE_CHECKING:
    from divulge.release.release import Release

Row: TypeAlias = tuple[str | None, ...]


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """Two datasets of the same people: what both show, and what the first hides of whom."""

    names: tuple[str, ...]
    """Attributes of the first that the other shows too, as they were."""
    before: list[Row]
    """What each record of the first showed of them before anything was hidden."""
    hidden: Bools
    """By record and attribute, what it hides now; all of a record that is gone."""
    gone: Bools
    others: list[Row]
    """What the records of the other show."""


def list_told_by_counts(
    release: Release,
    publications: Mapping[str, Publication],
    current: Mapping[str, Dataset],
    sources: Mapping[str, Dataset],
    kept: Mapping[str, Ints],
) -> Iterator[Reservation]:
    """Datasets of which hidden cells can be read by what another one counts.

    `sources` are all records as they were, of which `kept` are left in `current`.
    """
    names = [name for name in publications if name in current]
    for name, other in permutations(names, 2):
        pair = _compare(
            [publications[name], publications[other]],
            [current[name], current[other]],
            [sources[name], sources[other]],
            kept[name],
        )
        if pair is None:
            continue
        told = _find_told_cells(pair)
        asked = _find_asked_cells(release, name, sources[name], pair.names)
        by_rules = int(np.count_nonzero(told & asked))
        if by_rules:
            values = {"dataset": name, "other": other, "count": by_rules}
            yield Reservation("fail", Sentence("divulge.release", "rules.told_by_counts", values))
        told[pair.gone] = False
        count = int(np.count_nonzero(told & ~asked))
        if count:
            values = {"dataset": name, "other": other, "count": count}
            key = "publication.told_by_counts"
            yield Reservation("not judged", Sentence("divulge.release", key, values))


def _compare(
    publications: Sequence[Publication],
    current: Sequence[Dataset],
    sources: Sequence[Dataset],
    kept: Ints,
) -> _Pair | None:
    """What two datasets show of the same people; None if nothing is hidden, or they are others."""
    (now, other), (before, theirs) = current, sources
    if not _are_same_people(before, theirs):
        return None
    found = find_shared_columns(
        publications[0], publications[1], now, other, before=(before, theirs)
    )
    own: dict[str, Texts] = {}
    hides: list[Bools] = []
    others: list[Texts] = []
    is_whole = np.ones(other.rows, np.bool_)
    for name, other_name in found.items():
        then, shown = read_texts(before.columns[name]), read_texts(now.columns[name])
        is_hidden = (shown == np.array(None)) & (then[kept] != np.array(None))
        seen = read_texts(other.columns[other_name])
        is_finest = set(seen.tolist()) - {None} <= set(read_texts(theirs.columns[other_name]))
        if is_finest and bool(np.all(is_hidden | (shown == then[kept]))):
            own[name] = then
            hides.append(_spread(is_hidden, kept, before.rows))
            others.append(seen)
            is_whole &= ~find_hidden_cells(other.columns[other_name])
    if not own or not any(each.any() for each in hides):
        return None
    gone = np.ones(before.rows, np.bool_)
    gone[kept] = False
    pair = _Pair(
        names=tuple(own),
        before=_list_rows(own.values()),
        hidden=np.stack(hides, axis=1),
        gone=gone,
        others=_list_rows(each[is_whole] for each in others),
    )
    whole = _list_rows(read_texts(theirs.columns[found[name]]) for name in own)
    alike = (Counter(pair.before) & Counter(whole)).total()
    return pair if alike >= tuning.LEAST_ALIKE * max(before.rows, theirs.rows) else None


def _spread(is_hidden: Bools, kept: Ints, rows: int) -> Bools:
    """By record of the source: those that are gone hide everything."""
    spread = np.ones(rows, np.bool_)
    spread[kept] = is_hidden
    return spread


def _list_rows(columns: Iterable[Texts]) -> list[Row]:
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _are_same_people(dataset: Dataset, other: Dataset) -> bool:
    """Whether ids say so, whatever they are called; without ids, the counts of values must."""
    larger = max(dataset.rows, other.rows)
    if min(dataset.rows, other.rows) < tuning.LEAST_ALIKE * larger:
        return False
    ids, theirs = (
        [
            set(read_texts(each.columns[name]).tolist())
            for role in WITHHELD_ROLES
            for name in each.dictionary.having(role)
            if name in each.columns
        ]
        for each in (dataset, other)
    )
    if not ids or not theirs:
        return True
    return any(len(a & b) >= tuning.LEAST_ALIKE * larger for a in ids for b in theirs)


def _find_told_cells(pair: _Pair) -> Bools:
    """Hidden cells for which the other dataset counts more of the right value alone."""
    is_shown = np.flatnonzero(~pair.hidden.any(axis=1))
    shown = Counter(pair.before[record] for record in is_shown.tolist())
    more = Counter(pair.others) - shown
    told = np.zeros(pair.hidden.shape, np.bool_)
    patterns, number_of = np.unique(pair.hidden, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns.tolist()):
        if not any(pattern):
            continue
        visible = [place for place, hides in enumerate(pattern) if not hides]
        by_visible: dict[Row, list[Row]] = {}
        for row in more:
            by_visible.setdefault(tuple(row[place] for place in visible), []).append(row)
        hiding: dict[Row, list[int]] = {}
        for record in np.flatnonzero(number_of.reshape(-1) == number).tolist():
            key = tuple(pair.before[record][place] for place in visible)
            hiding.setdefault(key, []).append(record)
        for key, records in hiding.items():
            candidates = by_visible.get(key, [])
            if sum(more[row] for row in candidates) < len(records):
                continue  # of some, the other dataset shows nothing either
            for place in np.flatnonzero(pattern).tolist():
                values = {row[place] for row in candidates}
                for record in records:
                    value = pair.before[record][place]
                    told[record, place] = value is not None and values == {value}
    return told


def _find_asked_cells(release: Release, name: str, source: Dataset, names: Sequence[str]) -> Bools:
    """The cells that rules hide."""
    asked = np.zeros((source.rows, len(names)), np.bool_)
    results = release.rule_results
    directives = None if results is None else results.directives.get(name)
    if directives is not None:
        for group in settle_directives(source, directives).hidden:
            asked[group.records] |= np.array(names) == group.attribute
    return asked
