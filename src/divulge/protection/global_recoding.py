"""Global recoding: whole columns climb their hierarchies, one level of one attribute at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.assessment import Sentence
from divulge.data import Dataset
from divulge.protection.changes.changes import value_at
from divulge.protection.changes.decision_log import Change
from divulge.protection.changes.recodings import one_coarser
from divulge.protection.cycle_request import Plan, State
from divulge.protection.limits.per_record import Goal
from divulge.protection.result.utility import leaf_shares


def at_risk_of(state: State, goals: Sequence[Goal], current: Dataset) -> npt.NDArray[np.bool_]:
    """Everybody who keeps some limit from holding."""
    same = state.same_records()
    over = np.zeros(current.rows, np.bool_)
    for goal in goals:
        over |= goal.standing(current, same).at_risk
    return over


def climb(state: State, goals: Sequence[Goal], plan: Plan) -> None:
    """Climb one level of one attribute at a time, until few enough are at risk."""
    allowed = plan.suppression_limit if "suppress" in plan.methods else 0.0
    at_risk = float(at_risk_of(state, goals, state.current).mean())
    with work.step("Making attributes coarser") as step:
        while at_risk > allowed:
            trials = [
                (float(at_risk_of(state, goals, trial).mean()), _dearness(state, trial, name, plan),
                 place, name, trial)
                for place, (name, trial) in enumerate(_coarser(state, goals, plan))
            ]  # fmt: skip
            if not trials:
                return
            after, _, _, name, trial = min(trials, key=lambda t: t[:3])
            state.changes.append(_recoding(state, trial, name, goals, at_risk, after))
            state.current = trial
            state.levels[name] = state.levels.get(name, 0) + 1
            at_risk = after
            step.advance()


def _coarser(state: State, goals: Sequence[Goal], plan: Plan) -> Iterable[tuple[str, Dataset]]:
    """Every attribute one level up, where there is one."""
    for name in dict.fromkeys(name for goal in goals for name in goal.among):
        hierarchy = state.original.dictionary[name].hierarchy
        level = state.levels.get(name, 0)
        if hierarchy is None or name in plan.never or level >= hierarchy.height:
            continue
        column = one_coarser(state.same_records().columns[name], hierarchy, level + 1)
        yield name, replace(state.current, columns={**state.current.columns, name: column})


def _dearness(state: State, trial: Dataset, name: str, plan: Plan) -> float:
    """What a coarser column costs: the share of values that its values stand for, on average."""
    column = trial.columns[name]
    share, _ = leaf_shares(state.original, column, name)
    return float(plan.importance.get(name, 1.0)) * float(share[column.codes].mean())


def _recoding(
    state: State, trial: Dataset, name: str, goals: Sequence[Goal], before: float, after: float
) -> Change:
    old, new = state.current.columns[name], trial.columns[name]
    first = np.zeros(old.cardinality, np.int64)
    first[old.codes[::-1]] = np.arange(len(old.codes) - 1, -1, -1)
    counts = np.bincount(old.codes, minlength=old.cardinality)
    codes = range(len(old.values))
    values = {"failing": round(before * trial.rows), "rule": _rules(goals)}
    return Change(
        "recoded",
        name,
        np.empty(0, np.int64),
        tuple(old.value(code) for code in codes),
        tuple(value_at(new, int(first[code])) for code in codes),
        _rules(goals),
        str(Sentence("divulge.protection", "reason.recoded", values)),
        np.array([before]),
        np.array([after]),
        counts[: len(old.values)],
        tuple(dict.fromkeys(name for goal in goals for name in goal.among)),
        everywhere=True,
    )


def _rules(goals: Sequence[Goal]) -> str:
    return "; ".join(goal.rule for goal in goals)


def levels_in_words(dataset: Dataset, levels: Mapping[str, int]) -> tuple[Sentence, ...]:
    """How coarse each attribute is now."""
    said = []
    for name, level in levels.items():
        hierarchy = dataset.dictionary[name].hierarchy
        height = level if hierarchy is None else hierarchy.height
        values = {"attribute": name, "level": level, "height": height}
        said.append(Sentence("divulge.protection", "recoded.level", values))
    return tuple(said)


def recoded_to(dataset: Dataset, levels: Mapping[str, int]) -> Dataset:
    """A dataset with its columns at some levels of their hierarchies."""
    columns = dict(dataset.columns)
    for name, level in levels.items():
        hierarchy = dataset.dictionary[name].hierarchy
        if hierarchy is not None and level:
            columns[name] = one_coarser(columns[name], hierarchy, level)
    return replace(dataset, columns=columns)


def climb_to(state: State, goals: Sequence[Goal], levels: Mapping[str, int]) -> None:
    """Climb to levels that were found to be best, and note it."""
    for name, level in levels.items():
        for step in range(state.levels.get(name, 0) + 1, level + 1):
            trial = recoded_to(state.original, {**state.levels, name: step})
            before = float(at_risk_of(state, goals, state.current).mean())
            after = float(at_risk_of(state, goals, trial).mean())
            state.changes.append(_recoding(state, trial, name, goals, before, after))
            state.current = trial
            state.levels[name] = step
