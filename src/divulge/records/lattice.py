"""Every set of quasi-identifiers at once: how the cube of `kernels` is led over all records.

The attributes are ordered by falling entropy, which keeps cells small. The first few are *fixed*:
for each choice of which of them the adversary knows, records that agree on these form a block, and
the cube walks the lattice of all others inside each block while it is in the processor's cache. As
many are fixed as it takes for the others to fit a key of 63 bits and an address of ten digits.
Where none of the fixed attributes is known, the next attribute forms the blocks, then is dropped,
equal records become one, and so on down: the records become fewer and fewer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[Any]

KEY_BITS = 63
MOST_ROWS = 2**31 - 1
NO_CLASS = 2**32 - 1
"""The smallest of no classes at all."""
MOST_DIGITS = 10
FEW_ROWS = 4096
ROWS_LOOKED_AT = 50_000
"""About so many records are looked at to find a good order of the walk."""
ROWS_OF_A_CHUNK = 1 << 16
ROWS_OF_A_PORTION = 1 << 23
"""So many records are walked between two checkpoints."""


@dataclass(frozen=True)
class Attribute:
    """One attribute as the lattice sees it: a code a record, and how many codes there are."""

    codes: Codes
    cardinality: int

    @property
    def bits(self) -> int:
        """The bits that hold a code."""
        return max(0, self.cardinality - 1).bit_length()

    @property
    def entropy(self) -> float:
        """Shannon entropy of the values, in bits."""
        share = self.occurrences / max(1, len(self.codes))
        share = share[share > 0]
        return float(-(share * np.log2(share)).sum())

    @property
    def occurrences(self) -> Ints:
        """How often each code occurs."""
        counts = np.zeros(self.cardinality, np.int64)
        for start in range(0, len(self.codes), 1 << 22):
            part = self.codes[start : start + (1 << 22)]
            counts += np.bincount(part, minlength=self.cardinality)
        return counts


@dataclass(frozen=True)
class LatticeCounts:
    """What is lost, for every set, against a world in which each record is alone.

    The columns of `noted` are those of the kernel `cube`.

    `sets` holds each set as bits: bit i is the i-th attribute in the order that was given.
    """

    sets: Ints
    noted: Ints
    capacity: Floats
    weighted: Floats


@dataclass(frozen=True)
class _Rows:
    """Keys, how often each occurs (empty: once), its weights if any, where attributes lie in it."""

    keys: Ints
    counts: npt.NDArray[np.int32]
    weights: Floats | None
    layout: Mapping[int, int]


@dataclass(frozen=True)
class _Blocks:
    rows: _Rows
    starts: Ints
    ends: Ints


class Lattice:
    """The walk over all sets of at most `at_most` attributes."""

    def __init__(
        self,
        attributes: Sequence[Attribute],
        sensitive: Sequence[Attribute],
        weights: Floats | None = None,
        at_most: int | None = None,
        capacity: bool = True,
        key: Callable[[], Mapping[str, object]] = dict,
        threads: int | None = None,
    ) -> None:
        self.attributes = attributes
        self.sensitive = sensitive
        self.weights = None if weights is None else np.column_stack([weights, weights])
        self.at_most = len(attributes) if at_most is None else at_most
        self.rows = len(attributes[0].codes)
        self.threads = threads or len(os.sched_getaffinity(0))
        self.key = key
        self.order = sorted(range(len(attributes)), key=lambda i: -attributes[i].entropy)
        self.sensitive_bits = sum(s.bits for s in sensitive)
        self._tables(capacity)

    def _tables(self, capacity: bool) -> None:
        """Where each sensitive attribute lies in the key, and in one table of all their values."""
        table, shift, offset, inverse = [], 0, 0, []
        for each in self.sensitive:
            table.append((shift, (1 << each.bits) - 1, offset))
            shift += each.bits
            offset += 1 << each.bits
            occurrences = np.ones(1 << each.bits)
            occurrences[: each.cardinality] = np.maximum(1, each.occurrences)
            inverse.append(1 / occurrences)
        # The last row is not an attribute: it tells how long the table is.
        self._sensitive = np.array([*table, (0, 0, offset)], np.int64)
        self._inverse = np.concatenate(inverse) if capacity and inverse else np.empty(0)

    @property
    def fixed(self) -> int:
        """How many attributes are decided outside the key."""
        for fixed in range(len(self.order) + 1):
            rest = self.order[fixed:]
            bits = sum(self.attributes[i].bits for i in rest) + self.sensitive_bits
            if bits <= KEY_BITS and len(rest) <= MOST_DIGITS + (fixed == 0):
                return fixed
        raise AssertionError("no attribute left, and the sensitive ones do not fit a key")

    def count(self) -> LatticeCounts:
        """Walk the whole lattice."""
        fixed, rest = self.order[: self.fixed], self.order[self.fixed :]
        patterns = [
            known
            for size in range(min(len(fixed), self.at_most), 0, -1)
            for known in combinations(fixed, size)
        ]
        # A set is a set's worth of work: half of them hold the first attribute of the chain.
        inside = sum(_sets_among(len(rest), self.at_most - len(known)) for known in patterns)
        total = inside + _sets_among(len(rest), self.at_most) - 1
        parts: list[LatticeCounts] = []
        with work.step("Assessing every set of quasi-identifiers", total) as step:
            self._step = step
            parts.extend(self._within_blocks(known, rest) for known in patterns)
            parts.extend(self._down_the_chain(rest))
        return _concatenated(parts)

    def _within_blocks(self, known: Sequence[int], rest: Sequence[int]) -> LatticeCounts:
        """All sets that hold `known`, and any of `rest`."""
        if len(known) == self.at_most:
            rest = ()
        keys, layout = self._keys(rest)
        blocks, number = self._numbered(known)
        ready, layout = self._grouped(
            _Rows(keys, _NONE, self.weights, layout), blocks, 0, number, rest
        )
        del keys, blocks
        name = "known " + " ".join(map(str, known))
        share = _sets_among(len(rest), self.at_most - len(known))
        found = self._walk(ready, layout, self.at_most - len(known), name, share)
        return self._sets(known, list(layout), found)

    def _down_the_chain(self, rest: Sequence[int]) -> Iterator[LatticeCounts]:
        """All sets of `rest` alone: those with the first; then, without it, with the second..."""
        keys, layout = self._keys(rest)
        rows = _Rows(keys, _NONE, self.weights, layout)
        del keys
        for place, root in enumerate(rest):
            name = f"chain {place}"
            if len(rows.keys) <= FEW_ROWS or place == len(rest) - 1:
                # What is left is one block, and the walk decides over all its attributes.
                ready, layout = self._grouped(
                    rows, np.zeros(len(rows.keys), np.int8), 0, 1, rest[place:]
                )
                share = _sets_among(len(rest) - place, self.at_most) - 1
                found = self._walk(ready, layout, self.at_most, name, share)
                yield self._sets((), list(layout), found)
                return
            number = self.attributes[root].cardinality
            ready, layout = self._grouped(
                rows, rows.keys, rows.layout[root], number, rest[place + 1 :]
            )
            rows = _Rows(ready.rows.keys, _NONE, None, layout)  # the old ones are let go
            share = _sets_among(len(rest) - place - 1, self.at_most - 1)
            found = self._walk(ready, layout, self.at_most - 1, name, share)
            yield self._sets((root,), list(layout), found)
            rows = _closed_up(ready, layout)
            del ready

    def _keys(self, rest: Sequence[int]) -> tuple[Ints, dict[int, int]]:
        """The keys of some attributes, the first in the highest bits, and where each lies."""
        from divulge.records import kernels

        keys = np.zeros(self.rows, np.int64)
        layout = self._layout(rest)
        shift = 0
        for each in self.sensitive:
            kernels.add_code(keys, each.codes, shift)
            shift += each.bits
        for i in rest:
            kernels.add_code(keys, self.attributes[i].codes, layout[i])
        return keys, layout

    def _layout(self, rest: Sequence[int]) -> dict[int, int]:
        layout, shift = {}, self.sensitive_bits
        for i in reversed(rest):
            layout[i] = shift
            shift += self.attributes[i].bits
        return {i: layout[i] for i in rest}

    def _numbered(self, known: Sequence[int]) -> tuple[Codes, int]:
        """A number for each combination of values of some attributes that occurs."""
        from divulge.records import kernels

        if len(known) == 1:
            return self.attributes[known[0]].codes, self.attributes[known[0]].cardinality
        blocks = np.zeros(self.rows, np.int64)
        bits = 0
        for i in known:
            attribute = self.attributes[i]
            if bits + attribute.bits > KEY_BITS:
                bits = max(0, kernels.numbered(blocks) - 1).bit_length()
            kernels.add_code(blocks, attribute.codes, bits)
            bits += attribute.bits
        return blocks, kernels.numbered(blocks)

    def _grouped(
        self, rows: _Rows, blocks: Codes, shift: int, number: int, rest: Sequence[int]
    ) -> tuple[_Blocks, dict[int, int]]:
        """The records by block, and where the attributes lie in their keys now."""
        from divulge.records import kernels

        work.check()
        mask = (1 << max(0, number - 1).bit_length()) - 1
        rest = self._in_order(rows, blocks, shift, mask, number, rest)
        layout = self._layout(rest)
        moves = [(0, (1 << self.sensitive_bits) - 1, 0)]
        moves += [(rows.layout[i], (1 << self.attributes[i].bits) - 1, layout[i]) for i in rest]
        size = len(rows.keys)
        keys, counts = np.empty(size, np.int64), np.empty(size, np.int32)
        weights = None if rows.weights is None else np.empty((size, 2))
        starts = np.empty(number + 1, np.int64)
        kernels.grouped(
            rows.keys, rows.counts, rows.weights, blocks, shift, mask, np.array(moves, np.int64),
            starts, keys, counts, weights,
        )  # fmt: skip
        return _Blocks(_Rows(keys, counts, weights, layout), starts, starts[1:].copy()), layout

    def _in_order(
        self, rows: _Rows, blocks: Codes, shift: int, mask: int, number: int, rest: Sequence[int]
    ) -> list[int]:
        """The attributes by falling entropy within a block, as seen in some of the blocks."""
        limit = max(1, min(1 << 32, (ROWS_LOOKED_AT << 32) // max(1, len(rows.keys))))
        looked_at = (np.arange(number, dtype=np.uint64) * 2654435761) % (1 << 32) < limit
        found: list[Ints] = []
        for start in range(0, len(blocks), 1 << 22):
            part = (blocks[start : start + (1 << 22)] >> shift) & mask
            found.append(start + np.flatnonzero(looked_at[part]))
        places = np.concatenate(found)[: 4 * ROWS_LOOKED_AT]
        block = ((blocks[places] >> shift) & mask).astype(np.int64)
        keys = rows.keys[places]

        def entropy(i: int) -> float:
            bits = self.attributes[i].bits
            code = (keys >> rows.layout[i]) & ((1 << bits) - 1)
            _, counts = np.unique((block << bits) | code, return_counts=True)
            return float(-(counts * np.log2(counts)).sum())

        return sorted(rest, key=lambda i: -entropy(i))

    def _walk(
        self,
        blocks: _Blocks,
        layout: Mapping[int, int],
        at_most: int,
        name: str,
        share: float,
    ) -> list[npt.NDArray[Any]]:
        """Sort and walk all blocks, in portions that a killed run need not walk again."""
        from divulge.records import kernels

        masks = [((1 << self.attributes[i].bits) - 1) << layout[i] for i in layout]
        total = None
        portions = _cut(blocks.starts, ROWS_OF_A_PORTION)
        for number, (first, last) in enumerate(portions):
            walked = _Walked()

            def compute(first: int = first, last: int = last, walked: _Walked = walked) -> Any:
                walked.now = True
                chunks = _cut(blocks.starts, ROWS_OF_A_CHUNK, first, last)
                return self._walk_chunks(blocks, masks, at_most, chunks)

            def key(number: int = number) -> dict[str, object]:
                part = {"part": name, "portion": number, "at_most": self.at_most}
                return {**self.key(), **part}

            found = work.remember("sweep", key, compute)
            if not walked.now:
                kernels.sort_blocks(
                    blocks.rows.keys, blocks.rows.counts, blocks.rows.weights,
                    blocks.starts, blocks.ends, first, last,
                )  # fmt: skip
            arrays = [found[field] for field in _FIELDS]
            total = arrays if total is None else self._added(total, arrays)
            self._step.advance(share / len(portions))
        assert total is not None  # noqa: S101  # there is always one portion
        return total

    def _walk_chunks(
        self,
        blocks: _Blocks,
        masks: Sequence[int],
        at_most: int,
        chunks: Sequence[tuple[int, int]],
    ) -> dict[str, npt.NDArray[Any]]:
        from divulge.records import kernels

        digits = len(masks)
        masks_array = np.array(masks, np.int64)
        powers = 3 ** np.arange(digits - 1, -1, -1, dtype=np.int64)
        idle: list[list[npt.NDArray[Any]]] = []
        conditions = work.current()

        def walk(chunk: tuple[int, int]) -> None:
            conditions.check()
            tables = idle.pop() if idle else self._empty(3**digits)
            rows = blocks.rows
            kernels.sort_blocks(
                rows.keys, rows.counts, rows.weights, blocks.starts, blocks.ends, *chunk
            )
            kernels.cube(
                rows.keys, rows.counts, rows.weights, blocks.starts, blocks.ends, *chunk,
                masks_array, powers, at_most, self._sensitive, self._inverse, *tables,
            )  # fmt: skip
            idle.append(tables)

        with ThreadPoolExecutor(self.threads) as pool:
            for _ in pool.map(walk, chunks):
                pass
        total = idle[0]
        for more in idle[1:]:
            total = self._added(total, more)
        return {
            field: _folded(field, len(self.sensitive), table, digits)
            for field, table in zip(_FIELDS, total, strict=True)
        }

    def _added(
        self, one: Sequence[npt.NDArray[Any]], other: Sequence[npt.NDArray[Any]]
    ) -> list[npt.NDArray[Any]]:
        secrets = len(self.sensitive)
        return [
            _joined(field, secrets, a, b) for field, a, b in zip(_FIELDS, one, other, strict=True)
        ]

    def _empty(self, addresses: int) -> list[npt.NDArray[Any]]:
        from divulge.records import kernels

        several = len(self.sensitive)
        with_capacity = several if len(self._inverse) else 0
        with_weights = 2 + 2 * several if self.weights is not None else 0
        noted = np.zeros((addresses, 1 + several + kernels.OF_LARGER + 2 * several), np.uint32)
        noted[:, 1 + several + kernels.SMALLEST] = NO_CLASS
        return [
            noted,
            np.zeros((addresses, with_capacity)),
            np.zeros((addresses, with_weights)),
        ]

    def _sets(
        self, known: Sequence[int], rest: Sequence[int], arrays: Sequence[npt.NDArray[Any]]
    ) -> LatticeCounts:
        """The counts of the sets that hold `known` and any of `rest`, the empty set left out."""
        places = np.arange(2 ** len(rest))
        sets = np.full(len(places), sum(1 << i for i in known), np.int64)
        sizes = np.full(len(places), len(known))
        for digit, i in enumerate(rest):
            taken = (places >> (len(rest) - 1 - digit)) & 1
            sets |= taken << i
            sizes += taken
        wanted = (sizes > 0) & (sizes <= self.at_most)
        return LatticeCounts(sets[wanted], *(array[wanted] for array in arrays))


_FIELDS = ("noted", "capacity", "weighted")
_NONE = np.empty(0, np.int32)


def _closed_up(blocks: _Blocks, layout: Mapping[int, int]) -> _Rows:
    """The records without the attribute of the blocks; they are sorted and distinct by now."""
    from divulge.records import kernels

    rows = blocks.rows
    end = kernels.close_up(rows.keys, rows.counts, rows.weights, blocks.starts, blocks.ends)
    weights = None if rows.weights is None else rows.weights[:end]
    return _Rows(rows.keys[:end], rows.counts[:end], weights, layout)


class _Walked:
    now = False


def _joined(
    field: str, secrets: int, one: npt.NDArray[Any], other: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """Counts of different classes together: sums, but of the smallest class the minimum."""
    from divulge.records import kernels

    total: npt.NDArray[Any] = one + other
    if field == "noted":
        column = (..., 1 + secrets + kernels.SMALLEST)
        total[column] = np.minimum(one[column], other[column])
    return total


def _folded(field: str, secrets: int, table: npt.NDArray[Any], digits: int) -> npt.NDArray[Any]:
    """What is free holds whether the attribute is in or out: three states become two."""
    columns = table.shape[1:]
    for digit in range(digits):
        shaped = table.reshape(2**digit, 3, 3 ** (digits - digit - 1), *columns)
        out, taken, free = shaped[:, 0], shaped[:, 1], shaped[:, 2]
        table = np.stack(
            [_joined(field, secrets, out, free), _joined(field, secrets, taken, free)], 1
        )
    table = table.reshape(2**digits, *columns)
    return table.astype(np.int64) if field == "noted" else table


def _sets_among(attributes: int, at_most: int) -> int:
    """How many sets there are of at most so many attributes, the empty one included."""
    return sum(comb(attributes, size) for size in range(min(attributes, at_most) + 1))


def _cut(starts: Ints, rows: int, first: int = 0, last: int | None = None) -> list[tuple[int, int]]:
    """Cut blocks into stretches of about so many records each."""
    last = len(starts) - 1 if last is None else last
    cuts = [first]
    while cuts[-1] < last:
        wanted = starts[cuts[-1]] + rows
        cuts.append(min(last, max(cuts[-1] + 1, int(np.searchsorted(starts, wanted)))))
    return list(pairwise(cuts))


def _concatenated(parts: Sequence[LatticeCounts]) -> LatticeCounts:
    fields = ("sets", *_FIELDS)
    return LatticeCounts(*(np.concatenate([getattr(p, f) for p in parts]) for f in fields))
