"""The search for relations, and the cells that they tell: to a fixed point.

Groups of rows that agree in one column are tried first, then groups of two, then again what the
cells filled so far make possible: chains of relations. Free of datasets; the columns are integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from divulge import work
from divulge.protection import tuning
from divulge.protection.refill.columns import (
    SINGLE_ORIGINS,
    CodedColumn,
    build_absence_columns,
)
from divulge.protection.refill.kernels import HIDDEN
from divulge.protection.refill.search.arithmetic import (
    may_fit_sample,
    offer_bounds,
    offer_calculations,
    offer_neighbours,
    offer_numbers,
)
from divulge.protection.refill.search.dictionaries import find_dictionaries
from divulge.protection.refill.search.majorities import (
    Majority,
    measure_majority,
    predict_majority,
)
from divulge.protection.refill.search.member_sums import offer_member_sums
from divulge.protection.refill.search.ranges import RangeFinder
from divulge.protection.refill.search.relations import ColumnRelation, Narrowing
from divulge.protection.refill.search.restoration import restore_columns
from divulge.protection.refill.search.state import (
    Key,
    RefillState,
    StrippedPartition,
    Target,
    Telling,
)
from divulge.protection.refill.search.support import BOLDEST, Boldness, Support, choose_support
from divulge.work.arrays import Array, Floats, Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class CompletedColumn:
    """A column with hidden cells, as far as relations tell them."""

    codes: Ints
    numbers: Floats | None
    """The numbers of all codes: a calculated value that nobody shows has a code of its own."""
    teller: Ints
    tellings: Sequence[Telling] = field(default=(), repr=False)
    """What single relations tell rightly, each by itself; only where the truth is at hand."""

    def fill_by(self, tellings: Sequence[Telling]) -> CompletedColumn:
        """The column as somebody completes it who knows some relations and no others."""
        codes = np.where(self.teller >= 0, HIDDEN, self.codes).astype(self.codes.dtype)
        for rows, values in tellings:
            codes[rows] = values
        return replace(self, codes=codes)


@dataclass(frozen=True, kw_only=True, eq=False)
class Completion:
    """What relations tell of the hidden cells, by column; and the relations themselves."""

    columns: Mapping[str, CompletedColumn]
    """By the key of a column: of finer values the shown ones are among the codes."""
    relations: tuple[ColumnRelation, ...]
    narrowings: tuple[Narrowing, ...]
    pair_columns: int
    """How many columns were looked at in pairs."""
    all_columns: int
    modulus: int = 1
    """Of so many groups, about one gave evidence."""

    def tells_like(self, other: Completion) -> bool:
        """Whether both tell the same of every cell."""
        return all(
            np.array_equal(column.codes, other.columns[key].codes)
            for key, column in self.columns.items()
        )


def complete_columns(
    columns: Sequence[CodedColumn],
    keys: Sequence[str],
    *,
    truth: Mapping[str, Ints] | None = None,
    ordered: bool = False,
    read_from: Sequence[str] | None = None,
    boldness: Boldness = BOLDEST,
) -> Completion:
    """Find the relations of a release and fill the hidden cells that they tell.

    Args:
        columns: what is published or known, as integers.
        keys: the quasi-identifiers: records that agree in all others are twins.
        truth: by column, what hidden cells were: only relations that mostly tell it are used.
        ordered: whether the order of the rows means something.
        read_from: columns that relations may read from; all if not given.
        boldness: from how many cells on relations are believed, if the truth is at hand.
    """
    daring = None if truth is None else boldness
    restored, restorations = restore_columns(columns, truth, read_from, daring)
    everything = [*restored, *build_absence_columns(columns)]
    state = RefillState(
        everything, keys, truth=truth, ordered=ordered, read_from=read_from, boldness=daring
    )
    finder, ranges = RelationFinder(state), RangeFinder(state)
    singles: list[tuple[int, ...]] = [(place,) for place in state.sources]
    in_pairs = choose_pair_columns(state, keys)
    pairs: list[tuple[int, ...]] = list(combinations(in_pairs, 2))
    narrowings: list[Narrowing] = []
    fresh = {*singles, *pairs}  # each set of columns advances the work once
    offer_dictionaries(state)
    with work.step("Looking for relations", len(singles) + len(pairs)) as step:
        while any(target.is_open for target in state.targets):
            offer_calculations(state)
            offer_member_sums(state)
            ranges.offer_ranges()
            narrowings = offer_bounds(state) if not any(state.versions) else narrowings
            if ordered:
                offer_neighbours(state)
            for single in singles:
                finder.examine(single)
                step.advance(int(single in fresh))
                fresh.discard(single)
            if state.settle():
                continue
            for pair in pairs:
                finder.examine(pair)
                step.advance(int(pair in fresh))
                fresh.discard(pair)
            if not state.settle():
                break
    completed = {
        state.columns[target.place].key: CompletedColumn(
            codes=target.known,
            numbers=target.numbers,
            teller=target.teller,
            tellings=tuple(target.tellings.values()),
        )
        for target in state.targets
    }
    for column in restored:  # nobody shows a finer value, so that no more was looked for
        if column.origin == "finer" and column.key not in completed:
            nobody = np.full(column.codes.size, -1, np.int32)
            completed[column.key] = CompletedColumn(
                codes=column.codes, numbers=column.numbers, teller=nobody
            )
    return Completion(
        columns=completed,
        relations=(*state.list_relations(), *restorations),
        narrowings=tuple(narrowings),
        pair_columns=len(in_pairs),
        all_columns=sum(state.columns[p].origin not in SINGLE_ORIGINS for p in state.sources),
        modulus=finder.modulus,
    )


def offer_dictionaries(state: RefillState) -> None:
    """Offer what values mean to who knows it; that is taken for granted where the truth is."""
    for target in state.targets:
        if target.truth is None or not target.is_open:
            continue
        places = [
            place
            for place in state.sources
            if target.may_read((place,))
            and state.columns[place].origin in ("published", *SINGLE_ORIGINS)
        ]
        others = [replace(state.columns[place], codes=state.known[place]) for place in places]
        truth = np.where(target.shown == HIDDEN, target.truth, target.shown).astype(np.int32)
        cardinality = state.columns[target.place].cardinality
        for found in find_dictionaries(
            others, truth, cardinality, boldness=target.boldness, allowed=target.allowed
        ):
            rows = np.flatnonzero((target.known == HIDDEN) & (found.codes >= 0))
            if found.support.is_exact:
                key: Key = ("dictionary", (places[found.place],), target.place)
                state.offer(key, found.support, (rows, found.codes[rows]))


def choose_pair_columns(state: RefillState, keys: Sequence[str]) -> list[int]:
    """The columns that are looked at in pairs: all, or of very many a fixed choice.

    Keys and known groups always; of the others every n-th.
    """
    columns = state.columns
    places = [p for p in state.sources if columns[p].origin not in SINGLE_ORIGINS]
    if len(places) <= tuning.REFILL_PAIR_COLUMNS:
        return list(places)
    first = [p for p in places if columns[p].name in keys or columns[p].origin == "group"]
    first = first[: tuning.REFILL_PAIR_COLUMNS]
    rest = [place for place in places if place not in set(first)]
    wanted = tuning.REFILL_PAIR_COLUMNS - len(first)
    chosen = np.linspace(0, len(rest) - 1, wanted).astype(int).tolist() if wanted else []
    return sorted({*first, *(rest[number] for number in chosen)})


class RelationFinder:
    """Looks at groups of rows that agree in some columns, each set of columns only if need be."""

    def __init__(self, state: RefillState) -> None:
        self._state = state
        self._partitions: dict[int, tuple[int, StrippedPartition]] = {}
        self._supports: dict[
            tuple[tuple[int, ...], int], tuple[tuple[int, ...], Support | None]
        ] = {}
        self._majorities: dict[
            tuple[tuple[int, ...], int], tuple[tuple[int, ...], Majority | None]
        ] = {}
        self._predicted: dict[tuple[tuple[int, ...], int], tuple[int, ...]] = {}
        self._counted: dict[tuple[int, ...], tuple[int, ...]] = {}
        # Whole groups are drawn, never rows: a group of which rows are missing proves nothing.
        self.modulus = max(1, -(-state.rows // tuning.REFILL_ROWS))

    def examine(self, places: tuple[int, ...]) -> None:
        """Offer what the rows that agree in these columns tell of each hidden column."""
        from divulge.protection.refill import kernels

        state = self._state
        version = tuple(state.versions[place] for place in places)
        partition: StrippedPartition | None = None
        for target in state.targets:
            if not target.may_read(places) or not target.is_open:
                continue
            case = (places, target.place)
            now = (*version, state.versions[target.place])
            if self._predicted.get(case) == now:
                continue
            self._predicted[case] = now
            before = self._supports.get(case)
            if before is not None and before[0] == version:
                support = before[1]
            else:
                partition = partition or self.build_partition(places, self.modulus)
                support = choose_support(
                    self.count_support(partition, target), boldness=target.boldness
                )
                self._supports[case] = version, support
            if support is None:
                partition = self._offer_majority(places, version, partition, target)
                continue
            if partition is None or self.modulus > 1:
                whole = self.build_partition(places, 1)
            else:
                whole = partition
            predictions = kernels.predict_members(whole.rows, whole.starts, target.known)
            state.offer(("determines", places, target.place), support, predictions)
        self._offer_counts(places, version, partition)

    def _offer_majority(
        self,
        places: tuple[int, ...],
        version: tuple[int, ...],
        partition: StrippedPartition | None,
        target: Target,
    ) -> StrippedPartition | None:
        """Offer what most rows of a group have, where not all agree; gives the groups if made."""
        case = (places, target.place)
        cardinality = self._state.count_codes(target.place)
        before = self._majorities.get(case)
        if before is not None and before[0] == version:
            majority = before[1]
        else:
            partition = partition or self.build_partition(places, self.modulus)
            majority = measure_majority(partition, target, cardinality)
            self._majorities[case] = version, majority
        if majority is not None:
            whole = self.build_partition(places, 1)
            predictions = predict_majority(majority, whole, target, cardinality)
            key: Key = ("majority", places, target.place)
            self._state.offer(key, majority.support, predictions)
        return partition

    def count_support(self, partition: StrippedPartition, target: Target) -> Array:
        """The leave-one-out evidence that groups share a column's value."""
        from divulge.protection.refill import kernels

        return kernels.count_support(
            partition.rows, partition.starts, target.evidence, target.combination, target.mode
        )

    def _offer_counts(
        self, places: tuple[int, ...], version: tuple[int, ...], partition: StrippedPartition | None
    ) -> None:
        """Offer the number of rows of each group as the value of a column of whole numbers."""
        targets = [t for t in self._state.targets if t.numbers is not None and t.sample.size]
        if self._counted.get(places) == version or not any(t.is_open for t in targets):
            return
        self._counted[places] = version
        if self.modulus > 1:
            if len(places) > 1:
                return
            partition = None
        sizes = self.count_members(places, partition or self.build_partition(places, 1))
        for target in targets:
            is_candidate = target.is_open and target.may_read(places)
            if is_candidate and may_fit_sample(target, sizes[target.sample]):
                offer_numbers(self._state, target, ("count", places), sizes)

    def count_members(self, places: tuple[int, ...], partition: StrippedPartition) -> Floats:
        """For each row, how many rows agree with it; not-a-number where that is not known."""
        from divulge.protection.refill import kernels

        sizes = np.ones(self._state.rows)
        for place in places:
            sizes[self._state.known[place] < 0] = np.nan
        kernels.assign_sizes(partition.rows, partition.starts, sizes)
        return sizes

    def build_partition(self, places: tuple[int, ...], modulus: int) -> StrippedPartition:
        """The groups of rows that agree in one or two columns."""
        from divulge.protection.refill import kernels

        parts = [self._partition_column(place, modulus) for place in places]
        if len(parts) == 1:
            return parts[0]
        smaller = int(parts[1].rows.size < parts[0].rows.size)
        other = places[1 - smaller]
        return StrippedPartition(
            *kernels.refine_groups(
                parts[smaller].rows,
                parts[smaller].starts,
                self._state.known[other],
                self._state.count_codes(other),
            )
        )

    def _partition_column(self, place: int, modulus: int) -> StrippedPartition:
        from divulge.protection.refill import kernels

        state = self._state
        cardinality = state.count_codes(place)
        if cardinality < modulus * tuning.REFILL_LEAST_GROUPS:
            modulus = 1  # so few groups that none can be spared
        kept = self._partitions.get(place if modulus == 1 else -1 - place)
        if kept is not None and kept[0] == state.versions[place]:
            return kept[1]
        partition = StrippedPartition(*kernels.group_rows(state.known[place], cardinality, modulus))
        self._partitions[place if modulus == 1 else -1 - place] = (
            state.versions[place],
            partition,
        )
        return partition
