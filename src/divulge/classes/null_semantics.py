"""What a missing value may stand for: five ways to count the records that look like a record.

`maybe`: a null may be anything, so it matches everything (Vada-SA, Sec. 4.3). `standard`: a fresh
null equals only itself. `value`: missing is a value like others. `known`: the released records
that are compatible with the record's original values, which is what an adversary who knows their
victim counts. `bayes`: the same records, each weighed by the chance that its hidden cells are the
victim's.

Records with the same cells are counted once, as patterns; patterns with the same cells hidden
form a mask, and masks are joined on the attributes that neither hides. So the cost grows with the
square of the number of masks, not of records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.classes.keys import (
    AnyArray,
    FloatArray,
    IntArray,
    dense,
    keys,
    sums_of_equals,
    weighed_count,
)

MOST_BITS = 62

Chances = Callable[["Victims", Sequence[int]], FloatArray]
"""For each victim, the chance that some hidden attributes hold their values."""


@dataclass(frozen=True)
class Patterns:
    """Distinct records: their codes by attribute, how many there are of each, what they hide."""

    columns: list[AnyArray]
    cardinalities: list[int]
    count: FloatArray
    weight: FloatArray
    mask: IntArray
    of_record: IntArray

    def by_mask(self) -> dict[int, IntArray]:
        """The patterns that hide the same cells, by the bits of the attributes they hide."""
        return {int(mask): np.flatnonzero(self.mask == mask) for mask in np.unique(self.mask)}

    def visible(self, mask: int) -> list[int]:
        """The attributes that a mask does not hide."""
        return [a for a in range(len(self.columns)) if not mask >> a & 1]


@dataclass(frozen=True)
class Victims:
    """Distinct original records: for each attribute, the released values theirs may have become.

    `options[a]` holds, for the code c of attribute a, the released codes
    `flat[starts[c]:starts[c + 1]]`: one where a value was kept or recoded for all, several where
    it was recoded for some, none where every record with it hides it.
    """

    columns: list[AnyArray]
    options: list[tuple[IntArray, IntArray]]
    of_record: IntArray


def patterns(
    columns: Sequence[AnyArray],
    cardinalities: Sequence[int],
    missing: Sequence[int],
    weights: FloatArray,
) -> Patterns:
    """Gather equal records; `missing` is the code of a missing value in each column."""
    of_record, total = dense(*keys(columns, cardinalities, weights.size))
    first: IntArray = np.empty(total, np.int64)
    first[of_record[::-1]] = np.arange(weights.size - 1, -1, -1)
    distinct = [column[first] for column in columns]
    # Numbers of any length where 64 bits are not enough.
    kind: Any = np.int64 if len(distinct) <= MOST_BITS else object
    mask: npt.NDArray[Any] = np.zeros(total, kind)
    for bit, (column, code) in enumerate(zip(distinct, missing, strict=True)):
        mask |= (column == code).astype(kind) << bit
    count = np.bincount(of_record, minlength=total).astype(np.float64)
    weight = weighed_count(of_record, weights, total)
    return Patterns(distinct, list(cardinalities), count, weight, mask, of_record)


def by_value(found: Patterns) -> tuple[FloatArray, FloatArray]:
    """Frequency and weight of each pattern where missing is a value of its own."""
    return found.count, found.weight


def by_standard(found: Patterns, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Frequency and weight of each record where a null equals nothing but itself."""
    alone = (found.mask != 0)[found.of_record]
    sample = np.where(alone, 1.0, found.count[found.of_record])
    return sample, np.where(alone, weights, found.weight[found.of_record])


def by_maybe(found: Patterns, alpha: float) -> tuple[FloatArray, FloatArray]:
    """Frequency and weight of each pattern where a null matches everything.

    A pattern with nulls counts with weight alpha for a complete one, and in full otherwise.
    """
    sample, population = np.zeros(found.count.size), np.zeros(found.count.size)
    masks = found.by_mask()
    with work.step("Matching records that may be alike", len(masks)) as step:
        for mine, asking in masks.items():
            for theirs, holding in masks.items():
                share = alpha if mine == 0 and theirs != 0 else 1.0
                visible = found.visible(mine | theirs)
                asked, held, size = joint_keys(
                    [found.columns[a][asking] for a in visible],
                    [found.columns[a][holding] for a in visible],
                    [found.cardinalities[a] for a in visible],
                    (asking.size, holding.size),
                )
                counts, weights = sums_of_equals(
                    asked, held, size, [found.count[holding], found.weight[holding]]
                )
                sample[asking] += share * counts
                population[asking] += share * weights
            step.advance()
    return sample, population


