"""Weaker tables: the same totals rounded, coarser, merged or fewer, ever more so.

Each way yields ever weaker versions of the tables with the share of utility that it costs. The
records stay as they are. Totals that are added up here carry the rounding of each of them; how much
that is goes along as noise, so that nothing is excluded that the published totals allow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

import numpy as np

from divulge.data import Dataset
from divulge.reconstruction import tuning
from divulge.reconstruction.auditing.prior import generalise_values
from divulge.reconstruction.auditing.suppressed_codes import SUPPRESSED
from divulge.reconstruction.auditing.totals import Totals, match_records
from divulge.reconstruction.problem.generalisation import Generalised
from divulge.reconstruction.remedies.regrouped_totals import (
    attach_noise,
    encode_numbers,
    encode_texts,
    read_numbers,
    regroup_totals,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class WeakerTables:
    """Tables after a change: how strong it was, what it costs, and how many places one now holds.

    `merged_places` says of how many of the finest places before a place is now made of, if of
    several.
    """

    strength: str
    totals: list[Totals]
    parties: Dataset
    cost: float
    merged_places: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class PublishedTotals:
    """What is changed: the tables, with rules known by now; the parties; the records."""

    totals: list[Totals]
    parties: Dataset
    records: Dataset
    random: np.random.Generator

    @property
    def fine(self) -> Totals:
        """The table with the finest places."""
        return max(self.totals, key=lambda table: len(table.places))

    @property
    def figures(self) -> int:
        """How many figures are published."""
        return sum(table.dataset.rows * len(table.summed) for table in self.totals)


Weakening = Callable[[PublishedTotals], Iterator[WeakerTables]]


def round_totals(published: PublishedTotals) -> Iterator[WeakerTables]:
    """To multiples of ever larger numbers, the next one."""
    return _round_to_multiples(published, at_random=False)


def round_at_random(published: PublishedTotals) -> Iterator[WeakerTables]:
    """To multiples of ever larger numbers, up or down by chance, so that sums stay right."""
    return _round_to_multiples(published, at_random=True)


def _round_to_multiples(published: PublishedTotals, at_random: bool) -> Iterator[WeakerTables]:
    largest = max(
        float(read_numbers(table, column).max())
        for table in published.totals
        for column in table.summed.values()
    )
    times = tuning.ROUNDING_BASE_FACTOR
    while True:
        tables, changes, bases = [], [], []
        for table in published.totals:
            base = times * Decimal(table.step)
            columns = dict(table.dataset.columns)
            for column in table.summed.values():
                before = read_numbers(table, column)
                share = before / float(base)
                offset = published.random.random(len(before)) < share % 1 if at_random else 0.5
                after = np.floor(share + offset) * float(base)
                # A total that is off by itself or more is worth nothing, and not less.
                error = np.abs(after - before) / np.maximum(before, float(table.step))
                changes.append(np.minimum(error, 1.0))
                columns[column] = encode_numbers(after)
            bases.append(base)
            more = base if at_random else base / 2
            noises = [float(noise + more) for noise in table.noises()]
            tables.append(attach_noise(table, replace(table.dataset, columns=columns), noises))
        cost = float(np.concatenate(changes).mean())
        yield WeakerTables(
            strength=_describe_bases(bases), totals=tables, parties=published.parties, cost=cost
        )
        if times * min(float(table.step) for table in published.totals) > largest:
            return  # every total is 0 or one multiple: nothing is left to round
        times *= tuning.ROUNDING_BASE_FACTOR


def _describe_bases(bases: Sequence[Decimal]) -> str:
    return " and ".join(f"{base:,f}" for base in sorted(set(bases)))


def merge_places(published: PublishedTotals) -> Iterator[WeakerTables]:
    """The finest places put together by two, four, ... within the next coarser; then those too."""
    fine = published.fine
    if fine.finest not in published.parties.names:
        return
    within = _group_places(fine)
    size = 1
    while max(len(names) for names in within.values()) // size > 1:
        size *= 2
        new = {
            name: f"{above} {_number_part(n, len(names), size)}".strip()
            for above, names in within.items()
            for n, name in enumerate(names)
        }
        yield _rename_places(published, {fine.finest: new}, f"{fine.finest} by {size}")
    # A place that is alone in the coarser one is told by that: only coarser places can hide it.
    all_of, size = sorted(within), 1
    while len(fine.places) > 1 and len(all_of) // size > 1:
        size *= 2
        above = {name: f"{_number_part(n, len(all_of), size)}" for n, name in enumerate(all_of)}
        new = {name: above[of] for of, names in within.items() for name in names}
        renamed = {fine.finest: new, fine.places[1]: above}
        yield _rename_places(published, renamed, f"{fine.places[1]} by {size}")


def _number_part(number: int, many: int, size: int) -> int:
    """In which part something is, if parts are of so many at least; what is over joins the last."""
    return min(number // size, max(many // size, 1) - 1) + 1


def _rename_places(
    published: PublishedTotals, renamed: Mapping[str, Mapping[str, str]], strength: str
) -> WeakerTables:
    """All tables and the parties with places renamed, rows of one place added up."""
    tables = []
    for table in published.totals:
        here = {column: new for column, new in renamed.items() if column in table.places}
        tables.append(regroup_totals(table, here) if here else table)
    columns = dict(published.parties.columns)
    for column, new in renamed.items():
        if column in columns:
            own = columns[column]
            texts = [new.get(str(v), str(v)) for v in own.values.to_pylist()]
            columns[column] = encode_texts(texts, own.codes)
    renamed_parties = replace(published.parties, columns=columns)
    before = sum(table.dataset.rows for table in published.totals)
    cost = 1 - sum(table.dataset.rows for table in tables) / before
    merged_places = Counter(renamed[published.fine.finest].values())
    return WeakerTables(
        strength=strength,
        totals=tables,
        parties=renamed_parties,
        cost=cost,
        merged_places=merged_places,
    )


def _group_places(fine: Totals) -> dict[str, list[str]]:
    """The finest places by the next coarser one."""
    names_by_place: dict[str, set[str]] = {}
    for row in fine.dataset.select(fine.places[:2]).to_arrow().to_pylist():
        above = str(row[fine.places[1]]) if len(fine.places) > 1 else ""
        names_by_place.setdefault(above, set()).add(str(row[fine.finest]))
    return {above: sorted(names) for above, names in names_by_place.items()}


def coarsen_keys(published: PublishedTotals) -> Iterator[WeakerTables]:
    """Keys cut shorter, or a level up, then left out; the one with most values first."""
    tables = published.totals
    before = sum(table.dataset.rows for table in tables)
    attributes = sorted(
        {of.attribute for table in tables for of in table.key.values()},
        key=lambda name: -published.records.columns[name].cardinality,
    )
    for number, attribute in enumerate(attributes):
        last = number == len(attributes) - 1
        for to in _list_coarsenings(tables, published.records, attribute, may_go=not last):
            tables = [_coarsen_key(table, published.records, attribute, to) for table in tables]
            cost = 1 - sum(map(_count_published_rows, tables)) / before
            yield WeakerTables(
                strength=_describe_keys(tables), totals=tables, parties=published.parties, cost=cost
            )


def _list_coarsenings(
    tables: Sequence[Totals], records: Dataset, attribute: str, may_go: bool
) -> Iterator[Generalised | None]:
    """Ever coarser forms of an attribute, each with half the values at most; at last none."""
    hierarchy = records.dictionary[attribute].hierarchy
    values = [str(v) for v in records.columns[attribute].values.to_pylist()]
    now = [of for table in tables for of in table.key.values() if of.attribute == attribute]
    if all(of.level is None for of in now) and hierarchy is None:
        longest = max(of.prefix or max(map(len, values), default=0) for of in now)
        kinds_before = len({value[:longest] for value in values})
        for length in range(longest - 1, 0, -1):
            kinds = len({value[:length] for value in values})
            if kinds <= kinds_before / 2:
                yield Generalised(attribute, prefix=length)
                kinds_before = kinds
    elif hierarchy is not None and all(of.prefix is None for of in now):
        for level in range(min(of.level or 0 for of in now) + 1, hierarchy.height + 1):
            yield Generalised(attribute, level=level)
    if may_go:
        yield None


def _coarsen_key(table: Totals, records: Dataset, attribute: str, to: Generalised | None) -> Totals:
    """A table with a coarser form of an attribute in its key, if its own is finer."""
    for column in [column for column, of in table.key.items() if of.attribute == attribute]:
        table = _coarsen_column(table, records, column, to)
    return table


def _coarsen_column(table: Totals, records: Dataset, column: str, to: Generalised | None) -> Totals:
    """A table with one column of its key coarser, or without it, unless it is the only one."""
    own = table.key[column]
    if to is None:
        by = {name: of for name, of in table.by.items() if name != column}
        if not by:
            return table
        table = _separate_suppressed_rows(table, records, next(iter(by)))
        return replace(regroup_totals(replace(table, by=by), {}), by=by)
    if to.prefix is not None and own.prefix is not None and own.prefix <= to.prefix:
        return table
    if to.level is not None and (own.level or 0) >= to.level:
        return table
    table = _separate_suppressed_rows(table, records, column)
    # What the records become says what the totals' own values become.
    up = dict(zip(generalise_values(own, records), generalise_values(to, records), strict=True))
    new = {}
    for text in map(str, table.dataset.columns[column].values.to_pylist()):
        bare = text.removesuffix(SUPPRESSED)
        new[text] = (up.get(bare) or _coarsen_unmatched_value(bare, own, to, records)) + _find_mark(
            text
        )
    return replace(regroup_totals(table, {column: new}), by={**table.by, column: to})


def _coarsen_unmatched_value(
    value: str, own: Generalised, to: Generalised, records: Dataset
) -> str:
    """What a value becomes that only totals have; itself, where a hierarchy does not know it."""
    hierarchy = records.dictionary[to.attribute].hierarchy
    if to.level is None:
        return to.of(value)
    is_known_value = own.level is None and hierarchy is not None and not hierarchy.lacks([value])
    return to.of(value, hierarchy) if is_known_value else value


def _separate_suppressed_rows(table: Totals, records: Dataset, column: str) -> Totals:
    """A table whose rows without records stay apart when keys become coarser.

    They are of codes that are suppressed in the records. The totals to be published hold them;
    here the adversary is one who knows them, so that what can be denied to them can be to all.
    """
    own = table.dataset.columns[column]
    texts = [str(v) for v in own.values.to_pylist()]
    is_present = own.codes < len(texts)
    apart = np.zeros(len(is_present), bool)
    apart[match_records(table, records).totals_without_records] = True
    codes = np.where(is_present, own.codes + len(texts) * apart, 2 * len(texts))
    marked = [text + (SUPPRESSED if not _find_mark(text) else "") for text in texts]
    columns = {**table.dataset.columns, column: encode_texts([*texts, *marked], codes)}
    return replace(table, dataset=replace(table.dataset, columns=columns).describe({}))


def _find_mark(text: str) -> str:
    return SUPPRESSED if text.endswith(SUPPRESSED) else ""


def _count_published_rows(table: Totals) -> int:
    """How many rows a table has if what was kept apart is added to the rows of its key."""
    rows = (
        table.dataset.select(list(dict.fromkeys([*table.by, table.finest]))).to_arrow().to_pylist()
    )
    return len({tuple(str(v).removesuffix(SUPPRESSED) for v in row.values()) for row in rows})


def _describe_keys(tables: Sequence[Totals]) -> str:
    """The keys of the tables, as the command line writes generalisations."""
    descriptions = []
    for table in tables:
        parts = []
        for of in table.key.values():
            to = f":{of.prefix}" if of.prefix else f" at level {of.level}" if of.level else ""
            parts.append(f"{of.attribute}{to}")
        descriptions.append(", ".join(parts))
    return "; ".join(dict.fromkeys(descriptions))


def drop_amounts(published: PublishedTotals) -> Iterator[WeakerTables]:
    """One amount less, then another, the last named first, as long as every table keeps one."""
    names = list(dict.fromkeys(name for table in published.totals for name in table.summed))
    dropped: list[str] = []
    for name in reversed(names):
        if any(set(table.summed) <= {*dropped, name} for table in published.totals):
            continue
        dropped.append(name)
        tables = [
            replace(table, amounts={k: v for k, v in table.summed.items() if k not in dropped})
            for table in published.totals
        ]
        figures_left = sum(table.dataset.rows * len(table.summed) for table in tables)
        yield WeakerTables(
            strength=", ".join(dropped),
            totals=tables,
            parties=published.parties,
            cost=1 - figures_left / published.figures,
        )


def drop_table(published: PublishedTotals) -> Iterator[WeakerTables]:
    """Each table left out once, cheapest first; without the finest, places are coarser ones."""
    fine = published.fine
    for table in sorted(published.totals, key=lambda t: t.dataset.rows * len(t.summed)):
        others = [other for other in published.totals if other is not table]
        if not others:
            return
        place = max(others, key=lambda other: len(other.places)).finest
        if place not in published.parties.names:
            continue
        cost = table.dataset.rows * len(table.summed) / published.figures
        merged_places: Mapping[str, int] = {}
        if table is fine and place != fine.finest:
            others = [replace(other, place=[other.finest]) for other in others]
            if place in fine.places:
                pairs = {
                    (str(row[place]), str(row[fine.finest]))
                    for row in fine.dataset.select([place, fine.finest]).to_arrow().to_pylist()
                }
                merged_places = Counter(above for above, _ in pairs)
        yield WeakerTables(
            strength=table.dataset.name,
            totals=others,
            parties=published.parties,
            cost=cost,
            merged_places=merged_places,
        )
