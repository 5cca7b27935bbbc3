"""How many uniques of a sample are unique in the population: two models, both estimates.

Only the sample is seen. A log-linear model smooths its table of quasi-identifiers (Skinner &
Shlomo 2008): each cell of the population is Poisson with a fitted mean, so what the sample has
not seen of a cell is Poisson too. The negative binomial model takes the means of all cells to be
gamma distributed (Bethlehem, Keller & Pannekoek 1990).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from math import fsum, prod
from typing import Any, Literal, TypeAlias

import numpy as np

from divulge.assessment import Claim
from divulge.data import Column, Dataset
from divulge.records.alike import FloatArray, classes
from divulge.records.weighing import sampling_weights
from divulge.work import InvalidInput, Problem

Model: TypeAlias = Literal["log_linear", "negative_binomial"]

MOST_CELLS = 20_000_000
ROUNDS = 200
CLOSE_ENOUGH = 1e-8


@dataclass(frozen=True)
class PopulationUniques:
    """What a model says of the uniques of a sample; all of it is estimated.

    `population_uniques`: how many sample uniques are unique in the population as well.
    `correct_matches`: how many right matches to expect if every sample unique is matched with
    somebody of the population who looks like it.
    """

    model: Model
    sample_uniques: int
    population_uniques: float
    correct_matches: float
    sampling_fraction: float
    claim: Claim = "estimate"

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values."""
        return {
            "model": self.model,
            "sample_uniques": self.sample_uniques,
            "population_uniques": self.population_uniques,
            "correct_matches": self.correct_matches,
            "sampling_fraction": self.sampling_fraction,
            "claim": self.claim,
        }

    def __str__(self) -> str:
        return (
            f"Of {self.sample_uniques:,} uniques of the sample, about "
            f"{self.population_uniques:,.1f} are unique in the population and about "
            f"{self.correct_matches:,.1f} would be matched right: estimates of a "
            f"{self.model.replace('_', ' ')} model."
        )


def population_uniques(
    dataset: Dataset,
    model: Model = "log_linear",
    sampling_fraction: float | None = None,
    among: str | Iterable[str] | None = None,
    interactions: Literal[1, 2] = 1,
    cells: float | None = None,
) -> PopulationUniques:
    """Estimate how many uniques of a sample are unique in the population.

    Args:
        dataset: the sample.
        model: `log_linear` or `negative_binomial`.
        sampling_fraction: the share that was sampled; by default records over sum of weights.
        among: the attributes to consider; all quasi-identifiers if none are given.
        interactions: of the log-linear model: 1 for main effects, 2 for all pairs.
        cells: of the negative binomial: how many combinations there can be (default: all).

    >>> import divulge as dv
    >>> companies = dv.datasets.inflation_and_growth(2000, balance="U")
    >>> found = population_uniques(companies)
    >>> found.sample_uniques, round(found.population_uniques, 2), found.claim
    (56, 0.0, 'estimate')
    """
    names = dataset.attributes(among, "among")
    columns = [dataset.columns[name] for name in names]
    fraction = _fraction(dataset, sampling_fraction)
    if model not in ("log_linear", "negative_binomial"):
        message = f'"{model}" is not a population model.'
        problem = Problem("model", message, model, ["log_linear", "negative_binomial"])
        raise InvalidInput("population_uniques", [problem])
    of_record = classes(
        [column.codes for column in columns], [_card(c) for c in columns], dataset.rows
    )
    size = np.bincount(of_record)
    alone = size[of_record] == 1
    if model == "log_linear":
        unique, right = _log_linear(columns, alone, fraction, interactions)
    else:
        possible = float(prod(_card(column) for column in columns)) if cells is None else cells
        unique, right = _negative_binomial(size, fraction, possible)
    return PopulationUniques(model, int(alone.sum()), unique, right, fraction)


