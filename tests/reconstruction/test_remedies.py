"""What would help: remedies are made stronger until nothing is certain, and never flatter."""

from __future__ import annotations

import itertools
import json
import string
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reconstruction.strategies import PARTIES, STATE_OF, audited, dataset, two_tables
from typer.testing import CliRunner

from divulge import InvalidInput, Release
from divulge.cli.main import app
from divulge.data import Hierarchy
from divulge.datasets import TradeMonth, trade_month
from divulge.reconstruction import REMEDIES, Generalised, Totals, what_would_help
from divulge.reconstruction.remedies import remedies
from divulge.reconstruction.remedies.deniability import find_deniable_records
from divulge.reconstruction.remedies.remedies import Remedies, Remedy
from divulge.reconstruction.remedies.weaker_tables import (
    PublishedTotals,
    coarsen_keys,
    drop_amounts,
    merge_places,
    round_at_random,
    round_totals,
)
from divulge.release import result_schema
from divulge.report import report

UNITS: Any = {"value": "0.01", "weight": "0.00001"}
EXAMPLE = Path(__file__).parents[2] / "examples" / "reconstruction"


@pytest.fixture(scope="module")
def month() -> TradeMonth:
    return trade_month(
        transactions=150,
        importers=40,
        products=24,
        countries=3,
        customs_units=0,
        excluded=0,
        extra=0,
    )


def helped(month: TradeMonth, **asked: Any) -> Remedies:
    heading: dict[str, str | Generalised] = {
        "heading": Generalised("product", prefix=4),
        "country": "country",
    }
    product: dict[str, str | Generalised] = {"product": "product", "country": "country"}
    rounding = asked.pop("rounding", "sum_then_round")
    totals = [
        Totals(month.by_city, heading, ["city", "state"], list(UNITS), rounding),
        Totals(month.by_state, product, "state", list(UNITS), rounding),
    ]
    given = {"units": UNITS, "workers": 1, "seconds": 0.01, "premise": "complete", **asked}
    return what_would_help(month.transactions, totals, month.importers, **given)


def test_every_remedy_goes_on_until_nothing_is_certain_or_says_that_it_is_not_enough(
    month: TradeMonth,
) -> None:
    found = helped(month)
    assert found[0].kind == "none"
    assert found[0].certain > 20
    assert list(found.strongest) == list(REMEDIES)
    for kind, last in found.strongest.items():
        of_kind = [one for one in found if one.kind == kind]
        assert all(one.verdict == "no" for one in of_kind[:-1])
        assert last is of_kind[-1]
        assert all(one.cost > 0 for one in of_kind)
    short = [kind for kind, last in found.strongest.items() if last.verdict == "no"]
    # A place that alone imports something stays certain however its total is rounded.
    assert "rounding" in short
    assert not {"coarser_totals", "merged_places"} & set(short)
    assert "none of these alone makes every record deniable" in str(found)


def test_the_cheapest_that_is_shown_to_be_enough_is_named(month: TradeMonth) -> None:
    found = helped(month, remedies=["dropped_amount", "merged_places"], seconds=2)
    # Put together far enough, every record can be denied.
    assert [one.kind for one in found.enough] == ["merged_places"]
    assert found.strongest["dropped_amount"].verdict == "no"
    assert found.explain()[-1].startswith(
        "Every record can be denied at the least cost by merged places"
    )


@pytest.mark.parametrize("rule", ["round_then_sum", "unknown_hard", "diagnose", "unknown_clt"])
def test_any_rule_of_rounding_will_do(month: TradeMonth, rule: str) -> None:
    kinds = ["coarser_totals", "merged_places"]
    found = helped(month, rounding=rule, remedies=kinds, seconds=0.2)
    if rule == "unknown_clt":
        assert len(found) == 1
        assert 'use the rule "unknown_hard"' in str(found)
    else:
        assert found[0].verdict == "no"
        assert all(last.certain == 0 for last in found.strongest.values())
        # By a rule that is in doubt little is certain, and it is not shown that records can be
        # denied that it leaves one place; nor that those can which have a choice in both tables.
        assert found.strongest["merged_places"].verdict == "not shown"
        assert "99% of cases" not in str(found)


