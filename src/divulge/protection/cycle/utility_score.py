"""Utility scores: ways to protect compared by information loss, or by a function of the user's.

Whatever is asked for, the smaller the score the better.
"""

from __future__ import annotations

import numpy as np

from divulge.protection.cycle.request import CycleRequest
from divulge.protection.recoding.utilities import call_function
from divulge.protection.result.cell_utility import compute_attribute_loss, measure_cells
from divulge.protection.result.protected import Protected
from divulge.protection.result.utility import measure_class_size, measure_discernibility


def score_protection(protected: Protected, plan: CycleRequest) -> float:
    """How little is left of what a plan wants to keep."""
    utility = plan.utility
    release = (protected.original, protected.dataset, protected.kept)
    if callable(utility):
        return call_function(utility, *release)
    if utility == "loss":
        return sum_loss(protected, plan)
    if utility == "discernibility":
        return measure_discernibility(*release, protected.among)
    if utility == "class_size":
        return measure_class_size(*release, protected.among)
    figures = measure_cells(
        *release, protected.among, importance=plan.importance, levels=protected.levels
    )
    return 1 - float(getattr(figures, utility))


def sum_loss(protected: Protected, plan: CycleRequest) -> float:
    """What recoding and suppression lost, each attribute as dear as it is (a weighted mean)."""
    weights = [plan.importance.get(name, 1.0) for name in protected.among]
    losses = [
        compute_attribute_loss(protected.original, protected.dataset, protected.kept, name)
        for name in protected.among
    ]
    return float(np.average(losses, weights=weights)) if losses else 0.0
