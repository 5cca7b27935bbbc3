"""The cycle of suppression: tables of who fits whom change nothing but the time it takes."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.protection import tuning
from divulge.protection.changes.kernels import HIDDEN
from divulge.protection.suppression.match_index import MatchIndex
from divulge.protection.suppression.record_cycle import hide_record_by_record

Codes = npt.NDArray[np.int32]


def fits(row: Sequence[int], other: Sequence[int]) -> bool:
    return all(a == b or HIDDEN in (a, b) for a, b in zip(row, other, strict=True))


def count_fitting(rows: list[list[int]], row: list[int]) -> int:
    return sum(fits(row, other) for other in rows)


def run_plain_cycle(
    codes: Codes, k: int, allowed: list[int], costs: list[float], order: list[int]
) -> tuple[list[list[int]], list[int]]:
    """Bellomarini et al., Sec. 4.4, word by word: everybody counted anew for every question."""
    rows = codes.tolist()
    for record in order:
        while count_fitting(rows, rows[record]) < k:
            trials = []
            for a in allowed:
                if rows[record][a] != HIDDEN:
                    trial = [*rows[record][:a], HIDDEN, *rows[record][a + 1 :]]
                    trials.append((-count_fitting(rows, trial) / costs[a], a))
            if not trials:
                break
            rows[record][min(trials)[1]] = HIDDEN
    return rows, sorted(r for r in order if count_fitting(rows, rows[r]) < k)


@st.composite
def tables_of_codes(draw: st.DrawFn) -> Codes:
    width = draw(st.integers(1, 4))
    cell = st.integers(HIDDEN, 3) if draw(st.booleans()) else st.integers(0, 3)
    rows = draw(st.lists(st.lists(cell, min_size=width, max_size=width), min_size=1, max_size=14))
    return np.array(rows, np.int32)


@pytest.mark.parametrize(
    ("least_rows", "scans", "places"), [(1, 0, 10**6), (3, 2, 10**6), (1, 0, 40), (99, 0, 10**6)]
)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_the_cycle_is_that_of_the_paper_however_many_tables_there_are(
    least_rows: int, scans: int, places: int, data: st.DataObject
) -> None:
    codes = data.draw(tables_of_codes())
    width = codes.shape[1]
    k = data.draw(st.integers(1, 5))
    allowed = sorted(data.draw(st.sets(st.integers(0, width - 1))))
    costs = data.draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=width, max_size=width))
    plain_rows = codes.tolist()
    at_risk = [r for r, row in enumerate(plain_rows) if count_fitting(plain_rows, row) < k]
    order = data.draw(st.permutations(at_risk))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "LEAST_INDEXED_ROWS", least_rows)
        patch.setattr(tuning, "SCANS_BEFORE_INDEX", scans)
        patch.setattr(tuning, "MOST_INDEXED_PLACES", places)
        patch.setattr(tuning, "WILDCARD_ROOM", 1)
        rows, lost = hide_record_by_record(
            codes, k, allowed, np.array(costs), np.array(order, np.int64)
        )
    assert (rows.tolist(), lost.tolist()) == run_plain_cycle(codes, k, allowed, costs, list(order))


def test_more_attributes_than_a_number_has_bits_are_compared_one_by_one() -> None:
    codes = np.zeros((3, 70), np.int32)
    codes[0, 66] = 1
    rows, lost = hide_record_by_record(codes, 2, list(range(70)), np.ones(70), np.array([0]))
    assert np.argwhere(rows == HIDDEN).tolist() == [[0, 66]]
    assert lost.size == 0


def test_tables_are_made_where_rows_are_many_and_give_the_same_counts() -> None:
    random = np.random.default_rng(5)
    codes = random.integers(0, 6, (400, 3)).astype(np.int32)
    index = MatchIndex.from_codes(codes)
    rows = codes.copy()
    for record in range(0, 400, 2):
        row = int(index.pattern[record])
        index.hide_cell(row, record % 3)
        rows[record, record % 3] = HIDDEN
    for attribute in (None, 0, 1, 2):
        for _ in range(2):
            for row in range(index.patterns):
                trial = index.codes[row].tolist()
                if attribute is not None:
                    trial[attribute] = HIDDEN
                found = index.count_fitting(row, attribute)
                assert found == count_fitting(rows.tolist(), trial)
    assert len(index._lookups) == 4
