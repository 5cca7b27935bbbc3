"""The ternary lattice cube: what every set of quasi-identifiers tells, from one walk over a block.

A *cell* is a sorted run of distinct keys with how often each occurs. The records of a cell agree on
every attribute that the walk has taken in; what it has left out is masked. An attribute that is
constant in the cell makes no difference: it is *free*, and the walk decides only over those that
vary. It leaves the first varying attribute out (the runs of its values are merged) and takes it in
(they are cells of their own, side by side). Leaves are classes, noted once for all sets they are a
class of, under an address with one ternary digit an attribute: 0 out, 1 in, 2 free. A cell carries
the address in which all that is still open is free, so that only decisions change it.

Most cells have two or three keys, and they need no walk: rows are together in the sets of what they
agree on, and apart in all others. So each row is noted for all sets, and where rows are together
their class is noted and the parts of it are taken back (inclusion and exclusion). That holds for
all that is added up, and not for the smallest class; so classes of up to nine are counted by size,
and cells whose parts are larger are walked.

Classes of one cost nothing: what is noted is what is *lost* against "every record is alone", in 32
bits each (there are fewer records than that, and what is taken back may come first and wrap
around). With two secrets all that a leaf notes is one line of the processor's cache.

A key holds the attributes from the highest bits down, in the order of the walk, and the joint code
of the sensitive attributes in the lowest; it is never negative. Counts add up to the records of the
block in every cell that is not split: that is the invariant of every function here.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from divulge.engines import kernel
from divulge.work.arrays import Array

# Places are unsigned: else every access asks whether a place is counted from the end.
Place: TypeAlias = Any
ZERO, ONE, TWO, THREE = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)

# Up to this size the simplest sort is the fastest.
SMALL_CELL = np.uint64(32)

# Joint codes of secrets up to which classes are counted in a table, if it is no longer than they.
TABLE_BITS = 20

# Columns of `noted`: how many classes of ten or more; of two to nine, under their size (that of one
# holds nothing); records in classes of ten or more, and the smallest of these. Two for each secret
# follow: records in classes of several values, and wrong best guesses.
TEN_OR_MORE, RECORDS, SMALLEST, SECRETS = 0, 10, 11, 12
TEN = np.uint64(10)


@kernel
def cube(
    keys: Array, counts: Array, weights: Array | None, starts: Array, ends: Array,
    first: int, last: int, masks: Array, powers: Array, at_most: int,
    sensitive: Array, inverse: Array,
    noted: Array, capacity: Array, weighted: Array,
) -> None:  # fmt: skip
    """Walk the lattice of every sorted block from `first` to before `last`.

    Depth first, with a stack of frames. Invariant: what is noted is what every set loses by the
    cells that were closed; the frames hold the runs that are still to be taken in, and what lies
    below `top` is needed by them.

    Args:
        keys: the sorted blocks' keys.
        counts: how often each key occurs.
        weights: sum and maximum of the weights of each key, or None.
        starts: where each block begins.
        ends: where it ends.
        first: the first block to walk.
        last: the block before which to stop.
        masks: the bits of each attribute, in the order of the walk.
        powers: the place values of the address, one an attribute; unsigned.
        at_most: how many attributes a set may still take in. What is noted for larger sets means
            nothing.
        sensitive: shift, mask and first row in the tally of each sensitive attribute.
        inverse: 1 over how often each sensitive value occurs; empty if no capacity is asked for.
        noted: by address, the columns above.
        capacity: by address and sensitive attribute, what is lost of the capacity.
        weighted: by address, the same losses in weights: best guess at a record, not alone; for
            each sensitive attribute rows in mixed classes, and wrong best guesses.
    """
    attributes = np.uint64(len(masks))
    longest = np.int64(0)
    for block in range(first, last):
        longest = max(longest, ends[block] - starts[block])
    # Each level of leaving out needs a copy no longer than its cell, and a merge one more.
    room = longest * (len(masks) + 2) + 2
    akeys: Array = np.empty(room, np.int64)
    acounts = np.empty(room, np.int32)
    aweights: Array | None = None if weights is None else np.empty((room, 2), np.float64)
    bounds = np.empty(longest + 2, np.uint64)
    tally = np.zeros(sensitive[len(sensitive) - 1, 2], np.int64)
    shares = np.zeros(len(tally), np.float64)

    # The cells whose attribute has been left out already, and is being taken in.
    depth = len(masks) + 2
    f_low, f_high, f_top = np.empty(depth, np.uint64), np.empty(depth, np.uint64), np.empty(
        depth, np.uint64)  # fmt: skip
    f_at, f_address = np.empty(depth, np.uint64), np.empty(depth, np.uint64)
    f_left = np.empty(depth, np.int64)

    for block in range(first, last):
        high: Place = np.uint64(ends[block] - starts[block])
        begin = np.uint64(starts[block])
        differ: Any = np.int64(0)
        for i in range(ZERO, high):
            akeys[i], acounts[i] = keys[begin + i], counts[begin + i]
            if weights is not None and aweights is not None:
                aweights[i, 0], aweights[i, 1] = weights[begin + i, 0], weights[begin + i, 1]
            differ |= akeys[i] ^ akeys[0]
        low: Place = ZERO
        top: Place = high
        at: Place = ZERO
        address: Place = np.uint64(TWO * powers.sum())
        left: Any = np.int64(at_most)
        frame: Place = ZERO
        opening = high > ZERO
        while opening or frame > ZERO:
            if opening:
                opening = False
                rows = high - low
                count_a, count_b, count_c = np.uint64(acounts[low]), ZERO, ZERO
                if ONE < rows <= THREE:
                    count_b = np.uint64(acounts[low + ONE])
                    count_c = np.uint64(acounts[low + TWO]) if rows == THREE else ZERO
                if weights is None:
                    few = rows == ONE or (
                        rows <= THREE
                        and max(count_a + count_b, count_a + count_c, count_b + count_c) < TEN
                    )
                else:
                    few = rows <= TWO and count_a + count_b == rows
                if few and rows == ONE:
                    if count_a > ONE:
                        _note_class_size(noted, address, count_a)
                    continue
                if few and rows == TWO:
                    _note_two_rows(
                        akeys, aweights, low, count_a, count_b, address, masks, powers, sensitive,
                        inverse, noted, capacity, weighted,
                    )  # fmt: skip
                    continue
                if few:
                    _note_three_rows(
                        akeys, low, count_a, count_b, count_c, address, masks, powers, sensitive,
                        inverse, noted, capacity,
                    )  # fmt: skip
                    continue
                while at < attributes and differ & masks[at] == 0:
                    at += ONE
                if at == attributes or left == 0:
                    _note_class(akeys, acounts, low, high, address, sensitive, tally, noted)
                    if aweights is not None or len(inverse) > 0:
                        _note_class_shares(akeys, acounts, aweights, low, high, address, sensitive,
                                         inverse, shares, capacity, weighted)  # fmt: skip
                    continue
                frame += ONE
                f_low[frame], f_high[frame], f_top[frame] = low, high, top
                f_at[frame], f_address[frame], f_left[frame] = at, address - powers[at], left - 1
                # Leave the attribute out. Its cell lies above all that is still needed.
                if rows <= SMALL_CELL:
                    high = _insertion_sort(akeys, acounts, aweights, low, high, masks[at], top)
                else:
                    high = _merge_runs(akeys, acounts, aweights, low, high, masks[at], top, bounds)
                low, top = top, high
                differ &= ~masks[at]
                address -= TWO * powers[at]
                at += ONE
                opening = True
                continue
            # Take the attribute in: go on to the next run of more than one record.
            low, high, at = f_low[frame], f_high[frame], f_at[frame]
            mask = masks[at]
            while low < high:
                key: Any = akeys[low]
                differ = np.int64(0)
                end = low + ONE
                while end < high and (akeys[end] ^ key) & mask == 0:
                    differ |= akeys[end] ^ key
                    end += ONE
                if end - low > ONE or acounts[low] > 1:
                    opening = True
                    break
                low = end
            if not opening:
                frame -= ONE
                continue
            f_low[frame] = end
            high, top, left, address = end, f_top[frame], f_left[frame], f_address[frame]
            at += ONE


@kernel
def _insertion_sort(
    keys: Array, counts: Array, weights: Array | None, low: Place, high: Place, mask: Any,
    to: Place,
) -> Place:  # fmt: skip
    """Insertion sort: the rows of a small cell in order without one attribute, from `to` on.

    Invariant: from `to` to before `end` keys rise strictly, and counts are those of the rows before
    i.
    """
    end: Place = to
    for i in range(low, high):
        key = keys[i] & ~mask
        place: Place = end
        while place > to and keys[place - ONE] > key:
            place -= ONE
        if place > to and keys[place - ONE] == key:
            counts[place - ONE] += counts[i]
            if weights is not None:
                weights[place - ONE, 0] += weights[i, 0]
                weights[place - ONE, 1] = max(weights[place - ONE, 1], weights[i, 1])
            continue
        j: Place = end
        while j > place:
            keys[j], counts[j] = keys[j - ONE], counts[j - ONE]
            if weights is not None:
                weights[j, 0], weights[j, 1] = weights[j - ONE, 0], weights[j - ONE, 1]
            j -= ONE
        keys[place], counts[place] = key, counts[i]
        if weights is not None:
            weights[place, 0], weights[place, 1] = weights[i, 0], weights[i, 1]
        end += ONE
    return end


@kernel
def _merge_runs(
    keys: Array, counts: Array, weights: Array | None, low: Place, high: Place, mask: Any,
    to: Place, bounds: Array,
) -> Place:  # fmt: skip
    """Merge sort: the runs of one attribute's values become one without it, from `to` on.

    Invariant: between passes `bounds` holds `runs` runs, in each of which keys without the
    attribute rise strictly, and all counts add up to those of the cell.
    """
    runs: Place = ZERO
    for i in range(low, high):
        if i == low or (keys[i] ^ keys[i - ONE]) & mask != 0:
            bounds[runs] = i
            runs += ONE
    bounds[runs] = high
    # Merge neighbours pass by pass, to and fro, so that the last pass ends at `to`.
    passes = 0
    while (1 << passes) < runs:
        passes += 1
    there: Place = to
    away: Place = to + (high - low)
    if passes % 2 == 0:
        there, away = away, there
    while runs > ONE:
        end: Place = there
        merged: Place = ZERO
        for run in range(ZERO, runs, TWO):
            begin = end
            last = bounds[min(run + TWO, runs)]
            end = _merge_two_runs(keys, counts, weights, bounds[run], bounds[run + ONE], last, mask,
                              end)  # fmt: skip
            bounds[merged] = begin
            merged += ONE
        bounds[merged] = end
        runs = merged
        there, away = away, there
    return bounds[1]


@kernel
def _merge_two_runs(
    keys: Array, counts: Array, weights: Array | None, i: Place, middle: Place, last: Place,
    mask: int, to: Place,
) -> Place:  # fmt: skip
    """Merge two sorted runs that lie side by side (or copy one); a key of both becomes one.

    Invariant: what lies before `to` is what both runs hold before i and j, in rising order.
    """
    j: Place = min(middle, last)
    i_end: Place = j
    while i < i_end and j < last:
        one, other = keys[i] & ~mask, keys[j] & ~mask
        # No branch: which comes first cannot be foreseen.
        take, take_other = one <= other, other <= one
        keys[to] = min(one, other)
        counts[to] = counts[i] * take + counts[j] * take_other
        if weights is not None:
            weights[to, 0] = weights[i, 0] * take + weights[j, 0] * take_other
            weights[to, 1] = max(weights[i, 1] * take, weights[j, 1] * take_other)
        i += np.uint64(take)
        j += np.uint64(take_other)
        to += ONE
    rest, rest_end = (i, i_end) if i < i_end else (j, last)
    for k in range(rest, rest_end):
        keys[to], counts[to] = keys[k] & ~mask, counts[k]
        if weights is not None:
            weights[to, 0], weights[to, 1] = weights[k, 0], weights[k, 1]
        to += ONE
    return to


@kernel
def _agreement_address(differ: int, address: Place, masks: Array, powers: Array) -> Place:
    """The address of the sets on which rows agree: what differs among them is out.

    Invariant: the digits of the attributes before the present one are right.
    """
    for attribute in range(ZERO, np.uint64(len(masks))):
        if differ & masks[attribute] != 0:
            address -= TWO * powers[attribute]
    return address


@kernel
def _note_class_size(noted: Array, address: Place, size: Place) -> None:
    """Count a class under its size, or among those of ten or more."""
    if size < TEN:
        noted[address, size] += 1
    else:
        noted[address, TEN_OR_MORE] += 1
        noted[address, RECORDS] += size
        if size < noted[address, SMALLEST]:
            noted[address, SMALLEST] = size


@kernel
def _note_two_rows(
    keys: Array, weights: Array | None, low: Place, count_a: Place, count_b: Place, address: Place,
    masks: Array, powers: Array, sensitive: Array, inverse: Array, noted: Array, capacity: Array,
    weighted: Array,
) -> None:  # fmt: skip
    """Two rows: one class in every set on which they agree, two in all others.

    Invariant: of the sensitive attributes before `secret`, every set has noted what the two rows
    lose.
    """
    one, other = keys[low], keys[low + ONE]
    differ = one ^ other
    both = _agreement_address(differ, address, masks, powers)
    if count_a + count_b > TWO:
        noted[address, count_a] += 1
        noted[address, count_b] += 1
        noted[both, count_a] -= 1
        noted[both, count_b] -= 1
    _note_class_size(noted, both, count_a + count_b)
    if weights is not None:
        lighter = min(weights[low, 0], weights[low + ONE, 0])
        weight = weights[low, 0] + weights[low + ONE, 0]
        weighted[both, 0] += lighter
        # Who has no weight is not sought, and no company either.
        weighted[both, 1] += weight if lighter > 0.0 else 0.0
    for secret in range(len(sensitive) - 1):
        shift, mask, offset = sensitive[secret, 0], sensitive[secret, 1], sensitive[secret, 2]
        if (differ >> shift) & mask == 0:
            continue
        noted[both, np.uint64(SECRETS + 2 * secret)] += count_a + count_b
        noted[both, np.uint64(SECRETS + 2 * secret + 1)] += min(count_a, count_b)
        if len(inverse) > 0:
            share = count_a * inverse[offset + ((one >> shift) & mask)]
            capacity[both, secret] += min(
                share, count_b * inverse[offset + ((other >> shift) & mask)]
            )
        if weights is not None:
            weighted[both, 2 + 2 * secret] += weight if lighter > 0.0 else 0.0
            weighted[both, 3 + 2 * secret] += lighter


@kernel
def _note_three_rows(
    keys: Array, low: Place, count_a: Place, count_b: Place, count_c: Place, address: Place,
    masks: Array, powers: Array, sensitive: Array, inverse: Array, noted: Array, capacity: Array,
) -> None:  # fmt: skip
    """Three rows: alone, together by two, all together; each time the parts are taken back.

    Invariant: of the sensitive attributes before `secret`, every set has noted what the three rows
    lose.
    """
    one, two, three = keys[low], keys[low + ONE], keys[low + TWO]
    differ = (one ^ two) | (one ^ three)
    ab = _agreement_address(one ^ two, address, masks, powers)
    ac = _agreement_address(one ^ three, address, masks, powers)
    bc = _agreement_address(two ^ three, address, masks, powers)
    abc = _agreement_address(differ, address, masks, powers)
    if count_a + count_b + count_c > THREE:
        noted[address, count_a] += 1
        noted[address, count_b] += 1
        noted[address, count_c] += 1
        noted[ab, count_a] -= 1
        noted[ab, count_b] -= 1
        noted[ac, count_a] -= 1
        noted[ac, count_c] -= 1
        noted[bc, count_b] -= 1
        noted[bc, count_c] -= 1
        noted[abc, count_a] += 1
        noted[abc, count_b] += 1
        noted[abc, count_c] += 1
    noted[ab, count_a + count_b] += 1
    noted[ac, count_a + count_c] += 1
    noted[bc, count_b + count_c] += 1
    noted[abc, count_a + count_b] -= 1
    noted[abc, count_a + count_c] -= 1
    noted[abc, count_b + count_c] -= 1
    _note_class_size(noted, abc, count_a + count_b + count_c)
    for secret in range(len(sensitive) - 1):
        shift, mask, offset = sensitive[secret, 0], sensitive[secret, 1], sensitive[secret, 2]
        if (differ >> shift) & mask == 0:
            continue
        value_a, value_b, value_c = (
            (one >> shift) & mask,
            (two >> shift) & mask,
            (three >> shift) & mask,
        )
        mixed = np.uint64(SECRETS + 2 * secret)
        wrong = mixed + ONE
        in_ab, in_ac, in_bc = (
            (count_a + count_b) * (value_a != value_b),
            (count_a + count_c) * (value_a != value_c),
            (count_b + count_c) * (value_b != value_c),
        )
        noted[ab, mixed] += in_ab
        noted[ac, mixed] += in_ac
        noted[bc, mixed] += in_bc
        noted[abc, mixed] += count_a + count_b + count_c - in_ab - in_ac - in_bc
        in_ab, in_ac, in_bc, in_abc = _losses_of_three(
            np.int64(count_a), np.int64(count_b), np.int64(count_c), value_a, value_b, value_c
        )
        noted[ab, wrong] += in_ab
        noted[ac, wrong] += in_ac
        noted[bc, wrong] += in_bc
        noted[abc, wrong] += in_abc - in_ab - in_ac - in_bc
        if len(inverse) > 0:
            of_ab, of_ac, of_bc, of_abc = _losses_of_three(
                count_a * inverse[offset + value_a],
                count_b * inverse[offset + value_b],
                count_c * inverse[offset + value_c],
                value_a,
                value_b,
                value_c,
            )
            capacity[ab, secret] += of_ab
            capacity[ac, secret] += of_ac
            capacity[bc, secret] += of_bc
            capacity[abc, secret] += of_abc - of_ab - of_ac - of_bc


@kernel
def _losses_of_three(
    share_a: Any, share_b: Any, share_c: Any, value_a: int, value_b: int, value_c: int
) -> tuple[Any, Any, Any, Any]:
    """All but the largest value's share, of each two of three rows with their values; of all."""
    most = max(
        share_a + share_b * (value_a == value_b) + share_c * (value_a == value_c),
        share_b + share_c * (value_b == value_c),
        share_c,
    )
    return (
        min(share_a, share_b) * (value_a != value_b),
        min(share_a, share_c) * (value_a != value_c),
        min(share_b, share_c) * (value_b != value_c),
        share_a + share_b + share_c - most,
    )


