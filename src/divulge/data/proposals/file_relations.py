"""Files that belong together: a file a year, or the same people seen from two sides.

Somebody who has both knows more than from either alone. Files are of the same people where they
share a key: an attribute of one name, of different values in each, many of which are in both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal

from divulge.data import tuning
from divulge.data.dataset import Dataset
from divulge.data.dictionary import Role
from divulge.data.proposals.categorisation import Categorisation

_KEY_ROLES: tuple[Role, ...] = ("identifier", "person", "household", "group")


@dataclass(frozen=True, kw_only=True)
class FileRelation:
    """Datasets of the same people, and the attribute that links them."""

    kind: Literal["years", "joint"]
    names: tuple[str, ...]
    """The datasets; years in their order."""
    on: str
    reason: str


def find_file_relations(
    datasets: Mapping[str, tuple[Dataset, Categorisation]],
) -> list[FileRelation]:
    """Which datasets are years of the same people, and which show them from another side.

    >>> import pyarrow as pa
    >>> from divulge.data import categorise
    >>> files = {}
    >>> for year in (2019, 2020):
    ...     table = pa.table({"person id": list(range(year, year + 90)), "age": [30, 40, 50] * 30})
    ...     dataset = Dataset.from_arrow(table)
    ...     files[f"pupils_{year}"] = dataset, categorise(dataset)
    >>> [relation.names for relation in find_file_relations(files)]
    [('pupils_2019', 'pupils_2020')]
    """
    relations: list[FileRelation] = []
    placed: set[str] = set()
    for names in _group_by_series(list(datasets)).values():
        key = _find_common_key(datasets, names)
        if len(names) > 1 and key is not None:
            reason = f'their names differ by a number, and they share values of "{key}"'
            relations.append(FileRelation(kind="years", names=tuple(names), on=key, reason=reason))
            placed |= set(names)
    for pair in combinations(datasets, 2):
        if set(pair) <= placed:
            continue
        key = _find_common_key(datasets, pair)
        if key is not None:
            reason = f'they share values of "{key}"'
            relations.append(FileRelation(kind="joint", names=pair, on=key, reason=reason))
    return relations


def _group_by_series(names: list[str]) -> dict[str, list[str]]:
    """Names that differ in their digits alone, in the order of these."""
    series: dict[str, list[str]] = {}
    for name in names:
        stem = re.sub(r"[0-9]+", "#", name)
        if stem != name:
            series.setdefault(stem, []).append(name)
    return {
        stem: sorted(members, key=lambda name: [int(n) for n in re.findall(r"[0-9]+", name)])
        for stem, members in series.items()
    }


def _find_common_key(
    datasets: Mapping[str, tuple[Dataset, Categorisation]], names: tuple[str, ...] | list[str]
) -> str | None:
    """The key that all have, and of whose values neighbours share enough."""
    first = datasets[names[0]][0]
    for key in first.names:
        if not all(_is_key(*datasets[name], key) for name in names):
            continue
        values = [set(datasets[name][0].columns[key].values.to_pylist()) for name in names]
        if all(
            len(one & other) >= tuning.MIN_SHARED_KEYS * min(len(one), len(other))
            for one, other in pairwise(values)
        ):
            return key
    return None


def _is_key(dataset: Dataset, categorisation: Categorisation, name: str) -> bool:
    """Whether an attribute numbers nearly every record of a dataset."""
    if name not in dataset.columns or categorisation.proposals[name].role not in _KEY_ROLES:
        return False
    column = dataset.columns[name]
    return not column.has_missing and len(column.values) >= tuning.MIN_LINKED_KEYS
