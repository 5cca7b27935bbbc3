"""What is inferred of secrets: from classes and secret values to certain and best guesses.

All attacks end here: within a class the adversary's posterior is the share of each secret value.
Re-identification is the case in which each record's secret is the record itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge.classes import tuning as classes_tuning
from divulge.classes.partition import AttributeCodes, Partition, number_ids
from divulge.qif import PriorPosterior
from divulge.records import tuning
from divulge.records.inference.best_guess import compute_payoffs
from divulge.records.inference.per_record import PerRecordSuccess
from divulge.work.arrays import Ints

if TYPE_CHECKING:
    FloatArray = npt.NDArray[np.float64]

TIE_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Secrets:
    """The secret of each record among those that look alike; `prior` weighs the records."""

    classes: Partition
    secret: AttributeCodes | None = None
    prior: FloatArray | None = None

    @property
    def rows(self) -> int:
        """How many records, and so how many secrets."""
        return len(self.classes.of_record)

    @cached_property
    def weight(self) -> FloatArray:
        """What each record weighs; 1 if no prior is given."""
        return np.ones(self.rows) if self.prior is None else self.prior

    @cached_property
    def _cells(self) -> tuple[Ints, Ints]:
        """The (class, secret value) of each record as a number; the class of each such cell."""
        if self.secret is None:
            order = np.argsort(self.classes.of_record, kind="stable")
            cell = np.empty(self.rows, np.int64)
            cell[order] = np.arange(self.rows)
            return cell, self.classes.of_record[order]
        values = self.secret.cardinality
        joint = self.classes.of_record.astype(np.int64) * values + self.secret.codes
        if self._is_dense:
            return joint, np.repeat(np.arange(self.classes.number), values)
        cell, number = number_ids(joint)
        of_cell = np.empty(number, np.int64)
        of_cell[cell] = self.classes.of_record
        return cell, of_cell

    @cached_property
    def _cell_weights(self) -> FloatArray:
        """What each cell weighs."""
        cell, of_cell = self._cells
        return np.bincount(cell, self.prior, len(of_cell)).astype(np.float64)

    @cached_property
    def _cell_counts(self) -> Ints:
        cell, of_cell = self._cells
        return np.bincount(cell, minlength=len(of_cell))

    @cached_property
    def _heaviest_cell(self) -> FloatArray:
        """What the heaviest cell of each class weighs."""
        return np.maximum.reduceat(self._cell_weights, self._class_starts)

    @cached_property
    def _class_starts(self) -> Ints:
        of_cell = self._cells[1]
        return np.flatnonzero(np.append(True, of_cell[1:] != of_cell[:-1]))

    @cached_property
    def _possible_cells(self) -> npt.NDArray[np.bool_]:
        """Whether anybody in a cell may be the one: a prior of zero rules records out."""
        return np.asarray(self._cell_weights > 0, np.bool_)

    @cached_property
    def homogeneous_classes(self) -> npt.NDArray[np.bool_]:
        """Whether a class leaves one secret value only."""
        values = np.add.reduceat(self._possible_cells.astype(np.int64), self._class_starts)
        return np.asarray(values == 1, np.bool_)

    @cached_property
    def certain_records(self) -> npt.NDArray[np.bool_]:
        """Whether each record's secret is known for certain; never what is ruled out."""
        certain = (
            self.homogeneous_classes[self.classes.of_record] & self._possible_cells[self._cells[0]]
        )
        return np.asarray(certain, np.bool_)

    @cached_property
    def correct_chance(self) -> FloatArray:
        """The chance that the best guess at each record is right; ties are drawn."""
        cell, of_cell = self._cells
        # What weighs the same may differ in the last digit, by the order in which it was summed.
        best = (self._cell_weights >= self._heaviest_cell[of_cell] * (1 - TIE_TOLERANCE)) & (
            self._cell_counts > 0
        )
        ties = np.add.reduceat(best.astype(np.float64), self._class_starts)
        chance: FloatArray = (best / ties[of_cell])[cell]
        return chance

    @cached_property
    def risk(self) -> FloatArray:
        """The probability that the adversary gives to the truth about each record."""
        total = np.bincount(self.classes.of_record, self.prior, self.classes.number)
        cell, _ = self._cells
        of_class = total[self.classes.of_record]
        # A class that weighs nothing is never met.
        risk = np.divide(
            self._cell_weights[cell], of_class, where=of_class > 0, out=np.zeros(self.rows)
        )
        return np.asarray(risk, np.float64)

    @cached_property
    def _summary(self) -> tuple[int, float, float]:
        """Secrets known for certain, what best guesses weigh, and the capacity.

        Where records weigh the same, this needs no table of all records.
        """
        sizes = self.classes.sizes
        if self.secret is None and self.prior is None:
            number = float(self.classes.number)
            return int(np.count_nonzero(sizes == 1)), number, number
        if self.secret is None:
            certain = int(np.count_nonzero(self.certain_records))
            # Whom the prior rules out is no secret, and a class of them is never seen.
            seen = float(np.count_nonzero(self._heaviest_cell > 0))
            return certain, float(self._heaviest_cell.sum()), seen
        if self.prior is None and self.rows >= classes_tuning.COMPILED_SORT_ROWS and self._is_dense:
            return self._tally_in_kernel(self.secret)
        cell, _ = self._cells
        # How likely a secret value is seen as each class: by counts, or as the prior weighs them.
        of_value = np.bincount(self.secret.codes, self.prior, self.secret.cardinality)
        of_record = of_value[self.secret.codes].astype(np.float64)
        share = np.zeros(len(self._cell_counts))
        share[cell] = np.divide(
            self._cell_weights[cell], of_record, where=of_record > 0, out=np.zeros(self.rows)
        )
        capacity = float(np.maximum.reduceat(share, self._class_starts).sum())
        if self.prior is None:
            return (
                int(sizes[self.homogeneous_classes].sum()),
                float(self._heaviest_cell.sum()),
                capacity,
            )
        return (
            int(np.count_nonzero(self.certain_records)),
            float(self._heaviest_cell.sum()),
            capacity,
        )

    def _tally_in_kernel(self, secret: AttributeCodes) -> tuple[int, float, float]:
        from divulge.classes import key_kernels

        of_value = np.bincount(secret.codes, minlength=secret.cardinality)
        certain, right, capacity = key_kernels.tally_secrets(
            self.classes.of_record, secret.codes, self.classes.number, secret.cardinality,
            1 / np.maximum(1, of_value),
        )  # fmt: skip
        return int(certain), float(right), float(capacity)

    @property
    def _is_dense(self) -> bool:
        values = 1 if self.secret is None else self.secret.cardinality
        return self.classes.number * values <= tuning.DENSE_CELLS_PER_RECORD * self.rows

    @property
    def certain_count(self) -> int:
        """How many secrets are known for certain."""
        return self._summary[0]

    @property
    def deterministic(self) -> float:
        """The share of secrets known for certain."""
        if self.prior is None:
            return self.certain_count / self.rows
        return float(self.weight[self.certain_records].sum() / self.weight.sum())

    @property
    def expected_correct(self) -> float:
        """How many secrets best guesses get right on average, weighed by the prior."""
        best = self._summary[1]
        return best if self.prior is None else best / float(self.weight.sum()) * self.rows

    @property
    def capacity(self) -> float:
        """Multiplicative Bayes capacity: the most that any prior on secrets is multiplied.

        A prior on records says how likely each value is seen as each class, and which secrets there
        are: what it rules out is none.
        """
        return self._summary[2]

    @property
    def prior_knowledge(self) -> Secrets:
        """The same secrets for somebody who knows nothing: what they know before."""
        return Secrets(Partition.single_class(self.rows), self.secret, self.prior)

    def compute_g_vulnerability(self, gain: Any) -> PriorPosterior:
        """What the secrets are worth by a gain (guesses x secrets), before and after."""
        from divulge import qif

        values = self.rows if self.secret is None else self.secret.cardinality
        of_record = np.arange(self.rows) if self.secret is None else self.secret.codes
        places = (of_record, self.classes.of_record)
        shape = (values, self.classes.number)
        joint: Any
        if values * self.classes.number <= tuning.MAX_DENSE_JOINT_CELLS:
            joint = np.zeros(shape)
            np.add.at(joint, places, self.weight)
        else:
            from scipy import sparse

            joint = sparse.coo_array((self.weight, places), shape).tocsc()
        hyper = qif.Hyper.from_counts(joint)
        return qif.g_vulnerability(hyper, gain)

    def compute_gain_per_record(self, gain: Any) -> FloatArray:
        """What the best guess wins at each record, by a gain that is ready for use."""
        from scipy import sparse

        values = self.rows if self.secret is None else self.secret.cardinality
        truth = np.arange(self.rows) if self.secret is None else self.secret.codes.astype(np.int64)
        places = (self.classes.of_record, truth)
        joint = sparse.coo_array((self.weight, places), (self.classes.number, values)).tocsr()
        return compute_payoffs(gain, joint, self.classes.of_record, truth)

    def assess_records(self, gain: Any = None) -> PerRecordSuccess:
        """What is known of each record, before and after."""
        before = self.prior_knowledge
        worth = None
        if gain is not None:
            worth = before.compute_gain_per_record(gain), self.compute_gain_per_record(gain)
        return PerRecordSuccess(
            certain=(before.certain_records, self.certain_records),
            right=(before.correct_chance, self.correct_chance),
            worth=worth,
            weight=self.prior,
        )
