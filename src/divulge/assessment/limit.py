"""Limits: what a release may not exceed, and whether it does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from divulge.assessment.assessment import Assessment
from divulge.assessment.assessment_measures import (
    ASSESSMENT_MEASURES,
    GUESS_MEASURES,
    HIGHEST_RISK,
    SCALES,
    Scale,
)
from divulge.assessment.attack import Measurement
from divulge.assessment.outcome import Outcome, format_value_and_bound
from divulge.assessment.registry import measures
from divulge.assessment.sentence import Sentence, format_number, format_percent
from divulge.work import InvalidInput, Problem, checks

if TYPE_CHECKING:
    from divulge.data import Dataset

RELATIVE_TOLERANCE = 1e-9
"""Sums of chances, entropies and distances end this near to what they are, as a share of it."""
ABSOLUTE_TOLERANCE = 1e-12
"""And this near to 0, where they are differences: nothing that is counted has so small a share."""

_COMMON_FIELDS = ("measure", "at_most", "at_least", "adversary", "dataset", "attribute")
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
        *,
        attribute: str | None = None,
        **options: Any,
    ) -> None:
        name = str(measure)
        fields = {
            # Whatever a measure was called, results call it by one name.
            "measure": name if name in ASSESSMENT_MEASURES else measures().first_name(name),
            "at_most": at_most,
            "at_least": at_least,
            "adversary": adversary,
            "dataset": dataset,
            "attribute": attribute,
            "options": options,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        problems = list(self._find_problems())
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
    def title(self) -> Sentence:
        """What the measure is called where people read it; release files have `measure`.

        >>> str(Limit("additive_leakage", at_most=0.1).title)
        'additive leakage'
        """
        if self.of_assessment:
            return Sentence("divulge.assessment", f"measure_name.{self.measure}")
        own = [getattr(option, "measure_title", None) for option in self.options.values()]
        title = next(filter(None, own), getattr(measures()[self.measure], "title", None))
        if isinstance(title, Sentence):
            return title
        return Sentence("divulge.assessment", "measure_name.other", {"measure": self.measure})

    @property
    def title_with_attributes(self) -> Sentence:
        """The title with what the limit is on, which tells several limits on one measure apart.

        >>> str(Limit("k_anonymity", at_least=3, among=["age", "sex"]).title_with_attributes)
        'k-anonymity (by age and sex)'
        """
        among = self.options.get("among")
        by = (among,) if isinstance(among, str) else tuple(among or ())
        values = {"measure": self.title, "attribute": self.attribute, "among": by}
        parts = [*(["attribute"] if self.attribute else []), *(["among"] if by else [])]
        if not parts:
            return self.title
        return Sentence("divulge.assessment", f"measure_of.{'_'.join(parts)}", values)

    @property
    def of_assessment(self) -> bool:
        """Whether it limits an adversary's assessment (else: a measure of a dataset)."""
        return self.measure in ASSESSMENT_MEASURES

    @property
    def compared_datasets(self) -> dict[str, str]:
        """The options that name another dataset of the release, with the names.

        An option may also be an object that is still to see a dataset (`dataset_name`), as links.
        """
        if self.of_assessment:
            return {}
        dataset_options = getattr(measures()[self.measure], "names_datasets", ())
        values_by_option = {
            name: value if name in dataset_options else getattr(value, "dataset_name", None)
            for name, value in self.options.items()
        }
        return {name: value for name, value in values_by_option.items() if isinstance(value, str)}

    def with_datasets(self, datasets: Mapping[str, Dataset]) -> Limit:
        """The same limit with the datasets themselves where options name them.

        >>> Limit("deterministic.posterior", at_most=0.05).with_datasets({}).options
        {}
        """
        other_datasets = {}
        for option, name in self.compared_datasets.items():
            value = self.options[option]
            other_datasets[option] = (
                datasets[name] if isinstance(value, str) else value.with_dataset(datasets[name])
            )
        plain = {name: getattr(self, name) for name in _COMMON_FIELDS}
        return Limit(**plain, **{**self.options, **other_datasets})

    def for_adversary(self, adversary: str) -> Limit:
        """The same limit on one adversary.

        >>> Limit("deterministic.count", at_most=5).for_adversary("neighbour").adversary
        'neighbour'
        """
        return Limit(
            self.measure,
            at_most=self.at_most,
            at_least=self.at_least,
            adversary=adversary,
            **self.options,
        )

    def is_broken_by(self, value: Any) -> Any:
        """Whether a figure, or each of an array of them, is on the wrong side of the bound.

        Counts are judged exactly; a float that is a hair beside the bound is at it.

        >>> Limit("t_closeness", at_most=0.3).is_broken_by(0.1 + 0.2)
        False
        """
        if isinstance(value, Fraction):
            exact = Fraction(str(self.bound))
            return value > exact if self.at_most is not None else value < exact
        return is_beyond_bound(
            value, self.bound, "highest" if self.at_most is not None else "lowest"
        )

    # Under the names that these had before, they can still be called.
    others, seeing, on, broken_by = compared_datasets, with_datasets, for_adversary, is_broken_by

    def judge(self, assessment: Assessment) -> Outcome:
        """Whether an assessment keeps to the limit."""
        scale, figure = ASSESSMENT_MEASURES[self.measure]
        subject = assessment.adversary or assessment.model
        # What a guess is worth is no share; how many are guessed right is counted all the same.
        is_worth = assessment.by_gain and self.measure in GUESS_MEASURES
        scale = "factor" if is_worth else scale
        kind: Literal["measure", "worth"] = "worth" if is_worth else "measure"
        if self.measure == HIGHEST_RISK and not assessment.has_highest_risk:
            return self.leave_unjudged(
                subject, str(Sentence("divulge.assessment", "unjudged.no_risk"))
            )
        outcome = self._build_outcome(figure(assessment), scale, subject, of=kind)
        worst = assessment.at_worst
        if worst is assessment or self.at_most is None or self.measure.endswith(".prior"):
            return outcome
        # Where figures are the least that is known, somebody may be known for certain.
        most = Fraction(1) if self.measure == HIGHEST_RISK else figure(worst)
        judged = self._judge_at_worst(outcome, most, scale)
        if assessment.not_judged is not None and judged.not_shown:
            said = (*judged.sentences, assessment.not_judged)
            return replace(judged, judged=False, sentences=said)
        return judged

    def _judge_at_worst(self, outcome: Outcome, most: Fraction | float, scale: Scale) -> Outcome:
        """Whether it also holds for the most that may be known; if not, it is not shown to hold."""
        most_text, _ = format_value_and_bound(
            float(most), self.bound, format_percent if scale == "share" else format_number
        )
        holds = outcome.held and not (self.is_broken_by(most) or math.isnan(most))
        key = "within" if holds else "beyond" if math.isfinite(most) else "without_end"
        sentences = (Sentence("divulge.assessment", f"shown.{key}", {"most": most_text}),)
        return replace(
            outcome,
            held=holds,
            most=float(most),
            found=str(_build_range(outcome.found, most_text)),
            # Where the least is beyond the limit, nothing depends on the most.
            sentences=outcome.sentences + (sentences if outcome.held else ()),
        )

    def judge_measurement(self, measurement: Measurement, dataset: str) -> Outcome:
        """Whether a measure of a dataset keeps to the limit."""
        sentences = (*((measurement.sentence,) if measurement.sentence else ()), *measurement.notes)
        return self._build_outcome(measurement.value, measurement.scale, dataset, sentences)

    def leave_unjudged(self, subject: str, reason: str) -> Outcome:
        """The outcome where something that is needed to judge is not known."""
        values = {"measure": self.title_with_attributes, "subject": subject, "reason": reason}
        _, bound = format_value_and_bound(0.0, self.bound, format_number)
        allowed = Sentence("divulge.assessment", f"bound.{self._bound_name}", {"bound": bound})
        return Outcome(
            limit=self,
            subject=subject,
            value=math.nan,
            held=False,
            found=str(Sentence("divulge.assessment", "unjudged.figure")),
            allowed=str(allowed),
            sentences=(Sentence("divulge.assessment", "unjudged.reason", values),),
            judged=False,
        )

    def with_options(self, **options: Any) -> Limit:
        """The same limit with other options; those that are None are left out.

        >>> Limit("k_anonymity", at_least=3, nulls="maybe").with_options(nulls=None).options
        {}
        """
        plain = {name: getattr(self, name) for name in _COMMON_FIELDS}
        kept = {name: of for name, of in {**self.options, **options}.items() if of is not None}
        return Limit(**plain, **kept)

    def to_dict(self) -> dict[str, Any]:
        """What was given, as plain values."""
        fields = {name: getattr(self, name) for name in _COMMON_FIELDS}
        # A dataset or a function that was given itself goes by its name.
        options = {
            name: getattr(of, "name", getattr(of, "__name__", of))
            for name, of in self.options.items()
        }
        return {**fields, **options}

    def _build_outcome(
        self,
        value: Fraction | float,
        scale: Scale,
        subject: str,
        notes: tuple[Sentence, ...] = (),
        of: Literal["measure", "worth"] = "measure",
    ) -> Outcome:
        # What means nothing keeps to nothing.
        holds = not (self.is_broken_by(value) or math.isnan(value))
        value_text, bound_text = format_value_and_bound(
            float(value), self.bound, format_percent if scale == "share" else format_number
        )
        allowed = Sentence("divulge.assessment", f"bound.{self._bound_name}", {"bound": bound_text})
        key = self.measure if self.of_assessment else "other"
        values = {
            "measure": self.title_with_attributes,
            "subject": subject,
            "found": value_text,
            "allowed": allowed,
        }
        sentences = (Sentence("divulge.assessment", f"{of}.{key}", values), *notes)
        vacuous = self._is_vacuous(scale)
        return Outcome(
            limit=self,
            subject=subject,
            value=float(value),
            held=holds,
            found=value_text,
            allowed=str(allowed),
            sentences=sentences,
            vacuous=vacuous,
        )

    def _is_vacuous(self, scale: Scale) -> bool:
        """Whether no data could break it: a share of at most 1, or classes of at least 1 record."""
        if self.of_assessment:
            return scale == "share" and self.bound >= 1
        measure = measures()[self.measure]
        if self.at_most is not None:
            return bool(self.bound >= getattr(measure, "highest", math.inf))
        least = 1 if getattr(measure, "whole", False) else getattr(measure, "lowest", -math.inf)
        return bool(self.bound <= least)

    def _find_problems(self) -> Iterator[Problem]:
        if not self.of_assessment and self.measure not in measures():
            measure_names = [*ASSESSMENT_MEASURES, *measures()]
            message = " ".join([f'"{self.measure}" is not a measure.', *measures().failures])
            yield Problem("measure", message, value=self.measure, allowed=measure_names)
            return
        if (self.at_most is None) == (self.at_least is None):
            yield Problem("", "give either at_most or at_least.")
            return
        not_finite = list(checks.finite_number(self._bound_name, self.bound))
        if not_finite:
            yield from not_finite
            return
        if self.of_assessment:
            yield from self._find_assessment_problems()
        else:
            yield from self._find_measure_problems()

    def _find_assessment_problems(self) -> Iterator[Problem]:
        if self.at_least is not None:
            message = f"{self.measure} is what an adversary achieves: limit it from above, at_most."
            yield Problem("at_least", message)
            return
        low, high, scale_text = SCALES[ASSESSMENT_MEASURES[self.measure][0]]
        if not low <= self.bound <= high:
            hint = ""
            if scale_text.startswith("a share") and self.bound > 1:
                kind = self.measure.partition(".")[0]
                kind = kind if kind in ("deterministic", "probabilistic") else "probabilistic"
                hint = f' To limit a number of records, use measure "{kind}.count".'
            yield Problem(self._bound_name, f"{self.bound:g} is not {scale_text}.{hint}")
        for name in ("dataset", "attribute"):
            if getattr(self, name) is not None:
                message = f"{self.measure} is a figure of an adversary; name the adversary instead."
                yield Problem(name, message)
        for name in self.options:
            yield Problem(name, f"is not an option of {self.measure}.")

    def _find_measure_problems(self) -> Iterator[Problem]:
        if self.adversary is not None:
            message = f"{self.measure} is a measure of a dataset; name the dataset instead."
            yield Problem("adversary", message)
        yield from measures()[self.measure].problems(self)

    @property
    def _bound_name(self) -> str:
        return "at_most" if self.at_most is not None else "at_least"


def is_beyond_bound(value: Any, bound: Any, worst: Literal["lowest", "highest"]) -> Any:
    """Whether a figure, or each of an array of them, passes a bound by more than a hair.

    >>> is_beyond_bound(2.9999999999999996, 3, "lowest"), is_beyond_bound(2.9, 3, "lowest")
    (False, True)
    """
    tolerance = RELATIVE_TOLERANCE * abs(bound) + ABSOLUTE_TOLERANCE
    return value > bound + tolerance if worst == "highest" else value < bound - tolerance


def _build_range(least: str, most: str) -> Sentence:
    return Sentence("divulge.assessment", "bound.range", {"least": least, "most": most})