@kernel
def _note_class(
    keys: Array, counts: Array, low: Place, high: Place, address: Place, sensitive: Array,
    tally: Array, noted: Array,
) -> None:  # fmt: skip
    """Note one class of two or more records, whatever their sensitive values.

    Invariant: `tally` is empty between sensitive attributes, and `most` its largest entry
    meanwhile.
    """
    size = np.int64(0)
    differ = np.int64(0)
    for i in range(low, high):
        size += counts[i]
        differ |= keys[i] ^ keys[low]
    _note_class_size(noted, address, np.uint64(size))
    for secret in range(len(sensitive) - 1):
        shift, mask, offset = sensitive[secret, 0], sensitive[secret, 1], sensitive[secret, 2]
        if (differ >> shift) & mask == 0:
            continue
        most = np.int64(0)
        for i in range(low, high):
            value = np.uint64(offset + ((keys[i] >> shift) & mask))
            tally[value] += counts[i]
            most = max(most, tally[value])
        for i in range(low, high):
            tally[np.uint64(offset + ((keys[i] >> shift) & mask))] = 0
        noted[address, np.uint64(SECRETS + 2 * secret)] += size
        noted[address, np.uint64(SECRETS + 2 * secret + 1)] += size - most


@kernel
def _note_class_shares(
    keys: Array, counts: Array, weights: Array | None, low: Place, high: Place, address: Place,
    sensitive: Array, inverse: Array, shares: Array, capacity: Array, weighted: Array,
) -> None:  # fmt: skip
    """What a class loses of the capacity and of weights: all but the largest value's share.

    Invariant: `shares` is empty between sensitive attributes, and `largest` its largest entry
    meanwhile.
    """
    weight, heaviest = 0.0, 0.0
    if weights is not None:
        for i in range(low, high):
            weight += weights[i, 0]
            heaviest = max(heaviest, weights[i, 1])
        weighted[address, 0] += weight - heaviest
        # Who has no weight is not sought, and no company either.
        weighted[address, 1] += weight if weight > heaviest else 0.0
    for secret in range(len(sensitive) - 1):
        shift, mask, offset = sensitive[secret, 0], sensitive[secret, 1], sensitive[secret, 2]
        mixed = False
        for i in range(low, high):
            mixed |= ((keys[i] ^ keys[low]) >> shift) & mask != 0
        if mixed and len(inverse) > 0:
            total, largest = 0.0, 0.0
            for i in range(low, high):
                value = np.uint64(offset + ((keys[i] >> shift) & mask))
                shares[value] += counts[i] * inverse[value]
                total += counts[i] * inverse[value]
                largest = max(largest, shares[value])
            capacity[address, secret] += total - largest
            for i in range(low, high):
                shares[np.uint64(offset + ((keys[i] >> shift) & mask))] = 0.0
        if mixed and weights is not None:
            largest = 0.0
            for i in range(low, high):
                value = np.uint64(offset + ((keys[i] >> shift) & mask))
                shares[value] += weights[i, 0]
                largest = max(largest, shares[value])
            weighted[address, 2 + 2 * secret] += weight if weight > largest else 0.0
            weighted[address, 3 + 2 * secret] += weight - largest
            for i in range(low, high):
                shares[np.uint64(offset + ((keys[i] >> shift) & mask))] = 0.0


