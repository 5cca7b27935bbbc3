"""Links between records, as users give them: whoever finds one of a cluster has found them all.

Links come from an attribute (equal values link records) or from pairs of ids, and chains of them
make one cluster. Pairs may name somebody who has no record, such as a holding company: an outsider
joins those whom they are linked to. Links are what an adversary may know of the world: neither the
ids nor the attribute need be published, and hiding them in a record unlinks nobody.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from divulge.classes.people import require_one_record_each
from divulge.data import Dataset
from divulge.data.dictionary import find_name_problems
from divulge.records.risk.links.clusters import (
    UNKNOWN,
    Clusters,
    Unknown,
    gather_equal_values,
    join_ids,
    join_numbers,
)
from divulge.work import InvalidInput, Problem, Problems, checks, format_quantity

if TYPE_CHECKING:
    import pyarrow as pa

ID_ROLES = ("identifier", "person", "group")
"""Whose attribute pairs name if none is named: the first role that one attribute has alone."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Links:
    """What links records: an attribute, or pairs of the values of an id.

    >>> Links(attribute="group").name, Links(pairs=[("a", "b")], on="Id").name
    ('group', 'pairs')
    """

    attribute: str | None = None
    """Equal values link records; whoever has none is alone."""
    pairs: tuple[tuple[Any, Any], ...] | None = None
    """Linked ids; numbers of records (from 0) if `on` is not given."""
    dataset: str | None = None
    """The dataset of a release that holds the pairs, as long as it was not read."""
    columns: tuple[str, ...] | None = None
    """Its two columns; all that it has if not given."""
    on: str | None = None
    """The attribute whose values the pairs name."""
    unknown: Unknown = "outsider"
    """What an id is that no record has."""

    def __post_init__(self) -> None:
        if self.pairs is not None:
            object.__setattr__(self, "pairs", _check_pairs(self.pairs))
        problems = list(self._find_problems())
        if problems:
            raise InvalidInput("links", problems)

    @property
    def name(self) -> str:
        """What results call them: the attribute, the dataset of pairs, or just pairs."""
        return self.attribute or self.dataset or "pairs"

    @property
    def dataset_name(self) -> str | None:
        """The dataset of a release that is still to be read."""
        return self.dataset if self.pairs is None else None

    def with_dataset(self, dataset: Dataset) -> Links:
        """The same links with the pairs that a dataset holds."""
        names = list(self.columns or dataset.names)
        problems = [*find_name_problems("columns", names, dataset.names)]
        problems += find_column_problems(names)
        if problems:
            raise InvalidInput(f'links, dataset "{dataset.name}"', problems)
        first, second = (dataset.to_arrow()[name].to_pylist() for name in names)
        return replace(self, pairs=tuple(zip(first, second, strict=True)))

    seeing = with_dataset  # the name that it had before

    def find_clusters(self, dataset: Dataset, *, is_reduced: bool = False) -> Clusters:
        """The cluster of each record of a dataset as it is before protection.

        Args:
            dataset: the records.
            is_reduced: whether some records may have been removed: then ids that no record has are
                outsiders, and it is no mistake if all are.

        Raises:
            UnjudgedPeopleError: if somebody has several records: clusters are of records.
        """
        clusters = self._gather_clusters(dataset, is_reduced=is_reduced)
        require_one_record_each(dataset, "clusters are of records")
        return clusters

    def _gather_clusters(self, dataset: Dataset, *, is_reduced: bool) -> Clusters:
        if self.attribute is not None:
            return gather_equal_values(dataset, self.attribute)
        if self.pairs is None:
            message = f'names the dataset "{self.dataset}"; outside a release, give it itself.'
            raise InvalidInput("links", [Problem("dataset", message)])
        if self.on is None:
            return join_numbers(dataset, self.pairs)
        return join_ids(dataset, self.pairs, self.on, None if is_reduced else self.unknown)

    def _find_problems(self) -> Iterable[Problem]:
        sources = [self.attribute, self.dataset if self.pairs is None else self.pairs]
        if sum(source is not None for source in sources) != 1:
            yield Problem("", "give either an attribute, or pairs.")
        if self.attribute is not None and (self.on is not None or self.columns is not None):
            yield Problem("on", "and columns are of pairs; an attribute links by its values.")
        yield from checks.one_of("unknown", self.unknown, UNKNOWN)
        if self.columns is not None:
            yield from find_column_problems(self.columns)


