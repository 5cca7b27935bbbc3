"""Protecting one dataset of a release: its limits and those on its adversaries, by their methods.

It says which limits concern the dataset and which attacks tell the risk of each record. Records are
recoded and suppressed first; then each attack may change them in a way of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from divulge import protection, work
from divulge.assessment import (
    Adversary,
    Assessment,
    Limit,
    LimitedAdversary,
    ProtectionPlan,
    attacks,
    find_attack,
)
from divulge.data import Dataset
from divulge.data.column import find_hidden_cells
from divulge.protection.limits.limit_kinds import has_protection_method
from divulge.release.attack_again import view_published
from divulge.release.attack_runs import run_knowing_original, run_on_hidden, take_held
from divulge.release.protected_release import Part
from divulge.release.publication import (
    assume_kept_order,
    assume_linked_people,
    assume_linked_people_in_limit,
    counts_people,
    find_linked_people,
    has_several_records,
    list_undisclosed_datasets,
    plan_publications,
)
from divulge.release.release_file.settings import ProtectionTable
from divulge.release.rule_programs.settle_rules import find_directives, must_change
from divulge.release.tables_beside import find_tabulated
from divulge.release.verdict import Verdict
from divulge.work.secret_key import SecretKey

if TYPE_CHECKING:
    from divulge.release.release import Release

AttackRunner = Callable[[Dataset, Dataset], Assessment]


def protect_dataset(
    release: Release,
    name: str,
    dataset: Dataset,
    *,
    known: Dataset,
    current: Mapping[str, Dataset],
    sources: Mapping[str, Dataset],
    before: Verdict,
    settings: ProtectionTable,
    secret: SecretKey,
) -> Iterator[Part]:
    """What is done to a dataset, one after the other, for what its limits ask."""
    compared_with = {
        other for limit in release.limits for other in limit.compared_datasets.values()
    }
    publications = plan_publications(release)
    linked = find_linked_people(publications, current)
    # What counts records of people who have several is not judged, and nothing can reach it.
    is_repeated = has_several_records(dataset)
    limits = [
        assume_linked_people_in_limit(
            limit.with_datasets({**current, **{other: sources[other] for other in compared_with}}),
            name in linked,
        )
        for limit in release.limits
        if not limit.of_assessment
        and has_protection_method(limit)
        and (not is_repeated or counts_people(limit))
        and (limit.dataset == name or (limit.dataset is None and name not in compared_with))
        and name not in release.pair_datasets
        and not _is_unjudged(limit, before, name)
    ]
    attack_runners: dict[str | None, tuple[AttackRunner, Sequence[str]]] = {}
    by_attack: dict[str, list[LimitedAdversary]] = {}
    for named in release.adversaries:
        adversary = assume_kept_order(assume_linked_people(named, linked), publications)
        theirs = [
            limit
            for limit in release.limits
            if limit.of_assessment and limit.adversary in (None, adversary.name)
        ]
        if not theirs or adversary.datasets[0] != name:
            continue
        if name in list_undisclosed_datasets(adversary):
            continue  # it is theirs, or the original of what goes out: changing it helps nobody
        limited = LimitedAdversary(adversary.name, adversary.settings, theirs)
        by_attack.setdefault(adversary.attack, []).append(limited)
        if _has_risk_per_record(before, adversary, dataset):
            knows = _list_known_columns(adversary, dataset, sources)
            runner = _build_attack(adversary, current, sources)
            attack_runners[adversary.name] = (runner, knows)
            limits += [limit.for_adversary(adversary.name) for limit in theirs]
    current_version = dataset
    if must_change(release, name) and not limits:
        # What rules ask for is done also where nothing is limited: this holds of any records.
        limits = [Limit("k_anonymity", at_least=1, dataset=name)]
    if _has_failing(limits, before, name) or must_change(release, name):
        view = view_published(publications.get(name), dataset)
        part = protection.protect(
            dataset,
            limits,
            tuple(settings.methods),
            never=[n for n in settings.never if n in dataset.names],
            importance={n: v for n, v in settings.importance.items() if n in dataset.names},
            order=settings.order,
            local=settings.local,
            suppression_limit=settings.suppression_limit,
            utility=settings.utility,
            out_of_reach=settings.out_of_reach,
            seed=settings.seed,
            attacked=attack_runners,
            original=None if known is dataset else known,
            published=None if view is None else view.columns,
            keeps_order=view is not None and view.ordered,
            determined=settings.determined,
            required=() if view is None else view.required,
            tabulated=find_tabulated(release, plan_publications(release).get(name), dataset),
            decoys=settings.decoys,
            secret=secret,
            directives=find_directives(release, name),
        )
        if settings.target in dataset.names:
            part = replace(part, target=settings.target)
        yield part
        current_version = part.dataset
    plan = ProtectionPlan(
        settings=settings,
        has_failing=partial(_has_failing, before=before, dataset=name),
        protect_history=protection.protect_history,
    )
    for attack, adversaries in by_attack.items():
        for changed_part in attacks()[attack].protect(adversaries, current_version, plan) or ():
            yield changed_part
            current_version = changed_part.dataset


def _list_known_columns(
    adversary: Adversary, dataset: Dataset, sources: Mapping[str, Dataset]
) -> list[str]:
    """What the adversary knows of everybody, and what of single records."""
    attack, settings = find_attack(adversary), adversary.settings
    pairs = [sources[name] for name in attack.companion_datasets(settings)]
    single = [name for name in attack.known_of_single(settings, pairs) if name in dataset.names]
    return list(dict.fromkeys([*attack.known_columns(settings, dataset), *single]))


def _has_failing(limits: Sequence[Limit], before: Verdict, dataset: str) -> bool:
    """Whether some of these limits, on named adversaries or on a dataset, did not hold."""
    failing = [outcome for outcome in before.outcomes if outcome.status == "fail"]
    return any(
        limit.measure == outcome.limit.measure
        and limit.bound == outcome.limit.bound
        and outcome.subject == (limit.adversary if limit.of_assessment else dataset)
        for limit in limits
        for outcome in failing
    )


def _is_unjudged(limit: Limit, before: Verdict, dataset: str) -> bool:
    """Whether a limit could not be judged: no change of the records would be known to help."""
    return any(
        outcome.status == "not judged"
        and outcome.subject == dataset
        and outcome.limit.measure == limit.measure
        and outcome.limit.bound == limit.bound
        and outcome.limit.attribute == limit.attribute
        and outcome.limit.options.get("among") == limit.options.get("among")
        for outcome in before.outcomes
    )


def _has_risk_per_record(before: Verdict, adversary: Adversary, dataset: Dataset) -> bool:
    """Whether an attack tells the risk of each record of a dataset of records."""
    if not find_attack(adversary).risk_per_record(adversary.settings):
        return False
    assessed = [a for a in before.assessments if a.adversary == adversary.name]
    if not assessed:  # what could not be judged cannot be lowered
        return False
    [assessment] = assessed
    try:
        return len(assessment.risk()) == dataset.rows
    except work.Interruption:
        raise
    except work.DivulgeError:
        return False


def _build_attack(
    adversary: Adversary, current: Mapping[str, Dataset], sources: Mapping[str, Dataset]
) -> AttackRunner:
    """An adversary's attack with another version of their first dataset."""
    first, *others = adversary.datasets
    known = [sources[name] for name in others]

    def run(dataset: Dataset, original: Dataset) -> Assessment:
        held = take_held(adversary, sources, {first: original})
        inputs = [dataset, *({**current, **held}[name] for name in others)]
        found = run_on_hidden(adversary, inputs, [original, *known], original)
        return _choose_graver(found, adversary, original, inputs)

    return run


def _choose_graver(
    found: Assessment, adversary: Adversary, original: Dataset, inputs: Sequence[Dataset]
) -> Assessment:
    """The attack, or that of somebody who knows the original, if they find more in hidden cells."""
    columns = original.columns
    hides = any(
        bool(np.any(find_hidden_cells(column, columns[name])))
        for name, column in inputs[0].columns.items()
        if name in columns and original.rows == inputs[0].rows
    )
    knowing = run_knowing_original(adversary, original, inputs) if hides else None
    if knowing is None or knowing.secrets != found.secrets:
        return found
    graver = (knowing.certain.posterior, knowing.right.posterior) > (
        found.certain.posterior,
        found.right.posterior,
    )
    return knowing if graver else found
