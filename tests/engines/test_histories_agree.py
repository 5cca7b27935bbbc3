"""Histories of events: every engine finds of them what is found in memory."""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.events.histories import DAYS
from tests.events.histories import records as event_records
from tests.events.plain import attack as attack_plainly

import divulge as dv
from divulge.data.relation.relation import RecordsElsewhere
from divulge.events import Attacker, History, attack, ten_attackers

from .lakes import list_runs, without_provenance, write_lake

START = dt.datetime(2010, 12, 1)  # noqa: DTZ001  # wall clock


def calls(seed: int = 3, rows: int = 90) -> pa.Table:
    """Who called whom when: names that end queries, days, moments, texts, gaps and blanks."""
    draw = random.Random(seed)  # noqa: S311  # made-up data
    names = ["o'Neill", "é", "x; --", '"', "A", "a"]
    found = []
    for number in range(rows):
        hours = draw.randrange(4 * 24)
        moment = START + dt.timedelta(hours=hours, minutes=draw.randrange(60))
        found.append(
            {
                "Caller": draw.choice(names),
                "caller": draw.randrange(5),
                "moment": moment,
                "day": moment.date(),
                "text": f"{moment:%Y/%m/%d} {moment.hour}:{moment.minute:02}",
                "called": draw.choice("pqrst"),
                "trip": draw.choice([*range(12), None]),
                "place": draw.choice(["north", "south", None]),
                "seconds": draw.choice([0.0, -0.0, 12.5, 60.0, None]),
                "paid": draw.choice([-2, 1, 3, None]),
                "gap": None if number % 9 == 0 else draw.choice(["p", "q", " ", "", " \t"]),
            }
        )
    return pa.Table.from_pylist(found)


def figures(
    dataset: dv.Dataset, knows: list[str], *, weight: Any = "record", **reading: Any
) -> Any:
    """All that is told of one attacker."""
    options = {"user": "Caller", "time": "day", "item": "called", **reading}
    history = History(dataset, **options)
    guess: Any = "best" if weight == "event" else "uniform"
    found = attack(history, Attacker(knows, weight=weight, guess=guess, attributes=dataset.names))
    shares = found.distribution().to_pydict()
    counts = (history.records, history.users, history.events, history.items)
    told = found.to_dict()
    return repr(history), counts, round_shares(told), round_shares(shares)


def round_shares(value: Any) -> Any:
    """Shares are sums of fractions, added up in another order; counts are whole."""
    if isinstance(value, dict):
        return {name: round_shares(each) for name, each in value.items()}
    if isinstance(value, list):
        return [round_shares(each) for each in value]
    return round(value, 12) if isinstance(value, float) else value


CASES: dict[str, Callable[[dv.Dataset], Any]] = {
    "nothing is known": lambda d: figures(d, []),
    "a day and an item": lambda d: figures(d, ["day", "item"]),
    "an item, pairs drawn": lambda d: figures(d, ["item"], weight="event"),
    "how many and an item, users drawn": lambda d: figures(d, ["kinds", "item"], weight="user"),
    "the basket": lambda d: figures(d, ["all items"]),
    "the basket and the day, events drawn": lambda d: figures(
        d, ["day", "all items"], weight="event"
    ),
    "a band of records and a place": lambda d: figures(d, ["records by 3", "place"]),
    "the hour, of moments": lambda d: figures(d, ["hour", "item"], time="moment", event="hour"),
    "the week and the month, of texts": lambda d: figures(d, ["week", "month"], time="text"),
    "trips, with gaps, of several days": lambda d: figures(d, ["day", "kinds"], event="trip"),
    "trips, their baskets": lambda d: figures(d, ["all items", "quarter"], event="trip"),
    "weeks, by months": lambda d: figures(d, ["month", "item"], event="week"),
    "users who are numbers": lambda d: figures(d, ["day", "records"], user="caller"),
    "a secret with signs and gaps": lambda d: figures(d, ["seconds", "year"]),
    "items that are missing or blank": lambda d: figures(
        d, ["day", "item"], item="gap", missing="drop"
    ),
    "returns that are left out": lambda d: figures(
        d, ["day", "item"], amount="paid", returns="drop"
    ),
    "returns that stay": lambda d: figures(d, ["item"], amount="paid", returns="keep"),
    "the ten": lambda d: tell_ten(d, "record"),
    "the ten by records, events drawn": lambda d: tell_ten(d, "event", count="records"),
}
ON_SPARK = ("the basket and the day, events drawn", "items that are missing or blank")


def tell_ten(dataset: dv.Dataset, weight: Any, **options: Any) -> Any:
    ten = ten_attackers(History(dataset, "Caller", "day", "called"), weight, **options)
    return (
        round_shares(ten.to_dict()),
        ten.ranks,
        [str(sentence) for sentence in ten.assessment().sentences],
    )


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lake(tmp_path_factory.mktemp("lake") / "calls", calls())


@pytest.mark.parametrize(("case", "engine"), list_runs(CASES, ON_SPARK))
def test_an_engine_finds_of_a_history_what_memory_finds(case: str, engine: str, lake: Path) -> None:
    memory = dv.read(lake, name="calls")
    relation = dv.scan(lake, name="calls", engine=engine)
    assert CASES[case](relation) == CASES[case](memory)


KNOWLEDGE = [["day", "item"], ["kinds"], ["all items"], ["week", "kinds", "item"], []]


