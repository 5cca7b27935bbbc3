"""The parameters of our own suppressor, as somebody knows them who wants to undo it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from divulge.tables.feasibility.sensitivity import SensitivityRules
from divulge.tables.suppression.problem import SuppressionProblem
from divulge.tables.table.published import Zeros
from divulge.tables.table.table import Table
from divulge.work import Problems
from divulge.work.arrays import Bools, Ints

Rule = Literal["first optimum", "any optimum", "minimal", "resisting"]
"""Which patterns our own suppressors can give: the deterministic one, random ties, random costs,
random costs and widths (`resist_matching`)."""

SUPPRESSOR_RULES: tuple[Rule, ...] = ("first optimum", "any optimum", "minimal", "resisting")


@dataclass(frozen=True, kw_only=True)
class SuppressorParameters:
    """The parameters of our own suppressor.

    The width is in units, of which `unit` make one that is counted.
    """

    min_frequency: int
    width: int
    zeros_primary: bool = False
    cost: Any = "number"
    margins: Literal["published", "suppressible"] = "published"
    rule: Rule = "first optimum"
    unit: int = 1
    zeros: Zeros = "secret"

    @property
    def threshold(self) -> int:
        """What is below it is primary, in units."""
        return self.min_frequency * self.unit

    @property
    def threshold_above_floor(self) -> int:
        """The same for values that are counted from the smallest possible one."""
        return self.threshold - (self.zeros == "known")

    @property
    def is_floor_primary(self) -> bool:
        """Whether a cell with the smallest possible value is primary: 0, or 1 by known zeros."""
        return self.zeros_primary or self.zeros == "known"

    @property
    def requested_width(self) -> float:
        """The width as it is asked for."""
        return self.width / self.unit if self.width % self.unit else self.width // self.unit

    def is_primary(self, values: Ints) -> Bools:
        """Which values make a cell primary."""
        small: Bools = values < self.threshold
        return small if self.zeros_primary else small & (values > 0)

    def __str__(self) -> str:
        zeros = "zeros primary" if self.zeros_primary else "zeros not primary"
        return f"min_frequency={self.min_frequency}, width={self.requested_width}, {zeros}"


def build_resisting_parameters(
    table: Table,
    rules: SensitivityRules,
    problem: SuppressionProblem,
    *,
    changed: bool,
    method: str,
    cost: Any,
    margins: Literal["published", "suppressible"],
) -> SuppressorParameters:
    """The parameters of a suppression that is to resist the attack; refused if it is another kind.

    `changed` says that cells were chosen by hand.
    """
    problems = Problems("suppress, resist_matching")
    if not table.is_frequency or table.decimals or table.lowest:
        problems.add("table", "counts are needed: the protection of magnitudes depends on them.")
    if rules.min_frequency is None or replace(rules, min_frequency=None) != SensitivityRules(
        zeros_primary=rules.zeros_primary
    ):
        problems.add("rules", "min_frequency is the one rule of sensitivity that it knows.")
    contributions = table.contributions
    if contributions is not None and not np.array_equal(
        contributions.count_contributors(), table.units
    ):
        problems.add("contributor", "a holding's records count as one, which no cell shows.")
    if changed:
        problems.add("cells", "a choice by hand may itself reveal something: leave them out.")
    if problem.upper.any() or problem.lower.any():
        problems.add("upper and lower", "ask for a width instead.")
    if table.zeros == "known" and isinstance(cost, str) and cost == "value":
        problems.add("cost", 'costs by value are known where zeros are secret: zeros="secret".')
    if method != "optimal":
        problems.add("method", 'only "optimal" patterns are known well enough.')
    problems.raise_any()
    width = int(problem.sliding.max(initial=0))
    return SuppressorParameters(
        min_frequency=rules.min_frequency or 1,
        width=width,
        zeros_primary=rules.zeros_primary,
        cost=cost,
        margins=margins,
        rule="resisting",
        zeros=table.zeros,
    )
