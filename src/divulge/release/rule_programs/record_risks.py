"""`#risk(I, R)`: the risk of single records by the measure that a release names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from divulge.assessment import Limit
from divulge.data import Dataset
from divulge.data.column import Column
from divulge.protection.changes.changes import select_records
from divulge.protection.limits.goal_list import build_goals
from divulge.records.risk.measure_names import name_risk
from divulge.records.risk.risk_reason import explain_risk
from divulge.release.rule_programs.rule_data import RuleData
from divulge.release.rule_programs.rule_program import RISK, RuleProgram
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.rules.plugin_atoms import AnswerReason, RulePlugin

NOBODY = -1
"""The place of a record that is not, or no longer, there."""


class MeasuredRisks(NamedTuple):
    """The risk of each record, and by what attributes records are looked for."""

    risks: Floats
    among: tuple[str, ...]


@dataclass
class RecordRisks:
    """The risk of each record of the data that are looked at, measured when first asked for."""

    measure: str
    data: RuleData
    names_dataset: bool = False
    """Whether rules say of which dataset they ask; otherwise there is one."""
    answers_places: bool = field(default=False, init=False)
    """Whether rules are told where a record is, and not its risk: to see whose risk goes where."""
    _measured: dict[str, MeasuredRisks] = field(default_factory=dict, init=False)
    _places: dict[str, RecordPlaces] = field(default_factory=dict, init=False)

    @classmethod
    def of(cls, rules: RuleProgram, data: RuleData) -> RecordRisks:
        """What the rules of a release may ask of its datasets.

        Raises:
            InvalidInput: if it is not clear of which dataset they ask.
        """
        if rules.asks_risk and not rules.names_dataset_of_risk and len(data.published) > 1:
            message = (
                "the release publishes several datasets of records; say which is meant by a first "
                "argument: #risk(M, I, R)."
            )
            raise InvalidInput("rules", [Problem("#risk", message)])
        return cls(rules.risk_measure, data, rules.names_dataset_of_risk)

    def look_at(self, data: RuleData) -> None:
        """Turn to other data."""
        self.data = data
        self._measured = {}

    def build_plugin(self) -> RulePlugin:
        """The plug-in atom that answers from here."""
        from divulge.rules.plugin_atoms import build_plugin

        inputs = ["any"] * (2 if self.names_dataset else 1)
        return build_plugin(RISK, self, inputs, ["number"])

    def why(self, *asked: object) -> AnswerReason | None:
        """Who is like a record, for how many they stand, and its rank."""
        from divulge.rules.plugin_atoms import AnswerReason

        *names, record = asked
        dataset = self._find_subject(str(names[0]) if names else None)
        if dataset is None:
            return None
        [place] = self.find_places(dataset).find([record])
        if place == NOBODY:
            return None
        measured = self._measure(dataset)
        name = str(name_risk(self.measure))
        said = explain_risk(measured.risks, dataset, measured.among, int(place), name)
        return AnswerReason(said.values, [str(sentence) for sentence in said.sentences])

    def measure_all(self) -> Floats:
        """The risk of each record of the only dataset, in their order."""
        return self._measure(self.data.find_subject()).risks

    def find_places(self, dataset: Dataset) -> RecordPlaces:
        """Where the records of a dataset are."""
        places = self._places.get(dataset.name)
        if places is None or not places.fits(dataset):
            places = self._places[dataset.name] = RecordPlaces.of(dataset)
        return places

    def __call__(self, *asked: pa.Array) -> list[float | None]:
        """The risk of each of these records; None where there is no such record."""
        records = asked[-1].to_pylist()
        names = asked[0].to_pylist() if self.names_dataset else [None] * len(records)
        answers: list[float | None] = [None] * len(records)
        for name in dict.fromkeys(names):
            dataset = self._find_subject(name)
            if dataset is not None:
                numbers = [number for number, other in enumerate(names) if other == name]
                for number, answer in zip(
                    numbers, self._answer(dataset, [records[n] for n in numbers]), strict=True
                ):
                    answers[number] = answer
        return answers

    def _answer(self, dataset: Dataset, records: list[object]) -> list[float | None]:
        places = self.find_places(dataset).find(records)
        known = places != NOBODY
        found = places.astype(np.float64)
        if not self.answers_places:
            found = self._measure(dataset).risks[places]
        return [
            answer if is_known else None
            for answer, is_known in zip(found.tolist(), known.tolist(), strict=True)
        ]

    def _find_subject(self, name: str | None) -> Dataset | None:
        """The dataset that is asked about; None if the release publishes none of that name."""
        if self.names_dataset and name not in self.data.published:
            return None
        return self.data.find_subject(name)

    def _measure(self, dataset: Dataset) -> MeasuredRisks:
        known = self._measured.get(dataset.name)
        if known is None:
            original = align_records(self.data.originals[dataset.name], dataset)
            [goal] = build_goals(dataset, [Limit(self.measure, at_most=1.0)], original=original)
            risks = goal.measure_standing(dataset, original).risk
            known = self._measured[dataset.name] = MeasuredRisks(risks, goal.among)
        return known


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
