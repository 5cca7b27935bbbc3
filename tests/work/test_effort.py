"""Effort is counted: the same steps spend it on every machine, and the clock only where asked."""

from __future__ import annotations

import math
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from divulge import work
from divulge.work import Cost, Effort

STEP = Cost("step", per_call=0.0, per_step=1.0)


@given(st.lists(st.floats(0, 3), max_size=30), st.floats(0, 20), st.integers(0, 10**6))
def test_what_is_left_does_not_depend_on_what_was_done_before(
    charges: list[float], seconds: float, before: int
) -> None:
    def left() -> list[float]:
        effort = Effort(seconds)
        found = []
        for steps in charges:
            work.charge(STEP, steps)
            found.append(effort.left)
        return found

    first = left()
    work.charge(STEP, before + 0.1)
    assert left() == first
    assert first == sorted(first, reverse=True)


def test_a_part_ends_with_the_whole_and_shares_are_of_what_is_left() -> None:
    whole = Effort(10)
    work.charge(STEP, 4)
    assert whole.part(100).seconds == 6
    assert whole.share(0.5).seconds == 3
    assert whole.until(0.7).seconds == 3
    assert whole.until(0.3).spent
    assert (whole.used, whole.left, whole.spent) == (4.0, 6.0, False)
    work.charge(STEP, 6)
    assert whole.spent
    assert not Effort(math.inf).spent
    assert not Effort(1e300).spent
    assert math.isfinite(Effort(math.inf).left), "what is counted out of it is a number"
    assert Effort(-1).spent


def test_what_is_not_charged_is_not_spent() -> None:
    effort = Effort(1)
    with work.uncharged():
        work.charge(STEP, 50)
    assert effort.used == 0
    work.charge_seconds(0.25)
    assert effort.used == 0.25


def test_threads_have_each_their_own_meter() -> None:
    effort = Effort(1)
    other = threading.Thread(target=work.charge, args=(STEP, 99))
    other.start()
    other.join()
    assert effort.used == 0


def struck() -> work.Budget:
    """A clock that has struck."""
    budget = work.Budget(stop_after=0.001)
    time.sleep(0.002)
    return budget


def test_the_clock_ends_an_effort_only_where_partial_results_are_welcome() -> None:
    with work.run_with(budget=struck()):
        assert not Effort(1).spent
        with pytest.raises(work.BudgetSpent):
            work.check()
        with work.partial_results() as conditions:
            work.check()
            assert conditions.is_stopped
            assert Effort(1).spent
            assert Effort(1).left == 0
    assert not work.is_stopped()


def test_no_checkpoint_keeps_what_the_clock_has_cut(tmp_path: Path) -> None:
    def answer(number: int) -> Any:
        return lambda: {"answer": np.array([number])}

    kept = work.Checkpoints(tmp_path / "kept")
    with work.run_with(budget=struck()), work.partial_results():
        assert kept.remember("sizes", {}, answer(1))["answer"] == [1]
    assert kept.remember("sizes", {}, answer(2))["answer"] == [2]
    assert kept.remember("sizes", {}, answer(3))["answer"] == [2]
