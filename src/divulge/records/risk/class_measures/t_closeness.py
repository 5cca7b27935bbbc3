"""t-closeness: how far the sensitive values of a class are from those of all records.

The distance is the work it takes to turn one distribution into the other (Li, Li &
Venkatasubramanian 2007): equal, if all values are as far from each other; ordered, if they stand
in a row; hierarchical, if values under a common parent are closer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from divulge.data import Column, Dataset, Hierarchy
from divulge.records.risk.class_measures.class_measure import SensitiveMeasure
from divulge.records.risk.class_measures.l_diversity import SharesFigure, build_sensitive_measure
from divulge.records.risk.class_measures.sensitive_classes import (
    Count,
    SensitiveClasses,
    count_sensitive_values,
)
from divulge.records.risk.null_readings import Nulls
from divulge.work import InvalidInput, Problem, format_quantity
from divulge.work.arrays import Floats, Ints

Distance: TypeAlias = Literal["equal", "ordered", "hierarchical"]
DISTANCES: tuple[Distance, ...] = get_args(Distance)


def t_closeness(
    dataset: Dataset,
    attribute: str | None = None,
    among: str | Iterable[str] | None = None,
    distance: Distance = "equal",
    order: Sequence[Any] | None = None,
    *,
    nulls: Nulls = "bayes",
    count: Count = "records",
    original: Dataset | None = None,
) -> SensitiveMeasure:
    """The distance of each class from all records; the largest is the t of the dataset.

    Args:
        dataset: the records.
        attribute: the sensitive attribute; may be left out if just one has that role.
        among: the attributes that make records look alike; all quasi-identifiers if none given.
        distance: `equal`, `ordered` (numbers and dates, or an order that is given), or
            `hierarchical` (the attribute's hierarchy; all values meet above its top).
        order: the values from lowest to highest, for `ordered`.
        nulls: what a missing value of `among` may stand for.
        count: `records`, or `population`: each record as many as its sampling weight says.
        original: the records before protection, for `nulls="known"` and `"bayes"`.

    Raises:
        InvalidInput: for an ordered distance of values without an order, or a hierarchy that is
            absent or lacks a value.

    >>> import divulge as dv
    >>> round(t_closeness(dv.datasets.school_year_example(), among="gender").value, 4)
    0.25
    """
    if distance not in DISTANCES:
        message = f'"{distance}" is not a distance.'
        problem = Problem("distance", message, value=distance, allowed=DISTANCES)
        raise InvalidInput("t_closeness", [problem])
    sensitive = count_sensitive_values(
        dataset, attribute, among, nulls=nulls, count=count, original=original
    )
    if distance == "equal":
        figure: Callable[[SensitiveClasses], Floats] = _measure_equal_distance
    elif distance == "ordered":
        rank = _rank_codes(dataset, sensitive, order)
        figure = lambda classes: _measure_ordered_distance(classes, rank)  # noqa: E731  # one line, one use
    else:
        levels = _list_branches(dataset, sensitive)
        figure = lambda classes: _measure_hierarchical_distance(classes, levels)  # noqa: E731  # as above
    return build_sensitive_measure("t_closeness", dataset, sensitive, figure, "highest")


def build_distance_figure(
    dataset: Dataset, attribute: str, among: Sequence[str], options: Mapping[str, Any]
) -> SharesFigure:
    """The distance of each class by itself, for classes of other records of the same dataset.

    `options` are `distance` and `order` of `t_closeness`. Of an ordered distance, only values that
    some of those records have are steps of the way.
    """
    distance = options.get("distance", "equal")
    if distance == "equal":
        return _measure_equal_distance
    sensitive = count_sensitive_values(dataset, attribute, among)
    if distance == "hierarchical":
        levels = _list_branches(dataset, sensitive)
        return lambda classes: _measure_hierarchical_distance(classes, levels)
    rank = _rank_codes(dataset, sensitive, options.get("order"))

    def measure_ordered(classes: SensitiveClasses) -> Floats:
        occurring = np.flatnonzero((classes.overall > 0) & (rank >= 0))
        dense = np.full(rank.size, -1, np.int64)
        dense[occurring[np.argsort(rank[occurring])]] = np.arange(occurring.size)
        return _measure_ordered_distance(classes, dense)

    return measure_ordered


def _measure_equal_distance(sensitive: SensitiveClasses) -> Floats:
    """Half of the sum of all differences; values that a class lacks differ by their whole share."""
    everywhere = sensitive.overall[sensitive.code]
    inside = sensitive.sum_per_class(np.abs(sensitive.share - everywhere))
    lacking = 1 - sensitive.sum_per_class(everywhere)
    values: Floats = np.maximum(0, (inside + lacking) / 2)
    return values


def _measure_ordered_distance(sensitive: SensitiveClasses, rank: Ints) -> Floats:
    """The mean difference of the cumulative distributions over the steps between values.

    Between two values that a class has, its own distribution stands still at some level c, so
    the differences |c - P(j)| are summed by one search for c among the P(j) and running sums.
    """
    steps = int((rank >= 0).sum()) - 1
    if steps < 1:
        return np.zeros(sensitive.classes)
    shares = np.zeros(steps + 1)
    occurs = rank >= 0
    shares[rank[occurs]] = sensitive.overall[occurs]
    cumulative = np.cumsum(shares)[:-1]
    running = np.concatenate([[0.0], np.cumsum(cumulative)])
    place = rank[sensitive.code]
    sort = np.lexsort((place, sensitive.of_class))
    place, of_class, share = place[sort], sensitive.of_class[sort], sensitive.share[sort]
    first = np.searchsorted(of_class, np.arange(sensitive.classes))
    total = np.cumsum(share)
    level = total - (total[first] - share[first])[of_class]
    until = np.append(place[1:], steps)
    until[np.append(of_class[1:] != of_class[:-1], True)] = steps
    work = sensitive.sum_per_class(np.zeros(sensitive.code.size))
    np.add.at(
        work,
        of_class,
        _sum_absolute_gaps(level, place, np.minimum(until, steps), cumulative, running),
    )
    # Before its first value a class stands at zero.
    work += running[np.minimum(place[first], steps)]
    return work / steps


def _sum_absolute_gaps(
    level: Floats, begin: Ints, end: Ints, whole: Floats, running: Floats
) -> Floats:
    """The sum of |level - whole[j]| for j from begin to end - 1; `whole` never falls."""
    begin = np.minimum(begin, end)
    turn = np.clip(np.searchsorted(whole, level), begin, end)
    below = level * (turn - begin) - (running[turn] - running[begin])
    above = (running[end] - running[turn]) - level * (end - turn)
    return below + above


def _rank_codes(dataset: Dataset, sensitive: SensitiveClasses, order: Sequence[Any] | None) -> Ints:
    """The place of each code in the order of the values (-1: no record has it)."""
    import pyarrow as pa

    column = sensitive.column
    _require_no_missing(dataset, sensitive, "ordered")
    kind = column.values.type
    place = f'attribute "{sensitive.attribute}"'
    if order is not None:
        places = {value: rank for rank, value in enumerate(order)}
        if len(places) < len(order):
            values = format_quantity(len(order) - len(places), "value", "values")
            message = f"the order names {values} more than once."
            raise InvalidInput("order", [Problem(place, message)])
        lacking = [value for value in column.values.to_pylist() if value not in places]
        if lacking:
            message = f"the order lacks {len(lacking)} of {len(column.values)} values."
            raise InvalidInput("order", [Problem(place, message)])
        # Only values that occur are steps of the way.
        ranked = np.argsort([places[value] for value in column.values.to_pylist()])
        rank = np.empty(len(column.values), np.int64)
        rank[ranked] = np.arange(len(column.values))
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_boolean(kind):
        message = (
            f"its {len(column.values)} values have no order of their own; give order=[...] from "
            'lowest to highest, or distance="equal".'
        )
        raise InvalidInput(f'dataset "{dataset.name}"', [Problem(place, message)])
    else:
        rank = np.arange(len(column.values), dtype=np.int64)
    return np.append(rank, -1)


def _list_branches(dataset: Dataset, sensitive: SensitiveClasses) -> list[Ints]:
    """For every level, the branch of each code; a missing value is not allowed."""
    column: Column = sensitive.column
    hierarchy: Hierarchy | None = dataset.dictionary[sensitive.attribute].hierarchy
    place = f'attribute "{sensitive.attribute}"'
    subject = f'dataset "{dataset.name}"'
    if hierarchy is None:
        message = 'has no hierarchy; give one, or use distance="equal".'
        raise InvalidInput(subject, [Problem(place, message)])
    _require_no_missing(dataset, sensitive, "hierarchical")
    values = column.values.to_pylist()
    lacking = hierarchy.lacks(values)
    if lacking:
        message = f"its hierarchy lacks {len(lacking)} of {len(values)} values."
        raise InvalidInput(subject, [Problem(place, message)])
    levels = []
    for level in range(hierarchy.height + 1):
        names = [str(hierarchy.at(value, level)) for value in values]
        _, branch = np.unique(names, return_inverse=True)
        levels.append(np.append(branch.reshape(-1), 0).astype(np.int64))
    if levels[-1].any():
        levels.append(np.zeros(len(values) + 1, np.int64))
    return levels


def _measure_hierarchical_distance(sensitive: SensitiveClasses, levels: list[Ints]) -> Floats:
    """The work to move what a branch has too much to its siblings, level by level.

    Work at a node of height h is h/H times the smaller of what its children have too much and
    too little in all; H is the height of the tree.
    """
    height = len(levels) - 1
    if height == 0:
        return np.zeros(sensitive.classes)
    work = np.zeros(sensitive.classes)
    for level in range(1, height + 1):
        extra = _compute_excess_shares(sensitive, levels[level - 1])
        parent_of = np.zeros(extra.shape[1], np.int64)
        parent_of[levels[level - 1][:-1]] = levels[level][:-1]
        parents = int(levels[level].max()) + 1
        for parent in range(parents):
            children = extra[:, parent_of == parent]
            surplus = np.maximum(children, 0).sum(axis=1)
            deficit = np.maximum(-children, 0).sum(axis=1)
            work += level / height * np.minimum(surplus, deficit)
    return work


def _compute_excess_shares(sensitive: SensitiveClasses, branch: Ints) -> Floats:
    """Classes x branches: by how much the share of a branch in a class exceeds that overall."""
    branches = int(branch.max()) + 1
    table = np.zeros((sensitive.classes, branches))
    np.add.at(table, (sensitive.of_class, branch[sensitive.code]), sensitive.share)
    whole = np.zeros(branches)
    np.add.at(whole, branch, sensitive.overall)
    return table - whole


def _require_no_missing(dataset: Dataset, sensitive: SensitiveClasses, distance: str) -> None:
    missing = sensitive.missing_records
    if sensitive.column.has_missing and missing:
        message = (
            f"is missing in {missing:,} of {dataset.rows:,} {dataset.subjects}; a missing value "
            f'has no place in an {distance} distance. Use distance="equal".'
        ).replace("an hierarchical", "a hierarchical")
        place = f'attribute "{sensitive.attribute}"'
        raise InvalidInput(f'dataset "{dataset.name}"', [Problem(place, message)])
