"""Adult: what the fewest cells are, and what real safety costs."""

import os
from pathlib import Path

import pytest

import divulge as dv
from divulge import protection, records

ADULT = Path(
    os.environ.get("DIVULGE_ADULT", Path(__file__).parents[3] / "shared/data/adult/adult.csv")
)

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not ADULT.is_file(), reason="the Adult data are kept outside the project"),
]


@pytest.fixture(scope="module")
def adult() -> dv.Dataset:
    keys = ["sex", "age", "race", "marital-status", "education"]
    return dv.read(ADULT, roles={"quasi_identifier": keys})


def test_twenty_cells_are_enough_for_counting_and_proved_to_be_the_fewest(
    adult: dv.Dataset,
) -> None:
    p = protection.suppress(adult, k=5, nulls="maybe")
    assert records.frequencies(p.dataset, nulls="maybe").smallest >= 5
    assert p.suppressed_cells == p.bound == 20
    assert p.alone()["bayes"] > 3_000


def test_a_cell_a_record_needs_fewer_than_two_thousand(adult: dv.Dataset) -> None:
    p = protection.suppress(adult, k=5, cells_per_record=1, nulls="maybe")
    assert records.frequencies(p.dataset, nulls="maybe").smallest >= 5
    assert p.suppressed_cells <= 2_000


def test_real_safety_costs_about_a_cell_for_everybody_at_risk(adult: dv.Dataset) -> None:
    p = protection.suppress(adult, k=5, nulls="bayes")
    found = records.frequencies(p.dataset, "bayes", original=adult)
    assert found.smallest >= 5 - 1e-9
    assert p.suppressed_cells <= 8_500
    assert p.bound == 3_476  # 4,837 combinations of values have fewer than five records each
    known = protection.suppress(adult, k=5, nulls="known", cells_per_record=1)
    assert records.frequencies(known.dataset, "known", original=adult).smallest >= 5
    assert known.suppressed_cells <= 3_000


def test_who_knows_the_method_guesses_twice_as_many_ages_and_decoys_mislead_them(
    adult: dv.Dataset,
) -> None:
    p = protection.suppress(adult, k=5, decoys=0.25)
    assert p.needed is not None
    assert p.needed.method is not None
    assert p.method is not None
    age = p.needed.method.by_attribute()["age"]
    assert 0.25 < age.excluded / age.hidden < 0.36
    assert age.misled == 0
    assert 1.6 < age.right / age.base < 3
    assert 0.01 < age.base / age.hidden < 0.03
    assert p.decoy_cells == round(0.25 * p.needed.suppressed_cells)
    after, decoys = p.method.by_attribute()["age"], p.method.by_attribute()["age"].hidden
    assert after.misled is not None
    assert after.misled >= 0.95 * (decoys - age.hidden)
    # The better odds go only slowly: on cells that had to be hidden they exclude as well as before.
    assert p.method_on_needed is not None
    assert p.method_on_needed.excluding >= 0.9 * p.needed.method.figures.excluding
    gain = after.right / after.hidden - after.base / after.hidden
    assert gain < (age.right - age.base) / age.hidden / 2
    found = records.frequencies(p.dataset, "bayes", original=adult)
    assert found.smallest >= 5 - 1e-9
