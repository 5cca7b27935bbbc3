"""Population uniques by log-linear and negative binomial models: how many of a sample are any.

Only the sample is seen. A log-linear model smooths its table of quasi-identifiers (Skinner &
Shlomo 2008): each cell of the population is Poisson with a fitted mean, so what the sample has
not seen of a cell is Poisson too. The negative binomial model takes the means of all cells to be
gamma distributed (Bethlehem, Keller & Pannekoek 1990).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import fsum, prod
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from divulge.assessment import Assessment, Breakdown, Chart, Claim, Sentence, html
from divulge.classes.keys import assign_classes
from divulge.classes.people import require_one_record_each
from divulge.classes.survey_design import sampling_weights
from divulge.data import Column, Dataset
from divulge.records.risk.frequencies.frequencies import frequencies
from divulge.records.risk.null_readings import Nulls, settle_reading
from divulge.records.risk.population.population_fits import (
    compute_negative_binomial_chances,
    compute_poisson_chances,
    count_values,
    fit_main_effects,
    fit_pairwise_effects,
)
from divulge.records.risk.record_risk import RecordRisk
from divulge.work import InvalidInput, Problem, Problems, checks
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

Model: TypeAlias = Literal["log_linear", "negative_binomial"]
MODELS: tuple[Model, ...] = get_args(Model)


@dataclass(frozen=True, repr=False, kw_only=True)
class PopulationUniques:
    """What a model says of the uniques of a sample; all of it is estimated.

    `unique` is the chance that each record is unique in the population as well, `match` the
    chance that it is matched right with somebody of the population who looks like it. Both are 0
    for whoever is not unique in the sample: the models say nothing of them.
    """

    model: Model
    unique: Floats
    match: Floats
    sample_uniques: int
    sampling_fraction: float
    dataset: Dataset
    attributes: tuple[str, ...]
    nulls: Nulls = "bayes"
    side_by_side: Mapping[str, int] = field(default_factory=dict)
    claim: Claim = "estimate"

    @property
    def population_uniques(self) -> float:
        """How many sample uniques are unique in the population as well."""
        return fsum(self.unique)

    @property
    def correct_matches(self) -> float:
        """How many right matches to expect if every sample unique is matched."""
        return fsum(self.match)

    def risk(self) -> RecordRisk:
        """The probability of a correct match as the risk of each record."""
        return RecordRisk(
            values=self.match,
            measure="population_uniques",
            dataset=self.dataset,
            attributes=self.attributes,
            claim="estimate",
            notes=(self.sentence(),),
            figures={
                "sample_uniques": self.sample_uniques,
                "estimated_population_uniques": self.population_uniques,
                **{f"alone_{way}": count for way, count in self.side_by_side.items()},
            },
            detail=self.model.replace("_", " "),
        )

    def sentence(self) -> Sentence:
        """The two figures, and that a model gives them."""
        sentence_values = {
            "sample": self.sample_uniques,
            "subjects": self.dataset.subjects,
            "population": round(self.population_uniques, 1),
            "right": round(self.correct_matches, 1),
            "model": self.model.replace("_", " "),
        }
        return Sentence("divulge.records", "population.uniques", sentence_values)

    def assessment(self) -> Assessment:
        """Right matches in the currency of all attacks."""
        return self.risk().assessment()

    def by(self, group: str) -> Breakdown:
        """Right matches for every value of an attribute: who bears the risk."""
        return self.risk().by(group)

    def chart(self) -> Chart:
        """How many records have which probability of a correct match."""
        return self.risk().chart()

    def summary(self) -> dict[str, Any]:
        """All figures as plain values; no record."""
        return {
            "measure": "population_uniques",
            "model": self.model,
            "dataset": self.dataset.name,
            "attributes": list(self.attributes),
            "nulls": self.nulls,
            "sample_uniques": self.sample_uniques,
            "population_uniques": self.population_uniques,
            "correct_matches": self.correct_matches,
            "sampling_fraction": self.sampling_fraction,
            "alone_by_semantics": dict(self.side_by_side),
            "claim": self.claim,
        }

    def to_dict(self) -> dict[str, Any]:
        """The summary and the sentences."""
        return {**self.summary(), "sentences": self.explain()}

    def to_arrow(self) -> pa.Table:
        """One row per record: both chances."""
        import pyarrow as pa

        return pa.table({"population_unique": self.unique, "correct_match": self.match})

    def explain(self) -> list[str]:
        """What was found, in sentences."""
        return [str(self.sentence()), str(Sentence("divulge.assessment", "claim.estimate"))]

    def __str__(self) -> str:
        return "\n".join(self.explain())

    def __repr__(self) -> str:
        return (
            f'PopulationUniques({self.model} of "{self.dataset.name}", estimate: '
            f"{self.population_uniques:,.1f} of {self.sample_uniques:,} sample uniques)"
        )

    def _repr_html_(self) -> str:
        return html.render_paragraphs(self.explain())


def population_uniques(
    dataset: Dataset,
    model: Model = "log_linear",
    sampling_fraction: float | None = None,
    among: str | Iterable[str] | None = None,
    interactions: Literal[1, 2] = 1,
    *,
    cells: float | None = None,
    nulls: Nulls = "bayes",
) -> PopulationUniques:
    """Estimate how many uniques of a sample are unique in the population.

    Args:
        dataset: the sample.
        model: `log_linear` or `negative_binomial`.
        sampling_fraction: the share that was sampled; by default records over sum of weights.
        among: the attributes to consider; all quasi-identifiers if none are given.
        interactions: of the log-linear model: 1 for main effects, 2 for all pairs.
        cells: of the negative binomial: how many combinations there can be (default: all).
        nulls: `maybe` (a missing value may be anything) or `value` (it is one of its own); if not
            given, `value`, unless protection has hidden cells: then one must be chosen.

    >>> import divulge as dv
    >>> companies = dv.datasets.inflation_and_growth(2000, balance="U")
    >>> found = population_uniques(companies)
    >>> found.sample_uniques, round(found.population_uniques, 2), found.claim
    (56, 0.0, 'estimate')
    """
    names = dataset.attributes(among, "among")
    columns = [dataset.columns[name] for name in names]
    fraction = _resolve_sampling_fraction(dataset, sampling_fraction)
    problems = Problems("population_uniques")
    if model not in MODELS:
        problems.add("model", f'"{model}" is not a population model.', model, MODELS)
    if interactions not in (1, 2):
        problems.add("interactions", f"{interactions} is not 1 (main effects) or 2 (all pairs).")
    if nulls not in ("maybe", "value", "bayes"):
        message = f'"{nulls}" does not go with a population model.'
        problems.add("nulls", message, nulls, ["maybe", "value"])
    problems.raise_any()
    require_one_record_each(dataset, "models of the population are of records")
    nulls = settle_reading(dataset, names, nulls)
    counts = frequencies(dataset, nulls, among=names)
    alone = counts.sample == 1
    unique, right = np.zeros(dataset.rows), np.zeros(dataset.rows)
    if model == "log_linear":
        fit_cells = fit_main_effects if interactions == 1 else fit_pairwise_effects
        fitted = fit_cells(columns, alone, nulls == "maybe")
        unique[alone], right[alone] = compute_poisson_chances(fitted, fraction)
    else:
        size, covered = _count_combinations(columns, dataset.rows, nulls == "maybe")
        if cells is None:
            cells = float(prod(count_values(column, nulls != "maybe") for column in columns))
        unique[alone], right[alone] = compute_negative_binomial_chances(
            size, fraction, cells, records=dataset.rows, covered=covered[alone]
        )
    return PopulationUniques(
        model=model,
        unique=unique,
        match=right,
        sample_uniques=int(alone.sum()),
        sampling_fraction=fraction,
        dataset=dataset,
        attributes=tuple(names),
        nulls=nulls,
        side_by_side=counts.others,
    )


def _resolve_sampling_fraction(dataset: Dataset, fraction: float | None) -> float:
    if fraction is None:
        weights = sampling_weights(dataset)
        if weights is None:
            message = "is needed, because no attribute has the role weight."
            raise InvalidInput("population_uniques", [Problem("sampling_fraction", message)])
        return dataset.rows / float(weights.sum())
    problems = list(checks.share("sampling_fraction", fraction, zero=False))
    if problems:
        raise InvalidInput("population_uniques", problems)
    return fraction


def _count_combinations(
    columns: list[Column], rows: int, missing_is_any: bool
) -> tuple[Ints, Floats]:
    """How often each combination occurs, and how many each record may have.

    If a missing value may be anything, a record with one has no combination of its own.
    """
    complete, covered = np.ones(rows, np.bool_), np.ones(rows)
    for column in columns if missing_is_any else ():
        missing = column.codes == column.missing_code
        complete &= ~missing
        covered[missing] *= count_values(column, False)
    classes = assign_classes(
        [c.codes[complete] for c in columns],
        [len(c.values) + 1 for c in columns],
        int(complete.sum()),
    )
    return np.bincount(classes), covered
