"""Loops of recoding: classes of units at some levels, costs of who fails, bounds below a node.

Units, codes and flat arrays are those of `GeneralisationLattice`.
"""

from __future__ import annotations

import numpy as np

from divulge.engines import kernel
from divulge.work.arrays import Array

FIBONACCI = np.uint64(11400714819323198485)
"""2^64 over the golden ratio: multiplied by it, keys spread over the places of a table."""


@kernel
def combine_words(codes: Array, words: Array, starts: Array, chosen: Array, keys: Array) -> None:
    """The key of each unit at some levels: the sum of its words over the chosen attributes.

    Invariant: `keys` is the sum over the attributes before c.
    """
    keys[:] = 0
    for c in range(chosen.size):
        a = chosen[c]
        start = starts[a]
        for u in range(keys.size):
            keys[u] += words[start + codes[a, u]]


@kernel
def number_classes(
    keys: Array, table: Array, owners: Array, generation: int, class_of_unit: Array
) -> int:
    """Number the classes of units with equal keys, in the order of their first unit.

    Hash table with linear probing, of a power of two places; a place whose owner is older than
    `generation` is free, so that the table need not be cleared between calls.
    Invariant: units before u are in classes 0 to `classes` - 1, and `table` holds their keys.
    """
    mask = table.size - 1
    shift = np.uint64(64)
    while (1 << (64 - shift)) < table.size:
        shift -= np.uint64(1)
    classes = 0
    for u in range(keys.size):
        key = keys[u]
        place = np.int64((np.uint64(key) * FIBONACCI) >> shift)
        while owners[place] >= generation and table[place] != key:
            place = (place + 1) & mask
        if owners[place] < generation:
            owners[place] = generation + classes
            table[place] = key
            classes += 1
        class_of_unit[u] = owners[place] - generation
    return classes


@kernel
def sum_class_counts(class_of_unit: Array, counts: Array, sizes: Array) -> None:
    """Add the counts of units up by class.

    Invariant: `sizes` is right for the units before u.
    """
    for u in range(class_of_unit.size):
        sizes[class_of_unit[u]] += counts[u]


@kernel
def count_distinct_pairs(
    class_of_unit: Array, values: Array, value_count: int, counts: Array, distinct: Array
) -> None:
    """Count the different values that each class has, of units that still have records.

    Invariant: `keys` holds the pairs of class and value of the units before u, each counted once.
    """
    units = class_of_unit.size
    bits = 1
    while (1 << bits) < 2 * units:
        bits += 1
    mask = (1 << bits) - 1
    shift = np.uint64(64 - bits)
    keys = np.full(mask + 1, -1, np.int64)
    for u in range(units):
        if counts[u] == 0:
            continue
        key = np.int64(class_of_unit[u]) * value_count + values[u]
        place = np.int64((np.uint64(key) * FIBONACCI) >> shift)
        while keys[place] >= 0 and keys[place] != key:
            place = (place + 1) & mask
        if keys[place] < 0:
            keys[place] = key
            distinct[class_of_unit[u]] += 1


@kernel
def sum_removed_costs(
    codes: Array,
    costs: Array,
    offsets: Array,
    level_counts: Array,
    removed: Array,
    removal_costs: Array,
    sums: Array,
) -> float:
    """What removed records cost; in `sums` (attributes x levels) what they would if kept there.

    Invariant: `sums` and `total` are right for the units before u.
    """
    total = 0.0
    for u in range(removed.size):
        if removed[u] == 0:
            continue
        total += removed[u] * removal_costs[u]
        for a in range(codes.shape[0]):
            for level in range(level_counts[a]):
                sums[a, level] += removed[u] * costs[offsets[a, level] + codes[a, u]]
    return total


@kernel
def raise_bounds(
    levels: Array, strides: Array, base: float, level_savings: Array, bounds: Array
) -> None:
    """Raise the lower bounds of all nodes at or below one, given who must be removed there.

    A node below costs at least `base` (the removal) plus, of each attribute at its level, what the
    other records cost there.
    Invariant: every node of the box before `below`, in the order of an odometer, has its bound.
    """
    attributes = levels.size
    below = np.zeros(attributes, np.int64)
    place = 0
    while True:
        bound = base
        for a in range(attributes):
            bound += level_savings[a, below[a]]
        if bound > bounds[place]:
            bounds[place] = bound
        a = attributes - 1
        while a >= 0 and below[a] == levels[a]:
            place -= below[a] * strides[a]
            below[a] = 0
            a -= 1
        if a < 0:
            return
        below[a] += 1
        place += strides[a]


@kernel
def mark_below(levels: Array, strides: Array, states: Array, mark: int) -> None:
    """Mark all nodes at or below one that are not marked yet.

    Invariant: every node of the box before `below`, in the order of an odometer, is marked.
    """
    attributes = levels.size
    below = np.zeros(attributes, np.int64)
    place = 0
    while True:
        if states[place] == 0:
            states[place] = mark
        a = attributes - 1
        while a >= 0 and below[a] == levels[a]:
            place -= below[a] * strides[a]
            below[a] = 0
            a -= 1
        if a < 0:
            return
        below[a] += 1
        place += strides[a]
