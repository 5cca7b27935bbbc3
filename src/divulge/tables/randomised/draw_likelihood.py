"""How likely a table gives a release, where the suppressor rolls dice: what a posterior needs.

A suppressor that takes one of the cheapest patterns at random gives each with one over their
number. One with random costs is asked again and again: the share of draws that give the released
pattern estimates its chance. Where draws are given up, the chance is that of the pattern among
the draws that are kept.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from divulge import work
from divulge.tables.knowledge.candidate_tables import Candidates
from divulge.tables.knowledge.small_network import MOST_STEPS, BitNetwork
from divulge.tables.knowledge.suppressor_knowledge import (
    POSSIBLE,
    Parameters,
    candidate_table,
    may_be,
    problem_of,
)
from divulge.tables.randomised import randomised_suppression
from divulge.tables.table.axis import FloatArray, IntArray

MOST_WEIGHED = 150
"""So many possible candidates are weighed; of more, as many at random."""
WEIGHING = 30_000
"""Draws in all: the fewer candidates share them, the surer each weight. A best guess among weights
that few draws estimate looks better than it is."""
MOST_DRAWS = 4000


def likely_weights(
    found: Candidates,
    status: IntArray,
    parameters: Parameters,
    prior: FloatArray | None,
    seed: int,
) -> tuple[FloatArray | None, bool]:
    """The posterior's weights of all candidates, and whether chance estimated them."""
    possible = np.flatnonzero(status == POSSIBLE)
    if parameters.rule == "first optimum" or len(possible) == 0:
        return prior, False
    random = np.random.default_rng(seed)
    rows, all_weighed = possible, len(possible) <= MOST_WEIGHED
    if not all_weighed:
        rows = np.sort(random.choice(possible, MOST_WEIGHED, replace=False))
    if parameters.rule == "any optimum":
        chances, estimated = _one_of_ties(found, found.values[rows], parameters), not all_weighed
    else:
        chances, estimated = _drawn(found, found.values[rows], parameters, random), True
    weights = np.zeros(len(status))
    weights[rows] = chances if prior is None else chances * prior[rows]
    if weights.sum() == 0:  # too rare for so few draws: then all that is known is the support
        weights[rows] = 1 if prior is None else prior[rows]
    return weights, estimated


def _network(found: Candidates, parameters: Parameters) -> BitNetwork:
    published = found.published
    network = BitNetwork.of(published.structure.relations, may_be(published, parameters))
    assert network is not None  # noqa: S101  # the attack has refused others
    return network


def _one_of_ties(found: Candidates, values: IntArray, parameters: Parameters) -> FloatArray:
    from divulge.tables.knowledge import pattern_kernels as kernels

    network = _network(found, parameters)
    cells, released = network.net.cells, network.bits(found.published.suppressed)
    chances = np.zeros(len(values))
    for row, candidate in enumerate(values):
        problem = problem_of(candidate_table(found, candidate), parameters)
        ties, _ = kernels.optima(
            *network.arcs, problem.values[cells], network.bits(problem.start), parameters.width,
            problem.cost[cells], network.all, released, 1 << 60, 100 * MOST_STEPS,
        )  # fmt: skip
        chances[row] = 1 / max(ties, 1)
    return chances


def _drawn(
    found: Candidates, values: IntArray, parameters: Parameters, random: np.random.Generator
) -> FloatArray:
    """The share of draws that give the release, among those that would be kept."""
    from divulge.tables.knowledge import pattern_kernels as kernels

    published, network = found.published, _network(found, parameters)
    shown = np.where(published.suppressed, 0, published.units)[network.net.cells]
    draws = min(MOST_DRAWS, WEIGHING // len(values))
    # The same draws for every candidate: their differences are then their own.
    widths, factors = randomised_suppression.draw_chances(
        random, parameters.width, len(network.net.cells), draws
    )
    if parameters.rule == "minimal":
        widths[:] = parameters.width
    hits = np.zeros(len(values), np.int64)
    for rows, cost in _by_cost(found, values, parameters, network):
        hits[rows] = kernels.count_draws(
            *network.arcs, shown, network.all, network.bits(published.suppressed),
            network.places(found.cells), values[rows], parameters.threshold,
            int(parameters.zeros_primary), found.high - found.low, widths,
            randomised_suppression.drawn_costs(cost, factors), MOST_STEPS,
        )  # fmt: skip
    chances = np.maximum(hits, 0) / draws
    if parameters.rule == "resisting":
        chances /= _kept(found, values, parameters, int(random.integers(2**32)))
    return chances


def _by_cost(
    found: Candidates, values: IntArray, parameters: Parameters, network: BitNetwork
) -> Iterator[tuple[IntArray, IntArray]]:
    """Candidates by what their cells cost: costs by value are a candidate's own."""
    by_value = isinstance(parameters.cost, str) and parameters.cost == "value"
    every = np.arange(len(values))
    for rows in every[:, None] if by_value else [every]:
        table = candidate_table(found, values[rows[0]])
        yield rows, problem_of(table, parameters).cost[network.net.cells]


def _kept(found: Candidates, values: IntArray, parameters: Parameters, seed: int) -> FloatArray:
    """For every candidate, which share of its draws is kept; never below one in all draws."""
    shares = np.zeros(len(values))
    kept_draws = min(MOST_DRAWS, WEIGHING // len(values)) // 50
    with work.step("Weighing candidates", len(values)) as step:
        for row, candidate in enumerate(values):
            table = candidate_table(found, candidate)
            problem = problem_of(table, parameters)
            draws = randomised_suppression.drawn_patterns(table, problem, parameters, seed)
            seen: dict[int, bool] = {}
            for _ in range(kept_draws):
                bits, pattern = next(draws)
                if bits not in seen:
                    seen[bits] = randomised_suppression.resists(table.publish(pattern), parameters)
                shares[row] += seen[bits] / kept_draws
            step.advance()
    return np.maximum(shares, 1 / (2 * kept_draws))
