"""An attack as it was asked for: what all models need, checked and gathered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from divulge.classes.partition import Classes
from divulge.classes.weights import weights_of
from divulge.data import Dataset
from divulge.records.inference.secrets import Secrets
from divulge.records.models.linked_datasets import Duplicates, Linked, joint_secret
from divulge.records.models.one_person import matching
from divulge.records.protected.dataset_pair import Pair
from divulge.work import InvalidInput, Problem


@dataclass(frozen=True)
class Call:
    """An attack as it was asked for."""

    model: str
    datasets: tuple[Dataset, ...]
    known: list[str]
    sought: list[str]
    linked: Linked
    on: str | None = None
    prior: Any = None
    gain: Any = None
    pair: Pair | None = None
    duplicates: Duplicates = "error"
    seed: int = 0

    @property
    def goal(self) -> str:
        """What is sought: membership (M), a record (R), an attribute (A)."""
        return self.model[1]

    def secrets(self, classes: Classes) -> Secrets:
        """The secret of each focal record among those that look alike."""
        return Secrets(classes, joint_secret(self.linked, self.sought), self.prior)


def matches(call: Call, target: Any, argument: str) -> Any:
    """Which focal records have the target's values, in every dataset."""
    told = target if isinstance(target, list | tuple) else [target]
    if not all(values is None or isinstance(values, Mapping) for values in told):
        message = "give a value for each attribute that is known, as {attribute: value}."
        raise InvalidInput("attack", [Problem(argument, message)])
    if len(told) != len(call.datasets):
        message = f"give what is known in each of the {len(call.datasets)} datasets."
        raise InvalidInput("attack", [Problem(argument, message)])
    met = np.ones(len(call.linked.records), bool)
    years = ((call.linked.focal, call.linked.records), *call.linked.years)
    for (dataset, places), values in zip(years, told, strict=True):
        if values is None:
            met &= places < 0
            continue
        columns = [(n, dataset.columns[n]) for n in call.known if n in dataset.columns]
        if not columns and not values:
            continue  # nothing is known from this dataset, so it rules nobody out
        here = np.append(matching(columns, values, argument), False)
        met &= here[places]
    if not met.any():
        message = "no record has these values together."
        raise InvalidInput("attack", [Problem(argument, message)])
    return met


def prior_of(linked: Linked, prior: Any) -> Any:
    """The weights of the focal records, or None."""
    if prior is None:
        return None
    weights = weights_of(linked.focal, prior)
    return weights[linked.records]
