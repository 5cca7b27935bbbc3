"""Cells that were made coarser or hidden, and the values that each may have had, as arrays.

What the audit of recoding draws anew: a cell may have been any value under the node that it shows,
and any value at all if it is hidden. The chances are those of somebody who does not know how it was
recoded: all values alike, or as frequent as they are in the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from divulge.classes.keys import combine_codes
from divulge.data import Dataset
from divulge.data.column import Codes, column_from_codes
from divulge.data.value_texts import format_value
from divulge.protection.limits.limit_kinds import is_count_limit
from divulge.protection.result.audit.replays import list_leaves, list_values_by_node
from divulge.protection.result.protected import Protected
from divulge.work.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

ValuePrior: TypeAlias = Literal["uniform", "frequencies"]
"""How likely the values under a node are before: all alike, or as frequent as in the data."""

SHOWN = -1
"""The node of a cell that is shown as it was."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CoarseAttribute:
    """The cells of one attribute that no longer show their value."""

    name: str
    leaves: pa.Array
    """All values that there may be; those of the original have the places of their codes."""
    codes: Ints
    """By record of the original, the place of its value; one after the last if it was absent."""
    node: Ints
    """By released record, what it shows, or `SHOWN`."""
    starts: Ints
    members: Ints
    """Leaves under each node: those of node i are between `starts[i]` and `starts[i + 1]`."""
    chances: Floats
    """By member, its chance under its node."""

    @cached_property
    def best_chances(self) -> Floats:
        """By node, the chance of its likeliest leaf."""
        best: Floats = np.maximum.reduceat(self.chances, self.starts[:-1])
        return best

    @cached_property
    def cumulated(self) -> Floats:
        """By member, the number of its node and the chances up to it."""
        sizes = np.diff(self.starts)
        node = np.repeat(np.arange(sizes.size), sizes)
        total = np.cumsum(self.chances)
        before = (total - self.chances)[self.starts[:-1]]
        within: Floats = np.minimum(1.0, total - before[node])
        return within + node

    @cached_property
    def places(self) -> Ints:
        """Nodes x leaves: which member of a node a leaf is."""
        places = np.zeros((self.starts.size - 1, len(self.leaves) + 1), np.int64)
        sizes = np.diff(self.starts)
        node = np.repeat(np.arange(sizes.size), sizes)
        places[node, self.members] = np.arange(self.members.size) - self.starts[node]
        return places

    def draw_leaves(self, nodes: Ints, random: np.random.Generator) -> Ints:
        """A leaf under each node, by its chance."""
        drawn = np.searchsorted(self.cumulated, nodes + random.random(nodes.size), side="right")
        # Sums of chances may end a little below 1.
        return self.members[np.minimum(drawn, self.starts[nodes + 1] - 1)]


@dataclass(frozen=True, kw_only=True, eq=False)
class CoarseCells:
    """All cells of a release that no longer show their value."""

    protected: Protected
    attributes: tuple[CoarseAttribute, ...]
    class_of_record: Ints
    """By released record, its class: records that show the same."""
    group_of_record: Ints
    """Records that nothing which decides on the recoding tells apart: a class, or parts of it."""

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return sum(int((each.node != SHOWN).sum()) for each in self.attributes)

    @property
    def has_coarse_values(self) -> bool:
        """Whether some cell shows a coarser value; else all are hidden."""
        released = self.protected.dataset.columns
        return any(
            bool(np.any((each.node != SHOWN) & (column.codes != column.missing_code)))
            for each in self.attributes
            for column in (released[each.name],)
        )

    @cached_property
    def coarse_classes(self) -> Ints:
        """The classes with such cells."""
        coarse = np.zeros(self.class_of_record.size, np.bool_)
        for each in self.attributes:
            coarse |= each.node != SHOWN
        return np.unique(self.class_of_record[coarse])

    def count_originals(self) -> float:
        """How many originals fit what is shown; infinite where that is beyond floats."""
        logarithm = sum(
            float(np.log(np.diff(each.starts)[each.node[each.node != SHOWN]]).sum())
            for each in self.attributes
        )
        with np.errstate(over="ignore"):
            return float(np.exp(logarithm))

    def build_original(self, codes: Sequence[Ints]) -> Dataset:
        """An original with other values: by attribute, the place of each record's value."""
        columns = dict(self.protected.original.columns)
        for each, places in zip(self.attributes, codes, strict=True):
            columns[each.name] = column_from_codes(places, each.leaves)
        return replace(self.protected.original, columns=columns)


