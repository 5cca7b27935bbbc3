"""What a coarser value costs: loss, granularity, precision, non-uniform entropy.

Each is a sum over cells of what a value costs at a level, so all of them are searched alike. Costs
are scaled so that everything removed costs 1 (each attribute its part): a total of costs over all
records is the loss of a node. Loss and granularity are those of ARX: of a value with `leaves` of
`|D|` leaves under it, (leaves/|D| - 1/|D|) / (1 - 1/|D|); loss weighs all attributes alike,
granularity by 1 - 1/|D|.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from divulge.work.arrays import Floats, Ints

CellUtility: TypeAlias = Literal["loss", "granularity", "precision", "entropy"]
CELL_UTILITIES: tuple[CellUtility, ...] = get_args(CellUtility)


@dataclass(frozen=True)
class HierarchyLevels:
    """The levels of one attribute: by level, the node of each code, and its share of all leaves."""

    nodes: tuple[Ints, ...]
    shares: tuple[Floats, ...]
    domain: int
    """How many leaves there are."""


def compute_cell_costs(
    levels: Sequence[HierarchyLevels],
    frequencies: Sequence[Ints],
    weights: Sequence[float],
    utility: CellUtility,
) -> tuple[list[list[Floats]], list[Floats]]:
    """By attribute and level, what a record costs by its code; and what if it is removed.

    `frequencies` are how many records have each code, that of a missing value last. What is
    missing has nothing to lose: the others of its attribute share the whole.
    """
    parts = [
        _weigh_attribute(each, weight, utility)
        for each, weight in zip(levels, weights, strict=True)
    ]
    total = sum(parts) or 1.0
    costs, removal = [], []
    for each, frequency, part in zip(levels, frequencies, parts, strict=True):
        full = _measure_removal(each, frequency, utility)
        scale = float(full @ frequency)
        factor = part / total / scale if scale > 0 else 0.0
        costs.append(
            [
                _measure_level(each, frequency, level, utility) * factor
                for level in range(len(each.nodes))
            ]
        )
        removal.append(full * factor)
    return costs, removal


def _weigh_attribute(levels: HierarchyLevels, weight: float, utility: CellUtility) -> float:
    return weight * (1 - 1 / max(levels.domain, 1)) if utility == "granularity" else weight


def _measure_removal(levels: HierarchyLevels, frequency: Ints, utility: CellUtility) -> Floats:
    """What a removed record loses, by its code; nothing where there is but one value."""
    full = np.ones(frequency.size)
    if utility == "entropy":
        present = max(1, int(frequency[:-1].sum()))
        full = np.log2(present / np.maximum(frequency, 1))
    full[-1] = 0.0
    return full if levels.domain > 1 else np.zeros_like(full)


def _measure_level(
    levels: HierarchyLevels, frequency: Ints, level: int, utility: CellUtility
) -> Floats:
    if levels.domain < 2:
        return np.zeros(frequency.size)
    if utility == "precision":
        height = len(levels.nodes) - 1
        costs = np.full(frequency.size, level / height if height else 0.0)
    elif utility == "entropy":
        of_node = np.bincount(levels.nodes[level], frequency)
        costs = np.log2(np.maximum(of_node[levels.nodes[level]], 1) / np.maximum(frequency, 1))
    else:
        least = 1 / levels.domain
        costs = (levels.shares[level] - least) / (1 - least)
    costs[-1] = 0.0
    return costs
