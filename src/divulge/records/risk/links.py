"""Links between records: whoever finds one of a cluster has found them all.

Links come from an attribute (equal values link records) or from pairs of ids, and chains of them
make one cluster. Pairs may name somebody who has no record, such as a holding company: an outsider
joins those whom they are linked to. Links are what an adversary may know of the world: neither the
ids nor the attribute need be published, and hiding them in a record unlinks nobody.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from divulge.classes.keys import densify_keys
from divulge.classes.people import require_one_record_each
from divulge.data import Dataset
from divulge.data.column import find_hidden_cells
from divulge.data.dictionary import find_name_problems
from divulge.records.risk.frequencies import HiddenCellsError
from divulge.work import InvalidInput, Problem, Problems, checks, format_quantity
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

Unknown: TypeAlias = Literal["outsider", "error"]
UNKNOWN: tuple[Unknown, ...] = ("outsider", "error")
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

    def seeing(self, dataset: Dataset) -> Links:
        """The same links with the pairs that a dataset holds."""
        names = list(self.columns or dataset.names)
        problems = [*find_name_problems("columns", names, dataset.names)]
        problems += find_column_problems(names)
        if problems:
            raise InvalidInput(f'links, dataset "{dataset.name}"', problems)
        first, second = (dataset.to_arrow()[name].to_pylist() for name in names)
        return replace(self, pairs=tuple(zip(first, second, strict=True)))

    def find_clusters(self, dataset: Dataset) -> Clusters:
        """The cluster of each record of a dataset as it is before protection.

        Raises:
            UnjudgedPeopleError: if somebody has several records: clusters are of records.
        """
        clusters = self._gather_clusters(dataset)
        require_one_record_each(dataset, "clusters are of records")
        return clusters

    def _gather_clusters(self, dataset: Dataset) -> Clusters:
        if self.attribute is not None:
            return _gather_equal_values(dataset, self.attribute)
        if self.pairs is None:
            message = f'names the dataset "{self.dataset}"; outside a release, give it itself.'
            raise InvalidInput("links", [Problem("dataset", message)])
        if self.on is None:
            return _join_numbers(dataset, self.pairs)
        return _join_ids(dataset, self.pairs, self.on, self.unknown)

    def _find_problems(self) -> Iterable[Problem]:
        sources = [self.attribute, self.dataset if self.pairs is None else self.pairs]
        if sum(source is not None for source in sources) != 1:
            yield Problem("", "give either an attribute, or pairs.")
        if self.attribute is not None and (self.on is not None or self.columns is not None):
            yield Problem("on", "and columns are of pairs; an attribute links by its values.")
        yield from checks.one_of("unknown", self.unknown, UNKNOWN)
        if self.columns is not None:
            yield from find_column_problems(self.columns)


@dataclass(frozen=True)
class Clusters:
    """Which records are linked: the number of each record's cluster, from 0."""

    of_record: Ints
    outsiders: int = 0
    """Ids of the pairs that no record has."""

    @cached_property
    def count(self) -> int:
        """How many clusters there are; whoever is linked to nobody is one alone."""
        return int(self.of_record.max(initial=-1)) + 1

    @cached_property
    def sizes(self) -> Ints:
        """How many records each cluster has."""
        return np.bincount(self.of_record, minlength=self.count)

    @property
    def linked(self) -> int:
        """How many records are linked to another one."""
        return int(self.sizes[self.sizes > 1].sum())

    def select(self, kept: Ints) -> Clusters:
        """The clusters of some of the records; links by way of the others stay."""
        members, _ = densify_keys(self.of_record[kept], self.count)
        return replace(self, of_record=members)

    def combine_risks(self, risk: Floats) -> Floats:
        """The chance, for each record, that somebody of its cluster is found: 1 - prod(1 - r).

        In logarithms, so that a thousand small risks do not round to none; log(0) is a certain
        find.
        """
        with np.errstate(divide="ignore"):
            nobody = np.bincount(self.of_record, np.log1p(-risk), minlength=self.count)
        combined: Floats = -np.expm1(nobody)[self.of_record]
        # The risk of one alone is as it was, to the last digit.
        return np.where(self.sizes[self.of_record] > 1, combined, risk)

    def combine_crowds(self, crowd: Floats) -> Floats:
        """The crowd that a single record at its cluster's risk would hide in.

        Whoever hides in a crowd of k is found once in k; so this is never above the smallest
        crowd of the cluster.
        """
        risk = self.combine_risks(1 / np.maximum(crowd, 1.0))
        return np.where(self.sizes[self.of_record] > 1, 1 / risk, crowd)

    def find_lowest(self, figure: Floats) -> Floats:
        """The lowest figure of each record's cluster, where figures are no chances."""
        lowest = np.full(self.count, np.inf)
        np.minimum.at(lowest, self.of_record, figure)
        return lowest[self.of_record]


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
        return Links(dataset=value.name, on=on).seeing(value)
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
        return Links(**{**given, "dataset": source.name}).seeing(source)
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


