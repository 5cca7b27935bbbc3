"""A list of the population, made as coarse as the release that it is compared with.

Whoever holds the list knows how values were made coarser, and reads it in the same way: where a
release shows ages by ten, so does the list. What an attribute became is read from the records
before and after; a value that only the population has follows the hierarchy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from divulge.data import Column, Dataset, Hierarchy
from divulge.data.column import find_hidden_cells, replace_values
from divulge.data.value_texts import format_value
from divulge.records.risk.null_readings import HiddenCellsError
from divulge.work import Problem


def recode_population(population: Dataset, original: Dataset, released: Dataset) -> Dataset:
    """The list with every attribute as coarse as the release shows it.

    Args:
        population: the list, as its holder has it.
        original: the records of the release, as they were.
        released: the same records in the same order, recoded or suppressed; where records were
            removed, hierarchies alone tell what values became.

    Raises:
        HiddenCellsError: if single records were made coarser than others, or if nothing tells what
            a value of the population would have become: then nobody can be looked up.

    >>> import pyarrow as pa
    >>> ages = Hierarchy.intervals([0, 10, 20])
    >>> town = Dataset.from_arrow(pa.table({"age": [3, 7, 12]}))
    >>> ill = Dataset.from_arrow(pa.table({"age": [3, 12]}), hierarchies={"age": ages})
    >>> shown = replace(ill, columns={"age": ages.coarsen(ill.columns["age"], 1)})
    >>> recode_population(town, ill, shown).to_arrow()["age"].to_pylist()
    ['[0, 10)', '[0, 10)', '[10, 20)']
    """
    columns = {
        name: _recode_column(column, original, released, name)
        if name in original.columns and name in released.columns
        else column
        for name, column in population.columns.items()
    }
    if all(columns[name] is population.columns[name] for name in columns):
        return population
    return replace(population, columns=columns)


def _recode_column(people: Column, original: Dataset, released: Dataset, name: str) -> Column:
    """One attribute of the population as the release shows it."""
    before, after = original.columns[name], released.columns[name]
    if after is before:
        return people
    hierarchy = original.dictionary[name].hierarchy or released.dictionary[name].hierarchy
    shown: dict[object, object] = {}
    if original.rows == released.rows:
        shown = _map_values(before, after, released, name)
        is_coarser = any(format_value(value) != format_value(of) for value, of in shown.items())
        level = None if hierarchy is None else _find_level(hierarchy, shown)
    else:
        level = _find_level_of_values(hierarchy, before, after)
        is_coarser = level != 0
    if not is_coarser:
        return people  # cells may be hidden, but none is coarser
    values = people.values.to_pylist()
    if hierarchy is not None and level is not None and not hierarchy.lacks(values):
        return hierarchy.coarsen(people, level)
    unknown = sum(value not in shown for value in values)
    if unknown:
        message = (
            f'"{name}" was recoded, and for {unknown:,} of {len(values):,} values of the '
            "population the recoded value is not known: give a hierarchy that has them."
        )
        raise HiddenCellsError(f'dataset "{released.name}"', [Problem("population", message)])
    import pyarrow as pa

    return replace_values(people, pa.array([shown[value] for value in values], after.values.type))


def _map_values(
    before: Column, after: Column, released: Dataset, name: str
) -> dict[object, object]:
    """What each value of the original became, where it is shown."""
    is_shown = (before.codes != before.missing_code) & (after.codes != after.missing_code)
    is_shown &= ~find_hidden_cells(after, before)
    size = len(after.values) + 1
    pairs = np.unique(
        before.codes[is_shown].astype(np.int64) * size + after.codes[is_shown].astype(np.int64)
    )
    if np.unique(pairs // size).size < pairs.size:
        message = (
            f'single records show a coarser "{name}" than others of the same value: a list of the '
            "population cannot be read in the same way. Recode whole columns (local = false)."
        )
        raise HiddenCellsError(f'dataset "{released.name}"', [Problem("population", message)])
    return {
        before.value(int(pair) // size): after.value(int(pair) % size) for pair in pairs.tolist()
    }


def _find_level_of_values(hierarchy: Hierarchy | None, before: Column, after: Column) -> int | None:
    """The level at which values that are shown stand; 0 if they are those of the original."""
    originals = before.values.to_pylist()
    shown = {format_value(value) for value in after.values.to_pylist()}
    if shown <= {format_value(value) for value in originals}:
        return 0
    if hierarchy is None or hierarchy.lacks(originals):
        return None
    for level in range(1, hierarchy.height + 1):
        if shown <= {format_value(hierarchy.at(value, level)) for value in originals}:
            return level
    return None


def _find_level(hierarchy: Hierarchy, shown: Mapping[object, object]) -> int | None:
    """The level of a hierarchy that makes of every value what is shown for it."""
    if hierarchy.lacks(shown):
        return None
    for level in range(1, hierarchy.height + 1):
        if all(
            format_value(hierarchy.at(value, level)) == format_value(of)
            for value, of in shown.items()
        ):
            return level
    return None
