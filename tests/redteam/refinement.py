"""Refining a published local recoding: what a coarse value can still be, by linear programs.

An attacker who has the file, the hierarchies and the number of records of each value (a published
margin) asks, class by class, how many records can have each value. Records of a class show the same
coarse values. Each value is counted once: the counts of a class sum up to its size, those of a value
to its margin. Where the scheme shows the lowest common ancestor, no child of a coarse value holds
the whole class. Counts, children and margins form a network, so the linear program's ends are whole
numbers that some original reaches, and nothing more follows from these facts. Plain code, and slow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

Shown = tuple[str, ...]
Ladder = Sequence[str]
"""A value and what is above it, level by level."""
Interval = tuple[int, int]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Refinement:
    """By class and attribute, how many of its records may have each value."""

    sizes: Mapping[Shown, int]
    counts: Mapping[tuple[Shown, str], Mapping[str, Interval]]
    """By class and coarse attribute; values that are under what is shown."""

    def list_narrowed(self) -> list[tuple[Shown, str]]:
        """Coarse values that cannot be some of what is under them."""
        return [
            cell
            for cell, intervals in self.counts.items()
            if any(most == 0 for _, most in intervals.values())
        ]

    def list_known(self) -> list[tuple[Shown, str]]:
        """Coarse values of which it is known how many records have which value."""
        return [
            cell
            for cell, intervals in self.counts.items()
            if all(least == most for least, most in intervals.values())
        ]

    def list_certain(self) -> list[tuple[Shown, str]]:
        """Coarse values that all records of a class have in common: recoding hides nothing."""
        return [
            (shown, name)
            for (shown, name), intervals in self.counts.items()
            if any(least == self.sizes[shown] for least, _ in intervals.values())
        ]

    def count_cells(self, cells: Iterable[tuple[Shown, str]]) -> int:
        """How many records have these values, each counted for itself."""
        return sum(self.sizes[shown] for shown, _ in cells)

    def compute_factor(self) -> float:
        """By how much a guess becomes surer at least, over all coarse cells."""
        informed = naive = 0.0
        for (shown, _), intervals in self.counts.items():
            naive += self.sizes[shown] / len(intervals)
            # Some value is had by as many as must have it, and by an equal share at least.
            surest = max(least for least, _ in intervals.values())
            possible = sum(most > 0 for _, most in intervals.values())
            informed += max(surest, self.sizes[shown] / possible)
        return informed / naive if naive else 1.0

    def count_company(self, victim: Mapping[str, str], names: Sequence[str]) -> int:
        """How many records may be the victim's, for somebody who knows all their values."""
        company = 0
        for shown, size in self.sizes.items():
            may_be = all(
                self.counts[shown, name].get(victim[name], (0, 0))[1] > 0
                if (shown, name) in self.counts
                else text == victim[name]
                for text, name in zip(shown, names, strict=True)
            )
            company += size if may_be else 0
        return company


def refine(
    records: Sequence[Shown],
    names: Sequence[str],
    ladders: Mapping[str, Mapping[str, Ladder]],
    margins: Mapping[str, Mapping[str, int]],
    *,
    is_tight: bool,
) -> Refinement:
    """Bound the counts of each class by all that is public.

    Args:
        records: what the file shows, record by record.
        names: its attributes.
        ladders: by attribute and value, the value and its ancestors.
        margins: by attribute whose counts are published, the number of records of each value.
        is_tight: whether the scheme is known to show the lowest common ancestor of a class.
    """
    sizes = Counter(records)
    counts: dict[tuple[Shown, str], dict[str, Interval]] = {}
    for a, name in enumerate(names):
        bounds = _bound_counts(
            [(shown[a], size) for shown, size in sizes.items()],
            ladders[name],
            margins.get(name),
            is_tight=is_tight,
        )
        for shown, intervals in zip(sizes, bounds, strict=True):
            if shown[a] not in intervals:
                counts[shown, name] = intervals
    return Refinement(sizes=sizes, counts=counts)


def _bound_counts(
    classes: Sequence[tuple[str, int]],
    ladders: Mapping[str, Ladder],
    margin: Mapping[str, int] | None,
    *,
    is_tight: bool,
) -> list[dict[str, Interval]]:
    """By class (what it shows of an attribute, and its size), the least and most of each value."""
    cells = [
        (place, value)
        for place, (node, _) in enumerate(classes)
        for value in ladders
        # What nobody has by the margin is no value that could be ruled out.
        if node in ladders[value] and (margin is None or margin.get(value, 0))
    ]
    equal: list[tuple[list[int], int]] = []
    below: list[tuple[list[int], int]] = []
    for place, (node, size) in enumerate(classes):
        own = [i for i, (of, _) in enumerate(cells) if of == place]
        equal.append((own, size))
        if is_tight and len(own) > 1:
            children: dict[str, list[int]] = {}
            for i in own:
                ladder = ladders[cells[i][1]]
                # A ladder may repeat a node at several levels.
                child = next(step for step, above in pairwise(ladder) if above == node != step)
                children.setdefault(child, []).append(i)
            below += [(part, size - 1) for part in children.values()]
    if margin is not None:
        for value, total in margin.items():
            own = [i for i, (_, of) in enumerate(cells) if of == value]
            equal.append((own, total))
    highest = [
        classes[place][1] if margin is None else min(classes[place][1], margin[value])
        for place, value in cells
    ]
    ends = _Program(equal, below, len(cells)).find_ends(highest)
    intervals: list[dict[str, Interval]] = [{} for _ in classes]
    for (place, value), interval in zip(cells, ends, strict=True):
        intervals[place][value] = interval
    return intervals


class _Program:
    """Counts that are not negative, sums of some of which are known or bounded."""

    def __init__(
        self,
        equal: Sequence[tuple[list[int], int]],
        below: Sequence[tuple[list[int], int]],
        width: int,
    ) -> None:
        self.width = width
        self.equal, self.totals = _build_rows(equal, width)
        self.below, self.most = _build_rows(below, width)

    def find_ends(self, highest: Sequence[int]) -> list[Interval]:
        """The least and the most of each count; what a solution has shown is not asked again."""
        first = self._solve(np.zeros(self.width))
        least, most = first.copy(), first.copy()
        for i in range(self.width):
            for sign in (1, -1):
                is_reached = least[i] == 0 if sign == 1 else most[i] == highest[i]
                if is_reached:
                    continue
                objective = np.zeros(self.width)
                objective[i] = sign
                solution = self._solve(objective)
                least, most = np.minimum(least, solution), np.maximum(most, solution)
        return [(int(low), int(high)) for low, high in zip(least, most, strict=True)]

    def _solve(self, objective: Floats) -> Floats:
        solution = linprog(
            objective,
            A_ub=self.below if self.most.size else None,
            b_ub=self.most if self.most.size else None,
            A_eq=self.equal,
            b_eq=self.totals,
            bounds=(0, None),
            # A vertex, not a point between: vertices of a network are whole.
            method="highs-ds",
        )
        if not solution.success or solution.x is None:
            raise ValueError(f"no original fits what is published: {solution.message}")
        values: Floats = np.asarray(solution.x, np.float64)
        whole: Floats = np.round(values)
        if np.abs(whole - values).max(initial=0.0) > 1e-6:
            raise ValueError("a solution is not whole")
        return whole


def _build_rows(rows: Sequence[tuple[list[int], int]], width: int) -> tuple[Floats, Floats]:
    matrix = np.zeros((len(rows), width))
    for number, (members, _) in enumerate(rows):
        matrix[number, members] = 1
    return matrix, np.array([float(total) for _, total in rows])
