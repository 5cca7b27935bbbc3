"""Recoding to limits: the levels with the least loss, and the proof that there are no better.

Whole attributes become coarser, and records whose classes still fail are removed, as many as may
be. Small lattices are searched to the end (branch and bound); of large ones the best found is told
with a bound. Limits that only the records can tell are judged in the order of loss.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Any

import numpy as np

from divulge.assessment import Limit, Sentence
from divulge.classes.people import require_one_record_each
from divulge.data import Dataset
from divulge.data.column import find_hidden_cells
from divulge.data.missing_kinds import merge_missing_kinds
from divulge.protection import tuning
from divulge.protection.changes.changes import list_kept_records
from divulge.protection.changes.decision_log import DecisionLog
from divulge.protection.changes.recodings import add_hierarchies
from divulge.protection.cycle.cycle import run_cycle
from divulge.protection.cycle.global_recoding import describe_levels
from divulge.protection.cycle.request import CycleState, check_cycle_request
from divulge.protection.limits.goal_list import build_goals
from divulge.protection.limits.limit_kinds import has_protection_method
from divulge.protection.limits.per_record import AttackRunner, Goal
from divulge.protection.recode_request import (
    SEARCHES,
    LevelSearch,
    RecodingRequest,
    build_evaluator,
    build_recoding_error,
)
from divulge.protection.recoding.evaluation import LevelEvaluator
from divulge.protection.recoding.lattice_search.branch_and_bound import find_optimal_levels
from divulge.protection.recoding.lattice_search.level_search import search_levels
from divulge.protection.recoding.lattice_search.scored_search import search_by_score
from divulge.protection.recoding.limit_tests import (
    RecordMeasurer,
    judge_model,
)
from divulge.protection.recoding.local.clusters import find_clusters
from divulge.protection.recoding.local.local_outcome import choose_better
from divulge.protection.recoding.local.local_release import build_local_release
from divulge.protection.recoding.local.nested import find_nested_levels
from divulge.protection.recoding.measured_levels import RecodedLevels, judge_in_full
from divulge.protection.recoding.recoded_release import RecodedRelease, build_recoded_release
from divulge.protection.recoding.utilities import (
    RecodingUtility,
    find_utility,
    find_utility_problems,
    is_scored,
)
from divulge.protection.result.protected import Protected
from divulge.protection.result.search_proof import SearchProof
from divulge.records.risk.null_readings import DEFAULT_NULLS
from divulge.records.risk.registry import MEASURES
from divulge.work import Problems, checks
from divulge.work.effort import Effort
from divulge.work.secret_key import SecretKey


def recode(
    dataset: Dataset,
    limits: Sequence[Limit],
    suppression_limit: float = 0.05,
    utility: RecodingUtility | str = "loss",
    search: LevelSearch = "optimal",
    *,
    local: bool = False,
    is_a: Mapping[str, Any] | None = None,
    never: str | Iterable[str] = (),
    importance: Mapping[str, float] | None = None,
    suppress: bool = True,
    seconds: float = tuning.LEVEL_SECONDS,
    seed: int | None = None,
    attacked: Mapping[str | None, tuple[AttackRunner, Sequence[str]]] | None = None,
) -> Protected:
    """Make attributes coarser until the limits hold, with the least loss that there can be.

    Args:
        dataset: the records, with hierarchies in their dictionary or in `is_a`.
        limits: what must hold.
        suppression_limit: the share of records that may be removed.
        utility: what is kept as high as can be: the least `loss`, or the best `granularity`,
            `precision` or non-uniform `entropy`; the least `discernibility` or `class_size`; or a
            function of the original, the release and the places of the released records, the
            smaller the better (or its name, if a package offers it under `divulge.utilities`).
        search: `optimal` finds the best of all combinations of levels, and says in `proved` whether
            that is shown; `climb` makes one attribute after the other coarser, and hides cells of
            the records that are left. Of single records, `nested` (the default) splits classes
            from the top downwards, and says least to one who knows the scheme; `clusters` loses
            least, and says more.
        local: whether single records are made coarser, instead of whole columns; never worse than
            the best levels for all records.
        is_a: more hierarchies, as in `protect`.
        never: attributes that must not be touched.
        importance: by attribute, how dear it is.
        suppress: whether records may be removed; else recoding alone must do.
        seconds: nominal seconds for lattices too large to be searched to the end.
        seed: of ties in local recoding; keep it secret. If None, it is derived from the data.
        attacked: by adversary, their attack on a dataset and what they know, for limits on them;
            else they know all quasi-identifiers, and seek the record.

    Raises:
        OutOfReachError: if even the coarsest levels do not meet the limits.

    >>> import divulge as dv
    >>> companies = dv.datasets.local_suppression_example()
    >>> area = [("Roma", "Center"), ("Milano", "North"), ("Torino", "North")]
    >>> p = recode(
    ...     companies, [dv.Limit("k_anonymity", at_least=2)], 0.2, is_a={"Area": area}
    ... )
    >>> p.levels, p.suppressed_records, p.proved
    ({'Area': 1}, 1, True)
    """
    described = add_hierarchies(merge_missing_kinds(dataset), is_a or {})
    problems = Problems(f'recoding of "{described.name}"')
    utility = find_utility(utility)
    problems.extend(
        "", find_utility_problems(utility, is_of_levels=not local and search != "climb")
    )
    problems.extend("", checks.one_of("search", search, SEARCHES))
    if search in ("nested", "clusters") and not local:
        problems.add("search", f'"{search}" recodes single records: give local=True.')
    problems.raise_any()
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
    models = [limit for limit in limits if _is_model(limit)]
    others = [limit for limit in limits if not _is_model(limit)]
    goals = build_goals(described, others, attacked) if others or not models else []
    request = RecodingRequest(
        goals=tuple(goals),
        models=tuple(models),
        plan=replace(plan, seed=seed),
        utility=utility,
        seconds=seconds,
        search=search,
    )
    if search == "climb" or _hides_cells(described, goals):
        return run_cycle(described, goals, plan)
    if local:
        return _recode_records(described, request)
    return recode_to_limits(described, request)


def _is_model(limit: Limit) -> bool:
    """Whether a limit is on a model of the population, which has no risk of single records."""
    measure = MEASURES.get(limit.measure)
    return measure is not None and measure.of_population and not has_protection_method(limit)


def _hides_cells(dataset: Dataset, goals: Sequence[Goal]) -> bool:
    names = {name for goal in goals for name in goal.among}
    return any(bool(np.any(find_hidden_cells(dataset.columns[name]))) for name in names)


def recode_to_limits(dataset: Dataset, request: RecodingRequest) -> Protected:
    """The best levels, the records at these levels, and everything measured anew."""
    protected = _build_protected(dataset, _search_release(dataset, request), request)
    # Other data have other best levels: who knows the algorithm searches for them again.
    return replace(protected, again=lambda other: recode_to_limits(other, request))


def recode_at_levels(
    dataset: Dataset, request: RecodingRequest, levels: Mapping[str, int]
) -> Protected:
    """The records at levels that somebody chose, without those that limits then remove."""
    evaluator, limits = build_evaluator(dataset, request)
    lattice = evaluator.lattice
    measurer = RecordMeasurer(dataset=dataset, names=lattice.names, limits=limits)
    chosen = tuple(levels.get(name, 0) for name in lattice.names)
    judged = judge_in_full(evaluator, measurer, evaluator.evaluate(chosen))
    if judged is None:
        raise build_recoding_error(dataset, evaluator, request)
    proof = SearchProof(combinations=lattice.combinations, checked=1, is_chosen=True)
    released = _release_levels(dataset, evaluator, judged, proof, rule=request.rule)
    protected = _build_protected(dataset, released, request)
    return replace(protected, again=lambda other: recode_at_levels(other, request, levels))


@dataclass(frozen=True, kw_only=True)
class _Result:
    """A release and what is told of it, without the lattice that it was found in.

    The lattice of many records takes as much memory as they do; it is let go before all is
    measured.
    """

    release: RecodedRelease
    names: tuple[str, ...]
    proof: SearchProof
    notes: tuple[Sentence, ...]


def _search_release(dataset: Dataset, request: RecodingRequest) -> _Result:
    evaluator, limits = build_evaluator(dataset, request)
    measurer = RecordMeasurer(dataset=dataset, names=evaluator.lattice.names, limits=limits)
    if is_scored(request.utility):
        effort = Effort(request.seconds)
        levels, proof = search_by_score(evaluator, measurer, request.utility, effort)
    else:
        levels, proof = search_levels(evaluator, measurer, request.seconds)
    if levels is None:
        raise build_recoding_error(dataset, evaluator, request)
    return _release_levels(dataset, evaluator, levels, proof, rule=request.rule)


def _release_levels(
    dataset: Dataset,
    evaluator: LevelEvaluator,
    levels: RecodedLevels,
    proof: SearchProof,
    *,
    rule: str,
) -> _Result:
    release = build_recoded_release(
        dataset,
        evaluator,
        levels.outcome,
        levels.removed,
        rule=rule,
        chosen_by="person" if proof.is_chosen else "loss" if proof.score is None else "score",
    )
    notes = (
        *describe_levels(dataset, release.levels, release.changes),
        *_describe_search(dataset, evaluator, levels, proof),
    )
    return _Result(release=release, names=evaluator.lattice.names, proof=proof, notes=notes)


def _recode_records(dataset: Dataset, request: RecodingRequest) -> Protected:
    """Single records made coarser, or all alike if that loses no more."""
    evaluator, limits = build_evaluator(dataset, request)
    lattice = evaluator.lattice
    if not limits.are_counted or any(test.among != lattice.names for test in evaluator.tests):
        return run_cycle(dataset, request.goals, request.plan)
    seed = request.plan.seed
    if seed is None:
        seed = SecretKey.from_text(dataset.fingerprint).derive_seed("recoding")
    is_small = lattice.combinations <= tuning.MOST_LEVEL_COMBINATIONS
    everywhere = find_optimal_levels(evaluator).best if is_small else None
    if request.search == "clusters":
        local = find_clusters(lattice, evaluator.tests, seed=seed)
    else:
        local = find_nested_levels(lattice, evaluator.tests, seed=seed)
    outcome = choose_better(evaluator, local, everywhere)
    if outcome is None:
        raise build_recoding_error(dataset, evaluator, request)
    released, changes = build_local_release(
        dataset, lattice, outcome, tests=evaluator.tests, rule=request.rule
    )
    release = RecodedRelease(dataset=released, changes=tuple(changes), levels={})
    values = {
        "removed": outcome.removed_records,
        "total": dataset.rows,
        "subjects": dataset.subjects,
        "most": evaluator.most_removed,
        "classes": outcome.classes,
        "loss": outcome.loss,
        "everywhere": inf if everywhere is None else everywhere.loss,
    }
    key = "clusters" if request.search == "clusters" else "nested"
    result = _Result(
        release=release,
        names=lattice.names,
        proof=SearchProof(combinations=lattice.combinations, checked=0),
        notes=(
            Sentence("divulge.protection", f"recoding.{key}", values),
            Sentence("divulge.protection", "recoding.removed", values),
        ),
    )
    protected = _build_protected(dataset, result, request)
    return replace(protected, again=lambda other: _recode_records(other, request))


def _build_protected(dataset: Dataset, result: _Result, request: RecodingRequest) -> Protected:
    """What was released, with every limit measured on it anew."""
    release = result.release
    log = DecisionLog(dataset.name, release.changes, dataset)
    state = CycleState(
        original=dataset,
        current=release.dataset,
        alive=list_kept_records(dataset.rows, log.removed_records),
        changes=[],
        levels=dict(release.levels),
    )
    standings, known = [state.measure(goal) for goal in request.goals], state.select_originals()
    is_held = all(standing.held for standing in standings) and all(
        judge_model(limit, release.dataset, known).held for limit in request.models
    )
    if not is_held:  # what units told and what records tell must agree
        raise build_recoding_error(dataset, build_evaluator(dataset, request)[0], request)
    before = CycleState(
        original=dataset, current=dataset, alive=np.arange(dataset.rows), changes=[], levels={}
    )
    count_goals = [goal for goal in request.goals if goal.is_count_limit]
    return Protected(
        original=dataset,
        dataset=release.dataset,
        decisions=log,
        nulls=count_goals[0].nulls if count_goals else DEFAULT_NULLS,
        limits=(*(goal.limit for goal in request.goals), *request.models),
        among=result.names,
        rule=request.rule,
        seed=request.plan.seed,
        k=ceil(max((goal.limit.bound for goal in count_goals), default=2)),
        outcomes=(
            *(standing.outcome for standing in standings),
            *(judge_model(limit, release.dataset, known) for limit in request.models),
        ),
        outcomes_before=(
            *(before.measure(goal).outcome for goal in request.goals),
            *(judge_model(limit, dataset, dataset) for limit in request.models),
        ),
        levels=release.levels,
        suppression_limit=request.plan.suppression_limit,
        notes=result.notes,
        proved=result.proof.is_complete,
        proof=result.proof,
    )


def _describe_search(
    dataset: Dataset, evaluator: LevelEvaluator, levels: RecodedLevels, proof: SearchProof
) -> tuple[Sentence, ...]:
    values = {
        "combinations": proof.combinations,
        "checked": proof.checked,
        "excluded": proof.excluded,
        "bounded": proof.bounded,
        "bound": proof.lower_bound,
        "loss": levels.outcome.loss,
        "score": proof.score,
        "removed": int(levels.removed.size),
        "total": dataset.rows,
        "subjects": dataset.subjects,
        "most": evaluator.most_removed,
    }
    key = "proved" if proof.is_complete else "best_found"
    key = key if proof.score is None else f"scored_{key}"
    key = "chosen" if proof.is_chosen else key
    return (
        Sentence("divulge.protection", "recoding.removed", values),
        Sentence("divulge.protection", f"recoding.{key}", values),
    )
