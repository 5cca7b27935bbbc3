"""Sort-merge and counting group-bys: how many users each piece of knowledge fits.

Every kernel is plain Python over arrays, run as it stands on small inputs and through numba on
large ones (`divulge.qif.kernels.run`). None writes to its arguments unless it says so, and none
calls another function (numba's cache would not see that function change).

A key packs what an adversary knows, X, above the number of an event: `X << shift | event`. Events
are numbered by user, so keys that are sorted stand by X, then by user, then by event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RIGHT_UNIFORM, RIGHT_BEST, CERTAIN, WEIGHT, WORST_CASE = range(5)
"""Columns of figures: weight guessed right by two priors, known for certain, in all, at worst."""


def tally_knowledge(  # one loop over sorted runs, and no calls
    keys: NDArray[Any],
    shift: int,
    user_of_event: NDArray[Any],
    weight: NDArray[Any],
    once: bool,
    users: int,
    each: bool,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], int]:
    """Weigh every piece of knowledge by the users whom it fits. Keys are sorted.

    Gives, per user, the weights of the columns above; the weight by number of users who match;
    for each row (if `each`) how many match, and whether a best guess finds its user; and how
    many different pieces of knowledge there are. `once`: a key that is repeated counts once.
    Invariant: rows [start, stop) share X; `of_user` is what those of `user` among them weigh, and
    `matching` how many users they have.
    """
    by_user = np.zeros((users, 5), np.float64)
    by_matches = np.zeros(users + 1, np.float64)
    matches = np.zeros(len(keys) if each else 0, np.int64)
    hits = np.zeros(len(keys) if each else 0, np.bool_)
    low = (np.uint64(1) << np.uint64(shift)) - np.uint64(1)
    cells = 0
    start = 0
    while start < len(keys):
        knowledge = keys[start] >> np.uint64(shift)
        cells += 1
        stop = start
        matching = 0
        best_user, best_weight = -1, -1.0
        user, of_user = -1, 0.0
        while stop < len(keys) and keys[stop] >> np.uint64(shift) == knowledge:
            event = keys[stop] & low
            owner = user_of_event[event]
            if owner != user:
                if of_user > best_weight:
                    best_user, best_weight = user, of_user
                user, of_user = owner, 0.0
                matching += 1
            if not once or stop == start or keys[stop] != keys[stop - 1]:
                of_user += weight[event]
            stop += 1
        if of_user > best_weight:
            best_user, best_weight = user, of_user
        by_user[best_user, 1] += best_weight
        chance = 1.0 / matching
        for row in range(start, stop):
            event = keys[row] & low
            owner = user_of_event[event]
            if each:
                matches[row] = matching
                hits[row] = owner == best_user
            if once and row > start and keys[row] == keys[row - 1]:
                continue
            event_weight = weight[event]
            by_user[owner, 0] += event_weight * chance
            by_user[owner, 3] += event_weight
            by_matches[matching] += event_weight
            if matching == 1:
                by_user[owner, 2] += event_weight
            if chance > by_user[owner, 4]:
                by_user[owner, 4] = chance
        start = stop
    return by_user, by_matches, matches, hits, cells


def sum_knowledge(  # one loop over sorted runs, and no calls
    keys: NDArray[Any], shift: int, user_of_event: NDArray[Any], weight: NDArray[Any], once: bool
) -> NDArray[Any]:
    """The column sums of `tally_knowledge` but the last, in one pass, and the number of cells.

    Invariant: before a row is looked at, `of_x`, `of_user` and `matching` hold what the rows
    before it with the same X, and with the same X and user, have weighed and counted.
    """
    uniform_right, best_right, certain, total, cells = 0.0, 0.0, 0.0, 0.0, 0
    low = (np.uint64(1) << np.uint64(shift)) - np.uint64(1)
    of_x, of_user, most, matching, user = 0.0, 0.0, 0.0, 0, -1
    for row in range(len(keys) + 1):
        ends = row == len(keys)
        if ends or (row > 0 and keys[row] >> np.uint64(shift) != keys[row - 1] >> np.uint64(shift)):
            uniform_right += of_x / max(1, matching)
            best_right += max(most, of_user)
            certain += of_x if matching == 1 else 0.0
            total += of_x
            cells += 1
            of_x, of_user, most, matching, user = 0.0, 0.0, 0.0, 0, -1
        if ends:
            break
        event = keys[row] & low
        if user_of_event[event] != user:
            user = user_of_event[event]
            most = max(most, of_user)
            of_user = 0.0
            matching += 1
        if not once or row == 0 or keys[row] != keys[row - 1]:
            of_user += weight[event]
            of_x += weight[event]
    return np.array([uniform_right, best_right, certain, total, float(cells)])


def count_by_item(
    starts: NDArray[Any], event: NDArray[Any], cell_and_user: NDArray[Any], cells: int, once: bool
) -> NDArray[Any]:
    """What `sum_by_item` gives where every row weighs 1, without the best guess.

    Of a cell, the rows (low 32 bits) and the users (high 32 bits) are counted in one number, and
    the last user, from 1, stands beside it: no branch depends on the data, and memory is met once.
    Invariant: between items all cells are empty.
    """
    right, certain, total, occupied = 0.0, 0.0, 0.0, 0
    counts = np.zeros((cells, 2), np.uint64)
    touched = np.zeros(cells + 1, np.uint32)
    low, nothing, one = np.uint64(0xFFFFFFFF), np.uint64(0), np.uint64(1)
    for i in range(len(starts) - 1):
        many = np.uint64(0)
        for row in range(starts[i], starts[i + 1]):
            if once and row > starts[i] and event[row - 1] == event[row]:
                continue
            both = cell_and_user[np.uint32(event[row])]
            cell = both >> np.uint64(32)
            user = (both & low) + one
            users_and_rows = counts[cell, 0]
            touched[many] = cell
            many += np.uint64(users_and_rows == nothing)
            counts[cell, 0] = (
                users_and_rows + one + (np.uint64(counts[cell, 1] != user) << np.uint64(32))
            )
            counts[cell, 1] = user
        for at in range(many):
            cell = np.uint64(touched[at])
            rows, users = float(counts[cell, 0] & low), float(counts[cell, 0] >> np.uint64(32))
            right += rows / users
            total += rows
            certain += rows if users == 1.0 else 0.0
            counts[cell, 0] = nothing
            counts[cell, 1] = nothing
        occupied += int(many)
    return np.array([right, 0.0, certain, total, float(occupied)])


def sum_by_item(
    starts: NDArray[Any],
    event: NDArray[Any],
    cell_and_user: NDArray[Any],
    cells: int,
    weight: NDArray[Any],
    once: bool,
    best: bool,
) -> NDArray[Any]:
    """What `sum_knowledge` gives for one item and a cell of its event: counted, not sorted.

    The events of item i are `event[starts[i]:starts[i + 1]]`, by user. `cell_and_user` packs
    `cell << 32 | user` of each event; an empty `weight` weighs every row 1. Without `best`, the
    best guess is left out. Invariant: between items all cells are empty.
    """
    right, best_right, certain, total, occupied = 0.0, 0.0, 0.0, 0.0, 0
    # Weight, users and last user of a cell stand side by side, so that memory is met once.
    state = np.zeros((cells, 4), np.float64)
    state[:, 2] = -1.0
    of_user = np.zeros((cells if best else 0, 2), np.float64)
    touched = np.zeros(cells, np.int32)
    low = np.uint64(0xFFFFFFFF)
    has_weights = len(weight) > 0
    for i in range(len(starts) - 1):
        many = 0
        for row in range(starts[i], starts[i + 1]):
            this_event = event[row]
            if once and row > starts[i] and event[row - 1] == this_event:
                continue
            both = cell_and_user[this_event]
            cell = np.int64(both >> np.uint64(32))
            user = float(np.int64(both & low))
            row_weight = weight[this_event] if has_weights else 1.0
            if state[cell, 2] != user:
                if state[cell, 1] == 0.0:
                    touched[many] = cell
                    many += 1
                state[cell, 2] = user
                state[cell, 1] += 1.0
                if best:
                    of_user[cell, 1] = max(of_user[cell, 1], of_user[cell, 0])
                    of_user[cell, 0] = 0.0
            state[cell, 0] += row_weight
            if best:
                of_user[cell, 0] += row_weight
        for at in range(many):
            cell = touched[at]
            of_cell, users = state[cell, 0], state[cell, 1]
            right += of_cell / users
            total += of_cell
            if users == 1.0:
                certain += of_cell
            if best:
                best_right += max(of_user[cell, 0], of_user[cell, 1])
                of_user[cell, 0], of_user[cell, 1] = 0.0, 0.0
            state[cell, 0], state[cell, 1], state[cell, 2] = 0.0, 0.0, -1.0
        occupied += many
    return np.array([right, best_right, certain, total, float(occupied)])


def tally_subsets(
    targets: NDArray[Any],
    weight: NDArray[Any],
    candidates: NDArray[Any],
    shift: int,
    users: int,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Weigh what may be drawn by the users whom it fits, where more fits than may be drawn.

    Both kinds of keys are sorted, `X << shift | user`, and may repeat; every target is matched.
    Gives what `tally_knowledge` gives, for each target always. Merge join. Invariant: the
    targets before `start` are weighed, and no candidate before `at` fits a later one.
    """
    by_user = np.zeros((users, 5), np.float64)
    by_matches = np.zeros(users + 1, np.float64)
    matches = np.zeros(len(targets), np.int64)
    hits = np.zeros(len(targets), np.bool_)
    low = (np.uint64(1) << np.uint64(shift)) - np.uint64(1)
    start, at = 0, 0
    while start < len(targets):
        knowledge = targets[start] >> np.uint64(shift)
        while at < len(candidates) and candidates[at] >> np.uint64(shift) < knowledge:
            at += 1
        matching, first = 0, at
        while at < len(candidates) and candidates[at] >> np.uint64(shift) == knowledge:
            matching += at == first or candidates[at] != candidates[at - 1]
            at += 1
        stop, best, best_weight, of_user = start, targets[start], -1.0, 0.0
        while stop < len(targets) and targets[stop] >> np.uint64(shift) == knowledge:
            if stop > start and targets[stop] != targets[stop - 1]:
                of_user = 0.0
            of_user += weight[stop]
            if of_user > best_weight:
                best, best_weight = targets[stop], of_user
            stop += 1
        for row in range(start, stop):
            owner, row_weight = targets[row] & low, weight[row]
            matches[row] = matching
            hits[row] = targets[row] == best
            by_user[owner, 0] += row_weight / matching
            by_user[owner, 3] += row_weight
            by_matches[matching] += row_weight
            if matching == 1:
                by_user[owner, 2] += row_weight
            if hits[row]:
                by_user[owner, 1] += row_weight
            by_user[owner, 4] = max(by_user[owner, 4], 1.0 / matching)
        start = stop
    return by_user, by_matches, matches, hits


