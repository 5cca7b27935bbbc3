"""What a protected release makes an adversary believe of everybody: records, and secrets.

Their belief in a released record is what it weighs for the person they look for (`compatibility`),
times the prior on records. Their belief in a secret value adds up over the records that show it;
what is shown coarser, or hidden, is spread over the values it may stand for, by their shares in the
original.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.assessment import Claim
from divulge.engines import IntArray
from divulge.records.inference.best_guess import entries, looked_up, payoffs
from divulge.records.inference.per_record import OfEach
from divulge.records.inference.secrets import Secrets
from divulge.records.models.linked_datasets import Linked
from divulge.records.protected.compatibility import Fit, fit
from divulge.records.protected.dataset_pair import Pair
from divulge.records.protected.value_mapping import REMOVED, Paired
from divulge.work import DivulgeError

FloatArray = npt.NDArray[np.float64]
SAME = 1e-9
MOST_PAIRS = 100_000_000


@dataclass(frozen=True)
class Beliefs:
    """What the release tells of each focal person of the original, weighed by a prior on records.

    `own` is the place of each person's record among the released; `fit` says which may be theirs.
    """

    fit: Fit
    own: IntArray
    secrets: Secrets
    sought: tuple[Paired, ...]
    unplaced: int

    @classmethod
    def of(cls, pair: Pair, linked: Linked, knows: list[str], seeks: list[str], secrets: Secrets
           ) -> Beliefs:  # fmt: skip
        """Weigh the released records for everybody."""
        known, sought = pair.attributes(linked, knows), tuple(pair.secrets(linked, seeks))
        return cls(fit(known), pair.own(linked), secrets, sought, sum(k.unplaced for k in known))

    @property
    def claim(self) -> Claim:
        """Counting is exact; chances of hidden and coarse cells are estimates."""
        spread = self.sought and self.of_secrets.weighed
        return "estimate" if self.fit.weighed or spread or self.unplaced else "exact"

    @cached_property
    def prior(self) -> FloatArray:
        """What each released record weighs before."""
        weight = np.ones(len(self.fit.of_record))
        mine = self.own != REMOVED
        weight[self.own[mine]] = self.secrets.weight[mine]
        return weight

    @cached_property
    def matching(self) -> FloatArray:
        """By class of people, how many released records may be theirs."""
        return np.asarray(self.fit.possible @ self.fit.records.astype(np.float64))

    @cached_property
    def likely(self) -> FloatArray:
        """The same without the records that the prior rules out."""
        records = np.bincount(self.fit.of_record, self.prior > 0, self.fit.patterns)
        return np.asarray(self.fit.possible @ records)

    def of_each(self, gain: Any) -> OfEach:
        """What is known of each person, before and after."""
        blind = self.secrets.blind
        certain, right = self._secrets_found() if self.sought else self._records_found()
        worth = None
        if gain is not None:
            worth = blind.gained_of_each(gain), self._gained(gain)
        return OfEach(
            (blind.certain_of_each, certain), (blind.right_of_each, right), worth,
            self.secrets.prior,
        )  # fmt: skip

    @cached_property
    def risk(self) -> FloatArray:
        """The probability that the adversary gives to the truth about each person."""
        person = self.fit.of_person
        if self.sought:
            total = np.asarray(self.of_values.sum(axis=1)).reshape(-1)[person]
            mine = self._at_truth(self.of_values)
        else:
            weighed = np.bincount(self.fit.of_record, self.prior, self.fit.patterns)
            total = np.asarray(self.fit.weight @ weighed)[person]
            mine = self._weight_of_own()
        risk: FloatArray = np.divide(mine, total, where=total > 0, out=np.zeros(len(person)))
        return risk

    def _records_found(self) -> tuple[npt.NDArray[np.bool_], FloatArray]:
        """Whose own record is the only one left, and the chance that the best guess is it."""
        heaviest = np.zeros(self.fit.patterns)
        np.maximum.at(heaviest, self.fit.of_record, self.prior)
        top = self.prior >= heaviest[self.fit.of_record] * (1 - SAME)
        alike = np.bincount(self.fit.of_record, top, self.fit.patterns)
        rows, columns, weight = entries(self.fit.weight)
        offered = weight * heaviest[columns]
        best = np.zeros(self.fit.weight.shape[0])
        np.maximum.at(best, rows, offered)
        tied = offered >= best[rows] * (1 - SAME)
        ties = np.bincount(rows[tied], alike[columns[tied]], len(best))
        person = self.fit.of_person
        mine = self._weight_of_own()
        hers = (mine > 0) & (mine >= best[person] * (1 - SAME))
        certain = (self.likely[person] == 1) & (mine > 0)
        return certain, hers / np.maximum(1, ties[person])

    def _weight_of_own(self) -> FloatArray:
        """What each person's own record weighs; 0 where it was removed or does not fit."""
        pattern = np.append(self.fit.of_record, REMOVED)[self.own]
        rows, columns, weight = entries(self.fit.weight)
        fits = looked_up(rows, columns, weight, self.fit.patterns, self.fit.of_person, pattern)
        return np.asarray(fits * np.append(self.prior, 0.0)[self.own], np.float64)

    @cached_property
    def of_secrets(self) -> Fit:
        """Classes of secret values of the original x what the release shows for them."""
        return fit(self.sought)

    @cached_property
    def of_values(self) -> Any:
        """Classes of people x secret values of the original: what the release makes of them.

        What a record shows may stand for several values (coarser, or hidden); it is then spread
        over them by their shares in the original. Of those whom no record fits, the belief is what
        it was before.
        """
        from scipy import sparse

        shown = self.of_secrets
        places = (self.fit.of_record, shown.of_record)
        shape = (self.fit.patterns, shown.patterns)
        by_pattern = sparse.coo_array((self.prior, places), shape).tocsr()
        values = np.bincount(shown.of_person, self.secrets.weight).astype(np.float64)
        stands = shown.possible.multiply(values[:, None]).tocsr()
        total = np.asarray(stands.sum(axis=0)).reshape(-1)
        scale = np.divide(1.0, total, where=total > 0, out=np.zeros(len(total)))
        told = self.fit.weight @ by_pattern @ (stands.multiply(scale[None, :])).T.tocsr()
        untold = sparse.csr_array((self.matching == 0).astype(np.float64)[:, None])
        return (told + untold @ sparse.csr_array(values[None, :])).tocsr()

    @cached_property
    def truth(self) -> IntArray:
        """The secret value of each person, as the original has it."""
        return self.of_secrets.of_person

    def _at_truth(self, beliefs: Any) -> FloatArray:
        rows, columns, weight = entries(beliefs)
        return looked_up(rows, columns, weight, beliefs.shape[1], self.fit.of_person, self.truth)

    def _secrets_found(self) -> tuple[npt.NDArray[np.bool_], FloatArray]:
        """Whose secret is the only one left, and the chance that the best guess is it."""
        rows, columns, weight = entries(self.of_values)
        some = weight > 0
        rows, columns, weight = rows[some], columns[some], weight[some]
        classes = self.of_values.shape[0]
        left = np.bincount(rows, minlength=classes)
        best = np.zeros(classes)
        np.maximum.at(best, rows, weight)
        ties = np.bincount(rows[weight >= best[rows] * (1 - SAME)], minlength=classes)
        person = self.fit.of_person
        mine = self._at_truth(self.of_values)
        hers = (mine > 0) & (mine >= best[person] * (1 - SAME))
        return (left[person] == 1) & (mine > 0), hers / np.maximum(1, ties[person])

    def _gained(self, gain: Any) -> FloatArray:
        from scipy import sparse

        if self.sought:
            return payoffs(gain, self._by_code(), self.fit.of_person, self._codes())
        if float(self.matching.sum()) > MOST_PAIRS:
            message = "too many records fit too many people to weigh a gain on single records"
            raise DivulgeError(message)
        # A gain is on records as the original has them, whatever their order in the release.
        there = np.flatnonzero(self.own != REMOVED)
        own = self.own[there]
        shape = (self.fit.patterns, len(self.own))
        spread = sparse.coo_array((self.prior[own], (self.fit.of_record[own], there)), shape)
        truth = np.where(self.own != REMOVED, np.arange(len(self.own)), REMOVED)
        return payoffs(gain, (self.fit.weight @ spread.tocsr()).tocsr(), self.fit.of_person, truth)

    def _codes(self) -> IntArray:
        assert self.secrets.secret is not None  # noqa: S101  # only where one is sought
        return self.secrets.secret.codes.astype(np.int64)

    def _by_code(self) -> Any:
        """The beliefs with secrets numbered as the gain takes them: as the column codes them."""
        from scipy import sparse

        codes = self._codes()
        assert self.secrets.secret is not None  # noqa: S101  # only where one is sought
        of_class = np.zeros(self.of_values.shape[1], np.int64)
        of_class[self.truth] = codes
        shape = (self.of_values.shape[1], self.secrets.secret.cardinality)
        ones = np.ones(len(of_class))
        rename = sparse.coo_array((ones, (np.arange(len(of_class)), of_class)), shape).tocsr()
        return (self.of_values @ rename).tocsr()

    def of_one(self, place: int) -> tuple[FloatArray, int]:
        """The posterior of one class of people (records or secret codes), and how many match."""
        matched = round(float(self.matching[place]))
        if self.sought:
            shares = self._by_code()[[place]].toarray().reshape(-1)
        else:
            row = self.fit.weight[[place]].toarray().reshape(-1)
            there = self.own != REMOVED
            shares = np.zeros(len(self.own))
            shares[there] = (row[self.fit.of_record] * self.prior)[self.own[there]]
        total = shares.sum()
        return shares / total if total > 0 else shares, matched
