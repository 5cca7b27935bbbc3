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
from divulge.classes.keys import FloatArray, IntArray
from divulge.classes.weighing import sampling_weights
from divulge.data import Dataset
from divulge.data.missing_kinds import merge_missing_kinds
from divulge.protection.changes.changes import codes_of, hidden_cells, taken, value_at, without
from divulge.protection.changes.decision_log import Change, DecisionLog
from divulge.protection.changes.kernels import HIDDEN
from divulge.protection.result.protected import Protected
from divulge.protection.suppression.equal_nulls import gather, hiding, sizes
from divulge.protection.suppression.lower_bound import fewest_cells
from divulge.protection.suppression.request import (
    Costs,
    Order,
    OutOfReach,
    Search,
    Wish,
    out_of_reach_error,
    wish_of,
)
from divulge.protection.suppression.wildcard_nulls import (
    Board,
    masks_of,
    one_by_one,
    spread_wildcards,
)
from divulge.records.risk.frequencies import OF_ORIGINAL, Nulls
from divulge.work import DivulgeError


def suppress(
    dataset: Dataset,
    k: int = 3,
    nulls: Nulls = "maybe",
    among: str | Iterable[str] | None = None,
    subsets: int | Sequence[Sequence[str]] | None = None,
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
    wish = wish_of(
        dataset, k, nulls, among, subsets, never, importance, cost, cells_per_record,
        out_of_reach, search, order, seed,
    )  # fmt: skip
    return carried_out(dataset, wish)


def carried_out(dataset: Dataset, wish: Wish) -> Protected:
    """Do what was asked for, count it again, and tell what was done."""
    limit = Limit("k_anonymity", at_least=wish.k, nulls=wish.nulls)
    released, log, bound = hide_until(dataset, dataset, wish)
    protected = Protected(
        original=dataset,
        dataset=released,
        decisions=replace(log, original=dataset),
        nulls=wish.nulls,
        limits=(limit,),
        among=wish.names,
        bound=bound,
        cost=_cost(log, wish),
        seed=wish.seed,
        rule=wish.rule,
        again=lambda other: carried_out(other, _for_others(wish, other)),
        reseeded=lambda seed: carried_out(dataset, replace(wish, seed=seed, order="random")),
        only_at_risk=wish.search == "cycle" and wish.nulls == "maybe" and len(wish.subsets) == 1,
        k=wish.k,
    )
    _counted_again(protected, wish)
    return protected


def hide_until(
    original: Dataset, dataset: Dataset, wish: Wish
) -> tuple[Dataset, DecisionLog, float]:
    """Hide cells of a dataset (perhaps recoded already) until all subsets keep to k."""
    if wish.nulls == "standard":
        return _removing(dataset, wish)
    names = list(wish.names)
    size = dataset.rows * len(names)
    work.MemoryPlan(
        f"suppression in {dataset.rows:,} records",
        {"codes": 16 * size, "frequencies": 120 * dataset.rows},
    ).require("protect fewer records at a time, or take fewer attributes")
    before = codes_of(dataset, names)
    rows, beyond, bound = _hidden_rows(original, dataset, wish, before)
    frequency = _smallest(dataset, original, wish)
    cells = _cells_of(names, before, rows, beyond)
    released = hidden_cells(dataset, cells)
    after = _smallest(released, original, wish)
    if not beyond.size and np.any(after < wish.k - 1e-9):
        # Nulls of one subset, or that were there before, can leave somebody short in another.
        beyond = np.flatnonzero(after < wish.k - 1e-9)
        cells = _cells_of(names, before, rows, beyond)
        released = hidden_cells(dataset, cells)
    if beyond.size:
        if wish.out_of_reach == "raise":
            raise out_of_reach_error(dataset, wish, beyond.size)
        released, log = _without_the_lost(original, dataset, released, wish, beyond, cells)
        return released, log, 0.0  # what is needed depends on who is removed
    return released, _log(dataset, wish, cells, frequency, after), bound


def _hidden_rows(
    original: Dataset, dataset: Dataset, wish: Wish, before: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int32], IntArray, float]:
    """The rows of codes after suppression, who could not be helped, and a bound on the cost."""
    names = list(wish.names)
    preference = _preference(dataset, wish)
    rows, bound = before.copy(), 0.0
    beyond: IntArray = np.empty(0, np.int64)
    # Hiding more for one subset can break another where nulls are values: until none is broken.
    for _ in range(before.size + 2):
        changed = False
        for subset in wish.subsets:
            places = [names.index(name) for name in subset]
            part = rows[:, places]
            done, lost, least = _one_subset(original, part, wish, subset, preference)
            if np.array_equal(part, before[:, places]):
                bound = max(bound, least)  # of the data as they came, not as they are half-way
            beyond = np.union1d(beyond, lost)
            if not np.array_equal(done, part):
                rows[:, places] = done
                changed = True
        if not changed or len(wish.subsets) == 1:
            break
    return rows, beyond.astype(np.int64), bound


