"""What an adversary who knows their victim looks for: the original values, as they may stand now.

Released and original records come in the same order, so the pairs of values tell how each value
was recoded. A value that every record hides keeps its own name, or what its hierarchy makes of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from divulge.classes.hidden_chances import weigh_shown_codes
from divulge.classes.key_codes import KeyCodes, encode_keys
from divulge.classes.keys import combine_codes, densify_keys
from divulge.classes.null_semantics import Chances, Victims
from divulge.data import Column, Dataset
from divulge.data.column import find_hidden_cells
from divulge.data.dictionary import find_name_problems
from divulge.data.value_texts import format_value
from divulge.work import InvalidInput, Problem, Problems, format_quantity
from divulge.work.arrays import Array, Floats, Ints


class HiddenCellsError(InvalidInput):
    """Cells are hidden and nobody says what they were, so that records cannot be weighed."""


def count_hiding_records(dataset: Dataset, names: Sequence[str]) -> int:
    """How many records have a cell that was marked as hidden."""
    hides = np.zeros(dataset.rows, np.bool_)
    for name in names:
        hides |= find_hidden_cells(dataset.columns[name])
    return int(np.count_nonzero(hides))


def check_same_records(released: Dataset, original: Dataset, names: Sequence[str]) -> None:
    """An original has the attributes of its release, and the same records in the same order.

    What was protected before is no original: of a cell that it hides, nobody knows the value.

    Raises:
        InvalidInput: if it lacks an attribute or has another number of records.
        HiddenCellsError: if it hides cells itself.
    """
    problems = Problems(f'original "{original.name}"')
    problems.extend("", find_name_problems("among", names, original.names, "the original"))
    if original.rows != released.rows:
        message = f"has {original.rows:,} records and the release {released.rows:,}; give the same "
        problems.add("", message + "records in the same order.")
    problems.raise_any()
    if hiding := count_hiding_records(original, names):
        records = format_quantity(hiding, "record hides", "records hide")
        message = (
            f"{records} values that were suppressed before: give the data as they were before that."
        )
        raise HiddenCellsError(f'original "{original.name}"', [Problem("original", message)])


def gather_victims(released: Dataset, original: Dataset, names: Sequence[str]) -> Victims:
    """The distinct original records, with the released values that theirs may have become.

    Raises:
        InvalidInput: if the original lacks an attribute or has another number of records.
    """
    check_same_records(released, original, names)
    columns = [original.columns[name] for name in names]
    of_record, total = densify_keys(
        *combine_codes(
            [c.codes for c in columns], [len(c.values) + 1 for c in columns], original.rows
        )
    )
    first: Ints = np.empty(total, np.int64)
    first[of_record[::-1]] = np.arange(original.rows - 1, -1, -1)
    keys = encode_keys(released, names, absence_apart=True, original=original)
    options = [
        _list_released_codes(
            original.columns[name],
            released.columns[name],
            key,
            _find_hierarchy(original, released, name),
        )
        for name, key in zip(names, keys, strict=True)
    ]
    codes: list[Array] = [column.codes[first].astype(np.int64) for column in columns]
    shares = [
        weigh_shown_codes(
            *ways, np.bincount(column.codes, minlength=len(column.values) + 1), key.cardinality
        )
        for ways, column, key in zip(options, columns, keys, strict=True)
    ]
    return Victims(codes, options, shares, of_record)


def build_prior_chances(
    original: Dataset, names: Sequence[str], prior: Mapping[str, Mapping[Any, float]]
) -> Chances:
    """The chance of hidden values under a prior by attribute; attributes are independent."""
    problems = Problems("prior")
    problems.extend("", find_name_problems("prior", prior, names, "the attributes considered"))
    for name in (name for name in names if name not in prior):
        problems.add(f'"{name}"', "is missing; give a chance to each value of every attribute.")
    for name, chances in prior.items():
        if any(not 0 <= chance <= 1 for chance in chances.values()):
            problems.add(f'"{name}"', "contains a number that is not a chance (0 to 1).")
    problems.raise_any()
    by_code = []
    for name in names:
        values = original.columns[name].values.to_pylist()
        by_code.append(np.array([prior[name].get(value, 0.0) for value in values] + [1.0]))

    def multiply_chances(victims: Victims, hidden: Sequence[int]) -> Floats:
        chance = np.ones(victims.columns[0].size)
        for attribute in hidden:
            chance *= by_code[attribute][victims.columns[attribute]]
        return chance

    return multiply_chances


def _find_hierarchy(original: Dataset, released: Dataset, name: str) -> Any:
    return original.dictionary[name].hierarchy or released.dictionary[name].hierarchy


def _list_released_codes(
    before: Column, after: Column, key: KeyCodes, hierarchy: Any
) -> tuple[Ints, Ints]:
    """For each original code, the released codes it may have become (starts, flat)."""
    size = key.cardinality
    is_visible = key.codes != key.hidden_code
    pairs = np.unique(before.codes[is_visible].astype(np.int64) * size + key.codes[is_visible])
    released_codes: dict[int, set[int]] = {}
    for pair in pairs.tolist():
        released_codes.setdefault(pair // size, set()).add(pair % size)
    place = {format_value(value): code for code, value in enumerate(after.values.to_pylist())}
    for code, value in enumerate(before.values.to_pylist()):
        if code not in released_codes:
            names = [format_value(value)]
            if hierarchy is not None and not hierarchy.lacks([value]):
                names += [
                    format_value(hierarchy.at(value, level))
                    for level in range(1, hierarchy.height + 1)
                ]
            released_codes[code] = {place[name] for name in names if name in place}
    # Who has no value is found where the release shows that there is none, or hides it.
    codes_by_value = [
        sorted(released_codes.get(code, ())) for code in range(len(before.values) + 1)
    ]
    starts = np.cumsum([0, *map(len, codes_by_value)], dtype=np.int64)
    return starts, np.array([code for codes in codes_by_value for code in codes], np.int64)