def _log_linear(
    columns: list[Column], alone: Any, fraction: float, interactions: int
) -> tuple[float, float]:
    """Sums over sample uniques of P(F = 1) and of the mean of 1/F; mean of F - 1 is `unseen`."""
    fitted = _independent(columns, alone) if interactions == 1 else _pairs(columns, alone)
    unseen = fitted / fraction * (1 - fraction)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(unseen > 0, -np.expm1(-unseen) / unseen, 1.0)
    return fsum(np.exp(-unseen)), fsum(mean)


def _independent(columns: list[Column], alone: Any) -> FloatArray:
    """The fitted count of each unique's cell if attributes are independent."""
    rows = columns[0].codes.size
    fitted = np.full(int(alone.sum()), float(rows))
    for column in columns:
        share = np.bincount(column.codes, minlength=_card(column)) / rows
        fitted *= share[column.codes[alone]]
    return fitted


def _pairs(columns: list[Column], alone: Any) -> FloatArray:
    """The same with all two-way interactions, by iterative proportional fitting."""
    shape = tuple(_card(column) for column in columns)
    if prod(shape) > MOST_CELLS:
        message = (
            f"the table of these attributes has {prod(shape):,} cells and {MOST_CELLS:,} are the "
            "most for interactions=2; take fewer or coarser attributes, or interactions=1."
        )
        raise InvalidInput("population_uniques", [Problem("among", message)])
    rows = columns[0].codes.size
    fitted = np.full(shape, rows / prod(shape))
    axes = range(len(shape))
    pairs = list(combinations(axes, 2)) or [(0, 0)]
    margins = {}
    for one, two in pairs:
        table = np.zeros((shape[one], shape[two]))
        np.add.at(table, (columns[one].codes, columns[two].codes), 1)
        margins[one, two] = np.diag(table) if one == two else table
    for _ in range(ROUNDS):
        furthest = 0.0
        for (one, two), wanted in margins.items():
            others = tuple(axis for axis in axes if axis not in (one, two))
            now = fitted.sum(axis=others)
            furthest = max(furthest, float(np.abs(now - wanted).max()))
            ratio = np.divide(wanted, now, out=np.zeros_like(now), where=now > 0)
            fitted *= np.expand_dims(ratio, others)
        if furthest <= CLOSE_ENOUGH * rows:
            break
    found: FloatArray = fitted[tuple(column.codes[alone] for column in columns)]
    return found


def _negative_binomial(size: Any, fraction: float, cells: float) -> tuple[float, float]:
    """Moments of the sample's frequencies over all cells give the gamma's shape."""
    if cells < size.size:
        message = f"{cells:,.0f} combinations cannot hold the {size.size:,} that occur."
        raise InvalidInput("population_uniques", [Problem("cells", message)])
    mean = float(size.sum()) / cells
    variance = float((size.astype(np.float64) ** 2).sum()) / cells - mean**2
    # No more spread than chance gives: all cells are alike, which a large shape says.
    shape = mean**2 / (variance - mean) if variance > mean else 1e9
    uniques = float((size == 1).sum())
    rate = shape / (mean / fraction)
    only = (rate + fraction) / (rate + 1)
    unique = uniques * only ** (shape + 1)
    if only >= 1:
        return unique, uniques
    return unique, uniques * (only - only ** (shape + 1)) / ((1 - only) * shape)


def _fraction(dataset: Dataset, given: float | None) -> float:
    if given is None:
        weights = sampling_weights(dataset)
        if weights is None:
            message = "is needed, because no attribute has the role weight."
            raise InvalidInput("population_uniques", [Problem("sampling_fraction", message)])
        return dataset.rows / float(weights.sum())
    if not 0 < given <= 1:
        message = f"{given:g} is not a share above 0 and up to 1."
        raise InvalidInput("population_uniques", [Problem("sampling_fraction", message)])
    return given


def _card(column: Column) -> int:
    return max(1, column.cardinality)
