"""The walk over blocks: in portions that a killed run need not walk again, on all processors.

Each thread notes into tables of its own, with three states an attribute. They are added up after a
portion, and what is free is folded into both other states, so that two states are left.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.records import tuning
from divulge.records.sweep.cube_rows import Blocks, CubeRecords
from divulge.work.arrays import Ints

Tables = list[npt.NDArray[Any]]

NO_CLASS = 2**32 - 1
"""The smallest of no classes at all."""
FIELDS = ("noted", "capacity", "weighted")
"""The tables that the kernel `cube` notes in, by address."""
# What the kernel notes changes with this number: what another version remembered is not taken up.
_VERSION = 3


def count_processors() -> int:
    """The processors that this process may use; not every system tells more than how many."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class BlockWalk:
    """How blocks are walked: with capacity or not, what identifies the data, how many threads."""

    records: CubeRecords
    capacity: bool
    key: Callable[[], Mapping[str, object]]
    threads: int | None

    def walk_blocks(
        self, blocks: Blocks, at_most: int, name: str, advance: Callable[[float], None]
    ) -> Tables:
        """Sort and walk all blocks; `advance` is told the share that each stretch of them is."""
        total: Tables | None = None
        rows = max(1, int(blocks.starts[-1]))
        portions = _cut_blocks(blocks.starts, tuning.ROWS_OF_A_PORTION)
        for number, (first, last) in enumerate(portions):
            chunks = _cut_blocks(blocks.starts, tuning.ROWS_OF_A_CHUNK, first, last)
            shares = [int(blocks.starts[b] - blocks.starts[a]) / rows for a, b in chunks]
            walked: list[float] = []

            def report_chunk(
                chunk: int, shares: list[float] = shares, walked: list[float] = walked
            ) -> None:
                walked.append(shares[chunk])
                advance(shares[chunk])

            def walk_portion(
                chunks: list[tuple[int, int]] = chunks,
                report_chunk: Callable[[int], None] = report_chunk,
            ) -> Any:
                return self._walk_chunks(blocks, at_most, chunks, report_chunk)

            def build_key(number: int = number) -> dict[str, object]:
                part = {"part": name, "portion": number, "at_most": at_most, "version": _VERSION}
                part["layout"] = list(blocks.rows.layout)  # by which the tables are addressed
                return {**self.key(), **part}

            table_by_field = work.memoise("sweep", build_key, walk_portion)
            if not walked:
                # It was remembered: the rows are still wanted in order.
                blocks.sort_blocks(first, last)
                advance(sum(shares))
            arrays = [table_by_field[field] for field in FIELDS]
            total = arrays if total is None else add_tables(total, arrays)
        assert total is not None  # noqa: S101  # there is always one portion
        return total

    def _walk_chunks(
        self,
        blocks: Blocks,
        at_most: int,
        chunks: Sequence[tuple[int, int]],
        report_chunk: Callable[[int], None],
    ) -> dict[str, npt.NDArray[Any]]:
        from divulge.records.sweep import cube_kernels

        rows = blocks.rows
        masks = self.records.build_masks(rows.layout)
        digits = len(masks)
        powers = np.array([3 ** (digits - 1 - digit) for digit in range(digits)], np.uint64)
        sensitive, inverse = self.locate_secrets()
        conditions = work.current()
        threads = self.threads or count_processors()
        # Which thread is quicker must not matter: sums of fractions depend on their order. So each
        # table takes every so many-th chunk, one after the other, and tables are added in order.
        tables = [self.allocate_tables(3**digits) for _ in chunks[:threads]]
        finished = [Event() for _ in chunks]

        def walk_chunk(number: int) -> None:
            if number >= threads:
                finished[number - threads].wait()
            try:
                conditions.check()
                blocks.sort_blocks(*chunks[number])
                cube_kernels.cube(
                    rows.keys, rows.counts, rows.weights, blocks.starts, blocks.ends,
                    *chunks[number], masks, powers, at_most, sensitive, inverse,
                    *tables[number % threads],
                )  # fmt: skip
            finally:
                finished[number].set()

        with ThreadPoolExecutor(threads) as pool:
            for number, _ in enumerate(pool.map(walk_chunk, range(len(chunks)))):
                report_chunk(number)
        total = tables[0]
        for more in tables[1:]:
            total = add_tables(total, more)
        return {
            field: _fold_free_states(field, table, digits)
            for field, table in zip(FIELDS, total, strict=True)
        }

    def locate_secrets(self) -> tuple[Ints, npt.NDArray[np.float64]]:
        """Where each sensitive attribute lies in the key, and in one table of all their values."""
        table, shift, offset, inverse = [], 0, 0, []
        for each in self.records.sensitive:
            table.append((shift, (1 << each.bits) - 1, offset))
            shift += each.bits
            offset += 1 << each.bits
            occurrences = np.ones(1 << each.bits)
            occurrences[: each.cardinality] = np.maximum(1, each.occurrences)
            inverse.append(1 / occurrences)
        # The last row is not an attribute: it tells how long the table is.
        sensitive = np.array([*table, (0, 0, offset)], np.int64)
        return sensitive, np.concatenate(inverse) if self.capacity and inverse else np.empty(0)

    def allocate_tables(self, addresses: int) -> Tables:
        """Tables in which nothing is noted yet."""
        from divulge.records.sweep import cube_kernels

        several = len(self.records.sensitive)
        with_weights = 2 + 2 * several if self.records.weights is not None else 0
        noted = np.zeros((addresses, cube_kernels.SECRETS + 2 * several), np.uint32)
        noted[:, cube_kernels.SMALLEST] = NO_CLASS
        return [
            noted,
            np.zeros((addresses, several if self.capacity else 0)),
            np.zeros((addresses, with_weights)),
        ]


def add_tables(one: Tables, other: Tables) -> Tables:
    """What was noted of different classes together."""
    return [_add_counts(field, a, b) for field, a, b in zip(FIELDS, one, other, strict=True)]


def _add_counts(field: str, one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Counts of different classes together: sums, but of the smallest class the minimum."""
    from divulge.records.sweep import cube_kernels

    total: npt.NDArray[Any] = one + other
    if field == "noted":
        column = (..., cube_kernels.SMALLEST)
        total[column] = np.minimum(one[column], other[column])
    return total


def _fold_free_states(field: str, table: npt.NDArray[Any], digits: int) -> npt.NDArray[Any]:
    """What is free holds whether the attribute is in or out: three states become two."""
    columns = table.shape[1:]
    for digit in range(digits):
        shaped = table.reshape(2**digit, 3, 3 ** (digits - digit - 1), *columns)
        out, taken, free = shaped[:, 0], shaped[:, 1], shaped[:, 2]
        table = np.stack([_add_counts(field, out, free), _add_counts(field, taken, free)], 1)
    table = table.reshape(2**digits, *columns)
    return table.astype(np.int64) if field == "noted" else table


def _cut_blocks(
    starts: Ints, rows: int, first: int = 0, last: int | None = None
) -> list[tuple[int, int]]:
    """Cut blocks into stretches of about so many records each."""
    last = len(starts) - 1 if last is None else last
    cuts = [first]
    while cuts[-1] < last:
        wanted = starts[cuts[-1]] + rows
        cuts.append(min(last, max(cuts[-1] + 1, int(np.searchsorted(starts, wanted)))))
    return list(pairwise(cuts))
