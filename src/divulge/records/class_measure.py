"""A measure of each class of records that look alike, and of the dataset: its worst class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from divulge.assessment import Assessment, Chart, Sentence
from divulge.assessment.sentence import number
from divulge.data import Dataset
from divulge.qif import PriorPosterior
from divulge.records.alike import FloatArray, IntArray
from divulge.records.equivalence import SensitiveClasses
from divulge.work import DivulgeError

if TYPE_CHECKING:
    import pyarrow as pa

BARS = 8


@dataclass(frozen=True, repr=False)
class ClassMeasure:
    """One figure for each class; `worst` says whether the lowest or the highest one counts."""

    measure: str
    classes: FloatArray
    of_record: IntArray
    size: IntArray
    dataset: Dataset
    worst: Literal["lowest", "highest"]
    sensitive: SensitiveClasses | None = None

    @property
    def value(self) -> float:
        """The measure of the dataset: that of its worst class."""
        return float(self.classes.min() if self.worst == "lowest" else self.classes.max())

    @property
    def values(self) -> FloatArray:
        """The measure of each record's class, in the order of the records."""
        return self.classes[self.of_record]

    def failing(self, bound: float) -> int:
        """How many records are in classes that a bound excludes."""
        outside = self.classes < bound if self.worst == "lowest" else self.classes > bound
        return int(self.size[outside].sum())

    def by(self, group: str) -> dict[Any, float]:
        """The worst class that each value of an attribute has a record in: who bears the risk."""
        [group] = self.dataset.attributes(group, "by")
        column, values = self.dataset.columns[group], self.values
        worst = np.min if self.worst == "lowest" else np.max
        return {
            column.value(int(code)): float(worst(values[column.codes == code]))
            for code in np.unique(column.codes)
        }

    def assessment(self) -> Assessment:
        """What the classes give away of the sensitive attribute, in the currency of all attacks.

        An adversary who finds a victim's class takes its commonest value; before, she would take
        the commonest of all.
        """
        found = self.sensitive
        if found is None:
            raise DivulgeError(f"{self.measure} has no sensitive attribute that could be inferred")
        highest = np.zeros(found.classes)
        np.maximum.at(highest, found.of_class, found.count)
        kinds = np.bincount(found.of_class, minlength=found.classes)
        rows = int(found.size.sum())
        certain, right = int(found.size[kinds == 1].sum()), float(highest.sum())
        alike = bool(found.overall.max() == 1)
        values = {
            "measure": self.measure.replace("_", " "),
            "value": self.value,
            "attribute": found.attribute,
            "certain": certain,
            "right": right,
            "total": rows,
            "subjects": self.dataset.subjects,
        }
        return Assessment.from_counts(
            attack="risk",
            model=self.measure,
            dataset=self.dataset.name,
            knows=found.among,
            seeks=(found.attribute,),
            secrets=rows,
            subjects=self.dataset.subjects,
            claim="exact",
            certain=PriorPosterior(rows if alike else 0, certain),
            right=PriorPosterior(float(found.overall.max()) * rows, right),
            sentences=(
                Sentence("divulge.records", "classes.measured", values),
                Sentence("divulge.records", "classes.inferred", values),
            ),
            figures={self.measure: self.value, "classes": found.classes},
            _chart=self.chart,
        )

    def chart(self) -> Chart:
        """How many records are in classes of which measure."""
        from divulge.records.risk_charts import measured_classes

        return measured_classes(self, BARS)

    def summary(self) -> dict[str, Any]:
        """The value, and how it is spread over the classes; no record."""
        return {
            "measure": self.measure,
            "dataset": self.dataset.name,
            "value": self.value,
            "classes": int(self.classes.size),
            "mean_over_records": float(self.values.mean()),
        }

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain values."""
        return self.summary()

    def to_arrow(self) -> pa.Table:
        """One row a class: its size and its measure."""
        import pyarrow as pa

        return pa.table({"size": self.size, self.measure: self.classes})

    def __repr__(self) -> str:
        return f'{self.measure} of "{self.dataset.name}": {number(self.value)}'
