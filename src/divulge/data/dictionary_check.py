"""The dictionary held against the data: what the one says that the other does not show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge.data import tuning
from divulge.data.column import Column
from divulge.data.dataset import Dataset
from divulge.data.dictionary import Attribute
from divulge.data.relation.profile import NUMERIC_TEXT, profile_relation
from divulge.data.relation.relation import Relation
from divulge.work import format_quantity

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Remark:
    """Something that a person should look at; the values that it is about only when asked for."""

    attribute: str
    message: str
    values: tuple[Any, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return f'"{self.attribute}" {self.message}'


def compare(dataset: Dataset) -> list[Remark]:
    """Where a dataset's dictionary and its records do not fit.

    >>> import pyarrow as pa
    >>> people = Dataset.from_arrow(pa.table({"sex": [1, 2]}))
    >>> [remark] = compare(people.describe(labels={"sex": {"1": "male", "2": "female", "3": "x"}}))
    >>> print(remark, remark.values)
    "sex" has labels for 1 value that does not occur. (3,)
    """
    if isinstance(dataset, Relation):
        return _compare_relation(dataset)
    remarks: list[Remark] = []
    for attribute in dataset.dictionary:
        column = dataset.columns[attribute.name]
        values = column.values.to_pylist() if _needs_value_list(attribute) else []
        remarks += _compare_labels(attribute, column, values)
        remarks += _compare_missing_codes(attribute, values)
        remarks += _compare_hierarchy(attribute, values)
        remarks += _compare_weight(attribute, column)
        remarks += _find_mixed_values(attribute, column)
    return remarks


def _compare_relation(relation: Relation) -> list[Remark]:
    """The same where records are: in no order, so no place of a record is told."""
    profile = profile_relation(relation)
    remarks: list[Remark] = []
    for attribute in relation.dictionary:
        column = profile.columns.get(attribute.name)
        if column is not None:
            values = column.values.to_pylist() if _needs_value_list(attribute) else []
            remarks += _compare_labels(attribute, column, values)
            remarks += _compare_missing_codes(attribute, values)
            remarks += _compare_hierarchy(attribute, values)
            remarks += _compare_weight(attribute, column)
        others = profile.other_texts.get(attribute.name, 0)
        if 0 < others <= (1 - tuning.MOSTLY_NUMERIC_SHARE) * relation.rows:
            records = format_quantity(others, "record", "records")
            remarks.append(Remark(attribute.name, f"contains numbers in all but {records}."))
    return remarks


def _needs_value_list(attribute: Attribute) -> bool:
    return bool(attribute.labels or attribute.missing or attribute.hierarchy)


def _compare_labels(attribute: Attribute, column: Column, values: list[Any]) -> Iterator[Remark]:
    if not attribute.labels:
        return
    tags = (
        set() if column.tags is None else {f".{chr(tag)}" for tag in np.unique(column.tags) if tag}
    )
    present = {*values, *tags}
    missing_values = [
        v for v in attribute.labels if any(code.covers(v) for code in attribute.missing)
    ]
    unused = [v for v in attribute.labels if v not in present and v not in missing_values]
    if unused:
        unused_values = format_quantity(
            len(unused), "value that does not occur", "values that do not occur"
        )
        yield Remark(attribute.name, f"has labels for {unused_values}.", tuple(unused))
    unlabelled = [v for v in values if v not in attribute.labels]
    if unlabelled and len(unlabelled) < len(values):
        message = f"has no label for {len(unlabelled)} of its {len(values)} values."
        yield Remark(attribute.name, message, tuple(unlabelled))


def _compare_missing_codes(attribute: Attribute, values: list[Any]) -> Iterator[Remark]:
    unused = [c for c in attribute.missing if not any(c.covers(value) for value in values)]
    if unused:
        codes = format_quantity(
            len(unused),
            "code that means missing and does not occur",
            "codes that mean missing and do not occur",
        )
        message = f"declares {codes}."
        yield Remark(attribute.name, message, tuple(unused))


def _compare_hierarchy(attribute: Attribute, values: list[Any]) -> Iterator[Remark]:
    if attribute.hierarchy is None:
        return
    lacking = attribute.hierarchy.lacks(values)
    if lacking:
        message = (
            f"has {len(lacking)} of its {len(values)} values without a place in its hierarchy."
        )
        yield Remark(attribute.name, message, tuple(lacking))
    renamed = attribute.hierarchy.renamed
    if renamed:
        labels = format_quantity(len(renamed), "label", "labels")
        message = (
            f"has {labels} in its hierarchy that stood for other values at a level below, and got "
            "a name with the level."
        )
        yield Remark(attribute.name, message, tuple(renamed.values()))


def _compare_weight(attribute: Attribute, column: Column) -> Iterator[Remark]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if attribute.role != "weight":
        return
    kind = column.values.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        yield Remark(attribute.name, "is the weight and does not contain numbers.")
        return
    if len(column.values) and pc.min(column.values).as_py() < 1:
        yield Remark(attribute.name, "is the weight and is below 1 for some records.")
    if column.has_missing:
        yield Remark(attribute.name, "is the weight and is missing for some records.")


def _find_mixed_values(attribute: Attribute, column: Column) -> Iterator[Remark]:
    """Text that is numbers but for a few records: a slip, a code, or a missing value."""
    import pyarrow as pa

    if not pa.types.is_string(column.values.type) or len(column.values) < 2:
        return
    numeric = _find_numeric_texts(column.values)
    if not numeric.any() or numeric.all():
        return
    is_number = np.append(numeric, True)
    others = int(np.count_nonzero(~is_number[column.codes]))
    if 0 < others <= (1 - tuning.MOSTLY_NUMERIC_SHARE) * len(column.codes):
        first = int(np.argmax(~is_number[column.codes])) + 1
        message = (
            f"contains numbers in all records but record {first:,}."
            if others == 1
            else f"contains numbers in all but {others:,} records, the first in record {first:,}."
        )
        other_values = column.values.filter(pa.array(~numeric))
        yield Remark(attribute.name, message, tuple(other_values.to_pylist()))


def _find_numeric_texts(values: pa.Array) -> npt.NDArray[np.bool_]:
    """Which texts are numbers; of a few, one by one is faster."""
    import pyarrow.compute as pc

    if len(values) <= tuning.MAX_RECORDS_ENCODED_SINGLY:
        is_number = re.compile(NUMERIC_TEXT).fullmatch
        return np.array([is_number(text) is not None for text in values.to_pylist()], np.bool_)
    matches = pc.match_substring_regex(values, f"^{NUMERIC_TEXT}$")
    return np.asarray(matches.to_numpy(zero_copy_only=False), np.bool_)
