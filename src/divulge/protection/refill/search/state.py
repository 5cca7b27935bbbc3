"""What an attacker has found out so far: the cells known, and the relations that told them.

All predictions of a round are gathered and settled at once, the strongest relation first, so that
no result depends on the order in which relations are tried. Evidence for a column comes only from
the cells that were shown; what was filled in before is used to read from, and as a witness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from divulge.protection import tuning
from divulge.protection.refill.columns import (
    SINGLE_ORIGINS,
    AllowedValues,
    CodedColumn,
    mix_codes,
    shift_codes,
)
from divulge.protection.refill.kernels import ABSENT, HIDDEN
from divulge.protection.refill.search.numbers import are_close, count_decimals, find_nearest
from divulge.protection.refill.search.relations import ColumnRelation, Form, name_column
from divulge.protection.refill.search.support import Boldness, Support, find_mode
from divulge.work.arrays import Array, Bools, Floats, Ints

Key = tuple[Form, tuple[int, ...], int]
"""A relation: its form, the columns that it reads, the column that it tells."""
Telling = tuple[Ints, Ints]
"""Rows, and the codes that one relation tells of them."""


@dataclass(eq=False)
class StrippedPartition:
    """Rows in groups of two and more: `rows` group after group, `starts` of each group."""

    rows: Ints
    starts: Ints


@dataclass(kw_only=True, eq=False)
class Target:
    """A column with hidden cells: what is shown of it, known by now, and offered this round."""

    place: int
    shown: Ints
    evidence: Ints
    """What relations must agree with: what is shown; with the truth at hand, and more hidden than
    shown, also what was hidden."""
    known: Ints
    numbers: Floats | None
    mode: int
    combination: Ints
    """A number for the row's combination of the other keys: equal for twins."""
    truth: Ints | None
    boldness: Boldness | None = None
    others: frozenset[int] = frozenset()
    """Columns that it is not read from: itself, finer or coarser."""
    allowed: AllowedValues | None = None
    tellings: dict[int, Telling] = field(default_factory=dict)
    """By relation, the cells that it tells rightly: of the first, as many as are judged alone."""
    strength: Floats = field(init=False)
    value: Ints = field(init=False)
    teller: Ints = field(init=False)
    """By row, the relation that filled its cell, -1 if none did."""
    sample: Ints = field(init=False)
    """Some rows with another value than the mode: where relations are tried first."""
    decimals: int | None = field(init=False)
    """The digits after the point that its numbers keep to; None if it has none, or many."""

    def __post_init__(self) -> None:
        rows = self.shown.size
        self.strength = np.zeros(rows)
        self.value = np.full(rows, -1, np.int32)
        self.teller = np.full(rows, -1, np.int32)
        others = np.flatnonzero((self.evidence >= 0) & (self.evidence != self.mode))
        step = max(1, others.size // tuning.REFILL_SAMPLE)
        self.sample = others[::step]
        self.decimals = None if self.numbers is None else count_decimals(self.numbers)

    @property
    def is_open(self) -> bool:
        """Whether cells are still hidden."""
        return bool((self.known == HIDDEN).any())

    def keep_telling(self, relation: int, rows: Ints, codes: Ints) -> None:
        """Keep the cells that a relation tells rightly, unless another tells the same ones."""
        assert self.truth is not None  # noqa: S101  # asked before
        is_right = self.truth[rows] == codes
        rows, codes = rows[is_right], codes[is_right]
        if relation in self.tellings:
            before = self.tellings[relation]
            told = np.append(before[0], rows), np.append(before[1], codes)
            self.tellings[relation] = told[0].astype(np.int32), told[1].astype(np.int32)
        elif len(self.tellings) < tuning.REFILL_PARTLY_RELATIONS and not any(
            np.array_equal(rows, each) for each, _ in self.tellings.values()
        ):
            self.tellings[relation] = rows.astype(np.int32), codes.astype(np.int32)

    def may_read(self, places: tuple[int, ...]) -> bool:
        """Whether it may be read from some columns: not from itself."""
        return self.place not in places and not self.others.intersection(places)

    def list_numbers(self, codes: Ints) -> Floats:
        """The numbers of some codes; not-a-number where there is no value."""
        assert self.numbers is not None  # noqa: S101  # asked before
        return np.append(self.numbers, np.nan)[np.where(codes >= 0, codes, -1)]

    def round_numbers(self, numbers: Array) -> Array:
        """Calculated numbers as the column would show them: what they come from may be rounded."""
        if self.decimals is None:
            return numbers
        rounded: Array = np.round(numbers, self.decimals)
        return rounded

    def encode_numbers(self, numbers: Floats) -> tuple[Bools, Ints]:
        """Which numbers the column can have, and their codes; a new value gets a new code."""
        assert self.numbers is not None  # noqa: S101  # asked before
        is_possible = np.isfinite(numbers)
        if np.all(self.numbers == np.round(self.numbers)):
            is_possible &= are_close(numbers, np.round(numbers))
            numbers = np.round(numbers)
        wanted = np.unique(numbers[is_possible])
        order = np.argsort(self.numbers, kind="stable")
        nearest = find_nearest(self.numbers[order], wanted)
        is_new = (
            ~are_close(self.numbers[order][nearest], wanted)
            if self.numbers.size
            else np.ones(wanted.size, np.bool_)
        )
        codes = np.empty(wanted.size, np.int64)
        codes[~is_new] = order[nearest[~is_new]] if self.numbers.size else 0
        codes[is_new] = self.numbers.size + np.arange(np.count_nonzero(is_new))
        self.numbers = np.append(self.numbers, wanted[is_new])
        return is_possible, codes[np.searchsorted(wanted, numbers[is_possible])]


class RefillState:
    """Columns, what is known of them by now, and every relation that has told a cell."""

    def __init__(
        self,
        columns: Sequence[CodedColumn],
        keys: Sequence[str],
        *,
        truth: Mapping[str, Ints] | None = None,
        ordered: bool = False,
        read_from: Sequence[str] | None = None,
        boldness: Boldness | None = None,
        seek: Sequence[str] = (),
    ) -> None:
        self.columns = list(columns)
        self._boldness = boldness
        self.rows = int(columns[0].codes.size) if columns else 0
        self.known: list[Ints] = [column.codes for column in columns]
        self.targets: list[Target] = []
        for place, column in enumerate(columns):
            is_sought = column.name in seek or (column.codes == HIDDEN).any()
            # Where nobody shows a finer value there is nothing to learn from.
            is_shown = bool((column.codes >= 0).any())
            is_learnable = column.origin == "finer" and (is_shown or truth is not None)
            if (column.origin == "published" or is_learnable) and is_sought:
                self.targets.append(self._build_target(place, keys, truth))
        for target in self.targets:
            self.known[target.place] = target.known
        self._previous: list[tuple[int, Target]] = []
        if ordered:
            for target in self.targets:
                self._previous.append((len(self.columns), target))
                column = self.columns[target.place]
                codes = shift_codes(column.codes)
                self.columns.append(replace(column, codes=codes, origin="previous"))
                self.known.append(codes)
        self.ordered = ordered
        self.versions = [0] * len(self.columns)
        self.sources = [
            place
            for place, column in enumerate(self.columns)
            if column.origin != "finer"
            and (read_from is None or column.origin == "group" or column.name in read_from)
        ]
        self._entries: dict[Key, int] = {}
        self._relations: list[ColumnRelation] = []
        self._rights: list[int] = []
        self._judged: list[int] = []

    def _build_target(
        self, place: int, keys: Sequence[str], truth: Mapping[str, Ints] | None
    ) -> Target:
        column = self.columns[place]
        others = [
            other.codes
            for other in self.columns
            if other.origin == "published" and other.name in keys and other.name != column.name
        ]
        own_truth = None if truth is None else truth.get(column.key)
        evidence = _gather_evidence(column.codes, own_truth)
        return Target(
            place=place,
            shown=column.codes,
            evidence=evidence,
            known=column.codes.copy(),
            numbers=column.numbers,
            mode=find_mode(evidence, column.cardinality),
            # Without other keys nobody is hidden for differing in them: there are no twins.
            combination=mix_codes(others, self.rows) if others else np.arange(self.rows),
            truth=own_truth,
            boldness=None if own_truth is None else self._boldness,
            others=frozenset(
                other_place
                for other_place, other in enumerate(self.columns)
                if _is_same_thing(column, other)
            ),
            allowed=column.allowed,
        )

    def list_numbers(self, place: int) -> Floats:
        """The numbers of a column as far as they are known by now."""
        codes = self.known[place]
        for target in self.targets:
            if target.place == place:
                return target.list_numbers(codes)
        for previous, target in self._previous:
            if previous == place:
                return target.list_numbers(codes)
        return self.columns[place].list_numbers(codes)

    def count_codes(self, place: int) -> int:
        """How many codes a column may have by now."""
        cardinality = self.columns[place].cardinality
        for target in self.targets:
            is_previous = any(p == place and t is target for p, t in self._previous)
            if (target.place == place or is_previous) and target.numbers is not None:
                return max(cardinality, target.numbers.size)
        return cardinality

    def offer(
        self,
        key: Key,
        support: Support,
        predictions: tuple[Ints, Ints],
        constant: float | None = None,
    ) -> None:
        """Take note of what a relation predicts of hidden cells; the strongest one fills them.

        With the truth at hand, a relation that is too often wrong is left out.
        """
        places, values = predictions
        if not places.size:
            return
        target = next(t for t in self.targets if t.place == key[2])
        if target.allowed is not None:
            is_allowed = target.allowed.may_be(places, values)
            places, values = places[is_allowed], values[is_allowed]
            if not places.size:
                return
        number = self._entries.get(key)
        cells = places.size + (0 if number is None else self._relations[number].cells)
        right = judged = 0
        if target.truth is not None:
            # Of a cell that was absent before it was hidden, no value is right: it says nothing.
            right = int(np.count_nonzero(target.truth[places] == values))
            judged = int(np.count_nonzero(target.truth[places] != ABSENT))
            if number is not None:
                right, judged = right + self._rights[number], judged + self._judged[number]
            if right < max(1, tuning.REFILL_VERIFIED_SHARE * judged):
                return
        if number is None:
            number = self._entries[key] = len(self._relations)
            names = tuple(name_column(self.columns[place]) for place in key[1])
            relation = ColumnRelation(
                form=key[0],
                columns=names,
                target=self.columns[key[2]].name,
                support=support,
                constant=constant,
                is_finer=self.columns[key[2]].origin == "finer",
            )
            self._relations.append(relation)
            self._rights.append(0)
            self._judged.append(0)
        self._relations[number] = replace(self._relations[number], cells=cells, support=support)
        self._rights[number], self._judged[number] = right, judged
        if target.truth is not None:
            target.keep_telling(number, places, values)
        # Equally strong ones: the first that was found, so that simple relations come first.
        is_stronger = support.strength > target.strength[places]
        places, values = places[is_stronger], values[is_stronger]
        target.strength[places] = support.strength
        target.value[places] = values
        target.teller[places] = number

    def settle(self) -> int:
        """Fill the cells that were predicted this round; how many there were."""
        total = 0
        for target in self.targets:
            places = np.flatnonzero(target.strength > 0)
            if not places.size:
                continue
            target.known[places] = target.value[places]
            target.strength[places] = 0
            self.versions[target.place] += 1
            numbers, counts = np.unique(target.teller[places], return_counts=True)
            for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
                relation = self._relations[number]
                self._relations[number] = replace(relation, used=relation.used + count)
            total += places.size
        for place, target in self._previous:
            if self.versions[target.place] != self.versions[place]:
                self.known[place] = shift_codes(target.known)
                self.versions[place] = self.versions[target.place]
        return total

    def list_relations(self) -> tuple[ColumnRelation, ...]:
        """The relations that told cells, those of one column together, the most telling first."""
        order = {self.columns[target.place].key: n for n, target in enumerate(self.targets)}
        return tuple(
            sorted(
                self._relations,
                key=lambda r: (order[r.key], -r.cells, -r.support.strength, r.columns),
            )
        )


def _gather_evidence(shown: Ints, truth: Ints | None) -> Ints:
    """What relations must agree with, if the truth of hidden cells is at hand or not."""
    is_hidden = shown == HIDDEN
    if truth is None or np.count_nonzero(is_hidden) <= np.count_nonzero(shown >= 0):
        return shown
    return np.where(is_hidden, truth, shown).astype(np.int32)


def _is_same_thing(column: CodedColumn, other: CodedColumn) -> bool:
    """Whether two columns are one attribute, so that reading one from the other tells nothing.

    A finer value may be read with the help of the coarser one; other columns are read from what is
    published.
    """
    if other.origin == "coarser":
        return column.origin != "finer" or column.name != other.name
    return column.name == other.name and other.origin in ("published", "finer", *SINGLE_ORIGINS)
