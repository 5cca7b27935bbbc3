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
from divulge.records import tuning
from divulge.records.inference import charts
from divulge.records.inference.per_record import AttackDescription
from divulge.records.inference.secrets import Secrets


def assess_everybody(
    dataset: Dataset,
    secrets: Callable[[], Secrets],
    knows: list[str],
    *,
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

    def count_figures() -> dict[str, npt.NDArray[Any]]:
        return _count_figures(secrets(), gain)

    counts = (
        count_figures()
        if key is None or gain is not None
        else work.memoise("records", key, count_figures)
    )
    return assess_counts(
        dataset,
        counts,
        knows,
        seeks=seeks,
        model=model,
        gain=gain,
        figures=figures,
        weighed=weighed,
        _breakdown=lambda group: (
            secrets()
            .assess_records(gain)
            .break_down(describe_attack(dataset, knows, seeks, model, weighed), dataset, group)
        ),
        _risk=lambda: secrets().risk,
    )


def assess_counts(
    dataset: Dataset,
    counts: Mapping[str, npt.NDArray[Any]],
    knows: list[str],
    *,
    seeks: list[str],
    model: str,
    gain: Any = None,
    figures: Mapping[str, float] = MappingProxyType({}),
    weighed: bool = False,
    **callbacks: Any,
) -> Assessment:
    """The assessment that follows from counts of classes, wherever they were counted."""
    sizes = ClassSizes(counts["size"], counts["classes"])
    certain = PriorPosterior(*(int(number) for number in counts["certain"]))
    # Sums of weights end a hair beside a whole number; the hair is not a finding.
    right = PriorPosterior(*(round(float(number), 9) for number in counts["right"]))
    probabilistic = PriorPosterior(*(float(share) for share in counts["probabilistic"]))
    rows = sizes.records
    description = describe_attack(dataset, knows, seeks, model, weighed)
    return Assessment(
        **description.to_assessment_fields(
            rows, certain, right, None if gain is None else probabilistic
        ),
        deterministic=PriorPosterior(*(float(share) for share in counts["deterministic"])),
        probabilistic=probabilistic,
        figures={
            "classes": sizes.count,
            "singletons": sizes.singletons,
            "smallest_class": sizes.smallest,
            # A sum of shares ends a hair beside what it is, by the order in which it was added up.
            "capacity": float(f"{counts['capacity'][0]:.{tuning.CAPACITY_DIGITS}g}"),
            **figures,
        },
        _chart=lambda: charts.draw_class_sizes(sizes, dataset.subjects),
        **callbacks,
    )


def _count_figures(secrets: Secrets, gain: Any) -> dict[str, npt.NDArray[Any]]:
    """All figures, before and after; they are small."""
    before, rows = secrets.prior_knowledge, secrets.rows
    occurrences = np.bincount(secrets.classes.sizes)
    size = np.flatnonzero(occurrences)
    return {
        "size": size,
        "classes": occurrences[size],
        "certain": np.array([before.certain_count, secrets.certain_count]),
        "right": np.array([before.expected_correct, secrets.expected_correct]),
        "deterministic": np.array([before.deterministic, secrets.deterministic]),
        "probabilistic": np.array(
            [before.expected_correct / rows, secrets.expected_correct / rows]
            if gain is None
            else secrets.compute_g_vulnerability(gain)
        ),
        "capacity": np.array([secrets.capacity]),
    }


def describe_attack(
    dataset: Dataset, knows: list[str], seeks: list[str], model: str, weighed: bool = False
) -> AttackDescription:
    """Who is attacked and how, for re-identification and attribute inference."""
    return AttackDescription(
        dataset=dataset.name,
        subjects=dataset.subjects,
        knows=tuple(knows),
        seeks=tuple(seeks),
        model=model,
        sentence="inferred" if seeks else "singled_out",
        attack="longitudinal" if model.endswith("L") else "records",
        weighed=weighed,
    )