@kernel
def note_refined_classes(
    rows: Array, starts: Array, codes: Array, cardinality: int, secrets: Array, secret_bits: int,
    counts: Array, weights: Array | None, sensitive: Array, inverse: Array, address: int,
    noted: Array, capacity: Array, weighted: Array,
) -> None:  # fmt: skip
    """What one more attribute loses: its classes within those of a set, noted under an address.

    Counting sort within each class: by value and secret together in a table where the class is
    long beside it, else by those values alone that occur in it.

    Invariant: between classes the table and `begin` hold zeros.

    Args:
        rows: the records class after class; whoever is alone is left out.
        starts: where each class begins, and where the last one ends.
        codes: of each record the code of the attribute that is taken in.
        cardinality: how many codes it has.
        secrets: of each record the joint code of the sensitive attributes.
        secret_bits: the bits of such a code.
        counts: how often each record occurs; empty: once.
        weights: sum and maximum of the weights of each, or None.
        sensitive: shift, mask and first row in the tally of each sensitive attribute.
        inverse: 1 over how often each sensitive value occurs; empty if no capacity is asked for.
        address: under which is noted.
        noted: as in `cube`.
        capacity: as in `cube`.
        weighted: as in `cube`.
    """
    at = np.uint64(address)
    longest = np.int64(0)
    for c in range(len(starts) - 1):
        longest = max(longest, np.int64(starts[c + 1] - starts[c]))
    cells = np.int64(0)
    if secret_bits <= TABLE_BITS:
        cells = np.int64(cardinality) << secret_bits
        if cells > longest:
            cells = np.int64(0)
    few_secrets = np.int64(1) << min(secret_bits, TABLE_BITS)
    room = max(longest, few_secrets if cells > 0 else longest) + 1
    table = np.zeros(cells, np.int64)
    heft = np.zeros((cells if weights is not None else 0, 2), np.float64)
    begin = np.zeros(cardinality, np.int64)
    touched = np.empty(min(np.int64(cardinality), longest) + 1, np.int64)
    akeys = np.empty(room, np.int64)
    acounts = np.empty(room, np.int64)
    aweights: Array | None = None if weights is None else np.empty((room, 2), np.float64)
    tally = np.zeros(sensitive[len(sensitive) - 1, 2], np.int64)
    shares = np.zeros(len(tally), np.float64)
    for c in range(len(starts) - 1):
        low, high = np.int64(starts[c]), np.int64(starts[c + 1])
        if cells > 0 and high - low >= cells:
            for i in range(low, high):
                row = rows[i]
                cell = (np.int64(codes[row]) << secret_bits) | secrets[row]
                table[cell] += counts[row] if len(counts) > 0 else 1
                if weights is not None:
                    heft[cell, 0] += weights[row, 0]
                    heft[cell, 1] = max(heft[cell, 1], weights[row, 1])
            for code in range(cardinality):
                size = np.int64(0)
                for secret in range(few_secrets):
                    cell = (np.int64(code) << secret_bits) | np.int64(secret)
                    if table[cell] > 0:
                        akeys[size], acounts[size] = secret, table[cell]
                        if weights is not None and aweights is not None:
                            aweights[size, 0], aweights[size, 1] = heft[cell, 0], heft[cell, 1]
                            heft[cell, 0], heft[cell, 1] = 0.0, 0.0
                        table[cell] = 0
                        size += 1
                if size > 0:
                    _note_rows(akeys, acounts, aweights, np.int64(0), size, at, sensitive, inverse,
                               tally, shares, noted, capacity, weighted)  # fmt: skip
            continue
        values = np.int64(0)
        for i in range(low, high):
            value = np.int64(codes[rows[i]])
            if begin[value] == 0:
                touched[values] = value
                values += 1
            begin[value] += 1
        place = np.int64(0)
        for v in range(values):
            size = begin[touched[v]]
            begin[touched[v]] = place
            place += size
        for i in range(low, high):
            row = rows[i]
            place = np.int64(begin[codes[row]])
            begin[codes[row]] += 1
            akeys[place] = secrets[row]
            acounts[place] = counts[row] if len(counts) > 0 else 1
            if weights is not None and aweights is not None:
                aweights[place, 0], aweights[place, 1] = weights[row, 0], weights[row, 1]
        first = np.int64(0)
        for v in range(values):
            end = begin[touched[v]]
            begin[touched[v]] = 0
            _note_rows(akeys, acounts, aweights, first, end, at, sensitive, inverse, tally, shares,
                       noted, capacity, weighted)  # fmt: skip
            first = end


