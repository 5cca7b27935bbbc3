"""Checking a release: every dataset is read once, every attack run, every limit judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from divulge import work
from divulge.assessment import (
    Adversary,
    Assessment,
    Limit,
    Outcome,
    Sentence,
    find_attack,
    measures,
)
from divulge.classes.people import UnjudgedPeopleError
from divulge.data import Dataset
from divulge.data.missing_kinds import separate_missing_kinds
from divulge.protection.limits.per_record import build_goals, has_protection_method
from divulge.records.risk.frequencies import DEFAULT_NULLS, SEMANTICS_OF_ORIGINAL, HiddenCellsError
from divulge.release.publication import (
    explain_linked_secret,
    find_linked_people,
    find_repeated_persons,
    has_several_records,
    plan_publications,
    read_linked_limit,
    read_linked_people,
    select_attackable,
)
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
    unjudged: dict[str, str] = {}
    publications = plan_publications(release)
    chosen = release.adversaries if adversaries is None else adversaries
    earlier = (
        {}
        if before is None
        else {assessment.adversary: assessment for assessment in before.assessments}
    )
    linked = find_linked_people(publications, datasets)
    with work.step("Attacking", len(chosen)) as step:
        for named in chosen:
            adversary = read_linked_people(named, linked)
            attack = find_attack(adversary)
            untold = explain_linked_secret(adversary, linked)
            if untold is not None:
                unjudged[adversary.name] = untold
                step.advance()
                continue
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
                    known = (originals or {}).get(adversary.datasets[0])
                    try:
                        assessments.append(_run_on_hidden(adversary, inputs, known))
                    except (HiddenCellsError, UnjudgedPeopleError) as error:
                        [problem] = error.problems
                        unjudged[adversary.name] = problem.text
            step.advance()
    outcomes: list[Outcome] = []
    for number, limit in enumerate(release.limits, start=1):
        with _name_place_in_errors(release, f"limit {number}"):
            outcomes += _judge_limit(
                limit,
                assessments,
                datasets,
                originals or {},
                unjudged=unjudged,
                accept_count_only=release.accept_count_only,
                linked=linked,
            )
    return Verdict(
        release,
        datasets,
        tuple(assessments),
        tuple(outcomes),
        publications,
        unjudged=unjudged,
        repeated_persons=tuple(find_repeated_persons(chosen, datasets)),
    )


def _run_on_hidden(
    adversary: Adversary, datasets: Sequence[Dataset], original: Dataset | None
) -> Assessment:
    """Run an attack; where cells are hidden from it, as somebody who knows what they were."""
    try:
        return run_attack(adversary, datasets)
    except HiddenCellsError:
        attack = find_attack(adversary)
        found = (
            None
            if original is None
            else attack.run_with_original(adversary.settings, original, datasets[0])
        )
        if found is None:
            raise
        return found.named(adversary.name)


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
    *,
    unjudged: Mapping[str, str],
    accept_count_only: bool,
    linked: frozenset[str],
) -> Iterator[Outcome]:
    """A limit that names nobody holds for everybody."""
    if limit.of_assessment:
        for assessment in assessments:
            if limit.adversary in (None, assessment.adversary):
                yield limit.judge(assessment)
        for adversary, reason in unjudged.items():
            if limit.adversary in (None, adversary):
                yield limit.leave_unjudged(adversary, reason)
        return
    others = limit.others.values()
    for name in datasets:
        # What a limit compares with (a population, the original) is not itself limited by it.
        if limit.dataset != name and (limit.dataset is not None or name in others):
            continue
        seen = read_linked_limit(limit, name in linked)
        yield _judge_reading(seen, name, datasets, originals, accept_count_only)


def _judge_reading(
    limit: Limit,
    name: str,
    datasets: Mapping[str, Dataset],
    originals: Mapping[str, Dataset],
    accept_count_only: bool,
) -> Outcome:
    """A limit holds if it holds to somebody who weighs, whatever reading of a null it names."""
    outcome = _judge_dataset(limit, name, datasets, originals)
    if not outcome.held or limit.options.get("nulls", DEFAULT_NULLS) == DEFAULT_NULLS:
        return outcome
    weighed = _judge_dataset(limit.with_options(nulls=None), name, datasets, originals)
    if weighed.held:
        return outcome
    if not weighed.judged and not accept_count_only:
        return replace(weighed, limit=limit, value=outcome.value, found=outcome.found)
    sentence = Sentence("divulge.release", "by_count_only", {"nulls": limit.options["nulls"]})
    return replace(
        outcome,
        held=accept_count_only,
        by_count_only=True,
        sentences=(*outcome.sentences, sentence, *weighed.sentences),
    )


def _judge_dataset(
    limit: Limit,
    name: str,
    datasets: Mapping[str, Dataset],
    originals: Mapping[str, Dataset],
) -> Outcome:
    dataset = datasets[name]
    counts_people = getattr(measures()[limit.measure], "counts_people", False)
    if not counts_people and has_several_records(dataset):
        reason = "somebody has several records, and this measure counts records"
        return limit.leave_unjudged(name, reason)
    reading = limit.options.get("nulls", DEFAULT_NULLS)
    knows_original = name in originals and reading in SEMANTICS_OF_ORIGINAL
    seen = limit.seeing(datasets)
    try:
        if knows_original and has_protection_method(limit):
            [goal] = build_goals(dataset, [seen])
            return goal.measure_standing(dataset, originals[name]).outcome
        return limit.judge_measurement(measures()[limit.measure].of(dataset, seen), name)
    except (HiddenCellsError, UnjudgedPeopleError) as error:
        [problem] = error.problems
        return limit.leave_unjudged(name, problem.text)
