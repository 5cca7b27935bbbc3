"""What is inferred of people who have several records: whose a record is, or what it hides.

The victim is one of N people, and one of their records is drawn: the adversary sees its class (or,
if all records of the victim are known, the classes of all of them too). A record of a person with n
records so weighs 1/n. Sums of these weights are fractions, and stay fractions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from divulge.classes.partition import AttributeCodes, Partition, number_ids
from divulge.classes.people import People
from divulge.records.inference.secrets import Secrets
from divulge.work.arrays import Bools, Floats


@dataclass(frozen=True, eq=False)
class PeopleSecrets:
    """The secret of each drawn record among those that look alike to the adversary.

    `secret` is what is sought of the drawn record; None: whose it is. `prior` weighs the records
    beside: a person weighs the mean of theirs.
    """

    people: People
    classes: Partition
    secret: AttributeCodes | None = None
    prior: Floats | None = None

    @cached_property
    def weighed(self) -> Secrets:
        """The same secrets as those of records that weigh differently."""
        secret = self.people.codes if self.secret is None else self.secret
        return Secrets(self.classes, secret, self.weight)

    @cached_property
    def weight(self) -> Floats:
        """What each record weighs."""
        weight = self.people.weight
        return weight if self.prior is None else weight * self.prior

    @property
    def prior_knowledge(self) -> PeopleSecrets:
        """The same secrets for somebody who knows nothing: what they know before."""
        nothing = Partition.single_class(len(self.classes.of_record))
        return PeopleSecrets(self.people, nothing, self.secret, self.prior)

    @cached_property
    def people_per_class(self) -> npt.NDArray[np.int64]:
        """How many persons have a record in each class."""
        return self.people.count_per_class(self.classes.of_record, self.classes.number)

    @property
    def certain(self) -> Fraction | float:
        """How many people have their secret known for certain."""
        return self._count_people(self.weighed.certain_records)

    @property
    def right(self) -> Fraction | float:
        """How many people best guesses get right on average."""
        return self._count_people(self._guessed_records)

    @cached_property
    def _guessed_records(self) -> Bools:
        """The records that one best guess a class gets right; of equal guesses, one."""
        secret = self.people.codes if self.secret is None else self.secret
        joint = self.classes.of_record.astype(np.int64) * secret.cardinality + secret.codes
        cell, number = number_ids(joint)
        weight = np.bincount(cell, self.weight, number)
        of_cell = np.empty(number, np.int64)
        of_cell[cell] = self.classes.of_record
        order = np.lexsort([-weight, of_cell])
        first = np.flatnonzero(np.append(True, np.diff(of_cell[order]) > 0))
        is_guess = np.zeros(number, np.bool_)
        is_guess[order[first]] = True
        return is_guess[cell]

    def _count_people(self, chosen: Bools) -> Fraction | float:
        """What some records weigh, in people: exactly, unless a prior is a float already."""
        if self.prior is None:
            return self.people.count_chosen(chosen)
        return float(self.weight[chosen].sum() / self.weight.sum()) * self.people.number

    @property
    def capacity(self) -> float:
        """Multiplicative Bayes capacity: the most that any prior on secrets is multiplied."""
        secret = self.people.codes if self.secret is None else self.secret
        total = np.bincount(secret.codes, self.weight, secret.cardinality)[secret.codes]
        share = np.divide(self.weight, total, where=total > 0, out=np.zeros(len(total)))
        joint = self.classes.of_record.astype(np.int64) * secret.cardinality + secret.codes
        cell, number = number_ids(joint)
        share = np.bincount(cell, share, number)
        highest = np.zeros(self.classes.number)
        of_cell = np.empty(number, np.int64)
        of_cell[cell] = self.classes.of_record
        np.maximum.at(highest, of_cell, share)
        return float(highest.sum())


def plain_number(count: Fraction | float) -> Fraction | float:
    """A whole number of people as an integer; a fraction stays one."""
    return int(count) if isinstance(count, Fraction) and count.denominator == 1 else count
