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
from dataclasses import dataclass, fields, replace
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.auditing.effort_shares import share_last_effort, share_round_effort
from divulge.reconstruction.problem.certificates import select_certificates
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.premises import Premise
from divulge.reconstruction.problem.result import InstanceResult, pack_results, unpack_results
from divulge.reconstruction.solving.continuation import extend_proofs
from divulge.reconstruction.solving.mismatched_totals import (
    find_certain_despite_missing,
    solve_under_premise,
)
from divulge.work import Effort
from divulge.work.arrays import Bools, Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class Task:
    """An instance and its premise; truth, prior and allocations found `earlier`, if there are any.

    `previous`: nothing more is to be excluded, and proofs are to be added to what is known.
    `beyond_doubt` is where packages may go even if small ones are missing unnoticed.
    """

    instance: Instance
    premise: Premise = "any"
    truth: Ints | None = None
    prior: npt.NDArray[np.float64] | None = None
    previous: InstanceResult | None = None
    earlier: Ints | None = None
    beyond_doubt: Bools | None = None

    @property
    def complexity(self) -> float:
        """Of the pairs that are allowed: what is forbidden makes an instance easier."""
        choices = np.maximum(self.instance.allowed.sum(axis=1), 1)
        return float(np.log10(choices).sum())

    def compute_digest(self) -> bytes:
        """All that a result depends on."""
        digest = hashlib.blake2b(digest_size=16)
        _add_fields(digest, self, but=("instance", "previous"))
        _add_fields(digest, self.instance)
        if self.previous is not None:
            # Proofs are added to a copy, so all of it comes out again but the effort.
            _add_fields(digest, self.previous, but=("seconds",))
        return digest.digest()

    @property
    def open_packages(self) -> int:
        """How many packages have no finding yet."""
        return self.instance.packages - (0 if self.previous is None else self.previous.findings)


def _add_fields(digest: hashlib.blake2b, values: Any, but: Sequence[str] = ()) -> None:
    """Names and shapes too: else a truth would be the same as a prior of these bytes."""
    for each in fields(values):
        value = getattr(values, each.name)
        if each.name in but:
            continue
        if isinstance(value, np.ndarray) and value.dtype != object:
            digest.update(f"{each.name} {value.dtype} {value.shape}:".encode())
            digest.update(np.ascontiguousarray(value).tobytes())
        else:  # an array of objects holds no more than where they are
            plain = value.tolist() if isinstance(value, np.ndarray) else value
            digest.update(f"{each.name} {plain!r};".encode())


def solve_all(
    tasks: Sequence[Task],
    seconds: float,
    in_all: float | None = None,
    *,
    workers: int | None = None,
    step_name: str = "Allocating records",
    again: bool = False,
    largest_first: bool = False,
) -> list[InstanceResult]:
    """Solve all instances; the results are in the order of the tasks.

    Args:
        tasks: the instances; of all of them something is known on which to go on, or of none.
        seconds: the effort for one instance at most, in nominal seconds.
        in_all: for all of them, about; how it is shared out, see `effort_shares`.
        workers: how many processes.
        step_name: what the progress is called.
        again: as few as can have their full effort.
        largest_first: so that no process waits for the largest in the end.
    """
    complexity = np.array([task.complexity for task in tasks])
    order = np.argsort(-complexity if largest_first else complexity, kind="stable")
    bundles = list(_split_into_bundles(order, complexity))
    checkpoints = work.current().checkpoints
    folder = None if checkpoints is None else checkpoints.folder
    workers = min(workers or os.cpu_count() or 1, max(1, len(bundles)))
    if any(task.previous is not None for task in tasks):
        seconds_each = share_last_effort([task.open_packages for task in tasks], seconds, in_all)
    elif again:
        seconds_each = np.full(len(tasks), seconds)
    else:
        seconds_each = share_round_effort(complexity, seconds, in_all)
    budget = work.current().budget
    stop_at = None if budget is None else time.time() + budget.left
    efforts = _TaskEfforts(seconds_each, folder, stop_at)
    results: list[InstanceResult | None] = [None] * len(tasks)
    closed = 0
    with work.step(step_name, len(tasks)) as step:
        if workers == 1 or complexity.sum() < tuning.PROCESSES_LEAST_COMPLEXITY:
            for bundle in bundles:
                with work.uncharged():  # they are charged below, also those of a checkpoint
                    arrays = _solve_bundle(
                        [tasks[t] for t in bundle], efforts.select_bundle(bundle)
                    )
                for t, result in zip(bundle, unpack_results(arrays), strict=True):
                    results[t] = result
                    work.charge_seconds(result.seconds)
                    closed += result.status == "closed"
                step.note = f"{closed:,} closed"
                step.advance(len(bundle))
        else:
            for bundle, arrays in _solve_in_processes(tasks, bundles, efforts, workers):
                for t, result in zip(bundle, unpack_results(arrays), strict=True):
                    results[t] = result
                    work.charge_seconds(result.seconds)
                    closed += result.status == "closed"
                step.note = f"{closed:,} closed"
                step.advance(len(bundle))
    return [result for result in results if result is not None]


@dataclass(frozen=True, eq=False)
class _TaskEfforts:
    """Nominal seconds of each instance, where results are kept, and when the clock strikes."""

    each: npt.NDArray[np.float64]
    folder: Path | None
    stop_at: float | None

    def select_bundle(self, bundle: Sequence[int]) -> _TaskEfforts:
        return replace(self, each=self.each[bundle])


