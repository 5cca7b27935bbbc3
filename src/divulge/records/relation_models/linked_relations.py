"""Years that stay where they are, joined to the focal one by an engine on the id.

Who is absent in a year is absent: a flag says so, and is one more thing that is known. Equal ids
are equal values; a missing id is an error, so nothing is joined by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from divulge.assessment import Sentence
from divulge.classes.relation.record_view import RecordView
from divulge.classes.relation.values import count_missing, count_values
from divulge.data import Dataset, Relation
from divulge.data.relation.relation import RecordsElsewhere, find_value_type
from divulge.records.models.linked_datasets import (
    Duplicates,
    describe_link,
    find_link_problems,
)
from divulge.work import Problem, Problems, format_quantity


@dataclass(frozen=True, kw_only=True)
class LinkedRelations:
    """The focal relation, the years joined to it, and the engine's view of them."""

    relations: tuple[Relation, ...]
    view: RecordView
    on: str | None = None
    present: tuple[int, ...] = ()
    """Of each year after the first, how many focal records it has."""

    @property
    def focal(self) -> Relation:
        """The relation that is attacked."""
        return self.relations[0]

    def list_columns(self, names: Sequence[str]) -> list[str]:
        """What is known of everybody, in every year that has it; absence from it is known too."""
        columns = []
        for year in range(len(self.relations)):
            of_year = self.list_year_columns(year, names)
            if year and of_year:
                columns.append(name_presence(year))
            columns += of_year.values()
        return columns

    def list_year_columns(self, year: int, names: Sequence[str]) -> dict[str, str]:
        """The attributes that a year has of some, and what they are called in the view."""
        relation = self.relations[year]
        prefix = f"y{year}_" if year else ""
        return {
            name: f"{prefix}{relation.find_column(name)}"
            for name in names
            if name in relation.names
        }

    def list_focal_columns(self, names: Sequence[str]) -> list[str]:
        """What attributes of the focal records are called in the view."""
        return [self.focal.find_column(name) for name in names]

    def describe_links(self) -> list[Sentence]:
        """That years were linked, by which id, and how many of the focal records they have."""
        return [
            describe_link(self.focal, year, on=self.on, found=found, total=self.focal.rows)
            for year, found in zip(self.relations[1:], self.present, strict=True)
        ]

    def take_first(self, years: int) -> LinkedRelations:
        """The same with the first years alone."""
        relations = self.relations[:years]
        return replace(
            self,
            relations=relations,
            view=_build_view(relations, self.on),
            present=self.present[: years - 1],
        )


def name_presence(year: int) -> str:
    """The column that tells who is in a year."""
    return f"y{year}_here"


def link_relations(
    relations: Sequence[Relation], on: str | None, duplicates: Duplicates = "error"
) -> LinkedRelations:
    """Join every relation to the first by the id, as a left join.

    Raises:
        InvalidInput: if one lacks the id, or has it twice or not at all in some record.
        EngineError: if an engine is away.
    """
    years = tuple(relations)
    if len(years) == 1 and on is None:
        return LinkedRelations(relations=years, view=RecordView.from_relation(years[0]))
    problems = Problems("attack")
    problems.extend("", find_link_problems(years, on, duplicates))
    problems.raise_any()
    assert on is not None  # noqa: S101  # else the problem was raised
    for relation in years:
        problems.extend("", _find_id_problems(relation, on, years[0]))
    problems.raise_any()
    repeats = [each for relation in years for each in _find_repeats(relation, on, duplicates)]
    if repeats and duplicates != "error":
        raise RecordsElsewhere("attack", repeats)
    problems.extend("", repeats)
    problems.raise_any()
    view = _build_view(years, on)
    present: tuple[int, ...] = ()
    if len(years) > 1:
        flags = [name_presence(year) for year in range(1, len(years))]
        sums = ", ".join(f"CAST(sum({flag}) AS BIGINT) AS s_{flag}" for flag in flags)
        with view.open() as session:
            counts = session.arrays(f"SELECT {sums} FROM records")
        present = tuple(int(counts[f"s_{flag}"][0]) for flag in flags)
    return LinkedRelations(relations=years, view=view, on=on, present=present)


def _build_view(relations: Sequence[Relation], on: str | None) -> RecordView:
    """The focal records with the columns of the other years beside theirs, and who is there."""
    focal = relations[0]
    if len(relations) == 1 or on is None:
        return RecordView.from_relation(focal)
    chosen, joins = ["f.*"], []
    for year, relation in enumerate(relations[1:], start=1):
        columns = [relation.find_column(name) for name in relation.names]
        own = ", ".join(f"{column} AS y{year}_{column}" for column in columns)
        here = name_presence(year)
        chosen.append(f"CASE WHEN y{year}.is_here IS NULL THEN 0 ELSE 1 END AS {here}")
        chosen += [f"y{year}.y{year}_{column}" for column in columns]
        joins.append(
            f"LEFT JOIN (SELECT {own}, 1 AS is_here FROM {{{year}}}) AS y{year} "
            f"ON f.{focal.find_column(on)} = y{year}.y{year}_{relation.find_column(on)}"
        )
    template = f"SELECT {', '.join(chosen)} FROM {{0}} AS f {' '.join(joins)}"
    return RecordView(relations=tuple(relations), rows=focal.rows, template=template)


def _find_id_problems(relation: Relation, on: str, focal: Dataset) -> list[Problem]:
    if on not in relation.names:
        message = f'dataset "{relation.name}" has no attribute "{on}".'
        return [Problem("on", message, value=on, allowed=relation.names)]
    problems = []
    missing = count_missing(relation, on)
    if missing:
        records = format_quantity(missing, "record", "records")
        message = f'"{on}" is missing in {records} of dataset "{relation.name}".'
        problems.append(Problem("on", message))
    if isinstance(focal, Relation) and on in focal.names:
        own, theirs = find_value_type(relation.kinds[on]), find_value_type(focal.kinds[on])
        if own != theirs:
            message = f'"{on}" is {own} in dataset "{relation.name}" and {theirs} in '
            message += f'"{focal.name}"; ids must be of one type.'
            problems.append(Problem("on", message))
    return problems


def _find_repeats(relation: Relation, on: str, duplicates: Duplicates) -> list[Problem]:
    """Records with an id that another has: which of them would be kept needs an order."""
    repeats = relation.rows - count_values(relation, on)
    if not repeats:
        return []
    records = format_quantity(repeats, "record", "records")
    has = "has" if repeats == 1 else "have"
    message = f'{records} of dataset "{relation.name}" {has} an id that another record has; '
    if duplicates == "error":
        message += 'say duplicates="first" or "random" of records in memory, '
    else:
        message += f'duplicates="{duplicates}" is for records in memory, as others have no order: '
    return [Problem("on", f"{message}or take one record an id first.")]
