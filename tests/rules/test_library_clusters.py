"""Risk of linked records (Algorithm 9), and the links: company groups, families."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.library_cases import FEW, companies, read_by_record, run_library

import divulge as dv
from divulge.data import Dataset
from divulge.records.risk.links.links import read_links
from divulge.rules import evaluate, load_library


@st.composite
def linked_companies(draw: st.DrawFn, number: int) -> tuple[Dataset, list[tuple[object, object]]]:
    """Companies and pairs of them; one end may be of no record, and pairs then chain by it."""
    dataset = draw(companies(number))
    keys = dataset.to_arrow().column("Id").to_pylist()
    ends = st.sampled_from([*keys, f"{number}-outsider"])
    pairs = draw(st.lists(st.tuples(ends, st.sampled_from(keys)), min_size=1, max_size=6))
    return dataset, list(pairs)


@FEW
@given(
    st.tuples(*map(linked_companies, range(4))),
    st.sampled_from(["reidentification_risk", "individual_risk"]),
)
def test_cluster_risk_is_that_of_the_kernel(
    linked: tuple[tuple[Dataset, list[tuple[object, object]]], ...], measure: str
) -> None:
    datasets = [dataset for dataset, _ in linked]
    rel = [pair for _, pairs in linked for pair in pairs]
    with run_library(datasets, measure, "cluster_risk", rel=rel, limit=[(0.3,)]) as facts:
        anonymize = {key for (key,) in facts.rows("anonymize")}
        released = {key for _, key, _ in facts.rows("released")}
        for dataset, pairs in linked:
            if measure == "individual_risk":
                alone = dv.records.individual_risk(dataset, "ratio", nulls="maybe").values
            else:
                alone = dv.records.reidentification_risk(dataset, nulls="maybe").values
            kernel = read_links(pairs, on="Id").find_clusters(dataset).combine_risks(alone)
            found = read_by_record(facts, "cluster_risk", dataset)
            assert found == pytest.approx(kernel.tolist(), rel=1e-9, abs=1e-12)
            keys = dataset.to_arrow().column("Id").to_pylist()
            above = {key for key, risk in zip(keys, found, strict=True) if risk > 0.3}
            assert anonymize & set(keys) == above
            assert released & set(keys) == set(keys) - above


def test_whoever_is_linked_to_nobody_keeps_the_risk_to_the_last_digit() -> None:
    dataset = dv.datasets.inflation_and_growth_example()
    # The fourth company's risk is 1/60, which 1 - (1 - 1/60) is not.
    with run_library(
        dataset, "reidentification_risk", "cluster_risk", rel=[(1, 2)], limit=[(0.5,)]
    ) as facts:
        assert facts.rows("cluster_risk") == facts.rows("risk")
        assert facts.rows("anonymize") == []


def test_without_an_identifier_links_are_between_numbers_of_records() -> None:
    example = dv.datasets.local_suppression_example()
    roles = {"quasi_identifier": example.quasi_identifiers}
    dataset = example.describe(roles=roles)
    with run_library(
        dataset, "k_anonymity", "cluster_risk", k=[(2,)], rel=[(1, 2), (2, 3)], limit=[(0.5,)]
    ) as facts:
        assert facts.rows("anonymize") == [(1,), (2,), (3,), (6,), (7,)]


def test_whoever_holds_a_majority_directly_and_by_way_of_others_controls() -> None:
    own = [("X", "Y", 0.4), ("X", "Z", 0.6), ("Z", "Y", 0.2), ("A", "B", 0.5), ("B", "A", 0.9)]
    with evaluate(load_library("company_control"), {"own": own}) as facts:
        assert [pair for pair in facts.rows("rel") if pair[0] != pair[1]] == [
            ("B", "A"),
            ("X", "Y"),
            ("X", "Z"),
        ]


def test_company_control_makes_the_clusters_of_the_risk() -> None:
    dataset = dv.datasets.inflation_and_growth_example()
    keys = dataset.to_arrow().column("Id").to_pylist()
    own = [(keys[0], keys[1], 0.6), (keys[1], keys[2], 0.3), (keys[0], keys[2], 0.3)]
    with run_library(
        dataset,
        "company_control",
        "reidentification_risk",
        "cluster_risk",
        own=own,
        limit=[(0.02,)],
    ) as facts:
        risk = read_by_record(facts, "cluster_risk", dataset)
    joint = 1 - (1 - 1 / 230) * (1 - 1 / 190) * (1 - 1 / 70)
    assert risk[:3] == pytest.approx([joint] * 3)
    assert risk[3] == 1 / 60


def test_families_share_an_address_and_a_surname() -> None:
    lives = [
        ("Anna", "Via Po 1", "Rossi"),
        ("Bruno", " via po 1", "ROSSI "),
        ("Carla", "Via Po 1", "Bianchi"),
        ("Dino", None, "Rossi"),
        ("Elsa", None, "Rossi"),
        ("Fabio", "Via Po 2", "Rossi"),
    ]
    with evaluate(load_library("families"), {"lives": lives}) as facts:
        assert facts.rows("rel") == [("Anna", "Bruno"), ("Bruno", "Anna")]


def test_a_bank_of_a_province_with_fewer_than_three_is_never_published() -> None:
    provinces = ["Roma"] * 3 + ["Asti"] * 2 + ["Nuoro"] + [None]
    bank = [(number, province) for number, province in enumerate(provinces, start=1)]
    with evaluate(load_library("few_banks"), {"bank": bank}) as facts:
        assert facts.rows("remove") == [(4,), (5,), (6,), (7,)]
        assert facts.rows("banks") == [("Asti", 2), ("Nuoro", 1), ("Roma", 3)]
