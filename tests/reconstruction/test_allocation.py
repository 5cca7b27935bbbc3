"""Package allocation: equal to brute force, to CP-SAT, to the paper's programme; never wrong."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reconstruction.paper_program import allocations_of, attack_algorithm
from tests.reconstruction.strategies import instance_of, rounded, widened

from divulge.assessment import Most
from divulge.reconstruction import RULES, allocate, allocation, tuning
from divulge.reconstruction.agreement import agreement
from divulge.reconstruction.counting import (
    dp_final_bins,
    dp_shared_states,
    dynamic_program,
)
from divulge.reconstruction.problem.bitsets import pack_bitsets, unpack_bitsets
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.solving import ladder
from divulge.reconstruction.solving.ladder import solve_instance
from divulge.reconstruction.solving.mismatched_totals import (
    find_inconsistencies,
    solve_under_premise,
)
from divulge.reconstruction.subset_sum import meet_in_middle
from divulge.work import Effort, InvalidInput, charge_seconds

seeds = st.integers(0, 2**32 - 1)


def plain_counts(instance: Any) -> tuple[int, np.ndarray[Any, Any]]:
    """In how many of all allocations each package is in each bin, by trying every one."""
    pairs = np.zeros((instance.packages, instance.bins), np.int64)
    every = allocations_of(instance)
    for places in every:
        pairs[np.arange(len(places)), places] += 1
    return len(every), pairs


def check(instance: Any, places: Any, **asked: Any) -> None:
    count, pairs = plain_counts(instance)
    found = solve_instance(instance, **asked)
    assert found.status == "closed"
    assert (found.possible == (pairs > 0)).all()
    assert all(instance.is_allocation(row) for row in found.certificates)
    assert found.possible[np.arange(len(places)), places].all()
    if found.count is not None:
        assert found.count == count
        assert found.pairs is not None
        assert np.array_equal(found.pairs, pairs)


@settings(max_examples=120, deadline=None)
@given(seeds, st.integers(1, 6), st.integers(1, 4), st.integers(1, 2), st.booleans())
def test_every_count_is_that_of_trying_everything(
    seed: int, packages: int, bins: int, attributes: int, wide: bool
) -> None:
    random = np.random.default_rng(seed)
    instance, truth = instance_of(random, packages, bins, attributes)
    check(widened(random, instance) if wide else instance, truth)


def without(monkeypatch: pytest.MonkeyPatch, *rungs: str) -> None:
    """Leave rungs of the ladder out."""
    if "walk through all" in rungs:
        monkeypatch.setattr(tuning, "LADDER_MOST_BACKTRACK_STEPS", 0)
    if "sets" in rungs:
        turns = [replace(turn, budgets=()) for turn in tuning.LADDER_SCHEDULE]
        monkeypatch.setattr(tuning, "LADDER_SCHEDULE", turns)
    if "walks" in rungs:
        monkeypatch.setattr(ladder, "_start_local_search", lambda *_: None)
    if "questions" in rungs:
        monkeypatch.setattr(ladder, "decide_pairs", lambda *_: None)


@pytest.mark.parametrize(
    ("left_out", "with_truth"),
    [
        ((), False),
        (("sets", "walks", "questions"), False),
        (("sets", "questions"), True),
        (("sets", "walks"), False),
    ],
    ids=["sets and programme", "solver", "exchange and solver", "questions"],
)
def test_every_rung_alone_gives_the_same(
    left_out: tuple[str, ...], with_truth: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, "walk through all", *left_out)
    random = np.random.default_rng(5)
    for number in range(25 if left_out else 60):
        instance, truth = instance_of(random, 6, 3, 1 + number % 2)
        instance = widened(random, instance) if number % 3 == 0 else instance
        check(instance, truth, truth=truth if with_truth else None)


@pytest.mark.parametrize("few", [0, 24], ids=["lattice", "meeting in the middle"])
def test_all_sets_of_a_bin_count_as_trying_everything_does(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, "walk through all", "walks", "questions")
    budgets = (0, 10**6)
    monkeypatch.setattr(tuning, "SETS_BUDGETS", budgets)
    monkeypatch.setattr(tuning, "SETS_MOST_LISTED_AT_ONCE", few)
    monkeypatch.setattr(
        tuning, "LADDER_SCHEDULE", [replace(tuning.LADDER_SCHEDULE[0], budgets=budgets)]
    )
    random = np.random.default_rng(6)
    for number in range(80):
        bins = 2 + number % 2
        instance, truth = instance_of(random, 9 if bins == 2 else 6, bins, 1 + number % 3)
        instance = widened(random, instance) if number % 4 == 0 else instance
        check(instance, truth)
        assert solve_instance(instance).count is not None


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(1, 9), st.integers(1, 3))
def test_the_halves_give_every_set_that_fits(seed: int, packages: int, attributes: int) -> None:
    random = np.random.default_rng(seed)
    instance, truth = instance_of(random, packages, 2, attributes)
    forced = instance.allowed[:, 0] & (truth == 0) & (random.random(packages) < 0.3)
    found = meet_in_middle.enumerate_sets_by_halves(
        instance, 0, instance.allowed[:, 0], forced=forced, longest=10**5, most_sets=10**4
    )
    plain = []
    for chosen in itertools.product([False, True], repeat=packages):
        mask = np.array(chosen)
        sums = instance.amounts[mask].sum(axis=0)
        within = (instance.low[0] <= sums).all() and (sums <= instance.high[0]).all()
        if within and not (mask & ~instance.allowed[:, 0]).any() and mask[forced].all():
            plain.append(chosen)
    assert found is not None
    assert found.count == len(plain)
    assert {tuple(row) for row in unpack_bitsets(found.sets, packages)} == set(plain)
    assert found.with_package.tolist() == np.array(plain).sum(axis=0).tolist()
    telling = unpack_bitsets(found.witnesses, packages)
    assert (telling.any(axis=0) == np.array(plain).any(axis=0)).all()
    assert (telling.all(axis=0) == np.array(plain).all(axis=0)).all()


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(3, 5), st.integers(1, 3))
def test_two_bins_whose_sets_are_unknown_are_counted_by_splitting_what_is_left(
    seed: int, bins: int, attributes: int
) -> None:
    random = np.random.default_rng(seed)
    instance, _ = instance_of(random, 8, bins, attributes)
    nothing = np.zeros(8, bool)
    sets = []
    for b in range(bins):
        found = meet_in_middle.enumerate_sets_by_halves(
            instance, b, instance.allowed[:, b], forced=nothing, longest=10**4, most_sets=10**4
        )
        assert found is not None
        sets.append(found.sets)
    plain = dynamic_program.count_allocations(instance, sets)
    a, b = random.choice(bins, 2, replace=False)
    fewer = [None if place in (a, b) else of_bin for place, of_bin in enumerate(sets)]
    assert plain is not None
    # One by one; then with what they have in common; then each for itself, listed; then counted, as
    # if they were too many.
    for few, steps, together in ((28, 0, False), (0, 0, True), (0, 10**6, False), (0, 0, False)):
        with (
            mock.patch.object(
                dp_final_bins,
                "split_states_at_once",
                dp_shared_states.split_states_at_once if together else lambda *_: None,
            ),
            mock.patch.object(tuning, "FINAL_FEW_PACKAGES", few),
            mock.patch.object(tuning, "FINAL_MOST_LISTING_STEPS", steps),
            mock.patch.object(tuning, "TWO_BINS_MOST_LISTED", 0),
        ):
            split = dynamic_program.count_allocations(instance, fewer)
        assert split is not None
        assert split.count == plain.count
        assert (split.pairs == plain.pairs).all()
        proved = np.zeros_like(instance.allowed)
        for row in split.proofs:
            assert instance.is_allocation(row)
            proved[np.arange(8), row] = True
        assert (proved == (plain.pairs > 0)).all()


def test_halves_too_long_give_no_answer() -> None:
    instance = Instance.from_intervals(
        np.arange(1, 31)[:, None], np.array([[200]]), np.array([[210]])
    )
    everything, nothing = np.ones(30, bool), np.zeros(30, bool)
    assert (
        meet_in_middle.enumerate_sets_by_halves(
            instance, 0, everything, forced=nothing, longest=100, most_sets=10
        )
        is None
    )


def every_solution(instance: Instance) -> tuple[int, np.ndarray[Any, Any]]:
    """A plain CP-SAT model that lists all allocations: how many, and the pairs they have."""
    from ortools.sat.python import cp_model

    model, shape = cp_model.CpModel(), (instance.packages, instance.bins)
    inside = np.array([[model.new_bool_var("") for _ in range(shape[1])] for _ in range(shape[0])])
    for package, bins in enumerate(inside):
        model.add_exactly_one(bins)
        model.add_bool_and([~bins[b] for b in np.flatnonzero(~instance.allowed[package])])
    for b in range(shape[1]):
        for i in range(instance.attributes):
            held = sum(
                int(a) * x for a, x in zip(instance.amounts[:, i], inside[:, b], strict=True)
            )
            model.add_linear_constraint(held, int(instance.low[b, i]), int(instance.high[b, i]))

    class Listed(cp_model.CpSolverSolutionCallback):
        count, pairs = 0, np.zeros(shape, np.int64)

        def on_solution_callback(self) -> None:
            self.count += 1
            self.pairs = self.pairs + np.array([[self.value(x) for x in row] for row in inside])

    listed, solver = Listed(), cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.enumerate_all_solutions = True
    solver.solve(model, listed)
    return listed.count, listed.pairs


HIGHER_RUNGS = [
    ("sets",),
    ("sets", "walks"),
    ("sets", "questions"),
    ("sets", "walks", "questions"),
]
"""What to leave out besides so that walks, questions and the solver have something to do."""


def test_a_thousand_instances_agree_with_cp_sat_and_the_programme_of_figure_4(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    random = np.random.default_rng(2022)
    disagreements = 0
    for number in range(1000):
        packages, bins = int(random.integers(2, 6)), 2 + number % 2
        instance, truth = instance_of(random, packages, bins, 1 + number % 3 % 2)
        package = int(random.integers(instance.packages))
        of_package = attack_algorithm(instance, package)
        count, pairs = every_solution(instance)
        # So small, all would be walked through at once: again without, by sets and the programme
        # over them, and then by one of the rungs above.
        above = HIGHER_RUNGS[number % 4]
        for left_out in ((), ("walk through all",), ("walk through all", *above)):
            with monkeypatch.context() as patched:
                without(patched, *left_out)
                found = solve_instance(
                    instance, truth=truth if left_out[-1:] == ("questions",) else None
                )
            disagreements += found.status != "closed"
            mine = set(np.flatnonzero(found.possible[package]).tolist())
            disagreements += mine != of_package
            disagreements += not np.array_equal(found.possible, pairs > 0)
            disagreements += found.count != count
            disagreements += found.pairs is None or not np.array_equal(found.pairs, pairs)
            disagreements += not all(instance.is_allocation(row) for row in found.certificates)
            assert found.possible[np.arange(len(truth)), truth].all()
    assert disagreements == 0


@settings(max_examples=150, deadline=None)
@given(rounded(), st.sampled_from([*RULES, "diagnose"]))
def test_certain_is_never_wrong_even_if_the_rule_is_misdeclared(made: Any, declared: str) -> None:
    packages, totals, truth, _ = made
    found = allocate(packages, totals, "0.01", rounding=declared)
    for package, finding in found.finding.items():
        if finding == "certain":
            assert found.possible[package] == {truth[package]}
    assert found.verify()


@settings(max_examples=100, deadline=None)
@given(rounded(), st.booleans())
def test_by_the_right_rule_the_truth_is_possible_and_certain_is_right(
    made: Any, known: bool
) -> None:
    packages, totals, truth, rule = made
    for declared in (rule, *(() if rule.endswith("down") else ("unknown_hard",))):
        found = allocate(packages, totals, "0.01", rounding=declared, rule_is_known=known)
        assert found.status == "closed"
        for package, place in truth.items():
            assert place in found.possible[package]
            if found.finding[package] == "certain":
                assert found.possible[package] == {place}


def test_counts_beyond_64_bits_are_exact() -> None:
    pairs = 64  # each pair of equal packages has two bins: two ways each
    ones = np.ones((2 * pairs, 1), np.int64)
    allowed = np.kron(np.eye(pairs, dtype=bool), np.ones((2, 2), bool))
    single = pack_bitsets
    sets = [
        np.array([single(np.arange(128) == p) for p in np.flatnonzero(allowed[:, b])])
        for b in range(2 * pairs)
    ]
    instance = Instance.from_intervals(ones, ones, ones, allowed=allowed)
    counted = dynamic_program.count_allocations(instance, sets)
    assert counted is not None
    assert counted.count == 2**64
    assert set(counted.pairs[allowed].tolist()) == {2**63}
    assert all(instance.is_allocation(row) for row in counted.proofs)


def test_independent_parts_multiply_their_counts() -> None:
    pairs = 50  # each pair of equal packages shares two bins of its own: two ways each
    allowed = np.kron(np.eye(pairs, dtype=bool), np.ones((2, 2), bool))
    instance = Instance.from_intervals(
        np.ones((2 * pairs, 1), np.int64),
        np.ones((2 * pairs, 1), np.int64),
        np.ones((2 * pairs, 1), np.int64),
        allowed=allowed,
    )
    found = solve_instance(instance)
    assert found.count == 2**pairs
    assert found.status == "closed"
    assert found.shares is not None
    assert set(found.shares[found.possible]) == {0.5}


def test_a_prior_weighs_the_allocations() -> None:
    packages = {"car parts": "10", "ore": "10"}
    prior = {"car parts": {"mine": 1.0, "garage": 9.0}, "ore": {"mine": 4.0, "garage": 1.0}}
    found = allocate(packages, {"mine": 10, "garage": 10}, "1", prior=prior)
    assert found.count == 2
    assert found.counts["ore"] == {"mine": 1, "garage": 1}
    shares = found.marginals["ore"]
    assert shares is not None
    assert shares["mine"] == pytest.approx(36 / 37)


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_a_prior_gives_what_weighing_every_allocation_gives(seed: int) -> None:
    random = np.random.default_rng(seed)
    instance, _ = instance_of(random, 5, 3, 1)
    prior = random.random((5, 3)) + 0.05
    weights = np.zeros((5, 3))
    for places in allocations_of(instance):
        weights[np.arange(5), places] += prior[np.arange(5), places].prod()
    found = solve_instance(instance, prior=prior)
    assert found.shares is not None
    assert np.allclose(found.shares, weights / weights.sum(axis=1, keepdims=True))


def test_time_that_runs_out_leaves_packages_open_and_drops_none() -> None:
    random = np.random.default_rng(1)
    instance, truth = instance_of(random, 90, 6, 2)
    found = solve_instance(instance, seconds=0.02)
    assert found.possible[np.arange(len(truth)), truth].all()
    assert (found.proved <= found.possible).all()
    assert found.status in ("open", "closed")


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(1, 2))
def test_discarded_packages_have_a_bin_of_their_own(seed: int, left_out: int) -> None:
    random = np.random.default_rng(seed)
    amounts = random.integers(1, 1000, (7, 2))
    truth = random.integers(0, 2, 7)
    out = random.choice(7, left_out, replace=False)
    kept = np.isin(np.arange(7), out, invert=True)
    totals = np.array([amounts[(truth == b) & kept].sum(axis=0) for b in range(2)])
    instance = Instance.from_intervals(amounts, totals, totals)
    found = solve_under_premise(instance, "any")
    assert found.premise == "excluded"
    assert found.may_be_discarded is not None
    assert found.may_be_discarded[out].all()
    assert found.solution.possible[kept, truth[kept]].all()
    assert found.verify()


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_one_record_too_many_in_the_totals_is_tried_in_every_bin(seed: int) -> None:
    random = np.random.default_rng(seed)
    amounts = random.integers(1, 1000, (6, 2))
    truth = random.integers(0, 3, 7)
    extra = random.integers(1, 1000, (1, 2))
    all_amounts = np.vstack([amounts, extra])
    totals = np.array([all_amounts[truth == b].sum(axis=0) for b in range(3)])
    found = solve_under_premise(Instance.from_intervals(amounts, totals, totals), "any")
    assert found.premise == "extra"
    assert found.solution.possible[np.arange(6), truth[:6]].all()
    assert found.verify()


def test_what_stays_inconsistent_is_said_with_bin_and_attribute() -> None:
    found = allocate({"a": ("5", "1"), "b": ("4", "1")}, {"x": (5, 1), "y": (4, 3)}, ("1", "1"))
    assert found.status == "infeasible"
    assert found.violated == [("y", 1)]
    assert found._instance is not None
    assert find_inconsistencies(found._instance)[0].excess > 0


def test_one_attribute_alone_measures_how_well_records_and_totals_agree() -> None:
    assert agreement([3.2, 4.1, 9.0], [7, 9]) == pytest.approx(0.3)
    assert agreement([3.2, 4.1, 9.0], [70, 9]) > 50


def test_bad_amounts_are_all_named_at_once_without_their_values() -> None:
    with pytest.raises(InvalidInput) as error:
        allocate(
            {"a": "-1", "b": "0.333", "c": "nan", "d": ("1", "2")},
            {"x": "3.5", "y": -4},
            "0.01",
            rounding="sum_than_round",
        )
    assert 'Did you mean "sum_then_round"?' in str(error.value)
    with pytest.raises(InvalidInput) as error:
        allocate({"a": "-1", "b": "0.333", "c": "nan", "d": ("1", "2")}, {"x": "3.5"}, "0.01")
    text = str(error.value)
    for part in (
        "package 1, amount 1: is negative",
        "no whole number of units",
        "is missing",
        "has 2 amounts",
        "bin 1, total 1: is no multiple of the step",
    ):
        assert part in text
    assert "333" not in text


def test_rounding_changes_what_is_certain() -> None:
    packages = {"a": "0.5", "b": "0.5", "c": "9.0"}
    totals = {"x": 1, "y": 9}
    assert allocate(packages, totals, "0.1", rule_is_known=True).finding["a"] == "certain"
    misread = allocate(packages, totals, "0.1")
    assert misread.possible["a"] == {"x"}
    assert misread.finding["a"] in ("certain", "open")


@pytest.mark.parametrize("rounding", ["sum_then_round", "diagnose"])
@pytest.mark.parametrize("premise", ["complete", "any"])
def test_all_questions_together_keep_to_the_effort_given(
    monkeypatch: pytest.MonkeyPatch, rounding: str, premise: Any
) -> None:
    effort = Effort(60)

    def spending(asked: Any) -> Any:
        def spend(instance: Instance, *given: Any, **named: Any) -> Any:
            seconds = float(named.get("seconds", next(x for x in given if isinstance(x, float))))
            found = asked(instance, *given, **named)
            charge_seconds(seconds)
            return found

        return spend

    # Every question takes all the effort that it is given.
    for name in ("solve_under_premise", "solve_instance"):
        monkeypatch.setattr(allocation, name, spending(getattr(allocation, name)))
    found = allocate(
        {"a": 5, "b": 3, "c": 9}, {"x": 8, "y": 9}, 1, rounding, premise=premise, seconds=60.0
    )
    assert found.finding["c"] == "certain"
    assert 60 * 0.7 <= effort.used <= 60 * 1.3


def test_a_truth_is_the_start_of_every_search_also_where_no_rule_fits() -> None:
    with mock.patch.object(
        allocation, "solve_under_premise", side_effect=solve_under_premise
    ) as search:
        allocate(
            {"a": 5, "b": 3, "c": 2}, {"x": 80, "y": 5}, 1, "diagnose",
            premise="any", truth={"a": "x", "b": "y", "c": "y"},
        )  # fmt: skip
    asked = [(call.args[1], call.kwargs["truth"]) for call in search.call_args_list]
    assert asked[-1][0] == "any"
    assert all(truth is not None and truth.tolist() == [0, 1, 1] for _, truth in asked)


def test_an_assessment_of_what_contradicts_or_is_in_doubt_tells_nothing_it_cannot() -> None:
    none = allocate({"a": 5, "b": 6}, {"x": 1, "y": 1}, units="1", rule_is_known=True).assessment()
    assert (none.claim, none.right.posterior, none.at_worst.right.posterior) == ("bound", 1.0, 2.0)
    hidden = allocate({"a": 5, "b": 9}, {"x": 5, "y": 20}, units="1", premise="any").assessment()
    assert (hidden.claim, hidden.right.posterior, hidden.most) == ("bound", 1.0, Most(2, 2.0))
    packages = {"a": ("5", "1"), "b": ("40", "2"), "c": ("7", "90")}
    totals = {"x": (5, 1), "y": (7, 90), "z": (1, 70)}
    both = allocate(packages, totals, units=("1", "1"), premise="both", rule_is_known=True)
    assert both.possible["b"] == set()
    assert not both.rests_on_rule
    assert both.assessment().certain.posterior == 2
    likely = {"a": {"x": 0.99, "y": 0.01, "z": 0.01}, "b": {"x": 0.01, "y": 0.99, "z": 0.01}}
    weighed = allocate(
        {"a": 5, "b": 5}, {"x": 5, "y": 6, "z": 0}, units="1", rounding="exact", premise="extra",
        rule_is_known=True, prior=likely,
    ).assessment()  # fmt: skip
    assert weighed.claim == "bound", (
        "under a prior, the ways to have an extra record are not weighed"
    )


def test_an_extra_record_widens_each_amount_by_its_own_rounding() -> None:
    """With the extra one, a bin of 0 may hold 1 of the first amount; the package has 2."""
    packages, bins = {"p": ("2", "0.25")}, {"a": ("0", "1"), "b": ("0", "0")}
    found = allocate(packages, bins, units=("1", "0.25"), rounding="unknown_hard", premise="extra")
    assert found.status == "infeasible"


@pytest.mark.parametrize("empty", [0, 1, 3])
def test_bins_that_hold_nothing_give_no_room_to_miss_a_package(empty: int) -> None:
    bins = {"a": "2", **{f"empty {number}": "0" for number in range(empty)}}
    found = allocate({"p": "1.5"}, bins, units="0.5", premise="any", rule_is_known=True)
    assert found.finding == {"p": "certain"}
