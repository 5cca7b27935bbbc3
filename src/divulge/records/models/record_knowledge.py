"""Knowledge about single records: more attributes than of the others, or only some.

A listed company's revenue is public, and other companies' are not. Each record is known by a set
of attributes; those that are known by the same set are looked for in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from divulge.data import Dataset
from divulge.data.value_texts import format_value
from divulge.work import Problem, Problems
from divulge.work.arrays import Ints


class KnownGroup(NamedTuple):
    """Records that are known by the same attributes."""

    names: tuple[str, ...]
    records: Ints


@dataclass(frozen=True, kw_only=True)
class RecordKnowledge:
    """By which attributes each record is known."""

    groups: tuple[KnownGroup, ...]
    """All records, each in one group; first those that are known as everybody is."""
    known: tuple[str, ...]
    """What is known of everybody of whom nothing else is said."""
    outsiders: int = 0
    """Rows that name records which are not in the data."""

    @property
    def names(self) -> list[str]:
        """All attributes by which somebody is known."""
        return list(dict.fromkeys(name for group in self.groups for name in group.names))

    @property
    def apart(self) -> tuple[KnownGroup, ...]:
        """Those who are known by other attributes than everybody."""
        return tuple(group for group in self.groups if group.names != self.known)

    def list_records(self, names: Sequence[str]) -> Ints:
        """The records that are known by just these attributes."""
        found = [group.records for group in self.groups if set(group.names) == set(names)]
        return np.concatenate([np.empty(0, np.int64), *found])


def read_record_knowledge(
    dataset: Dataset, known: Sequence[str], also: Any, only: Any, on: str | None
) -> RecordKnowledge:
    """What is known of each record, from tables of pairs (record, attribute).

    Args:
        dataset: the records.
        known: what is known of everybody.
        also: pairs of what is known of single records beside.
        only: pairs of what alone is known of single records, and of what `also` adds.
        on: the attribute whose values name records; their number (from 0) if None.

    Raises:
        InvalidInput: naming every pair of a kind that cannot be.

    >>> import divulge as dv
    >>> pupils = dv.datasets.school_year_example()
    >>> read_record_knowledge(pupils, ["grade"], [(0, "gender")], None, None).groups[1]
    KnownGroup(names=('gender', 'grade'), records=array([0]))
    """
    problems = Problems("attack")
    if on is not None and on not in dataset.columns:
        problems.add("on", f'"{on}" is not an attribute of "{dataset.name}".', on, dataset.names)
        problems.raise_any()
    places = _index_records(dataset, on)
    tables = {
        argument: list(_read_pairs(argument, table, problems))
        for argument, table in (("knows_also", also), ("knows_only", only))
    }
    outsiders = 0
    sets: dict[str, dict[int, set[str]]] = {argument: {} for argument in tables}
    for argument, pairs in tables.items():
        for name in dict.fromkeys(name for _, name in pairs):
            if name not in dataset.columns:
                message = f'"{dataset.name}" has no attribute "{name}".'
                problems.add(argument, message, str(name), dataset.names)
        for record, name in pairs:
            records = places(record)
            outsiders += not records
            for place in records:
                sets[argument].setdefault(place, set()).add(name)
        if on is None and outsiders:
            message = f"names records that are not there ({dataset.rows:,} are, from 0)."
            problems.add(argument, message)
    problems.raise_any()
    return RecordKnowledge(
        groups=tuple(_group_records(dataset, known, sets["knows_also"], sets["knows_only"])),
        known=tuple(name for name in dataset.names if name in set(known)),
        outsiders=outsiders,
    )


def _group_records(
    dataset: Dataset,
    known: Sequence[str],
    also: Mapping[int, set[str]],
    only: Mapping[int, set[str]],
) -> Iterator[KnownGroup]:
    of_everybody = tuple(name for name in dataset.names if name in set(known))
    by_names: dict[tuple[str, ...], list[int]] = {}
    for place in sorted({*also, *only}):
        chosen = only.get(place, set(known)) | also.get(place, set())
        names = tuple(name for name in dataset.names if name in chosen)
        by_names.setdefault(names, []).append(place)
    same = by_names.pop(of_everybody, [])
    rest = np.ones(dataset.rows, np.bool_)
    for records in by_names.values():
        rest[records] = False
    assert rest[same].all()  # noqa: S101  # each record is in one group
    if rest.any():
        yield KnownGroup(of_everybody, np.flatnonzero(rest))
    for names, records in by_names.items():
        yield KnownGroup(names, np.array(records, np.int64))


def _index_records(dataset: Dataset, on: str | None) -> Any:
    """From what names a record to the places of all records that it names."""
    if on is None:

        def find_number(record: Any) -> list[int]:
            is_number = isinstance(record, int | np.integer) and not isinstance(record, bool)
            return [int(record)] if is_number and 0 <= record < dataset.rows else []

        return find_number
    column = dataset.columns[on]
    order = np.argsort(column.codes, kind="stable")
    texts = [format_value(value) for value in column.values.to_pylist()]
    bounds = np.searchsorted(column.codes[order], np.arange(len(texts) + 1))
    code_of_text = {text: code for code, text in enumerate(texts)}

    def find_id(record: Any) -> list[int]:
        code = code_of_text.get(format_value(record))
        return [] if code is None else order[bounds[code] : bounds[code + 1]].tolist()

    return find_id


def _read_pairs(argument: str, table: Any, problems: Problems) -> Iterator[tuple[Any, str]]:
    """The pairs of a table: a dataset or an Arrow table of two columns, or a list of pairs."""
    if table is None:
        return
    if isinstance(table, Dataset):
        table = table.to_arrow()
    if hasattr(table, "column_names"):
        table = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    for row in table:
        if not isinstance(row, list | tuple) or len(row) != 2 or not isinstance(row[1], str):
            problems.extend(
                "", [Problem(argument, "contains what is no pair (record, attribute).")]
            )
            return
        yield row[0], row[1]