def by_product(rows: dict[tuple[str, str], int], **how: Any) -> Totals:
    """A table of values by product and city."""
    table = dataset(
        "t",
        product=[product for product, _ in rows],
        city=[city for _, city in rows],
        value=list(rows.values()),
    )
    return Totals(table, {"product": "product"}, "city", ["value"], "exact", **how)


def with_coarser_totals(
    packages: list[tuple[str, int]], rows: dict[tuple[str, str], int], **asked: Any
) -> Remedies:
    """What helps if totals by product become totals by the first letter of the product."""
    records = dataset(
        "records", product=[p for p, _ in packages], value=[float(v) for _, v in packages]
    )
    given = {"premise": "complete", "remedies": ["coarser_totals"], "seconds": 5.0, **asked}
    parties = dataset("parties", city=["A", "B"])
    units = {"value": "1"}
    return what_would_help(
        records, [by_product(rows)], parties, units=units, workers=1, rule_is_known=True, **given
    )


def test_time_that_runs_out_is_not_enough() -> None:
    # Two cities with thirty amounts of fourteen digits each: nothing shows in a thousandth of a
    # second where else a record could be, nor that it could not.
    random = np.random.default_rng(3)
    rows = {
        (f"a{letter}", city): int(random.integers(10**13, 10**14))
        for letter in string.ascii_letters[:30]
        for city in "AB"
    }
    packages = [(product, value) for (product, _), value in rows.items()]
    found = with_coarser_totals(packages, rows, seconds=0.001)
    last = found[-1]
    assert (found[0].verdict, last.certain) == ("no", 0)
    assert (last.verdict, last.undecided, last.waiting) == ("not shown", 60, 60)
    assert found.enough == []
    assert found.rows()[-1][-1] == "not shown"
    told = found.to_dict()
    assert told["enough"] == []
    assert told["not_shown"] == ["coarser_totals"]
    assert told["tried"][-1]["verdict"] == "not shown"
    assert "more effort may find them" in str(last)
    assert "for 60 records it is not shown" in found.explain()[-1]
    assert "Every record can be denied" not in str(found)
    assert "60 undecided" in found.chart().description


@pytest.mark.parametrize("premise", ["complete", "any"])
def test_codes_that_only_totals_have_hide_nobody(premise: str) -> None:
    # The code a9 is only in the totals. Added up with the others it leaves 6 in A: no room for 9.
    rows = {("a1", "A"): 5, ("a2", "B"): 9, ("a9", "A"): 1}
    found = with_coarser_totals([("a1", 5), ("a2", 9)], rows, premise=premise)
    last = found[-1]
    assert (last.certain, last.undecided, last.verdict) == (2, 0, "no")
    assert last.cost == pytest.approx(1 / 3)  # a9 and a1 would be one row


def test_totals_that_contradict_the_records_are_not_enough() -> None:
    rows = {("a1", "A"): 5, ("a1", "B"): 1, ("a2", "B"): 9}
    found = with_coarser_totals([("a1", 5), ("a2", 9)], rows)
    last = found[-1]
    assert (last.certain, last.undecided, last.waiting) == (0, 2, 0)
    assert last.verdict == "not shown"
    assert "more effort does not help" in str(last)
    assert "for 2 records it is not shown" in found.explain()[-1]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 1)), min_size=2, max_size=4),
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 1)), min_size=1, max_size=2),
)
def test_who_can_be_denied_though_codes_are_known_can_be_denied_in_what_is_published(
    seen: list[tuple[int, int]], hidden: list[tuple[int, int]]
) -> None:
    """Every code is cut to its first letter; brute force over where what is seen can be."""
    rows: dict[tuple[str, str], int] = {}
    for number, (value, place) in enumerate(seen):
        rows[f"a{number}", "AB"[place]] = value
    for number, (value, place) in enumerate(hidden):
        rows[f"az{number}", "AB"[place]] = value
    packages = [(f"a{number}", value) for number, (value, _) in enumerate(seen)]
    found = with_coarser_totals(packages, rows)
    last = found[-1]
    if last.verdict != "yes":
        return
    known = [sum(v for v, p in hidden if p == place) for place in (0, 1)]
    totals = [known[place] + sum(v for v, p in seen if p == place) for place in (0, 1)]
    fits = [
        where
        for where in itertools.product((0, 1), repeat=len(seen))
        if all(
            known[place] + sum(v for (v, _), w in zip(seen, where, strict=True) if w == place)
            == totals[place]
            for place in (0, 1)
        )
    ]
    assert all({where[n] for where in fits} == {0, 1} for n in range(len(seen)))