def by_known(found: Patterns, victims: Victims) -> tuple[FloatArray, FloatArray]:
    """Frequency and weight of the released records that are compatible with each victim."""
    size = victims.columns[0].size
    sample, population = np.zeros(size), np.zeros(size)
    for mask, holding in found.by_mask().items():
        counts, weights = _compatible(found, holding, found.visible(mask), victims)
        sample += counts
        population += weights
    return sample, population


def by_bayes(
    found: Patterns, victims: Victims, chances: Chances | None = None
) -> tuple[FloatArray, FloatArray]:
    """Effective frequency of each victim: one over the posterior of the likeliest record.

    A record that hides nothing and fits weighs 1. One that hides cells weighs the share of the
    victim's values for them among the complete records that agree on the rest; where no complete
    record has their values, they would be one more among them.
    """
    size = victims.columns[0].size
    total, weighed, best = np.zeros(size), np.zeros(size), np.zeros(size)
    chance_of = chance_by_mask(found, victims, chances)
    for mask, holding in found.by_mask().items():
        counts, weights = _compatible(found, holding, found.visible(mask), victims)
        chance = chance_of[mask]
        total += counts * chance
        weighed += weights * chance
        best = np.where(counts > 0, np.maximum(best, chance), best)
    if np.all(best > 0):
        return total / best, weighed / best
    # A prior that excludes every compatible record weighs nothing: they are left to be counted.
    sample, population = by_known(found, victims)
    possible = best > 0
    safe = np.where(possible, best, 1)
    return np.where(possible, total / safe, sample), np.where(possible, weighed / safe, population)


def chance_by_mask(
    found: Patterns, victims: Victims, chances: Chances | None = None
) -> dict[int, FloatArray]:
    """For the records that hide the same cells, the chance that these hold each victim's values."""
    size = victims.columns[0].size
    masks = found.by_mask()
    complete = masks.get(0, np.empty(0, np.int64))
    whole, _ = _compatible(found, complete, found.visible(0), victims)
    chance: dict[int, FloatArray] = {}
    for mask in masks:
        if not mask:
            chance[mask] = np.ones(size)
        elif chances is not None:
            hidden = [a for a in range(len(found.columns)) if mask >> a & 1]
            chance[mask] = chances(victims, hidden)
        else:
            comparable, _ = _compatible(found, complete, found.visible(mask), victims)
            chance[mask] = np.where(
                whole > 0, whole / np.maximum(comparable, 1), 1 / (comparable + 1)
            )
    return chance


def _compatible(
    found: Patterns, holding: IntArray, visible: Sequence[int], victims: Victims
) -> tuple[FloatArray, FloatArray]:
    """For each victim, the patterns held that show their values in the visible attributes."""
    size = victims.columns[0].size
    if holding.size == 0:
        return np.zeros(size), np.zeros(size)
    whose, columns = as_released(victims, visible)
    asked, held, top = joint_keys(
        columns,
        [found.columns[a][holding] for a in visible],
        [found.cardinalities[a] for a in visible],
        (whose.size, holding.size),
    )
    counts, weights = sums_of_equals(
        asked, held, top, [found.count[holding], found.weight[holding]]
    )
    if whose.size == size and np.array_equal(whose, np.arange(size)):
        return counts, weights
    return weighed_count(whose, counts, size), weighed_count(whose, weights, size)


def as_released(
    victims: Victims, visible: Sequence[int]
) -> tuple[IntArray, list[npt.NDArray[np.int64]]]:
    """Every way in which a victim's values may stand in the release: whose, and which codes."""
    whose = np.arange(victims.columns[0].size, dtype=np.int64)
    columns: list[npt.NDArray[np.int64]] = []
    for attribute in visible:
        starts, flat = victims.options[attribute]
        code = victims.columns[attribute][whose]
        ways = starts[code + 1] - starts[code]
        if not np.all(ways == 1):
            again = np.repeat(np.arange(whose.size), ways)
            columns = [column[again] for column in columns]
            whose, code = whose[again], code[again]
            way = np.arange(again.size) - np.repeat(np.cumsum(ways) - ways, ways)
        else:
            way = np.zeros(whose.size, np.int64)
        columns.append(flat[starts[code] + way])
    return whose, columns


def joint_keys(
    first: Sequence[AnyArray],
    second: Sequence[AnyArray],
    cardinalities: Sequence[int],
    sizes: tuple[int, int],
) -> tuple[IntArray, IntArray, int]:
    """Keys of two tables that are equal where their rows are."""
    together = [np.concatenate([one, other]) for one, other in zip(first, second, strict=True)]
    joint, size = keys(together, cardinalities, sum(sizes))
    return joint[: sizes[0]], joint[sizes[0] :], size
