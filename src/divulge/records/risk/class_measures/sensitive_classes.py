"""Classes of records that look alike, and the values of a sensitive attribute in each.

Where cells are missing, what looks alike is a choice (see `classes.null_semantics`): under `value`
and `standard` classes share no record; under `maybe`, `known` and `bayes` they overlap, and a class
is all that one record may be taken for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from divulge.assessment import Claim
from divulge.classes.key_codes import encode_keys
from divulge.classes.keys import assign_classes, sum_by_place
from divulge.classes.overlapping_classes import Entries, gather_overlapping_entries
from divulge.classes.people import RECORDS_KNOWN, RecordsKnown, require_one_record_each
from divulge.classes.relation.profiles import count_relation_profiles
from divulge.classes.relation.values import count_missing
from divulge.classes.survey_design import weights_or_ones
from divulge.data import Column, Dataset, Relation
from divulge.data.column import find_hidden_cells
from divulge.data.relation.relation import build_elsewhere_error
from divulge.records.risk.null_readings import (
    SEMANTICS,
    SEMANTICS_OF_ALIKE_NULLS,
    SEMANTICS_OF_ORIGINAL,
    Nulls,
    build_hidden_cells_error,
)
from divulge.work import InvalidInput, Problem, Problems, checks
from divulge.work.arrays import Floats, Ints

Count: TypeAlias = Literal["records", "population"]
"""Whether records are counted, or the people of the population for whom they stand."""

COUNTS: tuple[Count, ...] = get_args(Count)


@dataclass(frozen=True, kw_only=True)
class CountingRules:
    """How those who look alike are counted: on which attributes, with which nulls and weights."""

    attributes: tuple[str, ...]
    nulls: Nulls = "bayes"
    count: Count = "records"
    original: Dataset | None = None
    hides: bool = False
    """Whether a cell of these attributes is missing."""
    ways: tuple[Nulls, ...] = SEMANTICS
    """The semantics that can be compared with this one."""
    records_known: RecordsKnown = "one"
    """Of people with several records, whether one is known or all."""

    @property
    def claim(self) -> Claim:
        """Counting records is exact; weighing them by chances or sampling weights estimates."""
        return "estimate" if self.weighs or self.count == "population" else "exact"

    @property
    def weighs(self) -> bool:
        """Whether some records that fit somebody are likelier theirs than others."""
        return self.nulls == "bayes" and self.original is not None


@dataclass(frozen=True, kw_only=True)
class SensitiveClasses:
    """How often each value of a sensitive attribute occurs in each class.

    One entry for each value that occurs in a class: entry e says that class `of_class[e]` has
    `count[e]` records with the code `code[e]`; entries are sorted by class, then by code. A
    missing sensitive value is a value of its own. `size` is how many records have each class for
    theirs, `overall` the share of every code among all records.
    """

    attribute: str
    column: Column
    of_record: Ints
    size: Ints
    of_class: Ints
    code: Ints
    count: npt.NDArray[Any]
    overall: Floats
    counting: CountingRules
    class_number: Ints | None = None
    """How many classes each is, where records stay elsewhere; None: one."""

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.size.size)

    @property
    def among(self) -> tuple[str, ...]:
        """The attributes that make records look alike."""
        return self.counting.attributes

    @property
    def missing_records(self) -> int:
        """How many records lack a sensitive value."""
        column = self.column
        if self.class_number is None:
            return int((column.codes == column.missing_code).sum())
        lacks = self.code == column.missing_code
        return int((self.count * self.class_number[self.of_class])[lacks].sum())

    @property
    def total(self) -> Floats:
        """All that each class holds; its size, unless classes overlap or records are weighed."""
        return self.sum_per_class(self.count)

    @property
    def share(self) -> Floats:
        """The share of each entry in its class."""
        shares: Floats = self.count / self.total[self.of_class]
        return shares

    def sum_per_class(self, amounts: npt.NDArray[Any]) -> Floats:
        """The sum of an amount of each entry over each class."""
        return sum_by_place(self.of_class, amounts, self.classes)


def build_counting(
    dataset: Dataset,
    among: str | Iterable[str] | None = None,
    nulls: Nulls = "bayes",
    count: Count = "records",
    original: Dataset | None = None,
    *,
    records_known: RecordsKnown = "one",
) -> CountingRules:
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
    problems.extend("", checks.one_of("records_known", records_known, RECORDS_KNOWN))
    problems.raise_any()
    if isinstance(dataset, Relation):
        if original is not None:
            what = "an original beside a release"
            raise build_elsewhere_error(dataset.name, dataset.engine, what)
        # What is missing where records stay is absent; some readings take it for anything.
        return CountingRules(
            attributes=names,
            nulls=nulls,
            count=count,
            hides=nulls not in SEMANTICS_OF_ORIGINAL
            and any(count_missing(dataset, name) for name in names),
            ways=SEMANTICS,
            records_known=records_known,
        )
    hides_unknown = original is None and any(
        np.any(find_hidden_cells(dataset.columns[name])) for name in names
    )
    if nulls in SEMANTICS_OF_ORIGINAL and hides_unknown:
        raise build_hidden_cells_error(dataset, names, nulls)
    # Absence is a value to somebody who weighs; to others, every null may be anything.
    hides = nulls not in SEMANTICS_OF_ORIGINAL and any(
        dataset.columns[name].has_missing for name in names
    )
    ways = SEMANTICS
    if hides_unknown:
        ways = tuple(each for each in SEMANTICS if each not in SEMANTICS_OF_ORIGINAL)
    return CountingRules(
        attributes=names,
        nulls=nulls,
        count=count,
        original=original,
        hides=hides,
        ways=ways,
        records_known=records_known,
    )


def count_sensitive_values(
    dataset: Dataset,
    attribute: str | None = None,
    among: str | Iterable[str] | None = None,
    *,
    nulls: Nulls = "bayes",
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
    >>> found = count_sensitive_values(dv.datasets.school_year_example(), among="gender")
    >>> found.attribute, found.size.tolist(), found.count.tolist()
    ('disability', [6, 4], [2, 4, 3, 1])
    """
    require_one_record_each(dataset, "what classes give away is counted by records")
    name = find_sensitive_attribute(dataset, attribute)
    counting = build_counting(dataset, among, nulls, count, original)
    if name in counting.attributes:
        message = f'"{name}" is the sensitive attribute; it cannot also define the classes.'
        raise InvalidInput(f'dataset "{dataset.name}"', [Problem("among", message)])
    if isinstance(dataset, Relation):
        return _count_where_they_are(dataset, name, counting)
    column = dataset.columns[name]
    values = len(column.values) + 1
    weights = weights_or_ones(dataset) if count == "population" else None
    if has_overlap(counting):
        entries = gather_overlapping_entries(
            dataset,
            counting.attributes,
            nulls,
            original=original,
            codes=column.codes,
            values=values,
            weights=weights,
        )
    else:
        entries = _count_disjoint_entries(
            classify_records(dataset, counting), column.codes, values, weights
        )
    overall_counts = sum_by_place(
        column.codes, np.ones(dataset.rows) if weights is None else weights, values
    )
    return SensitiveClasses(
        attribute=name,
        column=column,
        of_record=entries.of_record,
        size=np.bincount(entries.of_record),
        of_class=entries.of_class,
        code=entries.code,
        count=entries.amount,
        overall=overall_counts / float(overall_counts.sum()),
        counting=counting,
    )


