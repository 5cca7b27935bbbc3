"""A gallery of adversaries in everyday words, each with what they would know of these records.

Whom one should fear is easier said than a set of attributes: somebody next door, a colleague, an
employer. What they know follows from the topics of the attributes. Nobody knows more than a few
things of everybody, so keys are few; what is left over is known to somebody who buys data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from divulge.release.release_file import tuning
from divulge.release.release_file.draft_sections.dataset_draft import DatasetDraft


@dataclass(frozen=True, kw_only=True)
class GalleryEntry:
    """Somebody, and what they know: topics of attributes, what they know best first."""

    name: str
    topics: tuple[str, ...]
    of: Literal["people", "firms"] = "people"


GALLERY: tuple[GalleryEntry, ...] = (
    GalleryEntry(name="neighbour", topics=("person", "home", "household")),
    GalleryEntry(name="colleague", topics=("person", "work", "education")),
    GalleryEntry(name="employer", topics=("person", "birth", "work", "education", "home")),
    GalleryEntry(name="journalist with a register", topics=("birth", "person", "home")),
    GalleryEntry(
        name="ex-partner",
        topics=("birth", "person", "household", "home", "work", "education", "belief"),
    ),
    GalleryEntry(name="competitor", topics=("business", "home"), of="firms"),
    GalleryEntry(name="supplier", topics=("business", "home", "item"), of="firms"),
)
BROKER = "data broker"
MAXIMUM = "maximum knowledge"


@dataclass(frozen=True, kw_only=True)
class DraftedAdversary:
    """Somebody of the gallery, with the attributes that they know here."""

    who: str
    name: str
    knows: tuple[str, ...]
    others: tuple[str, ...] = ()
    """Others of the gallery who would know the same."""


@dataclass(frozen=True, kw_only=True)
class AdversaryChoice:
    """The adversaries of a dataset, and the keys that nobody of them knows."""

    adversaries: tuple[DraftedAdversary, ...]
    unknown_keys: tuple[str, ...] = ()


def choose_adversaries(draft: DatasetDraft) -> AdversaryChoice:
    """Who would know what of these records; no key is known to nobody unless it is said."""
    moments = [draft.kind.time] if draft.kind.kind == "panel" and draft.kind.time else []
    room = tuning.MOST_KEYS - len(moments)
    people = is_about_people(draft)
    keys_by_name: dict[str, tuple[str, ...]] = {}
    for entry in GALLERY:
        if (entry.of == "people") == people:
            keys = _rank_keys(draft, entry.topics)[:room]
            if keys:
                keys_by_name[entry.name] = tuple(keys)
    rest = [key for key in draft.keys if not any(key in keys for keys in keys_by_name.values())]
    brokers, unknown_keys = _share_among_brokers(draft, rest, room)
    merged = _merge_alike(keys_by_name)
    named = [*merged, *((BROKER, name, keys, ()) for name, keys in brokers)]
    adversaries = tuple(
        DraftedAdversary(who=who, name=name, knows=(*moments, *keys), others=others)
        for who, name, keys, others in named
    )
    return AdversaryChoice(adversaries=adversaries, unknown_keys=tuple(unknown_keys))


def is_about_people(draft: DatasetDraft) -> bool:
    """Firms have competitors, people have neighbours; what says nothing is about people."""
    topics = {draft.topic_of(name) for name in draft.role_of}
    return "business" not in topics or bool({"person", "birth", "household"} & topics)


def find_largest(adversaries: Sequence[DraftedAdversary]) -> list[DraftedAdversary]:
    """Those who know something that none of the others knows beside all else.

    Who is alike in more is alike in less: a limit on their keys covers all others.
    """
    sets = [frozenset(each.knows) for each in adversaries]
    return [
        each
        for place, each in enumerate(adversaries)
        if not any(
            sets[place] < other or (sets[place] == other and number < place)
            for number, other in enumerate(sets)
        )
    ]


def _rank_keys(draft: DatasetDraft, topics: Iterable[str]) -> list[str]:
    """Keys of some topics, topic by topic in turn, so that no topic takes all the room."""
    columns = [[key for key in draft.keys if draft.topic_of(key) == topic] for topic in topics]
    longest = max(map(len, columns), default=0)
    return [column[place] for place in range(longest) for column in columns if place < len(column)]


def _share_among_brokers(
    draft: DatasetDraft, rest: Sequence[str], room: int
) -> tuple[list[tuple[str, tuple[str, ...]]], list[str]]:
    """Who knows what nobody else knows, each with a few things that everybody knows."""
    base = _rank_keys(draft, ("person", "birth", "home", "business"))
    base = [key for key in base if key not in rest][: tuning.BASE_KEYS]
    each = max(1, room - len(base))
    brokers = []
    for number, start in enumerate(range(0, len(rest), each), start=1):
        if number > tuning.MOST_BROKERS:
            break
        name = BROKER if number == 1 else f"{BROKER} {number}"
        brokers.append((name, (*base, *rest[start : start + each])))
    return brokers, list(rest[each * tuning.MOST_BROKERS :])


def _merge_alike(
    keys_by_name: dict[str, tuple[str, ...]],
) -> Iterator[tuple[str, str, tuple[str, ...], tuple[str, ...]]]:
    """Those who know the same are one, and the others are named."""
    first: dict[frozenset[str], str] = {}
    others: dict[str, list[str]] = {}
    for name, keys in keys_by_name.items():
        same = first.setdefault(frozenset(keys), name)
        others.setdefault(same, [])
        if same != name:
            others[same].append(name)
    for name in others:
        yield name, name, keys_by_name[name], tuple(others[name])
