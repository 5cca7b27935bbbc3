"""Values that rules hide wherever they stand: who knows which values there are reads them.

The list of values is in the codebook, in the labels of an earlier file, in a table of totals. If
all hidden cells of an attribute hold one value, and no record shows it, the value that is missing
from the list is what was hidden. That is not judged, unless the release states that nobody has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from divulge.assessment import Sentence
from divulge.data import Column, Dataset, Hierarchy
from divulge.data.column import find_hidden_cells
from divulge.data.value_texts import format_value
from divulge.protection.directives.settlement import settle_directives
from divulge.release.publication import Publication, Reservation

if TYPE_CHECKING:
    from divulge.release.release import Release


def list_missing_values(
    release: Release,
    publications: Mapping[str, Publication],
    current: Mapping[str, Dataset],
    sources: Mapping[str, Dataset],
) -> Iterator[Reservation]:
    """Attributes in which the only value that is hidden is shown nowhere, although a rule hides it.

    `sources` are the records of `current` as they were.
    """
    results, program = release.rule_results, release.rule_program
    if results is None or program is None or program.value_lists == "secret":
        return
    for name, directives in results.directives.items():
        if name not in publications or name not in current or not directives.hide:
            continue
        dataset, source = current[name], sources[name]
        attributes = {
            str(group.attribute): group.records
            for group in settle_directives(dataset, directives).hidden
            if group.attribute in publications[name].published and group.records.size
        }
        for attribute in attributes:
            column, before = dataset.columns[attribute], source.columns[attribute]
            if _is_told_by_list(column, before, source.dictionary[attribute].hierarchy):
                values = {"dataset": name, "attribute": attribute}
                sentence = Sentence("divulge.release", "rules.missing_value", values)
                yield Reservation("not judged", sentence)


def _is_told_by_list(column: Column, before: Column, hierarchy: Hierarchy | None) -> bool:
    """Whether all hidden cells of a column hold one value that no record shows, at its level."""
    hidden = find_hidden_cells(column, before)
    originals = before.values.to_pylist()
    codes = np.unique(before.codes[hidden])
    values = [originals[code] for code in codes.tolist() if code != before.missing_code]
    texts = [format_value(value) for value in column.values.to_pylist()]
    used = np.unique(column.codes[column.codes != column.missing_code])
    shown = {texts[code] for code in used.tolist()}
    for level in range(1 if hierarchy is None else hierarchy.height + 1):
        at_level = [_say_at_level(hierarchy, value, level) for value in originals]
        if shown <= set(at_level):  # the finest level at which all that is shown is a value
            held = {_say_at_level(hierarchy, value, level) for value in values}
            return len(held) == 1 and not held & shown
    # Single records were made coarser: then a finer value is shown nowhere in so many words.
    return len(values) == 1


def _say_at_level(hierarchy: Hierarchy | None, value: object, level: int) -> str:
    return format_value(value if hierarchy is None else hierarchy.at(value, level))
