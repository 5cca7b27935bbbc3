"""The matching attack: the paper's experiment beside ours, and four suppressors side by side.

Run: python benchmarks/matching_attack.py [--tables 50] [--defended 200] [--out build/bench]

Tables 2 to 5 and Figures 6 to 8 of Minami and Abe 2019: square tables of 16 to 49 cells drawn from
N(15, 10), rounded and clipped at 0, minimum frequency 5, width 8, the first of the cheapest
patterns, both rules for zeros. What the paper leaves open is chosen by name here: whether zeros are
primary, that the release is not labelled, that ties go to the first pattern, and width >= 8.

Then the deterministic suppressor, random ties, random costs and `resist_matching` on the same
tables: unsafe share, the chance of a best guess, suppressed cells. The report appears as
matching_attack.html. Budgets (zeros primary, mean / median): 16 cells .005 s, 25 cells .1 s,
36 cells .5 / .1 s, 49 cells median 1 s.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from divulge.tables import Table, matching_attack
from divulge.tables import pattern_kernels as kernels
from divulge.tables.bit_network import MOST_STEPS, BitNetwork, first_optimum
from divulge.tables.problem import SuppressionProblem
from divulge.tables.resistance import likely
from divulge.tables.resisting import draw, draw_pattern
from divulge.tables.suppressors import Parameters, problem_of
from divulge.work import whole_file

sys.path.insert(0, str(Path(__file__).parent.parent))  # started as a script, from anywhere
from measure import cost

FREQUENCY, WIDTH = 5, 8
SIDES = (4, 5, 6, 7)
PAPER_UNSAFE = {16: (48, 104), 25: (117, 170), 36: (190, 230), 49: (226, 271)}
PAPER_SECONDS = {16: 1.412, 25: 102.2, 36: 538.9, 49: None}
PAPER_BY_DIMENSION = {
    16: {1: 0.83, 2: 0.42, 3: 0.17},
    25: {1: 1.00, 2: 0.71, 3: 0.57, 4: 0.83},
    36: {1: 1.00, 2: 0.87, 3: 0.78, 4: 0.82},
    49: {2: 0.81, 3: 0.89, 4: 0.73},
}
PAPER_WIDTHS = {
    16: [6, 6, 7, 20, 1, 0, 4, 4],
    25: [16, 22, 23, 41, 6, 3, 5, 1],
    36: [75, 33, 45, 31, 5, 0, 1, 0],
    49: [92, 33, 28, 57, 4, 4, 5, 3],
}
SUPPRESSORS = ("first of the cheapest", "random tie", "random costs", "resisting")


def tables(side: int, zeros: bool, count: int) -> Iterator[tuple[Table, SuppressionProblem, Any]]:
    """Tables that have a primary cell and can be protected, with their first optimum."""
    seed = found = 0
    while found < count:
        cells = np.random.default_rng([side, seed]).normal(15, 10, (side, side))
        table = Table.from_cells(np.maximum(cells.round(), 0).astype(int))
        seed += 1
        problem = problem_of(table, Parameters(FREQUENCY, WIDTH, zeros))
        network = BitNetwork.of(problem.relations, problem.open)
        if len(problem.primary) == 0 or network is None:
            continue
        pattern = first_optimum(problem, network)
        if pattern is not None:
            found += 1
            yield table, problem, pattern


def attacked(side: int, zeros: bool, count: int) -> list[dict[str, Any]]:
    """Attack the deterministic suppressor: one record a table."""
    records = []
    for warm in (True, False):  # the first run loads compiled code
        for table, problem, pattern in tables(side, zeros, 1 if warm else count):
            published = table.publish(pattern)
            cpu, wall = time.process_time(), time.perf_counter()
            found = matching_attack(published, FREQUENCY, WIDTH, zeros, primary=problem.start)
            widths = found.intervals.widths[found.sensitive].astype(int).tolist()
            record = {
                "seconds": time.process_time() - cpu,
                "wall": time.perf_counter() - wall,
                "widths": widths,
                "dimension": found.null_space_dimension,
                "candidates": found.candidates,
                "complete": found.complete,
            }
            if not warm:
                records.append(record)
    return records


def compared(side: int, zeros: bool, count: int) -> dict[str, dict[str, float]]:
    """The four suppressors on the same tables."""
    sums = {name: Counter[str]() for name in SUPPRESSORS}
    random = np.random.default_rng(side)
    for number, (table, problem, pattern) in enumerate(tables(side, zeros, count)):
        patterns = [
            (pattern, None),
            (_random_tie(problem, pattern, random), "any optimum"),
            (_random_costs(problem, random), "minimal"),
            (draw_pattern(table, _rules(zeros), seed=number).pattern, "resisting"),
        ]
        for name, (released, rule) in zip(SUPPRESSORS, patterns, strict=True):
            found = matching_attack(
                table.publish(released), FREQUENCY, WIDTH, zeros, suppressor=rule, mode="full",
                primary=problem.start, most_candidates=200_000,
            )  # fmt: skip
            told = sums[name]
            told["primary"] += found.assessment.secrets
            told["unsafe"] += len(found.unsafe)
            told["right"] += found.assessment.right.posterior  # type: ignore[assignment]
            told["likely"] += sum(likely(found.posterior[key]) for key in found.sensitive_cells)
            told["cells"] += int(released.sum())
    return {
        name: {
            "unsafe": told["unsafe"] / told["primary"],
            "vulnerability": told["right"] / told["primary"],
            "likely": told["likely"] / told["primary"],
            "cells": told["cells"] / count,
            "price": told["cells"] / sums[SUPPRESSORS[0]]["cells"] - 1,
        }
        for name, told in sums.items()
    }


def defended(side: int, zeros: bool, count: int) -> dict[str, Any]:
    """Many drawn releases, attacked by who knows all but the seed."""
    unsafe = primary = draws = cells = least = 0
    begun = time.process_time()
    for number, (table, problem, pattern) in enumerate(tables(side, zeros, count)):
        drawn = draw_pattern(table, _rules(zeros), seed=1000 + number)
        found = matching_attack(
            table.publish(drawn.pattern), FREQUENCY, WIDTH, zeros, suppressor="resisting",
            primary=problem.start,
        )  # fmt: skip
        unsafe += len(found.unsafe)
        primary += len(problem.primary)
        draws += drawn.draws
        cells += int(drawn.pattern.sum())
        least += int(pattern.sum())
    return {
        "tables": count,
        "primary": primary,
        "unsafe": unsafe,
        "draws": draws / count,
        "price": cells / least - 1,
        "seconds": (time.process_time() - begun) / count,
    }


def _rules(zeros: bool) -> Parameters:
    return Parameters(FREQUENCY, WIDTH, zeros, rule="resisting")


def _random_tie(problem: SuppressionProblem, best: Any, random: np.random.Generator) -> Any:
    network = BitNetwork.of(problem.relations, problem.open)
    assert network is not None
    cells = network.net.cells
    given = (
        *network.arcs, problem.values[cells], network.bits(problem.start), WIDTH,
        problem.cost[cells], network.all, network.bits(best),
    )  # fmt: skip
    ties, _ = kernels.optima(*given, 1 << 60, 100 * MOST_STEPS)
    _, chosen = kernels.optima(*given, int(random.integers(ties)), 100 * MOST_STEPS)
    return network.mask(chosen)


def _random_costs(problem: SuppressionProblem, random: np.random.Generator) -> Any:
    network = BitNetwork.of(problem.relations, problem.open)
    assert network is not None
    cells = network.net.cells
    _, [weights] = draw(random, WIDTH, problem.cost[cells], 1)
    _, chosen = kernels.optimum(
        *network.arcs, problem.values[cells], network.bits(problem.start), WIDTH, weights,
        network.all, network.all, 100 * MOST_STEPS,
    )  # fmt: skip
    return network.mask(chosen)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tables", type=int, default=50)
    arguments.add_argument("--compared", type=int, default=20)
    arguments.add_argument("--defended", type=int, default=200)
    arguments.add_argument("--sides", type=int, nargs="+", default=list(SIDES))
    arguments.add_argument("--out", type=Path, default=Path("build/bench"))
    chosen = arguments.parse_args()
    found = {}
    for zeros in (False, True):
        for side in chosen.sides:
            spent = cost(attacked, side, zeros, chosen.tables)
            found[side * side, zeros] = spent.answer
            print(_line(side * side, zeros, spent.answer), f"{spent}", flush=True)
    small = [side for side in chosen.sides if side <= 6]
    side_by_side = {}
    for side in small:
        spent = cost(compared, side, True, chosen.compared)
        side_by_side[side * side] = spent.answer
        for name, told in spent.answer.items():
            figures = "  ".join(f"{what} {value:.3f}" for what, value in told.items())
            print(f"{side * side:3d} cells  {name:<22}{figures}", flush=True)
    safe = {}
    for zeros in (False, True):
        for side in small:
            share = chosen.defended // (2 * len(small)) + 1
            told = cost(defended, side, zeros, share).answer
            safe[side * side, zeros] = told
            print(f"{side * side:3d} cells, {_rule(zeros)}: resisting {told}", flush=True)
    total = sum(told["tables"] for told in safe.values())
    unsafe = sum(told["unsafe"] for told in safe.values())
    print(f"resisting: {unsafe} unsafe cells in {total} tables")
    page = chosen.out / "matching_attack.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    import matching_report

    with whole_file(page) as part:
        part.write_text(matching_report.page(found, side_by_side, safe), encoding="utf-8")
    print(f"The report is in {page}")


def _rule(zeros: bool) -> str:
    return "zeros primary" if zeros else "zeros not primary"


def _line(cells: int, zeros: bool, records: Sequence[dict[str, Any]]) -> str:
    widths = [width for record in records for width in record["widths"]]
    seconds = [record["seconds"] for record in records]
    open_ones = sum(not record["complete"] for record in records)
    return (
        f"{cells:3d} cells, {_rule(zeros):<18} unsafe {np.mean(np.array(widths) < WIDTH):.2f}  "
        f"exact {np.mean(np.array(widths) == 0):.2f}  mean {np.mean(seconds):.4f} s  "
        f"median {np.median(seconds):.4f} s  estimates {open_ones} "
    )


if __name__ == "__main__":
    main()
