"""Directives that a dataset does not meet: what must be hidden, gone or coarser, and is not.

A release whose own rules forbid what it shows does not pass, whatever its limits say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from divulge.assessment import Sentence
from divulge.data import Dataset
from divulge.data.value_texts import format_value
from divulge.protection import Directives
from divulge.protection.directives.settlement import CellGroup, settle_directives


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
    dataset: Dataset,
    directives: Directives,
    least_values: Mapping[str, frozenset[str]],
    *,
    published: Collection[str] | None = None,
    refilled: Dataset | None = None,
) -> Iterator[Sentence]:
    """What a dataset shows although rules say that it must not, a sentence each.

    Args:
        dataset: as it would go out.
        directives: what rules say.
        least_values: by attribute that must be coarser, the values that it may show.
        published: the attributes that go out; all if not given.
        refilled: the dataset with what an attacker reads of it rightly.
    """
    names = frozenset(dataset.names if published is None else published)
    settled = settle_directives(dataset, directives)
    removed = [group.records for group in settled.removed]
    if removed:
        records = np.unique(np.concatenate(removed)).size
        yield _build_sentence("unmet.remove", dataset, count=int(records))
    hidden = [group for group in settled.hidden if group.attribute in names]
    finer = {name: least for name, least in least_values.items() if name in names}
    shown, too_fine = _count_shown(dataset, hidden), _list_finer(dataset, finer)
    if shown:
        yield _build_sentence("unmet.hide", dataset, count=shown)
    for attribute in too_fine:
        yield _build_sentence("unmet.recode", dataset, attribute=attribute)
    if refilled is None:
        return
    told = _count_shown(refilled, hidden) - shown
    if told > 0:
        yield _build_sentence("told.hide", dataset, count=told)
    for attribute in _list_finer(refilled, finer):
        if attribute not in too_fine:
            yield _build_sentence("told.recode", dataset, attribute=attribute)


def _count_shown(dataset: Dataset, hidden: Sequence[CellGroup]) -> int:
    shown = 0
    for group in hidden:
        column = dataset.columns[str(group.attribute)]
        shown += int(np.count_nonzero(column.codes[group.records] != column.missing_code))
    return shown


def _list_finer(dataset: Dataset, least_values: Mapping[str, frozenset[str]]) -> list[str]:
    finer = []
    for attribute, allowed in least_values.items():
        column = dataset.columns[attribute]
        used = {format_value(column.value(code)) for code in np.unique(column.codes).tolist()}
        used.discard(format_value(None))
        if not used <= allowed:
            finer.append(attribute)
    return finer


def _build_sentence(key: str, dataset: Dataset, **values: object) -> Sentence:
    return Sentence("divulge.release", f"rules.{key}", {"dataset": dataset.name, **values})
