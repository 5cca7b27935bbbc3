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
from divulge.data import Dataset
from divulge.data.missing_kinds import merge_missing_kinds
from divulge.protection.changes.recodings import one_coarser, with_hierarchies
from divulge.protection.cycle import run_cycle
from divulge.protection.cycle_request import Plan, State, plan_of
from divulge.protection.global_recoding import at_risk_of, recoded_to
from divulge.protection.limits.per_record import Goal, goals_of
from divulge.protection.result.protected import Protected
from divulge.protection.result.utility import leaf_shares, loss_of
from divulge.protection.suppression.request import OutOfReachError
from divulge.work import InvalidInput, checks

LevelSearch: TypeAlias = Literal["optimal", "climb"]

# Up to so many combinations of levels, all of them are tried.
MOST_COMBINATIONS = 1_000
MOST_PROTECTED = 20
"""And what suppression then costs is found out for so many of them."""


def recode(
    dataset: Dataset,
    limits: Sequence[Limit],
    suppression_limit: float = 0.05,
    utility: Literal["loss"] = "loss",
    search: LevelSearch = "optimal",
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
    for place, given, allowed in (
        ("utility", utility, ("loss",)),
        ("search", search, ("optimal", "climb")),
    ):
        problems = list(checks.one_of(place, given, allowed))
        if problems:
            raise InvalidInput("recode", problems)
    described = with_hierarchies(merge_missing_kinds(dataset), is_a or {})
    methods: tuple[Any, ...] = ("recode", "suppress") if suppress else ("recode",)
    plan = plan_of(
        described, methods, never, importance, "weight", local, suppression_limit, "raise",
        "fewest", None,
    )  # fmt: skip
    goals = goals_of(described, limits)
    return _recoded(described, goals, plan, search == "optimal" and not local)


def _recoded(dataset: Dataset, goals: Sequence[Goal], plan: Plan, optimal: bool) -> Protected:
    found = _least_loss(dataset, goals, plan) if optimal else None
    if found is None:
        return run_cycle(dataset, goals, plan)
    # Other data have other best levels: who knows the algorithm searches for them again.
    again = lambda other: _recoded(other, goals, plan, optimal)  # noqa: E731
    return replace(found, again=again, reseeded=None)


def _least_loss(dataset: Dataset, goals: Sequence[Goal], plan: Plan) -> Protected | None:
    """The levels after which recoding and suppression lose least; None if too many to try.

    What is suppressed besides only loses more, so nothing is missed among levels that alone lose
    as much as the best that was found.
    """
    best, least, tried = None, inf, 0
    for levels, at_least in _levels_that_do(dataset, goals, plan):
        if at_least >= least - 1e-12:
            return best if best is None else replace(best, proved=True)
        if tried == MOST_PROTECTED:
            return best
        tried += 1
        try:
            found = run_cycle(dataset, goals, plan, levels)
        except OutOfReachError:
            continue  # suppression does not help the few who are left at risk
        loss = _loss_of(found, plan)
        if loss < least:
            best, least = found, loss
    return best if best is None else replace(best, proved=True)


def _loss_of(found: Protected, plan: Plan) -> float:
    """What recoding and suppression lost, each attribute as dear as it is."""
    return sum(
        plan.importance.get(name, 1.0) * loss_of(found.original, found.dataset, found.kept, name)
        for name in found.among
    )


def _levels_that_do(
    dataset: Dataset, goals: Sequence[Goal], plan: Plan
) -> Iterator[tuple[dict[str, int], float]]:
    """Levels at which few enough are at risk, with what they lose: the least loss first."""
    among = list(dict.fromkeys(name for goal in goals for name in goal.among))
    heights = {}
    for name in among:
        hierarchy = dataset.dictionary[name].hierarchy
        if hierarchy is not None and name not in plan.never:
            heights[name] = hierarchy.height
    if not heights or prod(height + 1 for height in heights.values()) > MOST_COMBINATIONS:
        return
    allowed = plan.suppression_limit if "suppress" in plan.methods else 0.0
    state = State(dataset, dataset, np.arange(dataset.rows), [], {})
    dear = {
        (name, level): _loss(dataset, name, level)
        for name, height in heights.items()
        for level in range(height + 1)
    }
    lost = {
        levels: sum(
            plan.importance.get(name, 1.0) * dear[name, level]
            for name, level in zip(heights, levels, strict=True)
        )
        for levels in product(*(range(height + 1) for height in heights.values()))
    }
    with work.step("Trying combinations of levels", len(lost)) as step:
        for levels in sorted(lost, key=lambda each: lost[each]):
            chosen = dict(zip(heights, levels, strict=True))
            trial = recoded_to(dataset, chosen)
            if float(at_risk_of(state, goals, trial).mean()) <= allowed:
                yield chosen, lost[levels]
            step.advance()


def _loss(dataset: Dataset, name: str, level: int) -> float:
    hierarchy = dataset.dictionary[name].hierarchy
    assert hierarchy is not None  # noqa: S101  # only such attributes are asked about
    column = one_coarser(dataset.columns[name], hierarchy, level)
    share, domain = leaf_shares(dataset, column, name)
    if domain < 2:
        return 0.0
    return (float(share[column.codes].mean()) - 1 / domain) / (1 - 1 / domain)