def find_coarse_cells(protected: Protected, prior: ValuePrior = "uniform") -> CoarseCells:
    """The cells of a release that no longer show their value, and what they may have been."""
    among = list(protected.among)
    columns = [protected.dataset.columns[name] for name in among]
    rows = protected.dataset.rows
    released = [(column.codes, column.cardinality or 1) for column in columns]
    class_of_record = _number_groups(released, rows)
    # Limits on sensitive values look at who has which: then only records with the same are alike.
    watched = (
        []
        if all(is_count_limit(limit) for limit in protected.limits)
        else protected.dataset.dictionary.having("sensitive")
    )
    further = [protected.dataset.columns[n] for n in watched if n in protected.dataset.columns]
    parts = [(column.codes, column.cardinality or 1) for column in further]
    attributes = [_find_coarse_attribute(protected, name, prior) for name in among]
    return CoarseCells(
        protected=protected,
        attributes=tuple(each for each in attributes if (each.node != SHOWN).any()),
        class_of_record=class_of_record,
        group_of_record=_number_groups([*released, *parts], rows),
    )


def _number_groups(columns: Sequence[tuple[Codes, int]], rows: int) -> Ints:
    joint, _ = combine_codes([codes for codes, _ in columns], [size for _, size in columns], rows)
    _, numbers = np.unique(joint, return_inverse=True)
    groups: Ints = numbers.reshape(-1).astype(np.int64)
    return groups


def _find_coarse_attribute(protected: Protected, name: str, prior: ValuePrior) -> CoarseAttribute:
    import pyarrow as pa

    before = protected.original.columns[name]
    after = protected.dataset.columns[name]
    leaves = list_leaves(protected.original, name)
    under = list_values_by_node(protected.original, name, leaves)
    was = before.codes[protected.kept].astype(np.int64)
    now = after.codes.astype(np.int64)
    pairs, pair_of_record = np.unique(np.stack([was, now]), axis=1, return_inverse=True)
    numbers: dict[int, int] = {}
    members: list[list[int]] = []
    node_of_pair = []
    for old, new in pairs.T.tolist():
        value, text = before.value(old), after.value(new)
        is_shown = value is None or (text is not None and format_value(text) == format_value(value))
        if is_shown:
            node_of_pair.append(SHOWN)
            continue
        if new not in numbers:
            numbers[new] = len(members)
            every = list(range(len(leaves)))
            members.append(every if text is None else under.get(format_value(text), [old]))
        node_of_pair.append(numbers[new])
    counts = np.bincount(was[was < len(leaves)], minlength=len(leaves)).astype(np.float64)
    return CoarseAttribute(
        name=name,
        leaves=pa.array(leaves, before.values.type),
        codes=np.where(before.codes == before.missing_code, len(leaves), before.codes).astype(
            np.int64
        ),
        node=np.array(node_of_pair, np.int64)[pair_of_record.reshape(-1)],
        starts=np.cumsum([0, *map(len, members)]),
        members=np.array([leaf for each in members for leaf in each], np.int64),
        chances=np.concatenate(
            [np.empty(0), *(_weigh_leaves(np.array(m), counts, prior) for m in members)]
        ),
    )


def _weigh_leaves(members: Ints, counts: Floats, prior: ValuePrior) -> Floats:
    weights = counts[members] if prior == "frequencies" else np.ones(members.size)
    if not weights.sum():
        weights = np.ones(members.size)
    chances: Floats = weights / weights.sum()
    return chances


def select_block(cells: CoarseCells, classes: Ints) -> Bools:
    """Which released records are of some classes."""
    marked = np.zeros(int(cells.class_of_record.max(initial=-1)) + 1, np.bool_)
    marked[classes] = True
    return marked[cells.class_of_record]
