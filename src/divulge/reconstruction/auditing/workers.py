"""Many instances: in worker processes, largest last, resumable, and none dropped.

The effort for every instance is fixed before any is solved, and results are taken in the order of
the tasks: they are the same with one process or many, on a quiet machine and on a busy one.
Instances are solved in bundles. A bundle is a checkpoint (where there are checkpoints), so that a
run that was interrupted finds again what it had. Where somebody has set the clock and it strikes,
what is left is still propagated and walked through as far as that takes no time, and stays open
otherwise; such results are kept by no checkpoint.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.reconstruction.auditing.effort_shares import at_last, while_limiting
from divulge.reconstruction.problem.amounts import Bools, Ints
from divulge.reconstruction.problem.certificates import MOST_PLACES_KEPT, most_telling
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.premises import Premise
from divulge.reconstruction.problem.result import Result, packed, unpacked
from divulge.reconstruction.solving.continuation import walked_on
from divulge.reconstruction.solving.mismatched_totals import not_misled, settle
from divulge.work import Effort

MOST_IN_BUNDLE = 400
COMPLEXITY_OF_BUNDLE = 600.0
WORTH_PROCESSES = 300.0
"""From which sum of complexities on processes are started: they take a second each."""

TO_BE_SURE = 0.1
"""Of an instance's effort, for whether records that are missing unnoticed would matter."""


@dataclass(frozen=True, eq=False)
class Task:
    """An instance and its premise; truth, prior and allocations found `earlier`, if there are any.

    `known`: nothing more is to be excluded, and proofs are to be added to what is known.
    `beyond_doubt` is where packages may go even if small ones are missing unnoticed.
    """

    instance: Instance
    premise: Premise = "any"
    truth: Ints | None = None
    prior: npt.NDArray[np.float64] | None = None
    known: Result | None = None
    earlier: Ints | None = None
    beyond_doubt: Bools | None = None

    @property
    def complexity(self) -> float:
        """Of the pairs that are allowed: what is forbidden makes an instance easier."""
        choices = np.maximum(self.instance.allowed.sum(axis=1), 1)
        return float(np.log10(choices).sum())

    def digest(self) -> bytes:
        """All that a result depends on."""
        parts = hashlib.blake2b(digest_size=16)
        for array in vars(self.instance).values():
            if isinstance(array, np.ndarray):
                parts.update(np.ascontiguousarray(array).tobytes())
        if self.truth is not None:
            parts.update(self.truth.tobytes())
        if self.prior is not None:
            parts.update(self.prior.tobytes())
        if self.earlier is not None:
            parts.update(self.earlier.tobytes())
        if self.beyond_doubt is not None:
            parts.update(self.beyond_doubt.tobytes())
        if self.known is not None:
            for name in ("possible", "proved", "discardable", "sure", "certificates"):
                parts.update(getattr(self.known, name).tobytes())
            parts.update(self.known.premise.encode())
        return parts.digest() + self.premise.encode()

    @property
    def wanting(self) -> int:
        """How many packages have no finding yet."""
        return self.instance.packages - (0 if self.known is None else self.known.findings)


def solve_all(
    tasks: Sequence[Task],
    seconds: float,
    in_all: float | None = None,
    workers: int | None = None,
    name: str = "Allocating",
    again: bool = False,
    largest_first: bool = False,
) -> list[Result]:
    """Solve all instances; the results are in the order of the tasks.

    Args:
        tasks: the instances; of all of them something is known on which to go on, or of none.
        seconds: the effort for one instance at most, in nominal seconds.
        in_all: for all of them, about; how it is shared out, see `effort_shares`.
        workers: how many processes.
        name: what the progress is called.
        again: as few as can have their full effort.
        largest_first: so that no process waits for the largest in the end.
    """
    complexity = np.array([task.complexity for task in tasks])
    order = np.argsort(-complexity if largest_first else complexity, kind="stable")
    bundles = list(_bundles(order, complexity))
    checkpoints = work.current().checkpoints
    folder = None if checkpoints is None else checkpoints.folder
    workers = min(workers or os.cpu_count() or 1, max(1, len(bundles)))
    if any(task.known is not None for task in tasks):
        each = at_last([task.wanting for task in tasks], seconds, in_all)
    elif again:
        each = np.full(len(tasks), seconds)
    else:
        each = while_limiting(complexity, seconds, in_all)
    budget = work.current().budget
    stop_at = None if budget is None else time.time() + budget.left
    efforts = _Efforts(each, folder, stop_at)
    results: list[Result | None] = [None] * len(tasks)
    progress = _Counter(name, len(tasks))
    with work.step(progress.name, len(tasks)) as step:
        if workers == 1 or complexity.sum() < WORTH_PROCESSES:
            for bundle in bundles:
                with work.uncharged():  # they are charged below, also those of a checkpoint
                    arrays = _solved([tasks[t] for t in bundle], efforts.of(bundle))
                for t, result in zip(bundle, unpacked(arrays), strict=True):
                    results[t] = result
                    work.charge_seconds(result.seconds)
                    progress.closed += result.status == "closed"
                step.name = f"{name}: {progress.closed:,} closed"
                step.advance(len(bundle))
        else:
            for bundle, arrays in _in_processes(tasks, bundles, efforts, workers):
                for t, result in zip(bundle, unpacked(arrays), strict=True):
                    results[t] = result
                    work.charge_seconds(result.seconds)
                    progress.closed += result.status == "closed"
                step.name = f"{name}: {progress.closed:,} closed"
                step.advance(len(bundle))
    return [result for result in results if result is not None]


