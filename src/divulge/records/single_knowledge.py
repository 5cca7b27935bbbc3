"""Attacks by somebody who knows more, or other things, of single records than of the rest.

Each record is looked for among all records by what is known of it: so every set of attributes by
which somebody is known is one ordinary attack, of which the records count that are known by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from divulge import work
from divulge.assessment import Assessment, Chart, Claim, Sentence
from divulge.classes.partition import Partition
from divulge.records.inference import charts
from divulge.records.inference.per_record import PerRecordSuccess
from divulge.records.models.everybody import describe_attack
from divulge.records.models.record_knowledge import KnownGroup, RecordKnowledge
from divulge.records.protected.attack_protected import describe_caveats
from divulge.records.protected.posterior import Beliefs
from divulge.records.request import AttackRequest, match_target
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Bools, Floats

MODELS_OF_SINGLE_RECORDS = ("CRS", "CAS", "IRS", "IAS")
"""The models in which more may be known of some than of others."""


@dataclass(frozen=True, kw_only=True)
class _GroupFindings:
    """What an ordinary attack finds of every record, were all known by one set of attributes."""

    success: PerRecordSuccess
    risk: Floats
    claim: Claim
    notes: tuple[Sentence, ...] = ()


def attack_single_records(request: AttackRequest, knowledge: RecordKnowledge) -> Assessment:
    """Attack everybody, each by what is known of them."""
    rows = len(request.linked.records)
    findings = []
    with work.step("Looking for records by what is known of each", len(knowledge.groups)) as step:
        for group in knowledge.groups:
            findings.append(_find_by(request, group))
            step.advance()
    group_of_record = np.zeros(rows, np.int64)
    for number, group in enumerate(knowledge.groups):
        group_of_record[group.records] = number

    def choose(columns: Sequence[Any]) -> Any:
        return np.stack(columns)[group_of_record, np.arange(rows)]

    first = findings[0].success
    success = replace(
        first,
        certain=_choose_pair(choose, [each.success.certain for each in findings]),
        right=_choose_pair(choose, [each.success.right for each in findings]),
        worth=None
        if first.worth is None
        else _choose_pair(choose, [each.success.worth for each in findings]),
    )
    focal = request.linked.dataset
    name = focal.name if request.pair is None else request.pair.releases[0].name
    description = replace(
        describe_attack(
            focal, request.known, request.sought, request.model, request.prior is not None
        ),
        dataset=name,
        claim="estimate" if any(each.claim == "estimate" for each in findings) else "exact",
        notes=(*describe_knowledge(request, knowledge), *_merge_notes(findings)),
    )
    risk: Floats = choose([each.risk for each in findings])

    def draw_chart() -> Chart:
        subject = "single" if request.pair is None else "protected"
        certain, right = assessment.deterministic, assessment.guessed
        return charts.draw_before_and_after(subject, certain, right)

    assessment = success.to_assessment(
        description,
        figures={
            "known_apart": sum(group.records.size for group in knowledge.apart),
            "knowledge_sets": len(knowledge.groups),
        },
        _chart=draw_chart,
        _breakdown=lambda by: success.break_down(description, focal, by),
        _risk=lambda: risk,
    )
    return assessment


def select_known_of_target(
    request: AttackRequest, knowledge: RecordKnowledge, target: Any
) -> AttackRequest:
    """The attack on one person, of whom just those values are known that are given.

    Raises:
        InvalidInput: if nobody with these values is known by just these attributes.
    """
    if not isinstance(target, Mapping):
        return request  # what is wrong with it is said where it is matched
    names = [name for name in request.datasets[0].names if name in target]
    if len(names) < len(target):
        return request
    chosen = replace(request, known=names)
    records = knowledge.list_records(names)
    is_match: Bools = match_target(chosen, target, "target")
    if not is_match[records].any():
        message = "nobody with these values is known by just these attributes."
        raise InvalidInput("attack", [Problem("target", message)])
    return chosen


def describe_knowledge(request: AttackRequest, knowledge: RecordKnowledge) -> list[Sentence]:
    """Of how many more is known, of how many less, and which attributes these are."""
    known = set(knowledge.known)
    more = [group for group in knowledge.apart if not known.issuperset(group.names)]
    less = [group for group in knowledge.apart if not known.issubset(group.names)]
    lacking = {name for group in less for name in known.difference(group.names)}
    values = {
        "count": sum(group.records.size for group in more),
        "total": len(request.linked.records),
        "subjects": request.linked.dataset.subjects,
        "names": [name for name in knowledge.names if name not in known],
        "outsiders": knowledge.outsiders,
    }
    sentences = []
    if more or not less:
        sentences.append(Sentence("divulge.records", "single_knowledge", values))
    if less:
        lowered = values | {
            "count": sum(group.records.size for group in less),
            "names": [name for name in knowledge.known if name in lacking],
        }
        sentences.append(Sentence("divulge.records", "single_ignorance", lowered))
    if knowledge.outsiders:
        sentences.append(Sentence("divulge.records", "single_outsiders", values))
    return sentences


def _find_by(request: AttackRequest, group: KnownGroup) -> _GroupFindings:
    """An ordinary attack by one set of attributes, on all records."""
    linked, names = request.linked, list(group.names)
    alike = Partition.single_class(len(linked.records))
    if request.pair is not None:
        secrets = request.build_secrets(alike)
        beliefs = Beliefs.from_pair(request.pair, linked, names, request.sought, secrets)
        return _GroupFindings(
            success=beliefs.assess_people(request.gain),
            risk=beliefs.risk,
            claim=beliefs.claim,
            notes=tuple(describe_caveats(beliefs, linked.dataset)),
        )
    found = request.build_secrets(alike.refine_by(linked.list_knowledge(0, names)))
    return _GroupFindings(
        success=found.assess_records(request.gain), risk=found.risk, claim="exact"
    )


def _choose_pair(choose: Any, pairs: Sequence[Any]) -> tuple[Any, Any]:
    before, after = zip(*pairs, strict=True)
    return choose(before), choose(after)


def _merge_notes(findings: Sequence[_GroupFindings]) -> list[Sentence]:
    """Each caveat once."""
    notes: list[Sentence] = []
    for each in findings:
        notes += [note for note in each.notes if note not in notes]
    return notes
