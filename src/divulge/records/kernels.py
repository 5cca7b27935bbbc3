"""The ternary lattice cube: what every set of quasi-identifiers tells, from one walk over a block.

A *cell* is a sorted run of distinct keys with how often each occurs. The records of a cell agree on
every attribute that the walk has taken in; what it has left out is masked. An attribute that is
constant in the cell makes no difference: it is *free*, and the walk decides only over those that
vary. It takes the first varying attribute in (its values are runs that lie side by side) and leaves
it out (the runs are merged). Leaves are classes, noted once for all sets they are a class of, under
an address with one ternary digit an attribute: 0 out, 1 in, 2 free.

Classes of one cost nothing: what is noted is what is *lost* against "every record is alone". All
that is noted under an address lies side by side, in 32 bits each (there are fewer records than
that), so that a leaf touches one line of the processor's cache.

A key holds the attributes from the highest bits down, in the order of the walk, and the joint code
of the sensitive attributes in the lowest; it is never negative. Counts add up to the records of the
block in every cell that is not split: that is the invariant of every function here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.engines import kernel

Array = npt.NDArray[Any]

# Below these sizes the simplest sort is the fastest.
SMALL_CELL = 32
SMALL_BLOCK = 48

# Columns of `noted` after those of pairs (all, and those of two values of each secret). Two more
# for each secret follow: records in mixed classes, and wrong best guesses.
NOT_ALONE, THREE_OR_FOUR, FIVE_TO_NINE, TEN_OR_MORE, SMALLEST = 0, 1, 2, 3, 4
OF_LARGER = 5


@kernel
def sort_blocks(
    keys: Array, counts: Array, weights: Array | None, starts: Array, ends: Array,
    first: int, last: int,
) -> None:  # fmt: skip
    """Sort every block and make equal keys one; block b is `starts[b]:ends[b]` afterwards."""
    longest = 0
    for block in range(first, last):
        longest = max(longest, starts[block + 1] - starts[block])
    spare_keys = np.empty(longest, np.int64)
    spare_counts = np.empty(longest, np.int32)
    spare_weights = np.empty((longest if weights is not None else 0, 2), np.float64)
    for block in range(first, last):
        low, high = starts[block], starts[block + 1]
        if high - low <= SMALL_BLOCK:
            _insertion(keys, counts, weights, low, high)
        else:
            _radix(keys, counts, weights, low, high, spare_keys, spare_counts, spare_weights)
        ends[block] = _joined(keys, counts, weights, low, high)


@kernel
def _insertion(keys: Array, counts: Array, weights: Array | None, low: int, high: int) -> None:
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
def _radix(
    keys: Array, counts: Array, weights: Array | None, low: int, high: int,
    spare_keys: Array, spare_counts: Array, spare_weights: Array,
) -> None:  # fmt: skip
    """Sort by bytes, lowest first; a byte that does not vary is passed over."""
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
def _joined(keys: Array, counts: Array, weights: Array | None, low: int, high: int) -> int:
    """Make equal neighbours one, adding their counts; where the sorted run ends then."""
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
def close_up(keys: Array, counts: Array, weights: Array | None, starts: Array, ends: Array) -> int:
    """Move the blocks together after sorting, over the gaps that equal keys left."""
    end = 0
    for block in range(len(ends)):
        for i in range(starts[block], ends[block]):
            keys[end], counts[end] = keys[i], counts[i]
            if weights is not None:
                weights[end, 0], weights[end, 1] = weights[i, 0], weights[i, 1]
            end += 1
    return end


@kernel
def cube(
    keys: Array, counts: Array, weights: Array | None, starts: Array, ends: Array,
    first: int, last: int, masks: Array, powers: Array, at_most: int,
    sensitive: Array, inverse: Array,
    noted: Array, capacity: Array, weighted: Array,
) -> None:  # fmt: skip
    """Walk the lattice of every sorted block from `first` to before `last`.

    Args:
        keys: the sorted blocks' keys.
        counts: how often each key occurs.
        weights: sum and maximum of the weights of each key, or None.
        starts: where each block begins.
        ends: where it ends.
        first: the first block to walk.
        last: the block before which to stop.
        masks: the bits of each attribute, in the order of the walk.
        powers: the place values of the address, one an attribute.
        at_most: how many attributes a set may still take in.
        sensitive: shift, mask and first row in the tally of each sensitive attribute.
        inverse: 1 over how often each sensitive value occurs; empty if no capacity is asked for.
        noted: by address, classes of two and those of two values of each sensitive attribute;
            of larger classes the records, how many there are of which size, the smallest; for
            each sensitive attribute records in mixed ones, and wrong best guesses.
        capacity: by address and sensitive attribute, what is lost of the capacity.
        weighted: by address, the same losses in weights: best guess at a record, not alone; for
            each sensitive attribute rows in mixed classes, and wrong best guesses.
    """
    attributes = len(masks)
    longest = 0
    for block in range(first, last):
        longest = max(longest, ends[block] - starts[block])
    # Each level of leaving out needs a copy no longer than its cell, and a merge one more.
    room = longest * (attributes + 2) + 2
    akeys = np.empty(room, np.int64)
    acounts = np.empty(room, np.int32)
    aweights: Array | None = None if weights is None else np.empty((room, 2), np.float64)
    bounds = np.empty(longest + 2, np.int64)
    tally = np.zeros(sensitive[len(sensitive) - 1, 2], np.int64)
    wtally = np.zeros(len(tally), np.float64)

    depth = attributes + 2
    f_low = np.empty(depth, np.int64)
    f_high = np.empty(depth, np.int64)
    f_at = np.empty(depth, np.int64)
    f_address = np.empty(depth, np.int64)
    f_differ = np.empty(depth, np.int64)
    f_top = np.empty(depth, np.int64)
    f_left = np.empty(depth, np.int64)
    f_merged = np.empty(depth, np.bool_)

    for block in range(first, last):
        low = 0
        high = ends[block] - starts[block]
        differ = 0
        for i in range(high):
            akeys[i], acounts[i] = keys[starts[block] + i], counts[starts[block] + i]
            if weights is not None and aweights is not None:
                aweights[i, 0] = weights[starts[block] + i, 0]
                aweights[i, 1] = weights[starts[block] + i, 1]
            differ |= akeys[i] ^ akeys[0]
        at, address, top, left = 0, 0, high, at_most
        frame = -1
        opening = high > 1 or (high == 1 and acounts[0] > 1)
        while opening or frame >= 0:
            if opening:
                opening = False
                rows = high - low
                if rows == 2 and acounts[low] == 1 and acounts[low + 1] == 1:
                    _pair(akeys, aweights, low, at, address, masks, powers, sensitive, inverse,
                          noted, capacity, weighted)  # fmt: skip
                    continue
                if left > 0:
                    while at < attributes and differ & masks[at] == 0:
                        address += 2 * powers[at]
                        at += 1
                if at == attributes or left == 0:
                    _class(akeys, acounts, aweights, low, high, address, sensitive, inverse, tally,
                           wtally, noted, capacity, weighted)  # fmt: skip
                    continue
                frame += 1
                f_low[frame], f_high[frame], f_at[frame] = low, high, at
                f_address[frame], f_differ[frame], f_top[frame] = address, differ, top
                f_left[frame], f_merged[frame] = left, False
                continue
            mask = masks[f_at[frame]]
            if not f_merged[frame]:
                # Leave the attribute out. Its cell lies above all that is still needed.
                f_merged[frame] = True
                low, top = f_top[frame], f_top[frame]
                high = _merged(akeys, acounts, aweights, f_low[frame], f_high[frame], mask, low,
                               bounds)  # fmt: skip
                at, address = f_at[frame] + 1, f_address[frame]
                differ, left = f_differ[frame] & ~mask, f_left[frame]
                top = high
                opening = high - low > 1 or acounts[low] > 1
                continue
            # Take the attribute in: go on to the next run of more than one record.
            low, high = f_low[frame], f_high[frame]
            while low < high:
                value = akeys[low] & mask
                end = low + 1
                differ = 0
                while end < high and akeys[end] & mask == value:
                    differ |= akeys[end] ^ akeys[low]
                    end += 1
                if end - low > 1 or acounts[low] > 1:
                    break
                low = end
            if low == high:
                frame -= 1
                continue
            f_low[frame] = end
            high = end
            at = f_at[frame] + 1
            address = f_address[frame] + powers[f_at[frame]]
            top, left = f_top[frame], f_left[frame] - 1
            opening = True


@kernel
def _merged(
    keys: Array, counts: Array, weights: Array | None, low: int, high: int, mask: int, to: int,
    bounds: Array,
) -> int:  # fmt: skip
    """Merge the runs of one attribute's values into a sorted run without it, from `to` on."""
    if high - low <= SMALL_CELL:
        end = to
        for i in range(low, high):
            key = keys[i] & ~mask
            j = end
            while j > to and keys[j - 1] > key:
                keys[j], counts[j] = keys[j - 1], counts[j - 1]
                if weights is not None:
                    weights[j, 0], weights[j, 1] = weights[j - 1, 0], weights[j - 1, 1]
                j -= 1
            keys[j], counts[j] = key, counts[i]
            if weights is not None:
                weights[j, 0], weights[j, 1] = weights[i, 0], weights[i, 1]
            end += 1
        return _joined(keys, counts, weights, to, end)
    runs = 0
    for i in range(low, high):
        if i == low or (keys[i] ^ keys[i - 1]) & mask != 0:
            bounds[runs] = i
            runs += 1
    bounds[runs] = high
    # Merge neighbours pass by pass, to and fro, so that the last pass ends at `to`.
    passes = 0
    while (1 << passes) < runs:
        passes += 1
    there, away = to, to + (high - low)
    if passes % 2 == 0:
        there, away = away, there
    while runs > 1:
        end = there
        merged = 0
        for run in range(0, runs - 1, 2):
            begin = end
            end = _two_merged(keys, counts, weights, bounds[run], bounds[run + 1],
                              bounds[run + 1], bounds[run + 2], mask, end)  # fmt: skip
            bounds[merged] = begin
            merged += 1
        if runs % 2 == 1:
            begin = end
            for i in range(bounds[runs - 1], bounds[runs]):
                keys[end], counts[end] = keys[i] & ~mask, counts[i]
                if weights is not None:
                    weights[end, 0], weights[end, 1] = weights[i, 0], weights[i, 1]
                end += 1
            bounds[merged] = begin
            merged += 1
        bounds[merged] = end
        runs = merged
        there, away = away, there
    return int(bounds[1])


