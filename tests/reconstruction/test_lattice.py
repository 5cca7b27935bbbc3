"""The lattice of a bin, and the questions and splits that are answered by it, beside trying all."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reconstruction.paper_program import allocations_of
from tests.reconstruction.strategies import instance_of, widened

from divulge.reconstruction import tuning
from divulge.reconstruction.counting import dp_final_bins, dynamic_program
from divulge.reconstruction.local_search.lattice_resplit import LatticeResplit
from divulge.reconstruction.problem.bitsets import pack_bitsets, unpack_bitsets
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.solving.feasibility_search import find_allocation
from divulge.reconstruction.subset_sum import bin_support, lattice_enumeration
from divulge.reconstruction.subset_sum.bin_support import BinSupport
from divulge.work import Effort
from divulge.work.arrays import Bools, Ints

seeds = st.integers(0, 2**32 - 1)
STEPS = 10**6


def sets_of(instance: Instance, b: int, candidates: Bools, forced: Bools) -> Bools:
    """The plain twin: every set of the candidates that makes the sums of a bin."""
    found = []
    for chosen in itertools.product([False, True], repeat=instance.packages):
        mask = np.array(chosen)
        if (mask & ~candidates).any() or (forced & ~mask).any():
            continue
        count = int(instance.already_in_bin[b] + mask.sum())
        wide, deep = instance.slack_by_count[:, count], instance.extra_above[:, count]
        sums = instance.amounts[mask].sum(axis=0)
        if (sums >= instance.low[b] - wide).all() and (
            sums <= instance.high[b] + wide + deep
        ).all():
            found.append(chosen)
    return np.array(found, bool).reshape(len(found), instance.packages)


@st.composite
def single_bins(draw: st.DrawFn) -> Instance:
    """Packages of any size, equal ones and empty ones, and a bin with a window of any width."""
    n, k = draw(st.integers(2, 9)), draw(st.integers(1, 3))
    amount = st.one_of(
        st.integers(0, 3), st.integers(0, 1000), st.integers(0, 10**12), st.just(10**10)
    )
    rows = st.lists(st.lists(amount, min_size=k, max_size=k), min_size=n, max_size=n)
    amounts = np.array(draw(rows), np.int64)
    inside = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    slack = st.sampled_from([0, 1, 50, 10**5, 10**13])
    low = amounts[inside].sum(axis=0) - [draw(slack) for _ in range(k)]
    high = amounts[inside].sum(axis=0) + [draw(slack) for _ in range(k)]
    return Instance.from_intervals(amounts, low[None], high[None])


@settings(max_examples=150, deadline=None)
@given(single_bins(), seeds)
def test_the_lattice_has_every_set_that_fits(instance: Instance, seed: int) -> None:
    random = np.random.default_rng(seed)
    n = instance.packages
    candidates = random.random(n) < 0.9
    forced = candidates & (random.random(n) < 0.15)
    found = lattice_enumeration.enumerate_fitting_sets(
        instance, 0, candidates, forced=forced, most_steps=STEPS, most_sets=10**4
    )
    if found is None:
        # Nothing to choose from, or a package too large beside the others to calculate with.
        assert (
            not (candidates & ~forced).any()
            or instance.amounts.max() > lattice_enumeration.MAX_REDUCED_ENTRY / 2
        )
        return
    plain = sets_of(instance, 0, candidates, forced)
    assert found.complete
    assert found.count == len(plain)
    listed = {tuple(row) for row in unpack_bitsets(found.sets, n)}
    assert listed == {tuple(row) for row in plain}
    assert found.with_package.tolist() == plain.sum(axis=0).tolist()
    telling = unpack_bitsets(found.witnesses, n)
    assert (telling.any(axis=0) == plain.any(axis=0)).all()
    assert (telling.all(axis=0) == plain.all(axis=0)).all()


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(2, 8), st.integers(1, 3))
def test_the_lattice_knows_windows_that_depend_on_the_number_of_packages(
    seed: int, packages: int, attributes: int
) -> None:
    random = np.random.default_rng(seed)
    instance, _ = instance_of(random, packages, 2, attributes)
    instance = widened(random, instance)
    nothing = np.zeros(packages, bool)
    found = lattice_enumeration.enumerate_fitting_sets(
        instance, 0, instance.allowed[:, 0], forced=nothing, most_steps=STEPS, most_sets=10**4
    )
    if found is not None:
        assert found.count == len(sets_of(instance, 0, instance.allowed[:, 0], nothing))


def test_sets_of_forty_packages_are_those_that_meeting_in_the_middle_finds() -> None:
    from divulge.reconstruction.subset_sum import meet_in_middle

    random = np.random.default_rng(4)
    amounts = np.floor(random.lognormal(9, 1.5, (44, 4))).astype(np.int64)
    inside = random.random(44) < 0.2
    total = amounts[inside].sum(axis=0)
    instance = Instance.from_intervals(amounts, (total - 2000)[None], (total + 2000)[None])
    everything, nothing = np.ones(44, bool), np.zeros(44, bool)
    found = lattice_enumeration.enumerate_fitting_sets(
        instance, 0, everything, forced=nothing, most_steps=10**7, most_sets=10**5
    )
    met = meet_in_middle.enumerate_sets_by_halves(
        instance, 0, everything, forced=nothing, longest=10**7, most_sets=10**5
    )
    assert found is not None
    assert met is not None
    assert found.count == met.count > 1
    assert found.with_package.tolist() == met.with_package.tolist()
    assert {*map(bytes, found.sets)} == {*map(bytes, met.sets)}


def test_enough_sets_are_as_many_as_were_asked_for_and_said_not_to_be_all() -> None:
    instance = Instance.from_intervals(np.ones((10, 1), np.int64), np.array([[5]]), np.array([[5]]))
    everything, nothing = np.ones(10, bool), np.zeros(10, bool)
    found = lattice_enumeration.enumerate_fitting_sets(
        instance, 0, everything, forced=nothing, most_steps=STEPS, most_sets=100, enough=7
    )
    assert found is not None
    assert (found.count, found.complete) == (7, False)
    assert {tuple(row.tolist()) for row in unpack_bitsets(found.sets, 10).sum(axis=1)[:, None]} == {
        (5,)
    }
    assert (
        lattice_enumeration.enumerate_fitting_sets(
            instance, 0, everything, forced=nothing, most_steps=5, most_sets=100
        )
        is None
    )


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(2, 7), st.integers(2, 3), st.integers(1, 2), st.booleans())
def test_support_excludes_no_pair_that_an_allocation_has(
    seed: int, packages: int, bins: int, attributes: int, wide: bool
) -> None:
    random = np.random.default_rng(seed)
    instance, _ = instance_of(random, packages, bins, attributes)
    instance = widened(random, instance) if wide else instance
    every = np.array(allocations_of(instance), np.int64).reshape(-1, packages)
    proved = np.zeros((packages, bins), bool)
    for row in every[: int(random.integers(0, 3))]:
        proved[np.arange(packages), row] = True
    left = BinSupport(instance).exclude_unsupported(
        instance.allowed, proved, STEPS, Effort(math.inf)
    )
    possible = np.zeros((packages, bins), bool)
    for row in every:
        possible[np.arange(packages), row] = True
    if left is None:
        assert not len(every)
        return
    assert (left >= possible).all()
    for package, b in np.argwhere(left & ~proved):
        # What stays is in a set of its bin, of packages that stay too.
        forced = np.zeros(packages, bool)
        forced[package] = True
        assert len(sets_of(instance, b, left[:, b], forced))


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(2, 7), st.integers(2, 4), st.integers(1, 2), st.booleans())
def test_a_search_finds_an_allocation_if_there_is_one(
    seed: int, packages: int, bins: int, attributes: int, wide: bool
) -> None:
    random = np.random.default_rng(seed)
    instance, _ = instance_of(random, packages, bins, attributes)
    instance = widened(random, instance) if wide else instance
    package, b = int(random.integers(packages)), int(random.integers(bins))
    assumed = instance.allowed.copy()
    assumed[package] = False
    assumed[package, b] = instance.allowed[package, b]
    every = allocations_of(instance.restricted_to(assumed)) if assumed[package, b] else []
    answer = find_allocation(instance, assumed, Effort(math.inf))
    if answer.allocation is not None:
        assert instance.restricted_to(assumed).is_allocation(answer.allocation)
    elif answer.sure:
        assert not len(every)
    else:
        pytest.fail("so small an instance is always decided")


def test_a_search_that_has_no_time_says_that_it_is_not_sure() -> None:
    random = np.random.default_rng(1)
    amounts = random.integers(1, 10**6, (40, 2))
    truth = random.integers(0, 4, 40)
    sums = np.array([amounts[truth == b].sum(axis=0) for b in range(4)])
    instance = Instance.from_intervals(amounts, sums, sums)
    answer = find_allocation(instance, instance.allowed, Effort(0))
    assert (answer.allocation, answer.sure) == (None, False)


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(3, 4), st.integers(1, 3), st.booleans())
def test_what_is_left_is_split_at_once_and_in_the_lattice_as_by_trying_everything(
    seed: int, bins: int, attributes: int, at_once: bool
) -> None:
    random = np.random.default_rng(seed)
    instance, _ = instance_of(random, 6, bins, attributes)
    nothing = np.zeros(6, bool)
    sets = [
        np.array(
            [pack_bitsets(row) for row in sets_of(instance, b, instance.allowed[:, b], nothing)]
        )
        for b in range(bins - 2)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "FINAL_FEW_PACKAGES", -1)
        if not at_once:
            patch.setattr(dp_final_bins, "split_states_at_once", lambda *_: None)
        found = dynamic_program.count_allocations(
            instance, [*(s.reshape(-1, 1) for s in sets), None, None]
        )
    every = np.array(allocations_of(instance), np.int64).reshape(-1, 6)
    if found is None:
        return  # amounts too far apart for so few packages
    assert found.count == len(every)
    for b in range(bins):
        assert found.pairs[:, b].tolist() == (every == b).sum(axis=0).tolist()
    assert all(instance.is_allocation(row) for row in found.proofs)


def test_splits_near_an_allocation_are_allocations() -> None:
    random = np.random.default_rng(7)
    amounts = np.floor(random.lognormal(7, 1, (120, 3))).astype(np.int64)
    truth: Ints = random.integers(0, 3, 120)
    sums = np.array([amounts[truth == b].sum(axis=0) for b in range(3)])
    instance = Instance.from_intervals(amounts, sums - 20, sums + 20)
    proved = np.zeros((120, 3), bool)
    proved[np.arange(120), truth] = True
    near = LatticeResplit(instance, random)
    different = 0
    for _ in range(12):
        found = near.find_splits(truth, instance.allowed, proved)
        assert found is not None
        assert all(instance.is_allocation(row) for row in found)
        different += sum((row != truth).any() for row in found)
    assert different > 20


def test_a_package_too_large_for_a_bin_is_no_candidate_beside_what_is_forced() -> None:
    instance = Instance.from_intervals(np.array([[5], [4], [9]]), np.array([[9]]), np.array([[9]]))
    forced = np.array([True, False, False])
    fit = bin_support._select_fitting(instance, 0, np.ones(3, bool), forced)
    assert fit is not None
    assert fit.tolist() == [True, True, False]


@settings(max_examples=80, deadline=None)
@given(seeds, st.integers(4, 8), st.integers(9, 13))
def test_no_set_is_missed_where_one_window_is_narrow_and_another_wide(
    seed: int, packages: int, digits: int
) -> None:
    """Whole numbers of 64 bits would not do; then nothing is said."""
    random = np.random.default_rng(seed)
    amounts = random.integers(1, 10**digits, (packages, 2))
    total = amounts[random.random(packages) < 0.5].sum(axis=0)
    wide = np.array([0, 10 ** (digits - 1)])
    one = Instance.from_intervals(amounts, (total - wide)[None], (total + wide)[None])
    everything, nothing = np.ones(packages, bool), np.zeros(packages, bool)
    found = lattice_enumeration.enumerate_fitting_sets(
        one, 0, everything, forced=nothing, most_steps=100_000, most_sets=2**packages
    )
    assert found is None or found.count == len(sets_of(one, 0, everything, nothing))
