"""People, not rows: who the records of a dataset are of, where somebody has several of them.

With the role `person`, an adversary knows one record of their victim, drawn at random among the
victim's records, or all of them. Everybody is equally likely the victim, so a record weighs one
over the number of records of its person, and a class counts the persons in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from divulge.classes.partition import AttributeCodes, Partition, number_ids
from divulge.classes.relation.values import count_missing, count_values
from divulge.data import Dataset, Relation
from divulge.data.column import find_hidden_cells
from divulge.work import InvalidInput, Problem, checks, format_quantity
from divulge.work.arrays import Bools, Floats, Ints

RecordsKnown: TypeAlias = Literal["one", "all"]
"""How many of their victim's records an adversary knows."""

RECORDS_KNOWN: tuple[RecordsKnown, ...] = get_args(RecordsKnown)


class UnjudgedPeopleError(InvalidInput):
    """Somebody has several records, and what was asked for counts records: it is not judged."""


@dataclass(frozen=True, eq=False)
class People:
    """The person of each record, numbered from 0, and how many records each has."""

    of_record: Ints
    records: Ints

    @property
    def number(self) -> int:
        """How many persons there are."""
        return len(self.records)

    @property
    def codes(self) -> AttributeCodes:
        """The person of each record as a secret of its own."""
        return AttributeCodes(self.of_record, self.number)

    @cached_property
    def own_records(self) -> Ints:
        """Of each record, how many its person has."""
        return self.records[self.of_record]

    @cached_property
    def weight(self) -> Floats:
        """What each record weighs where everybody is equally likely, and their records are."""
        return 1 / self.own_records

    def count_chosen(self, chosen: Bools) -> Fraction:
        """How many people some records stand for: each record for its share of a person."""
        numerators = np.bincount(self.own_records[chosen])
        shares = (Fraction(int(numerators[n]), int(n)) for n in np.flatnonzero(numerators))
        return sum(shares, Fraction(0))

    def count_per_class(self, of_record: npt.NDArray[Any], classes: int) -> Ints:
        """How many persons have a record in each class."""
        pairs = np.unique(of_record.astype(np.int64) * self.number + self.of_record)
        return np.bincount(pairs // self.number, minlength=classes)

    def gather_all_records(self, classes: Partition) -> Partition:
        """The classes of records whose persons are alike in all their records.

        Two persons are alike if the classes of their records are the same, each as often.
        """
        order = np.lexsort([classes.of_record, self.of_record])
        starts = np.cumsum(self.records) - self.records
        sorted_classes = classes.of_record[order].astype(np.int64)
        alike: Ints = np.zeros(self.number, np.int64)
        # Record by record of those who have so many: what was equal so far, and this one too.
        for place in range(int(self.records.max(initial=0))):
            having = np.flatnonzero(self.records > place)
            joint = alike[having] * classes.number + sorted_classes[starts[having] + place]
            alike[having], _ = number_ids(joint)
        joint = alike * (int(self.records.max(initial=0)) + 1) + self.records
        of_person, number = number_ids(joint)
        return Partition(of_person[self.of_record], number)

    def observe(self, classes: Partition, records_known: RecordsKnown) -> Partition:
        """What an adversary sees of a record: its class, and those of the person's others."""
        if records_known == "one":
            return classes
        alike = self.gather_all_records(classes)
        return classes.refine_by([AttributeCodes(alike.of_record, alike.number)])


def find_people(dataset: Dataset) -> People | None:
    """The people of a dataset in which somebody has several records; None if nobody has.

    Raises:
        UnjudgedPeopleError: if some records do not say whose they are.

    >>> import pyarrow as pa
    >>> visits = Dataset.from_arrow(pa.table({"who": [7, 7, 9]}), roles={"person": "who"})
    >>> find_people(visits).records.tolist()
    [2, 1]
    """
    names = dataset.dictionary.having("person")
    if not names:
        return None
    if isinstance(dataset, Relation):
        _require_single_records(dataset)
        return None
    column = dataset.columns[names[0]]
    missing = int(np.count_nonzero(column.codes == column.missing_code))
    if missing:
        raise _build_nameless_error(dataset, names[0], missing)
    of_record, number = number_ids(column.codes)
    if number == dataset.rows:
        return None
    return People(of_record, np.bincount(of_record, minlength=number))


def find_person_attribute(relation: Relation) -> str | None:
    """The attribute that says whose a record is, if somebody has several; None if nobody has.

    Raises:
        UnjudgedPeopleError: if some records do not say whose they are.
    """
    names = relation.dictionary.having("person")
    if not names:
        return None
    missing = count_missing(relation, names[0])
    if missing:
        raise _build_nameless_error(relation, names[0], missing)
    return names[0] if count_values(relation, names[0]) < relation.rows else None


def _require_single_records(relation: Relation) -> None:
    """People with several records are counted in memory only."""
    name = find_person_attribute(relation)
    if name is not None:
        message = (
            f"there are {relation.rows:,} records of {count_values(relation, name):,} people, and "
            "people are counted in memory only here, while the records stay with "
            f"{relation.engine}: not judged."
        )
        raise UnjudgedPeopleError(f'dataset "{relation.name}"', [Problem("", message)])


def _build_nameless_error(dataset: Dataset, name: str, missing: int) -> UnjudgedPeopleError:
    records = format_quantity(missing, "record does", "records do")
    message = f"{records} not say whose they are, so people cannot be counted: not judged. "
    message += "Leave these records out, or give each person among them a value of their own."
    return UnjudgedPeopleError(f'dataset "{dataset.name}"', [Problem(name, message)])


def require_one_record_each(dataset: Dataset, what: str) -> None:
    """Refuse what counts records where somebody has several of them.

    Raises:
        UnjudgedPeopleError: if a person has more than one record.
    """
    people = find_people(dataset)
    if people is not None:
        raise build_unjudged_error(dataset, people, what)


def build_unjudged_error(dataset: Dataset, people: People | int, what: str) -> UnjudgedPeopleError:
    """How many records of how many people there are, and what cannot be judged of them."""
    number = people if isinstance(people, int) else people.number
    message = (
        f"there are {dataset.rows:,} records of {number:,} people, and {what}: not judged. "
        "Take one record a person, or a measure that counts people, such as k_anonymity."
    )
    [name] = dataset.dictionary.having("person")
    return UnjudgedPeopleError(f'dataset "{dataset.name}"', [Problem(name, message)])


def require_shown_cells(
    dataset: Dataset, names: list[str] | tuple[str, ...], people: People
) -> None:
    """Refuse to compare all records of people where some of their cells are hidden.

    Raises:
        UnjudgedPeopleError: if a cell of these attributes is hidden.
    """
    if any(np.any(find_hidden_cells(dataset.columns[name])) for name in names):
        what = 'records_known = "all" does not weigh what is hidden'
        raise build_unjudged_error(dataset, people, what)


def check_records_known(records_known: str, subject: str) -> None:
    """Whether an adversary may know so many records of their victim.

    Raises:
        InvalidInput: if it is neither `one` nor `all`.
    """
    problems = list(checks.one_of("records_known", records_known, RECORDS_KNOWN))
    if problems:
        raise InvalidInput(subject, problems)
