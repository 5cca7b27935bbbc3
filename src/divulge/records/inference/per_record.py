"""What is known of each secret, and so of all of them and of every group: who bears the risk.

An attack that can say of every record whether it is certain and how likely the best guess is right
says everything else by adding up. A prior on records weighs the sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.assessment import Assessment, Breakdown, Claim, Sentence
from divulge.classes.people import People
from divulge.data import Column, Dataset
from divulge.qif import PriorPosterior
from divulge.work.arrays import Bools, Floats


@dataclass(frozen=True, kw_only=True)
class AttackDescription:
    """Who is attacked and how, and in which words the outcome is told."""

    dataset: str
    subjects: str
    knows: tuple[str, ...]
    seeks: tuple[str, ...]
    model: str
    sentence: str
    attack: str = "records"
    claim: Claim = "exact"
    notes: tuple[Sentence, ...] = ()
    weighed: bool = False

    def to_assessment_fields(
        self,
        secrets: int,
        certain: PriorPosterior,
        right: PriorPosterior,
        worth: PriorPosterior | None = None,
    ) -> dict[str, Any]:
        """All of an assessment but its shares and figures."""
        # People with several records are counted in fractions; sentences have few digits.
        known, guessed, guessed_before = map(
            _to_plain, (certain.posterior, right.posterior, right.prior)
        )
        values = {
            "knows": self.knows,
            "seeks": self.seeks,
            "subjects": self.subjects,
            "total": secrets,
            "certain": known,
            "certain_share": known / secrets,
            "right": guessed,
            "right_share": guessed / secrets,
            "right_before": guessed_before,
        }
        keys = [self.sentence, "guessed"]
        sentences = [Sentence("divulge.records", key, values) for key in keys]
        if worth is not None:
            worth_values = {"before": float(worth.prior), "after": float(worth.posterior)}
            sentences.append(Sentence("divulge.records", "worth", worth_values))
        if self.weighed:
            sentences.append(Sentence("divulge.records", "prior.weighed"))
        return {
            "attack": self.attack,
            "model": self.model,
            "dataset": self.dataset,
            "knows": self.knows,
            "seeks": self.seeks,
            "secrets": secrets,
            "subjects": self.subjects,
            "claim": self.claim,
            "certain": certain,
            "right": right,
            "sentences": (*sentences, *self.notes),
            "by_gain": worth is not None,
        }


@dataclass(kw_only=True, frozen=True)
class PerRecordSuccess:
    """Of each secret, before and after: is it certain, how likely is the best guess right?

    `worth` is what the best guess wins at each, if a gain was given; `weight` what each weighs.
    With `people`, who may have several records, all figures count them and not their records.
    """

    certain: tuple[Bools, Bools]
    right: tuple[Floats, Floats]
    worth: tuple[Floats, Floats] | None = None
    weight: Floats | None = None
    people: People | None = None

    def to_assessment(self, description: AttackDescription, **more: Any) -> Assessment:
        """The figures of all secrets together."""
        [sums] = self._sum_by_group(np.zeros(len(self.certain[0]), np.int64), 1)
        return assess_group(description, sums, **more)

    def break_down(self, description: AttackDescription, dataset: Dataset, group: str) -> Breakdown:
        """The figures of every group of records of the dataset."""
        [name] = dataset.attributes(group, "by")
        return self.break_down_by_column(description, name, dataset.columns[name])

    def break_down_by_column(
        self, description: AttackDescription, name: str, column: Column
    ) -> Breakdown:
        """The figures of the records that share a value."""
        sums_by_group = self._sum_by_group(column.codes, max(1, column.cardinality))
        return Breakdown(
            name,
            {column.value(code): assess_group(description, each)
             for code, each in enumerate(sums_by_group) if each.secrets},
        )  # fmt: skip

    def _sum_by_group(self, codes: npt.NDArray[Any], groups: int) -> list[GroupSums]:
        def sum_pair(of_each: tuple[Any, Any], weight: Floats | None) -> Any:
            sums = [
                np.bincount(codes, each if weight is None else each * weight, groups)
                for each in of_each
            ]
            return np.column_stack(sums)

        secrets = (
            np.bincount(codes, minlength=groups)
            if self.people is None
            else self.people.count_per_class(codes, groups)
        )
        # Sums are rounded, and a prior may be tiny chances: each weighs one on average of its
        # group. A group that weighs nothing is never met: nothing is found of it.
        weight = None
        if self.weight is not None:
            total = np.bincount(codes, self.weight, groups)[codes]
            scaled = self.weight * secrets[codes]
            weight = np.divide(scaled, total, where=total > 0, out=np.zeros(len(codes)))
        sure, right = sum_pair(self.certain, weight), sum_pair(self.right, weight)
        certain = sure if self.people is not None else sum_pair(self.certain, None)
        worth = None if self.worth is None else sum_pair(self.worth, weight)
        return [
            GroupSums(
                secrets=int(secrets[g]), certain=round_pair(certain[g]), sure=round_pair(sure[g]),
                right=round_pair(right[g]), worth=None if worth is None else round_pair(worth[g]),
            )
            for g in range(groups)
        ]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class GroupSums:
    """Sums over a group: secrets, how many are certain; the rest is weighed, one on average."""

    secrets: int
    certain: PriorPosterior
    sure: PriorPosterior
    right: PriorPosterior
    worth: PriorPosterior | None


def assess_group(description: AttackDescription, sums: GroupSums, **more: Any) -> Assessment:
    """The assessment of a group from its sums."""
    total = sums.secrets or 1
    shares: dict[str, Any] = {
        "deterministic": PriorPosterior(sums.sure.prior / total, sums.sure.posterior / total),
        "probabilistic": PriorPosterior(sums.right.prior / total, sums.right.posterior / total),
    }
    worth = None
    if sums.worth is not None:
        worth = PriorPosterior(sums.worth.prior / total, sums.worth.posterior / total)
        shares["probabilistic"] = worth
    return Assessment(
        **description.to_assessment_fields(sums.secrets, sums.certain, sums.right, worth),
        **shares,
        **more,
    )


def _to_plain(count: float) -> float:
    return count if isinstance(count, int) else float(count)


def round_pair(sums: Any) -> PriorPosterior:
    """Two sums of shares, whole where they should be."""
    # A sum of shares like 1/3 ends a hair beside a whole number; the hair is not a finding.
    rounded = [round(float(each), 9) for each in sums]
    return PriorPosterior(*(int(each) if each == int(each) else each for each in rounded))
