"""What became of a made-up release, and all that speaks against it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What became of a release, and all that speaks against it."""

    outcome: str
    faults: list[str]
    bold: list[str] = field(default_factory=list)
    """Limits that only relations with little evidence break."""
