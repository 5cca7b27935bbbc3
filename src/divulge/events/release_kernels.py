"""The loop that looks up drawn knowledge in a protected release.

As in `ordering_kernels`, it is plain Python over arrays, and calls no other function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def fits(
    drawn: NDArray[Any],
    target: NDArray[Any],
    starts: NDArray[Any],
    stops: NDArray[Any],
    unit: NDArray[Any],
    copies: NDArray[Any],
    hides: NDArray[Any],
    spare: NDArray[Any],
    user_of_unit: NDArray[Any],
    users: int,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Who may have all that was drawn: how many users, the target among them, the likeliest hers.

    A draw is a row of pieces of knowledge, -1 where there are fewer. Piece x may be had by
    `unit[starts[p, x]:stops[p, x]]` for each way p of looking at it (units: users, or events of
    users). Ways that rest on a hidden item (`hides`) come last; a unit can spend no more of them
    than its `spare`. The likeliest user has the most records that fit.
    Invariant: `met[u]` pieces of the draw were fitted by u, the last of them in `stamp[u]`.
    """
    matching = np.zeros(len(drawn), np.int64)
    among = np.zeros(len(drawn), np.bool_)
    likeliest = np.zeros(len(drawn), np.bool_)
    units = len(user_of_unit)
    met = np.zeros(units, np.int32)
    stamp = np.full(units, -1, np.int64)
    spent = np.zeros(units, np.int32)
    rows = np.zeros(units, np.float64)
    touched = np.zeros(units, np.int64)
    of_user = np.zeros(users, np.float64)
    fitting = np.zeros(users, np.int64)
    mark, many, best, best_rows = 0, 0, -1, 0.0
    for draw in range(len(drawn)):
        again = draw > 0
        for step in range(drawn.shape[1]):
            again = again and drawn[draw, step] == drawn[draw - 1, step]
        if not again:
            for at in range(many):
                of_user[fitting[at]] = 0.0
            reached, pieces, many, best, best_rows = 0, 0, 0, -1, 0.0
            for step in range(drawn.shape[1]):
                x = drawn[draw, step]
                if x < 0:
                    continue
                mark += 1
                for way in range(len(starts)):
                    for at in range(starts[way, x], stops[way, x]):
                        u = unit[at]
                        if stamp[u] != mark:
                            if met[u] != pieces:
                                continue
                            if pieces == 0:
                                touched[reached] = u
                                reached += 1
                            stamp[u] = mark
                            met[u] += 1
                            spent[u] += hides[way]
                        rows[u] += copies[at]
                pieces += 1
            for at in range(reached):
                u = touched[at]
                if met[u] == pieces and spent[u] <= spare[u]:
                    user = user_of_unit[u]
                    if of_user[user] == 0.0:
                        fitting[many] = user
                        many += 1
                    of_user[user] += rows[u]
                met[u], spent[u], rows[u] = 0, 0, 0.0
            for at in range(many):
                user = fitting[at]
                if of_user[user] > best_rows or (of_user[user] == best_rows and user < best):
                    best, best_rows = user, of_user[user]
        matching[draw] = many
        among[draw] = of_user[target[draw]] > 0.0
        likeliest[draw] = best == target[draw]
    return matching, among, likeliest
