"""Likelihood of a release whose suppressor rolls dice, exact or by Monte Carlo: for posteriors.

A suppressor that takes one of the cheapest patterns at random gives each with one over their
number. One with random costs is asked again and again: the share of draws that give the released
pattern estimates its chance. Where draws are given up, the chance is that of the pattern among
the draws that are kept.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from divulge import work
from divulge.tables import tuning
from divulge.tables.candidate_tables.enumeration import Candidates
from divulge.tables.candidate_tables.small_network import BitNetwork
from divulge.tables.candidate_tables.suppressor_knowledge import (
    POSSIBLE,
    build_candidate_table,
    build_problem,
    find_suppressible_cells,
)
from divulge.tables.candidate_tables.suppressor_parameters import SuppressorParameters
from divulge.tables.randomised import randomised_suppression
from divulge.work.arrays import Floats, Ints


def weigh_candidates(
    candidate_set: Candidates,
    status: Ints,
    parameters: SuppressorParameters,
    prior: Floats | None,
    seed: int,
) -> tuple[Floats | None, bool]:
    """The posterior's weights of all candidates, and whether chance estimated them."""
    possible = np.flatnonzero(status == POSSIBLE)
    if parameters.rule == "first optimum" or len(possible) == 0:
        return prior, False
    random = np.random.default_rng(seed)
    rows, all_weighed = possible, len(possible) <= tuning.MAX_WEIGHED_CANDIDATES
    if not all_weighed:
        rows = np.sort(random.choice(possible, tuning.MAX_WEIGHED_CANDIDATES, replace=False))
    if parameters.rule == "any optimum":
        chances, estimated = (
            _compute_tie_chances(candidate_set, candidate_set.values[rows], parameters),
            not all_weighed,
        )
    else:
        chances, estimated = (
            _estimate_draw_chances(candidate_set, candidate_set.values[rows], parameters, random),
            True,
        )
    weights = np.zeros(len(status))
    weights[rows] = chances if prior is None else chances * prior[rows]
    if weights.sum() == 0:  # too rare for so few draws: then all that is known is the support
        weights[rows] = 1 if prior is None else prior[rows]
    return weights, estimated


def _build_network(candidate_set: Candidates, parameters: SuppressorParameters) -> BitNetwork:
    published = candidate_set.published
    network = BitNetwork.from_relations(
        published.structure.relations, find_suppressible_cells(published, parameters)
    )
    assert network is not None  # noqa: S101  # the attack has refused others
    return network


def _compute_tie_chances(
    candidate_set: Candidates, values: Ints, parameters: SuppressorParameters
) -> Floats:
    from divulge.tables.candidate_tables import pattern_kernels as kernels

    network = _build_network(candidate_set, parameters)
    cells, released = network.net.cells, network.to_bits(candidate_set.published.suppressed)
    chances = np.zeros(len(values))
    for row, candidate in enumerate(values):
        problem = build_problem(build_candidate_table(candidate_set, candidate), parameters)
        ties, _ = kernels.search_all_optima(
            *network.arcs, problem.values[cells], network.to_bits(problem.start), parameters.width,
            problem.cost[cells], network.all, released, 1 << 60, tuning.MOST_TIE_STEPS,
        )  # fmt: skip
        chances[row] = 1 / max(ties, 1)
    return chances


def _estimate_draw_chances(
    candidate_set: Candidates,
    values: Ints,
    parameters: SuppressorParameters,
    random: np.random.Generator,
) -> Floats:
    """The share of draws that give the release, among those that would be kept."""
    from divulge.tables.candidate_tables import pattern_kernels as kernels

    published, network = candidate_set.published, _build_network(candidate_set, parameters)
    above_floor = published.units - published.floor
    published_units = np.where(published.suppressed, 0, above_floor)[network.net.cells]
    draws = min(tuning.MOST_DRAWS_PER_CANDIDATE, tuning.TOTAL_DRAWS // len(values))
    # The same draws for every candidate: their differences are then their own.
    widths, factors = randomised_suppression.draw_widths_and_factors(
        random, parameters.width, len(network.net.cells), draws
    )
    if parameters.rule == "minimal":
        widths[:] = parameters.width
    hits = np.zeros(len(values), np.int64)
    for rows, cost in _group_by_cost(candidate_set, values, parameters, network):
        hits[rows] = kernels.count_draws(
            *network.arcs, published_units, network.all, network.to_bits(published.suppressed),
            network.bit_places(candidate_set.cells), values[rows], parameters.threshold_above_floor,
            int(parameters.is_floor_primary), candidate_set.high - candidate_set.low, widths,
            randomised_suppression.scale_costs(cost, factors), tuning.MOST_PATTERN_STEPS,
        )  # fmt: skip
    chances = np.maximum(hits, 0) / draws
    if parameters.rule == "resisting":
        chances /= _estimate_kept_shares(
            candidate_set, values, parameters, int(random.integers(2**32))
        )
    return chances


def _group_by_cost(
    candidate_set: Candidates,
    values: Ints,
    parameters: SuppressorParameters,
    network: BitNetwork,
) -> Iterator[tuple[Ints, Ints]]:
    """Candidates by what their cells cost: costs by value are a candidate's own."""
    by_value = isinstance(parameters.cost, str) and parameters.cost == "value"
    all_rows = np.arange(len(values))
    for rows in all_rows[:, None] if by_value else [all_rows]:
        table = build_candidate_table(candidate_set, values[rows[0]])
        yield rows, build_problem(table, parameters).cost[network.net.cells]


def _estimate_kept_shares(
    candidate_set: Candidates, values: Ints, parameters: SuppressorParameters, seed: int
) -> Floats:
    """For every candidate, which share of its draws is kept; never below one in all draws."""
    shares = np.zeros(len(values))
    draws_of_one = min(tuning.MOST_DRAWS_PER_CANDIDATE, tuning.TOTAL_DRAWS // len(values))
    kept_draws = draws_of_one // tuning.DRAWS_PER_JUDGED_DRAW
    with work.step("Weighing candidates", len(values)) as step:
        for row, candidate in enumerate(values):
            table = build_candidate_table(candidate_set, candidate)
            problem = build_problem(table, parameters)
            draws = randomised_suppression.enumerate_draws(table, problem, parameters, seed)
            is_kept: dict[int, bool] = {}
            for _ in range(kept_draws):
                bits, pattern = next(draws)
                if bits not in is_kept:
                    is_kept[bits] = randomised_suppression.is_resisting(
                        table.publish(pattern), parameters
                    )
                shares[row] += is_kept[bits] / kept_draws
            step.advance()
    return np.maximum(shares, 1 / (2 * kept_draws))
