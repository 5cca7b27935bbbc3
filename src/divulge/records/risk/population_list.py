"""A release seen against a list of its population: who of the list may be whose record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from divulge.classes.keys import FloatArray, IntArray, sums_of_equals
from divulge.classes.null_semantics import Patterns, joint_keys, patterns
from divulge.classes.weighing import weights_or_ones
from divulge.data import Dataset
from divulge.records.risk.frequencies import SEMANTICS, Nulls
from divulge.work import InvalidInput, Problem

LISTED: tuple[Nulls, ...] = ("maybe", "value")
"""What a missing cell may stand for when a list is looked into: anything, or itself."""
NOT_SURELY = 1 - 1e-9
"""The most that a chance is, and no certainty."""


@dataclass(frozen=True)
class Matched:
    """For each record how many of the list may be it, for each person how likely it has them."""

    crowd: FloatArray
    """How many of the population look like the records of each class of the release."""
    of_record: IntArray
    presence: FloatArray
    """The chance that somebody of each class of the population is in the release."""
    of_person: IntArray


def match(
    dataset: Dataset, population: Dataset, among: Sequence[str], nulls: Nulls = "maybe"
) -> Matched:
    """Look for the records of a release in a list of the population.

    Whoever stands for several (the list has sampling weights) counts as so many. A record is
    equally likely anybody of the list whom it may be.

    Raises:
        InvalidInput: if a record of the release is not in the population, with counts.

    >>> import pyarrow as pa
    >>> town = Dataset.from_arrow(pa.table({"age": [1, 1, 2]}))
    >>> ill = Dataset.from_arrow(pa.table({"age": [1, None]}))
    >>> found = match(ill, town, ["age"])
    >>> found.crowd[found.of_record].tolist(), found.presence.round(2).tolist()
    ([2.0, 3.0], [0.83, 0.33])
    """
    if nulls not in LISTED:
        message = f'"{nulls}" does not go with a list of the population.'
        allowed = LISTED if nulls in SEMANTICS else SEMANTICS
        raise InvalidInput(f'dataset "{dataset.name}"', [Problem("nulls", message, nulls, allowed)])
    population.attributes(among, "among")
    mine, theirs = _patterns(dataset, population, among, nulls)
    crowd, presence = np.zeros(mine.count.size), np.zeros(theirs.count.size)
    joins = [
        (asking, holding, _keys(mine, theirs, asking, holding, visible))
        for mask, asking in mine.by_mask().items()
        for other, holding in theirs.by_mask().items()
        for visible in [mine.visible(mask | other)]
    ]
    for asking, holding, (asked, held, size) in joins:
        [there] = sums_of_equals(asked, held, size, [theirs.weight[holding]])
        crowd[asking] += there
    lost = int(mine.count[crowd == 0].sum())
    if lost:
        message = (
            f"{lost:,} of {dataset.rows:,} {dataset.subjects} match nobody in the population; "
            "the population must hold everybody of the release, recoded in the same way."
        )
        raise InvalidInput(f'dataset "{dataset.name}"', [Problem("population", message)])
    surely = np.zeros(theirs.count.size)
    for asking, holding, (asked, held, size) in joins:
        all_in = (mine.count[asking] >= crowd[asking]).astype(np.float64)
        here, sure = sums_of_equals(held, asked, size, [mine.count[asking] / crowd[asking], all_in])
        presence[holding] += here
        surely[holding] += sure
    # Chances that add up to 1 are none the less chances: in for sure are all of those who are as
    # many as the records that may be theirs, or everybody if all are released.
    everybody = dataset.rows >= theirs.weight.sum()
    presence = np.where((surely > 0) | everybody, 1.0, np.minimum(presence, NOT_SURELY))
    return Matched(crowd, mine.of_record, presence, theirs.of_record)


def _patterns(
    dataset: Dataset, population: Dataset, among: Sequence[str], nulls: Nulls
) -> tuple[Patterns, Patterns]:
    """Both in the codes of the population; a value that it lacks has a code of its own."""
    released, listed, cardinalities, missing = [], [], [], []
    for name in among:
        mine, theirs = dataset.columns[name], population.columns[name]
        place = {value: code for code, value in enumerate(theirs.values.to_pylist())}
        fresh = len(theirs.values) + 1
        table = [place.get(value, fresh) for value in mine.values.to_pylist()]
        released.append(np.array([*table, theirs.missing_code], np.int64)[mine.codes])
        listed.append(theirs.codes.astype(np.int64))
        cardinalities.append(fresh + 1)
        # Where missing is a value like others, no code is the one that hides.
        missing.append(theirs.missing_code if nulls == "maybe" else -1)
    people = weights_or_ones(population)
    return (
        patterns(released, cardinalities, missing, np.ones(dataset.rows)),
        patterns(listed, cardinalities, missing, people),
    )


def _keys(
    mine: Patterns, theirs: Patterns, asking: IntArray, holding: IntArray, visible: Sequence[int]
) -> tuple[IntArray, IntArray, int]:
    return joint_keys(
        [mine.columns[a][asking] for a in visible],
        [theirs.columns[a][holding] for a in visible],
        [mine.cardinalities[a] for a in visible],
        (asking.size, holding.size),
    )
