"""What would go out, attacked again: as it is, with hidden cells refilled, knowing the original.

And together with what an earlier protection showed. A limit holds only if it holds in every one of
these ways.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from divulge import work
from divulge.assessment import Adversary, Assessment, Outcome, Sentence, find_attack
from divulge.data import Dataset
from divulge.protection import Protected
from divulge.protection.changes.changes import select_records
from divulge.protection.refill.cells import leave_out_absent
from divulge.protection.refill.result import Refill
from divulge.protection.resistance.published_view import PublishedView, refill_released
from divulge.release.attack_runs import run_knowing_original
from divulge.release.check import check_data
from divulge.release.counts_beside import list_told_by_counts
from divulge.release.datasets_beside import list_telling_datasets
from divulge.release.protected_release import Part
from divulge.release.publication import Publication, Reservation, plan_publications
from divulge.release.rule_programs.missing_values import list_missing_values
from divulge.release.tables_beside import (
    BESIDE_RECORDS,
    is_known_anyway,
    list_changed,
    list_tables_beside,
    list_told_by,
)
from divulge.release.verdict import Verdict
from divulge.work.arrays import Ints

if TYPE_CHECKING:
    from divulge.release.release import Release

AFTER_REFILLING, AFTER_COMPARING = "after_refilling", "after_comparing"
WORSE_SENTENCES = (AFTER_REFILLING, AFTER_COMPARING, BESIDE_RECORDS)
"""Sentences that say to whom a limit does not hold that holds for others."""


def attack_again(
    release: Release,
    current: Mapping[str, Dataset],
    originals: Mapping[str, Dataset],
    *,
    known_originals: Mapping[str, Dataset],
    full_originals: Mapping[str, Dataset],
    adversaries: Sequence[Adversary],
    before: Verdict,
    parts: Mapping[str, Part],
    kept: Mapping[str, Ints],
    earlier: Mapping[str, tuple[Dataset, Ints]],
) -> Verdict:
    """The verdict on what would go out, as it is and refilled; tables are of the original records.

    A limit holds if it holds both before and after hidden cells were refilled, and also with the
    datasets as somebody sees them who has an `earlier` protection too (with the places of their
    records in the source).
    """
    publications = _leave_out_telling(release, parts)
    judge = partial(
        check_data,
        release,
        adversaries=adversaries,
        originals=known_originals,
        tabulated=originals,
        sources=originals,
        before=before,
        publications=publications,
    )
    verdict = judge(current)
    # A table is made of the original records: reading less of the others does not change it.
    tables = {each.name for each in adversaries if find_attack(each).publishes_table()}
    refills = _refill_datasets(release, publications, current, known_originals, parts)
    sources = {name: select_records(originals[name], kept[name]) for name in current}
    reservations = tuple(_find_telling_tables(release, publications, current, sources, originals))
    shown = {name: _restore_known(sources[name], known_originals[name]) for name in current}
    counted = list_told_by_counts(release, publications, current, full_originals, kept)
    missing = list_missing_values(release, publications, current, sources)
    telling = (*verdict.telling, *reservations, *counted, *missing)
    verdict = replace(verdict, telling=telling, refills=refills)

    def judge_also(
        verdict: Verdict,
        key: str,
        seen: Mapping[str, Dataset],
        known: Mapping[str, Dataset],
        left_out: Collection[str] = (),
        *,
        is_refilled: bool = True,
    ) -> Verdict:
        """The worse of a verdict and of what others see, who may know what was there before."""
        chosen = [each for each in adversaries if each.name not in left_out]
        again = judge(seen, adversaries=chosen, originals=known, is_refilled=is_refilled)
        verdict = _judge_both(verdict, again, key, left_out)
        knowing = _assess_knowing_original(release, seen, known)
        outcomes = [_judge_knowing(outcome, knowing, key) for outcome in verdict.outcomes]
        return replace(verdict, outcomes=tuple(outcomes))

    def judge_refilled(
        verdict: Verdict,
        key: str,
        seen: Mapping[str, Dataset],
        known: Mapping[str, Dataset],
        refills: Mapping[str, Refill],
    ) -> Verdict:
        """The worse of a verdict and of what refilling tells, of all attributes or of some."""
        if not refills:
            return verdict
        filled = {name: found.refilled_rightly for name, found in refills.items()}
        verdict = judge_also(verdict, key, _fill_datasets(seen, filled), known)
        for name, found in refills.items():
            for part in found.refilled_partly:
                partly = _fill_datasets(seen, {name: part})
                verdict = judge_also(verdict, key, partly, known, tables)
        return verdict

    def withstands(joined: Mapping[str, Dataset], bounds: Mapping[str, float]) -> bool:
        """Whether limits hold as well for who joins datasets, but for those that `bounds` cover."""
        seen = {**current, **joined}
        again = judge_also(verdict, AFTER_REFILLING, seen, known_originals)
        pairs = zip(again.outcomes, verdict.outcomes, strict=True)
        return not any(
            is_worse(one, other)
            for one, other in pairs
            if not other.limit.of_assessment
            or other.limit.bound < bounds.get(other.limit.measure, inf)
        )

    beside = list_telling_datasets(release, publications, current, shown, withstands)
    verdict = replace(verdict, telling=(*verdict.telling, *beside))
    if earlier:
        both = {**current, **{name: dataset for name, (dataset, _) in earlier.items()}}
        known = {
            name: select_records(full_originals[name], rows) for name, (_, rows) in earlier.items()
        }
        known = {**known_originals, **known}
        verdict = judge_also(verdict, AFTER_COMPARING, both, known, is_refilled=False)
        more = _refill_datasets(release, publications, both, known, parts)
        verdict = judge_refilled(verdict, AFTER_COMPARING, both, known, more)
    return judge_refilled(verdict, AFTER_REFILLING, current, known_originals, refills)


def judge_protected_before(
    release: Release, verdict: Verdict, datasets: Mapping[str, Dataset]
) -> Verdict:
    """A verdict on sources of which some were protected before: attacked as a protection is.

    Their originals are datasets of the release. Nothing more is known where there are none.
    """
    known = {name: find_known_original(release, name, datasets) for name in datasets}
    if all(known[name] is dataset for name, dataset in datasets.items()):
        return verdict
    again = attack_again(
        release,
        datasets,
        datasets,
        known_originals=known,
        full_originals=known,
        adversaries=release.adversaries,
        before=verdict,
        parts={},
        kept={name: np.arange(dataset.rows) for name, dataset in datasets.items()},
        earlier={},
    )
    outcomes = [
        second if is_worse(second, first) else first
        for first, second in zip(verdict.outcomes, again.outcomes, strict=True)
    ]
    return replace(verdict, outcomes=tuple(outcomes), telling=again.telling, refills=again.refills)


def find_known_original(release: Release, name: str, originals: Mapping[str, Dataset]) -> Dataset:
    """A dataset as an adversary knows it: what is named as its original, or itself."""
    for limit in release.limits:
        if limit.dataset in (None, name) and "original" in limit.compared_datasets:
            original = originals[limit.compared_datasets["original"]]
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


def _leave_out_telling(release: Release, parts: Mapping[str, Part]) -> dict[str, Publication]:
    """What is published, without the columns that protection leaves out."""
    return {
        name: publication.leave_out(part.dropped)
        if isinstance(part := parts.get(name), Protected)
        else publication
        for name, publication in plan_publications(release).items()
    }


def _refill_datasets(
    release: Release,
    publications: Mapping[str, Publication],
    current: Mapping[str, Dataset],
    known_originals: Mapping[str, Dataset],
    parts: Mapping[str, Part],
) -> dict[str, Refill]:
    """The refill attack on every dataset of records that hides something, whoever hid it."""
    refills = {}
    for name, dataset in current.items():
        part, published = parts.get(name), view_published(publications.get(name), dataset)
        known = known_originals[name]
        if published is not None and known is not dataset:
            keys = part.among if isinstance(part, Protected) else dataset.quasi_identifiers
            # A history may have none: what was changed in it is sought all the same.
            shared = [each for each in published.columns if each in known.columns]
            keys = keys or list_changed(dataset, known, shared)
            found = refill_released(dataset, known, keys, published) if keys else None
            if found is not None and release.datasets[name].protected:
                found = replace(found, cells=leave_out_absent(found.cells, known))
            if found is not None:
                refills[name] = found
    return refills


def _restore_known(dataset: Dataset, known: Dataset) -> Dataset:
    """Records as they were before anybody protected them, as far as that is known."""
    if known is dataset or known.rows != dataset.rows:
        return dataset
    columns = {name: known.columns.get(name, own) for name, own in dataset.columns.items()}
    return replace(dataset, columns=columns)


def _fill_datasets(
    datasets: Mapping[str, Dataset], filled: Mapping[str, Dataset]
) -> dict[str, Dataset]:
    """The datasets with some columns as they are once cells were filled."""
    return {**datasets} | {
        name: replace(datasets[name], columns={**datasets[name].columns, **of.columns})
        for name, of in filled.items()
    }


def _find_telling_tables(
    release: Release,
    publications: Mapping[str, Publication],
    current: Mapping[str, Dataset],
    sources: Mapping[str, Dataset],
    originals: Mapping[str, Dataset],
) -> Iterator[Reservation]:
    """Tables of all records that go out beside protected ones, and may tell what these withhold.

    `sources` are the records of `current` as they were.
    """
    for table in list_tables_beside(release, publications):
        name = table.dataset
        values = {"dataset": name, "adversary": table.adversary.name}
        told_by = list_told_by(table, publications[name], originals[name])
        told = list_changed(current[name], sources[name], told_by)
        removed = originals[name].rows - current[name].rows
        if told:
            sentence = Sentence(
                "divulge.release", "publication.telling_table", {**values, "names": told}
            )
            yield Reservation("not judged", sentence)
        elif removed and _rules_withhold(release, name, told_by):
            sentence = Sentence("divulge.release", "rules.telling_table", values)
            yield Reservation("not judged", sentence)
        elif removed and not is_known_anyway(release, table, originals[name]):
            sentence = Sentence(
                "divulge.release", "publication.telling_of_removed", {**values, "removed": removed}
            )
            yield Reservation("not judged", sentence)


def _rules_withhold(release: Release, dataset: str, told: Sequence[str]) -> bool:
    """Whether rules remove records, or hide what is told of these: that is nobody's to know."""
    results = release.rule_results
    directives = None if results is None else results.directives.get(dataset)
    if directives is None:
        return False
    return bool(directives.remove) or any(row.attribute in told for row in directives.hide)


