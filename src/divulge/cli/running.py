"""How a verb runs: with progress where somebody is looking, and within its budget."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from divulge import work


@contextmanager
def conditions(seconds: float | None) -> Iterator[None]:
    """Progress bars in a terminal, none in a pipe; a budget where one is given."""
    with ExitStack() as stack:
        reporter = None
        if sys.stderr.isatty():
            reporter = stack.enter_context(work.TerminalReporter())
        budget = None if seconds is None else work.Budget(seconds)
        stack.enter_context(work.under(reporter=reporter, budget=budget))
        yield
