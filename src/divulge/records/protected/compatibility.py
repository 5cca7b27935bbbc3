"""Which released records may be whose, and how likely: people against patterns of records.

People who have the same values form a class; records that show the same form a pattern. A record
fits a person if each value that it shows may be theirs. Whether it is theirs is weighed: a record
that shows exact values weighs 1, a coarser value the part that theirs has in it, a hidden cell the
chance that it holds their value (`classes.hidden_chances`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from divulge import work
from divulge.classes.hidden_chances import (
    estimate_hidden_chance,
    estimate_shown_share,
    sum_shown_weights,
)
from divulge.classes.key_codes import KeyCodes
from divulge.classes.keys import combine_codes, densify_keys, sum_over_equal_keys
from divulge.classes.null_semantics import Patterns, gather_patterns
from divulge.records.protected.value_mapping import AttributePair
from divulge.work.arrays import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class Compatibility:
    """Classes of people x patterns of records, sparse: what is possible, and what it weighs.

    `of_person` is the class of each person, `of_record` the pattern of each released record;
    `is_weighed` says whether some records that fit one person weigh differently.
    """

    possible: Any
    weight: Any
    of_person: Ints
    of_record: Ints
    is_weighed: bool

    @property
    def pattern_count(self) -> int:
        """How many patterns there are."""
        return int(self.possible.shape[1])

    @property
    def records_per_pattern(self) -> Ints:
        """How many records have each pattern."""
        return np.bincount(self.of_record, minlength=self.pattern_count)


def join_people_to_records(attributes: Sequence[AttributePair]) -> Compatibility:
    """Join people and records on what is known, mask by mask of what records hide."""
    from scipy import sparse

    first = attributes[0]
    keys = [KeyCodes(each.shown_codes, each.cardinality, each.hidden_code) for each in attributes]
    shown_patterns = gather_patterns(keys, np.ones(len(first.shown_codes)))
    known_columns = [each.known_codes for each in attributes]
    of_person, classes = densify_keys(
        *combine_codes(
            known_columns, [len(each.starts) - 1 for each in attributes], len(first.known_codes)
        )
    )
    representative = np.zeros(classes, np.int64)
    representative[of_person] = np.arange(len(of_person))
    people = [each.known_codes[representative] for each in attributes]
    parts = _join_by_mask(shown_patterns, attributes, people)
    whose, which, weight = (np.concatenate(each) for each in zip(*parts, strict=True))
    shape = (classes, len(shown_patterns.count))
    ones = np.ones(len(whose))
    return Compatibility(
        possible=sparse.coo_array((ones, (whose, which)), shape).tocsr(),
        weight=sparse.coo_array((weight, (whose, which)), shape).tocsr(),
        of_person=of_person,
        of_record=shown_patterns.of_record,
        is_weighed=len(np.unique(shown_patterns.mask)) > 1
        or any(each.is_ambiguous for each in attributes),
    )


def _join_by_mask(
    shown_patterns: Patterns, attributes: Sequence[AttributePair], people: Sequence[Ints]
) -> list[tuple[Ints, Ints, Floats]]:
    """For every mask: which class of people fits which pattern, and what that weighs."""
    masks = shown_patterns.group_by_mask()
    complete = masks.get(0, np.empty(0, np.int64))
    everything = list(range(len(attributes)))
    complete_weight = _weigh_complete_records(
        shown_patterns, complete, attributes, people, everything
    )
    share_of = [
        _estimate_attribute_share(shown_patterns, a, attribute)[people[a]]
        for a, attribute in enumerate(attributes)
    ]
    parts = []
    with work.step("Matching people and released records", len(masks)) as step:
        for mask, mask_patterns in masks.items():
            visible = shown_patterns.visible_attributes(mask)
            whose, columns, weight = _enumerate_shown_codes(attributes, people, visible)
            record_columns = [shown_patterns.columns[a][mask_patterns] for a in visible]
            person_key, record_key = _build_joint_keys(
                columns,
                record_columns,
                attributes,
                visible=visible,
                people=len(whose),
                records=mask_patterns.size,
            )
            order = np.argsort(record_key)
            place = np.minimum(
                np.searchsorted(record_key[order], person_key), max(0, mask_patterns.size - 1)
            )
            is_match = record_key[order][place] == person_key
            chance = np.ones(len(people[0]))
            if mask:
                visible_weight = _weigh_complete_records(
                    shown_patterns, complete, attributes, people, visible
                )
                independent = np.prod([share_of[a] for a in everything if a not in visible], axis=0)
                chance = estimate_hidden_chance(complete_weight, visible_weight, independent)
            who = whose[is_match]
            parts.append(
                (who, mask_patterns[order][place[is_match]], weight[is_match] * chance[who])
            )
            step.advance()
    return parts


def _estimate_attribute_share(patterns: Patterns, place: int, attribute: AttributePair) -> Floats:
    """The share of each value that people have among the records that show an attribute."""
    count = np.bincount(
        patterns.columns[place], patterns.count, minlength=attribute.cardinality
    ).astype(np.float64)
    shown = float(count.sum() - count[attribute.hidden_code])
    fitting = sum_shown_weights(attribute.starts, attribute.flat, attribute.share, count)
    return estimate_shown_share(fitting, shown)


def _weigh_complete_records(
    shown_patterns: Patterns,
    complete: Ints,
    attributes: Sequence[AttributePair],
    people: Sequence[Ints],
    visible: list[int],
) -> Floats:
    """For each class of people, what the complete records weigh that fit it on some attributes."""
    size = len(people[0])
    if complete.size == 0:
        return np.zeros(size)
    whose, columns, weight = _enumerate_shown_codes(attributes, people, visible)
    record_columns = [shown_patterns.columns[a][complete] for a in visible]
    person_key, record_key = _build_joint_keys(
        columns,
        record_columns,
        attributes,
        visible=visible,
        people=len(whose),
        records=complete.size,
    )
    top = int(max(person_key.max(initial=0), record_key.max(initial=0))) + 1
    [counts] = sum_over_equal_keys(person_key, record_key, top, [shown_patterns.count[complete]])
    return np.bincount(whose, counts * weight, size).astype(np.float64)


def _enumerate_shown_codes(
    attributes: Sequence[AttributePair], people: Sequence[Ints], visible: Sequence[int]
) -> tuple[Ints, list[Ints], Floats]:
    """Every way in which each class may be shown: whose it is, the codes, and what it weighs."""
    whose = np.arange(len(people[0]), dtype=np.int64)
    weight = np.ones(len(whose))
    columns: list[Ints] = []
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


def _build_joint_keys(
    person_columns: Sequence[Ints],
    record_columns: Sequence[Any],
    attributes: Sequence[AttributePair],
    *,
    visible: Sequence[int],
    people: int,
    records: int,
) -> tuple[Ints, Ints]:
    """Keys of two tables that are equal where their rows are."""
    joint_columns = [
        np.concatenate([one, other])
        for one, other in zip(person_columns, record_columns, strict=True)
    ]
    joint, _ = combine_codes(
        joint_columns, [attributes[a].cardinality for a in visible], people + records
    )
    return joint[:people], joint[people:]