def read_links(value: Any, on: str | None = None) -> Links:
    """Links as users give them.

    Args:
        value: an attribute; pairs (tuples, an Arrow table or a dataset of two columns); a table of
            settings (`attribute`, or `dataset`, `columns`, `on`, `unknown`); or links themselves.
        on: the attribute whose values the pairs name; the number of the record (from 0) if None.

    >>> read_links({"dataset": "owners", "on": "Id"}).dataset_name
    'owners'
    """
    import pyarrow as pa

    if isinstance(value, Links):
        if on is not None:
            raise InvalidInput("links", [Problem("on", "is said twice: the links say it already.")])
        return value
    if isinstance(value, str):
        return Links(attribute=value, on=on)
    if isinstance(value, Dataset):
        return Links(dataset=value.name, on=on).with_dataset(value)
    if isinstance(value, pa.Table):
        return Links(pairs=_read_table(value), on=on)
    if isinstance(value, Mapping):
        return _read_settings(value, on)
    if isinstance(value, list | tuple):
        return Links(pairs=tuple(value), on=on)
    message = f"{value!r} is neither an attribute nor pairs of records."
    raise InvalidInput("links", [Problem("", message)])


def find_links_problems(value: Any) -> Iterable[Problem]:
    """What is wrong with links before any record is read."""
    try:
        read_links(value)
    except InvalidInput as error:
        for problem in error.problems:
            place = ", ".join(filter(None, ["links", problem.place]))
            yield replace(problem, place=place)


def find_column_problems(names: Iterable[str]) -> Iterable[Problem]:
    """Whether some columns are the two of pairs."""
    columns = list(names)
    if len(columns) != 2:
        counted = format_quantity(len(columns), "column", "columns")
        message = f"has {counted}; a table of pairs has two: say which by columns."
        yield Problem("", message)
    elif columns[0] == columns[1]:
        yield Problem("columns", f'names "{columns[0]}" twice; a pair has two ends.')


def choose_id(roles: Mapping[str, Any]) -> str | None:
    """The attribute that pairs name if none is named: the one that is an id of records."""
    for role in ID_ROLES:
        names = roles.get(role) or ()
        names = [names] if isinstance(names, str) else list(names)
        if len(names) == 1:
            return str(names[0])
    return None


def _read_table(table: pa.Table) -> tuple[tuple[Any, Any], ...]:
    problems = list(find_column_problems(table.column_names))
    if problems:
        raise InvalidInput("links", problems)
    first, second = (column.to_pylist() for column in table.columns)
    return tuple(zip(first, second, strict=True))


def _read_settings(settings: Mapping[str, Any], on: str | None) -> Links:
    allowed = ("attribute", "dataset", "columns", "on", "unknown")
    problems = Problems("links")
    for name in settings:
        if name not in allowed:
            problems.add("", f'"{name}" is not a setting of links.', str(name), allowed)
    given = {"on": on, **settings} if on is not None else dict(settings)
    source, columns = given.get("dataset"), given.get("columns")
    for name in ("attribute", "on"):
        if name in given and not isinstance(given[name], str):
            problems.add(name, "does not name an attribute.")
    if source is not None and not isinstance(source, str | Dataset):
        problems.add("dataset", "does not name a dataset.")
    if columns is not None and not (
        isinstance(columns, list | tuple) and all(isinstance(each, str) for each in columns)
    ):
        problems.add("columns", "does not list the names of two columns.")
    problems.raise_any()
    if columns is not None:
        given["columns"] = tuple(columns)
    if isinstance(source, Dataset):
        return Links(**{**given, "dataset": source.name}).with_dataset(source)
    return Links(**given)


def _check_pairs(pairs: Iterable[Any]) -> tuple[tuple[Any, Any], ...]:
    """Pairs of two ends that are there; what is wrong with them is counted."""
    listed = [tuple(pair) if isinstance(pair, list | tuple) else (pair,) for pair in pairs]
    odd = sum(len(pair) != 2 or not all(map(_is_value, pair)) for pair in listed)
    missing = sum(len(pair) == 2 and any(map(_is_missing, pair)) for pair in listed)
    problems = Problems("links")
    total = f"{len(listed):,}"
    if odd:
        counted = format_quantity(odd, "is not a pair", "are not pairs")
        problems.add("", f"of {total} links, {counted} of two ends.")
    if missing:
        counted = format_quantity(missing, "has a missing end", "have a missing end")
        problems.add("", f"of {total} pairs, {counted}; leave them out.")
    problems.raise_any()
    return tuple((pair[0], pair[1]) for pair in listed)


def _is_value(end: Any) -> bool:
    return isinstance(end, Hashable)


def _is_missing(end: Any) -> bool:
    """None, or a number that is none and so not itself."""
    return end is None or bool(end != end)
