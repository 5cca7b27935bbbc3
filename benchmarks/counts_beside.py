"""What counts beside a locally recoded file give away: Adult and EU-SILC, by linear programs.

Run: python benchmarks/counts_beside.py [adult] [eusilc]

The attacker has the file, the hierarchies and, of each attribute, the number of records of each
value. Classes that show the same coarse value of an attribute are interchangeable in it, so that
one count for each coarse value and each value under it is enough: sums over values are the records
that show it, sums over coarse values the published counts. Where clusters show the lowest common
ancestor, every class has a record outside each child: no child has more than the records less the
classes. `tests/redteam/refinement.py` does the same class by class, on small data. Only what is
published is read; the original says how many records may be a victim's.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

import divulge as dv

FOLDER = Path(__file__).parents[2] / "shared" / "data"
VICTIMS = 400
Ladders = Mapping[str, Sequence[str]]
Floats = npt.NDArray[np.float64]
Search = Literal["nested", "clusters"]


def read_adult() -> tuple[dv.Dataset, int]:
    """Eight attributes, with the hierarchies of the benchmark."""
    names = [
        "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
        "occupation",
    ]  # fmt: skip
    dataset = dv.read(FOLDER / "adult" / "adult.csv", separator=";").select(names)
    hierarchies = {
        name: dv.Hierarchy.from_file(FOLDER / "adult" / f"adult_hierarchy_{name}.csv")
        for name in names
    }
    return dataset.describe({"quasi_identifier": names}, hierarchies), 5


def read_eusilc() -> tuple[dv.Dataset, int]:
    """Six attributes; ages by 5, 10 and 20 years, households from 4 on, the others as they are."""
    names = ["db040", "age", "rb090", "hsize", "pb220a", "pl030"]
    table = dv.read(FOLDER / "eusilc" / "eusilc.csv.gz").select(names).to_arrow()
    columns = {
        name: ["none" if value is None else str(value) for value in table[name].to_pylist()]
        for name in names
    }
    hierarchies = {}
    for name, column in columns.items():
        rows = []
        for value in sorted(set(column)):
            steps = [value, "*"]
            if name == "age":
                parts = (int(value) // width * width for width in (5, 10, 20))
                widths = zip(parts, (5, 10, 20), strict=True)
                steps[1:1] = [f"{start}..{start + width - 1}" for start, width in widths]
            if name == "hsize":
                steps[1:1] = [value if int(value) < 4 else "4 and more"]
            rows.append(steps)
        hierarchies[name] = dv.Hierarchy.from_levels(rows)
    import pyarrow as pa

    roles = {"quasi_identifier": names}
    return dv.Dataset.from_arrow(pa.table(columns), roles=roles, hierarchies=hierarchies), 3


def bound_counts(
    shown: Counter[str], classes: Counter[str], ladders: Ladders, margin: Counter[str], tight: bool
) -> dict[str, dict[str, tuple[int, int]]]:
    """By shown value, the least and the most records that have each value under it."""
    cells = [(node, value) for node in shown for value in margin if node in ladders[value]]
    below, most = _list_children(cells, ladders, shown, classes) if tight else ([], [])
    equal = [[i for i, (of, _) in enumerate(cells) if of == node] for node in shown]
    equal += [[i for i, (_, of) in enumerate(cells) if of == value] for value in margin]
    totals = [*shown.values(), *margin.values()]
    a_equal, a_below = _build_matrix(equal, len(cells)), _build_matrix(below, len(cells))

    def solve(objective: Floats) -> Floats:
        found = linprog(
            objective, A_ub=a_below if most else None, b_ub=most or None, A_eq=a_equal,
            b_eq=totals, bounds=(0, None), method="highs-ds",
        )  # fmt: skip
        assert found.success, found.message
        values: Floats = np.asarray(found.x, np.float64)
        whole: Floats = np.round(values)
        return whole

    low = solve(np.zeros(len(cells)))
    high = low.copy()
    for i, (node, value) in enumerate(cells):
        for sign, end, limit in ((1, low, 0), (-1, high, min(shown[node], margin[value]))):
            if end[i] != limit:
                objective = np.zeros(len(cells))
                objective[i] = sign
                found = solve(objective)
                np.minimum(low, found, out=low)
                np.maximum(high, found, out=high)
    bounds: dict[str, dict[str, tuple[int, int]]] = {node: {} for node in shown}
    for (node, value), least, greatest in zip(cells, low, high, strict=True):
        bounds[node][value] = int(least), int(greatest)
    return bounds


def _list_children(
    cells: Sequence[tuple[str, str]], ladders: Ladders, shown: Counter[str], classes: Counter[str]
) -> tuple[list[list[int]], list[int]]:
    """The cells under each child of a coarse value, and the most records that they have."""
    children: dict[str, dict[str, list[int]]] = {node: {} for node in shown}
    for i, (node, value) in enumerate(cells):
        ladder = ladders[value]
        child = ladder[max(0, ladder.index(node) - 1)]
        children[node].setdefault(child, []).append(i)
    several = {node: list(of.values()) for node, of in children.items() if len(of) > 1}
    parts = [part for of in several.values() for part in of]
    return parts, [shown[node] - classes[node] for node, of in several.items() for _ in of]


def _build_matrix(rows: Sequence[Sequence[int]], width: int) -> Floats:
    matrix = np.zeros((len(rows), width))
    for place, members in enumerate(rows):
        matrix[place, members] = 1
    return matrix


def attack(dataset: dv.Dataset, k: int, search: Search) -> str:
    """Recode record by record, then bound what each coarse value can be."""
    limit = dv.Limit("k_anonymity", at_least=k)
    p = dv.protection.recode(dataset, [limit], 0.0, local=True, search=search)
    names = list(dataset.quasi_identifiers)
    published = [tuple(map(str, row.values())) for row in p.dataset.to_arrow().to_pylist()]
    originals = dataset.to_arrow().to_pylist()
    truth = [tuple(map(str, originals[place].values())) for place in p.kept.tolist()]
    classes = Counter(published)
    coarse = narrowed = known = 0
    possible: list[dict[str, set[str]]] = []
    for a, name in enumerate(names):
        hierarchy = dataset.dictionary[name].hierarchy
        assert hierarchy is not None
        values = {row[a] for row in truth}
        levels = range(1, hierarchy.height + 1)
        ladders = {v: [v, *dict.fromkeys(hierarchy.at(v, n) for n in levels)] for v in values}
        shown = Counter(row[a] for row in published)
        bounds = bound_counts(
            shown,
            Counter(row[a] for row in classes),
            {v: list(dict.fromkeys(ladder)) for v, ladder in ladders.items()},
            Counter(row[a] for row in truth),
            search == "clusters",
        )
        possible.append({node: {v for v, (_, m) in of.items() if m} for node, of in bounds.items()})
        for node, of in bounds.items():
            if node not in of:
                coarse += shown[node]
                narrowed += shown[node] * any(most == 0 for _, most in of.values())
                known += shown[node] * all(least == most for least, most in of.values())
    victims = random.Random(1).sample(truth, min(VICTIMS, len(truth)))  # noqa: S311  # a choice
    fewest = min(
        sum(
            size
            for row, size in classes.items()
            if all(victim[a] in possible[a][node] for a, node in enumerate(row))
        )
        for victim in victims
    )
    return (
        f"{search}: loss {p.loss:.4f}, {coarse:,} coarse cells, some value ruled out for "
        f"{narrowed / coarse:.2%}, composition known for {known / coarse:.2%}, of {VICTIMS} people "
        f"at least {fewest} records may be theirs"
    )


def main() -> None:
    """Attack what there are data for."""
    readers = {"adult": read_adult, "eusilc": read_eusilc}
    for name in sys.argv[1:] or readers:
        dataset, k = readers[name]()
        for search in get_args(Search):
            start = time.process_time()
            told = attack(dataset, k, search)
            print(f"{name}, k = {k}, {told} ({time.process_time() - start:.0f} CPU-s)", flush=True)


if __name__ == "__main__":
    main()
