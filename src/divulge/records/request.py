"""An attack as it was asked for: what all models need, checked and gathered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from divulge.classes.partition import Partition
from divulge.classes.weights import read_weights
from divulge.data import Dataset
from divulge.records.inference.secrets import Secrets
from divulge.records.models.linked_datasets import Duplicates, LinkedDatasets, build_joint_secret
from divulge.records.models.one_person import match_values
from divulge.records.models.record_knowledge import RecordKnowledge
from divulge.records.protected.dataset_pair import DatasetPair
from divulge.work import InvalidInput, Problem


@dataclass(frozen=True, kw_only=True)
class AttackRequest:
    """An attack as it was asked for."""

    model: str
    datasets: tuple[Dataset, ...]
    known: list[str]
    sought: list[str]
    linked: LinkedDatasets
    on: str | None = None
    prior: Any = None
    gain: Any = None
    pair: DatasetPair | None = None
    duplicates: Duplicates = "error"
    seed: int = 0
    knowledge: RecordKnowledge | None = None
    """By which attributes each record is known, where not all are known by the same."""

    @property
    def goal(self) -> str:
        """What is sought: membership (M), a record (R), an attribute (A)."""
        return self.model[1]

    def build_secrets(self, classes: Partition) -> Secrets:
        """The secret of each focal record among those that look alike."""
        return Secrets(classes, build_joint_secret(self.linked, self.sought), self.prior)


def match_target(request: AttackRequest, target: Any, argument: str) -> Any:
    """Which focal records have the target's values, in every dataset."""
    values_by_dataset = target if isinstance(target, list | tuple) else [target]
    if not all(values is None or isinstance(values, Mapping) for values in values_by_dataset):
        message = "give a value for each attribute that is known, as {attribute: value}."
        raise InvalidInput("attack", [Problem(argument, message)])
    if len(values_by_dataset) != len(request.datasets):
        message = f"give what is known in each of the {len(request.datasets)} datasets."
        raise InvalidInput("attack", [Problem(argument, message)])
    is_match = np.ones(len(request.linked.records), bool)
    years = ((request.linked.focal, request.linked.records), *request.linked.years)
    for (dataset, places), values in zip(years, values_by_dataset, strict=True):
        columns = [(n, dataset.columns[n]) for n in request.known if n in dataset.columns]
        if values is None and not columns:
            # Of everybody, a dataset in which nothing is known does not tell who is in it either.
            message = f'nothing is known in dataset "{dataset.name}", so nobody is known to be '
            message += "absent from it: give {} for it."
            raise InvalidInput("attack", [Problem(argument, message)])
        if values is None:
            is_match &= places < 0
            continue
        if not columns and not values:
            continue  # nothing is known from this dataset, so it rules nobody out
        has_values = np.append(match_values(columns, values, argument), False)
        is_match &= has_values[places]
    if not is_match.any():
        message = "no record has these values together."
        raise InvalidInput("attack", [Problem(argument, message)])
    return is_match


def compute_prior_weights(linked: LinkedDatasets, prior: Any) -> Any:
    """The weights of the focal records, or None."""
    if prior is None:
        return None
    weights = read_weights(linked.focal, prior)
    return weights[linked.records]
