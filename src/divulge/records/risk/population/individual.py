"""Individual risk (Benedetti-Franconi): the chance that a record's owner is found, from a sample.

An adversary finds a record's combination in a register of the population; there it is F times,
so they are right with chance 1/F. F is unknown; given the f records of the sample it is taken to
follow a negative binomial distribution with success probability p = f / (sum of weights), and
the risk is the mean of 1/F (Benedetti & Franconi 1998; Franconi & Polettini 2004).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

import numpy as np

from divulge.assessment import Sentence
from divulge.classes.people import require_one_record_each
from divulge.classes.population_size import is_sample
from divulge.data import Dataset
from divulge.records import tuning
from divulge.records.risk.frequencies.figures_on_demand import SentencesOnDemand
from divulge.records.risk.frequencies.frequencies import frequencies
from divulge.records.risk.null_readings import Nulls
from divulge.records.risk.record_risk import RecordRisk
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Floats

Method: TypeAlias = Literal["approximate", "exact", "ratio"]
METHODS: tuple[Method, ...] = get_args(Method)


def individual_risk(
    dataset: Dataset,
    method: Method = "approximate",
    among: str | Iterable[str] | None = None,
    nulls: Nulls = "bayes",
    original: Dataset | None = None,
) -> RecordRisk:
    """The chance that each record's owner is found in the population.

    Args:
        dataset: the records, with a sampling weight if they are a sample.
        method: `approximate` (Benedetti-Franconi, the usual three formulas), `exact` (the mean of
            1/F itself), or `ratio` (frequency over weights: Bellomarini et al., Algorithm 5).
        among: the attributes to consider; all quasi-identifiers if none are given.
        nulls: what a missing value may stand for.
        original: the records before protection, for `nulls="known"` and `"bayes"`.

    >>> import divulge as dv
    >>> companies = dv.datasets.inflation_and_growth_example()
    >>> risk = individual_risk(companies, "exact", among=["Area", "Sector"])
    >>> risk.values[:4].round(4).tolist()
    [0.0237, 0.0037, 0.0039, 0.0033]
    """
    if method not in METHODS:
        message = f'"{method}" is not a method of individual risk.'
        problem = Problem("method", message, value=method, allowed=METHODS)
        raise InvalidInput("individual_risk", [problem])
    require_one_record_each(dataset, "individual risk estimates the population from records")
    counts = frequencies(dataset, nulls, among=among, original=original)
    # The weight of the likeliest row may be small; a combination is there as often as it is seen.
    population = np.maximum(counts.population, counts.sample)
    pairs, inverse = np.unique(
        np.stack([counts.sample.astype(np.float64), population]), axis=1, return_inverse=True
    )
    risk = {"approximate": approximate_risk, "exact": exact_risk, "ratio": ratio_risk}[method]
    is_sampled = is_sample(dataset)
    notes = () if is_sampled else (Sentence("divulge.records", "risk.unweighted"),)
    return RecordRisk(
        values=risk(pairs[0], pairs[1])[inverse.reshape(-1)],
        number=counts.number,
        nulls=counts.nulls,
        measure="individual_risk",
        dataset=dataset,
        attributes=counts.attributes,
        claim="estimate" if is_sampled or counts.weighed else "exact",
        notes=SentencesOnDemand(lambda: (*notes, *counts.flattery())),
        figures=counts.side_by_side(),
        detail=method,
    )


def reidentification_risk(
    dataset: Dataset,
    among: str | Iterable[str] | None = None,
    nulls: Nulls = "bayes",
    original: Dataset | None = None,
) -> RecordRisk:
    """One over the sum of the weights of those who look alike (Bellomarini et al., Eq. 1).

    For other aggregates than the sum see `disclosure_risk`.

    >>> import divulge as dv
    >>> risk = reidentification_risk(dv.datasets.inflation_and_growth_example())
    >>> int(risk.values.argmax()) + 1, int(risk.values.argmin()) + 1
    (15, 7)
    """
    require_one_record_each(dataset, "reidentification risk adds up the weights of records")
    counts = frequencies(dataset, nulls, among=among, original=original)
    is_sampled = is_sample(dataset)
    return RecordRisk(
        values=1 / np.maximum(counts.population, 1),
        number=counts.number,
        nulls=counts.nulls,
        measure="reidentification_risk",
        dataset=dataset,
        attributes=counts.attributes,
        claim="estimate" if is_sampled or counts.weighed else "exact",
        notes=SentencesOnDemand(counts.flattery),
        figures=counts.side_by_side(),
    )


def ratio_risk(frequency: Floats, population: Floats) -> Floats:
    """Frequency in the sample over weight in the population."""
    return frequency / population


def approximate_risk(frequency: Floats, population: Floats) -> Floats:
    """The three formulas: exact for one and two records, close above.

    >>> approximate_risk(np.array([1.0, 3.0]), np.array([1.0, 30.0])).round(4).tolist()
    [1.0, 0.0476]
    """
    share = frequency / population
    return np.where(
        frequency <= 2, exact_risk(frequency, population), share / (frequency - (1 - share))
    )


def exact_risk(frequency: Floats, population: Floats) -> Floats:
    """The mean of 1/F, to the last digits, for any frequency and population.

    It is (p/f) 2F1(1, 1; f+1; 1-p), which is the integral of u^(f-1) / (1 + c u) over [0, 1]
    with c = (1-p)/p. All terms of the series are positive; it is quick where 1-p <= 1/2 or f is
    large. Elsewhere I(1) = ln(1+c)/c and I(f+1) = (1/f - I(f))/c, whose errors shrink as c > 1.

    >>> exact_risk(np.array([1.0, 2.0, 500.0]), np.array([1.0, 2.0, 1e9])).tolist()
    [1.0, 0.5, 1.002004...e-09]
    """
    share = frequency / population
    whole = frequency == np.rint(frequency)
    by_series = (share >= 0.5) | (frequency >= tuning.LARGE_FREQUENCY)
    risk = np.empty(frequency.shape)
    risk[by_series] = _sum_series(frequency[by_series], share[by_series])
    by_steps = ~by_series & whole
    risk[by_steps] = _run_recurrence(frequency[by_steps], share[by_steps])
    rest = ~by_series & ~whole
    if np.any(rest):
        from scipy.special import hyp2f1

        f, p = frequency[rest], share[rest]
        risk[rest] = p / f * hyp2f1(1.0, 1.0, f + 1, 1 - p)
    return risk


def _sum_series(frequency: Floats, share: Floats) -> Floats:
    term = np.ones(frequency.shape)
    total = np.ones(frequency.shape)
    for k in range(1, tuning.SERIES_TERMS):
        term *= k / (frequency + k) * (1 - share)
        total += term
    return share / frequency * total


def _run_recurrence(frequency: Floats, share: Floats) -> Floats:
    odds = (1 - share) / share
    risk = np.log1p(odds) / odds
    for f in range(1, int(frequency.max(initial=1))):
        risk = np.where(frequency > f, (1 / f - risk) / odds, risk)
    return risk
