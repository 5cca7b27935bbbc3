"""`#risk(I, R)`: the risk of single records by the measure that a release names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from divulge.assessment import Limit
from divulge.data import Dataset
from divulge.data.column import Column
from divulge.protection.changes.changes import select_records
from divulge.protection.limits.goal_list import build_goals
from divulge.records.risk.measure_names import name_risk
from divulge.records.risk.risk_reason import explain_risk
from divulge.release.rule_programs.rule_data import RuleData
from divulge.release.rule_programs.rule_program import RISK
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.rules.plugin_atoms import AnswerReason, RulePlugin

NOBODY = -1
"""The place of a record that is not, or no longer, there."""


@dataclass
class RecordRisks:
    """The risk of each record of the data that are looked at, measured when first asked for."""

    measure: str
    data: RuleData
    answers_places: bool = field(default=False, init=False)
    """Whether rules are told where a record is, and not its risk: to see whose risk goes where."""
    _risks: Floats | None = field(default=None, init=False)
    _among: tuple[str, ...] = field(default=(), init=False)
    """By what records are looked for."""
    _places: RecordPlaces | None = field(default=None, init=False)

    def look_at(self, data: RuleData) -> None:
        """Turn to other data."""
        self.data = data
        self._risks = None

    def build_plugin(self) -> RulePlugin:
        """The plug-in atom that answers from here."""
        from divulge.rules.plugin_atoms import build_plugin

        return build_plugin(RISK, self, ["any"], ["number"])

    def why(self, record: object) -> AnswerReason | None:
        """Who is like a record, for how many they stand, and its rank."""
        from divulge.rules.plugin_atoms import AnswerReason

        dataset = self.data.find_subject()
        [place] = self.find_places(dataset).find([record])
        if place == NOBODY:
            return None
        risks = self.measure_all()
        name = str(name_risk(self.measure))
        said = explain_risk(risks, dataset, self._among, int(place), name)
        return AnswerReason(said.values, [str(sentence) for sentence in said.sentences])

    def measure_all(self) -> Floats:
        """The risk of each record, in their order."""
        if self._risks is None:
            dataset = self.data.find_subject()
            original = align_records(self.data.originals[dataset.name], dataset)
            [goal] = build_goals(dataset, [Limit(self.measure, at_most=1.0)], original=original)
            self._among = goal.among
            self._risks = goal.measure_standing(dataset, original).risk
        return self._risks

    def find_places(self, dataset: Dataset) -> RecordPlaces:
        """Where the records of a dataset are."""
        if self._places is None or not self._places.fits(dataset):
            self._places = RecordPlaces.of(dataset)
        return self._places

    def __call__(self, records: pa.Array) -> list[float | None]:
        """The risk of each of these records; None where there is no such record."""
        places = self.find_places(self.data.find_subject()).find(records.to_pylist())
        known = places != NOBODY
        answers = places.astype(np.float64) if self.answers_places else self.measure_all()[places]
        return [
            answer if is_known else None
            for answer, is_known in zip(answers.tolist(), known.tolist(), strict=True)
        ]


@dataclass(frozen=True)
class RecordPlaces:
    """Where the records of a dataset are, by what rules call them."""

    by_key: dict[str, int]
    rows: int
    identifier: Column | None

    @classmethod
    def of(cls, dataset: Dataset) -> RecordPlaces:
        """The places of all records."""
        from divulge.rules.dictionary_facts import read_record_keys

        keys = read_record_keys(dataset)
        column = None if keys.attribute is None else dataset.columns[keys.attribute]
        by_key = {str(key): place for place, key in enumerate(keys.values.to_pylist())}
        return cls(by_key, dataset.rows, column)

    def fits(self, dataset: Dataset) -> bool:
        """Whether a dataset has the same records in the same places."""
        identifiers = dataset.dictionary.having("identifier")
        column = dataset.columns[identifiers[0]] if len(identifiers) == 1 else None
        return column is self.identifier and dataset.rows == self.rows

    def find(self, records: list[object]) -> Ints:
        """The place of each record; `NOBODY` where there is none."""
        find = self.by_key.get
        places: Ints = np.array([find(str(record), NOBODY) for record in records], np.int64)
        return places


def align_records(original: Dataset, dataset: Dataset) -> Dataset:
    """The records of an original that are still in a dataset, in its order, by their identifier."""
    from divulge.rules.dictionary_facts import read_record_keys

    if original.rows == dataset.rows:
        return original
    places = {key: place for place, key in enumerate(read_record_keys(original).values.to_pylist())}
    kept = [places[key] for key in read_record_keys(dataset).values.to_pylist()]
    return select_records(original, np.array(kept, np.int64))
