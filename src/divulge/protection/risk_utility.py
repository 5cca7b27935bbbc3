"""Risk against utility: what each way of protecting costs, and what it is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge import work
from divulge.assessment import Limit
from divulge.classes.people import find_people
from divulge.data import Dataset
from divulge.data.column import find_hidden_cells
from divulge.data.missing_kinds import merge_missing_kinds
from divulge.protection import tuning
from divulge.protection.changes.recodings import add_hierarchies
from divulge.protection.cycle.request import check_cycle_request
from divulge.protection.limits.goal_list import build_goals
from divulge.protection.map_methods import METHODS, MapMethod
from divulge.protection.recode import recode_at_levels
from divulge.protection.recode_request import RecodingRequest, build_evaluator
from divulge.protection.recoding.level_points import measure_level_points
from divulge.protection.result.charts import LEVELS_METHOD
from divulge.protection.result.protected import Protected
from divulge.protection.result.utility_map import (
    RISK_FIGURES,
    MapPoint,
    RiskFigure,
    RiskUtilityMap,
    mark_efficient,
)
from divulge.protection.suppression.request import OutOfReachError
from divulge.work import Problems, checks

if TYPE_CHECKING:
    pass


def risk_utility_map(
    dataset: Dataset,
    ks: Iterable[int] = (2, 3, 5, 10),
    among: str | Iterable[str] | None = None,
    *,
    is_a: Mapping[str, Any] | None = None,
    risk: RiskFigure = "average",
    methods: Iterable[str] | None = None,
    most_levels: int = tuning.MOST_MAPPED_LEVELS,
) -> RiskUtilityMap:
    """Protect in every way and for every k, and compare what is left of risk and of the data.

    Suppression under three ways of counting; where attributes have hierarchies, the best levels
    with no, few or any records removed, coarser values record by record, and every combination of
    levels, or a sample of them.

    Args:
        dataset: the records, with hierarchies in their dictionary or in `is_a`.
        ks: how many records must look alike, one after the other.
        among: the quasi-identifiers.
        is_a: more hierarchies, as in `protect`.
        risk: by which risk ways are compared: the average of all released records, or the highest.
        methods: the names of the ways, if not all.
        most_levels: how many combinations of levels are mapped; 0 for none.

    Raises:
        InvalidInput: for a k that is none, an attribute that is not there, an unknown method.

    >>> import divulge as dv
    >>> found = risk_utility_map(dv.datasets.local_suppression_example(), ks=(2,))
    >>> [point.method for point in found.points]
    ['suppress (maybe)', 'suppress (known)', 'suppress (bayes)']
    >>> found.choose(loss_at_most=0.1).method
    'suppress (maybe)'
    """
    described = add_hierarchies(merge_missing_kinds(dataset), is_a or {})
    names = described.attributes(among, "among")
    has_hierarchies = any(described.dictionary[name].hierarchy is not None for name in names)
    chosen, ways = list(ks), _choose_methods(described, risk, methods, most_levels)
    ways = [way for way in ways if has_hierarchies or not way.needs_hierarchies]
    points: list[MapPoint] = []
    with work.step("Comparing ways to protect", len(chosen) * len(ways)) as step:
        for way in ways:
            for k in chosen:
                points += _measure_method(described, way, k, names)
                step.advance()
    combinations = mapped = 0
    if has_hierarchies and most_levels and chosen and _may_map_levels(described, names):
        cloud, combinations = _map_levels(described, chosen, names, most_levels)
        points += cloud
        mapped = min(combinations, most_levels)
    return RiskUtilityMap(
        dataset=described.name,
        points=mark_efficient(points, risk),
        risk=risk,
        combinations=combinations,
        mapped=mapped,
    )


def _choose_methods(
    dataset: Dataset, risk: RiskFigure, methods: Iterable[str] | None, most_levels: int
) -> list[MapMethod]:
    problems = Problems(f'risk-utility map of "{dataset.name}"')
    problems.extend("", checks.one_of("risk", risk, RISK_FIGURES))
    problems.extend("", checks.whole_number("most_levels", most_levels, least=0))
    offered = {method.name: method for method in METHODS}
    names = list(offered) if methods is None else list(methods)
    for name in names:
        problems.extend("", checks.one_of("methods", name, tuple(offered)))
    problems.raise_any()
    return [offered[name] for name in names]


def _measure_method(
    dataset: Dataset, method: MapMethod, k: int, names: Sequence[str]
) -> list[MapPoint]:
    """The point of one run; none where a limit is out of reach."""
    try:
        protected = method.run(dataset, k, names)
    except OutOfReachError:
        return []
    return [
        MapPoint(
            method=method.name,
            k=k,
            loss=protected.loss,
            average_risk=float(protected.after.probabilistic.posterior),
            highest_risk=float(protected.frequencies[1].risk().highest),
            removed_records=protected.removed,
            suppressed_cells=protected.suppressed_cells,
            levels=dict(protected.levels),
            build=lambda: method.run(dataset, k, names),
        )
    ]


def _may_map_levels(dataset: Dataset, names: Sequence[str]) -> bool:
    """Whether classes tell the risk: nothing is hidden, and nobody has several records."""
    return find_people(dataset) is None and not any(
        np.any(find_hidden_cells(dataset.columns[name])) for name in names
    )


def _map_levels(
    dataset: Dataset, ks: Sequence[int], names: Sequence[str], most: int
) -> tuple[list[MapPoint], int]:
    """Points of combinations of levels, and how many combinations there are."""
    requests = {k: _build_request(dataset, k, names) for k in ks}
    evaluator, _ = build_evaluator(dataset, next(iter(requests.values())))
    lattice = evaluator.lattice
    points = []
    for point in measure_level_points(lattice, ks, most):
        levels = {
            name: level for name, level in zip(lattice.names, point.levels, strict=True) if level
        }
        points.append(
            MapPoint(
                method=LEVELS_METHOD,
                k=point.k,
                loss=point.loss,
                average_risk=point.average_risk,
                highest_risk=point.highest_risk,
                removed_records=point.removed_records,
                suppressed_cells=0,
                levels=levels,
                build=_build_later(dataset, requests[point.k], levels),
            )
        )
    return points, lattice.combinations


def _build_later(
    dataset: Dataset, request: RecodingRequest, levels: Mapping[str, int]
) -> Callable[[], Protected]:
    return lambda: recode_at_levels(dataset, request, levels)


def _build_request(dataset: Dataset, k: int, names: Sequence[str]) -> RecodingRequest:
    """Levels with any number of records removed."""
    plan = check_cycle_request(
        dataset,
        ("recode", "suppress"),
        (),
        importance=None,
        order="weight",
        local=False,
        suppression_limit=1.0,
        out_of_reach="raise",
        search="fewest",
        seed=None,
    )
    goals = build_goals(dataset, [Limit("k_anonymity", at_least=k, among=list(names))])
    return RecodingRequest(goals=tuple(goals), models=(), plan=plan, utility="loss", seconds=0.0)
