"""A suppression: the problem that is posed, its solution, audited, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from divulge import work
from divulge.assessment.sentence import percent
from divulge.tables.audit.audit import bounds
from divulge.tables.suppression.heuristic import fast_pattern
from divulge.tables.suppression.optimal import Solution, optimal_pattern
from divulge.tables.suppression.problem import SuppressionProblem
from divulge.tables.suppression.scopes import scopes_of
from divulge.tables.table.axis import IntArray
from divulge.tables.table.display import Crosstab, crosstabs, kinds_of
from divulge.tables.table.published import Published
from divulge.tables.table.structure import BoolArray
from divulge.tables.table.table import Table
from divulge.work import InvalidInput, Problem, Problems

if TYPE_CHECKING:
    from divulge.tables.resistance import Resistance

Method = Literal["optimal", "fast"]
METHODS = ("optimal", "fast")
MARGINS = ("published", "suppressible")


@dataclass(frozen=True, eq=False)
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
    required: IntArray
    resistance: Resistance | None = None
    priced_by: Any = "number"
    margins: Literal["published", "suppressible"] = "published"
    by_hand: bool = False
    """Whether cells were named, or intervals asked for, that no rule gives."""
    is_cut: bool = False
    """Whether the clock stopped the search before its effort was spent."""

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
        return structure.spread(self.published.suppressed & ~structure.mask(self.primary))

    def to_dict(self) -> dict[str, Any]:
        """The figures and the pattern as plain values, for JSON."""
        structure = self.table.structure
        primary = structure.mask(self.primary)
        cells = np.flatnonzero(self.published.suppressed)
        return {
            "method": self.method,
            "cost": self.cost,
            "bound": self.bound,
            "gap": self.gap,
            "first_of_ties": self.first,
            **({"is_cut": True} if self.is_cut else {}),
            "primary": int(primary.sum()),
            "suppressed": len(cells),
            "cells": [
                {
                    "cell": list(structure.addresses[cell]),
                    "label": structure.label(int(cell)),
                    "primary": bool(primary[cell]),
                }
                for cell in cells
            ],
            **({} if self.resistance is None else {"resistance": self.resistance.to_dict()}),
        }

    def crosstabs(self) -> list[Crosstab]:
        """What is published, with the sensitive and the other suppressed cells; one a table."""
        structure, hidden = self.table.structure, self.published.suppressed
        kinds = kinds_of(hidden, structure.mask(self.primary), hidden & False)
        return crosstabs(structure, self.published.texts(), kinds)

    def _repr_html_(self) -> str:
        return "".join(table.html() for table in self.crosstabs())

    def __repr__(self) -> str:
        primary = int(self.table.structure.mask(self.primary).sum())
        second = int(self.published.suppressed.sum()) - primary
        proven = "proven cheapest" if self.gap == 0 else f"at most {percent(self.gap)} too dear"
        cut = "; stopped by the clock" if self.is_cut else ""
        return f"Suppression({primary} primary and {second} secondary cells; {proven}{cut})"


def protect(
    table: Table, problem: SuppressionProblem, method: str, seconds: float = 60.0, unit: int = 1
) -> Suppression:
    """Solve a suppression problem of a table, and audit the pattern; `unit` divides its costs."""
    return build_suppression(table, problem, _solved(problem, table, method, seconds), method, unit)


def build_suppression(
    table: Table,
    problem: SuppressionProblem,
    solution: Solution,
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
            problems.add(structure.place(cell), message)
        problems.raise_any()
    _audit(problem, solution, table)
    return Suppression(
        table=table,
        pattern=structure.spread(solution.pattern),
        primary=structure.spread(problem.start),
        cost=solution.cost / unit if unit > 1 else solution.cost,
        bound=solution.bound / unit if unit > 1 else solution.bound,
        first=solution.first,
        method=method,
        published=table.publish(solution.pattern),
        required=np.maximum(problem.sliding, problem.upper + problem.lower),
        resistance=resistance,
        is_cut=solution.is_cut,
    )


def suppression_problem(
    table: Table,
    sensitive: BoolArray,
    width: float | None = None,
    upper: Any = 0,
    lower: Any = 0,
    cost: Any = "number",
    publish: Any = None,
    margins: str = "published",
    least: tuple[IntArray, IntArray] | None = None,
) -> SuppressionProblem:
    """The problem on arrays, in units of the table, checked; `least` are levels in units."""
    structure, scale = table.structure, 10**table.decimals
    kept = structure.mask(publish)
    problems = Problems("suppress")
    for cell in np.flatnonzero(kept & sensitive)[:10]:
        problems.add(structure.place(int(cell)), "is sensitive and must be published: choose one.")
    primary = np.flatnonzero(sensitive)
    levels = {
        name: np.ceil(_of_cells(table, given, name)[primary] * scale - 1e-9).astype(np.int64)
        for name, given in (("upper", upper), ("lower", lower))
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
            structure.place(int(cell)), "no cell can fall below its lowest value: `lower`."
        )
    problems.raise_any()
    allowed = ~kept
    if margins == "published":
        allowed &= sensitive | ~_totals(table)
    return SuppressionProblem(
        structure.relations,
        values,
        primary,
        levels["upper"],
        levels["lower"],
        sliding,
        _costs(table, cost),
        allowed,
    )


def _solved(problem: SuppressionProblem, table: Table, method: str, seconds: float) -> Solution:
    if method not in METHODS:
        raise InvalidInput(
            "suppress", [Problem("method", f'"{method}" is not a method.', method, METHODS)]
        )
    scopes = scopes_of(table.structure)
    if method == "optimal":
        return optimal_pattern(problem, seconds, scopes)
    with work.step("Suppressing"):
        pattern, hopeless = fast_pattern(problem, scopes)
    floor = problem.price(problem.start)
    return Solution(pattern, problem.price(pattern), floor, False, tuple(hopeless))


def _audit(problem: SuppressionProblem, solution: Solution, table: Table) -> None:
    """No pattern leaves this house unaudited: a mistake of ours must not disclose anybody."""
    known = np.where(solution.pattern, 0, problem.values)
    low, high, _ = bounds(problem.relations, known, solution.pattern, problem.primary, table.floor)
    values = problem.values[problem.primary]
    unsafe = (high - values < problem.upper) | (values - low < problem.lower)
    unsafe |= high - low < problem.sliding
    if unsafe.any():
        label = table.structure.place(int(problem.primary[np.flatnonzero(unsafe)[0]]))
        raise RuntimeError(f"the audit refuses the pattern: {label} is not protected")


def _of_cells(table: Table, given: Any, name: str) -> Any:
    """A number for all cells, or one a cell; common cells of linked tables take the last one's."""
    structure = table.structure
    if not isinstance(given, list | tuple) and np.ndim(given) == 0:
        return np.full(structure.size, float(given))
    arrays = [np.asarray(array, dtype=float) for array in (given if structure.linked else [given])]
    if [array.shape for array in arrays] != [numbers.shape for numbers in structure.numbers]:
        shapes = " and ".join(str(numbers.shape) for numbers in structure.numbers)
        message = f"give a number, or arrays of the shape {shapes}."
        raise InvalidInput("suppress", [Problem(name, message)])
    flat = np.empty(structure.size)
    for numbers, array in zip(structure.numbers, arrays, strict=True):
        flat[numbers] = array
    return flat


def _costs(table: Table, cost: Any) -> IntArray:
    if isinstance(cost, str):
        if cost == "number":
            return np.ones(table.structure.size, dtype=np.int64)
        if cost == "value":
            return np.maximum(np.abs(table.units), 1)
        raise InvalidInput(
            "suppress", [Problem("cost", f'"{cost}" is no cost.', cost, ["number", "value"])]
        )
    costs = _of_cells(table, cost, "cost")
    if np.any(costs < 0) or np.any(costs != np.round(costs)):
        raise InvalidInput("suppress", [Problem("cost", "costs are whole numbers from 0.")])
    return np.asarray(costs, dtype=np.int64)


def _totals(table: Table) -> BoolArray:
    """The cells that are totals of others in every table they are in."""
    relations = table.structure.relations
    totals = np.zeros(table.structure.size, dtype=bool)
    totals[relations.cells[relations.signs < 0]] = True
    return totals
