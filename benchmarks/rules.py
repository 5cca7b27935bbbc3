"""Rules: company control beside clingo, and k-anonymity by rules beside our kernel, in one run.

    python benchmarks/rules.py [firms] [holdings] [records]

Both find as many pairs of firms, and the same smallest class however the rules are written. clingo
gets whole millionths. What is measured is the evaluation in a process that has imported everything
and evaluated a small program. The kernel counts coded records; beside it stands what it takes from
the same facts.
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
    print(f"  kernel, of coded records     {kernel['cpu']:8.2f} CPU-s")
    for way, (_, _, make_dataset) in WAYS.items():
        ours = cost(k_anonymity_by_rules, records, way).answer
        same = cost(k_anonymity_of_facts, records, way).answer if make_dataset else kernel
        assert ours["smallest"] == same["smallest"] == kernel["smallest"]
        ratio, fair = ours["cpu"] / kernel["cpu"], ours["cpu"] / same["cpu"]
        print(
            f"  {way:28} {ours['cpu']:8.2f} CPU-s, {ratio:.1f} times; the kernel from the same "
            f"facts {same['cpu']:.2f}, {fair:.1f} times ({ours['risky']:,} below k)"
        )


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
    from divulge.engines.duck import DuckSession

    with DuckSession(records=table) as duck:
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


def read_columns(facts: dict[str, Any]) -> Any:
    """Columns of texts as a dataset, for the kernel."""
    return dv.Dataset.from_arrow(facts["record"].select(NAMES), roles={"quasi_identifier": NAMES})


def read_cells(facts: dict[str, Any]) -> Any:
    """Cells as a dataset: for each attribute its values, in the order of the records."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = facts["val"].unify_dictionaries().combine_chunks()
    attributes = cells["A"].combine_chunks()
    numbers = attributes.dictionary.to_pylist()
    columns = {}
    for name in NAMES:
        of_attribute = cells.filter(pc.equal(attributes.indices, numbers.index(name)))
        order = np.argsort(of_attribute["I"].to_numpy(), kind="stable")
        columns[name] = of_attribute["V"].take(order)
    return dv.Dataset.from_arrow(pa.table(columns), roles={"quasi_identifier": NAMES})


def read_sets(facts: dict[str, Any]) -> Any:
    """Sets of attributes and values as a dataset; each has one value of every attribute."""
    import pyarrow as pa
    import pyarrow.compute as pc

    pairs = facts["tuple"]["s"].combine_chunks().flatten()
    columns = {name: pairs.field("f1").filter(pc.equal(pairs.field("f0"), name)) for name in NAMES}
    return dv.Dataset.from_arrow(pa.table(columns), roles={"quasi_identifier": NAMES})


NAMES = [f"q{place}" for place in range(4)]
WAYS: dict[str, tuple[str, Any, Any]] = {
    "sets": (K_ANONYMITY, list_sets, read_sets),
    "columns of texts": (COLUMNS, lambda table: {"record": table}, read_columns),
    "columns of codes": (COLUMNS, list_codes, None),
    "codes, only who is risky": (ONLY_RISKY, list_codes, None),
    "val as columns, only risky": (RECORD_OF_CELLS + ONLY_RISKY, list_cells, read_cells),
}
"""How rules may count who is alike: the program, what makes its facts of the records, and how the
kernel starts from the same facts (None: from coded records, as it does anyway)."""


def k_anonymity_by_rules(records: int, way: str) -> dict[str, Any]:
    text, list_facts, _ = WAYS[way]
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


def k_anonymity_of_facts(records: int, way: str) -> dict[str, Any]:
    _, list_facts, make_dataset = WAYS[way]
    facts = list_facts(make_records(records))
    dv.records.k_anonymity(read_columns({"record": make_records(10)}))
    start = time.process_time()
    smallest = dv.records.k_anonymity(make_dataset(facts))
    return {"cpu": time.process_time() - start, "smallest": smallest}


def k_anonymity_by_kernel(records: int) -> dict[str, Any]:
    names = NAMES
    data = dv.Dataset.from_arrow(make_records(records), roles={"quasi_identifier": names})
    dv.records.k_anonymity(data.select(names[:1]))
    start = time.process_time()
    smallest = dv.records.k_anonymity(data)
    return {"cpu": time.process_time() - start, "smallest": smallest}


if __name__ == "__main__":
    main()
