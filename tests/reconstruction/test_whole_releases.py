"""Whole releases with a known truth: what is certain is right, and no bound is too small.

DIVULGE_THOROUGH=50 looks at fifty times as many.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.reconstruction.strategies import dataset
from tests.reconstruction.whole_releases import MadeUp, made_up

from divulge.reconstruction import Prior, Reconstruction, Totals, reconstruct

SEEDS = st.integers(0, 2**32 - 1)
HASTE = [(1e-6, 1e-6), (0.001, 0.01), (0.003, 0.03)]
TIMES = [*HASTE, (0.3, 3.0), (0.5, None)]


def many(examples: int) -> settings:
    """So many examples, or as many times as is asked for."""
    return settings(max_examples=examples * int(os.environ.get("DIVULGE_THOROUGH", "1")))


def wrong(release: MadeUp, found: Reconstruction) -> list[tuple[str, int]]:
    """Phases and records whose place is certain and wrong, or not in the totals at all."""
    names = found.levels[0].totals_match.names
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
        table = level.totals_match.totals
        true = release.truth.to_arrow()[table.finest].to_pylist()
        for n, group in enumerate(level.totals_match.groups):
            if level.is_unsound(n):
                continue
            places = [
                level.totals_match.names[number] for number in level.totals_match.place[group.rows]
            ]
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
        assert (phase.guess_chance >= 0).all()
        assert (phase.guess_chance <= 1 + 1e-9).all()


@many(40)
@given(SEEDS, st.sampled_from(HASTE), st.booleans())
def test_who_takes_their_time_knows_no_more_than_the_most(seed: int, time: Any, told: bool) -> None:
    release = made_up(seed, most=10)
    truth = release.truth if told else None
    hurried, patient = (release.audited(*t, truth=truth) for t in (time, (0.5, None)))
    _within_the_most(hurried, patient)


@many(60)
@given(SEEDS, st.sampled_from([*HASTE, (0.5, None)]))
def test_who_learns_how_totals_were_rounded_knows_no_more_than_the_most(
    seed: int, time: Any
) -> None:
    release = made_up(seed, most=10)
    assume(release.premise_holds)
    in_doubt = release.audited(*time)
    assume(in_doubt.by_any_rule)
    _within_the_most(in_doubt, release.as_made.audited(0.5, rule_is_known=True))


def test_who_is_in_none_of_the_totals_by_another_rule_may_be_guessed_by_their_sector() -> None:
    """Rounded one by one, 1.60 alone makes 2, and 0.60 is left out: most likely of the third."""
    records = dataset("records", product=["x"] * 2, value=[1.6, 0.6])
    table = dataset("table", product=["x"], city=["A"], value=[2])
    parties = dataset("parties", city=list("AAC"), sector=list("sst"))

    def audited(rule: str, known: bool | None) -> Reconstruction:
        totals = [Totals(table, {"product": "product"}, "city", ["value"], rule)]
        prior = Prior("sector", "product", {("t", "x"): 8.0})
        units: dict[str, Any] = {"value": "0.01"}
        return reconstruct(
            records, totals, parties, units=units, prior=prior, rule_is_known=known, workers=1
        )

    in_doubt, rightly = audited("sum_then_round", None), audited("round_then_sum", True)
    assert in_doubt.phases[-1].guess_chance.tolist() == [0.5, 0.5]
    assert rightly.phases[-1].guess_chance.tolist() == [0.5, 0.8]
    _within_the_most(in_doubt, rightly)


def _within_the_most(bounded: Reconstruction, later: Reconstruction) -> None:
    """A later audit finds no more than an earlier one said was the most, record by record."""
    before, after = bounded.assessment, later.assessment
    if before.most is None:
        assert before.claim == "exact"
        return
    last, most = later.phases[-1], bounded.at_most
    assert not (last.identified & ~most.may_be_known).any()
    assert (last.guess_chance <= most.chance + 1e-9).all()
    assert before.certain.posterior <= before.most.certain >= after.certain.posterior
    assert before.most.right >= max(before.right.posterior, after.right.posterior) - 1e-9
    assert np.isfinite(most.chance).all()
