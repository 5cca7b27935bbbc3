"""Progress as seen by a person, in the language of the run: in a terminal, or in a notebook."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from divulge.work.progress import Progress
from divulge.work.translation import translate_step

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID

FINISHED = "done"
SECONDS_LEFT = "about {0} s left"
MINUTES_LEFT = "about {0} min left"


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
            self._tasks[progress.step] = self._bars.add_task(_name_step(progress), left="")
        task = self._tasks[progress.step]
        self._bars.update(
            task,
            description=_name_step(progress),
            total=progress.total,
            completed=progress.done,
            left=_describe_time_left(progress),
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
        name, time_left = _name_step(progress), _describe_time_left(progress)
        text = {"text/plain": f"{name}{percent} {time_left}".rstrip()}
        if self._line is None:
            self._line = display(text, raw=True, display_id=True)  # type: ignore[no-untyped-call]  # IPython ships none
        else:
            self._line.update(text, raw=True)


def _name_step(progress: Progress) -> str:
    """The step, with what has come of it so far."""
    texts = filter(None, [progress.step, progress.note])
    return ": ".join(map(translate_step, texts))


def _describe_time_left(progress: Progress) -> str:
    if progress.finished:
        return translate_step(FINISHED)
    seconds_left = progress.seconds_left
    if seconds_left is None:
        return ""
    if seconds_left < 90:
        return translate_step(SECONDS_LEFT.format(f"{seconds_left:.0f}"))
    return translate_step(MINUTES_LEFT.format(f"{seconds_left / 60:.0f}"))
