"""Sampling weights and households, checked before they enter a measure of risk."""

from __future__ import annotations

import numpy as np

from divulge.classes.weights import read_number_column
from divulge.data import Dataset
from divulge.work import InvalidInput, Problem, Problems
from divulge.work.arrays import Floats, Ints


def sampling_weights(dataset: Dataset, least: float = 1.0) -> Floats | None:
    """The weight of each record, or None if no attribute holds the weights.

    A record of a sample stands at least for itself, so a weight below `least` is refused.

    Raises:
        InvalidInput: with counts, if weights are missing, not numbers, infinite or too small.

    >>> import divulge as dv
    >>> sampling_weights(dv.datasets.inflation_and_growth_example())[:3].tolist()
    [230.0, 190.0, 70.0]
    """
    names = dataset.dictionary.having("weight")
    if not names:
        return None
    [name] = names
    weights = read_number_column(dataset, name)
    require_sampling_weights(
        dataset,
        name,
        missing=int(np.isnan(weights).sum()),
        infinite=int(np.isinf(weights).sum()),
        negative=int((weights < 0).sum()),
        small=int(((weights >= 0) & (weights < least)).sum()),
        least=least,
    )
    return weights


def require_sampling_weights(
    dataset: Dataset,
    name: str,
    *,
    missing: int,
    infinite: int,
    negative: int,
    small: int,
    least: float = 1.0,
) -> None:
    """Refuse weights by how many of them are wrong in which way.

    Raises:
        InvalidInput: if any is missing, infinite, negative or below `least`.
    """
    problems = Problems(f'dataset "{dataset.name}"')
    place = f'weight "{name}"'
    if missing:
        problems.add(place, f"is missing in {_describe_count(missing, dataset)}.")
    if infinite:
        problems.add(place, f"is infinite in {_describe_count(infinite, dataset)}.")
    if negative:
        problems.add(place, f"is negative in {_describe_count(negative, dataset)}.")
    if small:
        message = (
            f"is below {least:g} in {_describe_count(small, dataset)}; a record stands at least "
            "for itself, so a weight is how many of the population it is."
        )
        problems.add(place, message)
    problems.raise_any()


def weights_or_ones(dataset: Dataset) -> Floats:
    """The weight of each record; one where the data are the whole population."""
    weights = sampling_weights(dataset)
    return np.ones(dataset.rows) if weights is None else weights


def number_households(dataset: Dataset) -> Ints:
    """The household of each record; whoever has none is a household of one.

    Weights of its members may differ: calibration gives each person a weight of their own.

    Raises:
        InvalidInput: if no attribute has the role household.
    """
    names = dataset.dictionary.having("household")
    subject = f'dataset "{dataset.name}"'
    if not names:
        message = "no attribute has the role household; declare one in roles."
        raise InvalidInput(subject, [Problem("roles", message)])
    [name] = names
    column = dataset.columns[name]
    household = column.codes.astype(np.int64)
    alone = household == column.missing_code
    household[alone] = column.missing_code + np.arange(int(alone.sum()))
    return household


def _describe_count(count: int, dataset: Dataset) -> str:
    return f"{count:,} of {dataset.rows:,} {dataset.subjects}"
