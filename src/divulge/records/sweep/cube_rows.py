"""Records as the lattice sees them: keys of some attributes, brought together in blocks.

A key holds the codes of attributes from the highest bits down, and the joint code of the sensitive
ones in the lowest bits. Within blocks the attributes are put in the order in which the walk over
them is shortest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log2

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.records import tuning
from divulge.work.arrays import Array, Floats, Ints

KEY_BITS = 63
_NO_COUNTS = np.empty(0, np.int32)


@dataclass(frozen=True)
class CubeAttribute:
    """One attribute as the lattice sees it: a code a row, and how many codes there are.

    A row is a record, or (with counts) so many equal ones.
    """

    codes: Array
    cardinality: int
    counts: npt.NDArray[np.int32] | None = None
    totals: Ints | None = None
    """How often each code occurs among all records, where these rows are only some of them."""

    @property
    def bits(self) -> int:
        """The bits that hold a code."""
        return max(0, self.cardinality - 1).bit_length()

    @cached_property
    def records(self) -> int:
        """How many records there are."""
        return len(self.codes) if self.counts is None else int(self.counts.sum(dtype=np.int64))

    @cached_property
    def entropy(self) -> float:
        """Shannon entropy of the values, in bits."""
        share = self.occurrences / max(1, self.records)
        share = share[share > 0]
        return float(-(share * np.log2(share)).sum())

    @cached_property
    def occurrences(self) -> Ints:
        """How often each code occurs."""
        if self.totals is not None:
            return self.totals
        counts = np.zeros(self.cardinality, np.int64)
        for start in range(0, len(self.codes), tuning.ROWS_PER_PASS):
            part = self.codes[start : start + tuning.ROWS_PER_PASS]
            several = None
            if self.counts is not None:
                several = self.counts[start : start + tuning.ROWS_PER_PASS]
            # Floats are exact here: no portion has 2**53 records.
            counts += np.bincount(part, several, self.cardinality).astype(np.int64)
        return counts


@dataclass(frozen=True)
class KeyRows:
    """Keys, how often each occurs (empty: once), its weights if any, where attributes lie in it."""

    keys: Ints
    counts: npt.NDArray[np.int32]
    weights: Floats | None
    layout: Mapping[int, int]


@dataclass(frozen=True)
class Blocks:
    """Rows block by block; block b begins at `starts[b]` and, once it is sorted, ends at `ends[b]`.

    The attribute that made the blocks is no longer in the keys.
    """

    rows: KeyRows
    starts: Ints
    ends: Ints

    def sort_blocks(self, first: int, last: int) -> None:
        """Sort some blocks in place, and make equal rows one."""
        from divulge.classes import key_kernels

        rows = self.rows
        key_kernels.sort_blocks(
            rows.keys, rows.counts, rows.weights, self.starts, self.ends, first, last
        )

    def compact_rows(self) -> KeyRows:
        """The sorted rows side by side, in place; blocks no longer matter."""
        from divulge.classes import key_kernels

        rows = self.rows
        end = key_kernels.compact_blocks(
            rows.keys, rows.counts, rows.weights, self.starts, self.ends
        )
        weights = None if rows.weights is None else rows.weights[:end]
        return KeyRows(rows.keys[:end], rows.counts[:end], weights, rows.layout)


@dataclass(frozen=True)
class CubeRecords:
    """All attributes of all records, and the weights if there are any."""

    attributes: Sequence[CubeAttribute]
    sensitive: Sequence[CubeAttribute]
    weights: Floats | None

    @property
    def sensitive_bits(self) -> int:
        """The bits that hold the joint code of the sensitive attributes."""
        return sum(s.bits for s in self.sensitive)

    def __len__(self) -> int:
        return len(self.attributes[0].codes)

    def can_fit_key(self, some: Sequence[int]) -> bool:
        """Whether some attributes and the sensitive ones fit one key."""
        return sum(self.attributes[i].bits for i in some) + self.sensitive_bits <= KEY_BITS

    def estimate_joint_entropy(self, some: Sequence[int]) -> float:
        """About how many bits some attributes tell together, from a sample of records.

        As far as the sample has not seen the values (Good and Turing's estimate: its share of
        values that occur once), the attributes count as independent.
        """
        if not some:
            return 0.0
        step = max(1, len(self) // tuning.ENTROPY_SAMPLE_ROWS)
        joint = np.zeros(len(range(0, len(self), step)), np.int64)
        for i in some:
            joint = joint * 1_000_003 + self.attributes[i].codes[::step]
        counts = np.unique(joint, return_counts=True)[1]
        observed_entropy = float(-(counts / len(joint) * np.log2(counts / len(joint))).sum())
        most = min(sum(self.attributes[i].entropy for i in some), log2(max(2, len(self))))
        unseen_share = np.count_nonzero(counts == 1) / len(joint) if step > 1 else 0.0
        return float(observed_entropy + unseen_share * max(0.0, most - observed_entropy))

    def build_layout(self, rest: Sequence[int]) -> dict[int, int]:
        """The lowest bit of each attribute in a key, the first in the highest bits."""
        layout, shift = {}, self.sensitive_bits
        for i in reversed(rest):
            layout[i] = shift
            shift += self.attributes[i].bits
        return {i: layout[i] for i in rest}

    def build_masks(self, layout: Mapping[int, int]) -> Ints:
        """The bits of each attribute in a key."""
        masks = [((1 << self.attributes[i].bits) - 1) << shift for i, shift in layout.items()]
        return np.array(masks, np.int64)

    def build_keys(self, rest: Sequence[int]) -> KeyRows:
        """The keys of some attributes."""
        from divulge.classes import key_kernels

        keys = np.zeros(len(self), np.int64)
        layout = self.build_layout(rest)
        shift = 0
        for each in self.sensitive:
            key_kernels.add_code(keys, each.codes, shift)
            shift += each.bits
        for i in rest:
            key_kernels.add_code(keys, self.attributes[i].codes, layout[i])
        counts = self.attributes[0].counts
        return KeyRows(keys, _NO_COUNTS if counts is None else counts, self.weights, layout)

    def number_combinations(self, known: Sequence[int]) -> tuple[Array, int]:
        """A number for each combination of values of some attributes that occurs."""
        from divulge.classes import key_kernels

        if len(known) == 1:
            return self.attributes[known[0]].codes, self.attributes[known[0]].cardinality
        blocks = np.zeros(len(self), np.int64)
        bits = 0
        for i in known:
            attribute = self.attributes[i]
            if bits + attribute.bits > KEY_BITS:
                bits = max(0, key_kernels.number_blocks(blocks) - 1).bit_length()
            key_kernels.add_code(blocks, attribute.codes, bits)
            bits += attribute.bits
        return blocks, key_kernels.number_blocks(blocks)

    def group_rows(
        self, rows: KeyRows, blocks: Array, shift: int, number: int, rest: Sequence[int]
    ) -> Blocks:
        """The rows by block, with only some attributes in their keys."""
        from divulge.classes import key_kernels

        work.check()
        mask = (1 << max(0, number - 1).bit_length()) - 1
        layout = self.build_layout(
            self._order_by_entropy(rows, blocks, shift, mask=mask, number=number, rest=rest)
        )
        moves = [(0, (1 << self.sensitive_bits) - 1, 0)]
        moves += [
            (rows.layout[i], (1 << self.attributes[i].bits) - 1, to) for i, to in layout.items()
        ]
        size = len(rows.keys)
        keys, counts = np.empty(size, np.int64), np.empty(size, np.int32)
        weights = None if rows.weights is None else np.empty((size, 2))
        starts = np.empty(number + 1, np.int64)
        key_kernels.group_by_block(
            rows.keys, rows.counts, rows.weights, blocks, shift, mask, np.array(moves, np.int64),
            starts, keys, counts, weights,
        )  # fmt: skip
        return Blocks(KeyRows(keys, counts, weights, layout), starts, starts[1:].copy())

    def _order_by_entropy(
        self,
        rows: KeyRows,
        blocks: Array,
        shift: int,
        *,
        mask: int,
        number: int,
        rest: Sequence[int],
    ) -> list[int]:
        """The attributes by falling entropy within a block, as seen in some of the blocks."""
        limit = max(1, min(1 << 32, (tuning.ORDER_SAMPLE_ROWS << 32) // max(1, len(rows.keys))))
        is_sampled = (np.arange(number, dtype=np.uint64) * 2654435761) % (1 << 32) < limit
        parts: list[Ints] = []
        for start in range(0, len(blocks), tuning.ROWS_PER_PASS):
            part = (blocks[start : start + tuning.ROWS_PER_PASS] >> shift) & mask
            parts.append(start + np.flatnonzero(is_sampled[part]))
        places = np.concatenate(parts)[: tuning.ORDER_SAMPLE_EXCESS * tuning.ORDER_SAMPLE_ROWS]
        block = ((blocks[places] >> shift) & mask).astype(np.int64)
        keys = rows.keys[places]

        def compute_entropy(i: int) -> float:
            bits = self.attributes[i].bits
            code = (keys >> rows.layout[i]) & ((1 << bits) - 1)
            _, counts = np.unique((block << bits) | code, return_counts=True)
            return float(-(counts * np.log2(counts)).sum())

        return sorted(rest, key=lambda i: -compute_entropy(i))
