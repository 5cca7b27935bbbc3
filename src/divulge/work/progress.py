"""Progress as seen by a person: in a terminal, in a notebook, or by a callable of the app's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from divulge.work import tuning

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID


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


class TerminalReporter:
    """Shows the steps as bars in a terminal, on standard error so that results can be piped.

    >>> with TerminalReporter() as report:
    ...     report(Progress("Reading", done=1, total=1, elapsed=0.1, finished=True))
    """

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self._bars = RichProgress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console or Console(file=sys.stderr),
            transient=True,
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> TerminalReporter:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def __call__(self, progress: Progress) -> None:
        """Draw one step's progress."""
        if progress.step not in self._tasks:
            self._tasks[progress.step] = self._bars.add_task(progress.step, left="")
        task = self._tasks[progress.step]
        self._bars.update(
            task, total=progress.total, completed=progress.done, left=_describe_time_left(progress)
        )
        if progress.finished:
            self._bars.remove_task(self._tasks.pop(progress.step))


class NotebookReporter:
    """Shows the current step as one line below a notebook's cell, rewritten in place."""

    def __init__(self) -> None:
        self._line: Any = None

    def __call__(self, progress: Progress) -> None:
        """Rewrite the line."""
        from IPython.display import display

        share = progress.share
        percent = "" if share is None else f" {share:.0%}"
        text = {"text/plain": f"{progress.step}{percent} {_describe_time_left(progress)}".rstrip()}
        if self._line is None:
            self._line = display(text, raw=True, display_id=True)  # type: ignore[no-untyped-call]  # IPython ships none
        else:
            self._line.update(text, raw=True)


def _describe_time_left(progress: Progress) -> str:
    if progress.finished:
        return "done"
    seconds_left = progress.seconds_left
    if seconds_left is None:
        return ""
    return (
        f"about {seconds_left:.0f} s left"
        if seconds_left < 90
        else f"about {seconds_left / 60:.0f} min left"
    )
