"""Made-up releases of records and up to three tables of totals, with the truth behind them.

Records are left out of all tables or of one, one may be only in the totals, tables are rounded by
some rule and declared to be by that or another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
from tests.reconstruction.strategies import MADE_BY, dataset, total_by

from divulge.data import Dataset
from divulge.reconstruction import Generalised, Prior, Reconstruction, Totals, reconstruct

STATE_OF = {"a": "E", "b": "E", "c": "W", "d": "W"}
REGIONS = ({"E": "R", "W": "R"}, {"E": "R", "W": "Q"})
CODES = ("11", "12", "21", "22")
AMOUNTS = ("value", "weight")
TABLES = ("by city", "by state", "third")
PREMISES = ("any", "any", "any", "complete", "excluded", "extra", "both")


@dataclass(frozen=True, kw_only=True)
class Record:
    """A record with cents of each amount, and the tables (by number) that count it."""

    code: str
    kind: str
    city: str
    cents: tuple[int, ...]
    counted_in: frozenset[int]


@dataclass(frozen=True, eq=False, kw_only=True)
class MadeUp:
    """A release. The `extra` records are only in the totals; `made` are the rules of rounding."""

    records: list[Record]
    extra: list[Record]
    made: list[str]
    declared: list[str]
    totals: list[Totals]
    truth: Dataset
    parties: Dataset
    prior: Prior | None
    premise: Any

    @property
    def published(self) -> Dataset:
        """The records without their places."""
        columns: dict[str, list[Any]] = {
            name: [record.cents[number] / 100 for record in self.records]
            for number, name in enumerate(self.amounts)
        }
        product, kind = [r.code for r in self.records], [r.kind for r in self.records]
        return dataset("records", product=product, kind=kind, **columns)

    @property
    def amounts(self) -> Sequence[str]:
        return AMOUNTS[: len(self.records[0].cents)]

    @property
    def left_out(self) -> bool:
        """Whether some table lacks some record."""
        return any(len(record.counted_in) < len(self.made) for record in self.records)

    @property
    def rules_are_right(self) -> bool:
        """Whether every table is rounded as declared."""
        return all(
            declared == made or (declared == "unknown_hard" and not made.endswith("down"))
            for declared, made in zip(self.declared, self.made, strict=True)
        )

    @property
    def premise_holds(self) -> bool:
        """Whether what is assumed of totals and records is so, as far as "certain" rests on it."""
        nothing_extra = not self.extra
        return {
            "complete": nothing_extra and not self.left_out,
            "excluded": nothing_extra,
            "extra": not self.left_out,
            "both": False,
            "any": nothing_extra,
        }[self.premise]

    @property
    def as_made(self) -> MadeUp:
        """The same, with every table declared to be rounded as it is."""
        both = zip(self.totals, self.made, strict=True)
        totals = [replace(table, rounding=rule) for table, rule in both]
        return replace(self, totals=totals, declared=self.made)

    def audited(self, seconds: float, in_all: float | None = None, **other: Any) -> Reconstruction:
        """The audit of the release in one process."""
        return reconstruct(
            self.published,
            self.totals,
            self.parties,
            units=dict.fromkeys(self.amounts, "0.01"),
            premise=self.premise,
            prior=self.prior,
            seconds=seconds,
            in_all=in_all,
            workers=1,
            **other,
        )


def made_up(seed: int, most: int = 14) -> MadeUp:
    """A release by chance, of at most so many records."""
    random = np.random.default_rng(seed)
    count, amounts = int(random.integers(3, most + 1)), int(random.integers(1, 3))
    tables = int(random.integers(1, 4))
    largest = int(random.choice([60, 300, 900, 3000]))
    records = _records(random, count, amounts, tables, largest)
    extra = [_extra(random, records, tables, largest)] if random.random() < 1 / 3 else []
    made = [str(random.choice(MADE_BY)) for _ in range(tables)]
    others = [*MADE_BY, "diagnose", "unknown_hard"]
    declared = [rule if random.random() < 0.6 else str(random.choice(others)) for rule in made]
    region_of = REGIONS[int(random.integers(2))]
    by_kind, with_zeros = bool(random.integers(2)), bool(random.random() < 0.3)
    totals = []
    for number in range(tables):
        summed = amounts if number == 0 or random.random() < 0.6 else 1
        rows = _rows(records + extra, number, by_kind, region_of)
        rows = {key: some for key, some in rows.items() if some or with_zeros}
        table = _table(number, rows, made[number], summed, by_kind, region_of)
        key, place = _by(number, by_kind)
        totals.append(Totals(table, key, place, list(AMOUNTS[:summed]), declared[number]))
    cities = [record.city for record in records]
    states = [STATE_OF[city] for city in cities]
    regions = [region_of[state] for state in states]
    listed = [city for city in STATE_OF for _ in range(int(random.choice([0, 1, 1, 1, 2, 2])))]
    sectors = [str(random.choice(["s", "t"])) for _ in listed or "a"]
    prior = None
    if random.random() < 0.2 and len(set(sectors)) == 2:
        weights = {("s", records[0].code): 0.1, ("t", records[0].code): 2.0}
        prior = Prior("sector", "product", weights)
    return MadeUp(
        records=records,
        extra=extra,
        made=made,
        declared=declared,
        totals=totals,
        truth=dataset("truth", city=cities, state=states, region=regions),
        parties=dataset("parties", city=listed or ["a"], sector=sectors),
        prior=prior,
        premise=str(random.choice(PREMISES)),
    )


def _records(
    random: np.random.Generator, count: int, amounts: int, tables: int, largest: int
) -> list[Record]:
    """Records, some of them small, up to two left out of all tables or of one."""
    cents = random.integers(1, largest, (count, amounts))
    if random.random() < 0.4:
        small = random.random(count) < 0.3
        cents[small] = random.integers(1, 60, (int(small.sum()), amounts))
    if random.random() < 0.15:
        cents = (cents // 100 + 1) * 100
    codes, cities = CODES[: int(random.integers(1, 5))], list(STATE_OF)[: random.integers(2, 5)]
    missing = random.choice(count, int(random.choice([0, 0, 1, 1, 2])), replace=False)
    return [
        Record(
            code=str(random.choice(codes)),
            kind=str(random.choice(["x", "y"])),
            city=str(random.choice(cities)),
            cents=tuple(map(int, cents[number])),
            counted_in=_all_tables(tables)
            - (_some_tables(random, tables) if number in missing else set()),
        )
        for number in range(count)
    ]


def _extra(random: np.random.Generator, records: list[Record], tables: int, largest: int) -> Record:
    """A record that only the totals have, of a code that records have or of another."""
    like = records[int(random.integers(len(records)))]
    return Record(
        code=like.code if random.random() < 0.8 else "19",
        kind=str(random.choice(["x", "y"])),
        city=str(random.choice(sorted({record.city for record in records}))),
        cents=tuple(map(int, random.integers(1, largest, len(like.cents)))),
        counted_in=_some_tables(random, tables),
    )


def _all_tables(tables: int) -> frozenset[int]:
    return frozenset(range(tables))


def _some_tables(random: np.random.Generator, tables: int) -> frozenset[int]:
    alone = frozenset({int(random.integers(tables))})
    return _all_tables(tables) if random.random() < 0.7 else alone


Rows = dict[tuple[str, ...], list[Record]]


def _rows(records: list[Record], number: int, by_kind: bool, region_of: dict[str, str]) -> Rows:
    """The records of every row of a table; of those that it lacks the row is there all the same."""
    rows: Rows = {}
    for record in records:
        heading, state = record.code[:1], STATE_OF[record.city]
        if number == 0:
            key: tuple[str, ...] = heading, record.city
        elif number == 1:
            key = record.code, state
        else:
            key = (record.kind, state) if by_kind else (heading, record.kind, region_of[state])
        rows.setdefault(key, [])
        if number in record.counted_in:
            rows[key].append(record)
    return dict(sorted(rows.items()))


def _by(number: int, by_kind: bool) -> tuple[dict[str, Any], Any]:
    heading = {"heading": Generalised("product", prefix=1)}
    if number == 0:
        return heading, ["city", "state", "region"]
    if number == 1:
        return {"product": "product"}, "state"
    return ({"kind": "kind"}, "state") if by_kind else ({**heading, "kind": "kind"}, "region")


def _table(
    number: int, rows: Rows, rule: str, summed: int, by_kind: bool, region_of: dict[str, str]
) -> Dataset:
    key, place = _by(number, by_kind)
    names = [*key, place if isinstance(place, str) else place[0]]
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    if number == 0:
        columns["state"] = [STATE_OF[city] for city in columns["city"]]
        columns["region"] = [region_of[state] for state in columns["state"]]
    totals: dict[str, list[Any]] = {
        name: [
            float(total_by(rule, [Decimal(r.cents[at]) / 100 for r in some]))
            for some in rows.values()
        ]
        for at, name in enumerate(AMOUNTS[:summed])
    }
    return dataset(TABLES[number], **columns, **totals)
