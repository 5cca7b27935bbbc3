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

from divulge import records, work
from divulge.assessment import Limit
from divulge.classes.people import require_one_record_each
from divulge.data import Dataset
from divulge.data.missing_kinds import merge_missing_kinds
from divulge.protection.changes.changes import (
    build_code_matrix,
    drop_records,
    hide_cells,
    select_records,
)
from divulge.protection.changes.decision_log import Change, DecisionLog
from divulge.protection.directives.directed_changes import hide_directed, remove_directed
from divulge.protection.directives.directives import Directives
from divulge.protection.directives.settlement import (
    SettledDirectives,
    refuse_levels,
    settle_directives,
)
from divulge.protection.method.attack import attack_method
from divulge.protection.method.decoys import DecoyWish, add_decoys
from divulge.protection.result.protected import Protected
from divulge.protection.suppression.cell_choice import choose_hidden_cells, list_hidden_cells
from divulge.protection.suppression.cheaper_rows import find_cheaper_rows
from divulge.protection.suppression.decisions import (
    build_removal,
    build_suppression_log,
    sum_cost,
)
from divulge.protection.suppression.request import (
    Costs,
    Order,
    OutOfReach,
    OutOfReachError,
    Search,
    SuppressionRequest,
    adapt_request,
    build_out_of_reach_error,
    check_suppression_request,
    direct_request,
    refuse_changed_kept,
    restrict_request,
)
from divulge.records.risk.null_readings import (
    SEMANTICS_OF_ALIKE_NULLS,
    SEMANTICS_OF_ORIGINAL,
    Nulls,
)
from divulge.work import DivulgeError, format_quantity
from divulge.work.arrays import Floats, Ints
from divulge.work.secret_key import SecretKey


