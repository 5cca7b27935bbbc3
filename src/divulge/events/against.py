"""Knowledge drawn on one side, matches looked up on the other.

On a protected release, what an adversary knows comes from the original and whom it fits from the
release; a guess is right only if the right user is among them. Knowledge of several items of an
event is drawn from subsets of its basket, and fits every basket that holds the subset.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.data import Dataset, Hierarchy
from divulge.events import kernels
from divulge.events.attacker import Attacker
from divulge.events.facets import Facet, coded, combined, items
from divulge.events.history import History
from divulge.events.matching import Floats, Tally, weight_of_record
from divulge.events.ordering import Ints
from divulge.qif.kernels import run
from divulge.work import DivulgeError, MemoryPlan

if TYPE_CHECKING:
    import pyarrow as pa

BYTES_A_SUBSET = 100


@dataclass(frozen=True, eq=False)
class Rows:
    """Pieces of knowledge: their codes by facet, whose they are, on which side, what they weigh."""

    parts: list[Ints]
    user: Ints
    released: npt.NDArray[np.bool_]
    weight: Floats
    place: Ints | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """The tally of drawn knowledge and, where it is of records, the matches of each record."""

    tally: Tally
    matches: Ints | None = None
    hits: npt.NDArray[np.bool_] | None = None


def matched_against(history: History, attacker: Attacker, release: History | None) -> Found:
    """Draw knowledge from a history; look it up in its release, or in itself if there is none."""
    facets = attacker.facets(history)
    joint = history if release is None else _joined(history, release)
    side = np.zeros(joint.users, bool)
    person = np.arange(joint.users)
    if release is not None:
        doubled = np.array(joint.user_values(), dtype=np.int64)
        side, person = doubled % 2 == 1, doubled // 2
    tallies = []
    for rows, drawn in _rows(joint, facets, attacker.weight, side, release is None):
        tallies.append(_tally(rows, drawn, person, history.users))
    if len(tallies) == 1:
        return tallies[0]
    every = [found.tally for found in tallies]
    by_user = np.sum([tally.by_user for tally in every], axis=0)
    by_user[:, kernels.MOST] = np.max([tally.by_user[:, kernels.MOST] for tally in every], axis=0)
    by_matches = np.sum([tally.by_matches for tally in every], axis=0)
    return Found(Tally(by_user, by_matches, sum(tally.cells for tally in every)))


def _rows(
    history: History,
    facets: Sequence[Facet],
    weight: str | Mapping[Any, float],
    side: npt.NDArray[np.bool_],
    alone: bool,
) -> Iterator[tuple[Rows, npt.NDArray[np.bool_]]]:
    """The pieces of knowledge on both sides, and which of them are drawn."""
    subset = next((facet for facet in facets if facet.kind == "items"), None)
    others = [facet for facet in facets if facet.kind != "items"]
    if subset is None:
        rows = _records(history, others, weight, side)
        yield rows, ~rows.released if not alone else np.ones(len(rows.user), bool)
        return
    starts, item, copies = _contents(history, subset.level)
    kinds = np.diff(starts)
    for size in range(1, subset.size + 1):
        # An event with fewer items is known by all that it has.
        if size < subset.size and not np.any(kinds == size):
            continue
        rows = _subsets(history, others, weight, side, (starts, item, copies), size)
        drawn = np.ones(len(rows.user), bool) if alone else ~rows.released
        if size < subset.size:
            assert rows.place is not None  # noqa: S101  # subsets say their event
            drawn &= kinds[rows.place] == size
        yield rows, drawn


def _records(
    history: History,
    facets: Sequence[Facet],
    weight: str | Mapping[Any, float],
    side: npt.NDArray[np.bool_],
) -> Rows:
    event = history.event_of_record
    parts = [coded(history, facet) for facet in facets]
    spread = [p.codes[event] if p.of_events else p.codes for p in parts]
    user = history.user_of_event[event].astype(np.int64)
    place = history.order
    if weight == "event":
        x, _ = combined([*spread, event.astype(np.int64)], len(event), room=63)
        _, once = np.unique(x, return_index=True)
        spread, user, place = [part[once] for part in spread], user[once], place[once]
    weights = np.ones(len(user)) if weight == "event" else _by_user(history, weight, side)[user]
    return Rows(spread, user, side[user], weights, place)


def _subsets(
    history: History,
    facets: Sequence[Facet],
    weight: str | Mapping[Any, float],
    side: npt.NDArray[np.bool_],
    contents: tuple[Ints, Ints, Ints],
    size: int,
) -> Rows:
    parts = [coded(history, facet) for facet in facets]
    if not all(part.of_events for part in parts):
        raise DivulgeError(
            "attacker, knows: several items are known of a whole event, so beside them only what "
            "all of its records share can be known (its day, its number of kinds)"
        )
    starts, item, copies = contents
    kinds = np.diff(starts).astype(np.float64)
    ways = np.ones(len(kinds))
    for step in range(size):
        ways *= np.maximum(kinds - step, 0) / (step + 1)
    MemoryPlan(f"all sets of {size} items", {"sets": int(ways.sum()) * BYTES_A_SUBSET}).require(
        "ask for fewer items, or for a coarser level of them"
    )
    event, chosen, weights = _run(kernels.subsets, starts, item, copies, size)
    user = history.user_of_event[event].astype(np.int64)
    if weight == "event":
        weights = np.ones(len(event))
    else:
        weights = weights * _by_user(history, weight, side)[user]
    spread = [part.codes[event] for part in parts]
    return Rows([*spread, *chosen.T], user, side[user], weights, event)


def _contents(history: History, level: int) -> tuple[Ints, Ints, Ints]:
    """The distinct items of every event, and in how many records each stands."""
    item = items(history, level)
    key = (history.event_of_record.astype(np.int64) << 32) | item
    pairs, copies = np.unique(key, return_counts=True)
    starts = np.searchsorted(pairs >> 32, np.arange(history.events + 1))
    return starts, pairs & 0xFFFFFFFF, copies


def _by_user(
    history: History, weight: str | Mapping[Any, float], side: npt.NDArray[np.bool_]
) -> Floats:
    """What a record of each user weighs; on two sides, only the drawn one's users count."""
    if not side.any() or weight == "record":
        return weight_of_record(history, weight)
    chances = np.where(side, 0.0, 1.0)
    if isinstance(weight, Mapping):
        raise DivulgeError('on a protected release, weigh by "record", "event" or "user"')
    return chances / history.records_of_user


