"""When a record in a protected release may stand for what an adversary knows.

A value that was left as it was stands for itself, a suppressed one for any, a coarser one for all
that lies beneath it: a month for its days, a kind of goods for its goods (`value_compatibility`).
Of an event with suppressed items, the number of kinds and the basket are known within bounds
(`item_compatibility`).
"""

from __future__ import annotations

from divulge.events.history.history import History
from divulge.events.knowledge.facets import Facet
from divulge.events.protected.item_compatibility import cover_event
from divulge.events.protected.value_compatibility import (
    Cover,
    cover_amount,
    cover_time,
    cover_values,
)


def cover_facet(original: History, release: History, facet: Facet) -> Cover:
    """How the records of a release cover what is known by one facet."""
    if facet.kind == "when":
        return cover_time(original, release, facet.words)
    if facet.kind == "amount":
        return cover_amount(original, release, facet.band)
    if facet.kind in ("item", "items"):
        return cover_values(original, release, original.item, release.item, facet.level)
    if facet.kind == "attribute":
        return cover_values(original, release, facet.words, facet.words, 0)
    return cover_event(original, release, facet)
