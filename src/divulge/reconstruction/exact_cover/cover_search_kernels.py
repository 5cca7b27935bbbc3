"""Kernels of exact cover: Algorithm X on bitsets, the bin with fewest sets left first.

The sets of a bin are bits: for every package a row of words says which of them have it. What
a choice leaves of a list of thousands is then a few operations on words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel

LONG_LIST_FACTOR = 32
"""Lists so many times as long as the shortest wait: they are cut down when their turn comes."""


@kernel
def index_sets_by_package(
    sets: NDArray[Any], begin: NDArray[Any], words: NDArray[Any], packages: int
) -> Any:
    """Which sets have a package, by package: bits of words, bin b those from `words[b]` on.

    Invariant: `has` has the bits of all sets before this row.
    """
    has = np.zeros((packages, words[words.shape[0] - 1]), np.uint64)
    for b in range(begin.shape[0] - 1):
        for row in range(begin[b], begin[b + 1]):
            place = row - begin[b]
            bit = np.uint64(1) << np.uint64(place % 64)
            for p in range(packages):
                if (sets[row, p // 64] >> np.uint64(p % 64)) & np.uint64(1) != 0:
                    has[p, words[b] + place // 64] |= bit
    return has


@kernel
def search_exact_covers(
    has: NDArray[Any],
    words: NDArray[Any],
    alive: NDArray[Any],
    may_be_left: NDArray[Any],
    amounts: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    most_covers: int,
    most_steps: int,
) -> tuple[bool, NDArray[Any], int]:
    """All ways to give each bin one of its sets, such that no package is in two.

    `alive` has a bit for every set that may be taken. What is in none must be of `may_be_left`,
    and have sums from `low` to `high`. Of each way, the place of every bin's set in its list; not
    all of them, and False, if there are more than at most, or there is more to look at. At last the
    steps that it took.

    Invariant: `rest[level]` are the packages that no set taken before this level has, and
    `bin_done` marks the bins that took one; `live_sets[level]` leaves out no set that a cover with
    these choices has; all covers with an earlier choice are in `cover_rows`.
    """
    packages, bins = has.shape[0], words.shape[0] - 1
    # Level 0 is before anything was narrowed; level d + 1 once d bins have taken their sets.
    live_sets = np.zeros((bins + 2, has.shape[1]), np.uint64)
    live_sets[0] = alive
    able = np.ones((bins + 2, bins, packages), np.uint8)
    rest = np.ones((bins + 2, packages), np.uint8)
    as_of_level = np.zeros((bins + 2, bins), np.int64)
    size = np.zeros((bins + 2, bins), np.int64)
    for b in range(bins):
        size[0, b] = count_bits(live_sets[0], words[b], words[b + 1])
    bin_done = np.zeros(bins, np.uint8)
    bin_of, at = np.zeros(bins + 2, np.int64), np.zeros(bins + 2, np.int64)
    set_of_bin, cover_rows = np.zeros(bins, np.int64), np.empty((64, bins), np.int64)
    ways = 0
    steps = np.zeros(1, np.int64)
    level, entered = 1, True
    while level > 0:
        if entered:
            entered = False
            if steps[0] > most_steps:
                return False, cover_rows[:ways], steps[0]
            if level == bins + 1:
                if has_sums_within(rest[level], amounts, low, high):
                    if ways == cover_rows.shape[0]:
                        more = np.empty((2 * ways, bins), np.int64)
                        more[:ways] = cover_rows
                        cover_rows = more
                    cover_rows[ways] = set_of_bin
                    ways += 1
                    if ways > most_covers:
                        return False, cover_rows[:ways], steps[0]
                level -= 1
                continue
            b = narrow_lists(
                has,
                words,
                level,
                live_sets,
                able,
                rest,
                as_of_level,
                size,
                may_be_left,
                bin_done,
                steps,
            )
            if steps[0] > most_steps:
                return False, cover_rows[:ways], steps[0]
            if b < 0:
                level -= 1
                continue
            bin_of[level], at[level] = b, -1
            bin_done[b] = 1
        b = bin_of[level]
        at[level] = find_next_bit(live_sets[level], words[b], words[b + 1], at[level] + 1)
        if at[level] < 0:
            bin_done[b] = 0
            level -= 1
            continue
        set_of_bin[b] = at[level]
        word, bit = words[b] + at[level] // 64, np.uint64(at[level] % 64)
        for p in range(packages):
            rest[level + 1, p] = rest[level, p]
            if (has[p, word] >> bit) & np.uint64(1) != 0:
                rest[level + 1, p] = 0
        steps[0] += 2 * packages
        level += 1
        entered = True
    return True, cover_rows[:ways], steps[0]


@kernel
def narrow_lists(
    has: NDArray[Any],
    words: NDArray[Any],
    level: int,
    live_sets: NDArray[Any],
    able: NDArray[Any],
    rest: NDArray[Any],
    as_of_level: NDArray[Any],
    size: NDArray[Any],
    may_be_left: NDArray[Any],
    bin_done: NDArray[Any],
    steps: NDArray[Any],
) -> int:
    """Cut down the lists of the bins to come to what is left; the bin with fewest, or -1 if none.

    A set stays if it is of packages that are left and has all of them that no other bin can take.
    A list that waits stays as it was at the level `as_of_level`.

    Invariant: `takers[p]` counts the bins to come, and the rest, that may still be able to take
    package p; a set is taken off a list only if no cover with the choices made so far has it.
    """
    packages, bins = has.shape[0], words.shape[0] - 1
    steps[0] += bins * packages
    # How many bins to come, or what may be left over, can take a package.
    takers = np.zeros(packages, np.int64)
    for p in range(packages):
        takers[p] = may_be_left[p]
    for b in range(bins):
        as_of_level[level, b], size[level, b] = as_of_level[level - 1, b], size[level - 1, b]
        for p in range(packages):
            able[level, b, p] = able[level - 1, b, p] & rest[level, p]
            if bin_done[b] == 0:
                takers[p] += able[level, b, p]
    visited = bin_done.copy()
    best = -1
    while True:
        b = -1
        for other in range(bins):
            if visited[other] == 0 and (b < 0 or size[level, other] < size[level, b]):
                b = other
        if b < 0 or (best >= 0 and size[level, b] > LONG_LIST_FACTOR * (size[level, best] + 1)):
            break
        visited[b] = 1
        first, last, before = words[b], words[b + 1], as_of_level[level, b]
        for w in range(first, last):
            live_sets[level, w] = live_sets[before, w]
        as_of_level[level, b] = level
        for p in range(packages):
            if rest[level, p] == 0:
                if rest[before, p] != 0:
                    for w in range(first, last):
                        live_sets[level, w] &= ~has[p, w]
                    steps[0] += last - first
            elif able[level, b, p] != 0 and takers[p] == 1:
                for w in range(first, last):
                    live_sets[level, w] &= has[p, w]
                steps[0] += last - first
        size[level, b] = count_bits(live_sets[level], first, last)
        steps[0] += 2 * (last - first)
        if size[level, b] == 0:
            return -1
        for p in range(packages):
            if able[level, b, p] != 0 and not has_common_bit(live_sets[level], has[p], first, last):
                able[level, b, p] = 0
                takers[p] -= 1
                steps[0] += last - first
                if takers[p] == 0:
                    return -1
        if best < 0 or size[level, b] < size[level, best]:
            best = b
    for p in range(packages):
        if rest[level, p] != 0 and takers[p] == 0:
            return -1
    return best


@kernel
def count_bits(bits: NDArray[Any], first: int, last: int) -> int:
    """How many bits are set from one word to another (population count).

    Invariant: `total` is of the words before w.
    """
    one, two, four = np.uint64(1), np.uint64(2), np.uint64(4)
    ones, pairs = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
    fours, eights = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
    total = 0
    for w in range(first, last):
        by_two = bits[w] - ((bits[w] >> one) & ones)
        by_four = (by_two & pairs) + ((by_two >> two) & pairs)
        total += int((((by_four + (by_four >> four)) & fours) * eights) >> np.uint64(56))
    return total


@kernel
def has_common_bit(bits: NDArray[Any], other_bits: NDArray[Any], first: int, last: int) -> bool:
    """Whether a bit is set in both, from one word to another.

    Invariant: the words before w have no bit in common.
    """
    for w in range(first, last):  # noqa: SIM110  # compiled
        if bits[w] & other_bits[w] != 0:
            return True
    return False


@kernel
def find_next_bit(bits: NDArray[Any], first: int, last: int, place: int) -> int:
    """The first bit that is set, from a place on; -1 if none is.

    Invariant: no bit from where it began up to `place` is set, and x are the bits from there on.
    """
    word = first + place // 64
    if word >= last:
        return -1
    x = bits[word] >> np.uint64(place % 64)
    while x == 0:
        word += 1
        if word == last:
            return -1
        place = (word - first) * 64
        x = bits[word]
    while x & np.uint64(1) == 0:
        x >>= np.uint64(1)
        place += 1
    return place


@kernel
def has_sums_within(
    leftover: NDArray[Any], amounts: NDArray[Any], low: NDArray[Any], high: NDArray[Any]
) -> bool:
    """Whether packages that are left have sums within bounds.

    Invariant: all sums before a are within their bounds.
    """
    for a in range(amounts.shape[1]):
        total = 0
        for p in range(amounts.shape[0]):
            if leftover[p] != 0:
                total += amounts[p, a]
        if total < low[a] or total > high[a]:
            return False
    return True