def _one_subset(
    original: Dataset,
    part: npt.NDArray[np.int32],
    wish: Wish,
    subset: Sequence[str],
    preference: FloatArray,
) -> tuple[npt.NDArray[np.int32], IntArray, float]:
    allowed = [a for a, name in enumerate(subset) if name not in wish.never]
    # Planning takes the cheapest cell of each attribute; whose it is, the preference decides.
    costs = np.array([float(wish.costs[name].min()) for name in subset])
    most = min(wish.cells_per_record or len(allowed), len(allowed))
    if wish.nulls in ("value", "bayes"):
        return _equal(original, part, wish, subset, allowed, most, costs, preference)
    frequency = _count_codes(part, wish.nulls, original, subset)
    bound = fewest_cells(part, frequency, wish.k, allowed, costs, wish.nulls == "known")
    best: tuple[float, npt.NDArray[np.int32], IntArray] | None = None
    for limit in dict.fromkeys([most] if wish.search == "cycle" else [most, min(1, most)]):
        rows, lost = _wild(part, frequency, wish, allowed, limit, costs, preference)
        total = float(((rows == HIDDEN) & (part != HIDDEN)).sum(axis=0) @ costs)
        if best is None or (lost.size, total) < (best[2].size, best[0]):
            best = (total, rows, lost)
        if total <= bound:
            break
    assert best is not None  # noqa: S101  # there is at least one try
    return best[1], best[2], bound


def _equal(
    original: Dataset,
    part: npt.NDArray[np.int32],
    wish: Wish,
    subset: Sequence[str],
    allowed: list[int],
    most: int,
    costs: FloatArray,
    preference: FloatArray,
) -> tuple[npt.NDArray[np.int32], IntArray, float]:
    at_risk = np.flatnonzero(sizes(part) < wish.k)
    if not allowed:
        return part, at_risk, 0.0
    for limit in range(most, len(allowed) + 1):
        moves = [hiding(mask, part, costs) for mask in masks_of(allowed, limit)]
        rows, lost = gather(part, wish.k, moves, preference)
        if lost.size == 0:
            break
    # Classes without a null cannot grow where nulls are values: who is at risk in one hides a cell.
    # Whoever weighs finds at least whom somebody finds who only counts what fits (`known`).
    if wish.nulls == "value":
        whole = ~np.any(part[np.ix_(at_risk, np.array(allowed))] == HIDDEN, axis=1)
        bound = int(whole.sum()) * float(costs[allowed].min())
    else:
        frequency = _count_codes(part, "known", original, subset)
        bound = fewest_cells(part, frequency, wish.k, allowed, costs, known=True)
    return rows, lost, bound


def _wild(
    part: npt.NDArray[np.int32],
    frequency: IntArray,
    wish: Wish,
    allowed: list[int],
    most: int,
    costs: FloatArray,
    preference: FloatArray,
) -> tuple[npt.NDArray[np.int32], IntArray]:
    known = wish.nulls == "known"
    board = Board.of(part, frequency, known, preference)
    if allowed and wish.search == "cycle":
        one_by_one(board, wish.k, allowed, costs, _ordered(frequency, preference, wish))
    elif allowed:
        for limit in range(most, len(allowed) + 1):
            if not np.any(spread_wildcards(board, wish.k, masks_of(allowed, limit), costs)):
                break
        board.give_back(wish.k, costs)
    rows = part.copy()
    for record, hidden in board.cells():
        rows[record, hidden] = HIDDEN
    risky = np.flatnonzero(board.at_risk(wish.k))
    lost = [_records_of(board, row) for row in risky.tolist()]
    return rows, np.concatenate([np.empty(0, np.int64), *lost])


