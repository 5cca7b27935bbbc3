"""Limits of a recoding: those that classes of units tell, and those that need the records.

A limit on classes becomes a test of units (`class_tests`), which takes microseconds for each
combination of levels. Whatever else can be said of single records (individual risk, SUDA, links, a
list of the population) is measured on the recoded records, and who is over is removed. Averages,
models of the population and attacks of adversaries are figures of the whole: a combination of
levels meets them or does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from divulge.assessment import Limit, Outcome
from divulge.classes.people import find_people
from divulge.data import Dataset
from divulge.data.column import find_hidden_cells
from divulge.protection.changes.changes import select_records
from divulge.protection.changes.recodings import coarsen_to_levels
from divulge.protection.limits.per_record import Goal
from divulge.protection.recoding.class_tests import (
    ClassTest,
    DistinctTest,
    SizeTest,
    ValueSharesTest,
)
from divulge.protection.recoding.lattice import GeneralisationLattice
from divulge.records.risk.class_measures.sensitive_classes import (
    CountingRules,
    SensitiveClasses,
    find_sensitive_attribute,
)
from divulge.records.risk.measure_spec import judge_average_risk
from divulge.records.risk.null_readings import DEFAULT_NULLS
from divulge.records.risk.population.recoded_population import recode_population
from divulge.records.risk.registry import MEASURES
from divulge.work.arrays import Bools, Ints

_COUNTED_OPTIONS = {"among", "nulls", "c", "records_known", "distance", "order"}
"""Options under which a limit can be told from units; with others, records are measured."""


@dataclass(frozen=True, kw_only=True)
class RecodingLimits:
    """Limits by how they are judged."""

    counted: tuple[Goal, ...] = ()
    """Told from classes of units."""
    measured: tuple[Goal, ...] = ()
    """Measured on records, of which those that are over can be removed."""
    figures: tuple[Goal, ...] = ()
    """Figures of the whole."""
    models: tuple[Limit, ...] = ()
    """Figures of the whole that are no risk of records: models of the population."""

    @property
    def are_of_classes(self) -> bool:
        """Whether all are limits on classes or records: then the best levels can be proved."""
        return not self.figures and not self.models

    @property
    def are_counted(self) -> bool:
        """Whether units tell all of them."""
        return self.are_of_classes and not self.measured


def sort_limits(
    dataset: Dataset, goals: Sequence[Goal], models: Sequence[Limit] = ()
) -> RecodingLimits:
    """Which limits are told from units, and which need the records."""
    of_units, measured, figures = [], [], []
    has_people = find_people(dataset) is not None
    for goal in goals:
        measure = MEASURES.get(goal.limit.measure)
        if measure is None or measure.figure is judge_average_risk:
            figures.append(goal)
        elif not has_people and _is_told_by_units(dataset, goal):
            of_units.append(goal)
        else:
            measured.append(goal)
    return RecodingLimits(
        counted=tuple(of_units),
        measured=tuple(measured),
        figures=tuple(figures),
        models=tuple(models),
    )


def _is_told_by_units(dataset: Dataset, goal: Goal) -> bool:
    limit = goal.limit
    if (
        goal.clusters is not None
        or goal.thresholds is not None
        or set(limit.options) - _COUNTED_OPTIONS
    ):
        return False
    columns = [dataset.columns[name] for name in goal.among]
    if any(np.any(find_hidden_cells(column)) for column in columns):
        return False
    # To who weighs, and where it is a value, absence is a value; else nothing may be absent.
    if goal.nulls not in (DEFAULT_NULLS, "value") and any(c.has_missing for c in columns):
        return False
    measure = MEASURES[limit.measure]
    return goal.is_count_limit or measure.is_one_over_size or measure.class_figure is not None


def list_told_attributes(dataset: Dataset, limits: RecodingLimits) -> list[str]:
    """The sensitive attributes that must tell units apart."""
    return list(
        dict.fromkeys(
            find_sensitive_attribute(dataset, goal.limit.attribute)
            for goal in limits.counted
            if MEASURES[goal.limit.measure].of_attribute
        )
    )


def build_class_tests(
    dataset: Dataset, lattice: GeneralisationLattice, limits: RecodingLimits
) -> list[ClassTest]:
    """The limits that units tell, as tests of classes."""
    first = np.zeros(lattice.units, np.int64)
    first[lattice.unit_of_record[::-1]] = np.arange(dataset.rows - 1, -1, -1)
    tests: list[ClassTest] = []
    for goal in limits.counted:
        limit = goal.limit
        if goal.is_count_limit:
            tests.append(SizeTest(goal.among, limit.bound - 1e-9))
        elif MEASURES[limit.measure].is_one_over_size:
            tests.append(SizeTest(goal.among, ceil(1 / max(limit.bound, 1e-12) - 1e-9)))
        else:
            tests += _build_sensitive_tests(dataset, goal, first)
    return tests


def _build_sensitive_tests(dataset: Dataset, goal: Goal, first: Ints) -> list[ClassTest]:
    limit = goal.limit
    measure = MEASURES[limit.measure]
    name = find_sensitive_attribute(dataset, limit.attribute)
    column = dataset.columns[name]
    values, value_count = column.codes[first].astype(np.int64), len(column.values) + 1
    if measure.distinct_values == "counted":
        return [
            DistinctTest(
                among=goal.among, least=limit.bound, values=values, value_count=value_count
            )
        ]
    assert measure.class_figure is not None  # noqa: S101  # sorted so
    figure = measure.class_figure(dataset, name, goal.among, limit.options)

    def is_failing(of_class: Ints, code: Ints, count: Ints, classes: int) -> Bools:
        overall = np.bincount(code, count, value_count)
        sensitive = SensitiveClasses(
            attribute=name,
            column=column,
            of_record=np.empty(0, np.int64),
            size=np.bincount(of_class, count, classes).astype(np.int64),
            of_class=of_class,
            code=code,
            count=count,
            overall=overall / float(overall.sum()),
            counting=CountingRules(attributes=goal.among),
        )
        return np.asarray(limit.is_broken_by(figure(sensitive)))

    tests: list[ClassTest] = [
        ValueSharesTest(
            among=goal.among, values=values, value_count=value_count, is_failing=is_failing
        )
    ]
    if measure.distinct_values == "implied":
        # What it implies prunes: as diverse as l values are, a class has at least l of them.
        tests.insert(
            0,
            DistinctTest(
                among=goal.among,
                least=ceil(limit.bound - 1e-9),
                values=values,
                value_count=value_count,
            ),
        )
    return tests


@dataclass(frozen=True, kw_only=True)
class RecordMeasurer:
    """Limits that need the records: measured on the records that are left, at their levels."""

    dataset: Dataset
    names: tuple[str, ...]
    limits: RecodingLimits

    def find_failing_records(self, levels: Sequence[int], alive: Ints) -> Ints:
        """Records that are left and over a limit."""
        released, original = self._select(levels, alive)
        at_risk = np.zeros(alive.size, np.bool_)
        for goal in self.limits.measured:
            at_risk |= goal.measure_standing(released, original, alive).at_risk
        return alive[at_risk]

    def holds(self, levels: Sequence[int], alive: Ints) -> bool:
        """Whether the figures of the whole keep to their limits."""
        if not self.limits.figures and not self.limits.models:
            return True  # of many records, the selection takes more memory than they do
        released, original = self._select(levels, alive)
        return all(
            goal.measure_standing(released, original, alive).held for goal in self.limits.figures
        ) and all(judge_model(limit, released, original).held for limit in self.limits.models)

    def _select(self, levels: Sequence[int], alive: Ints) -> tuple[Dataset, Dataset]:
        coarse = coarsen_to_levels(self.dataset, dict(zip(self.names, levels, strict=True)))
        if alive.size == self.dataset.rows:
            return coarse, self.dataset
        return select_records(coarse, alive), select_records(self.dataset, alive)


def judge_model(limit: Limit, released: Dataset, original: Dataset) -> Outcome:
    """Whether a figure of the population keeps to its limit; a list of it is read as coarsely."""
    population = limit.options.get("population")
    if isinstance(population, Dataset):
        limit = limit.with_options(population=recode_population(population, original, released))
    measurement: Any = MEASURES[limit.measure].of(released, limit)
    return limit.judge_measurement(measurement, released.name)
