"""Rounds of the cycle (Algorithms 2, 7, 8 and 9): rules and kernels name the same records and steps.

The cycle is the recursion: rules are evaluated, the kernel changes the data, rules are evaluated
again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from tests.rules.library_cases import FEW, companies, copy_roles, run_library

import divulge as dv
from divulge.data import Dataset, Hierarchy
from divulge.protection import OutOfReachError
from divulge.protection.changes.changes import hide_cells
from divulge.protection.limits.goal_list import build_goals

ITALY = {
    "Area": Hierarchy.from_levels(
        [["Roma", "Center", "Italy"], ["Milano", "North", "Italy"], ["Torino", "North", "Italy"]]
    )
}


def _list_keys(dataset: Dataset) -> np.ndarray:
    return np.array(dataset.to_arrow().column("Id").to_pylist())


def _find_above(dataset: Dataset, limit: dv.Limit, links: object = None) -> set[str]:
    """Whom the kernel's limit finds above what is accepted."""
    [goal] = build_goals(dataset, [limit], links=links, on=None if links is None else "Id")
    standing = goal.measure_standing(dataset, dataset)
    return set(_list_keys(dataset)[standing.at_risk].tolist())


@FEW
@given(companies(with_nulls=False), st.sampled_from([0.04, 0.1, 0.3, 0.6]))
def test_a_round_names_those_above_the_limit(dataset: Dataset, bound: float) -> None:
    limits = [
        dv.Limit("individual_risk", at_most=bound, nulls="maybe", method="ratio"),
        dv.Limit("reidentification_risk", at_most=bound, nulls="maybe"),
    ]
    for limit in limits:
        measure = limit.measure
        given_limit = {"limit": [(bound,)]}
        with run_library(dataset, measure, "anonymization_cycle", **given_limit) as facts:
            named = {key for (key,) in facts.rows("anonymize")}
            released = {key for _, key, _ in facts.rows("released")}
        assert named == _find_above(dataset, limit)
        assert released == set(_list_keys(dataset).tolist()) - named


@FEW
@given(companies(with_nulls=False), st.data())
def test_a_round_names_those_whose_cluster_is_above_the_limit(
    dataset: Dataset, data: st.DataObject
) -> None:
    keys = st.sampled_from(_list_keys(dataset).tolist())
    pairs = data.draw(st.lists(st.tuples(keys, keys), min_size=1, max_size=5))
    limit = dv.Limit("reidentification_risk", at_most=0.3, nulls="maybe")
    with run_library(
        dataset, "reidentification_risk", "cluster_risk", rel=pairs, limit=[(0.3,)]
    ) as facts:
        named = {key for (key,) in facts.rows("anonymize")}
    assert named == _find_above(dataset, limit, pairs)


def _follow_suppression(dataset: Dataset, k: int) -> int:
    """The kernel's steps are candidates, and the round after them names nobody; the steps taken.

    Hiding a cell makes nobody rarer, so whoever a later round changes was named in the first.
    """
    limit = dv.Limit("k_anonymity", at_least=k, nulls="maybe")
    protected = dv.protection.protect(dataset, [limit], methods=["suppress"], search="cycle")
    steps = {
        (_list_keys(dataset).tolist()[decision.record], decision.attribute)
        for decision in protected.decisions
        if decision.record is not None
    }
    programs = ("k_anonymity", "anonymization_cycle", "local_suppression")
    given_facts: dict[str, list[Any]] = {"k": [(k,)], "limit": [(0.5,)]}
    with run_library(dataset, *programs, **given_facts) as facts:
        candidates = {(key, name): pairs for _, key, name, pairs in facts.rows("candidate")}
        before = {key: pairs for _, key, pairs in facts.rows("tuple")}
        named = {key for (key,) in facts.rows("anonymize")}
    assert candidates.keys() == {(key, a) for key in named for a in dataset.quasi_identifiers}
    for (key, attribute), pairs in candidates.items():
        assert {name for name, _ in pairs - before[key]} == {attribute}
        assert len(pairs) == len(before[key])
    assert steps <= candidates.keys()
    with run_library(protected.dataset, *programs, **given_facts) as facts:
        assert facts.rows("anonymize") == []
    return len(steps)


def test_the_kernels_suppressions_of_figure_5_are_among_the_candidates() -> None:
    assert _follow_suppression(dv.datasets.local_suppression_example(), 2) == 2


@FEW
@given(companies(with_nulls=False, max_rows=6).filter(lambda dataset: dataset.rows > 1))
def test_the_kernels_suppressions_are_among_the_candidates(dataset: Dataset) -> None:
    _follow_suppression(dataset, 2)


