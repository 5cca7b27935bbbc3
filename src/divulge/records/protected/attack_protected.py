"""Before and after protection: what is known comes from the original, matches from the release.

The adversary knows people's true values and how values were made coarser. A released record may be
a person's if each value that it shows may be theirs (`value_mapping`), and it is weighed by how
likely its hidden and coarse cells are theirs (`compatibility`). A person is singled out if one
record is left and it is their own; a secret is inferred if all that are left tell the same; else
the adversary guesses what weighs most. Who was removed from the release cannot be found; whoever is
taken for them is somebody else (Alvim et al. 2022, Appendix D).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from divulge.assessment import Assessment, Chart, Sentence
from divulge.data import Dataset
from divulge.qif import PriorPosterior
from divulge.records.inference import charts
from divulge.records.inference.secrets import Secrets
from divulge.records.models.everybody import describe_attack
from divulge.records.models.linked_datasets import LinkedDatasets
from divulge.records.models.membership import MembershipChances, require_enough_people
from divulge.records.models.one_person import (
    build_person_assessment,
    compute_belief_worth,
    list_posterior_figures,
)
from divulge.records.models.presence_chances import compute_presence_chances
from divulge.records.protected.compatibility import join_people_to_records
from divulge.records.protected.dataset_pair import DatasetPair
from divulge.records.protected.posterior import Beliefs
from divulge.records.protected.value_mapping import REMOVED

MAX_UNCERTAIN_CHANCE = 1 - 1e-9
"""The most that a chance is, and no certainty."""


def attack_release(
    pair: DatasetPair, linked: LinkedDatasets, knows: list[str], *, seeks: list[str], model: str,
    secrets: Secrets, gain: Any = None,
) -> Assessment:  # fmt: skip
    """Attack everybody in a protected version with knowledge of the original."""
    beliefs = Beliefs.from_pair(pair, linked, knows, seeks, secrets)
    per_person = beliefs.assess_people(gain)
    original = linked.dataset
    description = replace(
        describe_attack(original, knows, seeks, model, secrets.prior is not None),
        dataset=pair.releases[0].name,
        claim=beliefs.claim,
        notes=tuple(describe_caveats(beliefs, original)),
    )

    def draw_chart() -> Chart:
        certain, right = assessment.deterministic, assessment.guessed
        return charts.draw_before_and_after("protected", certain, right)

    figures: dict[str, float] = {
        "released": len(beliefs.compatibility.of_record),
        "removed": int(np.count_nonzero(beliefs.own_record == REMOVED)),
        "nobody_fits": int(
            np.count_nonzero(beliefs.matching_records[beliefs.compatibility.of_person] == 0)
        ),
    }
    if beliefs.unplaced:
        figures["unplaced"] = beliefs.unplaced
    if len(pair.originals) > 1:
        figures |= {"datasets": len(pair.originals), "records_dropped": linked.records_dropped}
    assessment = per_person.to_assessment(
        description,
        figures=figures,
        _chart=draw_chart,
        _breakdown=lambda group: per_person.break_down(description, original, group),
        _risk=lambda: beliefs.risk,
    )
    return assessment


def describe_caveats(beliefs: Beliefs, original: Dataset) -> list[Sentence]:
    """What a reader of figures of a protected version should know of them."""
    values = {"subjects": original.subjects}
    removed = int(np.count_nonzero(beliefs.own_record == REMOVED))
    sentences = []
    if beliefs.compatibility.is_weighed:
        sentences.append(Sentence("divulge.records", "pair.weighed", values))
    if removed:
        sentences.append(Sentence("divulge.records", "pair.removed", {**values, "count": removed}))
    if beliefs.unplaced:
        sentences.append(
            Sentence("divulge.records", "pair.unplaced", {**values, "count": beliefs.unplaced})
        )
    return sentences


def attack_one_in_release(
    pair: DatasetPair, linked: LinkedDatasets, knows: list[str], *, seeks: list[str], model: str,
    secrets: Secrets, matches: Any, labels: Sequence[str], gain: Any = None,
) -> Assessment:  # fmt: skip
    """Attack one person in a protected version: the posterior of where and what they are."""
    beliefs = Beliefs.from_pair(pair, linked, knows, seeks, secrets)
    class_of_target = int(beliefs.compatibility.of_person[np.flatnonzero(matches)[0]])
    shares, matching_count = beliefs.compute_posterior(class_of_target)
    before = secrets.prior_knowledge
    worth = None
    if gain is not None:
        prior, after = (
            before.compute_g_vulnerability(gain).prior,
            compute_belief_worth(gain, shares),
        )
        worth = PriorPosterior(prior, after)
    is_certain = np.count_nonzero(shares) == 1
    if secrets.secret is None:
        is_certain = beliefs.likely_records[class_of_target] == 1
    return build_person_assessment(
        replace(linked.dataset, name=pair.releases[0].name), knows, seeks, model=model,
        certain=PriorPosterior(int(before.certain_count > 0), int(is_certain)),
        right=PriorPosterior(before.expected_correct / before.rows, float(shares.max(initial=0.0))),
        figures={"matching": matching_count, **list_posterior_figures(shares, labels)},
        worth=worth,
        claim=beliefs.claim,
        weighed=secrets.prior is not None,
    )  # fmt: skip


def estimate_protected_membership(
    pair: DatasetPair, linked_people: LinkedDatasets, knows: list[str]
) -> MembershipChances:
    """How likely each class of people is in a protected version.

    Every record is another person's, and all ways to give records to people whom they fit are
    equally likely; if T people are left for T records, all of them are in the release.
    """
    compatibility = join_people_to_records(pair.pair_attributes(linked_people, knows))
    people = np.bincount(compatibility.of_person).astype(np.float64)
    records = compatibility.records_per_pattern.astype(np.float64)
    possible_people = np.asarray(compatibility.possible.T @ people)
    require_enough_people(int(np.count_nonzero(records > possible_people)))
    presence = compute_presence_chances(compatibility.possible, people, records)
    require_enough_people(presence.short_patterns)
    chance = presence.chance
    is_absent = np.asarray(compatibility.possible @ records) == 0
    is_present = np.asarray(compatibility.possible @ (records == possible_people)) > 0
    is_present |= records.sum() == people.sum()  # everybody is released
    if presence.is_exact:
        is_present |= chance == 1
    # Averages that leave nobody over are none the less averages.
    chance = np.minimum(chance, MAX_UNCERTAIN_CHANCE)
    return MembershipChances(
        chance=np.where(is_present, 1.0, chance),
        is_certain=is_absent | is_present,
        of_person=compatibility.of_person,
        released=int(records.sum()),
        journalist={
            "journalist_risk_average": float((records / possible_people).sum() / records.sum()),
            "journalist_risk_highest": float((1 / possible_people).max()),
        },
        claim="exact" if presence.is_exact else "estimate",
    )
