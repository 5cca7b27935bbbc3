"""Which day and which item is dangerous: the paper's Tables 8 and 9, and the ten after a release."""

from __future__ import annotations

import json
from math import isclose
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.events.histories import history, records
from typer.testing import CliRunner

import divulge as dv
from divulge.cli.main import app
from divulge.events import TEN, Attacker, History, attack, list_knowledge_risks, ten_attackers

WEIGHTS = st.sampled_from(["record", "event", "user"])


@pytest.fixture
def purchases() -> History:
    return History(dv.datasets.purchases_example(), user="user", time="date", item="goods")


def test_table_8_of_the_paper(purchases: History) -> None:
    found = list_knowledge_risks(purchases, Attacker(["day"]))
    assert {
        row.knows: (row.events, round(row.chance, 9), row.users, row.right, round(row.risk, 9))
        for row in found.rows
    } == {
        ("2010-12-01",): (2, 0.4, 2, 0.5, 0.2),
        ("2010-12-02",): (2, 0.3, 2, 0.5, 0.15),
        ("2010-12-03",): (1, 0.3, 1, 1.0, 0.3),
    }
    assert isclose(found.identified, 0.65)


def test_table_9_of_the_paper(purchases: History) -> None:
    found = list_knowledge_risks(purchases, Attacker(["kinds", "item"]))
    assert {row.knows: (row.events, round(row.chance, 9), row.users) for row in found.rows} == {
        ("1", "Bread"): (1, 0.1, 1),
        ("1", "Tea"): (1, 0.1, 1),
        ("2", "Bread"): (1, 0.1, 1),
        ("2", "Juice"): (1, 0.1, 1),
        ("3", "Bread"): (1, 0.1, 1),
        ("3", "Book"): (2, 0.2, 2),
        ("3", "Tea"): (2, 0.2, 2),
        ("3", "Juice"): (1, 0.1, 1),
    }
    assert isclose(found.identified, 0.8)
    assert all(round(row.risk, 9) == 0.1 for row in found.rows)


@given(records, st.sampled_from(TEN[1:]), WEIGHTS)
def test_the_rows_add_up_to_the_attack(rows, knows, weight) -> None:  # type: ignore[no-untyped-def]
    events = history(rows)
    attacker = Attacker(list(knows), weight=weight)
    found = list_knowledge_risks(events, attacker)
    assert isclose(found.identified, attack(events, attacker).probabilistic.posterior)
    assert isclose(sum(row.chance for row in found.rows), 1)
    assert len({row.knows for row in found.rows}) == len(found.rows)


def test_periods_and_bands_are_named(purchases: History) -> None:
    found = list_knowledge_risks(purchases, Attacker(["week", "kinds by 2"]))
    assert {row.knows for row in found.rows} == {
        ("week of 2010-11-29", "1 to 2"),
        ("week of 2010-11-29", "3 to 4"),
    }
    for unit, name in {"month": "2010-12", "quarter": "2010 Q4", "year": "2010"}.items():
        [row] = list_knowledge_risks(purchases, Attacker([unit])).rows
        assert row.knows == (name,)


def test_several_points_are_not_listed_value_by_value(purchases: History) -> None:
    for attacker in (Attacker(["day"], points=2), Attacker(["2 items"])):
        with pytest.raises(dv.InvalidInput, match="value by value for one event"):
            list_knowledge_risks(purchases, attacker)


def test_the_ten_are_run_before_and_after_a_release(purchases: History) -> None:
    table = dv.datasets.purchases_example().to_arrow()
    hidden = [None if value == "Tea" else value for value in table["goods"].to_pylist()]
    place = table.schema.get_field_index("goods")
    released = dv.Dataset.from_arrow(table.set_column(place, "goods", pa.array(hidden)))
    after = History(released, user="user", time="date", item="goods", missing="maybe")
    ten = ten_attackers(purchases, release=after)
    for number in range(len(TEN)):
        alone = attack(purchases, ten.attacker(number), after)
        assert ten.after[number] == alone.probabilistic.posterior
        assert ten.certain_after[number] == alone.deterministic.posterior
        assert ten.to_dict()["attackers"][number]["after"] == ten.after[number]
    assert ten.after[5] == pytest.approx(ten.exact[5]), "no day was hidden"
    assert ten.after[1] < ten.exact[1]
    assert "certain after" in str(ten)
    assert ten_attackers(purchases).after == ()


def test_the_command_line_says_both_row_by_row_and_before_and_after(tmp_path: Path) -> None:
    data = tmp_path / "till.csv"
    dv.datasets.purchases_example().write(data)
    options = ["--user", "user", "--time", "date", "--item", "goods"]
    run = CliRunner().invoke(
        app, ["events", "attack", str(data), "--knows", "day", "--each", *options]
    )
    assert "2010-12-03" in run.output
    assert "100%" in run.output
    run = CliRunner().invoke(
        app, ["events", "ten", str(data), "--release", str(data), "--json", *options]
    )
    [first, *_] = json.loads(run.stdout)["attackers"]
    assert first["after"] == pytest.approx(first["exact"])


def test_the_figures_of_the_ten_are_all_told(purchases: History) -> None:
    ten = ten_attackers(purchases)
    figures = ten.assessment().figures
    for number in range(len(TEN)):
        assert figures[f"attacker_{number}"] == ten.exact[number]
        assert figures[f"attacker_{number}_certain"] == ten.certain[number]
