"""A release and its population, as an engine sees both: what is known, under common names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from divulge.classes.relation.record_view import join_names
from divulge.data import Relation
from divulge.data.relation.relation import find_value_type
from divulge.records.relation_models.linked_relations import LinkedRelations, link_relations
from divulge.records.relation_models.request import RelationRequest
from divulge.work import Problems

RELEASED, LIVING = "released", "living"


@dataclass(frozen=True, kw_only=True, eq=False)
class MembershipSides:
    """The release and its population, each as an engine sees it, and what is known of both."""

    request: RelationRequest
    people: LinkedRelations
    columns: list[tuple[str, str]]
    """What is known, as the release and as the population call it."""
    casts: list[str | None]

    def build_union(self, group: tuple[str, str] | None = None) -> str:
        """Rows of both under common names k0, k1, ..., and which of both each is of."""
        sides = []
        for side, name in enumerate((RELEASED, LIVING)):
            chosen = [
                f"{pair[side] if cast is None else f'CAST({pair[side]} AS {cast})'} AS k{place}"
                for place, (pair, cast) in enumerate(zip(self.columns, self.casts, strict=True))
            ]
            if group is not None:
                chosen.append(f"{group[side]} AS grp")
            flags = [f"{int(name == flag)} AS is_{flag}" for flag in (RELEASED, LIVING)]
            sides.append(f"SELECT {', '.join([*chosen, *flags])} FROM {name}")
        return " UNION ALL ".join(reversed(sides))  # of the population every type is known

    @property
    def keys(self) -> str:
        """The common names."""
        return join_names([f"k{place}" for place in range(len(self.columns))])

    @property
    def views(self) -> dict[str, Any]:
        """Both views by name."""
        return {RELEASED: self.request.linked.view, LIVING: self.people.view}


def match_sides(request: RelationRequest, population: Any, duplicates: Any) -> MembershipSides:
    """What is known of the release and of the population, attribute by attribute."""
    releases = request.linked.relations
    people = (population,) if isinstance(population, Relation) else tuple(population)
    problems = Problems("attack")
    if len(people) > len(releases):
        problems.add("population", f"{len(people)} are given for {len(releases)} datasets.")
        problems.raise_any()
    people = (*people, *releases[len(people) :])
    for name in request.known:
        if any(
            name in d.names and name not in p.names for d, p in zip(releases, people, strict=True)
        ):
            problems.add("population", f'has no attribute "{name}".', name, people[0].names)
    problems.raise_any()
    linked_people = link_relations(people, request.linked.on, duplicates)
    columns: list[tuple[str, str]] = []
    casts: list[str | None] = []
    for year, (release, living) in enumerate(zip(releases, people, strict=True)):
        names = [name for name in request.known if name in release.names]
        ours = request.linked.list_year_columns(year, names)
        theirs = linked_people.list_year_columns(year, names)
        if year and names:
            columns.append((f"y{year}_here", f"y{year}_here"))
            casts.append(None)
        for name in names:
            columns.append((ours[name], theirs[name]))
            casts.append(_find_cast(problems, name, release, living))
    problems.raise_any()
    return MembershipSides(request=request, people=linked_people, columns=columns, casts=casts)


def _find_cast(problems: Problems, name: str, release: Relation, people: Relation) -> str | None:
    """How values of both are made comparable: numbers with and without fractions are numbers."""
    import pyarrow.types as kinds

    types = [find_value_type(each.kinds[name]) for each in (release, people)]
    if types[0] == types[1]:
        return None
    if all(kinds.is_integer(kind) or kinds.is_floating(kind) for kind in types):
        return "DOUBLE"
    where = f'"{release.name}", "{people.name}"'
    problems.add("knows", f'"{name}" has values of different types in the datasets {where}.')
    return None
