"""Effort: how much is done, counted in steps and told in nominal seconds.

A search that cannot be finished ends somewhere, and where it ends decides on what is found. If that
were a matter of the clock, another machine, or the same one under load, would find something else.
So whoever works says what it did (`charge`), each kind of work has a price that was measured once
(`Cost`), and a search ends when its effort is spent: after the same steps everywhere.

>>> from divulge import work
>>> listing = Cost("listing", per_call=0.0, per_step=0.25)
>>> effort = Effort(seconds=10)
>>> charge(listing, 12)
>>> effort.used, effort.left, effort.spent
(3.0, 7.0, False)
>>> part = effort.share(0.5)  # of what is left
>>> charge(listing, 14)
>>> part.spent, effort.left
(True, 3.5)

The real clock ends a search only where somebody asks for it (`Budget(stop_after=...)`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from divulge.work.context import is_stopped

TICKS_PER_SECOND = 10**9
"""Effort is summed up in whole numbers, so that sums do not depend on what was done before."""


ENDLESS_SECONDS = 1e6
"""Nominal seconds that stand for no end: as many steps of anything are a whole number."""

MOST_SECONDS = 1e12
"""The longest effort, some thirty thousand years: whatever is counted out of it is finite."""


@dataclass(frozen=True)
class Cost:
    """What a kind of work takes on a quiet core, in nominal seconds: a call, and each step."""

    name: str
    per_call: float
    per_step: float

    def count_steps(self, seconds: float) -> int:
        """How many steps so many nominal seconds pay for, where there may be no end of them.

        >>> Cost("walk", per_call=0.0, per_step=0.5).count_steps(3.0)
        6
        """
        return int(min(seconds, ENDLESS_SECONDS) / self.per_step)


class _Meter(threading.local):
    """What was charged so far in this thread, in ticks."""

    ticks = 0


_meter = _Meter()


def charge(cost: Cost, steps: float = 0) -> None:
    """Say that a piece of work of so many steps was done."""
    _meter.ticks += round((cost.per_call + cost.per_step * steps) * TICKS_PER_SECOND)


def charge_seconds(seconds: float) -> None:
    """Say that work was done elsewhere that took so many nominal seconds."""
    _meter.ticks += round(seconds * TICKS_PER_SECOND)


@contextmanager
def uncharged() -> Iterator[None]:
    """Nothing inside is charged: it is no part of any search, such as compiling kernels."""
    before = _meter.ticks
    try:
        yield
    finally:
        _meter.ticks = before


class Effort:
    """So many nominal seconds of work in this thread, from when it is made."""

    def __init__(self, seconds: float) -> None:
        self.seconds = min(max(0.0, seconds), MOST_SECONDS)
        self._start_ticks = _meter.ticks
        self._end_ticks = self._start_ticks + round(self.seconds * TICKS_PER_SECOND)

    @property
    def used(self) -> float:
        """Nominal seconds that were spent since it was made."""
        return (_meter.ticks - self._start_ticks) / TICKS_PER_SECOND

    @property
    def left(self) -> float:
        """Nominal seconds that are left, never below zero; none where the clock has struck."""
        if is_stopped():
            return 0.0
        return max(0.0, (self._end_ticks - _meter.ticks) / TICKS_PER_SECOND)

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
        return _meter.ticks >= self._end_ticks or is_stopped()

    def part(self, seconds: float) -> Effort:
        """At most so many seconds of what is left."""
        return Effort(min(seconds, self.left))

    def share(self, share: float) -> Effort:
        """A share of what is left."""
        return Effort(share * self.left)

    def until(self, share: float) -> Effort:
        """What is left until this share of the whole is used."""
        return self.part(share * self.seconds - self.used)