def enumerate_subsets(
    starts: NDArray[Any], copies: NDArray[Any], events: NDArray[Any], size: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """All sets of `size` different items of some events, each of which has as many or more.

    Event e has the pairs (event and item) `starts[e]` to `starts[e + 1]`, each in `copies`
    records. Gives the event, the pairs and the weight of each set: a record is drawn, then the
    rest of the set from the event's other items. Combinations in lexicographic order. Invariant:
    `place` rises strictly, and all sets before it are in the rows before `row`.
    """
    total = 0
    for this_event in events:
        ways = 1
        for step in range(size):
            ways = ways * (starts[this_event + 1] - starts[this_event] - step) // (step + 1)
        total += ways
    event = np.zeros(total, np.int64)
    members = np.zeros((total, size), np.int64)
    weight = np.zeros(total, np.float64)
    place = np.zeros(size, np.int64)
    row = 0
    for this_event in events:
        first, kinds = starts[this_event], starts[this_event + 1] - starts[this_event]
        rest = 1.0
        for step in range(size - 1):
            rest = rest * (kinds - 1 - step) / (step + 1)
        for step in range(size):
            place[step] = step
        more = True
        while more:
            event[row] = this_event
            for step in range(size):
                members[row, step] = first + place[step]
                weight[row] += copies[first + place[step]] / rest
            row += 1
            step = size - 1
            while step >= 0 and place[step] == kinds - size + step:
                step -= 1
            more = step >= 0
            if more:
                place[step] += 1
                for later in range(step + 1, size):
                    place[later] = place[later - 1] + 1
    return event, members, weight
