"""Evaluation of a randomised suppression: price, support, and the success of a best guess.

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

from divulge.assessment import Sentence
from divulge.tables.candidate_tables.enumeration import candidates
from divulge.tables.candidate_tables.small_network import find_first_optimum
from divulge.tables.candidate_tables.suppressor_knowledge import (
    POSSIBLE,
    build_problem,
    choose_knowledge,
)
from divulge.tables.candidate_tables.suppressor_parameters import SuppressorParameters
from divulge.tables.matching.attack import matching_attack
from divulge.tables.matching.result import Matching
from divulge.tables.randomised.draw_record import draw_sealed_pattern
from divulge.tables.randomised.randomised_suppression import (
    build_small_network,
    enumerate_draws,
    is_resisting,
)
from divulge.tables.suppression.optimal import PatternSolution, optimal_pattern
from divulge.tables.suppression.problem import SuppressionProblem
from divulge.tables.table.structure import Key
from divulge.tables.table.table import Published, Table
from divulge.work.arrays import Bools

CATALOGUE = "divulge.tables"
CREDIBLE_MASS = 0.95


@dataclass(frozen=True, eq=False, kw_only=True)
class Resistance:
    """How a table was drawn, what that cost, and what is left to an adversary who knows how."""

    published: Published
    primary: Bools
    parameters: SuppressorParameters
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
            zeros=rules.zeros,
        )

    @property
    def support_widths(self) -> dict[Key, int]:
        """How wide the possible values of every primary cell spread."""
        attack = self.attack
        return {
            key: int(attack.intervals[key][1] - attack.intervals[key][0])
            for key in attack.sensitive_cells
        }

    @property
    def vulnerability(self) -> float:
        """The chance of a best guess at a primary cell, on average (an estimate)."""
        return self.attack.assessment.probabilistic.posterior

    @property
    def likely_values(self) -> dict[Key, int]:
        """How many values of every primary cell hold 95% of the posterior (an estimate)."""
        return {
            key: count_likely_values(self.attack.posterior[key])
            for key in self.attack.sensitive_cells
        }

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values, for JSON; the seed stays secret."""
        likely_counts = list(self.likely_values.values())
        widths = list(self.support_widths.values())
        return {
            "draws": self.draws,
            "extra_cost": self.price,
            "narrowest_support": min(widths, default=None),
            "vulnerability": self.vulnerability if widths else None,
            "fewest_likely_values": min(likely_counts, default=None),
            "unsafe": len(self.attack.unsafe),
        }

    def explain(self) -> list[str]:
        """How it was drawn, what that cost, and what is left to an adversary, in sentences."""
        figures = self.to_dict()
        if figures["vulnerability"] is None:
            return [Sentence(CATALOGUE, "resistance.none").render()]
        values = {
            "draws": self.draws,
            "price": self.price,
            "width": figures["narrowest_support"],
            "values": figures["fewest_likely_values"],
            "share": figures["vulnerability"],
        }
        keys = ("draws", "price", "interval", "likely", "guess")
        return [Sentence(CATALOGUE, f"resistance.{key}", values).render() for key in keys]

    def __str__(self) -> str:
        return "\n".join(self.explain())


def count_likely_values(chances: Any) -> int:
    """The smallest number of values that hold 95% of a posterior.

    >>> count_likely_values({3: 0.9, 4: 0.06, 5: 0.04})
    2
    """
    ordered = np.sort(list(chances.values()))[::-1]
    return int(np.searchsorted(np.cumsum(ordered), CREDIBLE_MASS - 1e-12) + 1)


def draw_resisting_solution(
    table: Table,
    problem: SuppressionProblem,
    parameters: SuppressorParameters,
    seed: int | None,
    sealed: Path | str | None,
) -> tuple[PatternSolution, Resistance]:
    """A drawn pattern, with the cheapest one's cost as its bound."""
    draw, draw_seed = draw_sealed_pattern(table, parameters, seed, sealed)
    cost = problem.price(draw.pattern)
    best = (
        find_first_optimum(problem, build_small_network(table, problem)) if cost else draw.pattern
    )
    bound = optimal_pattern(problem).bound if best is None else problem.price(best)
    published = table.publish(draw.pattern)
    resistance = Resistance(
        published=published,
        primary=problem.start,
        parameters=parameters,
        draws=draw.draws,
        price=cost - bound,
        seed=draw_seed,
    )
    return PatternSolution(pattern=draw.pattern, cost=cost, bound=bound, first=False), resistance


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
        figures = zip(self.unsafe, self.disclosed, strict=True)
        sentences = (
            Sentence(
                CATALOGUE,
                "fresh_draws",
                {
                    "releases": place + 1,
                    "unsafe": unsafe,
                    "primary": self.primary,
                    "disclosed": disclosed,
                },
            )
            for place, (unsafe, disclosed) in enumerate(figures)
        )
        return "\n".join(map(str, sentences))


def fresh_draws(
    table: Table,
    min_frequency: int,
    width: int,
    zeros_primary: bool = False,
    releases: int = 5,
    *,
    seed: int = 0,
) -> FreshDraws:
    """What averaging over fresh draws of one table would give away: why draws are kept.

    Each draw is safe alone. A cell that one of them shows is known, and a table must be possible
    behind each.

    >>> table = Table.from_cells([[7, 11, 60], [10, 60, 11], [60, 12, 60]])
    >>> fresh_draws(table, 10, 10, releases=4).unsafe[-1]
    1
    """
    parameters = SuppressorParameters(
        min_frequency=min_frequency, width=width, zeros_primary=zeros_primary, rule="resisting"
    )
    problem = build_problem(table, parameters)
    draws = enumerate_draws(table, problem, parameters, seed)
    resisting = (
        pattern for _, pattern in draws if is_resisting(table.publish(pattern), parameters)
    )
    patterns = list(islice(resisting, releases))
    counts_by_release: tuple[list[int], list[int], list[int]] = ([], [], [])
    common = np.ones(table.structure.size, dtype=bool)
    for count, pattern in enumerate(patterns, start=1):
        common &= pattern
        possible_values = _list_possible_values(table, common, patterns[:count], parameters)
        primary = problem.start[np.flatnonzero(common)]
        widths = (possible_values.max(axis=0) - possible_values.min(axis=0))[primary]
        counts_by_release[0].append(int(common.sum()))
        counts_by_release[1].append(int((widths < width).sum()))
        counts_by_release[2].append(int((widths == 0).sum()))
    return FreshDraws(*counts_by_release, primary=len(problem.primary))


def _list_possible_values(
    table: Table, common: Bools, patterns: list[Bools], parameters: SuppressorParameters
) -> Any:
    """The values of the cells that no release shows, in tables possible behind each release."""
    joint = candidates(table.publish(common))
    possible_values = joint.values
    for pattern in patterns:
        candidate_set = candidates(table.publish(pattern), most=1)
        values = np.tile(table.units[candidate_set.cells], (len(possible_values), 1))
        values[:, np.searchsorted(candidate_set.cells, joint.cells)] = possible_values
        box = np.stack(
            [np.full(len(candidate_set.cells), 2**60), np.full(len(candidate_set.cells), -1)]
        )
        status = choose_knowledge(candidate_set, parameters).judge_candidates(
            values, box.astype(np.int64), False
        )
        possible_values = possible_values[status == POSSIBLE]
    return possible_values
