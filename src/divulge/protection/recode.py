"""Recoding to limits: which level of each attribute, so that few enough records are at risk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import inf, prod
from typing import Any, Literal, TypeAlias

import numpy as np

from divulge import work
from divulge.assessment import Limit
from divulge.classes.people import require_one_record_each
from divulge.data import Dataset
from divulge.data.missing_kinds import merge_missing_kinds
from divulge.protection import tuning
from divulge.protection.changes.recodings import add_hierarchies, coarsen_column
from divulge.protection.cycle import run_cycle
from divulge.protection.cycle_request import CycleRequest, CycleState, check_cycle_request
from divulge.protection.global_recoding import coarsen_to_levels, find_at_risk
from divulge.protection.limits.per_record import Goal, build_goals
from divulge.protection.result.protected import Protected
from divulge.protection.result.utility import compute_attribute_loss
from divulge.protection.suppression.request import OutOfReachError
from divulge.work import InvalidInput, checks

LevelSearch: TypeAlias = Literal["optimal", "climb"]


def recode(
    dataset: Dataset,
    limits: Sequence[Limit],
    suppression_limit: float = 0.05,
    utility: Literal["loss"] = "loss",
    search: LevelSearch = "optimal",
    *,
    local: bool = False,
    is_a: Mapping[str, Any] | None = None,
    never: str | Iterable[str] = (),
    importance: Mapping[str, float] | None = None,
    suppress: bool = True,
) -> Protected:
    """Make attributes coarser until the limits hold; suppress what is left of the records at risk.

    Args:
        dataset: the records, with hierarchies in their dictionary or in `is_a`.
        limits: what must hold.
        suppression_limit: the share of records that may still be at risk after recoding, and is
            then suppressed.
        utility: what is kept as high as can be: the least `loss`.
        search: `optimal` tries all combinations of levels while they are few, and says so in
            `proved`; else, and with `climb`, one level after the other is climbed.
        local: whether single records are made coarser, instead of whole columns.
        is_a: more hierarchies, as in `protect`.
        never: attributes that must not be touched.
        importance: by attribute, how dear it is.
        suppress: whether what is left may be suppressed; else recoding alone must do.

    >>> import divulge as dv
    >>> companies = dv.datasets.local_suppression_example()
    >>> area = [("Roma", "Center"), ("Milano", "North"), ("Torino", "North")]
    >>> p = recode(
    ...     companies, [dv.Limit("k_anonymity", at_least=2)], 0.2, is_a={"Area": area}
    ... )
    >>> p.levels, p.proved
    ({'Area': 1}, True)
    """
    for place, choice, allowed in (
        ("utility", utility, ("loss",)),
        ("search", search, ("optimal", "climb")),
    ):
        problems = list(checks.one_of(place, choice, allowed))
        if problems:
            raise InvalidInput("recode", problems)
    described = add_hierarchies(merge_missing_kinds(dataset), is_a or {})
    methods: tuple[Any, ...] = ("recode", "suppress") if suppress else ("recode",)
    plan = check_cycle_request(
        described,
        methods,
        never,
        importance=importance,
        order="weight",
        local=local,
        suppression_limit=suppression_limit,
        out_of_reach="raise",
        search="fewest",
        seed=None,
    )
    if local:
        require_one_record_each(described, "records made coarser one by one are not judged")
    goals = build_goals(described, limits)
    return _recode_to_goals(described, goals, plan, search == "optimal" and not local)


def _recode_to_goals(
    dataset: Dataset, goals: Sequence[Goal], plan: CycleRequest, optimal: bool
) -> Protected:
    protected = _find_least_loss(dataset, goals, plan) if optimal else None
    if protected is None:
        return run_cycle(dataset, goals, plan)
    # Other data have other best levels: who knows the algorithm searches for them again.
    again = lambda other: _recode_to_goals(other, goals, plan, optimal)  # noqa: E731
    return replace(protected, again=again, reseeded=None)


def _find_least_loss(
    dataset: Dataset, goals: Sequence[Goal], plan: CycleRequest
) -> Protected | None:
    """The levels after which recoding and suppression lose least; None if too many to try.

    What is suppressed besides only loses more, so nothing is missed among levels that alone lose
    as much as the best that was found.
    """
    best, least, trials = None, inf, 0
    for levels, at_least in _enumerate_sufficient_levels(dataset, goals, plan):
        if at_least >= least - 1e-12:
            return best if best is None else replace(best, proved=True)
        if trials == tuning.MAX_PROTECTED_TRIALS:
            return best
        trials += 1
        try:
            protected = run_cycle(dataset, goals, plan, levels)
        except OutOfReachError:
            continue  # suppression does not help the few who are left at risk
        loss = _compute_total_loss(protected, plan)
        if loss < least:
            best, least = protected, loss
    return best if best is None else replace(best, proved=True)


def _compute_total_loss(protected: Protected, plan: CycleRequest) -> float:
    """What recoding and suppression lost, each attribute as dear as it is."""
    return sum(
        plan.importance.get(name, 1.0)
        * compute_attribute_loss(protected.original, protected.dataset, protected.kept, name)
        for name in protected.among
    )


def _enumerate_sufficient_levels(
    dataset: Dataset, goals: Sequence[Goal], plan: CycleRequest
) -> Iterator[tuple[dict[str, int], float]]:
    """Levels at which few enough are at risk, with what they lose: the least loss first."""
    among = list(dict.fromkeys(name for goal in goals for name in goal.among))
    heights = {}
    for name in among:
        hierarchy = dataset.dictionary[name].hierarchy
        if hierarchy is not None and name not in plan.never:
            heights[name] = hierarchy.height
    if (
        not heights
        or prod(height + 1 for height in heights.values()) > tuning.MOST_LEVEL_COMBINATIONS
    ):
        return
    allowed = plan.suppression_limit if "suppress" in plan.methods else 0.0
    state = CycleState(
        original=dataset, current=dataset, alive=np.arange(dataset.rows), changes=[], levels={}
    )
    level_losses = {
        (name, level): _compute_level_loss(dataset, name, level)
        for name, height in heights.items()
        for level in range(height + 1)
    }
    losses = {
        levels: sum(
            plan.importance.get(name, 1.0) * level_losses[name, level]
            for name, level in zip(heights, levels, strict=True)
        )
        for levels in product(*(range(height + 1) for height in heights.values()))
    }
    with work.step("Trying combinations of levels", len(losses)) as step:
        for levels in sorted(losses, key=lambda each: losses[each]):
            chosen = dict(zip(heights, levels, strict=True))
            trial = coarsen_to_levels(dataset, chosen)
            if float(find_at_risk(state, goals, trial).mean()) <= allowed:
                yield chosen, losses[levels]
            step.advance()


def _compute_level_loss(dataset: Dataset, name: str, level: int) -> float:
    hierarchy = dataset.dictionary[name].hierarchy
    assert hierarchy is not None  # noqa: S101  # only such attributes are asked about
    column = coarsen_column(dataset.columns[name], hierarchy, level)
    coarse = replace(dataset, columns={**dataset.columns, name: column})
    return compute_attribute_loss(dataset, coarse, np.arange(dataset.rows), name)
