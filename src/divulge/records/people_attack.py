"""`records.attack` on a dataset in which somebody has several records: people are counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from divulge import work
from divulge.assessment import Assessment
from divulge.classes.partition import Partition
from divulge.classes.people import (
    People,
    RecordsKnown,
    build_unjudged_error,
    find_people,
    require_one_record_each,
    require_shown_cells,
)
from divulge.data import Dataset
from divulge.records.inference.people_secrets import PeopleSecrets
from divulge.records.models.linked_datasets import build_joint_secret
from divulge.records.models.one_person import assess_one_person
from divulge.records.models.people import assess_people
from divulge.records.protected.attack_people import attack_people_in_release
from divulge.records.request import AttackRequest, match_target


def find_attacked_people(
    model: str,
    datasets: Sequence[Dataset],
    population: Dataset | Sequence[Dataset] | None,
    records_known: RecordsKnown,
) -> People | None:
    """The people of the dataset that is attacked; None if each has one record.

    Raises:
        UnjudgedPeopleError: if somebody has several, and the model counts records.
    """
    if model[1] == "M" or model.endswith("L"):
        beside = (population,) if isinstance(population, Dataset) else tuple(population or ())
        for dataset in (*datasets, *beside):
            require_one_record_each(dataset, f"{model} counts records")
        return None
    people = find_people(datasets[0])
    if people is not None and records_known == "all" and model.startswith("I"):
        what = f'{model} is after somebody of whom one record is known (records_known = "one")'
        raise build_unjudged_error(datasets[0], people, what)
    return people


def attack_people(
    request: AttackRequest, people: People, records_known: RecordsKnown, target: Any
) -> Assessment:
    """Attack people of whom one record is known, or all.

    Raises:
        UnjudgedPeopleError: where this cannot be judged.
    """
    focal = request.linked.dataset
    if records_known == "all":
        require_shown_cells(focal, request.known, people)
    if request.pair is not None:
        return _attack_pair(request, people, records_known)

    def build_secrets() -> PeopleSecrets:
        classes = Partition.single_class(focal.rows)
        classes = classes.refine_by(request.linked.list_knowledge(0, request.known))
        secret = build_joint_secret(request.linked, request.sought)
        if secret is None and records_known == "all":
            observed = people.gather_all_records(classes)
        else:
            observed = people.observe(classes, records_known)
        return PeopleSecrets(people, observed, secret, request.prior)

    def build_key() -> dict[str, object]:
        return {
            "data": [focal.fingerprint],
            "person": focal.dictionary.having("person"),
            "model": request.model,
            "knows": request.known,
            "seeks": request.sought,
            "records_known": records_known,
        }

    if request.model.startswith("I"):
        return _attack_one(request, people, target)
    with work.step("Counting classes of people"):
        return assess_people(
            focal,
            build_secrets,
            request.known,
            seeks=request.sought,
            model=request.model,
            people=people,
            records_known=records_known,
            gain=request.gain,
            key=None if request.prior is not None else build_key,
            weighed=request.prior is not None,
        )


def _attack_pair(request: AttackRequest, people: People, records_known: RecordsKnown) -> Assessment:
    assert request.pair is not None  # noqa: S101  # asked by the only caller
    original = request.linked.dataset
    [person] = original.dictionary.having("person")
    is_hidden = person not in request.pair.releases[0].names
    if records_known == "all" or request.model.startswith("I") or is_hidden:
        what = (
            "a protected version is judged with its ids, for everybody of whom one record is known"
        )
        raise build_unjudged_error(original, people, what)
    return attack_people_in_release(
        request.pair,
        request.linked,
        request.known,
        seeks=request.sought,
        model=request.model,
        people=people,
        prior=request.prior,
        gain=request.gain,
    )


def _attack_one(request: AttackRequest, people: People, target: Any) -> Assessment:
    """One person, of whom the values of one record are known."""
    is_match = match_target(request, target, "target")
    nothing = Partition.single_class(len(is_match))
    secret = build_joint_secret(request.linked, request.sought)
    labels: list[str] = []
    if len(request.sought) == 1:
        column = request.datasets[0].columns[request.sought[0]]
        labels = [str(column.value(i)) for i in range(column.cardinality)]
    return assess_one_person(
        request.linked.dataset,
        PeopleSecrets(people, nothing, secret, request.prior).weighed,
        is_match,
        knows=request.known,
        seeks=request.sought,
        model=request.model,
        labels=labels,
        gain=request.gain,
        people=people,
        weighed=request.prior is not None,
    )
