"""Privacy after k-anonymity and t-closeness on a made-up school census: Table 11 of Alvim et al.

Run: python benchmarks/census_attack.py [--rows 1000000] [--only "k = 20"]

Their figures are of 48 million real pupils and cannot be repeated; the census is made up, with the
same eleven attributes and a disability as the secret. For k = 4, 12, 20 and t = .1, .3, .5 the
levels with the least loss are found, everybody is attacked (CRS: found again; CAS: their
disability told; for certain, and guessed right), and every figure is counted again from the
released columns by plain numpy. After k-anonymity nobody is found for certain, whatever k is.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import divulge as dv
from divulge.datasets.school_census import QUASI_IDENTIFIERS

NAMES = list(QUASI_IDENTIFIERS)
ATTRIBUTE = "disability"
HIERARCHIES = {
    "day_of_birth": dv.Hierarchy.intervals([1, 11, 21], [1]),
    "month_of_birth": dv.Hierarchy.intervals([1, 4, 7, 10], [1, 7], [1]),
    "year_of_birth": dv.Hierarchy.intervals(
        list(range(1900, 2031, 5)), list(range(1900, 2031, 10)), [1900]
    ),
}
SHARE_REMOVED = 0.05
"""Of records, for k-anonymity. Nobody is removed for t-closeness: else it is met by the removal of
the few who have a disability, and tells all of who is left."""


def describe_census(rows: int) -> dv.Dataset:
    """Births in intervals, codes by their beginnings."""
    drawn = dv.datasets.school_census(rows)
    hierarchies = dict(HIERARCHIES)
    for name in NAMES[3:]:
        values = [str(v) for v in drawn.columns[name].values.to_pylist()]
        longest = max(map(len, values))
        steps = sorted({longest // 2, 0} - {longest}, reverse=True)
        hierarchies[name] = dv.Hierarchy.prefixes(*steps)
    return drawn.describe({"quasi_identifier": NAMES, "sensitive": [ATTRIBUTE]}, hierarchies)


def attack(released: dv.Dataset) -> tuple[list[float], float]:
    """CRS and CAS, for certain and guessed right; and a guess of the secret without the release."""
    crs = dv.records.attack(released, "CRS", knows=NAMES)
    cas = dv.records.attack(released, "CAS", knows=NAMES, seeks=ATTRIBUTE)
    return [
        crs.deterministic.posterior,
        crs.probabilistic.posterior,
        cas.deterministic.posterior,
        cas.probabilistic.posterior,
    ], cas.probabilistic.prior


def count_plainly(released: dv.Dataset) -> list[float]:
    """The same figures from the released columns alone."""
    rows = np.stack([released.columns[name].codes.astype(np.int64) for name in NAMES])
    order = np.lexsort(rows)
    is_first = np.ones(order.size, bool)
    is_first[1:] = (rows[:, order[1:]] != rows[:, order[:-1]]).any(axis=0)
    of_record = np.empty(order.size, np.int64)
    of_record[order] = np.cumsum(is_first) - 1
    sizes = np.bincount(of_record)
    secret = released.columns[ATTRIBUTE].codes.astype(np.int64)
    counts = np.zeros((sizes.size, int(secret.max()) + 1), np.int64)
    np.add.at(counts, (of_record, secret), 1)
    likeliest = counts.max(axis=1)
    total = order.size
    return [
        float((sizes == 1).sum() / total),
        sizes.size / total,
        float(sizes[likeliest == sizes].sum() / total),
        float(likeliest.sum() / total),
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", action="append", help='a line of the table, such as "t = 0.1"')
    arguments = parser.parse_args()
    census = describe_census(arguments.rows)
    print(
        f"{census.rows:,} pupils, {len(NAMES)} attributes; k: at most {SHARE_REMOVED:.0%} removed"
    )
    heads = ["", "CRS sure", "guess", "CAS sure", "guess"]
    print("".join(f"{head:>10}" for head in heads) + "  loss, removed, CPU-s")
    show("as it is", census, "")
    limits = {f"k = {k}": dv.Limit("k_anonymity", at_least=k) for k in (4, 12, 20)}
    limits |= {
        f"t = {t}": dv.Limit("t_closeness", at_most=t, attribute=ATTRIBUTE) for t in (0.1, 0.3, 0.5)
    }
    for name, limit in limits.items():
        if arguments.only and name not in arguments.only:
            continue
        start = time.process_time()
        share = SHARE_REMOVED if name.startswith("k") else 0.0
        p = dv.protection.recode(census, [limit], share)
        seconds = time.process_time() - start
        bound = 0.0 if p.proof is None else p.proof.lower_bound
        how = "proved" if p.proved else f"no loss below {bound:.4f}"
        show(name, p.dataset, f"{p.loss:.4f} ({how}), {p.removed:,}, {seconds:.1f}")
        if name.startswith("k"):
            assert attack(p.dataset)[0][0] == 0


def show(name: str, released: dv.Dataset, told: str) -> None:
    """One line, if counting again says the same."""
    figures, prior = attack(released)
    assert np.allclose(figures, count_plainly(released)), (figures, count_plainly(released))
    print(name.ljust(10) + "".join(f"{figure:>10.4%}" for figure in figures), end="  ")
    print(f"{told} (secret guessed without the release: {prior:.4%})", flush=True)


if __name__ == "__main__":
    main()
