"""A decision: one protective change, with the reason that made it and what it did to the risk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from divulge.assessment.sentence import Sentence

Origin: TypeAlias = Literal["limit", "directive"]
"""What asks for a change: a limit that did not hold, or somebody's rule, whatever the risk."""
Change: TypeAlias = Literal["suppressed", "recoded", "removed"]


@dataclass(frozen=True)
class Decision:
    """One change of one dataset.

    `rule` names what fired (a limit in short, or somebody's rule, as `origin` tells) and `binding`
    what it fired on, so that a reviewer can follow it; the binding may hold record values, and is
    shown only to those who ask for it.

    >>> decision = Decision(
    ...     "suppressed", dataset="companies", record=3, attribute="Sector",
    ...     rule="k_anonymity", reason="nobody looks like it",
    ...     before=1.0, after=0.2,
    ... )
    >>> print(decision)
    Sector was suppressed, because nobody looks like it; the risk fell from 100% to 20%.
    """

    change: Change
    dataset: str
    rule: str
    reason: str
    before: float
    after: float
    record: int | None = None
    attribute: str | None = None
    binding: Mapping[str, Any] = field(default_factory=dict, repr=False)
    origin: Origin = "limit"

    @property
    def sentence(self) -> Sentence:
        """The decision in words, without its binding."""
        values = {
            "attribute": self.attribute,
            "reason": self.reason,
            "before": self.before,
            "after": self.after,
        }
        return Sentence("divulge.assessment", f"decision.{self.change}", values)

    def to_dict(self, with_binding: bool = False) -> dict[str, Any]:
        """The decision as plain values; the binding only if it is asked for."""
        plain_values = {
            "change": self.change,
            "dataset": self.dataset,
            "record": self.record,
            "attribute": self.attribute,
            "rule": self.rule,
            "origin": self.origin,
            "reason": self.reason,
            "before": self.before,
            "after": self.after,
        }
        return {**plain_values, "binding": dict(self.binding)} if with_binding else plain_values

    def __str__(self) -> str:
        return str(self.sentence)
