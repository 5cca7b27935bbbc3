"""The matching attack: what is left to suppressed cells if the suppressor is known."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.tables.test_audit import FIGURE_2, grids, published_tables

import divulge as dv
from divulge.tables import (
    Matching,
    Published,
    Table,
    candidates,
    intervals,
    tuning,
)
from divulge.tables.candidate_tables import pattern_kernels as kernels
from divulge.tables.candidate_tables.small_network import BitNetwork, find_first_optimum
from divulge.tables.candidate_tables.suppressor_knowledge import (
    build_candidate_table,
    build_problem,
)
from divulge.tables.candidate_tables.suppressor_parameters import SuppressorParameters
from divulge.tables.matching import attack
from divulge.tables.suppression.optimal import optimal_pattern
from divulge.tables.suppression.problem import PatternAdversary, SuppressionProblem
from divulge.work import InvalidInput

# The paper's setting: a suppressed cell may be 0 for all that is known.
matching_attack = partial(dv.tables.matching_attack, zeros="secret")
suppress = partial(dv.tables.suppress, zeros="secret")

TABLE_1 = [[15, 15, 12, 10], [19, 14, 13, 9], [8, 8, 11, 14], [9, 9, 26, 0]]
WORKED = [[15, 15, 12, 10], [19, 20, 13, 3], [8, 8, 11, 14], [9, 3, 26, 6]]
HIDDEN = {(1, 1), (1, 3), (3, 1), (3, 3)}


def gaussian(side: int, seed: int) -> Table:
    """A table of Section 4.1."""
    drawn = np.random.default_rng(seed).normal(15, 10, (side, side))
    return Table.from_cells(np.maximum(drawn.round(), 0).astype(int))


def possible_by_solving(
    published: Published, rules: SuppressorParameters, labels: np.ndarray | None = None
) -> list[tuple[int, ...]]:
    """The plain attack (Algorithm 1): suppress every candidate again and compare."""
    found = candidates(published)
    possible = []
    for values in found.values:
        problem = build_problem(build_candidate_table(found, values), rules)
        if labels is not None and not np.array_equal(problem.start, labels):
            continue
        solution = optimal_pattern(problem)
        if not solution.hopeless and np.array_equal(solution.pattern, published.suppressed):
            assert solution.first
            possible.append(tuple(values.tolist()))
    return possible


def protecting_patterns(problem: SuppressionProblem) -> list[np.ndarray]:
    """All patterns that protect, by trying all."""
    free = np.flatnonzero(problem.open & ~problem.start)
    adversary, found = PatternAdversary(problem), []
    for size in range(len(free) + 1):
        for extra in combinations(free.tolist(), size):
            pattern = problem.start.copy()
            pattern[list(extra)] = True
            if len(adversary.find_unprotected(pattern)) == 0:
                found.append(pattern)
    return found


def found_possible(found: Matching) -> list[tuple[int, ...]]:
    rows = found.found.values[found.status == 1]
    return sorted(map(tuple, rows.tolist()))


def test_example_2_has_ten_candidates_along_one_direction() -> None:
    found = candidates(Table.from_cells(TABLE_1).publish(HIDDEN))
    assert found.count == 10
    assert found.null_space_dimension == 1
    expected = [[14 + k, 9 - k, 9 - k, k] for k in range(10)]
    assert sorted(found.values.tolist()) == expected
    assert found.keys == sorted(HIDDEN)


@settings(max_examples=40)
@given(published_tables())
def test_candidates_are_all_whole_numbers_that_keep_the_sums(published: Published) -> None:
    audited = intervals(published)
    assume(not np.any(np.isinf(audited.upper)))
    assume(np.prod(audited.widths + 1) <= 5_000)
    matrix = published.structure.relations.to_matrix(published.structure.size).toarray()
    ranges = [range(int(a), int(b) + 1) for a, b in zip(audited.lower, audited.upper, strict=True)]
    expected = []
    for values in product(*ranges):
        units = published.units.copy()
        units[audited.cells] = values
        if not np.any(matrix @ units):
            expected.append(list(values))
    assert sorted(candidates(published).values.tolist()) == expected


@settings(max_examples=20, deadline=None)
@given(grids(most=4, high=16), st.integers(1, 9), st.booleans(), st.booleans(), st.booleans())
def test_the_compiled_search_finds_the_solvers_first_optimum(
    cells: Any, width: int, zeros: bool, by_value: bool, totals: bool
) -> None:
    table = Table.from_cells(cells)
    rules = SuppressorParameters(
        min_frequency=4, width=width, zeros_primary=zeros, cost="value" if by_value else "number",
        margins="suppressible" if totals else "published",
    )  # fmt: skip
    problem = build_problem(table, rules)
    assume(len(problem.primary) > 0)
    small = BitNetwork.from_relations(table.structure.relations, problem.open)
    assert small is not None
    mine, solution = find_first_optimum(problem, small), optimal_pattern(problem)
    if solution.hopeless:
        assert mine is None
    else:
        assert mine is not None
        np.testing.assert_array_equal(mine, solution.pattern)


@settings(max_examples=8, deadline=None)
@given(grids(most=3, high=11), st.integers(1, 7), st.booleans(), st.booleans())
def test_the_fast_attack_equals_solving_every_candidate_again(
    cells: Any, width: int, zeros: bool, labelled: bool
) -> None:
    table, rules = (
        Table.from_cells(cells),
        SuppressorParameters(min_frequency=4, width=width, zeros_primary=zeros),
    )
    solution = optimal_pattern(build_problem(table, rules))
    assume(not solution.hopeless and solution.pattern.any())
    published = table.publish(solution.pattern)
    assume(not np.any(np.isinf(intervals(published).upper)))  # small totals are suppressed too
    assume(len(candidates(published).values) <= 60)
    primary = build_problem(table, rules).start
    found = matching_attack(published, 4, width, zeros, labelled, mode="full", primary=primary)
    labels = primary if labelled else None
    assert found_possible(found) == sorted(possible_by_solving(published, rules, labels))
    assert found.complete
    by_interval = matching_attack(published, 4, width, zeros, labelled, primary=primary)
    assert dict(by_interval.intervals) == dict(found.intervals)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.booleans())
def test_interval_mode_gives_the_intervals_of_full_mode(
    seed: int, zeros: bool, labelled: bool
) -> None:
    table, rules = (
        gaussian(4, seed),
        SuppressorParameters(min_frequency=5, width=8, zeros_primary=zeros),
    )
    problem = build_problem(table, rules)
    small = BitNetwork.from_relations(table.structure.relations, problem.open)
    assert small is not None
    pattern = find_first_optimum(problem, small)
    assume(pattern is not None and len(problem.primary) > 0)
    published = table.publish(pattern)
    one, other = (
        matching_attack(published, 5, 8, zeros, labelled, primary=problem.start, mode=mode)
        for mode in ("interval", "full")
    )
    assert dict(one.intervals) == dict(other.intervals)
    assert one.unsafe == other.unsafe
    values = table.values
    for key, (low, high) in one.intervals.items():
        assert low <= values[key] <= high, "the truth is never ruled out"
        assert one.feasible[key][0] <= low
        assert high <= one.feasible[key][1]


@settings(max_examples=8, deadline=None)
@given(grids(most=3, high=9), st.integers(1, 6))
def test_random_suppressors_may_give_just_what_all_patterns_say(cells: Any, width: int) -> None:
    table = Table.from_cells(cells)
    rules = SuppressorParameters(min_frequency=3, width=width)
    problem = build_problem(table, rules)
    assume(len(problem.primary) > 0 and cells.size <= 6)
    assume(min(cells.sum(axis=0).min(), cells.sum(axis=1).min()) >= 3)  # totals are published
    patterns = protecting_patterns(problem)
    assume(patterns)
    cheapest = min(pattern.sum() for pattern in patterns)
    optima = [p for p in patterns if p.sum() == cheapest]
    minimal = [p for p in patterns if not any(np.all(q <= p) and np.any(q < p) for q in patterns)]
    own = tuple(table.units[np.flatnonzero(optima[-1])].tolist())
    last = matching_attack(
        table.publish(optima[-1]), 3, width, suppressor="any optimum", mode="full"
    )
    assert own in found_possible(last)
    dearest = max(minimal, key=lambda p: (p.sum(), p.tobytes()))
    spare = matching_attack(table.publish(dearest), 3, width, suppressor="minimal", mode="full")
    assert tuple(table.units[np.flatnonzero(dearest)].tolist()) in found_possible(spare)
    small = BitNetwork.from_relations(table.structure.relations, problem.open)
    assert small is not None
    net = small.net.cells
    count, _ = kernels.search_all_optima(
        *small.arcs, problem.values[net], small.to_bits(problem.start), width, problem.cost[net],
        small.all, small.to_bits(optima[0]), 1 << 60, tuning.MOST_PATTERN_STEPS,
    )  # fmt: skip
    assert count == len(optima)


def test_any_deterministic_suppressor_can_be_attacked() -> None:
    table = Table.from_cells(WORKED)
    chosen = suppress(table, 5, 8)
    ours = matching_attack(chosen, 5, 8, mode="full")
    called = matching_attack(chosen, 5, 8, mode="full", suppressor=lambda t: suppress(t, 5, 8))
    assert found_possible(ours) == found_possible(called)
    fast = suppress(table, 5, 8, method="fast")
    found = matching_attack(
        fast, 5, 8, suppressor=lambda t: suppress(t, 5, 8, method="fast").pattern
    )
    values = table.values
    assert all(low <= values[key] <= high for key, (low, high) in found.intervals.items())


def test_a_table_that_is_no_network_is_attacked_by_solving_it_again() -> None:
    table = Table.from_cells([[[2, 6], [7, 9]], [[8, 5], [6, 7]]])
    found = matching_attack(suppress(table, 3, 3), 3, 3, mode="full")
    rules = SuppressorParameters(min_frequency=3, width=3)
    assert found_possible(found) == sorted(possible_by_solving(found.published, rules))


def test_a_suppressor_that_rolls_dice_is_found_out() -> None:
    random = np.random.default_rng(1)
    table = Table.from_cells(TABLE_1)

    def fickle(_: Table) -> set[tuple[int, int]]:
        return HIDDEN if random.random() < 0.5 else HIDDEN | {(0, 0)}

    with pytest.raises(InvalidInput, match="suppressor: gave two patterns for one table"):
        matching_attack(table.publish(HIDDEN), suppressor=fickle)


def test_not_knowing_the_parameters_rules_out_less() -> None:
    chosen = suppress(gaussian(4, 3), 5, 8)
    known = matching_attack(chosen, 5, 8)
    unknown = matching_attack(chosen, 5, 8, parameters="unknown")
    assert (5, 8) in {(pair.min_frequency, pair.width) for pair in unknown.parameters}
    for key, (low, high) in known.intervals.items():
        assert unknown.intervals[key][0] <= low
        assert high <= unknown.intervals[key][1]
    shown = chosen.published.units[~chosen.published.suppressed]
    assert all(pair.min_frequency <= shown[shown > 0].min() for pair in unknown.parameters)
    each = [
        matching_attack(chosen.published, pair.min_frequency, pair.width)
        for pair in unknown.parameters
    ]
    for key, (low, high) in unknown.intervals.items():
        assert low == min(one.intervals[key][0] for one in each)
        assert high == max(one.intervals[key][1] for one in each)
    assert "pairs of minimum frequency and width agree" in str(unknown.assessment)
    soon = matching_attack(chosen, 5, 8, parameters="unknown", seconds=1e-9)
    assert not soon.complete
    for key, (low, high) in unknown.intervals.items():
        assert soon.outer[key][0] <= low <= high <= soon.outer[key][1]


def test_the_posterior_counts_possible_tables_or_weighs_them() -> None:
    chosen = suppress(gaussian(4, 3), 5, 8)
    flat = matching_attack(chosen, 5, 8, mode="full")
    key = flat.sensitive_cells[0]
    column = flat.found.keys.index(key)
    values = flat.found.values[flat.status == 1][:, column].tolist()
    assert flat.posterior[key] == {v: values.count(v) / len(values) for v in set(values)}
    assert flat.assessment.claim == "exact"
    least = min(values)

    def sure(tables: Any) -> Any:
        return (tables[(slice(None), *key)] == least).astype(float)

    weighed = matching_attack(chosen, 5, 8, mode="full", prior=sure)
    assert weighed.posterior[key][least] == 1
    with pytest.raises(InvalidInput, match="gives weight to no table"):
        matching_attack(chosen, 5, 8, mode="full", prior=lambda t: 0 * t[:, 0, 0])
    with pytest.raises(InvalidInput, match="gives one weight from 0 for each table"):
        matching_attack(chosen, 5, 8, mode="full", prior=lambda t: -t[:, 0, 0] - 1)


def test_a_random_choice_among_ties_weighs_tables_by_one_over_their_ties() -> None:
    chosen = suppress(gaussian(4, 3), 5, 8)
    found = matching_attack(chosen, 5, 8, mode="full", suppressor="any optimum")
    assert found.weights is not None
    weights = np.zeros(len(found.status))
    for row in np.flatnonzero(found.status == 1):
        problem = build_problem(
            build_candidate_table(found.found, found.found.values[row]),
            SuppressorParameters(min_frequency=5, width=8),
        )
        adversary = PatternAdversary(problem)
        free = np.flatnonzero(problem.open & ~problem.start)
        extra = int(chosen.cost) - len(problem.primary)
        ties = 0
        for cells in combinations(free.tolist(), extra):
            pattern = problem.start.copy()
            pattern[list(cells)] = True
            ties += len(adversary.find_unprotected(pattern)) == 0
        weights[row] = 1 / ties
    np.testing.assert_allclose(found.weights, weights)
    assert found.assessment.claim == "exact"


def test_a_limit_ends_in_a_bound_that_says_so() -> None:
    chosen = suppress(gaussian(5, 7), 5, 8, True)
    whole = matching_attack(chosen, 5, 8, True)
    assert whole.complete
    few = matching_attack(chosen, 5, 8, True, most_candidates=500, sample=0)
    assert not few.complete
    assert few.candidates == 500
    assert few.assessment.claim == "bound"
    assert "More than 500 tables agree" in str(few.assessment)
    soon = matching_attack(chosen, 5, 8, True, seconds=1e-9)
    assert not soon.complete
    assert soon.assessment.claim == "bound"
    assert "Stopped after" in str(soon.assessment)
    for stopped in (few, soon):
        assert set(stopped.surely_unsafe) <= set(whole.unsafe) <= set(stopped.unsafe)
        for key, (low, high) in whole.intervals.items():
            assert stopped.outer[key][0] <= low <= high <= stopped.outer[key][1]
            if stopped.possible:
                assert low <= stopped.intervals[key][0]
                assert stopped.intervals[key][1] <= high


def test_a_sample_estimates_the_posterior_of_all_candidates() -> None:
    chosen = suppress(gaussian(5, 8), 5, 8, True)
    exact = matching_attack(chosen, 5, 8, True, mode="full")
    drawn = matching_attack(chosen, 5, 8, True, mode="full", most_candidates=100, sample=30_000)
    assert exact.assessment.claim == "exact"
    assert drawn.assessment.claim == "estimate"
    assert "drawn at random" in str(drawn.assessment)
    for key in exact.intervals:
        for value, chance in exact.posterior[key].items():
            assert drawn.posterior[key].get(value, 0) == pytest.approx(chance, abs=0.03)


def test_the_assessment_tells_sums_from_suppressor() -> None:
    chosen = suppress(gaussian(4, 3), 5, 8)
    found = matching_attack(chosen, 5, 8)
    assert found.assessment.claim == "bound"
    assert found.assessment.model == "matching"
    assert found.assessment.figures["narrowest_width_by_sums"] >= 8
    assert found.assessment.figures["unsafe_cells"] == len(found.unsafe)
    widths = {record["knows"]: 0 for record in found.assessment.chart().records}
    for record in found.assessment.chart().records:
        widths[record["knows"]] += record["cells"]
    assert set(widths.values()) == {int(chosen.primary.sum())}
    full = matching_attack(chosen, 5, 8, mode="full")
    assert full.assessment.claim == "exact"
    assert full.assessment.probabilistic.posterior >= found.assessment.probabilistic.posterior
    assert found.to_dict()["unsafe"] == len(found.unsafe)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"min_frequency": 9, "width": 8}, "min_frequency: .* is published, and primary"),
        ({"min_frequency": 5}, 'width: give it, or say parameters="unknown"'),
        ({"min_frequency": 5, "width": 8, "labelled": True}, "labelled: give the labels"),
        ({"min_frequency": 5, "width": 8, "suppressor": "minimum"}, 'Did you mean "minimal"'),
        ({"min_frequency": 5, "width": 8, "mode": "ful"}, 'Did you mean "full"'),
        ({"min_frequency": 5, "width": 8, "prior": len}, 'say mode="full"'),
        ({"min_frequency": 0, "width": -1}, "matching attack has 2 problems"),
        ({"min_frequency": 5, "width": 8, "primary": {(0, 0)}}, "is said to be primary and is"),
    ],
)
def test_what_cannot_be_asked_is_said(rules: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        matching_attack(Table.from_cells(TABLE_1).publish(HIDDEN), **rules)


def test_tables_of_magnitudes_need_the_suppressor_itself() -> None:
    table = Table.from_cells(FIGURE_2, measure="income")
    hidden = {(0, 0), (0, 1), (1, 0), (1, 1)}
    with pytest.raises(InvalidInput, match="contains magnitudes"):
        matching_attack(table.publish(hidden), 10, 10)
    found = matching_attack(
        table.publish(hidden), width=10, suppressor=lambda _: hidden, most_candidates=100
    )
    assert found.intervals[(0, 0)] == found.feasible[(0, 0)], "it always suppresses these"


def test_a_release_that_no_table_gives_is_said_with_the_nearest_rule() -> None:
    table = gaussian(4, 3)
    chosen = suppress(table, 5, 8)
    hidden = set(chosen.published.cells)
    spare = next((i, j) for i in range(4) for j in range(4) if (i, j) not in hidden)
    with pytest.raises(InvalidInput, match="none of the .* tables that agree"):
        matching_attack(table.publish(hidden | {spare}), 5, 8)
    wider = suppress(gaussian(4, 0), 5, 14)
    with pytest.raises(InvalidInput, match=r"width=4, .* With min_frequency=5, width=10 some"):
        matching_attack(wider.published, 5, 4)
    with_zeros = suppress(gaussian(4, 9), 5, 8, zeros_primary=True)
    with pytest.raises(InvalidInput, match="With zeros_primary=True some table does"):
        matching_attack(with_zeros.published, 5, 8)


def test_a_table_of_which_nothing_is_suppressed_has_one_candidate_and_no_secret() -> None:
    found = matching_attack(gaussian(4, 2).publish(), 5, 8)
    assert found.candidates == found.possible == 1
    assert found.assessment.secrets == 0


def test_a_cell_that_no_total_bounds_has_candidates_without_end() -> None:
    table = Table.from_cells([[3, 4], [5, 6]])
    everything = np.ones(table.shape, dtype=bool)
    with pytest.raises(InvalidInput, match="no published total bounds it"):
        candidates(table.publish(everything))


def test_the_attack_is_offered_at_the_front_door() -> None:
    assert dv.tables.matching_attack is attack.matching_attack


def test_the_clock_is_named_only_where_it_stopped_the_search() -> None:
    found = suppress(Table.from_cells(WORKED), min_frequency=5)
    dear = replace(found, bound=found.cost - 1)
    assert dear.gap > 0
    with pytest.raises(InvalidInput, match="not proven to be the cheapest"):
        matching_attack(dear)
    with pytest.raises(InvalidInput, match="stopped by the clock"):
        matching_attack(replace(dear, is_cut=True))
