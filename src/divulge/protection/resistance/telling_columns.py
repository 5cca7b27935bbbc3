"""Which columns tell what is hidden or made coarser, and which of them may stay behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from divulge.data import Dataset
from divulge.data.column import find_hidden_cells
from divulge.protection import tuning
from divulge.protection.limits.per_record import Goal
from divulge.protection.refill.determinants import find_determined_attributes
from divulge.protection.refill.search.relations import ColumnRelation
from divulge.protection.resistance.published_view import (
    PublishedView,
    refill_released,
    select_known,
)
from divulge.protection.result.protected import Protected

if TYPE_CHECKING:
    from divulge.protection.cycle.request import CycleRequest


def find_determined(
    dataset: Dataset, goals: Sequence[Goal], published: Sequence[str]
) -> dict[str, list[ColumnRelation]]:
    """The attributes in question that other published columns tell, and by which relations."""
    keys = list(dict.fromkeys(name for goal in goals for name in goal.among))
    least = tuning.LEAST_DETERMINED_SHARE * dataset.rows
    relations = {
        name: [relation for relation in told if relation.support.rows >= least]
        for name, told in find_determined_attributes(dataset, keys, published).items()
    }
    return {name: told for name, told in relations.items() if told}


def find_restored(protected: Protected, published: PublishedView) -> dict[str, tuple[str, ...]]:
    """Attributes that were made coarser though other columns tell the finer values of many."""
    changes = protected.decisions.changes
    recoded = {change.attribute for change in changes if change.kind == "recoded"}
    if not recoded:
        return {}
    found = refill_released(protected.dataset, select_known(protected), protected.among, published)
    completion = None if found is None else found.verified_completion
    if found is None or completion is None:
        return {}
    least = tuning.LEAST_DETERMINED_SHARE * protected.dataset.rows
    restored = {}
    for name, figures in found.by_coarse_attribute().items():
        if name in recoded and (figures.verified or 0) >= least:
            telling = [r for r in completion.relations if r.is_finer and r.target == name]
            restored[name] = tuple(dict.fromkeys(n for r in telling for n in r.columns))
    return restored


def find_tabulated(protected: Protected, published: PublishedView) -> dict[str, tuple[str, ...]]:
    """Attributes that were changed in some records though a table of all of them goes out too."""
    if not published.tabulated:
        return {}
    changed = {
        change.attribute
        for change in protected.decisions.changes
        if change.attribute is not None and change.kind != "removed"
    }
    return {name: told for name, told in published.tabulated.items() if name in changed}


def find_told_cells(protected: Protected, published: PublishedView) -> dict[str, tuple[str, ...]]:
    """Attributes that were hidden in many records though other columns tell them.

    Told of many records, or of most that are hidden: to remove all of these would cost more than to
    hide others. What was believed of the original said too little, but the truth is at hand.
    """
    released, original = protected.dataset, select_known(protected)
    cells = {
        name: int(
            np.count_nonzero(find_hidden_cells(released.columns[name], original.columns[name]))
        )
        for name in protected.among
    }
    least = {
        name: min(
            tuning.LEAST_DETERMINED_SHARE * released.rows,
            max(tuning.LEAST_TOLD_SHARE * count, tuning.LEAST_TOLD_RECORDS * released.rows),
        )
        for name, count in cells.items()
    }
    hidden = [name for name, count in cells.items() if count >= least[name] > 0]
    found = refill_released(released, original, protected.among, published) if hidden else None
    completion = None if found is None else found.verified_completion
    if found is None or completion is None:
        return {}
    figures = found.by_attribute()
    told = {}
    for name in hidden:
        if name in figures and (figures[name].verified or 0) >= least[name]:
            telling = [r for r in completion.relations if r.key == name]
            told[name] = tuple(dict.fromkeys(n for r in telling for n in r.columns))
    return told


def choose_determinants(
    determined: Mapping[str, Sequence[ColumnRelation]],
    goals: Sequence[Goal],
    plan: CycleRequest,
    published: PublishedView,
) -> dict[str, tuple[str, ...]]:
    """A column of every relation that tells, each with the attributes that it tells."""
    chosen: dict[str, tuple[str, ...]] = {}
    relations = [relation for told in determined.values() for relation in told]
    while relations:
        counts = Counter(
            name
            for relation in relations
            for name in relation.columns
            if may_drop(name, goals, plan, published)
        )
        if not counts:
            break
        name = max(counts, key=lambda n: (counts[n], n))
        chosen[name] = tuple(dict.fromkeys(r.target for r in relations if name in r.columns))
        relations = [relation for relation in relations if name not in relation.columns]
    return chosen


def may_drop(
    name: str, goals: Sequence[Goal], plan: CycleRequest, published: PublishedView
) -> bool:
    """Whether a column may be left out: limits do not look at it, and nobody asked for it."""
    looked_at = {key for goal in goals for key in (*goal.among, goal.limit.attribute)}
    kept = published.required | plan.never
    return name in published.columns and name not in kept and name not in looked_at
