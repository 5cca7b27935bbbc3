"""Other originals, protected again: which of them would have given the same release.

Somebody who knows the algorithm and its settings can do the same: an original that would have been
released otherwise is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from divulge.data import Dataset
from divulge.data.value_texts import format_value
from divulge.protection.result.protected import Protected
from divulge.work import DivulgeError, Interruption


def replay_protection(
    protected: Protected, candidate: Dataset, seed: int | None = None
) -> Protected | None:
    """What becomes of a candidate, if it is the same release; else None.

    With the seed of the release, if none is given.
    """
    assert protected.again is not None  # noqa: S101  # asked before
    try:
        other = protected.again(candidate)
        if seed is not None:
            if other.reseeded is None:
                return None
            other = other.reseeded(seed)
    except Interruption:
        raise
    except DivulgeError:
        return None
    mine, theirs = protected.dataset, other.dataset
    is_same = mine.rows == theirs.rows and all(
        mine.columns[name].to_arrow().equals(theirs.columns[name].to_arrow())
        for name in protected.among
    )
    return other if is_same else None


def list_leaves(original: Dataset, name: str) -> list[Any]:
    """The values that an attribute may have: those in the data, then others of its hierarchy."""
    values = original.columns[name].values.to_pylist()
    hierarchy = original.dictionary[name].hierarchy
    if hierarchy is None or hierarchy.table is None:
        return values  # type: ignore[no-any-return]
    texts = {format_value(value) for value in values}
    return [
        *values,
        *_cast_leaves([leaf for leaf in hierarchy.table if leaf not in texts], original, name),
    ]


def _cast_leaves(leaves: Sequence[str], original: Dataset, name: str) -> list[Any]:
    """Leaves of a hierarchy, which are text, as values of an attribute; others it cannot have."""
    import pyarrow as pa

    kind = original.columns[name].values.type
    values = []
    for leaf in leaves:
        try:
            values += pa.array([leaf]).cast(kind).to_pylist()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
    return values


def list_values_by_node(
    original: Dataset, name: str, leaves: Sequence[Any]
) -> dict[str, list[int]]:
    """By text of a released value, which leaves (by place) are under it: itself, or several."""
    hierarchy = original.dictionary[name].hierarchy
    under: dict[str, list[int]] = {}
    for place, value in enumerate(leaves):
        nodes = [format_value(value)]
        if hierarchy is not None and not hierarchy.lacks([value]):
            nodes += [
                format_value(hierarchy.at(value, level)) for level in range(1, hierarchy.height + 1)
            ]
        for node in dict.fromkeys(nodes):
            under.setdefault(node, []).append(place)
    return under