def test_a_release_of_which_nothing_is_certain_may_still_not_be_shown_to_be_safe() -> None:
    rows = {("a1", "A"): 6, ("a1", "B"): 9}
    found = with_coarser_totals([("a1", 5), ("a1", 9)], rows)
    # Nothing is certain, so there is nothing to try; but nothing is shown either.
    assert [(one.kind, one.verdict, one.undecided) for one in found] == [("none", "not shown", 2)]
    assert "For 2 records it is not shown that they can be denied." in found.explain()


def test_every_record_can_be_denied_where_all_allocations_say_so() -> None:
    verdicts = set()
    for seed in range(40):
        random = np.random.default_rng(seed)
        count = int(random.integers(2, 7))
        packages = [(f"a{n}", int(random.integers(1, 5))) for n in range(count)]
        cities = ["AB"[c] for c in random.integers(0, 2, count)]
        rows = {(p, city): value for (p, value), city in zip(packages, cities, strict=True)}
        found = with_coarser_totals(packages, rows)
        places = places_by_trying_all([value for _, value in packages], cities)
        last = found[-1]
        assert (found[0].certain, last.undecided) == (count, 0)
        assert last.certain == sum(len(some) == 1 for some in places)
        assert last.enough == all(len(some) > 1 for some in places)
        verdicts.add(last.verdict)
    assert verdicts == {"yes", "no"}


def places_by_trying_all(values: list[int], cities: list[str]) -> list[set[str]]:
    """Where every record can be, if only the totals of its city and of the other are known."""
    used = sorted(set(cities))
    total = {c: sum(v for v, at in zip(values, cities, strict=True) if at == c) for c in used}
    found: list[set[str]] = [set() for _ in values]
    for tried in itertools.product(used, repeat=len(values)):
        sums = {c: sum(v for v, at in zip(values, tried, strict=True) if at == c) for c in used}
        if sums == total:
            for record, city in enumerate(tried):
                found[record].add(city)
    return found


def test_two_tables_leave_open_what_trying_everything_leaves_open() -> None:
    for seed in range(100):
        random = np.random.default_rng(seed)
        count = int(random.integers(3, 7))
        codes = [str(code) for code in random.choice(["11", "12"], count)]
        cities = [str(city) for city in random.choice(list(STATE_OF), count)]
        values = random.integers(1, 6, count).tolist()
        by_city, by_state = added_up(codes, cities, values)
        fine = dataset(
            "fine",
            heading=["1"] * len(by_city),
            city=list(by_city),
            state=[STATE_OF[city] for city in by_city],
            value=list(by_city.values()),
        )
        coarse = dataset(
            "coarse",
            product=[code for code, _ in by_state],
            state=[state for _, state in by_state],
            value=list(by_state.values()),
        )
        heading = {"heading": Generalised("product", prefix=1)}
        tables = [
            Totals(fine, heading, ["city", "state"], ["value"], "exact"),
            Totals(coarse, {"product": "product"}, "state", ["value"], "exact"),
        ]
        records = dataset("records", product=codes, value=[float(value) for value in values])
        found = audited(records, tables, premise="complete", rule_is_known=True)
        places: list[set[str]] = [set() for _ in codes]
        for tried in itertools.product(by_city, repeat=count):
            if added_up(codes, list(tried), values) == (by_city, by_state):
                for record, city in enumerate(tried):
                    places[record].add(city)
        assert find_deniable_records(found, seconds=60).two_places.tolist() == [
            len(some) > 1 for some in places
        ]
        assert found.phases[-1].certain.tolist() == [len(some) == 1 for some in places]


