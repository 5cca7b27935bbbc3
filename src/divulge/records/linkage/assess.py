"""What linkage found, as an assessment: who is linked rightly, or how likely the best candidate is.

The records of the attack are those of the release. Each one's risk is the probability that the
posterior gives to its own person where the truth is known, else to the best candidate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from divulge.assessment import Assessment, Chart, Sentence
from divulge.data import Dataset
from divulge.records.inference import charts
from divulge.records.inference.per_record import Described, OfEach
from divulge.records.linkage.agreement_weights import Evidence

FloatArray = npt.NDArray[np.float64]
EXACTLY = 1e-9


@dataclass(frozen=True)
class Found:
    """What a linkage says of each record, and what its evidence was.

    `candidates` counts the people compared with each record, `chance` is the posterior of the
    best, `right_guess` whether that is right (ties are drawn), `belief` the posterior of the truth,
    `listed` whether (or how likely) a record's person is in the register at all.
    """

    release: Dataset
    register: Dataset
    knows: tuple[str, ...]
    judged: bool
    candidates: FloatArray
    chance: FloatArray
    right_guess: FloatArray
    belief: FloatArray
    listed: FloatArray
    pairs: int
    covered: float
    names: tuple[str, ...]
    evidence: Evidence
    how: str

    @property
    def of_each(self) -> OfEach:
        """Before: a blind guess at anybody in the register, which is right only of who is there."""
        alone = self.candidates == 1
        if self.judged:
            certain, right = alone & (self.right_guess == 1), self.right_guess
        else:
            certain, right = alone & (self.covered >= 1 - EXACTLY), self.chance
        people = max(1, self.register.rows)
        known = (self.listed >= 1 - EXACTLY) & (people == 1)
        return OfEach((known, certain), (self.listed / people, right))


def assessed(found: Found) -> Assessment:
    """The assessment of a linkage."""
    of_each, rows = found.of_each, found.release.rows
    met = found.candidates > 0
    matched = int(np.count_nonzero(met))
    average = float(found.chance[met].mean()) if matched else 0.0
    described = Described(
        found.release.name, found.release.subjects, found.knows, (), "link",
        "linked" if found.judged else "linked_unknown", "linkage", "estimate",
    )  # fmt: skip

    def chart() -> Chart:
        title = "Records linked to people"
        return charts.before_and_after(title, whole.deterministic, whole.guessed)

    figures: dict[str, float] = {
        "candidate_pairs": found.pairs,
        "with_candidates": matched,
        "chance_of_the_best": average,
        "coverage": found.covered,
    }
    for name, agree, chance in zip(
        found.names, found.evidence.agree, found.evidence.chance, strict=True
    ):
        figures[f"agreement of {name}"] = float(agree)
        figures[f"chance of {name}"] = float(chance)
    whole = of_each.assessment(
        described,
        figures=figures,
        _chart=chart,
        _breakdown=lambda group: of_each.by(described, found.release, group),
        _risk=lambda: found.belief if found.judged else found.chance,
    )
    values = {
        "subjects": found.release.subjects,
        "total": rows,
        "matched": matched,
        "chance": average,
        "certain": whole.certain.posterior,
        "right": whole.right.posterior,
        "right_share": whole.right.posterior / rows,
    }
    said = [Sentence("divulge.records", described.sentence, values)]
    if found.how != "none":
        said.append(Sentence("divulge.records", f"evidence.{found.how}"))
    if found.covered < 1 - EXACTLY:
        said.append(Sentence("divulge.records", "evidence.coverage", {"share": found.covered}))
    return replace(whole, sentences=tuple(said))
