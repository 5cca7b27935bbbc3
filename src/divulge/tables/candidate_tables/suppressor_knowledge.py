"""What the adversary knows of the suppressor: does a candidate table give the released pattern?

Three kinds of knowledge answer it. Our own suppressor on a network of at most 64 cells is
answered by a compiled search; our own on any other table, and anybody else's, by running it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from divulge import work
from divulge.tables import tuning
from divulge.tables.candidate_tables.enumeration import Candidates
from divulge.tables.candidate_tables.small_network import BitNetwork
from divulge.tables.candidate_tables.suppressor_parameters import (
    SUPPRESSOR_RULES,
    SuppressorParameters,
)
from divulge.tables.feasibility.sensitivity import SensitivityRules, find_sensitive_cells
from divulge.tables.suppression.optimal import optimal_pattern
from divulge.tables.suppression.problem import SuppressionProblem
from divulge.tables.suppression.result import Suppression, build_suppression_problem
from divulge.tables.table.table import Published, Table
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Bools, Ints

Suppressor = Callable[[Table], Any]
"""Takes a table and gives a `Suppression`, a pattern, or the coordinates of suppressed cells."""

UNDECIDED, EXCLUDED, POSSIBLE, SKIPPED = -1, 0, 1, 2
"""What becomes of a candidate. It is undecided until it is tried, and where its own cheapest
pattern could not be proven: nobody may rule it out then."""


class _UnprovenPatternError(Exception):
    """Our own suppressor's search was given up before its pattern was the only one there is."""


class SuppressorKnowledge(Protocol):
    """Decides which candidates give the released pattern."""

    def judge_candidates(self, values: Ints, box: Ints, intervals: bool) -> Ints:
        """What becomes of every candidate, SKIPPED inside the box; widens the box."""


def choose_knowledge(
    candidate_set: Candidates, parameters: SuppressorParameters, labels: Bools | None = None
) -> SuppressorKnowledge:
    """Our own suppressor with its parameters, by the fastest way there is."""
    published = candidate_set.published
    if published.decimals == 0 and published.lowest == 0:
        bit_network = BitNetwork.from_relations(
            published.structure.relations, find_suppressible_cells(published, parameters)
        )
        by_value = isinstance(parameters.cost, str) and parameters.cost == "value"
        # The compiled search counts from the smallest possible value, and would price cells so.
        is_priced_alike = parameters.zeros == "secret" or not by_value
        if (
            bit_network is not None
            and is_priced_alike
            and _has_positive_costs(published, parameters)
        ):
            return BitNetworkKnowledge(candidate_set, parameters, labels, bit_network)
    if parameters.rule != "first optimum":
        message = f'"{parameters.rule}" is known of networks of at most 64 cells only.'
        raise InvalidInput("matching attack", [Problem("suppressor", message)])
    return RerunKnowledge(candidate_set, _build_own_suppressor(parameters), labels, parameters)


def find_suppressible_cells(published: Published, parameters: SuppressorParameters) -> Bools:
    """The cells that a pattern may hold, if the released one is a pattern of this suppressor.

    Where totals are published, only sensitive totals are suppressed: those of the release.
    """
    is_open = np.ones(published.structure.size, dtype=bool)
    if parameters.zeros == "known":  # who knows that a cell is empty is not misled by a mark
        is_open &= published.suppressed | (published.units != 0)
    if parameters.margins == "suppressible":
        return is_open
    return is_open & (published.suppressed | ~find_totals(published))


def find_totals(published: Published) -> Bools:
    """The cells that are totals of others."""
    relations = published.structure.relations
    is_total = np.zeros(published.structure.size, dtype=bool)
    is_total[relations.cells[relations.signs < 0]] = True
    return is_total


