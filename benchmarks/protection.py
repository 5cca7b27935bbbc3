"""What protection costs: cells, CPU seconds, memory; and the trends of Fig. 7 as a report.

Run: python benchmarks/protection.py [--small] [--jobs tailed] [--only jobs|trends]
     [--report build/protection-trends.html]

CPU seconds of one thread, each job in a fresh process, the data made or read first and not
counted. Adult is taken from ../shared/data/adult where it is (or DIVULGE_ADULT names it); --small
leaves out the ten million records. Peers' figures are those of notes on the same kind of machine:
sdcMicro 66.6 s and 7,883 cells on Adult, 99.3 s on 10k x 6; Vada-SA's paper 192 and 1,344 s (wall,
16 cores) for the whole cycle on 100k x 4, of which "a high number" were at risk: what is comparable
are the data with heavy tails ("tailed"), 2.4% and 4.3% of whose companies are alone.
"""

from __future__ import annotations

import argparse
import html
import os
import resource
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from measure import cost

from divulge.assessment import Chart

ADULT = Path(__file__).parent.parent.parent / "shared" / "data" / "adult" / "adult.csv"
if "DIVULGE_ADULT" in os.environ:
    ADULT = Path(os.environ["DIVULGE_ADULT"])
KEYS = ["sex", "age", "race", "marital-status", "education"]
KS = (2, 3, 4, 5)
BALANCES = ("W", "U", "V")


def measure_run(run: Any) -> tuple[float, Any, float]:
    """CPU seconds, the answer, and the peak of memory in GiB."""
    began = time.process_time()
    answer = run()
    seconds = time.process_time() - began
    return seconds, answer, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def adult(nulls: str, more: dict[str, Any]) -> tuple[float, str]:
    from divulge import protection, read

    people = read(ADULT, roles={"quasi_identifier": KEYS})
    seconds, p, _ = measure_run(lambda: protection.suppress(people, 5, nulls, **more))  # type: ignore[arg-type]
    alone = "" if p.removed else f"; alone for who weighs: {p.alone()['bayes']:,}"
    removed = f", {p.removed:,} records removed" if p.removed else ""
    return seconds, f"{p.suppressed_cells:,} cells{removed}, at least {p.bound:,.0f}{alone}"


def synthetic(rows: int, attributes: int) -> tuple[float, str]:
    from risk import synthetic as people

    from divulge import protection

    dataset = people(rows, attributes)
    seconds, p, _ = measure_run(lambda: protection.suppress(dataset, 3))
    return seconds, f"{p.suppressed_cells:,} cells, at least {p.bound:,.0f}"


def whole_cycle(
    rows: int,
    balance: str,
    attributes: int,
    measure: str,
    bound: float,
    more: dict[str, Any] | None = None,
    heavy_tails: bool = False,
) -> tuple[float, str]:
    from divulge import Limit, datasets, protection

    companies = datasets.inflation_and_growth(
        rows,
        balance,  # type: ignore[arg-type]
        attributes,
        heavy_tails=heavy_tails,
    )
    bounds = {"at_least": bound} if measure == "k_anonymity" else {"at_most": bound}
    options = dict(more or {})
    search = options.pop("search", "fewest")
    limit = Limit(measure, **bounds, **options)  # type: ignore[arg-type]
    seconds, p, peak = measure_run(
        lambda: protection.protect(companies, [limit], ["suppress"], search=search)
    )
    return seconds, f"{p.suppressed_cells:,} cells, peak {peak:.2f} GiB"


# How hidden cells are counted: by who weighs them, as the paper does, and as the paper goes about.
READINGS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("weighed", {}),
    ("maybe", {"nulls": "maybe"}),
    ("the paper's cycle", {"nulls": "maybe", "search": "cycle"}),
)


def nulls_by_k(
    balance: str, attributes: int, k: int, nulls: str, heavy_tails: bool = False
) -> dict[str, Any]:
    from divulge import datasets, protection

    companies = datasets.inflation_and_growth(
        25_000,
        balance,  # type: ignore[arg-type]
        attributes,
        heavy_tails=heavy_tails,
    )
    # As the paper does it, and as comparable as can be: nulls spread over records.
    search = "cycle" if nulls == "maybe" else "fewest"
    spread = 1 if nulls == "known" else None
    try:
        p = protection.suppress(
            companies,
            k,
            nulls,  # type: ignore[arg-type]
            search=search,  # type: ignore[arg-type]
            cells_per_record=spread,
        )
    except protection.OutOfReachError:
        return {}
    return {
        "data": f"R25A{attributes}{balance}" + (", tailed" if heavy_tails else ""),
        "k": k,
        "nulls": p.suppressed_cells,
        "information loss": round(p.utility.information_loss, 4),
        "counted": nulls,
    }


