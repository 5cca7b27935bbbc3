"""Classes of records that look alike, and the values of a sensitive attribute in each.

Where cells are missing, what looks alike is a choice (see `classes.null_semantics`): under `value`
and `standard` classes share no record; under `maybe`, `known` and `bayes` they overlap, and a class
is all that one record may be taken for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from divulge.assessment import Claim
from divulge.classes.keys import FloatArray, IntArray, classes, weighed_count
from divulge.classes.overlapping_classes import Entries, entries_of_overlapping
from divulge.classes.weighing import weights_or_ones
from divulge.data import Column, Dataset
from divulge.records.risk.frequencies import OF_ORIGINAL, SEMANTICS, Nulls
from divulge.work import InvalidInput, Problem, Problems

Count: TypeAlias = Literal["records", "population"]
"""Whether records are counted, or the people of the population for whom they stand."""

COUNTS: tuple[Count, ...] = get_args(Count)


@dataclass(frozen=True)
class Counting:
    """How those who look alike are counted: on which attributes, with which nulls and weights."""

    attributes: tuple[str, ...]
    nulls: Nulls = "maybe"
    count: Count = "records"
    original: Dataset | None = None
    hides: bool = False
    """Whether a cell of these attributes is missing."""
    ways: tuple[Nulls, ...] = SEMANTICS
    """The semantics that can be compared with this one."""

    @property
    def claim(self) -> Claim:
        """Counting records is exact; weighing them by chances or sampling weights estimates."""
        return "estimate" if self.nulls == "bayes" or self.count == "population" else "exact"


@dataclass(frozen=True)
class SensitiveClasses:
    """How often each value of a sensitive attribute occurs in each class.

    One entry for each value that occurs in a class: entry e says that class `of_class[e]` has
    `count[e]` records with the code `code[e]`; entries are sorted by class, then by code. A
    missing sensitive value is a value of its own. `size` is how many records have each class for
    theirs, `overall` the share of every code among all records.
    """

    attribute: str
    column: Column
    of_record: IntArray
    size: IntArray
    of_class: IntArray
    code: IntArray
    count: npt.NDArray[Any]
    overall: FloatArray
    counting: Counting

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.size.size)

    @property
    def among(self) -> tuple[str, ...]:
        """The attributes that make records look alike."""
        return self.counting.attributes

    @property
    def total(self) -> FloatArray:
        """All that each class holds; its size, unless classes overlap or records are weighed."""
        return self.per_class(self.count)

    @property
    def share(self) -> FloatArray:
        """The share of each entry in its class."""
        shares: FloatArray = self.count / self.total[self.of_class]
        return shares

    def per_class(self, amounts: npt.NDArray[Any]) -> FloatArray:
        """The sum of an amount of each entry over each class."""
        return weighed_count(self.of_class, amounts, self.classes)


def counting_of(
    dataset: Dataset,
    among: str | Iterable[str] | None = None,
    nulls: Nulls = "maybe",
    count: Count = "records",
    original: Dataset | None = None,
) -> Counting:
    """The way to count that was asked for, with every problem of it said at once."""
    problems = Problems(f'dataset "{dataset.name}"')
    if nulls not in SEMANTICS:
        message = f'"{nulls}" is not a way to count missing values.'
        problems.add("nulls", message, nulls, SEMANTICS)
    if count not in COUNTS:
        problems.add("count", f'"{count}" is not what can be counted.', count, COUNTS)
    if count == "population" and not dataset.dictionary.having("weight"):
        message = "the population is counted by sampling weights, and no attribute has that role."
        problems.add("count", message)
    names = tuple(dataset.attributes(among, "among"))
    hides = any(dataset.columns[name].has_missing for name in names)
    if nulls in OF_ORIGINAL and hides and original is None:
        message = (
            f'nulls="{nulls}" counts what is compatible with the values before suppression; '
            "give them as original, or use another way of counting."
        )
        problems.add("original", message)
    problems.raise_any()
    ways = SEMANTICS
    if hides and original is None:
        ways = tuple(each for each in SEMANTICS if each not in OF_ORIGINAL)
    return Counting(names, nulls, count, original, hides, ways)


def sensitive_classes(
    dataset: Dataset,
    attribute: str | None = None,
    among: str | Iterable[str] | None = None,
    nulls: Nulls = "maybe",
    count: Count = "records",
    original: Dataset | None = None,
) -> SensitiveClasses:
    """Count the values of a sensitive attribute in each class of records that look alike.

    Args:
        dataset: the records.
        attribute: the sensitive attribute; may be left out if just one has that role.
        among: the attributes that make records look alike; all quasi-identifiers if none given.
        nulls: what a missing value of those attributes may stand for.
        count: `records`, or `population`: each record as many as its sampling weight says.
        original: the records before protection, for `nulls="known"` and `"bayes"`.

    >>> import divulge as dv
    >>> found = sensitive_classes(dv.datasets.school_year_example(), among="gender")
    >>> found.attribute, found.size.tolist(), found.count.tolist()
    ('disability', [6, 4], [2, 4, 3, 1])
    """
    name = sensitive_attribute(dataset, attribute)
    counting = counting_of(dataset, among, nulls, count, original)
    if name in counting.attributes:
        message = f'"{name}" is the sensitive attribute; it cannot make records look alike too.'
        raise InvalidInput(f'dataset "{dataset.name}"', [Problem("among", message)])
    column = dataset.columns[name]
    values = len(column.values) + 1
    weights = weights_or_ones(dataset) if count == "population" else None
    if overlaps(counting):
        entries = entries_of_overlapping(
            dataset, counting.attributes, nulls, original, column.codes, values, weights
        )
    else:
        entries = _apart(class_of_each(dataset, counting), column.codes, values, weights)
    everybody = weighed_count(
        column.codes, np.ones(dataset.rows) if weights is None else weights, values
    )
    return SensitiveClasses(
        name,
        column,
        entries.of_record,
        np.bincount(entries.of_record),
        entries.of_class,
        entries.code,
        entries.amount,
        everybody / float(everybody.sum()),
        counting,
    )


def overlaps(counting: Counting) -> bool:
    """Whether a record may be in the classes of several others."""
    if counting.nulls in OF_ORIGINAL and counting.original is not None:
        return True
    return counting.hides and counting.nulls not in ("value", "standard")


def class_of_each(dataset: Dataset, counting: Counting) -> IntArray:
    """The class of each record where classes share none: by equal cells, or none with a null."""
    columns = [dataset.columns[name] for name in counting.attributes]
    of_record = classes(
        [column.codes for column in columns],
        [len(column.values) + 1 for column in columns],
        dataset.rows,
    )
    if counting.nulls != "standard":
        return of_record
    hides = np.zeros(dataset.rows, np.bool_)
    for column in columns:
        hides |= column.codes == column.missing_code
    top = int(of_record.max(initial=-1)) + 1
    own = np.where(hides, top + np.arange(dataset.rows), of_record)
    return np.unique(own, return_inverse=True)[1].reshape(-1).astype(np.int64)


def sensitive_attribute(dataset: Dataset, attribute: str | None) -> str:
    """The attribute that is named, or the only one with the role sensitive."""
    if attribute is not None:
        [name] = dataset.attributes(attribute, "attribute")
        return name
    sensitive = dataset.dictionary.having("sensitive")
    if len(sensitive) != 1:
        message = f"{len(sensitive)} attributes have the role sensitive; name one."
        problem = Problem("attribute", message, allowed=sensitive or dataset.names)
        raise InvalidInput(f'dataset "{dataset.name}"', [problem])
    return sensitive[0]


def _apart(
    of_record: IntArray, codes: npt.NDArray[Any], values: int, weights: FloatArray | None
) -> Entries:
    """Entries of classes that share no record."""
    joint = of_record * values + codes
    if weights is None:
        entries, amount = np.unique(joint, return_counts=True)
        return Entries(of_record, entries // values, entries % values, amount.astype(np.int64))
    entries, place = np.unique(joint, return_inverse=True)
    weighed = weighed_count(place.reshape(-1), weights, entries.size)
    return Entries(of_record, entries // values, entries % values, weighed)