class BitNetworkKnowledge:
    """Our own suppressor on a network of at most 64 cells: a compiled search a candidate."""

    def __init__(
        self,
        candidate_set: Candidates,
        parameters: SuppressorParameters,
        labels: Bools | None,
        bit_network: BitNetwork,
    ) -> None:
        published, cells = candidate_set.published, bit_network.net.cells
        self.candidate_set, self.parameters, self.network = candidate_set, parameters, bit_network
        self.values = np.where(published.suppressed, 0, published.units - published.floor)[cells]
        self.by_value = isinstance(parameters.cost, str) and parameters.cost == "value"
        self.weights = _compute_weights(published, parameters)[cells]
        self.labels = labels
        hidden = published.suppressed
        wide = np.zeros(len(hidden), dtype=bool)
        self.widths = candidate_set.high - candidate_set.low
        wide[candidate_set.cells] = self.widths >= parameters.width
        must_be_primary = hidden & find_totals(published)
        if parameters.margins == "suppressible":
            must_be_primary &= False
        self.may_be_primary, self.must_be_primary = (
            bit_network.to_bits(wide),
            bit_network.to_bits(must_be_primary),
        )
        self.pool, self.pool_size = np.zeros(tuning.PATTERN_POOL_SIZE, np.int64), 0

    def judge_candidates(self, values: Ints, box: Ints, intervals: bool) -> Ints:
        """What becomes of every candidate; widens the box."""
        from divulge.tables.candidate_tables import pattern_kernels as kernels

        published, parameters, network = self.candidate_set.published, self.parameters, self.network
        status = np.empty(len(values), np.int64)
        self.pool_size, steps = kernels.try_candidates(
            *network.arcs,
            self.values,
            self.weights,
            int(self.by_value),
            network.all,
            network.to_bits(published.suppressed),
            network.bit_places(self.candidate_set.cells),
            values,
            parameters.threshold_above_floor,
            int(parameters.is_floor_primary),
            parameters.width,
            self.widths,
            self.may_be_primary,
            self.must_be_primary,
            0 if self.labels is None else network.to_bits(self.labels),
            int(self.labels is not None),
            SUPPRESSOR_RULES.index(parameters.rule),
            int(intervals),
            tuning.MOST_PATTERN_STEPS,
            status,
            box,
            self.pool,
            self.pool_size,
        )
        work.charge(tuning.CANDIDATES, steps)
        for row in np.flatnonzero(status == kernels.OPEN):
            status[row] = self._judge_by_solver(values[row])
            if status[row] == POSSIBLE:
                widen_box(box, values[row])
        return status

    def _judge_by_solver(self, candidate: Ints) -> int:
        """A candidate that the compiled search gave up, by the general solver."""
        published = self.candidate_set.published
        problem = build_problem(
            build_candidate_table(self.candidate_set, candidate), self.parameters
        )
        solution = optimal_pattern(problem, tuning.CANDIDATE_SECONDS)
        if not (solution.first or solution.hopeless):
            return UNDECIDED
        if self.parameters.rule == "any optimum":
            same = solution.cost == problem.price(published.suppressed)
        else:
            same = np.array_equal(solution.pattern, published.suppressed)
        return POSSIBLE if same and not solution.hopeless else EXCLUDED


