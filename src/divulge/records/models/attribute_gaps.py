"""Years that do not have an attribute, or code it otherwise: what is said, and what users settle.

A column that one year calls otherwise drops out of what is known there, and nothing in the figures
shows it. So every year is compared with the first one that has the attribute: a year without it,
or in which most records have values that the other does not know, makes the figures the least that
an adversary knows, until its owner says what is meant: what the column is called there (`rename`),
that the year has no such attribute (`absent`), or that its values are as they are (`recoded`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Assessment, Sentence
from divulge.classes.relation.values import list_values
from divulge.data import Dataset, Hierarchy, Relation
from divulge.data.dictionary import Dictionary, as_names
from divulge.data.value_texts import format_value
from divulge.records import tuning
from divulge.work import Problem, Problems
from divulge.work.arrays import Ints

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class YearChoices:
    """What the owner says of attributes that years do not have alike.

    `rename` tells by dataset what attributes are called there (theirs: ours), `absent` by dataset
    which attributes it does not have, `recoded` which attributes are coded anew on purpose.
    """

    rename: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    absent: Mapping[str, Sequence[str]] = field(default_factory=dict)
    recoded: Sequence[str] = ()

    @classmethod
    def from_arguments(
        cls,
        rename: Mapping[str, Mapping[str, str]] | None,
        absent: Mapping[str, str | Iterable[str]] | None,
        recoded: str | Iterable[str] | None,
    ) -> YearChoices:
        """From what a caller gives: a name stands for a list of one."""
        return cls(
            rename=rename or {},
            absent={name: as_names(names) for name, names in (absent or {}).items()},
            recoded=[] if recoded is None else as_names(recoded),
        )

    def __bool__(self) -> bool:
        return bool(self.rename or self.absent or self.recoded)

    def find_problems(self, names: Mapping[str, Sequence[str]]) -> Iterator[Problem]:
        """What is wrong with the choices, given the attributes of each dataset."""
        for option in ("rename", "absent"):
            for dataset in getattr(self, option):
                if dataset not in names:
                    message = f'there is no dataset "{dataset}".'
                    yield Problem(option, message, value=dataset, allowed=list(names))
        yield from self._find_rename_problems(names)
        for dataset, absent in self.absent.items():
            attributes = self.list_names(dataset, names.get(dataset, ()))
            for name in absent:
                if name in attributes:
                    message = f'dataset "{dataset}" has an attribute "{name}"; it is not absent.'
                    yield Problem("absent", message)

    def _find_rename_problems(self, names: Mapping[str, Sequence[str]]) -> Iterator[Problem]:
        for dataset, renamed in self.rename.items():
            attributes = names.get(dataset, [*renamed])
            for theirs, ours in renamed.items():
                if theirs not in attributes:
                    message = f'dataset "{dataset}" has no attribute "{theirs}".'
                    yield Problem("rename", message, value=theirs, allowed=attributes)
                if ours in attributes and ours not in renamed:
                    yield Problem("rename", f'dataset "{dataset}" has an attribute "{ours}".')
            if len(set(renamed.values())) < len(renamed):
                yield Problem("rename", f'two attributes of dataset "{dataset}" get one name.')

    def list_names(self, dataset: str, names: Iterable[str]) -> list[str]:
        """The attributes of a dataset by the names that all datasets go by."""
        renamed = self.rename.get(dataset, {})
        return [renamed.get(name, name) for name in names]

    def apply_names(self, dataset: Dataset) -> Dataset:
        """A dataset with its attributes by the names that all datasets go by."""
        renamed = self.rename.get(dataset.name)
        if not renamed:
            return dataset
        if isinstance(dataset, Relation):
            return dataset.rename(renamed)
        names = dict(zip(dataset.names, self.list_names(dataset.name, dataset.names), strict=True))
        columns = {names[name]: column for name, column in dataset.columns.items()}
        attributes = {
            names[name]: replace(attribute, name=names[name])
            for name, attribute in dataset.dictionary.attributes.items()
            if name in names
        }
        return replace(dataset, columns=columns, dictionary=Dictionary(attributes))


@dataclass(frozen=True, kw_only=True)
class AttributeGap:
    """An attribute that one dataset does not have as the others do."""

    dataset: str
    attribute: str
    other: str
    is_recoded: bool

    @property
    def sentence(self) -> Sentence:
        """What is missing, and how to settle it."""
        values = {"dataset": self.dataset, "attribute": self.attribute, "other": self.other}
        key = "recoded" if self.is_recoded else "lacking"
        return Sentence("divulge.records", f"gap.{key}", values)


def apply_choices(datasets: Iterable[Dataset], choices: YearChoices) -> tuple[Dataset, ...]:
    """The datasets by the names that all of them go by; choices that make no sense are refused."""
    originals = tuple(datasets)
    problems = Problems("attack")
    problems.extend("", choices.find_problems({each.name: each.names for each in originals}))
    problems.raise_any()
    return tuple(choices.apply_names(each) for each in originals)


def find_attribute_gaps(
    datasets: Sequence[Dataset], known: Sequence[str], choices: YearChoices
) -> list[AttributeGap]:
    """What is known in some datasets and not in others, and was not settled by the owner."""
    problems = Problems("attack")
    for name in choices.recoded:
        if name not in known:
            problems.add("recoded", f'"{name}" is not among what is known.', name, known)
    for names in choices.absent.values():
        for name in names:
            if name not in known:
                problems.add("absent", f'"{name}" is not among what is known.', name, known)
    problems.raise_any()
    return [gap for name in known for gap in _find_gaps_of_attribute(datasets, name, choices)]


def _find_gaps_of_attribute(
    datasets: Sequence[Dataset], name: str, choices: YearChoices
) -> Iterator[AttributeGap]:
    having = [each for each in datasets if name in each.columns]
    if not having:
        return
    reference = next((each for each in having if len(_list_shown(each, name)[0])), having[0])
    for dataset in datasets:
        is_there = name in dataset.columns
        is_lacking = not is_there and name not in choices.absent.get(dataset.name, ())
        is_recoded = (
            is_there
            and name not in choices.recoded
            and _compute_shared_share(dataset, reference, name) < tuning.MIN_SHARED_VALUES
        )
        if is_lacking or is_recoded:
            yield AttributeGap(
                dataset=dataset.name,
                attribute=name,
                other=reference.name,
                is_recoded=is_recoded,
            )


def _compute_shared_share(dataset: Dataset, reference: Dataset, name: str) -> float:
    """Which share of the values that records show is known from another dataset."""
    if dataset is reference:
        return 1.0
    values, counts = _list_shown(dataset, name)
    others, _ = _list_shown(reference, name)
    if not len(others):
        return 1.0  # where no dataset shows a value, none codes them anew
    is_shared = _find_shared_values(values, others)
    for described in (dataset, reference):
        hierarchy = described.dictionary[name].hierarchy
        if hierarchy is not None:
            is_shared |= _find_related_values(values, others, hierarchy)
    return float(counts[is_shared].sum() / max(1, counts.sum()))


def _list_shown(dataset: Dataset, name: str) -> tuple[pa.Array, Ints]:
    """The values that records of a dataset show, sorted, and how many show each."""
    if isinstance(dataset, Relation):
        found = list_values(dataset, name)
        return found.column.values, found.counts[: len(found.column.values)]
    column = dataset.columns[name]
    counts = np.bincount(column.codes, minlength=len(column.values))
    return column.values, counts[: len(column.values)]


def _find_shared_values(values: pa.Array, others: pa.Array) -> Any:
    """Which values another column has too; of numbers and dates, which lie within its range."""
    import pyarrow.compute as pc

    if _is_ordered(values) and _is_ordered(others, values):
        least, most = others[0], others[len(others) - 1]
        inside = pc.and_(pc.greater_equal(values, least), pc.less_equal(values, most))
        return np.asarray(inside.fill_null(False).to_numpy(zero_copy_only=False), bool)
    if values.type == others.type:
        inside = pc.is_in(values, value_set=others)
        return np.asarray(inside.to_numpy(zero_copy_only=False), bool)
    texts = {format_value(value) for value in others.to_pylist()}
    return np.array([format_value(value) in texts for value in values.to_pylist()], bool)


def _is_ordered(values: pa.Array, like: pa.Array | None = None) -> bool:
    """Whether values are numbers or times; with another list, of the same kind."""
    import pyarrow as pa

    def is_number(kind: pa.DataType) -> bool:
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))

    if is_number(values.type):
        return like is None or is_number(like.type)
    if pa.types.is_temporal(values.type):
        return like is None or values.type == like.type
    return False


def _find_related_values(values: pa.Array, others: pa.Array, hierarchy: Hierarchy) -> Any:
    """Which values a hierarchy puts above or below a value of the other column."""
    texts = {format_value(value) for value in others.to_pylist()}
    above = {text for value in others.to_pylist() for text in _list_ancestors(value, hierarchy)}
    return np.array(
        [
            format_value(value) in above or not texts.isdisjoint(_list_ancestors(value, hierarchy))
            for value in values.to_pylist()
        ],
        bool,
    )


def _list_ancestors(value: Any, hierarchy: Hierarchy) -> list[str]:
    if hierarchy.lacks([value]):
        return []
    levels = range(1, hierarchy.height + 1)
    return [format_value(hierarchy.at(value, level)) for level in levels]


def qualify_assessment(
    assessment: Assessment, sentences: Sequence[Sentence], reservations: Sequence[Sentence]
) -> Assessment:
    """The same assessment with more to say; with reservations its figures are the least."""
    said = (*assessment.sentences, *sentences, *reservations)
    qualified = replace(assessment, sentences=said)
    return qualified.as_least(reservations[0]) if reservations else qualified
