"""A suppression that survives the matching attack: drawn, safe by its release, kept."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from tests.tables.test_matching import gaussian, protecting_patterns

import divulge as dv
from divulge.tables import Table, fresh_draws, intervals
from divulge.tables.candidate_tables.small_network import BitNetwork, find_first_optimum
from divulge.tables.candidate_tables.suppressor_knowledge import (
    POSSIBLE,
    build_problem,
    choose_knowledge,
)
from divulge.tables.candidate_tables.suppressor_parameters import SuppressorParameters
from divulge.tables.randomised.draw_likelihood import weigh_candidates
from divulge.tables.randomised.randomised_suppression import (
    draw_pattern,
    enumerate_draws,
    is_resisting,
)
from divulge.tables.resistance import count_likely_values
from divulge.tables.suppression.problem import PatternAdversary, SuppressionProblem
from divulge.work import InvalidInput

# The paper's setting: a suppressed cell may be 0 for all that is known.
matching_attack = partial(dv.tables.matching_attack, zeros="secret")
suppress = partial(dv.tables.suppress, zeros="secret")

RULES = SuppressorParameters(min_frequency=5, width=8, rule="resisting")


def cheapest(problem: SuppressionProblem) -> np.ndarray | None:
    """The deterministic suppressor's pattern; None if nothing protects."""
    small = BitNetwork.from_relations(problem.relations, problem.open)
    assert small is not None
    return find_first_optimum(problem, small)


def primary_tables(count: int, side: int, zeros: bool) -> list[tuple[Table, np.ndarray]]:
    """Tables of Section 4.1 that have something to protect; with their cheapest pattern."""
    found = []
    for seed in range(10 * count):
        table = gaussian(side, seed)
        problem = build_problem(
            table, SuppressorParameters(min_frequency=5, width=8, zeros_primary=zeros)
        )
        pattern = cheapest(problem)
        if len(problem.primary) and pattern is not None:
            found.append((table, pattern))
    return found[:count]


@pytest.mark.parametrize(("side", "count"), [(4, 12), (5, 6)])
@pytest.mark.parametrize("zeros", [False, True])
def test_no_cell_is_narrower_for_who_knows_all_but_the_seed(
    side: int, count: int, zeros: bool
) -> None:
    rules = SuppressorParameters(min_frequency=5, width=8, zeros_primary=zeros, rule="resisting")
    narrowed = 0
    for table, pattern in primary_tables(count, side, zeros):
        primary = build_problem(table, rules).start
        drawn = draw_pattern(table, rules, seed=11)
        found = matching_attack(
            table.publish(drawn.pattern), 5, 8, zeros, suppressor="resisting", primary=primary
        )
        assert found.unsafe == []
        assert found.complete
        values = table.values
        assert all(low <= values[key] <= high for key, (low, high) in found.intervals.items())
        attacked = matching_attack(table.publish(pattern), 5, 8, zeros, primary=primary)
        narrowed += len(attacked.unsafe)
    assert narrowed > 0, "the deterministic suppressor is not safe on the same tables"


def at_width(problem: SuppressionProblem, width: int, cost: np.ndarray) -> SuppressionProblem:
    return replace(problem, sliding=np.full(len(problem.primary), width), cost=cost)


def spares_nothing(problem: SuppressionProblem, pattern: np.ndarray) -> int | None:
    """A width of at least 4 at which the pattern protects and no smaller one inside it does."""
    for width in range(4, 40):
        adversary = PatternAdversary(at_width(problem, width, problem.cost))
        if len(adversary.find_unprotected(pattern)):
            return None
        extra = np.flatnonzero(pattern & ~problem.start)
        smaller = (pattern & (np.arange(len(pattern)) != cell) for cell in extra)
        if all(len(adversary.find_unprotected(less)) for less in smaller):
            return width
    return None


def test_the_support_is_every_pattern_with_no_cell_to_spare_at_some_width() -> None:
    table = Table.from_cells([[2, 6, 5], [7, 3, 9], [6, 8, 7]])
    rules = SuppressorParameters(min_frequency=3, width=4, rule="resisting")
    problem = build_problem(table, rules)
    patterns = [(p, spares_nothing(problem, p)) for p in protecting_patterns(problem)]
    support = {p.tobytes(): (p, width) for p, width in patterns if width is not None}
    drawn = {p.tobytes() for _, p in islice(enumerate_draws(table, problem, rules, 5), 500)}
    assert len(drawn) > 1
    assert drawn <= set(support)
    own = table.units
    for pattern, width in support.values():
        dear = np.where(pattern, 1, 1000)  # costs that chance may draw, however seldom
        again = cheapest(at_width(problem, width, dear))
        assert again is not None
        np.testing.assert_array_equal(again, pattern)
        found = matching_attack(table.publish(pattern), 3, 4, suppressor="resisting")
        cells = np.flatnonzero(pattern)
        box = np.stack([np.full(len(cells), 2**60), np.full(len(cells), -1)])
        known = choose_knowledge(found.found, rules)
        assert known.judge_candidates(own[None, cells], box, False).tolist() == [1]


def test_whether_a_draw_is_kept_depends_on_the_release_alone() -> None:
    table = gaussian(4, 3)
    drawn = draw_pattern(table, RULES, seed=2)
    published = table.publish(drawn.pattern)
    found = matching_attack(published, 5, 8, suppressor="resisting", mode="full")
    for values in found.found.values[found.status == 1][:5]:
        units = table.units.copy()
        units[found.found.cells] = values
        other = Table(table.structure, units)
        assert is_resisting(other.publish(drawn.pattern), RULES) == is_resisting(published, RULES)


