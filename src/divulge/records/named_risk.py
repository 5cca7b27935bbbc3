"""Every measure of risk by its name: what the attack `risk` and `divulge risk` ask for.

All answers have the same shape: a column per record, a summary, an assessment, a chart, `by`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field

from divulge.assessment import Assessment
from divulge.data import Dataset
from divulge.records.anonymity import anonymity_of_each
from divulge.records.closeness import Distance, t_closeness
from divulge.records.clusters import household_risk
from divulge.records.continuous import distance_linkage, interval_disclosure
from divulge.records.disclosure_risk import Named, disclosure_risk
from divulge.records.diversity import (
    beta_likeness,
    distinct_l_diversity,
    entropy_l_diversity,
    recursive_l_diversity,
)
from divulge.records.equivalence import Count
from divulge.records.frequencies import Nulls
from divulge.records.individual_risk import Method, individual_risk, reidentification_risk
from divulge.records.population_models import Model, PopulationUniques, population_uniques
from divulge.records.presence import (
    delta_presence,
    journalist_risk,
    k_map,
    marketer_risk,
    prosecutor_risk,
)
from divulge.records.record_risk import DEFAULT_THRESHOLD, RecordRisk
from divulge.records.suda import Suda, suda

if TYPE_CHECKING:
    from divulge.records.class_measure import ClassMeasure

Kind: TypeAlias = Literal[
    "individual",
    "reidentification",
    "disclosure",
    "household",
    "prosecutor",
    "journalist",
    "marketer",
    "suda",
    "population_uniques",
    "k_anonymity",
    "k_map",
    "delta_presence",
    "distinct_l_diversity",
    "entropy_l_diversity",
    "recursive_l_diversity",
    "t_closeness",
    "beta_likeness",
    "interval_disclosure",
    "distance_linkage",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

OF_POPULATION: tuple[Kind, ...] = ("journalist", "marketer", "k_map", "delta_presence")
"""Measures whose second dataset is a list of the population."""

OF_MASKED: tuple[Kind, ...] = ("interval_disclosure", "distance_linkage")
"""Measures of masked numbers, which compare with the original."""

OF_CLASSES: tuple[Kind, ...] = (
    "distinct_l_diversity",
    "entropy_l_diversity",
    "recursive_l_diversity",
    "t_closeness",
    "beta_likeness",
)
"""Measures of what classes give away of a sensitive attribute."""

Found: TypeAlias = "RecordRisk | ClassMeasure | Suda | PopulationUniques"


class RiskQuestion(BaseModel):
    """Which risk, of which attributes, counted how."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    measure: Kind = Field("individual", description="Which risk of records.")
    knows: str | list[str] | None = Field(
        None, description="The attributes to consider; all quasi-identifiers if not given."
    )
    seeks: str | None = Field(None, description="The sensitive attribute, of classes.")
    method: Method = Field("approximate", description="How individual risk is computed.")
    aggregate: Named = Field("sum", description="Of the weights of those alike: disclosure.")
    nulls: Nulls = Field("maybe", description="What a missing value may stand for.")
    count: Count = Field("records", description="In classes: records, or the population.")
    distance: Distance = Field("equal", description="Of t_closeness.")
    c: float = Field(3, gt=0, description="Of recursive_l_diversity.")
    model: Model = Field("log_linear", description="Of population_uniques.")
    sampling_fraction: float | None = Field(
        None, gt=0, le=1, description="Of DIS-SUDA (0.01 if not given) and population_uniques."
    )
    max_size: int | None = Field(None, ge=1, description="Most attributes of a minimal unique.")
    width: float = Field(0.05, ge=0, description="Of interval_disclosure.")
    threshold: float = Field(DEFAULT_THRESHOLD, ge=0, le=1, description="Records at risk.")


def measured_risk(asked: RiskQuestion, dataset: Dataset, other: Dataset | None = None) -> Found:
    """The risk that is asked for; `other` is the original or the population.

    >>> import divulge as dv
    >>> asked = RiskQuestion(measure="prosecutor", knows="Area")
    >>> measured_risk(asked, dv.datasets.inflation_and_growth_example()).highest
    0.2
    """
    knows, nulls, seeks, count = asked.knows, asked.nulls, asked.seeks, asked.count
    original = None if asked.measure in OF_POPULATION else other
    tail = (nulls, count, original)
    ways: Mapping[Kind, Callable[[], Found]] = {
        "individual": lambda: individual_risk(dataset, asked.method, knows, nulls, original),
        "reidentification": lambda: reidentification_risk(dataset, knows, nulls, original),
        "disclosure": lambda: disclosure_risk(
            dataset, asked.aggregate, knows, nulls, original
        ),
        "household": lambda: household_risk(dataset, asked.method, knows, nulls, original),
        "prosecutor": lambda: prosecutor_risk(dataset, knows, nulls, original),
        "journalist": lambda: journalist_risk(dataset, other, knows, nulls),
        "marketer": lambda: marketer_risk(dataset, other, knows, nulls),
        "suda": lambda: suda(
            dataset, asked.max_size, asked.sampling_fraction or 0.01, knows, _two(nulls)
        ),
        "population_uniques": lambda: population_uniques(
            dataset, asked.model, asked.sampling_fraction, knows, nulls=nulls
        ),
        "k_anonymity": lambda: anonymity_of_each(dataset, knows, *tail),
        "k_map": lambda: k_map(dataset, other, knows, nulls),
        "delta_presence": lambda: delta_presence(dataset, _given(other), knows, nulls),
        "distinct_l_diversity": lambda: distinct_l_diversity(dataset, seeks, knows, *tail),
        "entropy_l_diversity": lambda: entropy_l_diversity(dataset, seeks, knows, *tail),
        "recursive_l_diversity": lambda: recursive_l_diversity(
            dataset, seeks, knows, asked.c, *tail
        ),
        "t_closeness": lambda: t_closeness(
            dataset, seeks, knows, asked.distance, None, *tail
        ),
        "beta_likeness": lambda: beta_likeness(dataset, seeks, knows, *tail),
        "interval_disclosure": lambda: interval_disclosure(
            _given(other), dataset, knows or [], asked.width
        ),
        "distance_linkage": lambda: distance_linkage(_given(other), dataset, knows or []),
    }  # fmt: skip
    return ways[asked.measure]()


def assessed(found: Found, threshold: float) -> Assessment:
    """The assessment of a risk; records at risk are those above a threshold."""
    return found.assessment(threshold) if isinstance(found, RecordRisk) else found.assessment()


def _two(nulls: Nulls) -> Literal["maybe", "value"]:
    return "value" if nulls == "value" else "maybe"


def _given(other: Dataset | None) -> Dataset:
    assert other is not None  # noqa: S101  # whoever asks has checked that there are two datasets
    return other