@kernel
def _note_rows(
    keys: Array, counts: Array, weights: Array | None, first: Any, end: Any, address: Place,
    sensitive: Array, inverse: Array, tally: Array, shares: Array, noted: Array, capacity: Array,
    weighted: Array,
) -> None:  # fmt: skip
    """Note a class of one row or of several; a record that is alone loses nothing."""
    if end - first == 1:
        if counts[first] > 1:
            _note_class_size(noted, address, np.uint64(counts[first]))
            if weights is not None:
                one, most = weights[first, 0], weights[first, 1]
                weighted[address, 0] += one - most
                weighted[address, 1] += one if one > most else 0.0
        return
    low, high = np.uint64(first), np.uint64(end)
    _note_class(keys, counts, low, high, address, sensitive, tally, noted)
    if weights is not None or len(inverse) > 0:
        _note_class_shares(keys, counts, weights, low, high, address, sensitive, inverse, shares,
                           capacity, weighted)  # fmt: skip


@kernel
def refine_classes(
    rows: Array, starts: Array, codes: Array, cardinality: int, counts: Array, to_rows: Array,
    to_starts: Array,
) -> int:  # fmt: skip
    """The classes of one more attribute, without the records that are alone in theirs.

    Counting sort within each class, by those values alone that occur in it.

    Invariant: between classes `begin` holds zeros, and what is written are whole classes.

    Returns:
        how many classes were written; `to_starts` says where they begin and where the last ends.
    """
    longest = np.int64(0)
    for c in range(len(starts) - 1):
        longest = max(longest, np.int64(starts[c + 1] - starts[c]))
    begin = np.zeros(cardinality, np.int64)
    touched = np.empty(min(np.int64(cardinality), longest) + 1, np.int64)
    written = np.int64(0)
    classes = 0
    to_starts[0] = 0
    for c in range(len(starts) - 1):
        low, high = starts[c], starts[c + 1]
        values = np.int64(0)
        for i in range(low, high):
            row = rows[i]
            code = np.int64(codes[row])
            if begin[code] == 0:
                touched[values] = code
                values += 1
            # Whoever stands for several is not alone.
            begin[code] += 1
            if len(counts) > 0 and counts[row] > 1 and begin[code] == 1:
                begin[code] += high - low
        for v in range(values):
            code = touched[v]
            size = begin[code]
            if size > high - low:
                size -= high - low
            elif size == 1:
                begin[code] = -1
                continue
            begin[code] = written
            written += size
            classes += 1
            to_starts[classes] = written
        for i in range(low, high):
            row = rows[i]
            place = begin[codes[row]]
            if place >= 0:
                to_rows[place] = row
                begin[codes[row]] = place + 1
        for v in range(values):
            begin[touched[v]] = 0
    return classes