def _tally(rows: Rows, drawn: npt.NDArray[np.bool_], person: Ints, users: int) -> Found:
    """Sort both sides by knowledge and person, and let the kernel merge them."""
    looked_up = rows.released if rows.released.any() else np.ones(len(rows.user), bool)
    shift = max(1, int(person.max(initial=0)).bit_length())
    x, _ = combined(rows.parts, len(rows.user), room=64 - shift)
    keys = (x.astype(np.uint64) << np.uint64(shift)) | person[rows.user].astype(np.uint64)
    order = np.argsort(keys[drawn])
    targets = keys[drawn][order]
    with work.step("Matching knowledge with users"):
        by_user, by_matches, matches, hits = _run(
            kernels.tally_against,
            targets,
            rows.weight[drawn][order],
            np.sort(keys[looked_up]),
            shift,
            max(users, int(person.max(initial=0)) + 1),
        )
    cells = int(np.count_nonzero(np.diff(targets >> np.uint64(shift)))) + (len(targets) > 0)
    in_order, hit = np.empty_like(matches), np.empty_like(hits)
    in_order[order], hit[order] = matches, hits
    return Found(Tally(by_user, by_matches, cells), in_order, hit)


def _run(kernel: Any, *arguments: Any) -> Any:
    return run(kernel, len(arguments[0]) + len(arguments[1]), *arguments)


def _joined(history: History, release: History) -> History:
    """Both sides as one history, so that equal values have equal codes; users are doubled.

    User u of the original becomes 2u, of the release 2u + 1: events stay apart.
    """
    import pyarrow as pa

    people = {user: number for number, user in enumerate(history.user_values())}
    for user in release.user_values():
        people.setdefault(user, len(people))
    sides = []
    for number, each in enumerate((history, release)):
        doubled = np.array([people[user] for user in each.user_values()]) * 2 + number
        table = each.dataset.to_arrow().take(pa.array(each.order))
        user = doubled[each.user_of_event[each.event_of_record]]
        sides.append(table.drop_columns([each.user]).append_column(history.user, pa.array(user)))
    first, second = sides
    shared = [name for name in first.column_names if name in second.column_names]
    columns = {name: _stacked(first.column(name), second.column(name)) for name in shared}
    dataset = Dataset.from_arrow(pa.table(columns), name=history.dataset.name)
    hierarchy = history.dataset.dictionary[history.item].hierarchy
    if hierarchy is not None:
        dataset = dataset.describe(
            hierarchies={history.item: _with_levels(hierarchy, dataset, history.item)}
        )
    return replace(history, dataset=dataset, returns=history.returns and "keep", missing="drop")


def _stacked(one: pa.ChunkedArray, other: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa

    if one.type != other.type:
        one, other = one.cast(pa.string()), other.cast(pa.string())
    return pa.chunked_array([*one.chunks, *other.chunks], type=one.type)


def _with_levels(hierarchy: Hierarchy, dataset: Dataset, item: str) -> Hierarchy:
    """The hierarchy over the values of both sides; a value that is already coarse stays so."""
    values = [str(value) for value in dataset.columns[item].values.to_pylist()]
    lacking = set(map(str, hierarchy.lacks(values)))
    table = {
        v: [v, *(hierarchy.at(v, at) for at in range(1, hierarchy.height + 1))]
        for v in values
        if v not in lacking
    }
    upper = {level: row for row in table.values() for level in row[1:]}
    for value in lacking & set(upper):
        row = upper[value]
        place = row.index(value)
        table[value] = [value] * (place + 1) + row[place + 1 :]
    return Hierarchy.from_levels(table.values())
