"""Participation in a sample: what an adversary finds who does not know who took part (weights).

The models take everybody's record to be in the release. Where it is a sample, that is an adversary
who knows who took part; one who does not finds a record's values in the population as often as the
weights tell, and is right as rarely (individual risk). Both stand side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import fsum

import numpy as np

from divulge.assessment import Assessment, Sentence
from divulge.classes.partition import Partition
from divulge.classes.survey_design import sampling_weights
from divulge.data import Dataset
from divulge.records.risk.null_readings import Nulls
from divulge.records.risk.population.individual import approximate_risk, individual_risk
from divulge.work import InvalidInput
from divulge.work.arrays import Floats


def describe_participation(
    assessment: Assessment,
    dataset: Dataset,
    count_found: Callable[[Floats], float] | None,
) -> Assessment:
    """The same assessment; of a sample it says what is assumed, and what is found without it.

    Args:
        assessment: of everybody or of one person of the dataset.
        dataset: with sampling weights, or the assessment stays as it is.
        count_found: given the weights, how many are expected to be found by somebody who does not
            know who took part; None where no record is sought.
    """

    def count_by_weights() -> float:
        weights = sampling_weights(dataset)
        assert weights is not None and count_found is not None  # noqa: S101, PT018  # asked before
        return count_found(weights)

    return describe_expected(assessment, dataset, count_found and count_by_weights)


def describe_expected(
    assessment: Assessment, dataset: Dataset, count_expected: Callable[[], float] | None
) -> Assessment:
    """The same, however it is counted who is expected to be found."""
    if not _has_weights(dataset):
        return assessment
    said = (*assessment.sentences, Sentence("divulge.records", "participation.assumed"))
    if count_expected is None:
        return replace(assessment, sentences=said)
    try:
        expected = count_expected()
    except InvalidInput as error:
        return replace(assessment, sentences=(*said, _describe_unknown(error)))
    total = assessment.secrets
    values = {"right": expected, "total": total, "right_share": expected / total}
    key = "population" if assessment.model.startswith("C") else "person"
    return replace(
        assessment,
        sentences=(*said, Sentence("divulge.records", f"participation.{key}", values)),
        figures={**assessment.figures, "right_in_population": expected},
    )


def describe_sample(
    dataset: Dataset, among: Sequence[str] | None, nulls: Nulls, original: Dataset | None
) -> tuple[Sentence, ...]:
    """The same of records that are counted: nothing, if the data are no sample.

    >>> import divulge as dv
    >>> companies = dv.datasets.inflation_and_growth_example()
    >>> print(describe_sample(companies, ["Area", "Sector"], "bayes", None)[1])
    An adversary who does not know this is expected to identify 0.4 of 20 in the population ...
    """
    if not _has_weights(dataset):
        return ()
    assumed = Sentence("divulge.records", "participation.assumed")
    try:
        risk = individual_risk(dataset, among=among, nulls=nulls, original=original)
    except InvalidInput as error:
        return assumed, _describe_unknown(error)
    values = {"right": risk.expected, "total": dataset.rows, "right_share": risk.average}
    return assumed, Sentence("divulge.records", "participation.population", values)


def _has_weights(dataset: Dataset) -> bool:
    return any(name in dataset.columns for name in dataset.dictionary.having("weight"))


def _describe_unknown(error: InvalidInput) -> Sentence:
    """Why weights do not tell what is found in the population."""
    reason = " ".join(problem.text for problem in error.problems)
    return Sentence("divulge.records", "participation.unknown", {"reason": reason})


def count_found_in_population(classes: Partition, weights: Floats) -> float:
    """How many records are expected to be found by somebody who does not know who took part.

    >>> alike = Partition(np.array([0, 0, 1]), 2)
    >>> round(count_found_in_population(alike, np.array([10.0, 10.0, 1.0])), 3)
    1.165
    """
    sample = np.bincount(classes.of_record, minlength=classes.number).astype(np.float64)
    population = np.bincount(classes.of_record, weights, classes.number)
    seen = sample > 0
    risk = approximate_risk(sample[seen], np.maximum(population[seen], sample[seen]))
    return fsum(sample[seen] * risk)
