"""What a missing value may stand for: five ways to count the records that look like a record.

`maybe`: a null may be anything, so it matches everything (Vada-SA, Sec. 4.3). `standard`: a fresh
null equals only itself. `value`: missing is a value like others. `known`: the released records
that are compatible with the record's original values, which is what an adversary who knows their
victim counts. `bayes`: the same records, each weighed by the chance that its hidden and coarser
cells are the victim's.

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
from divulge.classes.hidden_chances import (
    estimate_hidden_chance,
    estimate_shown_share,
    sum_shown_weights,
)
from divulge.classes.key_codes import KeyCodes
from divulge.classes.keys import combine_codes, densify_keys, sum_by_place, sum_over_equal_keys
from divulge.work.arrays import Array, Floats, Ints

MAX_MASK_BITS = 62

Chances = Callable[["Victims", Sequence[int]], Floats]
"""For each victim, the chance that some hidden attributes hold their values."""


@dataclass(frozen=True, kw_only=True)
class Patterns:
    """Distinct records: their codes by attribute, how many there are of each, what they hide."""

    columns: list[Array]
    cardinalities: list[int]
    hidden_codes: list[int]
    count: Floats
    weight: Floats
    mask: Ints
    of_record: Ints

    def group_by_mask(self) -> dict[int, Ints]:
        """The patterns that hide the same cells, by the bits of the attributes they hide."""
        return {int(mask): np.flatnonzero(self.mask == mask) for mask in np.unique(self.mask)}

    def visible_attributes(self, mask: int) -> list[int]:
        """The attributes that a mask does not hide."""
        return [a for a in range(len(self.columns)) if not mask >> a & 1]


@dataclass(frozen=True)
class Victims:
    """Distinct original records: for each attribute, the released values theirs may have become.

    `options[a]` holds, for the code c of attribute a, the released codes
    `flat[starts[c]:starts[c + 1]]`: one where a value was kept or recoded for all, several where
    it was recoded for some, none where every record with it hides it. `shares[a]` weighs them:
    1 for the one that tells most, less for those that stand for more values besides.
    """

    columns: list[Array]
    options: list[tuple[Ints, Ints]]
    shares: list[Floats]
    of_record: Ints


def gather_patterns(keys: Sequence[KeyCodes], weights: Floats) -> Patterns:
    """Gather equal records."""
    columns = [key.codes for key in keys]
    cardinalities = [key.cardinality for key in keys]
    of_record, total = densify_keys(*combine_codes(columns, cardinalities, weights.size))
    first: Ints = np.empty(total, np.int64)
    first[of_record[::-1]] = np.arange(weights.size - 1, -1, -1)
    distinct = [column[first] for column in columns]
    # Numbers of any length where 64 bits are not enough.
    kind: Any = np.int64 if len(distinct) <= MAX_MASK_BITS else object
    mask: npt.NDArray[Any] = np.zeros(total, kind)
    for bit, (column, key) in enumerate(zip(distinct, keys, strict=True)):
        mask |= (column == key.hidden_code).astype(kind) << bit
    count = np.bincount(of_record, minlength=total).astype(np.float64)
    weight = sum_by_place(of_record, weights, total)
    return Patterns(
        columns=distinct,
        cardinalities=list(cardinalities),
        hidden_codes=[key.hidden_code for key in keys],
        count=count,
        weight=weight,
        mask=mask,
        of_record=of_record,
    )


def count_by_value(patterns: Patterns) -> tuple[Floats, Floats]:
    """Frequency and weight of each pattern where missing is a value of its own."""
    return patterns.count, patterns.weight


def count_by_standard(patterns: Patterns, weights: Floats) -> tuple[Floats, Floats]:
    """Frequency and weight of each record where a null equals nothing but itself."""
    alone = (patterns.mask != 0)[patterns.of_record]
    sample = np.where(alone, 1.0, patterns.count[patterns.of_record])
    return sample, np.where(alone, weights, patterns.weight[patterns.of_record])


def count_by_maybe(patterns: Patterns, alpha: float) -> tuple[Floats, Floats]:
    """Frequency and weight of each pattern where a null matches everything.

    A pattern with nulls counts with weight alpha for a complete one, and in full otherwise.
    """
    sample, population = np.zeros(patterns.count.size), np.zeros(patterns.count.size)
    masks = patterns.group_by_mask()
    with work.step("Finding possible matches", len(masks)) as step:
        for own_mask, own_rows in masks.items():
            for other_mask, other_rows in masks.items():
                share = alpha if own_mask == 0 and other_mask != 0 else 1.0
                visible = patterns.visible_attributes(own_mask | other_mask)
                own_keys, other_keys, size = build_joint_keys(
                    [patterns.columns[a][own_rows] for a in visible],
                    [patterns.columns[a][other_rows] for a in visible],
                    [patterns.cardinalities[a] for a in visible],
                    (own_rows.size, other_rows.size),
                )
                counts, weights = sum_over_equal_keys(
                    own_keys,
                    other_keys,
                    size,
                    [patterns.count[other_rows], patterns.weight[other_rows]],
                )
                sample[own_rows] += share * counts
                population[own_rows] += share * weights
            step.advance()
    return sample, population


def count_by_known(patterns: Patterns, victims: Victims) -> tuple[Floats, Floats]:
    """Frequency and weight of the released records that are compatible with each victim."""
    size = victims.columns[0].size
    sample, population = np.zeros(size), np.zeros(size)
    for mask, rows in patterns.group_by_mask().items():
        counts, weights = _count_compatible(
            patterns, rows, patterns.visible_attributes(mask), victims
        )
        sample += counts
        population += weights
    return sample, population


def count_by_bayes(
    patterns: Patterns, victims: Victims, chances: Chances | None = None
) -> tuple[Floats, Floats]:
    """Effective frequency of each victim: one over the posterior of the likeliest record.

    A record that shows the victim's values weighs 1. One that shows some of them coarser, or hides
    them, weighs the chance that they are the victim's (`hidden_chances`).
    """
    size = victims.columns[0].size
    total, weighted_total, best = np.zeros(size), np.zeros(size), np.zeros(size)
    chance_of = estimate_chance_by_mask(patterns, victims, chances)
    for mask, rows in patterns.group_by_mask().items():
        compatible = _weigh_compatible(patterns, rows, patterns.visible_attributes(mask), victims)
        chance = chance_of[mask]
        total += compatible.count * chance
        weighted_total += compatible.weight * chance
        best = np.maximum(best, compatible.heaviest * chance)
    if np.all(best > 0):
        return total / best, weighted_total / best
    # A prior that excludes every compatible record weighs nothing: they are left to be counted.
    sample, population = count_by_known(patterns, victims)
    possible = best > 0
    safe = np.where(possible, best, 1)
    return np.where(possible, total / safe, sample), np.where(
        possible, weighted_total / safe, population
    )


def estimate_chance_by_mask(
    patterns: Patterns, victims: Victims, chances: Chances | None = None
) -> dict[int, Floats]:
    """For the records that hide the same cells, the chance that these hold each victim's values."""
    size = victims.columns[0].size
    masks = patterns.group_by_mask()
    chance: dict[int, Floats] = {mask: np.ones(size) for mask in masks if not mask}
    hiding = {
        mask: [a for a in range(len(patterns.columns)) if mask >> a & 1] for mask in masks if mask
    }
    if chances is not None:
        return chance | {mask: chances(victims, hidden) for mask, hidden in hiding.items()}
    complete = masks.get(0, np.empty(0, np.int64))
    whole = _weigh_compatible(patterns, complete, patterns.visible_attributes(0), victims).count
    share_of = {
        attribute: _estimate_attribute_share(patterns, victims, attribute)
        for attribute in sorted({a for hidden in hiding.values() for a in hidden})
    }
    for mask, hidden in hiding.items():
        visible = patterns.visible_attributes(mask)
        comparable = _weigh_compatible(patterns, complete, visible, victims).count
        independent = np.prod([share_of[a] for a in hidden], axis=0)
        chance[mask] = estimate_hidden_chance(whole, comparable, independent)
    return chance


