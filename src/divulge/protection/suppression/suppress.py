"""Local suppression: hide cells until every record has k that look like it, and no more than that.

What "look like" means is the limit's choice (`nulls`). Under `maybe` and `known` a record that
hides something is company for others (`wildcard_nulls`); under `value` and `bayes` records hide the
same (`equal_nulls`); under `standard` a null is company for nobody, so who is at risk is removed.
Whatever was done is counted again by `divulge.records`, which knows nothing of how it was done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from divulge import records, work
from divulge.assessment import Limit, Sentence
from divulge.classes.survey_design import sampling_weights
from divulge.data import Dataset
from divulge.data.missing_kinds import merge_missing_kinds
from divulge.protection.changes.changes import (
    build_code_matrix,
    drop_records,
    hide_cells,
    select_records,
    value_at,
)
from divulge.protection.changes.decision_log import Change, DecisionLog
from divulge.protection.changes.kernels import HIDDEN
from divulge.protection.result.protected import Protected
from divulge.protection.suppression.equal_nulls import (
    build_hiding_move,
    count_equal_rows,
    gather_classes,
)
from divulge.protection.suppression.lower_bound import bound_suppression_cost
from divulge.protection.suppression.request import (
    Costs,
    Order,
    OutOfReach,
    Search,
    SuppressionRequest,
    build_out_of_reach_error,
    check_suppression_request,
)
from divulge.protection.suppression.wildcard_nulls import (
    Board,
    hide_record_by_record,
    list_masks,
    spread_wildcards,
)
from divulge.records.risk.frequencies import SEMANTICS_OF_ORIGINAL, Nulls
from divulge.work import DivulgeError, format_quantity
from divulge.work.arrays import Floats, Ints


def suppress(
    dataset: Dataset,
    k: int = 3,
    nulls: Nulls = "maybe",
    among: str | Iterable[str] | None = None,
    subsets: int | Sequence[Sequence[str]] | None = None,
    *,
    never: str | Iterable[str] = (),
    importance: Mapping[str, float] | None = None,
    cost: Costs | None = None,
    cells_per_record: int | None = None,
    out_of_reach: OutOfReach | None = None,
    search: Search = "fewest",
    order: Order = "weight",
    seed: int | None = None,
) -> Protected:
    """Suppress cells until every record has k that look like it.

    Args:
        dataset: the records; it stays as it is.
        k: how many must look alike, itself included.
        nulls: what a null may stand for: `maybe`, `known`, `value`, `bayes` or `standard`.
        among: the attributes in question; all quasi-identifiers if none are given.
        subsets: sets of these attributes that must each be k-anonymous, or their size: 3 is
            every three of them. All of them together if not given.
        never: attributes that must not be touched.
        importance: by attribute, how dear a cell is (1 if not given): dear ones are kept.
        cost: by attribute, what each record's cell costs, or one figure for all.
        cells_per_record: hide at most so many cells of a record as long as that suffices.
        out_of_reach: records that cannot be protected: `raise` an error, or `remove` them
            (which `standard` does unless told otherwise).
        search: `fewest` cells, or the `cycle`: one record after the other in an order, each
            hiding the attribute that gives it most company, until it has enough.
        order: of the cycle: least `weight` first, highest `risk` first, as `given`, `random`.
        seed: of a random order, and of the choice among equal records; keep it secret.

    Raises:
        InvalidInput: for a k, a name or a cost that cannot be.
        OutOfReachError: if the limit cannot be reached, with what would be needed.

    >>> import divulge as dv
    >>> p = suppress(dv.datasets.local_suppression_example(), k=2)
    >>> p.suppressed_cells, p.bound
    (2, 2.0)
    >>> dv.records.frequencies(p.dataset).sample.tolist()
    [5, 3, 3, 3, 3, 2, 2]
    """
    dataset = merge_missing_kinds(dataset)
    request = check_suppression_request(
        dataset,
        k,
        nulls,
        among=among,
        subsets=subsets,
        never=never,
        importance=importance,
        cost=cost,
        cells_per_record=cells_per_record,
        out_of_reach=out_of_reach,
        search=search,
        order=order,
        seed=seed,
    )
    return run_suppression(dataset, request)


def run_suppression(dataset: Dataset, request: SuppressionRequest) -> Protected:
    """Do what was asked for, count it again, and tell what was done."""
    limit = Limit("k_anonymity", at_least=request.k, nulls=request.nulls)
    released, log, bound = suppress_cells(dataset, dataset, request)
    protected = Protected(
        original=dataset,
        dataset=released,
        decisions=replace(log, original=dataset),
        nulls=request.nulls,
        limits=(limit,),
        among=request.names,
        bound=bound,
        cost=_sum_cost(log, request),
        seed=request.seed,
        rule=request.rule,
        again=lambda other: run_suppression(other, _adapt_request(request, other)),
        reseeded=lambda seed: run_suppression(dataset, replace(request, seed=seed, order="random")),
        only_at_risk=request.search == "cycle"
        and request.nulls == "maybe"
        and len(request.subsets) == 1,
        k=request.k,
    )
    _check_frequencies(protected, request)
    return protected


def suppress_cells(
    original: Dataset, dataset: Dataset, request: SuppressionRequest
) -> tuple[Dataset, DecisionLog, float]:
    """Hide cells of a dataset (perhaps recoded already) until all subsets keep to k."""
    if request.nulls == "standard":
        return _remove_at_risk(dataset, request)
    names = list(request.names)
    size = dataset.rows * len(names)
    work.MemoryPlan(
        f"suppression in {dataset.rows:,} records",
        {"codes": 16 * size, "frequencies": 120 * dataset.rows},
    ).require("protect fewer records at a time, or take fewer attributes")
    before = build_code_matrix(dataset, names)
    rows, unprotected, bound = _hide_in_subsets(original, dataset, request, before)
    frequency = _find_lowest_frequencies(dataset, original, request)
    cells = _list_hidden_cells(names, before, rows, unprotected)
    released = hide_cells(dataset, cells)
    after = _find_lowest_frequencies(released, original, request)
    if not unprotected.size and np.any(after < request.k - 1e-9):
        # Nulls of one subset, or that were there before, can leave somebody short in another.
        unprotected = np.flatnonzero(after < request.k - 1e-9)
        cells = _list_hidden_cells(names, before, rows, unprotected)
        released = hide_cells(dataset, cells)
    if unprotected.size:
        if request.out_of_reach == "raise":
            raise build_out_of_reach_error(dataset, request, unprotected.size)
        released, log = _remove_unprotectable(
            original, dataset, released, request=request, unprotected=unprotected, cells=cells
        )
        return released, log, 0.0  # what is needed depends on who is removed
    return released, _build_log(dataset, request, cells, frequency, after), bound


def _hide_in_subsets(
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
                original, part, request, subset, preference
            )
            if np.array_equal(part, before[:, places]):
                bound = max(bound, least)  # of the data as they came, not as they are half-way
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
    subset: Sequence[str],
    preference: Floats,
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
) -> tuple[npt.NDArray[np.int32], Ints, float]:
    at_risk = np.flatnonzero(count_equal_rows(part) < request.k)
    if not allowed:
        return part, at_risk, 0.0
    for limit in range(most, len(allowed) + 1):
        moves = [build_hiding_move(mask, part, costs) for mask in list_masks(allowed, limit)]
        rows, unprotected = gather_classes(part, request.k, moves, preference)
        if unprotected.size == 0:
            break
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


def _hide_as_wildcards(
    part: npt.NDArray[np.int32],
    frequency: Ints,
    request: SuppressionRequest,
    *,
    allowed: list[int],
    most: int,
    costs: Floats,
    preference: Floats,
) -> tuple[npt.NDArray[np.int32], Ints]:
    known = request.nulls == "known"
    board = Board.from_codes(part, frequency, known, preference)
    if allowed and request.search == "cycle":
        hide_record_by_record(
            board, request.k, allowed, costs, _order_records(frequency, preference, request)
        )
    elif allowed:
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
        before = build_code_matrix(original, list(subset))
        original_columns = {name: pa.array(before[:, a], mask=before[:, a] == HIDDEN)
                for a, name in enumerate(subset)}  # fmt: skip
        if np.any(part == HIDDEN):
            first = Dataset.from_arrow(pa.table(original_columns))
            return records.frequencies(released, "known", among=subset, original=first).sample
    return records.frequencies(released, "maybe", among=subset).sample


def _find_lowest_frequencies(
    dataset: Dataset, original: Dataset, request: SuppressionRequest
) -> Floats:
    """The lowest frequency of each record over the subsets."""
    known_original = original if request.nulls in SEMANTICS_OF_ORIGINAL else None
    lowest = np.full(dataset.rows, np.inf)
    for subset in request.subsets:
        frequencies = records.frequencies(
            dataset, request.nulls, among=subset, original=known_original
        )
        lowest = np.minimum(lowest, frequencies.sample)
    return lowest


def _list_hidden_cells(
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


def _build_log(
    dataset: Dataset,
    request: SuppressionRequest,
    cells: Mapping[str, Ints],
    before: Floats,
    after: Floats,
) -> DecisionLog:
    """One decision a cell: first those who were at risk, then those who give them company."""
    company = str(Sentence("divulge.protection", "reason.wildcard"))
    changes = []
    for at_risk, reason in ((True, ""), (False, company)):
        for name, places in cells.items():
            chosen = places[(before[places] < request.k) == at_risk]
            if chosen.size:
                was = tuple(value_at(dataset.columns[name], place) for place in chosen.tolist())
                changes.append(
                    Change(
                        kind="suppressed",
                        attribute=name,
                        records=chosen,
                        was=was,
                        became=(None,) * chosen.size,
                        rule=request.rule,
                        reason=reason,
                        before=1 / np.maximum(before[chosen], 1.0),
                        after=1 / np.maximum(after[chosen], 1.0),
                        company=np.rint(before[chosen]).astype(np.int64),
                        among=request.names,
                    )
                )
    return DecisionLog(dataset.name, tuple(changes))


def _remove_at_risk(
    dataset: Dataset, request: SuppressionRequest
) -> tuple[Dataset, DecisionLog, float]:
    """Under `standard` a null is company for nobody: who is at risk hides all, and is removed."""
    alive = np.arange(dataset.rows)
    current = dataset
    first = _find_lowest_frequencies(dataset, dataset, request)
    removed_parts: list[Ints] = []
    while True:
        risky = np.flatnonzero(_find_lowest_frequencies(current, current, request) < request.k)
        if risky.size == 0:
            break
        if request.out_of_reach == "raise":
            raise build_out_of_reach_error(dataset, request, risky.size)
        if risky.size == current.rows:
            raise build_out_of_reach_error(dataset, request, dataset.rows)
        removed_parts.append(alive[risky])
        current = drop_records(current, risky)
        alive = np.delete(alive, risky)
    removed = np.sort(np.concatenate([np.empty(0, np.int64), *removed_parts]))
    if removed.size == 0:
        return dataset, DecisionLog(dataset.name), 0.0
    fresh = {
        name: removed[dataset.columns[name].codes[removed] != dataset.columns[name].missing_code]
        for name in request.names
    }
    log = _build_log(
        dataset, request, fresh, np.minimum(first, request.k - 1), np.ones(dataset.rows)
    )
    return (
        current,
        replace(log, changes=(*log.changes, build_removal(request, removed, first))),
        0.0,
    )


def _remove_unprotectable(
    original: Dataset,
    dataset: Dataset,
    released: Dataset,
    *,
    request: SuppressionRequest,
    unprotected: Ints,
    cells: Mapping[str, Ints],
) -> tuple[Dataset, DecisionLog]:
    """Remove whom no suppression helps, and see that the others still are within the limit."""
    alive = np.setdiff1d(np.arange(original.rows), unprotected)
    if alive.size == 0:
        raise build_out_of_reach_error(original, request, unprotected.size)
    before = _find_lowest_frequencies(dataset, original, request)
    rest, kept_original = select_records(released, alive), select_records(original, alive)
    rest, log, _ = suppress_cells(kept_original, rest, restrict_request(request, alive))
    after = np.full(original.rows, float(request.k))
    after[np.setdiff1d(alive, alive[log.removed_records])] = _find_lowest_frequencies(
        rest,
        select_records(kept_original, np.setdiff1d(np.arange(alive.size), log.removed_records)),
        request,
    )
    shifted = tuple(replace(change, records=alive[change.records]) for change in log.changes)
    first = _build_log(dataset, request, cells, before, after)
    changes = (*first.changes, *shifted, build_removal(request, unprotected, before))
    return rest, DecisionLog(original.name, changes)


def restrict_request(request: SuppressionRequest, alive: Ints) -> SuppressionRequest:
    """The same wish for some of the records."""
    costs = {name: cost[alive] if cost.size > 1 else cost for name, cost in request.costs.items()}
    return replace(request, costs=costs)


def _adapt_request(request: SuppressionRequest, other: Dataset) -> SuppressionRequest:
    single = {name: cost for name, cost in request.costs.items() if cost.size == 1}
    fits = all(cost.size in (1, other.rows) for cost in request.costs.values())
    ones = {name: np.ones(1) for name in request.costs}
    return request if fits else replace(request, costs={**ones, **single})


def build_removal(request: SuppressionRequest, removed: Ints, frequency: Floats) -> Change:
    """The decisions to remove records."""
    return Change(
        kind="removed",
        attribute=None,
        records=removed,
        was=(),
        became=(),
        rule=request.rule,
        reason=str(Sentence("divulge.protection", "reason.removed")),
        before=1 / np.maximum(frequency[removed], 1.0),
        after=np.zeros(removed.size),
        company=np.rint(frequency[removed]).astype(np.int64),
        among=request.names,
    )


def _sum_cost(log: DecisionLog, request: SuppressionRequest) -> float:
    total = 0.0
    for change in log.changes:
        if change.kind == "suppressed" and change.attribute is not None:
            cost = request.costs[change.attribute]
            total += float(cost[change.records].sum() if cost.size > 1 else cost[0] * len(change))
    return total


def _check_frequencies(protected: Protected, request: SuppressionRequest) -> None:
    """Nothing leaves that the records' own counter does not find within the limit."""
    original = select_records(protected.original, protected.kept) if protected.removed else None
    frequencies = _find_lowest_frequencies(
        protected.dataset, original or protected.original, request
    )
    below = int((frequencies < request.k - 1e-9).sum())
    if below:
        raise DivulgeError(
            f"{format_quantity(below, 'record was', 'records were')} found below the limit when "
            "counted again; "
            "nothing is released. This is a mistake of Divulge's."
        )
