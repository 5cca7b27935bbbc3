"""Classes that overlap: what one record may be taken for, value by value.

A record that hides cells may belong to several crowds at once, so its sensitive value counts in
each of them. As in `null_semantics`, records are gathered into patterns, and patterns that hide
the same cells are joined on what both show; here each pattern brings the values it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.classes.keys import AnyArray, FloatArray, IntArray, weighed_count
from divulge.classes.null_semantics import (
    Patterns,
    as_released,
    chance_by_mask,
    joint_keys,
    patterns,
)
from divulge.classes.original_values import victims_of
from divulge.data import Dataset


@dataclass(frozen=True)
class Entries:
    """The class of each record, and how much of each value every class holds, sorted by class."""

    of_record: IntArray
    of_class: IntArray
    code: IntArray
    amount: npt.NDArray[Any]


@dataclass(frozen=True)
class _Holding:
    """Patterns that hide the same cells, with the values that each brings."""

    rows: IntArray
    """The patterns, by their place in the patterns of the release."""
    brings: IntArray
    """For each entry, the place of its pattern in `rows`."""
    code: IntArray
    amount: FloatArray


def entries_of_overlapping(
    dataset: Dataset,
    names: Sequence[str],
    nulls: str,
    original: Dataset | None,
    codes: AnyArray,
    values: int,
    weights: FloatArray | None,
) -> Entries:
    """The values in the class of each record under `maybe`, `known` or `bayes`.

    Args:
        dataset: the records of the release.
        names: the attributes that make records look alike.
        nulls: `maybe`, `known` or `bayes`.
        original: the records before protection (`known`, `bayes`).
        codes: the value of each record, as a code below `values`.
        values: how many codes there are.
        weights: what each record counts for; one if None.
    """
    columns = [dataset.columns[name] for name in names]
    ones = np.ones(dataset.rows)
    found = patterns(
        [column.codes for column in columns],
        [len(column.values) + 1 for column in columns],
        [column.missing_code for column in columns],
        ones,
    )
    held = _holdings(found, codes, values, ones if weights is None else weights)
    if nulls == "maybe" or original is None:
        return _joined(found.of_record, values, _asked_by_patterns(found, held, values))
    victims = victims_of(dataset, original, names)
    chance = chance_by_mask(found, victims) if nulls == "bayes" else None

    def parts() -> list[tuple[IntArray, IntArray, FloatArray]]:
        gathered = []
        for mask, holding in held.items():
            visible = found.visible(mask)
            whose, asked = as_released(victims, visible)
            asker, code, amount = _values_of(found, visible, asked, whose, holding, values)
            weigh = 1.0 if chance is None else chance[mask][asker]
            gathered.append((asker, code, amount * weigh))
        return gathered

    return _joined(victims.of_record, values, [parts])


def _holdings(
    found: Patterns, codes: AnyArray, values: int, weights: FloatArray
) -> dict[int, _Holding]:
    entries, place = np.unique(found.of_record * values + codes, return_inverse=True)
    amount = weighed_count(place.reshape(-1), weights, entries.size)
    pattern, code = entries // values, entries % values
    held = {}
    for mask, rows in found.by_mask().items():
        mine = found.mask[pattern] == mask
        brings = np.searchsorted(rows, pattern[mine]).astype(np.int64)
        held[mask] = _Holding(rows, brings, code[mine], amount[mine])
    return held


Part = Callable[[], list[tuple[IntArray, IntArray, FloatArray]]]


def _asked_by_patterns(found: Patterns, held: dict[int, _Holding], values: int) -> list[Part]:
    """One part of the work for each mask of those who ask, so that few entries are held at once."""

    def part(mine: int) -> list[tuple[IntArray, IntArray, FloatArray]]:
        gathered = []
        asking = held[mine].rows
        for theirs, holding in held.items():
            visible = found.visible(mine | theirs)
            asked = [found.columns[a][asking] for a in visible]
            gathered.append(_values_of(found, visible, asked, asking, holding, values))
        return gathered

    return [lambda mine=mine: part(mine) for mine in held]  # type: ignore[misc]


def _values_of(
    found: Patterns,
    visible: Sequence[int],
    asked: Sequence[AnyArray],
    asker: IntArray,
    holding: _Holding,
    values: int,
) -> tuple[IntArray, IntArray, FloatArray]:
    """For each who asks, the values of the patterns held that show the same."""
    mine, theirs, _ = joint_keys(
        asked,
        [found.columns[a][holding.rows] for a in visible],
        [found.cardinalities[a] for a in visible],
        (asker.size, holding.rows.size),
    )
    # Keys are made dense first: a key times the number of values might not fit.
    known, place = np.unique(theirs, return_inverse=True)
    entries, where = np.unique(
        place.reshape(-1)[holding.brings] * values + holding.code, return_inverse=True
    )
    amount = weighed_count(where.reshape(-1), holding.amount, entries.size)
    there = np.minimum(np.searchsorted(known, mine), known.size - 1)
    fits = known[there] == mine
    first = np.searchsorted(entries, there * values)
    last = np.searchsorted(entries, (there + 1) * values)
    many = np.where(fits, last - first, 0)
    again = np.repeat(np.arange(asker.size), many)
    entry = np.arange(again.size) - np.repeat(np.cumsum(many) - many, many) + first[again]
    return asker[again], entries[entry] % values, amount[entry]


def _joined(of_record: IntArray, values: int, parts: Sequence[Part]) -> Entries:
    """All entries in one: amounts for the same class and value are added up."""
    keys, amounts = [], []
    with work.step("Gathering the values of those who may be alike", len(parts)) as step:
        for part in parts:
            gathered = part()
            joint = np.concatenate([asker * values + code for asker, code, _ in gathered])
            entries, place = np.unique(joint, return_inverse=True)
            whole = np.concatenate([amount for _, _, amount in gathered])
            keys.append(entries)
            amounts.append(weighed_count(place.reshape(-1), whole, entries.size))
            step.advance()
    # Parts have classes of their own, so sorting is all that is left to do.
    joint = np.concatenate(keys)
    amount = np.concatenate(amounts)
    # A prior that excludes every compatible record would leave a class without anybody.
    positive = amount > 0
    joint, amount = joint[positive], amount[positive]
    order = np.argsort(joint, kind="stable")
    return Entries(of_record, joint[order] // values, joint[order] % values, amount[order])
