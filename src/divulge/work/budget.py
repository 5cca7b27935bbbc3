"""Cancellation and real-time limits: a stop on request or by the clock, and never silently."""

from __future__ import annotations

import threading
import time

from divulge.work.problems import Interruption


class Cancelled(Interruption):
    """The run was stopped on request; nothing of it was written."""


class BudgetSpent(Interruption):
    """The clock stopped the run before it ended."""


class Cancellation:
    """A request to stop, made in one thread and met in another.

    >>> cancellation = Cancellation()
    >>> cancellation.cancel()
    >>> cancellation.check()
    Traceback (most recent call last):
    divulge.work.budget.Cancelled: stopped on request; nothing was written
    """

    def __init__(self) -> None:
        self._stop_event = threading.Event()

    def cancel(self) -> None:
        """Ask the work to stop; it does so at its next step."""
        self._stop_event.set()

    @property
    def asked(self) -> bool:
        """Whether somebody has asked the work to stop."""
        return self._stop_event.is_set()

    def check(self) -> None:
        """Raise `Cancelled` if somebody has asked."""
        if self.asked:
            raise Cancelled("stopped on request; nothing was written")


class Budget:
    """When the real clock stops a run, counted from when the budget is made.

    Searches end by effort, not by the clock, so that results do not depend on the machine
    (`divulge.work.effort`). This is for whoever cannot wait: a run that has no result yet fails,
    and a search that has something gives it and says that it was cut.

    >>> Budget(stop_after=60).spent
    False
    """

    def __init__(self, stop_after: float) -> None:
        if not stop_after > 0:
            raise ValueError(f"stop_after={stop_after}: give a number of seconds above 0")
        self.stop_after = stop_after
        self._end = time.monotonic() + stop_after

    @property
    def left(self) -> float:
        """Seconds left, never below zero."""
        return max(0.0, self._end - time.monotonic())

    @property
    def spent(self) -> bool:
        """Whether no time is left."""
        return self.left == 0.0

    def check(self) -> None:
        """Raise `BudgetSpent` if no time is left."""
        if self.spent:
            unit = "second" if self.stop_after == 1 else "seconds"
            raise BudgetSpent(f"stopped by the clock after {self.stop_after:g} {unit}")
