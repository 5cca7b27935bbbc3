"""One dataset or several years of it, linked by a persistent id: the records an attack is about.

The focal dataset comes first; the others are joined to it by the id, and who is absent in a year is
absent: that is a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from divulge.assessment import Assessment, Sentence
from divulge.classes.partition import AttributeCodes, Partition
from divulge.data import Column, Dataset
from divulge.data.dictionary import as_names
from divulge.work import Problem, Problems, format_quantity
from divulge.work.arrays import Ints

Duplicates: TypeAlias = Literal["error", "first", "random"]
ABSENT = -1


@dataclass(kw_only=True, frozen=True)
class LinkedDatasets:
    """Years joined to the focal one: its records (one an id), and each year's record of each."""

    focal: Dataset
    records: npt.NDArray[Any]
    years: tuple[tuple[Dataset, npt.NDArray[Any]], ...]
    records_dropped: int
    on: str | None = None
    dropped_by_year: tuple[int, ...] = ()
    """Of each dataset, how many records have an id that another of its records has."""

    def describe_links(self, datasets: int | None = None) -> list[Sentence]:
        """That years were linked, by which id, and how many of the focal records they have."""
        years = self.years if datasets is None else self.years[: datasets - 1]
        return [
            describe_link(
                self.focal,
                dataset,
                on=self.on,
                found=int(np.count_nonzero(places >= 0)),
                total=len(self.records),
            )
            for dataset, places in years
        ]

    def describe_dropped(self, datasets: int | None = None) -> list[Sentence]:
        """That records were dropped because their id occurs twice, if any were."""
        dropped = sum(self.dropped_by_year[:datasets])
        values = {"count": dropped, "on": self.on}
        return [Sentence("divulge.records", "dropped", values)] if dropped else []

    def list_knowledge(self, year: int, names: Sequence[str]) -> list[AttributeCodes]:
        """What is known of everybody from one year; absence is a value."""
        return list(self.iterate_knowledge(year, names))

    def iterate_knowledge(self, year: int, names: Sequence[str]) -> Iterator[AttributeCodes]:
        """The same, one attribute after the other, so that they need not all be in memory."""
        dataset, places = ((self.focal, self.records), *self.years)[year]
        return (
            _encode_knowledge(dataset.columns[name], places)
            for name in names
            if name in dataset.columns
        )

    def encode_attribute(self, name: str) -> AttributeCodes:
        """An attribute of the focal records."""
        column = self.focal.columns[name]
        return AttributeCodes(column.codes[self.records], max(1, column.cardinality))

    @property
    def dataset(self) -> Dataset:
        """The focal dataset with one record an id."""
        if len(self.records) == self.focal.rows:
            return self.focal
        columns = {
            n: replace(c, codes=c.codes[self.records]) for n, c in self.focal.columns.items()
        }
        return replace(self.focal, columns=columns)


def describe_link(
    focal: Dataset, other: Dataset, *, on: str | None, found: int, total: int
) -> Sentence:
    """That a year was linked to the focal one, and how many of its records it has."""
    values = {
        "on": on,
        "focal": focal.name,
        "other": other.name,
        "subjects": focal.subjects,
        "found": found,
        "total": total,
    }
    return Sentence("divulge.records", "linked_years", values)


def refine_by_year(linked: LinkedDatasets, known: Sequence[str]) -> Iterator[Partition]:
    """The classes that each further year leaves."""
    classes = Partition.single_class(len(linked.records))
    for year in range(len(linked.years) + 1):
        classes = classes.refine_by(linked.iterate_knowledge(year, known))
        yield classes


def build_joint_secret(linked: LinkedDatasets, sought: Sequence[str]) -> AttributeCodes | None:
    """One secret out of one or several attributes of the focal records."""
    if not sought:
        return None
    if len(sought) == 1:
        return linked.encode_attribute(sought[0])
    joint_classes = Partition.single_class(len(linked.records)).refine_by(
        [linked.encode_attribute(n) for n in sought]
    )
    return AttributeCodes(joint_classes.of_record, joint_classes.number)


def list_secret_values(linked: LinkedDatasets, sought: Sequence[str]) -> int | list[Any]:
    """The values of a secret in the order of their codes; how many, if they have no name."""
    if len(sought) == 1:
        column = linked.focal.columns[sought[0]]
        return [column.value(code) for code in range(column.cardinality)]
    secret = build_joint_secret(linked, sought)
    return len(linked.records) if secret is None else secret.cardinality


def check_attributes(
    datasets: Sequence[Dataset],
    on: str,
    knows: str | Iterable[str] | None,
    seeks: str | Iterable[str] | None,
) -> tuple[list[str], list[str]]:
    """What is known and sought, checked against all datasets."""
    focal = datasets[0]
    known = focal.quasi_identifiers if knows is None else as_names(knows)
    sought = [] if seeks is None else as_names(seeks)
    everywhere = list(dict.fromkeys(name for dataset in datasets for name in dataset.names))
    problems = Problems("attack")
    for name in known:
        if name not in everywhere:
            problems.add("knows", f'no dataset has an attribute "{name}".', name, everywhere)
        if name in sought:
            problems.add("seeks", f'"{name}" is known already; take it out of knows.')
        if name == on:
            problems.add("knows", f'"{name}" is the id that links the datasets.')
    for name in sought:
        if name not in focal.names:
            message = f'the focal dataset "{focal.name}" has no attribute "{name}".'
            problems.add("seeks", message, name, focal.names)
    if not known:
        problems.add("knows", "names no attribute, and no quasi-identifier is declared.")
    problems.raise_any()
    return known, sought


