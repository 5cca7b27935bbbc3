"""Aggregates: contributors, groups, several at once, and inside recursion."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.rules import Program, evaluate
from divulge.work import InvalidInput


def derive(text: str, data: Mapping[str, Any] | None = None) -> dict[str, list[Any]]:
    with evaluate(Program.parse(text), data) as facts:
        return {name: facts.rows(name) for name in facts}


SALES = "s(north, a, 1). s(north, a, 3). s(north, b, 2). s(south, a, 5)."


def test_a_contributor_has_one_value_the_largest() -> None:
    found = derive(SALES + "t(R, msum(V, <C>)) :- s(R, C, V). l(R, mmin(V, <C>)) :- s(R, C, V).")
    assert found["t"] == [("north", 5), ("south", 5)]
    assert found["l"] == [("north", 1), ("south", 5)]


def test_without_contributors_every_binding_is_one_also_where_nobody_asks_which() -> None:
    equal = "own(a, c, 0.2). own(b, c, 0.2)."
    assert derive(equal + "t(Y, msum(W)) :- own(_, Y, W).")["t"] == [("c", Decimal("0.4"))]
    assert derive(equal + "t(Y, mcount()) :- own(_, Y, _).")["t"] == [("c", 2)]


def test_the_group_is_made_by_the_arguments_of_the_head() -> None:
    tuples = """
    t(1, {(area, "Roma"), (w, 1)}). t(2, {(area, "Roma"), (w, 2)}). t(3, {(area, "Bari"), (w, 3)}).
    n(mcount(<I>), *S[{area}]) :- t(I, S).
    k(I, N) :- t(I, S), n(N, *S[{area}]).
    """
    assert derive(tuples)["k"] == [(1, 2), (2, 2), (3, 1)]


def test_several_aggregates_of_a_rule_share_the_group() -> None:
    found = derive(SALES + "m(R, S / N, N) :- s(R, C, V), S = msum(V, <C>), N = mcount(<C>).")
    assert found["m"] == [("north", 2.5, 2), ("south", 5.0, 1)]


def test_a_condition_may_have_a_limit_of_each_group() -> None:
    found = derive(
        SALES
        + "big(R) :- s(R, C, V), least(R, T), msum(V, <C>) >= T. least(north, 6). least(south, 5)."
    )
    assert found["big"] == [("south",)]


def test_union_joins_sets_and_collects_elements() -> None:
    found = derive(SALES + "u(R, munion(C)) :- s(R, C, _). all(munion(S, <R>)) :- u(R, S).")
    assert found["all"] == [(frozenset({"a", "b"}),)]


def test_a_product_of_risks_is_the_risk_of_a_cluster() -> None:
    found = derive(
        """
        risk(a, 0.5). risk(b, 0.2). link(a, a). link(a, b). link(b, a). link(b, b).
        cluster(X, 1 - mprod(1 - R, <Y>)) :- link(X, Y), risk(Y, R).
        """
    )
    assert found["cluster"] == [("a", pytest.approx(0.6)), ("b", pytest.approx(0.6))]


def test_the_latest_value_replaces_the_one_before_in_recursion() -> None:
    found = derive(
        """
        road(a, b, 5). road(a, c, 1). road(c, b, 1). road(b, a, 1).
        far(X, X, 0) :- road(X, _, _).
        far(X, Y, mmin(D + K, <Z>)) :- far(X, Z, D), road(Z, Y, K).
        """
    )
    assert ("a", "b", 2) in found["far"]
    assert len(found["far"]) == 9


def test_a_sum_in_recursion_takes_no_negative_values() -> None:
    rules = "r(X, X) :- o(X, _, _). r(X, Y) :- r(X, Z), o(Z, Y, W), msum(W, <Z>) > 0.5."
    with pytest.raises(InvalidInput, match="takes no negative values"):
        derive(rules, {"o": [("a", "b", -0.5)]})


@settings(max_examples=20)
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(1, 3), st.integers(0, 4)),
        min_size=1,
        max_size=12,
    )
)
def test_rows_that_data_repeat_count_once_as_facts_that_rules_derive_do(
    rows: list[tuple[str, int, int]],
) -> None:
    aggregates = """
    {name}_count(G, mcount(<I, V>)) :- {name}(G, I, V).
    {name}_bindings(G, mcount()) :- {name}(G, _, _).
    {name}_people(G, mcount(<I>)) :- {name}(G, I, _).
    {name}_sum(G, msum(V, <I>)) :- {name}(G, I, V).
    {name}_every(G, msum(V, <I, V>), mmin(V, <I>)) :- {name}(G, I, V).
    {name}_union(G, munion(V, <I>)) :- {name}(G, I, V).
    """
    text = "derived(G, I, V) :- given(G, I, V)."
    text += aggregates.replace("{name}", "given") + aggregates.replace("{name}", "derived")
    found = derive(text, {"given": rows})
    facts = set(rows)
    for group in {group for group, _, _ in rows}:
        pairs = {(who, value) for place, who, value in facts if place == group}
        best = {who: max(v for one, v in pairs if one == who) for who, _ in pairs}
        values = [value for _, value in pairs]
        for name in ("given", "derived"):
            assert (group, len(pairs)) in found[f"{name}_count"]
            assert (group, len(pairs)) in found[f"{name}_bindings"]
            assert (group, len(best)) in found[f"{name}_people"]
            assert (group, sum(best.values())) in found[f"{name}_sum"]
            assert (group, sum(values), min(values)) in found[f"{name}_every"]
            assert (group, frozenset(values)) in found[f"{name}_union"]
