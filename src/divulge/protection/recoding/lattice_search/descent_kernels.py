"""One move of a descent: other levels of one or two attributes, from keys and costs at hand."""

from __future__ import annotations

import numpy as np

from divulge.engines import kernel
from divulge.work.arrays import Array

FIBONACCI = np.uint64(11400714819323198485)
"""2^64 over the golden ratio: multiplied by it, keys spread over the places of a table."""


@kernel
def measure_move(
    codes: Array,
    words: Array,
    costs: Array,
    keys: Array,
    unit_costs: Array,
    counts: Array,
    removal_costs: Array,
    attributes: Array,
    old_starts: Array,
    new_starts: Array,
    least: float,
    table: Array,
    owners: Array,
    sizes: Array,
    class_of_unit: Array,
) -> tuple[int, float, int]:
    """How many records are in classes below `least` after a move, and what their removal adds.

    Also how many classes there are. `owners` must be -1 everywhere, and is so again afterwards.
    Invariant of the first loop: `sizes` counts the records of the units before u by class, and
    `table` holds the keys of the classes. Of the second: `removed` and `added` are right for them.
    """
    mask = table.size - 1
    shift = np.uint64(64)
    while (1 << (64 - shift)) < table.size:
        shift -= np.uint64(1)
    classes = 0
    for u in range(keys.size):
        key = keys[u]
        for m in range(attributes.size):
            code = codes[attributes[m], u]
            key += words[new_starts[m] + code] - words[old_starts[m] + code]
        place = np.int64((np.uint64(key) * FIBONACCI) >> shift)
        while owners[place] >= 0 and table[place] != key:
            place = (place + 1) & mask
        if owners[place] < 0:
            owners[place] = classes
            table[place] = key
            sizes[classes] = 0
            classes += 1
        sizes[owners[place]] += counts[u]
        class_of_unit[u] = owners[place]
    removed = 0
    added = 0.0
    for u in range(keys.size):
        if sizes[class_of_unit[u]] < least:
            removed += counts[u]
            cost = unit_costs[u]
            for m in range(attributes.size):
                code = codes[attributes[m], u]
                cost += costs[new_starts[m] + code] - costs[old_starts[m] + code]
            added += counts[u] * (removal_costs[u] - cost)
    owners[:] = -1
    return removed, added, classes


@kernel
def apply_move(
    codes: Array,
    words: Array,
    costs: Array,
    keys: Array,
    unit_costs: Array,
    attribute: int,
    old_start: int,
    new_start: int,
) -> None:
    """Move one attribute to another level.

    Invariant: keys and costs of the units before u are those of the new level.
    """
    for u in range(keys.size):
        code = codes[attribute, u]
        keys[u] += words[new_start + code] - words[old_start + code]
        unit_costs[u] += costs[new_start + code] - costs[old_start + code]
