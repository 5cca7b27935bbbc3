"""Favato et al. (2022): the motivating example, Tables 2 and 3, and the threshold of Section 4.3."""

from __future__ import annotations

from typing import Any

import pytest

from divulge import datasets
from divulge.reconstruction import Allocation, allocate, clt_threshold

TARGET = "10653400001"


def example(**asked: Any) -> Allocation:
    records = datasets.trade_transactions_example().to_arrow().to_pylist()
    totals = datasets.trade_totals_example().to_arrow().to_pylist()
    return allocate(
        packages={str(r["order"]).zfill(11): (r["value"], r["weight"]) for r in records},
        bins={t["state"]: (t["value"], t["weight"]) for t in totals},
        units=("0.01", "0.00001"),
        **asked,
    )


def test_tables_2_and_3_at_032_no_allocation_fits() -> None:
    found = example(tolerance="0.32")
    assert found.status == "infeasible"
    assert found.count == 0
    assert found.violated == [("Minas Gerais", 1)]
    assert set(found.finding.values()) == {"open"}


@pytest.mark.parametrize("tolerance", ["0.33", "0.5", 1, 111, "111.99"])
def test_tables_2_and_3_up_to_below_112_exactly_one_allocation_fits(tolerance: Any) -> None:
    found = example(tolerance=tolerance)
    assert found.status == "closed"
    assert found.count == 1
    assert set(found.finding.values()) == {"certain"}
    assert len(found.finding) == 14
    assert found.verify()


@pytest.mark.parametrize(
    "rule", ["sum_then_round", "sum_then_round_half_even", "unknown_hard", "diagnose"]
)
def test_tables_2_and_3_by_the_rules_that_fit_them(rule: str) -> None:
    found = example(rounding=rule)
    assert found.count == 1
    assert found.possible[TARGET] == {"Minas Gerais"}
    assert found.finding[TARGET] == "certain"


def test_what_rests_on_the_central_limit_theorem_is_never_certain() -> None:
    found = example(rounding="unknown_clt")
    assert found.count == 1
    assert "certain" not in found.finding.values()
    assert found.rests_on_rule == set(found.possible)


def test_tables_2_and_3_at_112_there_are_four_allocations() -> None:
    found = example(tolerance=112)
    assert found.count == 4
    assert found.possible[TARGET] == {"Minas Gerais"}


def test_tables_2_and_3_the_target_stays_in_minas_gerais_up_to_246() -> None:
    assert example(tolerance=246).possible[TARGET] == {"Minas Gerais"}
    assert example(tolerance=247).possible[TARGET] == {"Minas Gerais", "Espirito Santo"}
    assert example(tolerance=247).finding[TARGET] == "ambiguous"


def test_section_4_3_a_difference_above_the_threshold_is_no_rounding() -> None:
    assert round(clt_threshold(3), 3) == 1.165
    assert clt_threshold(3) < 5.7 - 4.5
    assert clt_threshold(1) == 0.5  # where the normal approximation exceeds what is possible
    three = {"a": "1.9", "b": "1.9", "c": "1.9"}
    assert allocate(three, {"b": "5"}, "0.1", "unknown_clt").status == "closed"
    assert allocate(three, {"b": "7"}, "0.1", "unknown_clt").status == "infeasible"  # 1.3 off


def test_the_certificate_of_the_example_is_what_figure_3_draws() -> None:
    [only] = example().certificates
    assert only["12343400002"] == only["10652800002"] == only[TARGET] == "Minas Gerais"
    assert only["05566500003"] == "Ceara"
    chart = example().chart()
    assert {r["bin"] for r in chart.records} >= {"Ceara", "Minas Gerais"}


def test_the_chart_tells_of_all_bins_also_of_those_it_does_not_draw() -> None:
    many = {f"bin {n:02d}": 2**n + 2**n for n in range(14)}
    packages = {(n, side): 2**n for n in range(14) for side in "ab"}
    chart = allocate(packages, many, "1", "exact", rule_is_known=True).chart()
    assert len({r["bin"] for r in chart.records}) == 12
    assert chart.description.startswith("Packages by bin (the first 12 are drawn): ")
    told = [int(part.split(": ")[-1].split()[0]) for part in chart.description.split("; ")]
    assert len(told) == 14
    assert sum(told) == 28
    assert min(told) > 0
