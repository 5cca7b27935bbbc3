"""Recursion and stratified negation on random graphs, beside clingo."""

from __future__ import annotations

import clingo
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.rules import Program, evaluate

RULES = """
node(X) :- edge(X, _). node(Y) :- edge(_, Y).
path(X, Y) :- edge(X, Y).
path(X, Z) :- path(X, Y), path(Y, Z).
apart(X, Y) :- node(X), node(Y), not path(X, Y).
circle(X) :- path(X, X).
free(X) :- node(X), not circle(X).
same(X, Y) :- path(X, Y), path(Y, X).
first(X) :- free(X), not entered(X).
entered(Y) :- edge(X, Y), free(X).
far(X) :- first(X).
far(Y) :- far(X), apart(Y, X), not same(X, Y), X < Y.
"""
PREDICATES = ("node", "path", "apart", "circle", "free", "same", "first", "entered", "far")


def solve_with_clingo(text: str) -> dict[str, list[tuple[int, ...]]]:
    control = clingo.Control(["--warn=none"])
    control.add("base", [], text)
    control.ground([("base", [])])
    found: dict[str, list[tuple[int, ...]]] = {name: [] for name in PREDICATES}
    with control.solve(yield_=True) as handle:
        for symbol in next(iter(handle)).symbols(atoms=True):
            if symbol.name in found:
                found[symbol.name].append(tuple(one.number for one in symbol.arguments))
    return {name: sorted(rows) for name, rows in found.items()}


@given(st.sets(st.tuples(st.integers(1, 7), st.integers(1, 7)), min_size=1, max_size=14))
@settings(max_examples=15)
def test_what_follows_from_a_random_graph_is_what_clingo_finds(
    edges: set[tuple[int, int]],
) -> None:
    text = RULES + "".join(f"edge({one}, {other}).\n" for one, other in sorted(edges))
    with evaluate(Program.parse(text)) as facts:
        ours = {name: facts.rows(name) for name in PREDICATES}
    assert ours == solve_with_clingo(text)
