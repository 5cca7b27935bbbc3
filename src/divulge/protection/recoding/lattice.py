"""The generalisation lattice: distinct records, levels of attributes, and what each level costs.

A combination of levels, one for each attribute, is a node of the lattice. Records that agree in
all attributes in question are one unit with a count, so that a node is judged by its units. Codes
of units become nodes of hierarchies by table look-up; a node of a hierarchy is a level and a label
of that level. What was absent before protection is a value of its own at every level, and has
nothing to lose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from divulge.classes.keys import LARGEST_KEY
from divulge.classes.partition import Partition
from divulge.data import Column, Dataset, Hierarchy
from divulge.data.value_texts import format_value
from divulge.protection.recoding.cell_costs import CellUtility, HierarchyLevels, compute_cell_costs
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Floats, Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class GeneralisationLattice:
    """What all searches for levels have in common: units, levels, costs.

    Arrays over (attribute, level, code) are flat: those of an attribute `a` at level `l` begin at
    `offsets[a, l]`, and are as many as the attribute has codes.
    """

    names: tuple[str, ...]
    heights: tuple[int, ...]
    """By attribute, its highest level; 0 where it cannot become coarser."""
    codes: Ints
    """Attributes x units: the codes that all records of a unit have."""
    counts: Ints
    """By unit, how many records it has."""
    unit_of_record: Ints
    offsets: Ints
    nodes: Ints
    """Flat: which node of its level a code is under (dense within the level)."""
    node_counts: Ints
    """Attributes x levels: how many nodes there are."""
    costs: Floats
    """Flat: what a code costs at a level, for one record; all records of a node sum to its loss."""
    removal_costs: Floats
    """By unit, what one record costs if it is removed."""

    @property
    def records(self) -> int:
        """How many records there are."""
        return len(self.unit_of_record)

    @property
    def units(self) -> int:
        """How many distinct combinations of values there are."""
        return len(self.counts)

    @property
    def combinations(self) -> int:
        """How many combinations of levels there are."""
        return prod(height + 1 for height in self.heights)

    @property
    def top(self) -> tuple[int, ...]:
        """All attributes as coarse as can be."""
        return self.heights

    @cached_property
    def level_costs(self) -> Floats:
        """Attributes x levels: what a level costs all records together, none being removed."""
        totals = np.full(self.offsets.shape, np.inf)
        for a, height in enumerate(self.heights):
            for level in range(height + 1):
                start = self.offsets[a, level]
                totals[a, level] = float((self.costs[start + self.codes[a]] * self.counts).sum())
        return totals

    @cached_property
    def words(self) -> Ints:
        """Flat: numbers whose sum over the attributes tells combinations of nodes apart.

        Mixed radix, and so exact, where that fits; else random words of 64 bits, whose sums may
        collide (once in 10^8 for a million combinations): results are counted again.
        """
        radix = [int(self.node_counts[a, : h + 1].max()) for a, h in enumerate(self.heights)]
        words = np.empty(self.nodes.size, np.int64)
        draws = np.random.default_rng(0)
        exact, stride = prod(radix) <= LARGEST_KEY, 1
        for a, height in enumerate(self.heights):
            for level in range(height + 1):
                start = self.offsets[a, level]
                own = self.nodes[start : start + self.code_counts[a]]
                if exact:
                    words[start : start + own.size] = own * np.int64(stride)
                else:
                    drawn = draws.integers(-(2**62), 2**62, int(self.node_counts[a, level]))
                    words[start : start + own.size] = drawn[own]
            stride *= radix[a]
        return words

    @cached_property
    def code_counts(self) -> Ints:
        """By attribute, how many codes there are, that of a missing value included."""
        ends = np.append(self.offsets[1:, 0], self.nodes.size)
        levels = np.array(self.heights) + 1
        counts: Ints = (ends - self.offsets[:, 0]) // levels
        return counts

    def find_starts(self, levels: Sequence[int]) -> Ints:
        """Where in the flat arrays each attribute begins at its level."""
        return np.array([self.offsets[a, level] for a, level in enumerate(levels)], np.int64)

    def sum_level_costs(self, levels: Sequence[int]) -> float:
        """What levels cost all records together, if none is removed."""
        return float(sum(self.level_costs[a, level] for a, level in enumerate(levels)))


def build_lattice(
    dataset: Dataset,
    names: Sequence[str],
    *,
    fixed: Sequence[str] = (),
    apart: Sequence[str] = (),
    utility: CellUtility = "loss",
    importance: Mapping[str, float] | None = None,
    hidden: Collection[str] = (),
) -> GeneralisationLattice:
    """The lattice of some attributes of a dataset.

    Args:
        dataset: the records, with hierarchies in their dictionary; no cell may be hidden.
        names: the attributes that are judged.
        fixed: those of them that stay as they are.
        apart: further attributes, such as sensitive ones, that tell units apart.
        utility: what a coarser value costs.
        importance: by attribute, how dear it is (1 if not given).
        hidden: those whose cells may be hidden, a level above all others where values still differ.

    Raises:
        InvalidInput: if a hierarchy lacks values of the data.
    """
    columns = [dataset.columns[name] for name in names]
    hierarchies = [None if n in fixed else dataset.dictionary[n].hierarchy for n in names]
    _check_values(dataset, names, hierarchies)
    units = Partition.from_attributes(
        dataset, [*names, *(name for name in apart if name not in names)]
    )
    levels = [
        _list_levels(column, hierarchy, dataset.dictionary[name].hierarchy)
        for name, column, hierarchy in zip(names, columns, hierarchies, strict=True)
    ]
    levels = [
        _add_hidden_level(each) if name in hidden else each
        for name, each in zip(names, levels, strict=True)
    ]
    weights = [float((importance or {}).get(name, 1.0)) for name in names]
    codes = np.empty((len(names), units.number), np.int32)
    for a, column in enumerate(columns):
        codes[a, units.of_record] = column.codes  # the same for all records of a unit
    frequencies = [
        np.bincount(column.codes, minlength=len(column.values) + 1) for column in columns
    ]
    cell_costs, removal = compute_cell_costs(levels, frequencies, weights, utility)
    offsets = np.zeros((len(names), max(len(each.nodes) for each in levels)), np.int64)
    node_counts = np.zeros_like(offsets)
    place = 0
    for a, each in enumerate(levels):
        for level, nodes in enumerate(each.nodes):
            offsets[a, level], node_counts[a, level] = place, int(nodes.max()) + 1
            place += nodes.size
        offsets[a, len(each.nodes) :] = offsets[a, len(each.nodes) - 1]
    removal_costs = np.zeros(units.number)
    for a in range(len(names)):
        removal_costs += removal[a][codes[a]]
    return GeneralisationLattice(
        names=tuple(names),
        heights=tuple(len(each.nodes) - 1 for each in levels),
        codes=codes,
        counts=units.sizes.astype(np.int64),
        unit_of_record=units.of_record,
        offsets=offsets,
        nodes=np.concatenate([nodes for each in levels for nodes in each.nodes]),
        node_counts=node_counts,
        costs=np.concatenate([costs for each in cell_costs for costs in each]),
        removal_costs=removal_costs,
    )


def _check_values(
    dataset: Dataset, names: Sequence[str], hierarchies: Sequence[Hierarchy | None]
) -> None:
    problems = []
    for name, hierarchy in zip(names, hierarchies, strict=True):
        values = dataset.columns[name].values.to_pylist()
        lacking = 0 if hierarchy is None else len(hierarchy.lacks(values))
        if lacking:
            message = (
                f'the hierarchy of "{name}" lacks {lacking:,} of {len(values):,} values; add them '
                "to it, or name the attribute in `never`."
            )
            problems.append(Problem(f'attribute "{name}"', message))
    if problems:
        raise InvalidInput(f'recoding of "{dataset.name}"', problems)


def _list_levels(
    column: Column, hierarchy: Hierarchy | None, described: Hierarchy | None
) -> HierarchyLevels:
    """By level, the node of each code and its share of the domain; a missing value is its own."""
    texts = [format_value(value) for value in column.values.to_pylist()]
    domain = _list_domain(texts, described)
    height = 0 if hierarchy is None else hierarchy.height
    ladders = _list_ladders(column, texts, domain, hierarchy)
    nodes, shares = [], []
    for level in range(height + 1):
        if level == 0:
            labels, of_domain = texts, domain
        else:
            labels = [ladders[text][level - 1] for text in texts]
            of_domain = [ladders[leaf][level - 1] for leaf in domain]
        under = Counter(of_domain)
        number = {label: place for place, label in enumerate(dict.fromkeys(labels))}
        nodes.append(np.array([*map(number.__getitem__, labels), len(number)], np.int64))
        shares.append(np.array([*map(under.__getitem__, labels), 0], np.float64) / len(domain))
    return HierarchyLevels(tuple(nodes), tuple(shares), len(domain))


def _add_hidden_level(levels: HierarchyLevels) -> HierarchyLevels:
    """With hidden cells above the coarsest values, if there is more than one of these."""
    top = levels.nodes[-1]
    if top.max() < 2:  # one value at most, and what was absent before
        return levels
    nodes, shares = np.zeros_like(top), np.ones(top.size)
    nodes[-1], shares[-1] = 1, 0.0
    return HierarchyLevels((*levels.nodes, nodes), (*levels.shares, shares), levels.domain)


def _list_ladders(
    column: Column, texts: Sequence[str], domain: Sequence[str], hierarchy: Hierarchy | None
) -> Mapping[str, Sequence[str]]:
    """What each leaf becomes at levels 1, 2, ...; of a rule, only values of the data are leaves."""
    if hierarchy is None:
        return {}
    if hierarchy.table is not None:
        return {leaf: hierarchy.table[leaf] for leaf in domain}
    return {
        text: [format_value(hierarchy.at(value, level)) for level in range(1, hierarchy.height + 1)]
        for text, value in zip(texts, column.values.to_pylist(), strict=True)
    }


def _list_domain(texts: Sequence[str], hierarchy: Hierarchy | None) -> list[str]:
    """All values that there are: leaves of a table; of a rule, or of none, those in the data."""
    if hierarchy is None or hierarchy.table is None:
        return list(texts)
    return list(dict.fromkeys([*hierarchy.table, *texts]))
