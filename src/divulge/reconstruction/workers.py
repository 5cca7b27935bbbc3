"""Many instances: in worker processes, largest last, resumable, and none dropped.

Instances are solved in bundles. A bundle is a checkpoint (where there are checkpoints), so that a
run that was killed finds again what it had. When the time for all is up, what is left is still
propagated and walked through as far as that takes no time, and stays open otherwise.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field, replace
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.reconstruction.amounts import Bools, Ints
from divulge.reconstruction.imperfect import PREMISES, Premise, not_misled, settle
from divulge.reconstruction.instance import Instance

STATUSES = ("closed", "open", "infeasible")
MOST_IN_BUNDLE = 400
COMPLEXITY_OF_BUNDLE = 600.0
HARD = 30.0
LEAST_SECONDS = 0.02
WORTH_PROCESSES = 300.0
"""From which sum of complexities on processes are started: they take a second each."""


@dataclass(frozen=True, eq=False)
class Task:
    """An instance and its premise; truth and prior if known."""

    instance: Instance
    premise: Premise = "any"
    truth: Ints | None = None
    prior: npt.NDArray[np.float64] | None = None

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
        return parts.digest() + self.premise.encode()


@dataclass(frozen=True, eq=False)
class Result:
    """What is known of one instance; `discardable` packages may have been left out of the totals.

    `sure` are packages whose places left are so even if small records are missing from the totals.
    Shares are those of all allocations, None where they were not counted.
    """

    status: str
    premise: Premise
    possible: Bools
    proved: Bools
    discardable: Bools
    sure: Bools
    shares: npt.NDArray[np.float64] | None
    discarded: npt.NDArray[np.float64]
    count: int | None
    seconds: float

    def with_proofs_of(self, earlier: Result) -> Result:
        """The same with what an earlier run on the same instance had proved."""
        if self.premise != earlier.premise or (self.status, earlier.status) != ("open", "open"):
            return self
        proved = (self.proved | earlier.proved) & self.possible
        # What can be left out of the totals is not proved of packages but of the instance.
        done = (proved == self.possible).all() and not self.discardable.any()
        return replace(self, proved=proved, status="closed" if done else "open")


def solve_all(
    tasks: Sequence[Task],
    seconds: float,
    in_all: float | None = None,
    workers: int | None = None,
    name: str = "Allocating",
    again: bool = False,
) -> list[Result]:
    """Solve all instances; the results are in the order of the tasks.

    `again`: what an earlier call kept of the same instances, in less time, does not count.
    """
    asked = seconds
    complexity = np.array([task.complexity for task in tasks])
    order = np.argsort(complexity, kind="stable")
    bundles = list(_bundles(order, complexity))
    deadline = None if in_all is None else time.time() + in_all
    checkpoints = work.current().checkpoints
    folder = None if checkpoints is None else checkpoints.folder
    workers = workers or os.cpu_count() or 1
    if in_all is not None:
        # All that are hard get the same, so that the largest are not left without any time.
        hard = int((complexity > HARD).sum())
        seconds = min(seconds, max(LEAST_SECONDS, 0.9 * in_all * workers / max(1, hard)))
    results: list[Result | None] = [None] * len(tasks)
    progress = _Counter(name, len(tasks))
    with work.step(progress.name, len(tasks)) as step:
        if workers == 1 or complexity.sum() < WORTH_PROCESSES:
            for bundle in bundles:
                some = [tasks[t] for t in bundle]
                arrays = _solved(some, seconds, deadline, folder, asked, again)
                for t, result in zip(bundle, _unpacked(arrays), strict=True):
                    results[t] = result
                    progress.closed += result.status == "closed"
                step.name = f"{name}: {progress.closed:,} closed"
                step.advance(len(bundle))
        else:
            times = seconds, deadline, folder, asked, again
            for bundle, arrays in _in_processes(tasks, bundles, times, workers):
                for t, result in zip(bundle, _unpacked(arrays), strict=True):
                    results[t] = result
                    progress.closed += result.status == "closed"
                step.name = f"{name}: {progress.closed:,} closed"
                step.advance(len(bundle))
    return [result for result in results if result is not None]


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
    times: tuple[float, float | None, Path | None, float, bool],
    workers: int,
) -> Iterator[tuple[list[int], Mapping[str, Any]]]:
    """Bundles as they are done; a few wait in the queue, so that stopping does not take long."""
    waiting: dict[Future[Mapping[str, Any]], list[int]] = {}
    rest = iter(bundles)
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_begin)
    try:
        while True:
            while len(waiting) < 2 * workers:
                bundle = next(rest, None)
                if bundle is None:
                    break
                job = pool.submit(_solved, [tasks[t] for t in bundle], *times)
                waiting[job] = bundle
            if not waiting:
                return
            done, _ = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
            work.check()
            for job in done:
                yield waiting.pop(job), job.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin() -> None:
    """A worker ends with its parent, even one that was killed and could not tell."""
    parent = parent_process()
    if parent is not None:
        watch = threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True)
        watch.start()
    _ready()


def _end_with(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


def _ready() -> None:
    from divulge.reconstruction.warm import warm

    warm()


def _solved(
    tasks: Sequence[Task],
    seconds: float,
    deadline: float | None,
    folder: Path | None,
    asked: float,
    again: bool,
) -> Mapping[str, Any]:
    """One bundle; `asked` is the time that the caller gave, by which checkpoints are known."""
    _ready()  # so that the first instance is not charged with what all need
    if folder is None:
        return _packed([_settled(task, seconds, deadline) for task in tasks])
    digest = hashlib.blake2b(b"".join(task.digest() for task in tasks), digest_size=16)
    key = {"instances": digest.hexdigest(), "seconds": asked, "again": again}
    return work.Checkpoints(folder).remember(
        "allocations", key, lambda: _packed([_settled(task, seconds, deadline) for task in tasks])
    )


def _settled(task: Task, seconds: float, deadline: float | None) -> Result:
    begun = time.monotonic()
    if deadline is not None:
        seconds = min(seconds, max(0.001, deadline - time.time()))
    outcome = settle(task.instance, task.premise, seconds, task.prior, task.truth)
    found, bins = outcome.solution, task.instance.bins
    n = task.instance.packages
    sure = np.ones(n, bool)
    if task.premise == "any":
        sure = not_misled(task.instance, outcome, seconds)
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
        time.monotonic() - begun,
    )


def _packed(results: Sequence[Result]) -> dict[str, npt.NDArray[Any]]:
    """Results as arrays: what a checkpoint keeps, and what travels between processes."""
    flat = [r.shares.ravel() for r in results if r.shares is not None]
    return {
        "shape": np.array([r.possible.shape for r in results], np.int64).reshape(-1, 2),
        "status": np.array([STATUSES.index(r.status) for r in results], np.int8),
        "premise": np.array([PREMISES.index(r.premise) for r in results], np.int8),
        "possible": np.concatenate([r.possible.ravel() for r in results]),
        "proved": np.concatenate([r.proved.ravel() for r in results]),
        "discardable": np.concatenate([r.discardable for r in results]),
        "sure": np.concatenate([r.sure for r in results]),
        "counted": np.array([r.shares is not None for r in results]),
        "shares": np.concatenate([*flat, np.empty(0)]),
        "discarded": np.concatenate([r.discarded for r in results]),
        # Counts have any number of digits.
        "count": np.array(["" if r.count is None else str(r.count) for r in results], np.str_),
        "seconds": np.array([r.seconds for r in results]),
    }


def _unpacked(arrays: Mapping[str, npt.NDArray[Any]]) -> Iterator[Result]:
    pair = package = shared = 0
    for place, (n, m) in enumerate(arrays["shape"]):
        pairs, packages = slice(pair, pair + n * m), slice(package, package + n)
        shares = None
        if arrays["counted"][place]:
            shares = arrays["shares"][shared : shared + n * m].reshape(n, m)
            shared += n * m
        count = str(arrays["count"][place])
        yield Result(
            STATUSES[arrays["status"][place]],
            PREMISES[arrays["premise"][place]],
            arrays["possible"][pairs].reshape(n, m),
            arrays["proved"][pairs].reshape(n, m),
            arrays["discardable"][packages],
            arrays["sure"][packages],
            shares,
            arrays["discarded"][packages],
            int(count) if count else None,
            float(arrays["seconds"][place]),
        )
        pair, package = pair + n * m, package + n
