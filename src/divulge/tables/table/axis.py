"""An axis of a table: its codes, and which of them add up to which.

Codes stand in the order in which a table shows them: values first, then ever coarser subtotals,
the total last. So the last row and the last column of a crosstab are its margins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from divulge.data import Hierarchy
from divulge.work.arrays import Ints

TOTAL = "Total"


@dataclass(frozen=True, eq=False)
class Axis:
    """The codes of one classification, with the place of the code each is part of (-1: none).

    >>> Axis.flat("sex", ["F", "M"]).codes
    ('F', 'M', 'Total')
    """

    name: str
    codes: tuple[str, ...]
    parent: Ints

    @classmethod
    def flat(cls, name: str, values: Iterable[str]) -> Axis:
        """Values and their total.

        >>> Axis.flat("sex", ["F", "M"]).parent.tolist()
        [2, 2, -1]
        """
        codes = tuple(values)
        return cls(name, (*codes, TOTAL), np.array([len(codes)] * len(codes) + [-1]))

    @classmethod
    def hierarchical(cls, name: str, values: Sequence[str], hierarchy: Hierarchy) -> Axis:
        """Values, their subtotals level by level, and the total.

        A level that only repeats the one below it, or that gathers everything, adds no code. A
        name that a chain repeats from level to level is one subtotal: of all that bear it at last.

        >>> pairs = [("Roma", "Center"), ("Milano", "North"), ("Torino", "North")]
        >>> area = Hierarchy.from_pairs(pairs)
        >>> axis = Axis.hierarchical("town", ["Milano", "Roma", "Torino"], area)
        >>> axis.codes, axis.parent.tolist()
        (('Milano', 'Roma', 'Torino', 'Center', 'North', 'Total'), [4, 3, 4, 5, 5, -1])
        """
        chains = [[(0, value)] for value in values]
        for level in range(1, hierarchy.height + 1):
            coarser = [str(hierarchy.at(value, level)) for value in values]
            size = Counter(coarser)
            for chain, code in zip(chains, coarser, strict=True):
                if len(chain) > 1 and chain[-1][1] == code:
                    chain.pop()
                if len(size) > 1 and (chain[-1][1] != code or size[code] > 1):
                    chain.append((level, code))
            if len(size) == 1:
                break
        above = sorted({link for chain in chains for link in chain[1:]})
        # A subtotal may bear the name of a value or of the total; codes of an axis differ.
        codes = list(values)
        places: dict[tuple[int, str], int] = {}
        for level, code in above:
            places[level, code] = len(codes)
            codes.append(code if code not in {*codes, TOTAL} else f"{code} (level {level})")
        total = len(codes)
        parent = np.full(total + 1, -1)
        for leaf, chain in enumerate(chains):
            ancestors = [leaf, *(places[link] for link in chain[1:]), total]
            for low, high in pairwise(ancestors):
                parent[low] = high
        return cls(name, (*codes, TOTAL), parent)

    @property
    def size(self) -> int:
        """How many codes there are, subtotals and total included."""
        return len(self.codes)

    @cached_property
    def is_leaf(self) -> npt.NDArray[np.bool_]:
        """Which codes have no parts."""
        leaf = np.ones(self.size, dtype=bool)
        leaf[self.parent[self.parent >= 0]] = False
        return leaf

    @property
    def leaves(self) -> int:
        """How many codes have no parts; they come first."""
        return int(self.is_leaf.sum())

    @cached_property
    def height(self) -> int:
        """How many levels stand above the values: 1 in a flat axis."""
        return max(len(self.chain(leaf)) for leaf in range(self.leaves)) - 1

    def chain(self, code: int) -> list[int]:
        """The code, what it is part of, and so on to the total."""
        chain = [code]
        while self.parent[chain[-1]] >= 0:
            chain.append(int(self.parent[chain[-1]]))
        return chain

    def parts(self, code: int) -> Ints:
        """The codes that add up to a code."""
        return np.flatnonzero(self.parent == code)

    @cached_property
    def leaves_under(self) -> Ints:
        """How many values each code contains."""
        count = np.zeros(self.size, dtype=np.int64)
        for leaf in np.flatnonzero(self.is_leaf):
            count[self.chain(int(leaf))] += 1
        return count

    def totals(self) -> list[tuple[int, Ints]]:
        """Every code that has parts, with its parts."""
        return [(int(code), self.parts(int(code))) for code in np.flatnonzero(~self.is_leaf)]
