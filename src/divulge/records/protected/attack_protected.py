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
from divulge.records.models.everybody import describe
from divulge.records.models.linked_datasets import Linked
from divulge.records.models.membership import Presence, require_enough_people
from divulge.records.models.one_person import posterior_figures, told_of_one, worth_of_belief
from divulge.records.protected.compatibility import fit
from divulge.records.protected.dataset_pair import Pair
from divulge.records.protected.posterior import Beliefs
from divulge.records.protected.value_mapping import REMOVED


def attack_release(
    pair: Pair, linked: Linked, knows: list[str], seeks: list[str], model: str,
    secrets: Secrets, gain: Any = None,
) -> Assessment:  # fmt: skip
    """Attack everybody in a protected version with knowledge of the original."""
    beliefs = Beliefs.of(pair, linked, knows, seeks, secrets)
    of_each = beliefs.of_each(gain)
    original = linked.dataset
    described = replace(
        describe(original, knows, seeks, model, secrets.prior is not None),
        dataset=pair.releases[0].name,
        claim=beliefs.claim,
        notes=tuple(_notes(beliefs, original)),
    )

    def chart() -> Chart:
        title = "What the protected release still tells"
        return charts.before_and_after(title, found.deterministic, found.guessed)

    figures: dict[str, float] = {
        "released": len(beliefs.fit.of_record),
        "removed": int(np.count_nonzero(beliefs.own == REMOVED)),
        "nobody_fits": int(np.count_nonzero(beliefs.matching[beliefs.fit.of_person] == 0)),
    }
    if beliefs.unplaced:
        figures["unplaced"] = beliefs.unplaced
    if len(pair.originals) > 1:
        figures |= {"datasets": len(pair.originals), "records_dropped": linked.dropped}
    found = of_each.assessment(
        described,
        figures=figures,
        _chart=chart,
        _breakdown=lambda group: of_each.by(described, original, group),
        _risk=lambda: beliefs.risk,
    )
    return found


def _notes(beliefs: Beliefs, original: Dataset) -> list[Sentence]:
    values = {"subjects": original.subjects}
    removed = int(np.count_nonzero(beliefs.own == REMOVED))
    said = []
    if beliefs.fit.weighed:
        said.append(Sentence("divulge.records", "pair.weighed", values))
    if removed:
        said.append(Sentence("divulge.records", "pair.removed", {**values, "count": removed}))
    if beliefs.unplaced:
        said.append(
            Sentence("divulge.records", "pair.unplaced", {**values, "count": beliefs.unplaced})
        )
    return said


def attack_one_in_release(
    pair: Pair, linked: Linked, knows: list[str], seeks: list[str], model: str,
    secrets: Secrets, matches: Any, labels: Sequence[str], gain: Any = None,
) -> Assessment:  # fmt: skip
    """Attack one person in a protected version: the posterior of where and what they are."""
    beliefs = Beliefs.of(pair, linked, knows, seeks, secrets)
    place = int(beliefs.fit.of_person[np.flatnonzero(matches)[0]])
    shares, matched = beliefs.of_one(place)
    before = secrets.blind
    worth = None
    if gain is not None:
        prior, after = before.gained(gain).prior, worth_of_belief(gain, shares)
        worth = PriorPosterior(prior, after)
    left = np.count_nonzero(shares) == 1
    if secrets.secret is None:
        left = beliefs.likely[place] == 1
    return told_of_one(
        replace(linked.dataset, name=pair.releases[0].name), knows, seeks, model,
        certain=PriorPosterior(int(before.certain > 0), int(left)),
        right=PriorPosterior(before.right / before.rows, float(shares.max(initial=0.0))),
        figures={"matching": matched, **posterior_figures(shares, labels)},
        worth=worth,
        claim=beliefs.claim,
        weighed=secrets.prior is not None,
    )  # fmt: skip


def presence_in_release(pair: Pair, living: Linked, knows: list[str]) -> Presence:
    """How likely each class of people is in a protected version.

    A record that may be anybody's of T people is a given one's with a chance of 1 / T; if there
    are T such records, all of those people are in the release.
    """
    found = fit(pair.attributes(living, knows))
    people = np.bincount(found.of_person).astype(np.float64)
    records = found.records.astype(np.float64)
    could = np.asarray(found.possible.T @ people)
    require_enough_people(int(np.count_nonzero(records > could)))
    chance = np.minimum(1.0, np.asarray(found.possible @ (records / could)))
    nobody = np.asarray(found.possible @ records) == 0
    all_of_them = np.asarray(found.possible @ (records == could)) > 0
    all_of_them |= records.sum() == people.sum()  # everybody is released
    several = bool(np.any(np.diff(found.possible.indptr) > 1))
    return Presence(
        np.where(all_of_them, 1.0, chance),
        nobody | all_of_them,
        found.of_person,
        int(records.sum()),
        {
            "journalist_risk_average": float((records / could).sum() / records.sum()),
            "journalist_risk_highest": float((1 / could).max()),
        },
        "estimate" if several else "exact",
    )
