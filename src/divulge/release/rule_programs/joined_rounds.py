"""What rules said before and say now, as one: of two, always what protects more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.data import Dataset
from divulge.data.value_texts import format_value
from divulge.protection import Directives
from divulge.release.rule_programs.fact_reader import DIRECTIVES, build_pairs
from divulge.release.rule_programs.record_risks import NOBODY, RecordPlaces, align_records
from divulge.release.rule_programs.rule_data import RuleData
from divulge.release.rule_programs.rule_program import DEMANDS
from divulge.release.rule_programs.rule_results import RuleResults
from divulge.release.rule_programs.unmet_directives import list_least_values, list_unmet
from divulge.rules.dictionary_facts import read_record_keys

if TYPE_CHECKING:
    import pyarrow as pa


class JoinedRounds:
    """Results of rules to which those of another evaluation are added."""

    def __init__(self, results: RuleResults, data: RuleData) -> None:
        self.results, self.data = results, data
        self.directives = dict(results.directives)
        self.least_values = dict(results.least_values)
        self.pairs: dict[str, Dataset] = {}
        """The pairs that are others now."""
        self.besides: Counter[str] = Counter()
        self.conflicts: list[Any] = []
        self.derivations: list[str] = []
        self.unrestricted = 0

    @property
    def is_new(self) -> bool:
        """Whether something was added that another protection must meet, or a person decide."""
        return bool(self.besides or self.unrestricted or self.conflicts)

    @property
    def judges_otherwise(self) -> bool:
        """Whether a limit may be judged otherwise now."""
        return bool(self.pairs) or "threshold" in self.besides

    def build_results(self) -> RuleResults:
        """The results with all that was added."""
        before = self.results
        return replace(
            before,
            pairs={**before.pairs, **self.pairs},
            directives=self.directives,
            least_values=self.least_values,
            besides=dict(Counter(before.besides) + self.besides),
            unrestricted=before.unrestricted + self.unrestricted,
            conflicts=(*before.conflicts, *self.conflicts),
            derivations=(*before.derivations, *self.derivations),
        )

    def add_demands(self, dataset: str, found: Directives) -> None:
        """What must be hidden, removed or made coarser, if the records do not meet it yet."""
        before = self.directives.get(dataset) or Directives(on=found.on)
        new = {name: _list_new(getattr(before, name), getattr(found, name)) for name in DEMANDS}
        merged = _add_rows(before, new)
        least = list_least_values(self.data.originals[dataset], merged)
        if any(new.values()) and any(list_unmet(self.data.datasets[dataset], merged, least)):
            self.directives[dataset], self.least_values[dataset] = merged, least
            self.besides.update({name: len(rows) for name, rows in new.items() if rows})

    def add_guidance(self, dataset: str, found: Directives) -> None:
        """What is kept, stricter thresholds, and ranks of what had none.

        A cell that is kept from now on, and that was left alone until now, asks for nothing.
        """
        before = self.directives.get(dataset) or Directives(on=found.on)
        new: dict[str, list[Any]] = {
            "threshold": list(_list_stricter(before.threshold, found.threshold)),
            "prefer": _list_new(before.prefer, found.prefer),
            "methods": _list_new(before.methods, found.methods),
            "order": [] if before.order else list(found.order),
        }
        tables = {table: predicate for predicate, table in DIRECTIVES.items()}
        self.besides.update({tables[name]: len(rows) for name, rows in new.items() if rows})
        kept = self._list_untouched(dataset, _list_new(before.keep, found.keep))
        self.directives[dataset] = _add_rows(before, {**new, "keep": kept})

    def add_pairs(self, name: str, found: Dataset) -> None:
        """Links, or what is known of single records, besides what there was."""
        before = self.results.pairs[name]
        known = set(_list_keys(before))
        places = [place for place, key in enumerate(_list_keys(found)) if key not in known]
        if places:
            self.pairs[name] = _join_pairs(name, before, found, places)
            self.besides[name] += len(places)

    def lift_restrictions(self, found: Dataset) -> None:
        """Records of which rules said that little is known, and no longer do or say more.

        Who was not restricted before is not restricted now: protection must not make it seem that
        less is known of somebody.
        """
        before = self.results.pairs["knows_only"]
        known, now = _list_keys(before), _list_keys(found)
        restricted, still = {record for record, _ in known}, {record for record, _ in now}
        lifted = (restricted & self._list_present_records()) - still
        more = [
            place for place, key in enumerate(now) if key[0] in restricted and key not in set(known)
        ]
        if lifted or more:
            stays = [place for place, key in enumerate(known) if key[0] not in lifted]
            left = build_pairs("knows_only", _take_rows(before, stays))
            self.pairs["knows_only"] = _join_pairs("knows_only", left, found, more)
        if more:
            self.besides["knows_only"] += len(more)
        self.unrestricted += len(lifted)

    def add_conflicts(self, found: RuleResults) -> None:
        """Values that equality rules make one only now, for a person to decide."""
        if self.results.conflicts:
            return
        self.conflicts = [each for each in found.conflicts if each.key == "rules.conflict"]
        self.derivations = list(found.derivations) if self.conflicts else []

    def _list_present_records(self) -> set[str]:
        """What rules call the records that are left, however an identifier is written."""
        present = set()
        for name in self.data.published:
            for key in read_record_keys(self.data.datasets[name]).values.to_pylist():
                present |= {str(key), format_value(key)}
        return present

    def _list_untouched(self, dataset: str, rows: Sequence[Any]) -> list[Any]:
        """The cells that are kept from now on, of those that are still as they were."""
        if not rows:
            return []
        now = self.data.datasets[dataset]
        original = align_records(self.data.originals[dataset], now)
        places = RecordPlaces.of(now).find([row.record for row in rows]).tolist()
        untouched = []
        for row, place in zip(rows, places, strict=True):
            if place == NOBODY or row.attribute not in now.columns:
                continue
            column, before = now.columns[row.attribute], original.columns[row.attribute]
            if column.value(column.codes[place]) == before.value(before.codes[place]):
                untouched.append(row)
        return untouched


def _add_rows(directives: Directives, rows: dict[str, list[Any]]) -> Directives:
    added: dict[str, Any] = {name: (*getattr(directives, name), *new) for name, new in rows.items()}
    return replace(directives, **added)


def _list_new(before: Sequence[Any], now: Sequence[Any]) -> list[Any]:
    """Rows on what had none: cells, records, or attributes and methods by their name."""
    known = {_find_subject(row) for row in before}
    return [row for row in now if _find_subject(row) not in known]


def _find_subject(row: Any) -> tuple[Any, ...]:
    """What a row is about: without its rule, and without the rank that it gives."""
    return tuple(row[:1]) if hasattr(row, "rank") else tuple(row[:-1])


def _list_stricter(before: Sequence[Any], now: Sequence[Any]) -> Iterator[Any]:
    strictest: dict[str, float] = {}
    for row in before:
        record = format_value(row.record)
        strictest[record] = min(_find_risk(row), strictest.get(record, 1.0))
    for row in now:
        if _find_risk(row) < strictest.get(format_value(row.record), 1.0):
            yield row


def _find_risk(row: Any) -> float:
    threshold = float(row.threshold)
    return threshold if threshold <= 1 else 1 / threshold


def _list_keys(pairs: Dataset) -> list[tuple[str, str]]:
    first, second = (column.to_pylist() for column in pairs.to_arrow().columns)
    return [(format_value(a), format_value(b)) for a, b in zip(first, second, strict=True)]


def _take_rows(pairs: Dataset, places: Sequence[int]) -> pa.Table:
    return pairs.to_arrow().take(np.array(places, np.int64))


def _join_pairs(name: str, before: Dataset, found: Dataset, places: list[int]) -> Dataset:
    """Pairs with some of others, which may be called by texts where those are by numbers."""
    import pyarrow as pa

    tables = [before.to_arrow(), _take_rows(found, places)]
    filled = [table for table in tables if table.num_rows] or tables[:1]
    if len({str(table.schema.types) for table in filled}) > 1:
        texts = pa.schema([(column, pa.string()) for column in filled[0].column_names])
        filled = [table.cast(texts) for table in filled]
    return build_pairs(name, pa.concat_tables(filled))