class RerunKnowledge:
    """Any deterministic suppressor, run on every candidate; some twice, to see that it is one."""

    CHECKED = 5
    """So many first candidates, and every one that widens the box, are tried twice."""

    def __init__(
        self,
        candidate_set: Candidates,
        suppressor: Suppressor,
        labels: Bools | None,
        parameters: SuppressorParameters | None,
    ) -> None:
        self.candidate_set, self.suppressor, self.labels = candidate_set, suppressor, labels
        self.parameters, self.tried_count = parameters, 0

    def judge_candidates(self, values: Ints, box: Ints, intervals: bool) -> Ints:
        """What becomes of every candidate; widens the box."""
        status = np.full(len(values), EXCLUDED, np.int64)
        for row, candidate in enumerate(values):
            inside = bool(np.all((candidate >= box[0]) & (candidate <= box[1])))
            if intervals and inside:
                status[row] = SKIPPED
                continue
            if self._is_mislabelled(candidate):
                continue
            table = build_candidate_table(self.candidate_set, candidate)
            try:
                pattern = self._run_suppressor(table)
            except _UnprovenPatternError:
                status[row] = UNDECIDED
                continue
            same = pattern is not None and np.array_equal(
                pattern, self.candidate_set.published.suppressed
            )
            self.tried_count += 1
            if self.tried_count <= self.CHECKED or (same and not inside):
                self._refuse_change(pattern, self._run_suppressor(table))
            if same:
                status[row] = POSSIBLE
                widen_box(box, candidate)
        return status

    def _is_mislabelled(self, candidate: Ints) -> bool:
        if self.labels is None or self.parameters is None:
            return False
        published, cells = self.candidate_set.published, self.candidate_set.cells
        base = published.floor[cells]
        primary = self.parameters.is_primary(candidate + base)
        return not np.array_equal(primary, self.labels[cells])

    def _run_suppressor(self, table: Table) -> Bools | None:
        """What the suppressor gives; None if it cannot protect the table."""
        work.charge(tuning.OTHER_SUPPRESSOR)
        try:
            answer = self.suppressor(table)
        except InvalidInput:
            return None
        if isinstance(answer, Suppression):
            return answer.published.suppressed
        return table.structure.to_mask(answer)

    def _refuse_change(self, one: Bools | None, other: Bools | None) -> None:
        if (one is None) != (other is None) or (
            one is not None and other is not None and not np.array_equal(one, other)
        ):
            message = (
                "gave two patterns for one table. The attack needs a deterministic one; "
                'for a randomised one say which: suppressor="minimal" or "resisting".'
            )
            raise InvalidInput("matching attack", [Problem("suppressor", message)])


def widen_box(box: Ints, candidate: Ints) -> None:
    """Take a candidate into the box."""
    np.minimum(box[0], candidate, out=box[0])
    np.maximum(box[1], candidate, out=box[1])


def build_candidate_table(candidate_set: Candidates, values: Ints) -> Table:
    """The published table with the suppressed cells filled in."""
    published = candidate_set.published
    units = published.units.copy()
    units[candidate_set.cells] = values + published.floor[candidate_set.cells]
    return Table(
        published.structure,
        units,
        published.decimals,
        published.measure,
        published.lowest,
        zeros=published.zeros,
    )


def build_problem(table: Table, parameters: SuppressorParameters) -> SuppressionProblem:
    """The suppression problem of a table, as `suppress` poses it."""
    rules = SensitivityRules(
        min_frequency=parameters.min_frequency, zeros_primary=parameters.zeros_primary
    )
    return build_suppression_problem(
        table,
        find_sensitive_cells(table, rules),
        parameters.requested_width,
        cost=parameters.cost,
        margins=parameters.margins,
    )


def _build_own_suppressor(parameters: SuppressorParameters) -> Suppressor:
    def choose_pattern(table: Table) -> Any:
        solution = optimal_pattern(build_problem(table, parameters), tuning.CANDIDATE_SECONDS)
        if solution.hopeless:
            raise InvalidInput("suppress", [Problem("", "cannot be protected.")])
        if not solution.first:
            raise _UnprovenPatternError
        return solution.pattern

    return choose_pattern


def _compute_weights(published: Published, parameters: SuppressorParameters) -> Ints:
    """What cells cost; by value, those of suppressed cells depend on the candidate."""
    unsuppressed = replace(published, suppressed=published.suppressed & False)
    table = Table(unsuppressed.structure, unsuppressed.units, 0, unsuppressed.measure)
    return build_problem(table, parameters).cost.copy()


def _has_positive_costs(published: Published, parameters: SuppressorParameters) -> bool:
    return isinstance(parameters.cost, str) or bool(
        _compute_weights(published, parameters).min() >= 1
    )