@kernel
def _two_merged(
    keys: Array, counts: Array, weights: Array | None, i: int, i_end: int, j: int, j_end: int,
    mask: int, to: int,
) -> int:  # fmt: skip
    """Merge two sorted runs; a key that both have becomes one."""
    while i < i_end and j < j_end:
        one, other = keys[i] & ~mask, keys[j] & ~mask
        if one < other:
            keys[to], counts[to] = one, counts[i]
            if weights is not None:
                weights[to, 0], weights[to, 1] = weights[i, 0], weights[i, 1]
            i += 1
        elif other < one:
            keys[to], counts[to] = other, counts[j]
            if weights is not None:
                weights[to, 0], weights[to, 1] = weights[j, 0], weights[j, 1]
            j += 1
        else:
            keys[to], counts[to] = one, counts[i] + counts[j]
            if weights is not None:
                weights[to, 0] = weights[i, 0] + weights[j, 0]
                weights[to, 1] = max(weights[i, 1], weights[j, 1])
            i += 1
            j += 1
        to += 1
    while i < i_end:
        keys[to], counts[to] = keys[i] & ~mask, counts[i]
        if weights is not None:
            weights[to, 0], weights[to, 1] = weights[i, 0], weights[i, 1]
        i += 1
        to += 1
    while j < j_end:
        keys[to], counts[to] = keys[j] & ~mask, counts[j]
        if weights is not None:
            weights[to, 0], weights[to, 1] = weights[j, 0], weights[j, 1]
        j += 1
        to += 1
    return to


