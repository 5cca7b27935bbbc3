"""The audit of recoding: what coarse values tell somebody who knows the scheme and its settings.

They ask which originals the scheme would have released in exactly this way (Minami & Abe's matching
attack). Few originals are all recoded again, and the figures are exact. On real files originals are
drawn, each coarse cell inside its node, and those are kept that give the same release (rejection
sampling). Where none does, fewer classes are drawn anew at once, and all other records stay as they
are: that is an adversary who knows all others, and guesses better on average. Records that were
removed stay as they are, too.

The order of the records is taken for known; of a scheme that does not look at the order, that tells
no more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from divulge import work
from divulge.protection import tuning
from divulge.protection.result.audit.coarse_cells import (
    SHOWN,
    CoarseAttribute,
    CoarseCells,
    select_block,
)
from divulge.protection.result.audit.replays import replay_protection
from divulge.protection.result.audit.sharper_values import (
    Sharpening,
    SharperValues,
    estimate_sharper_values,
)
from divulge.work.arrays import Bools, Floats, Ints
from divulge.work.context import Step


def measure_sharpening(
    cells: CoarseCells, *, candidates: int, draws: int, seeds: Sequence[int | None] = (None,)
) -> Sharpening:
    """How much sharper coarse values become for one who knows the scheme.

    Args:
        cells: the coarse cells of a release that can be made again.
        candidates: up to so many originals, all are recoded again.
        draws: beyond, how many are drawn.
        seeds: seeds that the release may have been made with, to the adversary; None is its own.
    """
    if cells.count_originals() * len(seeds) <= candidates:
        return _Enumeration(cells).run(seeds)
    return _Sampler(cells, draws).run()


class _Enumeration:
    """All originals that fit what is shown, each recoded again."""

    def __init__(self, cells: CoarseCells) -> None:
        self.cells = cells
        self.places = [
            (a, place)
            for a, each in enumerate(cells.attributes)
            for place in np.flatnonzero(each.node != SHOWN).tolist()
        ]
        self.kept = cells.protected.kept
        self.by_cell: dict[tuple[int, int], defaultdict[int, float]] = {
            cell: defaultdict(float) for cell in self.places
        }
        self.attributes_of: defaultdict[int, list[int]] = defaultdict(list)
        for a, place in self.places:
            self.attributes_of[place].append(a)
        self.by_record: dict[int, defaultdict[tuple[int, ...], float]] = {
            place: defaultdict(float) for place in sorted(self.attributes_of)
        }
        self.total = 0.0
        self.survivors = 0

    def run(self, seeds: Sequence[int | None]) -> Sharpening:
        """Recode each again, with each seed."""
        cells = self.cells
        choices = []
        for a, place in self.places:
            each = cells.attributes[a]
            members = slice(each.starts[each.node[place]], each.starts[each.node[place] + 1])
            # Against the likeliest: where all are alike, sums of whole numbers are exact.
            weights = each.chances[members] / each.best_chances[each.node[place]]
            pairs = zip(each.members[members].tolist(), weights.tolist(), strict=True)
            choices.append([(leaf, weight) for leaf, weight in pairs if weight])
        replays = prod(map(len, choices)) * len(seeds)
        codes = [each.codes.copy() for each in cells.attributes]
        with work.step("Recoding every original again", replays) as step:
            for drawn in product(*choices):
                for (a, place), (leaf, _) in zip(self.places, drawn, strict=True):
                    codes[a][self.kept[place]] = leaf
                weight = prod(weight for _, weight in drawn)
                candidate = cells.build_original(codes)
                for seed in seeds:
                    other = replay_protection(cells.protected, candidate, seed)
                    if other is not None:
                        self._note(codes, other.kept, weight)
                    step.advance()
        return Sharpening(
            dataset=cells.protected.original.name,
            knows=tuple(cells.protected.dataset.names),
            claim="estimate" if cells.protected.removed or len(seeds) > 1 else "exact",
            values=self._compare_cells(),
            records=self._compare_records(),
            cells=cells.cells,
            unresolved=0,
            replays=replays,
            survivors=self.survivors,
            together=None,
            possible=self._list_possible() if len(seeds) == 1 else None,
        )

    def _list_possible(self) -> dict[tuple[int, str], frozenset[Any]]:
        possible = {}
        for (a, place), weights in self.by_cell.items():
            each = self.cells.attributes[a]
            values = frozenset(each.leaves[leaf].as_py() for leaf in weights)
            possible[int(self.kept[place]), each.name] = values
        return possible

    def _note(self, codes: Sequence[Ints], kept: Ints, weight: float) -> None:
        self.survivors += 1
        self.total += weight
        for (a, place), weights in self.by_cell.items():
            weights[int(codes[a][kept[place]])] += weight
        for place, record_weights in self.by_record.items():
            values = tuple(int(codes[a][kept[place]]) for a in self.attributes_of[place])
            record_weights[values] += weight

    def _compare_cells(self) -> SharperValues:
        return self._compare(
            [max(weights.values()) for weights in self.by_cell.values()],
            [self._find_naive(a, place) for a, place in self.by_cell],
        )

    def _compare_records(self) -> SharperValues:
        return self._compare(
            [max(weights.values()) for weights in self.by_record.values()],
            [
                prod(self._find_naive(a, place) for a in self.attributes_of[place])
                for place in self.by_record
            ],
        )

    def _compare(self, informed: list[float], naive: list[float]) -> SharperValues:
        chances = np.array(informed) / self.total
        return SharperValues(
            naive=np.array(naive),
            informed=chances,
            least=chances,
            highest=chances,
            weights=np.ones(len(naive)),
        )

    def _find_naive(self, a: int, place: int) -> float:
        each = self.cells.attributes[a]
        return float(each.best_chances[each.node[place]])


class _Tally:
    """How often each value was drawn by draws that survived, in two halves."""

    def __init__(self, cells: CoarseCells, block: Bools) -> None:
        self.rows: list[Ints] = []
        self.places: list[Ints] = []
        self.starts: list[Ints] = []
        self.naive: list[Floats] = []
        self.weights: list[Floats] = []
        self.counts: list[tuple[Floats, Floats]] = []
        for each in cells.attributes:
            rows = np.flatnonzero(block & (each.node != SHOWN))
            groups, first, group, sizes = np.unique(
                cells.group_of_record[rows],
                return_index=True,
                return_inverse=True,
                return_counts=True,
            )
            node = each.node[rows][first]
            widths = np.diff(each.starts)[node]
            starts = np.cumsum([0, *widths.tolist()])
            self.rows.append(rows)
            self.places.append(starts[:-1][group.reshape(-1)])
            self.starts.append(starts)
            self.naive.append(each.best_chances[node] if groups.size else np.empty(0))
            self.weights.append(sizes.astype(np.float64))
            self.counts.append((np.zeros(int(starts[-1])), np.zeros(int(starts[-1]))))
        self.survivors = 0

    @property
    def cells(self) -> int:
        """How many cells were drawn anew."""
        return sum(rows.size for rows in self.rows)

    def note(
        self, attributes: Sequence[CoarseAttribute], codes: Sequence[Ints], kept: Ints
    ) -> None:
        """Count the values of a draw that gave the same release."""
        for a, each in enumerate(attributes):
            rows = self.rows[a]
            leaves = codes[a][kept[rows]]
            places = self.places[a] + each.places[each.node[rows], leaves]
            half = self.counts[a][self.survivors % 2]
            half += np.bincount(places, minlength=half.size)
        self.survivors += 1

    def compare(self) -> list[SharperValues]:
        """The likeliest value of each group, attribute by attribute."""
        return [
            estimate_sharper_values(
                self.counts[a],
                self.naive[a],
                starts=self.starts[a],
                weights=self.weights[a],
                errors=tuning.SHARPENING_ERRORS,
            )
            for a in range(len(self.rows))
        ]


class _Sampler:
    """Originals drawn at random, recoded again, and kept if they give the same release."""

    def __init__(self, cells: CoarseCells, draws: int) -> None:
        self.cells, self.draws = cells, draws
        self.random = np.random.default_rng(tuning.AUDIT_SEED)
        self.used = self.survivors = 0

    def run(self) -> Sharpening:
        """All classes at once; if no draw survives, an eighth of them, and so on to single ones."""
        classes = self.random.permutation(self.cells.coarse_classes)
        size, looked_at = classes.size, 0
        tallies: list[_Tally] = []
        with work.step("Recoding drawn originals again", self.draws) as step:
            while self.used < self.draws and looked_at < classes.size:
                block = classes[looked_at : looked_at + size]
                tally, kept = self._shrink_until_survival(block, step)
                tallies.append(tally)
                # Classes that were left out when the block shrank are looked at in later blocks.
                looked_at += kept
                size = kept
        values: list[SharperValues] = []
        unresolved = 0
        for tally in tallies:
            if tally.survivors >= tuning.LEAST_AUDIT_SURVIVORS:
                values += tally.compare()
            else:
                unresolved += tally.cells
        return Sharpening(
            dataset=self.cells.protected.original.name,
            knows=tuple(self.cells.protected.dataset.names),
            claim="estimate",
            values=_join_values(values),
            records=None,
            cells=self.cells.cells,
            unresolved=unresolved,
            replays=self.used,
            survivors=self.survivors,
            together=None if size == classes.size else size,
        )

    def _shrink_until_survival(self, block: Ints, step: Step) -> tuple[_Tally, int]:
        """Draw a block until enough survives; if nothing does, the beginning of it."""
        whole = block.size == self.cells.coarse_classes.size
        while True:
            members = select_block(self.cells, block)
            tally = _Tally(self.cells, members)
            self._draw(tally, members, tuning.AUDIT_PROBES, step)
            if tally.survivors or block.size == 1 or self.used >= self.draws:
                break
            block = block[: max(1, block.size // tuning.AUDIT_BLOCK_STEP)]
            whole = False
        more = self.draws if whole else tuning.AUDIT_BLOCK_DRAWS - tuning.AUDIT_PROBES
        self._draw(tally, members, more, step)
        return tally, int(block.size)

    def _draw(self, tally: _Tally, members: Bools, draws: int, step: Step) -> None:
        cells = self.cells
        kept = cells.protected.kept
        for _ in range(min(draws, self.draws - self.used)):
            codes = []
            for each in cells.attributes:
                drawn = each.codes.copy()
                rows = np.flatnonzero(members & (each.node != SHOWN))
                drawn[kept[rows]] = each.draw_leaves(each.node[rows], self.random)
                codes.append(drawn)
            other = replay_protection(cells.protected, cells.build_original(codes))
            if other is not None:
                tally.note(cells.attributes, codes, other.kept)
                self.survivors += 1
            self.used += 1
            step.advance()


def _join_values(values: Sequence[SharperValues]) -> SharperValues:
    def join(name: str) -> Floats:
        return np.concatenate([np.empty(0), *(getattr(each, name) for each in values)])

    return SharperValues(
        naive=join("naive"),
        informed=join("informed"),
        least=join("least"),
        highest=join("highest"),
        weights=join("weights"),
    )
