"""What cells lost: Loss, granularity, precision and non-uniform entropy, with weights.

Each compares a released value with what it was, cell by cell. A hidden cell, and each cell of a
removed record, lost everything; a cell that was absent before has nothing to lose, and the mean is
of the others. Attributes weigh as they are important, all alike if that is not said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from divulge.data import Column, Dataset
from divulge.data.value_texts import format_value
from divulge.work.arrays import Floats, Ints

Ladders: TypeAlias = Mapping[str, tuple[str, ...]]
"""Of each value, what it is at levels 0, 1, ... of its hierarchy."""


@dataclass(frozen=True, kw_only=True)
class CellFigures:
    """Loss is 0 where nothing was lost and 1 where everything was; the others are 1 and 0."""

    loss: float
    granularity: float
    precision: float
    entropy: float


@dataclass(frozen=True, kw_only=True)
class AttributeLoss:
    """The share of what could be lost of one attribute that was, three times."""

    leaves: float
    """By how many values a released one stands for."""
    levels: float
    """By how far up the hierarchy it is."""
    bits: float
    """By how much must be asked to tell the value from all that it may be."""
    domain: int
    """How many values there are: leaves of the hierarchy, or those of the data."""


def measure_cells(
    original: Dataset,
    released: Dataset,
    kept: Ints,
    among: Sequence[str],
    *,
    importance: Mapping[str, float] | None = None,
    levels: Mapping[str, int] | None = None,
) -> CellFigures:
    """What is left of the cells of some attributes.

    `levels` are those to which whole columns were taken, where they are known: a value that is the
    same at two levels does not tell which it is of.
    """
    losses = [
        measure_attribute(original, released, kept, name, (levels or {}).get(name))
        for name in among
    ]
    weights = np.array([float((importance or {}).get(name, 1.0)) for name in among])
    # ARX's granularity is a mean of shares, scaled afterwards: large domains weigh more.
    by_domain = weights * np.array([1 - 1 / max(each.domain, 1) for each in losses])
    leaves = np.array([each.leaves for each in losses])
    return CellFigures(
        loss=_average(leaves, weights),
        granularity=1 - _average(leaves, by_domain),
        precision=1 - _average(np.array([each.levels for each in losses]), weights),
        entropy=1 - _average(np.array([each.bits for each in losses]), weights),
    )


def _average(figures: Floats, weights: Floats) -> float:
    total = float(weights.sum())
    return float(figures @ weights) / total if total > 0 else 0.0


def measure_attribute(
    original: Dataset, released: Dataset, kept: Ints, name: str, level: int | None = None
) -> AttributeLoss:
    """What one attribute lost.

    - leaves: (mean share - 1/|D|) / (1 - 1/|D|), the share being the part of all |D| values that a
      released one stands for;
    - levels: the mean level over the height of the hierarchy;
    - bits: the sum of log2(n(released)/n(value)) over that of log2(n/n(value)), where n(...) are
      how many original records have the value, or one that the released value stands for.
    """
    before, after = original.columns[name], released.columns[name]
    ladders = list_ladders(original, name)
    domain = len(ladders)
    is_present = before.codes != before.missing_code
    count = int(is_present.sum())
    if domain < 2 or count == 0:
        return AttributeLoss(leaves=0.0, levels=0.0, bits=0.0, domain=domain)
    shown = kept[is_present[kept]]
    removed = count - shown.size
    width = len(after.values) + 1
    pairs, numbers = np.unique(
        before.codes[shown].astype(np.int64) * width + after.codes[is_present[kept]],
        return_counts=True,
    )
    was, became = pairs // width, pairs % width
    shares = _share_leaves(ladders, after)
    leaves = (shares[became] - 1 / domain) / (1 - 1 / domain)
    steps = _find_levels(ladders, before, after, (was, became), level)
    frequency = np.bincount(before.codes[is_present], minlength=len(before.values))
    to_lose = np.log2(count / np.maximum(frequency, 1))
    lost = np.log2(_count_under(ladders, before, after, frequency)[became] / frequency[was])
    # What is told by no node above the value tells nothing of it.
    lost = np.where(leaves >= 1, to_lose[was], lost)
    everything = float(frequency @ to_lose)
    of_removed = everything - float(to_lose[was] @ numbers)
    return AttributeLoss(
        leaves=(float(leaves @ numbers) + removed) / count,
        levels=(float(steps @ numbers) + removed) / count,
        bits=(float(lost @ numbers) + of_removed) / everything if everything > 0 else 0.0,
        domain=domain,
    )


def compute_attribute_loss(original: Dataset, released: Dataset, kept: Ints, name: str) -> float:
    """The Loss of one attribute: what was lost by how many values a released one stands for."""
    return measure_attribute(original, released, kept, name).leaves


def compute_leaf_shares(original: Dataset, column: Column, name: str) -> tuple[Floats, int]:
    """The share of all values that each released value stands for (a null: all), and their number.

    With a hierarchy, all values are its leaves; without, those that the original has.
    """
    ladders = list_ladders(original, name)
    return _share_leaves(ladders, column), len(ladders)


def list_ladders(original: Dataset, name: str) -> Ladders:
    """Of each value that there is, what it is at every level; what a hierarchy lacks stays so."""
    values = original.columns[name].values.to_pylist()
    ladders: dict[str, tuple[str, ...]] = {
        format_value(value): (format_value(value),) for value in values
    }
    hierarchy = original.dictionary[name].hierarchy
    if hierarchy is not None:
        table = (hierarchy if hierarchy.table is not None else hierarchy.over(values)).table
        ladders |= {leaf: (leaf, *nodes) for leaf, nodes in (table or {}).items()}
    return ladders


def _share_leaves(ladders: Ladders, column: Column) -> Floats:
    """By released value, the share of all values that it stands for."""
    under: dict[str, int] = {}
    for nodes in ladders.values():
        # A ladder repeats its last step where it is short: each node counts a leaf once.
        for node in dict.fromkeys(nodes):
            under[node] = under.get(node, 0) + 1
    domain = len(ladders)
    return np.array(
        [*(under.get(text, domain) for text in _list_texts(column)), domain], np.float64
    ) / max(domain, 1)


def _count_under(ladders: Ladders, before: Column, after: Column, frequency: Ints) -> Floats:
    """By released value, how many original records have one that it stands for."""
    under: dict[str, int] = {}
    for text, number in zip(_list_texts(before), frequency.tolist(), strict=True):
        for node in dict.fromkeys(ladders[text]):
            under[node] = under.get(node, 0) + number
    everybody = int(frequency.sum())
    return np.array(
        [*(under.get(text, everybody) for text in _list_texts(after)), everybody], np.float64
    )


def _find_levels(
    ladders: Ladders, before: Column, after: Column, pairs: tuple[Ints, Ints], level: int | None
) -> Floats:
    """How far up its hierarchy each value was taken (a share of the height); 1 if it is hidden."""
    height = max(len(nodes) for nodes in ladders.values()) - 1
    old, new = _list_texts(before), [*_list_texts(after), None]
    steps = []
    for leaf, released in zip(*(codes.tolist() for codes in pairs), strict=True):
        nodes, label = ladders[old[leaf]], new[released]
        if label not in nodes:
            steps.append(1.0)
            continue
        step = nodes.index(label)
        if level is not None and nodes[level : level + 1] == (label,):
            step = level
        steps.append(step / max(height, 1))
    return np.array(steps)


def _list_texts(column: Column) -> list[str]:
    return [format_value(value) for value in column.values.to_pylist()]
