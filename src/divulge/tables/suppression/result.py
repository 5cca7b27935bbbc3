"""A suppression: the problem that is posed, its solution, audited, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from divulge import work
from divulge.assessment.sentence import Sentence, format_percent
from divulge.tables.feasibility.cell_intervals import bound_cells
from divulge.tables.feasibility.shared_records import is_limited_by_records
from divulge.tables.suppression.heuristic import find_fast_pattern
from divulge.tables.suppression.optimal import PatternSolution, optimal_pattern
from divulge.tables.suppression.problem import SuppressionProblem
from divulge.tables.suppression.ring_cells import withstand_records
from divulge.tables.suppression.scopes import build_scopes
from divulge.tables.table.display import Crosstab, build_crosstabs, classify_cells
from divulge.tables.table.published import Published, Zeros
from divulge.tables.table.table import Table
from divulge.work import InvalidInput, Problem, Problems
from divulge.work.arrays import Bools, Ints

if TYPE_CHECKING:
    from divulge.tables.resistance import Resistance

CATALOGUE = "divulge.tables"
Method = Literal["optimal", "fast"]
METHODS = ("optimal", "fast")
MARGINS = ("published", "suppressible")


@dataclass(frozen=True, eq=False, kw_only=True)
class Suppression:
    """A protecting pattern: what it is, what it costs, and how good it is proven to be.

    `bound` is what any protecting pattern costs at the least, and `gap` what that leaves open as
    a share of the cost (0: proven cheapest). `first` says that among equally cheap patterns this
    is the lexicographically first, so that the same table always gives the same pattern.
    `resistance` tells of a pattern that was drawn to resist the matching attack.
    """

    table: Table
    pattern: Any
    primary: Any
    cost: float
    bound: float
    first: bool
    method: str
    published: Published
    required: Ints
    resistance: Resistance | None = None
    priced_by: Any = "number"
    margins: Literal["published", "suppressible"] = "published"
    zeros: Zeros = "secret"
    """Whether readers were taken to know which cells are empty."""
    by_hand: bool = False
    """Whether cells were named, or intervals asked for, that no rule gives."""
    is_cut: bool = False
    """Whether the clock stopped the search before its effort was spent."""
    unsettled: int = 0
    """Of how many sensitive cells of linked tables it is not shown that records protect them."""

    @property
    def rule(self) -> str:
        """By what rule it was chosen among patterns that protect, as `matching_attack` calls it."""
        if self.resistance is not None:
            return "resisting"
        return "first optimum" if self.first else "any optimum"

    @property
    def gap(self) -> float:
        """By how much the cost may exceed the least one, as a share of it."""
        return (self.cost - self.bound) / self.cost if self.cost else 0.0

    @property
    def secondary(self) -> Any:
        """The cells suppressed for the sake of the primary ones."""
        structure = self.table.structure
        return structure.to_grids(self.published.suppressed & ~structure.to_mask(self.primary))

    def to_dict(self) -> dict[str, Any]:
        """The figures and the pattern as plain values, for JSON."""
        structure = self.table.structure
        primary = structure.to_mask(self.primary)
        cells = np.flatnonzero(self.published.suppressed)
        return {
            "method": self.method,
            "cost": self.cost,
            "bound": self.bound,
            "gap": self.gap,
            "first_of_ties": self.first,
            **({"is_cut": True} if self.is_cut else {}),
            **({"unsettled": self.unsettled} if self.unsettled else {}),
            "primary": int(primary.sum()),
            "suppressed": len(cells),
            "cells": [
                {
                    "cell": list(structure.addresses[cell]),
                    "label": structure.describe_cell(int(cell)),
                    "primary": bool(primary[cell]),
                }
                for cell in cells
            ],
            **({} if self.resistance is None else {"resistance": self.resistance.to_dict()}),
        }

    def crosstabs(self) -> list[Crosstab]:
        """What is published, with the sensitive and the other suppressed cells; one a table."""
        structure, hidden = self.table.structure, self.published.suppressed
        kinds = classify_cells(hidden, structure.to_mask(self.primary), hidden & False)
        return build_crosstabs(structure, self.published.texts(), kinds)

    def explain(self) -> list[str]:
        """What is suppressed, what it costs, and how good that is proven to be, in sentences."""
        primary = int(self.table.structure.to_mask(self.primary).sum())
        secondary = int(self.published.suppressed.sum()) - primary
        sentences = [Sentence(CATALOGUE, "suppression.primary", {"count": primary})]
        if secondary:
            sentences.append(Sentence(CATALOGUE, "suppression.secondary", {"count": secondary}))
        if primary:
            key = "suppression.cheapest" if self.gap == 0 else "suppression.cost"
            values = {"cost": self.cost, "bound": self.bound, "gap": self.gap}
            sentences.append(Sentence(CATALOGUE, key, values))
            if self.first:
                sentences.append(Sentence(CATALOGUE, "suppression.first"))
        if self.unsettled:
            values = {"count": self.unsettled}
            sentences.append(Sentence(CATALOGUE, "suppression.unsettled", values))
        return [sentence.render() for sentence in sentences]

    def _repr_html_(self) -> str:
        return "".join(table.to_html() for table in self.crosstabs())

    def __repr__(self) -> str:
        primary = int(self.table.structure.to_mask(self.primary).sum())
        second = int(self.published.suppressed.sum()) - primary
        proven = (
            "proven cheapest" if self.gap == 0 else f"at most {format_percent(self.gap)} too dear"
        )
        cut = "; stopped by the clock" if self.is_cut else ""
        return f"Suppression({primary} primary and {second} secondary cells; {proven}{cut})"


def protect_table(
    table: Table, problem: SuppressionProblem, method: str, seconds: float = 60.0, unit: int = 1
) -> Suppression:
    """Solve a suppression problem of a table, and audit the pattern; `unit` divides its costs."""
    solution = _solve_problem(problem, table, method, seconds)
    if is_limited_by_records(table) and not solution.hopeless:
        solution = withstand_records(table, problem, solution, seconds)
    return build_suppression(table, problem, solution, method=method, unit=unit)


def build_suppression(
    table: Table,
    problem: SuppressionProblem,
    solution: PatternSolution,
    *,
    method: str,
    unit: int = 1,
    resistance: Resistance | None = None,
) -> Suppression:
    """The pattern of a solution, once the audit has passed it."""
    structure = table.structure
    if solution.hopeless:
        problems = Problems("suppress")
        for cell in solution.hopeless[:10]:
            message = (
                "cannot be protected as asked: too little around it may be suppressed. "
                'Let totals be (margins="suppressible"), publish less, or ask for less.'
            )
            problems.add(structure.locate_cell(cell), message)
        problems.raise_any()
    _audit_pattern(problem, solution, table)
    return Suppression(
        table=table,
        pattern=structure.to_grids(solution.pattern),
        primary=structure.to_grids(problem.start),
        cost=solution.cost / unit if unit > 1 else solution.cost,
        bound=solution.bound / unit if unit > 1 else solution.bound,
        first=solution.first,
        method=method,
        published=table.publish(solution.pattern),
        required=np.maximum(problem.sliding, problem.upper + problem.lower),
        resistance=resistance,
        is_cut=solution.is_cut,
        unsettled=len(solution.unsettled),
    )


def build_suppression_problem(
    table: Table,
    sensitive: Bools,
    width: float | None = None,
    *,
    upper: Any = 0,
    lower: Any = 0,
    cost: Any = "number",
    publish: Any = None,
    margins: str = "published",
    least: tuple[Ints, Ints] | None = None,
) -> SuppressionProblem:
    """The problem on arrays, in units of the table, checked; `least` are levels in units."""
    structure, scale = table.structure, 10**table.decimals
    must_publish = structure.to_mask(publish)
    problems = Problems("suppress")
    for cell in np.flatnonzero(must_publish & sensitive)[:10]:
        problems.add(
            structure.locate_cell(int(cell)), "is sensitive and must be published: choose one."
        )
    primary = np.flatnonzero(sensitive)
    levels = {
        name: np.ceil(_spread_over_cells(table, argument, name)[primary] * scale - 1e-9).astype(
            np.int64
        )
        for name, argument in (("upper", upper), ("lower", lower))
    }
    if least is not None:
        for name, level in zip(levels, least, strict=True):
            levels[name] = np.maximum(levels[name], level[primary])
    if width is None:
        sliding = (levels["upper"] + levels["lower"] == 0).astype(np.int64)
    else:
        sliding = np.full(len(primary), int(np.ceil(width * scale - 1e-9)), dtype=np.int64)
    for name, level in levels.items():
        if level.min(initial=0) < 0:
            problems.add(name, "is below 0.")
    values = table.units - table.floor
    for cell in primary[levels["lower"] > values[primary]][:10]:
        problems.add(
            structure.locate_cell(int(cell)), "no cell can fall below its lowest value: `lower`."
        )
    problems.raise_any()
    allowed = ~must_publish
    if table.zeros == "known":  # who knows that a cell is empty is not misled by a mark
        allowed &= sensitive | ~table.empty
    if margins == "published":
        allowed &= sensitive | ~_find_totals(table)
    return SuppressionProblem(
        structure.relations,
        values,
        primary,
        levels["upper"],
        levels["lower"],
        sliding,
        _compute_costs(table, cost),
        allowed,
    )


def _solve_problem(
    problem: SuppressionProblem, table: Table, method: str, seconds: float
) -> PatternSolution:
    if method not in METHODS:
        raise InvalidInput(
            "suppress", [Problem("method", f'"{method}" is not a method.', method, METHODS)]
        )
    scopes = build_scopes(table.structure)
    if method == "optimal":
        return optimal_pattern(problem, seconds, scopes)
    with work.step("Suppressing"):
        pattern, hopeless = find_fast_pattern(problem, scopes)
    floor = problem.price(problem.start)
    return PatternSolution(
        pattern=pattern,
        cost=problem.price(pattern),
        bound=floor,
        first=False,
        hopeless=tuple(hopeless),
    )


def _audit_pattern(problem: SuppressionProblem, solution: PatternSolution, table: Table) -> None:
    """No pattern leaves this house unaudited: a mistake of ours must not disclose anybody."""
    published_values = np.where(solution.pattern, 0, problem.values)
    low, high, _ = bound_cells(
        problem.relations, published_values, solution.pattern, problem.primary, table.floor
    )
    values = problem.values[problem.primary]
    unsafe = (high - values < problem.upper) | (values - low < problem.lower)
    unsafe |= high - low < problem.sliding
    if unsafe.any():
        label = table.structure.locate_cell(int(problem.primary[np.flatnonzero(unsafe)[0]]))
        raise RuntimeError(f"the audit refuses the pattern: {label} is not protected")


def _spread_over_cells(table: Table, argument: Any, name: str) -> Any:
    """A number for all cells, or one a cell; common cells of linked tables take the last one's."""
    structure = table.structure
    if not isinstance(argument, list | tuple) and np.ndim(argument) == 0:
        return np.full(structure.size, float(argument))
    arrays = [
        np.asarray(array, dtype=float)
        for array in (argument if structure.is_linked else [argument])
    ]
    if [array.shape for array in arrays] != [numbers.shape for numbers in structure.numbers]:
        shapes = " and ".join(str(numbers.shape) for numbers in structure.numbers)
        message = f"give a number, or arrays of the shape {shapes}."
        raise InvalidInput("suppress", [Problem(name, message)])
    flat = np.empty(structure.size)
    for numbers, array in zip(structure.numbers, arrays, strict=True):
        flat[numbers] = array
    return flat


def _compute_costs(table: Table, cost: Any) -> Ints:
    if isinstance(cost, str):
        if cost == "number":
            return np.ones(table.structure.size, dtype=np.int64)
        if cost == "value":
            return np.maximum(np.abs(table.units), 1)
        raise InvalidInput(
            "suppress", [Problem("cost", f'"{cost}" is no cost.', cost, ["number", "value"])]
        )
    costs = _spread_over_cells(table, cost, "cost")
    if np.any(costs < 0) or np.any(costs != np.round(costs)):
        raise InvalidInput("suppress", [Problem("cost", "costs are whole numbers from 0.")])
    return np.asarray(costs, dtype=np.int64)


def _find_totals(table: Table) -> Bools:
    """The cells that are totals of others in some table, if they are in several."""
    relations = table.structure.relations
    totals = np.zeros(table.structure.size, dtype=bool)
    totals[relations.cells[relations.signs < 0]] = True
    return totals
