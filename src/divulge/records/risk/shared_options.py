"""Options that several measures of risk share, each with its words, default and description."""

from __future__ import annotations

from divulge.classes.people import RECORDS_KNOWN
from divulge.records.risk.class_measures.sensitive_classes import COUNTS
from divulge.records.risk.null_readings import DEFAULT_NULLS, SEMANTICS, SEMANTICS_OF_RELEASE
from divulge.records.risk.options import Number, OneOf, Option, OtherDataset, WholeNumber
from divulge.records.risk.population.individual import METHODS
from divulge.records.risk.population.population_uniques import MODELS


def build_null_option(words: tuple[str, ...]) -> OneOf:
    """The readings of a missing value that a measure takes; the first word is the default."""
    ordered = sorted(words, key=lambda word: word != DEFAULT_NULLS)
    return OneOf(tuple(ordered), "What a missing value may stand for.")


NULL_OPTIONS: dict[str, Option] = {
    "nulls": build_null_option(SEMANTICS),
    "original": OtherDataset(),
}

PEOPLE_OPTIONS: dict[str, Option] = {
    "records_known": OneOf(RECORDS_KNOWN, "Of somebody with several records: one is known, or all.")
}

CLASS_OPTIONS: dict[str, Option] = {
    **NULL_OPTIONS,
    "count": OneOf(COUNTS, "In classes: records, or the population."),
}

LIST_OPTIONS: dict[str, Option] = {
    "nulls": build_null_option((*SEMANTICS_OF_RELEASE, DEFAULT_NULLS)),
    "population": OtherDataset(),
    "original": OtherDataset(),
}

METHOD_OPTIONS: dict[str, Option] = {
    "method": OneOf(METHODS, "How individual risk is computed."),
    **NULL_OPTIONS,
}

SAMPLING_FRACTION = Number(
    "Of DIS-SUDA (0.01 if not given) and population_uniques.", largest=1
)  # fmt: skip

MODEL_OPTIONS: dict[str, Option] = {
    "model": OneOf(MODELS, "Of population_uniques."),
    "sampling_fraction": SAMPLING_FRACTION,
    "interactions": WholeNumber("Of the log-linear model: 1 main effects, 2 all pairs.", largest=2),
    "cells": Number("Of the negative binomial model: how many combinations there can be."),
    "nulls": build_null_option(("maybe", "value", DEFAULT_NULLS)),
}
