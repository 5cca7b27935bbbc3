"""All small sets of many attributes: depth first, each set splits the classes of its prefix.

Of ninety attributes hardly any fit a key, so the cube would sort the records once for nearly every
set. Here the records stand class after class; one pass counts what one more attribute would split,
and only what is to be split further is put in order. Whoever is alone is alone on more, so nobody
who is alone is carried on. The attributes come by falling entropy: classes are then small soon.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.records.sweep.cube_rows import CubeRecords
from divulge.records.sweep.cube_walk import FIELDS, BlockWalk, Tables, count_processors
from divulge.records.sweep.set_bits import build_set_bits
from divulge.records.sweep.subset_cube import SubsetCounts
from divulge.work.arrays import Ints
from divulge.work.context import Step

# What is noted changes with this number: what another version remembered is not taken up.
_VERSION = 1


@dataclass(frozen=True)
class Classes:
    """Records class after class, those who are alone left out."""

    rows: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]
    """Where each class begins, and where the last one ends."""


@dataclass(kw_only=True, frozen=True)
class PrefixWalk:
    """The walk over all sets of at most `at_most` attributes, in `order`."""

    records: CubeRecords
    order: Sequence[int]
    at_most: int
    capacity: bool
    key: Callable[[], Mapping[str, object]]
    threads: int | None = None

    def count_subsets(self) -> SubsetCounts:
        """What every set loses; what was counted of sets with one first attribute is remembered."""
        walk = BlockWalk(self.records, self.capacity, self.key, self.threads)
        search = _PrefixSearch(self, walk)
        places = len(self.order)
        sets = [each for first in range(places) for each in self._list_branch(first)]
        total = sum(comb(places, size) for size in range(1, self.at_most + 1))
        tables: list[Mapping[str, npt.NDArray[Any]]] = []
        with work.step("Assessing every set of quasi-identifiers", total) as step:
            for first in range(places):
                done = step.done
                tables.append(
                    work.memoise(
                        "sweep",
                        lambda first=first: {  # type: ignore[misc]  # bound now, called later
                            **self.key(),
                            "order": list(self.order),
                            "first": first,
                            "at_most": self.at_most,
                            "prefixes": _VERSION,
                        },
                        lambda first=first: search.count_branch(first, step),  # type: ignore[misc]
                    )
                )
                step.advance(done + self._count_branch_sets(first) - step.done)
        return SubsetCounts(
            build_set_bits(sets, places),
            *(np.concatenate([table[field] for table in tables]) for field in FIELDS),
        )

    def _count_branch_sets(self, first: int) -> int:
        later = len(self.order) - first - 1
        return sum(comb(later, size) for size in range(self.at_most))

    def _list_branch(self, first: int) -> Iterator[tuple[int, ...]]:
        """The sets whose first attribute is one, in the order in which they are noted."""
        yield (self.order[first],)
        for prefix, later in self.list_prefixes((first,)):
            yield from (tuple(self.order[place] for place in (*prefix, one)) for one in later)

    def list_prefixes(self, prefix: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], range]]:
        """A prefix and all that begin with it, each with what may follow it."""
        later = range(prefix[-1] + 1, len(self.order))
        if len(prefix) < self.at_most and later:
            yield prefix, later
            for place in later:
                yield from self.list_prefixes((*prefix, place))


class _PrefixSearch:
    """One walk: what all threads share."""

    def __init__(self, walk: PrefixWalk, block_walk: BlockWalk) -> None:
        self._walk = walk
        self._block_walk = block_walk
        records = walk.records
        keys = records.build_keys(())
        self._secrets, self._counts = keys.keys, keys.counts
        self._located = block_walk.locate_secrets()

    def count_branch(self, first: int, step: Step) -> dict[str, npt.NDArray[Any]]:
        """What all sets lose whose first attribute is one, in the order of `list_prefixes`."""
        walk = self._walk
        rows = len(walk.records)
        everybody = Classes(np.arange(rows, dtype=np.int32), np.array([0, rows], np.int32))
        alone = self._note_sets(everybody, [first])
        parts = [alone]
        later = range(first + 1, len(walk.order))
        if walk.at_most > 1 and later:
            classes = self._refine(everybody, first)
            del everybody
            parts.append(self._note_sets(classes, later))
            step.advance(1 + len(later))
            if walk.at_most > 2:
                conditions = work.current()

                def walk_prefix(place: int) -> list[Tables]:
                    conditions.check()
                    return self._walk_prefix(classes, place, walk.at_most - 2)

                # Tables come in the order of the prefixes, whichever thread is quicker.
                with ThreadPoolExecutor(walk.threads or count_processors()) as pool:
                    for place, found in zip(later, pool.map(walk_prefix, later), strict=True):
                        parts += found
                        following = len(walk.order) - place - 1
                        step.advance(
                            sum(comb(following, size) for size in range(1, walk.at_most - 1))
                        )
        joined = [np.concatenate([part[i] for part in parts]) for i in range(len(FIELDS))]
        tables = dict(zip(FIELDS, joined, strict=True))
        return {**tables, "noted": tables["noted"].astype(np.int64)}

    def _walk_prefix(self, classes: Classes, place: int, left: int) -> list[Tables]:
        """The sets that go on from a prefix with `place`, with at most `left` more attributes."""
        later = range(place + 1, len(self._walk.order))
        if not later:
            return []
        refined = self._refine(classes, place)
        tables = [self._note_sets(refined, later)]
        if left > 1:
            for following in later:
                tables += self._walk_prefix(refined, following, left - 1)
        return tables

    def _note_sets(self, classes: Classes, places: Sequence[int]) -> Tables:
        """What is lost by the sets of these classes with one more attribute, each in a row."""
        from divulge.records.sweep import cube_kernels

        records = self._walk.records
        tables = self._block_walk.allocate_tables(len(places))
        for address, place in enumerate(places):
            attribute = records.attributes[self._walk.order[place]]
            cube_kernels.note_refined_classes(
                classes.rows, classes.starts, attribute.codes, attribute.cardinality,
                self._secrets, records.sensitive_bits, self._counts, records.weights,
                *self._located, address, *tables,
            )  # fmt: skip
        return tables

    def _refine(self, classes: Classes, place: int) -> Classes:
        from divulge.records.sweep import cube_kernels

        attribute = self._walk.records.attributes[self._walk.order[place]]
        rows = np.empty(len(classes.rows), np.int32)
        starts: Ints | npt.NDArray[np.int32] = np.empty(len(classes.rows) + 1, np.int32)
        number = cube_kernels.refine_classes(
            classes.rows, classes.starts, attribute.codes, attribute.cardinality, self._counts,
            rows, starts,
        )  # fmt: skip
        return Classes(rows[: starts[number]].copy(), starts[: number + 1].copy())
