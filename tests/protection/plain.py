"""Plain, obviously right twins: pairs of records compared one by one, every suppression tried."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

from divulge import Dataset

Row = tuple[Any, ...]


def rows_of(dataset: Dataset, names: list[str]) -> list[Row]:
    return [tuple(row[name] for name in names) for row in dataset.to_arrow().to_pylist()]


def may_be_alike(one: Row, other: Row) -> bool:
    return all(a == b or a is None or b is None for a, b in zip(one, other, strict=True))


def fits(released: Row, original: Row) -> bool:
    return all(a is None or a == b for a, b in zip(released, original, strict=True))


def frequencies(released: list[Row], original: list[Row], nulls: str) -> list[int]:
    """How many released rows look like each, by comparing all pairs."""
    if nulls == "maybe":
        return [sum(may_be_alike(mine, other) for other in released) for mine in released]
    if nulls == "known":
        return [sum(fits(other, victim) for other in released) for victim in original]
    if nulls == "value":
        return [released.count(mine) for mine in released]
    return [1 if None in mine else released.count(mine) for mine in released]


def cheapest(rows: list[Row], k: int, nulls: str, most: int) -> int | None:
    """The fewest cells whose suppression gives everybody k, by trying all of them."""
    if nulls != "maybe":  # what is absent is a value; only what is hidden is not shown
        rows = [tuple("absent" if value is None else value for value in row) for row in rows]
    cells = [
        (r, a) for r, row in enumerate(rows) for a, value in enumerate(row) if value is not None
    ]
    for count in range(most + 1):
        for chosen in combinations(cells, count):
            hidden = set(chosen)
            released = [
                tuple(None if (r, a) in hidden else value for a, value in enumerate(row))
                for r, row in enumerate(rows)
            ]
            if min(frequencies(released, rows, nulls)) >= k:
                return count
    return None


def cycle(rows: list[Row], k: int, order: list[int]) -> list[Row]:
    """The cycle as one would do it by hand: record by record, the best attribute first."""
    released = list(rows)
    for record in order:
        while frequencies(released, rows, "maybe")[record] < k:
            best, most = None, -1
            for a, value in enumerate(released[record]):
                if value is None:
                    continue
                trial = (*released[record][:a], None, *released[record][a + 1 :])
                company = sum(may_be_alike(trial, other) for other in released)
                if company > most:
                    best, most = a, company
            if best is None:
                break
            row = released[record]
            released[record] = (*row[:best], None, *row[best + 1 :])
    return released


def worlds(rows: list[Row], domains: list[list[Any]]) -> list[list[Row]]:
    """Every way to fill the nulls of some rows."""
    options = [
        list(product(*[[v] if v is not None else domains[a] for a, v in enumerate(row)]))
        for row in rows
    ]
    return [list(world) for world in product(*options)]
