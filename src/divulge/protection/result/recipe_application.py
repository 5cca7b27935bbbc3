"""A recipe applied to other data: columns at its levels, and records that fail a limit removed.

Everything that does not fit is said at once, before anything is changed. Who fails is removed and
not hidden cell by cell: the levels are what was settled, and new data must keep to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Limit, Outcome, Sentence
from divulge.data import Column, Dataset
from divulge.data.dictionary import find_name_problems
from divulge.data.missing_kinds import merge_missing_kinds
from divulge.protection.changes.changes import select_records, value_at
from divulge.protection.changes.decision_log import Change, DecisionLog
from divulge.protection.changes.recodings import (
    apply_recoding,
    coarsen_to_levels,
    drop_unfitting_labels,
)
from divulge.protection.limits.goal_list import build_goals
from divulge.protection.limits.limit_kinds import has_protection_method
from divulge.protection.limits.per_record import Goal
from divulge.records.risk.null_readings import DEFAULT_NULLS
from divulge.records.risk.population.recoded_population import recode_population
from divulge.records.risk.registry import MEASURES
from divulge.work import InvalidInput, Problem, Problems, checks, format_quantity
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    from divulge.protection.result.protected import Protected
    from divulge.protection.result.recipe import Recipe


def apply_recipe(
    recipe: Recipe, dataset: Dataset, others: Mapping[str, Dataset], suppression_limit: float
) -> Protected:
    """Other data at the levels of a recipe, without the records that still fail a limit."""
    described = _describe_as_recipe(recipe, merge_missing_kinds(dataset), others, suppression_limit)
    limits = _complete_limits(recipe, others)
    models = [limit for limit in limits if not has_protection_method(limit)]
    others_judged = [limit for limit in limits if has_protection_method(limit)]
    goals = build_goals(described, others_judged) if others_judged else []
    before = [goal.measure_standing(described, described).outcome for goal in goals]
    coarse = coarsen_to_levels(described, recipe.levels)
    removal = _find_removal(goals, coarse, described)
    most = floor(suppression_limit * described.rows + 1e-9)
    if removal.removed.size > most or not removal.is_enough:
        raise _build_removal_error(recipe, described, removal, most)
    released = select_records(coarse, removal.kept)
    known = select_records(described, removal.kept)
    outcomes = [
        *(goal.measure_standing(released, known, removal.kept).outcome for goal in goals),
        *(judge_model(limit, released, known) for limit in models),
    ]
    if not all(outcome.held for outcome in outcomes):
        raise _build_removal_error(recipe, described, replace(removal, is_enough=False), most)
    for name, level in recipe.levels.items():
        attributes = dict(released.dictionary.attributes)
        above = apply_recoding(described, name, released.columns[name], level)
        attributes[name] = above.dictionary[name]
        released = replace(released, dictionary=replace(released.dictionary, attributes=attributes))
    released = drop_unfitting_labels(released, described)
    changes = [
        *(_log_level(recipe, described, coarse, name, goals) for name in recipe.levels),
        *_log_dropped(recipe, goals),
        *removal.changes,
    ]
    count_goals = [goal for goal in goals if goal.is_count_limit]
    return recipe.result_type(
        original=described,
        dataset=released.select([name for name in released.names if name not in recipe.dropped]),
        decisions=DecisionLog(described.name, tuple(changes), described),
        nulls=count_goals[0].nulls if count_goals else DEFAULT_NULLS,
        limits=(*(goal.limit for goal in goals), *models),
        among=_list_among(goals) or tuple(recipe.quasi_identifiers),
        rule=_join_rules(goals),
        k=ceil(max((goal.limit.bound for goal in count_goals), default=2)),
        outcomes=tuple(outcomes),
        outcomes_before=(
            *before,
            *(judge_model(limit, described, described) for limit in models),
        ),
        levels=dict(recipe.levels),
        notes=_describe(recipe, described, removal.removed.size, most),
        suppression_limit=suppression_limit,
        dropped=dict(recipe.dropped),
    )


def _describe_as_recipe(
    recipe: Recipe, dataset: Dataset, others: Mapping[str, Dataset], suppression_limit: float
) -> Dataset:
    """The data with the roles and hierarchies of the recipe; all that does not fit at once."""
    problems = Problems(f'recipe of "{recipe.dataset}" for "{dataset.name}"')
    problems.extend("", checks.share("suppression_limit", suppression_limit))
    if not recipe.limits:
        problems.add("limits", "contains none that could be judged without its release.")
    named = dict.fromkeys(
        [
            *recipe.quasi_identifiers,
            *recipe.levels,
            *(limit.attribute for limit in recipe.limits if limit.attribute is not None),
        ]
    )
    problems.extend("", find_name_problems("attributes", named, dataset.names))
    for place, names in recipe.needs.items():
        for name in names:
            if not isinstance(others.get(name), Dataset):
                measure = recipe.limits[place].measure
                message = f"the limit on {measure} compares with other data; give them here."
                problems.add(f'others, "{name}"', message)
    _check_roles(recipe, dataset, problems)
    problems.raise_any()
    hierarchies = {}
    for name, hierarchy in recipe.hierarchies.items():
        if name not in dataset.columns:
            continue
        values = dataset.columns[name].values.to_pylist()
        lacking = len(hierarchy.lacks(values))
        if not lacking:
            hierarchies[name] = hierarchy
        elif recipe.levels.get(name):
            message = (
                f"{format_quantity(lacking, 'value has', 'values have')} no place in its "
                f"hierarchy, of {len(values):,}: add them to the hierarchy in the recipe, or "
                "protect these data anew."
            )
            problems.add(f'attribute "{name}"', message)
    problems.raise_any()
    has_roles = any(attribute.role for attribute in dataset.dictionary)
    known_roles = {
        role: [name for name in ([names] if isinstance(names, str) else names)
               if name in dataset.columns]
        for role, names in recipe.roles.items()
    }  # fmt: skip
    roles = dataset.dictionary.roles if has_roles else known_roles
    return dataset.describe({role: names for role, names in roles.items() if names}, hierarchies)


def _check_roles(recipe: Recipe, dataset: Dataset, problems: Problems) -> None:
    """Another set of quasi-identifiers would be another protection."""
    own = dataset.dictionary.having("quasi_identifier")
    if not any(attribute.role for attribute in dataset.dictionary):
        return
    for name in own:
        if name not in recipe.quasi_identifiers:
            message = f'"{name}" is one here, and the recipe knows nothing of it.'
            problems.add("roles, quasi_identifier", message)
    for name in recipe.quasi_identifiers:
        if name in dataset.columns and name not in own:
            message = f'"{name}" is one in the recipe, and not here.'
            problems.add("roles, quasi_identifier", message)


def _complete_limits(recipe: Recipe, others: Mapping[str, Dataset]) -> list[Limit]:
    return [
        _add_options(limit, {name: others[name] for name in recipe.needs.get(place, ())})
        for place, limit in enumerate(recipe.limits)
    ]


def _add_options(limit: Limit, options: Mapping[str, Any]) -> Limit:
    every = {**limit.options, **options}
    return Limit(limit.measure, limit.at_most, limit.at_least, attribute=limit.attribute, **every)


def judge_model(limit: Limit, released: Dataset, known: Dataset) -> Outcome:
    """Whether a limit holds that is of all records together: nobody in particular fails it."""
    population = limit.options.get("population")
    if isinstance(population, Dataset):
        recoded = recode_population(population, known, released)
        limit = _add_options(limit, {"population": recoded})
    return limit.judge_measurement(MEASURES[limit.measure].of(released, limit), released.name)


@dataclass(frozen=True)
class _Removal:
    """Who must go for every limit to hold, and whether that is enough."""

    kept: Ints
    removed: Ints
    changes: tuple[Change, ...]
    is_enough: bool


def _find_removal(goals: Sequence[Goal], coarse: Dataset, original: Dataset) -> _Removal:
    """Remove whoever keeps a limit from holding, until none does; others may fail only then."""
    kept = np.arange(coarse.rows)
    changes: list[Change] = []
    while kept.size:
        released, known = select_records(coarse, kept), select_records(original, kept)
        standings = [goal.measure_standing(released, known, kept) for goal in goals]
        if all(standing.held for standing in standings):
            return _Removal(kept, _list_removed(coarse, kept), tuple(changes), True)
        is_failing = np.zeros(kept.size, np.bool_)
        for goal, standing in zip(goals, standings, strict=True):
            new = np.flatnonzero(standing.at_risk & ~is_failing)
            is_failing |= standing.at_risk
            if new.size:
                changes.append(_log_removal(goal, kept[new], standing.risk[new]))
        if not is_failing.any():
            return _Removal(kept, _list_removed(coarse, kept), tuple(changes), False)
        kept = kept[~is_failing]
    return _Removal(kept, _list_removed(coarse, kept), tuple(changes), False)


def _list_removed(dataset: Dataset, kept: Ints) -> Ints:
    return np.setdiff1d(np.arange(dataset.rows), kept)


def _build_removal_error(
    recipe: Recipe, dataset: Dataset, removal: _Removal, most: int
) -> InvalidInput:
    subject = f'recipe of "{recipe.dataset}" for "{dataset.name}"'
    rows = f"{dataset.rows:,} {dataset.subjects}"
    if not removal.is_enough:
        message = (
            f"not every limit holds at these levels, however many of {rows} are removed: protect "
            "these data anew."
        )
        return InvalidInput(subject, [Problem("limits", message)])
    share = ceil(removal.removed.size / dataset.rows * 10_000) / 10_000
    message = (
        f"{removal.removed.size:,} of {rows} would have to be removed for every limit to hold, and "
        f"{most:,} may be: protect these data anew, or allow suppression_limit={share:g}."
    )
    return InvalidInput(subject, [Problem("suppression_limit", message)])


def _log_level(
    recipe: Recipe, original: Dataset, coarse: Dataset, name: str, goals: Sequence[Goal]
) -> Change:
    old, new = original.columns[name], coarse.columns[name]
    first = _find_first_records(old)
    codes = range(len(old.values))
    values = {"level": recipe.levels[name], "dataset": recipe.dataset}
    at_risk = [
        np.any(
            [np.zeros(each.rows, np.bool_)]
            + [goal.measure_standing(each, original).at_risk for goal in goals],
            axis=0,
        ).mean()
        for each in (original, coarse)
    ]
    return Change(
        kind="recoded",
        attribute=name,
        records=np.empty(0, np.int64),
        was=tuple(old.value(code) for code in codes),
        became=tuple(value_at(new, int(first[code])) for code in codes),
        rule=_join_rules(goals),
        reason=str(Sentence("divulge.protection", "reason.recipe", values)),
        before=np.array([at_risk[0]]),
        after=np.array([at_risk[1]]),
        company=np.bincount(old.codes, minlength=old.cardinality)[: len(old.values)],
        among=_list_among(goals),
        whole_column=True,
    )


def _find_first_records(column: Column) -> Ints:
    first = np.zeros(column.cardinality, np.int64)
    first[column.codes[::-1]] = np.arange(len(column.codes) - 1, -1, -1)
    return first


def _log_dropped(recipe: Recipe, goals: Sequence[Goal]) -> list[Change]:
    return [
        Change(
            kind="removed",
            attribute=name,
            records=np.empty(0, np.int64),
            was=(),
            became=(),
            rule=_join_rules(goals),
            reason=str(
                Sentence("divulge.protection", "reason.determinant", {"attributes": attributes})
            ),
            before=np.array([1.0]),
            after=np.array([0.0]),
            company=np.empty(0, np.int64),
            among=_list_among(goals),
            whole_column=True,
        )
        for name, attributes in recipe.dropped.items()
    ]


def _log_removal(goal: Goal, records: Ints, risk: Floats) -> Change:
    return Change(
        kind="removed",
        attribute=None,
        records=records,
        was=(),
        became=(),
        rule=goal.rule,
        reason=str(Sentence("divulge.protection", "reason.recipe_removed")),
        before=risk,
        after=np.zeros(records.size),
        company=np.rint(1 / np.maximum(risk, 1e-9)).astype(np.int64),
        among=goal.among,
    )


def _describe(recipe: Recipe, dataset: Dataset, removed: int, most: int) -> tuple[Sentence, ...]:
    sentences = [
        Sentence(
            "divulge.protection",
            "recoded.level",
            {"attribute": name, "level": level, "height": recipe.hierarchies[name].height},
        )
        for name, level in recipe.levels.items()
    ]
    values = {
        "source": recipe.dataset,
        "removed": removed,
        "most": most,
        "total": dataset.rows,
        "subjects": dataset.subjects,
    }
    sentences.append(Sentence("divulge.protection", "recipe.applied", values))
    if recipe.left_out:
        values = {"limits": list(recipe.left_out)}
        sentences.append(Sentence("divulge.protection", "recipe.left_out", values))
    return tuple(sentences)


def _join_rules(goals: Sequence[Goal]) -> str:
    return "; ".join(goal.rule for goal in goals)


def _list_among(goals: Sequence[Goal]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for goal in goals for name in goal.among))
