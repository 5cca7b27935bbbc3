"""What is asked of tables: said as it is meant, or refused in words."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from divulge import Dataset, InvalidInput, tables
from divulge.cli.main import app
from divulge.tables import Table, matching_attack, suppress

NINE = [[7, 11, 60], [10, 60, 11], [60, 12, 60]]


def test_a_minimum_frequency_is_of_counts_however_many_decimals_they_have() -> None:
    """Weighted counts: one that is below five stays so if another has a fraction."""
    weighted = Table.from_cells([[1.0, 11, 60], [10, 60, 11.5], [60, 12, 60]])
    found = suppress(weighted, min_frequency=5, width=5)
    assert found.published.to_rows()[1][1] == "*"
    assert np.argwhere(tables.sensitive_cells(weighted, singletons=True)).tolist() == [[0, 0]]
    scaled = Table.from_cells(NINE, lowest=-0.5)
    same = Table.from_cells(NINE)
    assert np.array_equal(
        tables.sensitive_cells(scaled, min_frequency=10),
        tables.sensitive_cells(same, min_frequency=10),
    )


def test_the_matching_attack_takes_weighted_counts_for_what_they_are() -> None:
    whole = Table.from_cells([[2, 8, 9], [8, 3, 7], [9, 7, 8]])
    halves = Table.from_cells([[2, 8, 9], [8, 3, 7], [9, 7, 8.5]])
    found = [suppress(table, 4, 3) for table in (whole, halves)]
    assert np.array_equal(found[0].pattern, found[1].pattern)
    attacked = matching_attack(found[1], 4, 3)
    for cell in found[1].published.cells:
        low, high = attacked.intervals[cell]
        assert low <= halves.values[cell] <= high
    [pair] = attacked.to_dict()["parameters"]
    assert pair == {"min_frequency": 4, "width": 3}


def test_a_suppression_says_itself_how_it_was_chosen() -> None:
    table = Table.from_cells([[13, 7, 9], [11, 9, 8], [3, 7, 11]])
    with pytest.raises(InvalidInput, match='was found by "fast"'):
        matching_attack(suppress(table, 5, 8, method="fast"), 5, 8)
    by_hand: list[dict[str, Any]] = [{"publish": {(0, 2)}}, {"primary": {(0, 0)}}, {"upper": 3}]
    for asked in by_hand:
        with pytest.raises(InvalidInput, match="chosen by hand, or intervals"):
            matching_attack(suppress(table, 5, 8, **asked), 5, 8)
    drawn = suppress(table, 5, 8, resist_matching=True, seed=1)
    dear = suppress(table, 5, 8, cost="value", margins="suppressible")
    for found in (drawn, dear):
        attacked = matching_attack(found, 5, 8)
        for cell in found.published.cells:
            low, high = attacked.intervals[cell]
            assert low <= table.values[cell] <= high
    records = Dataset.from_arrow(
        pa.table({"r": list("aaabbb"), "s": list("xxyxyy"), "h": [1, 1, 2, 3, 4, 5]})
    )
    of_holdings = Table.from_records(records, ["r", "s"], contributor="h")
    found = suppress(of_holdings, 2, 1, margins="suppressible")
    with pytest.raises(InvalidInput, match="a holding's records count as one"):
        matching_attack(found, 2, 1)


def test_they_know_no_hidden_total_before_the_release_either() -> None:
    table = Table.from_cells([[4, 0], [2, 0]])
    found = suppress(table, 2, 1, True, margins="suppressible")
    assessed = tables.assess(table, found.published, found.primary)
    assert assessed.deterministic.prior == 0
    assert assessed.probabilistic.additive >= 0


def test_whatever_gives_a_release_is_among_unknown_parameters() -> None:
    table = Table.from_cells(NINE)
    assert matching_attack(table.publish(), parameters="unknown").possible == 1
    alone = matching_attack(table.publish({(0, 0)}), parameters="unknown")
    assert (10, 0) in {(pair.min_frequency, pair.width) for pair in alone.parameters}
    weighted = Table.from_cells([[0.4, 1.2, 3], [1.1, 1.5, 2], [2, 2, 1.9]])
    found = suppress(weighted, min_frequency=1, width=0.3)
    pairs = matching_attack(found, parameters="unknown").to_dict()["parameters"]
    assert {"min_frequency": 1, "width": 0.3} in pairs


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"margins": "Published"}, 'Did you mean "published"'),
        ({"width": float("inf")}, "width: inf is no number from 0"),
        ({"width": float("nan")}, "width: nan is no number from 0"),
        ({"seconds": 0}, "seconds: 0 is no effort"),
        ({"seed": 3}, "seed: is of a draw"),
        ({"sealed": "draw.json"}, "sealed: is of a draw"),
    ],
)
def test_choices_that_are_none_are_refused(asked: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        suppress(Table.from_cells(NINE), **{"min_frequency": 10, "width": 5, **asked})
    attacked = {name: value for name, value in asked.items() if name in ("margins", "width")}
    if attacked:
        known: dict[str, Any] = {"min_frequency": 5, "width": 5, **attacked}
        with pytest.raises(InvalidInput, match=why):
            matching_attack(Table.from_cells(NINE).publish(), **known)


def test_what_is_no_table_and_no_cell_is_refused() -> None:
    cells: list[Any] = [[["1", "2"], ["3", "4"]], [[1, 2], [3]], [[1j, 2], [3, 4]]]
    for each in cells:
        with pytest.raises(InvalidInput, match="full array of numbers"):
            Table.from_cells(each)
    with pytest.raises(InvalidInput, match="full array of numbers"):
        Table.from_cells([[5]], margins=True)
    table: Any = Table.from_cells(NINE)
    hidden: list[Any] = [(0, 0), {("a", "b")}, {(0.0, 0)}]
    for some in hidden:
        with pytest.raises(InvalidInput, match="is not a cell"):
            table.publish(some)
    for attack in (tables.intervals, matching_attack):
        with pytest.raises(InvalidInput, match="give what is published"):
            attack(table)
    with pytest.raises(InvalidInput, match="are none"):
        tables.link()
    both = tables.link(table, Table.from_cells(NINE, names=["row", "age"]))
    with pytest.raises(InvalidInput, match="linked already"):
        tables.link(both, table)


def test_decimals_are_numbers_too() -> None:
    paid = pa.array([Decimal("1.50"), Decimal("2.25")])
    dataset = Dataset.from_arrow(pa.table({"r": ["a", "b"], "paid": paid}))
    assert Table.from_records(dataset, "r", "paid").values.tolist() == [1.5, 2.25, 3.75]


def test_columns_that_would_be_called_alike_are_refused() -> None:
    dataset = Dataset.from_arrow(pa.table({"count": ["a", "b"], "s": ["x", None]}))
    with pytest.raises(InvalidInput, match='"count": would be the name of two columns'):
        Table.from_records(dataset, ["count", "s"]).publish().to_arrow()
    named = Dataset.from_arrow(pa.table({"s": ["Total", "b", "b"]}))
    with pytest.raises(InvalidInput, match="have the same name, or one is named like its total"):
        Table.from_records(named, ["s"]).publish().to_arrow()
    missing = Dataset.from_arrow(pa.table({"s": ["(missing)", None]}))
    assert Table.from_records(missing, ["s"]).axes[0].codes[:2] == ("(missing)", "((missing))")


def test_linked_tables_are_written_so_that_they_can_be_audited(tmp_path: Path) -> None:
    run = CliRunner().invoke
    records = tmp_path / "records.csv"
    rows = [("N", "yes", "no"), ("N", "no", "no"), ("S", "no", "yes"), ("S", "no", "no")] * 3
    records.write_text("region,smokes,drinks\n" + "\n".join(map(",".join, rows)) + "\n")
    out = tmp_path / "p.csv"
    asked = ["tables", "suppress", str(records), "--by", "region,smokes", "--by", "region,drinks"]
    rules = ["--min-frequency", "4", "--width", "1", "--margins", "suppressible"]
    done = run(app, [*asked, *rules, "--out", str(out)])
    assert done.exit_code == 0, done.output
    files = [str(tmp_path / f"p-{n}.csv") for n in (1, 2)]
    audited = run(
        app, ["tables", "audit", *files, "--by", "region,smokes", "--by", "region,drinks"]
    )
    assert audited.exit_code == 0, audited.output
    refused = run(app, ["tables", "audit", *files])
    assert "linked by the names of their dimensions" in str(refused.exception)
    beside = run(app, ["tables", "audit", files[0], "--value", "v"])
    assert "give --by" in str(beside.exception)
