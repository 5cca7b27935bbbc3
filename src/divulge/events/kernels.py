"""The loops over millions of records of a history: arrays in, arrays out.

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

RIGHT_UNIFORM, RIGHT_BEST, CERTAIN, WEIGHT, MOST = range(5)
"""What the columns of `tally` are: weight guessed right, known for certain, in all, worst case."""


def baskets(
    event: NDArray[Any], item: NDArray[Any], events: int, every: bool
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Count the items of every event and sum their hashes; rows stand by event, then by item.

    An item counts once an event, or as often as it occurs if `every`. The sum of hashes does not
    depend on the order of items; two of 64 bits are in effect never equal for unequal baskets.
    """
    count = np.zeros(events, np.int64)
    hashes = np.zeros((events, 2), np.uint64)
    for row in range(len(event)):
        e = event[row]
        if not every and row > 0 and event[row - 1] == e and item[row - 1] == item[row]:
            continue
        count[e] += 1
        for which in range(2):
            # The finaliser of splitmix64, from two different starts.
            seed = np.uint64(0x9E3779B97F4A7C15) if which == 0 else np.uint64(0xD1B54A32D192ED03)
            x = (np.uint64(item[row]) + np.uint64(1)) * seed
            x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            hashes[e, which] += x ^ (x >> np.uint64(31))
    return count, hashes


