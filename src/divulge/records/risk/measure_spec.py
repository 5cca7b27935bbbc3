"""What a measure of risk is: how it is taken, which limits it allows, and what it may be told.

A measure is a function of a dataset that gives a result about every record or class; a limit
judges one figure of that result, and protection asks it who keeps the limit from holding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from divulge.assessment import Limit, Measurement, Sentence
from divulge.assessment.limit import RELATIVE_TOLERANCE, is_beyond_bound
from divulge.assessment.sentence import format_number
from divulge.data import Dataset
from divulge.records.risk.class_measures.class_measure import ClassMeasure, CrowdMeasure
from divulge.records.risk.class_measures.l_diversity import SharesFigure
from divulge.records.risk.frequencies.people_frequencies import describe_people
from divulge.records.risk.frequencies.result import Frequencies
from divulge.records.risk.links.clusters import Clusters
from divulge.records.risk.links.group_risk import describe_links
from divulge.records.risk.links.links import find_links_problems, read_links
from divulge.records.risk.measure_names import name_measure
from divulge.records.risk.options import Option, OtherDataset, RiskFunction
from divulge.records.risk.population.population_uniques import PopulationUniques
from divulge.records.risk.record_risk import RecordRisk
from divulge.records.risk.uniques.suda import Suda
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Floats

RiskResult: TypeAlias = RecordRisk | ClassMeasure | Suda | PopulationUniques | Frequencies
"""What measures give: a column per record, a summary, an assessment, a chart, `by`."""

PerRecord: TypeAlias = Literal["count", "risk", "class"]

Linked: TypeAlias = Literal["risk", "crowd", "lowest"]
"""What the figures of linked records come down to: the chance that one of them is found; the crowd
of a single record at that risk; the lowest of them."""


ClassFigure: TypeAlias = Callable[[Dataset, str, Sequence[str], Mapping[str, Any]], SharesFigure]
"""From the records, the sensitive attribute, what makes them alike and options to the figure."""


class JudgedFigure(NamedTuple):
    """What a limit judges: the figure, who fails the bound, and what a reader should know."""

    value: float
    failing: int
    total: int
    notes: tuple[Sentence, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MeasureSpec:
    """One measure of the risk of records, under all its names.

    >>> from divulge.records.risk.registry import MEASURES
    >>> spec = MEASURES["k_map"]
    >>> spec.direction, spec.scale, spec.names_datasets
    ('at_least', 'count', ('population', 'original'))
    """

    name: str
    """What limits, results and reports call it."""
    function: Callable[..., RiskResult]
    """From a dataset and options to the result about every record or class."""
    figure: Callable[[Any, float], JudgedFigure]
    """From the result and a bound to what a limit judges."""
    aliases: tuple[str, ...] = ()
    """Further names that are understood wherever a measure is named."""
    direction: Literal["at_least", "at_most"] = "at_most"
    """On which side a bound protects."""
    scale: Literal["share", "count", "factor"] = "share"
    whole: bool = False
    """Whether a bound is a whole number from 1."""
    of_attribute: bool = False
    """Whether it is about what classes give away of a sensitive attribute."""
    options: Mapping[str, Option] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    """Options that must be given."""
    per_record: PerRecord | None = None
    """How protection sees who keeps a limit from holding; None if no method can lower it."""
    shortcut: Callable[..., JudgedFigure | None] | None = None
    """A quicker way to the same figure; it gives None where it does not apply."""
    sentence: str = "limit.failing"
    """The sentence that says who fails the bound."""
    linked: Linked | None = None
    """How linked records are judged together; None if they cannot be."""
    people_option: str | None = None
    """The option that holds those whom the figures are of, if not the records: they are linked."""
    size_option: str | None = None
    """The option that a bound settles if it is not given: sets of so many need not be searched."""
    probability: Callable[[Floats], Floats] | None = None
    """Of values of classes that are no probabilities, though higher is worse: as probabilities."""
    class_figure: ClassFigure | None = None
    """The figure of classes from their sensitive values alone, for searches that count classes."""
    distinct_values: Literal["counted", "implied"] | None = None
    """Whether the figure is how many different values a class has, or is never above it."""
    is_one_over_size: bool = False
    """Whether the risk of a record is one over the size of its class."""
    of_population: bool = False
    """Whether it is of a model of the population: levels meet a limit on it, or do not."""

    def __post_init__(self) -> None:
        """Nothing that is no probability is taken for one where records are protected by it."""
        is_risk = self.scale == "share" or self.direction == "at_least"
        if self.per_record == "class" and not is_risk and self.probability is None:
            message = f"measure {self.name} needs `probability`: its values are no shares"
            raise ValueError(message)

    @property
    def title(self) -> Sentence:
        """What it is called where people read it."""
        return name_measure(self.name)

    @property
    def names_datasets(self) -> tuple[str, ...]:
        """The options that name another dataset of the release."""
        return tuple(name for name, kind in self.options.items() if isinstance(kind, OtherDataset))

    @property
    def needs_function(self) -> bool:
        """Whether it is taken by a function that must be handed in, which no text can name."""
        return any(
            isinstance(self.options[n], RiskFunction) for n in self.needs if n in self.options
        )

    @property
    def counts_people(self) -> bool:
        """Where somebody has several records, people are counted, or it refuses to be taken."""
        return True

    @property
    def lowest(self) -> float:
        """The lowest bound that makes sense."""
        return 0

    @property
    def highest(self) -> float:
        """The highest bound that makes sense."""
        return 1 if self.scale == "share" else math.inf

    def problems(self, limit: Limit) -> Iterator[Problem]:
        """The right direction, a bound that can be, an attribute where one is meant, options."""
        yield from self._problems_with_bound(limit)
        if limit.attribute is not None and not self.of_attribute:
            message = f"{self.name} looks at all quasi-identifiers together."
            yield Problem("attribute", message)
        for name, value in limit.options.items():
            if name == "among":
                continue
            if name == "links":
                yield from self._problems_with_links(value)
            elif name not in self.options:
                allowed = ["dataset", "among", *self.options, *(["links"] if self.linked else [])]
                message = f"is not an option of {self.name}."
                yield Problem(name, message, value=name, allowed=allowed)
            else:
                problem = self.options[name].problem(name, value)
                if problem is not None:
                    yield problem
        for name in self.needs:
            if name not in limit.options:
                yield Problem(name, f"is missing; {self.name} cannot be taken without it.")

    def of(self, dataset: Dataset, limit: Limit) -> Measurement:
        """The measure, and how many records fail the bound."""
        options = dict(limit.options)
        for name in self.names_datasets:
            if isinstance(options.get(name), str):
                message = f'names the dataset "{options[name]}"; outside a release, give it itself.'
                raise InvalidInput(f"limit on {self.name}", [Problem(name, message)])
        if self.of_attribute:
            options["attribute"] = limit.attribute
        judged = self.judge(dataset, limit.bound, **options)
        values = {
            "failing": judged.failing,
            "total": judged.total,
            "subjects": dataset.subjects,
            "bound": format_number(limit.bound),
        }
        # Of linked records some fail the bound for the sake of others.
        is_shared = "links" in limit.options and self.figure is not judge_average_risk
        key = "limit.failing" if is_shared else self.sentence
        sentence = Sentence("divulge.records", key, values)
        notes = judged.notes
        if "records_known" in self.options:
            notes += describe_people(dataset, options.get("records_known", "one"))
        return Measurement(judged.value, self.scale, sentence, notes)

    def judge(
        self, dataset: Dataset, bound: float, *, links: Any = None, **options: Any
    ) -> JudgedFigure:
        """The figure that a limit judges, in the quickest way there is."""
        options = self.settle_options(bound, options)
        if links is not None:
            return self._judge_linked(dataset, bound, links, options)
        judged = self.shortcut(dataset, bound, **options) if self.shortcut is not None else None
        if judged is not None:
            return judged
        return self.figure(self.function(dataset, **options), bound)

    def settle_options(self, bound: float, options: Mapping[str, Any]) -> dict[str, Any]:
        """Options with what a bound settles: only sets that are too small are searched."""
        if self.size_option is None or self.size_option in options:
            return dict(options)
        return {**options, self.size_option: max(1, math.ceil(bound) - 1)}

    def combine_linked(self, result: RiskResult, clusters: Clusters) -> Floats:
        """The figure of each record, or person, as that of its cluster."""
        if self.linked == "lowest":
            assert isinstance(result, ClassMeasure)  # noqa: S101  # sizes are measures of classes
            return clusters.find_lowest(result.values)
        if self.linked == "crowd":
            crowd = result.sample if isinstance(result, Frequencies) else getattr(result, "values")  # noqa: B009
            return clusters.combine_crowds(crowd.astype(float))
        risk = (
            result.values if isinstance(result, ClassMeasure) else take_record_risk(result).values
        )
        return clusters.combine_risks(risk)

    def _judge_linked(
        self, dataset: Dataset, bound: float, links: Any, options: Mapping[str, Any]
    ) -> JudgedFigure:
        """The figure of the worst cluster, or the average over records of their clusters."""
        people = dataset
        for name in (self.people_option, "original"):
            # Who is linked is known from what was not yet hidden.
            if name is not None and isinstance(options.get(name), Dataset):
                people = options[name]
                break
        clusters = read_links(links).find_clusters(people)
        values = self.combine_linked(self.function(dataset, **options), clusters)
        worst: Literal["lowest", "highest"] = (
            "lowest" if self.direction == "at_least" else "highest"
        )
        value = float(values.min() if worst == "lowest" else values.max())
        if self.figure is judge_average_risk:
            value = math.fsum(values) / values.size
        failing = int(is_beyond_bound(values, bound, worst).sum())
        return JudgedFigure(value, failing, int(values.size), describe_links(clusters, people))

    def _problems_with_links(self, links: Any) -> Iterator[Problem]:
        if self.linked is None:
            yield Problem("links", f'do not go with measure "{self.name}".')
        else:
            yield from find_links_problems(links)

    def _problems_with_bound(self, limit: Limit) -> Iterator[Problem]:
        if getattr(limit, self.direction) is None:
            wrong = "at_most" if self.direction == "at_least" else "at_least"
            side = "below" if self.direction == "at_least" else "above"
            yield Problem(wrong, f"{self.name} protects from {side}; give {self.direction}.")
        elif self.whole and (limit.bound < 1 or limit.bound != int(limit.bound)):
            yield Problem(self.direction, f"{limit.bound:g} is not a whole number from 1.")
        elif not self.lowest <= limit.bound <= self.highest:
            upto = f"to {self.highest:g}" if self.highest < math.inf else "or more"
            message = f"{limit.bound:g} is not a bound of {self.name} ({self.lowest:g} {upto})."
            yield Problem(self.direction, message)


def take_record_risk(result: Any) -> RecordRisk:
    """The risk of each record in a result: itself, or what SUDA and the models make of it."""
    risk: RecordRisk = result if isinstance(result, RecordRisk) else result.risk()
    return risk


def judge_worst_class(result: ClassMeasure, bound: float) -> JudgedFigure:
    """The figure of the worst class."""
    total = int(result.size.sum())
    return JudgedFigure(result.value, result.failing(bound), total, result.flattery())


def judge_smallest_crowd(result: CrowdMeasure, bound: float) -> JudgedFigure:
    """The size of the smallest class: a whole number, unless records are weighed by chances."""
    judged = judge_worst_class(result, bound)
    if result.counting.weighs:
        return judged
    # Sums of weights end a hair below what they are.
    return judged._replace(value=int(result.value * (1 + RELATIVE_TOLERANCE)))


def judge_smallest_count(result: Frequencies, bound: float) -> JudgedFigure:
    """The lowest frequency, not rounded."""
    below = result.below(bound)
    return JudgedFigure(result.smallest, below, result.records, result.flattery())


def judge_highest_risk(result: RiskResult, bound: float) -> JudgedFigure:
    """The risk of the record that is easiest to find."""
    risk = take_record_risk(result)
    return JudgedFigure(risk.highest, risk.above(bound), risk.records, tuple(risk.notes))


def judge_average_risk(result: RiskResult, bound: float) -> JudgedFigure:
    """The share of the records that are expected to be found."""
    risk = take_record_risk(result)
    return JudgedFigure(risk.average, risk.above(bound), risk.records, tuple(risk.notes))


def judge_unique_share(result: PopulationUniques, bound: float) -> JudgedFigure:
    """The share of the records that are estimated to be unique in the population."""
    records = int(result.unique.size)
    share = result.population_uniques / records
    return JudgedFigure(share, int((result.unique > bound).sum()), records, (result.sentence(),))
