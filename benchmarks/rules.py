"""Rules: company control beside clingo, and k-anonymity by rules beside our kernel, in one run.

    python benchmarks/rules.py [firms] [holdings] [records]

Both find as many pairs of firms, and the same smallest class however the rules are written. clingo
gets whole millionths. What is measured is the evaluation in a process that has imported everything
and evaluated a small program.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from typing import Any

from measure import cost

import divulge as dv

FIRMS, HOLDINGS, RECORDS = 200_000, 600_000, 1_000_000
K = 3
CONTROL = """
rel(X, X) :- own(X, _, _).
rel(X, Y) :- rel(X, Z), own(Z, Y, W), msum(W, <Z>) > 0.5.
"""
K_ANONYMITY = """
group(mcount(<I>), *S) :- tuple(I, S).
risk(I, R) :- tuple(I, S), group(N, *S), R = case N < 3 then 1 else 0.
"""
COLUMNS = """
group(A, B, C, D, mcount(<I>)) :- record(I, A, B, C, D).
risk(I, R) :- record(I, A, B, C, D), group(A, B, C, D, N), R = case N < 3 then 1 else 0.
"""
ONLY_RISKY = """
group(A, B, C, D, mcount(<I>)) :- record(I, A, B, C, D).
risk(I, 1) :- record(I, A, B, C, D), group(A, B, C, D, N), N < 3.
"""
RECORD_OF_CELLS = """
record(I, A, B, C, D) :-
    val(_, I, "q0", A), val(_, I, "q1", B), val(_, I, "q2", C), val(_, I, "q3", D).
"""
QUESTIONS = 100


def main() -> None:
    sizes = [int(given) for given in sys.argv[1:]]
    firms, holdings, records = (*sizes, *(FIRMS, HOLDINGS, RECORDS)[len(sizes) :])
    print(f"company control, {holdings:,} holdings, {firms:,} firms")
    ours = cost(control_by_rules, firms, holdings).answer
    peer = cost(control_by_clingo, firms, holdings).answer
    assert ours["pairs"] == peer["pairs"]
    print(f"  rules    {ours['cpu']:8.2f} CPU-s ({ours['pairs']:,} pairs)")
    print(f"  clingo   {peer['cpu']:8.2f} CPU-s")
    print(f"  ratio    {peer['cpu'] / ours['cpu']:8.1f}")
    typical, longest = (1000 * seconds for seconds in ours["questions"])
    print(f"  why      {typical:8.1f} CPU-ms a fact, {longest:.1f} at most of {QUESTIONS}")
    print(f"k-anonymity, {records:,} records of four attributes, k = {K}")
    kernel = cost(k_anonymity_by_kernel, records).answer
    print(f"  kernel                       {kernel['cpu']:8.2f} CPU-s")
    for way in WAYS:
        ours = cost(k_anonymity_by_rules, records, way).answer
        assert ours["smallest"] == kernel["smallest"]
        ratio = ours["cpu"] / kernel["cpu"]
        print(f"  {way:28} {ours['cpu']:8.2f} CPU-s, {ratio:.1f} times ({ours['risky']:,} below k)")


def control_by_rules(firms: int, holdings: int) -> dict[str, Any]:
    program = dv.rules.Program.parse(CONTROL)
    dv.rules.evaluate(program, {"own": [("a", "b", 0.6)]}).close()
    data = dv.datasets.ownership(firms, holdings).to_arrow()
    start = time.process_time()
    with dv.rules.evaluate(program, {"own": data}) as facts:
        spent = time.process_time() - start
        pairs = facts.rows("rel")
        questions = sorted(
            measure_explanation(facts, owner, company)
            for owner, company in pairs[:: max(1, len(pairs) // QUESTIONS)]
        )
    shown = questions[len(questions) // 2], questions[-1]
    return {"cpu": spent, "pairs": len(pairs), "questions": shown}


def measure_explanation(facts: dv.rules.Facts, owner: int, company: int) -> float:
    start = time.process_time()
    str(dv.rules.explain(facts, f"rel({owner}, {company})"))
    return time.process_time() - start


def control_by_clingo(firms: int, holdings: int) -> dict[str, Any]:
    import clingo

    shares: dict[tuple[str, str], int] = defaultdict(int)
    for row in zip(
        *dv.datasets.ownership(firms, holdings).to_arrow().to_pydict().values(), strict=True
    ):
        owner, company, share = row[:3]
        shares[str(owner), str(company)] = max(shares[str(owner), str(company)], int(share * 10**6))
    facts = "".join(f"own({owner},{firm},{share}).\n" for (owner, firm), share in shares.items())
    rules = """
    rel(X, X) :- own(X, _, _).
    rel(X, Y) :- rel(X, Z), own(Z, Y, _), #sum { W, V : rel(X, V), own(V, Y, W) } > 500000.
    #show rel/2.
    """
    start = time.process_time()
    control = clingo.Control(["--warn=none"])
    control.add("base", [], facts + rules)
    control.ground([("base", [])])
    with control.solve(yield_=True) as handle:
        pairs = len(next(iter(handle)).symbols(shown=True))
    return {"cpu": time.process_time() - start, "pairs": pairs}


def make_records(records: int) -> Any:
    import numpy as np
    import pyarrow as pa

    random = np.random.default_rng(2020)
    columns = {
        f"q{place}": pa.array((random.pareto(1.5, records) * 4).astype(int) % values).cast("string")
        for place, values in enumerate((60, 40, 20, 8))
    }
    return pa.table({"id": np.arange(records), **columns})


def list_sets(table: Any) -> dict[str, Any]:
    """Records as sets of attributes and values, as the library's programs take them."""
    with dv.engines.DuckSession(records=table) as duck:
        pairs = ", ".join(f"{{'f0': 'q{place}', 'f1': q{place}}}" for place in range(4))
        return {"tuple": duck.table(f"SELECT id, [{pairs}] AS s FROM records")}


