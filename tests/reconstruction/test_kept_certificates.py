"""Certificates that are kept between rounds, walks that go on from them, and how time is shared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reconstruction.strategies import audited, instance_of, two_tables
from tests.reconstruction.test_reconstruct import UNITS, tables_of

from divulge import work
from divulge.datasets import trade_month
from divulge.reconstruction import Reconstruction, reconstruct, tuning
from divulge.reconstruction.auditing import workers
from divulge.reconstruction.auditing.effort_shares import (
    compute_round_effort,
    share_last_effort,
    share_round_effort,
)
from divulge.reconstruction.auditing.run import Run
from divulge.reconstruction.auditing.workers import Task, solve_all
from divulge.reconstruction.problem.certificates import (
    keep_valid_certificates,
    mark_proved_pairs,
    select_certificates,
)
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.premises import PremiseOutcome
from divulge.reconstruction.problem.result import InstanceResult, pack_results, unpack_results
from divulge.reconstruction.solving.continuation import extend_proofs
from divulge.reconstruction.solving.extra_record import find_extra_bin, place_extra_record
from divulge.reconstruction.solving.left_out_records import add_discard_bin
from divulge.reconstruction.solving.mismatched_totals import solve_under_premise

SEEDS = st.integers(0, 2**32 - 1)


class Forgetful:
    """Settles as always, but often forgets what was excluded and most of what was proved."""

    def __init__(self, seed: int, often: float = 0.7) -> None:
        self.random, self.often, self.forgot = np.random.default_rng(seed), often, 0

    def __call__(self, instance: Instance, *asked: Any, **options: Any) -> PremiseOutcome:
        outcome = solve_under_premise(instance, *asked, **options)
        found, n = outcome.solution, instance.packages
        some = len(found.certificates) > 0 and self.random.random() < self.often
        if found.status == "infeasible" or outcome.premise == "extra" or not some:
            return outcome
        self.forgot += 1
        keep = self.random.random(len(found.certificates)) < 0.5
        keep[self.random.integers(len(keep))] = True
        certificates = found.certificates[keep]
        proved = np.zeros_like(found.proved)
        proved[np.arange(n), certificates] = True
        return replace(
            outcome,
            solution=replace(
                found,
                status="open",
                possible=outcome.instance.allowed.copy(),
                proved=proved,
                certificates=certificates,
                count=None,
                pairs=None,
                shares=None,
            ),
            discarded=None,
        )


def result_of(
    instance: Instance, premise: Any, seed: int, often: float = 1.0, truth: Any = None
) -> InstanceResult:
    """What is known of an instance when most was forgotten."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "solve_under_premise", Forgetful(seed, often))
        [result] = solve_all(
            [Task(instance=instance, premise=premise, truth=truth)], 1.0, workers=1
        )
    return result


def as_proved(instance: Instance, premise: str) -> Instance:
    """The instance that certificates are of: with a bin for what was left out, if so assumed."""
    wider = add_discard_bin(instance) if premise == "excluded" else None
    return instance if wider is None else wider


@settings(max_examples=40)
@given(SEEDS)
def test_a_truth_that_falls_short_of_one_total_tells_that_this_has_a_record_too_many(
    seed: int,
) -> None:
    random = np.random.default_rng(seed)
    instance, truth = instance_of(random, int(random.integers(3, 8)), 3, 2)
    extra, b = random.integers(20, 60, 2), int(random.integers(3))
    low, high = instance.low.copy(), instance.high.copy()
    low[b] += extra
    high[b] += extra
    more = replace(instance, low=low, high=high)
    outcome = solve_under_premise(more, "any", 5.0, truth=truth)
    assert find_extra_bin(more, truth) == b
    assert outcome.premise == "extra"
    assert outcome.verify()
    found = outcome.solution
    assert found.proved[np.arange(len(truth)), truth].all()
    # Every allocation of the packages that was one without the extra record still is one.
    assert (
        solve_under_premise(instance, "complete", 5.0).solution.possible <= found.possible
    ).all()
    known = result_of(more, "extra", seed, truth=truth)
    one = mark_proved_pairs(truth[None], 3)[:, :3]
    known = replace(known, status="open", certificates=truth[None], proved=one)
    further = extend_proofs(more, known, 0.05)
    assert (further.proved <= found.possible).all()
    run = place_extra_record(more, b)
    assert run is not None
    assert all(run.is_allocation(row) for row in further.certificates)


