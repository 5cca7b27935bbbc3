"""Directives on a dataset: records by their numbers, contradictions settled, failures told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from divulge.assessment import Sentence
from divulge.data import Dataset
from divulge.data.value_texts import format_value
from divulge.protection.directives.directives import Directives, LevelDirective
from divulge.protection.tuning import PREFERENCE_FACTOR
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Bools, Floats, Ints

Order: TypeAlias = Literal["weight", "risk"]

ORDERS_BY_NAME: Mapping[str, Order] = {
    "less significant first": "weight",
    "most risky first": "risk",
    "weight": "weight",
    "risk": "risk",
}
"""Orders of records, in words and in short."""
METHOD_NAMES = ("recode", "suppress")


@dataclass(frozen=True, kw_only=True)
class DirectiveFailure:
    """What could not be obeyed: rows of one rule for one reason."""

    directive: str
    """The table that they stand in."""
    reason: str
    rule: str | None
    attribute: str | None
    records: tuple[int, ...] = ()
    """Their numbers in the data (from 0), where they have one."""
    count: int = 1

    @property
    def sentence(self) -> Sentence:
        """What could not be obeyed, and why."""
        values = {
            "directive": self.directive,
            "rule": self.rule or self.directive,
            "attribute": self.attribute,
            "count": self.count,
        }
        return Sentence("divulge.protection", f"unobeyed.{self.reason}", values)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return values | {"records": list(self.records), "sentence": str(self.sentence)}

    def __str__(self) -> str:
        return str(self.sentence)


@dataclass(frozen=True, kw_only=True)
class CellGroup:
    """Cells of one attribute, or whole records, that one rule is about."""

    rule: str | None
    attribute: str | None
    records: Ints


@dataclass(frozen=True, kw_only=True)
class SettledDirectives:
    """Directives on a dataset: records by their numbers, contradictions settled."""

    kept: tuple[CellGroup, ...] = ()
    hidden: tuple[CellGroup, ...] = ()
    removed: tuple[CellGroup, ...] = ()
    levels: Mapping[str, LevelDirective] = field(default_factory=dict)
    thresholds: Floats | None = None
    """The risk that each record may have; not a number where it has no threshold of its own."""
    threshold_rules: tuple[str, ...] = ()
    preferences: Mapping[str, int] = field(default_factory=dict)
    """By attribute, its place: 0 is changed first."""
    order: Order | None = None
    order_rule: str | None = None
    methods: tuple[str, ...] = ()
    unobeyed: tuple[DirectiveFailure, ...] = ()

    @property
    def names_records(self) -> bool:
        """Whether single records are changed or left alone by them, or columns made coarser."""
        return bool(self.kept or self.hidden or self.removed or self.levels)

    @property
    def kept_attributes(self) -> frozenset[str]:
        """Attributes in which cells are kept."""
        return frozenset(str(group.attribute) for group in self.kept)

    def mark_kept(self, names: Sequence[str], places: Ints) -> Bools | None:
        """Which cells of some records must not change; None if all may."""
        kept = np.zeros((places.size, len(names)), np.bool_)
        for group in self.kept:
            if group.attribute in names:
                a = list(names).index(str(group.attribute))
                kept[:, a] |= np.isin(places, group.records)
        return kept if kept.any() else None

    def describe_kept(self, names: Iterable[str]) -> str:
        """The rules that keep cells of some attributes, for messages."""
        groups = [group for group in self.kept if group.attribute in set(names)]
        rules = dict.fromkeys(group.rule or "keep" for group in groups)
        count = sum(group.records.size for group in groups)
        quoted = ", ".join(f'"{rule}"' for rule in rules)
        return f"{count:,} {'cell' if count == 1 else 'cells'} kept by {quoted}" if count else ""


def settle_directives(
    dataset: Dataset,
    directives: Directives,
    *,
    never: frozenset[str] = frozenset(),
    looked_at: Sequence[str] | None = None,
    methods: Sequence[str] = METHOD_NAMES,
    takes_thresholds: bool = True,
) -> SettledDirectives:
    """Directives on a dataset, with what cannot be obeyed.

    Args:
        dataset: the records.
        directives: what must be done or left.
        never: attributes that must not be touched, by whoever protects.
        looked_at: the attributes that limits look at; None for the quasi-identifiers.
        methods: what may be done.
        takes_thresholds: whether some limit is on the risk of single records.

    Raises:
        InvalidInput: if `on` is no attribute.
    """
    if directives.on is not None and directives.on not in dataset.columns:
        message = f'"{directives.on}" is not an attribute of "{dataset.name}".'
        raise InvalidInput("directives", [Problem("on", message, directives.on, dataset.names)])
    settler = _Settler(dataset, directives, never)
    levels = settler.settle_levels()
    removed = settler.group_records("remove")
    hidden = settler.group_cells("hide")
    thresholds, threshold_rules = settler.settle_thresholds(takes_thresholds)
    names = dataset.quasi_identifiers if looked_at is None else looked_at
    order, order_rule = settler.settle_order()
    return SettledDirectives(
        kept=settler.drop_contradicted(settler.group_cells("keep"), hidden, removed, levels),
        hidden=hidden,
        removed=removed,
        levels=levels,
        thresholds=thresholds,
        threshold_rules=threshold_rules,
        preferences=settler.rank_names("prefer", names, "not_looked_at"),
        order=order,
        order_rule=order_rule,
        methods=tuple(settler.rank_names("methods", methods, "no_method")),
        unobeyed=tuple(settler.failures),
    )


def weigh_preferences(
    settled: SettledDirectives, importance: Mapping[str, float], among: Sequence[str]
) -> Mapping[str, float]:
    """How dear attributes are, each ten times as dear as those that are to be changed before it."""
    if not settled.preferences:
        return importance
    last = 1 + max(settled.preferences.values())
    return {**importance} | {
        name: importance.get(name, 1.0) * PREFERENCE_FACTOR ** settled.preferences.get(name, last)
        for name in among
    }


def refuse_levels(settled: SettledDirectives) -> SettledDirectives:
    """The same where nothing is made coarser: least levels are out of reach."""
    fresh = (
        DirectiveFailure(directive="recode", reason="no_recoding", rule=each.rule, attribute=name)
        for name, each in settled.levels.items()
    )
    return replace(settled, levels={}, unobeyed=(*settled.unobeyed, *fresh))


class _Settler:
    """Finds the records and attributes that directives name, noting what is not there."""

    def __init__(self, dataset: Dataset, directives: Directives, never: frozenset[str]) -> None:
        self.dataset, self.directives, self.never = dataset, directives, never
        self.failures: list[DirectiveFailure] = []
        self._places_by_text: dict[str, Ints] | None = None

    def group_cells(self, table: str) -> tuple[CellGroup, ...]:
        """The cells of a table, by attribute and rule; those that are not there are noted."""
        by_group: dict[tuple[str, str | None], list[Any]] = {}
        for row in getattr(self.directives, table):
            by_group.setdefault((row.attribute, row.rule), []).append(row.record)
        groups = []
        for (attribute, rule), named in by_group.items():
            if attribute not in self.dataset.columns:
                self._note(table, "no_attribute", rule, attribute, len(named))
                continue
            records = self._find_records(table, named, rule, attribute)
            if table == "hide" and attribute in self.never:
                self._note_records(table, "never", rule, attribute, records)
            elif records.size:
                groups.append(CellGroup(rule=rule, attribute=attribute, records=records))
        return tuple(groups)

    def group_records(self, table: str) -> tuple[CellGroup, ...]:
        """The records of a table, by rule."""
        by_rule: dict[str | None, list[Any]] = {}
        for row in getattr(self.directives, table):
            by_rule.setdefault(row.rule, []).append(row.record)
        found = (
            CellGroup(
                rule=rule, attribute=None, records=self._find_records(table, named, rule, None)
            )
            for rule, named in by_rule.items()
        )
        return tuple(group for group in found if group.records.size)

    def settle_levels(self) -> dict[str, LevelDirective]:
        """The highest least level of each attribute; levels that do not exist are noted."""
        levels: dict[str, LevelDirective] = {}
        for row in self.directives.recode:
            if row.attribute not in self.dataset.columns:
                self._note("recode", "no_attribute", row.rule, row.attribute, 1)
                continue
            hierarchy = self.dataset.dictionary[row.attribute].hierarchy
            if row.attribute in self.never:
                self._note("recode", "never", row.rule, row.attribute, 1)
            elif hierarchy is None or not 0 <= row.level <= hierarchy.height:
                self._note("recode", "no_level", row.rule, row.attribute, 1)
            elif row.level and row.level > levels.get(row.attribute, row._replace(level=0)).level:
                levels[row.attribute] = row
        return levels

    def settle_thresholds(self, takes_thresholds: bool) -> tuple[Floats | None, tuple[str, ...]]:
        """The risk that each record may have: of several thresholds, the strictest."""
        by_rule: dict[str | None, list[Any]] = {}
        for row in self.directives.threshold:
            by_rule.setdefault(row.rule, []).append(row)
        highest = np.full(self.dataset.rows, np.nan)
        for rule, rows in by_rule.items():
            found = self._find_records("threshold", [row.record for row in rows], rule, None)
            if not takes_thresholds:
                self._note_records("threshold", "no_record_limit", rule, None, found)
                continue
            for row in rows:
                places = self._find_places(row.record)
                risk = row.threshold if row.threshold <= 1 else 1 / row.threshold
                highest[places] = np.fmin(highest[places], risk)
        if not np.any(np.isfinite(highest)):
            return None, ()
        return highest, tuple(rule or "threshold" for rule in by_rule)

    def settle_order(self) -> tuple[Order | None, str | None]:
        """The first order that is one, with its rule; others that contradict it are noted."""
        chosen: Order | None = None
        rule: str | None = None
        for row in self.directives.order:
            order = ORDERS_BY_NAME.get(row.order)
            if order is None:
                self._note("order", "no_order", row.rule, str(row.order), 1)
            elif chosen is not None and order != chosen:
                self._note("order", "other_order", row.rule, str(row.order), 1)
            elif chosen is None:
                chosen, rule = order, row.rule
        return chosen, rule

    def rank_names(self, table: str, allowed: Sequence[str], reason: str) -> dict[str, int]:
        """By name its place among the ranks, in their order; of several, the first."""
        ranks: dict[str, float] = {}
        for row in getattr(self.directives, table):
            if row.name in allowed:
                ranks[row.name] = min(row.rank, ranks.get(row.name, row.rank))
            else:
                known = table == "methods" or row.name in self.dataset.columns
                self._note(table, reason if known else "no_attribute", row.rule, row.name, 1)
        places = {rank: place for place, rank in enumerate(sorted(set(ranks.values())))}
        return {name: places[rank] for name, rank in sorted(ranks.items(), key=lambda r: r[1])}

    def drop_contradicted(
        self,
        kept: Sequence[CellGroup],
        hidden: Sequence[CellGroup],
        removed: Sequence[CellGroup],
        levels: Mapping[str, LevelDirective],
    ) -> tuple[CellGroup, ...]:
        """Kept cells without those that another directive hides, removes or makes coarser."""
        gone = np.concatenate([np.empty(0, np.int64), *(group.records for group in removed)])
        left = []
        for group in kept:
            hides = [each.records for each in hidden if each.attribute == group.attribute]
            secret = np.concatenate([np.empty(0, np.int64), *hides])
            is_hidden, is_gone = np.isin(group.records, secret), np.isin(group.records, gone)
            is_coarse = np.full(group.records.size, group.attribute in levels)
            for reason, lost in (
                ("removed_instead", is_gone),
                ("hidden_instead", is_hidden & ~is_gone),
                ("recoded_instead", is_coarse & ~is_hidden & ~is_gone),
            ):
                self._note_records("keep", reason, group.rule, group.attribute, group.records[lost])
            stays = group.records[~(is_hidden | is_gone | is_coarse)]
            if stays.size:
                left.append(CellGroup(rule=group.rule, attribute=group.attribute, records=stays))
        return tuple(left)

    def _find_records(
        self, table: str, named: Sequence[Any], rule: str | None, attribute: str | None
    ) -> Ints:
        found = [self._find_places(record) for record in named]
        missing = sum(places.size == 0 for places in found)
        if missing:
            self._note(table, "no_record", rule, attribute, missing)
        return np.unique(np.concatenate([np.empty(0, np.int64), *found]))

    def _find_places(self, record: Any) -> Ints:
        """The numbers of the records that are named; of a person with several, all of theirs."""
        if self.directives.on is not None:
            return self._index_places().get(format_value(record), np.empty(0, np.int64))
        is_number = isinstance(record, int | np.integer) and not isinstance(record, bool)
        exists = is_number and 0 <= record < self.dataset.rows
        return np.array([record] if exists else [], np.int64)

    def _index_places(self) -> dict[str, Ints]:
        if self._places_by_text is None:
            column = self.dataset.columns[str(self.directives.on)]
            order = np.argsort(column.codes, kind="stable")
            values = column.values.to_pylist()
            bounds = np.searchsorted(column.codes[order], np.arange(len(values) + 1))
            self._places_by_text = {
                format_value(value): order[bounds[code] : bounds[code + 1]]
                for code, value in enumerate(values)
            }
        return self._places_by_text

    def _note(
        self, table: str, reason: str, rule: str | None, attribute: str | None, count: int
    ) -> None:
        self.failures.append(
            DirectiveFailure(
                directive=table, reason=reason, rule=rule, attribute=attribute, count=count
            )
        )

    def _note_records(
        self, table: str, reason: str, rule: str | None, attribute: str | None, records: Ints
    ) -> None:
        if records.size:
            self.failures.append(
                DirectiveFailure(
                    directive=table,
                    reason=reason,
                    rule=rule,
                    attribute=attribute,
                    records=tuple(records.tolist()),
                    count=int(records.size),
                )
            )
