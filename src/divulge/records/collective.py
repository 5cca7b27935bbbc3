"""Attacks on everybody: re-identification (CR) and attribute inference (CA), single or linked.

The adversary knows some attributes of everybody. Records that agree on these form a class, within
which she cannot tell them apart. A class of one is a re-identification, a class with one secret
value an inference; else she guesses (Alvim et al. 2022, Sec. 4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.assessment import Assessment, Breakdown, Sentence
from divulge.data import Dataset
from divulge.engines import ClassSizes
from divulge.qif import PriorPosterior
from divulge.records import charts
from divulge.records.secrets import Secrets


def collective(
    dataset: Dataset,
    secrets: Callable[[], Secrets],
    knows: list[str],
    seeks: list[str],
    model: str,
    gain: Any = None,
    figures: Mapping[str, float] = MappingProxyType({}),
    key: Callable[[], Mapping[str, object]] | None = None,
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
    rows = sizes.records
    return Assessment(
        **_told(dataset, knows, seeks, model, rows, certain, right),
        deterministic=PriorPosterior(*(float(share) for share in found["deterministic"])),
        probabilistic=PriorPosterior(*(float(share) for share in found["probabilistic"])),
        figures={
            "classes": sizes.count,
            "singletons": sizes.singletons,
            "smallest_class": sizes.smallest,
            "capacity": float(found["capacity"][0]),
            **figures,
        },
        _chart=lambda: charts.class_sizes(sizes, dataset.subjects),
        _breakdown=lambda group: _by_group(dataset, secrets(), knows, seeks, model, group),
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


def _by_group(
    dataset: Dataset, secrets: Secrets, knows: list[str], seeks: list[str], model: str, group: str
) -> Breakdown:
    """The same adversary, seen from each group: what she finds out about its members."""
    [group] = dataset.attributes(group, "by")
    column = dataset.columns[group]
    before = secrets.blind
    found = {}
    for code in np.unique(column.codes):
        members = column.codes == code
        count = int(np.count_nonzero(members))
        certain = _pair(before.certain_of_each, secrets.certain_of_each, members)
        right = _pair(before.right_of_each, secrets.right_of_each, members)
        told = _told(dataset, knows, seeks, model, count, certain, right)
        found[column.value(int(code))] = Assessment(
            **told,
            deterministic=PriorPosterior(certain.prior / count, certain.posterior / count),
            probabilistic=PriorPosterior(right.prior / count, right.posterior / count),
        )
    return Breakdown(group, found)


def _pair(
    before: npt.NDArray[Any], after: npt.NDArray[Any], members: npt.NDArray[np.bool_]
) -> PriorPosterior:
    # A sum of shares like 1/3 ends a hair beside a whole number; the hair is not a finding.
    counts = [before[members].sum(), after[members].sum()]
    return PriorPosterior(*(int(c) if c == int(c) else round(float(c), 9) for c in counts))


def _told(
    dataset: Dataset,
    knows: list[str],
    seeks: list[str],
    model: str,
    secrets: int,
    certain: PriorPosterior,
    right: PriorPosterior,
) -> dict[str, Any]:
    values = {
        "knows": knows,
        "seeks": seeks,
        "subjects": dataset.subjects,
        "total": secrets,
        "certain": certain.posterior,
        "certain_share": certain.posterior / secrets,
        "right": right.posterior,
        "right_share": right.posterior / secrets,
        "right_before": right.prior,
    }
    key = "inferred" if seeks else "singled_out"
    return {
        "attack": "longitudinal" if model.endswith("L") else "records",
        "model": model,
        "dataset": dataset.name,
        "knows": tuple(knows),
        "seeks": tuple(seeks),
        "secrets": secrets,
        "subjects": dataset.subjects,
        "claim": "exact",
        "certain": certain,
        "right": right,
        "sentences": (
            Sentence("divulge.records", key, values),
            Sentence("divulge.records", "guessed", values),
        ),
    }
