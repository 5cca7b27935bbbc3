"""Proposals held against the data: what values and blocks of records show, attribute by attribute.

Values raise doubts about what names say, and settle what names leave open where they leave no other
reading. What a person decided stays, whatever they show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from divulge.data import tuning
from divulge.data.dataset import Dataset
from divulge.data.dictionary import SINGLE_ROLES, Role
from divulge.data.proposals.dependent_attributes import doubt_dependent_attributes
from divulge.data.proposals.name_similarity import drop_numbers, split_words
from divulge.data.proposals.proposal import Proposal, Status
from divulge.data.proposals.record_structure import RecordStructure, find_record_structure
from divulge.data.proposals.role_evidence import RoleEvidence
from divulge.data.proposals.value_patterns import find_role_evidence

KEY_ROLES: tuple[Role, ...] = ("identifier", "household", "person", "group")
DROPPED_TWICE = "only one attribute can be the"


def judge_by_values(dataset: Dataset, proposals: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """The proposals, with what the data say for and against them."""
    times = tuple(name for name, p in proposals.items() if p.role == "time")
    structure = find_record_structure(dataset, times)
    judged = {}
    for name, proposal in proposals.items():
        evidence = find_role_evidence(dataset, name)
        if name in structure.evidence:
            evidence.insert(0, structure.evidence[name])
        proposal = _doubt_weights(dataset, _exclude_keys(dataset, proposal))
        judged[name] = _doubt_places(dataset, _weigh_evidence(proposal, evidence))
    judged = _find_repeated_ids(dataset, judged, structure)
    judged = _choose_single_roles(dataset, judged)
    return doubt_dependent_attributes(dataset, _find_batteries(dataset, judged))


def flag_shared_single_roles(proposals: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """A dataset has one weight, one household, one time: several are a matter for a person."""
    checked_proposals = dict(proposals)
    for role in SINGLE_ROLES:
        rivals = [p for p in proposals.values() if p.role == role]
        if len(rivals) > 1:
            decided = [p for p in rivals if p.is_decided]
            flagged = [p for p in rivals if p not in decided] if len(decided) == 1 else rivals
            names = ", ".join(f'"{p.attribute}"' for p in rivals)
            reason = f"{DROPPED_TWICE} {role}, and several could: {names}"
            for p in flagged:
                checked_proposals[p.attribute] = replace(
                    p,
                    role=None,
                    status="conflict",
                    reasons=(*p.reasons, reason),
                    candidates=(role,),
                )
    return checked_proposals


def _exclude_keys(dataset: Dataset, proposal: Proposal) -> Proposal:
    """A proposal without the roles of keys, if its few values cannot tell records apart."""
    values = len(dataset.columns[proposal.attribute].values)
    too_few = values < dataset.rows * tuning.MIN_KEY_SHARE
    is_answer = values <= tuning.MOST_ANSWERS < dataset.rows / tuning.MOST_ANSWERS
    is_code = (
        values <= tuning.MAX_BATTERY_VALUES and values * tuning.MIN_RECORDS_OF_CODE <= dataset.rows
    )
    if proposal.is_decided or values == 0 or not (too_few or is_answer or is_code):
        return proposal
    reason = f"{values:,} values among {dataset.rows:,} records are no key"
    if proposal.status == "conflict":
        others = tuple(role for role in proposal.candidates if role not in KEY_ROLES)
        if len(others) == 1:
            reasons = (*proposal.reasons, reason)
            return replace(
                proposal, role=others[0], status="settled", reasons=reasons, candidates=()
            )
    if proposal.role in KEY_ROLES and proposal.role != "group":
        reasons = (*proposal.reasons, f"but {reason}")
        return replace(proposal, role=None, status="unknown", reasons=reasons)
    return proposal


def _doubt_weights(dataset: Dataset, proposal: Proposal) -> Proposal:
    """A weight says how many somebody stands for: it is never missing, and above 0."""
    if proposal.role != "weight" or proposal.is_decided:
        return proposal
    column = dataset.columns[proposal.attribute]
    numbers = [value for value in column.values.to_pylist() if isinstance(value, int | float)]
    if column.has_missing or len(numbers) < len(column.values):
        reason = "but some records have no number, and every record has a weight"
    elif min(numbers, default=1) <= 0:
        reason = "but some values are not above 0, and a weight is"
    elif unit := _find_unit_of_mass(dataset, proposal.attribute):
        reason = f'but it may be the weight of a body: its description says "{unit}"'
    elif body := _find_body_measures(dataset):
        reason = f'but it may be the weight of a body, as "{body}" is beside it'
    else:
        return proposal
    return replace(proposal, status="doubt", reasons=(*proposal.reasons, reason))


_MASSES = {
    "kg",
    "kilo",
    "kilos",
    "kilogram",
    "kilograms",
    "kilogramm",
    "lb",
    "lbs",
    "pound",
    "pounds",
}


def _find_unit_of_mass(dataset: Dataset, attribute: str) -> str | None:
    """A unit in which bodies are weighed, in the name or the description of an attribute."""
    words = split_words(f"{attribute} {dataset.dictionary[attribute].description}")
    return next((word for word in words if word in _MASSES), None)


_PLACES = {"residence", "residency", "birthplace", "neighbourhood", "neighborhood", "hometown"}


def _doubt_places(dataset: Dataset, proposal: Proposal) -> Proposal:
    """What holds of the place where somebody lives tells that place, such as a price there."""
    if proposal.role != "non_identifying" or proposal.status != "settled" or proposal.is_decided:
        return proposal
    words = _PLACES.intersection(split_words(dataset.dictionary[proposal.attribute].description))
    if not words or proposal.is_from_codebook:
        return proposal
    reason = (
        f'but its description says "{min(words)}": what holds of a place tells the place '
        "(quasi_identifier?)"
    )
    return replace(
        proposal, role="quasi_identifier", status="doubt", reasons=(*proposal.reasons, reason)
    )


def _find_body_measures(dataset: Dataset) -> str | None:
    """An attribute that says how tall or heavy somebody is, if there is one."""
    tall = {"height", "bmi", "altura", "estatura", "altezza", "statura", "talla", "taille"}
    described = ((n, f"{n} {dataset.dictionary[n].description}") for n in dataset.names)
    return next((n for n, text in described if tall & set(drop_numbers(split_words(text)))), None)


def _weigh_evidence(proposal: Proposal, evidence: Sequence[RoleEvidence]) -> Proposal:
    """A proposal against what the data show: they raise doubts, and fill gaps."""
    if proposal.is_decided or not evidence:
        return proposal
    reasons = tuple(item.reason for item in evidence)
    first_item = evidence[0]
    status: Status = "settled" if first_item.is_sure else "doubt"
    topic = proposal.topic or first_item.topic
    if proposal.role is None and proposal.status == "unknown":
        return replace(proposal, role=first_item.role, status=status, reasons=reasons, topic=topic)
    if proposal.status == "conflict":
        decisive = [item for item in evidence if item.role in proposal.candidates and item.is_sure]
        if len({item.role for item in decisive}) == 1:
            return replace(
                proposal,
                role=decisive[0].role,
                status="settled",
                reasons=(*proposal.reasons, *reasons),
                candidates=(),
            )
        return replace(proposal, reasons=(*proposal.reasons, *reasons))
    supporting = [item for item in evidence if item.role == proposal.role]
    against = [item for item in evidence if item.contradicts(proposal.role)]
    if supporting and supporting[0].is_sure:
        return replace(
            proposal, status="settled", reasons=(*proposal.reasons, supporting[0].reason)
        )
    if proposal.is_from_codebook and not any(item.is_sure for item in against):
        return proposal
    if proposal.role is not None and against:
        objections = tuple(f"but {item.reason} ({item.role}?)" for item in against)
        return replace(proposal, status="doubt", reasons=(*proposal.reasons, *objections))
    return proposal


def _find_repeated_ids(
    dataset: Dataset, proposals: dict[str, Proposal], structure: RecordStructure
) -> dict[str, Proposal]:
    """An id of people that several records share is a key of persons, not of records."""
    if any(p.role == "person" for p in proposals.values()):
        return proposals
    repeated = [
        name
        for name, p in proposals.items()
        if p.role == "identifier"
        and p.status == "settled"
        and p.topic == "identity"
        and not p.is_decided
        and not p.is_from_codebook
        and name != structure.key
        and _is_repeated(dataset, name)
    ]
    if len(repeated) != 1:
        return proposals
    proposal = proposals[repeated[0]]
    reason = "several records share its values: whose they are, it tells"
    return {
        **proposals,
        repeated[0]: replace(
            proposal, role="person", status="settled", reasons=(*proposal.reasons, reason)
        ),
    }


def _is_repeated(dataset: Dataset, name: str) -> bool:
    column = dataset.columns[name]
    present = dataset.rows - int(np.count_nonzero(column.codes == column.missing_code))
    return len(column.values) > 1 and len(column.values) <= tuning.REPEATED_SHARE * present


def _choose_single_roles(dataset: Dataset, proposals: dict[str, Proposal]) -> dict[str, Proposal]:
    """Of several weights, households or times the one that says most; the others are left out."""
    for role in SINGLE_ROLES:
        rivals = [p for p in proposals.values() if p.role == role]
        if len(rivals) < 2 or sum(p.is_decided for p in rivals) > 1:
            continue
        chosen = max(rivals, key=lambda p: (p.is_decided, *_rank_rival(dataset, p, role)))
        for p in rivals:
            if p is chosen:
                continue
            reason = f'{DROPPED_TWICE} {role}, and "{chosen.attribute}" is: {_REPEATS[role]}'
            proposals[p.attribute] = replace(
                p,
                role=None,
                status="conflict",
                reasons=(*p.reasons, reason),
                candidates=(role, "non_identifying") if role != "time" else (role,),
            )
    return flag_shared_single_roles(proposals)


_REPEATS: Mapping[Role, str] = {
    "weight": "a second weight tells the stratum or the size of a household",
    "household": "a second number of households is an id of its own",
    "time": "a second moment tells more of the first",
    "person": "a second number of persons is an id of its own",
}


def _rank_rival(dataset: Dataset, proposal: Proposal, role: Role) -> tuple[float, float, float]:
    """What speaks for one of several: status, being of persons or a day, fineness."""
    import pyarrow as pa

    words = set(split_words(proposal.attribute)) | set(
        split_words(" ".join(proposal.reasons) if proposal.is_from_codebook else "")
    )
    column = dataset.columns[proposal.attribute]
    is_settled = float(proposal.status == "settled")
    if role == "weight":
        is_main = not words & {"household", "replicate"} and not any(w.isdigit() for w in words)
        return is_settled, float(proposal.is_from_codebook) + float(is_main), -float(len(words))
    # A day says more of when something was than the hour of a day that is not named.
    kind = column.values.type
    is_moment = role == "time" and (pa.types.is_date(kind) or pa.types.is_timestamp(kind))
    return is_settled, float(is_moment), float(len(column.values))


def _find_batteries(dataset: Dataset, proposals: dict[str, Proposal]) -> dict[str, Proposal]:
    """Questions of one name but for a number, with the same few answers: what people answered."""
    unknown = [name for name, p in proposals.items() if p.status == "unknown"]
    stems = {name: drop_numbers(split_words(_cut_letter(name))) for name in unknown}
    ordered = sorted(unknown, key=lambda name: (stems[name], dataset.names.index(name)))
    for stem, members in groupby(ordered, key=lambda name: stems[name]):
        names = [name for name in members if any(c.isdigit() for c in name)]
        if len(names) < tuning.MIN_BATTERY or not stem:
            continue
        values = {value for name in names for value in _list_few_values(dataset, name)}
        if not 2 <= len(values) <= tuning.MAX_BATTERY_VALUES:
            continue
        reason = f"it is one of {len(names)} questions with the same answers: what people answered"
        for name in names:
            proposals[name] = replace(
                proposals[name],
                role="sensitive",
                status="settled",
                reasons=(reason,),
                topic="answers",
            )
    return proposals


def _cut_letter(name: str) -> str:
    """A name without a letter after its number: `Q1A` and `Q2A` are of one battery."""
    return name[:-1] if len(name) > 2 and name[-1].isalpha() and name[-2].isdigit() else name


def _list_few_values(dataset: Dataset, name: str) -> list[object]:
    """The values of an attribute; of one of many values enough of them to be too many."""
    return list(dataset.columns[name].values[: tuning.MAX_BATTERY_VALUES + 1].to_pylist())
