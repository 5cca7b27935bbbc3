"""The twelve attack models by name, and the one call that runs any of them.

Three questions make a model (Alvim et al. 2022, Table 1): what is sought (membership M, a record R,
an attribute A), of whom (one individual I, everybody C), and from how much (a single dataset S,
a longitudinal collection L).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from divulge import work
from divulge.assessment import Assessment
from divulge.data import Dataset
from divulge.data.dictionary import as_names
from divulge.records.collective import collective
from divulge.records.individual import individual, matching
from divulge.records.longitudinal import (
    Duplicates,
    Linked,
    described,
    joint_secret,
    link_years,
    problems_with,
)
from divulge.records.membership import membership
from divulge.records.partition import Classes, Knowledge, in_common
from divulge.records.release_pair import attack_release
from divulge.records.secrets import Secrets
from divulge.records.weights import weights_of
from divulge.work import InvalidInput, Problem, Problems

MODELS: Mapping[str, str] = {
    "IMS": "whether one person is in the release",
    "CMS": "who is in the release",
    "IML": "whether one person is in the release, from several linked datasets",
    "CML": "who is in the release, from several linked datasets",
    "IRS": "which record is one person's",
    "CRS": "whose record each is",
    "IRL": "which record is one person's, from several linked datasets",
    "CRL": "whose record each is, from several linked datasets",
    "IAS": "a secret of one person",
    "CAS": "a secret of everybody",
    "IAL": "a secret of one person, from several linked datasets",
    "CAL": "a secret of everybody, from several linked datasets",
}
"""The attack models by acronym, and what each is after."""

EVERYDAY_NAMES: Mapping[str, str] = {"prosecutor": "IRS", "journalist": "IMS", "marketer": "CRS"}
"""What others call the same models."""


@dataclass(frozen=True)
class _Call:
    """An attack as it was asked for."""

    model: str
    datasets: tuple[Dataset, ...]
    known: list[str]
    sought: list[str]
    linked: Linked
    on: str | None = None
    prior: Any = None
    gain: Any = None

    @property
    def goal(self) -> str:
        return self.model[1]


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
    release: Dataset | None = None,
    duplicates: Duplicates = "error",
    seed: int = 0,
) -> Assessment:
    """Attack records with knowledge of some attributes.

    Args:
        dataset: the records; for the models ending in L several datasets, the focal one first.
        model: the attack model, by acronym (`CRS`) or everyday name (`marketer`).
        knows: what the adversary knows of everybody; all quasi-identifiers if not given.
        seeks: what she wants to know (models with A); several attributes are one joint secret.
        target: of one person (models with I), the value of everything known; in a longitudinal
            attack a list of values, one a dataset (None where the person is absent).
        population: everybody who might be in the release (models with M).
        on: the persistent id that links the datasets (models with L).
        prior: what each record weighs before: numbers, or "weight" for the dataset's weights.
        gain: what guesses are worth (guesses x secret values); a right guess is worth 1 if none.
        release: the protected version of the records, row by row: what is known is then taken
            from the dataset, and matches are looked for in the release.
        duplicates: what becomes of an id that occurs twice: `error`, `first` or `random`.
        seed: of the random choice.

    Raises:
        InvalidInput: if the model or an attribute does not exist, or something is missing.

    >>> import divulge as dv
    >>> pupils = dv.datasets.school_year_example()
    >>> found = attack(pupils, knows=["gender", "grade"])
    >>> found.deterministic.posterior, found.probabilistic.posterior
    (0.1, 0.5)
    >>> print(found)
    An adversary who knows gender and grade singles out 1 of 10 pupils (10%).
    Guessing as well as possible, she is right about 5 (50%); before the release, about 1.
    These figures are exact.
    """
    datasets = (dataset,) if isinstance(dataset, Dataset) else tuple(dataset)
    code = EVERYDAY_NAMES.get(model, model)
    problems = Problems("attack")
    problems.extend("", problems_with_model(model))
    problems.raise_any()
    problems.extend("", _problems_with_call(code, datasets, seeks, target, population, release))
    problems.raise_any()
    if code.endswith("L"):
        linked = link_years(datasets, on, duplicates, seed)
        known, sought = problems_with(datasets, on or "", knows, seeks)
    else:
        known = datasets[0].attributes(knows, "knows")
        _, sought = problems_with(datasets, "", known, seeks)
        linked = Linked(datasets[0], np.arange(datasets[0].rows), (), 0)
    call = _Call(code, datasets, known, sought, linked, on, _prior(linked, prior), gain)
    if release is not None:
        return attack_release(datasets[0], release, known, sought, code)
    if call.goal == "M":
        assert population is not None  # noqa: S101  # else the problem was raised
        return _membership(call, population, target)
    return _of_one(call, target) if code.startswith("I") else _of_everybody(call)


def _of_everybody(call: _Call) -> Assessment:
    def secrets() -> Secrets:
        classes = Classes.all_alike(len(call.linked.records))
        for year in range(len(call.datasets)):
            classes = classes.refined(call.linked.knowledge(year, call.known))
        return Secrets(classes, joint_secret(call.linked, call.sought), call.prior)

    def key() -> dict[str, object]:
        digest = hashlib.sha256(call.linked.records.tobytes())
        for _, places in call.linked.years:
            digest.update(places.tobytes())
        if call.prior is not None:
            digest.update(np.ascontiguousarray(call.prior).tobytes())
        return {
            "data": [dataset.fingerprint for dataset in call.datasets],
            "records": digest.hexdigest(),
            "model": call.model,
            "knows": call.known,
            "seeks": call.sought,
            "on": call.on,
        }

    figures: dict[str, float] = {}
    if call.model.endswith("L"):
        figures = {"datasets": len(call.datasets), "records_dropped": call.linked.dropped}
    focal = call.linked.dataset
    with work.step(f"Counting {focal.subjects} who look alike"):
        return collective(
            focal, secrets, call.known, call.sought, call.model, call.gain, figures, key
        )


def _of_one(call: _Call, target: Any) -> Assessment:
    matches = _matches(call, target, "target")
    secrets = Secrets(
        Classes.all_alike(len(matches)), joint_secret(call.linked, call.sought), call.prior
    )
    labels: list[str] = []
    if len(call.sought) == 1:
        column = call.datasets[0].columns[call.sought[0]]
        labels = [str(column.value(i)) for i in range(column.cardinality)]
    elif secrets.secret is not None:
        labels = [f"combination {i + 1}" for i in range(secrets.secret.cardinality)]
    focal = call.linked.dataset
    return individual(focal, secrets, matches, call.known, call.sought, call.model, labels)


def _matches(call: _Call, target: Any, argument: str) -> Any:
    """Which focal records have the target's values, in every dataset."""
    told = target if isinstance(target, Sequence) else [target]
    if len(told) != len(call.datasets):
        message = f"give what is known in each of the {len(call.datasets)} datasets."
        raise InvalidInput("attack", [Problem(argument, message)])
    matches = np.ones(len(call.linked.records), bool)
    years = ((call.linked.focal, call.linked.records), *call.linked.years)
    for (dataset, places), values in zip(years, told, strict=True):
        if values is None:
            matches &= places < 0
            continue
        columns = [(n, dataset.columns[n]) for n in call.known if n in dataset.names]
        here = np.append(matching(columns, values, argument), False)
        matches &= here[places]
    if not matches.any():
        message = "no record has these values together."
        raise InvalidInput("attack", [Problem(argument, message)])
    return matches