def nulls_by_links(balance: str, links: int, heavy_tails: bool = False) -> dict[str, Any]:
    import numpy as np

    from divulge import Limit, datasets, protection

    # Of 25,000 companies without heavy tails hardly one is rare enough to endanger others.
    companies = datasets.inflation_and_growth(
        25_000 if heavy_tails else 2_500,
        balance,  # type: ignore[arg-type]
        heavy_tails=heavy_tails,
    )
    # Groups of eleven companies that own each other, small ones rather than large ones.
    rare = 1 / np.array(companies.to_arrow()["Weight"].to_pylist(), float)
    groups = max(1, links // 10)
    random = np.random.default_rng(7)
    ends = random.choice(companies.rows, links + groups, replace=False, p=rare / rare.sum())
    chains = np.array_split(ends, groups) if links else []
    pairs = [(int(a), int(b)) for chain in chains for a, b in pairwise(chain)]
    limit = Limit("k_anonymity", at_least=2, nulls="maybe")
    p = protection.protect(companies, [limit], ["suppress"], links=pairs or None)
    name = f"R25A4{balance}, tailed" if heavy_tails else f"R2.5A4{balance}"
    return {"data": name, "links": links, "nulls": p.suppressed_cells}


def measure_cycle_seconds(rows: int, attributes: int, measure: str, bound: float) -> dict[str, Any]:
    seconds, _ = whole_cycle(rows, "U", attributes, measure, bound)
    name = {"k_anonymity": "k-anonymity", "individual_risk": "individual risk"}
    return {
        "technique": name.get(measure, "SUDA"),
        "rows": rows,
        "quasi-identifiers": attributes,
        "seconds": round(seconds, 3),
    }


def risk_and_utility() -> Any:
    from divulge import datasets, protection

    companies = datasets.inflation_and_growth(5_000, "V", 5)
    return [point.to_dict() for point in protection.risk_utility_map(companies).points]


TECHNIQUES = (("k_anonymity", 3), ("individual_risk", 0.02), ("dis_suda", 0.0))


def trend(
    records: Sequence[Mapping[str, Any]], x: str, y: str, by: str, title: str, log: bool = False
) -> Chart:
    """Lines of one figure over another, one line per kind."""
    import altair as alt

    scale = alt.Scale(type="log") if log else alt.Scale()
    drawn = (
        alt.Chart(Chart.source(), title=title)
        .mark_line(point=True)
        .encode(
            x=alt.X(f"{x}:Q", scale=scale, axis=alt.Axis(values=sorted({r[x] for r in records}))),
            y=alt.Y(f"{y}:Q", scale=scale),
            color=alt.Color(f"{by}:N", title=None),
        )
        .properties(width=380, height=220)
    )
    said = "; ".join(f"{r[by]}, {x} {r[x]}: {r[y]}" for r in records)
    return Chart.of(drawn, list(records), f"{title}: {said}")


def trends() -> Iterator[tuple[Any, str]]:
    """The pictures of Fig. 7, each with what it shows; in one process, compiled code being warm."""
    from divulge.protection.result.charts import draw_risk_utility

    by_k = [nulls_by_k(b, a, k, "maybe") for a in (4, 6) for b in BALANCES for k in KS]
    yield (
        trend(by_k, "k", "nulls", "data", "Nulls by k (cycle, maybe)"),
        (
            "Fig. 7a: the stricter k, the more nulls. With four attributes the less balanced data "
            "need more; with six, balanced data are spread thinnest and need most at k = 4 and 5."
        ),
    )
    tailed = [nulls_by_k(b, 4, k, "maybe", heavy_tails=True) for b in BALANCES for k in KS]
    yield (
        trend(tailed, "k", "nulls", "data", "Nulls by k where tails are heavy", log=True),
        "Fig. 7a where many companies are at risk, as in the paper's data.",
    )
    yield (
        trend([*by_k, *tailed], "k", "information loss", "data", "Information loss by k"),
        ("Fig. 7b: nulls over the cells of the records at risk."),
    )
    counted = [
        nulls_by_k("V", 4, k, nulls)
        for nulls in ("maybe", "known", "bayes", "standard")
        for k in KS
    ]
    counted = [row for row in counted if row]
    yield (
        trend(counted, "k", "nulls", "counted", "Nulls by what a null is taken for (R25A4V)"),
        ("Fig. 7c, with known and bayes, which the paper lacks: the price of real safety."),
    )
    linked = [nulls_by_links(b, links) for b in BALANCES for links in (0, 100, 200, 300, 400)]
    yield (
        trend(linked, "links", "nulls", "data", "Nulls by number of links"),
        ("Fig. 7d: linked companies share their risk (k = 2, T = 0.5)."),
    )
    linked = [nulls_by_links(b, links, True) for b in BALANCES for links in (0, 100, 200, 300, 400)]
    yield (
        trend(linked, "links", "nulls", "data", "Nulls by number of links where tails are heavy"),
        "Fig. 7d at its size, 25,000 companies.",
    )
    by_rows = [
        measure_cycle_seconds(rows, 4, *technique)
        for technique in TECHNIQUES
        for rows in (6_000, 12_000, 25_000, 50_000, 100_000)
    ]
    yield (
        trend(by_rows, "rows", "seconds", "technique", "CPU seconds by rows (U, 4 attributes)"),
        ("Fig. 7e: the whole cycle."),
    )
    by_keys = [
        measure_cycle_seconds(10_000, keys, *technique)
        for technique in TECHNIQUES
        for keys in (4, 5, 6, 8, 9)
        if technique[0] != "dis_suda" or keys < 9  # all subsets of 9 take minutes
    ]
    yield (
        trend(by_keys, "quasi-identifiers", "seconds", "technique", "CPU seconds by attributes"),
        "Fig. 7f: 10,000 rows (U), the whole cycle; SUDA, which counts all subsets, to 8.",
    )
    points = risk_and_utility()
    yield (
        draw_risk_utility(points, "Risk and utility (5,000 companies, V, 5 attributes)"),
        ("Not in the paper: what is left of risk for who weighs, against what was lost."),
    )


def write_report(path: Path) -> None:
    parts = []
    for chart, said in trends():
        print(f"  {chart.description}", flush=True)
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(v))}</td>" for v in row.values()) + "</tr>"
            for row in chart.records
        )
        heads = "".join(f"<th>{html.escape(str(name))}</th>" for name in chart.records[0])
        table = (
            f"<details><summary>figures</summary><table><tr>{heads}</tr>{rows}</table></details>"
        )
        parts.append(f"<figure>{chart.svg()}<figcaption>{said}</figcaption>{table}</figure>")
        write_page(path, parts)  # after every picture: what was measured stays if time runs out
    print(f"the trends are in {path}")


