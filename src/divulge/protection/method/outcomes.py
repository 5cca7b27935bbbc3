"""What somebody who knows the method makes of each hidden cell, and the counts of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from divulge import work
from divulge.protection import tuning
from divulge.protection.refill.columns import CodedColumn
from divulge.protection.refill.outcomes.guesses import learn_bayes
from divulge.protection.result.audit.exclusions import ExcludedValues
from divulge.work.arrays import Array, Bools, Floats, Ints


@dataclass(frozen=True, kw_only=True)
class MethodFigures:
    """Counts of hidden cells, of one attribute or of all.

    `base` are guessed right from the other keys, `excluding` by somebody who takes what the method
    excludes for impossible, `weighing` by somebody who allows for decoys; `right` by who does best.
    Without the original they are expected, and `misled` is None.
    """

    hidden: int
    narrowed: int
    """Cells of which some value is excluded."""
    excluded: float
    """The probability that excluded values had before, summed over all cells."""
    certain: int
    """Cells of which one value is left, and it is the true one."""
    misled: int | None
    """Cells whose true value is excluded."""
    base: float
    excluding: float
    weighing: float
    right: float

    def to_dict(self) -> dict[str, float | None]:
        """The figures by name."""
        return dict(vars(self))


@dataclass(frozen=True, eq=False, kw_only=True)
class CellKnowledge:
    """The hidden cells of one attribute; chances are 0 or 1 where the truth is known."""

    rows: Ints
    narrowed: Bools
    mass: Floats
    is_certain: Bools
    is_misled: Bools | None
    base: Floats
    excluding: Floats
    weighing: Floats

    @property
    def right(self) -> Floats:
        """What the attacker gets right who does best: they may also leave the method alone."""
        return max((self.excluding, self.weighing, self.base), key=lambda chances: chances.sum())

    def count_all(self) -> MethodFigures:
        """The figures of all these cells."""
        return self.count(np.ones(self.rows.size, np.bool_))

    def count(self, among: Bools) -> MethodFigures:
        """The figures of some of these cells."""
        return MethodFigures(
            hidden=int(among.sum()),
            narrowed=int(self.narrowed[among].sum()),
            excluded=float(self.mass[among].sum()),
            certain=int(self.is_certain[among].sum()),
            misled=None if self.is_misled is None else int(self.is_misled[among].sum()),
            base=float(self.base[among].sum()),
            excluding=float(self.excluding[among].sum()),
            weighing=float(self.weighing[among].sum()),
            right=float(self.right[among].sum()),
        )


def add_method_figures(parts: Sequence[MethodFigures]) -> MethodFigures:
    """The figures of several attributes together."""
    misled = [part.misled for part in parts if part.misled is not None]
    return MethodFigures(
        hidden=sum(part.hidden for part in parts),
        narrowed=sum(part.narrowed for part in parts),
        excluded=sum(part.excluded for part in parts),
        certain=sum(part.certain for part in parts),
        misled=sum(misled) if len(misled) == len(parts) else None,
        base=sum(part.base for part in parts),
        excluding=sum(part.excluding for part in parts),
        weighing=sum(part.weighing for part in parts),
        right=sum(part.right for part in parts),
    )


def judge_cells(
    column: CodedColumn,
    others: Sequence[CodedColumn],
    excluded: ExcludedValues,
    truth: Ints | None,
    decoy_share: float,
) -> CellKnowledge:
    """Guess every hidden cell of a column, with and without what the method excludes.

    Guesses are by naive Bayes from the other keys, or by the frequencies of values alone, whichever
    is right more often; without the truth, by naive Bayes.
    """
    rows = excluded.rows
    counts = excluded.counts
    # Decoys are safe cells: all of them are among those of which some value is excluded.
    narrowed = max(1, int((counts > 0).sum()))
    decoy_share = min(1.0, decoy_share * rows.size / narrowed)
    effort = column.cardinality * rows.size * max(1, len(others))
    models = [[]] if effort > tuning.REFILL_GUESS_EFFORT else [list(others), []]
    tries = [_guess_cells(column, each, excluded, decoy_share) for each in models]
    mass = tries[0][2]
    if truth is None:
        chances = [tries[0][1]]
    else:
        chances = [(guesses == truth[rows][:, None]).astype(np.float64) for guesses, _, _ in tries]
    base, excluding, weighing = (
        max((each[:, kind] for each in chances), key=lambda right: right.sum()) for kind in range(3)
    )
    is_misled = None if truth is None else excluded.has(truth[rows])
    is_certain = (counts > 0) & (column.cardinality - counts == 1)
    return CellKnowledge(
        rows=rows,
        narrowed=counts > 0,
        mass=mass,
        is_certain=is_certain if is_misled is None else is_certain & ~is_misled,
        is_misled=is_misled,
        base=base,
        excluding=excluding,
        weighing=weighing,
    )


def _guess_cells(
    column: CodedColumn,
    others: Sequence[CodedColumn],
    excluded: ExcludedValues,
    decoy_share: float,
) -> tuple[Array, Floats, Floats]:
    """Of each cell three guesses, how likely they are, and what is excluded."""
    from divulge.protection.method import kernels

    work.check()
    tables = learn_bayes(column, others)
    size = excluded.rows.size
    guesses = np.empty((size, 3), np.int64)
    chances, mass = np.empty((size, 3)), np.empty(size)
    kernels.guess_cells(
        excluded.rows.astype(np.int64),
        tables.features.astype(np.int32),
        tables.offsets,
        tables.prior.astype(np.int64),
        tables.logs,
        excluded.group.astype(np.int64),
        excluded.starts.astype(np.int64),
        excluded.codes.astype(np.int64),
        float(decoy_share),
        guesses,
        chances,
        mass,
    )
    return guesses, chances, mass
