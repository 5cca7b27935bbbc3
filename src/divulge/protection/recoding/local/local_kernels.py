"""Loops of local recoding: splits of nested classes, what units show at their levels, losses.

Units, codes and flat arrays are those of `GeneralisationLattice`.
"""

from __future__ import annotations

import numpy as np

from divulge.engines import kernel
from divulge.work.arrays import Array

TOLERANCE = 1e-9
"""Gains that differ by a smaller share are equal: a sum in another order differs by it."""


@kernel
def combine_local_words(
    codes: Array, words: Array, offsets: Array, levels: Array, keys: Array
) -> None:
    """The key of each unit at its own levels: the sum of the words of its nodes.

    Invariant: `keys` is right for the attributes before a.
    """
    keys[:] = 0
    for a in range(codes.shape[0]):
        for u in range(keys.size):
            keys[u] += words[offsets[a, levels[a, u]] + codes[a, u]]


@kernel
def count_false_members(
    codes: Array, nodes: Array, offsets: Array, levels: Array, class_of_unit: Array, firsts: Array
) -> int:
    """Units that do not show what the first unit of their class shows: keys have collided.

    Invariant: `false` counts those before u.
    """
    false = 0
    for u in range(class_of_unit.size):
        first = firsts[class_of_unit[u]]
        for a in range(codes.shape[0]):
            level = levels[a, u]
            start = offsets[a, level]
            if (
                levels[a, first] != level
                or nodes[start + codes[a, u]] != nodes[start + codes[a, first]]
            ):
                false += 1
                break
    return false


@kernel
def sum_local_loss(
    codes: Array,
    costs: Array,
    offsets: Array,
    levels: Array,
    kept: Array,
    removal_costs: Array,
    removed: Array,
) -> float:
    """What kept records cost at the levels of their units, and the others removed.

    Invariant: `total` is right for the units before u.
    """
    total = 0.0
    for u in range(kept.size):
        own = 0.0
        for a in range(codes.shape[0]):
            own += costs[offsets[a, levels[a, u]] + codes[a, u]]
        total += kept[u] * own + removed[u] * removal_costs[u]
    return total


@kernel
def split_nested_classes(
    codes: Array,
    counts: Array,
    nodes: Array,
    costs: Array,
    offsets: Array,
    ties: Array,
    ranks: Array,
    least: int,
    order: Array,
    bounds: Array,
    class_levels: Array,
    open_classes: int,
    levels: Array,
    most_splits: int,
) -> int:
    """Split classes one attribute at a time, each where it saves most; return how many are open.

    `order` lists units, those of a class together; open class s is `order[bounds[s, 0]:bounds[s,
    1]]` at the levels `class_levels[s]`. A class that cannot be split is written to `levels`.
    Invariant: every class, open or written, has at least `least` records, and its units share
    their nodes at its levels.
    """
    attributes = codes.shape[0]
    widest = nodes.max() + 1
    tally = np.zeros(widest, np.int64)
    savings = np.zeros(widest, np.float64)
    tie = np.zeros(widest, np.int64)
    leaves = np.zeros(widest, np.bool_)
    touched = np.empty(widest, np.int64)
    target = np.empty(widest, np.int64)
    room = np.empty(order.size, order.dtype)
    own = np.empty(attributes, np.int64)
    done = 0
    while open_classes > 0 and done < most_splits:
        open_classes -= 1
        done += 1
        low, high = bounds[open_classes, 0], bounds[open_classes, 1]
        for a in range(attributes):
            own[a] = class_levels[open_classes, a]
        # What all units of the class have in common costs nothing to show.
        size = 0
        for place in range(low, high):
            size += counts[order[place]]
        for a in range(attributes):
            while own[a] > 0:
                start = offsets[a, own[a] - 1]
                first = nodes[start + codes[a, order[low]]]
                place = low + 1
                while place < high and nodes[start + codes[a, order[place]]] == first:
                    place += 1
                if place < high:
                    break
                own[a] -= 1
        best, best_gain = -1, 0.0
        if size >= 2 * least:
            for a in range(attributes):
                if own[a] == 0:
                    continue
                fine, coarse = offsets[a, own[a] - 1], offsets[a, own[a]]
                children = 0
                for place in range(low, high):
                    u = order[place]
                    c = codes[a, u]
                    n = nodes[fine + c]
                    if tally[n] == 0:
                        touched[children] = n
                        children += 1
                        savings[n] = 0.0
                    tally[n] += counts[u]
                    savings[n] += counts[u] * (costs[coarse + c] - costs[fine + c])
                    tie[n] = ties[fine + c]
                gain, staying, smallest = 0.0, 0, -1
                for i in range(children):
                    n = touched[i]
                    if tally[n] < least:
                        staying += tally[n]
                        continue
                    gain += savings[n]
                    if (
                        smallest < 0
                        or tally[n] < tally[smallest]
                        or (tally[n] == tally[smallest] and tie[n] < tie[smallest])
                    ):
                        smallest = n
                if 0 < staying < least and smallest >= 0:
                    gain -= savings[smallest]
                for i in range(children):
                    tally[touched[i]] = 0
                slack = TOLERANCE * best_gain
                if gain > best_gain + slack or (
                    best >= 0 and gain >= best_gain - slack and ranks[a] < ranks[best]
                ):
                    best, best_gain = a, gain
        if best < 0:
            for place in range(low, high):
                for a in range(attributes):
                    levels[a, order[place]] = own[a]
            continue
        # The same children again, now to move their units: leaving ones first, then the rest.
        fine = offsets[best, own[best] - 1]
        children = 0
        for place in range(low, high):
            c = codes[best, order[place]]
            n = nodes[fine + c]
            if tally[n] == 0:
                touched[children] = n
                children += 1
                target[n] = 0
            tally[n] += counts[order[place]]
            target[n] += 1
            tie[n] = ties[fine + c]
        staying, smallest = 0, -1
        for i in range(children):
            n = touched[i]
            leaves[n] = tally[n] >= least
            if not leaves[n]:
                staying += tally[n]
            elif (
                smallest < 0
                or tally[n] < tally[smallest]
                or (tally[n] == tally[smallest] and tie[n] < tie[smallest])
            ):
                smallest = n
        if 0 < staying < least:
            leaves[smallest] = False
        begin = low
        for i in range(children):
            n = touched[i]
            tally[n] = 0
            if leaves[n]:
                units = target[n]
                bounds[open_classes, 0], bounds[open_classes, 1] = begin, begin + units
                for a in range(attributes):
                    class_levels[open_classes, a] = own[a]
                class_levels[open_classes, best] -= 1
                open_classes += 1
                target[n] = begin
                begin += units
        rest = begin
        for place in range(low, high):
            u = order[place]
            n = nodes[fine + codes[best, u]]
            if leaves[n]:
                room[target[n]] = u
                target[n] += 1
            else:
                room[rest] = u
                rest += 1
        for place in range(low, high):
            order[place] = room[place]
        if begin < high:
            bounds[open_classes, 0], bounds[open_classes, 1] = begin, high
            for a in range(attributes):
                class_levels[open_classes, a] = own[a]
            open_classes += 1
    return open_classes
