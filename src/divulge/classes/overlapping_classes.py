"""Classes that overlap: what one record may be taken for, value by value.

A record that hides cells may belong to several crowds at once, so its sensitive value counts in
each of them. As in `null_semantics`, records are gathered into patterns, and patterns that hide
the same cells are joined on what both show; here each pattern brings the values it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.classes.key_codes import encode_keys
from divulge.classes.keys import sum_by_place
from divulge.classes.null_semantics import (
    Patterns,
    build_joint_keys,
    enumerate_released_codes,
    estimate_chance_by_mask,
    gather_patterns,
)
from divulge.classes.original_values import check_same_records, gather_victims
from divulge.data import Dataset
from divulge.work.arrays import Array, Floats, Ints

Together: TypeAlias = Literal["added", "independent", "surest"]
"""How the chances of several records that have the same value make one amount."""


@dataclass(frozen=True)
class Entries:
    """The class of each record, and how much of each value every class holds, sorted by class."""

    of_record: Ints
    of_class: Ints
    code: Ints
    amount: npt.NDArray[Any]


@dataclass(frozen=True)
class _MaskValues:
    """Patterns that hide the same cells, with the values that each brings."""

    rows: Ints
    """The patterns, by their place in the patterns of the release."""
    pattern_of_entry: Ints
    """For each entry, the place of its pattern in `rows`."""
    code: Ints
    amount: Floats


def gather_overlapping_entries(
    dataset: Dataset,
    names: Sequence[str],
    nulls: str,
    *,
    original: Dataset | None,
    codes: Array,
    values: int,
    weights: Floats | None,
    together: Together = "added",
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
        together: whether an amount is the sum over the records that have the value (`added`), the
            chance that at least one of them is of the class if they are independent
            (`independent`), or the chance of the surest of them (`surest`).
    """
    if original is not None:
        check_same_records(dataset, original, names)
    keys = encode_keys(dataset, names, absence_apart=nulls != "maybe", original=original)
    ones = np.ones(dataset.rows)
    released = gather_patterns(keys, ones)
    values_by_mask = _group_values_by_mask(
        released, codes, values, ones if weights is None else weights
    )
    if nulls == "maybe" or original is None:
        entries = _merge_entries(
            released.of_record, values, _split_by_mask(released, values_by_mask, values)
        )
        return entries if together == "added" else replace(entries, amount=np.sign(entries.amount))
    victims = gather_victims(dataset, original, names)
    chance = estimate_chance_by_mask(released, victims) if nulls == "bayes" else None

    rows_by_mask = released.group_by_mask()

    def collect_victim_values() -> list[tuple[Ints, Ints, Floats]]:
        gathered = []
        for mask, holding in values_by_mask.items():
            visible = released.visible_attributes(mask)
            rows = rows_by_mask[mask]
            whose, victim_columns, share = enumerate_released_codes(
                victims,
                visible,
                [released.columns[a][rows] for a in visible],
                [released.cardinalities[a] for a in visible],
            )
            way, code, amount = _match_values(
                released,
                visible,
                victim_columns,
                asker=np.arange(whose.size),
                holding=holding,
                values=values,
            )
            asker = whose[way]
            factor = np.ones(asker.size) if chance is None else chance[mask][asker] * share[way]
            if together == "independent":
                # Chances that none has it are multiplied, so what is added up are logarithms.
                with np.errstate(divide="ignore"):
                    factor = -np.log1p(-np.minimum(factor, 1.0))
            elif together == "surest":
                amount = np.sign(amount)
            gathered.append((asker, code, amount * factor))
        return gathered

    entries = _merge_entries(
        victims.of_record, values, [collect_victim_values], keeps_highest=together == "surest"
    )
    if together == "independent":
        return replace(entries, amount=-np.expm1(-entries.amount))
    return entries