def added_up(
    codes: list[str], cities: list[str], values: list[int]
) -> tuple[dict[str, int], dict[tuple[str, str], int]]:
    """Totals by city, and by code and state."""
    by_city: dict[str, int] = {}
    by_state: dict[tuple[str, str], int] = {}
    for code, city, value in zip(codes, cities, values, strict=True):
        by_city[city] = by_city.get(city, 0) + value
        by_state[code, STATE_OF[city]] = by_state.get((code, STATE_OF[city]), 0) + value
    return by_city, by_state


def test_two_places_are_shown_only_if_no_table_leaves_that_open() -> None:
    records = dataset("records", product=["a1", "a2", "a3", "a4"], value=[5.0, 9.0, 5.0, 9.0])
    fine = dataset("fine", heading=["a", "a"], city=["A", "B"], state=["S", "T"], value=[14, 14])
    by_city = Totals(
        fine, {"heading": Generalised("product", prefix=1)}, ["city", "state"], ["value"], "exact"
    )
    parties = dataset("parties", city=["A", "B"])

    def undecided(of_a1: int) -> tuple[int, int]:
        coarse = dataset("coarse", product=["a1", "a1"], state=["S", "T"], value=[of_a1, 0])
        by_state = Totals(coarse, {"product": "product"}, "state", ["value"], "exact")
        asked: Any = {"units": {"value": "1"}, "premise": "complete", "rule_is_known": True}
        asked["remedies"] = []
        [found] = what_would_help(records, [by_city, by_state], parties, workers=1, **asked)
        return found.certain, found.undecided

    # The coarser table tells where a1 is, and with it a3; if it contradicts itself, it does not,
    # and then it is not shown of a1 that it can be denied.
    assert undecided(5) == (2, 0)
    assert undecided(6) == (0, 1)


def test_who_is_named_in_places_put_together_can_deny_nothing() -> None:
    records = dataset("records", product=["1"], value=[5.0])
    table = dataset("t", product=["1", "2"], city=["a", "b"], state=["east"] * 2, value=[5, 9])
    totals = [Totals(table, {"product": "product"}, ["city", "state"], ["value"], "exact")]
    asked: Any = {"units": {"value": "1"}, "premise": "complete", "rule_is_known": True}
    for cities, certain in ((["a"], 1), (["a", "b"], 0)):
        parties = dataset("parties", city=cities)
        found = what_would_help(
            records, totals, parties, remedies=["merged_places"], workers=1, **asked
        )
        assert [(one.certain, one.undecided) for one in found] == [(1, 0), (certain, 0)]


@settings(max_examples=40, deadline=None)
@given(two_tables(), st.integers(0, 2**32 - 1))
def test_weaker_tables_never_exclude_the_truth(made: Any, seed: int) -> None:
    records, totals, truth = made
    tables = totals(*made_by(made))
    published = PublishedTotals(tables, PARTIES, records, np.random.default_rng(seed))
    for way in (round_totals, round_at_random, coarsen_keys, merge_places, drop_amounts):
        for change in way(published):
            found = audited(
                records, change.totals, parties=change.parties, premise="complete", seconds=0.1
            )
            renamed = truth
            if change.merged_places:
                renamed = [new_name(change.parties, city) for city in truth]
            fine = found.levels[0]
            for n, group in enumerate(fine.totals_match.groups):
                result = fine.results[n]
                assert result is not None
                assert result.status != "infeasible", (way.__name__, change.strength)
                names = [fine.totals_match.names[p] for p in fine.totals_match.place[group.rows]]
                for row, record in enumerate(group.records):
                    assert fine.possible[n][row, names.index(renamed[record])]


