"""Why a record has the risk that it has: who is like it, for how many they stand, its rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from divulge.assessment import Sentence
from divulge.classes.survey_design import sampling_weights
from divulge.data import Dataset
from divulge.data.column import find_hidden_cells
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Floats


@dataclass(frozen=True, kw_only=True)
class RiskReason:
    """The group of a record: those that show the same values, and what it is among them."""

    measure: str
    subjects: str
    risk: float
    values: Mapping[str, Any]
    """What the record and its group show, by attribute."""
    size: int
    """How many there are of the group, the record among them."""
    fitting: int
    """How many others would fit if hidden values were theirs."""
    weight: float | None
    """How many of the population the group stands for; None without sampling weights."""
    own_weight: float | None
    rank: int
    """The place of the record in its group, the highest risk first; equal ones share a place."""
    rank_of_all: int
    total: int

    @property
    def sentences(self) -> list[Sentence]:
        """The same in words, without a value of a record."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        keys = ["group", "weight", "fitting", "rank"]
        if self.weight is None:
            keys.remove("weight")
        if not self.fitting:
            keys.remove("fitting")
        return [Sentence("divulge.records", f"risk_reason.{key}", values) for key in keys]

    def __str__(self) -> str:
        return "\n".join(map(str, self.sentences))


def explain_risk(
    risks: Floats, dataset: Dataset, attributes: Sequence[str], record: int, measure: str
) -> RiskReason:
    """Why a record has its risk, by the attributes that it is looked for by.

    Args:
        risks: the risk of each record.
        dataset: the records.
        attributes: what an adversary looks for them by.
        record: the number of the record, from 0.
        measure: what the risk is called.

    Raises:
        InvalidInput: if there is no such record.
    """
    if not 0 <= record < dataset.rows:
        message = f"there are {dataset.rows:,} {dataset.subjects}, from 0, and no number {record}."
        raise InvalidInput(f'risk of "{dataset.name}"', [Problem("record", message)])
    is_alike = np.ones(dataset.rows, np.bool_)
    fits = np.ones(dataset.rows, np.bool_)
    values = {}
    for name in attributes:
        column = dataset.columns[name]
        hidden = find_hidden_cells(column)
        same = (column.codes == column.codes[record]) & (hidden == hidden[record])
        is_alike &= same
        fits &= same | hidden | hidden[record]
        values[name] = column.value(int(column.codes[record]))
    weights = sampling_weights(dataset)
    own = risks[record]
    return RiskReason(
        measure=measure,
        subjects=dataset.subjects,
        risk=float(own),
        values=values,
        size=int(is_alike.sum()),
        fitting=int((fits & ~is_alike).sum()),
        weight=None if weights is None else float(weights[is_alike].sum()),
        own_weight=None if weights is None else float(weights[record]),
        rank=1 + int((risks[is_alike] > own).sum()),
        rank_of_all=1 + int((risks > own).sum()),
        total=dataset.rows,
    )
