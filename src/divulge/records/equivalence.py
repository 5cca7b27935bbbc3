"""Classes of records that look alike, and the values of a sensitive attribute in each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from divulge.data import Column, Dataset
from divulge.records.alike import FloatArray, IntArray, classes, weighed_count
from divulge.work import InvalidInput, Problem


@dataclass(frozen=True)
class SensitiveClasses:
    """How often each value of a sensitive attribute occurs in each class.

    One entry for each value that occurs in a class: entry e says that class `of_class[e]` has
    `count[e]` records with the code `code[e]`; entries are sorted by class, then by code. A
    missing sensitive value is a value of its own.
    """

    attribute: str
    column: Column
    of_record: IntArray
    size: IntArray
    of_class: IntArray
    code: IntArray
    count: IntArray
    among: tuple[str, ...]

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.size.size)

    @property
    def share(self) -> FloatArray:
        """The share of each entry in its class."""
        shares: FloatArray = self.count / self.size[self.of_class]
        return shares

    @property
    def overall(self) -> FloatArray:
        """The share of every code among all records."""
        total = weighed_count(self.code, self.count, len(self.column.values) + 1)
        return total / float(total.sum())

    def per_class(self, amounts: FloatArray) -> FloatArray:
        """The sum of an amount of each entry over each class."""
        return weighed_count(self.of_class, amounts, self.classes)


def sensitive_classes(
    dataset: Dataset, attribute: str | None = None, among: str | Iterable[str] | None = None
) -> SensitiveClasses:
    """Count the values of a sensitive attribute in each class of records that look alike.

    Args:
        dataset: the records.
        attribute: the sensitive attribute; may be left out if just one has that role.
        among: the attributes that make records look alike; all quasi-identifiers if none given.

    >>> import divulge as dv
    >>> found = sensitive_classes(dv.datasets.school_year_example(), among="gender")
    >>> found.attribute, found.size.tolist(), found.count.tolist()
    ('disability', [6, 4], [2, 4, 3, 1])
    """
    name = sensitive_attribute(dataset, attribute)
    names = dataset.attributes(among, "among")
    if name in names:
        message = f'"{name}" is the sensitive attribute; it cannot make records look alike too.'
        raise InvalidInput(f'dataset "{dataset.name}"', [Problem("among", message)])
    columns = [dataset.columns[each] for each in names]
    of_record = classes(
        [column.codes for column in columns],
        [len(column.values) + 1 for column in columns],
        dataset.rows,
    )
    column = dataset.columns[name]
    values = len(column.values) + 1
    entries, count = np.unique(of_record * values + column.codes, return_counts=True)
    return SensitiveClasses(
        name,
        column,
        of_record,
        np.bincount(of_record),
        entries // values,
        entries % values,
        count.astype(np.int64),
        tuple(names),
    )


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
