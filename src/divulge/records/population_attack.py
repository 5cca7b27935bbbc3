"""The release and the population side by side: who might be in it, class by class."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from divulge.assessment import Assessment
from divulge.classes.partition import Classes, Knowledge, in_common
from divulge.data import Column, Dataset
from divulge.engines import IntArray
from divulge.records.models.linked_datasets import Linked, described, link_years
from divulge.records.models.membership import Presence, membership, require_enough_people
from divulge.records.protected.attack_protected import presence_in_release
from divulge.records.request import Call, matches, prior_of
from divulge.work import Problems

MOST_GROUP_CELLS = 50_000_000


def attack_membership(
    call: Call, population: Dataset | Sequence[Dataset], target: Any
) -> Assessment:
    """Count the classes of the release and of the population side by side."""
    people = (population,) if isinstance(population, Dataset) else tuple(population)
    problems = Problems("attack")
    if len(people) > len(call.datasets):
        problems.add("population", f"{len(people)} are given for {len(call.datasets)} datasets.")
        problems.raise_any()
    people = (*people, *call.datasets[len(people) :])
    for name in call.known:
        if any(name in d.names and name not in p.names
               for d, p in zip(call.datasets, people, strict=True)):  # fmt: skip
            problems.add("population", f'has no attribute "{name}".', name, people[0].names)
    problems.raise_any()
    living = Linked(people[0], np.arange(people[0].rows), (), 0)
    if call.linked.years:
        living = link_years(people, call.on, call.duplicates, call.seed)
    presence = _presence(call, living)
    place = None
    if target is not None:
        sought = Call(call.model, people, call.known, [], living)
        met = matches(sought, target, "target")
        place = int(presence.of_person[np.flatnonzero(met)[0]])
    release = call.linked.dataset if call.pair is None else call.pair.releases[0]
    found = membership(
        release,
        living.dataset,
        presence,
        call.known,
        call.model,
        place,
        call.gain,
        prior_of(living, call.prior),
        None if call.pair else partial(_released_of_group, call, living, presence),
    )
    if call.linked.years:
        more = {"datasets": len(call.datasets), "records_dropped": call.linked.dropped}
        left_out = people[0].rows - len(living.records)
        found = described(found, {**more, **({"people_dropped": left_out} if left_out else {})})
    return found


def _presence(call: Call, living: Linked) -> Presence:
    """What the release, or its protected version, tells of each class of the population."""
    if call.pair is not None:
        return presence_in_release(call.pair, living, call.known)
    of_release, of_people = _side_by_side(call, living)
    both = [
        Knowledge(np.concatenate([one.codes, other.codes]), max(one.cardinality, other.cardinality))
        for one, other in zip(of_release, of_people, strict=True)
    ]
    classes = Classes.all_alike(len(call.linked.records) + len(living.records)).refined(both)
    inside = classes.of_record[: len(call.linked.records)]
    everybody = classes.of_record[len(call.linked.records) :]
    return Presence.counted(
        np.bincount(inside, minlength=classes.number),
        np.bincount(everybody, minlength=classes.number),
        everybody,
        inside,
    )


def _released_of_group(
    call: Call, living: Linked, presence: Presence, name: str
) -> tuple[Column, IntArray] | None:
    """By class and value of an attribute, how many were released; None if that is not known."""
    import pyarrow.compute as pc

    people, release = living.dataset.columns[name], call.linked.dataset.columns.get(name)
    groups = max(1, people.cardinality)
    if (
        release is None
        or presence.of_released is None
        or release.values.type != people.values.type
        or len(presence.chance) * groups > MOST_GROUP_CELLS
    ):
        return None
    places = pc.index_in(release.values, value_set=people.values).fill_null(-1)
    missing = people.missing_code if people.has_missing else -1
    codes = np.append(places.to_numpy(zero_copy_only=False), missing)[release.codes]
    require_enough_people(int(np.count_nonzero(codes < 0)))
    released = np.zeros((len(presence.chance), groups), np.int64)
    np.add.at(released, (presence.of_released, codes), 1)
    return people, released


def _side_by_side(call: Call, living: Linked) -> tuple[list[Knowledge], list[Knowledge]]:
    """What is known of the release and of the population, with the same codes for the same."""
    released: list[Knowledge] = []
    people: list[Knowledge] = []
    releases = ((call.linked.focal, call.linked.records), *call.linked.years)
    populations = ((living.focal, living.records), *living.years)
    for (one, here), (other, there) in zip(releases, populations, strict=True):
        names = [name for name in call.known if name in one.names]
        ours, theirs = in_common(names, one, other)
        for knowledge, known in zip(ours, theirs, strict=True):
            absent = knowledge.cardinality
            for each, places, told in ((knowledge, here, released), (known, there, people)):
                codes = np.append(each.codes, absent)
                told.append(Knowledge(codes[places], absent + 1))
    return released, people
