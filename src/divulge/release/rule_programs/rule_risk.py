"""The risk that rules derive for each record: a function that limits and protection ask anew."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from divulge.assessment import Sentence
from divulge.data import Dataset
from divulge.data.column import find_hidden_cells
from divulge.release.rule_programs.evaluation import RuleData, evaluate_rules
from divulge.release.rule_programs.rule_program import ARGUMENTS, RISK, RuleProgram
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Floats

if TYPE_CHECKING:
    from divulge.rules import Facts

RULE_RISK = "rule_risk"
"""The measure of limits on what rules derive by `risk(I, R)`."""


@dataclass(frozen=True, eq=False)
class RuleRisk:
    """What `risk(I, R)` of the rules says of each record; the highest where it says several.

    A record of which the rules say nothing has no risk.
    """

    rules: RuleProgram
    data: RuleData | None = None
    """What the rules look at; not yet read while a release file is loaded."""
    name: str = field(default="rules", init=False)

    @property
    def measure_title(self) -> Sentence:
        """What limits on it are called where people read them."""
        return Sentence("divulge.release", "rules.risk")

    def trusts_changes(self, dataset: Dataset) -> bool:
        """Whether the risk may have fallen because rules take changed cells as they are.

        A rule that reads published values no longer sees those that are hidden, and no longer
        recognises coarser ones; an attacker knows what they were.
        """
        if self.data is None or not self.rules.risk_reads_values:
            return False
        columns = dataset.columns.values()
        if any(bool(find_hidden_cells(column).any()) for column in columns):
            return True
        original = self.data.originals[dataset.name]
        return self.rules.risk_compares_values and any(
            not set(column.values.to_pylist()) <= set(original.columns[name].values.to_pylist())
            for name, column in dataset.columns.items()
            if name in original.columns
        )

    def __call__(self, dataset: Dataset) -> Floats:
        """The risk of each record of a dataset as it is now."""
        if self.data is None:
            message = "is of the rules of a release; check or protect the release."
            raise InvalidInput("rule_risk", [Problem("", message)])
        current = replace(self.data, datasets={**self.data.datasets, dataset.name: dataset})
        with evaluate_rules(self.rules, current) as facts:
            return read_risks_of_records(self.rules, facts, dataset)


def read_risks_of_records(rules: RuleProgram, facts: Facts, dataset: Dataset) -> Floats:
    """The risk of each record in its order, from the facts of `risk`.

    Raises:
        InvalidInput: if a risk is no number from 0 to 1.
    """
    from divulge.rules.dictionary_facts import read_record_keys

    has_dataset = rules.heads[RISK] > len(ARGUMENTS[RISK])
    keys = read_record_keys(dataset).values.to_pylist()
    places = {str(key): place for place, key in enumerate(keys)}
    risks = np.zeros(dataset.rows)
    wrong = 0
    for row in facts.rows(RISK):
        if has_dataset and row[0] != dataset.name:
            continue
        record, risk = row[-2:]
        place = places.get(str(record))
        try:
            value = float(risk)
        except (TypeError, ValueError):
            value = np.nan
        if not 0 <= value <= 1:
            wrong += 1
        elif place is not None:
            risks[place] = max(risks[place], value)
    if wrong:
        message = f"{wrong:,} of the risks that rules derive are no numbers from 0 to 1."
        raise InvalidInput("rules", [Problem(RISK, message)])
    return risks
