"""Directives that a dataset does not meet: what must be hidden, gone or coarser, and is not.

A release whose own rules forbid what it shows does not pass, whatever its limits say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from divulge.assessment import Sentence
from divulge.data import Dataset
from divulge.data.value_texts import format_value
from divulge.protection import Directives
from divulge.protection.directives.settlement import settle_directives


def list_least_values(dataset: Dataset, directives: Directives) -> dict[str, frozenset[str]]:
    """By attribute that must be coarser, the values that it may show; none without such a level."""
    allowed: dict[str, frozenset[str]] = {}
    for row in directives.recode:
        if row.attribute not in dataset.columns or row.level == 0:
            continue
        hierarchy = dataset.dictionary[row.attribute].hierarchy
        values = dataset.columns[row.attribute].values.to_pylist()
        levels = range(row.level, 0 if hierarchy is None else hierarchy.height + 1)
        texts = {
            format_value(hierarchy.at(value, level))
            for level in levels
            if hierarchy is not None
            for value in values
        }
        allowed[row.attribute] = allowed.get(row.attribute, frozenset(texts)) & texts
    return allowed


def list_unmet(
    dataset: Dataset, directives: Directives, least_values: Mapping[str, frozenset[str]]
) -> Iterator[Sentence]:
    """What a dataset shows although rules say that it must not, a sentence each."""
    settled = settle_directives(dataset, directives)
    removed = [group.records for group in settled.removed]
    if removed:
        records = np.unique(np.concatenate(removed)).size
        yield _build_sentence("remove", dataset, count=int(records))
    shown = 0
    for group in settled.hidden:
        column = dataset.columns[str(group.attribute)]
        shown += int(np.count_nonzero(column.codes[group.records] != column.missing_code))
    if shown:
        yield _build_sentence("hide", dataset, count=shown)
    for attribute, allowed in least_values.items():
        if attribute not in dataset.columns:
            continue
        column = dataset.columns[attribute]
        used = {format_value(column.value(code)) for code in np.unique(column.codes).tolist()}
        used.discard(format_value(None))
        if not used <= allowed:
            yield _build_sentence("recode", dataset, attribute=attribute)


def _build_sentence(key: str, dataset: Dataset, **values: object) -> Sentence:
    return Sentence("divulge.release", f"rules.unmet.{key}", {"dataset": dataset.name, **values})
