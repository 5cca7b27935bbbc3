"""Whole releases with a known truth: what is certain is right, and no bound is too small.

DIVULGE_THOROUGH=50 looks at fifty times as many.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.reconstruction.whole_releases import MadeUp, made_up

from divulge.reconstruction import Reconstruction

SEEDS = st.integers(0, 2**32 - 1)
HASTE = [(1e-6, 1e-6), (0.001, 0.01), (0.003, 0.03)]
TIMES = [*HASTE, (0.3, 3.0), (0.5, None)]


def many(examples: int) -> settings:
    """So many examples, or as many times as is asked for."""
    return settings(max_examples=examples * int(os.environ.get("DIVULGE_THOROUGH", "1")))


def wrong(release: MadeUp, found: Reconstruction) -> list[tuple[str, int]]:
    """Phases and records whose place is certain and wrong, or not in the totals at all."""
    names = found.levels[0].matched.names
    return [
        (phase.name, number)
        for phase in found.phases
        for number, record in enumerate(release.records)
        if phase.certain[number] or phase.identified[number]
        if names[phase.place[number]] != record.city or 0 not in record.counted_in
    ]


def excluded(release: MadeUp, found: Reconstruction) -> list[tuple[str, int]]:
    """Tables and records that they count, whose true place they exclude."""
    names = [table.dataset.name for table in release.totals]
    missed = []
    for level in found.levels:
        table = level.matched.totals
        true = release.truth.to_arrow()[table.finest].to_pylist()
        for n, group in enumerate(level.matched.groups):
            if level.is_unsound(n):
                continue
            places = [level.matched.names[number] for number in level.matched.place[group.rows]]
            for at, number in enumerate(group.records):
                counted = names.index(table.dataset.name) in release.records[number].counted_in
                if counted and not level.possible[n][at, places.index(true[number])]:
                    missed.append((table.dataset.name, int(number)))
    return missed


@many(60)
@given(SEEDS, st.sampled_from(TIMES), st.booleans(), st.booleans())
def test_what_is_certain_is_right_and_what_is_true_is_not_excluded(
    seed: int, time: Any, told: bool, known: bool
) -> None:
    release = made_up(seed)
    right = release.rules_are_right
    truth = release.truth if told else None
    found = release.audited(*time, truth=truth, rule_is_known=True if known and right else None)
    if release.premise_holds:
        assert not wrong(release, found)
    consistent = release.premise_holds and (release.premise != "any" or not release.left_out)
    if right and consistent:
        assert not excluded(release, found)
    for phase in found.phases:
        assert (phase.counted >= 0).all()
        assert (phase.counted <= 1 + 1e-9).all()


@many(40)
@given(SEEDS, st.sampled_from(HASTE), st.booleans())
def test_who_takes_her_time_knows_no_more_than_the_most(seed: int, time: Any, told: bool) -> None:
    release = made_up(seed, most=10)
    truth = release.truth if told else None
    hurried, patient = (release.audited(*t, truth=truth) for t in (time, (0.5, None)))
    _within_the_most(hurried, patient)


@many(60)
@given(SEEDS, st.sampled_from([*HASTE, (0.5, None)]))
def test_who_learns_how_totals_were_rounded_knows_no_more_than_the_most(
    seed: int, time: Any
) -> None:
    release = made_up(seed, most=10, misdeclared=0)
    assume(release.premise_holds)
    in_doubt = release.audited(*time)
    assume(in_doubt.by_any_rule)
    _within_the_most(in_doubt, release.audited(0.5, rule_is_known=True))


def _within_the_most(bounded: Reconstruction, later: Reconstruction) -> None:
    """A later audit finds no more than an earlier one said was the most, record by record."""
    before, after = bounded.assessment, later.assessment
    if before.most is None:
        assert before.claim == "exact"
        return
    last, most = later.phases[-1], bounded.at_most
    assert not (last.identified & ~most.known).any()
    assert (last.counted <= most.chance + 1e-9).all()
    assert before.certain.posterior <= before.most.certain >= after.certain.posterior
    assert before.most.right >= max(before.right.posterior, after.right.posterior) - 1e-9
    assert np.isfinite(most.chance).all()