def _estimate_attribute_share(patterns: Patterns, victims: Victims, attribute: int) -> Floats:
    """The share of each victim's value among the records that show an attribute."""
    hidden_code = patterns.hidden_codes[attribute]
    count = np.bincount(
        patterns.columns[attribute], patterns.count, patterns.cardinalities[attribute]
    ).astype(np.float64)
    shown = float(count.sum() - count[hidden_code])
    starts, flat = victims.options[attribute]
    fitting = sum_shown_weights(starts, flat, victims.shares[attribute], count)
    return estimate_shown_share(fitting, shown)[victims.columns[attribute]]


@dataclass(frozen=True)
class _Compatible:
    """Of the records that fit each victim: their number and weights, and what the best weighs."""

    count: Floats
    weight: Floats
    heaviest: Floats


def _weigh_compatible(
    patterns: Patterns, rows: Ints, visible: Sequence[int], victims: Victims
) -> _Compatible:
    """The patterns that fit each victim, where a coarser value weighs the part theirs has in it."""
    size = victims.columns[0].size
    if rows.size == 0:
        return _Compatible(np.zeros(size), np.zeros(size), np.zeros(size))
    whose, share, counts, weights = _match_patterns(patterns, rows, visible, victims)
    heaviest = np.zeros(size)
    np.maximum.at(heaviest, whose, np.where(counts > 0, share, 0))
    return _Compatible(
        sum_by_place(whose, counts * share, size),
        sum_by_place(whose, weights * share, size),
        heaviest,
    )


