"""The log of decisions: every change, why it was made, and what it did to the risk.

Changes of one kind are kept as arrays, so that a log of millions of cells stays small; a single
`Decision` is made when somebody asks for it. The values that were changed are in the log and in
nothing that is printed unasked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from divulge.assessment import Decision, Sentence
from divulge.assessment.decision import Change as Kind
from divulge.assessment.decision import Origin
from divulge.data import Dataset
from divulge.data.missing_kinds import merge_missing_kinds
from divulge.protection.changes.changes import drop_records, hide_cells, replace_values, value_at
from divulge.protection.changes.recodings import replay_recoding
from divulge.work import DivulgeError
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class Change:
    """Changes of one kind, in one attribute, for one reason.

    `records` are places in the original. A global recoding is one decision for all records with
    a value; the others are one decision a record. `company` is how many looked like the record.
    """

    kind: Kind
    attribute: str | None
    records: Ints
    was: Sequence[Any]
    became: Sequence[Any]
    rule: str
    reason: str
    before: Floats
    after: Floats
    company: Ints
    among: tuple[str, ...]
    whole_column: bool = False
    """Whether it is one decision for the whole column."""
    origin: Origin = "limit"
    """Whether a limit asks for it, or a directive, whose rule `rule` names."""

    def __len__(self) -> int:
        return 1 if self.whole_column else len(self.records)


@dataclass(frozen=True)
class DecisionLog(Sequence[Decision]):
    """All decisions on one dataset, in their order.

    >>> import divulge as dv
    >>> p = dv.protection.suppress(dv.datasets.local_suppression_example(), k=2, nulls="maybe")
    >>> len(p.decisions), p.decisions[0].attribute
    (2, 'Area')
    """

    dataset: str
    changes: tuple[Change, ...] = ()
    original: Dataset | None = field(default=None, repr=False, compare=False)
    """What was changed; a decision then knows the group that its record was alone in."""

    def __len__(self) -> int:
        return int(self._starts[-1])

    @overload
    def __getitem__(self, place: int) -> Decision: ...
    @overload
    def __getitem__(self, place: slice) -> list[Decision]: ...
    def __getitem__(self, place: int | slice) -> Decision | list[Decision]:
        if isinstance(place, slice):
            return [self._build_decision(each) for each in range(*place.indices(len(self)))]
        number = place + len(self) if place < 0 else place
        if not 0 <= number < len(self):
            raise IndexError(f"there are {len(self)} decisions")
        return self._build_decision(number)

    def __iter__(self) -> Iterator[Decision]:
        return (self._build_decision(place) for place in range(len(self)))

    @property
    def suppressed_cells(self) -> int:
        """How many cells were suppressed."""
        return sum(len(each) for each in self.changes if each.kind == "suppressed")

    @property
    def removed_records(self) -> Ints:
        """The places of the records that were removed."""
        places = [each.records for each in self.changes if each.kind == "removed"]
        return np.concatenate([np.empty(0, np.int64), *places])

    @property
    def suppressed_or_removed(self) -> Ints:
        """The places of the records that lost a cell, or were removed; each once."""
        kinds = ("suppressed", "removed")
        places = [each.records for each in self.changes if each.kind in kinds]
        return np.unique(np.concatenate([np.empty(0, np.int64), *places]))

    def of_record(self, number: int) -> list[Decision]:
        """The decisions on one record, by its place in the original (from 0)."""
        return [
            self._build_decision(int(start) + int(where))
            for change, start in zip(self.changes, self._starts, strict=False)
            for where in ([0] if change.whole_column else np.flatnonzero(change.records == number))
        ]

    def first(self, count: int) -> DecisionLog:
        """The log as it was after some decisions.

        >>> import divulge as dv
        >>> p = dv.protection.suppress(dv.datasets.local_suppression_example(), k=2, nulls="maybe")
        >>> len(p.decisions.first(1))
        1
        """
        changes, remaining = [], count
        for change in self.changes:
            if remaining <= 0:
                break
            if len(change) > remaining:
                changes.append(_truncate_change(change, remaining))
            else:
                changes.append(change)
            remaining -= len(change)
        return replace(self, changes=tuple(changes))

    def replayed(self, original: Dataset) -> Dataset:
        """What the decisions make of the original, one after the other."""
        current = merge_missing_kinds(original)
        for change in self.changes:
            if change.kind == "suppressed" and change.attribute is not None:
                current = hide_cells(current, {change.attribute: change.records})
            elif change.kind == "recoded" and change.attribute is not None:
                columns = dict(current.columns)
                column = columns[change.attribute]
                if change.whole_column:
                    columns[change.attribute] = replay_recoding(column, change)
                else:
                    columns[change.attribute] = replace_values(
                        column, change.records, list(change.became)
                    )
                current = replace(current, columns=columns)
        removed = self.removed_records
        return drop_records(current, removed) if removed.size else current

    def to_arrow(self, values: bool = False) -> pa.Table:
        """One row per decision; what a value was only if it is asked for."""
        import pyarrow as pa

        rows = [self._build_row(place, values) for place in range(len(self))]
        names = [*_COLUMNS, *(("from", "to") if values else ())]
        columns = {name: [row[name] for row in rows] for name in names}
        types = {"record": pa.int64(), "label": pa.int64(), "company": pa.int64()}
        types |= {name: pa.float64() for name in ("before", "after")}
        return pa.table(
            {name: pa.array(columns[name], types.get(name, pa.string())) for name in names}
        )

    def write(self, path: Path | str, values: bool = False, overwrite: bool = False) -> None:
        """Write the log as a Parquet file, for its owner's eyes; what values were only if asked."""
        import pyarrow.parquet as pq

        from divulge.work import whole_file

        with whole_file(path, overwrite, private=True) as part:
            pq.write_table(self.to_arrow(values), part)

    def mapping(self) -> pa.Table:
        """How values were recoded: attribute, from, to, and in how many records.

        It tells what the original values were: it is for those who hold the original.
        """
        import pyarrow as pa

        pairs: dict[tuple[str, str, str], int] = {}
        for change in self.changes:
            if change.kind != "recoded" or change.attribute is None:
                continue
            counts = change.company if change.whole_column else np.ones(len(change.was), np.int64)
            for was, became, count in zip(change.was, change.became, counts, strict=True):
                key = (change.attribute, str(was), str(became))
                pairs[key] = pairs.get(key, 0) + int(count)
        return pa.table(
            {
                "attribute": pa.array([key[0] for key in pairs], pa.string()),
                "from": pa.array([key[1] for key in pairs], pa.string()),
                "to": pa.array([key[2] for key in pairs], pa.string()),
                "records": pa.array(list(pairs.values()), pa.int64()),
            }
        )

    def explain(self, record: int | None = None, values: bool = False) -> list[str]:
        """The decisions in sentences: all of them, or those on one record (from 0)."""
        chosen = self if record is None else self.of_record(record)
        return [str(describe_decision(decision, values)) for decision in chosen]

    @cached_property
    def _starts(self) -> Ints:
        return np.cumsum([0, *map(len, self.changes)], dtype=np.int64)

    @cached_property
    def _labels(self) -> list[int]:
        """The number of the first null of each change: nulls are numbered in their order."""
        lengths = [len(each) if each.kind == "suppressed" else 0 for each in self.changes]
        return np.cumsum([0, *lengths]).tolist()  # type: ignore[no-any-return]

    def _build_decision(self, place: int) -> Decision:
        number = int(np.searchsorted(self._starts, place, side="right")) - 1
        change, within = self.changes[number], place - int(self._starts[number])
        binding: dict[str, Any] = {"among": list(change.among)}
        if change.whole_column:
            binding["mapping"] = dict(zip(change.was, change.became, strict=True))
        elif change.was:
            binding |= {"from": change.was[within], "to": change.became[within]}
        if change.kind == "suppressed":
            binding["label"] = self._labels[number] + within + 1
        if not change.whole_column:
            binding["company"] = int(change.company[within])
            if self.original is not None:
                place = int(change.records[within])
                columns = self.original.columns
                binding["group"] = {name: value_at(columns[name], place) for name in change.among}
        row = 0 if change.whole_column else within
        return Decision(
            change=change.kind,
            dataset=self.dataset,
            rule=change.rule,
            reason=change.reason if change.whole_column else describe_reason(change, within),
            before=float(change.before[row]),
            after=float(change.after[row]),
            record=None if change.whole_column else int(change.records[within]),
            attribute=change.attribute,
            binding=binding,
            origin=change.origin,
        )

    def _build_row(self, place: int, values: bool) -> dict[str, Any]:
        decision = self._build_decision(place)
        row: dict[str, Any] = decision.to_dict()
        row["label"] = decision.binding.get("label")
        row["company"] = decision.binding.get("company")
        row["among"] = ", ".join(decision.binding["among"])
        row["sentence"] = str(describe_decision(decision, values))
        if values:
            row["from"] = _format_value(
                decision.binding.get("from", decision.binding.get("mapping"))
            )
            row["to"] = _format_value(decision.binding.get("to"))
        return row


