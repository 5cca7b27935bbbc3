"""Totals and their parts: a number that is a sum of several columns, found by least squares.

A total income is the sum of its kinds, and one kind is the total less the others. Few rows fix the
coefficients; whether they are right is seen on other rows. As some rows may be exceptions, several
choices of rows are tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from divulge.protection import tuning
from divulge.protection.refill.kernels import ABSENT, HIDDEN
from divulge.protection.refill.search.numbers import are_close
from divulge.protection.refill.search.state import RefillState, Target
from divulge.work.arrays import Floats, Ints


def find_linear_sums(
    state: RefillState, target: Target, numbers: Mapping[int, Floats]
) -> Iterator[tuple[tuple[int, ...], Floats]]:
    """Sums of three and more columns that fit most of some rows, with what they predict of all.

    What is absent counts as nothing: who has no wage earns none.
    """
    places = [place for place in numbers if state.columns[place].origin == "published"]
    if len(places) < tuning.REFILL_SUM_PARTS:
        return
    rows = _choose_rows(target, state, places)
    if rows.size < len(places) + 2 * tuning.REFILL_SUM_ROWS:
        return
    parts = _read_parts(state, places, numbers, rows)
    is_known = np.isfinite(parts).all(axis=1)
    rows, parts = rows[is_known], parts[is_known]
    wanted = target.list_numbers(target.evidence[rows])
    for chosen in _list_choices(rows.size, len(places) + tuning.REFILL_SUM_ROWS):
        coefficients, constant = _fit(parts[chosen], wanted[chosen])
        fits = are_close(parts @ coefficients + constant, wanted)
        used = np.flatnonzero(coefficients)
        if used.size >= tuning.REFILL_SUM_PARTS and np.mean(fits) > tuning.REFILL_SAMPLE_SHARE:
            telling = [places[part] for part in used.tolist()]
            everything = _read_parts(state, telling, numbers, np.arange(state.rows))
            yield tuple(telling), everything @ coefficients[used] + constant
            return


def _read_parts(
    state: RefillState, places: Sequence[int], numbers: Mapping[int, Floats], rows: Ints
) -> Floats:
    """The numbers of some columns and rows; nothing where one is absent."""
    return np.column_stack(
        [np.where(state.known[p][rows] == ABSENT, 0.0, numbers[p][rows]) for p in places]
    )


def _choose_rows(target: Target, state: RefillState, places: Sequence[int]) -> Ints:
    """Some rows with another value than the most frequent one that hide no part."""
    is_known = (target.evidence >= 0) & (target.evidence != target.mode)
    for place in places:
        is_known &= state.known[place] != HIDDEN
    others = np.flatnonzero(is_known)
    most = tuning.REFILL_SUM_ROWS * (len(places) + 2)
    return others[:: max(1, others.size // most)]


def _list_choices(size: int, width: int) -> Iterator[Ints]:
    """All rows, then fixed choices of few, one of which may be without exceptions."""
    everything = np.arange(size)
    yield everything
    for number in range(tuning.REFILL_SUM_TRIES):
        yield np.random.default_rng(number).permutation(size)[:width]


def _fit(parts: Floats, wanted: Floats) -> tuple[Floats, float]:
    """Coefficients and constant by least squares; what is nearly whole is whole."""
    scale = np.maximum(np.abs(parts).max(axis=0), 1e-12)
    matrix = np.column_stack([parts / scale, np.ones(len(parts))])
    solution, *_ = np.linalg.lstsq(matrix, wanted, rcond=None)
    coefficients, constant = solution[:-1] / scale, float(solution[-1])
    nothing = tuning.REFILL_SUM_TOLERANCE * np.abs(wanted).max()
    coefficients = np.where(np.abs(solution[:-1]) < nothing, 0.0, coefficients)
    whole = np.round(coefficients)
    is_whole = np.abs(coefficients - whole) < tuning.REFILL_SUM_TOLERANCE
    return np.where(is_whole, whole, coefficients), 0.0 if abs(constant) < nothing else constant