def _replay_rounds(dataset: Dataset, k: int) -> int:
    """Each step of the kernel is among the candidates of the data as the steps before left them."""
    limit = dv.Limit("k_anonymity", at_least=k, nulls="maybe")
    protected = dv.protection.protect(dataset, [limit], methods=["suppress"], search="cycle")
    programs = ("k_anonymity", "anonymization_cycle", "local_suppression")
    given_facts: dict[str, list[Any]] = {"k": [(k,)], "limit": [(0.5,)]}
    keys = _list_keys(dataset).tolist()
    state = dataset
    steps = [each for each in protected.decisions if each.record is not None]
    for step in steps:
        assert step.record is not None
        with run_library(state, *programs, **given_facts) as facts:
            candidates = {(key, name) for _, key, name, _ in facts.rows("candidate")}
            named = {key for (key,) in facts.rows("anonymize")}
        assert keys[step.record] in named
        assert (keys[step.record], step.attribute) in candidates
        state = hide_cells(state, {str(step.attribute): np.array([step.record])})
    with run_library(state, *programs, **given_facts) as facts:
        assert facts.rows("anonymize") == []
    return len(steps)


def test_in_every_round_the_kernels_suppression_of_figure_5_is_a_candidate() -> None:
    assert _replay_rounds(dv.datasets.local_suppression_example(), 2) == 2


@settings(max_examples=3)
@given(companies(with_nulls=False, max_rows=4).filter(lambda dataset: dataset.rows > 1))
def test_in_every_round_the_kernels_suppression_is_a_candidate(dataset: Dataset) -> None:
    _replay_rounds(dataset, 2)


@settings(max_examples=3)
@given(companies(with_nulls=False, max_rows=5).filter(lambda dataset: dataset.rows > 2), st.data())
def test_in_every_round_under_links_the_kernels_suppression_is_a_candidate(
    dataset: Dataset, data: st.DataObject
) -> None:
    """Algorithm 9: whoever is changed is of a cluster that the rules name in that round."""
    keys = _list_keys(dataset).tolist()
    pair = st.tuples(st.sampled_from(keys), st.sampled_from(keys))
    pairs = data.draw(st.lists(pair, min_size=1, max_size=2))
    limit = dv.Limit("reidentification_risk", at_most=0.7, nulls="maybe")
    try:
        protected = dv.protection.protect(
            dataset, [limit], methods=["suppress"], search="cycle", links=pairs, on="Id"
        )
    except OutOfReachError:
        reject()
    programs = ("reidentification_risk", "cluster_risk", "local_suppression")
    state = dataset
    steps = [each for each in protected.decisions if each.record is not None]
    for step in steps:
        assert step.record is not None
        with run_library(state, *programs, rel=pairs, limit=[(0.7,)]) as facts:
            candidates = {(key, name) for _, key, name, _ in facts.rows("candidate")}
        assert (keys[step.record], step.attribute) in candidates
        state = hide_cells(state, {str(step.attribute): np.array([step.record])})
    with run_library(state, *programs, rel=pairs, limit=[(0.7,)]) as facts:
        assert facts.rows("anonymize") == []


def test_in_every_round_the_kernels_recoding_is_a_candidate() -> None:
    """The column climbs level by level; who is named at each level climbs as the column does."""
    example = dv.datasets.local_suppression_example()
    state = example.describe(roles=copy_roles(example), hierarchies=ITALY)
    limit = dv.Limit("k_anonymity", at_least=5, nulls="maybe")
    protected = dv.protection.protect(state, [limit], methods=["recode", "suppress"])
    steps = [each for each in protected.decisions if each.change == "recoded"]
    assert len(steps) == 2
    programs = ("k_anonymity", "anonymization_cycle", "global_recoding")
    hierarchy = ITALY["Area"]
    for level, step in enumerate(steps):
        column = hierarchy.coarsen(example.columns["Area"], level) if level else None
        if column is not None:
            state = replace(state, columns={**state.columns, "Area": column})
        types = {
            "type_of": [("Area", f"level {level}")],
            "sub_type_of": [("level 0", "level 1"), ("level 1", "level 2")],
            "inst_of": [
                *((city, "level 0") for city in ("Roma", "Milano", "Torino")),
                *((region, "level 1") for region in ("Center", "North")),
                ("Italy", "level 2"),
            ],
            "is_a": [
                ("Roma", "Center"),
                ("Milano", "North"),
                ("Torino", "North"),
                ("Center", "Italy"),
                ("North", "Italy"),
            ],
        }
        with run_library(state, *programs, k=[(5,)], limit=[(0.5,)], **types) as facts:
            coarser = {(name, value): above for _, name, value, above in facts.rows("coarser")}
            assert facts.rows("candidate")
        assert {("Area", v): above for v, above in step.binding["mapping"].items()} == coarser


LEVELS = {
    "Area": Hierarchy.from_levels(
        [
            ["North", "Mainland", "Italy"],
            ["Center", "Mainland", "Italy"],
            ["South", "Islands", "Italy"],
        ]
    ),
    "Sector": Hierarchy.from_levels([["Commerce", "Any"], ["Textiles", "Any"]]),
}


def _describe_levels(at: dict[str, int]) -> dict[str, list[Any]]:
    """What values are of what types, of attributes that are at some levels now."""
    types: dict[str, list[Any]] = {"type_of": [], "sub_type_of": [], "inst_of": [], "is_a": []}
    for name, hierarchy in LEVELS.items():
        values = ["North", "Center", "South"] if name == "Area" else ["Commerce", "Textiles"]
        types["type_of"].append((name, f"{name} {at[name]}"))
        for level in range(hierarchy.height + 1):
            here = {value: str(hierarchy.at(value, level)) for value in values}
            types["inst_of"] += sorted({(one, f"{name} {level}") for one in here.values()})
            if level < hierarchy.height:
                types["sub_type_of"].append((f"{name} {level}", f"{name} {level + 1}"))
                above = {(here[v], str(hierarchy.at(v, level + 1))) for v in values}
                types["is_a"] += sorted(above)
    return types


