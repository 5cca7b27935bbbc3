"""Minimal sample uniques (as of SUDA2): the smallest sets on which a record stands alone.

A record is unique on a set of attributes if no other has the same values there; the set is
minimal if it is unique on no smaller part of it (Elliot, Manning & Ford 2002). Sets are numbers
whose bits are attributes, visited so that every part comes before the whole, and each set's
classes are those of the set without its lowest bit, split by one more attribute. Whoever is
alone is alone on more, so only records that still have company are carried on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.classes.keys import densify_keys
from divulge.records import tuning
from divulge.work.arrays import Array, Ints

Bits = npt.NDArray[np.uint8]


MOST_ATTRIBUTES = 62
"""A set is a number of 64 bits, one an attribute, and is never below 0."""


@dataclass(frozen=True)
class MinimalUniqueRows:
    """One row for each minimal unique: whose it is, and the bits of its attributes."""

    record: Ints
    attributes: Ints


Identity = Callable[[], Mapping[str, object]]
"""All that a search depends on, for checkpoints; asked for only where there are some."""


def find_minimal_uniques(
    columns: Sequence[Array],
    cardinalities: Sequence[int],
    rows: int,
    max_size: int,
    identity: Identity | None = None,
) -> MinimalUniqueRows:
    """All minimal sample uniques of at most `max_size` attributes; a code is just a value.

    With an `identity`, each finished branch of the search (the sets with the same last attribute)
    is remembered by a run that can be resumed.
    """
    return _UniqueSearch(columns, cardinalities, rows, max_size, identity).run_search()


class _UniqueSearch:
    """One walk over the sets of attributes, highest bit first."""

    def __init__(
        self,
        columns: Sequence[Array],
        cardinalities: Sequence[int],
        rows: int,
        max_size: int,
        identity: Identity | None = None,
    ) -> None:
        self.identity = identity
        self.columns = columns
        self.cardinalities = cardinalities
        self.rows = rows
        self.max_size = max_size
        self.alone_by_set: dict[int, Bits] = {}
        self.minimal_sets: list[tuple[Ints, int]] = []
        sets = sum(comb(len(columns), size) for size in range(1, max_size + 1))
        self.step = work.step("Searching for minimal sample uniques", sets)
        work.MemoryPlan(
            f"{sets:,} sets of attributes",
            {"who is alone on each": sets * (rows // 8 + 1), "classes": 12 * rows * max_size},
        ).require("give a smaller max_size, or fewer attributes")

    def run_search(self) -> MinimalUniqueRows:
        everybody = np.zeros(self.rows, np.int64)
        with self.step as step:
            for attribute in range(len(self.columns)):
                self._search_branch(attribute, everybody, step)
        if not self.minimal_sets:
            return MinimalUniqueRows(np.empty(0, np.int64), np.empty(0, np.int64))
        record = np.concatenate([records for records, _ in self.minimal_sets])
        sets = np.concatenate(
            [
                np.full(records.size, attributes, np.int64)
                for records, attributes in self.minimal_sets
            ]
        )
        order = np.argsort(record, kind="stable")
        return MinimalUniqueRows(record[order], sets[order])

    def _search_branch(self, attribute: int, everybody: Ints, step: Any) -> None:
        """The sets whose last attribute this is; taken from a checkpoint where there is one."""

        def search_sets() -> dict[str, npt.NDArray[Any]]:
            sets_before, before = set(self.alone_by_set), len(self.minimal_sets)
            self._visit_set(0, attribute, everybody, count=1, carried=None, step=step)
            step.advance()
            new_sets = [each for each in self.alone_by_set if each not in sets_before]
            new_minimal_sets = self.minimal_sets[before:]
            nobody: list[Ints] = [np.empty(0, np.int64)]
            return {
                "records": np.concatenate([*nobody, *(records for records, _ in new_minimal_sets)]),
                "counts": np.array([records.size for records, _ in new_minimal_sets], np.int64),
                "sets": np.array([each for _, each in new_minimal_sets], np.int64),
                "noted": np.array(new_sets, np.int64),
                "bits": np.stack([self.alone_by_set[each] for each in new_sets])
                if new_sets
                else np.empty((0, 0), np.uint8),
            }

        done_before = step.done
        identity = self.identity
        if identity is None or work.current().checkpoints is None:
            self._visit_set(0, attribute, everybody, count=1, carried=None, step=step)
            step.advance()
            return
        key = lambda: {**identity(), "max_size": self.max_size, "attribute": attribute}  # noqa: E731  # asked for once
        checkpoint = work.memoise("suda", key, search_sets)
        if step.done == done_before:
            self._restore_branch(checkpoint)
            step.advance(self._count_sets_below(attribute))

    def _restore_branch(self, checkpoint: Mapping[str, npt.NDArray[Any]]) -> None:
        """What an earlier run has found in a branch."""
        ends = np.cumsum(checkpoint["counts"])[:-1]
        parts = np.split(checkpoint["records"], ends) if checkpoint["counts"].size else []
        self.minimal_sets.extend(zip(parts, checkpoint["sets"].tolist(), strict=True))
        self.alone_by_set.update(zip(checkpoint["noted"].tolist(), checkpoint["bits"], strict=True))

    def _count_sets_below(self, attribute: int) -> int:
        return sum(comb(attribute, size) for size in range(min(self.max_size, attribute + 1)))

    def _extend_set(
        self,
        base: int,
        lowest: int,
        classes: Ints,
        *,
        count: int,
        carried: Ints | None,
        step: Any,
    ) -> None:
        """Add each lower attribute to a set, in ascending order: parts come before the whole."""
        for attribute in range(lowest):
            self._visit_set(base, attribute, classes, count=count, carried=carried, step=step)
            step.advance()

    def _visit_set(
        self,
        base: int,
        attribute: int,
        classes: Ints,
        *,
        count: int,
        carried: Ints | None,
        step: Any,
    ) -> None:
        attributes = base | 1 << attribute
        column = self.columns[attribute]
        if carried is not None:
            column = column[carried]
        cardinality = self.cardinalities[attribute]
        joint = classes * np.int64(cardinality) + column
        split, sizes = _split_classes(joint, count * cardinality)
        company = sizes > 1
        alone = np.flatnonzero(~company[split])
        newly = alone if carried is None else carried[alone]
        self._record_uniques(base, attributes, newly)
        if attribute == 0 or attributes.bit_count() == self.max_size:
            return
        remaining = split.size - alone.size
        if remaining == 0:
            self._mark_all_alone(attributes, attribute, step)
            return
        if remaining < tuning.GATHERING_SHARE * split.size:
            stay = np.flatnonzero(company[split])
            carried = stay if carried is None else carried[stay]
            # Numbers of classes that are gone would make later tables needlessly long.
            places = np.cumsum(company, dtype=np.int64) - 1
            split, size = places[split[stay]], int(places[-1]) + 1
        else:
            size = sizes.size
        self._extend_set(attributes, attribute, split, count=size, carried=carried, step=step)

    def _record_uniques(self, base: int, attributes: int, newly: Ints) -> None:
        """Keep who is alone on a set, and for whom it is minimal."""
        flags = np.zeros(self.rows, np.bool_)
        flags[newly] = True
        bits = np.packbits(flags, bitorder="little")
        minimal = newly
        if base:
            before = self.alone_by_set[base]
            bits = bits | before
            # A record that was alone but carried along is new to nothing.
            minimal = minimal[~_has_bit(before, minimal)]
        for part in _drop_each_attribute(attributes):
            if minimal.size and part and part != base:
                minimal = minimal[~_has_bit(self.alone_by_set[part], minimal)]
        if minimal.size:
            self.minimal_sets.append((minimal, attributes))
        if attributes.bit_count() < self.max_size:
            self.alone_by_set[attributes] = bits

    def _mark_all_alone(self, base: int, lowest: int, step: Any) -> None:
        """Everybody is alone already: larger sets are alone too, and minimal for nobody."""
        for attribute in range(lowest):
            attributes = base | 1 << attribute
            if attributes.bit_count() < self.max_size:
                self.alone_by_set[attributes] = self.alone_by_set[base]
                self._mark_all_alone(attributes, attribute, step)
            step.advance()


def _split_classes(joint: Ints, size: int) -> tuple[Ints, Ints]:
    """Classes with few numbers, and the size of each (numbers without records have size 0)."""
    if size <= tuning.SPARSE_KEYS_PER_RECORD * joint.size + tuning.FEW_KEYS:
        return joint, np.bincount(joint, minlength=size)
    split, count = densify_keys(joint, size)
    return split, np.bincount(split, minlength=count)


def _has_bit(bits: Bits, records: Ints) -> npt.NDArray[np.bool_]:
    """Whether each record's bit is set."""
    is_set: npt.NDArray[np.bool_] = (bits[records >> 3] >> (records & 7).astype(np.uint8) & 1) != 0
    return is_set