@given(event_records, st.sampled_from(KNOWLEDGE), st.sampled_from(["record", "event"]))
@settings(max_examples=20)
def test_an_engine_finds_what_dicts_and_sets_find(rows: Any, knows: list[str], weight: Any) -> None:
    import tempfile

    columns = dict(zip(("user", "day", "goods"), map(list, zip(*rows, strict=True)), strict=True))
    with tempfile.TemporaryDirectory() as folder:
        place = write_lake(Path(folder) / "lake", pa.table(columns), parts=2)
        history = History(dv.scan(place), "user", "day", "goods")
        found = attack(history, Attacker(knows, weight=weight))
        if weight == "event" and "item" not in knows:
            return  # the twin draws records of events then
        plain = attack_plainly(rows, knows, weight)
        assert found.probabilistic.posterior == pytest.approx(plain.uniform)
        assert found.figures["best_guess"] == pytest.approx(plain.best)
        assert found.deterministic.posterior == pytest.approx(plain.certain)


@pytest.mark.parametrize(
    "reading",
    [
        {"time": "trip"},
        {"item": "gap"},
        {"amount": "paid"},
        {"amount": "place"},
        {"event": "hour"},
        {"user": "callr"},
    ],
)
def test_what_is_wrong_with_records_is_said_alike(lake: Path, reading: dict[str, Any]) -> None:
    said = []
    for dataset in (dv.read(lake, name="calls"), dv.scan(lake, name="calls")):
        with pytest.raises(dv.work.InvalidInput) as raised:
            History(dataset, **{"user": "Caller", "time": "day", "item": "called", **reading})
        said.append(str(raised.value))
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("reading", "attacker"),
    [
        ({"returns": "net", "amount": "paid"}, {}),
        ({"missing": "maybe"}, {}),
        ({}, {"knows": ["2 items"]}),
        ({}, {"knows": ["all items as multiset"]}),
        ({}, {"knows": ["item"], "points": 2}),
        ({}, {"knows": ["item"], "weight": {"A": 1.0}}),
        ({"amount": "paid", "returns": "keep"}, {"knows": ["amount by 2"]}),
    ],
)
def test_what_is_counted_in_memory_only_is_refused(
    lake: Path, reading: dict[str, Any], attacker: dict[str, Any]
) -> None:
    with pytest.raises((RecordsElsewhere, dv.work.InvalidInput), match="memory"):
        history = History(dv.scan(lake), "Caller", "day", "called", **reading)
        attack(history, Attacker(**attacker))


def test_estimates_are_refused_where_an_event_has_several_days(lake: Path) -> None:
    history = History(dv.scan(lake), "Caller", "day", "called", event="trip")
    with pytest.raises(RecordsElsewhere, match="more than one day"):
        ten_attackers(history)


def test_neither_risk_of_records_nor_of_users_comes_home(lake: Path) -> None:
    found = attack(History(dv.scan(lake), "Caller", "day", "called"), Attacker(["day"]))
    for ask in (found.risk, found.users, lambda: found.by("place")):
        with pytest.raises(dv.work.DivulgeError):
            ask()


def test_the_command_line_runs_attackers_where_records_are(lake: Path, divulge: Any) -> None:
    pattern = str(lake / "*.parquet")
    names = ["--user", "Caller", "--time", "day", "--item", "called", "--json"]
    for verb in (["ten"], ["attack", "--knows", "day", "--knows", "item"]):
        memory = divulge("events", *verb, pattern, *names, "--engine", "memory")
        found = divulge("events", *verb, pattern, *names, "--engine", "duckdb")
        assert (memory.returncode, memory.stderr) == (0, "")
        assert found.returncode == 0
        assert "duckdb counts them" in found.stderr
        one, other = json.loads(found.stdout), json.loads(memory.stdout)
        assert round_shares(one) == round_shares(other)


def test_a_release_file_judges_a_history_where_it_is(tmp_path: Path, divulge: Any) -> None:
    write_lake(tmp_path / "calls", calls())
    results = []
    for engine in ("memory", "duckdb"):
        (tmp_path / "release.toml").write_text(
            f"""
            [[dataset]]
            name = "calls"
            source = "calls/*.parquet"
            engine = "{engine}"
            unlisted = "drop"
            roles = {{ person = ["Caller"], quasi_identifier = ["day", "called"] }}

            [[adversary]]
            name = "neighbour"
            attack = "events"
            dataset = "calls"
            user = "Caller"
            time = "day"
            item = "called"
            knows = ["day", "item"]

            [[limit]]
            adversary = "neighbour"
            measure = "probabilistic.posterior"
            at_most = 0.9
            """,
            encoding="utf-8",
        )
        out = tmp_path / engine
        ended = divulge("check", str(tmp_path / "release.toml"), "--out", str(out))
        assert ended.returncode == 0, ended.stderr
        assert "neighbour" in (out / "report.html").read_text(encoding="utf-8")
        result = json.loads((out / "result.json").read_text(encoding="utf-8"))
        results.append(without_provenance(result))
    assert round_shares(results[0]) == round_shares(results[1])


def test_what_is_counted_in_memory_only_is_not_judged_in_a_release(tmp_path: Path) -> None:
    write_lake(tmp_path / "calls", calls())
    (tmp_path / "release.toml").write_text(
        """
        [[dataset]]
        name = "calls"
        source = "calls/*.parquet"
        engine = "duckdb"
        unlisted = "drop"
        roles = { person = ["Caller"], quasi_identifier = ["day", "called"] }

        [[adversary]]
        name = "neighbour"
        attack = "events"
        user = "Caller"
        time = "day"
        item = "called"
        knows = ["item"]
        points = 2

        [[limit]]
        adversary = "neighbour"
        measure = "probabilistic.posterior"
        at_most = 0.99
        """,
        encoding="utf-8",
    )
    verdict = dv.Release.load(tmp_path / "release.toml").check()
    assert verdict.status == "not judged"
    assert "memory" in " ".join(map(str, verdict.outcomes[0].sentences))


def test_days_of_the_strategy_lie_in_several_weeks() -> None:
    assert len({day.isocalendar()[:2] for day in DAYS}) == 3
