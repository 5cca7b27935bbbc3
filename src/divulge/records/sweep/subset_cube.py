"""The data cube of all subsets of quasi-identifiers: how it is computed over all records.

The attributes are ordered by falling entropy, which keeps cells small. The first few are *fixed*:
for each choice of which of them the adversary knows, records that agree on these form a block, and
the cube walks the lattice of all others inside each block while it is in the processor's cache. As
many are fixed as it takes for the others to fit a key of 63 bits and an address of ten digits.
Where none of the fixed attributes is known, the next attribute forms the blocks, then is dropped,
equal records become one, and so on down: the records become fewer and fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, log2

import numpy as np

from divulge import work
from divulge.records import tuning
from divulge.records.sweep.cube_rows import Blocks, CubeAttribute, CubeRecords
from divulge.records.sweep.cube_walk import FIELDS, BlockWalk, Tables, add_tables
from divulge.records.sweep.set_bits import SetBits, are_among, choose_bit_type
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Floats, Ints

__all__ = ["CubeAttribute", "Floats", "Ints", "SubsetCounts", "SubsetCube"]

MOST_ROWS = 2**31 - 1
"""Records that the 32-bit counts of the walks can hold."""


@dataclass(frozen=True)
class SubsetCounts:
    """What is lost, for every set, against a world in which each record is alone.

    `sets` holds each set as bits: bit i is the i-th attribute in the order that was given. The
    columns of the other tables are those of the kernel `cube`.
    """

    sets: SetBits
    noted: Ints
    capacity: Floats
    weighted: Floats

    def leave_out(self, sets: Sequence[int]) -> SubsetCounts:
        """The same without some sets, given as bits."""
        is_kept = ~are_among(self.sets, sets)
        return SubsetCounts(*(getattr(self, field)[is_kept] for field in ("sets", *FIELDS)))


class SubsetCube:
    """The walk over all sets of at most `at_most` attributes."""

    def __init__(
        self,
        attributes: Sequence[CubeAttribute],
        sensitive: Sequence[CubeAttribute],
        weights: Floats | None = None,
        *,
        at_most: int | None = None,
        capacity: bool = True,
        key: Callable[[], Mapping[str, object]] = dict,
        threads: int | None = None,
    ) -> None:
        if attributes[0].records > MOST_ROWS:
            message = f'has more than {MOST_ROWS:,} records; give engine="duckdb".'
            raise InvalidInput("sweep", [Problem("dataset", message)])
        both = None if weights is None else np.column_stack([weights, weights])
        self.records = CubeRecords(attributes, sensitive, both)
        self.at_most = len(attributes) if at_most is None else at_most
        self.order = sorted(range(len(attributes)), key=lambda i: -attributes[i].entropy)
        self.key = key
        self._walk = BlockWalk(self.records, capacity, key, threads)

    @property
    def fixed_count(self) -> int:
        """How many attributes are decided outside the key."""
        return self._count_fixed(self.order)

    def _count_fixed(self, order: Sequence[int]) -> int:
        for fixed in range(len(order) + 1):
            rest = order[fixed:]
            if self.records.can_fit_key(rest) and len(rest) <= tuning.MOST_KEY_ATTRIBUTES + (
                fixed == 0
            ):
                return fixed
        raise AssertionError("no attribute left, and the sensitive ones do not fit a key")

    def count_sets(self) -> int:
        """How many sets are walked."""
        return sum(comb(len(self.order), size) for size in range(1, self.at_most + 1))

    def count_patterns(self) -> int:
        """How often the records are sorted for attributes outside the key."""
        fixed = self.fixed_count
        return sum(comb(fixed, size) for size in range(1, min(fixed, self.at_most) + 1))

    def count_subsets(self) -> SubsetCounts:
        """Walk the whole lattice."""
        fixed, rest = self.order[: self.fixed_count], self.order[self.fixed_count :]
        patterns = [
            known
            for size in range(min(len(fixed), self.at_most), 0, -1)
            for known in combinations(fixed, size)
        ]
        chain = [(rest[p : p + 1], rest[p + 1 :]) for p in range(max(1, len(rest)))]
        self._costs_ahead = [
            self._estimate_cost(known, rest, len(self.records)) for known in patterns
        ]
        self._costs_ahead += [
            self._estimate_cost(known, open_, len(self.records)) for known, open_ in chain
        ]
        parts: list[SubsetCounts] = []
        with work.step("Assessing every set of quasi-identifiers", sum(self._costs_ahead)) as step:
            self._step = step
            self._advance: Callable[[float], None] = step.advance
            parts.extend(self._count_within_blocks(known, rest) for known in patterns)
            parts.extend(self._count_along_chain(rest))
        return concatenate_counts(parts)

    def count_supersets(
        self, always: Sequence[int], advance: Callable[[float], None]
    ) -> SubsetCounts:
        """All sets that hold some attributes, of which there is one at least, and any others.

        Their classes lie within the blocks that these attributes make, so the counts of disjoint
        blocks add up. `advance` is told shares of the work.
        """
        order = [i for i in self.order if i not in always]
        fixed_count = self._count_fixed(order)
        fixed, rest = order[:fixed_count], order[fixed_count:]
        patterns = [
            (*always, *known)
            for size in range(min(len(fixed), self.at_most - len(always)), -1, -1)
            for known in combinations(fixed, size)
        ]
        costs = [self._estimate_cost(known, rest, len(self.records)) for known in patterns]
        whole = sum(costs) or 1.0
        self._costs_ahead = [cost / whole for cost in costs]
        self._advance = advance
        return concatenate_counts([self._count_within_blocks(p, rest) for p in patterns])

    def _estimate_cost(self, known: Sequence[int], rest: Sequence[int], rows: int) -> float:
        """What walking is expected to cost: a little for each row, more where blocks are long.

        All rows are sorted; then equal ones are one. The cost of walking a row grows with the
        number of halvings from its block to itself, up to about ten.
        """
        of_blocks = self.records.estimate_joint_entropy(known)
        known_entropy = self.records.estimate_joint_entropy([*known, *rest])
        distinct = min(
            log2(rows), known_entropy + sum(each.entropy for each in self.records.sensitive)
        )
        walk_cost = float(2**distinct) * min(tuning.MOST_HALVINGS, max(0.0, distinct - of_blocks))
        return tuning.SORTING_COST * rows + walk_cost

    def _count_within_blocks(self, known: Sequence[int], rest: Sequence[int]) -> SubsetCounts:
        """All sets that hold `known`, and any of `rest`."""
        if len(known) == self.at_most:
            rest = ()
        blocks, number = self.records.number_combinations(known)
        ready = self.records.group_rows(self.records.build_keys(rest), blocks, 0, number, rest)
        del blocks
        name = "known " + " ".join(map(str, known))
        return self._walk_blocks(ready, known, self.at_most - len(known), name)

    def _count_along_chain(self, rest: Sequence[int]) -> Iterator[SubsetCounts]:
        """All sets of `rest` alone: those with the first; then, without it, with the second..."""
        rows = self.records.build_keys(rest)
        for place, root in enumerate(rest):
            name = f"chain {place}"
            places_left = range(place, len(rest))
            # Now that it is known how many rows there are, the time left is known better.
            self._costs_ahead = [
                self._estimate_cost(rest[p : p + 1], rest[p + 1 :], len(rows.keys))
                for p in places_left
            ]
            self._step.total = self._step.done + sum(self._costs_ahead)
            if len(rows.keys) <= tuning.FEW_ROWS or place == len(rest) - 1:
                # What is left is one block, and the walk decides over all its attributes.
                self._costs_ahead = [sum(self._costs_ahead)]
                single_block = np.zeros(len(rows.keys), np.int8)
                ready = self.records.group_rows(rows, single_block, 0, 1, rest[place:])
                yield self._walk_blocks(ready, (), self.at_most, name)
                return
            number = self.records.attributes[root].cardinality
            ready = self.records.group_rows(
                rows, rows.keys, rows.layout[root], number, rest[place + 1 :]
            )
            rows = ready.rows  # the old ones are let go
            yield self._walk_blocks(ready, (root,), self.at_most - 1, name)
            rows = ready.compact_rows()
            del ready

    def _walk_blocks(
        self, blocks: Blocks, known: Sequence[int], at_most: int, name: str
    ) -> SubsetCounts:
        cost = self._costs_ahead.pop(0)
        tables = self._walk.walk_blocks(
            blocks, at_most, name, lambda share: self._advance(share * cost)
        )
        return self._tabulate_sets(known, list(blocks.rows.layout), tables)

    def _tabulate_sets(
        self, known: Sequence[int], rest: Sequence[int], tables: Tables
    ) -> SubsetCounts:
        """The counts of the sets that hold `known` and any of `rest`, the empty set left out."""
        places = np.arange(2 ** len(rest))
        bit_type = choose_bit_type(len(self.order))
        sets: SetBits = np.full(len(places), sum(1 << i for i in known), bit_type)
        sizes = np.full(len(places), len(known))
        for digit, i in enumerate(rest):
            is_taken = (places >> (len(rest) - 1 - digit)) & 1
            sets |= is_taken.astype(bit_type) << i
            sizes += is_taken
        is_counted = (sizes > 0) & (sizes <= self.at_most)
        return SubsetCounts(sets[is_counted], *(table[is_counted] for table in tables))


def add_block_counts(parts: Sequence[SubsetCounts]) -> SubsetCounts:
    """Counts of the same sets over disjoint blocks together."""
    sorted_parts = [_sort_counts(part) for part in parts]
    tables = [[getattr(part, field) for field in FIELDS] for part in sorted_parts]
    total = tables[0]
    for more in tables[1:]:
        total = add_tables(total, more)
    return SubsetCounts(sorted_parts[0].sets, *total)


def _sort_counts(counts: SubsetCounts) -> SubsetCounts:
    order = np.argsort(counts.sets)
    return SubsetCounts(*(getattr(counts, field)[order] for field in ("sets", *FIELDS)))


def concatenate_counts(parts: Sequence[SubsetCounts]) -> SubsetCounts:
    """Counts of different sets, one after the other."""
    fields = ("sets", *FIELDS)
    return SubsetCounts(*(np.concatenate([getattr(p, f) for p in parts]) for f in fields))
