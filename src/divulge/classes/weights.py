"""What each record weighs: the sampling weights of a dataset, or numbers that are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.data import Dataset
from divulge.work import Problems, checks


def read_weights(dataset: Dataset, prior: Any = "weight") -> npt.NDArray[np.float64]:
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
            problems.add(place, "holds something that is not a number.")
            problems.raise_any()
    problems.extend("", checks.weights(place, values, dataset.rows))
    problems.raise_any()
    return values


def _read_weight_column(problems: Problems, dataset: Dataset, name: str) -> npt.NDArray[np.float64]:
    import pyarrow as pa

    column = dataset.columns[name]
    if column.has_missing:
        problems.add(f'weight "{name}"', "is missing in some records; each needs a number.")
        problems.raise_any()
    try:
        values = column.values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        problems.add(f'weight "{name}"', "holds something that is not a number.")
        problems.raise_any()
    return np.asarray(values[column.codes], np.float64)
