"""Risks that somebody else computes: a function of a dataset, or a measure of another package.

Experts may know risks that no textbook has. Whatever gives a number from 0 to 1 for each record
can be limited, and lowered by protection, which asks for it anew after each change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np

from divulge.classes.people import find_people
from divulge.data import Dataset
from divulge.records.risk.record_risk import RecordRisk
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Floats

RecordRiskFunction: TypeAlias = Callable[[Dataset], Any]
"""From a dataset to the risk of each of its records, from 0 to 1."""


def custom_risk(
    dataset: Dataset, risk: RecordRiskFunction, among: str | Iterable[str] | None = None
) -> RecordRisk:
    """The risk of each record by a function of one's own.

    Args:
        dataset: the records.
        risk: a function of a dataset that gives a number from 0 to 1 for each record; its name is
            what results call it.
        among: the attributes that protection may change to lower it; all quasi-identifiers if
            none are given.

    Raises:
        InvalidInput: if the function gives anything else.

    >>> import divulge as dv
    >>> companies = dv.datasets.inflation_and_growth_example()
    >>> def small_areas(dataset):
    ...     return 1 / dv.records.frequencies(dataset, among="Area").sample
    >>> custom_risk(companies, small_areas).highest
    0.2
    """
    name = name_function(risk)
    return RecordRisk(
        values=read_risks(risk(dataset), dataset, name),
        measure="custom_risk",
        dataset=dataset,
        attributes=tuple(dataset.attributes(among, "among")),
        claim="estimate",
        detail=name,
        people=find_people(dataset),
    )


def name_function(function: Any) -> str:
    """What a function calls itself; nothing if it has no name."""
    name = getattr(function, "name", None) or getattr(function, "__name__", "")
    return "" if name == "<lambda>" else str(name)


def read_risks(values: Any, dataset: Dataset, name: str) -> Floats:
    """Numbers from 0 to 1, one a record; what is wrong with them is said without a record."""
    subject = f'risk "{name}" of dataset "{dataset.name}"' if name else f'risk of "{dataset.name}"'
    try:
        risks = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        message = "contains something that is no number."
        raise InvalidInput(subject, [Problem("risk", message)]) from None
    if risks.shape != (dataset.rows,):
        message = f"has the shape {risks.shape}; there are {dataset.rows:,} {dataset.subjects}."
        raise InvalidInput(subject, [Problem("risk", message)])
    outside = int((~((risks >= 0) & (risks <= 1))).sum())
    if outside:
        message = f"is not from 0 to 1 for {outside:,} of {dataset.rows:,} {dataset.subjects}."
        raise InvalidInput(subject, [Problem("risk", message)])
    return risks
