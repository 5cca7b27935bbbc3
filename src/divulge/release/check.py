"""The verdict on data: every attack is run, every limit judged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

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
from divulge.data.relation.relation import RecordsElsewhere
from divulge.protection import Directives
from divulge.protection.cycle.first_changes import add_thresholds
from divulge.protection.limits.goal_list import build_goals
from divulge.protection.limits.limit_kinds import has_protection_method, is_count_limit
from divulge.records.participation import describe_sample
from divulge.records.risk.null_readings import (
    DEFAULT_NULLS,
    SEMANTICS_OF_ORIGINAL,
    HiddenCellsError,
)
from divulge.records.risk.population.recoded_population import recode_population
from divulge.release.attack_runs import run_on_hidden, take_held
from divulge.release.publication import (
    Publication,
    assume_kept_order,
    assume_linked_people,
    assume_linked_people_in_limit,
    explain_linked_secret,
    find_linked_people,
    find_repeated_persons,
    has_several_records,
    plan_publications,
    select_attackable,
)
from divulge.release.rule_programs.rule_program import RISK
from divulge.release.rule_programs.rule_risk import RuleRisk
from divulge.release.tables_beside import (
    BESIDE_RECORDS,
    find_revealed_tables,
    list_tables_of_others,
    see_tables_together,
)
from divulge.release.verdict import Verdict
from divulge.work import InvalidInput, Problem

if TYPE_CHECKING:
    from divulge.release.release import Release


def check_data(
    release: Release,
    datasets: Mapping[str, Dataset],
    adversaries: Sequence[Adversary] | None = None,
    *,
    originals: Mapping[str, Dataset] | None = None,
    tabulated: Mapping[str, Dataset] | None = None,
    summed: Mapping[str, Dataset] | None = None,
    sources: Mapping[str, Dataset] | None = None,
    before: Verdict | None = None,
    publications: Mapping[str, Publication] | None = None,
    is_refilled: bool = False,
) -> Verdict:
    """The verdict on a release with other data (or other adversaries) than its own.

    `originals` are the same records before protection: what an adversary who knows their victim
    knows, for limits that count what is compatible with it. `tabulated` are the data that tables
    are made of, if not those that go out; `summed` are those whose amounts are added up, if in the
    others a missing amount has become a value of its own. `sources` are all datasets before
    protection, of which adversaries hold what does not go out: registers, populations, originals.
    `before` is the verdict before the data were protected, whose assessments stand where an attack
    need not run again. `publications` say what is published, if not what the release file says.
    Where cells were filled (`is_refilled`), values may be at several levels of a hierarchy: attacks
    that cannot be run on such are not judged.
    """
    assessments = []
    unjudged: dict[str, str] = {}
    publications = plan_publications(release) if publications is None else publications
    chosen = release.adversaries if adversaries is None else adversaries
    earlier = (
        {}
        if before is None
        else {assessment.adversary: assessment for assessment in before.assessments}
    )
    linked = find_linked_people(publications, datasets)
    revealed = find_revealed_tables(release, publications, datasets, tabulated or datasets)
    chosen = see_tables_together(release, _reveal_tables(chosen, revealed))
    with work.step("Attacking", len(chosen)) as step:
        for named in chosen:
            adversary = assume_kept_order(assume_linked_people(named, linked), publications)
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
                held = {} if sources is None else take_held(adversary, sources, originals or {})
                inputs, known = _select_inputs(
                    publications, adversary, {**visible, **held}, {**(originals or {}), **held}
                )
                first = (originals or {}).get(adversary.datasets[0])
                run = partial(run_on_hidden, adversary, inputs, known, first)
                with name_place_in_errors(release, f'adversary "{adversary.name}"'):
                    found, reason = _run_or_explain(run, is_refilled=is_refilled)
                if found is None:
                    unjudged[adversary.name] = reason
                else:
                    assessments.append(found)
            step.advance()
    outcomes: list[Outcome] = []
    for number, limit in enumerate(release.limits, start=1):
        with name_place_in_errors(release, f"limit {number}"):
            outcomes += _judge_limit(
                limit,
                [adversary.name for adversary in chosen],
                assessments,
                datasets,
                originals or {},
                sources=sources or datasets,
                unjudged=unjudged,
                accept_count_only=release.accept_count_only,
                unlimited=release.pair_datasets,
                linked=linked,
                revealed=revealed,
                directives={} if release.rule_results is None else release.rule_results.directives,
            )
    return Verdict(
        release,
        datasets,
        tuple(assessments),
        tuple(outcomes),
        publications,
        unjudged=unjudged,
        repeated_persons=tuple(find_repeated_persons(chosen, datasets)),
        telling=tuple(list_tables_of_others(release, publications, tabulated or datasets)),
    )


def _reveal_tables(adversaries: Sequence[Adversary], revealed: Collection[str]) -> list[Adversary]:
    """Adversaries who can make their table themselves, as those from whom nothing is withheld."""
    return [
        replace(each, settings=find_attack(each).reveal_table(each.settings))
        if each.name in revealed
        else each
        for each in adversaries
    ]


def _select_inputs(
    publications: Mapping[str, Publication],
    adversary: Adversary,
    visible: Mapping[str, Dataset],
    before: Mapping[str, Dataset],
) -> tuple[list[Dataset], list[Dataset]]:
    """What an adversary sees of datasets, and the same records before they were protected.

    What was not protected is one and the same object in both: it is not compared with itself.
    """
    inputs = [select_attackable(publications, name, visible[name]) for name in adversary.datasets]
    known = [
        select_attackable(publications, name, before[name])
        if before.get(name, visible[name]) is not visible[name]
        else seen
        for name, seen in zip(adversary.datasets, inputs, strict=True)
    ]
    return inputs, known


def _run_or_explain(
    run: Callable[[], Assessment], *, is_refilled: bool
) -> tuple[Assessment | None, str]:
    """What an attack found; or None, and why it cannot be judged."""
    try:
        return run(), ""
    except (HiddenCellsError, UnjudgedPeopleError, RecordsElsewhere) as error:
        return None, _join_problems(error)
    except work.Interruption:
        raise
    except work.DivulgeError as error:
        if not is_refilled:
            raise
        return None, str(error)


@contextmanager
def name_place_in_errors(release: Release, place: str) -> Iterator[None]:
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
    adversaries: Sequence[str],
    assessments: Sequence[Assessment],
    datasets: Mapping[str, Dataset],
    originals: Mapping[str, Dataset],
    *,
    sources: Mapping[str, Dataset],
    unjudged: Mapping[str, str],
    accept_count_only: bool,
    unlimited: frozenset[str],
    linked: frozenset[str],
    revealed: frozenset[str],
    directives: Mapping[str, Directives],
) -> Iterator[Outcome]:
    """A limit that names nobody holds for everybody."""
    if limit.of_assessment:
        # In their own order, whoever is judged: outcomes of other data are compared one by one.
        of = {assessment.adversary: assessment for assessment in assessments}
        for adversary in adversaries:
            if limit.adversary not in (None, adversary):
                continue
            if adversary in unjudged:
                yield limit.leave_unjudged(adversary, unjudged[adversary])
            else:
                outcome = limit.judge(of[adversary])
                yield _say_revealed(outcome, adversary in revealed)
        return
    others = {*limit.compared_datasets.values(), *unlimited}
    for name in datasets:
        # What a limit compares with (a population, the original) is not itself limited by it.
        if limit.dataset != name and (limit.dataset is not None or name in others):
            continue
        held = {other: sources[other] for other in others}
        seen = assume_linked_people_in_limit(limit, name in linked)
        outcome = _judge_reading(
            seen,
            name,
            {**datasets, **held},
            originals,
            accept_count_only=accept_count_only,
            directives=directives.get(name),
        )
        if outcome.judged and is_count_limit(limit) and not has_several_records(datasets[name]):
            reading = limit.options.get("nulls", DEFAULT_NULLS)
            known = originals.get(name) if reading in SEMANTICS_OF_ORIGINAL else None
            notes = describe_sample(datasets[name], limit.options.get("among"), reading, known)
            outcome = replace(outcome, sentences=(*outcome.sentences, *notes))
        yield outcome


def _say_revealed(outcome: Outcome, is_revealed: bool) -> Outcome:
    """An outcome that fails since the records show the whole table says so."""
    if not is_revealed or outcome.status == "pass":
        return outcome
    said = Sentence("divulge.release", BESIDE_RECORDS, {"adversary": outcome.subject})
    return replace(outcome, sentences=(*outcome.sentences, said))


def _judge_reading(
    limit: Limit,
    name: str,
    datasets: Mapping[str, Dataset],
    originals: Mapping[str, Dataset],
    *,
    accept_count_only: bool,
    directives: Directives | None,
) -> Outcome:
    """A limit holds if it holds to somebody who weighs, whatever reading of a null it names."""
    outcome = _judge_dataset(limit, name, datasets, originals, directives)
    if outcome.held and outcome.judged and _trusts_changes(limit, datasets[name]):
        # Nobody can weigh what rules say, so what they count as company is accepted or fails.
        sentence = Sentence("divulge.release", "rules.by_count_only")
        sentences = (*outcome.sentences, sentence)
        return replace(outcome, held=accept_count_only, by_count_only=True, sentences=sentences)
    if not outcome.held or limit.options.get("nulls", DEFAULT_NULLS) == DEFAULT_NULLS:
        return outcome
    plain = limit.with_options(nulls=None)
    weighed = _judge_dataset(plain, name, datasets, originals, directives)
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


def _trusts_changes(limit: Limit, dataset: Dataset) -> bool:
    """Whether a limit is on what rules say, and these take changed cells as they are."""
    risk = limit.options.get(RISK)
    return isinstance(risk, RuleRisk) and risk.trusts_changes(dataset)


def _judge_dataset(
    limit: Limit,
    name: str,
    datasets: Mapping[str, Dataset],
    originals: Mapping[str, Dataset],
    directives: Directives | None,
) -> Outcome:
    dataset = datasets[name]
    counts_people = getattr(measures()[limit.measure], "counts_people", False)
    if not counts_people and has_several_records(dataset):
        reason = "somebody has several records, and this measure counts records"
        return limit.leave_unjudged(name, reason)
    reading = limit.options.get("nulls", DEFAULT_NULLS)
    # Who is linked is known from what was not yet hidden or made coarser.
    needs_original = reading in SEMANTICS_OF_ORIGINAL or "links" in limit.options
    seen = limit.with_datasets(datasets)
    try:
        known, named = originals.get(name), seen.options.get("original")
        if known is not None and isinstance(named, Dataset) and known.name == named.name:
            seen = seen.with_options(original=known)
        has_thresholds = directives is not None and bool(directives.threshold)
        # A limit that names the very original measures it itself, and says whom it is about.
        is_given = known is not None and known is named and "links" not in limit.options
        if has_protection_method(limit) and (
            has_thresholds or (known is not None and needs_original and not is_given)
        ):
            before = dataset if known is None else known
            [goal] = build_goals(dataset, [seen], original=before)
            if directives is not None and has_thresholds:
                goal = add_thresholds(before, goal, directives)
            return goal.measure_standing(dataset, before).outcome
        population = seen.options.get("population")
        if known is not None and isinstance(population, Dataset):
            seen = seen.with_options(population=recode_population(population, known, dataset))
        return limit.judge_measurement(measures()[limit.measure].of(dataset, seen), name)
    except (HiddenCellsError, UnjudgedPeopleError, RecordsElsewhere) as error:
        return limit.leave_unjudged(name, _join_problems(error))


def _join_problems(error: InvalidInput) -> str:
    """All that could not be done, in one reason; where it is told in words, the place is too."""
    texts = [problem.text for problem in error.problems]
    if isinstance(error, RecordsElsewhere):
        texts = [
            ": ".join(filter(None, [problem.place, problem.text])) for problem in error.problems
        ]
    return " ".join(texts)
