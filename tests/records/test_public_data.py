"""Figures on public data that others have published."""

from __future__ import annotations

from pathlib import Path

import pytest

import divulge as dv

ADULT = Path(__file__).parents[3] / "shared" / "data" / "adult" / "adult.csv"


@pytest.mark.data
@pytest.mark.skipif(not ADULT.exists(), reason="the Adult data are not beside the project")
def test_the_marketer_risk_of_adult() -> None:
    adult = dv.read(ADULT, separator=";")
    found = dv.records.attack(
        adult, "marketer", ["sex", "age", "race", "marital-status", "education"]
    )
    assert found.probabilistic.posterior == pytest.approx(0.201313, abs=5e-7)
