"""Fits of population models to a sample: what is expected of the cell of each sample unique."""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from divulge.data import Column
from divulge.records import tuning
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Floats, Ints


def compute_poisson_chances(fitted: Floats, fraction: float) -> tuple[Floats, Floats]:
    """P(F = 1) and the mean of 1/F, where F - 1 is Poisson with the mean `unseen`."""
    unseen = fitted / fraction * (1 - fraction)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(unseen > 0, -np.expm1(-unseen) / unseen, 1.0)
    return np.exp(-unseen), mean


def fit_main_effects(columns: list[Column], alone: Any, wild: bool) -> Floats:
    """The fitted count of each unique's cell if attributes are independent.

    A cell that may be anything (`wild`) leaves its attribute out: all values together have share 1.
    """
    rows = columns[0].codes.size
    fitted = np.full(int(alone.sum()), float(rows))
    for column in columns:
        count = np.bincount(column.codes, minlength=len(column.values) + 1).astype(np.float64)
        share = count / rows
        if wild:
            shown = max(1.0, rows - count[column.missing_code])
            share = count / shown
            share[column.missing_code] = 1.0
        fitted *= share[column.codes[alone]]
    return fitted


def fit_pairwise_effects(columns: list[Column], alone: Any, wild: bool) -> Floats:
    """The same with all two-way interactions, by iterative proportional fitting.

    Where missing cells may be anything, the table is that of the complete records, blown up to
    all, and a hidden cell sums over its attribute.
    """
    shape = tuple(len(column.values) + (not wild and column.has_missing) for column in columns)
    if prod(shape) > tuning.MAX_FITTED_CELLS:
        message = (
            f"the table of these attributes has {prod(shape):,} cells and "
            f"{tuning.MAX_FITTED_CELLS:,} are the most for interactions=2; "
            "take fewer or coarser attributes, or interactions=1."
        )
        raise InvalidInput("population_uniques", [Problem("among", message)])
    rows = columns[0].codes.size
    complete = np.ones(rows, np.bool_)
    if wild:
        for column in columns:
            complete &= column.codes != column.missing_code
        if not complete.any():
            message = "no record shows all of these attributes; interactions=2 needs some that do."
            raise InvalidInput("population_uniques", [Problem("among", message)])
    scale = rows / int(complete.sum())
    fitted = (
        _fit_proportionally([column.codes[complete] for column in columns], shape, rows) * scale
    )
    return _look_up_cells(fitted, columns, alone, wild)


def _fit_proportionally(codes: list[Any], shape: tuple[int, ...], rows: int) -> Floats:
    fitted = np.full(shape, codes[0].size / prod(shape))
    axes = range(len(shape))
    pairs = list(combinations(axes, 2)) or [(0, 0)]
    margins = {}
    for one, two in pairs:
        table = np.zeros((shape[one], shape[two]))
        np.add.at(table, (codes[one], codes[two]), 1)
        margins[one, two] = np.diag(table) if one == two else table
    for _ in range(tuning.MAX_FITTING_ROUNDS):
        furthest = 0.0
        for (one, two), margin in margins.items():
            others = tuple(axis for axis in axes if axis not in (one, two))
            current = fitted.sum(axis=others)
            furthest = max(furthest, float(np.abs(current - margin).max()))
            ratio = np.divide(margin, current, out=np.zeros_like(current), where=current > 0)
            fitted *= np.expand_dims(ratio, others)
        if furthest <= tuning.FITTING_TOLERANCE * rows:
            break
    return fitted


def _look_up_cells(table: Floats, columns: list[Column], alone: Any, wild: bool) -> Floats:
    """The count of each unique's cell, summed over what it hides."""
    codes = np.stack([column.codes[alone].astype(np.int64) for column in columns])
    if not wild:
        shown: Floats = table[tuple(codes)]
        return shown
    counts = np.zeros(codes.shape[1])
    missing = np.array([column.missing_code for column in columns])[:, None]
    hidden = codes == missing
    for mask in np.unique(hidden, axis=1).T:
        those = np.flatnonzero((hidden == mask[:, None]).all(axis=0))
        margin = table.sum(axis=tuple(np.flatnonzero(mask).tolist())) if mask.any() else table
        counts[those] = margin[tuple(codes[~mask][:, those])] if not mask.all() else margin
    return counts


def compute_negative_binomial_chances(
    size: Ints, fraction: float, cells: float, *, records: int, covered: Floats
) -> tuple[Floats, Floats]:
    """P(F = 1) and the mean of 1/F of each sample unique.

    Moments of the sample's frequencies over all cells give the gamma's shape. Where some of the
    records have no cell of their own, those of the others are thinned, which leaves the shape as
    it is. A unique that covers several cells has the sum of their gammas.
    """
    if cells < size.size:
        message = f"{cells:,.0f} combinations cannot hold the {size.size:,} that occur."
        raise InvalidInput("population_uniques", [Problem("cells", message)])
    mean = float(size.sum()) / cells
    variance = float((size.astype(np.float64) ** 2).sum()) / cells - mean**2
    # No more spread than chance gives: all cells are alike, which a large shape says.
    shape = mean**2 / (variance - mean) if variance > mean else tuning.ALIKE_SHAPE
    rate = shape / (records / cells / fraction)
    only = (rate + fraction) / (rate + 1)
    shapes = shape * covered
    unique = only ** (shapes + 1)
    if only >= 1:
        return unique, np.ones(covered.size)
    return unique, (only - unique) / ((1 - only) * shapes)


def count_values(column: Column, missing_is_value: bool) -> int:
    """How many values an attribute can have, missing included if it occurs and is one."""
    return max(1, column.cardinality if missing_is_value else len(column.values))
