"""Protecting a release: each dataset as its limits ask, everything attacked again, then written.

Datasets of records are recoded and suppressed; then each attack may change them by methods of its
own, and protect the tables that it publishes. Where no method lowers an attack, what is said is
which change of the release would. The data that go out are attacked anew by every adversary, those
who know the original included; only if every limit holds is anything written, all of it or
nothing, and never over an original.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from divulge import work
from divulge.assessment import Adversary, Outcome, Sentence, find_attack
from divulge.data import Dataset
from divulge.data.missing_kinds import list_merged_names, merge_missing_kinds
from divulge.protection import OutOfReachError
from divulge.protection.changes.changes import select_records
from divulge.release import tuning
from divulge.release.attack_again import (
    AFTER_REFILLING,
    WORSE_SENTENCES,
    attack_again,
    find_known_original,
    judge_knowing_original,
    judge_protected_before,
)
from divulge.release.check import check_data
from divulge.release.dataset_protection import protect_dataset
from divulge.release.output.earlier_protection import (
    EarlierProtection,
    combine_with_earlier,
    list_departed,
    list_incomparable,
    read_earlier,
)
from divulge.release.output.output_files import ExtraWriter
from divulge.release.output.release_secret import read_secret, require_secret
from divulge.release.protected_release import Part, ProtectedRelease
from divulge.release.release_file.settings import ProtectionTable
from divulge.release.rule_programs import tuning as rule_tuning
from divulge.release.rule_programs.rule_rounds import ask_rules_again, refuse_endless_rounds
from divulge.release.rule_programs.settle_rules import read_release
from divulge.release.table_protection import is_of_adversary, suppress_tables
from divulge.release.tables_beside import BESIDE_RECORDS
from divulge.release.verdict import Verdict
from divulge.work.arrays import Ints
from divulge.work.secret_key import SecretKey

if TYPE_CHECKING:
    from divulge.release.release import Release


class _Protections(NamedTuple):
    """What was done to each dataset, what it is then, who is known of it, and who is left."""

    parts: dict[str, Part]
    current: dict[str, Dataset]
    known_originals: dict[str, Dataset]
    kept: dict[str, Ints]


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
    from divulge.release.output.output_files import build_output_folder, write_protected_release

    if out is None:
        return _protect_datasets(release, _find_secret(out, revises), _read_earlier(revises))
    with build_output_folder(release, out, overwrite).held() as place:
        result = _protect_datasets(release, _find_secret(out, revises), _read_earlier(revises))
        write_protected_release(result, place, values, also)
    return result


def _find_secret(out: Path | str | None, revises: Path | str | None) -> SecretKey:
    """The secret of the protection that this one revises or replaces, or a new one."""
    from divulge.release.output.output_files import INTERNAL

    if revises is not None:
        return require_secret(Path(revises) / INTERNAL)
    earlier = None if out is None else read_secret(Path(out) / INTERNAL)
    return SecretKey() if earlier is None else earlier


def _read_earlier(revises: Path | str | None) -> EarlierProtection | None:
    """What the protection that this one revises has published."""
    from divulge.release.output.output_files import INTERNAL, RELEASE

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
    known_originals = {name: find_known_original(release, name, originals) for name in originals}
    full_originals = dict(known_originals)
    before = check_data(release, originals, originals=known_originals)
    before = judge_protected_before(release, before, originals)
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
    judged = before
    for _ in range(rule_tuning.MOST_ROUNDS):
        done = _protect_each(
            release, originals, known_originals, before=judged, settings=settings, secret=secret
        )
        further = ask_rules_again(release, originals, done.current)
        if further is None:
            break
        release = further.release
        originals = {**originals, **further.pairs}
        known_originals = {**known_originals, **further.pairs}
        full_originals = {**full_originals, **further.pairs}
        if further.judges_otherwise:
            judged = check_data(release, originals, originals=known_originals)
            judged = judge_protected_before(release, judged, originals)
    else:
        raise refuse_endless_rounds()
    parts, current, known_originals, kept = done
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
        before=judged,
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


def _protect_each(
    release: Release,
    originals: Mapping[str, Dataset],
    known_originals: Mapping[str, Dataset],
    *,
    before: Verdict,
    settings: ProtectionTable,
    secret: SecretKey,
) -> _Protections:
    known_originals = dict(known_originals)
    parts: dict[str, Part] = {}
    current = dict(originals)
    kept: dict[str, Ints] = {name: np.arange(dataset.rows) for name, dataset in originals.items()}
    with work.step("Protecting the datasets", len(originals)) as step:
        for name, dataset in originals.items():
            known = known_originals[name]
            for part in protect_dataset(
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
    return _Protections(parts, current, known_originals, kept)


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
    if any(said.key == AFTER_REFILLING for outcome in failing for said in outcome.sentences):
        lines += _describe_tellers(after)
    lines += judge_knowing_original(release, current, known_originals)
    if lines:
        raise OutOfReachError(
            f"{release.path.name} cannot be protected as it is; nothing was written:\n  "
            + "\n  ".join(lines)
        )


def _describe_tellers(verdict: Verdict) -> list[str]:
    """By dataset, the relations that tell most of what was hidden or made coarser."""
    lines = []
    for name, refill in verdict.refills.items():
        completion = refill.verified_completion
        relations = [] if completion is None else [r for r in completion.relations if r.cells]
        if relations:
            relations.sort(key=lambda relation: -relation.cells)
            told = [f"{relation}." for relation in relations[: tuning.MOST_TELLERS]]
            values = {"dataset": name, "relations": " ".join(told)}
            lines.append(str(Sentence("divulge.release", "told_by", values)))
    return lines


def _say_why(outcome: Outcome) -> str:
    """What was found, and what the adversary has to whom a limit does not hold."""
    whom = [str(each) for each in outcome.sentences if each.key in WORSE_SENTENCES]
    return " ".join([outcome.in_short, *(each for each in whom if each not in outcome.in_short)])
