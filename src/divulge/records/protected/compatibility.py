"""Which released records may be whose, and how likely: people against patterns of records.

People who have the same values form a class; records that show the same form a pattern. A record
fits a person if each value that it shows may be theirs. Whether it is theirs is weighed: a record
that shows exact values weighs 1, a coarser value the part that theirs has in it, a hidden cell the
share of their values for it among the complete records that agree on the rest (where no complete
record has their values, they would be one more among them).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.classes.keys import dense, keys, sums_of_equals
from divulge.classes.null_semantics import Patterns, patterns
from divulge.engines import IntArray
from divulge.records.protected.value_mapping import Paired

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """Classes of people x patterns of records, sparse: what is possible, and what it weighs.

    `of_person` is the class of each person, `of_record` the pattern of each released record;
    `weighed` says whether some records that fit one person weigh differently.
    """

    possible: Any
    weight: Any
    of_person: IntArray
    of_record: IntArray
    weighed: bool

    @property
    def patterns(self) -> int:
        """How many patterns there are."""
        return int(self.possible.shape[1])

    @property
    def records(self) -> IntArray:
        """How many records have each pattern."""
        return np.bincount(self.of_record, minlength=self.patterns)


def fit(attributes: Sequence[Paired]) -> Fit:
    """Join people and records on what is known, mask by mask of what records hide."""
    from scipy import sparse

    first = attributes[0]
    found = patterns(
        [each.shown for each in attributes],
        [each.cardinality for each in attributes],
        [each.hidden for each in attributes],
        np.ones(len(first.shown)),
    )
    known = [each.known for each in attributes]
    of_person, classes = dense(
        *keys(known, [len(each.starts) - 1 for each in attributes], len(first.known))
    )
    someone = np.zeros(classes, np.int64)
    someone[of_person] = np.arange(len(of_person))
    people = [each.known[someone] for each in attributes]
    parts = _join(found, attributes, people)
    whose, which, weight = (np.concatenate(each) for each in zip(*parts, strict=True))
    shape = (classes, len(found.count))
    ones = np.ones(len(whose))
    return Fit(
        sparse.coo_array((ones, (whose, which)), shape).tocsr(),
        sparse.coo_array((weight, (whose, which)), shape).tocsr(),
        of_person,
        found.of_record,
        len(np.unique(found.mask)) > 1 or any(each.mixed for each in attributes),
    )


def _join(
    found: Patterns, attributes: Sequence[Paired], people: Sequence[IntArray]
) -> list[tuple[IntArray, IntArray, FloatArray]]:
    """For every mask: which class of people fits which pattern, and what that weighs."""
    masks = found.by_mask()
    complete = masks.get(0, np.empty(0, np.int64))
    everything = list(range(len(attributes)))
    whole = _comparable(found, complete, attributes, people, everything)
    parts = []
    with work.step("Matching people and released records", len(masks)) as step:
        for mask, holding in masks.items():
            visible = found.visible(mask)
            whose, columns, weight = _as_shown(attributes, people, visible)
            held = [found.columns[a][holding] for a in visible]
            asked_key, held_key = _keys(
                columns, held, attributes, visible, len(whose), holding.size
            )
            order = np.argsort(held_key)
            place = np.minimum(
                np.searchsorted(held_key[order], asked_key), max(0, holding.size - 1)
            )
            met = held_key[order][place] == asked_key
            chance = np.ones(len(people[0]))
            if mask:
                near = _comparable(found, complete, attributes, people, visible)
                hers = np.divide(whole, near, where=whole > 0, out=np.zeros(len(near)))
                chance = np.where(whole > 0, hers, 1 / (near + 1))
            who = whose[met]
            parts.append((who, holding[order][place[met]], weight[met] * chance[who]))
            step.advance()
    return parts


def _comparable(
    found: Patterns,
    complete: IntArray,
    attributes: Sequence[Paired],
    people: Sequence[IntArray],
    visible: list[int],
) -> FloatArray:
    """For each class of people, what the complete records weigh that fit it on some attributes."""
    size = len(people[0])
    if complete.size == 0:
        return np.zeros(size)
    whose, columns, weight = _as_shown(attributes, people, visible)
    held = [found.columns[a][complete] for a in visible]
    asked_key, held_key = _keys(columns, held, attributes, visible, len(whose), complete.size)
    top = int(max(asked_key.max(initial=0), held_key.max(initial=0))) + 1
    [counts] = sums_of_equals(asked_key, held_key, top, [found.count[complete]])
    return np.bincount(whose, counts * weight, size).astype(np.float64)


def _as_shown(
    attributes: Sequence[Paired], people: Sequence[IntArray], visible: Sequence[int]
) -> tuple[IntArray, list[IntArray], FloatArray]:
    """Every way in which each class may be shown: whose it is, the codes, and what it weighs."""
    whose = np.arange(len(people[0]), dtype=np.int64)
    weight = np.ones(len(whose))
    columns: list[IntArray] = []
    for a in visible:
        starts, flat = attributes[a].starts, attributes[a].flat
        code = people[a][whose]
        ways = starts[code + 1] - starts[code]
        again = np.repeat(np.arange(len(whose)), ways)
        columns = [column[again] for column in columns]
        whose, code, weight = whose[again], code[again], weight[again]
        way = np.arange(len(again)) - np.repeat(np.cumsum(ways) - ways, ways)
        columns.append(flat[starts[code] + way])
        weight = weight * attributes[a].share[starts[code] + way]
    return whose, columns, weight


def _keys(
    asked: Sequence[IntArray],
    held: Sequence[Any],
    attributes: Sequence[Paired],
    visible: Sequence[int],
    people: int,
    records: int,
) -> tuple[IntArray, IntArray]:
    """Keys of two tables that are equal where their rows are."""
    together = [np.concatenate([one, other]) for one, other in zip(asked, held, strict=True)]
    joint, _ = keys(together, [attributes[a].cardinality for a in visible], people + records)
    return joint[:people], joint[people:]