def _judge_both(
    verdict: Verdict, again: Verdict, key: str, left_out: Collection[str] = ()
) -> Verdict:
    """The verdict with the worse of two outcomes of each limit; `key` says what makes it worse.

    Of adversaries who were `left_out` there is no second outcome.
    """
    is_single = [
        outcome.limit.of_assessment and outcome.subject in left_out for outcome in verdict.outcomes
    ]
    pairs = zip(
        [each for each, single in zip(verdict.outcomes, is_single, strict=True) if not single],
        again.outcomes,
        strict=True,
    )
    worse = iter([_choose_worse(*pair, key) for pair in pairs])
    outcomes = [
        outcome if single else next(worse)
        for outcome, single in zip(verdict.outcomes, is_single, strict=True)
    ]
    return replace(verdict, outcomes=tuple(outcomes))


def _judge_knowing(outcome: Outcome, knowing: Mapping[str, Assessment], key: str) -> Outcome:
    """The worse of an outcome and the same limit for somebody who knows the original."""
    assessment = knowing.get(outcome.subject) if outcome.limit.of_assessment else None
    if assessment is None:
        return outcome
    return _choose_worse(outcome, outcome.limit.judge(assessment), key)


def _choose_worse(first: Outcome, second: Outcome, key: str) -> Outcome:
    """The outcome after refilling or comparing, where a limit holds only before it."""
    if not is_worse(second, first):
        return first
    sentence = Sentence("divulge.release", key)
    said, *more = second.sentences
    return replace(second, sentences=(said, sentence, *more))


