"""Suppression: within its limit whatever is asked, as cheap as can be, told and undone."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protection import plain
from tests.strategies import datasets as any_dataset

import divulge as dv
from divulge import Dataset, InvalidInput, datasets, protection, records
from divulge.data.missing_kinds import merge_missing_kinds
from divulge.protection import OutOfReachError
from divulge.protection.changes.changes import build_code_matrix, select_records
from divulge.protection.suppression.lower_bound import bound_suppression_cost

SEMANTICS = ["maybe", "known", "value", "bayes"]


def people(**columns: list[object]) -> Dataset:
    return Dataset.from_arrow(pa.table(columns), roles={"quasi_identifier": list(columns)})


def recounted(p: protection.Protected, nulls: str) -> np.ndarray:
    """Counted by the records' part, which knows nothing of protection."""
    original = select_records(p.original, p.kept) if nulls in ("known", "bayes") else None
    return records.frequencies(p.dataset, nulls, among=p.among, original=original).sample  # type: ignore[arg-type]


def test_suppression_touches_no_more_records_than_it_may() -> None:
    dataset = people(town=[*"aaaaaaab"], sex=[*"ffffmmmm"])
    p = protection.suppress(dataset, 2)
    touched = {row for row in range(8) if None in plain.rows_of(p.dataset, list(p.among))[row]}
    assert 0 < len(touched) < 8
    exactly = protection.suppress(dataset, 2, suppression_limit=len(touched) / 8)
    assert exactly.dataset.equals(p.dataset)
    with pytest.raises(
        OutOfReachError, match=r"of 8 records, more than suppression_limit \(0\.01\)"
    ):
        protection.suppress(dataset, 2, suppression_limit=0.01)
    removing: Any = {"nulls": "standard", "out_of_reach": "remove"}
    assert protection.suppress(dataset, 2, suppression_limit=0.125, **removing).removed == 1
    with pytest.raises(OutOfReachError, match="in 1 of 8 records"):
        protection.suppress(dataset, 2, suppression_limit=0.1, **removing)
    with pytest.raises(InvalidInput, match="suppression_limit: 5 is not a share"):
        protection.suppress(dataset, 2, suppression_limit=5)


def plain_loss(
    first: list[tuple[Any, ...]], last: dict[int, tuple[Any, ...]], names: range
) -> float:
    """The share of cells that were there and are not: no hierarchies, so all or nothing."""
    losses = []
    for name in names:
        there = [row for row in range(len(first)) if first[row][name] is not None]
        gone = [row for row in there if row not in last or last[row][name] is None]
        domain = len({first[row][name] for row in there})
        losses.append(len(gone) / len(there) if domain > 1 else 0.0)
    return float(np.mean(losses))


@settings(max_examples=40, deadline=None)
@given(any_dataset(), st.integers(1, 3), st.sampled_from([*SEMANTICS, "standard"]))
def test_what_was_absent_before_is_no_loss(dataset: Dataset, k: int, nulls: str) -> None:
    try:
        p = protection.suppress(dataset, k, nulls, out_of_reach="remove")  # type: ignore[arg-type]
    except OutOfReachError:
        return
    first, last = (plain.rows_of(each, list(p.among)) for each in (p.original, p.dataset))
    kept = dict(zip(p.kept.tolist(), last, strict=True))
    assert p.loss == pytest.approx(plain_loss(first, kept, range(len(p.among))))
    there = sum(cell is not None for row in first for cell in row)
    assert p.utility.nulls == there - sum(cell is not None for row in last for cell in row)


@settings(max_examples=60, deadline=None)
@given(any_dataset(), st.integers(1, 4), st.sampled_from(SEMANTICS), st.booleans())
def test_after_suppression_nobody_is_below_the_limit(
    dataset: Dataset, k: int, nulls: str, frugal: bool
) -> None:
    if dataset.rows < k:
        with pytest.raises(OutOfReachError, match="there are only"):
            protection.suppress(dataset, k, nulls)  # type: ignore[arg-type]
        return
    p = protection.suppress(dataset, k, nulls, cells_per_record=1 if frugal else None)  # type: ignore[arg-type]
    assert recounted(p, nulls).min() >= k - 1e-9
    if nulls in ("maybe", "known", "value"):
        rows, first = plain.rows_of(p.dataset, list(p.among)), plain.rows_of(dataset, list(p.among))
        if nulls != "known" or not any(None in row for row in first):
            assert min(plain.frequencies(rows, first, nulls)) >= k


