"""An adversary who knows the algorithm: what they can rule out, exactly and as a bound."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge import Dataset, Limit, datasets, protection

K2 = [Limit("k_anonymity", at_least=2, nulls="maybe")]
TOWNS = [("Roma", "Center"), ("Milano", "North"), ("Torino", "North")]


def test_figure_5_the_null_is_neither_commerce_nor_financial() -> None:
    p = protection.protect(datasets.local_suppression_example(), K2, is_a={"Area": TOWNS})
    found = protection.audit(p, knows_algorithm=True)
    assert found.claim == "exact"
    assert found.possible[0, "Sector"] == {"Textiles", "Construction"}
    assert found.excluded[0, "Sector"] == {"Commerce", "Financial"}
    assert found.finding(0, "Sector") == "ambiguous"
    # Both towns of the North are still possible for tuples 6 and 7, but not the same for both.
    assert found.possible[5, "Area"] == {"Milano", "Torino"}


def test_the_bound_excludes_what_is_excluded_exactly_and_no_more() -> None:
    p = protection.suppress(
        datasets.local_suppression_example(), k=2, search="cycle", nulls="maybe"
    )
    exact = protection.audit(p)
    bound = protection.audit(p, candidates=1)
    assert (exact.claim, bound.claim) == ("exact", "bound")
    assert {"Commerce", "Financial"} <= bound.excluded[0, "Sector"]
    for cell, left in exact.possible.items():
        assert left <= bound.possible[cell]


def by_trying(
    p: protection.Protected,
    found: protection.Audit,
    run: Callable[[pa.Table], protection.Protected],
) -> dict[Any, set[Any]]:
    """What each cell can be, by protecting every original from scratch."""
    before, cells = p.original.to_arrow(), list(found.domain)
    left: dict[Any, set[Any]] = {cell: set() for cell in cells}
    for values in product(*(found.domain[cell] for cell in cells)):
        columns = before.to_pydict()
        for (record, name), value in zip(cells, values, strict=True):
            columns[name][record] = value
        if run(pa.table(columns)).dataset.to_arrow().equals(p.dataset.to_arrow()):
            for cell, value in zip(cells, values, strict=True):
                left[cell].add(value)
    return left


@pytest.mark.parametrize("search", ["optimal", "climb"])
def test_the_best_levels_are_searched_for_again_in_every_candidate(search: Any) -> None:
    def run(table: pa.Table) -> protection.Protected:
        dataset = Dataset.from_arrow(table, roles={"quasi_identifier": ["a", "b"]})
        is_a = {
            "a": [("1", "low"), ("2", "low"), ("3", "high"), ("4", "high")],
            "b": [("x", "u"), ("y", "u")],
        }
        return protection.recode(dataset, K2, 0.0, search=search, is_a=is_a)

    p = run(pa.table({"a": [1, 2, 1, 2, 3, 3], "b": ["x", "x", "x", "x", "x", "y"]}))
    found = protection.audit(p)
    assert found.claim == "exact"
    assert found.possible == by_trying(p, found, run)


def test_leaves_of_a_hierarchy_are_values_like_those_of_the_attribute() -> None:
    table = pa.table({"a": [29, 29, 12, 24], "b": [17, 17, 9, 17]})
    dataset = Dataset.from_arrow(table, roles={"quasi_identifier": ["a", "b"]})
    leaves = [("12", "low"), ("24", "low"), ("29", "high"), ("99", "high"), ("none", "high")]
    p = protection.protect(dataset, K2, is_a={"a": leaves})
    found = protection.audit(p)
    assert found.domain[0, "a"] == {29, 99}  # "none" is no number
    assert 29 in found.possible[0, "a"]


def test_of_records_that_were_removed_nothing_is_claimed_exactly() -> None:
    table = pa.table({"a": ["x", "x", "y", "z"], "b": ["u", "u", "u", "v"]})
    dataset = Dataset.from_arrow(table, roles={"quasi_identifier": ["a", "b"]})
    p = protection.suppress(dataset, k=2, never=["b"], out_of_reach="remove", nulls="maybe")
    assert p.removed
    assert p.suppressed_cells
    assert protection.audit(p).claim == "bound"


def test_without_the_algorithm_a_null_may_be_any_value() -> None:
    p = protection.suppress(datasets.local_suppression_example(), k=2, nulls="maybe")
    assert protection.audit(p, knows_algorithm=False).excluded == {}


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz")), min_size=4, max_size=6))
def test_the_true_value_is_never_ruled_out(rows: list[tuple[str, str]]) -> None:
    table = pa.table({"a": [row[0] for row in rows], "b": [row[1] for row in rows]})
    dataset = Dataset.from_arrow(table, roles={"quasi_identifier": ["a", "b"]})
    p = protection.suppress(dataset, k=2, search="cycle", nulls="maybe")
    for candidates in (400, 1):
        found = protection.audit(p, candidates=candidates)
        for (record, name), left in found.possible.items():
            assert table[name][record].as_py() in left


def test_a_secret_seed_leaves_at_least_as_much_open() -> None:
    table = pa.table({"a": ["x", "x", "y", "z"], "b": ["u", "v", "u", "v"]})
    dataset = Dataset.from_arrow(table, roles={"quasi_identifier": ["a", "b"]})
    p = protection.suppress(dataset, k=2, search="cycle", order="given", nulls="maybe")
    found = protection.audit(p, secret_seed=True, seeds=4, candidates=100_000)
    assert found.with_secret_seed
    known = sum(map(len, found.possible.values())) / len(found.possible)
    secret = sum(map(len, found.with_secret_seed.values())) / len(found.with_secret_seed)
    assert secret >= known
    assert "with an order drawn from a secret seed" in str(found)


def test_an_audit_is_an_assessment_and_says_no_value() -> None:
    p = protection.suppress(datasets.local_suppression_example(), k=2, nulls="maybe")
    found = protection.audit(p)
    assessed = found.assessment()
    assert assessed.secrets == len(found.possible) == 2
    assert assessed.probabilistic.posterior >= assessed.probabilistic.prior
    for value in ("Textiles", "Commerce", "Milano"):
        assert value not in str(found.to_dict())
        assert value not in str(found)
    assert found.explain(record=0) == ["Record 1: Sector can still be 2 of 4 values."]


def test_nothing_changed_leaves_nothing_to_infer() -> None:
    p = protection.suppress(datasets.local_suppression_example(), k=1, nulls="maybe")
    assert protection.audit(p).possible == {}
    assert pytest.approx(protection.audit(p).assessment().deterministic.posterior) == 0


@pytest.mark.parametrize(
    "limit",
    [
        Limit("prosecutor_risk", at_most=0.35, nulls="maybe"),
        Limit("global_risk", at_most=0.3, nulls="maybe"),
        Limit("smallest_frequency", at_least=2.5, nulls="maybe"),
    ],
)
def test_a_bound_never_excludes_what_a_cell_was(limit: Limit) -> None:
    rows = ["xv", "yv", "zu", "xv", "xu", "zv", "yv", "xu"]
    people = Dataset.from_arrow(
        pa.table({"town": [r[0] for r in rows], "sex": [r[1] for r in rows]}),
        roles={"quasi_identifier": ["town", "sex"]},
    )
    for local in (False, True):
        p = protection.protect(people, [limit], ["suppress"], search="cycle", local=local)
        found = protection.audit(p, candidates=0)
        assert found.possible
        for (record, name), left in found.possible.items():
            assert people.to_arrow()[name][record].as_py() in left
