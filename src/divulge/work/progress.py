"""How far a step of the work has come, and who hears of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from divulge.work import tuning


@dataclass(frozen=True)
class Progress:
    """How far one step of the work has come.

    >>> Progress("Reading", done=25, total=100, elapsed=10.0).seconds_left
    30.0
    """

    step: str
    done: float
    total: float | None
    elapsed: float
    finished: bool = False
    note: str = ""
    """What has come of it so far, in a few words."""

    @property
    def share(self) -> float | None:
        """The share that is done, or None where the total is not known."""
        if not self.total:
            return None
        return min(1.0, self.done / self.total)

    @property
    def seconds_left(self) -> float | None:
        """The time left at the pace so far, or None where that would be a guess."""
        share = self.share
        if (
            share is None
            or share < tuning.MIN_SHARE_TO_EXTRAPOLATE
            or self.elapsed < tuning.MIN_SECONDS_TO_EXTRAPOLATE
        ):
            return None
        return self.elapsed * (1 - share) / share


Reporter = Callable[[Progress], None]
"""Whoever wants to hear of progress: the app and tests pass a function of their own."""
