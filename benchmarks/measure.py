"""How benchmarks measure: CPU seconds and the peak memory of a process of its own."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Cost:
    """What a piece of work took."""

    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int
    answer: Any

    def __str__(self) -> str:
        peak = self.peak_bytes / 2**30
        return f"{self.cpu_seconds:8.2f} CPU-s {self.wall_seconds:8.2f} s {peak:6.2f} GiB"


def cost(job: Callable[..., Any], *arguments: Any) -> Cost:
    """Run a job in a fresh process, so that its memory is its own, and measure it."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measure_job, args=(sender, job, arguments))
    process.start()
    sender.close()  # a job that fails then ends the wait for its answer
    measured: Cost = receiver.recv()
    process.join()
    return measured


def _measure_job(sender: Any, job: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    answer = job(*arguments)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    sender.send(Cost(cpu, wall, peak, answer))
