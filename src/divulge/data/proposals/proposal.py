"""The role proposed for an attribute, how sure it is, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from divulge.data.dictionary import Role

Status: TypeAlias = Literal["settled", "doubt", "conflict", "unknown"]
"""How sure a proposal is: settled; with something that speaks against it; between several roles, or
beside another attribute that has the only place; or nothing to go by."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """The role proposed for one attribute, how sure it is, and why."""

    attribute: str
    role: Role | None
    status: Status
    reasons: tuple[str, ...] = ()
    candidates: tuple[Role, ...] = ()
    topic: str = ""
    is_decided: bool = False
    """Whether the user has decided it, for an attribute of this very name."""
    is_from_codebook: bool = False
    """Whether it is a variable of a codebook that the dataset comes from."""

    def to_dict(self) -> dict[str, Any]:
        """The proposal as plain values."""
        return {
            "attribute": self.attribute,
            "role": self.role,
            "status": self.status,
            "reasons": list(self.reasons),
            "candidates": list(self.candidates),
        }

    def __str__(self) -> str:
        role = self.role or (" or ".join(self.candidates) if self.candidates else "?")
        mark = "" if self.status == "settled" else f" ({self.status})"
        return "\n".join([f"{self.attribute}: {role}{mark}", *(f"  {r}" for r in self.reasons)])