@kernel
def _pair(
    keys: Array, weights: Array | None, low: int, at: int, address: int, masks: Array,
    powers: Array, sensitive: Array, inverse: Array, noted: Array, capacity: Array,
    weighted: Array,
) -> None:  # fmt: skip
    """Two records: a class of every set on which they agree, and of no other."""
    differ = keys[low] ^ keys[low + 1]
    for attribute in range(at, len(masks)):
        if differ & masks[attribute] == 0:
            address += 2 * powers[attribute]
    noted[address, 0] += 1
    if weights is not None:
        lighter = min(weights[low, 0], weights[low + 1, 0])
        both = weights[low, 0] + weights[low + 1, 0]
        weighted[address, 0] += lighter
        weighted[address, 1] += both
    for s in range(len(sensitive) - 1):
        shift, mask, offset = sensitive[s, 0], sensitive[s, 1], sensitive[s, 2]
        if (differ >> shift) & mask != 0:
            noted[address, 1 + s] += 1
            if len(inverse) > 0:
                one = inverse[offset + ((keys[low] >> shift) & mask)]
                other = inverse[offset + ((keys[low + 1] >> shift) & mask)]
                capacity[address, s] += min(one, other)
            if weights is not None:
                weighted[address, 2 + 2 * s] += both
                weighted[address, 3 + 2 * s] += lighter


