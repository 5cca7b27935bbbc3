"""Limits: what a release may not exceed, and whether it does."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from divulge.assessment.assessment import Assessment
from divulge.assessment.attack import Measurement
from divulge.assessment.registry import measures
from divulge.assessment.sentence import Sentence, number, percent
from divulge.qif import PriorPosterior
from divulge.work import InvalidInput, Problem, checks

if TYPE_CHECKING:
    from divulge.data import Dataset

Scale: TypeAlias = Literal["share", "count", "factor"]

_SCALES: Mapping[Scale, tuple[float, float, str]] = {
    "share": (0, 1, "a share (0 to 1)"),
    "count": (0, math.inf, "a number of records (0 or more)"),
    "factor": (1, math.inf, "a factor (1 or more)"),
}


Figure: TypeAlias = Callable[[Assessment], Fraction | float]

HAIR = 1e-9
"""Sums of chances, entropies and distances end this near to what they are, as a share of it."""
BREATH = 1e-12
"""And this near to 0, where they are differences: nothing that is counted has so small a share."""


def _of_success(kind: str) -> dict[str, tuple[Scale, Figure]]:
    """The measures of one kind of success: `deterministic` or `probabilistic`."""
    return {
        f"{kind}.prior": ("share", lambda a: _exact(a, kind).prior),
        f"{kind}.posterior": ("share", lambda a: _exact(a, kind).posterior),
        f"{kind}.additive": ("share", lambda a: _exact(a, kind).additive),
        f"{kind}.multiplicative": ("factor", lambda a: _exact(a, kind).multiplicative),
        f"{kind}.count": ("count", lambda a: _counts(a, kind).posterior),
    }


def _counts(assessment: Assessment, kind: str) -> PriorPosterior:
    return assessment.certain if kind == "deterministic" else assessment.right


def _exact(assessment: Assessment, kind: str) -> PriorPosterior:
    """The shares as fractions of counts, so that a bound of 0.3 is met by 4/10 - 1/10."""
    shares: PriorPosterior = getattr(assessment, kind)
    counts = _counts(assessment, kind)

    def fraction(share: float, count: float) -> float:
        if assessment.secrets == 0:  # nothing is sought, so nothing of it is known
            return cast("float", Fraction(share))
        of_counts = Fraction(count) / assessment.secrets
        # With a gain, the figure is worth something and no share of the secrets; with a prior it
        # is no count. Such figures are as exact as floats are.
        counted = float(of_counts) == share and count == int(count)
        return cast("float", of_counts if counted else share)

    return PriorPosterior(
        fraction(shares.prior, counts.prior), fraction(shares.posterior, counts.posterior)
    )


ASSESSMENT_MEASURES: Mapping[str, tuple[Scale, Figure]] = {
    **_of_success("deterministic"),
    **_of_success("probabilistic"),
    "additive_leakage": ("share", lambda a: _exact(a, "probabilistic").additive),
    "multiplicative_leakage": ("factor", lambda a: _exact(a, "probabilistic").multiplicative),
}
"""What an adversary may be limited in, by name, with the scale of its bounds."""

_OF_GUESSES = [
    name
    for name in ASSESSMENT_MEASURES
    if not name.startswith("deterministic.") and not name.endswith(".count")
]


_PLAIN = ("measure", "at_most", "at_least", "adversary", "dataset", "attribute")
"""What a limit holds beside the options of its measure."""


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
        /,
        measure: str,
        at_most: float | None = None,
        at_least: float | None = None,
        adversary: str | None = None,
        dataset: str | None = None,
        attribute: str | None = None,
        **options: Any,
    ) -> None:
        name = str(measure)
        given = {
            # Whatever a measure was called, results call it by one name.
            "measure": name if name in ASSESSMENT_MEASURES else measures().first_name(name),
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

    @property
    def others(self) -> dict[str, str]:
        """The options that name another dataset of the release, with the names."""
        if self.of_assessment:
            return {}
        named = getattr(measures()[self.measure], "names_datasets", ())
        given = {name: self.options[name] for name in named if name in self.options}
        return {name: value for name, value in given.items() if isinstance(value, str)}

    def seeing(self, datasets: Mapping[str, Dataset]) -> Limit:
        """The same limit with the datasets themselves where options name them.

        >>> Limit("deterministic.posterior", at_most=0.05).seeing({}).options
        {}
        """
        found = {option: datasets[name] for option, name in self.others.items()}
        plain = {name: getattr(self, name) for name in _PLAIN}
        return Limit(**plain, **{**self.options, **found})

    def on(self, adversary: str) -> Limit:
        """The same limit on one adversary.

        >>> Limit("deterministic.count", at_most=5).on("neighbour").adversary
        'neighbour'
        """
        return Limit(self.measure, self.at_most, self.at_least, adversary, **self.options)

    def broken_by(self, value: Any) -> Any:
        """Whether a figure, or each of an array of them, is on the wrong side of the bound.

        Counts are judged exactly; a float that is a hair beside the bound is at it.

        >>> Limit("t_closeness", at_most=0.3).broken_by(0.1 + 0.2)
        False
        """
        if isinstance(value, Fraction):
            exact = Fraction(str(self.bound))
            return value > exact if self.at_most is not None else value < exact
        return beyond(value, self.bound, "highest" if self.at_most is not None else "lowest")

    def judge(self, assessment: Assessment) -> Outcome:
        """Whether an assessment keeps to the limit."""
        scale, figure = ASSESSMENT_MEASURES[self.measure]
        subject = assessment.adversary or assessment.model
        # What a guess is worth is no share; how many are guessed right is counted all the same.
        worth = assessment.by_gain and self.measure in _OF_GUESSES
        scale = "factor" if worth else scale
        of: Literal["measure", "worth"] = "worth" if worth else "measure"
        outcome = self._outcome(figure(assessment), scale, subject, of=of)
        worst = assessment.at_worst
        if worst is assessment or self.at_most is None or self.measure.endswith(".prior"):
            return outcome
        return self._at_worst(outcome, figure(worst), scale)

    def _at_worst(self, outcome: Outcome, most: Fraction | float, scale: Scale) -> Outcome:
        """Whether it also holds for the most that may be known; if not, it is not shown to hold."""
        told, _ = _told(float(most), self.bound, percent if scale == "share" else number)
        held = outcome.held and not (self.broken_by(most) or math.isnan(most))
        key = "within" if held else "beyond" if math.isfinite(most) else "without_end"
        said = (Sentence("divulge.assessment", f"shown.{key}", {"most": told}),)
        return replace(
            outcome,
            held=held,
            most=float(most),
            found=f"{outcome.found} to {told}",
            # Where the least is beyond the limit, nothing depends on the most.
            sentences=outcome.sentences + (said if outcome.held else ()),
        )

    def judge_measurement(self, measurement: Measurement, dataset: str) -> Outcome:
        """Whether a measure of a dataset keeps to the limit."""
        said = (*((measurement.sentence,) if measurement.sentence else ()), *measurement.notes)
        return self._outcome(measurement.value, measurement.scale, dataset, said)

    def to_dict(self) -> dict[str, Any]:
        """What was given, as plain values."""
        told = {name: getattr(self, name) for name in _PLAIN}
        # A dataset that was given itself goes by its name.
        options = {name: getattr(of, "name", of) for name, of in self.options.items()}
        return {**told, **options}

    def _outcome(
        self,
        value: Fraction | float,
        scale: Scale,
        subject: str,
        more: tuple[Sentence, ...] = (),
        of: Literal["measure", "worth"] = "measure",
    ) -> Outcome:
        held = not (self.broken_by(value) or math.isnan(value))  # what means nothing keeps nothing
        found, allowed = _told(float(value), self.bound, percent if scale == "share" else number)
        allowed = f"{self.direction} {allowed}"
        what = self.measure if self.of_assessment else "other"
        values = {"measure": self.measure, "subject": subject, "found": found, "allowed": allowed}
        said = (Sentence("divulge.assessment", f"{of}.{what}", values), *more)
        vacuous = self._cannot_fail(scale)
        return Outcome(self, subject, float(value), held, found, allowed, said, vacuous=vacuous)

    def _cannot_fail(self, scale: Scale) -> bool:
        """Whether no data could break it: a share of at most 1, or classes of at least 1 record."""
        if self.of_assessment:
            return scale == "share" and self.bound >= 1
        measure = measures()[self.measure]
        if self.at_most is not None:
            return bool(self.bound >= getattr(measure, "highest", math.inf))
        least = 1 if getattr(measure, "whole", False) else getattr(measure, "lowest", -math.inf)
        return bool(self.bound <= least)

    def _problems(self) -> Iterator[Problem]:
        if not self.of_assessment and self.measure not in measures():
            known = [*ASSESSMENT_MEASURES, *measures()]
            message = " ".join([f'"{self.measure}" is not a measure.', *measures().failures])
            yield Problem("measure", message, value=self.measure, allowed=known)
            return
        if (self.at_most is None) == (self.at_least is None):
            yield Problem("", "give either at_most or at_least.")
            return
        not_finite = list(checks.finite_number(self._bound_name, self.bound))
        if not_finite:
            yield from not_finite
            return
        if self.of_assessment:
            yield from self._problems_of_assessment()
        else:
            yield from self._problems_of_measure()

    def _problems_of_assessment(self) -> Iterator[Problem]:
        if self.at_least is not None:
            message = f"{self.measure} is what an adversary achieves: limit it from above, at_most."
            yield Problem("at_least", message)
            return
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


def beyond(value: Any, bound: float, worst: Literal["lowest", "highest"]) -> Any:
    """Whether a figure, or each of an array of them, passes a bound by more than a hair.

    >>> beyond(2.9999999999999996, 3, "lowest"), beyond(2.9, 3, "lowest")
    (False, True)
    """
    hair = HAIR * abs(bound) + BREATH
    return value > bound + hair if worst == "highest" else value < bound - hair


def _told(value: float, bound: float, show: Callable[[float], str]) -> tuple[str, str]:
    """Both figures in words; with as many digits as tell them apart where few would not."""
    found, allowed = show(value), show(bound)
    for digits in range(4, 18):
        if found != allowed or value == bound:
            break
        found, allowed = f"{value:.{digits}g}", f"{bound:.{digits}g}"
    return found, allowed


@dataclass(frozen=True)
class Outcome:
    """Whether one limit holds for one adversary or dataset; figures as numbers and as said.

    Where the figure is the least that an adversary knows, `most` is what it may be at the most.
    """

    limit: Limit
    subject: str
    value: float
    held: bool
    found: str
    allowed: str
    sentences: tuple[Sentence, ...]
    most: float | None = None
    vacuous: bool = False
    """Whether the limit holds whatever the data are, so that nothing was judged by it."""

    @property
    def not_shown(self) -> bool:
        """Whether it fails only because the most that may be known is beyond the limit."""
        return self.most is not None and not self.held and not self.limit.broken_by(self.value)

    @property
    def in_short(self) -> str:
        """What was found, and whether the most keeps to the limit where that is the least."""
        first, *more = self.sentences
        return " ".join(map(str, [first, *more] if self.most is not None else [first]))

    def to_dict(self) -> dict[str, Any]:
        """The limit, the figure and the outcome as plain values."""
        value = self.value if math.isfinite(self.value) else None
        said = [sentence.render() for sentence in self.sentences]
        told = {
            **self.limit.to_dict(),
            "subject": self.subject,
            "value": value,
            "passed": self.held,
            "sentences": said,
        }
        if self.most is not None:
            told["most"] = self.most if math.isfinite(self.most) else None
        return told
