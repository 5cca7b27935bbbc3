"""The matching attack: the paper's experiment beside ours, and four suppressors side by side.

Run: python benchmarks/matching_attack.py [--tables 50] [--defended 200] [--seconds 480]

It stops after `--seconds`, about: every piece of work has its share of what is left, and says how
many tables it came to. Run it again and it goes on where it stopped (a line a table is kept in
matching_attack.jsonl, and counts as long as the code of the attack is the same).

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
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from divulge.tables import Table, matching_attack
from divulge.tables.candidate_tables import pattern_kernels as kernels
from divulge.tables.candidate_tables.small_network import BitNetwork, find_first_optimum
from divulge.tables.candidate_tables.suppressor_knowledge import build_problem
from divulge.tables.candidate_tables.suppressor_parameters import SuppressorParameters
from divulge.tables.randomised.randomised_suppression import draw_pattern, draw_widths_and_costs
from divulge.tables.resistance import count_likely_values
from divulge.tables.suppression.problem import SuppressionProblem
from divulge.work import whole_file

sys.path.insert(0, str(Path(__file__).parent.parent))  # started as a script, from anywhere
from measure import cost

from divulge.tables import tuning

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
Piece = tuple[str, int, bool, int]
"""What is done, the side of the tables, whether zeros are primary, how many tables."""
TableRecords = Iterator[dict[str, Any]]
"""One record a table."""
SUPPRESSORS = ("first of the cheapest", "random tie", "random costs", "resisting")


def tables(side: int, zeros: bool, count: int) -> Iterator[tuple[Table, SuppressionProblem, Any]]:
    """Tables that have a primary cell and can be protected, with their first optimum."""
    seed = drawn_count = 0
    while drawn_count < count:
        cells = np.random.default_rng([side, seed]).normal(15, 10, (side, side))
        table = Table.from_cells(np.maximum(cells.round(), 0).astype(int))
        seed += 1
        problem = build_problem(
            table, SuppressorParameters(min_frequency=FREQUENCY, width=WIDTH, zeros_primary=zeros)
        )
        network = BitNetwork.from_relations(problem.relations, problem.open)
        if len(problem.primary) == 0 or network is None:
            continue
        pattern = find_first_optimum(problem, network)
        if pattern is not None:
            drawn_count += 1
            yield table, problem, pattern


def attack_tables(side: int, zeros: bool, skip: int, count: int) -> TableRecords:
    """Attack the deterministic suppressor."""
    for table, problem, pattern in islice(tables(side, zeros, count), skip, None):
        published = table.publish(pattern)
        cpu = time.process_time()
        result = matching_attack(published, FREQUENCY, WIDTH, zeros, primary=problem.start)
        yield {
            "widths": result.intervals.widths[result.sensitive].astype(int).tolist(),
            "seconds": time.process_time() - cpu,
            "dimension": result.null_space_dimension,
            "candidates": result.candidates,
            "complete": result.complete,
        }


def compare_suppressors(side: int, zeros: bool, skip: int, count: int) -> TableRecords:
    """The four suppressors on the same tables."""
    numbered_tables = islice(enumerate(tables(side, zeros, count)), skip, None)
    for number, (table, problem, pattern) in numbered_tables:
        random = np.random.default_rng([side, number])
        patterns = [
            (pattern, None),
            (_random_tie(problem, pattern, random), "any optimum"),
            (_random_costs(problem, random), "minimal"),
            (draw_pattern(table, _build_parameters(zeros), seed=number).pattern, "resisting"),
        ]
        record: dict[str, Any] = {}
        for name, (released, rule) in zip(SUPPRESSORS, patterns, strict=True):
            result = matching_attack(
                table.publish(released), FREQUENCY, WIDTH, zeros, suppressor=rule, mode="full",
                primary=problem.start, most_candidates=200_000,
            )  # fmt: skip
            record[name] = {
                "primary": result.assessment.secrets,
                "unsafe": len(result.unsafe),
                "right": float(result.assessment.right.posterior),
                "likely": sum(
                    count_likely_values(result.posterior[key]) for key in result.sensitive_cells
                ),
                "cells": int(released.sum()),
            }
        yield record


def attack_drawn_releases(side: int, zeros: bool, skip: int, count: int) -> TableRecords:
    """Drawn releases, attacked by who knows all but the seed."""
    numbered_tables = islice(enumerate(tables(side, zeros, count)), skip, None)
    for number, (table, problem, pattern) in numbered_tables:
        cpu_start = time.process_time()
        drawn = draw_pattern(table, _build_parameters(zeros), seed=1000 + number)
        result = matching_attack(
            table.publish(drawn.pattern), FREQUENCY, WIDTH, zeros, suppressor="resisting",
            primary=problem.start,
        )  # fmt: skip
        yield {
            "unsafe": len(result.unsafe),
            "primary": len(problem.primary),
            "draws": drawn.draws,
            "cells": int(drawn.pattern.sum()),
            "least": int(pattern.sum()),
            "seconds": time.process_time() - cpu_start,
        }


PIECES: dict[str, Callable[[int, bool, int, int], TableRecords]] = {
    "attacked": attack_tables,
    "compared": compare_suppressors,
    "defended": attack_drawn_releases,
}


def run_piece(piece: Piece, skip: int, seconds: float, kept: Path) -> None:
    """Do a piece of work until its time is over; every table is kept as soon as it is done."""
    what, side, zeros, count = piece
    if what != "compared":  # the first table loads compiled code, which is not to be measured
        list(PIECES[what](side, zeros, 0, 1))
    end = time.monotonic() + seconds
    with kept.open("a", encoding="utf-8") as lines:
        for record in PIECES[what](side, zeros, skip, count):
            line = {"code": digest_code(), "piece": [what, side, zeros], "record": record}
            lines.write(json.dumps(line) + "\n")
            lines.flush()
            if time.monotonic() > end:
                break


def kept_records(kept: Path) -> dict[tuple[str, int, bool], list[dict[str, Any]]]:
    """What earlier runs of the same code found; a line that was cut off is left out."""
    records_by_piece: dict[tuple[str, int, bool], list[dict[str, Any]]] = {}
    for line in kept.read_text(encoding="utf-8").splitlines() if kept.exists() else ():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if entry["code"] == digest_code():
            what, side, zeros = entry["piece"]
            records_by_piece.setdefault((what, side, zeros), []).append(entry["record"])
    return records_by_piece


@cache
def digest_code() -> str:
    """What tells one version of the attack and of this file from another."""
    import divulge.tables

    files = [Path(__file__), *sorted(Path(divulge.tables.__file__).parent.rglob("*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


def _build_parameters(zeros: bool) -> SuppressorParameters:
    return SuppressorParameters(
        min_frequency=FREQUENCY, width=WIDTH, zeros_primary=zeros, rule="resisting"
    )


def _random_tie(problem: SuppressionProblem, best: Any, random: np.random.Generator) -> Any:
    network = BitNetwork.from_relations(problem.relations, problem.open)
    assert network is not None
    cells = network.net.cells
    arguments = (
        *network.arcs, problem.values[cells], network.to_bits(problem.start), WIDTH,
        problem.cost[cells], network.all, network.to_bits(best),
    )  # fmt: skip
    ties, _ = kernels.search_all_optima(*arguments, 1 << 60, 100 * tuning.MOST_PATTERN_STEPS)
    _, chosen = kernels.search_all_optima(
        *arguments, int(random.integers(ties)), 100 * tuning.MOST_PATTERN_STEPS
    )
    return network.to_pattern(chosen)


def _random_costs(problem: SuppressionProblem, random: np.random.Generator) -> Any:
    network = BitNetwork.from_relations(problem.relations, problem.open)
    assert network is not None
    cells = network.net.cells
    _, [weights] = draw_widths_and_costs(random, WIDTH, problem.cost[cells], 1)
    _, chosen = kernels.search_first_optimum(
        *network.arcs, problem.values[cells], network.to_bits(problem.start), WIDTH, weights,
        network.all, network.all, 100 * tuning.MOST_PATTERN_STEPS,
    )  # fmt: skip
    return network.to_pattern(chosen)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tables", type=int, default=50)
    arguments.add_argument("--compared", type=int, nargs=3, default=[20, 10, 5])
    arguments.add_argument("--defended", type=int, default=200)
    arguments.add_argument("--sides", type=int, nargs="+", default=list(SIDES))
    arguments.add_argument("--seconds", type=float, default=480)
    arguments.add_argument("--out", type=Path, default=Path("build/bench"))
    chosen = arguments.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    kept, end = chosen.out / "matching_attack.jsonl", time.monotonic() + chosen.seconds
    pieces = list(_list_pieces(chosen))
    for number, piece in enumerate(pieces):
        what, side, zeros, count = piece
        done_count = len(kept_records(kept).get((what, side, zeros), ()))
        left = sum(map(_weigh_piece, pieces[number:]))
        share = (end - time.monotonic()) * _weigh_piece(piece) / left
        if done_count < count and share > 0:
            spent = f" {cost(run_piece, piece, done_count, share, kept)}"
        else:
            spent = " kept from before" if done_count else " no time left"
        records_by_piece = kept_records(kept)
        records = records_by_piece.get((what, side, zeros), [])[:count]
        print(_format_line(piece, records), spent, flush=True)
        _write_report(chosen.out / "matching_attack.html", records_by_piece)
    print(f"The report is in {chosen.out / 'matching_attack.html'}")


def _list_pieces(chosen: argparse.Namespace) -> Iterator[Piece]:
    """What there is to do: the quick first, so that the page soon shows something of all."""
    small = [side for side in chosen.sides if side <= 6]
    share = -(-chosen.defended // (2 * len(small))) if small else 0
    for side in chosen.sides:
        for zeros in (False, True):
            yield "attacked", side, zeros, chosen.tables
        if side in small:
            for zeros in (False, True):
                yield "defended", side, zeros, share
    for side in small:
        yield "compared", side, True, chosen.compared[min(side - 4, 2)]


def _weigh_piece(piece: Piece) -> int:
    """Posteriors take long, and so do the largest tables."""
    return 4 if piece[0] == "compared" or piece[1] > 6 else 1


def _write_report(
    page: Path, records_by_piece: Mapping[tuple[str, int, bool], list[dict[str, Any]]]
) -> None:
    import matching_report

    records_by_kind: dict[str, dict[tuple[int, bool], list[dict[str, Any]]]] = {
        name: {} for name in PIECES
    }
    for (what, side, zeros), records in records_by_piece.items():
        records_by_kind[what][side * side, zeros] = records
    with whole_file(page) as part:
        text = matching_report.build_page(
            records_by_kind["attacked"], records_by_kind["compared"], records_by_kind["defended"]
        )
        part.write_text(text, encoding="utf-8")


def _describe_zero_rule(zeros: bool) -> str:
    return "zeros primary" if zeros else "zeros not primary"


def _format_line(piece: Piece, records: Sequence[dict[str, Any]]) -> str:
    what, side, zeros, count = piece
    head = (
        f"{side * side:3d} cells, {_describe_zero_rule(zeros)}, "
        f"{what} {len(records)} of {count} tables: "
    )
    if not records:
        return head
    if what == "attacked":
        widths = np.array([width for record in records for width in record["widths"]])
        seconds = [record["seconds"] for record in records]
        open_ones = sum(not record["complete"] for record in records)
        return head + (
            f"unsafe {np.mean(widths < WIDTH):.2f}  exact {np.mean(widths == 0):.2f}  "
            f"mean {np.mean(seconds):.4f} s  median {np.median(seconds):.4f} s  "
            f"estimates {open_ones} "
        )
    import matching_report

    if what == "defended":
        told = matching_report.summarise_draws(records)
        return head + "  ".join(f"{name} {value:.3g}" for name, value in told.items())
    return head + "".join(
        f"\n    {name:<22}" + "  ".join(f"{what} {value:.3f}" for what, value in told.items())
        for name, told in matching_report.summarise_suppressors(records).items()
    )


if __name__ == "__main__":
    main()
