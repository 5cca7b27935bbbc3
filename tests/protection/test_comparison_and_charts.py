"""Risk against utility, and the pictures of protection."""

from divulge import datasets, protection


def test_more_safety_costs_more_and_leaves_less_to_find() -> None:
    companies = datasets.inflation_and_growth(1_500, balance="V", quasi_identifiers=5)
    found = protection.risk_utility_map(companies, ks=(2, 5))
    at = {(point.method, point.k): point for point in found.points}
    assert at["suppress (bayes)", 5].average_risk < at["suppress (maybe)", 5].average_risk
    assert at["suppress (bayes)", 5].loss > at["suppress (maybe)", 5].loss
    assert at["suppress (bayes)", 2].highest_risk <= 0.5 + 1e-9
    assert at["suppress (bayes)", 2].loss <= at["suppress (bayes)", 5].loss


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
