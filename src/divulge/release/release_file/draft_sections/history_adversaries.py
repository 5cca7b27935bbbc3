"""Adversaries of event histories: who saw somebody buy something, once or twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from divulge.events.plugin import draft_history_adversary
from divulge.release.release_file.draft_sections.comments import comment_on
from divulge.release.release_file.draft_sections.dataset_draft import DatasetDraft
from divulge.release.release_file.draft_sections.limits_section import (
    format_adversary,
    format_limit,
    format_unlimited,
)
from divulge.release.release_file.draft_sections.profiles import Profile

BYSTANDER = "next in the queue"
NEIGHBOUR = "neighbour"
CASHIER = "cashier"


def draft_history_adversaries(draft: DatasetDraft, profile: Profile, suffix: str) -> Iterator[str]:
    """Who saw one thing on one day, who saw the bags of a week, and who remembers two purchases."""
    seen = list(draft.keys_beside_events)
    for who, knows, points in (
        (BYSTANDER, ["day", "item", *seen], 1),
        (NEIGHBOUR, ["week", "kinds by 5", *seen], 1),
        (CASHIER, ["day", "item", *seen], 2),
    ):
        settings = _settle(draft, knows, points)
        said = comment_on(f"adversary.{who.replace(' ', '_')}")
        if who == NEIGHBOUR:
            said = comment_on("adversary.neighbour_of_events")
        yield from format_adversary(who + suffix, settings, said)
        if who != BYSTANDER:
            yield from format_unlimited(_limit_certain(who + suffix, profile))
            continue
        yield from format_limit(
            _limit_certain(who + suffix, profile),
            comment_on("certain", source=profile.cite_source("certain")),
        )
        yield from format_limit(
            {
                "adversary": who + suffix,
                "measure": "probabilistic.posterior",
                "at_most": profile.guess,
            },
            comment_on("guess", source=profile.cite_source("guess")),
        )


def _limit_certain(name: str, profile: Profile) -> dict[str, Any]:
    return {"adversary": name, "measure": "deterministic.posterior", "at_most": profile.certain}


def _settle(draft: DatasetDraft, knows: list[str], points: int) -> dict[str, Any]:
    kind = draft.kind
    user, time, item = str(kind.user), str(kind.time), str(kind.item)
    has_gaps = any(draft.dataset.columns[name].has_missing for name in (user, time, item))
    return draft_history_adversary(
        draft.name,
        user=user,
        time=time,
        item=item,
        knows=knows,
        points=points,
        drops_missing=has_gaps,
    )