def _membership(call: _Call, population: Dataset | Sequence[Dataset], target: Any) -> Assessment:
    """Count the classes of the release and of the population side by side."""
    people = (population,) if isinstance(population, Dataset) else tuple(population)
    people = (*people, *call.datasets[len(people) :])
    problems = Problems("attack")
    for name in call.known:
        if any(name in d.names and name not in p.names
               for d, p in zip(call.datasets, people, strict=True)):  # fmt: skip
            problems.add("population", f'has no attribute "{name}".', name, people[0].names)
    problems.raise_any()
    living = Linked(people[0], np.arange(people[0].rows), (), 0)
    if call.linked.years:
        living = link_years(people, call.on, "error", 0)
    of_release, of_people = _side_by_side(call, living)
    both = [
        Knowledge(np.concatenate([one.codes, other.codes]), max(one.cardinality, other.cardinality))
        for one, other in zip(of_release, of_people, strict=True)
    ]
    classes = Classes.all_alike(len(call.linked.records) + len(living.records)).refined(both)
    inside = classes.of_record[: len(call.linked.records)]
    everybody = classes.of_record[len(call.linked.records) :]
    place = None
    if target is not None:
        sought = _Call(call.model, people, call.known, [], living)
        place = int(everybody[np.flatnonzero(_matches(sought, target, "target"))[0]])
    found = membership(
        call.linked.dataset,
        np.bincount(inside, minlength=classes.number),
        np.bincount(everybody, minlength=classes.number),
        call.known,
        call.model,
        place,
    )
    if call.linked.years:
        found = described(found, {"datasets": len(call.datasets)})
    return found


