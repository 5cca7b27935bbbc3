"""How nominal seconds compare with the processor's: each kind of work, and whole instances.

Run: python benchmarks/effort.py [--sample 12] [--seconds 3]

Effort is counted in steps, and every kind of work has a price a call and a step
(`reconstruction/tuning.py`). Here instances of a synthetic month, drawn by class of complexity, are
solved while the time of the processor is attributed to what is charged at its end. The last columns
are the prices that would have been right: those of the tuning, if the last but one is near 1.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from divulge import datasets, work
from divulge.reconstruction.imperfect import settle
from divulge.reconstruction.warm import warm
from reconstruction import CLASSES, instances

Charged = dict[str, list[tuple[work.Cost, float, float]]]


@contextmanager
def attributed() -> Iterator[Charged]:
    """Every charge by its kind: steps, and the processor's seconds since the charge before."""
    found: Charged = defaultdict(list)
    charge, last = work.charge, time.thread_time()

    def watched(cost: work.Cost, steps: float = 0) -> None:
        nonlocal last
        charge(cost, steps)
        now = time.thread_time()
        found[cost.name].append((cost, float(steps), now - last))
        last = time.thread_time()

    work.charge = watched
    try:
        yield found
    finally:
        work.charge = charge


def fitted(steps: np.ndarray, seconds: np.ndarray) -> tuple[float, float]:
    """Prices of a call and a step that explain the seconds best, neither below zero."""
    from scipy.optimize import nnls

    order = np.argsort(steps, kind="stable")
    groups = [group for group in np.array_split(order, 20) if len(group)]
    calls = np.array([len(group) for group in groups], float)
    in_groups = np.array([steps[group].sum() for group in groups])
    took = np.array([seconds[group].sum() for group in groups])
    scale = max(in_groups.max(), 1.0)
    (call, step), _ = nnls(np.stack([calls, in_groups / scale], axis=1), took)
    return float(call), float(step / scale)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--transactions", type=int, default=60_000)
    arguments.add_argument("--sample", type=int, default=12, help="instances of each class")
    arguments.add_argument("--seconds", type=float, default=3.0, help="nominal, of each")
    given = arguments.parse_args()
    warm()
    every = instances(datasets.trade_month(transactions=given.transactions))
    random = np.random.default_rng(1)
    whole: Charged = defaultdict(list)
    print(
        f"{'complexity':>10} {'instances':>9} {'nominal s':>10} {'CPU s':>8} {'ratio':>6}  longest"
    )
    for low, high in CLASSES:
        some = [one for one in every if low < one.instance.complexity <= high]
        chosen = [some[n] for n in random.permutation(len(some))[: given.sample]]
        nominal, cpu, longest = 0.0, 0.0, 0.0
        with attributed() as found:
            for one in chosen:
                effort, begun = work.Effort(given.seconds), time.thread_time()
                settle(one.instance, "any", given.seconds, truth=one.truth)
                took = time.thread_time() - begun
                nominal, cpu, longest = nominal + effort.used, cpu + took, max(longest, took)
        for name, charges in found.items():
            whole[name] += charges
        ratio = nominal / max(cpu, 1e-9)
        print(
            f"{high:>10} {len(chosen):>9} {nominal:>10.3f} {cpu:>8.3f} {ratio:>6.2f}  {longest:.2f}"
        )
    print()
    print(
        f"{'':36} {'calls':>8} {'nominal':>8} {'CPU s':>8} {'ratio':>6} {'a call':>9} {'a step':>9}"
    )
    for name, charges in sorted(whole.items(), key=lambda item: -sum(c[2] for c in item[1])):
        steps = np.array([steps for _, steps, _ in charges])
        seconds = np.array([seconds for _, _, seconds in charges])
        cost = charges[0][0]
        nominal = cost.per_call * len(steps) + cost.per_step * steps.sum()
        call, step = fitted(steps, seconds)
        ratio = nominal / max(seconds.sum(), 1e-9)
        print(
            f"{name:36} {len(steps):>8} {nominal:>8.3f} {seconds.sum():>8.3f} {ratio:>6.2f}"
            f" {call:>9.1e} {step:>9.1e}"
        )


if __name__ == "__main__":
    main()
