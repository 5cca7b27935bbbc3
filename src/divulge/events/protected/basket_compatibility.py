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

from divulge.events import tuning
from divulge.events.history.history import History
from divulge.events.knowledge.facets import Facet, encode_facet
from divulge.events.protected.value_compatibility import SUPPRESSED_LEVEL, Cover, cover_values
from divulge.work import DivulgeError
from divulge.work.arrays import Ints

Counts = Counter[int]


def list_possible_baskets(original: History, release: History, facet: Facet) -> tuple[Ints, Ints]:
    """Events of a release and, for each, the codes of the baskets of the original it may be."""
    cover = cover_values(original, release, original.item, release.item, facet.level)
    tree = _LabelTree.from_cover(cover, facet.level)
    baskets = _Baskets.from_history(original, cover, tree, facet)
    events: dict[_EventLabels, list[int]] = defaultdict(list)
    starts = release.ordered.starts
    for event in range(release.events):
        rows = slice(starts[event], starts[event + 1])
        events[_EventLabels.from_codes(cover.level[rows], cover.code[rows])].append(event)
    fitting, pairs = [], 0
    for labels, alike in events.items():
        codes = baskets.find_fitting(labels)
        pairs += len(alike) * len(codes)
        if pairs > tuning.MAX_POSSIBLE_BASKETS:
            raise DivulgeError(
                f'attacker, knows: "{facet.words}": the release leaves too many possible baskets '
                f'to each event; ask for all items at its level, as in "all items at {tree.top}"'
            )
        fitting.append((np.repeat(alike, len(codes)), np.tile(codes, len(alike))))
    whole = [np.concatenate([np.empty(0, np.int64), *part]) for part in zip(*fitting, strict=True)]
    return whole[0].astype(np.int64), whole[1].astype(np.int64)


@dataclass(frozen=True)
class _EventLabels:
    """What an event shows: labels with their level, how often each, and how many are hidden."""

    labels: frozenset[tuple[int, int, int]]
    hidden: int

    @classmethod
    def from_codes(cls, level: Ints, code: Ints) -> _EventLabels:
        counts = Counter(zip(level.tolist(), code.tolist(), strict=True))
        hidden = sum(many for (at, _), many in counts.items() if at == SUPPRESSED_LEVEL)
        labels = (
            (at, label, many) for (at, label), many in counts.items() if at != SUPPRESSED_LEVEL
        )
        return cls(frozenset(labels), hidden)

    def labels_at(self, level: int) -> Counts:
        """The labels of a level, and how often each is shown."""
        return Counter({label: many for at, label, many in self.labels if at == level})


@dataclass(frozen=True)
class _LabelTree:
    """The levels at which a release speaks, the finest first, and what lies beneath what."""

    levels: list[int]
    above: Mapping[int, Mapping[int, int]]
    """Of each level but the last, the label one level further up of each label."""

    @classmethod
    def from_cover(cls, cover: Cover, finest: int) -> _LabelTree:
        levels = sorted({finest, *np.unique(cover.level).tolist()} - {SUPPRESSED_LEVEL})
        above = {
            low: dict(
                zip(
                    cover.original_codes[low].tolist(),
                    cover.original_codes[high].tolist(),
                    strict=True,
                )
            )
            for low, high in pairwise(levels)
        }
        return cls(levels, above)

    @property
    def top(self) -> int:
        return self.levels[-1]

    def lift_counts(self, counts: Counts, level: int) -> Counts | None:
        """Counts of labels one level further up; None if one is of no item of the original."""
        if not counts:
            return Counter()
        if level == self.top or any(label not in self.above[level] for label in counts):
            return None
        lifted: Counts = Counter()
        for label, many in counts.items():
            lifted[self.above[level][label]] += many
        return lifted


@dataclass(frozen=True)
class _Basket:
    """One basket of the original: how many items it has beneath each label, level by level."""

    code: int
    counts_by_level: tuple[Counts, ...]

    @cached_property
    def items(self) -> int:
        return self.counts_by_level[0].total()


