"""Counting sort into blocks and radix sort of keys; numbering, and tallies of secrets.

A key is a number of up to 63 bits that holds codes of attributes side by side; equal keys become
one, and how often each occurs is kept beside it. Weights, where there are any, are kept as a sum
and a maximum a key.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from divulge.engines import kernel
from divulge.work.arrays import Array

# Below this size the simplest sort is the fastest.
SMALL_BLOCK = 48


@kernel
def add_code(keys: Array, codes: Array, shift: int) -> None:
    """Put an attribute's codes into its bits of the keys.

    Invariant: the keys before i hold their code, and no other bit changes.
    """
    for i in range(len(keys)):
        keys[i] |= np.int64(codes[i]) << shift


@kernel
def group_by_block(
    keys: Array, counts: Array, weights: Array | None, blocks: Array, shift: int, mask: int,
    moves: Array, starts: Array, to_keys: Array, to_counts: Array, to_weights: Array | None,
) -> None:  # fmt: skip
    """Counting sort: bring the records of a block together, with the bits of the key that move on.

    A block's number is in the bits of `mask` after a shift. `moves` holds shift, mask and shift
    back of each piece of the key. `starts` has one place more than there are blocks, and says
    afterwards where each begins. Invariant: the records before i are placed in their order, and
    `places[b]` is where the next of block b goes.
    """
    starts[:] = 0
    for i in range(len(blocks)):
        starts[((np.int64(blocks[i]) >> shift) & mask) + 1] += 1
    for block in range(len(starts) - 1):
        starts[block + 1] += starts[block]
    places = starts.copy()
    for i in range(len(blocks)):
        number = (np.int64(blocks[i]) >> shift) & mask
        place = places[number]
        places[number] += 1
        key: Any = np.int64(0)
        for piece in range(len(moves)):
            key |= ((keys[i] >> moves[piece, 0]) & moves[piece, 1]) << moves[piece, 2]
        to_keys[place] = key
        to_counts[place] = counts[i] if len(counts) > 0 else 1
        if weights is not None and to_weights is not None:
            to_weights[place, 0], to_weights[place, 1] = weights[i, 0], weights[i, 1]


@kernel
def sort_blocks(
    keys: Array, counts: Array, weights: Array | None, starts: Array, ends: Array,
    first: int, last: int,
) -> None:  # fmt: skip
    """Sort every block and make equal keys one; block b is `starts[b]:ends[b]` afterwards.

    Invariant: in every block before the present one keys rise strictly, and counts add up to its
    records.
    """
    longest = 0
    for block in range(first, last):
        longest = max(longest, starts[block + 1] - starts[block])
    spare_keys = np.empty(longest, np.int64)
    spare_counts = np.empty(longest, np.int32)
    spare_weights = np.empty((longest if weights is not None else 0, 2), np.float64)
    for block in range(first, last):
        low, high = starts[block], starts[block + 1]
        if high - low <= SMALL_BLOCK:
            _insertion_sort(keys, counts, weights, low, high)
        else:
            _radix_sort(keys, counts, weights, low, high, spare_keys, spare_counts, spare_weights)
        ends[block] = _merge_equal_keys(keys, counts, weights, low, high)


@kernel
def _insertion_sort(keys: Array, counts: Array, weights: Array | None, low: int, high: int) -> None:
    """Insertion sort. Invariant: from `low` to before i, keys do not fall."""
    for i in range(low + 1, high):
        key, count = keys[i], counts[i]
        if weights is not None:
            weight, heaviest = weights[i, 0], weights[i, 1]
        j = i
        while j > low and keys[j - 1] > key:
            keys[j], counts[j] = keys[j - 1], counts[j - 1]
            if weights is not None:
                weights[j, 0], weights[j, 1] = weights[j - 1, 0], weights[j - 1, 1]
            j -= 1
        keys[j], counts[j] = key, count
        if weights is not None:
            weights[j, 0], weights[j, 1] = weight, heaviest


@kernel
def _radix_sort(
    keys: Array, counts: Array, weights: Array | None, low: int, high: int,
    spare_keys: Array, spare_counts: Array, spare_weights: Array,
) -> None:  # fmt: skip
    """Radix sort by bytes, lowest first; a byte that does not vary is passed over.

    Invariant: before each pass the keys are in the order of their bits below `shift`, and equal
    ones in the order in which they came.
    """
    differ = 0
    for i in range(low, high):
        differ |= keys[i] ^ keys[low]
    places = np.empty(257, np.int64)
    for shift in range(0, 64, 8):
        if (differ >> shift) & 255 == 0:
            continue
        places[:] = 0
        for i in range(low, high):
            places[((keys[i] >> shift) & 255) + 1] += 1
        for digit in range(256):
            places[digit + 1] += places[digit]
        for i in range(low, high):
            digit = (keys[i] >> shift) & 255
            place = places[digit]
            places[digit] += 1
            spare_keys[place], spare_counts[place] = keys[i], counts[i]
            if weights is not None:
                spare_weights[place, 0] = weights[i, 0]
                spare_weights[place, 1] = weights[i, 1]
        for i in range(high - low):
            keys[low + i], counts[low + i] = spare_keys[i], spare_counts[i]
            if weights is not None:
                weights[low + i, 0] = spare_weights[i, 0]
                weights[low + i, 1] = spare_weights[i, 1]


@kernel
def _merge_equal_keys(
    keys: Array, counts: Array, weights: Array | None, low: int, high: int
) -> int:
    """Make equal neighbours one, adding their counts; where the sorted run ends then.

    Invariant: from `low` to `end` keys rise strictly, and their counts are those of `low` to i.
    """
    if high == low:
        return low
    end = low
    for i in range(low + 1, high):
        if keys[i] == keys[end]:
            counts[end] += counts[i]
            if weights is not None:
                weights[end, 0] += weights[i, 0]
                weights[end, 1] = max(weights[end, 1], weights[i, 1])
        else:
            end += 1
            keys[end], counts[end] = keys[i], counts[i]
            if weights is not None:
                weights[end, 0], weights[end, 1] = weights[i, 0], weights[i, 1]
    return end + 1


@kernel
def compact_blocks(
    keys: Array, counts: Array, weights: Array | None, starts: Array, ends: Array
) -> int:
    """Move the blocks together after sorting, over the gaps that equal keys left.

    Invariant: `end` is never beyond what is read next, so nothing is overwritten unread.
    """
    end = 0
    for block in range(len(ends)):
        for i in range(starts[block], ends[block]):
            keys[end], counts[end] = keys[i], counts[i]
            if weights is not None:
                weights[end, 0], weights[end, 1] = weights[i, 0], weights[i, 1]
            end += 1
    return end


@kernel
def number_blocks(blocks: Array) -> int:
    """Number the blocks that occur from 0 in place, in the order of their ids; how many.

    Dense ranks by radix sort. Invariant: `number` is the rank of the sorted id at i, and `order[i]`
    the record that has it.
    """
    rows = len(blocks)
    order = np.empty(rows, np.int32)
    for i in range(rows):
        order[i] = i
    spare = np.empty(rows, np.int64)
    none = np.empty((0, 2), np.float64)
    _radix_sort(blocks, order, None, 0, rows, spare, np.empty(rows, np.int32), none)
    number = -1
    for i in range(rows):
        if i == 0 or blocks[i] != blocks[i - 1]:
            number += 1
        spare[order[i]] = number
    blocks[:] = spare
    return number + 1


@kernel
def tally_secrets(
    classes: Array, codes: Array, number: int, values: int, inverse: Array
) -> tuple[int, int, float]:
    """Records in classes of one secret value, right best guesses, and the capacity.

    A contingency table, then its row maxima. Invariant: the three sums are those of the classes
    before c.
    """
    cells = np.zeros(number * values, np.int32)
    for i in range(len(classes)):
        cells[np.int64(classes[i]) * values + codes[i]] += 1
    homogeneous, correct, capacity = 0, 0, 0.0
    for c in range(number):
        size, most, kinds, share = 0, 0, 0, 0.0
        for v in range(values):
            count: Any = np.int64(cells[c * values + v])
            size += count
            most = max(most, count)
            kinds += count > 0
            share = max(share, count * inverse[v])
        correct += most
        capacity += share
        if kinds == 1:
            homogeneous += size
    return homogeneous, correct, capacity
