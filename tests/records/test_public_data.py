"""Figures on public data that others have published."""

from __future__ import annotations

from pathlib import Path

import pytest

import divulge as dv

SDCMICRO = Path(__file__).parents[3] / "shared" / "data" / "sdcmicro"
ADULT = Path(__file__).parents[3] / "shared" / "data" / "adult" / "adult.csv"


@pytest.mark.data
@pytest.mark.skipif(not ADULT.exists(), reason="the Adult data are not beside the project")
def test_the_marketer_risk_of_adult() -> None:
    adult = dv.read(ADULT, separator=";")
    found = dv.records.attack(
        adult, "marketer", ["sex", "age", "race", "marital-status", "education"]
    )
    assert found.probabilistic.posterior == pytest.approx(0.201313, abs=5e-7)


@pytest.mark.data
@pytest.mark.skipif(not SDCMICRO.exists(), reason="sdcMicro's data are not beside the project")
def test_the_figures_of_the_household_survey_that_sdcmicro_prints() -> None:
    """Its own summary of these keys: 157 below 2-anonymity, 10.78 re-identifications (0.24%)."""
    keys = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
    survey = dv.read(
        SDCMICRO / "testdata.csv",
        roles={"quasi_identifier": keys, "weight": "sampling_weight", "household": "ori_hid"},
    )
    assert dv.records.frequencies(survey).below(2) == 157
    assert dv.records.anonymity_of_each(survey).failing(2) == 157
    risk = dv.records.individual_risk(survey)
    assert risk.expected == pytest.approx(10.78, abs=0.005)
    assert risk.average == pytest.approx(0.0024, abs=0.00005)


@pytest.mark.data
@pytest.mark.skipif(not SDCMICRO.exists(), reason="sdcMicro's data are not beside the project")
def test_eight_records_with_the_frequencies_that_sdcmicro_prints() -> None:
    keys = ["Key1", "Key2", "Key3", "Key4"]
    people = dv.read(SDCMICRO / "francdat.csv", roles={"quasi_identifier": keys, "weight": "w"})
    found = dv.records.frequencies(people)
    assert found.sample.tolist() == [2, 2, 2, 1, 1, 1, 1, 2]
    assert found.population.tolist() == [110, 84.5, 84.5, 17, 541, 8, 5, 110]
    crowd = dv.records.anonymity_of_each(people, count="population")
    assert crowd.values.tolist() == found.population.tolist()
    assert (crowd.value, crowd.claim) == (5, "estimate")
