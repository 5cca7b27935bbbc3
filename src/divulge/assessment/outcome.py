"""The outcome of a limit: whether it holds, the figure that was found, and how that is said."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from divulge.assessment.sentence import Sentence

if TYPE_CHECKING:
    from divulge.assessment.limit import Limit


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Whether one limit holds for one adversary or dataset; figures as numbers and as said.

    Where the figure is the least that an adversary knows, `most` is what it may be at the most.
    """

    limit: Limit
    subject: str
    value: float
    held: bool
    found: str
    allowed: str
    sentences: tuple[Sentence, ...]
    most: float | None = None
    vacuous: bool = False
    """Whether the limit holds whatever the data are, so that nothing was judged by it."""
    judged: bool = True
    """Whether it could be judged at all; if not, it does not hold."""
    by_count_only: bool = False
    """Whether it holds only by a way of counting that takes hidden cells for company."""

    @property
    def status(self) -> Literal["pass", "fail", "not judged"]:
        """Whether the limit holds, does not, or could not be judged."""
        if not self.judged:
            return "not judged"
        return "pass" if self.held else "fail"

    @property
    def not_shown(self) -> bool:
        """Whether it fails only because the most that may be known is beyond the limit."""
        return self.most is not None and not self.held and not self.limit.is_broken_by(self.value)

    @property
    def in_short(self) -> str:
        """What was found, and whether the most keeps to the limit where that is the least."""
        first, *more = self.sentences
        tells_more = self.most is not None or self.by_count_only
        return " ".join(map(str, [first, *more] if tells_more else [first]))

    @property
    def notes(self) -> tuple[Sentence, ...]:
        """What is to be said beside the figure."""
        return tuple(self.sentences[1:]) if self.judged else tuple(self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """The limit, the figure and the outcome as plain values."""
        value = self.value if math.isfinite(self.value) else None
        sentences = [sentence.render() for sentence in self.sentences]
        fields = {
            **self.limit.to_dict(),
            "subject": self.subject,
            "value": value,
            "status": self.status,
            "passed": self.held,
            "by_count_only": self.by_count_only,
            "sentences": sentences,
        }
        if self.most is not None:
            fields["most"] = self.most if math.isfinite(self.most) else None
        return fields


def format_value_and_bound(
    value: float, bound: float, show: Callable[[float], str]
) -> tuple[str, str]:
    """Both figures in words; with as many digits as tell them apart where few would not."""
    value_text, bound_text = show(value), show(bound)
    for digits in range(4, 18):
        # What is beside the bound by the arithmetic of floats alone is at it, and is shown so.
        if value_text != bound_text or math.isclose(value, bound, rel_tol=1e-14):
            break
        value_text, bound_text = f"{value:.{digits}g}", f"{bound:.{digits}g}"
    return value_text, bound_text
