"""The chart of what knowing the method adds: by attribute, guesses with and without it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from divulge.assessment import Chart
from divulge.assessment.chart import BEFORE_COLOUR, RISK_COLOUR
from divulge.protection.result.hidden_cell_guesses import draw_guesses

if TYPE_CHECKING:
    from divulge.protection.method.outcomes import MethodFigures


def draw_method_knowledge(figures: Mapping[str, MethodFigures]) -> Chart:
    """Two bars for each attribute: guessed right without knowing the method, and with it."""
    counts = {name: (f.hidden, (f.base, f.right)) for name, f in figures.items()}
    return draw_guesses("method", counts, [BEFORE_COLOUR, RISK_COLOUR])
