"""Protecting a release: each dataset as its limits ask, everything attacked again, then written.

Datasets of records are recoded and suppressed, histories made coarser, tables suppressed. Where no
method lowers an attack, what is said is which change of the release would. The data that go out
are attacked anew by every adversary, those who know the original included; only if every limit
holds is anything written, all of it or nothing, and never over an original.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from divulge import protection, records, work
from divulge.assessment import Adversary, Assessment, Limit, Sentence, attacks
from divulge.data import Dataset
from divulge.data.dictionary import as_names
from divulge.data.missing_kinds import merge_missing_kinds, merged_names
from divulge.protection import OutOfReachError, Protected, ProtectedHistory
from divulge.protection.changes import taken
from divulge.protection.goals import lowers
from divulge.release.check import check_data
from divulge.release.histories import protect_histories, read_alike
from divulge.release.protected_release import ProtectedRelease, model_of
from divulge.release.release import Release
from divulge.release.settings import ProtectionTable
from divulge.release.verdict import Verdict
from divulge.release.writing import Also

Attacked = Callable[[Dataset], Assessment]


def protect(
    release: Release,
    out: Path | str | None = None,
    overwrite: bool = False,
    values: bool = False,
    also: Also | None = None,
) -> ProtectedRelease:
    """Protect a release and, if a folder is given, write what may go out, and what `also` does."""
    from divulge.release.writing import folder_for, write_protected

    if out is None:
        return _protect(release)
    with folder_for(release, out, overwrite).held() as place:
        result = _protect(release)
        write_protected(result, place, values, also)
    return result


def _protect(release: Release) -> ProtectedRelease:
    """Protect every dataset and attack everything again."""
    read = {name: plan.read() for name, plan in release.datasets.items()}
    merged = {name: names for name, dataset in read.items() if (names := merged_names(dataset))}
    # What is written does not tell kinds of missing values apart, so nothing is judged by them.
    originals = {name: merge_missing_kinds(dataset) for name, dataset in read.items()}
    settings = release.protection or ProtectionTable(methods=["recode", "suppress"])
    parts: dict[str, Protected | ProtectedHistory] = {}
    current = dict(originals)
    same = {name: _known(release, name, originals) for name in originals}
    before = check_data(release, originals, originals=same)
    adversaries, tables = _suppressed_tables(release, originals, before)
    with work.step("Protecting the datasets", len(originals)) as step:
        for name, dataset in originals.items():
            known = same[name]
            for part in _protected(release, name, dataset, known, current, before, settings):
                parts[_label(name, parts)] = part
                current[name] = part.dataset
                same[name] = taken(same[name], part.kept)
            step.advance()
    _refuse_the_rest(release, current, originals, same, adversaries)
    named = {}
    # One key for all datasets, so that they can still be linked; it is not kept.
    key = secrets.token_bytes(32)
    for name in originals:
        current[name], named[name] = _without_names(release, name, current[name], key)
    after = _attacked_again(release, current, originals, same, adversaries)
    _require_all(after)
    return ProtectedRelease(
        release, before, after, parts, tables, named, merged, settings.guard_formulas
    )


def _label(name: str, parts: Mapping[str, Any]) -> str:
    """A name for what is done next to a dataset, of which something may be done already."""
    label, again = name, 1
    while label in parts:
        label = f"{name} (history)" if again == 1 else f"{name} (history {again})"
        again += 1
    return label


def _known(release: Release, name: str, originals: Mapping[str, Dataset]) -> Dataset:
    """A dataset as an adversary knows it: what its limits name as the original, or itself."""
    for limit in release.limits:
        if limit.dataset in (None, name) and "original" in limit.others:
            named = originals[limit.others["original"]]
            if named.rows == originals[name].rows:
                return named
    return originals[name]


def _protected(
    release: Release,
    name: str,
    dataset: Dataset,
    known: Dataset,
    current: Mapping[str, Dataset],
    before: Verdict,
    settings: ProtectionTable,
) -> Iterator[Protected | ProtectedHistory]:
    """What is done to a dataset, one after the other, for what its limits ask."""
    compared_with = {other for limit in release.limits for other in limit.others.values()}
    limits = [
        limit.seeing(current)
        for limit in release.limits
        if not limit.of_assessment
        and lowers(limit)
        and (limit.dataset == name or (limit.dataset is None and name not in compared_with))
    ]
    attacked: dict[str | None, tuple[Attacked, Sequence[str]]] = {}
    histories = {}
    for adversary in release.adversaries:
        hers = [
            limit
            for limit in release.limits
            if limit.of_assessment and limit.adversary in (None, adversary.name)
        ]
        if not hers or adversary.datasets[0] != name:
            continue
        if adversary.attack == "events" and not adversary.settings.released:
            histories[adversary.name] = (adversary, hers)
        elif _by_record(before, adversary, dataset):
            attacked[adversary.name] = (
                _attack_on(adversary, current),
                _knows(adversary, dataset),
            )
            limits += [limit.on(adversary.name) for limit in hers]
    current_version = dataset
    if _open(limits, before):
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
            attacked=attacked,
            original=None if known is dataset else known,
        )
        yield part
        current_version = part.dataset
    for alike in read_alike(histories):
        hers = [limit.on(who) for who, (_, limits) in alike.items() for limit in limits]
        if _open(hers, before):
            history = protect_histories(current_version, alike, settings)
            if history.steps:  # else what was done for others is enough for her
                yield history
            current_version = history.dataset


def _open(limits: Sequence[Limit], before: Verdict) -> bool:
    """Whether some of these limits did not hold."""
    failing = [outcome for outcome in before.outcomes if not outcome.held]
    return any(
        limit.measure == outcome.limit.measure
        and limit.bound == outcome.limit.bound
        and (not limit.of_assessment or limit.adversary == outcome.subject)
        for limit in limits
        for outcome in failing
    )


def _by_record(before: Verdict, adversary: Adversary, dataset: Dataset) -> bool:
    """Whether an attack tells the risk of each record of a dataset of records."""
    if adversary.attack in ("tables", "events", "linkage", "longitudinal", "reconstruction"):
        return False
    [found] = [a for a in before.assessments if a.adversary == adversary.name]
    try:
        return len(found.risk()) == dataset.rows
    except work.DivulgeError:
        return False


def _attack_on(adversary: Adversary, current: Mapping[str, Dataset]) -> Attacked:
    """Her attack with another version of her first dataset."""
    others = [current[name] for name in adversary.datasets[1:]]
    attack = attacks()[adversary.attack]
    return lambda dataset: attack.run(adversary.settings, [dataset, *others]).named(adversary.name)


def _knows(adversary: Adversary, dataset: Dataset) -> list[str]:
    given = getattr(adversary.settings, "knows", None)
    return dataset.quasi_identifiers if given is None else as_names(given)


def _suppressed_tables(
    release: Release, originals: Mapping[str, Dataset], before: Verdict
) -> tuple[list[Adversary], dict[str, Any]]:
    """Tables whose limits fail are published with a protecting pattern; the others as they are.

    One that no limit is on was not judged, and does not go out.
    """
    from divulge.tables.plugin import published_as_told

    failing = {outcome.subject for outcome in before.outcomes if not outcome.held}
    adversaries, found = [], {}
    for adversary in release.adversaries:
        if adversary.attack != "tables":
            adversaries.append(adversary)
            continue
        told = adversary.settings
        if adversary.name in failing:
            told = told.model_copy(update={"suppress": "optimal"})
        adversaries.append(Adversary(adversary.name, "tables", adversary.datasets, told))
        if any(limit.adversary in (None, adversary.name) for limit in release.limits
               if limit.of_assessment):  # fmt: skip
            [dataset] = [originals[name] for name in adversary.datasets]
            found[adversary.name] = published_as_told(told, dataset)
    _refuse_other_patterns(adversaries, found)
    return adversaries, found


def _refuse_other_patterns(adversaries: Sequence[Adversary], found: Mapping[str, Any]) -> None:
    """One table with two patterns would tell more than what each was judged by."""
    seen: dict[Any, str] = {}
    for adversary in adversaries:
        if adversary.name not in found:
            continue
        told, name = adversary.settings, adversary.name
        of = (adversary.datasets[0], tuple(as_names(told.by)), told.value)
        first = seen.setdefault(of, name)
        if not (found[first].suppressed == found[name].suppressed).all():
            raise OutOfReachError(
                f'"{first}" and "{name}" would see the same table with other cells suppressed, '
                "which together tell more than was judged: give them the same settings, or limit "
                "one of them."
            )


def _refuse_the_rest(
    release: Release,
    current: Mapping[str, Dataset],
    originals: Mapping[str, Dataset],
    same: Mapping[str, Dataset],
    adversaries: Sequence[Adversary],
) -> None:
    """Attack again; where a limit fails that no method lowers, say which change would."""
    verdict = _attacked_again(release, current, originals, same, adversaries)
    failing = {o.subject: o for o in verdict.outcomes if not o.held}
    lines = [
        f"{failing[adversary.name].in_short} {_advice(adversary)}"
        for adversary in adversaries
        if adversary.name in failing
    ]
    lines += [o.in_short for o in failing.values() if not o.limit.of_assessment]
    lines += _by_who_knows_the_original(release, current, originals)
    if lines:
        raise OutOfReachError(
            f"{release.path.name} cannot be protected as it is; nothing was written:\n  "
            + "\n  ".join(lines)
        )


def _attacked_again(
    release: Release,
    current: Mapping[str, Dataset],
    originals: Mapping[str, Dataset],
    same: Mapping[str, Dataset],
    adversaries: Sequence[Adversary],
) -> Verdict:
    """The verdict on what would go out; tables are made of the original records."""
    return check_data(release, current, adversaries, same, tabulated=originals)


def _advice(adversary: Adversary) -> Sentence:
    """Which change of the release would lower an attack."""
    told = adversary.settings
    values: dict[str, Any] = {
        "adversary": adversary.name,
        "attack": adversary.attack,
        "dataset": adversary.datasets[0],
        "measure": getattr(told, "measure", ""),
        "on": getattr(told, "on", ""),
        "block": as_names(getattr(told, "block", [])),
        "knows": as_names(getattr(told, "knows", None) or ["what is known"]),
    }
    key = {
        "longitudinal": "longitudinal",
        "linkage": "linkage",
        "reconstruction": "reconstruction",
        "risk": "risk",
        "tables": "table",
        "events": "events",
    }.get(adversary.attack, "other")
    if adversary.attack == "records" and model_of(told)[1] == "M":
        key = "membership"
    return Sentence("divulge.protection", f"advice.{key}", values)


def _by_who_knows_the_original(
    release: Release, current: Mapping[str, Dataset], originals: Mapping[str, Dataset]
) -> list[str]:
    """Limits on somebody who knows the true values, where the records are the same in order."""
    said = []
    for adversary in release.adversaries:
        told, name = adversary.settings, adversary.datasets[0]
        same = current[name] is not originals[name] and current[name].rows == originals[name].rows
        if adversary.attack != "records" or not same or model_of(told) not in ("CRS", "CAS"):
            continue
        try:
            found = records.attack(
                originals[name], model_of(told), told.knows, told.seeks, release=current[name]
            ).named(adversary.name)
        except work.InvalidInput:  # single records were made coarser: matches cannot be told
            continue
        for limit in release.limits:
            if limit.of_assessment and limit.adversary in (None, adversary.name):
                outcome = limit.judge(found)
                if not outcome.held:
                    said.append(f"With knowledge of the original: {outcome.in_short}")
    return said


def _words(told: Any) -> Iterator[str]:
    """All texts in the settings of an adversary: what she cannot do without is among them."""
    if isinstance(told, str):
        yield told
    elif isinstance(told, Mapping):
        for key, value in told.items():
            yield from _words(key)
            yield from _words(value)
    elif isinstance(told, Iterable):
        for each in told:
            yield from _words(each)


def _without_names(
    release: Release, name: str, dataset: Dataset, key: bytes
) -> tuple[Dataset, tuple[list[str], list[str]]]:
    """Identifiers removed; those that an attack cannot do without become keyed pseudonyms."""
    adversaries = [each for each in release.adversaries if name in each.datasets]
    needed = {word for each in adversaries for word in _words(each.settings.model_dump())}
    # Whose history it is names people outright, whatever role it was given.
    whose = [each.settings.user for each in adversaries if each.attack == "events"]
    named = [n for n in dataset.names if n in {*dataset.dictionary.having("identifier"), *whose}]
    kept = [n for n in named if n in needed]
    removed = [n for n in named if n not in kept]
    if kept:
        dataset = protection.pseudonyms(dataset, key, kept)
    if removed and len(removed) == len(dataset.names):
        raise OutOfReachError(
            f'dataset "{name}" holds nothing but what names people outright; nothing was written: '
            "leave it out of the release."
        )
    if removed:
        dataset = dataset.select([n for n in dataset.names if n not in removed])
    return dataset, (removed, kept)


def _require_all(after: Verdict) -> None:
    failing = [outcome for outcome in after.outcomes if not outcome.held]
    if failing:
        lines = "\n  ".join(outcome.in_short for outcome in failing)
        raise OutOfReachError(
            f"after protection a limit does not hold; nothing was written:\n  {lines}"
        )
