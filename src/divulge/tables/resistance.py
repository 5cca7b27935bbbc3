"""What a resisting suppression is worth: price, support, how well a best guess does.

Width alone misleads: a wide interval of which one value is likely protects nobody. So beside the
width of the support stand the chance of a best guess (Bayes vulnerability) and the number of
values that hold 95% of the posterior, under equally likely candidate tables.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from divulge.assessment.sentence import number, percent
from divulge.tables.knowledge.candidate_tables import candidates
from divulge.tables.knowledge.small_network import first_optimum
from divulge.tables.knowledge.suppressor_knowledge import (
    POSSIBLE,
    Parameters,
    knowledge_of,
    problem_of,
)
from divulge.tables.matching.attack import matching_attack
from divulge.tables.matching.result import Matching
from divulge.tables.randomised.draw_record import sealed_pattern
from divulge.tables.randomised.randomised_suppression import drawn_patterns, resists, small_network
from divulge.tables.suppression.optimal import Solution, optimal_pattern
from divulge.tables.suppression.problem import SuppressionProblem
from divulge.tables.table.structure import BoolArray, Key
from divulge.tables.table.table import Published, Table

LIKELY = 0.95


@dataclass(frozen=True, eq=False)
class Resistance:
    """How a table was drawn, what that cost, and what is left to an adversary who knows how."""

    published: Published
    primary: BoolArray
    parameters: Parameters
    draws: int
    price: int
    seed: int = field(repr=False)

    @cached_property
    def attack(self) -> Matching:
        """The attack of somebody who knows everything but the seed."""
        rules = self.parameters
        return matching_attack(
            self.published,
            rules.min_frequency,
            rules.width,
            rules.zeros_primary,
            suppressor="resisting",
            mode="full",
            primary=self.primary,
            cost=rules.cost,
            margins=rules.margins,
        )

    @property
    def support_widths(self) -> dict[Key, int]:
        """How wide the possible values of every primary cell spread."""
        found = self.attack
        return {
            key: int(found.intervals[key][1] - found.intervals[key][0])
            for key in found.sensitive_cells
        }

    @property
    def vulnerability(self) -> float:
        """The chance of a best guess at a primary cell, on average (an estimate)."""
        return self.attack.assessment.probabilistic.posterior

    @property
    def likely_values(self) -> dict[Key, int]:
        """How many values of every primary cell hold 95% of the posterior (an estimate)."""
        return {key: likely(self.attack.posterior[key]) for key in self.attack.sensitive_cells}

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values, for JSON; the seed stays secret."""
        few = list(self.likely_values.values())
        widths = list(self.support_widths.values())
        return {
            "draws": self.draws,
            "extra_cost": self.price,
            "narrowest_support": min(widths, default=None),
            "vulnerability": self.vulnerability if widths else None,
            "fewest_likely_values": min(few, default=None),
            "unsafe": len(self.attack.unsafe),
        }

    def __str__(self) -> str:
        told = self.to_dict()
        if told["vulnerability"] is None:
            return "No cell is primary: nothing was drawn."
        return (
            f"Drawn {self.draws} times; {number(self.price)} above the least cost. An adversary "
            f"who knows all but the seed leaves every primary cell at least "
            f"{told['narrowest_support']} wide, with {told['fewest_likely_values']} or more likely "
            f"values (95%), and guesses {percent(told['vulnerability'])} of them right (estimated)."
        )


def likely(chances: Any) -> int:
    """The smallest number of values that hold 95% of a posterior.

    >>> likely({3: 0.9, 4: 0.06, 5: 0.04})
    2
    """
    ordered = np.sort(list(chances.values()))[::-1]
    return int(np.searchsorted(np.cumsum(ordered), LIKELY - 1e-12) + 1)


def resisting_solution(
    table: Table,
    problem: SuppressionProblem,
    parameters: Parameters,
    seed: int | None,
    sealed: Path | str | None,
) -> tuple[Solution, Resistance]:
    """A drawn pattern, with the cheapest one's cost as its bound."""
    drawn, used = sealed_pattern(table, parameters, seed, sealed)
    cost = problem.price(drawn.pattern)
    best = first_optimum(problem, small_network(table, problem)) if cost else drawn.pattern
    bound = optimal_pattern(problem).bound if best is None else problem.price(best)
    published = table.publish(drawn.pattern)
    resistance = Resistance(published, problem.start, parameters, drawn.draws, cost - bound, used)
    return Solution(drawn.pattern, cost, bound, False), resistance


@dataclass(frozen=True)
class FreshDraws:
    """What several releases of one table give away together, if each is drawn afresh.

    Entry k of each list is after k + 1 releases.
    """

    hidden: list[int]
    unsafe: list[int]
    disclosed: list[int]
    primary: int

    def __str__(self) -> str:
        said = (
            f"after {k + 1}: {unsafe} of {self.primary} unsafe, {known} known exactly"
            for k, (unsafe, known) in enumerate(zip(self.unsafe, self.disclosed, strict=True))
        )
        return "Fresh draws, " + "; ".join(said) + "."


def fresh_draws(
    table: Table,
    min_frequency: int,
    width: int,
    zeros_primary: bool = False,
    releases: int = 5,
    seed: int = 0,
) -> FreshDraws:
    """What averaging over fresh draws of one table would give away: why draws are kept.

    Each draw is safe alone. A cell that one of them shows is known, and a table must be possible
    behind each.

    >>> table = Table.from_cells([[7, 11, 60], [10, 60, 11], [60, 12, 60]])
    >>> fresh_draws(table, 10, 10, releases=4).unsafe[-1]
    1
    """
    parameters = Parameters(min_frequency, width, zeros_primary, rule="resisting")
    problem = problem_of(table, parameters)
    draws = drawn_patterns(table, problem, parameters, seed)
    kept = (pattern for _, pattern in draws if resists(table.publish(pattern), parameters))
    patterns = list(islice(kept, releases))
    told: tuple[list[int], list[int], list[int]] = ([], [], [])
    common = np.ones(table.structure.size, dtype=bool)
    for count, pattern in enumerate(patterns, start=1):
        common &= pattern
        left = _possible_behind(table, common, patterns[:count], parameters)
        primary = problem.start[np.flatnonzero(common)]
        widths = (left.max(axis=0) - left.min(axis=0))[primary]
        told[0].append(int(common.sum()))
        told[1].append(int((widths < width).sum()))
        told[2].append(int((widths == 0).sum()))
    return FreshDraws(*told, primary=len(problem.primary))


def _possible_behind(
    table: Table, common: BoolArray, patterns: list[BoolArray], parameters: Parameters
) -> Any:
    """The values of the cells that no release shows, in tables possible behind each release."""
    joint = candidates(table.publish(common))
    left = joint.values
    for pattern in patterns:
        found = candidates(table.publish(pattern), most=1)
        values = np.tile(table.units[found.cells], (len(left), 1))
        values[:, np.searchsorted(found.cells, joint.cells)] = left
        box = np.stack([np.full(len(found.cells), 2**60), np.full(len(found.cells), -1)])
        status = knowledge_of(found, parameters).possible(values, box.astype(np.int64), False)
        left = left[status == POSSIBLE]
    return left
