"""Histories from the command line and in a release; the generator; charts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Command

import divulge as dv
from divulge.events import Attacker, History, attack, ten_attackers, unicity_curve
from divulge.release import Release
from divulge.report.page import page
from divulge.work import InvalidInput


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "purchases.csv"
    dv.datasets.purchases_example().write(path)
    return path


def test_the_ten_attackers_from_the_command_line(divulge: Command, file: Path) -> None:
    told = json.loads(divulge("events", "ten", file, "--json").stdout)
    assert told["weight"] == "record"
    exact = [row["exact"] for row in told["attackers"]]
    assert exact == pytest.approx([1 / 3, 0.55, 0.6, 0.8, 1, 0.65, 0.9, 1, 1, 1])


def test_an_attack_from_the_command_line(divulge: Command, file: Path) -> None:
    done = divulge("events", "attack", file, "--knows", "day", "--by", "goods", "--json")
    told = json.loads(done.stdout)
    assert told["probabilistic"]["posterior"] == pytest.approx(0.65)
    assert {group["value"] for group in told["by"]["groups"]} == {"Bread", "Book", "Tea", "Juice"}
    same = divulge("events", "attack", file, "--knows", "day", "--release", file, "--json")
    assert json.loads(same.stdout)["probabilistic"]["posterior"] == pytest.approx(0.65)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["attack", "--rounded", "month"], "give --release"),
        (["attack", "--points", "0"], "0 is not a whole number from 1"),
        (["ten", "--count", "sheep"], "is not something to count"),
        (["unicity", "--points", "-3"], "-3 is not a whole number from 1"),
        (["unicity", "--granularity", "mont"], 'Did you mean "month"'),
        (["unicity", "--knows", "item", "--granularity", "month"], "is a unit of time"),
        (["unicity", "--weight", "event"], "points belong to a user"),
        (["attack", "--chart", "risk.gif"], "a chart is saved as .svg"),
        (["ten", "--chart", "risk.gif"], "a chart is saved as .svg"),
        (["unicity", "--chart", "risk.gif"], "a chart is saved as .svg"),
    ],
)
def test_what_cannot_be_asked_is_said_on_the_command_line(
    divulge: Command, file: Path, asked: list[str], said: str
) -> None:
    verb, *options = asked
    done = divulge("events", verb, file, *options)
    assert (done.returncode, done.stdout) == (2, ""), "what ends in an error shows no result"
    assert said in " ".join(done.stderr.split())


def test_who_says_what_returns_are_need_not_name_the_amount(
    divulge: Command, tmp_path: Path
) -> None:
    path = tmp_path / "sales.csv"
    path.write_text(
        "CustomerID,InvoiceDate,StockCode,Quantity\n1,2024-01-01,a,2\n2,2024-01-01,a,1\n"
        "1,2024-01-02,a,-2\n"
    )
    done = divulge("events", "attack", path, "--knows", "day", "--returns", "drop")
    assert "1 return (a negative amount) was left out." in " ".join(done.stdout.split())
    assert "of 3 records" in divulge("events", "attack", path, "--knows", "day").stdout


def test_unicity_from_the_command_line(divulge: Command, file: Path) -> None:
    told = json.loads(divulge("events", "unicity", file, "--points", "2", "--json").stdout)
    assert [row["points"] for row in told["curve"]] == [1, 2]
    assert told["claim"] == "exact"


def test_a_wrong_word_ends_with_a_hint(divulge: Command, file: Path) -> None:
    done = divulge("events", "attack", file, "--knows", "dya")
    assert done.returncode == 2
    assert 'Did you mean "day"?' in done.stderr


def test_commands_break_down_compare_and_draw(divulge: Command, file: Path) -> None:
    folder = file.parent / "drawn"
    done = divulge("events", "ten", file, "--by", "goods", "--charts", folder, "--json")
    told = json.loads(done.stdout)
    assert set(told["by"]) == {str(number) for number in range(10)}
    assert len(list(folder.glob("*.svg"))) == 6
    done = divulge(
        "events", "unicity", file, "--points", "2", "--granularity", "month", "--by", "goods",
        "--release", file, "--chart", folder / "curve.svg", "--json",
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert [(row["knows"], row["points"]) for row in told["curve"]] == [
        ("day, item", 1), ("day, item", 2), ("month, item", 1), ("month, item", 2)
    ]  # fmt: skip
    assert (folder / "curve.svg").exists()
    assert len(told["by"]["groups"]) == 4


RELEASE = """
[[dataset]]
name = "purchases"
source = "purchases.csv"

[[adversary]]
name = "neighbour"
attack = "events"
user = "user"
time = "date"
item = "goods"
knows = {knows}

