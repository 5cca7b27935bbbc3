"""A measure of each class of records that look alike, and of the dataset: its worst class."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from divulge.assessment import Assessment, Breakdown, Chart, Claim, Sentence, html
from divulge.assessment.limit import is_beyond_bound
from divulge.assessment.sentence import format_number, read_phrases
from divulge.classes.people import find_people
from divulge.data import Dataset
from divulge.qif import PriorPosterior
from divulge.records.risk.charts import draw_class_measure
from divulge.records.risk.class_measures.sensitive_classes import CountingRules, SensitiveClasses
from divulge.records.risk.frequencies.frequencies import frequencies
from divulge.records.risk.measure_names import name_measure
from divulge.records.risk.null_readings import Nulls
from divulge.records.risk.record_risk import RecordRisk
from divulge.records.risk.weighted_rows import (
    count_chosen,
    count_rows,
    require_groups_at_home,
    require_rows_at_home,
)
from divulge.work.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

MAX_BARS = 8


@dataclass(frozen=True, repr=False, kw_only=True)
class ClassMeasure:
    """One figure for each class; `worst` says whether the lowest or the highest one counts.

    `size` is how many records have each class for theirs.
    """

    measure: str
    classes: Floats
    of_record: Ints
    size: Ints
    dataset: Dataset
    worst: Literal["lowest", "highest"]
    counting: CountingRules
    again: Callable[[Nulls], float] = field(compare=False)
    """The value of the dataset if missing values were counted in another way."""
    class_number: Ints | None = None
    """How many classes each is, where records stay elsewhere; None: one."""

    @property
    def number(self) -> Ints | None:
        """How many records each of `values` is of, where records stay elsewhere; None: one."""
        return None if self.class_number is None else self.size

    @property
    def value(self) -> float:
        """The measure of the dataset: that of its worst class."""
        return self._find_worst(self.classes)

    @property
    def values(self) -> Floats:
        """The measure of each record's class, in the order of the records."""
        return self.classes[self.of_record]

    @property
    def title(self) -> str:
        """What the measure is called in sentences and pictures."""
        return str(name_measure(self.measure))

    @property
    def claim(self) -> Claim:
        """Counting is exact; weighing by chances or by sampling weights estimates."""
        return self.counting.claim

    def failing(self, bound: float) -> int:
        """How many records are in classes that a bound excludes."""
        outside = is_beyond_bound(self.classes, bound, self.worst)
        return int(self.size[outside].sum())

    @cached_property
    def side_by_side(self) -> dict[str, float]:
        """The value under each way of counting missing values; all the same if none is missing."""
        counting = self.counting
        if not counting.hides and counting.original is None:
            return dict.fromkeys(counting.ways, self.value)
        return {
            each: self.value if each == counting.nulls else self.again(each)
            for each in counting.ways
        }

    def sentences(self) -> tuple[Sentence, ...]:
        """The worst class, and where a count understates the risk."""
        sentence_values = {"measure": self.title, "value": self.value, "nulls": self.counting.nulls}
        return Sentence("divulge.records", "classes.measured", sentence_values), *self.flattery()

    def flattery(self) -> tuple[Sentence, ...]:
        """A sentence where one way of counting makes the data look safer than another does."""
        value_by_semantics = self.side_by_side
        sentence_values = {"measure": self.title, **value_by_semantics}
        if "maybe" not in value_by_semantics:
            return ()
        if "known" in value_by_semantics and self._is_worse(
            value_by_semantics["known"], value_by_semantics["maybe"]
        ):
            return (Sentence("divulge.records", "classes.flatters", sentence_values),)
        if (
            "known" not in value_by_semantics
            and "standard" in value_by_semantics
            and self._is_worse(value_by_semantics["standard"], value_by_semantics["maybe"])
        ):
            return (Sentence("divulge.records", "classes.hidden", sentence_values),)
        return ()

    def assessment(self) -> Assessment:
        """What the classes give away, in the currency of all attacks."""
        return self.assess(np.ones(self.of_record.size, np.bool_), whole=True)

    def assess(self, chosen: Bools, whole: bool = False) -> Assessment:
        """The assessment of some of the people; each kind of measure has its own."""
        raise NotImplementedError

    def by(self, group: str) -> Breakdown:
        """The same figures for every value of an attribute: who bears the risk."""
        [group] = self._people.attributes(group, "by")
        require_groups_at_home(self._people)
        column = self._people.columns[group]
        assessments = {
            column.value(int(code)): self.assess(column.codes == code)
            for code in np.unique(column.codes)
        }
        return Breakdown(group, assessments)

    def chart(self) -> Chart:
        """How many records are in classes of which measure."""
        return draw_class_measure(self, MAX_BARS)

    def summary(self) -> dict[str, Any]:
        """The value, how it is spread, and what it were if nulls were counted otherwise."""
        return {
            "measure": self.measure,
            "dataset": self.dataset.name,
            "attributes": list(self.counting.attributes),
            "nulls": self.counting.nulls,
            "count": self.counting.count,
            "claim": self.claim,
            "value": _finite_or_none(self.value),
            "classes": count_rows(self.classes, self.class_number),
            "mean_over_records": _finite_or_none(self._find_mean()),
            "value_by_semantics": {
                nulls: _finite_or_none(value) for nulls, value in self.side_by_side.items()
            },
        }

    def to_dict(self) -> dict[str, Any]:
        """The summary and the sentences; no record."""
        return {**self.summary(), "sentences": self.explain()}

    def explain(self) -> list[str]:
        """What was found, in sentences."""
        return self.assessment().explain()

    def to_arrow(self) -> pa.Table:
        """One row per record, in the order of the records: the measure of its class."""
        import pyarrow as pa

        require_rows_at_home(self.dataset)

        return pa.table({self.measure: self.values})

    def classes_to_arrow(self) -> pa.Table:
        """One row per class: its size and its measure."""
        import pyarrow as pa

        require_rows_at_home(self.dataset)

        return pa.table({"size": self.size, self.measure: self.classes})

    @property
    def _people(self) -> Dataset:
        """Those of whom something is found out; their attributes are what `by` takes."""
        return self.dataset

    def _find_mean(self) -> float:
        if self.number is None:
            return float(self.values.mean())
        return float(np.dot(self.classes, self.size) / self.size.sum())

    def _find_worst(self, classes: Floats) -> float:
        return float(classes.min() if self.worst == "lowest" else classes.max())

    def _is_worse(self, one: float, other: float) -> bool:
        return one < other if self.worst == "lowest" else one > other

    def __str__(self) -> str:
        return "\n".join(self.explain())

    def __repr__(self) -> str:
        return f'{self.measure} of "{self.dataset.name}": {format_number(self.value)}'

    def _repr_html_(self) -> str:
        ways = list(self.side_by_side.items())
        rows = [(name, format_number(value)) for name, value in ways]
        head = (*read_phrases("divulge.records", "head.class_measure"), self.title)
        return html.render_paragraphs(self.explain()) + html.render_table(head, rows)


