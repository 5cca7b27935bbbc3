"""Protecting a release: each dataset as its limits ask, everything attacked again, then written.

Datasets of records are recoded and suppressed; then each attack may change them by methods of its
own, and protect the tables that it publishes. Where no method lowers an attack, what is said is
which change of the release would. The data that go out are attacked anew by every adversary, those
who know the original included; only if every limit holds is anything written, all of it or
nothing, and never over an original.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from divulge import protection, work
from divulge.assessment import (
    Adversary,
    Assessment,
    Limit,
    LimitedAdversary,
    Outcome,
    ProtectionPlan,
    Sentence,
    attacks,
    find_attack,
)
from divulge.data import Dataset
from divulge.data.column import find_hidden_cells
from divulge.data.missing_kinds import list_merged_names, merge_missing_kinds
from divulge.protection import OutOfReachError
from divulge.protection.changes.changes import select_records
from divulge.protection.limits.limit_kinds import has_protection_method
from divulge.release.attack_again import (
    WORSE_SENTENCES,
    attack_again,
    judge_knowing_original,
    view_published,
)
from divulge.release.check import check_data, run_knowing_original, run_on_hidden, take_held
from divulge.release.earlier_protection import (
    EarlierProtection,
    combine_with_earlier,
    list_departed,
    list_incomparable,
    read_earlier,
)
from divulge.release.output_files import ExtraWriter
from divulge.release.protected_release import Part, ProtectedRelease
from divulge.release.publication import (
    counts_people,
    find_linked_people,
    has_several_records,
    list_undisclosed_datasets,
    plan_publications,
    read_kept_order,
    read_linked_limit,
    read_linked_people,
)
from divulge.release.release import Release
from divulge.release.release_secret import read_secret, require_secret
from divulge.release.rule_programs.settle_rules import (
    find_directives,
    must_change,
    read_release,
)
from divulge.release.settings import ProtectionTable
from divulge.release.table_protection import is_of_adversary, suppress_tables
from divulge.release.tables_beside import BESIDE_RECORDS, find_tabulated
from divulge.release.verdict import Verdict
from divulge.work.secret_key import SecretKey

AttackRunner = Callable[[Dataset, Dataset], Assessment]


def protect_release(
    release: Release,
    out: Path | str | None = None,
    overwrite: bool = False,
    values: bool = False,
    also: ExtraWriter | None = None,
    *,
    revises: Path | str | None = None,
) -> ProtectedRelease:
    """Protect a release and, if a folder is given, write what may go out, and what `also` does.

    Random choices are those of the protection that is already in the folder, or in the folder of
    the one that it `revises`: others would allow the two to be compared. What that one published is
    taken for known.
    """
    from divulge.release.output_files import build_output_folder, write_protected_release

    if out is None:
        return _protect_datasets(release, _find_secret(out, revises), _read_earlier(revises))
    with build_output_folder(release, out, overwrite).held() as place:
        result = _protect_datasets(release, _find_secret(out, revises), _read_earlier(revises))
        write_protected_release(result, place, values, also)
    return result


def _find_secret(out: Path | str | None, revises: Path | str | None) -> SecretKey:
    """The secret of the protection that this one revises or replaces, or a new one."""
    from divulge.release.output_files import INTERNAL

    if revises is not None:
        return require_secret(Path(revises) / INTERNAL)
    earlier = None if out is None else read_secret(Path(out) / INTERNAL)
    return SecretKey() if earlier is None else earlier


def _read_earlier(revises: Path | str | None) -> EarlierProtection | None:
    """What the protection that this one revises has published."""
    from divulge.release.output_files import INTERNAL, RELEASE

    if revises is None:
        return None
    was_published = (Path(revises) / RELEASE).exists()
    return read_earlier(Path(revises) / INTERNAL, was_published=was_published)


def _protect_datasets(
    release: Release, secret: SecretKey, earlier: EarlierProtection | None
) -> ProtectedRelease:
    """Protect every dataset and attack everything again."""
    release, sources = read_release(_seed_draws(release, secret))
    merged = {
        name: names for name, dataset in sources.items() if (names := list_merged_names(dataset))
    }
    # What is written does not tell kinds of missing values apart, so nothing is judged by them.
    originals = {name: merge_missing_kinds(dataset) for name, dataset in sources.items()}
    settings = release.protection or ProtectionTable(methods=["recode", "suppress"])
    if settings.order == "random" and settings.seed is None:
        settings = settings.model_copy(update={"seed": secret.derive_seed("protection")})
    parts: dict[str, Part] = {}
    current = dict(originals)
    kept = {name: np.arange(dataset.rows) for name, dataset in originals.items()}
    known_originals = {name: _find_known_original(release, name, originals) for name in originals}
    full_originals = dict(known_originals)
    before = check_data(release, originals, originals=known_originals)
    if any(publication.unlisted for publication in before.publications.values()):
        # Nothing could go out, whatever is done to it: what protection costs is not spent.
        return ProtectedRelease(
            release=release,
            before=before,
            after=_leave_failing_unjudged(before),
            parts={},
            secret=secret,
            merged=merged,
            guard_formulas=settings.guard_formulas,
        )
    adversaries, tables = suppress_tables(release, originals, before)
    with work.step("Protecting the datasets", len(originals)) as step:
        for name, dataset in originals.items():
            known = known_originals[name]
            for part in _protect_dataset(
                release,
                name,
                dataset,
                known=known,
                current=current,
                sources=originals,
                before=before,
                settings=settings,
                secret=SecretKey(secret.derive_key(f"decoys of {name}")),
            ):
                parts[_find_free_label(name, parts)] = part
                current[name] = part.dataset
                known_originals[name] = select_records(known_originals[name], part.kept)
                kept[name] = kept[name][part.kept]
            step.advance()
    combined = (
        {} if earlier is None else combine_with_earlier(earlier, current, originals, kept, secret)
    )
    after = attack_again(
        release,
        current,
        originals,
        known_originals=known_originals,
        full_originals=full_originals,
        adversaries=adversaries,
        before=before,
        parts=parts,
        kept=kept,
        earlier={
            name: (both.dataset, both.rows) for name, both in combined.items() if both.is_more
        },
    )
    if earlier is not None:
        apart = list_incomparable(earlier, after.publications, tables)
        after = replace(after, comparisons=(*apart, *list_departed(combined)))
    _refuse_unreachable(release, after, current, known_originals, adversaries=adversaries)
    return ProtectedRelease(
        release=release,
        before=before,
        after=after,
        parts=parts,
        tables=tables,
        kept_sources={name: select_records(originals[name], kept[name]) for name in kept},
        secret=secret,
        merged=merged,
        guard_formulas=settings.guard_formulas,
    )


def _seed_draws(release: Release, secret: SecretKey) -> Release:
    """The release with seeds out of its secret, where draws are asked for and none is given."""
    adversaries = [
        replace(
            adversary,
            settings=find_attack(adversary).seed_draws(
                adversary.settings, partial(_derive_table_seed, secret, adversary.datasets[0])
            ),
        )
        for adversary in release.adversaries
    ]
    return replace(release, adversaries=adversaries)


def _derive_table_seed(secret: SecretKey, dataset: str, subject: str) -> int:
    return secret.derive_seed(f"table of {dataset}: {subject}")


def _leave_failing_unjudged(before: Verdict) -> Verdict:
    """The verdict where nothing was protected: what fails without it is not judged with it."""
    reason = str(Sentence("divulge.release", "not_protected"))
    outcomes = [
        outcome.limit.leave_unjudged(outcome.subject, reason)
        if outcome.status == "fail"
        else outcome
        for outcome in before.outcomes
    ]
    return replace(before, outcomes=tuple(outcomes))


def _find_free_label(name: str, parts: Mapping[str, Any]) -> str:
    """A name for what is done next to a dataset, of which something may be done already."""
    label, again = name, 1
    while label in parts:
        label = f"{name} (history)" if again == 1 else f"{name} (history {again})"
        again += 1
    return label


def _find_known_original(release: Release, name: str, originals: Mapping[str, Dataset]) -> Dataset:
    """A dataset as an adversary knows it: what is named as its original, or itself."""
    for limit in release.limits:
        if limit.dataset in (None, name) and "original" in limit.others:
            original = originals[limit.others["original"]]
            if original.rows == originals[name].rows:
                return original
    for adversary in release.adversaries:
        same = find_attack(adversary).same_records(adversary.settings, adversary.datasets)
        for other, of in same.items():
            is_same_size = originals[other].rows == originals[name].rows
            if (
                of == name
                and is_same_size
                and set(originals[name].names) <= {*originals[other].names}
            ):
                return originals[other]
    return originals[name]


def _protect_dataset(
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
    compared_with = {other for limit in release.limits for other in limit.others.values()}
    linked = find_linked_people(plan_publications(release), current)
    # What counts records of people who have several is not judged, and nothing can reach it.
    is_repeated = has_several_records(dataset)
    limits = [
        read_linked_limit(
            limit.seeing({**current, **{other: sources[other] for other in compared_with}}),
            name in linked,
        )
        for limit in release.limits
        if not limit.of_assessment
        and has_protection_method(limit)
        and (not is_repeated or counts_people(limit))
        and (limit.dataset == name or (limit.dataset is None and name not in compared_with))
        and name not in release.pair_datasets
    ]
    attack_runners: dict[str | None, tuple[AttackRunner, Sequence[str]]] = {}
    by_attack: dict[str, list[LimitedAdversary]] = {}
    for named in release.adversaries:
        adversary = read_kept_order(read_linked_people(named, linked), plan_publications(release))
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
            limits += [limit.on(adversary.name) for limit in theirs]
    current_version = dataset
    if must_change(release, name) and not limits:
        # What rules ask for is done also where nothing is limited: this holds of any records.
        limits = [Limit("k_anonymity", at_least=1, dataset=name)]
    if _has_failing(limits, before, name) or must_change(release, name):
        view = view_published(plan_publications(release).get(name), dataset)
        part = protection.protect(
            dataset,
            limits,
            tuple(settings.methods),
            never=[n for n in settings.never if n in dataset.names],
            importance={n: v for n, v in settings.importance.items() if n in dataset.names},
            order=settings.order,
            local=settings.local,
            suppression_limit=settings.suppression_limit,
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


def _refuse_unreachable(
    release: Release,
    after: Verdict,
    current: Mapping[str, Dataset],
    known_originals: Mapping[str, Dataset],
    *,
    adversaries: Sequence[Adversary],
) -> None:
    """Where a limit fails after all that no method lowers, say which change would."""
    failing = [outcome for outcome in after.outcomes if outcome.status == "fail"]
    lines = []
    for adversary in adversaries:
        theirs = [_say_why(o) for o in failing if is_of_adversary(o, adversary.name)]
        said = {s.key for o in failing if o.subject == adversary.name for s in o.sentences}
        if theirs:
            advice = (
                [] if BESIDE_RECORDS in said else [str(find_attack(adversary).advice(adversary))]
            )
            lines.append(" ".join([*theirs, *advice]))
    lines += [_say_why(o) for o in failing if not o.limit.of_assessment]
    lines += judge_knowing_original(release, current, known_originals)
    if lines:
        raise OutOfReachError(
            f"{release.path.name} cannot be protected as it is; nothing was written:\n  "
            + "\n  ".join(lines)
        )


def _say_why(outcome: Outcome) -> str:
    """What was found, and what the adversary has to whom a limit does not hold."""
    whom = [str(each) for each in outcome.sentences if each.key in WORSE_SENTENCES]
    return " ".join([outcome.in_short, *(each for each in whom if each not in outcome.in_short)])
