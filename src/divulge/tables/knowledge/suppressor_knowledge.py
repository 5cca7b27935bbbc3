"""What the adversary knows of the suppressor: does a candidate table give the released pattern?

Three kinds of knowledge answer it. Our own suppressor on a network of at most 64 cells is
answered by a compiled search; our own on any other table, and anybody else's, by running it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np

from divulge import work
from divulge.tables import tuning
from divulge.tables.audit.sensitivity import Rules, sensitive_mask
from divulge.tables.knowledge.candidate_tables import Candidates
from divulge.tables.knowledge.small_network import MOST_STEPS, BitNetwork
from divulge.tables.suppression.optimal import optimal_pattern
from divulge.tables.suppression.problem import SuppressionProblem
from divulge.tables.suppression.result import Suppression, suppression_problem
from divulge.tables.table.axis import IntArray
from divulge.tables.table.structure import BoolArray
from divulge.tables.table.table import Published, Table, floor
from divulge.work import InvalidInput, Problem, Problems

Suppressor = Callable[[Table], Any]
"""Takes a table and gives a `Suppression`, a pattern, or the coordinates of suppressed cells."""

Rule = Literal["first optimum", "any optimum", "minimal", "resisting"]
"""Which patterns our own suppressors can give: the deterministic one, random ties, random costs,
random costs and widths (`resist_matching`)."""

RULES: tuple[Rule, ...] = ("first optimum", "any optimum", "minimal", "resisting")

EXCLUDED, POSSIBLE, SKIPPED = 0, 1, 2
POOL = 4096


@dataclass(frozen=True)
class Parameters:
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

    @property
    def threshold(self) -> int:
        """What is below it is primary, in units."""
        return self.min_frequency * self.unit

    @property
    def width_asked(self) -> float:
        """The width as it is asked for."""
        return self.width / self.unit if self.width % self.unit else self.width // self.unit

    def primary(self, values: IntArray) -> BoolArray:
        """Which values make a cell primary."""
        small: BoolArray = values < self.threshold
        return small if self.zeros_primary else small & (values > 0)

    def __str__(self) -> str:
        zeros = "zeros primary" if self.zeros_primary else "zeros not primary"
        return f"min_frequency={self.min_frequency}, width={self.width_asked}, {zeros}"


def resisting_parameters(
    table: Table,
    rules: Rules,
    problem: SuppressionProblem,
    changed: bool,
    method: str,
    cost: Any,
    margins: Literal["published", "suppressible"],
) -> Parameters:
    """The parameters of a suppression that is to resist the attack; refused if it is another kind.

    `changed` says that cells were chosen by hand.
    """
    problems = Problems("suppress, resist_matching")
    if not table.is_frequency or table.decimals or table.lowest:
        problems.add("table", "counts are needed: the protection of magnitudes depends on them.")
    if rules.min_frequency is None or replace(rules, min_frequency=None) != Rules(
        zeros_primary=rules.zeros_primary
    ):
        problems.add("rules", "min_frequency is the one rule of sensitivity that it knows.")
    contributions = table.contributions
    if contributions is not None and not np.array_equal(contributions.counts(), table.units):
        problems.add("contributor", "a holding's records count as one, which no cell shows.")
    if changed:
        problems.add("cells", "those chosen by hand tell something: leave them out.")
    if problem.upper.any() or problem.lower.any():
        problems.add("upper and lower", "ask for a width instead.")
    if method != "optimal":
        problems.add("method", 'only "optimal" patterns are known well enough.')
    problems.raise_any()
    width = int(problem.sliding.max(initial=0))
    return Parameters(
        rules.min_frequency or 1, width, rules.zeros_primary, cost, margins, "resisting"
    )


class Knowledge(Protocol):
    """Decides which candidates give the released pattern."""

    def possible(self, values: IntArray, box: IntArray, intervals: bool) -> IntArray:
        """EXCLUDED, POSSIBLE or SKIPPED (inside the box) for every candidate; widens the box."""


def knowledge_of(
    found: Candidates, parameters: Parameters, labels: BoolArray | None = None
) -> Knowledge:
    """Our own suppressor with its parameters, by the fastest way there is."""
    published = found.published
    if published.decimals == 0 and published.lowest == 0:
        bit_network = BitNetwork.of(published.structure.relations, may_be(published, parameters))
        if bit_network is not None and _costs_from_one(published, parameters):
            return KnownParameters(found, parameters, labels, bit_network)
    if parameters.rule != "first optimum":
        message = f'"{parameters.rule}" is known of networks of at most 64 cells only.'
        raise InvalidInput("matching attack", [Problem("suppressor", message)])
    return KnownSuppressor(found, _ours(parameters), labels, parameters)


def may_be(published: Published, parameters: Parameters) -> BoolArray:
    """The cells that a pattern may hold, if the released one is a pattern of this suppressor.

    Where totals are published, only sensitive totals are suppressed: those of the release.
    """
    if parameters.margins == "suppressible":
        return np.ones(published.structure.size, dtype=bool)
    return published.suppressed | ~totals(published)


def totals(published: Published) -> BoolArray:
    """The cells that are totals of others."""
    relations = published.structure.relations
    found = np.zeros(published.structure.size, dtype=bool)
    found[relations.cells[relations.signs < 0]] = True
    return found


class KnownParameters:
    """Our own suppressor on a network of at most 64 cells: a compiled search a candidate."""

    def __init__(
        self,
        found: Candidates,
        parameters: Parameters,
        labels: BoolArray | None,
        bit_network: BitNetwork,
    ) -> None:
        published, cells = found.published, bit_network.net.cells
        self.found, self.parameters, self.network = found, parameters, bit_network
        self.values = np.where(published.suppressed, 0, published.units)[cells]
        self.by_value = isinstance(parameters.cost, str) and parameters.cost == "value"
        self.weights = _weights(published, parameters)[cells]
        self.labels = labels
        hidden = published.suppressed
        wide = np.zeros(len(hidden), dtype=bool)
        self.widths = found.high - found.low
        wide[found.cells] = self.widths >= parameters.width
        must = hidden & totals(published)
        if parameters.margins == "suppressible":
            must &= False
        self.wide, self.must = bit_network.bits(wide), bit_network.bits(must)
        self.pool, self.pooled = np.zeros(POOL, np.int64), 0

    def possible(self, values: IntArray, box: IntArray, intervals: bool) -> IntArray:
        """EXCLUDED, POSSIBLE or SKIPPED for every candidate; widens the box."""
        from divulge.tables.knowledge import pattern_kernels as kernels

        published, parameters, network = self.found.published, self.parameters, self.network
        status = np.empty(len(values), np.int64)
        self.pooled, steps = kernels.try_candidates(
            *network.arcs,
            self.values,
            self.weights,
            int(self.by_value),
            network.all,
            network.bits(published.suppressed),
            network.places(self.found.cells),
            values,
            parameters.threshold,
            int(parameters.zeros_primary),
            parameters.width,
            self.widths,
            self.wide,
            self.must,
            0 if self.labels is None else network.bits(self.labels),
            int(self.labels is not None),
            RULES.index(parameters.rule),
            int(intervals),
            MOST_STEPS,
            status,
            box,
            self.pool,
            self.pooled,
        )
        work.charge(tuning.CANDIDATES, steps)
        for row in np.flatnonzero(status == kernels.OPEN):
            status[row] = self._solved(values[row])
            if status[row] == POSSIBLE:
                widen(box, values[row])
        return status

    def _solved(self, candidate: IntArray) -> int:
        """A candidate that the compiled search gave up, by the general solver."""
        published = self.found.published
        problem = problem_of(candidate_table(self.found, candidate), self.parameters)
        solution = optimal_pattern(problem)
        if self.parameters.rule == "any optimum":
            same = solution.cost == problem.price(published.suppressed)
        else:
            same = np.array_equal(solution.pattern, published.suppressed)
        return POSSIBLE if same and not solution.hopeless else EXCLUDED


class KnownSuppressor:
    """Any deterministic suppressor, run on every candidate; some twice, to see that it is one."""

    CHECKED = 5
    """So many first candidates, and every one that widens the box, are tried twice."""

    def __init__(
        self,
        found: Candidates,
        suppressor: Suppressor,
        labels: BoolArray | None,
        parameters: Parameters | None,
    ) -> None:
        self.found, self.suppressor, self.labels = found, suppressor, labels
        self.parameters, self.tried = parameters, 0

    def possible(self, values: IntArray, box: IntArray, intervals: bool) -> IntArray:
        """EXCLUDED, POSSIBLE or SKIPPED for every candidate; widens the box."""
        status = np.full(len(values), EXCLUDED, np.int64)
        for row, candidate in enumerate(values):
            inside = bool(np.all((candidate >= box[0]) & (candidate <= box[1])))
            if intervals and inside:
                status[row] = SKIPPED
                continue
            if self._mislabelled(candidate):
                continue
            table = candidate_table(self.found, candidate)
            pattern = self._pattern(table)
            same = pattern is not None and np.array_equal(pattern, self.found.published.suppressed)
            self.tried += 1
            if self.tried <= self.CHECKED or (same and not inside):
                self._refuse_change(pattern, self._pattern(table))
            if same:
                status[row] = POSSIBLE
                widen(box, candidate)
        return status

    def _mislabelled(self, candidate: IntArray) -> bool:
        if self.labels is None or self.parameters is None:
            return False
        published, cells = self.found.published, self.found.cells
        base = floor(published.structure, published.lowest)[cells]
        primary = self.parameters.primary(candidate + base)
        return not np.array_equal(primary, self.labels[cells])

    def _pattern(self, table: Table) -> BoolArray | None:
        """What the suppressor gives; None if it cannot protect the table."""
        work.charge(tuning.OTHER_SUPPRESSOR)
        try:
            given = self.suppressor(table)
        except InvalidInput:
            return None
        if isinstance(given, Suppression):
            return given.published.suppressed
        return table.structure.mask(given)

    def _refuse_change(self, one: BoolArray | None, other: BoolArray | None) -> None:
        if (one is None) != (other is None) or (
            one is not None and other is not None and not np.array_equal(one, other)
        ):
            message = (
                "gave two patterns for one table. The attack needs a deterministic one; "
                'for a randomised one say which: suppressor="minimal" or "resisting".'
            )
            raise InvalidInput("matching attack", [Problem("suppressor", message)])


def widen(box: IntArray, candidate: IntArray) -> None:
    """Take a candidate into the box."""
    np.minimum(box[0], candidate, out=box[0])
    np.maximum(box[1], candidate, out=box[1])


def candidate_table(found: Candidates, values: IntArray) -> Table:
    """The published table with the suppressed cells filled in."""
    published = found.published
    units = published.units.copy()
    units[found.cells] = values + floor(published.structure, published.lowest)[found.cells]
    return Table(
        published.structure, units, published.decimals, published.measure, published.lowest
    )


def problem_of(table: Table, parameters: Parameters) -> SuppressionProblem:
    """The suppression problem of a table, as `suppress` poses it."""
    rules = Rules(parameters.min_frequency, parameters.zeros_primary)
    return suppression_problem(
        table,
        sensitive_mask(table, rules),
        parameters.width_asked,
        cost=parameters.cost,
        margins=parameters.margins,
    )


def _ours(parameters: Parameters) -> Suppressor:
    def pattern(table: Table) -> Any:
        solution = optimal_pattern(problem_of(table, parameters))
        if solution.hopeless:
            raise InvalidInput("suppress", [Problem("", "cannot be protected.")])
        return solution.pattern

    return pattern


def _weights(published: Published, parameters: Parameters) -> IntArray:
    """What cells cost; by value, those of suppressed cells depend on the candidate."""
    shown = replace(published, suppressed=published.suppressed & False)
    table = Table(shown.structure, shown.units, 0, shown.measure)
    return problem_of(table, parameters).cost.copy()


def _costs_from_one(published: Published, parameters: Parameters) -> bool:
    return isinstance(parameters.cost, str) or bool(_weights(published, parameters).min() >= 1)
