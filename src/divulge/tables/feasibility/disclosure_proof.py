"""Farkas multipliers of sums that, added up, leave a suppressed cell alone: why it is known.

The sums are found by a linear program over all relations (redundant ones too, so that the
shortest chain of reasoning is among them): multipliers of least total size that leave the cell
alone. Where no such multipliers exist, the cell is known because no cell can be below its lowest
value: two chains then bound it from above and from below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from divulge.assessment import Sentence
from divulge.solvers.highs import INFINITE, LinearProgram
from divulge.tables.table.published import Published
from divulge.tables.table.structure import Key

if TYPE_CHECKING:
    from scipy.sparse import csr_array

CATALOGUE = "divulge.tables"


@dataclass(frozen=True)
class Disclosure:
    """One exactly disclosed cell, and the relations that disclose it, each with its multiplier."""

    key: Key
    label: str
    relations: tuple[tuple[str, float], ...]
    by_sums_alone: bool

    @property
    def sentence(self) -> Sentence:
        """The cell and the chain of reasoning that discloses it."""
        chain = "; ".join(
            name
            if factor > 0
            else str(Sentence(CATALOGUE, "disclosure.subtracted", {"relation": name}))
            for name, factor in self.relations
        )
        key = "disclosure.by_sums" if self.by_sums_alone else "disclosure.by_bounds"
        key = key if self.relations else "disclosure.empty"
        return Sentence(CATALOGUE, key, {"cell": self.label, "chain": chain})

    def __str__(self) -> str:
        return str(self.sentence)


def prove_disclosure(published: Published, cell: int, value: int) -> Disclosure:
    """The relations that disclose a cell whose value is known."""
    from scipy.sparse import csr_array

    structure, relations = published.structure, published.structure.relations
    if not published.unknown[cell]:
        return Disclosure(structure.addresses[cell], structure.describe_cell(cell), (), False)
    hidden = np.flatnonzero(published.unknown)
    matrix = relations.to_matrix(structure.size)
    least = published.floor
    published_values = np.where(published.unknown, 0, published.units - least)
    right = -(matrix @ (published_values + least))
    inside = csr_array(matrix[:, hidden].T)
    place = int(np.searchsorted(hidden, cell))
    target = np.zeros(len(hidden))
    target[place] = 1
    multipliers = _find_multipliers(inside, target, target)
    if multipliers is not None:
        factors = _drop_zeros(multipliers)
        by_sums = True
    else:
        base = value - int(least[cell])
        above = _find_multipliers(
            inside, target, np.full(len(hidden), INFINITE), right=right, least=-INFINITE, most=base
        )
        below = _find_multipliers(
            inside, np.full(len(hidden), -INFINITE), target, right=right, least=base, most=INFINITE
        )
        factors = {
            **(_drop_zeros(above) if above is not None else {}),
            **(_drop_zeros(below) if below is not None else {}),
        }
        by_sums = False
    named_factors = tuple((relations.names(r), factor) for r, factor in sorted(factors.items()))
    return Disclosure(
        structure.addresses[cell], structure.describe_cell(cell), named_factors, by_sums
    )


def _find_multipliers(
    inside: csr_array,
    low: np.ndarray,
    high: np.ndarray,
    *,
    right: np.ndarray | None = None,
    least: float = -INFINITE,
    most: float = INFINITE,
) -> np.ndarray | None:
    """The least multipliers m with low <= inside @ m <= high and least <= right @ m <= most."""
    from scipy.sparse import csr_array, hstack, vstack

    rows = hstack([inside, -inside], format="csr")
    lower, upper = list(low), list(high)
    if right is not None:
        rows = vstack([rows, csr_array(np.concatenate([right, -right])[None, :])], format="csr")
        lower.append(least)
        upper.append(most)
    count = rows.shape[1]
    program = LinearProgram(
        rows, lower, upper, lower=np.zeros(count), upper=np.full(count, INFINITE)
    )
    answer = program.minimise(np.ones(count))
    if not answer.is_optimal:
        return None
    both = answer.values
    return np.asarray(both[: count // 2] - both[count // 2 :])


def _drop_zeros(multipliers: np.ndarray) -> dict[int, float]:
    """The multipliers by relation, without those that are zero."""
    return {
        int(r): round(float(multipliers[r]), 6) for r in np.flatnonzero(abs(multipliers) > 1e-7)
    }
