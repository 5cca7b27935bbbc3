"""The attack by somebody who knows the method: values that would have been safe are excluded.

Minimal suppression hides a cell only where its record had too little company. Who knows that
excludes every value with which it would have had enough (Minami & Abe's matching attack, for
records). On small data every original is protected again, and what is excluded is exact; else the
counts of what is released exclude, and an adversary may know more. What is reported is what such an
attacker gets right: where a protection is not minimal in this sense, or holds decoys, they exclude
true values and are misled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from divulge.assessment import Claim
from divulge.classes.keys import assign_classes
from divulge.data import Dataset
from divulge.data.value_texts import format_value
from divulge.protection import tuning
from divulge.protection.changes.changes import select_records
from divulge.protection.method.outcomes import judge_cells
from divulge.protection.method.result import MethodKnowledge
from divulge.protection.refill.cells import ReleaseCells, read_cells
from divulge.protection.refill.columns import CodedColumn
from divulge.protection.refill.kernels import HIDDEN
from divulge.protection.result.audit.exclusions import ExcludedValues, exclude_by_counts
from divulge.protection.result.audit.method_audit import audit, count_candidates
from divulge.protection.result.protected import Protected
from divulge.work.arrays import Ints


def attack_method(protected: Protected) -> MethodKnowledge | None:
    """What somebody who knows the method learns of a protection; None if nothing is hidden.

    >>> import divulge as dv
    >>> p = dv.protection.suppress(dv.datasets.local_suppression_example(), k=2, nulls="maybe")
    >>> attack_method(p).claim
    'exact'
    """
    original = protected.original
    if protected.removed:
        original = select_records(original, protected.kept)
    cells = _read_keys(protected.dataset, original, protected.among)
    excluded = _replay_candidates(protected, cells)
    if excluded is None:
        return exclude_by_method(
            protected.dataset, original, protected.among, protected.k, protected.decoys
        )
    return _build_knowledge(protected.dataset, cells, excluded, protected.k, claim="exact")


def exclude_by_method(
    released: Dataset,
    original: Dataset | None,
    keys: Iterable[str],
    k: int | None = None,
    decoys: float = 0.0,
) -> MethodKnowledge | None:
    """What the counts of a release exclude of its hidden cells; None if nothing is hidden.

    Args:
        released: the protected records.
        original: the same records in the same order; it tells what is right.
        keys: the quasi-identifiers.
        k: how much company the method asks for; as few as are alike in the release if None.
        decoys: how many decoys there are for each cell that had to be hidden.
    """
    cells = _read_keys(released, original, tuple(keys))
    columns = [_find_column(cells, name) for name in cells.keys]
    codes = [column.codes for column in columns]
    least = _count_smallest_class(codes) if k is None else k
    excluded = {
        name: exclude_by_counts(
            codes, cells.keys.index(name), _list_hidden(_find_column(cells, name)), least
        )
        for name in cells.targets
    }
    return _build_knowledge(released, cells, excluded, least, claim="bound", decoys=decoys)


def _build_knowledge(
    released: Dataset,
    cells: ReleaseCells,
    excluded: Mapping[str, ExcludedValues],
    k: int,
    *,
    claim: Claim,
    decoys: float = 0.0,
) -> MethodKnowledge | None:
    if not cells.targets:
        return None
    truth = cells.truth
    known = {
        name: judge_cells(
            _find_column(cells, name),
            [_find_column(cells, other) for other in cells.keys if other != name],
            excluded[name],
            None if truth is None else truth[name],
            decoys / (1 + decoys),
        )
        for name in cells.targets
    }
    return MethodKnowledge(
        dataset=released,
        keys=cells.keys,
        k=k,
        cells=known,
        claim=claim,
        decoys=decoys,
        has_truth=truth is not None,
    )


def _replay_candidates(
    protected: Protected, cells: ReleaseCells
) -> dict[str, ExcludedValues] | None:
    """What is excluded if every original is protected again; None if they are too many.

    Also None where something else was done than to hide cells, or where it was done to other data
    first: then a replay from the start would not do the same.
    """
    is_whole = not (protected.decoys or protected.determined or protected.dropped)
    is_plain = all(change.kind == "suppressed" for change in protected.decisions.changes)
    total = count_candidates(protected) if is_whole and is_plain and cells.targets else None
    if total is None or total > tuning.METHOD_CANDIDATES:
        return None
    found = audit(protected, candidates=tuning.METHOD_CANDIDATES)
    if found.claim != "exact":
        return None
    excluded = {}
    for name in cells.targets:
        rows = _list_hidden(_find_column(cells, name))
        number = {format_value(value): n for n, value in enumerate(cells.values[name].to_pylist())}
        lists = [
            [
                number[format_value(value)]
                for value in found.excluded.get((int(protected.kept[row]), name), frozenset())
                if format_value(value) in number
            ]
            for row in rows.tolist()
        ]
        excluded[name] = _gather_lists(rows, lists)
    return excluded


def _gather_lists(rows: Ints, lists: Sequence[Sequence[int]]) -> ExcludedValues:
    places = np.repeat(np.arange(rows.size), [len(each) for each in lists])
    codes = np.array([code for each in lists for code in sorted(each)], np.int64)
    return ExcludedValues.from_pairs(rows, np.arange(rows.size), (places, codes))


def _read_keys(released: Dataset, original: Dataset | None, keys: Sequence[str]) -> ReleaseCells:
    names = list(keys)
    known = None if original is None else original.select(names)
    return read_cells(released.select(names), known, names)


def _find_column(cells: ReleaseCells, name: str) -> CodedColumn:
    return cells.find_column(name)


def _list_hidden(column: CodedColumn) -> Ints:
    return np.flatnonzero(column.codes == HIDDEN)


def _count_smallest_class(codes: Sequence[Ints]) -> int:
    """How many records at least are alike among those that hide nothing: k, as a reader sees it."""
    is_shown = ~np.any([each == HIDDEN for each in codes], axis=0)
    shown = [each[is_shown].astype(np.int64) - HIDDEN for each in codes]
    sizes = [int(each.max(initial=0)) + 1 for each in shown]
    counts = np.bincount(assign_classes(shown, sizes, int(is_shown.sum())))
    return max(2, int(counts.min())) if counts.size else 2
