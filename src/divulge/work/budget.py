"""When to stop: because someone asks, or because the time given is spent. Never silently."""

from __future__ import annotations

import threading
import time

from divulge.work.problems import DivulgeError


class Cancelled(DivulgeError):
    """The run was stopped on request; nothing of it was written."""


class BudgetSpent(DivulgeError):
    """The time given for the run was spent before it ended."""


class Cancellation:
    """A request to stop, made in one thread and met in another.

    >>> cancellation = Cancellation()
    >>> cancellation.cancel()
    >>> cancellation.check()
    Traceback (most recent call last):
    divulge.work.budget.Cancelled: stopped on request; nothing was written
    """

    def __init__(self) -> None:
        self._asked = threading.Event()

    def cancel(self) -> None:
        """Ask the work to stop; it does so at its next step."""
        self._asked.set()

    @property
    def asked(self) -> bool:
        """Whether somebody has asked the work to stop."""
        return self._asked.is_set()

    def check(self) -> None:
        """Raise `Cancelled` if somebody has asked."""
        if self.asked:
            raise Cancelled("stopped on request; nothing was written")


class Budget:
    """A time that a run may take, counted from when the budget is made.

    >>> Budget(seconds=60).spent
    False
    """

    def __init__(self, seconds: float) -> None:
        if not seconds > 0:
            raise ValueError(f"a budget of {seconds} seconds: give a number above 0")
        self.seconds = seconds
        self._end = time.monotonic() + seconds

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
            raise BudgetSpent(f"stopped: the budget of {self.seconds:g} seconds is spent")