def test_suppress_draws_and_tells_what_it_costs_and_leaves() -> None:
    table = gaussian(4, 3)
    safe = suppress(table, 5, 8, resist_matching=True, seed=4)
    assert safe.resistance is not None
    assert np.all(intervals(safe.published, safe.primary).widths >= 8)
    cheapest = suppress(table, 5, 8)
    assert safe.bound == cheapest.cost
    assert safe.resistance.price == safe.cost - cheapest.cost
    assert min(safe.resistance.support_widths.values()) >= 8
    assert 0 < safe.resistance.vulnerability < 1
    assert all(values >= 2 for values in safe.resistance.likely_values.values())
    assert "values are needed to reach 95%" in str(safe.resistance)
    told = json.dumps(safe.resistance.to_dict())
    assert "seed" not in told
    assert "4" not in repr(safe.resistance).partition("seed")[2], "the seed is a secret"
    assert safe.resistance.attack.assessment.claim == "estimate"


def test_the_same_seed_draws_the_same_pattern_and_others_draw_others() -> None:
    table = gaussian(5, 7)
    patterns = [
        suppress(table, 5, 8, True, resist_matching=True, seed=seed).pattern.tobytes()
        for seed in (1, 1, 2, 3, 4, 5)
    ]
    assert patterns[0] == patterns[1]
    assert len(set(patterns)) > 1


def test_a_released_table_is_released_alike_ever_after(tmp_path: Path) -> None:
    table, file = gaussian(5, 7), tmp_path / "draws.sealed"
    first = suppress(table, 5, 8, True, resist_matching=True, sealed=file)
    again = suppress(table, 5, 8, True, resist_matching=True, sealed=file)
    np.testing.assert_array_equal(first.pattern, again.pattern)
    assert file.stat().st_mode & 0o077 == 0, "its owner alone may read it"
    suppress(gaussian(5, 8), 5, 8, True, resist_matching=True, sealed=file)
    content = json.loads(file.read_text())
    assert len(content["draws"]) == 2
    with pytest.raises(InvalidInput, match="seed: is not the seed of this file"):
        suppress(table, 5, 8, True, resist_matching=True, sealed=file, seed=1)
    name = next(iter(content["draws"]))
    content["draws"][name]["draws"] += 1
    file.write_text(json.dumps(content))
    with pytest.raises(InvalidInput, match="its seal is broken"):
        suppress(table, 5, 8, True, resist_matching=True, sealed=file)
    file.write_text("[1, 2]")
    with pytest.raises(InvalidInput, match="is not a file of sealed draws"):
        suppress(table, 5, 8, True, resist_matching=True, sealed=file)


def test_averaging_over_fresh_draws_gives_away_what_one_draw_hides() -> None:
    told = fresh_draws(gaussian(4, 8), 5, 8, True, releases=8, seed=3)
    assert told.unsafe[0] == 0
    assert told.unsafe[-1] > 0
    assert told.disclosed[-1] > 0
    assert told.hidden == sorted(told.hidden, reverse=True)
    assert told.unsafe == sorted(told.unsafe)


def test_the_likely_values_are_the_fewest_that_hold_95_percent() -> None:
    assert count_likely_values({0: 0.5, 1: 0.45, 2: 0.05}) == 2
    assert count_likely_values(dict.fromkeys(range(10), 0.1)) == 10
    assert count_likely_values({7: 1.0}) == 1


def test_a_table_without_sensitive_cells_needs_no_draw() -> None:
    calm = suppress(Table.from_cells([[9, 9], [9, 9]]), 5, 8, resist_matching=True, seed=1)
    assert calm.resistance is not None
    assert calm.resistance.draws == 0
    assert not calm.pattern.any()
    assert "nothing was drawn" in str(calm.resistance)


def test_what_cannot_resist_is_said() -> None:
    table = Table.from_cells([[7, 11, 60], [10, 60, 11], [60, 12, 60]])
    with pytest.raises(InvalidInput) as error:
        suppress(table, 10, 10, method="fast", publish={(1, 1)}, upper=2, resist_matching=True)
    assert len(error.value.problems) == 3
    magnitudes = Table.from_cells([[7, 11], [10, 60]], measure="income")
    with pytest.raises(InvalidInput, match="counts are needed"):
        suppress(magnitudes, primary={(0, 0)}, resist_matching=True)
    large = Table.from_cells(np.full((9, 9), 7))
    with pytest.raises(InvalidInput, match="at most 64 cells"):
        suppress(large, 10, 5, resist_matching=True)


def test_costs_by_value_are_each_candidates_own_in_the_posterior(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # for one as for many
    monkeypatch.setattr("divulge.tables.tuning.MOST_DRAWS_PER_CANDIDATE", 200)
    table = Table.from_cells([[1, 6, 9], [6, 4, 8], [9, 8, 7]])
    rules = SuppressorParameters(min_frequency=3, width=4, cost="value", rule="minimal")
    published = table.publish({(0, 0), (0, 1), (1, 0), (1, 1)})
    found = matching_attack(published, 3, 4, suppressor="minimal", cost="value", mode="full")
    rows = found.status == POSSIBLE
    weights, _ = weigh_candidates(found.found, found.status, rules, None, 0)
    assert weights is not None
    # The same draws, one candidate at a time, with the costs of its own values.
    for row in np.flatnonzero(rows):
        alone = np.where(np.arange(len(rows)) == row, found.status, 0)
        expected, _ = weigh_candidates(found.found, alone, rules, None, 0)
        assert expected is not None
        assert weights[row] == expected[row] or (weights[row] == 0 and expected[row] == 1)