@settings(max_examples=40, deadline=None)
@given(
    any_dataset(max_columns=4, max_rows=10),
    st.integers(2, 3),
    st.sampled_from(SEMANTICS),
    st.data(),
)
def test_every_named_set_of_attributes_is_within_the_limit(
    dataset: Dataset, k: int, nulls: str, data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, len(dataset.names)))
    if dataset.rows < k:
        return
    p = protection.suppress(dataset, k, nulls, subsets=size)  # type: ignore[arg-type]
    original = p.original if nulls in ("known", "bayes") else None
    from itertools import combinations

    for subset in combinations(dataset.names, size):
        found = records.frequencies(p.dataset, nulls, among=subset, original=original)  # type: ignore[arg-type]
        assert found.smallest >= k - 1e-9


@settings(max_examples=30, deadline=None)
@given(any_dataset(max_columns=3, max_rows=6), st.integers(2, 3))
def test_the_bound_is_below_what_the_best_suppression_needs(dataset: Dataset, k: int) -> None:
    names = dataset.names
    rows = plain.rows_of(dataset, names)
    for nulls in ("maybe", "known"):
        if nulls == "known" and any(None in row for row in rows):
            continue
        best = plain.cheapest(rows, k, nulls, most=4)
        frequency = records.frequencies(dataset, "maybe").sample
        bound = bound_suppression_cost(
            build_code_matrix(dataset, names),
            frequency,
            k,
            allowed=range(len(names)),
            costs=np.ones(len(names)),
            known=nulls == "known",
        )
        if best is not None:
            assert bound <= best


@settings(max_examples=30, deadline=None)
@given(any_dataset(max_columns=3, max_rows=7), st.integers(2, 3))
def test_the_fewest_cells_are_seldom_more_than_the_fewest_there_are(
    dataset: Dataset, k: int
) -> None:
    if dataset.rows < k:
        return
    dataset = merge_missing_kinds(dataset)
    best = plain.cheapest(plain.rows_of(dataset, dataset.names), k, "maybe", most=3)
    found = protection.suppress(dataset, k, nulls="maybe").suppressed_cells
    if best is not None:
        assert best <= found <= best + (k - 1) * len(dataset.names)


@settings(max_examples=40, deadline=None)
@given(any_dataset(max_columns=3, max_rows=9), st.integers(2, 3))
def test_the_cycle_does_what_one_would_do_by_hand(dataset: Dataset, k: int) -> None:
    if dataset.rows < k:
        return
    dataset = merge_missing_kinds(dataset)
    rows = plain.rows_of(dataset, dataset.names)
    risky = [r for r, f in enumerate(plain.frequencies(rows, rows, "maybe")) if f < k]
    p = protection.suppress(dataset, k, search="cycle", order="given", nulls="maybe")
    assert plain.rows_of(p.dataset, dataset.names) == plain.cycle(rows, k, risky)


@settings(max_examples=40, deadline=None)
@given(any_dataset(), st.integers(2, 3), st.sampled_from([*SEMANTICS, "standard"]))
def test_the_log_replayed_is_the_release_and_undone_is_the_original(
    dataset: Dataset, k: int, nulls: str
) -> None:
    try:
        p = protection.suppress(dataset, k, nulls)  # type: ignore[arg-type]
    except OutOfReachError:
        return
    assert p.decisions.replayed(dataset).equals(p.dataset)
    assert p.undo(len(p.decisions)).dataset.equals(merge_missing_kinds(dataset))
    step, left = p, len(p.decisions)
    while left:
        step, left = step.undo(), left - 1
        assert len(step.decisions) == left
    assert (
        len({d.binding["label"] for d in p.decisions if d.change == "suppressed"})
        == p.suppressed_cells
    )


