"""Stripped partitions, leave-one-out evidence and predictions, in loops over integer codes.

A code is 0 or more for a value, ABSENT where a value was missing before protection, HIDDEN where
protection took it away. A partition is `rows`, group after group, and `starts`, where each group
begins and the last one ends; groups of fewer than two rows are stripped.
"""

from __future__ import annotations

import numpy as np

from divulge.engines import kernel
from divulge.work.arrays import Array

ABSENT = -1
HIDDEN = -2
SUPPORT_FIELDS = 5
"""Rows that count, those that are right, both among values that are not the mode, and groups."""


@kernel
def group_rows(codes: Array, cardinality: int, modulus: int) -> tuple[Array, Array]:
    """The stripped partition of the rows by their codes; of each `modulus` groups about one.

    Groups are drawn by a fixed hash of their code, so a group is whole or not there at all.

    Invariant: `place[c]` is where the next row of code c goes, -1 if its group is not kept; groups
    lie in the order of their codes.
    """
    count = np.zeros(cardinality, np.int64)
    for r in range(codes.size):
        if codes[r] >= 0:
            count[codes[r]] += 1
    place = np.full(cardinality, -1, np.int64)
    total = groups = 0
    for c in range(cardinality):
        is_drawn = modulus == 1 or ((c * 2654435761) & 0xFFFFFFFF) // 65536 % modulus == 0
        if count[c] > 1 and is_drawn:
            place[c] = total
            total += count[c]
            groups += 1
    starts = np.empty(groups + 1, np.int64)
    g = 0
    for c in range(cardinality):
        if place[c] >= 0:
            starts[g] = place[c]
            g += 1
    starts[groups] = total
    rows = np.empty(total, np.int32)
    for r in range(codes.size):
        c = codes[r]
        if c >= 0 and place[c] >= 0:
            rows[place[c]] = r
            place[c] += 1
    return rows, starts


