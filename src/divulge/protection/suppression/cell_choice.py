"""Which cells local suppression hides, in one set of attributes after the other.

Everything here is codes: rows before and after, and who could not be helped. Where records hide
the same (`equal_nulls`), classes are gathered; where a null may be anything (`wildcard_nulls`),
wildcards are spread, or the cycle goes from record to record.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from divulge import records
from divulge.classes.survey_design import sampling_weights
from divulge.data import Dataset
from divulge.protection.changes.changes import build_code_matrix
from divulge.protection.changes.kernels import HIDDEN
from divulge.protection.suppression.equal_nulls import (
    build_hiding_move,
    count_equal_rows,
    gather_classes,
    group_equal_rows,
)
from divulge.protection.suppression.lower_bound import (
    bound_hidden_records,
    bound_suppression_cost,
)
from divulge.protection.suppression.partition import improve_classes
from divulge.protection.suppression.record_cycle import hide_record_by_record
from divulge.protection.suppression.request import SuppressionRequest
from divulge.protection.suppression.wildcard_nulls import (
    Board,
    list_masks,
    spread_wildcards,
)
from divulge.records.risk.null_readings import Nulls
from divulge.work.arrays import Bools, Floats, Ints


def choose_hidden_cells(
    original: Dataset, dataset: Dataset, request: SuppressionRequest, before: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int32], Ints, float]:
    """The rows of codes after suppression, who could not be helped, and a bound on the cost."""
    names = list(request.names)
    preference = _rank_records(dataset, request)
    rows, bound = before.copy(), 0.0
    unprotected: Ints = np.empty(0, np.int64)
    # Hiding more for one subset can break another where nulls are values: until none is broken.
    for _ in range(before.size + 2):
        changed = False
        for subset in request.subsets:
            places = [names.index(name) for name in subset]
            part = rows[:, places]
            hidden_part, unhelped, least = _hide_in_subset(
                original,
                part,
                request,
                subset=subset,
                preference=preference,
                absent=[dataset.columns[name].missing_code for name in subset],
            )
            if np.array_equal(part, before[:, places]):
                bound = max(bound, least)  # of the data as they came, not as they are half-way
                if original is dataset and request.nulls == "bayes":
                    bound = max(bound, _bound_by_weighing(part, request, subset))
            unprotected = np.union1d(unprotected, unhelped)
            if not np.array_equal(hidden_part, part):
                rows[:, places] = hidden_part
                changed = True
        if not changed or len(request.subsets) == 1:
            break
    return rows, unprotected.astype(np.int64), bound


def _hide_in_subset(
    original: Dataset,
    part: npt.NDArray[np.int32],
    request: SuppressionRequest,
    *,
    subset: Sequence[str],
    preference: Floats,
    absent: Sequence[int],
) -> tuple[npt.NDArray[np.int32], Ints, float]:
    allowed = [a for a, name in enumerate(subset) if name not in request.never]
    # Planning takes the cheapest cell of each attribute; whose it is, the preference decides.
    costs = np.array([float(request.costs[name].min()) for name in subset])
    most = min(request.cells_per_record or len(allowed), len(allowed))
    if request.nulls in ("value", "bayes"):
        return _hide_equally(
            original,
            part,
            request,
            subset=subset,
            allowed=allowed,
            most=most,
            costs=costs,
            preference=preference,
            absent=absent,
        )
    frequency = _count_codes(part, request.nulls, original, subset)
    bound = bound_suppression_cost(
        part, frequency, request.k, allowed=allowed, costs=costs, known=request.nulls == "known"
    )
    best: tuple[float, npt.NDArray[np.int32], Ints] | None = None
    for limit in dict.fromkeys([most] if request.search == "cycle" else [most, min(1, most)]):
        rows, unprotected = _hide_as_wildcards(
            part,
            frequency,
            request,
            allowed=allowed,
            most=limit,
            costs=costs,
            preference=preference,
            kept=request.mark_kept(subset),
        )
        total = float(((rows == HIDDEN) & (part != HIDDEN)).sum(axis=0) @ costs)
        if best is None or (unprotected.size, total) < (best[2].size, best[0]):
            best = (total, rows, unprotected)
        if total <= bound:
            break
    assert best is not None  # noqa: S101  # there is at least one try
    return best[1], best[2], bound


def _hide_equally(
    original: Dataset,
    part: npt.NDArray[np.int32],
    request: SuppressionRequest,
    *,
    subset: Sequence[str],
    allowed: list[int],
    most: int,
    costs: Floats,
    preference: Floats,
    absent: Sequence[int],
) -> tuple[npt.NDArray[np.int32], Ints, float]:
    at_risk = np.flatnonzero(count_equal_rows(part) < request.k)
    if not allowed:
        return part, at_risk, 0.0
    nothing_absent = [-1] * len(subset)
    for codes_of_absence in (absent, nothing_absent):
        # Absence is hidden last, for those whom nothing else helps.
        for limit in range(most, len(allowed) + 1):
            moves = [
                build_hiding_move(mask, part, costs, codes_of_absence)
                for mask in list_masks(allowed, limit)
            ]
            rows, unprotected = gather_classes(
                part, request.k, moves, preference, request.mark_kept(subset)
            )
            if unprotected.size == 0:
                break
        if unprotected.size == 0:
            break
    if unprotected.size == 0 and request.cells_per_record is None:
        cell_costs = build_cell_costs(part, request, subset=subset, absent=absent)
        rows = improve_classes(part, rows, request.k, cell_costs, group_equal_rows(rows))
    # Classes without a null cannot grow where nulls are values: who is at risk in one hides a cell.
    # Whoever weighs finds at least whom somebody finds who only counts what fits (`known`).
    if request.nulls == "value":
        whole = ~np.any(part[np.ix_(at_risk, np.array(allowed))] == HIDDEN, axis=1)
        bound = int(whole.sum()) * float(costs[allowed].min())
    else:
        frequency = _count_codes(part, "known", original, subset)
        bound = bound_suppression_cost(
            part, frequency, request.k, allowed=allowed, costs=costs, known=True
        )
    return rows, unprotected, bound


def _bound_by_weighing(
    part: npt.NDArray[np.int32], request: SuppressionRequest, subset: Sequence[str]
) -> float:
    """What the records cost at the least that must hide a cell for somebody who weighs."""
    prices = [float(request.costs[name].min()) for name in subset if name not in request.never]
    if not prices or np.any(part == HIDDEN):
        return 0.0
    return bound_hidden_records(count_equal_rows(part), request.k) * min(prices)


def build_cell_costs(
    part: npt.NDArray[np.int32],
    request: SuppressionRequest,
    *,
    subset: Sequence[str],
    absent: Sequence[int],
) -> Floats:
    """What hiding each cell costs: nothing if it is hidden already, infinite if it may not be."""
    costs = np.empty(part.shape)
    for a, name in enumerate(subset):
        costs[:, a] = np.inf if name in request.never else request.costs[name]
        costs[part[:, a] == absent[a], a] = np.inf
        if name in request.kept:
            costs[request.kept[name], a] = np.inf
    return np.where(part == HIDDEN, 0.0, costs)


def _hide_as_wildcards(
    part: npt.NDArray[np.int32],
    frequency: Ints,
    request: SuppressionRequest,
    *,
    allowed: list[int],
    most: int,
    costs: Floats,
    preference: Floats,
    kept: Bools | None,
) -> tuple[npt.NDArray[np.int32], Ints]:
    if request.search == "cycle":
        order = _order_records(frequency, preference, request)
        return hide_record_by_record(part, request.k, allowed, costs, order, kept=kept)
    known = request.nulls == "known"
    board = Board.from_codes(part, frequency, known, preference, kept)
    if allowed:
        for limit in range(most, len(allowed) + 1):
            if not np.any(spread_wildcards(board, request.k, list_masks(allowed, limit), costs)):
                break
        board.reveal_unneeded(request.k, costs)
    rows = part.copy()
    for record, hidden in board.list_hidden_cells():
        rows[record, hidden] = HIDDEN
    risky = np.flatnonzero(board.find_at_risk(request.k))
    unprotected = [_list_row_records(board, row) for row in risky.tolist()]
    return rows, np.concatenate([np.empty(0, np.int64), *unprotected])


def _list_row_records(board: Board, row: int) -> Ints:
    if row < board.patterns:
        members = board.members[row]
        return members if board.known else members[board.used_members[row] :]
    return np.array([board.record_of[row]], np.int64)


def _order_records(frequency: Ints, preference: Floats, request: SuppressionRequest) -> Ints:
    """Records at risk in the order of the cycle."""
    at_risk = np.flatnonzero(frequency < request.k)
    if request.order == "risk":
        return at_risk[np.lexsort((preference[at_risk], frequency[at_risk]))]
    return at_risk[np.argsort(preference[at_risk], kind="stable")]


def _rank_records(dataset: Dataset, request: SuppressionRequest) -> Floats:
    """Of records that would do as well, which is changed first: the lowest."""
    if request.order == "random" or request.seed is not None:
        return np.random.default_rng(request.seed).random(dataset.rows)
    costs = np.zeros(dataset.rows)
    for name in request.names:
        costs = costs + (request.costs[name] if request.costs[name].size > 1 else 0.0)
    if np.any(costs):
        return costs
    weights = sampling_weights(dataset, least=0.0) if request.order == "weight" else None
    return np.zeros(dataset.rows) if weights is None else weights


def _count_codes(
    part: npt.NDArray[np.int32], nulls: Nulls, original: Dataset, subset: Sequence[str]
) -> Ints:
    """How many look like each row, counted by the records' own counter."""
    import pyarrow as pa

    columns = {
        name: pa.array(part[:, a], mask=part[:, a] == HIDDEN) for a, name in enumerate(subset)
    }
    released = Dataset.from_arrow(pa.table(columns))
    if nulls == "known":
        before = build_code_matrix(original, list(subset), absence_apart=True)
        original_columns = {name: pa.array(before[:, a], mask=before[:, a] == HIDDEN)
                for a, name in enumerate(subset)}  # fmt: skip
        if np.any(part == HIDDEN):
            first = Dataset.from_arrow(pa.table(original_columns))
            return records.frequencies(released, "known", among=subset, original=first).sample
    return records.frequencies(released, "maybe", among=subset).sample


def list_hidden_cells(
    names: list[str],
    before: npt.NDArray[np.int32],
    rows: npt.NDArray[np.int32],
    unprotected: Ints,
) -> dict[str, Ints]:
    """By attribute, the records that hide it now and did not before (but those who are lost)."""
    fresh = (rows == HIDDEN) & (before != HIDDEN)
    fresh[unprotected] = False
    return {
        name: np.flatnonzero(fresh[:, a]) for a, name in enumerate(names) if np.any(fresh[:, a])
    }
