"""Posting lists and bipartite matching (augmenting paths): who may have all that was drawn.

As in `ordering_kernels`, it is plain Python over arrays, and calls no other function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def match_draws(
    draws: NDArray[Any],
    target: NDArray[Any],
    starts: NDArray[Any],
    stops: NDArray[Any],
    unit: NDArray[Any],
    copies: NDArray[Any],
    record_starts: NDArray[Any],
    records: NDArray[Any],
    of_records: int,
    clear: NDArray[Any],
    user_of_unit: NDArray[Any],
    users: int,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Who may have all that was drawn: how many users, the target among them, the likeliest theirs.

    A draw is a row of different pieces of knowledge, -1 where there are fewer. Piece x may be had
    by `unit[starts[p, x]:stops[p, x]]`, in rising order, for each way p of looking at it (units:
    users, or events of users); entry e of them by the records `record_starts[e]` to
    `record_starts[e + 1]`. Pieces below `of_records` are of single records: each needs a record of
    its own. In a way that is `clear`, and comes first, a record shows one piece and no other. The
    likeliest user has the most records that fit; where several have, one of them is drawn.
    Invariant: `met[u]` pieces of the draw were fitted by u, the last of them in `stamp[u]`, and
    `vague[u]` of those that are of single records by no clear way. Where two or more are vague,
    records are assigned to pieces by augmenting paths (bipartite matching): `has` gives every
    piece so far a record of its own, or there is no such assignment.
    """
    matching = np.zeros(len(draws), np.int64)
    among = np.zeros(len(draws), np.bool_)
    likeliest = np.zeros(len(draws), np.float64)
    units, most = len(user_of_unit), draws.shape[1]
    met = np.zeros(units, np.int32)
    stamp = np.full(units, -1, np.int64)
    vague = np.zeros(units, np.int32)
    rows = np.zeros(units, np.float64)
    touched = np.zeros(units, np.int64)
    of_user = np.zeros(users, np.float64)
    fitting = np.zeros(users, np.int64)
    # Who stands for what in one unit: the pieces, the records that may be each, the one it has.
    single = np.zeros(most, np.int64)
    may_be = np.zeros((most, most), np.int64)
    choices = np.zeros(most, np.int64)
    has = np.zeros(most, np.int64)
    queue = np.zeros(most, np.int64)
    before = np.zeros(most, np.int64)
    mark, many, tied, enough = 0, 0, 0, 0.0
    for draw in range(len(draws)):
        again = draw > 0
        for step in range(most):
            again = again and draws[draw, step] == draws[draw - 1, step]
        if not again:
            for at in range(many):
                of_user[fitting[at]] = 0.0
            reached, pieces, many, tied, enough = 0, 0, 0, 0, 0.0
            singles = 0
            for step in range(most):
                x = draws[draw, step]
                if x < 0:
                    continue
                if x < of_records:
                    single[singles] = x
                    singles += 1
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
                            vague[u] += x < of_records and not clear[way]
                        rows[u] += copies[at]
                pieces += 1
            for at in range(reached):
                u = touched[at]
                all_met = met[u] == pieces
                if all_met and vague[u] > 1:
                    # Two may want the same record; one alone finds none that a clear one needs. As
                    # many records as pieces are enough to choose from: whatever the others take,
                    # one is left.
                    for piece in range(singles):
                        has[piece], choices[piece] = -1, 0
                        x = single[piece]
                        for way in range(len(starts)):
                            low, high = starts[way, x], stops[way, x]
                            end = high
                            while low < high:
                                middle = (low + high) // 2
                                if unit[middle] < u:
                                    low = middle + 1
                                else:
                                    high = middle
                            if low == end or unit[low] != u:
                                continue
                            for place in range(record_starts[low], record_starts[low + 1]):
                                if choices[piece] == singles:
                                    break
                                is_listed = False
                                for other in range(choices[piece]):
                                    is_listed = is_listed or may_be[piece, other] == records[place]
                                if not is_listed:
                                    may_be[piece, choices[piece]] = records[place]
                                    choices[piece] += 1
                    # Each piece in turn is given a record; who has it looks for another.
                    for piece in range(singles):
                        for other in range(singles):
                            before[other] = -1
                        before[piece], queue[0] = piece, piece
                        first, last, is_assigned = 0, 1, False
                        while first < last and not is_assigned:
                            now = queue[first]
                            first += 1
                            for choice in range(choices[now]):
                                holder = -1
                                for other in range(singles):
                                    if has[other] == may_be[now, choice]:
                                        holder = other
                                if holder < 0:
                                    free = may_be[now, choice]
                                    while now != piece:
                                        previous = has[now]
                                        has[now] = free
                                        free = previous
                                        now = before[now]
                                    has[piece] = free
                                    is_assigned = True
                                    break
                                if before[holder] < 0:
                                    before[holder] = now
                                    queue[last] = holder
                                    last += 1
                        all_met = all_met and is_assigned
                if all_met:
                    user = user_of_unit[u]
                    if of_user[user] == 0.0:
                        fitting[many] = user
                        many += 1
                    of_user[user] += rows[u]
                met[u], vague[u], rows[u] = 0, 0, 0.0
            for at in range(many):
                enough = max(enough, of_user[fitting[at]] * (1 - 1e-12))
            for at in range(many):
                tied += of_user[fitting[at]] >= enough
        matching[draw] = many
        among[draw] = of_user[target[draw]] > 0.0
        if among[draw] and of_user[target[draw]] >= enough:
            likeliest[draw] = 1.0 / tied
    return matching, among, likeliest
