"""Links between records: everybody is as exposed as those whom they are linked to."""

from __future__ import annotations

from math import prod
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from divulge import Dataset, Limit, datasets, records
from divulge.assessment import attacks, measures
from divulge.records import Links
from divulge.records.risk.links.links import read_links
from divulge.records.risk.null_readings import HiddenCellsError
from divulge.work import InvalidInput


def join_plainly(ids: list[Any], pairs: list[tuple[Any, Any]]) -> list[int]:
    """The cluster of each record: ends take the smaller of two numbers until nothing changes."""
    number = {end: place for place, end in enumerate([*ids, *(e for pair in pairs for e in pair)])}
    for _ in range(len(number)):
        for one, other in pairs:
            number[one] = number[other] = min(number[one], number[other])
    return [number[each] for each in ids]


def combine_plainly(cluster: list[int], risk: list[float]) -> list[float]:
    return [
        1 - prod(1 - r for r, theirs in zip(risk, cluster, strict=True) if theirs == mine)
        for mine in cluster
    ]


def are_same_clusters(one: list[int], other: list[int]) -> bool:
    size = range(len(one))
    return all((one[i] == one[j]) == (other[i] == other[j]) for i in size for j in size)


people = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=8)
links_of_ids = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=6)


def build(rows: list[tuple[int, int]], **more: list[Any]) -> Dataset:
    table = {"id": list(range(len(rows))), "a": [r[0] for r in rows], "b": [r[1] for r in rows]}
    roles = {"identifier": ["id"], "quasi_identifier": ["a", "b"]}
    return Dataset.from_arrow(pa.table({**table, **more}), roles)


@given(people, links_of_ids)
def test_chains_by_way_of_records_and_outsiders_make_one_cluster(
    rows: list[tuple[int, int]], pairs: list[tuple[int, int]]
) -> None:
    dataset = build(rows)
    known = [pair for pair in pairs if min(pair) < len(rows)]
    if not known:
        return
    found = Links(pairs=tuple(pairs), on="id").find_clusters(dataset)
    assert are_same_clusters(found.of_record.tolist(), join_plainly(list(range(len(rows))), pairs))
    assert found.outsiders == len({end for pair in pairs for end in pair if end >= len(rows)})


@given(people, links_of_ids)
def test_risks_and_crowds_of_clusters_are_products_and_never_weaker_than_those_of_records(
    rows: list[tuple[int, int]], pairs: list[tuple[int, int]]
) -> None:
    dataset = build(rows)
    inside = [pair for pair in pairs if max(pair) < len(rows)]
    crowd = [rows.count(row) for row in rows]
    risk = combine_plainly(join_plainly(list(range(len(rows))), inside), [1 / f for f in crowd])
    linked = records.cluster_risk(records.prosecutor_risk(dataset), inside)
    assert linked.values.tolist() == pytest.approx(risk)
    limit = Limit("k_anonymity", at_least=2, links=inside)
    judged = measures()["k_anonymity"].of(dataset, limit)
    assert judged.value == pytest.approx(1 / max(risk))
    assert judged.value <= min(crowd) + 1e-9
    alone = measures()["minimal_unique_size"].of(dataset, Limit("minimal_unique_size", at_least=2))
    together = measures()["minimal_unique_size"].of(
        dataset, Limit("minimal_unique_size", at_least=2, links=inside)
    )
    assert together.value == alone.value
    assert together.sentence is not None
    assert alone.sentence is not None
    assert together.sentence.values["failing"] >= alone.sentence.values["failing"]


@given(people, st.integers(1, 3))
def test_the_smallest_unique_set_is_found_by_trying_every_set(
    rows: list[tuple[int, int]], max_size: int
) -> None:
    def smallest(row: tuple[int, int]) -> int:
        sizes = [
            len(chosen)
            for chosen in ([0], [1], [0, 1])
            if sum([r[a] for a in chosen] == [row[a] for a in chosen] for r in rows) == 1
        ]
        return min([size for size in sizes if size <= max_size], default=max_size + 1)

    found = records.minimal_unique_size(build(rows), max_size)
    assert found.values.tolist() == [smallest(row) for row in rows]


def test_equal_values_of_an_attribute_link_and_whoever_has_none_is_alone() -> None:
    dataset = build([(0, 0), (0, 0), (1, 1), (1, 1)], group=["x", "x", None, None])
    found = Links(attribute="group").find_clusters(dataset)
    assert found.sizes.tolist() == [2, 1, 1]
    assert found.linked == 2


