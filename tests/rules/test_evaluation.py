"""What follows from a program: recursion, negation, values, and what is said when it cannot go on."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from divulge.rules import BoundReached, Program, evaluate, tuning
from divulge.work import InvalidInput


def derive(text: str, data: Mapping[str, Any] | None = None, **bounds: Any) -> dict[str, list[Any]]:
    """All facts of a program, as rows."""
    with evaluate(Program.parse(text), data, **bounds) as facts:
        return {name: facts.rows(name) for name in facts}


EDGES = "edge(1, 2). edge(2, 3). edge(3, 1). edge(3, 4)."


def test_what_can_be_reached_is_found_round_a_cycle() -> None:
    found = derive(EDGES + "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), path(Y, Z).")
    assert found["path"] == [(x, y) for x in (1, 2, 3) for y in (1, 2, 3, 4)]


def test_a_negation_asks_for_what_is_complete() -> None:
    found = derive(
        EDGES
        + """
        path(X, Y) :- edge(X, Y).
        path(X, Z) :- edge(X, Y), path(Y, Z).
        node(X) :- edge(X, _).
        node(Y) :- edge(_, Y).
        apart(X, Y) :- node(X), node(Y), not path(X, Y).
        end(X) :- node(X), not edge(X, _).
        """
    )
    assert found["apart"] == [(4, 1), (4, 2), (4, 3), (4, 4)]
    assert found["end"] == [(4,)]


def test_predicates_that_lead_to_each_other_are_completed_together() -> None:
    found = derive(
        """
        next(0, 1). next(1, 2). next(2, 3). next(3, 4).
        even(0).
        odd(Y) :- even(X), next(X, Y).
        even(Y) :- odd(X), next(X, Y).
        """
    )
    assert (found["even"], found["odd"]) == ([(0,), (2,), (4,)], [(1,), (3,)])


def test_decimals_are_exact() -> None:
    found = derive(
        "p(0.1). p(0.2). s(X + Y) :- p(X), p(Y). same() :- s(Z), Z = 0.3. no() :- s(0.5)."
    )
    assert found["s"] == [(Decimal("0.2"),), (Decimal("0.3"),), (Decimal("0.4"),)]
    assert (found["same"], found["no"]) == ([()], [])


def test_whole_numbers_and_decimals_of_the_same_size_are_equal() -> None:
    assert derive("p(2). q(2.00). r(X) :- p(X), q(X).")["r"] == [(Decimal(2),)]


def test_a_column_of_numbers_and_texts_is_compared_as_it_is_written() -> None:
    found = derive(
        'v(a, 1.50). v(b, "x"). v(c, 3). big(A) :- v(A, N), A != b, N > 2. one(A) :- v(A, 1.5).'
    )
    assert found["v"] == [("a", "1.5"), ("b", "x"), ("c", "3")]
    assert (found["big"], found["one"]) == ([("c",)], [("a",)])


def test_the_literals_of_a_body_may_stand_in_any_order() -> None:
    forward = "p(1). p(2). q(Y) :- p(X), Y = X + 1, Y > 2."
    assert (
        derive(forward)["q"] == derive("p(1). p(2). q(Y) :- Y > 2, Y = X + 1, p(X).")["q"] == [(3,)]
    )


def test_rules_add_to_facts_that_are_handed_in() -> None:
    found = derive("p(2). p(X + 1) :- q(X).", {"p": [(1,)], "q": [(2,), (2,)]})
    assert found["p"] == [(1,), (2,), (3,)]


def test_a_case_is_worked_out_only_where_it_is_taken() -> None:
    found = derive("p(0). p(2). q(X, Y) :- p(X), Y = case X = 0 then 0 else 1 / X.")
    assert found["q"] == [(0, 0.0), (2, 0.5)]


def test_texts_of_users_never_become_part_of_a_statement() -> None:
    nasty = "'; DROP TABLE p0; --"
    found = derive(f'p("{nasty}"). q(X) :- p(X), X = "{nasty}".', {'r"; --': [(nasty,)]})
    assert found["q"] == found['r"; --'] == [(nasty,)]


def test_tables_have_columns_in_the_order_of_the_arguments() -> None:
    with evaluate(
        Program.parse("rel(Firm, W) :- own(_, Firm, W)."),
        {"own": pa.table({"owner": ["A"], "company": ["B"], "share": [0.5]})},
    ) as facts:
        assert facts["own"].column_names == ["owner", "company", "share"]
        assert facts["rel"].column_names == ["Firm", "W"]
        assert facts["rel"].to_pylist() == [{"Firm": "B", "W": Decimal("0.5")}]
        assert sorted(facts) == ["own", "rel"]


def test_a_fact_knows_its_rule_and_its_round() -> None:
    program = Program.parse(
        EDGES + "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z)."
    )
    with evaluate(program, {"edge": [(7, 8)]}) as facts:
        [first], [second] = (facts.find_rows("path", {0: [1], 1: [y]}) for y in (2, 4))
        assert (first.rule, second.rule) == (4, 5)
        assert 0 < first.round < second.round
        assert facts.find_rows("path", {0: [4]}) == facts.find_rows("path", {0: ["nobody"]}) == []
        assert [row.values for row in facts.find_rows("path", {1: [3, 4]}, limit=2)] == [
            (2, 3),
            (3, 4),
        ]
        [given, written] = facts.find_rows("edge", {0: [7, 1]})
        assert (given.values, given.rule, given.round) == ((1, 2), 0, 0)
        assert (written.values, written.rule, written.round) == ((7, 8), None, 0)


def test_a_program_that_is_stopped_hands_over_what_it_derived() -> None:
    with pytest.raises(BoundReached) as caught:
        derive("p(1). p(X + 1) :- p(X).", most_rounds=3)
    facts = caught.value.facts
    assert facts is not None
    assert facts.rows("p") == [(1,), (2,), (3,), (4,)]
    facts.close()


def test_results_do_not_depend_on_the_order_of_the_data() -> None:
    rows = [(f"f{i % 7}", f"f{(i * i) % 11}", (i % 9) / 10) for i in range(60)]
    rules = "rel(X, X) :- own(X, _, _). rel(X, Y) :- rel(X, Z), own(Z, Y, W), msum(W, <Z>) > 0.5."
    assert derive(rules, {"own": rows})["rel"] == derive(rules, {"own": rows[::-1]})["rel"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "p(1). p(0).\nq(1 / X) :- p(X).",
            "line 2, column 1, .*a division by zero. Exclude it: X != 0",
        ),
        ("p(1, 0).\nq(X / Y) :- p(X, Y).", "line 2, column 1, .*Exclude it: Y != 0"),
        ("p(999999999999999999).\nq(X * 1000) :- p(X).", "line 2, column 1, .*too large"),
        ('p("x1"). p(2).\nq(X + 1) :- p(X).', "line 2, column 1, .*text that is not a number"),
        ("p(12345678901234567890).", "line 1, column 1: a number too large"),
    ],
)
def test_what_cannot_be_calculated_is_told_with_its_place(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        derive(text)


def test_a_program_without_end_stops_at_its_bound_and_tells_what_it_derived() -> None:
    with pytest.raises(BoundReached, match='after 20 rounds; derived by then: 21 of "p"'):
        derive("p(1). p(X + 1) :- p(X).", most_rounds=20)
    with pytest.raises(BoundReached, match="at 50 invented nulls"):
        derive("p(1). exists Y q(X, Y) :- p(X). p(Y) :- q(_, Y).", most_nulls=50)


def test_a_program_that_may_not_end_is_stopped_earlier_than_one_that_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tuning, "MOST_OPEN_ROUNDS", 5)
    monkeypatch.setattr(tuning, "MOST_ROUNDS", 30)
    chain = {"edge": [(number, number + 1) for number in range(20)]}
    path = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z)."
    assert len(derive(path, chain)["path"]) == 210
    with pytest.raises(BoundReached, match="after 5 rounds"):
        derive("p(1). p(X + 1) :- p(X).")


def test_asking_whether_there_is_a_predicate_reads_no_facts() -> None:
    with evaluate(Program.parse(EDGES)) as facts:
        pass
    assert "edge" in facts  # closed: nothing could be read any more
    assert "path" not in facts


def test_equations_that_use_each_other_twice_do_not_double_the_work() -> None:
    equations = ", ".join(f"X{n + 1} = X{n} + X{n}" for n in range(40))
    assert derive(f"q(1). p(X40) :- q(X0), {equations}.")["p"] == [(2**40,)]
    halves = ", ".join(f"X{n + 1} = (X{n} + X{n}) / 4" for n in range(40))
    assert derive(f"q(1). p(X40) :- q(X0), {halves}, not q(X40).")["p"] == [(2.0**-40,)]
