"""Hierarchies as tables: from rows of levels or from pairs, checked to be trees.

A ladder is what a value becomes at levels 1, 2, ... of a hierarchy. All ladders of a hierarchy
nest: two values that are one at some level are one at every level above. A node is a level and a
label. Files may have the same label at two levels over different values ("8" for 5 values at one
level, for 7 at the next): whoever reads it in a release cannot tell which is meant, and classes of
both would merge. Such a label gets a name of its own with the level.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from divulge.work import Problems

Ancestors: TypeAlias = tuple[str, ...]
"""What a value becomes at levels 1, 2, ... of its hierarchy."""

Node: TypeAlias = tuple[int, str]
"""A level and a label."""

MAX_PROBLEMS_SHOWN = 10


def build_table_from_rows(
    rows: Iterable[Sequence[str]], problems: Problems
) -> dict[str, Ancestors]:
    """A table of ladders from rows `value, coarser, coarser`; the problems name the rows."""
    table: dict[str, Ancestors] = {}
    parent: dict[Node, str] = {}
    width: int | None = None
    for number, row in enumerate(rows, start=1):
        if len(problems) >= MAX_PROBLEMS_SHOWN:
            break
        width = len(row) if width is None else width
        if not row:
            problems.add(f"row {number}", "is empty.")
            continue
        value, *coarser = row
        ancestors = tuple(coarser)
        if len(row) != width:
            problems.add(f"row {number}", f"has {len(row)} levels where row 1 has {width}.")
            continue
        if table.get(value, ancestors) != ancestors:
            problems.add(f"row {number}", "gives other levels for a value that stands above.")
        for level, (here, above) in enumerate(itertools.pairwise(ancestors), start=1):
            if parent.setdefault((level, here), above) != above:
                message = f"one value of level {level} goes to two values of level {level + 1}."
                problems.add(f"row {number}", message)
        table[value] = ancestors
    if width is None:
        problems.add("", "is empty; a hierarchy has one value a line: value;coarser;coarser")
    problems.raise_any()
    return table


def build_table_from_pairs(
    pairs: Iterable[tuple[str, str]], problems: Problems
) -> dict[str, Ancestors]:
    """A table of ladders from pairs (value, parent); chains may be of different lengths.

    A parent stands at the level of its longest chain down to a value, so that it means the same
    wherever it is shown: a value with a shorter way up to it stays what it is until that level.
    """
    parent: dict[str, str] = {}
    for child, above in pairs:
        if parent.setdefault(child, above) != above:
            problems.add("pairs", "one value has two parents.")
    parents = set(parent.values())
    chains = {}
    for leaf in (child for child in parent if child not in parents):
        chain = [leaf]
        while chain[-1] in parent and len(chain) <= len(parent):
            chain.append(parent[chain[-1]])
        chains[leaf] = chain
    if any(chain[-1] in parent for chain in chains.values()) or (parent and not chains):
        problems.add("pairs", "go round in a circle.")
    problems.raise_any()
    return build_table_from_chains(chains)


def build_table_from_chains(chains: Mapping[str, Sequence[str]]) -> dict[str, Ancestors]:
    """A table from the ways up of each value, itself first; every node at its own level.

    >>> build_table_from_chains({"Roma": ["Roma", "Center", "Italy"], "Elba": ["Elba", "Italy"]})
    {'Roma': ('Center', 'Italy'), 'Elba': ('Elba', 'Italy')}
    """
    level_of: dict[str, int] = {}
    for chain in chains.values():
        for level, node in enumerate(chain):
            level_of[node] = max(level, level_of.get(node, 0))
    height = max(level_of.values(), default=0)
    table = {}
    for leaf, chain in chains.items():
        ladder, place = [], 0
        for level in range(1, height + 1):
            while place + 1 < len(chain) and level_of[chain[place + 1]] <= level:
                place += 1
            ladder.append(chain[place])
        table[leaf] = tuple(ladder)
    return table


def name_nodes_apart(
    table: Mapping[str, Ancestors],
) -> tuple[dict[str, Ancestors], dict[Node, str]]:
    """A table in which a label means the same values at every level, and the names that it took.

    A label keeps its name at the lowest level where it stands; above, it keeps it as long as it
    is over the same values. The values themselves are level 0.

    >>> rows = {"7": ("8", "8"), "8": ("8", "8"), "9": ("9", "8")}
    >>> name_nodes_apart(rows)[1]
    {(1, '8'): '8 (level 1)', (2, '8'): '8 (level 2)'}
    """
    leaves_of: dict[Node, set[str]] = {}
    levels_of: dict[str, list[int]] = {}
    for leaf, ancestors in table.items():
        for level, label in enumerate((leaf, *ancestors)):
            node = (level, label)
            if node not in leaves_of:
                leaves_of[node] = set()
                levels_of.setdefault(label, []).append(level)
            leaves_of[node].add(leaf)
    names: dict[Node, str] = {}
    for label, levels in levels_of.items():
        first, *above = sorted(levels)
        meanings = [(leaves_of[first, label], label)]
        for level in above:
            leaves = leaves_of[level, label]
            name = next((name for known, name in meanings if known == leaves), None)
            if name is None:
                name = _find_free_label(f"{label} (level {level})", levels_of)
                meanings.append((leaves, name))
            if name != label:
                names[level, label] = name
    if not names:
        return dict(table), {}
    renamed_table = {
        leaf: tuple(names.get((level, label), label) for level, label in enumerate(ancestors, 1))
        for leaf, ancestors in table.items()
    }
    return renamed_table, names


def _find_free_label(label: str, labels: Mapping[str, object]) -> str:
    while label in labels:
        label += "'"
    return label
