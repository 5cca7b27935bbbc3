"""Figures of rows that stand for many records each: sums, counts and quantiles over the records.

Where records are in memory each figure is of one record, and there are no numbers (None).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.classes.relation.record_figures import write_frequency_figures
from divulge.data import Dataset, Relation
from divulge.data.relation.relation import build_elsewhere_error
from divulge.work import DivulgeError
from divulge.work.arrays import Bools, Floats, Ints


def count_rows(figures: npt.NDArray[Any], number: Ints | None) -> int:
    """How many records figures are of."""
    return int(figures.size if number is None else number.sum())


def count_chosen(chosen: Bools, number: Ints | None) -> int:
    """How many records chosen figures are of."""
    return int(np.count_nonzero(chosen) if number is None else number[chosen].sum())


def sum_over_records(figures: npt.NDArray[Any], number: Ints | None) -> float:
    """The sum of the figures of all records."""
    return fsum(figures if number is None else figures * number)


def find_quantiles(
    figures: npt.NDArray[Any], number: Ints | None, shares: list[float]
) -> list[float]:
    """Quantiles over the records, between two of them as NumPy takes them.

    >>> find_quantiles(np.array([4.0, 1.0]), np.array([1, 3]), [0.5, 1.0])
    [1.0, 4.0]
    """
    if number is None:
        return [float(each) for each in np.quantile(figures, shares)]
    order = np.argsort(figures, kind="stable")
    ends = np.cumsum(number[order])
    quantiles = []
    for share in shares:
        place = share * (int(ends[-1]) - 1)
        low = int(place)
        first, second = (
            float(figures[order[np.searchsorted(ends, each, side="right")]])
            for each in (low, min(low + 1, int(ends[-1]) - 1))
        )
        quantiles.append(first + (second - first) * (place - low))
    return quantiles


def require_rows_at_home(dataset: Dataset) -> None:
    """Refuse to list figures of single records where these stay elsewhere.

    Raises:
        RecordsElsewhere: if they do.
    """
    if isinstance(dataset, Relation):
        raise build_elsewhere_error(dataset.name, dataset.engine, "a figure for each record")


def require_groups_at_home(dataset: Dataset) -> None:
    """Refuse to tell groups of records apart where these stay elsewhere.

    Raises:
        RecordsElsewhere: if they do.
    """
    if isinstance(dataset, Relation):
        raise build_elsewhere_error(dataset.name, dataset.engine, "a measure of risk by group")


def write_rows(
    dataset: Dataset,
    names: Sequence[str],
    nulls: str | None,
    figures: Mapping[str, Floats],
    path: Path | str,
    *,
    id_: str | None,
    overwrite: bool,
) -> None:
    """Let an engine write figures that follow from frequencies, a row a record.

    Raises:
        DivulgeError: if the records are in memory, where `to_arrow` gives the figures.
        RecordsElsewhere: if the figures need more than frequencies.
        InvalidInput: if no attribute names the records, or the file is not to be Parquet.
    """
    if not isinstance(dataset, Relation):
        raise DivulgeError("the records are in memory: to_arrow() gives a figure for each")
    if nulls is None:
        raise build_elsewhere_error(dataset.name, dataset.engine, "this figure for each record")
    write_frequency_figures(
        dataset, names, nulls, figures, Path(path), id_=id_, overwrite=overwrite
    )
