"""What would go out, attacked again: as it is, with hidden cells refilled, knowing the original.

A limit holds only if it holds in every one of these ways.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from divulge import work
from divulge.assessment import Adversary, Outcome, Sentence
from divulge.data import Dataset
from divulge.protection import Protected
from divulge.protection.refill.result import Refill
from divulge.protection.refill_resistance import PublishedView, refill_released
from divulge.release.check import check_data, run_knowing_original
from divulge.release.protected_release import Part
from divulge.release.publication import plan_publications
from divulge.release.release import Release
from divulge.release.verdict import Verdict


def attack_again(
    release: Release,
    current: Mapping[str, Dataset],
    originals: Mapping[str, Dataset],
    *,
    known_originals: Mapping[str, Dataset],
    adversaries: Sequence[Adversary],
    before: Verdict,
    parts: Mapping[str, Part],
) -> Verdict:
    """The verdict on what would go out, as it is and refilled; tables are of the original records.

    A limit holds if it holds both before and after hidden cells were refilled.
    """
    judge = partial(
        check_data,
        release,
        adversaries=adversaries,
        originals=known_originals,
        tabulated=originals,
        before=before,
    )
    verdict = judge(current)
    refills = _refill_datasets(release, current, known_originals, parts)
    if not refills:
        return verdict
    filled = {
        name: replace(
            current[name], columns={**current[name].columns, **found.refilled_rightly.columns}
        )
        for name, found in refills.items()
    }
    again = judge({**current, **filled})
    outcomes = [
        _choose_worse(first, second)
        for first, second in zip(verdict.outcomes, again.outcomes, strict=True)
    ]
    return replace(verdict, outcomes=tuple(outcomes), refills=refills)


def _refill_datasets(
    release: Release,
    current: Mapping[str, Dataset],
    known_originals: Mapping[str, Dataset],
    parts: Mapping[str, Part],
) -> dict[str, Refill]:
    """The refill attack on every dataset of records that hides something."""
    refills = {}
    for name, dataset in current.items():
        part, published = parts.get(name), view_published(release, name, dataset)
        if isinstance(part, Protected) and published is not None:
            found = refill_released(dataset, known_originals[name], part.among, published)
            if found is not None:
                refills[name] = found
    return refills


def _choose_worse(first: Outcome, second: Outcome) -> Outcome:
    """The outcome after refilling, where a limit holds only before it."""
    if first.status != "pass" or second.status == "pass":
        return first
    sentence = Sentence("divulge.release", "after_refilling")
    said, *more = second.sentences
    return replace(second, sentences=(said, sentence, *more))


def view_published(release: Release, name: str, dataset: Dataset) -> PublishedView | None:
    """What an attacker sees of a dataset; None if it does not go out."""
    publication = plan_publications(release).get(name)
    if publication is None:
        return None
    columns = [each for each in dataset.names if each in publication.published]
    return PublishedView(columns, publication.ordered)


def judge_knowing_original(
    release: Release, current: Mapping[str, Dataset], originals: Mapping[str, Dataset]
) -> list[str]:
    """Limits on somebody who knows the true values, where the records are the same in order."""
    lines = []
    for adversary in release.adversaries:
        original, released = originals[adversary.datasets[0]], current[adversary.datasets[0]]
        if released is original or released.rows != original.rows:
            continue
        datasets = [current[name] for name in adversary.datasets]
        try:
            assessment = run_knowing_original(adversary, original, datasets)
        except work.InvalidInput:  # single records were made coarser: matches cannot be told
            continue
        if assessment is None:
            continue
        for limit in release.limits:
            if limit.of_assessment and limit.adversary in (None, adversary.name):
                outcome = limit.judge(assessment)
                if not outcome.held:
                    lines.append(f"With knowledge of the original: {outcome.in_short}")
    return lines
