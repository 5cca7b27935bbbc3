"""What a search for levels has settled: how many combinations, and what none can do better than."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class SearchProof:
    """How many combinations of levels were settled, and how."""

    combinations: int
    checked: int
    excluded: int = 0
    """Too many records would have to be removed, since they must be at coarser levels already."""
    bounded: int = 0
    """What must be removed costs too much to be better than the best."""
    lower_bound: float = 0.0
    """No combination loses less, by the costs of the search."""
    score: float | None = None
    """What the utility that was asked for is here, where it is no sum over cells."""
    is_chosen: bool = False
    """Whether somebody chose the levels, and nothing was searched."""
    is_complete: bool = False
    """Whether every combination is settled: then nothing is better than what was found."""

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values."""
        return asdict(self)