def list_codes(table: Any) -> dict[str, Any]:
    """Numbers instead of texts, as the kernel has them."""
    codes = [table[name].combine_chunks().dictionary_encode().indices for name in NAMES]
    return {"record": table.select(["id"]).from_arrays([table["id"], *codes], ["id", *NAMES])}


def list_cells(table: Any) -> dict[str, Any]:
    """Cells of any dataset, as a release gives them to rules."""
    data = dv.Dataset.from_arrow(table.select(NAMES), roles={"quasi_identifier": NAMES})
    return dict(dv.rules.list_dictionary_facts(data, only=["val"]))


NAMES = [f"q{place}" for place in range(4)]
WAYS: dict[str, tuple[str, Any]] = {
    "sets": (K_ANONYMITY, list_sets),
    "columns of texts": (COLUMNS, lambda table: {"record": table}),
    "columns of codes": (COLUMNS, list_codes),
    "codes, only who is risky": (ONLY_RISKY, list_codes),
    "val as columns, only risky": (RECORD_OF_CELLS + ONLY_RISKY, list_cells),
}
"""How rules may count who is alike: the program, and what makes its facts of the records."""


def k_anonymity_by_rules(records: int, way: str) -> dict[str, Any]:
    text, list_facts = WAYS[way]
    program = dv.rules.Program.parse(text)
    data = list_facts(make_records(records))
    few = {name: facts.slice(0, 10) for name, facts in data.items()}
    dv.rules.evaluate(program, few).close()
    start = time.process_time()
    with dv.rules.evaluate(program, data) as facts:
        spent = time.process_time() - start
        risky = len(facts.find_rows("risk", {1: [1]}))
        sizes = facts["group"].column(0 if way == "sets" else 4)
        smallest = min(sizes.to_pylist())
    return {"cpu": spent, "risky": risky, "smallest": smallest}


def k_anonymity_by_kernel(records: int) -> dict[str, Any]:
    names = NAMES
    data = dv.Dataset.from_arrow(make_records(records), roles={"quasi_identifier": names})
    dv.records.k_anonymity(data.select(names[:1]))
    start = time.process_time()
    smallest = dv.records.k_anonymity(data)
    return {"cpu": time.process_time() - start, "smallest": smallest}


if __name__ == "__main__":
    main()
