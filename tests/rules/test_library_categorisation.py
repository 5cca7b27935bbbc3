"""Attributes put into categories by rules (Algorithm 1), beside the kernel that does the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.library_cases import FEW, run_library

import divulge as dv
from divulge.data import tuning
from divulge.data.dictionary import Role
from divulge.data.proposals.categorisation import categorise
from divulge.data.proposals.known_attributes import Experience, KnownAttribute
from divulge.rules import Facts, evaluate, load_library

SHIPPED = Experience.shipped()

FAMILIAR = ["Id", "birthDate", "sexo", "Haushaltsnummer", "Area", "sampling weight", "income"]
UNSEEN = ["Zulassungsbezirk X", "qwertz", "qwertz 2", "reg_area", "Monthly incom", "weight2"]


def _categorise(
    names: Iterable[str],
    known: Iterable[tuple[str, str]],
    decided: Iterable[tuple[str, str]] = (),
) -> Facts:
    import pyarrow as pa

    nothing = pa.table({"A": pa.array([], pa.string()), "C": pa.array([], pa.string())})
    data: dict[str, Any] = {
        "att": [("data", name) for name in names],
        "expbase": list(known),
        "decided": list(decided) or nothing,
    }
    return evaluate(load_library("categorisation"), data)


def _list_categories(facts: Facts) -> Mapping[str, set[str]]:
    """The categories of each attribute; none of an attribute that only a null stands for."""
    found: dict[str, set[str]] = {}
    for _, name, category in facts.rows("category"):
        found.setdefault(name, set()).update([category] if isinstance(category, str) else [])
    return found


def _shipped_pairs() -> list[tuple[str, str]]:
    return list(dict.fromkeys((one.name, one.role) for one in SHIPPED))


def test_the_schema_of_inflation_and_growth_is_put_into_its_categories() -> None:
    dataset = dv.datasets.inflation_and_growth_example()
    with _categorise(dataset.names, _shipped_pairs()) as facts:
        categories = _list_categories(facts)
        assert facts.conflicts == ()
    roles = {name: role for role, names in dataset.roles.items() for name in names}
    kernel = categorise(dict.fromkeys(dataset.names, ""), SHIPPED)
    assert categories["Id"] == {"identifier"}
    assert categories["Weight"] == {"weight"}
    for name in dataset.quasi_identifiers:
        assert categories[name] == {roles.get(name, "quasi_identifier")}
    for name, proposal in kernel.proposals.items():
        assert categories[name] == ({proposal.role} if proposal.role else set())


def test_two_categories_for_one_attribute_are_a_conflict_for_a_person() -> None:
    dataset = dv.datasets.inflation_and_growth_example()
    known = [*_shipped_pairs(), ("Area", "sensitive")]
    with _categorise(dataset.names, known) as facts:
        [conflict] = facts.conflicts
        assert conflict.binding["A"] == "Area"
        assert {conflict.left, conflict.right} == {"quasi_identifier", "sensitive"}
        assert ("data", "Area") in facts.rows("contested")
    with _categorise(dataset.names, known, [("Area", "quasi_identifier")]) as facts:
        assert facts.conflicts == ()
        assert _list_categories(facts)["Area"] == {"quasi_identifier"}


def test_an_attribute_that_nothing_is_like_has_a_null() -> None:
    with _categorise(["qwertz"], _shipped_pairs()) as facts:
        [(_, name, category)] = facts.rows("category")
        assert name == "qwertz"
        assert not isinstance(category, str)
        assert facts.invented_nulls == 1


def test_what_was_concluded_is_experience_for_what_is_like_it() -> None:
    # Only the first is like what is known, and the second like the first.
    names = ["regional cdoe", "regional cdoes r"]
    known: list[tuple[str, Role]] = [("regional code", "quasi_identifier")]
    experience = Experience(tuple(KnownAttribute(name, role) for name, role in known))
    with _categorise(names, known) as facts:
        assert facts.rows("learnt") == [("data", names[1], names[0], "quasi_identifier")]
        assert _list_categories(facts) == {name: {"quasi_identifier"} for name in names}
    alone = categorise(dict.fromkeys(names, ""), experience, feed_back=False)
    assert alone.proposals[names[1]].role is None
    fed_back = categorise(dict.fromkeys(names, ""), experience)
    assert [fed_back.proposals[name].role for name in names] == ["quasi_identifier"] * 2


@FEW
@given(
    st.lists(st.sampled_from([*FAMILIAR, *UNSEEN]), min_size=1, max_size=8, unique=True),
    st.lists(
        st.tuples(
            st.sampled_from([*FAMILIAR, "regional area", "monthly income", "weights"]),
            st.sampled_from(["identifier", "quasi_identifier", "weight", "sensitive"]),
        ),
        min_size=1,
        max_size=6,
        unique=True,
    ),
)
def test_categories_from_experience_are_those_of_the_kernel(
    names: list[str], known: list[tuple[str, Role]]
) -> None:
    base = Experience(tuple(KnownAttribute(name, role) for name, role in known))
    kernel = categorise(dict.fromkeys(names, ""), base, feed_back=False)
    with _categorise(names, known) as facts:
        borrowed: dict[str, set[str]] = {name: set() for name in names}
        for _, name, _, category in facts.rows("borrowed"):
            borrowed[name].add(category)
        conflicts = {conflict.binding["A"] for conflict in facts.conflicts}
        learnt = {name for _, name, _, _ in facts.rows("learnt")}
    for name, proposal in kernel.proposals.items():
        candidates = set(proposal.candidates) or {proposal.role} - {None}
        if proposal.status == "conflict" and proposal.candidates == (proposal.candidates[0],):
            # Several attributes for a role that only one can have: rules ask this of nobody.
            continue
        assert borrowed[name] == candidates
        assert (name in conflicts) == (len(candidates) > 1) or name in learnt


def test_the_margin_of_the_rules_is_that_of_the_kernel() -> None:
    assert f"case S < 1 then {tuning.TIE_MARGIN} else 0" in load_library("categorisation").text


def test_roles_that_are_declared_are_decisions() -> None:
    dataset = dv.datasets.inflation_and_growth_example()
    with run_library(dataset, "categorisation") as facts:
        assert facts.conflicts == ()
        declared = {
            (dataset.name, name, role)
            for role, names in dataset.roles.items()
            for name in ([names] if isinstance(names, str) else names)
        }
        assert declared <= set(facts.rows("category"))


def test_likeness_has_no_answer_for_names_that_are_not_alike() -> None:
    import pyarrow as pa

    texts = pa.array(["Id", "Area", None]), pa.array(["id", "income", "x"])
    assert dv.rules.measure_likeness(*texts) == [pytest.approx(1.0), None, None]
