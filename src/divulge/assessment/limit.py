"""Limits: what a release may not exceed, and whether it does."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from divulge.assessment.assessment import Assessment
from divulge.assessment.attack import Measurement, measures
from divulge.assessment.sentence import Sentence, number, percent
from divulge.work import InvalidInput, Problem

Scale: TypeAlias = Literal["share", "count", "factor"]

_SCALES: Mapping[Scale, tuple[float, float, str]] = {
    "share": (0, 1, "a share (0 to 1)"),
    "count": (0, math.inf, "a number of records (0 or more)"),
    "factor": (1, math.inf, "a factor (1 or more)"),
}


def _of_success(kind: str) -> dict[str, tuple[Scale, Callable[[Assessment], float]]]:
    """The measures of one kind of success: `deterministic` or `probabilistic`."""
    counts = {"deterministic": "certain", "probabilistic": "right"}[kind]
    return {
        f"{kind}.prior": ("share", lambda a: float(getattr(a, kind).prior)),
        f"{kind}.posterior": ("share", lambda a: float(getattr(a, kind).posterior)),
        f"{kind}.additive": ("share", lambda a: float(getattr(a, kind).additive)),
        f"{kind}.multiplicative": ("factor", lambda a: float(getattr(a, kind).multiplicative)),
        f"{kind}.count": ("count", lambda a: float(getattr(a, counts).posterior)),
    }


ASSESSMENT_MEASURES: Mapping[str, tuple[Scale, Callable[[Assessment], float]]] = {
    **_of_success("deterministic"),
    **_of_success("probabilistic"),
    "additive_leakage": ("share", lambda a: a.additive_leakage),
    "multiplicative_leakage": ("factor", lambda a: a.multiplicative_leakage),
}
"""What an adversary may be limited in, by name, with the scale of its bounds."""


@dataclass(frozen=True, init=False)
class Limit:
    """What a figure of an adversary's assessment, or a measure of a dataset, may be.

    >>> limit = Limit("deterministic.posterior", at_most=0.05, adversary="neighbour")
    >>> limit.direction, limit.bound
    ('at most', 0.05)
    """

    measure: str
    at_most: float | None
    at_least: float | None
    adversary: str | None
    dataset: str | None
    attribute: str | None
    options: Mapping[str, Any]

    def __init__(
        self,
        measure: str,
        at_most: float | None = None,
        at_least: float | None = None,
        adversary: str | None = None,
        dataset: str | None = None,
        attribute: str | None = None,
        **options: Any,
    ) -> None:
        given = {
            "measure": measure,
            "at_most": at_most,
            "at_least": at_least,
            "adversary": adversary,
            "dataset": dataset,
            "attribute": attribute,
            "options": options,
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)
        problems = list(self._problems())
        if problems:
            raise InvalidInput("limit", problems)

    @property
    def direction(self) -> str:
        """`at most` or `at least`."""
        return "at most" if self.at_most is not None else "at least"

    @property
    def bound(self) -> float:
        """The figure that may not be passed."""
        bound = self.at_most if self.at_most is not None else self.at_least
        assert bound is not None  # noqa: S101  # __init__ has refused a limit without one
        return bound

    @property
    def of_assessment(self) -> bool:
        """Whether it limits an adversary's assessment (else: a measure of a dataset)."""
        return self.measure in ASSESSMENT_MEASURES

    def judge(self, assessment: Assessment) -> Outcome:
        """Whether an assessment keeps to the limit."""
        scale, figure = ASSESSMENT_MEASURES[self.measure]
        subject = assessment.adversary or assessment.model
        return self._outcome(figure(assessment), scale, subject)

    def judge_measurement(self, measurement: Measurement, dataset: str) -> Outcome:
        """Whether a measure of a dataset keeps to the limit."""
        return self._outcome(measurement.value, measurement.scale, dataset, measurement.sentence)

    def to_dict(self) -> dict[str, Any]:
        """What was given, as plain values."""
        told = {
            "measure": self.measure,
            "at_most": self.at_most,
            "at_least": self.at_least,
            "adversary": self.adversary,
            "dataset": self.dataset,
            "attribute": self.attribute,
        }
        return {**told, **self.options}

    def _outcome(
        self, value: float, scale: Scale, subject: str, more: Sentence | None = None
    ) -> Outcome:
        held = value <= self.bound if self.at_most is not None else value >= self.bound
        show = percent if scale == "share" else number
        found, allowed = show(value), f"{self.direction} {show(self.bound)}"
        values = {"measure": self.measure, "subject": subject, "found": found, "allowed": allowed}
        said = Sentence("divulge.assessment", "limit.held" if held else "limit.failed", values)
        sentences = (said, more) if more else (said,)
        return Outcome(self, subject, value, held, found, allowed, sentences)

    def _problems(self) -> Iterator[Problem]:
        known = [*ASSESSMENT_MEASURES, *measures()]
        if self.measure not in known:
            message = f'"{self.measure}" is not a measure.'
            yield Problem("measure", message, value=self.measure, allowed=known)
            return
        if (self.at_most is None) == (self.at_least is None):
            yield Problem("", "give either at_most or at_least.")
            return
        if self.of_assessment:
            yield from self._problems_of_assessment()
        else:
            yield from self._problems_of_measure()

    def _problems_of_assessment(self) -> Iterator[Problem]:
        low, high, wanted = _SCALES[ASSESSMENT_MEASURES[self.measure][0]]
        if not low <= self.bound <= high:
            hint = ""
            if wanted.startswith("a share") and self.bound > 1:
                kind = self.measure.partition(".")[0]
                kind = kind if kind in ("deterministic", "probabilistic") else "probabilistic"
                hint = f' To limit a number of records, use measure "{kind}.count".'
            yield Problem(self._bound_name, f"{self.bound:g} is not {wanted}.{hint}")
        for name in ("dataset", "attribute"):
            if getattr(self, name) is not None:
                message = f"{self.measure} is a figure of an adversary; name the adversary instead."
                yield Problem(name, message)
        for name in self.options:
            yield Problem(name, f"is not an option of {self.measure}.")

    def _problems_of_measure(self) -> Iterator[Problem]:
        if self.adversary is not None:
            message = f"{self.measure} is a measure of a dataset; name the dataset instead."
            yield Problem("adversary", message)
        yield from measures()[self.measure].problems(self)

    @property
    def _bound_name(self) -> str:
        return "at_most" if self.at_most is not None else "at_least"


@dataclass(frozen=True)
class Outcome:
    """Whether one limit holds for one adversary or dataset; figures as numbers and as said."""

    limit: Limit
    subject: str
    value: float
    held: bool
    found: str
    allowed: str
    sentences: tuple[Sentence, ...]

    def to_dict(self) -> dict[str, Any]:
        """The limit, the figure and the outcome as plain values."""
        value = None if math.isinf(self.value) else self.value
        said = [sentence.render() for sentence in self.sentences]
        return {
            **self.limit.to_dict(),
            "subject": self.subject,
            "value": value,
            "passed": self.held,
            "sentences": said,
        }