def suppress(
    dataset: Dataset,
    k: int = 3,
    nulls: Nulls = "bayes",
    among: str | Iterable[str] | None = None,
    subsets: int | Sequence[Sequence[str]] | None = None,
    *,
    never: str | Iterable[str] = (),
    importance: Mapping[str, float] | None = None,
    cost: Costs | None = None,
    cells_per_record: int | None = None,
    suppression_limit: float = 1.0,
    out_of_reach: OutOfReach | None = None,
    search: Search = "fewest",
    order: Order = "weight",
    seed: int | None = None,
    decoys: float = 0.0,
    secret: SecretKey | None = None,
    directives: Directives | None = None,
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
        suppression_limit: the share of records in which cells may be hidden, or that may be
            removed; where more would have to be, nothing is.
        out_of_reach: records that cannot be protected: `raise` an error, or `remove` them
            (which `standard` does unless told otherwise).
        search: `fewest` cells, or the `cycle`: one record after the other in an order, each
            hiding the attribute that gives it most company, until it has enough.
        order: of the cycle: least `weight` first, highest `risk` first, as `given`, `random`.
        seed: of a random order, and of the choice among equal records; keep it secret.
        decoys: further cells that are suppressed at random, for each that had to be (0.25: one
            for four): those who know the method then cannot exclude values for certain.
        secret: what decoys are drawn with; derived from the data if not given.
        directives: what rules of people who know the business say must be done or left, whatever
            the risk. Where a record asks for more alike than k, all get as many (`protect` gives
            them to this record alone).

    Raises:
        InvalidInput: for a k, a name or a cost that cannot be.
        OutOfReachError: if the limit cannot be reached, with what would be needed.

    >>> import divulge as dv
    >>> p = suppress(dv.datasets.local_suppression_example(), k=2, nulls="maybe")
    >>> p.suppressed_cells, p.bound
    (2, 2.0)
    >>> dv.records.frequencies(p.dataset, nulls="maybe").sample.tolist()
    [5, 3, 3, 3, 3, 2, 2]
    """
    dataset = merge_missing_kinds(dataset)
    require_one_record_each(dataset, "suppress counts records, and protect counts people")
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
        suppression_limit=suppression_limit,
        out_of_reach=out_of_reach,
        search=search,
        order=order,
        seed=seed,
        decoys=decoys,
    )
    settled = SettledDirectives()
    if directives:
        settled = settle_directives(
            dataset,
            directives,
            never=request.never,
            looked_at=request.names,
            methods=["suppress"],
        )
        settled = refuse_levels(settled)
        request = direct_request(request, settled, dataset.rows)
    protected = run_suppression(dataset, request, settled)
    _refuse_many_suppressed(protected, suppression_limit)
    refuse_changed_kept(protected, settled)
    original = select_records(dataset, protected.kept) if protected.removed else dataset
    return add_decoys(
        protected,
        DecoyWish(decoys, secret, suppression_limit * dataset.rows, settled),
        lambda released: _is_held(original, released, request),
    )


def _refuse_many_suppressed(protected: Protected, suppression_limit: float) -> None:
    """More records are not touched than was allowed."""
    changed = protected.decisions.suppressed_or_removed.size
    rows, subjects = protected.original.rows, protected.original.subjects
    if changed > suppression_limit * rows:
        raise OutOfReachError(
            f'dataset "{protected.original.name}": {protected.rule} takes suppression in '
            f"{changed:,} of {rows:,} {subjects}, more than suppression_limit "
            f"({suppression_limit:g}) allows: raise it, make attributes coarser (divulge protect), "
            "or ask for less."
        )


def run_suppression(
    dataset: Dataset, request: SuppressionRequest, settled: SettledDirectives | None = None
) -> Protected:
    """Do what was asked for, count it again, and tell what was done."""
    settled = SettledDirectives() if settled is None else settled
    limit = Limit("k_anonymity", at_least=request.k, nulls=request.nulls)
    limits: tuple[Limit, ...] = (limit,)
    if len(request.subsets) > 1:
        limits = tuple(limit.with_options(among=list(subset)) for subset in request.subsets)
    first, left, changes = _obey_directives(dataset, request, settled)
    known = select_records(dataset, left) if left.size < dataset.rows else dataset
    released, log, bound = suppress_cells(known, first, restrict_request(request, left))
    changes += [replace(change, records=left[change.records]) for change in log.changes]
    log = replace(log, changes=tuple(changes))
    protected = Protected(
        original=dataset,
        dataset=released,
        decisions=replace(log, original=dataset),
        nulls=request.nulls,
        limits=limits,
        among=request.names,
        bound=bound,
        cost=sum_cost(log, request),
        seed=request.seed,
        rule=request.rule,
        again=lambda other: run_suppression(other, adapt_request(request, other), settled),
        reseeded=lambda seed: run_suppression(
            dataset, replace(request, seed=seed, order="random"), settled
        ),
        unobeyed=settled.unobeyed,
        only_at_risk=request.search == "cycle"
        and request.nulls == "maybe"
        and len(request.subsets) == 1,
        k=request.k,
        attack_method=attack_method,
    )
    _check_frequencies(protected, request)
    return protected


def _obey_directives(
    dataset: Dataset, request: SuppressionRequest, settled: SettledDirectives
) -> tuple[Dataset, Ints, list[Change]]:
    """What directives hide and remove first; who is left, and the decisions."""

    def measure(released: Dataset) -> Floats:
        return 1 / np.maximum(_find_lowest_frequencies(released, dataset, request), 1.0)

    current, hidden = hide_directed(dataset, settled, request.names, measure)
    current, left, removed = remove_directed(current, settled, request.names, measure)
    if left.size == 0:
        raise build_out_of_reach_error(dataset, request, dataset.rows)
    return current, left, [*hidden, *removed]


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
    before = build_code_matrix(
        dataset, names, absence_apart=request.nulls not in SEMANTICS_OF_ALIKE_NULLS
    )
    rows, unprotected, bound = choose_hidden_cells(original, dataset, request, before)
    if not (unprotected.size or request.keeps_twins or request.cells_per_record) and (
        request.search == "fewest"
    ):
        rows = find_cheaper_rows(
            before,
            rows,
            request,
            absent=[dataset.columns[name].missing_code for name in names],
            is_held=lambda cells: _is_held(original, hide_cells(dataset, cells), request),
        )
    frequency = _find_lowest_frequencies(dataset, original, request)
    cells = list_hidden_cells(names, before, rows, unprotected)
    released = hide_cells(dataset, cells)
    after = _find_lowest_frequencies(released, original, request)
    if not unprotected.size and np.any(after < request.k - 1e-9):
        # Nulls of one subset, or that were there before, can leave somebody short in another.
        unprotected = np.flatnonzero(after < request.k - 1e-9)
        cells = list_hidden_cells(names, before, rows, unprotected)
        released = hide_cells(dataset, cells)
    if unprotected.size:
        if request.out_of_reach == "raise":
            raise build_out_of_reach_error(dataset, request, unprotected.size)
        released, log = _remove_unprotectable(
            original, dataset, released, request=request, unprotected=unprotected, cells=cells
        )
        return released, log, 0.0  # what is needed depends on who is removed
    return released, build_suppression_log(dataset, request, cells, frequency, after), bound


def _is_held(original: Dataset, released: Dataset, request: SuppressionRequest) -> bool:
    return bool(np.all(_find_lowest_frequencies(released, original, request) >= request.k - 1e-9))


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
    log = build_suppression_log(
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
    first = build_suppression_log(dataset, request, cells, before, after)
    changes = (*first.changes, *shifted, build_removal(request, unprotected, before))
    return rest, DecisionLog(original.name, changes)


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