def is_worse(outcome: Outcome, other: Outcome) -> bool:
    """Whether an outcome outranks another: fail outranks not judged, not judged outranks pass."""
    ranks = ("pass", "not judged", "fail")
    return ranks.index(outcome.status) > ranks.index(other.status)


def view_published(publication: Publication | None, dataset: Dataset) -> PublishedView | None:
    """What an attacker sees of a dataset; None if it does not go out."""
    if publication is None:
        return None
    columns = [each for each in dataset.names if each in publication.published]
    return PublishedView(columns, publication.ordered, publication.needed)


def judge_knowing_original(
    release: Release, current: Mapping[str, Dataset], originals: Mapping[str, Dataset]
) -> list[str]:
    """Limits on somebody who knows the true values, where the records are the same in order."""
    lines = []
    for name, assessment in _assess_knowing_original(release, current, originals).items():
        for limit in release.limits:
            if limit.of_assessment and limit.adversary in (None, name):
                outcome = limit.judge(assessment)
                if not outcome.held:
                    lines.append(f"With knowledge of the original: {outcome.in_short}")
    return lines


def _assess_knowing_original(
    release: Release, current: Mapping[str, Dataset], originals: Mapping[str, Dataset]
) -> dict[str, Assessment]:
    """By adversary, what they find who know the original, where the records are the same."""
    assessments = {}
    for adversary in release.adversaries:
        known = [originals[name] for name in adversary.datasets]
        released = [current[name] for name in adversary.datasets]
        pairs = list(zip(known, released, strict=True))
        if all(one is other for one, other in pairs) or any(
            one.rows != other.rows for one, other in pairs
        ):
            continue
        attack, settings = find_attack(adversary), adversary.settings
        try:
            assessment = attack.run_with_originals(settings, known, released)
            if assessment is None and known[0] is not released[0]:
                assessment = run_knowing_original(adversary, known[0], released)
        except work.InvalidInput:  # single records were made coarser: matches cannot be told
            continue
        if assessment is not None:
            assessments[adversary.name] = assessment.named(adversary.name)
    return assessments