def _count_compatible(
    patterns: Patterns, rows: Ints, visible: Sequence[int], victims: Victims
) -> tuple[Floats, Floats]:
    """For each victim, the patterns held that show their values in the visible attributes."""
    size = victims.columns[0].size
    if rows.size == 0:
        return np.zeros(size), np.zeros(size)
    whose, _, counts, weights = _match_patterns(patterns, rows, visible, victims)
    if whose.size == size and np.array_equal(whose, np.arange(size)):
        return counts, weights
    return sum_by_place(whose, counts, size), sum_by_place(whose, weights, size)


def _match_patterns(
    patterns: Patterns, rows: Ints, visible: Sequence[int], victims: Victims
) -> tuple[Ints, Floats, Floats, Floats]:
    """Every way in which victims may be shown: whose, its share, and the records that show it."""
    held = [patterns.columns[a][rows] for a in visible]
    cardinalities = [patterns.cardinalities[a] for a in visible]
    whose, columns, share = enumerate_released_codes(victims, visible, held, cardinalities)
    victim_keys, pattern_keys, key_bound = build_joint_keys(
        columns, held, cardinalities, (whose.size, rows.size)
    )
    counts, weights = sum_over_equal_keys(
        victim_keys, pattern_keys, key_bound, [patterns.count[rows], patterns.weight[rows]]
    )
    return whose, share, counts, weights


def enumerate_released_codes(
    victims: Victims,
    visible: Sequence[int],
    held: Sequence[Array],
    cardinalities: Sequence[int],
) -> tuple[Ints, list[npt.NDArray[np.int64]], Floats]:
    """Every way in which victims' values may stand in the release: whose, the codes, its share.

    `held` are the released codes, by visible attribute. Where single records were made coarser a
    victim could be shown in thousands of ways, of which the release has a few: ways that begin as
    no released record does are dropped at once.
    """
    whose = np.arange(victims.columns[0].size, dtype=np.int64)
    share = np.ones(whose.size)
    columns: list[npt.NDArray[np.int64]] = []
    branches = any(np.any(np.diff(victims.options[a][0]) > 1) for a in visible)
    prefixes = _Prefixes(held, cardinalities, whose.size) if branches else None
    for attribute in visible:
        starts, flat = victims.options[attribute]
        code = victims.columns[attribute]
        code = code if columns == [] else code[whose]
        option_counts = starts[code + 1] - starts[code]
        if prefixes is None and np.all(option_counts == 1):
            # Each value is shown in one way: the usual case, and protection measures it often.
            place = starts[code]
            share = share * victims.shares[attribute][place]
            columns.append(flat[place])
            continue
        option: Ints = np.zeros(whose.size, np.int64)
        rows = np.arange(whose.size)
        if not np.all(option_counts == 1):
            rows = np.repeat(rows, option_counts)
            option = np.arange(rows.size) - np.repeat(
                np.cumsum(option_counts) - option_counts, option_counts
            )
            code = code[rows]
        shown = flat[starts[code] + option]
        factor = victims.shares[attribute][starts[code] + option]
        if prefixes is not None:
            is_begun = prefixes.extend(rows, shown)
            rows, shown, factor = rows[is_begun], shown[is_begun], factor[is_begun]
        whose, share = whose[rows], share[rows] * factor
        columns = [*(column[rows] for column in columns), shown]
    return whose, columns, share


class _Prefixes:
    """How released records begin, attribute by attribute; and which of these each way is."""

    def __init__(self, held: Sequence[Array], cardinalities: Sequence[int], ways: int) -> None:
        self._held = zip(held, cardinalities, strict=True)
        self._of_held: Ints = np.zeros(held[0].size if held else 0, np.int64)
        self._of_way: Ints = np.zeros(ways, np.int64)

    def extend(self, rows: Ints, shown: Ints) -> npt.NDArray[np.bool_]:
        """One attribute more, of ways that go on from `rows`: which begin as some record does."""
        codes, cardinality = next(self._held)
        keys = self._of_held * np.int64(cardinality) + codes
        begun, of_held = np.unique(keys, return_inverse=True)
        self._of_held = of_held.reshape(-1).astype(np.int64)
        wanted = self._of_way[rows] * np.int64(cardinality) + shown
        place = np.minimum(np.searchsorted(begun, wanted), max(0, begun.size - 1))
        is_begun = np.asarray(begun[place] == wanted if begun.size else place < 0)
        self._of_way = place[is_begun].astype(np.int64)
        return is_begun


def build_joint_keys(
    first: Sequence[Array],
    second: Sequence[Array],
    cardinalities: Sequence[int],
    sizes: tuple[int, int],
) -> tuple[Ints, Ints, int]:
    """Keys of two tables that are equal where their rows are."""
    together = [np.concatenate([one, other]) for one, other in zip(first, second, strict=True)]
    joint, size = combine_codes(together, cardinalities, sum(sizes))
    return joint[: sizes[0]], joint[sizes[0] :], size