def _records_of(board: Board, row: int) -> IntArray:
    if row < board.patterns:
        members = board.members[row]
        return members if board.known else members[board.taken[row] :]
    return np.array([board.record_of[row]], np.int64)


def _ordered(frequency: IntArray, preference: FloatArray, wish: Wish) -> IntArray:
    """Records at risk in the order of the cycle."""
    at_risk = np.flatnonzero(frequency < wish.k)
    if wish.order == "risk":
        return at_risk[np.lexsort((preference[at_risk], frequency[at_risk]))]
    return at_risk[np.argsort(preference[at_risk], kind="stable")]


def _preference(dataset: Dataset, wish: Wish) -> FloatArray:
    """Of records that would do as well, which is changed first: the lowest."""
    if wish.order == "random" or wish.seed is not None:
        return np.random.default_rng(wish.seed).random(dataset.rows)
    costs = np.zeros(dataset.rows)
    for name in wish.names:
        costs = costs + (wish.costs[name] if wish.costs[name].size > 1 else 0.0)
    if np.any(costs):
        return costs
    weights = sampling_weights(dataset, least=0.0) if wish.order == "weight" else None
    return np.zeros(dataset.rows) if weights is None else weights


def _count_codes(
    part: npt.NDArray[np.int32], nulls: Nulls, original: Dataset, subset: Sequence[str]
) -> IntArray:
    """How many look like each row, counted by the records' own counter."""
    import pyarrow as pa

    columns = {
        name: pa.array(part[:, a], mask=part[:, a] == HIDDEN) for a, name in enumerate(subset)
    }
    seen = Dataset.from_arrow(pa.table(columns))
    if nulls == "known":
        before = codes_of(original, list(subset))
        held = {name: pa.array(before[:, a], mask=before[:, a] == HIDDEN)
                for a, name in enumerate(subset)}  # fmt: skip
        if np.any(part == HIDDEN):
            first = Dataset.from_arrow(pa.table(held))
            return records.frequencies(seen, "known", among=subset, original=first).sample
    return records.frequencies(seen, "maybe", among=subset).sample


def _smallest(dataset: Dataset, original: Dataset, wish: Wish) -> FloatArray:
    """The lowest frequency of each record over the subsets."""
    given = original if wish.nulls in OF_ORIGINAL else None
    lowest = np.full(dataset.rows, np.inf)
    for subset in wish.subsets:
        found = records.frequencies(dataset, wish.nulls, among=subset, original=given)
        lowest = np.minimum(lowest, found.sample)
    return lowest


def _cells_of(
    names: list[str],
    before: npt.NDArray[np.int32],
    rows: npt.NDArray[np.int32],
    beyond: IntArray,
) -> dict[str, IntArray]:
    """By attribute, the records that hide it now and did not before (but those who are lost)."""
    fresh = (rows == HIDDEN) & (before != HIDDEN)
    fresh[beyond] = False
    return {
        name: np.flatnonzero(fresh[:, a]) for a, name in enumerate(names) if np.any(fresh[:, a])
    }


def _log(
    dataset: Dataset,
    wish: Wish,
    cells: Mapping[str, IntArray],
    before: FloatArray,
    after: FloatArray,
) -> DecisionLog:
    """One decision a cell: first those who were at risk, then those who give them company."""
    company = str(Sentence("divulge.protection", "reason.wildcard"))
    changes = []
    for own, reason in ((True, ""), (False, company)):
        for name, places in cells.items():
            chosen = places[(before[places] < wish.k) == own]
            if chosen.size:
                was = tuple(value_at(dataset.columns[name], place) for place in chosen.tolist())
                changes.append(
                    Change(
                        "suppressed",
                        name,
                        chosen,
                        was,
                        (None,) * chosen.size,
                        wish.rule,
                        reason,
                        1 / np.maximum(before[chosen], 1.0),
                        1 / np.maximum(after[chosen], 1.0),
                        np.rint(before[chosen]).astype(np.int64),
                        wish.names,
                    )
                )
    return DecisionLog(dataset.name, tuple(changes))


