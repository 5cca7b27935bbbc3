"""Randomised suppression: patterns drawn at random until knowing the suppressor does not help.

With a secret seed a width (at least the one asked) and costs are drawn, each from a distribution
without end, and the cheapest pattern is taken. Every pattern that has no cell to spare at some
width can come of it, so a release rules out a table only if its pattern is not such a one for it:
that is the support. A draw is given up if, by what everybody can compute from the release alone,
some cell that could be primary is narrower than asked. That rule looks at nothing secret, so it
changes how likely a release is, and not which tables are possible behind it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from divulge import work
from divulge.tables import tuning
from divulge.tables.candidate_tables.enumeration import candidates
from divulge.tables.candidate_tables.small_network import MOST_CELLS, BitNetwork
from divulge.tables.candidate_tables.suppressor_knowledge import build_problem, choose_knowledge
from divulge.tables.candidate_tables.suppressor_parameters import SuppressorParameters
from divulge.tables.suppression.problem import SuppressionProblem
from divulge.tables.table.table import Published, Table
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class PatternDraw:
    """A pattern that was drawn, and how many draws it took."""

    pattern: Bools
    draws: int


def draw_pattern(
    table: Table,
    parameters: SuppressorParameters,
    seed: int,
    most_draws: int = tuning.MOST_PATTERN_DRAWS,
) -> PatternDraw:
    """Draw patterns until what is released leaves every cell that could be primary wide enough.

    The same seed and table give the same pattern.

    Raises:
        InvalidInput: if nothing protects the table, or no draw is safe.

    >>> table = Table.from_cells([[7, 11, 60], [10, 60, 11], [60, 12, 60]])
    >>> parameters = SuppressorParameters(min_frequency=10, width=10)
    >>> drawn = draw_pattern(table, parameters, seed=1)
    >>> is_resisting(table.publish(drawn.pattern), parameters)
    True
    """
    problem = build_problem(table, parameters)
    if len(problem.primary) == 0:
        return PatternDraw(problem.start, 0)
    is_safe: dict[int, bool] = {}
    draws = enumerate_draws(table, problem, parameters, seed)
    with work.step("Drawing patterns", most_draws) as step:
        for count in range(1, most_draws + 1):
            bits, pattern = next(draws)
            if bits not in is_safe:
                is_safe[bits] = is_resisting(table.publish(pattern), parameters)
            if is_safe[bits]:
                return PatternDraw(pattern, count)
            step.advance()
    message = (
        f"{most_draws} draws gave no release that resists the attack. Let totals be suppressed "
        '(margins="suppressible"), or ask for less width.'
    )
    raise InvalidInput("suppress", [Problem("resist_matching", message)])


def enumerate_draws(
    table: Table, problem: SuppressionProblem, parameters: SuppressorParameters, seed: int
) -> Iterator[tuple[int, Bools]]:
    """One pattern after the other: the cheapest under costs of its own."""
    from divulge.tables.candidate_tables import pattern_kernels as kernels

    network = build_small_network(table, problem)
    cells = network.net.cells
    values, primary = problem.values[cells], network.to_bits(problem.start)
    everything, scratch = network.all, [np.zeros(2 * len(cells), np.int64)]
    scratch += [np.zeros(network.net.nodes, np.int64) for _ in range(2)]
    if not kernels.is_protecting(
        *network.arcs, values, everything, primary, parameters.width, *scratch
    ):
        message = 'cannot be protected: let totals be suppressed (margins="suppressible").'
        raise InvalidInput("suppress", [Problem("resist_matching", message)])
    random = build_generator(seed, table, parameters)
    while True:
        [width], [weights] = draw_widths_and_costs(random, parameters.width, problem.cost[cells], 1)
        work.check()
        if not kernels.is_protecting(*network.arcs, values, everything, primary, width, *scratch):
            continue
        status, bits = kernels.search_first_optimum(
            *network.arcs,
            values,
            primary,
            width,
            weights,
            everything,
            everything,
            tuning.MOST_PATTERN_STEPS,
        )
        if status == 0:
            yield bits, network.to_pattern(bits)


def build_small_network(table: Table, problem: SuppressionProblem) -> BitNetwork:
    """The table as a network of bits; patterns of others are not known well enough to resist."""
    network = BitNetwork.from_relations(table.structure.relations, problem.open)
    if network is None:
        message = (
            f"is known to hold in crosstabs (and other networks) of at most {MOST_CELLS} cells "
            "that may be suppressed. Split the table, or publish its totals."
        )
        raise InvalidInput("suppress", [Problem("resist_matching", message)])
    return network


def draw_widths_and_costs(
    random: np.random.Generator, width: int, cost: Ints, draws: int
) -> tuple[Ints, Ints]:
    """Widths and costs for some draws: what was asked, and something without end."""
    widths, factors = draw_widths_and_factors(random, width, len(cost), draws)
    return widths, scale_costs(cost, factors)


def draw_widths_and_factors(
    random: np.random.Generator, width: int, cells: int, draws: int
) -> tuple[Ints, Floats]:
    """Widths for some draws, and by what factor each cell is dearer."""
    extra_width = random.geometric(1 / (1 + width / tuning.WIDTH_PER_EXTRA), size=draws) - 1
    factors = tuning.BASE_COST_FACTOR + random.exponential(size=(draws, cells))
    return width + extra_width.astype(np.int64), factors


def scale_costs(cost: Ints, factors: Floats) -> Ints:
    """What cells cost in each draw, in whole numbers."""
    return np.maximum(np.round(tuning.COST_UNIT * cost * factors), 1).astype(np.int64)


def is_resisting(published: Published, parameters: SuppressorParameters) -> bool:
    """Whether every cell that could be primary is wide enough, by what everybody can compute."""
    rules = replace(parameters, rule="resisting")
    try:
        candidate_set = candidates(
            published, tuning.MOST_JUDGED_CANDIDATES, sample=tuning.JUDGED_SAMPLE
        )
    except InvalidInput:  # no published total bounds some cell: what is left cannot be judged
        return False
    cells = len(candidate_set.cells)
    box = np.stack([np.full(cells, 2**60), np.full(cells, -1)]).astype(np.int64)
    knowledge = choose_knowledge(candidate_set, rules)
    order = np.random.default_rng(0).permutation(len(candidate_set.values))
    # Cells that the sums alone leave too narrow cannot be primary: the pattern protects.
    lowest = np.maximum(candidate_set.low, 0 if rules.is_floor_primary else 1)
    may_be_primary = (candidate_set.high - candidate_set.low >= rules.width) & (
        lowest < rules.threshold_above_floor
    )
    for begin in range(0, len(order), tuning.CANDIDATES_AT_ONCE):
        knowledge.judge_candidates(
            candidate_set.values[order[begin : begin + tuning.CANDIDATES_AT_ONCE]], box, True
        )
        wide = box[1] - box[0] >= rules.width
        if np.all(wide[may_be_primary]):
            return True
    if candidate_set.kind != "all" or box[1].max(initial=-1) < 0:
        return False
    lowest = np.maximum(box[0], 0 if rules.is_floor_primary else 1)
    may_be_primary &= (lowest < rules.threshold_above_floor) & (lowest <= box[1])
    return bool(np.all(wide[may_be_primary]))


def build_generator(
    seed: int, table: Table, parameters: SuppressorParameters
) -> np.random.Generator:
    """Chance that depends on the secret seed and, in a way nobody can foretell, on the table."""
    key = seed.to_bytes(32, "big", signed=True)
    digest = hmac.digest(key, compute_fingerprint(table, parameters).encode(), hashlib.sha256)
    return np.random.default_rng(np.frombuffer(digest, np.uint32))


def compute_fingerprint(table: Table, parameters: SuppressorParameters) -> str:
    """What tells one table and its parameters from another."""
    digest = hashlib.sha256()
    cost: Any = parameters.cost
    cost = cost if isinstance(cost, str) else np.asarray(cost, dtype=float).tobytes().hex()
    description = (
        [[[axis.name, *axis.codes] for axis in axes] for axes in table.structure.grids],
        parameters.min_frequency,
        parameters.width,
        parameters.zeros_primary,
        parameters.margins,
        *(["zeros known"] if parameters.zeros == "known" else []),
    )
    digest.update(repr((description, cost, table.decimals, table.measure, table.lowest)).encode())
    digest.update(np.ascontiguousarray(table.units).tobytes())
    return digest.hexdigest()