def _gather_equal_values(dataset: Dataset, attribute: str) -> Clusters:
    [attribute] = dataset.attributes(attribute, "links")
    _require_shown(dataset, attribute)
    _require_constant(dataset, attribute)
    column = dataset.columns[attribute]
    cluster = column.codes.astype(np.int64)
    alone = cluster == column.missing_code
    cluster[alone] = column.missing_code + np.arange(int(alone.sum()))
    members, _ = densify_keys(cluster, int(cluster.max(initial=-1)) + 1)
    return Clusters(members)


def _require_shown(dataset: Dataset, attribute: str) -> None:
    """Where protection has hidden what links records, nobody can say which are linked."""
    hidden = int(np.count_nonzero(find_hidden_cells(dataset.columns[attribute])))
    if hidden:
        counted = format_quantity(hidden, "record hides", "records hide")
        message = (
            f'{counted} "{attribute}", which links records: give the values before suppression '
            "as original."
        )
        raise HiddenCellsError(f'dataset "{dataset.name}"', [Problem("links", message)])


def _require_constant(dataset: Dataset, attribute: str) -> None:
    """All records of a person are of one cluster, or it would not be known whom a find finds."""
    [*persons] = dataset.dictionary.having("person")
    if not persons or attribute in persons:
        return
    person, cluster = dataset.columns[persons[0]], dataset.columns[attribute]
    shown = (person.codes != person.missing_code) & (cluster.codes != cluster.missing_code)
    pairs = np.unique(
        np.stack([person.codes[shown], cluster.codes[shown]]).astype(np.int64), axis=1
    )
    differing = int(np.count_nonzero(np.bincount(pairs[0]) > 1)) if pairs.size else 0
    if differing:
        counted = format_quantity(differing, f'"{persons[0]}" has', f'of "{persons[0]}" have')
        message = (
            f'is not constant: {counted} several values of "{attribute}". Give each person one, '
            "or link them by pairs."
        )
        raise InvalidInput(f'links, dataset "{dataset.name}"', [Problem(attribute, message)])


def _join_numbers(dataset: Dataset, pairs: tuple[tuple[Any, Any], ...]) -> Clusters:
    """Pairs of places in the file; a place that is none is a mistake, and no outsider."""
    ends = [end for pair in pairs for end in pair]
    known = [checks.is_whole_number(end, 0) and end < dataset.rows for end in ends]
    unknown = len(known) - sum(known)
    if unknown:
        message = (
            f"{unknown:,} of {len(ends):,} ends name no record of the dataset: without on, ends "
            f"are numbers of records, from 0 to {dataset.rows - 1:,}."
        )
        raise InvalidInput("links", [Problem("", message)])
    first = np.array([one for one, _ in pairs], np.int64)
    second = np.array([other for _, other in pairs], np.int64)
    return Clusters(_find_components(first, second, dataset.rows))


def _join_ids(
    dataset: Dataset, pairs: tuple[tuple[Any, Any], ...], on: str, unknown: Unknown
) -> Clusters:
    """Pairs of ids, as a graph of ids: outsiders are nodes like others, and so they chain.

    Several records with one id are one thing: they are linked among themselves too.
    """
    [on] = dataset.attributes(on, "on")
    _require_shown(dataset, on)
    column = dataset.columns[on]
    node_of = {column.value(code): code for code in np.unique(column.codes).tolist()}
    node_of.pop(None, None)
    known = set(node_of)
    outside = {end for pair in pairs for end in pair} - known
    _refuse_unknown_ends(dataset, pairs, on, unknown=unknown, known=known)
    # After the ids come those without one, each alone, and then the outsiders.
    nodes = column.codes.astype(np.int64)
    alone = nodes == column.missing_code
    nodes[alone] = column.missing_code + np.arange(int(alone.sum()))
    size = column.missing_code + int(alone.sum())
    for end in outside:
        node_of[end] = size
        size += 1
    first = np.array([node_of[one] for one, _ in pairs], np.int64)
    second = np.array([node_of[other] for _, other in pairs], np.int64)
    components = _find_components(first, second, size)
    members, _ = densify_keys(components[nodes], int(components.max(initial=-1)) + 1)
    return Clusters(members, outsiders=len(outside))


def _refuse_unknown_ends(
    dataset: Dataset,
    pairs: tuple[tuple[Any, Any], ...],
    on: str,
    *,
    unknown: Unknown,
    known: set[Any],
) -> None:
    """Ends that no record has, where that is an error; and pairs of which no end has a record."""
    ends = [end for pair in pairs for end in pair]
    strangers = sum(end not in known for end in ends)
    if not strangers or (unknown == "outsider" and strangers < len(ends)):
        return
    message = f'{strangers:,} of {len(ends):,} ends name no record of the dataset by "{on}"'
    if strangers == len(ends):
        # Then nobody would be linked, most likely because numbers are text in one of the files.
        shown, kinds = type(ends[0]).__name__, {type(value).__name__ for value in known}
        message += f" (the ends are {shown}, the ids {', '.join(sorted(kinds))})"
    raise InvalidInput(f'links, dataset "{dataset.name}"', [Problem("", f"{message}.")])


def _find_components(first: Ints, second: Ints, nodes: int) -> Ints:
    """The connected component of each node."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(first.size), (first, second)), shape=(nodes, nodes))
    _, component = connected_components(graph, directed=False)
    numbers: Ints = component.astype(np.int64)
    return numbers