@kernel
def refine_groups(
    rows: Array, starts: Array, codes: Array, cardinality: int
) -> tuple[Array, Array]:
    """Split every group by a further column; what then has fewer than two rows is stripped.

    Invariant: `count` is zero for every code between two groups, and `new_rows` up to `total`
    holds the split groups before group g, whose ends are in `new_starts`.
    """
    count = np.zeros(cardinality, np.int64)
    place = np.empty(cardinality, np.int64)
    distinct = np.empty(rows.size, np.int64)
    new_rows = np.empty(rows.size, np.int32)
    new_starts = np.empty(rows.size // 2 + 1, np.int64)
    new_starts[0] = 0
    total = groups = 0
    for g in range(starts.size - 1):
        size = 0
        for i in range(starts[g], starts[g + 1]):
            c = codes[rows[i]]
            if c >= 0:
                if count[c] == 0:
                    distinct[size] = c
                    size += 1
                count[c] += 1
        for d in range(size):
            c = distinct[d]
            place[c] = -1
            if count[c] > 1:
                place[c] = total
                total += count[c]
                groups += 1
                new_starts[groups] = total
        for i in range(starts[g], starts[g + 1]):
            c = codes[rows[i]]
            if c >= 0 and place[c] >= 0:
                new_rows[place[c]] = rows[i]
                place[c] += 1
        for d in range(size):
            count[distinct[d]] = 0
    return new_rows[:total], new_starts[: groups + 1]


@kernel
def count_support(
    rows: Array, starts: Array, target: Array, combination: Array, mode: int
) -> Array:
    """Leave-one-out evidence that the members of a group share the target's value.

    A row counts if all other shown members of its group agree; it is right if they agree with it.
    The first five figures are of all groups; the other five only of groups that are no twins:
    their shown members differ in the other keys, and as many are shown as hidden.

    Invariant: `support` sums the groups before g; in a group, `first` and `second` are the two
    values seen first, with their numbers of rows, and `shown` counts all rows with a value.
    """
    support = np.zeros(2 * SUPPORT_FIELDS, np.int64)
    for g in range(starts.size - 1):
        shown = hidden = first_count = second_count = 0
        first = second = -1
        differ = False
        combination_seen = np.int64(0)
        for i in range(starts[g], starts[g + 1]):
            r = rows[i]
            value = target[r]
            if value == HIDDEN:
                hidden += 1
            if value < 0:
                continue
            if shown == 0:
                combination_seen = combination[r]
            elif combination[r] != combination_seen:
                differ = True
            shown += 1
            if first_count == 0 or value == first:
                first = value
                first_count += 1
            elif second_count == 0 or value == second:
                second = value
                second_count += 1
            if first_count > 1 and second_count > 1:
                break  # no row has others that agree
        if shown < 2 or first_count + second_count < shown:
            continue
        right = others = others_right = 0
        if second_count == 0:
            counted = right = shown
            if first != mode:
                others = others_right = shown
        elif first_count > 1 and second_count > 1:
            continue
        else:
            counted = 0
            if second_count == 1:
                counted += 1
                others += int(second != mode)
            if first_count == 1:
                counted += 1
                others += int(first != mode)
        for part in range(2):
            if part == 1 and not (differ and shown >= hidden):
                break
            at = part * SUPPORT_FIELDS
            support[at] += counted
            support[at + 1] += right
            support[at + 2] += others
            support[at + 3] += others_right
            support[at + 4] += 1
    return support


@kernel
def predict_members(rows: Array, starts: Array, known: Array) -> tuple[Array, Array]:
    """The hidden cells of groups whose known members agree: their rows, and the agreed value.

    Invariant: `places` and `values` up to `total` are the predictions of the groups before g.
    """
    places = np.empty(rows.size, np.int64)
    values = np.empty(rows.size, np.int64)
    total = 0
    for g in range(starts.size - 1):
        agreed = -1
        hidden = 0
        agree = True
        for i in range(starts[g], starts[g + 1]):
            value = known[rows[i]]
            if value == HIDDEN:
                hidden += 1
            elif value >= 0:
                if agreed >= 0 and value != agreed:
                    agree = False
                    break
                agreed = value
        if not agree or agreed < 0 or hidden == 0:
            continue
        for i in range(starts[g], starts[g + 1]):
            if known[rows[i]] == HIDDEN:
                places[total] = rows[i]
                values[total] = agreed
                total += 1
    return places[:total], values[:total]


@kernel
def count_majority_support(
    rows: Array, starts: Array, target: Array, combination: Array, mode: int,
    cardinality: int, least: int, shares: Array,
) -> Array:  # fmt: skip
    """Leave-one-out evidence that most members of a group have the value of the others' majority.

    SUPPORT_FIELDS figures for each of some shares: of groups of `least` shown members and more, of
    which at least that share agree, that differ in the other keys and show as many as they hide.

    Invariant: `count` is zero for every value between two groups; `support` sums the groups before
    g.
    """
    support = np.zeros(shares.size * SUPPORT_FIELDS, np.int64)
    count = np.zeros(cardinality, np.int64)
    for g in range(starts.size - 1):
        shown = hidden = 0
        differ = False
        combination_seen = np.int64(0)
        best = runner_up = -1
        if starts[g + 1] - starts[g] < least:
            continue
        for i in range(starts[g], starts[g + 1]):
            r = rows[i]
            value = target[r]
            if value == HIDDEN:
                hidden += 1
            if value < 0:
                continue
            if shown == 0:
                combination_seen = combination[r]
            elif combination[r] != combination_seen:
                differ = True
            shown += 1
            count[value] += 1
        for i in range(starts[g], starts[g + 1]):
            value = target[rows[i]]
            if value < 0 or value in (best, runner_up):
                continue
            if best < 0 or count[value] > count[best]:
                best, runner_up = value, best
            elif runner_up < 0 or count[value] > count[runner_up]:
                runner_up = value
        if shown >= least and shown >= hidden and differ:
            rival = count[runner_up] if runner_up >= 0 else 0
            right = count[best] if count[best] - 1 > rival else 0
            others = shown - (count[mode] if mode >= 0 else 0)
            for s in range(shares.size):
                if count[best] < shares[s] * shown:
                    continue
                at = s * SUPPORT_FIELDS
                support[at] += shown
                support[at + 1] += right
                support[at + 2] += others
                support[at + 3] += right if best != mode else 0
                support[at + 4] += 1
        for i in range(starts[g], starts[g + 1]):
            if target[rows[i]] >= 0:
                count[target[rows[i]]] = 0
    return support


@kernel
def predict_majorities(
    rows: Array, starts: Array, known: Array, cardinality: int, least: int, share: float
) -> tuple[Array, Array]:
    """The hidden cells of groups in which most members agree: their rows, and the agreed value.

    Invariant: `count` is zero for every value between two groups; `places` and `values` up to
    `total` are the predictions of the groups before g.
    """
    places = np.empty(rows.size, np.int64)
    values = np.empty(rows.size, np.int64)
    count = np.zeros(cardinality, np.int64)
    total = 0
    for g in range(starts.size - 1):
        shown = hidden = 0
        best = -1
        if starts[g + 1] - starts[g] < least:
            continue
        for i in range(starts[g], starts[g + 1]):
            value = known[rows[i]]
            if value == HIDDEN:
                hidden += 1
            elif value >= 0:
                shown += 1
                count[value] += 1
                if best < 0 or count[value] > count[best]:
                    best = value
        if hidden > 0 and shown >= least and count[best] >= share * shown:
            for i in range(starts[g], starts[g + 1]):
                if known[rows[i]] == HIDDEN:
                    places[total] = rows[i]
                    values[total] = best
                    total += 1
        for i in range(starts[g], starts[g + 1]):
            if known[rows[i]] >= 0:
                count[known[rows[i]]] = 0
    return places[:total], values[:total]


@kernel
def assign_sizes(rows: Array, starts: Array, sizes: Array) -> None:
    """Write the size of its group at each row; rows of no group keep what they have.

    Invariant: the rows of the groups before g hold the sizes of their groups.
    """
    for g in range(starts.size - 1):
        for i in range(starts[g], starts[g + 1]):
            sizes[rows[i]] = starts[g + 1] - starts[g]


@kernel
def guess_modes(
    rows: Array, starts: Array, target: Array, cardinality: int, guesses: Array
) -> None:
    """For each row, the most frequent value among the other shown members of its group.

    Of equally frequent values, the smallest code. Where no other member shows a value, the guess
    stays as it was: that is the back-off.

    Invariant: `count` is zero for every value between two groups; within one, `best` has the most
    rows, and `runner_up` the most of the rest, smallest codes first.
    """
    count = np.zeros(cardinality, np.int64)
    for g in range(starts.size - 1):
        for i in range(starts[g], starts[g + 1]):
            if target[rows[i]] >= 0:
                count[target[rows[i]]] += 1
        best = runner_up = -1
        for i in range(starts[g], starts[g + 1]):
            v = target[rows[i]]
            if v < 0 or v in (best, runner_up):
                continue
            if best < 0 or count[v] > count[best] or (count[v] == count[best] and v < best):
                best, runner_up = v, best
            elif (
                runner_up < 0
                or count[v] > count[runner_up]
                or (count[v] == count[runner_up] and v < runner_up)
            ):
                runner_up = v
        if best < 0:
            continue
        for i in range(starts[g], starts[g + 1]):
            r = rows[i]
            if target[r] != best:
                guesses[r] = best
                continue
            left, rival = count[best] - 1, count[runner_up] if runner_up >= 0 else 0
            if left == 0 and rival == 0:
                continue
            if left > rival or (left == rival and best < runner_up):
                guesses[r] = best
            else:
                guesses[r] = runner_up
        for i in range(starts[g], starts[g + 1]):
            if target[rows[i]] >= 0:
                count[target[rows[i]]] = 0


@kernel
def compare_sides(ranks: Array, codes: Array, total: int) -> tuple[Array, Array]:
    """By rank, the code that its rows share, and the one that the ranks on both sides share.

    -1 where no code is shown (of a side: where there is none, or they differ), -2 where rows of one
    rank differ.

    Invariant: after the first loop `shared` holds what all rows say; going up, `last` is the
    nearest rank below with something shown, going down the nearest above.
    """
    shared = np.full(total, -1, np.int64)
    for r in range(ranks.size):
        if ranks[r] >= 0 and codes[r] >= 0:
            if shared[ranks[r]] == -1:
                shared[ranks[r]] = codes[r]
            elif shared[ranks[r]] != codes[r]:
                shared[ranks[r]] = -2
    sides = np.full(total, -1, np.int64)
    last = np.int64(-1)
    for k in range(total):
        sides[k] = last
        if shared[k] != -1:
            last = shared[k]
    last = np.int64(-1)
    for k in range(total - 1, -1, -1):
        if sides[k] != last or last < 0:
            sides[k] = -1
        if shared[k] != -1:
            last = shared[k]
    return shared, sides


@kernel
def count_side_support(ranks: Array, codes: Array, sides: Array, mode: int) -> Array:
    """How often what both sides share is what a row shows: the fields of SUPPORT_FIELDS.

    Invariant: `figures` counts the rows before r; `seen` says which ranks are among them.
    """
    figures = np.zeros(5, np.int64)
    seen = np.zeros(sides.size, np.bool_)
    for r in range(ranks.size):
        if ranks[r] < 0 or codes[r] < 0 or sides[ranks[r]] < 0:
            continue
        is_right = sides[ranks[r]] == codes[r]
        figures[0] += 1
        figures[1] += is_right
        if codes[r] != mode:
            figures[2] += 1
            figures[3] += is_right
        if not seen[ranks[r]]:
            seen[ranks[r]] = True
            figures[4] += 1
    return figures


@kernel
def guess_naive_bayes(
    rows: Array, features: Array, offsets: Array, sizes: Array, prior: Array,
    joint: Array, logs: Array, target: Array, guesses: Array,
) -> None:  # fmt: skip
    """For each row asked for, the value with the highest naive Bayes score, itself left out.

    `joint[offsets[j] + feature, v]` counts the rows with that feature j and value v, and `logs` are
    the scores that follow; `sizes[j]` is how many values feature j has (one is added to each count,
    after Laplace).

    Invariant: rows before i have their guess; `scores` sum the features before j.
    """
    scores = np.empty(prior.size)
    for i in range(rows.size):
        r = rows[i]
        own = target[r]
        for v in range(prior.size):
            total = prior[v] - (1 if v == own else 0)
            scores[v] = np.log(total) if total > 0 else -np.inf
        for j in range(offsets.size):
            if features[r, j] < 0:
                continue
            place = offsets[j] + features[r, j]
            for v in range(prior.size):
                if v != own:
                    scores[v] += logs[place, v]
            if own >= 0 and prior[own] > 1:
                scores[own] += np.log(joint[place, own] / (prior[own] - 1.0 + sizes[j]))
        guesses[r] = np.argmax(scores)
