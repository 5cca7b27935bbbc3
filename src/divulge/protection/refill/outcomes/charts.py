"""The chart of a refill attack: by attribute, what is refilled and what is guessed right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from divulge.assessment import Chart
from divulge.assessment.chart import BEFORE_COLOUR, LIMIT_COLOUR, RISK_COLOUR, SAFE_COLOUR
from divulge.protection.result.hidden_cell_guesses import draw_guesses

if TYPE_CHECKING:
    from divulge.protection.refill.outcomes.figures import RefillFigures


def draw_refill(figures: Mapping[str, RefillFigures]) -> Chart:
    """Bars for each attribute: refilled, best guess, guess from the keys, most frequent value."""
    counts = {}
    for name, f in figures.items():
        refilled = f.claimed if f.right is None else f.right
        counts[name] = (f.hidden, (refilled, f.best_guess, f.keys_only, f.base_rate))
    return draw_guesses("refill", counts, [RISK_COLOUR, LIMIT_COLOUR, SAFE_COLOUR, BEFORE_COLOUR])
