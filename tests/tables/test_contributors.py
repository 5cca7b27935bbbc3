"""Contributors: how far rules protect them, and what insiders compute."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from tests.tables.test_assessment import firms

import divulge as dv
from divulge.tables import (
    Table,
    exposed_to_insiders,
    intervals,
    link,
    sensitive_cells,
    suppress,
)
from divulge.tables.feasibility.sensitivity import SensitivityRules, compute_rule_levels
from divulge.work import InvalidInput


def test_every_rule_asks_for_what_would_make_it_content() -> None:
    table = Table.from_records(firms(), ["sector", "size"], "turnover")
    place = table.structure.cell_number((0, 1))  # sector a, small: 50, 40 and 10
    asked = {
        "p_percent": (SensitivityRules(p_percent=25), 3),  # 12.5 - 10, in whole units
        "pq": (SensitivityRules(pq=(25, 50)), 15),  # 25 - 10
        "dominance": (SensitivityRules(dominance=(2, 80)), 13),  # 90 / 0.8 - 100
        "request": (SensitivityRules(request=40), 25),  # 50 / 0.4 - 100
        "content": (SensitivityRules(p_percent=15), 0),
        "counts": (SensitivityRules(min_frequency=4), 0),
    }
    for rules, expected in asked.values():
        upper, lower = compute_rule_levels(table, rules)
        assert upper[place] == expected
        assert lower[place] == min(expected, 100)


def rich() -> dv.Dataset:
    """Nine cells of three contributors each; one of them is dominated."""
    random = np.random.default_rng(2)
    rows = [(r, c) for r in "abc" for c in "xyz" for _ in range(3)]
    amounts = random.integers(20, 60, len(rows))
    amounts[:3] = [400, 10, 5]
    columns = {"row": [r for r, _ in rows], "column": [c for _, c in rows], "turnover": amounts}
    return dv.Dataset.from_arrow(pa.table(columns))


def test_a_dominated_cell_is_protected_until_the_rule_is_content() -> None:
    table = Table.from_records(rich(), ["row", "column"], "turnover")
    assert np.argwhere(sensitive_cells(table, p_percent=10)).tolist()[0] == [0, 0]
    found = suppress(table, margins="suppressible", p_percent=10)
    low, high = intervals(found.published)[(0, 0)]
    assert high - 415 >= 35, "10% of 400 less the 5 of the third"
    assert 415 - low >= 35
    by_width = suppress(table, margins="suppressible", rule_protection=False, p_percent=10)
    assert by_width.required.max() == 1


def test_linked_tables_from_records_know_their_contributors() -> None:
    one = Table.from_records(firms(), ["sector", "size"], "turnover")
    two = Table.from_records(firms(), ["sector", "owner"], "turnover")
    mask = sensitive_cells(link(one, two), p_percent=25)
    assert np.array_equal(mask[0], sensitive_cells(one, p_percent=25))
    assert np.array_equal(mask[1], sensitive_cells(two, p_percent=25))


def four_cells() -> Table:
    """A 2 x 2 table; the first cell is one firm's, the last another's alone."""
    columns = {
        "row": ["a", "a", "a", "b", "b", "b"],
        "column": ["x", "y", "y", "x", "x", "y"],
        "amount": [9, 4, 5, 6, 7, 8],
    }
    return Table.from_records(dv.Dataset.from_arrow(pa.table(columns)), ["row", "column"], "amount")


def test_who_filled_a_suppressed_cell_alone_undoes_the_pattern() -> None:
    table = four_cells()
    published = table.publish({(0, 0), (0, 1), (1, 0), (1, 1)})
    assert intervals(published).disclosed == []
    assert exposed_to_insiders(table, published, coalition=0) == []
    found = exposed_to_insiders(table, published, coalition=1)
    assert [(e.key, e.insiders, e.elsewhere) for e in found] == [
        ((0, 0), 1, True),
        ((1, 1), 1, True),
    ]
    assert "another suppressed cell" in str(found[0])


def test_coalitions_expose_the_last_of_a_published_cell() -> None:
    table = four_cells()
    alone = {e.key: e.insiders for e in exposed_to_insiders(table, table.publish(), coalition=1)}
    assert alone == {(0, 0): 0, (0, 1): 1, (1, 0): 1, (1, 1): 0}
    pairs = {e.key: e.insiders for e in exposed_to_insiders(table, table.publish(), coalition=2)}
    assert pairs == {**alone, (0, 2): 2, (1, 2): 2, (2, 0): 2, (2, 1): 2}


def test_insiders_need_records() -> None:
    table = Table.from_cells([[1, 2], [3, 4]])
    with pytest.raises(InvalidInput, match="made from records"):
        exposed_to_insiders(table, table.publish())
