"""A hierarchy shown as a tree: how many values and records are under each node of each level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from divulge.data import tuning
from divulge.data.column import Column
from divulge.data.dataset import Dataset
from divulge.data.hierarchies.hierarchy import Hierarchy
from divulge.data.value_texts import format_value
from divulge.work import InvalidInput, Problem, format_quantity


@dataclass(kw_only=True, frozen=True)
class HierarchyNode:
    """A coarser value: how many values and records are under it, and its branches."""

    label: str
    level: int
    values: int
    records: int
    branches: tuple[HierarchyNode, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The node and all below it as plain values."""
        return {
            "label": self.label,
            "level": self.level,
            "values": self.values,
            "records": self.records,
            "branches": [branch.to_dict() for branch in self.branches],
        }


@dataclass(frozen=True)
class HierarchyTree:
    """All nodes of a hierarchy over the values of one attribute.

    Values that no record has are in it too; `lacking` are values without a place.
    """

    attribute: str
    height: int
    roots: tuple[HierarchyNode, ...]
    lacking: int
    renamed: int

    def count_nodes(self) -> list[int]:
        """By level from 0 on, how many nodes there are."""
        counts = [0] * (self.height + 1)
        for _, node in _walk(self.roots):
            counts[node.level] += 1
        return counts

    def to_dict(self) -> dict[str, Any]:
        """The tree as plain values."""
        return {
            "attribute": self.attribute,
            "levels": self.height,
            "nodes": self.count_nodes(),
            "lacking": self.lacking,
            "renamed": self.renamed,
            "tree": [root.to_dict() for root in self.roots],
        }

    def __str__(self) -> str:
        counts = self.count_nodes()
        lines = [
            f"level {level}: {format_quantity(counts[level], 'value', 'values')}"
            for level in range(self.height, -1, -1)
        ]
        if self.lacking:
            lines.append(
                format_quantity(
                    self.lacking, "value has no place in it", "values have no place in it"
                )
            )
        if self.renamed:
            lines.append(
                format_quantity(
                    self.renamed,
                    "label stood for other values at a level below and got a name of its own",
                    "labels stood for other values at a level below and got names of their own",
                )
            )
        return "\n".join([*lines, "", *_format_branches(self.roots, "")])


def build_hierarchy_tree(
    dataset: Dataset, attribute: str, hierarchy: Hierarchy | None = None
) -> HierarchyTree:
    """The tree of an attribute's hierarchy, with how many records are under each node.

    Args:
        dataset: the records.
        attribute: one of its attributes.
        hierarchy: another than the one in the dictionary.

    >>> import divulge as dv
    >>> companies = dv.datasets.local_suppression_example()
    >>> area = Hierarchy.from_pairs([("Roma", "Center"), ("Milano", "North"), ("Torino", "North")])
    >>> print(build_hierarchy_tree(companies, "Area", area))
    level 1: 2 values
    level 0: 3 values
    <BLANKLINE>
    Center (1 value, 5 records)
      Roma (5 records)
    North (2 values, 2 records)
      Milano (1 record)
      Torino (1 record)
    """
    [attribute] = dataset.attributes(attribute, "attribute")
    chosen = dataset.dictionary[attribute].hierarchy if hierarchy is None else hierarchy
    if chosen is None:
        message = "has no hierarchy; `propose_hierarchy` proposes one."
        problem = Problem(f'attribute "{attribute}"', message)
        raise InvalidInput(f'dataset "{dataset.name}"', [problem])
    column = dataset.columns[attribute]
    values = column.values.to_pylist()
    table = (chosen if chosen.table is not None else chosen.over(values)).table or {}
    chains = {leaf: (leaf, *ancestors) for leaf, ancestors in table.items()}
    return HierarchyTree(
        attribute=attribute,
        height=chosen.height,
        roots=_build_nodes(chains, chosen.height, _count_records(column)),
        lacking=len(chosen.lacks(values)),
        renamed=len(chosen.renamed),
    )


def _count_records(column: Column) -> dict[str, int]:
    counts = np.bincount(column.codes, minlength=len(column.values) + 1)
    texts = [format_value(value) for value in column.values.to_pylist()]
    return dict(zip(texts, counts.tolist(), strict=False))


def _build_nodes(
    chains: Mapping[str, tuple[str, ...]], level: int, records: Mapping[str, int]
) -> tuple[HierarchyNode, ...]:
    groups: dict[str, dict[str, tuple[str, ...]]] = {}
    for leaf, chain in chains.items():
        groups.setdefault(chain[level], {})[leaf] = chain
    return tuple(
        HierarchyNode(
            label=label,
            level=level,
            values=len(below),
            records=sum(records.get(leaf, 0) for leaf in below),
            branches=_build_nodes(below, level - 1, records) if level else (),
        )
        for label, below in groups.items()
    )


def _walk(nodes: tuple[HierarchyNode, ...], depth: int = 0) -> Iterator[tuple[int, HierarchyNode]]:
    for node in nodes:
        yield depth, node
        yield from _walk(node.branches, depth + 1)


def _format_branches(nodes: tuple[HierarchyNode, ...], indent: str) -> Iterator[str]:
    """Lines of a tree; where a ladder repeats its step it is one line."""
    for node in nodes[: tuning.MAX_BRANCHES_SHOWN]:
        shown = node
        while len(shown.branches) == 1 and shown.branches[0].label == node.label:
            [shown] = shown.branches
        records = format_quantity(node.records, "record", "records")
        values = f"{format_quantity(node.values, 'value', 'values')}, " if shown.branches else ""
        yield f"{indent}{node.label} ({values}{records})"
        yield from _format_branches(shown.branches, indent + "  ")
    if len(nodes) > tuning.MAX_BRANCHES_SHOWN:
        yield f"{indent}and {len(nodes) - tuning.MAX_BRANCHES_SHOWN:,} more"