def test_a_checkpoint_is_of_all_that_a_result_depends_on() -> None:
    random = np.random.default_rng(3)
    instance, truth = instance_of(random, 6, 3, 2)
    known = result_of(instance, "complete", 3)
    more = mark_proved_pairs(truth[None], 3)[:, :3]
    others = [
        replace(known, status="open", count=None),
        replace(known, status="closed", count=None),
        replace(known, status="open", count=7),
        replace(known, status="open", count=None, discarded=known.discarded + 0.5),
        replace(known, status="open", count=None, shares=np.ones((6, 3))),
        replace(known, status="open", count=None, pairs=np.full((6, 3), 2**70, object)),
        replace(known, status="open", count=None, pairs=np.full((6, 3), 2**71, object)),
    ]
    tasks = [Task(instance=instance, previous=each) for each in others]
    tasks += [
        Task(instance=instance, truth=truth),
        Task(instance=instance, earlier=truth),
        Task(instance=instance, earlier=truth[None]),
        Task(instance=instance, prior=more.astype(np.float64)),
        Task(instance=instance, earlier=more.astype(np.float64).view(np.int64)),
    ]
    assert len({task.compute_digest() for task in tasks}) == len(tasks)
    same = replace(others[-1], pairs=np.full((6, 3), 2**71, object), seconds=9.0)
    again = Task(instance=replace(instance), previous=same)
    assert again.compute_digest() == tasks[6].compute_digest()


def narrowed_at_random(random: np.random.Generator, result: InstanceResult) -> Any:
    """Fewer places, but those of some certificate."""
    allowed = result.possible & (random.random(result.possible.shape) < 0.7)
    own = result.certificates[random.integers(len(result.certificates))]
    inside = own < allowed.shape[1]
    allowed[np.flatnonzero(inside), own[inside]] = True
    return allowed


@settings(max_examples=40)
@given(SEEDS, st.sampled_from(["complete", "excluded"]))
def test_a_certificate_that_is_kept_holds_where_packages_may_go_to_fewer_bins(
    seed: int, premise: str
) -> None:
    random = np.random.default_rng(seed)
    instance, _ = instance_of(random, int(random.integers(2, 8)), int(random.integers(2, 4)), 2)
    result = result_of(instance, premise, seed)
    allowed = narrowed_at_random(random, result)
    kept = keep_valid_certificates(result.certificates, allowed)
    fewer = as_proved(instance.restricted_to(allowed), result.premise)
    assert len(kept) > 0
    assert all(fewer.is_allocation(row) for row in kept)
    gone = [row for row in result.certificates if not (row == kept).all(axis=1).any()]
    assert not any(fewer.is_allocation(row) for row in gone)


@settings(max_examples=40)
@given(SEEDS, st.sampled_from(["complete", "excluded"]))
def test_a_result_with_earlier_proofs_proves_only_what_is_possible(seed: int, premise: str) -> None:
    random = np.random.default_rng(seed)
    instance, _ = instance_of(random, int(random.integers(2, 8)), int(random.integers(2, 4)), 2)
    earlier = result_of(instance, premise, seed)
    allowed = narrowed_at_random(random, earlier)
    fewer = instance.restricted_to(allowed)
    later = result_of(fewer, premise, seed + 1, often=0.7)
    both = later.with_proofs_of(earlier, fewer.allowed)
    full = solve_under_premise(fewer, later.premise, 5.0).solution
    bins = instance.bins
    assert full.status == "closed"
    assert (both.proved <= full.possible[:, :bins]).all()
    assert (both.proved >= later.proved).all()
    assert (both.possible == later.possible).all()
    if both.status == "closed":
        assert (both.possible == full.possible[:, :bins]).all()
    alone = earlier.restricted_to(fewer.allowed)
    assert alone is not None
    assert alone.proved.any()
    assert (alone.proved <= full.possible[:, :bins]).all()


