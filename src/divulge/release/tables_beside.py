"""Tables of a dataset that go out beside its records: each may tell what the other withholds.

A table of all records, less the records that are shown, is a table of what they hide and of those
that were removed. And records that show everything of which a table is made are the whole table,
whatever is suppressed in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from divulge.assessment import Adversary, Sentence, find_attack
from divulge.data import Column, Dataset, Relation
from divulge.data.column import find_hidden_cells
from divulge.data.dictionary import as_names
from divulge.data.value_texts import format_value
from divulge.protection.refill.determinants import find_determined_attributes
from divulge.release.publication import Publication, Reservation
from divulge.release.same_records import are_same_records, may_be_same_records

if TYPE_CHECKING:
    from divulge.release.release import Release

BESIDE_RECORDS = "beside_records"
"""The sentence which says that records show a table whatever is suppressed in it."""


@dataclass(frozen=True, kw_only=True)
class TableBeside:
    """A table that goes out, of a dataset of which records do."""

    adversary: Adversary
    dataset: str
    columns: tuple[str, ...]
    """What it is made of."""

    @property
    def title(self) -> str:
        """What it is called where people read of columns that tell a value."""
        values = {"adversary": self.adversary.name}
        return str(Sentence("divulge.release", "table_beside", values))


def list_tables_beside(
    release: Release, publications: Mapping[str, Publication]
) -> list[TableBeside]:
    """The tables that go out (a limit is on who sees them) beside the records they are made of."""
    limits = [limit for limit in release.limits if limit.of_assessment]
    tables = []
    for adversary in release.adversaries:
        attack = find_attack(adversary)
        goes_out = any(limit.adversary in (None, adversary.name) for limit in limits)
        if attack.publishes_table() and goes_out and adversary.datasets[0] in publications:
            columns = sorted(as_names(attack.needed_columns(adversary.settings)))
            tables.append(
                TableBeside(
                    adversary=adversary, dataset=adversary.datasets[0], columns=tuple(columns)
                )
            )
    return tables


def see_tables_together(release: Release, adversaries: Sequence[Adversary]) -> list[Adversary]:
    """Adversaries of whom each reads all tables of their records that go out, not only their own.

    One that no limit is on does not go out.
    """
    limited = {limit.adversary for limit in release.limits if limit.of_assessment}
    readers = [
        each
        for each in adversaries
        if find_attack(each).publishes_table() and limited & {None, each.name}
    ]
    seen = []
    for adversary in adversaries:
        if adversary in readers:
            others = [
                each.settings
                for each in readers
                if (each.attack, each.datasets[0]) == (adversary.attack, adversary.datasets[0])
            ]
            settings = find_attack(adversary).see_tables(adversary.settings, others)
            adversary = replace(adversary, settings=settings)
        seen.append(adversary)
    return seen


def list_tables_of_others(
    release: Release, publications: Mapping[str, Publication], datasets: Mapping[str, Dataset]
) -> Iterator[Reservation]:
    """Tables of records that another dataset of the release publishes, as records or as a table.

    Of one dataset, tables and records are judged together; who calls the same records by two names
    keeps that from happening.
    """
    limited = {limit.adversary for limit in release.limits if limit.of_assessment}
    tables = {
        each.datasets[0]: each
        for each in release.adversaries
        if find_attack(each).publishes_table() and limited & {None, each.name}
    }
    if not tables:
        return
    most = 2 * max((each.rows for each in datasets.values()), default=0)
    counted = {name: _list_counted(tables.get(name), of, most) for name, of in datasets.items()}
    for name, adversary in tables.items():
        for other in sorted({*tables, *publications} - {name}):
            # Of two with tables, one sentence says it.
            is_said = other in tables and other < name
            pair = counted.get(name), counted.get(other)
            is_elsewhere = may_be_same_records(*pair)
            if is_said or not (is_elsewhere or are_same_records(*pair)):
                continue
            values = {"adversary": adversary.name, "dataset": name, "other": other}
            key = "publication.table_of_other"
            sentence = Sentence(
                "divulge.release", f"{key}_elsewhere" if is_elsewhere else key, values
            )
            yield Reservation("not judged", sentence)


def _list_counted(adversary: Adversary | None, dataset: Dataset, most: int) -> Dataset | None:
    """The records that a table is of, if a dataset is one or is shown as one."""
    if adversary is None or isinstance(dataset, Relation):
        return dataset
    return find_attack(adversary).tabulated_records(adversary.settings, dataset, most)


def find_tabulated(
    release: Release, publication: Publication | None, dataset: Dataset
) -> dict[str, tuple[str, ...]]:
    """The attributes of which tables tell what is hidden, each with the tables that do.

    Those of which a table is made; and what other columns of a table tell, or are told by, that are
    not published with the records: a table by year of birth is one by age.
    """
    if publication is None:
        return {}
    told: dict[str, tuple[str, ...]] = {}
    for table in list_tables_beside(release, {publication.dataset: publication}):
        for name in list_told_by(table, publication, dataset):
            told[name] = (*told.get(name, ()), table.title)
    return told


def list_told_by(table: TableBeside, publication: Publication, dataset: Dataset) -> list[str]:
    """The attributes of which a table tells what is hidden."""
    columns = [name for name in table.columns if name in dataset.columns]
    beyond = [name for name in columns if name not in publication.published]
    others = [name for name in dataset.names if name not in columns]
    published = [name for name in others if name in publication.published]
    related = []
    if beyond and published:
        told = find_determined_attributes(dataset, published, beyond)
        related = [name for name in published if told[name]]
        # What is told of a column beyond the records by a published one is a coarser form of it.
        for name in (each for each in published if each not in related):
            if any(find_determined_attributes(dataset, beyond, [name]).values()):
                related.append(name)
    return [*columns, *related]


def find_revealed_tables(
    release: Release,
    publications: Mapping[str, Publication],
    released: Mapping[str, Dataset],
    tabulated: Mapping[str, Dataset],
) -> frozenset[str]:
    """Adversaries who can make their table themselves: the records show all that it is made of."""
    revealed = set()
    for table in list_tables_beside(release, publications):
        attack, settings = find_attack(table.adversary), table.adversary.settings
        made_of = as_names(attack.tabulated_columns(settings))
        dataset, original = released[table.dataset], tabulated[table.dataset]
        if not set(made_of) <= publications[table.dataset].published:
            continue
        if dataset.rows == original.rows and not list_changed(dataset, original, made_of):
            revealed.add(table.adversary.name)
    return frozenset(revealed)


def is_known_anyway(release: Release, table: TableBeside, dataset: Dataset) -> bool:
    """Whether everybody whom a limit is about knows all that a table tells of removed records.

    The table less the records tells nothing else of these: whoever knows it has learned nothing.
    """
    told = set(as_names(find_attack(table.adversary).tabulated_columns(table.adversary.settings)))
    for limit in release.limits:
        if not limit.of_assessment and limit.dataset in (None, table.dataset):
            among = limit.options.get("among") or dataset.quasi_identifiers
            if not told <= set(as_names(among)) or limit.attribute in told:
                return False
    for adversary in release.adversaries:
        attack, settings = find_attack(adversary), adversary.settings
        if adversary.datasets[0] != table.dataset or attack.publishes_table():
            continue
        if hasattr(settings, "keys"):  # who reads hidden cells of the records that are there
            continue
        sought = set(as_names(getattr(settings, "seeks", None) or ()))
        known = set(attack.known_columns(settings, dataset)) if hasattr(settings, "knows") else ()
        if sought & told or not told <= set(known):
            return False
    return True


def list_changed(released: Dataset, original: Dataset, names: Iterable[str]) -> list[str]:
    """The columns of which some records show less than the same ones of an original."""
    return [
        name
        for name in names
        if name in released.columns and _is_changed(released.columns[name], original.columns[name])
    ]


def _is_changed(column: Column, before: Column) -> bool:
    if column is before:
        return False
    if find_hidden_cells(column, before).any():
        return True
    now, then = (_number_texts(each) for each in (column, before))
    is_value = before.codes != before.missing_code  # what was absent is nobody's secret
    return bool(np.any((now[column.codes] != then[before.codes]) & is_value))


def _number_texts(column: Column) -> npt.NDArray[np.object_]:
    """What each code shows; the last one, which nothing shows, is missing."""
    texts: list[str | None] = [format_value(value) for value in column.values.to_pylist()]
    return np.array([*texts, None], object)