def write_page(path: Path, parts: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    style = "body{font:16px sans-serif;max-width:760px;margin:2em auto}table{font-size:13px}"
    page = f"<!doctype html><meta charset=utf-8><title>Trends of protection</title><style>{style}"
    path.write_text(f"{page}</style><h1>Trends of protection</h1>{''.join(parts)}", "utf-8")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--small", action="store_true")
    arguments.add_argument("--report", type=Path, default=Path("build/protection-trends.html"))
    arguments.add_argument("--only", choices=["jobs", "trends"])
    arguments.add_argument("--jobs", default="", help="only jobs whose names hold this")
    chosen = arguments.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    jobs: list[tuple[str, float, Any, tuple[Any, ...]]] = []
    if ADULT.is_file():
        once = {"cells_per_record": 1}
        jobs += [
            ("Adult x 5, k = 5, maybe", 1.0, adult, ("maybe", {})),
            ("the same, a cell a record", 1.0, adult, ("maybe", once)),
            ("the same, the paper's cycle", 5.0, adult, ("maybe", {"search": "cycle"})),
            ("Adult x 5, k = 5, known", 1.0, adult, ("known", {})),
            ("the same, a cell a record", 2.0, adult, ("known", once)),
            ("Adult x 5, k = 5, value", 1.0, adult, ("value", {})),
            ("Adult x 5, k = 5, bayes", 1.0, adult, ("bayes", {})),
            ("Adult x 5, k = 5, standard", 1.0, adult, ("standard", {})),
        ]
    jobs += [(f"10k x {keys}, k = 3, maybe", 1.0, synthetic, (10_000, keys)) for keys in (4, 5, 6)]
    jobs += [
        ("cycle 100k x 4 (U), k = 5", 2.0, whole_cycle, (100_000, "U", 4, "k_anonymity", 5)),
        ("cycle 100k x 4 (U), SUDA", 5.0, whole_cycle, (100_000, "U", 4, "dis_suda", 0.0)),
        ("cycle 100k x 6 (U), SUDA", 60.0, whole_cycle, (100_000, "U", 6, "dis_suda", 0.0)),
    ]
    for reading, more in READINGS:
        k3 = ("k_anonymity", 3, more)
        jobs += [
            (f"100k x 4, U tailed, {reading}", 5.0, whole_cycle, (100_000, "U", 4, *k3, True)),
            (f"100k x 4, V tailed, {reading}", 5.0, whole_cycle, (100_000, "V", 4, *k3, True)),
            (f"50k x 9, W, {reading}", 10.0, whole_cycle, (50_000, "W", 9, *k3)),
        ]
    for rows in (1_000_000, *(() if chosen.small else (10_000_000,))):
        budget = 20.0 * rows / 1_000_000
        told = f"{rows // 1_000_000}M"
        jobs += [
            (f"cycle {told} x 4 (U), k = 5", budget, whole_cycle, (rows, "U", 4, "k_anonymity", 5)),
            (f"cycle {told} x 7 (V), k = 5", budget, whole_cycle, (rows, "V", 7, "k_anonymity", 5)),
        ]
    jobs = [each for each in jobs if chosen.jobs in each[0] and chosen.only != "trends"]
    for name, budget, job, given in jobs:
        seconds, said = cost(job, *given).answer
        kept = "kept" if seconds <= budget else "EXCEEDED"
        print(f"{name:<38}{seconds:8.2f} CPU-s of {budget:6.2f}  {kept:<9} {said}", flush=True)
    if chosen.only != "jobs":
        write_report(chosen.report)


if __name__ == "__main__":
    main()