_COLUMNS = (
    "change", "dataset", "record", "attribute", "label", "rule", "origin", "reason", "among",
    "company", "before", "after", "sentence",
)  # fmt: skip


def describe_reason(change: Change, within: int) -> str:
    """Why one record was changed: how few looked like it."""
    if change.reason:
        return change.reason
    company = int(change.company[within])
    key = "reason.alone" if company <= 1 else "reason.few"
    values = {"company": company, "others": company - 1, "rule": change.rule}
    return str(Sentence("divulge.protection", key, values))


def describe_decision(decision: Decision, values: bool = False) -> Sentence:
    """A decision as a sentence; with the values only for those who ask for them."""
    details = {
        "record": None if decision.record is None else decision.record + 1,
        "attribute": decision.attribute,
        "reason": decision.reason,
        "rule": decision.rule,
        "before": decision.before,
        "after": decision.after,
        "label": decision.binding.get("label"),
        "was": _format_value(decision.binding.get("from")),
        "became": _format_value(decision.binding.get("to")),
    }
    place = "all" if decision.record is None else "one"
    suffix = "_values" if values and "from" in decision.binding else ""
    table = "decision" if decision.origin == "limit" else "directed"
    return Sentence("divulge.protection", f"{table}.{decision.change}.{place}{suffix}", details)


def _truncate_change(change: Change, count: int) -> Change:
    if change.whole_column:
        raise DivulgeError("a recoding of a whole column is one decision")
    return replace(
        change,
        records=change.records[:count],
        was=change.was[:count],
        became=change.became[:count],
        before=change.before[:count],
        after=change.after[:count],
        company=change.company[:count],
    )


def _format_value(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, dict):
        return "; ".join(f"{was} -> {became}" for was, became in value.items())
    return str(value)