@dataclass(frozen=True, kw_only=True)
class _Baskets:
    """All baskets of the original, as a facet tells them apart."""

    tree: _LabelTree
    every: bool
    baskets: list[_Basket]
    by_top: Mapping[frozenset[tuple[int, int]], list[_Basket]]
    count_cache: dict[frozenset[tuple[int, int]], tuple[Ints, Ints]] = field(default_factory=dict)

    @classmethod
    def from_history(
        cls, original: History, cover: Cover, tree: _LabelTree, facet: Facet
    ) -> _Baskets:
        of_event = encode_facet(original, facet).codes
        codes, first = np.unique(of_event, return_index=True)
        starts, every = original.ordered.starts, facet.every
        baskets = []
        by_top: dict[frozenset[tuple[int, int]], list[_Basket]] = defaultdict(list)
        for code, event in zip(codes.tolist(), first.tolist(), strict=True):
            rows = np.arange(starts[event], starts[event + 1])
            if not every:
                rows = rows[
                    np.unique(cover.original_codes[facet.level][rows], return_index=True)[1]
                ]
            at = tuple(Counter(cover.original_codes[level][rows].tolist()) for level in tree.levels)
            baskets.append(_Basket(code, at))
            by_top[_make_basket_key(at[-1], every)].append(baskets[-1])
        return cls(tree=tree, every=every, baskets=baskets, by_top=by_top)

    def find_fitting(self, labels: _EventLabels) -> list[int]:
        """The codes of the baskets that an event may be."""
        if not labels.hidden and all(level == self.tree.top for level, *_ in labels.labels):
            return self._match_top_level(labels)
        fits = self._is_multiset_match if self.every else self._is_set_match
        return [basket.code for basket in self._list_candidates(labels) if fits(labels, basket)]

    def _match_top_level(self, event_labels: _EventLabels) -> list[int]:
        """The same where all labels are of the coarsest level: they are counted, all at once."""
        labels = event_labels.labels_at(self.tree.top)
        alike = self.by_top.get(_make_basket_key(labels, self.every), [])
        if self.every or not alike:
            return [basket.code for basket in alike]
        columns = sorted(labels)
        key = _make_basket_key(labels, self.every)
        if key not in self.count_cache:
            codes = np.array([basket.code for basket in alike], np.int64)
            items = [[basket.counts_by_level[-1][label] for label in columns] for basket in alike]
            self.count_cache[key] = codes, np.array(items, np.int64)
        codes, items_of = self.count_cache[key]
        fitting_codes: list[int] = codes[
            (items_of <= [labels[label] for label in columns]).all(axis=1)
        ].tolist()
        return fitting_codes

    def _list_candidates(self, labels: _EventLabels) -> Iterable[_Basket]:
        """Baskets that look the same from the top, where nothing is hidden."""
        if labels.hidden:
            return self.baskets
        *_, top = self._accumulate_counts(labels)
        return [] if top is None else self.by_top.get(_make_basket_key(top, self.every), [])

    def _accumulate_counts(self, labels: _EventLabels) -> Iterator[Counts | None]:
        """How many records are shown beneath each label, level by level; None: no such label."""
        below: Counts | None = Counter()
        for place, level in enumerate(self.tree.levels):
            if place and below is not None:
                below = self.tree.lift_counts(below, self.tree.levels[place - 1])
            below = None if below is None else below + labels.labels_at(level)
            yield below

    def _is_multiset_match(self, labels: _EventLabels, basket: _Basket) -> bool:
        """Whether each record is an item of its own, and none is left over."""
        if sum(many for *_, many in labels.labels) + labels.hidden != basket.items:
            return False
        both = zip(self._accumulate_counts(labels), basket.counts_by_level, strict=True)
        return all(counts is not None and counts <= items for counts, items in both)

    def _is_set_match(self, event_labels: _EventLabels, basket: _Basket) -> bool:
        """Whether each record is one of the items, and each item has a record."""
        uncovered: Counts | None = basket.counts_by_level[0]
        for place, (level, items) in enumerate(
            zip(self.tree.levels, basket.counts_by_level, strict=True)
        ):
            labels = event_labels.labels_at(level)
            if any(label not in items for label in labels):
                return False
            if place and uncovered is not None:
                uncovered = self.tree.lift_counts(uncovered, self.tree.levels[place - 1])
            if uncovered is None:
                return False
            uncovered = uncovered - labels
        return uncovered is not None and uncovered.total() <= event_labels.hidden


def _make_basket_key(counts: Counts, every: bool) -> frozenset[tuple[int, int]]:
    """Counts as a key; of baskets that are sets, only which labels there are."""
    return frozenset((label, many if every else 1) for label, many in counts.items())