def test_figure_5_one_null_gives_five_tuples_company() -> None:
    p = protection.suppress(
        datasets.local_suppression_example(),
        k=2,
        never="Area",
        out_of_reach="remove",
        nulls="maybe",
    )
    assert p.removed == 2
    [decision] = [d for d in p.decisions if d.change == "suppressed"]
    assert (decision.record, decision.attribute, decision.binding["from"]) == (
        0,
        "Sector",
        "Textiles",
    )
    assert (decision.before, decision.after) == (1.0, 0.2)
    assert records.frequencies(p.dataset, nulls="maybe").sample.tolist() == [5, 3, 3, 3, 3]


def test_wildcards_that_hide_everything_satisfy_counting_and_nobody_else() -> None:
    everybody = people(a=list(range(40)), b=list(range(40)))
    p = protection.suppress(everybody, k=3, nulls="maybe")
    assert p.suppressed_cells == 4 == p.bound  # two records hide both attributes
    assert p.alone()["maybe"] == 0
    assert p.alone()["bayes"] >= 38
    said = str(p).splitlines()[1]  # at once, in one sentence, with what to ask for instead
    assert "understates the risk" in said
    assert (
        "40 of 40 records still have an effective class size below 3 (38 effectively unique" in said
    )
    assert 'ask for nulls = "bayes"' in said
    assert p.flatters
    assert p.to_dict()["short"] == 40
    weighed = protection.suppress(everybody, k=3, nulls="bayes")
    assert not weighed.flatters
    assert "none of 40 records remains unique" in str(weighed)


def test_real_safety_has_its_price() -> None:
    companies = datasets.inflation_and_growth(2_000, balance="V", quasi_identifiers=5)
    cells = {n: protection.suppress(companies, 3, n).suppressed_cells for n in SEMANTICS}  # type: ignore[arg-type]
    assert cells["maybe"] <= cells["known"] <= cells["bayes"] == cells["value"]
    safe = protection.suppress(companies, 3, "bayes")
    assert safe.alone()["bayes"] == 0


def test_under_standard_whoever_is_at_risk_is_removed_and_counted() -> None:
    companies = datasets.local_suppression_example()
    p = protection.suppress(companies, k=2, nulls="standard")
    assert p.removed == p.suppressed_records == 3
    assert p.suppressed_cells == 12
    assert p.dataset.rows == 4
    with pytest.raises(
        OutOfReachError, match='out of reach for 3 of 7 companies: under "standard"'
    ):
        protection.suppress(companies, k=2, nulls="standard", out_of_reach="raise")


def test_what_must_not_be_touched_is_not_touched_or_said_to_be_needed() -> None:
    companies = datasets.local_suppression_example()
    with pytest.raises(
        OutOfReachError, match='out of reach for 2 of 7 companies: too few agree on "Area"'
    ):
        protection.suppress(companies, k=2, never="Area", nulls="maybe")
    with pytest.raises(
        InvalidInput, match="must not be touched, and 2-anonymity on them needs a change"
    ):
        protection.suppress(companies, k=2, never=companies.quasi_identifiers, nulls="maybe")


def test_dear_attributes_and_dear_cells_are_kept() -> None:
    # Either attribute of the third record would do; the dear one is kept.
    square = people(a=["x", "x", "x", "y", "y"], b=["u", "u", "v", "v", "v"])
    for dear, hidden in (("a", "b"), ("b", "a")):
        p = protection.suppress(square, k=2, importance={dear: 3}, nulls="maybe")
        assert [(d.record, d.attribute) for d in p.decisions] == [(2, hidden)]
        assert p.cost == 1
    # Of records that would do as well, the cheapest one keeps the last company.
    costs = {"a": [9.0, 1.0, 9.0, 9.0]}
    p = protection.suppress(people(a=["x", "x", "x", "y"]), k=2, nulls="value", cost=costs)
    assert {d.record for d in p.decisions} == {1, 3}


