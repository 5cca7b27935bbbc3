"""Checking a release: every dataset is read once, every attack run, every limit judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from divulge import work
from divulge.assessment import Assessment, Limit, Outcome, attacks, measures
from divulge.data import Dataset
from divulge.release.release import Release
from divulge.release.verdict import Verdict


def check(release: Release) -> Verdict:
    """The verdict on a release."""
    datasets = {name: plan.read() for name, plan in release.datasets.items()}
    assessments = []
    with work.step("Attacking", len(release.adversaries)) as step:
        for adversary in release.adversaries:
            attack = attacks()[adversary.attack]
            seen = [datasets[name] for name in adversary.datasets]
            assessments.append(attack.run(adversary.settings, seen).named(adversary.name))
            step.advance()
    outcomes = [
        outcome for limit in release.limits for outcome in _judged(limit, assessments, datasets)
    ]
    return Verdict(release, datasets, tuple(assessments), tuple(outcomes))


def _judged(
    limit: Limit, assessments: Sequence[Assessment], datasets: Mapping[str, Dataset]
) -> Iterator[Outcome]:
    """A limit that names nobody holds for everybody."""
    if limit.of_assessment:
        for assessment in assessments:
            if limit.adversary in (None, assessment.adversary):
                yield limit.judge(assessment)
        return
    measure = measures()[limit.measure]
    others = limit.others.values()
    for name, dataset in datasets.items():
        # What a limit compares with (a population, the original) is not itself limited by it.
        if limit.dataset == name or (limit.dataset is None and name not in others):
            yield limit.judge_measurement(measure.of(dataset, limit.seeing(datasets)), name)
