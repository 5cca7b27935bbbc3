"""What linkage found, as an assessment: who is linked rightly, or how likely the best candidate is.

The records of the attack are those of the release. Each one's risk is the probability that the
posterior gives to its own person where the truth is known, else to the best candidate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from divulge.assessment import Assessment, Chart, Sentence
from divulge.data import Dataset
from divulge.records.inference import charts
from divulge.records.inference.per_record import AttackDescription, PerRecordSuccess
from divulge.records.linkage.agreement_weights import Evidence
from divulge.work.arrays import Floats

ROUNDING_TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True)
class LinkageResult:
    """What a linkage says of each record, and what its evidence was.

    `candidates` counts the people compared with each record, `chance` is the posterior of the
    best, `right_guess` whether that is right (ties are drawn), `belief` the posterior of the truth,
    `in_register` whether (or how likely) a record's person is in the register at all.
    """

    release: Dataset
    register: Dataset
    knows: tuple[str, ...]
    has_truth: bool
    candidates: Floats
    chance: Floats
    right_guess: Floats
    belief: Floats
    in_register: Floats
    pairs: int
    coverage: float
    names: tuple[str, ...]
    evidence: Evidence
    evidence_source: str

    @property
    def per_record(self) -> PerRecordSuccess:
        """Before: a blind guess at anybody in the register, which is right only of who is there."""
        alone = self.candidates == 1
        if self.has_truth:
            certain, right = alone & (self.right_guess == 1), self.right_guess
        else:
            certain, right = alone & (self.coverage >= 1 - ROUNDING_TOLERANCE), self.chance
        people = max(1, self.register.rows)
        certain_before = (self.in_register >= 1 - ROUNDING_TOLERANCE) & (people == 1)
        return PerRecordSuccess(
            certain=(certain_before, certain), right=(self.in_register / people, right)
        )


def assess_linkage(linkage: LinkageResult) -> Assessment:
    """The assessment of a linkage."""
    per_record, rows = linkage.per_record, linkage.release.rows
    has_candidates = linkage.candidates > 0
    matched_count = int(np.count_nonzero(has_candidates))
    average = float(linkage.chance[has_candidates].mean()) if matched_count else 0.0
    description = AttackDescription(
        dataset=linkage.release.name,
        subjects=linkage.release.subjects,
        knows=linkage.knows,
        seeks=(),
        model="link",
        sentence="linked" if linkage.has_truth else "linked_unknown",
        attack="linkage",
        claim="estimate",
    )

    def draw_chart() -> Chart:
        return charts.draw_before_and_after("linked", assessment.deterministic, assessment.guessed)

    figures: dict[str, float] = {
        "candidate_pairs": linkage.pairs,
        "with_candidates": matched_count,
        "chance_of_the_best": average,
        "coverage": linkage.coverage,
    }
    for name, agree, chance in zip(
        linkage.names, linkage.evidence.agree, linkage.evidence.chance, strict=True
    ):
        figures[f"agreement of {name}"] = float(agree)
        figures[f"chance of {name}"] = float(chance)
    assessment = per_record.to_assessment(
        description,
        figures=figures,
        _chart=draw_chart,
        _breakdown=lambda group: per_record.break_down(description, linkage.release, group),
        _risk=lambda: linkage.belief if linkage.has_truth else linkage.chance,
    )
    values = {
        "subjects": linkage.release.subjects,
        "total": rows,
        "matched": matched_count,
        "chance": average,
        "certain": assessment.certain.posterior,
        "right": assessment.right.posterior,
        "right_share": assessment.right.posterior / rows,
    }
    sentences = [Sentence("divulge.records", description.sentence, values)]
    if linkage.evidence_source != "none":
        sentences.append(Sentence("divulge.records", f"evidence.{linkage.evidence_source}"))
    if linkage.coverage < 1 - ROUNDING_TOLERANCE:
        sentences.append(
            Sentence("divulge.records", "evidence.coverage", {"share": linkage.coverage})
        )
    return replace(assessment, sentences=tuple(sentences))
