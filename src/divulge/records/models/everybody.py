"""Attacks on everybody: re-identification (CR) and attribute inference (CA), single or linked.

The adversary knows some attributes of everybody. Records that agree on these form a class, within
which they cannot tell them apart. A class of one is a re-identification, a class with one secret
value an inference; else they guess (Alvim et al. 2022, Sec. 4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.assessment import Assessment
from divulge.data import Dataset
from divulge.engines import ClassSizes
from divulge.qif import PriorPosterior
from divulge.records.inference import charts
from divulge.records.inference.per_record import Described
from divulge.records.inference.secrets import Secrets


def collective(
    dataset: Dataset,
    secrets: Callable[[], Secrets],
    knows: list[str],
    seeks: list[str],
    model: str,
    gain: Any = None,
    figures: Mapping[str, float] = MappingProxyType({}),
    key: Callable[[], Mapping[str, object]] | None = None,
    weighed: bool = False,
) -> Assessment:
    """Assess what is inferred of all records of a dataset.

    The secrets are worked out when they are needed, and again for single records or groups: an
    assessment of millions of records is small. Under a key, a killed run remembers the counts.
    """

    def count() -> dict[str, npt.NDArray[Any]]:
        return _counted(secrets(), gain)

    found = count() if key is None or gain is not None else work.remember("records", key, count)
    sizes = ClassSizes(found["size"], found["classes"])
    certain = PriorPosterior(*(int(number) for number in found["certain"]))
    right = PriorPosterior(*(float(number) for number in found["right"]))
    probabilistic = PriorPosterior(*(float(share) for share in found["probabilistic"]))
    rows = sizes.records
    described = describe(dataset, knows, seeks, model, weighed)
    return Assessment(
        **described.told(rows, certain, right, None if gain is None else probabilistic),
        deterministic=PriorPosterior(*(float(share) for share in found["deterministic"])),
        probabilistic=probabilistic,
        figures={
            "classes": sizes.count,
            "singletons": sizes.singletons,
            "smallest_class": sizes.smallest,
            "capacity": float(found["capacity"][0]),
            **figures,
        },
        _chart=lambda: charts.class_sizes(sizes, dataset.subjects),
        _breakdown=lambda group: secrets().of_each(gain).by(described, dataset, group),
        _risk=lambda: secrets().risk,
    )


def _counted(secrets: Secrets, gain: Any) -> dict[str, npt.NDArray[Any]]:
    """All figures, before and after; they are small."""
    before, rows = secrets.blind, secrets.rows
    occurrences = np.bincount(secrets.classes.sizes)
    size = np.flatnonzero(occurrences)
    return {
        "size": size,
        "classes": occurrences[size],
        "certain": np.array([before.certain, secrets.certain]),
        "right": np.array([before.right, secrets.right]),
        "deterministic": np.array([before.deterministic, secrets.deterministic]),
        "probabilistic": np.array(
            [before.right / rows, secrets.right / rows] if gain is None else secrets.gained(gain)
        ),
        "capacity": np.array([secrets.capacity]),
    }


def describe(
    dataset: Dataset, knows: list[str], seeks: list[str], model: str, weighed: bool = False
) -> Described:
    """Who is attacked and how, for re-identification and attribute inference."""
    return Described(
        dataset.name,
        dataset.subjects,
        tuple(knows),
        tuple(seeks),
        model,
        "inferred" if seeks else "singled_out",
        "longitudinal" if model.endswith("L") else "records",
        weighed=weighed,
    )
