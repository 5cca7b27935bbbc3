"""A measure of each class of records that look alike, and of the dataset: its worst class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from divulge.assessment.sentence import number
from divulge.data import Dataset
from divulge.records.alike import FloatArray, IntArray

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, repr=False)
class ClassMeasure:
    """One figure for each class; `worst` says whether the lowest or the highest one counts."""

    measure: str
    classes: FloatArray
    of_record: IntArray
    size: IntArray
    dataset: Dataset
    worst: Literal["lowest", "highest"]

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