@kernel
def _class(
    keys: Array, counts: Array, weights: Array | None, low: int, high: int, address: int,
    sensitive: Array, inverse: Array, tally: Array, wtally: Array, noted: Array, capacity: Array,
    weighted: Array,
) -> None:  # fmt: skip
    """Note one class of two or more records, whatever their sensitive values."""
    secrets = len(sensitive) - 1
    size = np.int64(0)
    differ = np.int64(0)
    for i in range(low, high):
        size += counts[i]
        differ |= keys[i] ^ keys[low]
    larger = 1 + secrets
    if size == 2:
        noted[address, 0] += 1
    else:
        noted[address, larger + NOT_ALONE] += size
        band = THREE_OR_FOUR if size < 5 else FIVE_TO_NINE if size < 10 else TEN_OR_MORE
        noted[address, larger + band] += 1
        if size < noted[address, larger + SMALLEST]:
            noted[address, larger + SMALLEST] = size
    if weights is not None:
        all_weight, heaviest = 0.0, 0.0
        for i in range(low, high):
            all_weight += weights[i, 0]
            heaviest = max(heaviest, weights[i, 1])
        weighted[address, 0] += all_weight - heaviest
        weighted[address, 1] += all_weight
    for s in range(secrets):
        shift, mask, offset = sensitive[s, 0], sensitive[s, 1], sensitive[s, 2]
        if (differ >> shift) & mask == 0:
            continue
        most = np.int64(0)
        if high - low == 2:
            most = max(most, counts[low], counts[low + 1])
        else:
            for i in range(low, high):
                value = offset + ((keys[i] >> shift) & mask)
                tally[value] += counts[i]
                most = max(most, tally[value])
            for i in range(low, high):
                tally[offset + ((keys[i] >> shift) & mask)] = 0
        if size == 2:
            noted[address, 1 + s] += 1
        else:
            noted[address, larger + OF_LARGER + 2 * s] += size
            noted[address, larger + OF_LARGER + 2 * s + 1] += size - most
        if len(inverse) > 0:
            capacity[address, s] += _lost_capacity(keys, counts, low, high, shift, mask, offset,
                                                   inverse, wtally)  # fmt: skip
        if weights is not None:
            heaviest = 0.0
            for i in range(low, high):
                value = offset + ((keys[i] >> shift) & mask)
                wtally[value] += weights[i, 0]
                heaviest = max(heaviest, wtally[value])
            for i in range(low, high):
                wtally[offset + ((keys[i] >> shift) & mask)] = 0.0
            weighted[address, 2 + 2 * s] += all_weight
            weighted[address, 3 + 2 * s] += all_weight - heaviest


@kernel
def _lost_capacity(
    keys: Array, counts: Array, low: int, high: int, shift: int, mask: int, offset: int,
    inverse: Array, wtally: Array,
) -> float:  # fmt: skip
    """What a mixed class loses of the capacity: all shares of secret values but the largest."""
    total, largest = 0.0, 0.0
    for i in range(low, high):
        value = offset + ((keys[i] >> shift) & mask)
        share = counts[i] * inverse[value]
        wtally[value] += share
        total += share
        largest = max(largest, wtally[value])
    for i in range(low, high):
        wtally[offset + ((keys[i] >> shift) & mask)] = 0.0
    return total - largest


@kernel
def add_code(keys: Array, codes: Array, shift: int) -> None:
    """Put an attribute's codes into its bits of the keys."""
    for i in range(len(keys)):
        keys[i] |= np.int64(codes[i]) << shift


@kernel
def grouped(
    keys: Array, counts: Array, weights: Array | None, blocks: Array, shift: int, mask: int,
    moves: Array, starts: Array, to_keys: Array, to_counts: Array, to_weights: Array | None,
) -> None:  # fmt: skip
    """Bring the records of a block together, with only the bits of the key that are moved on.

    A block's number is in the bits of `mask` after a shift. `moves` holds shift, mask and shift
    back of each piece of the key. `starts` has one place more than there are blocks, and says
    afterwards where each begins.
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
def numbered(blocks: Array) -> int:
    """Number the blocks that occur from 0 in place, in the order of their ids; how many."""
    rows = len(blocks)
    ids = blocks.copy()
    order = np.arange(rows).astype(np.int32)
    spare = np.empty((0, 2), np.float64)
    _radix(ids, order, None, 0, rows, np.empty(rows, np.int64), np.empty(rows, np.int32), spare)
    number = -1
    for i in range(rows):
        if i == 0 or ids[i] != ids[i - 1]:
            number += 1
        blocks[order[i]] = number
    return number + 1


@kernel
def tally_secrets(
    classes: Array, codes: Array, number: int, values: int, inverse: Array
) -> tuple[int, int, float]:
    """Records in classes of one secret value, right best guesses, and the capacity."""
    cells = np.zeros(number * values, np.int32)
    for i in range(len(classes)):
        cells[np.int64(classes[i]) * values + codes[i]] += 1
    pure, right, capacity = 0, 0, 0.0
    for c in range(number):
        size, most, kinds, share = 0, 0, 0, 0.0
        for v in range(values):
            count: Any = np.int64(cells[c * values + v])
            size += count
            most = max(most, count)
            kinds += count > 0
            share = max(share, count * inverse[v])
        right += most
        capacity += share
        if kinds == 1:
            pure += size
    return pure, right, capacity