def test_presence_of_linked_people_of_the_population_is_that_of_one_of_them() -> None:
    town = build([(0, 0), (0, 0), (1, 1), (1, 1)], home=[1, 2, 1, 3])
    ill = build([(0, 0), (1, 1)])
    limit = Limit("delta_presence", at_most=0.6, population=town, links="home")
    assert measures()["delta_presence"].of(ill, limit).value == pytest.approx(0.75)


def test_hidden_links_are_not_taken_for_none() -> None:
    hidden = datasets.local_suppression_example(protected=True)
    with pytest.raises(HiddenCellsError, match="which links records"):
        Links(attribute="Sector").find_clusters(hidden)


@pytest.mark.parametrize(
    ("links", "wanted"),
    [
        ([(0, 1, 2)], "1 is not a pair of two ends"),
        ([(0, None), (1, float("nan"))], "2 have a missing end"),
        (pa.table({"x": [1], "y": [2], "z": [3]}), "has 3 columns; a table of pairs has two"),
        ({"dataset": "p", "colums": ["x", "y"]}, 'Did you mean "columns"?'),
        ({"dataset": "p", "columns": ["x", "x"]}, 'names "x" twice'),
        ({"attribute": "a", "dataset": "p"}, "give either an attribute, or pairs"),
        ({"dataset": "p", "unknown": "ignore"}, "unknown"),
        (7, "neither an attribute nor pairs"),
    ],
)
def test_links_that_cannot_be_are_refused_with_the_limit(links: Any, wanted: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Limit("k_anonymity", at_least=2, links=links)
    assert wanted in str(refused.value)


def test_links_that_do_not_fit_the_records_are_refused() -> None:
    dataset = build([(0, 0), (0, 1)], person=["p", "p"], group=["x", "y"])
    with pytest.raises(InvalidInput, match='Did you mean "group"?'):
        Links(attribute="groop").find_clusters(dataset)
    with pytest.raises(InvalidInput, match="1 of 4 ends name no record"):
        Links(pairs=((0, 1), (1, 99)), on="id", unknown="error").find_clusters(dataset)
    with pytest.raises(InvalidInput, match="2 of 2 ends name no record .*the ends are str"):
        Links(pairs=(("0", "1"),), on="id").find_clusters(dataset)
    with pytest.raises(InvalidInput, match="without on, ends are numbers of records"):
        read_links([(0, 2)]).find_clusters(dataset)
    with pytest.raises(InvalidInput, match="outside a release, give it itself"):
        read_links({"dataset": "owners"}).find_clusters(dataset)
    several = dataset.describe({"person": "person", "quasi_identifier": ["a"]})
    with pytest.raises(InvalidInput, match="is not constant"):
        Links(attribute="group").find_clusters(several)


@pytest.mark.parametrize("measure", ["t_closeness", "household_risk", "dis_suda", "beta_likeness"])
def test_measures_that_cannot_take_links_say_so(measure: str) -> None:
    with pytest.raises(InvalidInput, match="do not go with measure"):
        Limit(measure, at_most=0.2, attribute="Growth", links="Area")


def test_counts_of_an_adversary_take_links_as_risks_do() -> None:
    companies = datasets.inflation_and_growth_example()
    attack = attacks()["risk"]
    found = {
        measure: attack.run(
            attack.Settings(measure=measure, knows=["Area"], links="Sector"), [companies]
        ).risk()
        for measure in ("k_anonymity", "prosecutor")
    }
    assert found["k_anonymity"].tolist() == pytest.approx(found["prosecutor"].tolist())


@pytest.mark.parametrize("unknown", ["outsider", "error"])
def test_who_was_removed_is_an_outsider_through_whom_others_are_linked_still(unknown: Any) -> None:
    links = Links(pairs=(("a", "b"), ("b", "c"), ("d", "e")), on="id", unknown=unknown)
    left, none_left = (
        Dataset.from_arrow(pa.table({"id": list(ids)}), roles={"identifier": ["id"]})
        for ids in ("acdf", "fg")
    )
    found = links.find_clusters(left, is_reduced=True)
    assert are_same_clusters(found.of_record.tolist(), [0, 0, 1, 2])
    alone = links.find_clusters(none_left, is_reduced=True)
    assert are_same_clusters(alone.of_record.tolist(), [0, 1])
    # In a source it is a mistake: nobody would be linked.
    with pytest.raises(InvalidInput):
        links.find_clusters(none_left)
