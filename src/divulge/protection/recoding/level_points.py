"""Risk and loss of combinations of levels, for several k at once: the cloud of a risk-utility map.

Classes of a combination are counted once; for each k, those below it are removed. What is left of
the average risk is one over the size of each record's class: classes over records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from divulge import work
from divulge.protection.recoding.evaluation import ClassNumberer, Levels
from divulge.protection.recoding.lattice import GeneralisationLattice


@dataclass(frozen=True, kw_only=True)
class LevelPoint:
    """What a combination of levels comes to if classes below k are removed."""

    levels: Levels
    k: int
    loss: float
    average_risk: float
    """Of the records that are released, how many are found by guessing within classes."""
    highest_risk: float
    removed_records: int


def measure_level_points(
    lattice: GeneralisationLattice, ks: Sequence[int], most_combinations: int
) -> list[LevelPoint]:
    """All combinations of levels and all k at which some records are left, or a sample of them."""
    numberer = ClassNumberer(lattice.units)
    every = np.arange(len(lattice.names))
    points = []
    total = min(lattice.combinations, most_combinations)
    with work.step("Mapping combinations of levels", total) as step:
        for levels in _choose_combinations(lattice, most_combinations):
            starts = lattice.find_starts(levels)
            class_of_unit, classes = numberer.number_classes(lattice, starts, every)
            sizes = np.bincount(class_of_unit, lattice.counts, classes)
            costs = np.zeros(lattice.units)
            for a, start in enumerate(starts):
                costs += lattice.costs[start + lattice.codes[a]]
            for k in ks:
                is_kept = sizes >= k
                kept = int(sizes[is_kept].sum())
                if not kept:
                    continue
                of_unit = np.where(is_kept[class_of_unit], costs, lattice.removal_costs)
                points.append(
                    LevelPoint(
                        levels=levels,
                        k=k,
                        loss=float(of_unit @ lattice.counts),
                        average_risk=int(is_kept.sum()) / kept,
                        highest_risk=1 / float(sizes[is_kept].min()),
                        removed_records=lattice.records - kept,
                    )
                )
            step.advance()
    return points


def _choose_combinations(lattice: GeneralisationLattice, most: int) -> Iterator[Levels]:
    """All combinations; of more than `most`, as many drawn evenly, always the same."""
    if lattice.combinations <= most:
        yield from product(*(range(height + 1) for height in lattice.heights))
        return
    draws = np.random.default_rng(0)
    heights = np.array(lattice.heights) + 1
    chosen: dict[Levels, None] = {}
    while len(chosen) < most:
        drawn = draws.integers(0, heights, (most, heights.size))
        chosen |= dict.fromkeys(map(tuple, drawn.tolist()))
    yield from list(chosen)[:most]
