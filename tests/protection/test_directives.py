"""What somebody's rules say must be done or left is obeyed, or told as out of reach."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge import Dataset, InvalidInput, Limit, datasets, protection, records
from divulge.protection import Directives, OutOfReachError
from divulge.protection.changes.changes import select_records

from .test_cycle import LIMITS, surveys

COMPANIES = datasets.local_suppression_example()
TWO = [Limit("k_anonymity", at_least=2)]
QUASI = ("town", "sex", "age")
IS_A = {"Area": [("Roma", "Center"), ("Milano", "North"), ("Torino", "North")]}


def texts(p: protection.Protected, name: str) -> list[Any]:
    return list(p.dataset.to_arrow()[name].to_pylist())


def cells(rows: int) -> st.SearchStrategy[list[tuple[int, str, str]]]:
    one = st.tuples(st.integers(0, rows - 1), st.sampled_from(QUASI), st.sampled_from(["a", "b"]))
    return st.lists(one, max_size=5)


@settings(deadline=None, max_examples=15)
@given(surveys(), st.sampled_from(LIMITS), st.data())
def test_kept_cells_go_out_as_they_are_or_the_limit_is_out_of_reach(
    dataset: Dataset, limit: Limit, data: st.DataObject
) -> None:
    kept = data.draw(cells(dataset.rows))
    local: Any = data.draw(st.sampled_from([False, True, "nested", "clusters"]))
    published = data.draw(st.sampled_from([None, QUASI]))
    reach: Any = data.draw(st.sampled_from(["raise", "remove"]))
    search: Any = data.draw(st.sampled_from(["fewest", "cycle"]))
    try:
        p = protection.protect(
            dataset,
            [limit],
            local=local,
            out_of_reach=reach,
            search=search,
            published=published,
            directives=Directives(keep=kept),
        )
    except OutOfReachError:
        return
    assert not p.unobeyed
    assert all(outcome.held for outcome in p.outcomes)
    before, after = dataset.to_arrow(), p.dataset.to_arrow()
    places = {int(number): place for place, number in enumerate(p.kept)}
    for record, name, _ in kept:
        shown = after[name][places[record]].as_py()
        assert str(shown) == str(before[name][record].as_py())


@settings(deadline=None, max_examples=15)
@given(
    surveys(), st.integers(2, 3), st.sampled_from(["bayes", "value", "maybe", "known"]), st.data()
)
def test_suppress_leaves_kept_cells_too(
    dataset: Dataset, k: int, nulls: Any, data: st.DataObject
) -> None:
    kept = data.draw(cells(dataset.rows))
    search: Any = data.draw(st.sampled_from(["fewest", "cycle"])) if nulls == "maybe" else "fewest"
    try:
        p = protection.suppress(dataset, k, nulls, search=search, directives=Directives(keep=kept))
    except OutOfReachError:
        return
    before, after = dataset.to_arrow(), p.dataset.to_arrow()
    for record, name, _ in kept:
        assert after[name][record].as_py() == before[name][record].as_py()
    found = records.frequencies(p.dataset, nulls, original=dataset).sample
    assert found.min() >= k - 1e-9


@settings(deadline=None, max_examples=15)
@given(surveys(), st.sampled_from(LIMITS), st.data())
def test_what_must_be_hidden_or_removed_is_whatever_the_risk(
    dataset: Dataset, limit: Limit, data: st.DataObject
) -> None:
    hidden = data.draw(cells(dataset.rows))
    removed = data.draw(st.lists(st.integers(0, dataset.rows - 1), max_size=2, unique=True))
    directives = Directives(hide=hidden, remove=[(each, "gone") for each in removed])
    try:
        p = protection.protect(dataset, [limit], out_of_reach="remove", directives=directives)
    except OutOfReachError:
        return
    assert not set(removed) & set(p.kept.tolist())
    assert all(outcome.held for outcome in p.outcomes)
    after = p.dataset.to_arrow()
    places = {int(number): place for place, number in enumerate(p.kept)}
    for record, name, _ in hidden:
        if record in places:
            assert after[name][places[record]].as_py() is None
    rules = {d.rule for d in p.decisions if d.origin == "directive"}
    assert rules <= {"a", "b", "gone"}
    assert p.decisions.replayed(p.original).to_arrow().equals(p.dataset.to_arrow()) or p.levels


def test_a_decision_names_the_rule_that_fired_in_every_form() -> None:
    p = protection.protect(
        COMPANIES,
        [Limit("k_anonymity", at_least=1)],
        ["recode", "suppress"],
        is_a=IS_A,
        directives=Directives(
            hide=[(0, "Sector", "small sectors")],
            remove=[(6, "withdrawn")],
            recode=[("Area", 1, "areas are broad")],
        ),
    )
    assert [(d.change, d.record, d.rule, d.origin) for d in p.decisions] == [
        ("recoded", None, "areas are broad", "directive"),
        ("suppressed", 0, "small sectors", "directive"),
        ("removed", 6, "withdrawn", "directive"),
    ]
    assert p.decisions.explain() == [
        'Area was recoded in every record: the rule "areas are broad" requires it, whatever the '
        "risk.",
        'Record 1: Sector was suppressed (null 1): the rule "small sectors" requires it, whatever '
        "the risk.",
        'Record 7 was removed: the rule "withdrawn" requires it, whatever the risk.',
    ]
    table = p.decisions.to_arrow()
    assert table["rule"].to_pylist() == ["areas are broad", "small sectors", "withdrawn"]
    assert set(table["origin"].to_pylist()) == {"directive"}
    assert set(texts(p, "Area")) == {"Center", "North"}
    assert p.levels == {"Area": 1}
    assert p.decisions[0].to_dict()["origin"] == "directive"


def test_a_limit_is_not_met_by_touching_a_kept_cell() -> None:
    every = [(record, name, "public register") for record in range(7) for name in COMPANIES.names]
    with pytest.raises(OutOfReachError, match='28 cells kept by "public register"'):
        protection.protect(COMPANIES, TWO, ["suppress"], directives=Directives(keep=every))
    with pytest.raises(OutOfReachError, match='kept by "public register"'):
        protection.suppress(COMPANIES, 2, directives=Directives(keep=every))


def test_what_protects_goes_before_what_is_kept_and_that_is_told() -> None:
    directives = Directives(
        keep=[(0, "Sector", "public"), (6, "Sector", "public"), (1, "Area", "public")],
        hide=[(0, "Sector", "secret")],
        remove=[(6, "withdrawn")],
        recode=[("Area", 1, "broad")],
    )
    p = protection.protect(
        COMPANIES, [Limit("k_anonymity", at_least=1)], is_a=IS_A, directives=directives
    )
    assert [(each.reason, each.rule, each.records) for each in p.unobeyed] == [
        ("removed_instead", "public", (6,)),
        ("hidden_instead", "public", (0,)),
        ("recoded_instead", "public", (1,)),
    ]
    said = " ".join(p.explain())
    assert 'The rule "public" (keep) is out of reach for 1 cell of "Sector": another rule' in said
    assert json.dumps(p.to_dict()["unobeyed"])


@pytest.mark.parametrize(
    ("directives", "reason"),
    [
        (Directives(hide=[(70, "Sector", "r")]), "no_record"),
        (Directives(remove=[("Roma", "r")]), "no_record"),
        (Directives(keep=[(0, "Sectr", "r")]), "no_attribute"),
        (Directives(hide=[(0, "Employees", "r")]), "never"),
        (Directives(recode=[("Employees", 1, "r")]), "never"),
        (Directives(recode=[("Area", 3, "r")]), "no_level"),
        (Directives(recode=[("Sector", 1, "r")]), "no_level"),
        (Directives(recode=[("Sectr", 1, "r")]), "no_attribute"),
        (Directives(prefer=[("Sectr", 1, "r")]), "no_attribute"),
        (Directives(methods=[("swap", 1, "r")]), "no_method"),
        (Directives(order=[("alphabetical", "r")]), "no_order"),
    ],
)
def test_what_cannot_be_obeyed_is_told_with_its_rule(directives: Directives, reason: str) -> None:
    p = protection.protect(COMPANIES, TWO, never="Employees", is_a=IS_A, directives=directives)
    assert [(each.reason, each.rule) for each in p.unobeyed] == [(reason, "r")]
    [said] = [each for each in p.explain() if 'rule "r"' in each]
    assert said == str(p.unobeyed[0])


def test_thresholds_need_a_limit_on_records() -> None:
    limit = [Limit("global_risk", at_most=0.9)]
    p = protection.protect(COMPANIES, limit, directives=Directives(threshold=[(0, 0.2, "r")]))
    assert [each.reason for each in p.unobeyed] == ["no_record_limit"]


def test_suppress_makes_nothing_coarser_and_says_so() -> None:
    dataset = protection.protect(COMPANIES, [Limit("k_anonymity", at_least=1)], is_a=IS_A).original
    p = protection.suppress(dataset, 2, directives=Directives(recode=[("Area", 1, "r")]))
    assert [each.reason for each in p.unobeyed] == ["no_recoding"]


@settings(deadline=None, max_examples=15)
@given(surveys(), st.data())
def test_a_record_with_its_own_k_has_as_many_alike(dataset: Dataset, data: st.DataObject) -> None:
    own = data.draw(
        st.dictionaries(st.integers(0, dataset.rows - 1), st.integers(1, 4), min_size=1, max_size=2)
    )
    rows = [(record, k, "own") for record, k in own.items()]
    directives = Directives(threshold=rows)
    try:
        p = protection.protect(dataset, TWO, ["suppress"], directives=directives)
    except OutOfReachError:
        return
    alike = records.frequencies(p.dataset, among=QUASI, original=p.original).sample
    for record, count in enumerate(alike.tolist()):
        assert count >= max(own.get(record, 2), 1) - 1e-9
    [outcome] = p.outcomes
    assert outcome.held
    assert "(own)" in " ".join(map(str, outcome.sentences))


@settings(deadline=None, max_examples=15)
@given(surveys(), st.sampled_from([0.05, 0.3, 0.6, 1.0]), st.booleans())
def test_a_record_with_its_own_risk_keeps_to_it(dataset: Dataset, own: float, linked: bool) -> None:
    options: dict[str, Any] = {"links": "home"} if linked else {}
    limit = Limit("reidentification_risk", at_most=0.5, **options)
    try:
        p = protection.protect(
            dataset, [limit], ["suppress"], directives=Directives(threshold=[(0, own, "own")])
        )
    except OutOfReachError:
        return
    found = records.reidentification_risk(p.dataset, among=QUASI, original=p.original)
    risk = found.values
    if linked:
        risk = records.cluster_risk(found, "home").values
    assert risk[0] <= own * (1 + 1e-9)
    assert (risk[1:] <= 0.5 * (1 + 1e-9)).all() or linked


def test_a_suppression_with_a_stricter_record_gives_all_as_many() -> None:
    p = protection.suppress(COMPANIES, 2, directives=Directives(threshold=[(0, 1 / 3, "own")]))
    assert p.k == 3
    assert records.frequencies(p.dataset, original=p.original).sample.min() >= 3 - 1e-9


def test_attributes_are_changed_in_the_order_of_their_ranks() -> None:
    for first, second in (("Area", "Sector"), ("Sector", "Area")):
        p = protection.protect(
            COMPANIES,
            [Limit("k_anonymity", at_least=2, nulls="maybe")],
            ["suppress"],
            directives=Directives(prefer=[(first, 1), (second, 2)]),
        )
        changed = {d.attribute for d in p.decisions}
        free = protection.protect(
            COMPANIES,
            [Limit("k_anonymity", at_least=2, nulls="maybe")],
            ["suppress"],
            never=[name for name in COMPANIES.names if name != first],
            out_of_reach="remove",
        )
        assert first in changed
        assert free.removed or changed == {first}


def test_methods_and_orders_of_rules_replace_those_that_were_asked_for() -> None:
    directives = Directives(
        methods=[("suppress", 1), ("recode", 2)], order=[("most risky first", "r")]
    )
    p = protection.protect(COMPANIES, TWO, is_a=IS_A, directives=directives)
    assert p.suppressed_cells
    assert not p.unobeyed
    twice = Directives(order=[("most risky first", "r"), ("less significant first", "s")])
    q = protection.protect(COMPANIES, TWO, directives=twice)
    assert [(each.reason, each.rule) for each in q.unobeyed] == [("other_order", "s")]


def test_records_may_be_named_by_an_id_and_tables_be_arrow() -> None:
    table = pa.table({"id": ["x", "y", "y", "z"], "town": ["Roma", "Roma", "Roma", "Bari"]})
    dataset = Dataset.from_arrow(table, roles={"quasi_identifier": ["town"], "identifier": "id"})
    hide = pa.table({"record": ["y", "w"], "attribute": ["town"] * 2, "rule": ["r"] * 2})
    p = protection.protect(
        dataset, [Limit("k_anonymity", at_least=1)], directives=Directives(hide=hide, on="id")
    )
    assert texts(p, "town") == ["Roma", None, None, "Bari"]
    assert [(each.reason, each.count) for each in p.unobeyed] == [("no_record", 1)]
    assert "w" not in str(p.unobeyed[0]).split('"')[2:]
    with pytest.raises(InvalidInput, match='"idd" is not an attribute'):
        protection.protect(dataset, TWO, directives=Directives(hide=hide, on="idd"))


@pytest.mark.parametrize(
    "tables",
    [
        {"keep": [(0,)]},
        {"remove": [(0, "r", "s")]},
        {"threshold": [(0, 0.0)]},
        {"threshold": [(0, float("nan"))]},
        {"recode": [("Area", 0.5)]},
        {"prefer": [("Area", "first")]},
    ],
)
def test_rows_that_cannot_be_are_refused(tables: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="directives"):
        Directives(**tables)


def test_decoys_spare_what_is_kept() -> None:
    dataset = datasets.inflation_and_growth(300, quasi_identifiers=4)
    hidden = protection.suppress(dataset, 3, decoys=1.0)
    changed = {(d.record, d.attribute) for d in hidden.decisions}
    needed = {(d.record, d.attribute) for d in hidden.needed.decisions} if hidden.needed else set()
    decoys = sorted(changed - needed)
    assert decoys
    keep = [(record, name, "public") for record, name in decoys]
    p = protection.suppress(dataset, 3, decoys=1.0, directives=Directives(keep=keep))
    assert not {(d.record, d.attribute) for d in p.decisions} & set(decoys)


def test_the_same_directives_give_the_same_result() -> None:
    dataset = datasets.inflation_and_growth(400, quasi_identifiers=4)
    keep = [(record, "Sector", "public") for record in range(0, 400, 7)]
    ways = [
        protection.protect(
            dataset, [Limit("k_anonymity", at_least=3)], directives=Directives(keep=k)
        )
        for k in (keep, keep[::-1])
    ]
    assert ways[0].dataset.to_arrow().equals(ways[1].dataset.to_arrow())
    assert (
        np.array_equal(
            select_records(dataset, np.arange(0, 400, 7)).columns["Sector"].codes,
            select_records(ways[0].dataset, np.arange(0, 400, 7)).columns["Sector"].codes,
        )
        or ways[0].removed
    )


@pytest.mark.parametrize("local", [True, "nested", "clusters"])
def test_an_order_of_records_is_out_of_reach_where_they_change_together(local: Any) -> None:
    ordered = Directives(order=[("most risky first", "r")])
    told = protection.protect(COMPANIES, TWO, local=local, directives=ordered)
    [failure] = told.unobeyed
    assert (failure.reason, failure.rule) == ("no_turns", "r")
    assert "none comes first" in str(failure)
    assert not protection.protect(COMPANIES, TWO, directives=ordered).unobeyed


def test_an_order_of_records_is_out_of_reach_where_classes_are_judged() -> None:
    table = pa.table({"town": ["Roma", "Roma", "Bari", "Bari"], "ill": ["a", "b", "a", "b"]})
    patients = Dataset.from_arrow(table, {"quasi_identifier": ["town"], "sensitive": ["ill"]})
    limits = [*TWO, Limit("distinct_l_diversity", at_least=2, attribute="ill")]
    ordered = Directives(order=[("most risky first", "r")])
    told = protection.protect(patients, limits, directives=ordered)
    assert [each.attribute for each in told.unobeyed] == ["distinct_l_diversity of ill at least 2"]