def _removing(dataset: Dataset, wish: Wish) -> tuple[Dataset, DecisionLog, float]:
    """Under `standard` a null is company for nobody: who is at risk hides all, and is removed."""
    alive = np.arange(dataset.rows)
    current = dataset
    first = _smallest(dataset, dataset, wish)
    gone: list[IntArray] = []
    while True:
        risky = np.flatnonzero(_smallest(current, current, wish) < wish.k)
        if risky.size == 0:
            break
        if wish.out_of_reach == "raise":
            raise out_of_reach_error(dataset, wish, risky.size)
        if risky.size == current.rows:
            raise out_of_reach_error(dataset, wish, dataset.rows)
        gone.append(alive[risky])
        current = without(current, risky)
        alive = np.delete(alive, risky)
    lost = np.sort(np.concatenate([np.empty(0, np.int64), *gone]))
    if lost.size == 0:
        return dataset, DecisionLog(dataset.name), 0.0
    fresh = {
        name: lost[dataset.columns[name].codes[lost] != dataset.columns[name].missing_code]
        for name in wish.names
    }
    log = _log(dataset, wish, fresh, np.minimum(first, wish.k - 1), np.ones(dataset.rows))
    return current, replace(log, changes=(*log.changes, removal(wish, lost, first))), 0.0


def _without_the_lost(
    original: Dataset,
    dataset: Dataset,
    released: Dataset,
    wish: Wish,
    beyond: IntArray,
    cells: Mapping[str, IntArray],
) -> tuple[Dataset, DecisionLog]:
    """Remove whom no suppression helps, and see that the others still are within the limit."""
    alive = np.setdiff1d(np.arange(original.rows), beyond)
    if alive.size == 0:
        raise out_of_reach_error(original, wish, beyond.size)
    before = _smallest(dataset, original, wish)
    rest, kept_original = taken(released, alive), taken(original, alive)
    rest, log, _ = hide_until(kept_original, rest, wish_for(wish, alive))
    after = np.full(original.rows, float(wish.k))
    after[np.setdiff1d(alive, alive[log.removed_records])] = _smallest(
        rest, taken(kept_original, np.setdiff1d(np.arange(alive.size), log.removed_records)), wish
    )
    shifted = tuple(replace(change, records=alive[change.records]) for change in log.changes)
    first = _log(dataset, wish, cells, before, after)
    changes = (*first.changes, *shifted, removal(wish, beyond, before))
    return rest, DecisionLog(original.name, changes)


def wish_for(wish: Wish, alive: IntArray) -> Wish:
    """The same wish for some of the records."""
    costs = {name: cost[alive] if cost.size > 1 else cost for name, cost in wish.costs.items()}
    return replace(wish, costs=costs)


def _for_others(wish: Wish, other: Dataset) -> Wish:
    single = {name: cost for name, cost in wish.costs.items() if cost.size == 1}
    fits = all(cost.size in (1, other.rows) for cost in wish.costs.values())
    ones = {name: np.ones(1) for name in wish.costs}
    return wish if fits else replace(wish, costs={**ones, **single})


def removal(wish: Wish, lost: IntArray, frequency: FloatArray) -> Change:
    """The decisions to remove records."""
    return Change(
        "removed",
        None,
        lost,
        (),
        (),
        wish.rule,
        str(Sentence("divulge.protection", "reason.removed")),
        1 / np.maximum(frequency[lost], 1.0),
        np.zeros(lost.size),
        np.rint(frequency[lost]).astype(np.int64),
        wish.names,
    )


def _cost(log: DecisionLog, wish: Wish) -> float:
    total = 0.0
    for change in log.changes:
        if change.kind == "suppressed" and change.attribute is not None:
            cost = wish.costs[change.attribute]
            total += float(cost[change.records].sum() if cost.size > 1 else cost[0] * len(change))
    return total


def _counted_again(protected: Protected, wish: Wish) -> None:
    """Nothing leaves that the records' own counter does not find within the limit."""
    original = taken(protected.original, protected.kept) if protected.removed else None
    found = _smallest(protected.dataset, original or protected.original, wish)
    below = int((found < wish.k - 1e-9).sum())
    if below:
        raise DivulgeError(
            f"{below:,} records were found below the limit when they were counted again; "
            "nothing is released. This is a mistake of Divulge's."
        )
