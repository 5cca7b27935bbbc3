"""Contributors: how far rules protect them, and what insiders compute."""

from __future__ import annotations

from itertools import product
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.tables.test_assessment import firms

import divulge as dv
from divulge.tables import (
    Table,
    audit,
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


# Insiders of linked tables


def linked_tables(rows: list[tuple[int, int, int]]) -> Table:
    columns = {name: [str(row[k]) for row in rows] for k, name in enumerate("rcd")}
    records = dv.Dataset.from_arrow(pa.table(columns))
    return link(Table.from_records(records, ["r", "c"]), Table.from_records(records, ["r", "d"]))


def list_linked_tables(column_totals: list[int], other_totals: list[int]) -> list[list[int]]:
    """All counts of two tables whose hidden row totals agree: r x c, r x d, and the two rows."""
    possible = []
    for splits in product(*(range(total + 1) for total in (*column_totals, *other_totals))):
        first, second = splits[: len(column_totals)], splits[len(column_totals) :]
        if sum(first) != sum(second):
            continue
        rests = [total - split for total, split in zip(column_totals, first, strict=True)]
        others = [total - split for total, split in zip(other_totals, second, strict=True)]
        possible.append([*first, *rests, *second, *others, sum(first), sum(rests)])
    return possible


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=3, max_size=9),
    st.sampled_from(["known", "secret"]),
    st.integers(1, 3),
)
@example([(0, 0, 0), (0, 0, 1), (1, 1, 0), (1, 1, 1), (1, 0, 1)], "known", 1)
def test_an_insider_of_linked_tables_knows_what_trying_all_of_them_tells(
    rows: list[tuple[int, int, int]], zeros: Literal["known", "secret"], width: int
) -> None:
    """The oracle: counts of both tables together, in each of which somebody knows their own."""
    assume(all(len({row[k] for row in rows}) == 2 for k in range(3)))
    table = linked_tables(rows)
    structure, (first, second) = table.structure, table.structure.numbers
    cells = [*first[:2, :2].ravel(), *second[:2, :2].ravel(), *first[:2, 2]]
    pattern = np.zeros(structure.size, dtype=bool)
    pattern[cells] = True
    column_totals, other_totals = first[2, :2], second[2, :2]
    tables = np.array(
        list_linked_tables(table.units[column_totals].tolist(), table.units[other_totals].tolist())
    )
    truth = table.units[cells]
    lacking = set()
    for own_row in (None, *rows):
        own = np.zeros(len(cells), dtype=int)
        if own_row is not None:
            r, c, d = own_row
            own[[2 * r + c, 4 + 2 * r + d, 8 + r]] = 1
        others = truth - own
        least = own + ((others > 0) if zeros == "known" else 0)
        fits = (tables >= least).all(axis=1)
        is_fixed = others == 0 if zeros == "known" else (others == 0) & (own > 0)
        fits &= (tables[:, is_fixed] == truth[is_fixed]).all(axis=1)
        ranges = np.ptp(tables[fits], axis=0)
        if own_row is None:
            lacking |= set(np.flatnonzero(ranges < width))
        else:
            lacking |= set(np.flatnonzero((ranges < width) & ((others > 0) | (own == 0))))
    expected = {int(cells[place]) for place in lacking}
    published = table.publish(structure.to_grids(pattern))
    found = audit(published, table, width=width, zeros=zeros, insider=True)
    known = {structure.cell_number(key) for key in found.unprotected}
    undecided = {structure.cell_number(key) for key in found.undecided}
    assert known <= expected <= known | undecided
    assert undecided <= expected, "what is not known is proven"


def test_insiders_of_tables_of_different_records_are_refused() -> None:
    first = linked_tables([(0, 0, 0), (1, 1, 1), (0, 1, 1)])
    columns = {"r": ["0", "0", "1"], "c": ["0", "1", "1"], "d": ["0", "1", "1"]}
    parts = [
        Table.from_records(dv.Dataset.from_arrow(pa.table(columns)), ["r", name]) for name in "cd"
    ]
    both = link(*parts)
    with pytest.raises(InvalidInput, match="made of the same records"):
        audit(both.publish(), both, width=1, insider=True)
    with pytest.raises(InvalidInput, match="made of the same records"):
        exposed_to_insiders(both, both.publish())
    assert audit(first.publish(), first, width=1, insider=True).status == "pass"


def test_a_contributor_of_nothing_leaves_possible_tables() -> None:
    """That the others give something is not taken for known where one of them gives 0."""
    rows = [("a", "x", 5, "f"), ("a", "x", 0, "g"), ("a", "y", 4, "h"), ("b", "x", 3, "i")]
    rows += [("b", "y", 2, "k")]
    columns = {name: [row[k] for row in rows] for k, name in enumerate(("r", "c", "v", "firm"))}
    table = Table.from_records(dv.Dataset.from_arrow(pa.table(columns)), ["r", "c"], "v", "firm")
    published = table.publish({(0, 0), (0, 1), (1, 0), (1, 1)})
    assert audit(published, table, width=1, insider=True).status in ("pass", "fail")


def test_three_records_of_one_person_are_one_contributor() -> None:
    """People, not rows: a cell that one person fills is as sensitive as one with one record."""
    rows = [{"who": "a", "r": "r1", "c": "c1", "v": 10 * n} for n in (1, 2, 3)]
    rows += [
        {"who": f"{r}{c}{n}", "r": r, "c": c, "v": 5}
        for r, c in (("r1", "c2"), ("r2", "c1"), ("r2", "c2"))
        for n in range(3)
    ]
    roles = {"person": "who", "quasi_identifier": ["r", "c"]}
    people = dv.Dataset.from_arrow(pa.Table.from_pylist(rows), roles=roles)
    table = dv.tables.Table.from_records(people, by=["r", "c"])
    assert table.values[0, 0] == 3
    assert dv.tables.suppress(table, min_frequency=3, width=1).primary[0, 0]
    amounts = dv.tables.Table.from_records(people, by=["r", "c"], value="v")
    assert dv.tables.suppress(amounts, p_percent=10).primary[0, 0]
    nameless = [{**row, "who": None if row["who"] == "a" else row["who"]} for row in rows]
    with pytest.raises(dv.InvalidInput, match="do not say whose they are"):
        dv.tables.Table.from_records(
            dv.Dataset.from_arrow(pa.Table.from_pylist(nameless), roles=roles), by=["r", "c"]
        )
