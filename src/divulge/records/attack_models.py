"""The one call that runs any of the twelve attack models.

It checks the arguments and gathers them in an `AttackRequest`; everybody or one person is then
attacked, in the data themselves, in a protected version, or against a population.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from divulge import work
from divulge.assessment import Assessment
from divulge.classes.partition import Partition
from divulge.classes.people import RecordsKnown, build_unjudged_error, check_records_known
from divulge.data import Dataset, Relation
from divulge.records.attack_arguments import (
    EVERYDAY_NAMES,
    problems_with_arguments,
    problems_with_choices,
    problems_with_model,
    problems_with_other_datasets,
    problems_with_single_records,
)
from divulge.records.inference.gains import build_gain
from divulge.records.inference.memory import require_memory
from divulge.records.inference.secrets import Secrets
from divulge.records.models.attribute_gaps import (
    AttributeGap,
    YearChoices,
    apply_choices,
    find_attribute_gaps,
    qualify_assessment,
)
from divulge.records.models.everybody import assess_everybody
from divulge.records.models.linked_datasets import (
    Duplicates,
    LinkedDatasets,
    check_attributes,
    link_years,
    list_secret_values,
)
from divulge.records.models.membership import MEMBERSHIP
from divulge.records.models.one_person import assess_one_person
from divulge.records.models.record_knowledge import read_record_knowledge
from divulge.records.participation import count_found_in_population, describe_participation
from divulge.records.people_attack import attack_people, find_attacked_people
from divulge.records.population_attack import attack_membership
from divulge.records.protected.attack_protected import (
    attack_one_in_release,
    attack_release,
)
from divulge.records.protected.dataset_pair import DatasetPair
from divulge.records.relation_attack import attack_relations, require_countable
from divulge.records.request import AttackRequest, compute_prior_weights, match_target
from divulge.records.single_knowledge import (
    attack_single_records,
    select_known_of_target,
)
from divulge.work import Problems, checks
from divulge.work.arrays import Floats


def attack(
    dataset: Dataset | Sequence[Dataset],
    model: str = "CRS",
    knows: str | Iterable[str] | None = None,
    seeks: str | Iterable[str] | None = None,
    *,
    target: Mapping[str, Any] | Sequence[Mapping[str, Any] | None] | None = None,
    population: Dataset | Sequence[Dataset] | None = None,
    on: str | None = None,
    prior: Any = None,
    gain: Any = None,
    release: Dataset | Sequence[Dataset | None] | None = None,
    duplicates: Duplicates = "error",
    seed: int = 0,
    rename: Mapping[str, Mapping[str, str]] | None = None,
    absent: Mapping[str, str | Iterable[str]] | None = None,
    recoded: str | Iterable[str] | None = None,
    records_known: RecordsKnown = "one",
    knows_also: Any = None,
    knows_only: Any = None,
) -> Assessment:
    """Attack records with knowledge of some attributes.

    Args:
        dataset: the records; for the models ending in L several datasets, the focal one first.
        model: the attack model, by acronym (`CRS`) or everyday name (`marketer`).
        knows: what the adversary knows of everybody; all quasi-identifiers if not given.
        seeks: what they want to know (models with A); several attributes are one joint secret.
        target: of one person (models with I), the value of everything known; in a longitudinal
            attack a list of values, one per dataset (None where the person is absent).
        population: everybody who might be in the release (models with M).
        on: the persistent id that links the datasets (models with L), and that tells whose a
            record of a protected version is.
        prior: how likely each record is the one they are after, before: numbers, an attribute, or
            "weight" for the attribute that plays this role; in models with M, of the people of
            the population.
        gain: what guesses are worth: a matrix (guesses x secret values, in their order, a missing
            one last; of membership: not in the release, in it), one of `divulge.qif.gains`, or
            `{"guesses": 3}`, `{"within": 5}`, `{"worth": {...}, "wrong": 1}`; a right guess is
            worth 1 if none is given.
        release: the protected version: what is known is then taken from the dataset, and matches
            are looked for in the release. Its records are those of the dataset, by `on` or in the
            same order; of several datasets a list, None for one that was released as it is.
        duplicates: what becomes of an id that occurs twice: `error`, `first` or `random`.
        seed: of the random choice.
        rename: by dataset, attributes that it calls otherwise (theirs: ours); models with L.
        absent: by dataset, what is known elsewhere and not there, on purpose; models with L.
        recoded: what is coded anew in some dataset, on purpose: what is known of it is what each
            dataset has; models with L. Where a dataset lacks an attribute or codes it anew and
            neither is said, the figures are the least that an adversary knows, and no limit holds
            by them.
        records_known: with the role `person`, of whom several records may be there: whether `one`
            of the victim's records is known, drawn at random, or `all` of them.
        knows_also: pairs (record, attribute), a list or a table of two columns: what is known of
            single records beside `knows`, such as the revenue of listed companies. Records are
            named by their number (from 0), or by `on`. Models CRS, CAS, IRS and IAS; of one person
            just that is known which `target` gives.
        knows_only: pairs of what alone is known of single records, instead of `knows`.

    Raises:
        InvalidInput: if the model or an attribute does not exist, or something is missing.
        UnjudgedPeopleError: if somebody has several records, and the model counts records.
        NotEnoughMemory: before the run, if it will not fit.

    >>> import divulge as dv
    >>> pupils = dv.datasets.school_year_example()
    >>> found = attack(pupils, knows=["gender", "grade"])
    >>> found.deterministic.posterior, found.probabilistic.posterior
    (0.1, 0.5)
    >>> print(found)
    An adversary who knows gender and grade singles out 1 of 10 pupils (10%).
    Their best guess is right for about 5 (50%); before the release, for about 1.
    These figures are exact.
    """
    datasets = checks.as_tuple(dataset)
    code = EVERYDAY_NAMES.get(model, model)
    problems = Problems("attack")
    problems.extend("", problems_with_model(model))
    problems.raise_any()
    choices = YearChoices.from_arguments(rename, absent, recoded)
    problems.extend("", problems_with_arguments(code, datasets, seeks, target, population))
    problems.extend("", problems_with_other_datasets(release, population))
    problems.extend("", problems_with_choices(code, choices))
    problems.extend("", problems_with_single_records(code, knows_also, knows_only))
    options = {"release": release, "knows_also": knows_also, "knows_only": knows_only}
    problems.raise_any()
    require_countable(datasets, population, options)
    check_records_known(records_known, "attack")
    if isinstance(datasets[0], Relation):
        return attack_relations(
            datasets,
            code,
            knows,
            seeks,
            on=on,
            choices=choices,
            duplicates=duplicates,
            records_known=records_known,
            target=target,
            population=population,
            prior=prior,
            gain=gain,
        )
    people = find_attacked_people(code, datasets, population, records_known)
    require_memory(datasets, prior is not None)
    gaps: list[AttributeGap] = []
    if code.endswith("L"):
        datasets = apply_choices(datasets, choices)
        linked = link_years(datasets, on, duplicates, seed)
        known, sought = check_attributes(datasets, on or "", knows, seeks)
        gaps = find_attribute_gaps(datasets, known, choices)
    else:
        known = datasets[0].attributes(knows, "knows")
        _, sought = check_attributes(datasets, "", known, seeks)
        linked = LinkedDatasets(
            focal=datasets[0], records=np.arange(datasets[0].rows), years=(), records_dropped=0
        )
    has_pairs = knows_also is not None or knows_only is not None
    names, knowledge = known, None
    if has_pairs:
        if people is not None:
            raise build_unjudged_error(datasets[0], people, "pairs tell what is known of records")
        knowledge = read_record_knowledge(datasets[0], known, knows_also, knows_only, on)
        names = knowledge.names
    pair = None
    if release is not None:
        pair = DatasetPair.from_datasets(datasets, checks.as_tuple(release), on, names, sought)
    request = AttackRequest(
        model=code,
        datasets=datasets,
        known=known,
        sought=sought,
        linked=linked,
        on=on,
        prior=prior,
        gain=gain,
        pair=pair,
        duplicates=duplicates,
        seed=seed,
        knowledge=knowledge,
    )
    if request.goal == "M":
        assert population is not None  # noqa: S101  # else the problem was raised
        request = replace(request, gain=build_gain(gain, MEMBERSHIP))
        assessment = attack_membership(request, population, target)
    else:
        values = list_secret_values(linked, sought) if people is None or sought else people.number
        request = replace(
            request, prior=compute_prior_weights(linked, prior), gain=build_gain(gain, values)
        )
        count_found = None
        if people is not None:
            assessment = attack_people(request, people, records_known, target)
        elif target is None:
            assessment = _attack_everybody(request)
        else:
            assessment = _attack_one_person(request, target)
        if people is None and knowledge is None and request.goal == "R":
            count_found = _build_population_count(request, target)
        assessment = describe_participation(assessment, datasets[0], count_found)
    reservations = [*(gap.sentence for gap in gaps), *linked.describe_dropped()]
    return qualify_assessment(assessment, linked.describe_links(), reservations)


def _attack_everybody(request: AttackRequest) -> Assessment:
    if request.knowledge is not None:
        return attack_single_records(request, request.knowledge)
    if request.pair is not None:
        prior_secrets = request.build_secrets(Partition.single_class(len(request.linked.records)))
        return attack_release(
            request.pair,
            request.linked,
            request.known,
            seeks=request.sought,
            model=request.model,
            secrets=prior_secrets,
            gain=request.gain,
        )

    def build_secrets() -> Secrets:
        return request.build_secrets(_build_classes(request))

    def build_key() -> dict[str, object]:
        digest = hashlib.sha256(request.linked.records.tobytes())
        for _, places in request.linked.years:
            digest.update(places.tobytes())
        if request.prior is not None:
            digest.update(np.ascontiguousarray(request.prior).tobytes())
        return {
            "data": [dataset.fingerprint for dataset in request.datasets],
            "records": digest.hexdigest(),
            "model": request.model,
            "knows": request.known,
            "seeks": request.sought,
            "on": request.on,
        }

    figures: dict[str, float] = {}
    if request.model.endswith("L"):
        figures = {
            "datasets": len(request.datasets),
            "records_dropped": request.linked.records_dropped,
        }
    focal = request.linked.dataset
    with work.step(f"Counting classes of {focal.subjects}"):
        return assess_everybody(
            focal,
            build_secrets,
            request.known,
            seeks=request.sought,
            model=request.model,
            gain=request.gain,
            figures=figures,
            key=build_key,
            weighed=request.prior is not None,
        )


def _build_classes(request: AttackRequest) -> Partition:
    """Which focal records look alike in all datasets."""
    classes = Partition.single_class(len(request.linked.records))
    for year in range(len(request.datasets)):
        classes = classes.refine_by(request.linked.list_knowledge(year, request.known))
    return classes


def _build_population_count(
    request: AttackRequest, target: Any
) -> Callable[[Floats], float] | None:
    """How many are found by somebody who does not know who took part; None if it is not told."""
    if request.pair is not None:
        return None  # hidden values are weighed by what is in the sample

    def count_found(weights: Floats) -> float:
        weights = weights[request.linked.records]
        if target is None:
            return count_found_in_population(_build_classes(request), weights)
        weights = weights[match_target(request, target, "target")]
        alike = Partition.single_class(len(weights))
        return count_found_in_population(alike, weights) / len(weights)

    return count_found


def _attack_one_person(request: AttackRequest, target: Any) -> Assessment:
    if request.knowledge is not None:
        request = select_known_of_target(request, request.knowledge, target)
    is_match = match_target(request, target, "target")
    secrets = request.build_secrets(Partition.single_class(len(is_match)))
    labels: list[str] = []
    if len(request.sought) == 1:
        column = request.datasets[0].columns[request.sought[0]]
        labels = [str(column.value(i)) for i in range(column.cardinality)]
    elif secrets.secret is not None:
        labels = [f"combination {i + 1}" for i in range(secrets.secret.cardinality)]
    if request.pair is not None:
        return attack_one_in_release(
            request.pair,
            request.linked,
            request.known,
            seeks=request.sought,
            model=request.model,
            secrets=secrets,
            matches=is_match,
            labels=labels,
            gain=request.gain,
        )
    focal = request.linked.dataset
    return assess_one_person(
        focal,
        secrets,
        is_match,
        knows=request.known,
        seeks=request.sought,
        model=request.model,
        labels=labels,
        gain=request.gain,
    )
