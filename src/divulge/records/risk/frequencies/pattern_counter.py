"""Records that look alike, counted by combinations of values under any reading of a null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from divulge.classes import null_semantics
from divulge.classes.key_codes import encode_keys
from divulge.classes.keys import sum_by_place
from divulge.classes.original_values import build_prior_chances, check_same_records, gather_victims
from divulge.classes.partition import Partition
from divulge.classes.survey_design import weights_or_ones
from divulge.data import Dataset
from divulge.records.risk.null_readings import (
    Nulls,
    build_hidden_cells_error,
)
from divulge.work.arrays import Floats

Prior: TypeAlias = Mapping[str, Mapping[Any, float]]
"""By attribute, how likely the adversary holds each value where it is hidden."""


class FrequencyCounter:
    """Patterns are made once and counted in as many ways as are asked for."""

    def __init__(
        self, dataset: Dataset, names: list[str], original: Dataset | None, prior: Prior | None
    ) -> None:
        if original is not None:
            check_same_records(dataset, original, names)
        self.weights = weights_or_ones(dataset)
        self._source = (dataset, names, original, prior)
        self._cache: dict[tuple[Nulls, float], tuple[Floats, Floats]] = {}
        self.is_plain = _is_recoded_alike(dataset, names, original)
        self.hides, self.knows_original = False, True
        if not self.is_plain:
            self._gather_patterns()

    def _gather_patterns(self) -> None:
        dataset, names, original, _ = self._source
        keys = encode_keys(dataset, names, absence_apart=False)
        apart = encode_keys(dataset, names, absence_apart=True, original=original)
        self.hides = any(key.hides for key in apart)
        self.knows_original = original is not None or not self.hides
        self.patterns = null_semantics.gather_patterns(keys, self.weights)
        # Where nothing is missing, both ways to read what is missing are one.
        self.patterns_apart = (
            null_semantics.gather_patterns(apart, self.weights)
            if any(key.hides for key in keys)
            else self.patterns
        )

    def count_frequencies(self, nulls: Nulls, alpha: float) -> tuple[Floats, Floats]:
        """Frequency and weight of each record."""
        key = (nulls, alpha)
        if key not in self._cache:
            self._cache[key] = self._count_by_semantics(nulls, alpha)
        return self._cache[key]

    def _count_by_semantics(self, nulls: Nulls, alpha: float) -> tuple[Floats, Floats]:
        dataset, names, original, prior = self._source
        if self.is_plain:
            return _count_classes(dataset, names, self.weights)
        if nulls == "standard":
            return null_semantics.count_by_standard(self.patterns, self.weights)
        if nulls == "maybe":
            counts = null_semantics.count_by_maybe(self.patterns, alpha)
            return counts[0][self.patterns.of_record], counts[1][self.patterns.of_record]
        if nulls == "value" or (original is None and not self.hides):
            # A reader of the file tells what is hidden from what is absent: two values.
            counts = null_semantics.count_by_value(self.patterns_apart)
            of_record = self.patterns_apart.of_record
            return counts[0][of_record], counts[1][of_record]
        if original is None:
            raise build_hidden_cells_error(dataset, names, nulls)
        victims = gather_victims(dataset, original, names)
        if nulls == "known":
            counts = null_semantics.count_by_known(self.patterns_apart, victims)
        else:
            chances = build_prior_chances(original, names, prior) if prior else None
            counts = null_semantics.count_by_bayes(self.patterns_apart, victims, chances)
        return counts[0][victims.of_record], counts[1][victims.of_record]


def _is_recoded_alike(dataset: Dataset, names: Sequence[str], original: Dataset | None) -> bool:
    """Whether all readings are one: nothing is missing, and a value became the same for all.

    Then whoever fits somebody by their original values is whoever looks like them.
    """
    for name in names:
        column = dataset.columns[name]
        before = None if original is None else original.columns[name]
        if column.has_missing or (before is not None and before.has_missing):
            return False
        if before is None or before is column:
            continue
        became = np.zeros(len(before.values) + 1, column.codes.dtype)
        became[before.codes] = column.codes
        if not np.array_equal(became[before.codes], column.codes):
            return False
    return True


def _count_classes(
    dataset: Dataset, names: Sequence[str], weights: Floats
) -> tuple[Floats, Floats]:
    """How many look like each record, and their weight, in little memory."""
    classes = Partition.from_attributes(dataset, names)
    weight = sum_by_place(classes.of_record, weights, classes.number)
    return classes.sizes[classes.of_record].astype(np.float64), weight[classes.of_record]
