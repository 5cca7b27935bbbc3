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
from divulge.records import tuning
from divulge.records.inference.best_guess import compute_payoffs, list_entries, look_up_entries
from divulge.records.inference.per_record import PerRecordSuccess
from divulge.records.inference.secrets import Secrets
from divulge.records.models.linked_datasets import LinkedDatasets
from divulge.records.protected.compatibility import Compatibility, join_people_to_records
from divulge.records.protected.dataset_pair import DatasetPair
from divulge.records.protected.value_mapping import REMOVED, AttributePair
from divulge.work import DivulgeError
from divulge.work.arrays import Floats, Ints

TIE_TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True)
class Beliefs:
    """What the release tells of each focal person of the original, weighed by a prior on records.

    `own_record` is the place of each person's record among the released; `join_people_to_records`
    says which may be theirs.
    """

    compatibility: Compatibility
    own_record: Ints
    secrets: Secrets
    secret_pairs: tuple[AttributePair, ...]
    unplaced: int

    @classmethod
    def from_pair(
        cls, pair: DatasetPair, linked: LinkedDatasets,
        knows: list[str], seeks: list[str], secrets: Secrets,
    ) -> Beliefs:  # fmt: skip
        """Weigh the released records for everybody."""
        known, sought = pair.pair_attributes(linked, knows), tuple(pair.pair_secrets(linked, seeks))
        return cls(
            compatibility=join_people_to_records(known),
            own_record=pair.locate_own_records(linked),
            secrets=secrets,
            secret_pairs=sought,
            unplaced=sum(k.unplaced for k in known),
        )

    @property
    def claim(self) -> Claim:
        """Counting is exact; chances of hidden and coarse cells are estimates."""
        spread = self.secret_pairs and self.secret_compatibility.is_weighed
        return "estimate" if self.compatibility.is_weighed or spread or self.unplaced else "exact"

    @cached_property
    def prior(self) -> Floats:
        """What each released record weighs before."""
        weight = np.ones(len(self.compatibility.of_record))
        is_released = self.own_record != REMOVED
        weight[self.own_record[is_released]] = self.secrets.weight[is_released]
        return weight

    @cached_property
    def matching_records(self) -> Floats:
        """By class of people, how many released records may be theirs."""
        return np.asarray(
            self.compatibility.possible @ self.compatibility.records_per_pattern.astype(np.float64)
        )

    @cached_property
    def likely_records(self) -> Floats:
        """The same without the records that the prior rules out."""
        records = np.bincount(
            self.compatibility.of_record, self.prior > 0, self.compatibility.pattern_count
        )
        return np.asarray(self.compatibility.possible @ records)

    def assess_people(self, gain: Any) -> PerRecordSuccess:
        """What is known of each person, before and after."""
        before = self.secrets.prior_knowledge
        certain, right = (
            self._assess_secret_guesses() if self.secret_pairs else self._assess_record_guesses()
        )
        worth = None
        if gain is not None:
            worth = before.compute_gain_per_record(gain), self._compute_gain(gain)
        return PerRecordSuccess(
            certain=(before.certain_records, certain),
            right=(before.correct_chance, right),
            worth=worth,
            weight=self.secrets.prior,
        )

    @cached_property
    def risk(self) -> Floats:
        """The probability that the adversary gives to the truth about each person."""
        person = self.compatibility.of_person
        if self.secret_pairs:
            total = np.asarray(self.secret_beliefs.sum(axis=1)).reshape(-1)[person]
            own_weight = self._look_up_truth(self.secret_beliefs)
        else:
            pattern_weight = np.bincount(
                self.compatibility.of_record, self.prior, self.compatibility.pattern_count
            )
            total = np.asarray(self.compatibility.weight @ pattern_weight)[person]
            own_weight = self._weigh_own_records()
        risk: Floats = np.divide(own_weight, total, where=total > 0, out=np.zeros(len(person)))
        return risk

    def _assess_record_guesses(self) -> tuple[npt.NDArray[np.bool_], Floats]:
        """Whose own record is the only one left, and the chance that the best guess is it."""
        heaviest = np.zeros(self.compatibility.pattern_count)
        np.maximum.at(heaviest, self.compatibility.of_record, self.prior)
        top = self.prior >= heaviest[self.compatibility.of_record] * (1 - TIE_TOLERANCE)
        alike = np.bincount(self.compatibility.of_record, top, self.compatibility.pattern_count)
        rows, columns, weight = list_entries(self.compatibility.weight)
        candidate_weight = weight * heaviest[columns]
        best = np.zeros(self.compatibility.weight.shape[0])
        np.maximum.at(best, rows, candidate_weight)
        is_tied = candidate_weight >= best[rows] * (1 - TIE_TOLERANCE)
        ties = np.bincount(rows[is_tied], alike[columns[is_tied]], len(best))
        person = self.compatibility.of_person
        own_weight = self._weigh_own_records()
        is_best = (own_weight > 0) & (own_weight >= best[person] * (1 - TIE_TOLERANCE))
        certain = (self.likely_records[person] == 1) & (own_weight > 0)
        return certain, is_best / np.maximum(1, ties[person])

    def _weigh_own_records(self) -> Floats:
        """What each person's own record weighs; 0 where it was removed or does not fit."""
        pattern = np.append(self.compatibility.of_record, REMOVED)[self.own_record]
        rows, columns, weight = list_entries(self.compatibility.weight)
        fits = look_up_entries(
            rows,
            columns,
            weight,
            width=self.compatibility.pattern_count,
            of_record=self.compatibility.of_person,
            truth=pattern,
        )
        return np.asarray(fits * np.append(self.prior, 0.0)[self.own_record], np.float64)

    @cached_property
    def secret_compatibility(self) -> Compatibility:
        """Classes of secret values of the original x what the release shows for them."""
        return join_people_to_records(self.secret_pairs)

    @cached_property
    def secret_beliefs(self) -> Any:
        """Classes of people x secret values of the original: what the release makes of them.

        What a record shows may stand for several values (coarser, or hidden); it is then spread
        over them by their shares in the original. Of those whom no record fits, the belief is what
        it was before.
        """
        from scipy import sparse

        secret_patterns = self.secret_compatibility
        places = (self.compatibility.of_record, secret_patterns.of_record)
        shape = (self.compatibility.pattern_count, secret_patterns.pattern_count)
        by_pattern = sparse.coo_array((self.prior, places), shape).tocsr()
        values = np.bincount(secret_patterns.of_person, self.secrets.weight).astype(np.float64)
        value_weights = secret_patterns.possible.multiply(values[:, None]).tocsr()
        total = np.asarray(value_weights.sum(axis=0)).reshape(-1)
        scale = np.divide(1.0, total, where=total > 0, out=np.zeros(len(total)))
        shown_beliefs = (
            self.compatibility.weight
            @ by_pattern
            @ (value_weights.multiply(scale[None, :])).T.tocsr()
        )
        unmatched = sparse.csr_array((self.matching_records == 0).astype(np.float64)[:, None])
        return (shown_beliefs + unmatched @ sparse.csr_array(values[None, :])).tocsr()

    @cached_property
    def truth(self) -> Ints:
        """The secret value of each person, as the original has it."""
        return self.secret_compatibility.of_person

    def _look_up_truth(self, beliefs: Any) -> Floats:
        rows, columns, weight = list_entries(beliefs)
        return look_up_entries(
            rows,
            columns,
            weight,
            width=beliefs.shape[1],
            of_record=self.compatibility.of_person,
            truth=self.truth,
        )

    def _assess_secret_guesses(self) -> tuple[npt.NDArray[np.bool_], Floats]:
        """Whose secret is the only one left, and the chance that the best guess is it."""
        rows, columns, weight = list_entries(self.secret_beliefs)
        is_positive = weight > 0
        rows, columns, weight = rows[is_positive], columns[is_positive], weight[is_positive]
        classes = self.secret_beliefs.shape[0]
        values_left = np.bincount(rows, minlength=classes)
        best = np.zeros(classes)
        np.maximum.at(best, rows, weight)
        ties = np.bincount(rows[weight >= best[rows] * (1 - TIE_TOLERANCE)], minlength=classes)
        person = self.compatibility.of_person
        own_weight = self._look_up_truth(self.secret_beliefs)
        is_best = (own_weight > 0) & (own_weight >= best[person] * (1 - TIE_TOLERANCE))
        return (values_left[person] == 1) & (own_weight > 0), is_best / np.maximum(1, ties[person])

    def _compute_gain(self, gain: Any) -> Floats:
        from scipy import sparse

        if self.secret_pairs:
            return compute_payoffs(
                gain, self._index_by_code(), self.compatibility.of_person, self._read_secret_codes()
            )
        if float(self.matching_records.sum()) > tuning.MAX_GAIN_PAIRS:
            message = "too many records fit too many people to weigh a gain on single records"
            raise DivulgeError(message)
        # A gain is on records as the original has them, whatever their order in the release.
        released_people = np.flatnonzero(self.own_record != REMOVED)
        own = self.own_record[released_people]
        shape = (self.compatibility.pattern_count, len(self.own_record))
        spread = sparse.coo_array(
            (self.prior[own], (self.compatibility.of_record[own], released_people)), shape
        )
        truth = np.where(self.own_record != REMOVED, np.arange(len(self.own_record)), REMOVED)
        return compute_payoffs(
            gain,
            (self.compatibility.weight @ spread.tocsr()).tocsr(),
            self.compatibility.of_person,
            truth,
        )

    def _read_secret_codes(self) -> Ints:
        assert self.secrets.secret is not None  # noqa: S101  # only where one is sought
        return self.secrets.secret.codes.astype(np.int64)

    def _index_by_code(self) -> Any:
        """The beliefs with secrets numbered as the gain takes them: as the column codes them."""
        from scipy import sparse

        codes = self._read_secret_codes()
        assert self.secrets.secret is not None  # noqa: S101  # only where one is sought
        of_class = np.zeros(self.secret_beliefs.shape[1], np.int64)
        of_class[self.truth] = codes
        shape = (self.secret_beliefs.shape[1], self.secrets.secret.cardinality)
        ones = np.ones(len(of_class))
        rename = sparse.coo_array((ones, (np.arange(len(of_class)), of_class)), shape).tocsr()
        return (self.secret_beliefs @ rename).tocsr()

    def compute_posterior(self, place: int) -> tuple[Floats, int]:
        """The posterior of one class of people (records or secret codes), and how many match."""
        matching_count = round(float(self.matching_records[place]))
        if self.secret_pairs:
            shares = self._index_by_code()[[place]].toarray().reshape(-1)
        else:
            row = self.compatibility.weight[[place]].toarray().reshape(-1)
            is_released = self.own_record != REMOVED
            shares = np.zeros(len(self.own_record))
            shares[is_released] = (row[self.compatibility.of_record] * self.prior)[
                self.own_record[is_released]
            ]
        total = shares.sum()
        return shares / total if total > 0 else shares, matching_count