def test_the_same_seed_gives_the_same_protection_and_the_input_stays_as_it_was() -> None:
    companies = datasets.inflation_and_growth(1_000, balance="V", quasi_identifiers=6)
    first = companies.fingerprint
    one, two = (
        protection.suppress(companies, 3, search="cycle", order="random", seed=7, nulls="maybe")
        for _ in range(2)
    )
    assert one.dataset.equals(two.dataset)
    assert list(one.decisions) == list(two.decisions)
    assert companies.fingerprint == first


def test_a_hidden_value_leaves_no_trace_in_the_release() -> None:
    p = protection.suppress(datasets.local_suppression_example(), k=2, nulls="maybe")
    assert "Textiles" not in p.dataset.columns["Sector"].values.to_pylist()
    assert "Textiles" not in str(p.to_dict())
    assert "Textiles" not in str(p.decisions.to_arrow().to_pydict())
    assert "Textiles" in p.decisions.to_arrow(values=True)["from"].to_pylist()
    assert not any("Textiles" in said for said in p.decisions.explain())
    assert any("Textiles" in said for said in p.decisions.explain(values=True))


def test_all_that_is_wrong_with_a_wish_is_said_at_once() -> None:
    with pytest.raises(InvalidInput) as caught:
        protection.suppress(
            datasets.local_suppression_example(),
            k=0,
            nulls="mabye",  # type: ignore[arg-type]
            order="wieght",  # type: ignore[arg-type]
            importance={"Aera": 2},
        )
    text = str(caught.value)
    for wanted in (
        "not a whole number from 1",
        'Did you mean "maybe"?',
        'Did you mean "weight"?',
        'Did you mean "Area"?',
    ):
        assert wanted in text


def test_the_log_is_written_as_parquet_without_values_unless_asked(tmp_path: object) -> None:
    import pyarrow.parquet as pq

    p = protection.suppress(datasets.local_suppression_example(), k=2, nulls="maybe")
    p.decisions.write(f"{tmp_path}/log.parquet")
    log = pq.read_table(f"{tmp_path}/log.parquet")
    assert log.num_rows == 2
    assert "from" not in log.column_names
    assert log["label"].to_pylist() == [1, 2]


def test_a_release_is_never_written_over_what_exists(tmp_path: object) -> None:
    p = protection.suppress(datasets.local_suppression_example(), k=2, nulls="maybe")
    p.write(f"{tmp_path}/out.csv")
    with pytest.raises(InvalidInput, match="exists already"):
        p.write(f"{tmp_path}/out.csv")
    assert dv.read(f"{tmp_path}/out.csv").rows == 7


def test_a_cell_that_was_absent_gives_no_company_to_one_that_is_hidden() -> None:
    rows = [("y", "z"), ("x", "z"), ("z", "z"), ("x", "z"), ("y", None), ("z", "z")]
    dataset = people(a=[row[0] for row in rows], b=[row[1] for row in rows])
    p = protection.suppress(dataset, k=2, nulls="value")
    assert p.bound == p.suppressed_cells == plain.cheapest(rows, 2, "value", 3) == 2


def test_whom_the_nulls_of_another_subset_leave_short_is_removed() -> None:
    dataset = people(
        a=["x", "z", "z", "z", "z", "y", "y"],
        b=["z", "y", "z", "y", "z", "y", "y"],
        c=[None, "z", "y", "z", "z", "y", "x"],
        d=[None, "z", "x", "y", "x", "y", "y"],
    )
    p = protection.suppress(dataset, k=3, nulls="known", subsets=2, out_of_reach="remove", seed=1)
    for pair in combinations(p.among, 2):
        released = plain.rows_of(p.dataset, list(pair))
        first = plain.rows_of(dataset, list(pair))
        original = [first[place] for place in p.kept.tolist()]
        assert min(plain.frequencies(released, original, "known")) >= 3


def test_nulls_that_are_there_already_may_keep_to_the_limit_without_a_touch() -> None:
    shown = people(town=["a", None], trade=["x", "x"])
    p = protection.suppress(shown, k=2, never=["town", "trade"], nulls="maybe")
    assert len(p.decisions) == 0
    with pytest.raises(InvalidInput, match="must not be touched"):
        protection.suppress(shown, k=2, nulls="value", never=["town", "trade"])