def link_years(
    datasets: Sequence[Dataset], on: str | None, duplicates: Duplicates, seed: int
) -> LinkedDatasets:
    """Join every dataset to the first by the id, as a left join."""
    problems = Problems("attack")
    problems.extend("", find_link_problems(datasets, on, duplicates))
    for dataset in datasets:
        if on is not None:
            _check_id(problems, dataset, on, datasets[0])
    problems.raise_any()
    assert on is not None  # noqa: S101  # else the problem was raised
    dropped = tuple(_count_duplicates(problems, dataset, on, duplicates) for dataset in datasets)
    problems.raise_any()
    # One year after the other: what is needed to join a year is let go before the next.
    # Each has its own luck, so that a dataset keeps the same records whatever it is joined to.
    records = np.sort(
        _choose_record_per_id(datasets[0], on, duplicates, np.random.default_rng([seed, 0]))
    )
    ids = datasets[0].columns[on]
    years: list[tuple[Dataset, npt.NDArray[Any]]] = []
    for year, dataset in enumerate(datasets[1:], start=1):
        random = np.random.default_rng([seed, year])
        rows = np.append(_choose_record_per_id(dataset, on, duplicates, random), np.int32(ABSENT))
        rows = rows[_locate_ids(ids, dataset.columns[on])]  # the place -1 is the last one
        years.append((dataset, rows[ids.codes[records]]))
    return LinkedDatasets(
        focal=datasets[0],
        records=records,
        years=tuple(years),
        records_dropped=sum(dropped),
        on=on,
        dropped_by_year=dropped,
    )


def find_link_problems(
    datasets: Sequence[Dataset], on: str | None, duplicates: Duplicates
) -> Iterator[Problem]:
    """What is wrong with a link, whatever the records are."""
    if on is None:
        yield Problem("on", "is missing; name the id that all datasets have.")
    if duplicates not in get_args(Duplicates):
        yield Problem(
            "duplicates",
            f'"{duplicates}" is not a policy.',
            value=duplicates,
            allowed=get_args(Duplicates),
        )
    for place, dataset in enumerate(datasets):
        if any(dataset is other for other in datasets[:place]):
            message = f'"{dataset.name}" (number {place + 1}) is given twice.'
            yield Problem("datasets", message)


def _check_id(problems: Problems, dataset: Dataset, on: str, focal: Dataset) -> None:
    if on not in dataset.names:
        message = f'dataset "{dataset.name}" has no attribute "{on}".'
        problems.add("on", message, on, dataset.names)
        return
    column = dataset.columns[on]
    if column.has_missing:
        count = int(np.count_nonzero(column.codes == column.missing_code))
        records = format_quantity(count, "record", "records")
        problems.add("on", f'"{on}" is missing in {records} of dataset "{dataset.name}".')
    if on in focal.names and column.values.type != focal.columns[on].values.type:
        problems.add(
            "on",
            f'"{on}" is {column.values.type} in dataset "{dataset.name}" and '
            f'{focal.columns[on].values.type} in "{focal.name}"; ids must be of one type.',
        )


def _count_duplicates(problems: Problems, dataset: Dataset, on: str, duplicates: Duplicates) -> int:
    """How many records have an id that another record has: they are dropped, or an error."""
    repeats = dataset.rows - len(dataset.columns[on].values)
    if repeats and duplicates == "error":
        records = format_quantity(repeats, "record", "records")
        problems.add(
            "on",
            f'{records} of dataset "{dataset.name}" {"has" if repeats == 1 else "have"} an id '
            'that another record has; say duplicates="first" or "random".',
        )
    return repeats


def _choose_record_per_id(
    dataset: Dataset, on: str, duplicates: Duplicates, random: Any
) -> npt.NDArray[np.int32]:
    """The record that is kept of each id, in the order of the ids."""
    ids = dataset.columns[on]
    order = np.arange(dataset.rows - 1, -1, -1, dtype=np.int32)
    if duplicates == "random" and dataset.rows > len(ids.values):
        random.shuffle(order)
    record_of_id = np.zeros(len(ids.values), np.int32)
    record_of_id[ids.codes[order]] = order  # the last one written stays: the first record, or any
    return record_of_id


def _locate_ids(focal: Column, other: Column) -> Ints:
    """For each id of the focal dataset, its place among the other's ids; -1 if it is absent."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(other.values) == 0:
        return np.full(len(focal.values), ABSENT, np.int64)
    if pa.types.is_integer(focal.values.type):
        # Both lists are sorted: a search walks through memory in order.
        focal_ids, other_ids = focal.values.to_numpy(), other.values.to_numpy()
        places = np.searchsorted(other_ids, focal_ids)
        places[places == len(other_ids)] = 0
        return np.where(other_ids[places] == focal_ids, places, ABSENT)
    indices = pc.index_in(focal.values, value_set=other.values)
    return np.asarray(indices.fill_null(ABSENT).to_numpy(zero_copy_only=False), np.int64)


def _encode_knowledge(column: Column, places: npt.NDArray[Any]) -> AttributeCodes:
    absent = max(1, column.cardinality)
    if len(places) == 0 or places.min() >= 0:
        return AttributeCodes(column.codes[places], absent)
    dtype = np.min_scalar_type(absent)
    codes = np.append(column.codes.astype(dtype), np.array([absent], dtype))
    return AttributeCodes(codes[places], absent + 1)  # the place -1 is the last one


def add_figures(assessment: Assessment, figures: Mapping[str, float]) -> Assessment:
    """The same assessment with more figures."""
    return replace(assessment, figures={**assessment.figures, **figures})
