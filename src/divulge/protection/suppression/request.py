"""What suppression is asked for: checked at once, before anything is done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import ceil
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from divulge import records
from divulge.data import Dataset
from divulge.data.dictionary import as_names, find_name_problems
from divulge.protection.directives.settlement import SettledDirectives, weigh_preferences
from divulge.protection.limits.limit_kinds import describe_rule
from divulge.protection.method.decoys import check_decoys
from divulge.protection.result.kept_cells import describe_changed_kept
from divulge.protection.result.protected import Protected
from divulge.records.risk.null_readings import SEMANTICS, SEMANTICS_OF_ORIGINAL, Nulls
from divulge.work import DivulgeError, InvalidInput, Problem, Problems, checks
from divulge.work.arrays import Bools, Floats, Ints

Search: TypeAlias = Literal["fewest", "cycle"]
Order: TypeAlias = Literal["weight", "risk", "given", "random"]
OutOfReach: TypeAlias = Literal["raise", "remove"]
Costs: TypeAlias = Mapping[str, float | npt.ArrayLike]

SEARCHES: tuple[Search, ...] = ("fewest", "cycle")
ORDERS: tuple[Order, ...] = ("weight", "risk", "given", "random")


class OutOfReachError(DivulgeError):
    """A limit that no allowed change can reach; the text says for how many records, and why."""


@dataclass(frozen=True, kw_only=True)
class SuppressionRequest:
    """What suppression is asked for, checked."""

    k: int
    nulls: Nulls
    subsets: tuple[tuple[str, ...], ...]
    never: frozenset[str]
    costs: Mapping[str, Floats]
    cells_per_record: int | None
    out_of_reach: OutOfReach
    search: Search
    order: Order
    seed: int | None
    rule: str
    keeps_twins: bool = False
    """Whether everybody who hides something must have k that hide the same, though those who weigh
    might be held off by less: twins stay alike when somebody completes what is hidden."""
    kept: Mapping[str, Bools] = field(default_factory=dict)
    """By attribute, the records that must keep what they show."""
    kept_by: str = ""
    """How many cells that are, and by which rules."""

    @property
    def names(self) -> tuple[str, ...]:
        """All attributes that some subset holds, in their order."""
        return tuple(dict.fromkeys(name for subset in self.subsets for name in subset))

    def mark_kept(self, names: Sequence[str]) -> Bools | None:
        """Which cells of some attributes must not be hidden; None if all may."""
        if not any(name in self.kept for name in names):
            return None
        rows = next(iter(self.kept.values())).size
        empty = np.zeros(rows, np.bool_)
        return np.stack([self.kept.get(name, empty) for name in names], axis=1)


def build_out_of_reach_error(
    dataset: Dataset, request: SuppressionRequest, count: int
) -> OutOfReachError:
    """Say for how many a limit is out of reach, and what would be needed."""
    untouchable = [name for name in request.names if name in request.never]
    if request.kept_by and dataset.rows >= request.k:
        needed = f"let go of {request.kept_by}, or ask for less."
    elif dataset.rows < request.k:
        needed = f"there are only {dataset.rows:,} records; lower k to {dataset.rows} or less."
    elif untouchable:
        quoted = ", ".join(f'"{name}"' for name in untouchable)
        needed = (
            f"too few agree on {quoted}, which must not be touched; allow one of them to be "
            'suppressed, make it coarser, or let out_of_reach="remove" remove the records.'
        )
    else:
        needed = (
            f'under "{request.nulls}" a suppressed record stays unique; let out_of_reach="remove" '
            'remove them, or count with nulls="maybe", "known" or "bayes".'
        )
    return OutOfReachError(
        f'dataset "{dataset.name}": {request.rule} is out of reach for {count:,} of '
        f"{dataset.rows:,} {dataset.subjects}: {needed}"
    )


def direct_request(
    request: SuppressionRequest, settled: SettledDirectives, rows: int
) -> SuppressionRequest:
    """The same wish as directives change it: cells kept, what comes first, and a larger k."""
    kept = settled.mark_kept(request.names, np.arange(rows))
    importance = weigh_preferences(settled, {}, request.names)
    largest = request.k
    if settled.thresholds is not None:
        largest = max(largest, ceil(1 / float(np.nanmin(settled.thresholds)) - 1e-9))
    return replace(
        request,
        k=largest,
        rule=request.rule if largest == request.k else _describe_anonymity(request, largest),
        order=settled.order or request.order,
        costs={name: cost * importance.get(name, 1.0) for name, cost in request.costs.items()},
        kept={} if kept is None else dict(zip(request.names, kept.T, strict=True)),
        kept_by=settled.describe_kept(request.names),
    )


def refuse_changed_kept(protected: Protected, settled: SettledDirectives) -> None:
    """Nothing goes out in which a cell was changed, or its record removed, that a rule keeps."""
    lost = describe_changed_kept(protected, settled)
    if lost:
        raise OutOfReachError(
            f'dataset "{protected.original.name}": {protected.rule} is out of reach without '
            f"changes of cells that rules keep ({lost}): let the rules keep less, or ask for less."
        )


def restrict_request(request: SuppressionRequest, alive: Ints) -> SuppressionRequest:
    """The same wish for some of the records."""
    costs = {name: cost[alive] if cost.size > 1 else cost for name, cost in request.costs.items()}
    kept = {name: marked[alive] for name, marked in request.kept.items()}
    return replace(request, costs=costs, kept=kept)


def adapt_request(request: SuppressionRequest, other: Dataset) -> SuppressionRequest:
    """The same wish for another dataset; what each record costs is left out if it does not fit."""
    single = {name: cost for name, cost in request.costs.items() if cost.size == 1}
    fits = all(cost.size in (1, other.rows) for cost in request.costs.values())
    ones = {name: np.ones(1) for name in request.costs}
    if fits and all(marked.size == other.rows for marked in request.kept.values()):
        return request
    return replace(request, costs=request.costs if fits else {**ones, **single}, kept={})


def check_suppression_request(
    dataset: Dataset,
    k: int,
    nulls: Nulls,
    *,
    among: str | Iterable[str] | None,
    subsets: int | Sequence[Sequence[str]] | None,
    never: str | Iterable[str],
    importance: Mapping[str, float] | None,
    cost: Costs | None,
    cells_per_record: int | None,
    suppression_limit: float = 1.0,
    out_of_reach: OutOfReach | None,
    search: Search,
    order: Order,
    seed: int | None,
    decoys: float = 0.0,
) -> SuppressionRequest:
    """All that was asked for, checked at once."""
    names = dataset.attributes(among, "among")
    problems = Problems(f'suppression in "{dataset.name}"')
    problems.extend("", checks.whole_number("k", k, floats=True))
    for place, choice, allowed in (
        ("nulls", nulls, SEMANTICS),
        ("search", search, SEARCHES),
        ("order", order, ORDERS),
        ("out_of_reach", out_of_reach or "raise", ("raise", "remove")),
    ):
        problems.extend("", checks.one_of(place, choice, allowed))
    if search == "cycle" and nulls in SEMANTICS and nulls != "maybe":
        problems.add("search", f'the cycle counts with nulls="maybe", not "{nulls}".')
    problems.extend("", find_name_problems("never", as_names(never), dataset.names))
    for place, table in (("importance", importance), ("cost", cost)):
        problems.extend("", find_name_problems(place, table or {}, names, "the suppression"))
    if cells_per_record is not None:
        cells = checks.whole_number("cells_per_record", cells_per_record, floats=True)
        problems.extend("", cells)
    problems.extend("", checks.share("suppression_limit", suppression_limit))
    problems.extend("", check_decoys(decoys))
    chosen = _check_subsets(names, subsets, problems)
    costs = _check_costs(dataset, names, importance, cost, problems)
    problems.raise_any()
    untouchable = frozenset(as_names(never))
    reach: OutOfReach = out_of_reach or ("remove" if nulls == "standard" else "raise")
    stuck = [subset for subset in chosen if set(subset) <= untouchable]
    # Who is removed is not touched.
    if reach == "raise" and any(
        _count_smallest_class(dataset, subset, nulls) < k - 1e-9 for subset in stuck
    ):
        which = ", ".join(f'"{name}"' for name in stuck[0])
        message = f"{which} must not be touched, and {k}-anonymity on them needs a change of them."
        raise InvalidInput(problems.subject, [Problem("never", message)])
    request = SuppressionRequest(
        k=int(k),
        nulls=nulls,
        subsets=chosen,
        never=untouchable,
        costs=costs,
        cells_per_record=cells_per_record,
        out_of_reach=reach,
        search=search,
        order=order,
        seed=seed,
        rule="",
    )
    request = replace(request, rule=_describe_anonymity(request, k))
    if dataset.rows < k:
        raise build_out_of_reach_error(dataset, request, dataset.rows)
    return request


def _describe_anonymity(request: SuppressionRequest, k: int) -> str:
    sets, nulls = len(request.subsets), request.nulls
    if sets > 1:
        return describe_rule("anonymity_of_sets", k=k, sets=sets, nulls=nulls)
    return describe_rule("anonymity", k=k, nulls=nulls)


def _count_smallest_class(dataset: Dataset, subset: Sequence[str], nulls: Nulls) -> float:
    original = dataset if nulls in SEMANTICS_OF_ORIGINAL else None
    return records.frequencies(dataset, nulls, among=subset, original=original).smallest


def _check_subsets(
    names: list[str], subsets: int | Sequence[Sequence[str]] | None, problems: Problems
) -> tuple[tuple[str, ...], ...]:
    if subsets is None:
        return (tuple(names),)
    if isinstance(subsets, int):
        if not 1 <= subsets <= len(names):
            problems.add("subsets", f"{subsets} is not a number of attributes (1 to {len(names)}).")
            return ()
        return tuple(combinations(names, subsets))
    for subset in subsets:
        problems.extend("", find_name_problems("subsets", subset, names, "the suppression"))
    if not subsets or any(not subset for subset in subsets):
        problems.add("subsets", "contains no attribute.")
    return tuple(tuple(subset) for subset in subsets)


def _check_costs(
    dataset: Dataset,
    names: list[str],
    importance: Mapping[str, float] | None,
    cost: Costs | None,
    problems: Problems,
) -> dict[str, Floats]:
    costs = {}
    for name in names:
        try:
            factor = float((importance or {}).get(name, 1.0))
            figures = np.atleast_1d(np.asarray((cost or {}).get(name, 1.0), np.float64)) * factor
        except (TypeError, ValueError):
            problems.add(f'importance or cost, "{name}"', "contains something that is no number.")
            continue
        if figures.size not in (1, dataset.rows):
            message = f"has {figures.size:,} figures for {dataset.rows:,} records."
            problems.add(f'cost, "{name}"', message)
        if not np.all(np.isfinite(figures)) or np.any(figures <= 0):
            problems.add(f'cost, "{name}"', "contains a figure that is not above 0.")
        costs[name] = figures
    return costs