def _group_values_by_mask(
    released: Patterns, codes: Array, values: int, weights: Floats
) -> dict[int, _MaskValues]:
    entries, place = np.unique(released.of_record * values + codes, return_inverse=True)
    amount = sum_by_place(place.reshape(-1), weights, entries.size)
    pattern, code = entries // values, entries % values
    values_by_mask = {}
    for mask, rows in released.group_by_mask().items():
        mine = released.mask[pattern] == mask
        pattern_of_entry = np.searchsorted(rows, pattern[mine]).astype(np.int64)
        values_by_mask[mask] = _MaskValues(rows, pattern_of_entry, code[mine], amount[mine])
    return values_by_mask


Part = Callable[[], list[tuple[Ints, Ints, Floats]]]


def _split_by_mask(
    released: Patterns, values_by_mask: dict[int, _MaskValues], values: int
) -> list[Part]:
    """One part of the work for each mask of those who ask, so that few entries are held at once."""

    def collect_mask_values(mine: int) -> list[tuple[Ints, Ints, Floats]]:
        gathered = []
        asker_rows = values_by_mask[mine].rows
        for theirs, holding in values_by_mask.items():
            visible = released.visible_attributes(mine | theirs)
            asker_columns = [released.columns[a][asker_rows] for a in visible]
            gathered.append(
                _match_values(
                    released,
                    visible,
                    asker_columns,
                    asker=asker_rows,
                    holding=holding,
                    values=values,
                )
            )
        return gathered

    return [lambda mine=mine: collect_mask_values(mine) for mine in values_by_mask]  # type: ignore[misc]


def _match_values(
    released: Patterns,
    visible: Sequence[int],
    asker_columns: Sequence[Array],
    *,
    asker: Ints,
    holding: _MaskValues,
    values: int,
) -> tuple[Ints, Ints, Floats]:
    """For each who asks, the values of the patterns held that show the same."""
    mine, theirs, _ = build_joint_keys(
        asker_columns,
        [released.columns[a][holding.rows] for a in visible],
        [released.cardinalities[a] for a in visible],
        (asker.size, holding.rows.size),
    )
    # Keys are made dense first: a key times the number of values might not fit.
    distinct_keys, place = np.unique(theirs, return_inverse=True)
    entries, where = np.unique(
        place.reshape(-1)[holding.pattern_of_entry] * values + holding.code, return_inverse=True
    )
    amount = sum_by_place(where.reshape(-1), holding.amount, entries.size)
    there = np.minimum(np.searchsorted(distinct_keys, mine), distinct_keys.size - 1)
    fits = distinct_keys[there] == mine
    first = np.searchsorted(entries, there * values)
    last = np.searchsorted(entries, (there + 1) * values)
    many = np.where(fits, last - first, 0)
    repeated_askers = np.repeat(np.arange(asker.size), many)
    entry = (
        np.arange(repeated_askers.size)
        - np.repeat(np.cumsum(many) - many, many)
        + first[repeated_askers]
    )
    return asker[repeated_askers], entries[entry] % values, amount[entry]


def _merge_entries(
    of_record: Ints, values: int, parts: Sequence[Part], *, keeps_highest: bool = False
) -> Entries:
    """All entries in one: amounts of the same class and value are added up, or the highest kept."""
    keys, amounts = [], []
    with work.step("Gathering the values of possible matches", len(parts)) as step:
        for part in parts:
            gathered = part()
            joint = np.concatenate([asker * values + code for asker, code, _ in gathered])
            entries, place = np.unique(joint, return_inverse=True)
            whole = np.concatenate([amount for _, _, amount in gathered])
            keys.append(entries)
            if keeps_highest:
                highest = np.zeros(entries.size)
                np.maximum.at(highest, place.reshape(-1), whole)
                amounts.append(highest)
            else:
                amounts.append(sum_by_place(place.reshape(-1), whole, entries.size))
            step.advance()
    # Parts have classes of their own, so sorting is all that is left to do.
    joint = np.concatenate(keys)
    amount = np.concatenate(amounts)
    # A prior that excludes every compatible record would leave a class without anybody.
    positive = amount > 0
    joint, amount = joint[positive], amount[positive]
    order = np.argsort(joint, kind="stable")
    return Entries(of_record, joint[order] // values, joint[order] % values, amount[order])
