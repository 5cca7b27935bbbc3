"""What a missing value may stand for, where records that look alike are counted.

Each reading is a choice of its own: see `classes.null_semantics`. Two start from the values before
suppression, so that data which hide values are judged by them only where these are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np

from divulge.classes.original_values import HiddenCellsError, count_hiding_records
from divulge.data import Dataset, Relation
from divulge.data.column import find_hidden_cells
from divulge.work import Problem, format_quantity

Nulls: TypeAlias = Literal["maybe", "standard", "value", "known", "bayes"]
"""What a missing value may stand for."""

__all__ = [
    "DEFAULT_NULLS",
    "SEMANTICS",
    "SEMANTICS_OF_ALIKE_NULLS",
    "SEMANTICS_OF_ORIGINAL",
    "SEMANTICS_OF_RELEASE",
    "HiddenCellsError",
    "Nulls",
    "build_hidden_cells_error",
    "settle_reading",
]

SEMANTICS: tuple[Nulls, ...] = get_args(Nulls)

SEMANTICS_OF_ORIGINAL: tuple[Nulls, ...] = ("known", "bayes")
"""The semantics that start from what the adversary knows: the values before suppression."""

SEMANTICS_OF_ALIKE_NULLS: tuple[Nulls, ...] = ("maybe", "standard")
"""The semantics in which a value that was hidden and one that is absent are the same."""

SEMANTICS_OF_RELEASE: tuple[Nulls, ...] = ("maybe", "standard", "value")
"""The semantics that need nothing but the release."""

DEFAULT_NULLS: Nulls = "bayes"
"""An adversary who knows their victim's original values, and weighs the records that fit."""


def build_hidden_cells_error(
    dataset: Dataset, names: Sequence[str], nulls: str
) -> HiddenCellsError:
    """How many records hide something, and what would allow them to be judged."""
    records = format_quantity(count_hiding_records(dataset, names), "record hides", "records hide")
    message = (
        f'{records} values; nulls="{nulls}" counts what is compatible with the values before '
        "suppression: give them as original, or use another way of counting."
    )
    return HiddenCellsError(f'dataset "{dataset.name}"', [Problem("original", message)])


def settle_reading(
    dataset: Dataset, names: Sequence[str], nulls: Nulls, otherwise: Nulls = "value"
) -> Nulls:
    """For measures that count and do not weigh: where nothing is hidden, there is nothing to weigh.

    Raises:
        HiddenCellsError: if cells are hidden, and no way of counting them was chosen.
    """
    if nulls != DEFAULT_NULLS:
        return nulls
    if isinstance(dataset, Relation):
        return otherwise  # what is missing where records stay is absent
    if any(np.any(find_hidden_cells(dataset.columns[name])) for name in names):
        raise build_hidden_cells_error(dataset, names, nulls)
    return otherwise
