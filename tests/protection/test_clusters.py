"""Clusters of linked records are lowered, with few cells, by whosever cells do it."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import prod
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from divulge import Dataset, Limit, datasets, protection, records
from divulge.protection import OutOfReachError
from divulge.records import Links
from divulge.work import InvalidInput

Row = list[Any]


def count_plainly(rows: list[Row]) -> list[int]:
    """How many may be each record, where a hidden cell may be anything."""
    return [
        sum(
            all(x is None or y is None or x == y for x, y in zip(one, other, strict=True))
            for other in rows
        )
        for one in rows
    ]


def find_highest_risk(rows: list[Row], pairs: list[tuple[int, int]]) -> float:
    cluster = list(range(len(rows)))
    for _ in rows:
        for one, other in pairs:
            cluster[one] = cluster[other] = min(cluster[one], cluster[other])
    counts = count_plainly(rows)
    return max(
        1 - prod(1 - 1 / f for f, theirs in zip(counts, cluster, strict=True) if theirs == mine)
        for mine in set(cluster)
    )


def find_fewest(rows: list[Row], pairs: list[tuple[int, int]], most: int = 5) -> int | None:
    """The fewest cells that must be hidden so that no cluster is found more than once in two."""
    cells = [(record, a) for record in range(len(rows)) for a in range(len(rows[0]))]
    for size in range(most + 1):
        for chosen in combinations(cells, size):
            hidden = [
                [None if (i, a) in chosen else v for a, v in enumerate(row)]
                for i, row in enumerate(rows)
            ]
            if find_highest_risk(hidden, pairs) <= 0.5 + 1e-9:
                return size
    return None


def build(rows: list[Row]) -> Dataset:
    names = [f"q{a}" for a in range(len(rows[0]))]
    columns = {name: [row[a] for row in rows] for a, name in enumerate(names)}
    return Dataset.from_arrow(pa.table(columns), {"quasi_identifier": names})


def test_clusters_take_hardly_more_cells_than_the_fewest_by_exhaustive_search() -> None:
    cells = fewest = 0
    for seed in range(8):
        random = Random(seed)  # noqa: S311  # made-up data
        rows = [[random.randrange(2 + seed % 2) for _ in range(2)] for _ in range(6)]
        ends = [random.sample(range(6), 2) for _ in range(1 + seed % 3)]
        pairs = [(one, other) for one, other in ends]
        best = find_fewest(rows, pairs)
        if best is None:
            continue
        limit = Limit("k_anonymity", at_least=2, nulls="maybe", links=pairs)
        p = protection.protect(build(rows), [limit], ["suppress"])
        released = [list(row.values()) for row in p.dataset.to_arrow().to_pylist()]
        assert find_highest_risk(released, pairs) <= 0.5 + 1e-9
        cells, fewest = cells + p.suppressed_cells, fewest + best
    assert fewest > 15
    assert cells <= 1.10 * fewest


def test_a_cluster_is_lowered_by_its_one_risky_member() -> None:
    companies = datasets.inflation_and_growth(300, balance="U", seed=11)
    counts = records.frequencies(companies).sample
    alone = int(np.flatnonzero(counts == 1)[0])
    common = np.argsort(-counts)[:12].tolist()
    pairs = [(alone, each) for each in common]
    limit = Limit("reidentification_risk", at_most=0.05, nulls="maybe")
    free = protection.protect(companies, [limit], ["suppress"])
    linked = protection.protect(companies, [limit.with_options(links=pairs)], ["suppress"])
    assert linked.suppressed_cells <= free.suppressed_cells + 4
    changed = {r for c in linked.decisions.changes for r in c.records.tolist()}
    assert not changed & set(common[1:]), "whoever is safe alone keeps their cells"


@pytest.mark.parametrize("published", [None, ["area", "sector", "size"]])
def test_many_links_cost_no_more_than_the_company_that_the_largest_cluster_needs(
    published: list[str] | None,
) -> None:
    random = np.random.default_rng(1)
    table = pa.table(
        {
            "area": random.choice(["N", "S", "E"], 120),
            "sector": random.choice(["a", "b", "c", "d"], 120),
            "size": random.integers(1, 5, 120),
        }
    )
    companies = Dataset.from_arrow(table, {"quasi_identifier": table.column_names})
    pairs = [(one, one + 1) for one in range(0, 36, 3)] + [(one, one + 2) for one in range(0, 9, 3)]
    limit = Limit("k_anonymity", at_least=3, links=pairs)
    p = protection.protect(companies, [limit], ["suppress"], published=published)
    # Three members, each of whom looks like eight, are found with a chance of one in three.
    assert p.suppressed_cells <= protection.suppress(companies, 8).suppressed_cells
    found = records.frequencies(p.dataset, original=companies).sample
    clusters = [{i} for i in range(120)]
    for one, other in pairs:
        clusters[one] |= clusters[other]
    assert max(1 - prod(1 - 1 / found[i] for i in each) for each in clusters) <= 1 / 3 + 1e-9


def test_links_hold_whatever_is_removed_in_between() -> None:
    """A chain by way of a record that is removed still links; numbers are those of the source."""
    rows = [[0, 9], [1, 5], [1, 5], [1, 5], [2, 6], [2, 6], [2, 6], [2, 6]]
    pairs = [(1, 0), (0, 4)]
    limit = Limit("k_anonymity", at_least=2, nulls="value", links=pairs)
    p = protection.protect(build(rows), [limit], ["suppress"], never=["q0"], out_of_reach="remove")
    assert p.removed >= 1
    kept = p.kept.tolist()
    counts = records.frequencies(p.dataset, "value").sample.tolist()
    risk = {number: 1 / count for number, count in zip(kept, counts, strict=True)}
    assert 1 - (1 - risk.get(1, 0)) * (1 - risk.get(4, 0)) <= 0.5 + 1e-9


def test_the_cycle_of_the_paper_takes_links_too() -> None:
    companies = datasets.inflation_and_growth(200, balance="V", seed=4)
    pairs = [(i, i + 1) for i in range(0, 80, 2)]
    limit = Limit("k_anonymity", at_least=2, nulls="maybe", links=pairs)
    by_cycle = protection.protect(companies, [limit], ["suppress"], search="cycle")
    fewest = protection.protect(companies, [limit], ["suppress"])
    assert 0 < fewest.suppressed_cells <= by_cycle.suppressed_cells


@pytest.mark.parametrize("nulls", ["bayes", "value", "known"])
def test_every_reading_of_a_null_takes_links(nulls: Any) -> None:
    companies = datasets.inflation_and_growth(60, balance="V", seed=2)
    ids = companies.to_arrow()["Id"].to_pylist()
    links = Links(pairs=((ids[0], 1), (1, ids[1]), (ids[2], ids[3])), on="Id")
    limit = Limit("k_anonymity", at_least=2, nulls=nulls, links=links)
    p = protection.protect(companies, [limit], ["suppress"], out_of_reach="remove")
    original = companies if not p.removed else None
    assert all(outcome.held for outcome in p.outcomes)
    if original is not None:
        risk = records.prosecutor_risk(p.dataset, nulls=nulls, original=companies)
        assert records.cluster_risk(risk, links).highest <= 0.5 + 1e-9


def test_minimal_uniques_are_made_larger() -> None:
    companies = datasets.inflation_and_growth_example()
    limit = Limit("minimal_unique_size", at_least=3, among=["Area", "Sector", "Employees"])
    p = protection.protect(companies, [limit], ["suppress"], out_of_reach="remove")
    assert not p.removed
    found = records.minimal_unique_size(
        p.dataset, among=["Area", "Sector", "Employees"], original=companies
    )
    assert found.value >= 3


def test_links_of_all_limits_are_never_ignored() -> None:
    companies = datasets.inflation_and_growth_example()
    for limit, wanted in [
        (Limit("k_anonymity", at_least=2), 'Did you mean "Area"?'),
        (Limit("t_closeness", at_most=0.5, attribute="Growth"), "do not go with measure"),
        (Limit("deterministic.posterior", at_most=0.5), "it is they who may know of links"),
    ]:
        with pytest.raises(InvalidInput) as refused:
            protection.protect(companies, [limit], ["suppress"], links="Areaa")
        assert wanted in str(refused.value)
    with pytest.raises(InvalidInput, match="ends name no record"):
        protection.protect(companies, [Limit("k_anonymity", at_least=2)], links=[(0, 99)])
    with pytest.raises(OutOfReachError, match="with links"):
        protection.protect(
            companies,
            [Limit("k_anonymity", at_least=2)],
            ["suppress"],
            never=companies.quasi_identifiers,
            links="Area",
        )


def test_links_that_endanger_nobody_cost_nothing_for_risks_as_for_counts() -> None:
    """Four cells are enough for all 25,000 companies, and 40 groups of eleven need no more."""
    companies = datasets.inflation_and_growth(25_000, balance="V")
    rare = 1 / np.array(companies.to_arrow()["Weight"].to_pylist(), float)
    ends = np.random.default_rng(7).choice(25_000, 440, replace=False, p=rare / rare.sum())
    groups = ends.reshape(40, 11).tolist()
    pairs = [pair for group in groups for pair in pairwise(group)]
    for limit in (
        Limit("prosecutor_risk", at_most=0.5, nulls="maybe", links=pairs),
        Limit("k_anonymity", at_least=2, nulls="maybe", links=pairs),
    ):
        assert protection.protect(companies, [limit], ["suppress"]).suppressed_cells == 4
