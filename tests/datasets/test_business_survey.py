"""A synthetic survey of businesses: what its table of turnover promises."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge import datasets
from divulge.datasets.business_survey import EMPLOYEE_LIMITS, SIZE_CLASSES
from divulge.tables import Table, sensitive_cells
from divulge.work import DivulgeError

BY = ["activity", "region", "size"]
SURVEY = datasets.business_survey()
ROWS = SURVEY.to_arrow().to_pylist()
TABLE = Table.from_records(SURVEY, by=BY, value="turnover", contributor="holding")


@pytest.mark.parametrize(
    ("detail", "shape"),
    [("small", (82, 13, 6)), ("medium", (229, 21, 6)), ("large", (436, 36, 6))],
)
def test_each_detail_has_its_classifications_with_subtotals(
    detail: str, shape: tuple[int, ...]
) -> None:
    survey = datasets.business_survey(detail=detail)
    assert Table.from_records(survey, by=BY, value="turnover").shape == shape


def test_a_part_of_the_cells_is_empty_and_a_part_has_too_few_contributors() -> None:
    filled = TABLE.values[:-1, :-1, :-1] > 0
    assert 0.05 < 1 - filled.mean() < 0.4
    sensitive = sensitive_cells(TABLE, p_percent=10)
    assert 0.1 < sensitive.mean() < 0.3


def test_subtotals_follow_from_the_codes() -> None:
    axis = TABLE.structure.grids[0][0]
    section = sum(row["turnover"] for row in ROWS if row["activity"].startswith("A"))
    assert TABLE.values[axis.codes.index("A"), -1, -1] == section
    division = sum(row["turnover"] for row in ROWS if row["activity"].startswith("B03."))
    assert TABLE.values[axis.codes.index("B03"), -1, -1] == division


def test_some_firms_share_a_holding_mostly_within_a_division() -> None:
    members = defaultdict(list)
    for row in ROWS:
        members[row["holding"]].append(row["activity"][:3])
    groups = [codes for codes in members.values() if len(codes) > 1]
    assert 0.15 < sum(map(len, groups)) / len(ROWS) < 0.35
    alike = [max(Counter(codes).values()) >= len(codes) / 2 for codes in groups]
    assert np.mean(alike) > 0.8
    assert len({row["firm"] for row in ROWS}) == len(ROWS)


def test_turnover_is_heavy_tailed_and_employees_fit_their_class() -> None:
    amounts = np.sort([row["turnover"] for row in ROWS])
    assert amounts[0] > 0
    assert amounts[-len(amounts) // 100 :].sum() > 0.1 * amounts.sum()
    for row in ROWS:
        place = SIZE_CLASSES.index(row["size"])
        assert EMPLOYEE_LIMITS[place] <= row["employees"] < EMPLOYEE_LIMITS[place + 1]


@settings(max_examples=20)
@given(st.integers(1, 300), st.integers(0, 1000))
def test_any_number_of_firms_can_be_drawn_and_the_seed_decides(firms: int, seed: int) -> None:
    survey = datasets.business_survey(firms, seed)
    assert survey.rows == firms
    assert survey.fingerprint == datasets.business_survey(firms, seed).fingerprint


def test_another_seed_gives_another_survey() -> None:
    assert datasets.business_survey(seed=1).fingerprint != SURVEY.fingerprint


def test_what_cannot_be_drawn_is_told_all_at_once() -> None:
    with pytest.raises(DivulgeError, match='2 problems(.|\n)*Did you mean "medium"'):
        datasets.business_survey(0, detail="medum")
