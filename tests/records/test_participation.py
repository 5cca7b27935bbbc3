"""Of a sample: what is assumed of who took part, and what is found by somebody who does not know."""

from __future__ import annotations

from math import log
from pathlib import Path

import pyarrow as pa
import pytest

import divulge as dv


def sample(weights: list[float | None]) -> dv.Dataset:
    """One who is alone, and two alike."""
    table = pa.table({"id": [1, 2, 3], "a": ["x", "y", "y"], "s": ["u", "v", "w"], "w": weights})
    roles = {"identifier": "id", "quasi_identifier": "a", "sensitive": "s", "weight": "w"}
    return dv.Dataset.from_arrow(table, name="survey", roles=roles)


def expect_found(first: float, others: float) -> float:
    """Benedetti and Franconi's formulas for one record and for two, by hand."""
    p, q = 1 / first, 2 / others
    one = p / (1 - p) * log(1 / p)
    two = q / (1 - q) - (q / (1 - q)) ** 2 * log(1 / q)
    return one + 2 * two


ASSUMED = "The data are a sample: these figures assume an adversary who knows who took part."


def test_the_population_risk_stands_beside_that_of_the_sample() -> None:
    found = dv.records.attack(sample([10.0, 20.0, 30.0]), "CRS", ["a"])
    assert found.certain.posterior == 1
    expected = expect_found(10, 50)
    assert found.figures["right_in_population"] == pytest.approx(expected)
    individual = dv.records.individual_risk(sample([10.0, 20.0, 30.0]))
    assert individual.expected == pytest.approx(expected)
    said = found.explain()
    assert ASSUMED in said
    assert any(
        "An adversary who does not know this is expected to identify 0.3" in each for each in said
    )


def test_linked_years_weigh_the_records_of_the_first() -> None:
    later = dv.Dataset.from_arrow(pa.table({"id": [1, 2, 3], "a": ["x", "y", "y"]}), name="later")
    years = [sample([10.0, 20.0, 30.0]), later]
    growth = dv.records.longitudinal(years, on="id", knows=["a"])
    expected = [expect_found(10, 50)] * 2
    assert [each.figures["right_in_population"] for each in growth] == pytest.approx(expected)
    linked = dv.records.attack(years, "CRL", ["a"], on="id")
    assert linked.figures["right_in_population"] == pytest.approx(expected[0])


def test_one_person_and_a_secret_say_what_is_assumed() -> None:
    survey = sample([10.0, 20.0, 30.0])
    one = dv.records.attack(survey, "IRS", ["a"], target={"a": "x"})
    assert one.figures["right_in_population"] == pytest.approx(1 / 9 * log(10))
    secret = dv.records.attack(survey, "CAS", ["a"], "s")
    assert ASSUMED in secret.explain()
    assert "right_in_population" not in secret.figures


@pytest.mark.parametrize("weights", [[None, 2.0, 3.0], [0.5, 2.0, 3.0], [-1.0, 2.0, 3.0]])
def test_weights_that_tell_nothing_are_said_and_the_attack_goes_on(
    weights: list[float | None],
) -> None:
    found = dv.records.attack(sample(weights), "CRS", ["a"])
    assert found.certain.posterior == 1
    assert "right_in_population" not in found.figures
    assert any(
        "cannot be estimated from the sampling weights: is " in each for each in found.explain()
    )


def test_who_is_no_sample_is_not_told_so() -> None:
    whole = sample([1.0, 1.0, 1.0]).describe({"quasi_identifier": "a"})
    assert ASSUMED not in dv.records.attack(whole, "CRS", ["a"]).explain()


def test_limits_on_counts_say_what_is_assumed(tmp_path: Path) -> None:
    survey = sample([10.0, 20.0, 30.0])
    survey.write(tmp_path / "survey.csv")
    path = tmp_path / "release.toml"
    path.write_text(
        """
[[dataset]]
name = "survey"
source = "survey.csv"
roles = { identifier = "id", quasi_identifier = "a", sensitive = "s", weight = "w" }
[[limit]]
measure = "k_anonymity"
at_least = 2
""",
        encoding="utf-8",
    )
    [outcome] = dv.Release.load(path).check().outcomes
    assert outcome.status == "fail"
    said = [str(each) for each in outcome.sentences]
    assert ASSUMED in said
    assert said[-1].startswith("An adversary who does not know this is expected to identify 0.3")
