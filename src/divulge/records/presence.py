"""Against a population: k-map, delta-presence, and what journalists and prosecutors find.

An adversary who has a list of the population looks for a record in it. k-map: how many of the
population look like each record (Sweeney 2002). Delta-presence: the chance that somebody of the
population is in the release at all (Nergiz, Atzori & Clifton 2007). The prosecutor knows that her
victim is in the release, the journalist does not and wants any one, the marketer wants as many as
possible (El Emam & Dankar 2008).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from divulge.data import Dataset
from divulge.records.alike import (
    FloatArray,
    IntArray,
    classes,
    keys,
    sums_of_equals,
    weighed_count,
)
from divulge.records.class_measure import ClassMeasure
from divulge.records.frequencies import Nulls, frequencies
from divulge.records.record_risk import DEFAULT_THRESHOLD, RecordRisk
from divulge.records.weighing import sampling_weights, weights_or_ones
from divulge.work import InvalidInput, Problem

Names = str | Iterable[str] | None


@dataclass(frozen=True)
class Matched:
    """Classes of the population: how many of it and of the release are in each."""

    population: FloatArray
    sample: FloatArray
    of_record: IntArray


def k_map(dataset: Dataset, population: Dataset | None = None, among: Names = None) -> ClassMeasure:
    """How many of the population look like the records of each class; the least is k.

    Args:
        dataset: the records of the release.
        population: the list that the adversary has; if None, the sampling weights stand for it.
        among: the attributes that both have; all quasi-identifiers of the release if none given.

    >>> import divulge as dv
    >>> k_map(dv.datasets.inflation_and_growth_example(), among="Area").value
    728.0
    """
    if population is None:
        columns = [dataset.columns[name] for name in dataset.attributes(among, "among")]
        codes = [column.codes for column in columns]
        of_record = classes(codes, [len(c.values) + 1 for c in columns], dataset.rows)
        size = np.bincount(of_record)
        weight = weighed_count(of_record, weights_or_ones(dataset), size.size)
        return ClassMeasure("k_map", weight, of_record, size, dataset, "lowest")
    found_in = match(dataset, population, among)
    held = found_in.sample > 0
    place = np.cumsum(held) - 1
    of_record = place[found_in.of_record].astype(np.int64)
    size = np.bincount(of_record)
    return ClassMeasure("k_map", found_in.population[held], of_record, size, dataset, "lowest")


def delta_presence(dataset: Dataset, population: Dataset, among: Names = None) -> ClassMeasure:
    """The chance, for each class of the population, that somebody of it is in the release.

    The release is delta-present for the lowest and the highest of these chances; `value` is the
    highest, and `classes.min()` the lowest.

    >>> import pyarrow as pa
    >>> town = Dataset.from_arrow(pa.table({"age": [1, 1, 2, 3]}))
    >>> ill = Dataset.from_arrow(pa.table({"age": [1, 2]}))
    >>> delta_presence(ill, town, among="age").classes.tolist()
    [0.5, 1.0, 0.0]
    """
    found = match(dataset, population, among)
    size = found.sample.astype(np.int64)
    chance = found.sample / found.population
    return ClassMeasure("delta_presence", chance, found.of_record, size, dataset, "highest")


def match(dataset: Dataset, population: Dataset, among: Names = None) -> Matched:
    """The classes of a population, and how many records of a release are in each.

    Raises:
        InvalidInput: if a record of the release is not in the population, with counts.
    """
    names = dataset.attributes(among, "among")
    population.attributes(names, "among")
    columns, cardinalities = [], []
    for name in names:
        mine, theirs = dataset.columns[name], population.columns[name]
        place = {value: code for code, value in enumerate(theirs.values.to_pylist())}
        fresh = len(theirs.values) + 1
        table = [place.get(value, fresh) for value in mine.values.to_pylist()]
        recoded = np.array([*table, theirs.missing_code], np.int64)[mine.codes]
        columns.append(np.concatenate([theirs.codes.astype(np.int64), recoded]))
        cardinalities.append(fresh + 1)
    joint, size = keys(columns, cardinalities, population.rows + dataset.rows)
    listed, asked = joint[: population.rows], joint[population.rows :]
    values, inverse = np.unique(listed, return_inverse=True)
    [there] = sums_of_equals(asked, listed, size, [np.ones(listed.size)])
    lost = int((there == 0).sum())
    if lost:
        message = (
            f"{lost:,} of {dataset.rows:,} {dataset.subjects} look like nobody of the population; "
            "the population must hold everybody of the release."
        )
        raise InvalidInput(f'dataset "{dataset.name}"', [Problem("population", message)])
    of_record = np.searchsorted(values, asked).astype(np.int64)
    counts = np.bincount(inverse.reshape(-1), minlength=values.size).astype(np.float64)
    mine_in = np.bincount(of_record, minlength=values.size).astype(np.float64)
    return Matched(counts, mine_in, of_record)


def prosecutor_risk(dataset: Dataset, among: Names = None, nulls: Nulls = "maybe") -> RecordRisk:
    """The risk if the adversary knows that her victim is in the release: 1/f.

    >>> import divulge as dv
    >>> prosecutor_risk(dv.datasets.inflation_and_growth_example(), among="Area").highest
    0.2
    """
    return frequencies(dataset, nulls, among=among).risk()


def journalist_risk(
    dataset: Dataset, population: Dataset | None = None, among: Names = None
) -> RecordRisk:
    """The risk if she does not know it and looks in the population: 1/F.

    >>> import divulge as dv
    >>> round(1 / journalist_risk(dv.datasets.inflation_and_growth_example(), among="Area").highest)
    728
    """
    estimated = population is None and sampling_weights(dataset) is not None
    return RecordRisk(
        1 / np.maximum(k_map(dataset, population, among).values, 1),
        "journalist_risk",
        dataset,
        tuple(dataset.attributes(among, "among")),
        "estimate" if estimated else "exact",
    )


def three_attackers(
    dataset: Dataset,
    population: Dataset | None = None,
    among: Names = None,
    threshold: float = DEFAULT_THRESHOLD,
) -> dict[str, dict[str, Any]]:
    """Prosecutor, journalist and marketer: highest, average, and records above a threshold.

    The marketer wants many, so only her average counts: the prosecutor's if she holds the whole
    release, the journalist's if she holds the population; here the latter.

    >>> import divulge as dv
    >>> found = three_attackers(dv.datasets.inflation_and_growth_example(), among="Area")
    >>> sorted(found), found["prosecutor"]["above_threshold"]
    (['journalist', 'marketer', 'prosecutor'], 0)
    """
    prosecutor = prosecutor_risk(dataset, among)
    journalist = journalist_risk(dataset, population, among)
    return {
        "prosecutor": _three(prosecutor, threshold),
        "journalist": _three(journalist, threshold),
        "marketer": {"average": journalist.average, "claim": journalist.claim},
    }


def _three(risk: RecordRisk, threshold: float) -> dict[str, Any]:
    return {
        "highest": risk.highest,
        "average": risk.average,
        "threshold": threshold,
        "above_threshold": risk.above(threshold),
        "claim": risk.claim,
    }
