"""Local recoding in plain Python, obviously right: nested splits, distances, and a recount.

It shares nothing with the product but the numbers that go in.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations

from tests.protection.recoding.plain import Ladders, Row, Test

Levels = tuple[int, ...]


def measure_cell(ladder: dict[str, tuple[str, ...]], value: str, level: int) -> float:
    """What one cell loses at a level: the share of all other leaves that it may now be."""
    under = sum(each[level] == ladder[value][level] for each in ladder.values())
    return (under - 1) / max(1, len(ladder) - 1)


def measure_local_loss(rows: Sequence[Row], ladders: Ladders, levels: Sequence[Levels]) -> float:
    """The mean over all cells of attributes that have something to lose."""
    total = 0.0
    for row, own in zip(rows, levels, strict=True):
        for value, ladder, level in zip(row, ladders, own, strict=True):
            total += measure_cell(ladder, value, level)
    return total / (len(rows) * len(ladders))


def show(row: Row, ladders: Ladders, levels: Levels) -> tuple[tuple[int, str], ...]:
    """What a record shows: the level and the label of each cell."""
    return tuple(
        (level, ladder[value][level])
        for value, ladder, level in zip(row, ladders, levels, strict=True)
    )


def find_failing(
    rows: Sequence[Row],
    secrets: Sequence[str],
    ladders: Ladders,
    levels: Sequence[Levels],
    tests: Sequence[Test],
) -> set[int]:
    """Records whose class, counted by what it shows, fails some test."""
    view = [
        (tuple(map(str, show(row, ladders, own))), secret)
        for row, secret, own in zip(rows, secrets, levels, strict=True)
    ]
    return set().union(*(test(view) for test in tests))


def split_nested(
    rows: Sequence[Row], ladders: Ladders, k: int, choose: Callable[[list[int]], int]
) -> tuple[list[Levels], set[int]]:
    """Nested levels of each record by size, and who is out of reach; `choose` breaks ties.

    A tie is a list of attributes that save the same; children of the same size must not tie.
    """
    heights = tuple(len(next(iter(ladder.values()))) - 1 for ladder in ladders)
    tops = defaultdict(list)
    for i, row in enumerate(rows):
        tops[show(row, ladders, heights)].append(i)
    levels: list[Levels] = [heights] * len(rows)
    out_of_reach = {i for members in tops.values() if len(members) < k for i in members}
    waiting = [(members, heights) for members in tops.values() if len(members) >= k]
    while waiting:
        members, own = waiting.pop()
        own = descend_together([rows[i] for i in members], ladders, own)
        splits = {a: split_class(rows, members, ladders[a], a, own[a], k) for a in range(len(own))}
        most = max(gain for gain, _, _ in splits.values())
        if most <= 1e-12:
            for i in members:
                levels[i] = own
            continue
        best = choose([a for a, (gain, _, _) in splits.items() if gain > most - 1e-9])
        _, leaving, staying = splits[best]
        lower = tuple(level - (a == best) for a, level in enumerate(own))
        waiting += [(child, lower) for child in leaving]
        waiting += [(staying, own)] if staying else []
    return levels, out_of_reach


def descend_together(members: Sequence[Row], ladders: Ladders, levels: Levels) -> Levels:
    """The lowest levels at which all members still show the same."""
    own = list(levels)
    for a, ladder in enumerate(ladders):
        while own[a] and len({ladder[row[a]][own[a] - 1] for row in members}) == 1:
            own[a] -= 1
    return tuple(own)


def split_class(
    rows: Sequence[Row],
    members: Sequence[int],
    ladder: dict[str, tuple[str, ...]],
    a: int,
    level: int,
    k: int,
) -> tuple[float, list[list[int]], list[int]]:
    """What a class saves one level down in an attribute; the children that leave; who stays."""
    if not level:
        return 0.0, [], []
    children = defaultdict(list)
    for i in members:
        children[ladder[rows[i][a]][level - 1]].append(i)
    leaving = sorted((c for c in children.values() if len(c) >= k), key=len)
    staying = [i for c in children.values() if len(c) < k for i in c]
    if 0 < len(staying) < k and leaving:
        if len(leaving) > 1 and len(leaving[0]) == len(leaving[1]):
            raise TiedChildrenError
        staying += leaving.pop(0)
    gain = sum(
        measure_cell(ladder, rows[i][a], level) - measure_cell(ladder, rows[i][a], level - 1)
        for c in leaving
        for i in c
    )
    return gain, leaving, staying


class TiedChildrenError(Exception):
    """Two children of the same size: which of them stays is drawn."""


def find_common_levels(one: Row, other: Row, ladders: Ladders) -> Levels | None:
    """The lowest levels at which two records show the same; None if there are none."""
    levels = []
    for x, y, ladder in zip(one, other, ladders, strict=True):
        common = [level for level, label in enumerate(ladder[x]) if label == ladder[y][level]]
        if not common:
            return None
        levels.append(common[0])
    return tuple(levels)


def measure_distance(one: Row, other: Row, ladders: Ladders) -> float:
    """What a record loses if it shows the same as another; infinite if it cannot."""
    levels = find_common_levels(one, other, ladders)
    if levels is None:
        return float("inf")
    return sum(measure_cell(lad, x, lev) for x, lad, lev in zip(one, ladders, levels, strict=True))


def bound_loss(rows: Sequence[Row], ladders: Ladders, k: int) -> float:
    """The mean distance of each record to its (k - 1)-th nearest other."""
    total = 0.0
    for i, row in enumerate(rows):
        others = sorted(
            measure_distance(row, other, ladders) for j, other in enumerate(rows) if j != i
        )
        total += 0.0 if k < 2 else (others[k - 2] if len(others) >= k - 1 else float("inf"))
    return total / (len(rows) * len(ladders))


def find_least_loss(rows: Sequence[Row], ladders: Ladders, k: int, *, together: bool) -> float:
    """The least loss of all ways to put records into classes of k, by trying all.

    With `together`, records that are alike are always in the same class.
    """
    parts = list(Counter(rows).items()) if together else [(row, 1) for row in rows]

    def price(members: tuple[int, ...]) -> float:
        if sum(parts[i][1] for i in members) < k:
            return float("inf")
        cells = 0.0
        for a, ladder in enumerate(ladders):
            labels = [ladder[parts[i][0][a]] for i in members]
            common = [lev for lev in range(len(labels[0])) if len({x[lev] for x in labels}) == 1]
            if not common:
                return float("inf")
            cells += sum(
                parts[i][1] * measure_cell(ladder, parts[i][0][a], common[0]) for i in members
            )
        return cells

    least: dict[tuple[int, ...], float] = {(): 0.0}

    def solve(left: tuple[int, ...]) -> float:
        if left not in least:
            first, others = left[0], left[1:]
            least[left] = min(
                price((first, *chosen)) + solve(tuple(i for i in others if i not in set(chosen)))
                for size in range(len(others) + 1)
                for chosen in combinations(others, size)
            )
        return least[left]

    return solve(tuple(range(len(parts)))) / (len(rows) * len(ladders))


def count_smallest_class(released: Sequence[Sequence[object]]) -> int:
    """How few released rows show the same."""
    return min(Counter(map(tuple, released)).values())