@settings(max_examples=30)
@given(SEEDS, st.sampled_from(["complete", "excluded"]))
def test_a_walk_goes_on_to_allocations_that_hold(seed: int, premise: str) -> None:
    random = np.random.default_rng(seed)
    instance, _ = instance_of(random, int(random.integers(3, 9)), int(random.integers(2, 4)), 1)
    known = result_of(instance, premise, seed)
    # Places that are excluded stay so: a walk is for proofs alone.
    full = solve_under_premise(instance, known.premise, 5.0).solution
    found = extend_proofs(instance, known, 0.05)
    wider = as_proved(instance, known.premise)
    assert all(wider.is_allocation(row) for row in found.certificates)
    assert (found.proved >= known.proved).all()
    assert (found.proved <= full.possible[:, : instance.bins]).all()
    assert (found.possible == known.possible).all()
    assert found.findings >= known.findings
    if found.status == "closed":
        assert (found.possible == full.possible[:, : instance.bins]).all()


@given(SEEDS, st.integers(1, 6))
def test_few_certificates_are_taken_as_a_plain_greedy_choice_takes_them(
    seed: int, most: int
) -> None:
    random = np.random.default_rng(seed)
    shape = int(random.integers(1, 12)), int(random.integers(1, 7))
    certificates = random.integers(0, 3, shape)

    def worth(rows: Any) -> int:
        places = mark_proved_pairs(certificates[rows], 2).sum(axis=1)
        return int(
            (
                tuning.CERTIFICATES_SECOND_PLACE_WEIGHT * np.minimum(places, 2)
                + np.maximum(places - 2, 0)
            ).sum()
        )

    chosen = [0]
    while len(chosen) < most:
        gains = [worth([*chosen, row]) - worth(chosen) for row in range(len(certificates))]
        if max(gains) == 0:
            break
        chosen.append(int(np.argmax(gains)))
    found = select_certificates(certificates, 2, most)
    assert found.tolist() == certificates[chosen].tolist()
    everything = select_certificates(certificates, 2, 100)
    assert (mark_proved_pairs(everything, 2) == mark_proved_pairs(certificates, 2)).all()


@given(st.lists(SEEDS, min_size=1, max_size=3))
def test_results_come_out_of_arrays_as_they_went_in(seeds: list[int]) -> None:
    results = []
    for seed in seeds:
        random = np.random.default_rng(seed)
        n, m, kept = (int(x) for x in random.integers(1, 5, 3))
        possible, proved = random.random((2, n, m)) < 0.5
        left_out, sure = random.random((2, n)) < 0.5
        certificates = random.integers(0, m, (kept - 1, n)).astype(np.int16)
        counted = random.random((n, m)) if seed % 2 else None
        results.append(
            InstanceResult(
                status="open",
                premise="any",
                possible=possible,
                proved=proved,
                discardable=left_out,
                sure=sure,
                shares=counted,
                discarded=np.zeros(n),
                count=7,
                seconds=0.5,
                certificates=certificates,
            )
        )
    for before, after in zip(results, unpack_results(pack_results(results)), strict=True):
        for name, value in vars(before).items():
            assert np.array_equal(value, getattr(after, name)), name
        assert before.certificates.shape == after.certificates.shape


@settings(max_examples=25, deadline=None)
@given(two_tables(), SEEDS, st.booleans(), st.sampled_from([None, 2.0]))
def test_what_is_proved_over_the_rounds_is_possible_and_what_is_excluded_is_not(
    drawn: Any, seed: int, complete: bool, in_all: float | None
) -> None:
    records, totals, _ = drawn
    asked: dict[str, Any] = {"premise": "complete" if complete else "any", "rule_is_known": True}
    tables = totals(*totals.rules)
    plain = audited(records, tables, **asked)
    forgetful = Forgetful(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "solve_under_premise", forgetful)
        found = audited(records, tables, seconds=0.05, in_all=in_all, **asked)
    for level, in_full in zip(found.levels, plain.levels, strict=True):
        for n, (result, other) in enumerate(zip(level.results, in_full.results, strict=True)):
            assert result is not None
            assert other is not None
            if "infeasible" in (result.status, other.status) or result.premise != other.premise:
                continue
            group = level.totals_match.groups[n]
            instance = level.build_instance(group, level.readings, result.possible)
            full = solve_under_premise(instance, result.premise, 5.0).solution
            assert (result.proved <= full.possible[:, : instance.bins]).all()
            wider = as_proved(instance, result.premise)
            if result.premise != "extra":
                assert all(wider.is_allocation(row) for row in result.certificates)
            # Who forgets knows no more, and where both know all they know the same.
            assert (in_full.possible[n] <= level.possible[n]).all()
            if result.status == other.status == "closed" and complete and in_all is not None:
                closed = solve_under_premise(instance, result.premise, 5.0).solution.possible
                assert (closed[:, : instance.bins] == result.possible).all()
    assert (found.phases[-1].certain <= plain.phases[-1].certain).all()


