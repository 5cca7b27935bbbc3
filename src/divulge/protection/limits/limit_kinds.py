"""Kinds of limits: on class sizes, on risks or on values of classes; or judged without a method."""

from __future__ import annotations

from divulge.assessment import Limit, Sentence, measures
from divulge.records.risk.measure_spec import PerRecord
from divulge.records.risk.registry import MEASURES


def classify_limit(limit: Limit) -> PerRecord | None:
    """How a measure of a dataset sees who keeps a limit from holding; None if it does not.

    A count of the population is one of weights: that of a class, however many records it has.
    """
    measure = MEASURES.get(limit.measure)
    if measure is not None and measure.per_record == "count":
        return "class" if limit.options.get("count") == "population" else "count"
    if measure is not None:
        return measure.per_record
    is_told = not limit.of_assessment and hasattr(measures()[limit.measure], "record_risk")
    return "risk" if is_told else None


def is_count_limit(limit: Limit) -> bool:
    """Whether a limit counts records that look alike."""
    return classify_limit(limit) == "count"


def has_protection_method(limit: Limit) -> bool:
    """Whether there is a method that can make a limit hold; others are only judged."""
    return limit.of_assessment or classify_limit(limit) is not None


def describe_rule(key: str, **values: object) -> str:
    """A limit in short, or a part of it.

    >>> describe_rule("anonymity", k=3, nulls="bayes")
    '3-anonymity (bayes)'
    """
    return str(Sentence("divulge.protection", f"rule.{key}", values))