def made_by(made: Any) -> tuple[str, str]:
    """The rules by which the totals were really made."""
    return made[1].rules  # type: ignore[no-any-return]


def new_name(parties: Any, city: str) -> str:
    before = PARTIES.to_arrow()["city"].to_pylist()
    after = parties.to_arrow()["city"].to_pylist()
    return str(after[before.index(city)])


def test_a_place_is_certain_only_if_it_was_published_before() -> None:
    records = dataset("records", product=["1", "2"], value=[5.0, 9.0])
    table = dataset("t", product=["1", "2"], city=["a", "b"], state=["east", "east"], value=[5, 9])
    totals = [Totals(table, {"product": "product"}, ["city", "state"], ["value"])]
    parties = dataset("parties", city=["a", "b"])
    found = what_would_help(
        records,
        totals,
        parties,
        remedies=["merged_places"],
        units={"value": "1"},
        premise="complete",
        workers=1,
    )
    # All is in the one place "east 1", and that is nobody's.
    assert [(one.certain, one.identified) for one in found] == [(2, 2), (0, 0)]


def test_keys_climb_the_hierarchy_of_their_attribute() -> None:
    kinds = Hierarchy.from_levels([["apple", "food"], ["pear", "food"], ["nail", "metal"]])
    records = dataset("records", product=["apple", "pear", "nail"], value=[5.0, 6.0, 9.0])
    records = records.describe(hierarchies={"product": kinds})
    table = dataset("t", product=["apple", "pear", "nail"], city=["a", "b", "a"], value=[5, 6, 9])
    totals = [Totals(table, {"product": "product"}, "city", ["value"])]
    published = PublishedTotals(totals, PARTIES, records, np.random.default_rng(0))
    [change] = list(coarsen_keys(published))
    assert change.strength == "product at level 1"
    [changed] = change.totals
    rows = {(r["product"], r["city"], r["value"]) for r in changed.dataset.to_arrow().to_pylist()}
    assert rows == {("food", "a", 5), ("food", "b", 6), ("metal", "a", 9)}


def test_totals_of_suppressed_codes_stay_apart_up_a_hierarchy() -> None:
    kinds = Hierarchy.from_levels([["apple", "food"], ["pear", "food"], ["plum", "food"]])
    records = dataset("records", product=["apple", "pear"], value=[5.0, 6.0])
    records = records.describe(hierarchies={"product": kinds})
    # Of plums and kiwis there are no records; of kiwis not even the hierarchy knows.
    table = dataset(
        "t",
        product=["apple", "pear", "plum", "kiwi"],
        city=["a", "b", "a", "a"],
        value=[5, 6, 9, 7],
    )
    totals = [Totals(table, {"product": "product"}, "city", ["value"], "exact")]
    parties = dataset("parties", city=["a", "b"])
    asked: Any = {"units": {"value": "1"}, "premise": "complete", "rule_is_known": True}
    found = what_would_help(
        records, totals, parties, remedies=["coarser_totals"], workers=1, **asked
    )
    # Added to the apple, the plum would contradict the records, and nothing would be concluded.
    assert [(one.strength, one.certain, one.undecided) for one in found] == [
        ("none", 2, 0),
        ("product at level 1", 2, 0),
    ]
    # Four rows are published now; by kind they are food in a, food in b, and kiwi in a.
    assert found[1].cost == pytest.approx(1 / 4)


def test_a_remedy_is_made_stronger_as_long_as_fewer_records_are_undecided(
    month: TradeMonth, monkeypatch: pytest.MonkeyPatch
) -> None:
    after = iter([(9, 5), (0, 8), (0, 3), (0, 4), (0, 0)])

    def as_told(kind: str, strength: str, found: Any, cost: float, holds: Any) -> Remedy:
        certain, undecided = (9, 0) if kind == "none" else next(after)
        return Remedy(
            kind=kind,
            strength=strength,
            certain=certain,
            undecided=undecided,
            waiting=undecided,
            identified=0,
            records=20,
            cost=cost,
        )

    monkeypatch.setattr(remedies, "_evaluate_remedy", as_told)
    found = helped(month, remedies=["rounding"])
    # The fourth leaves more undecided than the third: the fifth is not tried any more.
    assert [one.verdict for one in found] == ["no", "no", "not shown", "not shown", "not shown"]
    assert found.not_shown == [found[3]]
    assert found.enough == []


