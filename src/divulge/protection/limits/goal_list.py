"""The goals of several limits, checked for sense together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any

from divulge import records
from divulge.assessment import Limit
from divulge.classes.people import UnjudgedPeopleError, find_people
from divulge.data import Dataset
from divulge.protection.limits.limit_kinds import has_protection_method
from divulge.protection.limits.per_record import AttackRunner, Goal
from divulge.records.risk.links.clusters import Clusters
from divulge.records.risk.links.links import read_links
from divulge.records.risk.null_readings import HiddenCellsError
from divulge.records.risk.registry import MEASURES
from divulge.work import InvalidInput, Problems


def build_goals(
    dataset: Dataset,
    limits: Sequence[Limit],
    attacks: Mapping[str | None, tuple[AttackRunner, Sequence[str]]] | None = None,
    links: Any = None,
    on: str | None = None,
    *,
    original: Dataset | None = None,
) -> list[Goal]:
    """The goals of some limits, checked for sense together.

    A limit of an adversary without an attack is taken of somebody who knows all
    quasi-identifiers and seeks the record (CRS). `links` are of all limits that have none of their
    own; `original` are the same records as they were, where some of what links them is hidden.
    """
    problems = Problems(f'protection of "{dataset.name}"')
    if isinstance(limits, Limit):
        problems.add("limits", "must be a list.")
        problems.raise_any()
    if not limits:
        problems.add("limits", "contains none; say what must hold.")
    goals = []
    for place, limit in enumerate(limits, start=1):
        where = f"limit {place}"
        among: Iterable[str] | None = limit.options.get("among")
        if limit.of_assessment:
            run, knows = (attacks or {}).get(limit.adversary, (None, ()))
            if run is None:
                knows = dataset.attributes(None, "knows")
                run = _build_crs_attack(list(knows))
            if links is not None:
                message = f"{limit.measure} is of an adversary: it is they who may know of links."
                problems.add(f"{where}, links", message)
            if limit.measure.endswith(".prior"):
                message = f"{limit.measure} is known before the release; nothing can change it."
                problems.add(where, message)
            goals.append(Goal(limit=limit, among=tuple(knows), run_attack=run))
            continue
        if not has_protection_method(limit):
            message = f"{limit.measure} has no risk per record; no method of protection lowers it."
            problems.add(where, message)
            continue
        goals.append(
            Goal(
                limit=limit,
                among=tuple(dataset.attributes(among, "among")),
                clusters=_find_clusters(
                    limit,
                    dataset if original is None else original,
                    links=links,
                    on=on,
                    problems=problems,
                    where=where,
                ),
            )
        )
    _check_contradictions(dataset, goals, problems)
    problems.raise_any()
    return goals


def _find_clusters(
    limit: Limit,
    dataset: Dataset,
    *,
    links: Any,
    on: str | None,
    problems: Problems,
    where: str,
) -> Clusters | None:
    """Who is linked, by the links of a limit or else by those of all; what is wrong is noted."""
    own = limit.options.get("links")
    if own is None and links is None:
        return None
    measure = MEASURES.get(limit.measure)
    if measure is None or measure.linked is None:
        problems.add(f"{where}, links", f'do not go with measure "{limit.measure}".')
        return None
    try:
        chosen = read_links(links, on) if own is None else read_links(own)
        return chosen.find_clusters(dataset)
    except (HiddenCellsError, UnjudgedPeopleError):
        raise
    except InvalidInput as error:
        problems.extend(f"{where}, links", error.problems)
        return None


def _build_crs_attack(knows: list[str]) -> AttackRunner:
    return lambda dataset, _: records.attack(dataset, "CRS", knows=knows)


def _check_contradictions(dataset: Dataset, goals: Sequence[Goal], problems: Problems) -> None:
    """Limits that no data of this kind can keep."""
    people = find_people(dataset)
    for goal in goals:
        limit = goal.limit
        if goal.is_count_limit and limit.bound > dataset.rows:
            message = f"{limit.bound:g} records cannot form a class: there are {dataset.rows:,}."
            problems.add(limit.measure, message)
        elif goal.is_count_limit and people is not None and limit.bound > people.number:
            message = f"{limit.bound:g} people cannot form a class: there are {people.number:,}."
            problems.add(limit.measure, message)
        column = dataset.columns.get(limit.attribute or "")
        kinds = inf if column is None else column.cardinality
        measure = MEASURES.get(limit.measure)
        asks_for_values = measure is not None and measure.distinct_values is not None
        if asks_for_values and limit.bound > kinds:
            message = f'"{limit.attribute}" has {kinds} values; {limit.bound:g} cannot be.'
            problems.add(limit.measure, message)
