"""The chance that each person is in a release whose records may be several people's.

Every record belongs to another person; all ways to give records to people whom they fit are
equally likely. Where the sets of people whom records fit are nested or disjoint (as with one way of
hiding), the chance is exact: records with fewest candidates choose first, and whoever comes later
chooses among those who are left. Where sets cross, ways are counted if they are few; else the same
steps are taken with the number of people who are left on average.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import factorial, perm
from typing import Any

import numpy as np

from divulge.records import tuning
from divulge.work.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class PresenceChances:
    """By class of people the chance to be in the release; whether it is exact; who is too many."""

    chance: Floats
    is_exact: bool
    short_patterns: int
    """Patterns of records that have fewer people than records, as far as ways were counted."""


def compute_presence_chances(possible: Any, people: Floats, records: Floats) -> PresenceChances:
    """How likely members of each class are in the release.

    Args:
        possible: classes of people x patterns of records, sparse, 1 where they fit.
        people: how many people each class has.
        records: how many records each pattern has.

    >>> from scipy import sparse
    >>> fits = sparse.csr_array(np.array([[1, 1], [0, 1]]))
    >>> compute_presence_chances(fits, np.array([2.0, 1.0]), np.array([1.0, 1.0])).chance.tolist()
    [0.75, 0.5]
    """
    from scipy import sparse

    matrix = sparse.csc_array(possible)
    chance, short = _choose_in_turn(matrix, people, records)
    crossing = _find_crossing_patterns(matrix)
    if not crossing.any():
        return PresenceChances(chance, True, short)
    is_exact, short = True, 0
    for classes, patterns in _list_components(matrix, crossing):
        counted = _count_ways(matrix, classes, patterns, people, records)
        if counted is None:
            is_exact = False
        elif counted.size == 0:
            short += len(patterns)
        else:
            chance[classes] = counted
    return PresenceChances(chance, is_exact, short)


def _choose_in_turn(matrix: Any, people: Floats, records: Floats) -> tuple[Floats, int]:
    """The chance of each class where records with fewest candidates choose first."""
    left, chance = np.ones(len(people)), np.zeros(len(people))
    candidates = np.asarray(matrix.T @ people)
    short = 0
    for pattern in np.argsort(candidates, kind="stable"):
        classes = matrix.indices[matrix.indptr[pattern] : matrix.indptr[pattern + 1]]
        remaining = float((people[classes] * left[classes]).sum())
        if records[pattern] > remaining * (1 + tuning.PRESENCE_TOLERANCE):
            short += 1
        if remaining > 0:
            share = min(1.0, records[pattern] / remaining)
            chance[classes] += left[classes] * share
            left[classes] *= 1 - share
    chance[left < tuning.PRESENCE_TOLERANCE] = 1.0
    return chance, short


def _find_crossing_patterns(matrix: Any) -> Bools:
    """Which patterns share people with another of which neither has all of the other's."""
    sizes = np.diff(matrix.indptr)
    shared = (matrix.T.astype(np.int64) @ matrix.astype(np.int64)).tocoo()
    is_crossing = shared.data < np.minimum(sizes[shared.row], sizes[shared.col])
    crossing = np.zeros(len(sizes), np.bool_)
    crossing[shared.row[is_crossing]] = True
    return crossing


def _list_components(matrix: Any, crossing: Bools) -> Iterator[tuple[Ints, Ints]]:
    """Classes and patterns that depend on each other, where some patterns cross."""
    from scipy import sparse
    from scipy.sparse import csgraph

    classes = matrix.shape[0]
    graph = sparse.block_array([[None, matrix], [matrix.T, None]], format="csr")
    _, labels = csgraph.connected_components(graph, directed=False)
    for label in np.unique(labels[classes:][crossing]):
        inside = labels == label
        yield np.flatnonzero(inside[:classes]), np.flatnonzero(inside[classes:])


def _count_ways(
    matrix: Any, classes: Ints, patterns: Ints, people: Floats, records: Floats
) -> Floats | None:
    """The chances by counting every way to give records to classes; none if there is no way.

    None if the ways are too many to be counted.
    """
    place = {int(c): i for i, c in enumerate(classes)}
    size = [float(people[c]) for c in classes]
    if any(not number.is_integer() for number in (*size, *(float(records[p]) for p in patterns))):
        return None
    ways: dict[tuple[int, ...], int] = {(0,) * len(classes): 1}
    steps = 0
    for pattern in patterns:
        column = matrix.indices[matrix.indptr[pattern] : matrix.indptr[pattern + 1]]
        places, number = [place[int(c)] for c in column], int(records[pattern])
        after: dict[tuple[int, ...], int] = {}
        for used, count in ways.items():
            room = [int(size[i]) - used[i] for i in places]
            for parts in _split_records(number, room):
                steps += 1
                if steps > tuning.MAX_PRESENCE_STEPS:
                    return None
                more, factor = list(used), factorial(number)
                for i, free, part in zip(places, room, parts, strict=True):
                    more[i] += part
                    factor = factor * perm(free, part) // factorial(part)
                after[tuple(more)] = after.get(tuple(more), 0) + count * factor
        ways = after
    total = sum(ways.values())
    if total == 0:
        return np.empty(0)
    return np.array(
        [
            sum(used[i] * count for used, count in ways.items()) / total / size[i]
            for i in range(len(size))
        ]
    )


def _split_records(number: int, room: list[int]) -> Iterator[tuple[int, ...]]:
    """Every way to spread some records over classes that have room for them."""
    if len(room) == 1:
        if number <= room[0]:
            yield (number,)
        return
    for part in range(min(number, room[0]) + 1):
        for rest in _split_records(number - part, room[1:]):
            yield (part, *rest)
