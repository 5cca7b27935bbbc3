"""The first page of a report: the verdict in a sentence, the gravest findings, what is open.

Grave is what fails first, then by how many people or cells are known for certain, then by how many
are guessed right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from divulge.assessment import Assessment, Outcome, Sentence
from divulge.release.charts import rank_assessments

if TYPE_CHECKING:
    from divulge.release.verdict import Verdict

CATALOGUE = "divulge.release"
MOST_FINDINGS = 3
PRESUMED = "publication.presumed"
"""What is published though nobody examined it."""


@dataclass(frozen=True, kw_only=True)
class FindingInShort:
    """One thing that was found: of whom, what, and what was allowed."""

    subject: str
    status: str
    sentences: tuple[Sentence, ...]
    assessment: Assessment | None = None
    """Of the adversary, where it is one."""


def list_findings(verdict: Verdict, most: int = MOST_FINDINGS) -> list[FindingInShort]:
    """The gravest findings: of adversaries and of limits on datasets, the worst first."""
    findings = [_describe_adversary(verdict, each) for each in rank_assessments(verdict)]
    measured = [
        FindingInShort(
            subject=outcome.subject, status=outcome.status, sentences=outcome.sentences[:1]
        )
        for outcome in verdict.outcomes
        if not outcome.limit.of_assessment and outcome.status != "not judged"
    ]
    failing = [each for each in findings if each.status == "fail"]
    failing += [each for each in measured if each.status == "fail"]
    rest = [each for each in (*findings, *measured) if each.status != "fail"]
    return [*failing, *rest][:most]


def _describe_adversary(verdict: Verdict, assessment: Assessment) -> FindingInShort:
    """What an adversary finds, in as few sentences as tell how many, and what they may."""
    outcomes = [each for each in verdict.outcomes if verdict.is_on_adversary(each, assessment)]
    statuses = [outcome.status for outcome in outcomes]
    status = next((each for each in ("fail", "not judged") if each in statuses), "pass")
    allowed = [each for each in outcomes if each.status == "fail"] or outcomes
    return FindingInShort(
        subject=str(assessment.adversary),
        status=status if outcomes else "none",
        sentences=(*assessment.gist, *map(_say_allowed, allowed)),
        assessment=assessment,
    )


def _say_allowed(outcome: Outcome) -> Sentence:
    values = {"measure": outcome.limit.title_with_attributes, "allowed": outcome.allowed}
    return Sentence(CATALOGUE, "overview.allowed", values)


def describe_verdict(verdict: Verdict) -> Sentence:
    """The verdict in one sentence: may this be published?"""
    outcomes = verdict.outcomes
    failed = sum(outcome.status == "fail" for outcome in outcomes)
    values: dict[str, Any] = {"failed": failed, "total": len(outcomes)}
    if verdict.status == "fail" and not failed:
        return Sentence(CATALOGUE, "overview.forbidden", values)
    key = {"pass": "pass", "fail": "fail", "not judged": "open"}[verdict.status]
    return Sentence(CATALOGUE, f"overview.{key}", values)


def list_open_questions(verdict: Verdict) -> list[Sentence]:
    """What was not judged, and what nobody asked."""
    limited = {each.subject for each in verdict.outcomes if each.limit.of_assessment}
    names = [str(each.adversary) for each in rank_assessments(verdict)]
    unlimited = [name for name in names if name not in limited]
    said = [Sentence(CATALOGUE, "overview.unlimited", {"names": unlimited})] if unlimited else []
    return [*_list_unjudged(verdict), *said, _say_scope(verdict)]


def _list_unjudged(verdict: Verdict) -> Iterator[Sentence]:
    for reservation in verdict.reservations:
        if reservation.status == "not judged":
            yield reservation.sentence
    for outcome in verdict.outcomes:
        if outcome.status == "not judged":
            yield from outcome.sentences[-1:]
    for publication in verdict.publications.values():
        for sentence in publication.list_sentences():
            if sentence.key == PRESUMED:
                yield sentence


def _say_scope(verdict: Verdict) -> Sentence:
    values = {"adversaries": len(verdict.assessments), "limits": len(verdict.outcomes)}
    return Sentence(CATALOGUE, "overview.scope", values)