def _list_shown(dataset: Dataset, state: Dataset, name: str) -> set[tuple[int, Any]]:
    """Original values by their codes, each with what is shown of it now."""
    now = state.columns[name]
    return {
        (code, now.value(shown))
        for code, shown in zip(
            dataset.columns[name].codes.tolist(), now.codes.tolist(), strict=True
        )
    }


@settings(max_examples=3)
@given(companies(with_nulls=False, max_rows=6).filter(lambda dataset: dataset.rows > 1))
def test_in_every_round_the_kernels_recoding_of_random_companies_is_a_candidate(
    dataset: Dataset,
) -> None:
    """Algorithm 8: what the kernel makes of the values of who is named, the rules would make too."""
    roles = {"quasi_identifier": ["Area", "Sector"], "identifier": ["Id"]}
    state = dataset.describe(roles=roles, hierarchies=LEVELS)
    limit = dv.Limit("k_anonymity", at_least=2, nulls="maybe")
    protected = dv.protection.protect(state, [limit], methods=["recode"], suppression_limit=0.0)
    at = dict.fromkeys(LEVELS, 0)
    programs = ("k_anonymity", "anonymization_cycle", "global_recoding")
    given_facts: dict[str, list[Any]] = {"k": [(2,)], "limit": [(0.5,)]}
    # The kernel may take several levels of an attribute at once: each is a step of the rules.
    for name, height in protected.levels.items():
        for _ in range(height):
            with run_library(state, *programs, **given_facts, **_describe_levels(at)) as facts:
                steps = {value: z for _, a, value, z in facts.rows("coarser") if a == name}
                named = facts.rows("anonymize")
            if not named:
                return  # in another order, the kernel's steps before were not all needed
            assert steps
            assert steps == {
                value: LEVELS[name].at(dataset.columns[name].value(code), at[name] + 1)
                for code, value in _list_shown(dataset, state, name)
                if value in steps
            }
            at[name] += 1
            column = LEVELS[name].coarsen(dataset.columns[name], at[name])
            state = replace(state, columns={**state.columns, name: column})
    told = {name: level for name, level in at.items() if level}
    assert {step.attribute for step in protected.decisions} == told.keys()
    with run_library(state, *programs, **given_facts, **_describe_levels(at)) as facts:
        assert facts.rows("anonymize") == []


def test_the_kernels_recoding_of_figure_5_is_among_the_candidates() -> None:
    example = dv.datasets.local_suppression_example()
    dataset = example.describe(roles=copy_roles(example), hierarchies=ITALY)
    limit = dv.Limit("k_anonymity", at_least=2, nulls="maybe")
    protected = dv.protection.protect(dataset, [limit])
    first = next(iter(protected.decisions))
    assert (first.change, first.attribute) == ("recoded", "Area")
    with run_library(
        dataset,
        *("k_anonymity", "anonymization_cycle", "global_recoding"),
        k=[(2,)],
        limit=[(0.5,)],
    ) as facts:
        coarser = {(name, value): above for _, name, value, above in facts.rows("coarser")}
        candidates = {key: dict(pairs)["Area"] for _, key, _, pairs in facts.rows("candidate")}
    # Those who are alone show three values of it; each of them climbs where the column does.
    assert coarser == {("Area", value): above for value, above in first.binding["mapping"].items()}
    assert candidates == {"099876": "Center", "232498": "North", "340901": "North"}


def test_what_was_made_coarser_can_be_made_coarser_again() -> None:
    example = dv.datasets.local_suppression_example()
    dataset = example.describe(roles=copy_roles(example), hierarchies=ITALY)
    area = ITALY["Area"].coarsen(dataset.columns["Area"], 1)
    recoded = replace(dataset, columns={**dataset.columns, "Area": area})
    types = {
        "type_of": [("Area", "City")],
        "sub_type_of": [("City", "Region"), ("Region", "Country")],
        "inst_of": [("Center", "Region"), ("North", "Region"), ("Italy", "Country")],
        "is_a": [("Center", "Italy"), ("North", "Italy")],
    }
    with run_library(recoded, "global_recoding", anonymize=[("099876",)], **types) as facts:
        assert facts.rows("coarser") == [(dataset.name, "Area", "Center", "Italy")]


@pytest.mark.parametrize("limit", [0.0, 1.0])
def test_a_limit_that_everybody_or_nobody_meets(limit: float) -> None:
    dataset = dv.datasets.inflation_and_growth_example()
    with run_library(
        dataset, "reidentification_risk", "anonymization_cycle", limit=[(limit,)]
    ) as facts:
        assert facts.count("anonymize") == (0 if limit else dataset.rows)
        assert facts.count("released") == (dataset.rows if limit else 0)
