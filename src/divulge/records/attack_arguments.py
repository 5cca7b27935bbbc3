"""The twelve attack models by name, and what is wrong with the arguments of an attack.

Three questions make a model (Alvim et al. 2022, Table 1): what is sought (membership M, a record R,
an attribute A), of whom (one individual I, everybody C), and from how much (a single dataset S,
a longitudinal collection L).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from divulge.data import Dataset
from divulge.data.dictionary import as_names
from divulge.records.models.attribute_gaps import (
    YearChoices,
)
from divulge.records.single_knowledge import (
    MODELS_OF_SINGLE_RECORDS,
)
from divulge.work import Problem, checks

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


def problems_with_model(model: str) -> Iterable[Problem]:
    """Whether a model can be run."""
    model_names = [*MODELS, *EVERYDAY_NAMES]
    if model not in model_names:
        yield Problem(
            "model", f'"{model}" is not an attack model.', value=model, allowed=model_names
        )


def problems_with_choices(model: str, choices: YearChoices) -> Iterator[Problem]:
    """Whether what is said of single years is said of several."""
    if choices and not model.endswith("L"):
        message = "rename, absent and recoded are for several datasets (models L)."
        yield Problem("dataset", message)


def problems_with_single_records(model: str, also: Any, only: Any) -> Iterator[Problem]:
    """Whether a model tells records apart by what is known of each."""
    for place, pairs in (("knows_also", also), ("knows_only", only)):
        if pairs is not None and model not in MODELS_OF_SINGLE_RECORDS:
            models = ", ".join(MODELS_OF_SINGLE_RECORDS)
            yield Problem(place, f"is for the models {models}, not for {model}.")


def problems_with_other_datasets(release: Any, population: Any) -> Iterator[Problem]:
    """Whether what stands beside the datasets are datasets too."""
    for place, datasets, gaps in (("release", release, True), ("population", population, False)):
        for each in checks.as_tuple(datasets) if datasets is not None else ():
            if not isinstance(each, Dataset) and not (gaps and each is None):
                yield Problem(place, "give a dataset, or a list of datasets.")
                break


def problems_with_arguments(
    model: str,
    datasets: Sequence[Dataset],
    seeks: Any,
    target: Any,
    population: Any,
) -> Iterator[Problem]:
    """Whether all that the model needs is there, and nothing that it does not take."""
    if not all(isinstance(dataset, Dataset) for dataset in datasets) or not datasets:
        yield Problem("dataset", "give a dataset, or a list of datasets.")
        return
    for is_wrong, place, message in (
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
    ):
        if is_wrong:
            yield Problem(place, message)
