"""On how few attributes each record is unique: the size of its smallest minimal sample unique.

Whoever is unique on few attributes is found by somebody who knows little (Bellomarini et al.,
Algorithm 6: a record is risky if it has a minimal sample unique of fewer than k attributes). Where
cells are hidden, a record is unique on a set of attributes if fewer than two records fit it there,
weighed as the reading of a null says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from divulge import work
from divulge.assessment import Assessment, Claim
from divulge.assessment.limit import is_beyond_bound
from divulge.classes.key_codes import encode_keys
from divulge.classes.people import require_one_record_each
from divulge.data import Dataset
from divulge.data.column import find_hidden_cells
from divulge.records.risk.class_measures.class_measure import ClassMeasure
from divulge.records.risk.class_measures.sensitive_classes import CountingRules
from divulge.records.risk.frequencies.frequencies import frequencies
from divulge.records.risk.null_readings import (
    SEMANTICS_OF_ALIKE_NULLS,
    Nulls,
    build_hidden_cells_error,
)
from divulge.records.risk.record_risk import RecordRisk
from divulge.records.risk.uniques.minimal_uniques import MOST_ATTRIBUTES, find_minimal_uniques
from divulge.records.risk.uniques.special_sets import MinimalUniques
from divulge.work import InvalidInput, Problem, checks
from divulge.work.arrays import Bools, Floats

MEASURE = "minimal_unique_size"


@dataclass(frozen=True, repr=False)
class UniqueSizes(ClassMeasure):
    """The size of each record's smallest unique set; `max_size` + 1 if it has none so small."""

    max_size: int

    @property
    def claim(self) -> Claim:
        """Counting is exact; weighing is an estimate."""
        return self.counting.claim

    def risk(self) -> RecordRisk:
        """1 for whoever is unique on few enough attributes, 0 for the others (Algorithm 6)."""
        return RecordRisk(
            values=(self.values <= self.max_size).astype(np.float64),
            measure=MEASURE,
            dataset=self.dataset,
            attributes=self.counting.attributes,
            claim=self.claim,
            notes=self.sentences(),
            figures={MEASURE: self.value},
        )

    def assess(self, chosen: Bools, whole: bool = False) -> Assessment:
        """Whoever knows so many attributes finds the record for certain."""
        return self.risk().of(chosen, whole=whole)


def minimal_unique_size(
    dataset: Dataset,
    max_size: int | None = None,
    among: str | Iterable[str] | None = None,
    nulls: Nulls = "bayes",
    original: Dataset | None = None,
) -> UniqueSizes:
    """On how few attributes each record is unique.

    Args:
        dataset: the records.
        max_size: the most attributes of a set; all if None. Whoever is unique on no such set has
            the figure above it.
        among: the attributes to consider; all quasi-identifiers if none are given.
        nulls: what a missing value may stand for.
        original: the records before protection, for `nulls="known"` and `"bayes"`.

    >>> import divulge as dv
    >>> found = minimal_unique_size(dv.datasets.inflation_and_growth_example())
    >>> found.value, int((found.values <= 2).sum())
    (1.0, 20)
    """
    names = tuple(dataset.attributes(among, "among"))
    problems = []
    if len(names) > MOST_ATTRIBUTES:
        message = f"names {len(names)} attributes; at most {MOST_ATTRIBUTES} can be combined."
        problems.append(Problem("among", message))
    if max_size is not None:
        problems += checks.whole_number("max_size", max_size)
    if problems:
        raise InvalidInput(MEASURE, problems)
    require_one_record_each(dataset, "unique records are looked for")
    largest = len(names) if max_size is None else int(max_size)
    hides = any(np.any(find_hidden_cells(dataset.columns[name])) for name in names)
    absent = any(dataset.columns[name].has_missing for name in names)
    if hides and original is None and nulls in ("known", "bayes"):
        raise build_hidden_cells_error(dataset, names, nulls)
    if hides or (absent and nulls in SEMANTICS_OF_ALIKE_NULLS):
        sizes = _search_by_frequency(dataset, names, largest, nulls=nulls, original=original)
    else:
        sizes = _search_by_value(dataset, names, largest)
    classes, of_record = np.unique(sizes, return_inverse=True)
    of_record = of_record.reshape(-1).astype(np.int64)
    return UniqueSizes(
        measure=MEASURE,
        classes=classes,
        of_record=of_record,
        size=np.bincount(of_record),
        dataset=dataset,
        worst="lowest",
        counting=CountingRules(
            attributes=names, nulls=nulls, original=original, hides=hides, ways=(nulls,)
        ),
        again=lambda other: minimal_unique_size(dataset, max_size, names, other, original).value,
        max_size=largest,
    )


def _search_by_value(dataset: Dataset, names: tuple[str, ...], largest: int) -> Floats:
    """Where nothing is hidden, absence is a value like others, and one search finds all sets."""
    keys = encode_keys(dataset, list(names), absence_apart=True)
    rows = find_minimal_uniques(
        [key.codes for key in keys],
        [key.cardinality for key in keys],
        dataset.rows,
        min(largest, len(names)),
    )
    sizes = np.full(dataset.rows, largest + 1.0)
    np.minimum.at(sizes, rows.record, MinimalUniques(rows, names, dataset.rows).sizes)
    return sizes


def _search_by_frequency(
    dataset: Dataset,
    names: tuple[str, ...],
    largest: int,
    *,
    nulls: Nulls,
    original: Dataset | None,
) -> Floats:
    """Where a cell may be several values: set by set, who is left with fewer than two that fit."""
    sizes = np.full(dataset.rows, largest + 1.0)
    sets = [
        chosen
        for size in range(1, min(largest, len(names)) + 1)
        for chosen in combinations(names, size)
    ]
    with work.step("Looking for what makes records special", len(sets)) as step:
        for chosen in sets:
            counts = frequencies(dataset, nulls, among=chosen, original=original)
            alone = is_beyond_bound(counts.sample, 2, "lowest")
            sizes[alone] = np.minimum(sizes[alone], len(chosen))
            step.advance()
    return sizes