@pytest.fixture(scope="module")
def crowded() -> Any:
    return trade_month(transactions=1200, importers=60, products=12, countries=2, customs_units=0)


def _audit(month: Any, **asked: Any) -> Reconstruction:
    given = month.transactions, tables_of(month), month.importers
    return reconstruct(*given, units=UNITS, truth=month.truth, workers=1, **asked)


def test_the_last_effort_shows_more_packages_to_be_ambiguous(crowded: Any) -> None:
    prove_more, ambiguous = Run.prove_more, []

    def watched(run: Run) -> None:
        ambiguous.append(sum(one.ambiguous for one in run.solved.values()))
        prove_more(run)
        ambiguous.append(sum(one.ambiguous for one in run.solved.values()))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "prove_more", watched)
        found = _audit(crowded, seconds=0.2, in_all=6)
    before, after = ambiguous[:2]  # a second run only confirms what is certain
    assert before < after
    for level in found.levels:
        for group, result in zip(level.totals_match.groups, level.results, strict=True):
            assert result is not None
            if result.premise != "extra" and result.status == "open":
                own = level.build_instance(group, level.readings, result.possible)
                rows = result.certificates[:3]
                assert all(as_proved(own, result.premise).is_allocation(row) for row in rows)
                assert (result.proved <= result.possible).all()
            assert result.status != "closed" or not len(result.certificates)


def test_what_checkpoints_have_is_found_again_the_same(crowded: Any, tmp_path: Path) -> None:
    with work.run_with(checkpoints=work.Checkpoints(tmp_path)):
        first = _audit(crowded, seconds=0.05)
        second = _audit(crowded, seconds=0.05)
    kept = 0
    for one, other in zip(first.levels, second.levels, strict=True):
        for a, b in zip(one.results, other.results, strict=True):
            assert a is not None
            assert b is not None
            assert (a.possible == b.possible).all()
            assert (a.proved == b.proved).all()
            assert np.array_equal(a.certificates, b.certificates)
            kept += len(a.certificates)
    assert kept > 0


def test_a_walk_that_a_checkpoint_has_is_not_walked_again(crowded: Any, tmp_path: Path) -> None:
    level = _audit(crowded, seconds=0.02).levels[1]
    tasks = [level.build_continuation_task(n) for n in range(len(level.results))]
    going = [task for task in tasks if task is not None][:5]
    with work.run_with(checkpoints=work.Checkpoints(tmp_path)):
        first = solve_all(going, 0.5, in_all=3.0, workers=1)
        again = solve_all(going, 0.5, in_all=3.0, workers=1)
    assert any(
        f.findings > t.previous.findings for f, t in zip(first, going, strict=True) if t.previous
    )
    assert all((a.proved == b.proved).all() for a, b in zip(first, again, strict=True))


def test_time_goes_to_those_that_can_be_closed_while_tables_limit_each_other() -> None:
    complexity = np.array([3.0, 40, 60, tuning.LARGE_COMPLEXITY + 1, 5000])
    shares = share_round_effort(complexity, 3.0, 4.0)
    assert shares[0] == 3.0
    assert shares[1] == shares[2] > 10 * shares[3]
    assert shares[1:].sum() <= 4.0
    assert (share_round_effort(complexity, 3.0, None) == 3.0).all()
    assert compute_round_effort(100.0, 100.0) > 50
    assert compute_round_effort(100.0, 100.0 * tuning.LAST_EFFORT_SHARE) == 0


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=20), st.floats(0.1, 500))
def test_the_last_effort_uses_its_time_and_gives_no_instance_more_than_allowed(
    wanting: list[int], in_all: float
) -> None:
    shares = share_last_effort(wanting, 3.0, in_all)
    assert (shares <= 3.0).all()
    assert (shares > 0).all()
    in_order = np.argsort(wanting, kind="stable")
    assert (np.diff(shares[in_order]) >= -1e-9).all()
    least = 0.02 * len(wanting)
    assert shares.sum() <= in_all + least + 1e-6
    assert shares.sum() >= min(3.0 * len(wanting), in_all) - 1e-6
    assert (share_last_effort(wanting, 3.0, None) == 3.0).all()