def tally(  # one loop over sorted runs, and no calls
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
    Invariant: rows [start, stop) share X; `first` to `last` within them share a user.
    """
    by_user = np.zeros((users, 5), np.float64)
    by_matches = np.zeros(users + 1, np.float64)
    matches = np.zeros(len(keys) if each else 0, np.int64)
    found = np.zeros(len(keys) if each else 0, np.bool_)
    low = (np.uint64(1) << np.uint64(shift)) - np.uint64(1)
    cells = 0
    start = 0
    while start < len(keys):
        x = keys[start] >> np.uint64(shift)
        cells += 1
        stop = start
        matching = 0
        best_user, best_weight = -1, -1.0
        user, of_user = -1, 0.0
        while stop < len(keys) and keys[stop] >> np.uint64(shift) == x:
            e = keys[stop] & low
            u = user_of_event[e]
            if u != user:
                if of_user > best_weight:
                    best_user, best_weight = user, of_user
                user, of_user = u, 0.0
                matching += 1
            if not once or stop == start or keys[stop] != keys[stop - 1]:
                of_user += weight[e]
            stop += 1
        if of_user > best_weight:
            best_user, best_weight = user, of_user
        by_user[best_user, 1] += best_weight
        chance = 1.0 / matching
        for row in range(start, stop):
            e = keys[row] & low
            u = user_of_event[e]
            if each:
                matches[row] = matching
                found[row] = u == best_user
            if once and row > start and keys[row] == keys[row - 1]:
                continue
            w = weight[e]
            by_user[u, 0] += w * chance
            by_user[u, 3] += w
            by_matches[matching] += w
            if matching == 1:
                by_user[u, 2] += w
            if chance > by_user[u, 4]:
                by_user[u, 4] = chance
        start = stop
    return by_user, by_matches, matches, found, cells


def totals(  # one loop over sorted runs, and no calls
    keys: NDArray[Any], shift: int, user_of_event: NDArray[Any], weight: NDArray[Any], once: bool
) -> NDArray[Any]:
    """The sums of the columns of `tally` but the last, in one pass, and the number of cells.

    Invariant: before a row is looked at, `of_x`, `of_user` and `matching` hold what the rows
    before it with the same X, and with the same X and user, have weighed and counted.
    """
    right, best, certain, drawn, cells = 0.0, 0.0, 0.0, 0.0, 0
    low = (np.uint64(1) << np.uint64(shift)) - np.uint64(1)
    of_x, of_user, most, matching, user = 0.0, 0.0, 0.0, 0, -1
    for row in range(len(keys) + 1):
        ends = row == len(keys)
        if ends or (row > 0 and keys[row] >> np.uint64(shift) != keys[row - 1] >> np.uint64(shift)):
            right += of_x / max(1, matching)
            best += max(most, of_user)
            certain += of_x if matching == 1 else 0.0
            drawn += of_x
            cells += 1
            of_x, of_user, most, matching, user = 0.0, 0.0, 0.0, 0, -1
        if ends:
            break
        e = keys[row] & low
        if user_of_event[e] != user:
            user = user_of_event[e]
            most = max(most, of_user)
            of_user = 0.0
            matching += 1
        if not once or row == 0 or keys[row] != keys[row - 1]:
            of_user += weight[e]
            of_x += weight[e]
    return np.array([right, best, certain, drawn, float(cells)])


def tally_against(  # one loop over sorted runs, and no calls
    targets: NDArray[Any],
    weight: NDArray[Any],
    matched: NDArray[Any],
    shift: int,
    users: int,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Weigh knowledge of one history by the users whom it fits in another. Keys are sorted.

    Both kinds of keys are `X << shift | user`; `matched` may repeat them. A guess is right only
    if the target is among those who match. Gives what `tally` gives, for each target always.
    """
    by_user = np.zeros((users, 5), np.float64)
    by_matches = np.zeros(users + 1, np.float64)
    matches = np.zeros(len(targets), np.int64)
    found = np.zeros(len(targets), np.bool_)
    low = (np.uint64(1) << np.uint64(shift)) - np.uint64(1)
    start, begin = 0, 0
    while start < len(targets):
        x = targets[start] >> np.uint64(shift)
        while begin < len(matched) and matched[begin] >> np.uint64(shift) < x:
            begin += 1
        end = begin
        matching, best_rows, rows = 0, 0, 0
        best = np.uint64(0)
        while end < len(matched) and matched[end] >> np.uint64(shift) == x:
            if end == begin or matched[end] != matched[end - 1]:
                matching += 1
                rows = 0
            rows += 1
            if rows > best_rows:
                best_rows, best = rows, matched[end]
            end += 1
        at = begin
        while start < len(targets) and targets[start] >> np.uint64(shift) == x:
            key, w = targets[start], weight[start]
            u = key & low
            while at < end and matched[at] < key:
                at += 1
            by_user[u, 3] += w
            by_matches[matching] += w
            if at < end and matched[at] == key:
                matches[start] = matching
                by_user[u, 0] += w / matching
                if matching == 1:
                    by_user[u, 2] += w
                by_user[u, 4] = max(by_user[u, 4], 1.0 / matching)
                if best == key:
                    by_user[u, 1] += w
                    found[start] = True
            start += 1
        begin = end
    return by_user, by_matches, matches, found


def subsets(  # one loop over sorted runs, and no calls
    starts: NDArray[Any], item: NDArray[Any], copies: NDArray[Any], size: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """All subsets of `size` items of every event.

    Event e has the distinct items `item[starts[e]:starts[e + 1]]` in rising order, each in
    `copies` records. Gives the event, the items and the weight of each subset: a record is drawn,
    then the rest of the subset from the event's other items.
    """
    total = 0
    for e in range(len(starts) - 1):
        kinds = starts[e + 1] - starts[e]
        if kinds < size:
            continue
        ways = 1
        for step in range(size):
            ways = ways * (kinds - step) // (step + 1)
        total += ways
    event = np.zeros(total, np.int64)
    chosen = np.zeros((total, size), np.int64)
    weight = np.zeros(total, np.float64)
    place = np.zeros(size, np.int64)
    row = 0
    for e in range(len(starts) - 1):
        first, kinds = starts[e], starts[e + 1] - starts[e]
        if kinds < size:
            continue
        rest = 1.0
        for step in range(size - 1):
            rest = rest * (kinds - 1 - step) / (step + 1)
        for step in range(size):
            place[step] = step
        more = True
        while more:
            event[row] = e
            for step in range(size):
                chosen[row, step] = item[first + place[step]]
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
    return event, chosen, weight


def transposed(starts: NDArray[Any], column: NDArray[Any], columns: int) -> tuple[Any, Any]:
    """Posting lists the other way round: from users by point to points by user."""
    begin = np.zeros(columns + 1, np.int64)
    for at in range(len(column)):
        begin[column[at] + 1] += 1
    for at in range(columns):
        begin[at + 1] += begin[at]
    filled = begin[:-1].copy()
    rows = np.zeros(len(column), np.int64)
    for row in range(len(starts) - 1):
        for at in range(starts[row], starts[row + 1]):
            rows[filled[column[at]]] = row
            filled[column[at]] += 1
    return begin, rows


def common_users(drawn: NDArray[Any], starts: NDArray[Any], users: NDArray[Any]) -> NDArray[Any]:
    """How many users have all the points of each draw: posting lists, rarest first.

    A draw is a row of points, -1 where there are fewer. Posting lists hold users in rising order.
    """
    counts = np.zeros(len(drawn), np.int64)
    for draw in range(len(drawn)):
        rarest = -1
        for point in drawn[draw]:
            if point >= 0 and (
                rarest < 0
                or starts[point + 1] - starts[point] < starts[rarest + 1] - starts[rarest]
            ):
                rarest = point
        for at in range(starts[rarest], starts[rarest + 1]):
            user, has_all = users[at], True
            for point in drawn[draw]:
                if point < 0 or point == rarest:
                    continue
                low, high = starts[point], starts[point + 1]
                while low < high:
                    middle = (low + high) // 2
                    if users[middle] < user:
                        low = middle + 1
                    else:
                        high = middle
                if low == starts[point + 1] or users[low] != user:
                    has_all = False
                    break
            counts[draw] += has_all
    return counts


def shared_pairs(starts: NDArray[Any], points: NDArray[Any], spread: NDArray[Any]) -> NDArray[Any]:
    """All pairs of points of every user that others have too, packed `first << 32 | second`.

    A pair with a point that nobody else has needs no counting: it singles its user out.
    """
    total = 0
    for user in range(len(starts) - 1):
        shared = 0
        for at in range(starts[user], starts[user + 1]):
            shared += spread[points[at]] > 1
        total += shared * (shared - 1) // 2
    pairs = np.zeros(total, np.uint64)
    row = 0
    for user in range(len(starts) - 1):
        for one in range(starts[user], starts[user + 1]):
            if spread[points[one]] == 1:
                continue
            for other in range(one + 1, starts[user + 1]):
                if spread[points[other]] > 1:
                    pairs[row] = (np.uint64(points[one]) << np.uint64(32)) | np.uint64(
                        points[other]
                    )
                    row += 1
    return pairs
