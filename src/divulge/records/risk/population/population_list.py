"""A release seen against a list of its population: who of the list may be whose record.

To whom holds the list, a hidden cell may be anything, and an absent one is a value: it is that of
those of whom the list does not say it either. Where a record would match nobody so (a register
knows what a survey was not told), what is absent in it, or in the list, may be anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from divulge.classes.key_codes import KeyCodes
from divulge.classes.keys import sum_over_equal_keys
from divulge.classes.null_semantics import Patterns, build_joint_keys, gather_patterns
from divulge.classes.people import require_one_record_each
from divulge.classes.survey_design import weights_or_ones
from divulge.data import Column, Dataset
from divulge.data.column import find_hidden_cells
from divulge.records.models.presence_chances import compute_presence_chances
from divulge.records.risk.null_readings import DEFAULT_NULLS, SEMANTICS, Nulls
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Bools, Floats, Ints

LIST_SEMANTICS: tuple[Nulls, ...] = ("maybe", "value", DEFAULT_NULLS)
"""What a missing cell may stand for when a list is looked into: anything, itself, or what it is: a
hidden one anything, an absent one itself."""
Wild: TypeAlias = Literal["maybe", "value", "hidden"]
"""Which missing cells may be anything: all, none, or those that are hidden."""
MAX_UNCERTAIN_CHANCE = 1 - 1e-9
"""The most that a chance is, and no certainty."""
_Join: TypeAlias = tuple[Ints, Ints, tuple[Ints, Ints, int]]


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
    if nulls not in LIST_SEMANTICS:
        message = f'"{nulls}" does not go with a list of the population.'
        allowed = LIST_SEMANTICS if nulls in SEMANTICS else SEMANTICS
        raise InvalidInput(f'dataset "{dataset.name}"', [Problem("nulls", message, nulls, allowed)])
    population.attributes(among, "among")
    if nulls in ("maybe", "value"):
        return _match_all(dataset, _build_patterns(dataset, population, among, nulls))
    patterns = _build_patterns(dataset, population, among, "hidden")
    crowd = _count_crowd(*patterns, _join_patterns(*patterns))
    if np.all(crowd > 0):
        return _match_all(dataset, patterns)
    known = crowd[patterns[0].of_record]
    found = _match_all(dataset, _build_patterns(dataset, population, among, "maybe"))
    loose = found.crowd[found.of_record]
    classes, of_record = np.unique(np.where(known > 0, known, loose), return_inverse=True)
    return replace(found, crowd=classes, of_record=of_record.astype(np.int64))


def _match_all(dataset: Dataset, patterns: tuple[Patterns, Patterns]) -> PopulationMatch:
    """Who may be whose record, if everybody of the release is somebody of the list."""
    mine, theirs = patterns
    joins = _join_patterns(mine, theirs)
    crowd = _count_crowd(mine, theirs, joins)
    unmatched = int(mine.count[crowd == 0].sum())
    if unmatched:
        message = (
            f"{unmatched:,} of {dataset.rows:,} {dataset.subjects} match nobody in the population; "
            "the population must contain everybody of the release, recoded in the same way."
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


def _join_patterns(mine: Patterns, theirs: Patterns) -> list[_Join]:
    """Patterns of records and of people that hide the same, with keys of what both show."""
    return [
        (
            record_patterns,
            people_patterns,
            _build_join_keys(mine, theirs, record_patterns, people_patterns, visible),
        )
        for mask, record_patterns in mine.group_by_mask().items()
        for other, people_patterns in theirs.group_by_mask().items()
        for visible in [mine.visible_attributes(mask | other)]
    ]


def _count_crowd(mine: Patterns, theirs: Patterns, joins: Sequence[_Join]) -> Floats:
    """By pattern of records, how many people match it."""
    crowd = np.zeros(mine.count.size)
    for record_patterns, people_patterns, (record_keys, people_keys, size) in joins:
        [people_here] = sum_over_equal_keys(
            record_keys, people_keys, size, [theirs.weight[people_patterns]]
        )
        crowd[record_patterns] += people_here
    return crowd


def _match_patterns(joins: Sequence[_Join], mine: Patterns, theirs: Patterns) -> Any:
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
    dataset: Dataset, population: Dataset, among: Sequence[str], wild: Wild
) -> tuple[Patterns, Patterns]:
    """Both in the codes of the population; a value that it lacks has a code of its own.

    So has what is missing, unless it may be anything: that is the code that matches all.
    """
    released, listed = [], []
    for name in among:
        mine, theirs = dataset.columns[name], population.columns[name]
        place = {value: code for code, value in enumerate(theirs.values.to_pylist())}
        absent = theirs.missing_code
        new_code, anything = absent + 1, absent + 2
        table = [place.get(value, new_code) for value in mine.values.to_pylist()]
        own = np.array([*table, absent], np.int64)[mine.codes]
        own[_find_wild(mine, wild)] = anything
        others = theirs.codes.astype(np.int64)
        others[_find_wild(theirs, wild)] = anything
        released.append(KeyCodes(own, anything + 1, anything))
        listed.append(KeyCodes(others, anything + 1, anything))
    people = weights_or_ones(population)
    return (
        gather_patterns(released, np.ones(dataset.rows)),
        gather_patterns(listed, people),
    )


def _find_wild(column: Column, wild: Wild) -> Bools:
    """The cells that may be anything."""
    if wild == "hidden":
        return find_hidden_cells(column)
    is_missing = (column.codes == column.missing_code) & column.has_missing
    return np.asarray(is_missing & (wild == "maybe"), np.bool_)


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
