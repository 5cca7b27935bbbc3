"""The release and the population side by side: who might be in it, class by class."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from divulge.assessment import Assessment
from divulge.classes.partition import AttributeCodes, Partition, encode_jointly
from divulge.data import Column, Dataset
from divulge.records import tuning
from divulge.records.models.linked_datasets import LinkedDatasets, add_figures, link_years
from divulge.records.models.membership import (
    MembershipChances,
    assess_membership,
    require_enough_people,
)
from divulge.records.protected.attack_protected import estimate_protected_membership
from divulge.records.request import AttackRequest, compute_prior_weights, match_target
from divulge.work import Problems
from divulge.work.arrays import Ints


def attack_membership(
    request: AttackRequest, population: Dataset | Sequence[Dataset], target: Any
) -> Assessment:
    """Count the classes of the release and of the population side by side."""
    people = (population,) if isinstance(population, Dataset) else tuple(population)
    problems = Problems("attack")
    if len(people) > len(request.datasets):
        problems.add("population", f"{len(people)} are given for {len(request.datasets)} datasets.")
        problems.raise_any()
    people = (*people, *request.datasets[len(people) :])
    for name in request.known:
        if any(name in d.names and name not in p.names
               for d, p in zip(request.datasets, people, strict=True)):  # fmt: skip
            problems.add("population", f'has no attribute "{name}".', name, people[0].names)
    problems.raise_any()
    linked_people = LinkedDatasets(
        focal=people[0], records=np.arange(people[0].rows), years=(), records_dropped=0
    )
    if request.linked.years:
        linked_people = link_years(people, request.on, request.duplicates, request.seed)
    presence = _estimate_membership(request, linked_people)
    class_of_target = None
    if target is not None:
        target_request = AttackRequest(
            model=request.model,
            datasets=people,
            known=request.known,
            sought=[],
            linked=linked_people,
        )
        is_match = match_target(target_request, target, "target")
        class_of_target = int(presence.of_person[np.flatnonzero(is_match)[0]])
    release = request.linked.dataset if request.pair is None else request.pair.releases[0]
    assessment = assess_membership(
        release,
        linked_people.dataset,
        presence,
        knows=request.known,
        model=request.model,
        class_of_target=class_of_target,
        gain=request.gain,
        prior=compute_prior_weights(linked_people, request.prior),
        released_of_group=None
        if request.pair
        else partial(_count_released_by_group, request, linked_people, presence),
    )
    if request.linked.years:
        figures = {
            "datasets": len(request.datasets),
            "records_dropped": request.linked.records_dropped,
        }
        people_dropped = people[0].rows - len(linked_people.records)
        assessment = add_figures(
            assessment,
            {**figures, **({"people_dropped": people_dropped} if people_dropped else {})},
        )
    return assessment


def _estimate_membership(
    request: AttackRequest, linked_people: LinkedDatasets
) -> MembershipChances:
    """What the release, or its protected version, tells of each class of the population."""
    if request.pair is not None:
        return estimate_protected_membership(request.pair, linked_people, request.known)
    of_release, of_people = _encode_jointly(request, linked_people)
    joint_knowledge = [
        AttributeCodes(
            np.concatenate([one.codes, other.codes]), max(one.cardinality, other.cardinality)
        )
        for one, other in zip(of_release, of_people, strict=True)
    ]
    classes = Partition.single_class(
        len(request.linked.records) + len(linked_people.records)
    ).refine_by(joint_knowledge)
    inside = classes.of_record[: len(request.linked.records)]
    everybody = classes.of_record[len(request.linked.records) :]
    return MembershipChances.from_counts(
        np.bincount(inside, minlength=classes.number),
        np.bincount(everybody, minlength=classes.number),
        everybody,
        inside,
    )


def _count_released_by_group(
    request: AttackRequest, linked_people: LinkedDatasets, presence: MembershipChances, name: str
) -> tuple[Column, Ints] | None:
    """By class and value of an attribute, how many were released; None if that is not known."""
    import pyarrow.compute as pc

    people, release = linked_people.dataset.columns[name], request.linked.dataset.columns.get(name)
    groups = max(1, people.cardinality)
    if (
        release is None
        or presence.of_released is None
        or release.values.type != people.values.type
        or len(presence.chance) * groups > tuning.MAX_GROUP_CELLS
    ):
        return None
    places = pc.index_in(release.values, value_set=people.values).fill_null(-1)
    missing = people.missing_code if people.has_missing else -1
    codes = np.append(places.to_numpy(zero_copy_only=False), missing)[release.codes]
    require_enough_people(int(np.count_nonzero(codes < 0)))
    released = np.zeros((len(presence.chance), groups), np.int64)
    np.add.at(released, (presence.of_released, codes), 1)
    return people, released


def _encode_jointly(
    request: AttackRequest, linked_people: LinkedDatasets
) -> tuple[list[AttributeCodes], list[AttributeCodes]]:
    """What is known of the release and of the population, with the same codes for the same."""
    released: list[AttributeCodes] = []
    people: list[AttributeCodes] = []
    releases = ((request.linked.focal, request.linked.records), *request.linked.years)
    populations = ((linked_people.focal, linked_people.records), *linked_people.years)
    for (one, here), (other, there) in zip(releases, populations, strict=True):
        names = [name for name in request.known if name in one.names]
        ours, theirs = encode_jointly(names, one, other)
        for knowledge, counterpart in zip(ours, theirs, strict=True):
            absent = knowledge.cardinality
            for each, places, columns in (
                (knowledge, here, released),
                (counterpart, there, people),
            ):
                codes = np.append(each.codes, absent)
                columns.append(AttributeCodes(codes[places], absent + 1))
    return released, people
