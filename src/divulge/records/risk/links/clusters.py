"""Clusters of linked records: connected components of equal values, or of pairs of ids.

The risk of a cluster is made of the risks of its records. Outsiders, who are named by pairs and
have no record, are nodes like others, so that a chain by way of them is one cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from divulge.classes.keys import densify_keys
from divulge.data import Dataset
from divulge.data.column import find_hidden_cells
from divulge.records.risk.null_readings import HiddenCellsError
from divulge.work import InvalidInput, Problem, checks, format_quantity
from divulge.work.arrays import Floats, Ints

Unknown: TypeAlias = Literal["outsider", "error"]
UNKNOWN: tuple[Unknown, ...] = ("outsider", "error")
"""What an id of a pair may be that no record has."""


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


def gather_equal_values(dataset: Dataset, attribute: str) -> Clusters:
    """Records with the same value are one cluster; a record without one is its own."""
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


def join_numbers(dataset: Dataset, pairs: tuple[tuple[Any, Any], ...]) -> Clusters:
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


def join_ids(
    dataset: Dataset, pairs: tuple[tuple[Any, Any], ...], on: str, unknown: Unknown | None
) -> Clusters:
    """Pairs of ids, as a graph of ids: outsiders are nodes like others, and so they chain.

    Several records with one id are one thing: they are linked among themselves too. If nothing is
    said of unknown ids, records may have been removed, and all ends may be outsiders.
    """
    [on] = dataset.attributes(on, "on")
    _require_shown(dataset, on)
    column = dataset.columns[on]
    node_of = {column.value(code): code for code in np.unique(column.codes).tolist()}
    node_of.pop(None, None)
    known = set(node_of)
    outside = {end for pair in pairs for end in pair} - known
    if unknown is not None:
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
