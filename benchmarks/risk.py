"""How fast the risk of each record is measured: SUDA, exact risk, closeness, frequencies.

Run: python benchmarks/risk.py [--small]

CPU seconds of one thread, in a fresh process each, the data made or read first and not counted.
Adult is taken from ../shared/data/adult where it is; --small leaves out the ten million records.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from pathlib import Path
from typing import Any

from measure import cost

ADULT = Path(__file__).parent.parent.parent / "shared" / "data" / "adult" / "adult.csv"
if "DIVULGE_ADULT" in os.environ:
    ADULT = Path(os.environ["DIVULGE_ADULT"])
KEYS = [
    "sex", "age", "race", "marital-status",
    "education", "native-country", "workclass", "occupation",
]  # fmt: skip
CARDINALITIES = (85, 2, 9, 20, 6, 50, 4, 12)
FINE_GRAINED = (100, 2, 9, 5570, 30, 400, 50, 12)


def synthetic(
    rows: int,
    attributes: int,
    nulls: float = 0.0,
    weights: bool = False,
    cardinalities: tuple[int, ...] = CARDINALITIES,
) -> Any:
    """People whose values are common and rare, some of them missing."""
    import numpy as np
    import pyarrow as pa

    from divulge import Dataset
    from divulge.data.column import column_from_codes

    random = np.random.default_rng(20_210_101)
    columns = {}
    for place, cardinality in enumerate(cardinalities[:attributes]):
        fall = 1 / np.arange(1, cardinality + 1) ** 0.7
        codes = random.choice(cardinality, rows, p=fall / fall.sum())
        if nulls:
            codes[random.random(rows) < nulls] = cardinality
        columns[f"a{place}"] = column_from_codes(codes, pa.array(range(cardinality)))
    roles: dict[str, Any] = {"quasi_identifier": list(columns)}
    if weights:
        columns["w"] = column_from_codes(random.integers(0, 200, rows), pa.array(range(1, 201)))
        roles["weight"] = "w"
    return Dataset(columns).describe(roles)


def adult() -> Any:
    from divulge import read

    return read(ADULT)


def suda_of_adult() -> tuple[float, str]:
    from divulge import records

    data = adult()
    began = time.process_time()
    found = records.suda(data, among=KEYS)
    return time.process_time() - began, f"{found.uniques.total:,} minimal uniques"


def suda_of_synthetic(
    rows: int, attributes: int, size: int | None, cardinalities: tuple[int, ...] = CARDINALITIES
) -> tuple[float, str]:
    from divulge import records

    data = synthetic(rows, attributes, cardinalities=cardinalities)
    began = time.process_time()
    found = records.suda(data, max_size=size)
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return seconds, f"{found.uniques.total:,} minimal uniques, peak {peak:.2f} GiB"


def exact_risk() -> tuple[float, str]:
    from divulge import records

    data = synthetic(100_000, 6, weights=True)
    began = time.process_time()
    found = records.individual_risk(data, "exact")
    return time.process_time() - began, f"{found.expected:,.1f} expected to be found"


def adult_closeness() -> tuple[float, str]:
    from divulge import records

    data = adult()
    began = time.process_time()
    found = records.t_closeness(data, "occupation", KEYS[:-1])
    return time.process_time() - began, f"t = {found.value:.4f}"


def overlapping_closeness() -> tuple[float, str]:
    from divulge import records

    data = synthetic(1_000_000, 5, nulls=0.05)
    began = time.process_time()
    found = records.t_closeness(data, "a4", ["a0", "a1", "a2", "a3"])
    return time.process_time() - began, f"t = {found.value:.4f} where nulls may be anything"


def maybe_frequencies() -> tuple[float, str]:
    from divulge import records

    data = synthetic(1_000_000, 6, nulls=0.05)
    began = time.process_time()
    found = records.frequencies(data)
    return time.process_time() - began, f"{found.uniques:,} alone"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--small", action="store_true")
    chosen = arguments.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    jobs: list[tuple[str, float, Any, tuple[Any, ...]]] = []
    if ADULT.is_file():
        jobs.append(("SUDA, Adult x 8", 0.33, suda_of_adult, ()))
        jobs.append(("t-closeness, Adult x 7", 0.5, adult_closeness, ()))
    jobs += [
        ("SUDA, 100k x 6", 0.5, suda_of_synthetic, (100_000, 6, None)),
        ("exact risk, 100k x 6", 1.0, exact_risk, ()),
        ("maybe-match, 1M x 6, 5% nulls", 10.0, maybe_frequencies, ()),
        ("t-closeness, 1M x 4, 5% nulls", 10.0, overlapping_closeness, ()),
    ]
    if not chosen.small:
        jobs.append(("SUDA to size 3, 10M x 8", 120.0, suda_of_synthetic, (10_000_000, 8, 3)))
        towns = (10_000_000, 8, 3, FINE_GRAINED)
        jobs.append(("the same, thousands of towns", 120.0, suda_of_synthetic, towns))
    for name, budget, job, given in jobs:
        seconds, said = cost(job, *given).answer
        kept = "kept" if seconds <= budget else "EXCEEDED"
        print(f"{name:<30}{seconds:9.3f} CPU-s of {budget:6.2f}  {kept:<9} {said}", flush=True)


if __name__ == "__main__":
    main()