[[limit]]
adversary = "neighbour"
measure = "probabilistic.posterior"
at_most = 0.5
"""


def test_a_release_may_name_the_attack(file: Path) -> None:
    path = file.parent / "release.toml"
    path.write_text(RELEASE.format(knows='["day", "item"]'))
    verdict = Release.load(path).check()
    assert not verdict.passed
    assert verdict.assessments[0].probabilistic.posterior == pytest.approx(0.9)


def test_a_release_with_wrong_words_is_refused_before_reading(file: Path) -> None:
    path = file.parent / "release.toml"
    path.write_text(RELEASE.format(knows='["dya"]'))
    with pytest.raises(InvalidInput, match='"dya" is not something to know of an event'):
        Release.load(path)


def test_a_release_may_compare_an_original_with_its_protected_version(file: Path) -> None:
    path = file.parent / "release.toml"
    text = RELEASE.format(knows='["day"]').replace(
        'attack = "events"',
        'attack = "events"\nreleased = true\ndataset = ["purchases", "released"]',
    )
    path.write_text(text + '\n[[dataset]]\nname = "released"\nsource = "purchases.csv"\n')
    verdict = Release.load(path).check()
    assert verdict.assessments[0].probabilistic.posterior == pytest.approx(0.65)


def test_a_release_may_ask_for_the_ten_and_shows_them_in_its_report(file: Path) -> None:
    path = file.parent / "release.toml"
    text = RELEASE.replace("knows = {knows}", 'model = "ten"')
    path.write_text(text)
    verdict = Release.load(path).check()
    assert verdict.assessments[0].probabilistic.posterior == 1
    shown = page(verdict)
    assert "<td>the date, how many kinds, one item</td>" in shown
    for title in ("Ten attackers", "Kinds of items in an event", "Items by frequency"):
        assert title in shown
    path.write_text(text.replace('model = "ten"', 'model = "ten"\nknows = ["day"]'))
    with pytest.raises(InvalidInput, match="the ten attackers know what they know"):
        Release.load(path)


def test_a_release_file_may_say_what_the_releases_times_stand_for(file: Path) -> None:
    path = file.parent / "release.toml"
    text = RELEASE.format(knows='["day"]').replace(
        'attack = "events"',
        'attack = "events"\nreleased = true\nrounded = "year"\ndataset = ["purchases", "released"]',
    )
    path.write_text(text + '\n[[dataset]]\nname = "released"\nsource = "purchases.csv"\n')
    found = Release.load(path).check().assessments[0]
    # A year of one and the same shop: everybody may have been there that day.
    assert found.probabilistic.posterior == pytest.approx(1 / 3)
    path.write_text(path.read_text().replace('"year"', '"yaer"'))
    with pytest.raises(InvalidInput, match='Did you mean "year"?'):
        Release.load(path)


def test_generated_histories_have_the_traits_of_real_ones() -> None:
    payments = dv.datasets.payment_histories(records=30_000)
    h = History(payments, user="user", time="date", item="goods")
    assert h.records == 30_000
    again = dv.datasets.payment_histories(records=30_000)
    assert payments.equals(again)
    # Customers return; a few of them often.
    visits = np.sort(np.bincount(h.user_of_event))[::-1]
    assert visits[0] > 10 * np.median(visits)
    # Baskets fall by a power law: the largest is far from the middle.
    kinds, _ = h.baskets
    assert kinds.max() > 8 * np.median(kinds)
    # Goods too, and some are sold in their season only.
    sold = np.sort(np.bincount(h.item_codes))[::-1]
    assert sold[0] > 20 * np.median(sold)


def test_charts_carry_the_figures_they_draw(file: Path) -> None:
    h = History(dv.read(file), user="user", time="date", item="goods")
    found = ten_attackers(h)
    drawn = found.charts()
    assert [row["exact"] for row in drawn["ten"].records] == pytest.approx(list(found.exact))
    assert {(r["users"], r["records"]) for r in drawn["users by day"].records} == {
        (2, 4),
        (2, 3),
        (1, 3),
    }
    assert [row["count"] for row in drawn["items"].records] == [3, 3, 2, 2]
    assert [(r["value"], r["count"]) for r in drawn["kinds"].records] == [(1, 2), (2, 1), (3, 2)]
    curve = unicity_curve(h, ["item", ["day", "item"]], points=[1, 2])
    assert [row["share"] for row in curve.chart().records][:2] == pytest.approx([1 / 12, 1 / 6])
    shares = {r["users"]: r["share"] for r in attack(h, Attacker("day")).chart().records}
    assert shares["1"] == pytest.approx(0.3)
    assert shares["2"] == pytest.approx(0.7)
    for chart in (*drawn.values(), curve.chart()):
        assert chart.svg().startswith("<svg")
