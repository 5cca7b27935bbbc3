"""Link attributes of two years in codes that mean the same in both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from divulge.data import Column, Dataset
from divulge.data.dictionary import find_name_problems
from divulge.records.unlinked.pair_likelihoods import LinkCodes
from divulge.work import Problems
from divulge.work.arrays import Ints

SAME, MOVES = "same", "moves"
Link: TypeAlias = Mapping[str, Any]
"""By attribute what becomes of it: `same`, `moves`, or a number by which it grows."""


def check_link(first: Dataset, second: Dataset, link: Link) -> None:
    """Refuse what does not link two years.

    Raises:
        InvalidInput: with all that is wrong.
    """
    problems = Problems("unlinked_years")
    for dataset in (first, second):
        named = find_name_problems("link", list(link), dataset.names, f'dataset "{dataset.name}"')
        problems.extend("", named)
    for name, change in link.items():
        if change in (SAME, MOVES):
            continue
        if isinstance(change, bool) or not isinstance(change, int | float):
            message = f'of "{name}" is "same", "moves", or a number by which it grows.'
            problems.add("link", message)
        else:
            for dataset in (first, second):
                if name in dataset.names and not _is_numeric(dataset.columns[name]):
                    message = f'"{name}" of dataset "{dataset.name}" contains no numbers that grow.'
                    problems.add("link", message)
    if all(change == MOVES for change in link.values()):
        problems.add("link", "needs an attribute that never changes, or changes alike for all.")
    problems.raise_any()


def build_link_codes(first: Dataset, second: Dataset, link: Link) -> LinkCodes:
    """The codes of both years, and how likely a stranger shares what never changes."""
    coded = {
        name: _code_alike(
            first.columns[name], second.columns[name], 0 if change in (SAME, MOVES) else change
        )
        for name, change in link.items()
    }
    n1, n2 = first.rows, second.rows
    fixed = [name for name, change in link.items() if change != MOVES]
    table = np.stack([np.concatenate(coded[name]) for name in fixed], axis=1)
    _, joint = np.unique(table, axis=0, return_inverse=True)
    joint = joint.reshape(-1)
    independent = np.ones(n2)
    for name in fixed:
        codes = coded[name][1]
        independent *= np.bincount(codes)[codes] / n2
    of_second = joint[n1:]
    alike = np.bincount(of_second)[of_second]
    return LinkCodes(
        fixed=(joint[:n1], of_second),
        moving={name: coded[name] for name, change in link.items() if change == MOVES},
        chance=np.maximum(independent, (alike - 1) / max(1, n2 - 1)),
    )


def _is_numeric(column: Column) -> bool:
    import pyarrow.types as kinds

    kind = column.values.type
    return bool(kinds.is_integer(kind) or kinds.is_floating(kind))


def _code_alike(one: Column, other: Column, growth: float) -> tuple[Ints, Ints]:
    """Codes by value, missing ones alike; values of the first year grow before."""
    code_of: dict[Any, int] = {}
    tables = []
    for column, added in ((other, 0), (one, growth)):
        values = [value + added if added else value for value in column.values.to_pylist()]
        codes = [code_of.setdefault(value, len(code_of)) for value in [*values, None]]
        tables.append(np.array(codes, np.int64)[column.codes.astype(np.int64)])
    return tables[1], tables[0]