@dataclass(frozen=True, repr=False)
class SensitiveMeasure(ClassMeasure):
    """A measure of what classes give away of a sensitive attribute."""

    sensitive: SensitiveClasses

    def assess(self, chosen: Bools, whole: bool = False) -> Assessment:
        """An adversary who finds a victim's class takes its commonest value.

        Before, the adversary would take the commonest of all.
        """
        sensitive = self.sensitive
        highest = np.zeros(sensitive.classes)
        np.maximum.at(highest, sensitive.of_class, sensitive.count)
        kinds = np.bincount(sensitive.of_class, minlength=sensitive.classes)
        members = np.bincount(sensitive.of_record[chosen], minlength=sensitive.classes)
        if self.number is not None:
            members = members * self.number
        rows = count_chosen(chosen, self.number)
        certain = int(members[kinds == 1].sum())
        right = float((members * highest / sensitive.total).sum())
        alike = bool(sensitive.overall.max() == 1)
        # Before, the commonest of all is taken, and is right as often as it is in these classes.
        common = np.where(sensitive.code == sensitive.overall.argmax(), sensitive.count, 0)
        before = float((members * sensitive.sum_per_class(common) / sensitive.total).sum())
        sentence_values = {
            "attribute": sensitive.attribute,
            "certain": certain,
            "right": right,
            "total": rows,
            "subjects": self.dataset.subjects,
        }
        callbacks: dict[str, Any] = {}
        if whole:
            chance = highest / sensitive.total
            callbacks = {
                "_chart": self.chart,
                "_breakdown": self.by,
                "_risk": lambda: chance[sensitive.of_record],
            }
        if whole and self.number is not None:
            del callbacks["_risk"]
            callbacks["_highest"] = lambda: float(chance.max())
        return Assessment.from_counts(
            attack="risk",
            model=self.measure,
            dataset=self.dataset.name,
            knows=sensitive.among,
            seeks=(sensitive.attribute,),
            secrets=rows,
            subjects=self.dataset.subjects,
            claim=self.claim,
            certain=PriorPosterior(rows if alike else 0, certain),
            right=PriorPosterior(min(before, right), right),
            sentences=(
                *(self.sentences()[:1] if whole else ()),
                Sentence("divulge.records", "classes.inferred", sentence_values),
                *(self.flattery() if whole else ()),
            ),
            figures={
                self.measure: self._find_worst(self.values[chosen]),
                "classes": count_chosen(members > 0, self.class_number),
                **({f"with_{way}": of for way, of in self.side_by_side.items()} if whole else {}),
            },
            **callbacks,
        )


@dataclass(frozen=True, repr=False)
class CrowdMeasure(ClassMeasure):
    """A measure whose figure is a crowd: whoever hides in a crowd of k is found once in k."""

    def risk(self) -> RecordRisk:
        """One over the crowd of each record; of people, the chance of the likeliest."""
        if find_people(self.dataset) is not None:
            return self._find_likeliest()
        return RecordRisk(
            values=1 / np.maximum(self.values, 1),
            number=self.number,
            measure=self.measure,
            dataset=self.dataset,
            attributes=self.counting.attributes,
            claim=self.claim,
            notes=self.sentences(),
            figures={
                self.measure: self.value,
                "classes": count_rows(self.classes, self.class_number),
            },
        )

    def _find_likeliest(self) -> RecordRisk:
        """Who has most of their records in a crowd is likelier there than one over the crowd."""
        counting = self.counting
        risk = frequencies(
            self.dataset,
            counting.nulls,
            among=counting.attributes,
            original=counting.original,
            records_known=counting.records_known,
        ).risk()
        figures = {self.measure: self.value, "classes": int(self.classes.size)}
        return replace(risk, measure=self.measure, notes=self.sentences(), figures=figures)

    def assess(self, chosen: Bools, whole: bool = False) -> Assessment:
        """The risk of being picked out of the crowd."""
        return self.risk().of(chosen, whole=whole)


def _finite_or_none(figure: float) -> float | None:
    """A figure as JSON can hold it; what is without end is null there."""
    return figure if math.isfinite(figure) else None