def _side_by_side(call: _Call, living: Linked) -> tuple[list[Knowledge], list[Knowledge]]:
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


def _prior(linked: Linked, prior: Any) -> Any:
    """The weights of the focal records, or None."""
    if prior is None:
        return None
    weights = weights_of(linked.focal, prior)
    return weights[linked.records]


def problems_with_model(model: str) -> Iterable[Problem]:
    """Whether a model can be run."""
    known = [*MODELS, *EVERYDAY_NAMES]
    if model not in known:
        yield Problem("model", f'"{model}" is not an attack model.', value=model, allowed=known)


def _problems_with_call(
    model: str,
    datasets: Sequence[Dataset],
    seeks: Any,
    target: Any,
    population: Any,
    release: Any,
) -> Iterator[Problem]:
    """Whether all that the model needs is there, and nothing that it does not take."""
    if not all(isinstance(dataset, Dataset) for dataset in datasets) or not datasets:
        yield Problem("dataset", "give a dataset, or a list of datasets.")
        return
    for wrong, place, message in (
        (
            model.endswith("S") and len(datasets) > 1,
            "dataset",
            f"{model} takes one; for several use {model[:2]}L.",
        ),
        (
            model.endswith("L") and len(datasets) < 2,
            "dataset",
            f"{model} takes two or more; for one use {model[:2]}S.",
        ),
        (datasets[0].rows == 0, "dataset", "has no records."),
        (
            model[1] == "A" and (seeks is None or not as_names(seeks)),
            "seeks",
            f"is missing; {model} infers an attribute.",
        ),
        (
            model[1] != "A" and seeks is not None,
            "seeks",
            f"{model} seeks no attribute; for that use {model[0]}A{model[2]}.",
        ),
        (
            model.startswith("I") and target is None,
            "target",
            f"is missing; {model} is after one person.",
        ),
        (
            model.startswith("C") and target is not None,
            "target",
            f"{model} is after everybody; for one use I{model[1:]}.",
        ),
        (
            model[1] == "M" and population is None,
            "population",
            "is missing; who might be in the release?",
        ),
        (
            model[1] != "M" and population is not None,
            "population",
            f"{model} needs none; whether somebody is in the release asks {model[0]}M{model[2]}.",
        ),
        (
            release is not None and model not in ("CRS", "CAS"),
            "release",
            "a protected version can be attacked with CRS and CAS.",
        ),
    ):
        if wrong:
            yield Problem(place, message)