def test_what_is_no_remedy_is_said_with_the_nearest(month: TradeMonth) -> None:
    with pytest.raises(InvalidInput, match='Did you mean "rounding"'):
        helped(month, remedies=["roundin"])


def test_a_release_shows_what_would_help_in_report_and_result(tmp_path: Path) -> None:
    for path in EXAMPLE.glob("*.csv"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    text = (EXAMPLE / "release.toml").read_text()
    chosen = 'what_would_help = ["dropped_table", "dropped_amount"]\nseconds = 0.05\ntarget = 3'
    path = tmp_path / "release.toml"
    path.write_text(text.replace("seconds = 0.2", chosen))
    verdict = Release.load(path).check()
    told = json.loads(json.dumps(verdict.to_dict(), allow_nan=False))
    jsonschema.validate(told, result_schema())
    [assessment] = told["assessments"]
    details = assessment["details"]
    assert set(details) >= {"phases", "instances", "by_complexity", "places", "input", "rounding"}
    assert [row["phase"] for row in details["target"]][:2] == ["prior", "1/1"]
    kinds = [one["kind"] for one in details["what_would_help"]["tried"]]
    assert kinds == ["none", "dropped_table", "dropped_table", "dropped_amount", "dropped_amount"]
    report(verdict, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    for wanted in (
        "Phase by phase",
        "One target",
        "Instances by complexity",
        "largest value",
        "utility lost",
    ):
        assert wanted in page
    assert "city 0" not in page
    path.write_text(text.replace("seconds = 0.2", 'what_would_help = ["droped_table"]'))
    with pytest.raises(InvalidInput, match='Did you mean "dropped_table"'):
        Release.load(path)


def test_the_command_line_shows_what_would_help(tmp_path: Path) -> None:
    for path in EXAMPLE.glob("*.csv"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    text = (EXAMPLE / "release.toml").read_text()
    path = tmp_path / "release.toml"
    path.write_text(text.replace("seconds = 0.2", 'what_would_help = ["dropped_table"]'))
    done = CliRunner().invoke(app, ["reconstruct", str(path), "--seconds", "0.05", "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["what_would_help"]["tried"][0]["kind"] == "none"
    assert [one["model"] for one in told["assessments"]][-1] == "all tables"
    shown = CliRunner().invoke(app, ["reconstruct", str(path), "--seconds", "0.05"])
    assert "utility lost" in shown.stdout
    assert "does not make every record deniable: dropped table" in shown.stdout


@pytest.mark.parametrize("noise", ["-1", "nois"])
def test_noise_is_a_number_or_a_column(noise: str) -> None:
    table = dataset("t", product=["1"], city=["a"], value=[5], noise=[1])
    records = dataset("records", product=["1"], value=[5.0])
    totals = [Totals(table, {"product": "product"}, "city", ["value"], noise=noise)]
    with pytest.raises(InvalidInput, match="a number from 0 to .*, or a column"):
        audited(records, totals)


def test_noise_widens_what_a_total_allows() -> None:
    records = dataset("records", product=["1", "1"], value=[5.0, 6.0])
    table = dataset("t", product=["1", "1"], city=["a", "b"], value=[5, 6], by=[0, 1])
    for noise, possible in (("0", 1), ("1", 2), ("by", 1)):
        totals = [Totals(table, {"product": "product"}, "city", ["value"], "exact", noise=noise)]
        found = audited(records, totals, premise="complete", rule_is_known=True)
        assert found.phases[-1].places_left.tolist() == [possible] * 2
