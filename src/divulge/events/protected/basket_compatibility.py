"""Which baskets of the original an event of a release may be, with items hidden or coarser.

Every record of the event is one item of the basket beneath its label; a hidden one is any. Labels
lie within each other or apart, so records find their items from the finest label up. Baskets that
are sets name an item once, however many records have it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from divulge.events.history.history import History
from divulge.events.history.ordering import Ints
from divulge.events.knowledge.facets import Facet, coded
from divulge.events.protected.value_compatibility import ANY, Cover, values_covered
from divulge.work import DivulgeError

MOST_PAIRS = 50_000_000
"""Events and baskets that they may be, in all."""

Counts = Counter[int]


def possible_baskets(original: History, release: History, facet: Facet) -> tuple[Ints, Ints]:
    """Events of a release and, for each, the codes of the baskets of the original it may be."""
    seen = values_covered(original, release, original.item, release.item, facet.level)
    tree = _Tree.of(seen, facet.level)
    baskets = _Baskets.of(original, seen, tree, facet)
    events: dict[_Shown, list[int]] = defaultdict(list)
    starts = release.ordered.starts
    for event in range(release.events):
        rows = slice(starts[event], starts[event + 1])
        events[_Shown.of(seen.level[rows], seen.code[rows])].append(event)
    found, pairs = [], 0
    for shown, alike in events.items():
        codes = baskets.fitting(shown)
        pairs += len(alike) * len(codes)
        if pairs > MOST_PAIRS:
            raise DivulgeError(
                f'attacker, knows: "{facet.words}": the release leaves too many possible baskets '
                f'to each event; ask for all items at its level, as in "all items at {tree.top}"'
            )
        found.append((np.repeat(alike, len(codes)), np.tile(codes, len(alike))))
    whole = [np.concatenate([np.empty(0, np.int64), *part]) for part in zip(*found, strict=True)]
    return whole[0].astype(np.int64), whole[1].astype(np.int64)


@dataclass(frozen=True)
class _Shown:
    """What an event shows: labels with their level, how often each, and how many are hidden."""

    labels: frozenset[tuple[int, int, int]]
    hidden: int

    @classmethod
    def of(cls, level: Ints, code: Ints) -> _Shown:
        counts = Counter(zip(level.tolist(), code.tolist(), strict=True))
        hidden = sum(many for (at, _), many in counts.items() if at == ANY)
        labels = ((at, label, many) for (at, label), many in counts.items() if at != ANY)
        return cls(frozenset(labels), hidden)

    def at(self, level: int) -> Counts:
        """The labels of a level, and how often each is shown."""
        return Counter({label: many for at, label, many in self.labels if at == level})


@dataclass(frozen=True)
class _Tree:
    """The levels at which a release speaks, the finest first, and what lies beneath what."""

    levels: list[int]
    above: Mapping[int, Mapping[int, int]]
    """Of each level but the last, the label one level further up of each label."""

    @classmethod
    def of(cls, seen: Cover, finest: int) -> _Tree:
        levels = sorted({finest, *np.unique(seen.level).tolist()} - {ANY})
        above = {
            low: dict(zip(seen.known[low].tolist(), seen.known[high].tolist(), strict=True))
            for low, high in pairwise(levels)
        }
        return cls(levels, above)

    @property
    def top(self) -> int:
        return self.levels[-1]

    def lifted(self, counts: Counts, level: int) -> Counts | None:
        """Counts of labels one level further up; None if one is of no item of the original."""
        if not counts:
            return Counter()
        if level == self.top or any(label not in self.above[level] for label in counts):
            return None
        found: Counts = Counter()
        for label, many in counts.items():
            found[self.above[level][label]] += many
        return found


@dataclass(frozen=True)
class _Basket:
    """One basket of the original: how many items it has beneath each label, level by level."""

    code: int
    at: tuple[Counts, ...]

    @cached_property
    def items(self) -> int:
        return self.at[0].total()


@dataclass(frozen=True)
class _Baskets:
    """All baskets of the original, as a facet tells them apart."""

    tree: _Tree
    every: bool
    all: list[_Basket]
    by_top: Mapping[frozenset[tuple[int, int]], list[_Basket]]
    counted: dict[frozenset[tuple[int, int]], tuple[Ints, Ints]] = field(default_factory=dict)

    @classmethod
    def of(cls, original: History, seen: Cover, tree: _Tree, facet: Facet) -> _Baskets:
        of_event = coded(original, facet).codes
        codes, first = np.unique(of_event, return_index=True)
        starts, every = original.ordered.starts, facet.every
        baskets = []
        by_top: dict[frozenset[tuple[int, int]], list[_Basket]] = defaultdict(list)
        for code, event in zip(codes.tolist(), first.tolist(), strict=True):
            rows = np.arange(starts[event], starts[event + 1])
            if not every:
                rows = rows[np.unique(seen.known[facet.level][rows], return_index=True)[1]]
            at = tuple(Counter(seen.known[level][rows].tolist()) for level in tree.levels)
            baskets.append(_Basket(code, at))
            by_top[_key(at[-1], every)].append(baskets[-1])
        return cls(tree, every, baskets, by_top)

    def fitting(self, shown: _Shown) -> list[int]:
        """The codes of the baskets that an event may be."""
        if not shown.hidden and all(level == self.tree.top for level, *_ in shown.labels):
            return self._of_one_level(shown)
        fits = self._holds_all if self.every else self._covers_all
        return [basket.code for basket in self._candidates(shown) if fits(shown, basket)]

    def _of_one_level(self, shown: _Shown) -> list[int]:
        """The same where all labels are of the coarsest level: they are counted, all at once."""
        labels = shown.at(self.tree.top)
        alike = self.by_top.get(_key(labels, self.every), [])
        if self.every or not alike:
            return [basket.code for basket in alike]
        columns = sorted(labels)
        key = _key(labels, self.every)
        if key not in self.counted:
            codes = np.array([basket.code for basket in alike], np.int64)
            items = [[basket.at[-1][label] for label in columns] for basket in alike]
            self.counted[key] = codes, np.array(items, np.int64)
        codes, items_of = self.counted[key]
        found: list[int] = codes[
            (items_of <= [labels[label] for label in columns]).all(axis=1)
        ].tolist()
        return found

    def _candidates(self, shown: _Shown) -> Iterable[_Basket]:
        """Baskets that look the same from the top, where nothing is hidden."""
        if shown.hidden:
            return self.all
        *_, top = self._gathered(shown)
        return [] if top is None else self.by_top.get(_key(top, self.every), [])

    def _gathered(self, shown: _Shown) -> Iterator[Counts | None]:
        """How many records are shown beneath each label, level by level; None: no such label."""
        below: Counts | None = Counter()
        for place, level in enumerate(self.tree.levels):
            if place and below is not None:
                below = self.tree.lifted(below, self.tree.levels[place - 1])
            below = None if below is None else below + shown.at(level)
            yield below

    def _holds_all(self, shown: _Shown, basket: _Basket) -> bool:
        """Whether each record is an item of its own, and none is left over."""
        if sum(many for *_, many in shown.labels) + shown.hidden != basket.items:
            return False
        both = zip(self._gathered(shown), basket.at, strict=True)
        return all(seen is not None and seen <= items for seen, items in both)

    def _covers_all(self, shown: _Shown, basket: _Basket) -> bool:
        """Whether each record is one of the items, and each item has a record."""
        wanting: Counts | None = basket.at[0]
        for place, (level, items) in enumerate(zip(self.tree.levels, basket.at, strict=True)):
            labels = shown.at(level)
            if any(label not in items for label in labels):
                return False
            if place and wanting is not None:
                wanting = self.tree.lifted(wanting, self.tree.levels[place - 1])
            if wanting is None:
                return False
            wanting = wanting - labels
        return wanting is not None and wanting.total() <= shown.hidden


def _key(counts: Counts, every: bool) -> frozenset[tuple[int, int]]:
    """Counts as a key; of baskets that are sets, only which labels there are."""
    return frozenset((label, many if every else 1) for label, many in counts.items())
