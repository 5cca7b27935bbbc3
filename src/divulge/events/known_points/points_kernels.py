"""Posting lists (inverted index) and their intersection: who has all of some points.

As in `ordering_kernels`, each is plain Python over arrays, and none calls another function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def build_postings(keys: NDArray[Any], shift: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Posting lists out of sorted keys `point << shift | user`: their starts, and their users.

    A key that is repeated counts once; points are numbered as they come. Invariant: the keys before
    `at` have `pair` different ones, and `point` different points.
    """
    pairs, points = 0, 0
    for at in range(len(keys)):
        pairs += at == 0 or keys[at] != keys[at - 1]
        points += at == 0 or keys[at] >> np.uint64(shift) != keys[at - 1] >> np.uint64(shift)
    starts = np.empty(points + 1, np.int64)
    users = np.empty(pairs, np.int32)
    low = (np.uint64(1) << np.uint64(shift)) - np.uint64(1)
    pair, point = 0, 0
    for at in range(len(keys)):
        if at > 0 and keys[at] == keys[at - 1]:
            continue
        if at == 0 or keys[at] >> np.uint64(shift) != keys[at - 1] >> np.uint64(shift):
            starts[point] = pair
            point += 1
        users[pair] = keys[at] & low
        pair += 1
    starts[points] = pairs
    return starts, users


def transpose_postings(starts: NDArray[Any], column: NDArray[Any], columns: int) -> tuple[Any, Any]:
    """Transpose posting lists by counting sort: from users by point to points by user.

    Invariant: the entries before `at` are placed, and `filled[c]` is where the next of column c
    goes; so rows stand in rising order in each column.
    """
    begin = np.zeros(columns + 1, np.int64)
    for at in range(len(column)):
        begin[column[at] + 1] += 1
    for at in range(columns):
        begin[at + 1] += begin[at]
    filled = begin[:-1].copy()
    rows = np.empty(len(column), np.int32)
    for row in range(len(starts) - 1):
        for at in range(starts[row], starts[row + 1]):
            rows[filled[column[at]]] = row
            filled[column[at]] += 1
    return begin, rows


def count_common_users(
    draws: NDArray[Any], starts: NDArray[Any], users: NDArray[Any]
) -> NDArray[Any]:
    """How many users have all the points of each draw: posting lists, rarest first.

    A draw is a row of points, -1 where there are fewer. Posting lists hold users in rising order,
    so each user of the rarest is looked up in the others by binary search. Invariant:
    `counts[draw]` counts the users before `at` in the rarest list who are in all the others.
    """
    counts = np.zeros(len(draws), np.int64)
    for draw in range(len(draws)):
        rarest = -1
        for point in draws[draw]:
            if point >= 0 and (
                rarest < 0
                or starts[point + 1] - starts[point] < starts[rarest + 1] - starts[rarest]
            ):
                rarest = point
        for at in range(starts[rarest], starts[rarest + 1]):
            user, has_all = users[at], True
            for point in draws[draw]:
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


def list_shared_pairs(
    starts: NDArray[Any], points: NDArray[Any], spread: NDArray[Any]
) -> NDArray[Any]:
    """All pairs of points of every user that others have too, packed `first << 32 | second`.

    A pair with a point that nobody else has needs no counting: it singles its user out. Invariant:
    the pairs of all users before `user`, and of `user` with a first point before `one`, are in the
    rows before `row`.
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