def _count_where_they_are(
    relation: Relation, name: str, counting: CountingRules
) -> SensitiveClasses:
    """The same by an engine: classes that hold the same are one here, with their number."""
    if has_overlap(counting):
        what = 'what overlapping classes give away (nulls = "maybe")'
        raise build_elsewhere_error(relation.name, relation.engine, what)
    if counting.hides:  # what it would be if missing values were anything is not counted here
        ways = tuple(each for each in counting.ways if each != "maybe")
        counting = replace(counting, ways=ways)
    is_weighed = counting.count == "population"
    profiles = count_relation_profiles(
        relation, counting.attributes, name, counting.nulls, weighed=is_weighed
    )
    number = len(profiles.size)
    everywhere = sum_by_place(
        profiles.code,
        profiles.amount * profiles.classes[profiles.of_profile],
        len(profiles.column.values) + 1,
    )
    return SensitiveClasses(
        attribute=name,
        column=profiles.column,
        of_record=np.arange(number),
        size=profiles.size * profiles.classes,
        of_class=profiles.of_profile,
        code=profiles.code,
        count=profiles.amount if is_weighed else np.rint(profiles.amount).astype(np.int64),
        overall=everywhere / float(everywhere.sum()),
        counting=counting,
        class_number=profiles.classes,
    )


def has_overlap(counting: CountingRules) -> bool:
    """Whether a record may be in the classes of several others."""
    if counting.nulls in SEMANTICS_OF_ORIGINAL and counting.original is not None:
        return True
    return counting.hides and counting.nulls not in ("value", "standard")


def classify_records(dataset: Dataset, counting: CountingRules) -> Ints:
    """The class of each record where classes share none: by equal cells, or none with a null."""
    columns = [dataset.columns[name] for name in counting.attributes]
    keys = encode_keys(
        dataset,
        counting.attributes,
        absence_apart=counting.nulls not in SEMANTICS_OF_ALIKE_NULLS,
    )
    of_record = assign_classes(
        [key.codes for key in keys], [key.cardinality for key in keys], dataset.rows
    )
    if counting.nulls != "standard":
        return of_record
    hides = np.zeros(dataset.rows, np.bool_)
    for column in columns:
        hides |= column.codes == column.missing_code
    top = int(of_record.max(initial=-1)) + 1
    own = np.where(hides, top + np.arange(dataset.rows), of_record)
    return np.unique(own, return_inverse=True)[1].reshape(-1).astype(np.int64)


def find_sensitive_attribute(dataset: Dataset, attribute: str | None) -> str:
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


def _count_disjoint_entries(
    of_record: Ints, codes: npt.NDArray[Any], values: int, weights: Floats | None
) -> Entries:
    """Entries of classes that share no record."""
    joint = of_record * values + codes
    if weights is None:
        entries, amount = np.unique(joint, return_counts=True)
        return Entries(of_record, entries // values, entries % values, amount.astype(np.int64))
    entries, place = np.unique(joint, return_inverse=True)
    weighed = sum_by_place(place.reshape(-1), weights, entries.size)
    return Entries(of_record, entries // values, entries % values, weighed)
