"""Data without a counterpart, and data that contradict: counted, named, refused or reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.reconstruction.strategies import audited, dataset
from typer.testing import CliRunner

from divulge import InvalidInput
from divulge.cli.main import app
from divulge.reconstruction import Generalised, Totals, allocate, reconstruct

EXAMPLE = Path(__file__).parents[2] / "examples" / "reconstruction"
RECORDS = dataset("records", product=["11", "12", "31"], value=[5.0, 6.0, 7.0])


def tables(states: list[str] | None = None, **columns: Any) -> list[Totals]:
    by_city = dataset(
        "by city",
        **{
            "heading": ["1", "1", "2"],
            "city": ["a", "b", "z"],
            "state": ["east", "east", "north"],
            "value": [5, 6, 9],
            **columns,
        },
    )
    names = states or ["east", "east"]
    by_state = dataset("by state", product=["11", "12"], state=names, value=[5, 6])
    heading = {"heading": Generalised("product", prefix=1)}
    return [
        Totals(by_city, heading, ["city", "state"], ["value"]),
        Totals(by_state, {"product": "product"}, "state", ["value"]),
    ]


def test_what_has_no_counterpart_is_counted_and_named() -> None:
    found = audited(RECORDS, tables())
    counts = found.found_in_data
    assert counts.records_without_totals == {"by city": 1, "by state": 1}
    assert counts.totals_without_records == {"by city": 1, "by state": 0}
    assert counts.unknown_places == {"by state": 1}
    assert counts.places_without_parties == 1
    for said in (
        '1 record has a key that no row of "by city" has',
        '1 row of "by city" has a key that no record has',
        '1 place lies in one that "by state" does not have',
        "1 place has no listed party",
    ):
        assert said in str(found)
    # A record that no table has can be of everybody.
    assert found.phases[-1].chance[2] == found.phases[0].chance[2]


def test_who_wants_no_such_data_refuses_them_all_at_once() -> None:
    with pytest.raises(InvalidInput) as error:
        audited(RECORDS, tables(), unmatched="refuse")
    assert len(error.value.problems) == 5
    with pytest.raises(InvalidInput, match='Did you mean "refuse"'):
        audited(RECORDS, tables(), unmatched="refus")


def test_codes_of_which_none_fits_are_an_error() -> None:
    with pytest.raises(InvalidInput, match="no record has the key of any row"):
        audited(RECORDS, tables(heading=["01", "01", "02"]))


def test_a_place_of_two_states_is_refused() -> None:
    with pytest.raises(InvalidInput, match='1 of column "city" lie in more than one state'):
        audited(RECORDS, tables(city=["a", "b", "a"]))


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([5, -6, 9], "1 row has a negative amount"),
        ([5, None, 9], "1 row has no amount"),
        ([5.5, 6.0, 9.0], "1 row has an amount that is no whole number of steps of 1"),
        (["5", "six", "9"], "contains no numbers"),
    ],
)
def test_totals_that_are_none_are_refused_with_counts(value: list[Any], why: str) -> None:
    with pytest.raises(InvalidInput) as error:
        audited(RECORDS, tables(value=value))
    assert why in str(error.value)
    assert "six" not in str(error.value)


def test_amounts_that_both_sides_have_are_used_unless_some_are_named() -> None:
    records = dataset("records", product=["1", "1"], value=[5.0, 5.0], freight=[1.0, 2.0])
    table = dataset("t", product=["1", "1"], city=["a", "b"], value=[5, 5], freight=[1, 2])
    units: Any = {"value": "1", "freight": "1", "weight": "1"}
    parties = dataset("parties", city=["a", "b"])
    given: dict[str, Any] = {"units": units, "workers": 1, "premise": "complete"}
    key = {"product": "product"}
    both = reconstruct(records, [Totals(table, key, "city")], parties, **given)
    one = reconstruct(records, [Totals(table, key, "city", ["value"])], parties, **given)
    assert both.levels[0].attributes == ("value", "freight")
    assert both.phases[-1].certain.all()
    assert not one.phases[-1].certain.any()
    with pytest.raises(InvalidInput, match="names no amount"):
        reconstruct(records, [Totals(table, key, "city")], parties, units={"weight": "1"})


def test_a_contradiction_is_told_with_bin_and_amount_wherever_results_are_shown() -> None:
    records = dataset("records", product=["1", "1"], value=[5.0, 9.0])
    table = dataset("t", product=["1", "1"], city=["a", "b"], value=[5, 700])
    totals = [Totals(table, {"product": "product"}, "city", ["value"])]
    found = audited(records, totals, premise="complete")
    [told] = found.to_dict()["inconsistent"]
    assert (told["table"], told["place"], told["amount"]) == ("t", "b", "value")
    assert told["at_least"] == pytest.approx(690.5)  # 9 is there, and 700 may be 699.5
    details = found.assessment.details()
    assert details is not None
    assert any(part.head[-1] == "wrong by at least" for part in details.more)


def test_names_are_told_only_to_who_asks_for_them() -> None:
    asked = ["reconstruct", str(EXAMPLE / "release.toml"), "--seconds", "0.05", "--json"]
    plain = CliRunner().invoke(app, asked)
    assert "company 0" not in plain.stdout
    named = CliRunner().invoke(app, [*asked, "--names", "company"])
    told = json.loads(named.stdout)
    assert len(told["identities"]) == told["phases"][-1]["identified"]
    assert all(name.startswith("company 0") for name in told["identities"].values())
    wrong = CliRunner().invoke(app, [*asked, "--names", "compani"])
    assert 'has no attribute "compani"' in str(wrong.exception)


def test_a_record_that_only_totals_have_may_hide_one_that_they_lack() -> None:
    """Of 9, left out, nothing shows: 20 is another record, and reads as 9 and one of 11."""
    records = dataset("records", product=["1", "1"], value=[5.0, 9.0])
    table = dataset("t", product=["1", "1"], city=["a", "b"], value=[5, 20])
    totals = [Totals(table, {"product": "product"}, "city", ["value"])]
    found = audited(records, totals)
    assert found.solved[0].premise == "extra"
    assert not found.phases[-1].certain.any()
    told = audited(records, totals, premise="extra")
    assert told.phases[-1].certain.tolist() == [True, True]


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"step": "1e30"}, "step: must be at most 1E[+]12"),
        ({"step": "1e-30"}, "step: must be at least 1E-12"),
        ({"tolerance": "1e30"}, "tolerance: must be at most 1E[+]12"),
        ({"tolerance": "-1"}, "tolerance: must be from 0"),
        ({"units": ["1e-30"]}, "units: must be at least 1E-12"),
        ({"units": ["1e30"]}, "units: must be at most 1E[+]12"),
        ({"units": ["1e-9"], "tolerance": "1e12"}, "tolerance: is too large for units of 1E-9"),
    ],
)
def test_scales_without_a_sense_are_refused(how: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        allocate({"p": [5]}, {"b": [5]}, **{"units": ["1"], **how})
