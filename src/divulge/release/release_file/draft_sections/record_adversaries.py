"""The gallery of adversaries for drafts on records, households and panels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from divulge.records.plugin.records_attack import draft_adversary
from divulge.release.release_file import tuning
from divulge.release.release_file.draft_sections.comments import comment_on, say
from divulge.release.release_file.draft_sections.dataset_draft import DatasetDraft
from divulge.release.release_file.draft_sections.gallery import (
    MAXIMUM,
    AdversaryChoice,
    DraftedAdversary,
    find_largest,
)
from divulge.release.release_file.draft_sections.limits_section import (
    format_adversary,
    format_limit,
    format_unlimited,
)
from divulge.release.release_file.draft_sections.profiles import Profile


def draft_record_adversaries(
    draft: DatasetDraft, choice: AdversaryChoice, profile: Profile, suffix: str
) -> Iterator[str]:
    """Everybody of the gallery who knows something, the limits on them, and who knows all."""
    for each in choice.adversaries:
        settings = draft_adversary(draft.name, each.knows)
        yield from format_adversary(each.name + suffix, settings, *_describe(each))
        yield from format_limit(
            {
                "adversary": each.name + suffix,
                "measure": "deterministic.posterior",
                "at_most": profile.certain,
            },
            comment_on("certain", source=profile.cite_source("certain")),
        )
    yield from _draft_class_limits(draft, find_largest(choice.adversaries), profile)
    yield from _draft_maximum(draft, profile, suffix)


def _describe(each: DraftedAdversary) -> Iterator[str]:
    yield comment_on(f"adversary.{each.who.replace(' ', '_').replace('-', '_')}")
    if each.others:
        yield comment_on("others", names=", ".join(each.others))


def _draft_class_limits(
    draft: DatasetDraft, largest: Sequence[DraftedAdversary], profile: Profile
) -> Iterator[str]:
    for number, each in enumerate(largest):
        said = (
            [comment_on("alike", least=profile.k, source=profile.cite_source("k"))]
            if number == 0
            else []
        )
        yield from format_limit(
            {
                "dataset": draft.name,
                "measure": "k_anonymity",
                "at_least": profile.k,
                "among": list(each.knows),
            },
            *said,
        )


def _draft_maximum(draft: DatasetDraft, profile: Profile, suffix: str) -> Iterator[str]:
    """Who knows all that is published; weights are what nobody knows of others."""
    everything = [name for name in draft.published if draft.role_of[name] != "weight"]
    if not everything:
        return
    if len(everything) > tuning.MOST_LISTED:
        yield ""
        yield comment_on("maximum_left_out", attributes=len(everything))
        return
    settings = draft_adversary(draft.name, everything)
    said = comment_on("adversary.maximum_knowledge")
    yield from format_adversary(MAXIMUM + suffix, settings, said)
    yield from format_unlimited(
        {
            "adversary": MAXIMUM + suffix,
            "measure": "deterministic.posterior",
            "at_most": profile.certain,
        }
    )


def name_reason_for_room(attribute: str) -> str:
    """Why a key that nobody of the draft knows is left out."""
    return say("no_room", attribute=attribute)