def _split_into_bundles(order: Ints, complexity: npt.NDArray[np.float64]) -> Iterator[list[int]]:
    bundle: list[int] = []
    weight = 0.0
    for t in order:
        bundle.append(int(t))
        weight += float(complexity[t])
        if (
            len(bundle) == tuning.BUNDLE_MOST_INSTANCES
            or weight > tuning.BUNDLE_COMPLEXITY
            or complexity[t] > tuning.BUNDLE_LAST_COMPLEXITY
        ):
            yield bundle
            bundle, weight = [], 0.0
    if bundle:
        yield bundle


def _solve_in_processes(
    tasks: Sequence[Task],
    bundles: Sequence[list[int]],
    efforts: _TaskEfforts,
    workers: int,
) -> Iterator[tuple[list[int], Mapping[str, Any]]]:
    """Bundles as they are done; a few wait in the queue, so that stopping does not take long."""
    pending: dict[Future[Mapping[str, Any]], list[int]] = {}
    rest = iter(bundles)
    with _open_pool(workers) as pool:
        while True:
            while len(pending) < 2 * workers:
                bundle = next(rest, None)
                if bundle is None:
                    break
                job = pool.submit(
                    _solve_bundle, [tasks[t] for t in bundle], efforts.select_bundle(bundle)
                )
                pending[job] = bundle
            if not pending:
                return
            finished, _ = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
            work.check()
            for job in finished:
                yield pending.pop(job), job.result()


_shared_pools: ContextVar[dict[int, ProcessPoolExecutor] | None] = ContextVar(
    "processes", default=None
)


@contextmanager
def share_processes() -> Iterator[None]:
    """Processes that are started inside go on to the next instances: each takes a second to start.

    They end with what is inside.
    """
    pools: dict[int, ProcessPoolExecutor] = {}
    token = _shared_pools.set(pools)
    try:
        yield
    finally:
        _shared_pools.reset(token)
        for pool in pools.values():
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _open_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """So many processes: those that are shared, or some of our own."""
    pools = _shared_pools.get()
    if pools is None:
        with share_processes(), _open_pool(workers) as pool:
            yield pool
        return
    if workers not in pools:
        spawn = get_context("spawn")
        pools[workers] = ProcessPoolExecutor(workers, mp_context=spawn, initializer=_watch_parent)
    yield pools[workers]


def _watch_parent() -> None:
    """A worker ends with its parent, even one that was stopped and could not tell."""
    parent = parent_process()
    if parent is not None:
        watch = threading.Thread(target=_exit_with_parent, args=(parent.sentinel,), daemon=True)
        watch.start()


def _exit_with_parent(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


def _solve_bundle(tasks: Sequence[Task], efforts: _TaskEfforts) -> Mapping[str, Any]:
    """One bundle, or what a checkpoint has of it."""

    def solve_tasks() -> Mapping[str, Any]:
        both = zip(tasks, efforts.each, strict=True)
        return pack_results([_solve_task(task, float(seconds)) for task, seconds in both])

    with _limit_to_clock(efforts.stop_at):
        if efforts.folder is None:
            return solve_tasks()
        digest = hashlib.blake2b(b"".join(task.compute_digest() for task in tasks), digest_size=16)
        digest.update(efforts.each.tobytes())
        key = {"instances": digest.hexdigest(), "kept": tuning.CERTIFICATES_MOST_PLACES}
        return work.Checkpoints(efforts.folder).remember("allocations", key, solve_tasks)


@contextmanager
def _limit_to_clock(stop_at: float | None) -> Iterator[None]:
    """Searches inside end at some time of the clock, if one is given."""
    if stop_at is None:
        yield
        return
    budget = work.Budget(stop_after=max(tuning.CLOCK_LEAST_SECONDS, stop_at - time.time()))
    with work.run_with(budget=budget), work.partial_results():
        yield


def _solve_task(task: Task, seconds: float) -> InstanceResult:
    effort = Effort(seconds)
    if task.previous is not None:
        return extend_proofs(task.instance, task.previous, seconds)
    outcome = solve_under_premise(
        task.instance,
        task.premise,
        seconds,
        prior=task.prior,
        truth=task.truth,
        earlier=task.earlier,
        beyond_doubt=task.beyond_doubt,
    )
    solution, bins = outcome.solution, task.instance.bins
    n = task.instance.packages
    sure = np.ones(n, bool)
    if task.premise == "any":
        sure = find_certain_despite_missing(
            task.instance, outcome, tuning.MISSING_DOUBT_SHARE * seconds, task.beyond_doubt
        )
    if not solution.proved.any():
        # No allocation was found: the premise itself is not shown to hold.
        sure = np.zeros(n, bool)
    discardable = (
        solution.possible[:, bins] if solution.possible.shape[1] > bins else np.zeros(n, bool)
    )
    is_counted = solution.shares is not None
    return InstanceResult(
        status=solution.status,
        premise=outcome.premise,
        possible=solution.possible[:, :bins],
        proved=solution.proved[:, :bins],
        discardable=discardable,
        sure=sure,
        shares=solution.shares[:, :bins] if solution.shares is not None else None,
        discarded=outcome.discarded if outcome.discarded is not None else np.zeros(n),
        count=solution.count if is_counted else None,
        seconds=effort.used,
        certificates=select_certificates(
            solution.certificates[: 0 if solution.status == "closed" else None], bins
        ),
    )
