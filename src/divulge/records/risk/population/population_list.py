"""A release seen against a list of its population: who of the list may be whose record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from divulge.classes.key_codes import KeyCodes
from divulge.classes.keys import sum_over_equal_keys
from divulge.classes.null_semantics import Patterns, build_joint_keys, gather_patterns
from divulge.classes.people import require_one_record_each
from divulge.classes.survey_design import weights_or_ones
from divulge.data import Dataset
from divulge.records.models.presence_chances import compute_presence_chances
from divulge.records.risk.null_readings import SEMANTICS, Nulls, settle_reading
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Floats, Ints

LIST_SEMANTICS: tuple[Nulls, ...] = ("maybe", "value")
"""What a missing cell may stand for when a list is looked into: anything, or itself."""
MAX_UNCERTAIN_CHANCE = 1 - 1e-9
"""The most that a chance is, and no certainty."""


@dataclass(frozen=True)
class PopulationMatch:
    """For each record how many of the list may be it, for each person how likely it has them."""

    crowd: Floats
    """How many of the population look like the records of each class of the release."""
    of_record: Ints
    presence: Floats
    """The chance that somebody of each class of the population is in the release."""
    of_person: Ints


def match_population(
    dataset: Dataset, population: Dataset, among: Sequence[str], nulls: Nulls = "bayes"
) -> PopulationMatch:
    """Look for the records of a release in a list of the population.

    Whoever stands for several (the list has sampling weights) counts as so many. Every record is
    another person's, and all ways to give records to people whom they may be are equally likely.

    Raises:
        InvalidInput: if a record of the release is not in the population, with counts.

    >>> import pyarrow as pa
    >>> town = Dataset.from_arrow(pa.table({"age": [1, 1, 2]}))
    >>> ill = Dataset.from_arrow(pa.table({"age": [1, None]}))
    >>> found = match_population(ill, town, ["age"])
    >>> found.crowd[found.of_record].tolist(), found.presence.round(2).tolist()
    ([2.0, 3.0], [0.75, 0.5])
    """
    for each in (dataset, population):
        require_one_record_each(each, "the population is compared with records")
    nulls = settle_reading(dataset, among, nulls, "maybe")
    if nulls not in LIST_SEMANTICS:
        message = f'"{nulls}" does not go with a list of the population.'
        allowed = LIST_SEMANTICS if nulls in SEMANTICS else SEMANTICS
        raise InvalidInput(f'dataset "{dataset.name}"', [Problem("nulls", message, nulls, allowed)])
    population.attributes(among, "among")
    mine, theirs = _build_patterns(dataset, population, among, nulls)
    crowd = np.zeros(mine.count.size)
    joins = [
        (
            record_patterns,
            people_patterns,
            _build_join_keys(mine, theirs, record_patterns, people_patterns, visible),
        )
        for mask, record_patterns in mine.group_by_mask().items()
        for other, people_patterns in theirs.group_by_mask().items()
        for visible in [mine.visible_attributes(mask | other)]
    ]
    for record_patterns, people_patterns, (record_keys, people_keys, size) in joins:
        [people_here] = sum_over_equal_keys(
            record_keys, people_keys, size, [theirs.weight[people_patterns]]
        )
        crowd[record_patterns] += people_here
    unmatched = int(mine.count[crowd == 0].sum())
    if unmatched:
        message = (
            f"{unmatched:,} of {dataset.rows:,} {dataset.subjects} match nobody in the population; "
            "the population must hold everybody of the release, recoded in the same way."
        )
        raise InvalidInput(f'dataset "{dataset.name}"', [Problem("population", message)])
    certain_matches = np.zeros(theirs.count.size)
    for record_patterns, people_patterns, (record_keys, people_keys, size) in joins:
        all_in = (mine.count[record_patterns] >= crowd[record_patterns]).astype(np.float64)
        [sure] = sum_over_equal_keys(people_keys, record_keys, size, [all_in])
        certain_matches[people_patterns] += sure
    chances = compute_presence_chances(
        _match_patterns(joins, mine, theirs), theirs.weight, mine.count
    )
    # Averages that leave nobody over are none the less averages: in for sure are all of those who
    # are as many as the records that may be theirs, or everybody if all are released.
    certain = (certain_matches > 0) | (dataset.rows >= theirs.weight.sum())
    if chances.is_exact:
        certain |= chances.chance == 1
    presence = np.where(certain, 1.0, np.minimum(chances.chance, MAX_UNCERTAIN_CHANCE))
    return PopulationMatch(crowd, mine.of_record, presence, theirs.of_record)


def _match_patterns(
    joins: Sequence[tuple[Ints, Ints, tuple[Ints, Ints, int]]], mine: Patterns, theirs: Patterns
) -> Any:
    """Classes of people x patterns of records, sparse: 1 where a record may be theirs."""
    from scipy import sparse

    whose, which = [], []
    for record_patterns, people_patterns, (record_keys, people_keys, _) in joins:
        order = np.argsort(people_keys, kind="stable")
        first = np.searchsorted(people_keys[order], record_keys, "left")
        last = np.searchsorted(people_keys[order], record_keys, "right")
        number = last - first
        within = np.arange(int(number.sum())) - np.repeat(np.cumsum(number) - number, number)
        whose.append(people_patterns[order[np.repeat(first, number) + within]])
        which.append(np.repeat(record_patterns, number))
    places = np.concatenate(whose), np.concatenate(which)
    shape = (theirs.count.size, mine.count.size)
    return sparse.coo_array((np.ones(len(places[0])), places), shape).tocsr()


def _build_patterns(
    dataset: Dataset, population: Dataset, among: Sequence[str], nulls: Nulls
) -> tuple[Patterns, Patterns]:
    """Both in the codes of the population; a value that it lacks has a code of its own."""
    released, listed = [], []
    for name in among:
        mine, theirs = dataset.columns[name], population.columns[name]
        place = {value: code for code, value in enumerate(theirs.values.to_pylist())}
        new_code = len(theirs.values) + 1
        table = [place.get(value, new_code) for value in mine.values.to_pylist()]
        # Where missing is a value like others, no code is the one that hides.
        missing = theirs.missing_code if nulls == "maybe" else -1
        codes = np.array([*table, theirs.missing_code], np.int64)[mine.codes]
        released.append(KeyCodes(codes, new_code + 1, missing))
        listed.append(KeyCodes(theirs.codes.astype(np.int64), new_code + 1, missing))
    people = weights_or_ones(population)
    return (
        gather_patterns(released, np.ones(dataset.rows)),
        gather_patterns(listed, people),
    )


def _build_join_keys(
    mine: Patterns,
    theirs: Patterns,
    record_patterns: Ints,
    people_patterns: Ints,
    visible: Sequence[int],
) -> tuple[Ints, Ints, int]:
    return build_joint_keys(
        [mine.columns[a][record_patterns] for a in visible],
        [theirs.columns[a][people_patterns] for a in visible],
        [mine.cardinalities[a] for a in visible],
        (record_patterns.size, people_patterns.size),
    )
