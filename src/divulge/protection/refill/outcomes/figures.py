"""The figures of a refill attack: counts of hidden cells, and what becomes of each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from divulge.work.arrays import Bools, Floats, Ints


@dataclass(frozen=True, kw_only=True)
class RefillFigures:
    """Counts of hidden (or of coarser) cells, of one attribute or of all.

    Without the original, `right` and `verified` are None, and what guesses get right is expected.
    """

    hidden: int
    claimed: int
    right: int | None
    verified: int | None
    best_guess: float
    guess: float
    keys_only: float
    base_rate: float

    def to_dict(self) -> dict[str, float | None]:
        """The figures by name."""
        return dict(vars(self))


@dataclass(frozen=True, eq=False, kw_only=True)
class CellOutcomes:
    """The hidden cells of one attribute, each with what an attacker makes of it.

    Chances are 0 or 1 where the truth is known, else what the shown cells let expect.
    """

    rows: Ints
    is_claimed: Bools
    is_right: Bools | None
    is_verified: Bools | None
    best_guess: Floats
    guess: Floats
    keys_only: Floats
    base_rate: Floats

    def select(self, rows: Ints) -> CellOutcomes:
        """The same of some records' cells."""
        if rows.size == self.rows.size:
            return self
        chosen = np.isin(self.rows, rows)
        parts: dict[str, Any] = {
            name: None if of is None else of[chosen] for name, of in vars(self).items()
        }
        return CellOutcomes(**parts)

    def count(self, among: Bools) -> RefillFigures:
        """The figures of some of these cells."""
        return RefillFigures(
            hidden=int(among.sum()),
            claimed=int(self.is_claimed[among].sum()),
            right=None if self.is_right is None else int(self.is_right[among].sum()),
            verified=None if self.is_verified is None else int(self.is_verified[among].sum()),
            best_guess=float(self.best_guess[among].sum()),
            guess=float(self.guess[among].sum()),
            keys_only=float(self.keys_only[among].sum()),
            base_rate=float(self.base_rate[among].sum()),
        )


def add_figures(parts: Sequence[RefillFigures]) -> RefillFigures:
    """The figures of several attributes together."""
    has_truth = all(part.right is not None for part in parts if part.hidden)
    rights = [part.right for part in parts if part.right is not None]
    verified = [part.verified for part in parts if part.verified is not None]
    return RefillFigures(
        hidden=sum(part.hidden for part in parts),
        claimed=sum(part.claimed for part in parts),
        right=sum(rights) if has_truth else None,
        verified=sum(verified) if has_truth else None,
        best_guess=sum(part.best_guess for part in parts),
        guess=sum(part.guess for part in parts),
        keys_only=sum(part.keys_only for part in parts),
        base_rate=sum(part.base_rate for part in parts),
    )
