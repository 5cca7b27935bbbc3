"""Checking a release: every dataset is read once, every attack run, every limit judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from divulge import work
from divulge.assessment import Adversary, Assessment, Limit, Outcome, find_attack, measures
from divulge.data import Dataset
from divulge.data.missing_kinds import separate_missing_kinds
from divulge.protection.limits.per_record import build_goals
from divulge.records.risk.frequencies import SEMANTICS_OF_ORIGINAL
from divulge.release.publication import plan_publications, select_attackable
from divulge.release.release import Release
from divulge.release.verdict import Verdict
from divulge.work import InvalidInput, Problem


def check_release(release: Release) -> Verdict:
    """The verdict on a release as its sources are: a reader tells tagged missing values apart."""
    datasets = {name: plan.read() for name, plan in release.datasets.items()}
    separated = {name: separate_missing_kinds(dataset) for name, dataset in datasets.items()}
    return replace(
        check_data(release, separated, tabulated=datasets, summed=datasets), datasets=datasets
    )


def check_data(
    release: Release,
    datasets: Mapping[str, Dataset],
    adversaries: Sequence[Adversary] | None = None,
    *,
    originals: Mapping[str, Dataset] | None = None,
    tabulated: Mapping[str, Dataset] | None = None,
    summed: Mapping[str, Dataset] | None = None,
    before: Verdict | None = None,
) -> Verdict:
    """The verdict on a release with other data (or other adversaries) than its own.

    `originals` are the same records before protection: what an adversary who knows their victim
    knows, for limits that count what is compatible with it. `tabulated` are the data that tables
    are made of, if not those that go out; `summed` are those whose amounts are added up, if in the
    others a missing amount has become a value of its own. `before` is the verdict before the data
    were protected, whose assessments stand where an attack need not run again.
    """
    assessments = []
    publications = plan_publications(release)
    chosen = release.adversaries if adversaries is None else adversaries
    earlier = (
        {}
        if before is None
        else {assessment.adversary: assessment for assessment in before.assessments}
    )
    with work.step("Attacking", len(chosen)) as step:
        for adversary in chosen:
            attack = find_attack(adversary)
            visible = datasets
            if attack.publishes_table() and tabulated is not None:
                visible = tabulated
            elif attack.adds_amounts() and summed is not None:
                visible = summed
            if adversary.name in earlier and not attack.runs_after_protection():
                assessments.append(earlier[adversary.name])
            else:
                inputs = [
                    select_attackable(publications, name, visible[name])
                    for name in adversary.datasets
                ]
                with _name_place_in_errors(release, f'adversary "{adversary.name}"'):
                    assessments.append(run_attack(adversary, inputs))
            step.advance()
    outcomes: list[Outcome] = []
    for number, limit in enumerate(release.limits, start=1):
        with _name_place_in_errors(release, f"limit {number}"):
            outcomes += _judge_limit(limit, assessments, datasets, originals or {})
    return Verdict(release, datasets, tuple(assessments), tuple(outcomes), publications)


def run_attack(adversary: Adversary, datasets: Sequence[Dataset]) -> Assessment:
    """Run an adversary's attack, and name the assessment after them."""
    return find_attack(adversary).run(adversary.settings, datasets).named(adversary.name)


@contextmanager
def _name_place_in_errors(release: Release, place: str) -> Iterator[None]:
    """What only the records show to be wrong is told under its place in the release file."""
    try:
        yield
    except InvalidInput as error:
        problems = [
            Problem(", ".join(filter(None, [place, error.subject, p.place])), p.text)
            for p in error.problems
        ]
        raise InvalidInput(str(release.path), problems) from error


def _judge_limit(
    limit: Limit,
    assessments: Sequence[Assessment],
    datasets: Mapping[str, Dataset],
    originals: Mapping[str, Dataset],
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
        if limit.dataset != name and (limit.dataset is not None or name in others):
            continue
        if name in originals and limit.options.get("nulls") in SEMANTICS_OF_ORIGINAL:
            [goal] = build_goals(dataset, [limit.seeing(datasets)])
            yield goal.measure_standing(dataset, originals[name]).outcome
        else:
            yield limit.judge_measurement(measure.of(dataset, limit.seeing(datasets)), name)
