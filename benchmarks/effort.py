"""How nominal seconds compare with the processor's: each kind of work, and whole instances.

Run: python benchmarks/effort.py [--tables] [--sample 12] [--seconds 3]

Effort is counted in steps, and every kind of work has a price a call and a step
(`tuning.py` of reconstruction and of tables). Here instances of a synthetic month, drawn by class
of complexity, are solved, or tables suppressed and attacked, while the time of the processor is
attributed to what is charged at its end. The last columns are the prices that would have been
right: those of the tuning, where the ratio is near 1.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from divulge import datasets, work
from divulge.reconstruction.solving.mismatched_totals import solve_under_premise
from divulge.reconstruction.warm import warm
from divulge.tables import Table, matching_attack, suppress
from reconstruction import CLASSES, instances

ChargesByKind = dict[str, list[tuple[work.Cost, float, float]]]


@contextmanager
def record_charges() -> Iterator[ChargesByKind]:
    """Every charge by its kind: steps, and the processor's seconds since the charge before."""
    charges: ChargesByKind = defaultdict(list)
    charge, last = work.charge, time.thread_time()

    def record_charge(cost: work.Cost, steps: float = 0) -> None:
        nonlocal last
        charge(cost, steps)
        now = time.thread_time()
        charges[cost.name].append((cost, float(steps), now - last))
        last = time.thread_time()

    work.charge = record_charge
    try:
        yield charges
    finally:
        work.charge = charge


def fit_prices(steps: np.ndarray, seconds: np.ndarray) -> tuple[float, float]:
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


def solve_instances(transactions: int, sample: int, seconds: float) -> ChargesByKind:
    """Instances of a month, by class of complexity; all that was charged."""
    every = instances(datasets.trade_month(transactions=transactions))
    random = np.random.default_rng(1)
    whole: ChargesByKind = defaultdict(list)
    print("complexity instances  nominal s    CPU s  ratio  longest")
    for low, high in CLASSES:
        some = [one for one in every if low < one.instance.complexity <= high]
        chosen = [some[n] for n in random.permutation(len(some))[:sample]]
        with record_charges() as charges_of_class:
            took = [
                measure_seconds(solve_under_premise, one.instance, "any", seconds, None, one.truth)
                for one in chosen
            ]
        print_row(f"{high:>10}", took)
        for name, charges in charges_of_class.items():
            whole[name] += charges
    return whole


def suppress_tables(sample: int, seconds: float) -> ChargesByKind:
    """Cheapest patterns of crosstabs and cubes, and attacks on some of them."""
    random = np.random.default_rng(1)
    whole: ChargesByKind = defaultdict(list)
    print("     table    number  nominal s    CPU s  ratio  longest")
    for shape in ((6, 6), (12, 12), (25, 25), (5, 5, 5), (8, 8, 8)):
        tables = [Table.from_cells(random.integers(1, 100, shape)) for _ in range(sample)]
        with record_charges() as charges_of_shape:
            took = [measure_seconds(suppress, one, 10, 10, seconds=seconds) for one in tables]
            print_row(f"{'x'.join(map(str, shape)):>10}", took)
            if shape == (6, 6):
                suppressed_tables = [suppress(one, 10, 10) for one in tables]
                took = [
                    measure_seconds(matching_attack, one, 10, 10, seconds=seconds)
                    for one in suppressed_tables
                ]
                print_row("  attacked", took)
        for name, charges in charges_of_shape.items():
            whole[name] += charges
    return whole


def measure_seconds(
    job: Callable[..., object], *arguments: object, **keywords: object
) -> tuple[float, float]:
    """Nominal seconds of a job, and the processor's."""
    effort, cpu_start = work.Effort(0), time.thread_time()
    job(*arguments, **keywords)
    return effort.used, time.thread_time() - cpu_start


def print_row(what: str, took: list[tuple[float, float]]) -> None:
    """One row of whole jobs."""
    nominal, cpu = (sum(column) for column in zip(*took, strict=True))
    longest = max(seconds for _, seconds in took)
    ratio = nominal / max(cpu, 1e-9)
    print(
        f"{what} {len(took):>9} {nominal:>10.3f} {cpu:>8.3f} {ratio:>6.2f}  {longest:.2f}",
        flush=True,
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tables", action="store_true", help="suppression, not reconstruction")
    arguments.add_argument("--transactions", type=int, default=60_000)
    arguments.add_argument("--sample", type=int, default=12, help="instances of each class")
    arguments.add_argument("--seconds", type=float, default=3.0, help="nominal, of each")
    options = arguments.parse_args()
    warm()
    if options.tables:
        whole = suppress_tables(options.sample, options.seconds)
    else:
        whole = solve_instances(options.transactions, options.sample, options.seconds)
    print()
    print(
        f"{'':36} {'calls':>8} {'nominal':>8} {'CPU s':>8} {'ratio':>6} {'a call':>9} {'a step':>9}"
    )
    for name, charges in sorted(whole.items(), key=lambda item: -sum(c[2] for c in item[1])):
        steps = np.array([steps for _, steps, _ in charges])
        seconds = np.array([seconds for _, _, seconds in charges])
        cost = charges[0][0]
        nominal = cost.per_call * len(steps) + cost.per_step * steps.sum()
        call, step = fit_prices(steps, seconds)
        ratio = nominal / max(seconds.sum(), 1e-9)
        print(
            f"{name:36} {len(steps):>8} {nominal:>8.3f} {seconds.sum():>8.3f} {ratio:>6.2f}"
            f" {call:>9.1e} {step:>9.1e}"
        )


if __name__ == "__main__":
    main()