@dataclass(frozen=True, eq=False)
class _Efforts:
    """Nominal seconds of each instance, where results are kept, and when the clock strikes."""

    each: npt.NDArray[np.float64]
    folder: Path | None
    stop_at: float | None

    def of(self, bundle: Sequence[int]) -> _Efforts:
        return replace(self, each=self.each[bundle])


@dataclass
class _Counter:
    name: str
    total: int
    closed: int = field(default=0)


def _bundles(order: Ints, complexity: npt.NDArray[np.float64]) -> Iterator[list[int]]:
    bundle: list[int] = []
    weight = 0.0
    for t in order:
        bundle.append(int(t))
        weight += float(complexity[t])
        if len(bundle) == MOST_IN_BUNDLE or weight > COMPLEXITY_OF_BUNDLE or complexity[t] > 60:
            yield bundle
            bundle, weight = [], 0.0
    if bundle:
        yield bundle


def _in_processes(
    tasks: Sequence[Task],
    bundles: Sequence[list[int]],
    efforts: _Efforts,
    workers: int,
) -> Iterator[tuple[list[int], Mapping[str, Any]]]:
    """Bundles as they are done; a few wait in the queue, so that stopping does not take long."""
    waiting: dict[Future[Mapping[str, Any]], list[int]] = {}
    rest = iter(bundles)
    with _processes(workers) as pool:
        while True:
            while len(waiting) < 2 * workers:
                bundle = next(rest, None)
                if bundle is None:
                    break
                job = pool.submit(_solved, [tasks[t] for t in bundle], efforts.of(bundle))
                waiting[job] = bundle
            if not waiting:
                return
            done, _ = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
            work.check()
            for job in done:
                yield waiting.pop(job), job.result()


_shared: ContextVar[dict[int, ProcessPoolExecutor] | None] = ContextVar("processes", default=None)


@contextmanager
def shared_processes() -> Iterator[None]:
    """Processes that are started inside go on to the next instances: each takes a second to start.

    They end with what is inside.
    """
    pools: dict[int, ProcessPoolExecutor] = {}
    token = _shared.set(pools)
    try:
        yield
    finally:
        _shared.reset(token)
        for pool in pools.values():
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _processes(workers: int) -> Iterator[ProcessPoolExecutor]:
    """So many processes: those that are shared, or some of our own."""
    pools = _shared.get()
    if pools is None:
        with shared_processes(), _processes(workers) as pool:
            yield pool
        return
    if workers not in pools:
        spawn = get_context("spawn")
        pools[workers] = ProcessPoolExecutor(workers, mp_context=spawn, initializer=_begin)
    yield pools[workers]


def _begin() -> None:
    """A worker ends with its parent, even one that was stopped and could not tell."""
    parent = parent_process()
    if parent is not None:
        watch = threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True)
        watch.start()


def _end_with(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


def _solved(tasks: Sequence[Task], efforts: _Efforts) -> Mapping[str, Any]:
    """One bundle, or what a checkpoint has of it."""

    def solved() -> Mapping[str, Any]:
        both = zip(tasks, efforts.each, strict=True)
        return packed([_settled(task, float(seconds)) for task, seconds in both])

    with _clock_set(efforts.stop_at):
        if efforts.folder is None:
            return solved()
        digest = hashlib.blake2b(b"".join(task.digest() for task in tasks), digest_size=16)
        digest.update(efforts.each.tobytes())
        key = {"instances": digest.hexdigest(), "kept": MOST_PLACES_KEPT}
        return work.Checkpoints(efforts.folder).remember("allocations", key, solved)


@contextmanager
def _clock_set(stop_at: float | None) -> Iterator[None]:
    """Searches inside end at some time of the clock, if one is given."""
    if stop_at is None:
        yield
        return
    budget = work.Budget(stop_after=max(0.001, stop_at - time.time()))
    with work.under(budget=budget), work.partial_results():
        yield


def _settled(task: Task, seconds: float) -> Result:
    effort = Effort(seconds)
    if task.known is not None:
        return walked_on(task.instance, task.known, seconds)
    given = task.instance, task.premise, seconds, task.prior, task.truth, task.earlier
    outcome = settle(*given, task.beyond_doubt)
    found, bins = outcome.solution, task.instance.bins
    n = task.instance.packages
    sure = np.ones(n, bool)
    if task.premise == "any":
        sure = not_misled(task.instance, outcome, TO_BE_SURE * seconds, task.beyond_doubt)
    if not found.proved.any():
        # No allocation was found: the premise itself is not shown to hold.
        sure = np.zeros(n, bool)
    discardable = found.possible[:, bins] if found.possible.shape[1] > bins else np.zeros(n, bool)
    counted = found.shares is not None
    return Result(
        found.status,
        outcome.premise,
        found.possible[:, :bins],
        found.proved[:, :bins],
        discardable,
        sure,
        found.shares[:, :bins] if found.shares is not None else None,
        outcome.discarded if outcome.discarded is not None else np.zeros(n),
        found.count if counted else None,
        effort.used,
        most_telling(found.certificates[: 0 if found.status == "closed" else None], bins),
    )
