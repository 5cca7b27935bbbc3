"""How fast the measures of a sparse hyper are: ten million observations, three seconds, two GB.

Run: python benchmarks/qif_hyper.py [--observations 10000000] [--secrets 100]

The matrix is made first and not counted. Everything after it is: making the hyper (with all
checks), and Bayes vulnerability, g-vulnerability with ten guesses, Shannon and guessing entropy.
Loading numba and its cached kernels is part of the first measure that needs them, and counted; so
the very first run on a machine, which compiles, takes some seconds more.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from scipy.sparse import csc_array

from divulge import qif

CPU_SECONDS = 3.0
GIGABYTES = 2.0


def counts(observations: int, secrets: int) -> csc_array:
    """Most observations single out one or two secrets; some leave many open."""
    random = np.random.default_rng(20220616)
    sizes = np.minimum(random.zipf(2.2, observations), min(secrets, 200))
    starts = np.zeros(observations + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    # A random first secret and consecutive ones after it: distinct, and nearly in order.
    first = random.integers(0, secrets, observations, dtype=np.int32)
    within = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
    rows = ((np.repeat(first, sizes) + within) % secrets).astype(np.int32)
    values = random.integers(1, 20, starts[-1]).astype(np.float64)
    matrix = csc_array((values, rows, starts), shape=(secrets, observations))
    matrix.sort_indices()
    return matrix


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--observations", type=int, default=10_000_000)
    arguments.add_argument("--secrets", type=int, default=100)
    arguments.add_argument("--guesses", type=int, default=10)
    chosen = arguments.parse_args()

    matrix = counts(chosen.observations, chosen.secrets)
    gain = np.random.default_rng(1).random((chosen.guesses, chosen.secrets))
    print(f"{matrix.shape[1]:,} observations, {matrix.shape[0]:,} secrets, {matrix.nnz:,} counts")

    began = last = time.process_time()

    def lap(name: str, result: object) -> None:
        nonlocal last
        now = time.process_time()
        print(f"{name:<24}{now - last:6.2f} CPU-s   {result}")
        last = now

    h = qif.Hyper.from_counts(matrix)
    lap("hyper", h)
    lap("Bayes vulnerability", qif.bayes_vulnerability(h))
    lap(f"g, {chosen.guesses} guesses", qif.g_vulnerability(h, gain))
    lap("Shannon entropy", qif.shannon_entropy(h))
    lap("guessing entropy", qif.guessing_entropy(h))

    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    kept = seconds <= CPU_SECONDS and peak <= GIGABYTES
    print(f"{'together':<24}{seconds:6.2f} CPU-s   peak memory {peak:.2f} GB, the matrix included")
    print(f"budget {CPU_SECONDS} CPU-s and {GIGABYTES} GB: {'kept' if kept else 'EXCEEDED'}")


if __name__ == "__main__":
    main()
