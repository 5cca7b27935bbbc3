"""Attacks on records that stay where they are: an engine counts, and the figures are the same.

What all figures are made of is a small table of classes by their size (`relation_models`). What
needs single records stays in memory for now, and is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from divulge import work
from divulge.assessment import Assessment
from divulge.classes.people import RecordsKnown, build_unjudged_error, find_person_attribute
from divulge.classes.relation.values import count_values
from divulge.data import Dataset, Relation
from divulge.data.relation.relation import RecordsElsewhere
from divulge.records.models.attribute_gaps import (
    YearChoices,
    apply_choices,
    find_attribute_gaps,
    qualify_assessment,
)
from divulge.records.models.linked_datasets import Duplicates, check_attributes
from divulge.records.participation import describe_expected
from divulge.records.relation_models.everybody import assess_relation
from divulge.records.relation_models.linked_relations import LinkedRelations, link_relations
from divulge.records.relation_models.membership import assess_relation_membership
from divulge.records.relation_models.one_person import assess_one_in_relation
from divulge.records.relation_models.participation import count_found_in_relation
from divulge.records.relation_models.request import RelationRequest
from divulge.work import Problem, checks


def attack_relations(
    datasets: Sequence[Dataset],
    model: str,
    knows: str | Iterable[str] | None,
    seeks: str | Iterable[str] | None,
    *,
    on: str | None,
    choices: YearChoices,
    duplicates: Duplicates,
    records_known: RecordsKnown,
    target: Any = None,
    population: Any = None,
    prior: Any = None,
    gain: Any = None,
) -> Assessment:
    """Attack records where they are; `require_countable` has looked at the arguments.

    Raises:
        UnjudgedPeopleError: if somebody has several records, and the model counts records.
        EngineError: if the engine is away, or the records change meanwhile.
    """
    person = _find_person(model, datasets, population, records_known)
    years = _as_relations(datasets)
    if model.endswith("L"):
        years = _as_relations(apply_choices(years, choices))
        linked = link_relations(years, on, duplicates)
        known, sought = check_attributes(years, on or "", knows, seeks)
        gaps = find_attribute_gaps(years, known, choices)
    else:
        linked, gaps = link_relations(years, None), []
        known = years[0].attributes(knows, "knows")
        _, sought = check_attributes(years, "", known, seeks)
    request = RelationRequest(
        model=model,
        linked=linked,
        known=known,
        sought=sought,
        prior=prior,
        gain=gain,
        person=person,
    )
    if model[1] == "M":
        assessment = assess_relation_membership(request, population, target, duplicates)
    else:
        assessment = _assess(request, target)
    reservations = [gap.sentence for gap in gaps]
    return qualify_assessment(assessment, linked.describe_links(), reservations)


def _assess(request: RelationRequest, target: Any) -> Assessment:
    """One attack on everybody or on one person, and what is found without knowing who took part."""
    if request.model.startswith("I"):
        assessment = assess_one_in_relation(request, target)
    else:
        assessment = assess_relation(request)
    count_found = None
    if not request.sought and request.person is None:
        count_found = partial(count_found_in_relation, request, target)
    return describe_expected(assessment, request.focal, count_found)


def assess_relation_prefixes(
    datasets: Sequence[Dataset],
    on: str,
    knows: str | Iterable[str] | None,
    *,
    sought_lists: Sequence[list[str]],
    duplicates: Duplicates,
    gain: Any,
    prior: Any,
    choices: YearChoices,
) -> list[list[Assessment]]:
    """Of each secret one assessment for each prefix of the years, the first alone included."""
    years = _as_relations(datasets)
    linked = link_relations(years, on, duplicates)
    known: list[str] = []
    for sought in sought_lists:
        known, _ = check_attributes(years, on, knows, sought)
    assessments: list[list[Assessment]] = [[] for _ in sought_lists]
    with work.step("Linking datasets", len(years)) as step:
        for number in range(1, len(years) + 1):
            prefix = linked.take_first(number)
            gaps = find_attribute_gaps(years[:number], known, choices)
            reservations = [gap.sentence for gap in gaps]
            for sought, of_secret in zip(sought_lists, assessments, strict=True):
                assessment = _assess(
                    _build_prefix_request(prefix, known, sought, gain=gain, prior=prior), None
                )
                of_secret.append(
                    qualify_assessment(assessment, prefix.describe_links(), reservations)
                )
            step.advance()
    return assessments


def _build_prefix_request(
    linked: LinkedRelations, known: list[str], sought: list[str], *, gain: Any, prior: Any
) -> RelationRequest:
    return RelationRequest(
        model=f"C{'A' if sought else 'R'}{'S' if len(linked.relations) == 1 else 'L'}",
        linked=linked,
        known=known,
        sought=sought,
        gain=gain,
        prior=prior,
        is_prefix=True,
    )


def require_countable(datasets: Sequence[Any], population: Any, options: Mapping[str, Any]) -> None:
    """Refuse what of an attack cannot be counted where records are.

    Args:
        datasets: all that are attacked.
        population: what stands beside them, one or several; None where there is none.
        options: other arguments of the attack, by name; None where one was not given.

    Raises:
        RecordsElsewhere: with all of it, and what can be done.
    """
    beside = [] if population is None else [*checks.as_tuple(population)]
    if not any(isinstance(dataset, Relation) for dataset in (*datasets, *beside)):
        return
    problems = []
    for place, group in (("dataset", datasets), ("population", beside)):
        for each in group:
            if isinstance(each, Dataset) and not isinstance(each, Relation):
                message = f'"{each.name}" is in memory, and others stay where they are: scan it '
                message += "(dv.scan), or read all of them."
                problems.append(Problem(place, message))
    where = "is counted in memory only so far, and records stay where they are."
    hint = 'Read them (dv.read, or engine = "memory").'
    problems += [
        Problem(name, f"{where} {hint}") for name, value in options.items() if value is not None
    ]
    if problems:
        raise RecordsElsewhere("attack", problems)


def _as_relations(datasets: Iterable[Dataset]) -> tuple[Relation, ...]:
    return tuple(each for each in datasets if isinstance(each, Relation))


def _find_person(
    model: str, datasets: Sequence[Dataset], population: Any, records_known: RecordsKnown
) -> str | None:
    """The attribute that says whose a record is, where somebody has several.

    Raises:
        UnjudgedPeopleError: if somebody has, and the model counts records.
    """
    beside = checks.as_tuple(population) if population is not None else ()
    if model[1] == "M" or model.endswith("L"):
        for relation in _as_relations((*datasets, *beside)):
            _refuse_people(relation, f"{model} counts records")
        return None
    [relation] = _as_relations(datasets[:1])
    if records_known == "all":
        _refuse_people(relation, 'records_known = "all" is counted in memory only')
    return find_person_attribute(relation)


def _refuse_people(relation: Relation, what: str) -> None:
    name = find_person_attribute(relation)
    if name is not None:
        raise build_unjudged_error(relation, count_values(relation, name), what)
