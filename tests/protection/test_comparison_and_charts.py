"""Risk against utility, and the pictures of protection."""

import pyarrow as pa

from divulge import Dataset, Hierarchy, datasets, protection


def test_more_safety_costs_more_and_leaves_less_to_find() -> None:
    companies = datasets.inflation_and_growth(1_500, balance="V", quasi_identifiers=5)
    found = protection.risk_utility_map(companies, ks=(2, 5))
    at = {(point["method"], point["k"]): point for point in found.points}
    assert at["suppress (bayes)", 5]["risk"] < at["suppress (maybe)", 5]["risk"]
    assert at["suppress (bayes)", 5]["loss"] > at["suppress (maybe)", 5]["loss"]
    assert at["suppress (bayes)", 2]["alone"] == 0
    assert at["suppress (bayes)", 2]["loss"] <= at["suppress (bayes)", 5]["loss"]


def test_recoding_joins_the_map_where_there_are_hierarchies() -> None:
    table = pa.table({"town": ["Roma", "Roma", "Milano", "Torino"] * 2, "sex": ["f", "m"] * 4})
    towns = Hierarchy.from_pairs([("Roma", "Italy"), ("Milano", "Italy"), ("Torino", "Italy")])
    people = Dataset.from_arrow(
        table, roles={"quasi_identifier": ["town", "sex"]}, hierarchies={"town": towns}
    )
    methods = {point["method"] for point in protection.risk_utility_map(people, ks=(2,)).points}
    assert "recode" in methods


def test_the_charts_hold_the_figures_they_show() -> None:
    p = protection.suppress(datasets.local_suppression_example(), k=2, nulls="maybe")
    chart = p.chart()
    shown = {(row["counted"], row["when"]): row["alone"] for row in chart.records}
    assert shown["maybe", "before"] == 3
    assert shown["maybe", "after"] == 0
    assert shown["bayes", "after"] == p.alone()["bayes"]
    assert "<svg" in chart.svg()
    points = protection.risk_utility_map(datasets.local_suppression_example(), ks=(2, 3))
    assert len(points.chart().records) == len(points.points) == 6
