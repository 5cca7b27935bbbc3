"""Who bears the risk where an engine counts: the figures of every value of an attribute."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Breakdown
from divulge.classes.relation.classes import count_view_secrets
from divulge.classes.relation.groups import count_group_secrets, count_group_sizes
from divulge.classes.relation.weights import WeighedView, count_group_people, count_group_weights
from divulge.qif import PriorPosterior
from divulge.records.inference.per_record import (
    AttackDescription,
    GroupSums,
    assess_group,
    round_pair,
)
from divulge.records.relation_models.request import RelationRequest

if TYPE_CHECKING:
    import pyarrow as pa


def break_down(request: RelationRequest, group: str, description: AttackDescription) -> Breakdown:
    """The figures of every value of an attribute.

    Raises:
        RecordsElsewhere: if guesses are worth something else than being right.
    """
    [name] = request.focal.attributes(group, "by")
    if request.gain is not None:
        request.refuse("the worth of guesses by group")
    column = request.focal.find_column(name)
    if request.weighed is not None:
        sums = _sum_weighed(request, request.weighed, column)
    elif request.sought:
        sums = _sum_secrets(request, column)
    else:
        sums = _sum_classes(request, column)
    return build_breakdown(request, name, sums, description)


def build_breakdown(
    request: RelationRequest,
    name: str,
    sums: dict[Any, GroupSums],
    description: AttackDescription,
) -> Breakdown:
    """The groups in the order in which a column has their values."""
    import pyarrow as pa

    raw = list(sums)
    kind = request.focal.kinds[name]
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    names = request.focal.encode_values(name, pa.array(raw, plain))
    order = np.unique(names.codes, return_index=True)[1]
    return Breakdown(
        name,
        {
            names.value(int(names.codes[place])): assess_group(description, sums[raw[place]])
            for place in order
            if sums[raw[place]].secrets
        },
    )


def _sum_classes(request: RelationRequest, group: str) -> dict[Any, GroupSums]:
    rows = request.focal.rows
    tallies: dict[Any, _GroupTally] = {}
    found = count_group_sizes(request.linked.view, request.columns, group)
    for row in found.to_pylist():
        tally = tallies.setdefault(row["value"], _GroupTally())
        records, size = row["records"], row["size"]
        tally.records += records
        tally.certain += records if size == 1 else 0
        tally.certain_before += records if rows == 1 else 0
        tally.right += Fraction(records, size)
        tally.right_before += Fraction(records, rows)
    return {value: tally.to_sums() for value, tally in tallies.items()}


def _sum_secrets(request: RelationRequest, group: str) -> dict[Any, GroupSums]:
    view, known, sought = request.linked.view, request.columns, request.secret
    after, before = count_group_secrets(view, known, sought, group)
    secrets = count_view_secrets(view, known, sought)
    tallies: dict[Any, _GroupTally] = {}
    for row in after.to_pylist():
        tally = tallies.setdefault(row["value"], _GroupTally())
        tally.records += row["records"]
        tally.certain += row["records"] if row["is_pure"] else 0
        tally.right += Fraction(row["records"], row["tied"]) if row["is_best"] else 0
    for row in before.to_pylist():
        tally = tallies[row["value"]]
        tally.right_before += Fraction(row["common"], secrets.tied)
        tally.certain_before += row["records"] if secrets.kinds == 1 else 0
    return {value: tally.to_sums() for value, tally in tallies.items()}


class _GroupTally:
    """Sums over the records of a group, in whole numbers and fractions."""

    def __init__(self) -> None:
        self.records = 0
        self.certain = 0
        self.certain_before = 0
        self.right = Fraction(0)
        self.right_before = Fraction(0)

    def to_sums(self) -> GroupSums:
        certain = round_pair((self.certain_before, self.certain))
        right = round_pair((self.right_before, self.right))
        return GroupSums(
            secrets=self.records, certain=certain, sure=certain, right=right, worth=None
        )


def _sum_weighed(
    request: RelationRequest, weighed: WeighedView, group: str
) -> dict[Any, GroupSums]:
    """Sums of what records weigh, so scaled that a group weighs as much as it has secrets."""
    after, before = count_group_weights(weighed.view, request.columns, request.secret, group)
    tallies: dict[Any, _WeightTally] = {}
    for place, table in enumerate((before, after)):
        for row in table.to_pylist():
            tallies.setdefault(row["value"], _WeightTally()).add(place, row)
    if request.person is None:
        numbers = {value: tally.records for value, tally in tallies.items()}
    else:
        person = request.focal.find_column(request.person)
        numbers = _read_people(count_group_people(weighed.view, person, group))
    return {
        value: tally.to_sums(numbers[value], is_people=request.person is not None)
        for value, tally in tallies.items()
    }


def _read_people(table: pa.Table) -> dict[Any, int]:
    return {row["value"]: int(row["people"]) for row in table.to_pylist()}


class _WeightTally:
    """Sums over a group of what records weigh, before and after."""

    def __init__(self) -> None:
        self.records = 0
        self.weight = 0
        self.certain = [0, 0]
        self.sure = [0, 0]
        self.right = [Fraction(0), Fraction(0)]

    def add(self, place: int, row: dict[str, Any]) -> None:
        weight = int(row["weight"])
        if place == 1:
            self.records += row["records"]
            self.weight += weight
        if row["is_certain"]:
            self.certain[place] += row["records"]
            self.sure[place] += weight
        if row["is_best"]:
            self.right[place] += Fraction(weight, row["ties"])

    def to_sums(self, secrets: int, *, is_people: bool) -> GroupSums:
        scale = Fraction(secrets, self.weight) if self.weight else Fraction(0)
        sure = round_pair([each * scale for each in self.sure])
        certain = sure if is_people else PriorPosterior(*self.certain)
        right = round_pair([each * scale for each in self.right])
        return GroupSums(secrets=secrets, certain=certain, sure=sure, right=right, worth=None)
