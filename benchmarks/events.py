"""How fast ten attackers and unicity are over 20 million records, beside Polars group-bys.

Run: python benchmarks/events.py [--records 20000000] [--without-peer] [--times 3]

Both sides start from the file: user, date and goods. Ours reads it, orders the history, runs all
ten attackers by record (shares guessed right and shares that fit one user only) and estimates
them; the peer reads it, finds the events, their kinds and their baskets, and makes the same nine
counts (attacker 0 needs none) with group-bys of Polars. CPU seconds are those of all threads. The
two answers are compared. Polars is given its kinder forms: goods as categories and baskets as
hashes of 64 bits; with baskets as text (--baskets-as-text), as exact as ours, it takes longer.
The ten are also run of the file where it is, by DuckDB with a limit of memory.
Both run in turn, three times each in fresh processes, and the best of each counts: on a shared
machine the first to touch memory pays for it, and neighbours disturb now one and now the other.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from measure import Cost, cost

TEN_CPU_SECONDS = 25.0
TEN_GIGABYTES = 3.0
TIMES_LESS = 8.0
UNICITY_SECONDS = 30.0
ENGINE_MEMORY = "1GB"


def make_payments(records: int, path: str) -> None:
    from divulge import datasets

    datasets.payment_histories(records, items=4_000).select(["user", "date", "goods"]).write(path)


def run_ten_attackers(path: str) -> list[list[float]]:
    import divulge as dv
    from divulge import events

    history = events.History(dv.read(path), user="user", time="date", item="goods")
    ten = events.ten_attackers(history)
    return [list(ten.exact), list(ten.certain)]


def run_ten_by_engine(path: str) -> list[list[float]]:
    import divulge as dv
    from divulge import events

    relation = dv.scan(path, memory_limit=ENGINE_MEMORY)
    ten = events.ten_attackers(events.History(relation, user="user", time="date", item="goods"))
    return [list(ten.exact), list(ten.certain)]


def unicity(path: str) -> list[float]:
    import divulge as dv
    from divulge import events

    history = events.History(dv.read(path), user="user", time="date", item="goods")
    assessment = events.unicity(history, ["day", "item"], points=4, sample=10_000)
    return [
        assessment.deterministic.posterior,
        assessment.figures["low"],
        assessment.figures["high"],
    ]


def count_with_polars(path: str, as_text: bool) -> list[list[float]]:
    import polars as pl

    records = pl.read_parquet(path)
    goods = pl.col("goods").unique().sort()
    if not as_text:
        records = records.with_columns(pl.col("goods").cast(pl.Categorical))
    events = records.group_by("user", "date").agg(
        kinds=pl.col("goods").n_unique(),
        basket=goods.str.join(",") if as_text else goods.hash().sum(),
    )
    joined = records.join(events, on=["user", "date"])
    right_shares, certain_shares = [1 / records["user"].n_unique()], [0.0]
    for known in (
        ["goods"],
        ["kinds"],
        ["kinds", "goods"],
        ["kinds", "basket"],
        ["date"],
        ["date", "goods"],
        ["date", "kinds"],
        ["date", "kinds", "goods"],
        ["date", "kinds", "basket"],
    ):
        cells = joined.group_by(known).agg(records=pl.len(), users=pl.col("user").n_unique())
        right_shares.append(float((cells["records"] / cells["users"]).sum()) / len(joined))
        alone = cells.filter(pl.col("users") == 1)
        certain_shares.append(float(alone["records"].sum()) / len(joined))
    return [right_shares, certain_shares]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--records", type=int, default=20_000_000)
    arguments.add_argument("--without-peer", action="store_true")
    arguments.add_argument("--baskets-as-text", action="store_true")
    arguments.add_argument("--times", type=int, default=3)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "payments.parquet")
        print(f"making {chosen.records:,} records:  {cost(make_payments, chosen.records, path)}")
        mine, elsewhere, drawn, theirs = [], [], [], []
        for _ in range(chosen.times):
            mine.append(cost(run_ten_attackers, path))
            elsewhere.append(cost(run_ten_by_engine, path))
            drawn.append(cost(unicity, path))
            if not chosen.without_peer:
                theirs.append(cost(count_with_polars, path, chosen.baskets_as_text))
    ten = _print_best_run("ten attackers, reading included:", mine)
    peak = max(each.peak_bytes for each in mine) / 1e9
    kept = ten.cpu_seconds <= TEN_CPU_SECONDS and peak <= TEN_GIGABYTES
    budget = f"{TEN_CPU_SECONDS} CPU-s and {TEN_GIGABYTES} GB"
    print(f"  budget {budget}: {'kept' if kept else 'EXCEEDED'} ({peak:.2f} GB)")
    by_engine = _print_best_run(f"the same by DuckDB, {ENGINE_MEMORY}:", elsewhere)
    print(f"  largest difference between the two: {_find_difference(ten, by_engine):.2g}")
    unicity_run = _print_best_run("4 points of 10,000 users:", drawn)
    kept = unicity_run.wall_seconds <= UNICITY_SECONDS
    share, low, high = unicity_run.answer
    print(f"  {share:.4f} ({low:.4f} to {high:.4f})")
    print(f"  budget {UNICITY_SECONDS} s: {'kept' if kept else 'EXCEEDED'}")
    if theirs:
        peer = _print_best_run("Polars group-bys:", theirs)
        ratio = peer.cpu_seconds / ten.cpu_seconds
        print(f"  {ratio:.1f} times our CPU seconds (wanted: {TIMES_LESS})")
        print(f"  largest difference between the two: {_find_difference(ten, peer):.2g}")


def _find_difference(one: Cost, other: Cost) -> float:
    return max(
        abs(float(mine) - float(theirs))
        for both in zip(one.answer, other.answer, strict=True)
        for mine, theirs in zip(*both, strict=True)
    )


def _print_best_run(what: str, runs: list[Cost]) -> Cost:
    """The run that took the least CPU; all of them are told."""
    best = min(runs, key=lambda run: run.cpu_seconds)
    every = ", ".join(f"{run.cpu_seconds:.2f}" for run in runs)
    print(f"{what:33}{best}   (CPU-s of all runs: {every})")
    return best


if __name__ == "__main__":
    main()
