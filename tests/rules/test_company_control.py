"""Who controls whom: the examples that everybody knows, and random graphs against clingo."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

import clingo
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.rules import Program, evaluate

CONTROL = """
rel(X, X) :- own(X, _, _).
rel(X, Y) :- rel(X, Z), own(Z, Y, W), msum(W, <Z>) > 0.5.
"""


def find_control(edges: list[tuple[Any, ...]], rules: str = CONTROL) -> set[tuple[str, str]]:
    """Pairs of different firms of which the first controls the second."""
    with evaluate(Program.parse(rules), {"own": edges}) as facts:
        return {(x, y) for x, y in facts.rows("rel") if x != y}


def test_a_direct_stake_counts_together_with_those_of_controlled_firms() -> None:
    edges = [("X", "Y", 0.4), ("X", "Z", 0.6), ("Z", "Y", 0.2)]
    assert find_control(edges) == {("X", "Y"), ("X", "Z")}


def test_exactly_half_is_no_control() -> None:
    assert find_control([("A", "B", 0.5)]) == set()
    # In binary fractions 0.1 + 0.2 + 0.2 is a little more than a half.
    parts = [("A", "B", 0.6), ("A", "C", 0.7), ("A", "D", 0.1), ("B", "D", 0.2), ("C", "D", 0.2)]
    assert find_control(parts) == {("A", "B"), ("A", "C")}
    assert find_control([*parts, ("C", "E", 0.51)]) == {
        ("A", "B"),
        ("A", "C"),
        ("A", "E"),
        ("C", "E"),
    }


def test_firms_that_own_each_other_in_a_cycle_control_each_other() -> None:
    edges = [("A", "B", 0.6), ("B", "C", 0.6), ("C", "A", 0.6)]
    assert find_control(edges) == {(x, y) for x in "ABC" for y in "ABC" if x != y}


def test_a_cycle_without_a_majority_controls_nothing() -> None:
    # B and C own 60% of A together, but nobody controls both.
    edges = [("A", "B", 0.5), ("A", "C", 0.5), ("B", "A", 0.3), ("C", "A", 0.3)]
    assert find_control(edges) == set()


def test_two_share_classes_are_two_contributors() -> None:
    rules = """
    rel(X, X) :- own(X, _, _, _).
    rel(X, Y) :- rel(X, Z), own(Z, Y, Class, W), msum(W, <Z, Class>) > 0.5.
    """
    edges = [("A", "B", "ordinary", 0.3), ("A", "B", "preferred", 0.25)]
    assert find_control(edges, rules) == {("A", "B")}
    by_owner = rules.replace("<Z, Class>", "<Z>")
    assert find_control(edges, by_owner) == set()  # one value a contributor: the largest


def test_facts_may_be_an_arrow_table_with_fractions_or_decimals() -> None:
    from decimal import Decimal

    names = {"owner": ["A", "A", "B"], "company": ["B", "C", "C"]}
    for shares in (
        pa.array([0.51, 0.3, 0.2]),
        pa.array([0.51, 0.3, 0.2], pa.float32()),
        pa.array([Decimal("0.51"), Decimal("0.30"), Decimal("0.20")]),
    ):
        table = pa.table({**names, "share": shares})
        with evaluate(Program.parse(CONTROL), {"own": table}) as facts:
            pairs = {(x, y) for x, y in facts.rows("rel") if x != y}
        assert pairs == {("A", "B")}


def find_control_plainly(edges: list[tuple[str, str, int]]) -> set[tuple[str, str]]:
    """The fixpoint as a textbook has it: everything again until nothing is new."""
    best: dict[tuple[str, str], int] = defaultdict(int)
    for owner, firm, share in edges:
        best[owner, firm] = max(best[owner, firm], share)
    control = {(owner, owner) for owner, _ in best}
    while True:
        sums: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
        for x, z in control:
            for (owner, firm), share in best.items():
                if owner == z:
                    sums[x, firm] += Fraction(share, 100)
        found = control | {pair for pair, total in sums.items() if total > Fraction(1, 2)}
        if found == control:
            return {(x, y) for x, y in control if x != y}
        control = found


def find_control_by_clingo(edges: list[tuple[str, str, int]]) -> set[tuple[str, str]]:
    facts = " ".join(f'own("{x}", "{y}", {w}).' for x, y, w in edges)
    rules = """
    best(X, Y, M) :- own(X, Y, _), M = #max { W : own(X, Y, W) }.
    rel(X, X) :- own(X, _, _).
    rel(X, Y) :- rel(X, _), own(_, Y, _), #sum { W, Z : rel(X, Z), best(Z, Y, W) } > 50.
    """
    control = clingo.Control(["--warn=none"])
    control.add("base", [], facts + rules)
    control.ground([("base", [])])
    with control.solve(yield_=True) as handle:
        model = next(iter(handle))
        found = {
            (symbol.arguments[0].string, symbol.arguments[1].string)
            for symbol in model.symbols(atoms=True)
            if symbol.name == "rel"
        }
    return {(x, y) for x, y in found if x != y}


firms = st.sampled_from("ABCDEFG")
graphs = st.lists(
    st.tuples(firms, firms, st.sampled_from([10, 20, 25, 30, 49, 50, 51, 60, 100])),
    min_size=1,
    max_size=18,
)


@settings(max_examples=40)
@given(graphs)
def test_random_graphs_agree_with_clingo_and_a_plain_fixpoint(
    edges: list[tuple[str, str, int]],
) -> None:
    shares = [(x, y, w / 100) for x, y, w in edges]
    found = find_control(shares)
    assert found == find_control_plainly(edges)
    assert found == find_control_by_clingo(edges)
