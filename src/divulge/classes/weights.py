"""What each record weighs: the sampling weights of a dataset, or numbers that are given."""

from __future__ import annotations

from typing import Any

import numpy as np

from divulge.data import Dataset
from divulge.work import InvalidInput, Problem, Problems, checks
from divulge.work.arrays import Floats


def read_weights(dataset: Dataset, prior: Any = "weight") -> Floats:
    """One number a record: none is missing or negative, and not all are zero.

    Args:
        dataset: the records.
        prior: `"weight"` for the attribute that plays this role, an attribute's name, or numbers.

    >>> import divulge as dv
    >>> read_weights(dv.datasets.inflation_and_growth_example())[:2].tolist()
    [230.0, 190.0]
    """
    problems = Problems(f'dataset "{dataset.name}"')
    if isinstance(prior, str):
        declared = dataset.dictionary.having("weight")
        name = declared[0] if prior == "weight" and declared else prior
        if name not in dataset.names:
            message = f'there is no weight "{name}"; declare the role, or give numbers.'
            problems.add("prior", message, name, dataset.names)
            problems.raise_any()
        values = _read_weight_column(problems, dataset, name)
        place = f'weight "{name}"'
    else:
        place = "prior"
        try:
            values = np.asarray(prior, np.float64)
        except (TypeError, ValueError):
            problems.add(place, "contains something that is not a number.")
            problems.raise_any()
    problems.extend("", checks.weights(place, values, dataset.rows))
    problems.raise_any()
    return values


def _read_weight_column(problems: Problems, dataset: Dataset, name: str) -> Floats:
    weights = read_number_column(dataset, name)
    if np.isnan(weights).any():
        problems.add(f'weight "{name}"', "is missing in some records; each needs a number.")
        problems.raise_any()
    return weights


def read_number_column(dataset: Dataset, name: str) -> Floats:
    """The numbers of a column of weights, one a record; not a number where one is missing.

    Raises:
        InvalidInput: if a value is not a number.
    """
    column = dataset.columns[name]
    try:
        values = np.array([float(value) for value in column.values.to_pylist()], np.float64)
    except (TypeError, ValueError):
        problem = Problem(f'weight "{name}"', "contains values that are not numbers.")
        raise InvalidInput(f'dataset "{dataset.name}"', [problem]) from None
    return np.append(values, np.nan)[column.codes]
