"""People with several records in a protected version: the beliefs in their records add up.

The adversary knows the true values of one record of their victim. Released records are weighed as
in `attack_protected`, each by its share of its person beside; the belief in a person adds up over
their records.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from divulge.assessment import Assessment, Chart
from divulge.classes.partition import Partition
from divulge.classes.people import People
from divulge.records.inference import charts
from divulge.records.inference.secrets import Secrets
from divulge.records.models.everybody import describe_attack
from divulge.records.models.linked_datasets import LinkedDatasets, build_joint_secret
from divulge.records.models.people import describe_people
from divulge.records.protected.attack_protected import describe_caveats
from divulge.records.protected.dataset_pair import DatasetPair
from divulge.records.protected.posterior import Beliefs
from divulge.records.protected.value_mapping import REMOVED


def attack_people_in_release(
    pair: DatasetPair,
    linked: LinkedDatasets,
    knows: list[str],
    *,
    seeks: list[str],
    model: str,
    people: People,
    prior: Any = None,
    gain: Any = None,
) -> Assessment:
    """Attack all people in a protected version with knowledge of one original record of each."""
    original = linked.dataset
    nothing = Partition.single_class(original.rows)
    secret = build_joint_secret(linked, seeks)
    weight = people.weight if prior is None else people.weight * prior
    secrets = Secrets(nothing, people.codes if secret is None else secret, weight)
    sought = seeks or original.dictionary.having("person")
    beliefs = Beliefs.from_pair(pair, linked, knows, sought, secrets)
    per_person = replace(beliefs.assess_people(gain), people=people)
    description = describe_attack(original, knows, seeks, model, prior is not None)
    description = replace(
        describe_people(original, people, "one", description),
        dataset=pair.releases[0].name,
        claim=beliefs.claim,
    )
    caveats = tuple(describe_caveats(beliefs, original))
    description = replace(description, notes=(*description.notes, *caveats))

    def draw_chart() -> Chart:
        certain, right = assessment.deterministic, assessment.guessed
        return charts.draw_before_and_after("protected", certain, right)

    nobody = beliefs.matching_records[beliefs.compatibility.of_person] == 0
    assessment = per_person.to_assessment(
        description,
        figures={
            "records": original.rows,
            "released": len(beliefs.compatibility.of_record),
            "removed": int(np.count_nonzero(beliefs.own_record == REMOVED)),
            "nobody_fits": int(np.count_nonzero(nobody)),
        },
        _chart=draw_chart,
        _breakdown=lambda group: per_person.break_down(description, original, group),
        _risk=lambda: beliefs.risk,
    )
    return assessment
