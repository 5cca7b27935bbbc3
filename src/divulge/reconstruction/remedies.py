"""What would help: the same audit of coarser, rounded, merged or fewer totals, and what each costs.

A record can be denied as long as its place is not certain. Each remedy is made stronger until no
place is certain any more, or until there is nothing left to make stronger; the cost in utility
stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np

from divulge import work
from divulge.assessment import Sentence
from divulge.data import Dataset
from divulge.data.column import encode, from_codes
from divulge.reconstruction.audit import reconstruct
from divulge.reconstruction.totals import Totals
from divulge.work import DivulgeError

CATALOGUE = "divulge.reconstruction"
LARGEST_BASE = 10**6
MOST_MERGED = 64

REMEDIES = ("rounding", "random_rounding", "merged_places", "dropped_amount", "dropped_table")
"""What can be tried: totals rounded to a base, at random up or down, places put together, an
amount or a table no longer published."""


@dataclass(frozen=True)
class Remedy:
    """One remedy at one strength: what is still given away, and the share of utility it costs.

    For rounding, the cost is the mean relative change of a total; for the others, the share of
    the published figures that is gone.
    """

    kind: str
    strength: str
    certain: int
    identified: int
    records: int
    cost: float

    @property
    def enough(self) -> bool:
        """Whether every record can be denied: no place is certain."""
        return self.certain == 0

    @property
    def sentence(self) -> Sentence:
        """The remedy in words."""
        values = {
            "strength": self.strength,
            "certain": self.certain,
            "identified": self.identified,
            "cost": self.cost,
            "total": self.records,
        }
        return Sentence(CATALOGUE, f"remedy.{self.kind}", values)

    def to_dict(self) -> dict[str, Any]:
        """The remedy as plain values."""
        return {**vars(self), "enough": self.enough, "sentence": str(self.sentence)}

    def __str__(self) -> str:
        return str(self.sentence)


def what_would_help(
    transactions: Dataset,
    totals: Sequence[Totals],
    parties: Dataset,
    *,
    remedies: Sequence[str] = REMEDIES,
    seed: int = 0,
    **settings: Any,
) -> list[Remedy]:
    """Audit the release under each remedy, ever stronger, until no place is certain.

    Args:
        transactions: the records without identities.
        totals: the tables as they would be published.
        parties: the list of parties by place.
        remedies: which to try (see `REMEDIES`).
        seed: for rounding at random.
        settings: what `reconstruct` takes besides.

    >>> import divulge as dv
    >>> month = dv.datasets.trade_month(transactions=120, importers=30, products=9, countries=2)
    >>> by_state = Totals(month.by_state, {"product": "product", "country": "country"}, "state",
    ...     ["value", "weight"])
    >>> parties = month.importers
    >>> tried = what_would_help(month.transactions, [by_state], parties, workers=1,
    ...     remedies=["dropped_amount"], units={"value": "0.01", "weight": "0.00001"}, seconds=0.1)
    >>> [remedy.strength for remedy in tried]
    ['none', 'weight']
    """
    unknown = [kind for kind in remedies if kind not in REMEDIES]
    if unknown:
        raise DivulgeError(f'"{unknown[0]}" is no remedy: choose of {", ".join(REMEDIES)}')
    random = np.random.default_rng(seed)
    audit = _Audit(transactions, settings)
    found = [audit.of("none", "none", list(totals), parties, 0.0)]
    with work.step("Trying remedies", len(remedies)) as step:
        for kind in remedies:
            for strength, tables, listed, cost in _MAKERS[kind](list(totals), parties, random):
                found.append(audit.of(kind, strength, tables, listed, cost))
                if found[-1].enough:
                    break
            step.advance()
    return found


@dataclass(frozen=True)
class _Audit:
    transactions: Dataset
    settings: dict[str, Any]

    def of(
        self, kind: str, strength: str, totals: list[Totals], parties: Dataset, cost: float
    ) -> Remedy:
        found = reconstruct(self.transactions, totals, parties, **self.settings)
        last = found.phases[-1]
        counts = int(last.certain.sum()), int(last.identified.sum())
        return Remedy(kind, strength, *counts, self.transactions.rows, cost)


Tried = Iterator[tuple[str, list[Totals], Dataset, float]]


def _rounded(totals: list[Totals], parties: Dataset, random: Any, at_random: bool) -> Tried:
    base = 10
    while base <= LARGEST_BASE:
        tables, changes = [], []
        for table in totals:
            columns = dict(table.dataset.columns)
            for column in table.summed.values():
                own = columns[column]
                exact = own.values.to_numpy(zero_copy_only=False).astype(float)[own.codes]
                up = random.random(len(exact)) < (exact / base) % 1 if at_random else 0.5
                changed = np.floor(exact / base + up) * base
                changes.append(np.abs(changed - exact) / np.maximum(exact, 1.0))
                columns[column] = _column(changed)
            # The published total was rounded before: its own error comes on top.
            most = Decimal(base) if at_random else Decimal(base) / 2
            wrong = str(most + _own_error(table))
            data = replace(table.dataset, columns=columns)
            tables.append(replace(table, dataset=data, tolerance=wrong))
        yield f"{base:,}", tables, parties, float(np.concatenate(changes).mean())
        base *= 10


def _merged(totals: list[Totals], parties: Dataset, random: Any) -> Tried:
    del random
    fine = max(totals, key=lambda table: len(table.places))
    place = fine.finest
    if place not in parties.names:
        return
    size = 2
    while size <= MOST_MERGED:
        names = _merged_names(fine, size)
        table, cost = _with_merged(fine, names, size)
        others = [other for other in totals if other is not fine]
        own = parties.columns[place]
        texts = [names.get(str(v), str(v)) for v in own.values.to_pylist()]
        listed = replace(parties, columns={**parties.columns, place: _texts(texts, own.codes)})
        yield f"{size}", [table, *others], listed, cost
        size *= 2


def _merged_names(fine: Totals, size: int) -> dict[str, str]:
    """Places put together by so many, within the next coarser place."""
    rows = fine.dataset.select(fine.places[:2]).to_arrow().to_pylist()
    above = {
        str(r[fine.finest]): str(r[fine.places[-1]] if len(fine.places) > 1 else "") for r in rows
    }
    ordered = sorted(above, key=lambda name: (above[name], name))
    names, count, last = {}, 0, None
    for name in ordered:
        if above[name] != last:
            count, last = 0, above[name]
        names[name] = f"{above[name]} {count // size + 1}"
        count += 1
    return names


def _with_merged(fine: Totals, names: dict[str, str], size: int) -> tuple[Totals, float]:
    """The finest table with its places put together, and the share of rows that this costs."""
    import pyarrow as pa

    table = fine.dataset.to_arrow()
    place = [names[str(p)] for p in table[fine.finest].to_pylist()]
    table = table.set_column(table.column_names.index(fine.finest), fine.finest, pa.array(place))
    keys = [*fine.by, *fine.places]
    sums = list(fine.summed.values())
    grouped = table.group_by(keys, use_threads=False).aggregate([(name, "sum") for name in sums])
    grouped = grouped.rename_columns([*keys, *sums])
    data = Dataset.from_arrow(grouped, name=fine.dataset.name, subjects=fine.dataset.subjects)
    wrong = str(_own_error(fine) * size)
    return replace(fine, dataset=data, tolerance=wrong), 1 - data.rows / fine.dataset.rows


def _dropped_amounts(totals: list[Totals], parties: Dataset, random: Any) -> Tried:
    """One amount less, then another, the last named first, as long as every table keeps one."""
    del random
    names = list(dict.fromkeys(name for table in totals for name in table.summed))
    all_figures = sum(table.dataset.rows * len(table.summed) for table in totals)
    gone: list[str] = []
    for name in reversed(names):
        if any(set(table.summed) <= {*gone, name} for table in totals):
            continue
        gone.append(name)
        tables = [
            replace(table, amounts={k: v for k, v in table.summed.items() if k not in gone})
            for table in totals
        ]
        left = sum(table.dataset.rows * len(table.summed) for table in tables)
        yield " and ".join(gone), tables, parties, 1 - left / all_figures


def _dropped_tables(totals: list[Totals], parties: Dataset, random: Any) -> Tried:
    del random
    if len(totals) < 2:
        return
    fine = max(totals, key=lambda table: len(table.places))
    all_figures = sum(table.dataset.rows * len(table.summed) for table in totals)
    for table in totals:
        others = [other for other in totals if other is not table]
        place = max(others, key=lambda other: len(other.places)).finest
        if place not in parties.names:
            continue
        cost = table.dataset.rows * len(table.summed) / all_figures
        kept = others if table is not fine else [replace(o, place=[o.finest]) for o in others]
        yield table.dataset.name, kept, parties, cost


def _own_error(table: Totals) -> Decimal:
    """By how much a published total may differ from the sum already, by its rule of rounding."""
    if table.tolerance is not None:
        return Decimal(table.tolerance)
    if table.rounding == "exact":
        return Decimal(0)
    if table.rounding.startswith("sum_then_round"):
        return Decimal(table.step)
    message = "remedies are tried on totals that were added before they were rounded"
    raise DivulgeError(f"{message}, or with a tolerance; {table.dataset.name} has neither")


def _column(values: Any) -> Any:
    import pyarrow as pa

    return encode(pa.array(values))


def _texts(texts: list[str], codes: Any) -> Any:
    import pyarrow as pa

    distinct = sorted(set(texts))
    where = {text: number for number, text in enumerate(distinct)}
    table = np.array([*(where[text] for text in texts), len(distinct)])
    return from_codes(table[codes], pa.array(distinct))


_MAKERS: dict[str, Callable[[list[Totals], Dataset, Any], Tried]] = {
    "rounding": lambda totals, parties, random: _rounded(totals, parties, random, False),
    "random_rounding": lambda totals, parties, random: _rounded(totals, parties, random, True),
    "merged_places": _merged,
    "dropped_amount": _dropped_amounts,
    "dropped_table": _dropped_tables,
}
