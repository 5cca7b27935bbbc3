"""Tables of totals: which records each row is of, and which sums it allows.

A row of totals has a key (a product, or the first digits of it; a country), a place, and amounts.
The records with the same key are packages, the places of its rows are bins. Nothing here knows
what the attributes are about: names, units and generalisations are arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np

from divulge.data import Dataset
from divulge.data.column import Column
from divulge.data.dictionary import as_names, find_name_problems
from divulge.reconstruction.problem.amounts import (
    COARSEST_SCALE,
    NotAnAmount,
    column_to_units,
    describe_scale_problem,
    parse_decimal,
)
from divulge.reconstruction.problem.generalisation import Generalised
from divulge.work import Problems, format_quantity
from divulge.work.arrays import Ints


@dataclass(frozen=True)
class Totals:
    """One published table of totals.

    Args:
        dataset: its rows.
        by: its key: column of the totals -> attribute of the records (or a `Generalised`).
        place: the column with the place of each row; more columns: coarser places it is in.
        amounts: amounts that it has: attribute of the records -> column of the totals, or a list
            if both have the same names; by default all numbers that both have (and whose unit is
            given, if units are).
        rounding: what was done to its totals (see `RULES`).
        step: to multiples of what they were rounded.
        tolerance: by how much a total may be wrong to either side, instead of a rule.
        noise: by how much a total was changed besides, at most, to either side: a number, or the
            column that has it.

    >>> import divulge as dv
    >>> month = dv.datasets.trade_month(transactions=500, importers=40, products=20, countries=3)
    >>> by = {"product": "product", "country": "country", "customs_unit": "customs_unit"}
    >>> Totals(month.by_state, by, place="state", amounts=["value", "weight"]).finest
    'state'
    """

    dataset: Dataset
    by: Mapping[str, str | Generalised]
    place: str | Sequence[str]
    amounts: Mapping[str, str] | Sequence[str] | None = None
    rounding: str = "sum_then_round"
    step: str = "1"
    tolerance: str | None = None
    noise: str | None = None

    @property
    def places(self) -> list[str]:
        """The columns with places, finest first."""
        return as_names(self.place)

    @property
    def finest(self) -> str:
        """The column with the finest place."""
        return self.places[0]

    @property
    def key(self) -> dict[str, Generalised]:
        """The key: column of the totals -> what it is of the records."""
        return {
            column: of if isinstance(of, Generalised) else Generalised(of)
            for column, of in self.by.items()
        }

    @property
    def summed(self) -> dict[str, str]:
        """Attribute of the records -> column of the totals."""
        if isinstance(self.amounts, Mapping):
            return dict(self.amounts)
        return {name: name for name in as_names(self.amounts or [])}

    def with_amounts(self, records: Dataset, units: Iterable[str] | None) -> Totals:
        """The same table with the amounts that both sides have, if none were named.

        They are those whose unit is given; without units, all numbers that are not in the key.
        """
        if self.amounts is not None:
            return self
        both = [name for name in records.names if name in self.dataset.names]
        if units is not None:
            return replace(self, amounts=[name for name in units if name in both])
        others = {*self.by, *self.places, *(of.attribute for of in self.key.values()), self.noise}
        shared = [name for name in both if name not in others]
        sides = (records, self.dataset)
        numbers = [n for n in shared if all(_is_number(side.columns[n]) for side in sides)]
        return replace(self, amounts=numbers)

    def problems(self, records: Dataset, problems: Problems) -> None:
        """Note what it names that does not exist."""
        mine = f'dataset "{self.dataset.name}"'
        its = f'dataset "{records.name}"'
        names = self.dataset.names
        problems.extend(mine, find_name_problems("by", self.key, names, mine))
        problems.extend(mine, find_name_problems("place", self.places, names, mine))
        problems.extend(mine, find_name_problems("amounts", self.summed.values(), names, mine))
        for of in self.key.values():
            problems.extend(f"{mine}, by", of.problems(records))
        problems.extend(mine, find_name_problems("amounts", self.summed, records.names, its))
        number = None if self.noise in names else self.noise
        if number is not None and describe_scale_problem(number, or_nothing=True) is not None:
            message = f"must be a number from 0 to {COARSEST_SCALE}, or a column."
            problems.add(f"{mine}, noise", message, number, names)
        wrong = describe_scale_problem(self.step)
        if wrong is not None:
            problems.add(f"{mine}, step", f'"{self.step}" {wrong}')
        wrong = (
            None
            if self.tolerance is None
            else describe_scale_problem(self.tolerance, or_nothing=True)
        )
        if wrong is not None:
            problems.add(f"{mine}, tolerance", f'"{self.tolerance}" {wrong}')
        if not self.summed:
            problems.add(f"{mine}, amounts", "names no amount.")

    def noises(self) -> list[Decimal]:
        """By how much each total was changed besides its rounding, at most."""
        if self.noise is None:
            return [Decimal(0)] * self.dataset.rows
        if self.noise not in self.dataset.names:
            return [parse_decimal(self.noise)] * self.dataset.rows
        own = self.dataset.columns[self.noise]
        problems = Problems(f'dataset "{self.dataset.name}"')
        try:
            values = [parse_decimal(value) for value in own.values.to_pylist()]
        except NotAnAmount:
            values = [Decimal(-1)]
        if own.has_missing or min(values) < 0:
            problems.add(f'noise "{self.noise}"', "must be a number from 0 in every row.")
        problems.raise_any()
        return [values[code] for code in own.codes]


def _is_number(column: Column) -> bool:
    import pyarrow.types as kinds

    kind = column.values.type
    return bool(kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind))


@dataclass(frozen=True, eq=False)
class Group:
    """One instance of a table: the records with a key, and its rows."""

    records: Ints
    rows: Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class TotalsMatch:
    """A table of totals with its records found.

    `groups` are the instances; `place` is the place of each row as a number into `names`;
    `coarser` the number of the place it is in, for every coarser column. What does not match is
    counted: records whose key no row has, rows whose key no record has.
    """

    totals: Totals
    groups: tuple[Group, ...]
    group_of: Ints
    place: Ints
    names: tuple[str, ...]
    coarser: Mapping[str, tuple[Ints, tuple[str, ...]]]
    key_of_row: tuple[tuple[str, ...], ...] = field(repr=False)
    records_without_totals: int
    totals_without_records: Ints

    def look_up_places(self, column: str) -> tuple[Ints, tuple[str, ...]]:
        """The place of each row in a column of places, as a number into names: its own, or coarser.

        Two tables may have the same places: each limits the other.
        """
        return (self.place, self.names) if column == self.totals.finest else self.coarser[column]


def match_records(totals: Totals, records: Dataset) -> TotalsMatch:
    """Find the records of every row; more than one row per key and place is an error."""
    key = totals.key
    codes, sizes, texts = [], [], []
    for column, of in key.items():
        own = totals.dataset.columns[column]
        values = [str(v) for v in own.values.to_pylist()]
        texts.append(np.array([*values, ""], dtype=object)[own.codes])
        where = {text: number for number, text in enumerate(values)}
        theirs = records.columns[of.attribute]
        hierarchy = None
        if of.level is not None:
            hierarchy = records.dictionary[of.attribute].hierarchy
        key_codes = [where.get(of.of(v, hierarchy), -1) for v in theirs.values.to_pylist()]
        codes.append((np.append(key_codes, -1)[theirs.codes], own.codes.astype(np.int64)))
        sizes.append(len(values) + 1)
    keys_of_both, unknown = _combine_keys([np.concatenate(both) for both in codes], sizes)
    key_of_record, key_of_total = np.split(keys_of_both, [records.rows])
    unknown = unknown[: records.rows]
    place, names = _read_places(totals, totals.finest)
    _refuse_repeated_rows(totals, key_of_total, place)
    keys = np.unique(key_of_total)
    group_of_record = np.searchsorted(keys, key_of_record).clip(0, len(keys) - 1)
    is_matched = (keys[group_of_record] == key_of_record) & ~unknown
    groups, group_of = _group_by_key(
        group_of_record, is_matched, np.searchsorted(keys, key_of_total), len(keys)
    )
    with_records = np.zeros(len(keys), bool)
    with_records[group_of_record[is_matched]] = True
    rows_without_records = np.flatnonzero(~with_records[np.searchsorted(keys, key_of_total)])
    coarser = {column: _read_places(totals, column) for column in totals.places[1:]}
    rows = tuple(zip(*(list(text) for text in texts), strict=True))
    return TotalsMatch(
        totals=totals,
        groups=groups,
        group_of=group_of,
        place=place,
        names=names,
        coarser=coarser,
        key_of_row=rows,
        records_without_totals=int((~is_matched).sum()),
        totals_without_records=rows_without_records,
    )


def _combine_keys(codes: Sequence[Ints], sizes: Sequence[int]) -> tuple[Ints, Any]:
    key = np.zeros(len(codes[0]), np.int64)
    unknown = np.zeros(len(codes[0]), bool)
    for code, size in zip(codes, sizes, strict=True):
        unknown |= code < 0
        # Numbered anew each time, so that a product never outgrows its integers.
        _, key = np.unique(key * size + np.maximum(code, 0), return_inverse=True)
    return key.astype(np.int64), unknown


def _read_places(totals: Totals, column: str) -> tuple[Ints, tuple[str, ...]]:
    own = totals.dataset.columns[column]
    problems = Problems(f'dataset "{totals.dataset.name}"')
    if own.has_missing:
        missing = int((own.codes == own.missing_code).sum())
        problems.add(
            f'column "{column}"', f"{format_quantity(missing, 'row has', 'rows have')} no place."
        )
    problems.raise_any()
    return own.codes.astype(np.int64), tuple(str(v) for v in own.values.to_pylist())


def _refuse_repeated_rows(totals: Totals, key: Ints, place: Ints) -> None:
    pairs = key * (int(place.max(initial=0)) + 1) + place
    repeated = len(pairs) - len(np.unique(pairs))
    if repeated:
        problems = Problems(f'dataset "{totals.dataset.name}"')
        columns = ", ".join([*totals.by, totals.finest])
        rows = format_quantity(repeated, "row repeats", "rows repeat")
        message = f"{rows} the {columns} of another; give one row each."
        problems.add("", message)
        problems.raise_any()


def _group_by_key(
    of_record: Ints, is_matched: Any, of_row: Ints, count: int
) -> tuple[tuple[Group, ...], Ints]:
    records = np.flatnonzero(is_matched)
    records = records[np.argsort(of_record[records], kind="stable")]
    rows = np.argsort(of_row, kind="stable")
    first_record = np.searchsorted(of_record[records], np.arange(count + 1))
    first_row = np.searchsorted(of_row[rows], np.arange(count + 1))
    groups: list[Group] = []
    group_of = np.full(len(of_record), -1, np.int64)
    for key in range(count):
        mine = records[first_record[key] : first_record[key + 1]]
        if len(mine):
            group_of[mine] = len(groups)
            groups.append(Group(mine, rows[first_row[key] : first_row[key + 1]]))
    return tuple(groups), group_of


def read_amounts(
    dataset: Dataset,
    columns: Mapping[str, str],
    units: Mapping[str, Decimal],
    bad: str,
    called: str = "units",
) -> tuple[dict[str, Ints], Any]:
    """Amounts in units, by the records' names; which records cannot be used.

    `bad` is "refuse" (an error that counts them by kind) or "drop"; `called` is what the units
    are called in it.
    """
    problems = Problems(f'dataset "{dataset.name}"')
    amounts, unusable = {}, np.zeros(dataset.rows, bool)
    words = {
        "missing": "no amount",
        "negative": "a negative amount",
        "undivided": "an amount that is no whole number of {called} of {unit}",
        "too_large": "an amount that is too large for {called} of {unit}",
    }
    for name, column in columns.items():
        own = dataset.columns[column]
        values = own.values.to_numpy(zero_copy_only=False)
        if values.dtype == object and len(values) and not _is_numeric(values):
            problems.add(f'column "{column}"', "contains no numbers.")
            continue
        distinct = np.array([*values, None], object) if own.has_missing else values
        units_of, troubles = column_to_units(distinct, units[name])
        amounts[name] = units_of[own.codes]
        for kind, where in troubles.items():
            here = where[own.codes]
            unusable |= here
            if here.any() and bad == "refuse":
                message = words[kind].format(unit=units[name], called=called)
                rows = format_quantity(int(here.sum()), "row has", "rows have")
                problems.add(f'column "{column}"', f"{rows} {message}.")
    problems.raise_any()
    return amounts, unusable


def _is_numeric(values: Any) -> bool:
    try:
        [float(v) for v in values if v is not None]
    except (TypeError, ValueError):
        return False
    return True
