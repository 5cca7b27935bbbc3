"""How fast ten attackers and unicity are over 20 million records, beside Polars group-bys.

Run: python benchmarks/events.py [--records 20000000] [--without-peer]

Everything from the dataset on is counted: reading the history, ordering it, all ten attackers by
record, and their estimates. The peer does the same nine counts (attacker 0 needs none) with
group-bys of Polars, on the same columns, in the same run. The histories are made first.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from measure import cost

TEN_CPU_SECONDS = 25.0
TEN_GIGABYTES = 3.0
TIMES_LESS = 8.0
UNICITY_SECONDS = 30.0


def make(records: int, path: str) -> None:
    from divulge import datasets

    datasets.payment_histories(records, items=4_000).select(["user", "date", "goods"]).write(path)


def ours(path: str) -> list[float]:
    import divulge as dv
    from divulge import events

    history = events.History(dv.read(path), user="user", time="date", item="goods")
    return list(events.ten_attackers(history).exact)


def unicity(path: str) -> list[float]:
    import divulge as dv
    from divulge import events

    history = events.History(dv.read(path), user="user", time="date", item="goods")
    found = events.unicity(history, ["day", "item"], points=4, sample=10_000)
    return [found.deterministic.posterior, found.figures["low"], found.figures["high"]]


def polars(path: str) -> list[float]:
    import polars as pl

    records = pl.read_parquet(path).with_columns(pl.col("goods").cast(pl.Categorical))
    events = records.group_by("user", "date").agg(
        kinds=pl.col("goods").n_unique(), basket=pl.col("goods").unique().sort().hash().sum()
    )
    joined = records.join(events, on=["user", "date"])
    found = [1 / records["user"].n_unique()]
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
        found.append(float((cells["records"] / cells["users"]).sum()) / len(joined))
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--records", type=int, default=20_000_000)
    arguments.add_argument("--without-peer", action="store_true")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "payments.parquet")
        print(f"making {chosen.records:,} records:  {cost(make, chosen.records, path)}")
        ten = cost(ours, path)
        peak = ten.peak_bytes / 1e9
        kept = ten.cpu_seconds <= TEN_CPU_SECONDS and peak <= TEN_GIGABYTES
        print(f"ten attackers, reading included: {ten}")
        budget = f"{TEN_CPU_SECONDS} CPU-s and {TEN_GIGABYTES} GB"
        print(f"  budget {budget}: {'kept' if kept else 'EXCEEDED'} ({peak:.2f} GB)")
        found = cost(unicity, path)
        kept = found.wall_seconds <= UNICITY_SECONDS
        share, low, high = found.answer
        print(f"4 points of 10,000 users:        {found}   {share:.4f} ({low:.4f} to {high:.4f})")
        print(f"  budget {UNICITY_SECONDS} s: {'kept' if kept else 'EXCEEDED'}")
        if not chosen.without_peer:
            peer = cost(polars, path)
            ratio = peer.cpu_seconds / ten.cpu_seconds
            print(f"Polars group-bys:                {peer}")
            print(f"  {ratio:.1f} times our CPU seconds (wanted: {TIMES_LESS})")
            differ = max(abs(a - b) for a, b in zip(ten.answer, peer.answer, strict=True))
            print(f"  largest difference between the two: {differ:.2g}")


if __name__ == "__main__":
    main()
