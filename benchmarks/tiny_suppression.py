"""Hidden cells against the least that could do: tiny data by exhaustive search, larger by steps.

The first part tries all sets of cells in the order of their cost, by plain code of the tests, and
prints the ratio of what was spent to the least, summed over all cases. The second prints what each
step saves on larger data, and its CPU seconds.
"""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.protection.exhaustive import find_least_cost, find_weighed_k

from divulge import Limit
from divulge.data import Dataset
from divulge.protection import protect, suppress

CASES = 60
ROOM = "divulge.protection.suppression"


def make_dataset(matrix: np.ndarray) -> Dataset:
    """A dataset of quasi-identifiers only."""
    names = [f"a{a}" for a in range(matrix.shape[1])]
    table = pa.table({name: pa.array(matrix[:, a]) for a, name in enumerate(names)})
    return Dataset.from_arrow(table, roles={"quasi_identifier": names})


def compare_with_exhaustive(kind: str) -> None:
    """Cells, their costs, or cells for a limit on the risk of records, against the least."""
    spent, least, cases, optimal = 0.0, 0.0, 0, 0
    for seed in range(CASES):
        rng = np.random.default_rng(seed)
        records, attributes = int(rng.integers(4, 7)), int(rng.integers(2, 4))
        matrix = np.stack(
            [rng.integers(0, int(rng.integers(2, 4)), records) for _ in range(attributes)], axis=1
        )
        rows = [tuple(row) for row in matrix.tolist()]
        if find_weighed_k(rows, rows) >= 2:
            continue
        dataset = make_dataset(matrix)
        costs = np.ones(matrix.shape)
        if kind == "costs":
            costs = rng.integers(1, 6, matrix.shape).astype(float)
            cost = suppress(dataset, 2, cost=dict(zip(dataset.names, costs.T, strict=True))).cost
        elif kind == "cells":
            cost = suppress(dataset, 2).suppressed_cells
        else:
            limit = Limit("prosecutor_risk", at_most=0.5)
            cost = protect(dataset, [limit], methods=["suppress"]).suppressed_cells
        optimum = find_least_cost(rows, 2, [list(row) for row in costs], cost)
        if optimum is not None:
            spent, least, cases = spent + cost, least + optimum, cases + 1
            optimal += cost <= optimum + 1e-9
    print(f"{kind}: {spent:g} against {least:g}: {spent / least:.3f}; {optimal} of {cases} optimal")


def compare_steps() -> None:
    """What classes cost, what putting them together anew saves, and what single cells save."""

    def keep(_: np.ndarray, rows: np.ndarray, *__: object, **___: object) -> np.ndarray:
        return rows

    for records, attributes, values, k in ((30, 4, 4, 2), (200, 5, 4, 3), (1_000, 6, 4, 3)):
        matrix = np.random.default_rng(1).geometric(0.4, (records, attributes)).clip(1, values)
        dataset, told = make_dataset(matrix), []
        for anew, single in ((False, False), (True, False), (True, True)):
            with ExitStack() as without:
                if not anew:
                    without.enter_context(patch(f"{ROOM}.cell_choice.improve_classes", keep))
                if not single:
                    without.enter_context(patch(f"{ROOM}.suppress.find_cheaper_rows", keep))
                start = time.process_time()
                cells = suppress(dataset, k).suppressed_cells
                told.append(f"{cells} cells in {time.process_time() - start:.2f} s")
        print(f"{records} x {attributes}, k = {k}: {', '.join(told)}")


if __name__ == "__main__":
    for kind in ("cells", "costs", "cells for a limit on risk"):
        compare_with_exhaustive(kind)
    compare_steps()