@pytest.mark.parametrize("nulls", ["maybe", "known", "value", "bayes", "standard"])
def test_removing_records_touches_no_attribute(nulls: str) -> None:
    towns = people(town=["a", "a", "b"])
    p = protection.suppress(towns, 2, nulls, never=["town"], out_of_reach="remove")  # type: ignore[arg-type]
    assert p.dataset.to_arrow()["town"].to_pylist() == ["a", "a"]


def test_where_nulls_are_values_no_more_cells_of_a_record_are_hidden_than_suffice() -> None:
    table = pa.table({"q": ["v"] * 6, "z": list("aabccc")})
    dataset = Dataset.from_arrow(table, roles={"quasi_identifier": ["q", "z"]})
    for nulls in ("value", "bayes"):
        asked: Any = {"nulls": nulls, "cells_per_record": 1}
        p = protection.suppress(dataset, k=2, **asked)
        assert p.suppressed_cells == 2
        assert p.dataset.to_arrow()["q"].null_count == 0


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"k": float("nan")}, "k: .* is not a whole number"),
        ({"k": float("inf")}, "k: .* is not a whole number"),
        ({"k": None}, "k: .* is not a whole number"),
        ({"cells_per_record": "1"}, "cells_per_record: .* is not a whole number"),
        ({"cells_per_record": 1.5}, "cells_per_record: .* is not a whole number"),
        ({"cost": {"Area": "x"}}, 'cost, "Area": contains something that is no number'),
        ({"importance": {"Area": "x"}}, 'cost, "Area": contains something that is no number'),
    ],
)
def test_wishes_that_are_no_numbers_are_refused(asked: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        protection.suppress(datasets.local_suppression_example(), **{"k": 2, **asked})


def test_other_things_than_lists_names_and_numbers_are_refused() -> None:
    companies = datasets.local_suppression_example()
    limit: Any = dv.Limit("k_anonymity", at_least=2, nulls="maybe")
    nothing: Any = 5
    with pytest.raises(InvalidInput, match="limits: must be a list"):
        protection.protect(companies, limit)
    with pytest.raises(InvalidInput, match='no attribute "5"'):
        records.attack(companies, "CRS", [nothing])
    with pytest.raises(dv.DivulgeError, match="named by text"):
        records.attack(companies, "CRS", nothing)
    with pytest.raises(InvalidInput, match='alpha: "x" is not a share'):
        records.frequencies(companies, alpha="x", nulls="maybe")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="is not a size"):
        records.suda(companies, max_size=1.5, nulls="maybe")  # type: ignore[arg-type]


def test_what_is_written_follows_the_rules_of_publication(tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": ["a", "b", "c", "d"],
            "home": [1, 1, 2, 2],
            "sex": ["F", "F", "M", "M"],
            "note": ["x", "y", "z", "w"],
        }
    )
    roles = {"identifier": ["id"], "household": "home", "quasi_identifier": ["sex"]}
    p = protection.suppress(Dataset.from_arrow(table, roles=roles), k=2, nulls="maybe")
    with pytest.raises(InvalidInput, match='"note" has no role'):
        p.write(tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    with pytest.raises(InvalidInput, match="direct identifier"):
        p.write(tmp_path / "out.csv", publish=["id"], unlisted="drop")
    p.write(tmp_path / "dropped.csv", unlisted="drop")
    assert dv.read(tmp_path / "dropped.csv").names == ["sex"]
    p.write(tmp_path / "home.csv", unlisted="non_identifying", publish=["home"])
    released = dv.read(tmp_path / "home.csv").to_arrow()
    assert released.column_names == ["home", "sex", "note"]
    assert sorted(map(len, released["home"].to_pylist())) == [24] * 4
    p.write(tmp_path / "again.csv", unlisted="non_identifying", publish=["home"])
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "home.csv").read_bytes()
    p.write(tmp_path / "ordered.csv", unlisted="non_identifying", keep_order=True)
    assert dv.read(tmp_path / "ordered.csv").to_arrow()["note"].to_pylist() == ["x", "y", "z", "w"]
