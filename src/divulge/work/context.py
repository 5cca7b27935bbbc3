"""Under which conditions work is done: who hears of it, when it must stop, what it remembers.

The conditions are ambient (a context variable), so that no function between the caller and the
loop has to hand them on, and two runs in two threads of the app do not see each other's.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from divulge.work import tuning
from divulge.work.budget import Budget, Cancellation
from divulge.work.problems import InvalidInput, Problem
from divulge.work.progress import Progress, Reporter

if TYPE_CHECKING:
    from divulge.work.storage.checkpoints import Arrays, Checkpoints
    from divulge.work.storage.files import AtomicFiles
    from divulge.work.storage.inputs import Inputs


@dataclass(frozen=True)
class Conditions:
    """What the caller has asked of the work that is done inside."""

    reporter: Reporter | None = None
    cancellation: Cancellation = field(default_factory=Cancellation)
    budget: Budget | None = None
    checkpoints: Checkpoints | None = None
    inputs: Inputs | None = None
    files: AtomicFiles | None = None
    partial: bool = False
    language: str | None = None

    def check(self) -> None:
        """Raise `Cancelled` or `BudgetSpent` when it is time to stop."""
        self.cancellation.check()
        if self.budget is not None and not self.partial:
            self.budget.check()

    @property
    def is_stopped(self) -> bool:
        """Whether the clock has struck where a search may give what it has."""
        return self.partial and self.budget is not None and self.budget.spent


DEFAULT_LANGUAGE = "en"
LANGUAGE_VARIABLE = "DIVULGE_LANGUAGE"
_LANGUAGE_CODE = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*")

_ambient: ContextVar[Conditions | None] = ContextVar("divulge_conditions", default=None)


def current() -> Conditions:
    """The conditions of the work that is being done."""
    return _ambient.get() or Conditions()


def current_language() -> str:
    """The language in which the user is spoken to: of the run, of `DIVULGE_LANGUAGE`, or English.

    What is no code of a language is passed over here, so that every error can be shown; the command
    line refuses it (`check_language`).

    >>> with run_with(language="de"):
    ...     current_language()
    'de'
    """
    language = current().language or os.environ.get(LANGUAGE_VARIABLE)
    return language if language and _LANGUAGE_CODE.fullmatch(language) else DEFAULT_LANGUAGE


def check_language(place: str, language: str) -> str:
    """The code of a language, as it was given.

    Raises:
        InvalidInput: if it is none; it becomes part of the names of files.
    """
    if not _LANGUAGE_CODE.fullmatch(language):
        raise InvalidInput(
            place, [Problem("", "is not the code of a language, such as en, de or pt-BR.")]
        )
    return language


@contextmanager
def run_with(
    *,
    reporter: Reporter | None = None,
    cancellation: Cancellation | None = None,
    budget: Budget | None = None,
    checkpoints: Checkpoints | None = None,
    inputs: Inputs | None = None,
    files: AtomicFiles | None = None,
    language: str | None = None,
) -> Iterator[Conditions]:
    """Do the work inside under the conditions given; those not given stay as they were.

    Args:
        reporter: hears of progress.
        cancellation: stops the work from outside.
        budget: stops it when the real clock strikes.
        checkpoints: keeps what is finished for a run that takes the work up again.
        inputs: remembers what is read, so that nothing is written over it.
        files: takes all files that are written, so that they appear together at the end.
        language: of sentences and of errors where they are shown, such as `en`.

    Raises:
        InvalidInput: if the language is not written as `de` or `pt-BR` is.
    """
    options = {
        "reporter": reporter,
        "cancellation": cancellation,
        "budget": budget,
        "checkpoints": checkpoints,
        "inputs": inputs,
        "files": files,
        "language": None if language is None else check_language("language", language),
    }
    conditions = replace(current(), **{k: v for k, v in options.items() if v is not None})  # type: ignore[arg-type]  # the names above are the fields
    token = _ambient.set(conditions)
    try:
        yield conditions
    finally:
        _ambient.reset(token)


@contextmanager
def writing_at_once() -> Iterator[None]:
    """Files that are written inside appear when each is whole, whoever gathers them outside."""
    token = _ambient.set(replace(current(), files=None))
    try:
        yield
    finally:
        _ambient.reset(token)


@contextmanager
def partial_results() -> Iterator[Conditions]:
    """Where the clock strikes inside, searches end and give what they have; nothing is raised.

    `is_stopped` of what is given then says that the result was cut.
    """
    conditions = replace(current(), partial=True)
    token = _ambient.set(conditions)
    try:
        yield conditions
    finally:
        _ambient.reset(token)


def is_stopped() -> bool:
    """Whether the clock has struck, and searches are to end with what they have."""
    conditions = _ambient.get()
    return conditions is not None and conditions.is_stopped


def check() -> None:
    """Stop here if the caller has asked to, or if the budget is spent."""
    current().check()


class Step:
    """One step of the work while it is under way."""

    def __init__(self, name: str, total: float | None, conditions: Conditions) -> None:
        self.name = name
        self.total = total
        self.done = 0.0
        self.note = ""
        self._conditions = conditions
        self._started_at = time.monotonic()
        self._last_report = 0.0

    def advance(self, by: float = 1) -> None:
        """Say that more is done; this is also where a run is stopped."""
        self._conditions.check()
        self.done += by
        if time.monotonic() - self._last_report >= tuning.SECONDS_BETWEEN_REPORTS:
            self.report()

    def report(self, finished: bool = False) -> None:
        """Tell the reporter now."""
        self._last_report = time.monotonic()
        if self._conditions.reporter is not None:
            elapsed = time.monotonic() - self._started_at
            self._conditions.reporter(
                Progress(self.name, self.done, self.total, elapsed, finished, self.note)
            )


@contextmanager
def step(name: str, total: float | None = None) -> Iterator[Step]:
    """A named step of the work, shown to whoever is listening."""
    conditions = current()
    conditions.check()
    current_step = Step(name, total, conditions)
    current_step.report()
    try:
        yield current_step
    finally:
        current_step.report(finished=True)


def memoise(
    name: str, key: Callable[[], Mapping[str, object]], compute: Callable[[], Arrays]
) -> Arrays:
    """The arrays that `compute` gives; taken from a checkpoint where an interrupted run left them.

    The key must hold all that the arrays depend on. It is asked for only where there are
    checkpoints, because the fingerprint of large data takes a while.
    """
    checkpoints = current().checkpoints
    if checkpoints is None:
        return compute()
    return checkpoints.remember(name, key(), compute)
