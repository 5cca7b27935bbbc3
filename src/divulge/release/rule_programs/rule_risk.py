"""The risk that rules derive for each record: a function that limits and protection ask anew."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from divulge.assessment import Sentence
from divulge.data import Dataset, Hierarchy
from divulge.data.column import Column, find_hidden_cells
from divulge.release.rule_programs.record_risks import align_records
from divulge.release.rule_programs.risk_evaluator import RiskEvaluator
from divulge.release.rule_programs.rule_data import RuleData
from divulge.release.rule_programs.rule_program import RuleProgram
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Floats

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
    written_measure: str = field(default=RULE_RISK, init=False)
    """The measure as release files name it: decisions say what somebody wrote."""
    _evaluator: RiskEvaluator | None = field(default=None, init=False, repr=False)
    """Made when a risk is first asked for; it holds what was derived of data that stay."""

    @property
    def measure_title(self) -> Sentence:
        """What limits on it are called where people read them."""
        return Sentence("divulge.release", "rules.risk")

    def trusts_changes(self, dataset: Dataset) -> bool:
        """Whether the risk may have fallen because rules take changed cells as they are.

        A rule that reads published values no longer sees those that are hidden, and no longer
        recognises coarser ones; an attacker knows what they were. Neither does it tell the truth of
        somebody whose value stands in another record now.
        """
        if self.data is None or not self.rules.risk_reads_values:
            return False
        columns = dataset.columns.values()
        if any(bool(find_hidden_cells(column).any()) for column in columns):
            return True
        original = align_records(self.data.originals[dataset.name], dataset)
        hierarchies = {each.name: each.hierarchy for each in dataset.dictionary}
        return any(
            _has_strange_cells(
                column,
                original.columns[name],
                None if self.rules.risk_compares_values else hierarchies.get(name),
                takes_new_values=not self.rules.risk_compares_values,
            )
            for name, column in dataset.columns.items()
            if name in original.columns and column is not original.columns[name]
        )

    def __call__(self, dataset: Dataset) -> Floats:
        """The risk of each record of a dataset as it is now."""
        if self.data is None:
            message = "is of the rules of a release; check or protect the release."
            raise InvalidInput("rule_risk", [Problem("", message)])
        if self._evaluator is None:
            object.__setattr__(self, "_evaluator", RiskEvaluator(self.rules, self.data))
        assert self._evaluator is not None  # noqa: S101  # made above
        return self._evaluator.measure(dataset)


def _has_strange_cells(
    column: Column, original: Column, hierarchy: Hierarchy | None, *, takes_new_values: bool
) -> bool:
    """Whether some cell shows what its record's was not.

    Coarser values stand for what was there (`takes_new_values`, if nothing compares them): those
    of the hierarchy, and any that the original does not have. One that the original has elsewhere
    was moved there, from another record, say.
    """
    pairs = np.unique(np.stack([column.codes, original.codes], dtype=np.int64), axis=1)
    known = set(original.values.to_pylist())
    for code, original_code in pairs.T.tolist():
        value, before = column.value(code), original.value(original_code)
        if value == before or (takes_new_values and value not in known):
            continue
        if hierarchy is None or hierarchy.lacks([before]):
            return True
        if value not in {hierarchy.at(before, level) for level in range(hierarchy.height + 1)}:
            return True
    return False
