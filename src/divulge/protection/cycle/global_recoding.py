"""Global recoding (greedy, in the manner of Datafly): whole columns climb, a level at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.assessment import Sentence
from divulge.data import Column, Dataset
from divulge.data.column import find_hidden_cells
from divulge.protection.changes.changes import hide_values, value_at
from divulge.protection.changes.decision_log import Change
from divulge.protection.changes.recodings import coarsen_to_levels
from divulge.protection.cycle.request import CycleRequest, CycleState
from divulge.protection.limits.per_record import Goal
from divulge.protection.result.cell_utility import compute_leaf_shares
from divulge.work.arrays import Ints


def find_at_risk(
    state: CycleState, goals: Sequence[Goal], current: Dataset
) -> npt.NDArray[np.bool_]:
    """Everybody who keeps some limit from holding."""
    at_risk = np.zeros(current.rows, np.bool_)
    for goal in goals:
        at_risk |= state.measure(goal, current).at_risk
    return at_risk


def recode_greedily(state: CycleState, goals: Sequence[Goal], plan: CycleRequest) -> None:
    """Climb one level of one attribute at a time, until few enough are at risk."""
    allowed = plan.suppression_limit if "suppress" in plan.methods else 0.0
    at_risk = float(find_at_risk(state, goals, state.current).mean())
    with work.step("Recoding attributes") as step:
        while at_risk > allowed:
            trials = [
                (
                    float(find_at_risk(state, goals, trial).mean()),
                    _compute_cost(state, trial, name, plan),
                    place, name, trial,
                )
                for place, (name, trial) in enumerate(_enumerate_coarser(state, goals, plan))
            ]  # fmt: skip
            if not trials:
                return
            # What rules prefer comes first among what helps.
            helpful = [trial for trial in trials if trial[0] < at_risk] or trials
            first = min(plan.rank_preference(name) for _, _, _, name, _ in helpful)
            preferred = [each for each in helpful if plan.rank_preference(each[3]) == first]
            after, _, _, name, trial = min(preferred, key=lambda t: t[:3])
            state.changes.append(
                _build_recoding_change(state, trial, name, goals=goals, before=at_risk, after=after)
            )
            state.current = trial
            state.levels[name] = state.levels.get(name, 0) + 1
            at_risk = after
            step.advance()


def _enumerate_coarser(
    state: CycleState, goals: Sequence[Goal], plan: CycleRequest
) -> Iterable[tuple[str, Dataset]]:
    """Every attribute one level up, where there is one; what is hidden stays hidden.

    Of the records as they came, not as an adversary knows them: what an earlier protection hid
    would come back as a coarser value.
    """
    before = state.select_inputs()
    for name in dict.fromkeys(name for goal in goals for name in goal.among):
        hierarchy = state.original.dictionary[name].hierarchy
        level = state.levels.get(name, 0)
        if hierarchy is None or name in plan.never_recoded or level >= hierarchy.height:
            continue
        column = hierarchy.coarsen(before.columns[name], level + 1)
        column = hide_values(column, _find_hidden(state.current.columns[name]))
        yield name, replace(state.current, columns={**state.current.columns, name: column})


def _find_hidden(column: Column) -> Ints:
    return np.flatnonzero(find_hidden_cells(column))


def _compute_cost(state: CycleState, trial: Dataset, name: str, plan: CycleRequest) -> float:
    """What a coarser column costs: the share of values that its values stand for, on average."""
    column = trial.columns[name]
    share, _ = compute_leaf_shares(state.original, column, name)
    return float(plan.importance.get(name, 1.0)) * float(share[column.codes].mean())


def _build_recoding_change(
    state: CycleState,
    trial: Dataset,
    name: str,
    *,
    goals: Sequence[Goal],
    before: float,
    after: float,
) -> Change:
    old, new = state.current.columns[name], trial.columns[name]
    first = np.zeros(old.cardinality, np.int64)
    first[old.codes[::-1]] = np.arange(len(old.codes) - 1, -1, -1)
    counts = np.bincount(old.codes, minlength=old.cardinality)
    codes = range(len(old.values))
    values = {"failing": round(before * trial.rows), "rule": _join_rules(goals)}
    return Change(
        kind="recoded",
        attribute=name,
        records=np.empty(0, np.int64),
        was=tuple(old.value(code) for code in codes),
        became=tuple(value_at(new, int(first[code])) for code in codes),
        rule=_join_rules(goals),
        reason=str(Sentence("divulge.protection", "reason.recoded", values)),
        before=np.array([before]),
        after=np.array([after]),
        company=counts[: len(old.values)],
        among=tuple(dict.fromkeys(name for goal in goals for name in goal.among)),
        whole_column=True,
    )


def _join_rules(goals: Sequence[Goal]) -> str:
    return "; ".join(goal.rule for goal in goals)


def describe_levels(
    dataset: Dataset, levels: Mapping[str, int], changes: Iterable[Change] = ()
) -> tuple[Sentence, ...]:
    """How coarse each attribute is now, and why, if changes that led there tell it."""
    reasons = {change.attribute: change.reason for change in changes if change.whole_column}
    sentences = []
    for name, level in levels.items():
        hierarchy = dataset.dictionary[name].hierarchy
        height = level if hierarchy is None else hierarchy.height
        values = {"attribute": name, "level": level, "height": height}
        reason = reasons.get(name, "")
        key = "recoded.level_because" if reason else "recoded.level"
        values = {**values, "reason": reason} if reason else values
        sentences.append(Sentence("divulge.protection", key, values))
    return tuple(sentences)


def recode_to_levels(state: CycleState, goals: Sequence[Goal], levels: Mapping[str, int]) -> None:
    """Make each attribute as coarse as was found to be best, and note it."""
    climbed = {n: level for n, level in levels.items() if level > state.levels.get(n, 0)}
    at_risk = float(find_at_risk(state, goals, state.current).mean()) if climbed else 0.0
    for name, level in climbed.items():
        trial = coarsen_to_levels(state.original, {**state.levels, name: level})
        after = float(find_at_risk(state, goals, trial).mean())
        state.changes.append(
            _build_recoding_change(state, trial, name, goals=goals, before=at_risk, after=after)
        )
        state.current, at_risk = trial, after
        state.levels[name] = level