def _drop_each_attribute(attributes: int) -> list[int]:
    """The set without each one of its attributes."""
    return [
        attributes & ~(1 << bit) for bit in range(attributes.bit_length()) if attributes >> bit & 1
    ]


def find_uniques_by_frequency(
    attributes: int,
    max_size: int,
    alone_on: Callable[[list[int]], npt.NDArray[np.bool_]],
    identity: Identity | None = None,
) -> MinimalUniqueRows:
    """All minimal uniques where only a function knows who is alone (nulls that match anything).

    With an `identity`, who is alone on each set is remembered by a run that can be resumed.
    """

    def find_alone(each: int) -> npt.NDArray[np.bool_]:
        chosen = [bit for bit in range(attributes) if each >> bit & 1]
        if identity is None:
            return alone_on(chosen)
        key = lambda: {**identity(), "set": chosen}  # noqa: E731  # asked for once
        checkpoint = work.memoise("suda-set", key, lambda: {"alone": alone_on(chosen)})
        return checkpoint["alone"]

    unique: dict[int, npt.NDArray[np.bool_]] = {}
    minimal_sets: list[tuple[Ints, int]] = []
    sets = [
        each
        for size in range(1, max_size + 1)
        for each in sorted(
            sum(1 << bit for bit in chosen) for chosen in combinations(range(attributes), size)
        )
    ]
    with work.step("Searching for minimal sample uniques", len(sets)) as step:
        for each in sets:
            unique[each] = find_alone(each)
            minimal = unique[each].copy()
            for part in _drop_each_attribute(each):
                if part:
                    minimal &= ~unique[part]
            minimal_sets.append((np.flatnonzero(minimal), each))
            step.advance()
    record = np.concatenate([records for records, _ in minimal_sets])
    which = np.concatenate(
        [np.full(records.size, each, np.int64) for records, each in minimal_sets]
    )
    order = np.argsort(record, kind="stable")
    return MinimalUniqueRows(record[order], which[order])
