"""The decisions of a suppression: each cell that is hidden, each record that is removed, and why.

What is said of a record is its risk before and after, and how many looked like it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from divulge.assessment import Sentence
from divulge.data import Dataset
from divulge.protection.changes.changes import value_at
from divulge.protection.changes.decision_log import Change, DecisionLog
from divulge.protection.suppression.request import SuppressionRequest
from divulge.work.arrays import Floats, Ints


def build_suppression_log(
    dataset: Dataset,
    request: SuppressionRequest,
    cells: Mapping[str, Ints],
    before: Floats,
    after: Floats,
) -> DecisionLog:
    """One decision a cell: first those who were at risk, then those who give them company."""
    company = str(Sentence("divulge.protection", "reason.wildcard"))
    changes = []
    for at_risk, reason in ((True, ""), (False, company)):
        for name, places in cells.items():
            chosen = places[(before[places] < request.k) == at_risk]
            if chosen.size:
                was = tuple(value_at(dataset.columns[name], place) for place in chosen.tolist())
                changes.append(
                    Change(
                        kind="suppressed",
                        attribute=name,
                        records=chosen,
                        was=was,
                        became=(None,) * chosen.size,
                        rule=request.rule,
                        reason=reason,
                        before=1 / np.maximum(before[chosen], 1.0),
                        after=1 / np.maximum(after[chosen], 1.0),
                        company=np.rint(before[chosen]).astype(np.int64),
                        among=request.names,
                    )
                )
    return DecisionLog(dataset.name, tuple(changes))


def build_removal(request: SuppressionRequest, removed: Ints, frequency: Floats) -> Change:
    """The decisions to remove records."""
    return Change(
        kind="removed",
        attribute=None,
        records=removed,
        was=(),
        became=(),
        rule=request.rule,
        reason=str(Sentence("divulge.protection", "reason.removed")),
        before=1 / np.maximum(frequency[removed], 1.0),
        after=np.zeros(removed.size),
        company=np.rint(frequency[removed]).astype(np.int64),
        among=request.names,
    )


def sum_cost(log: DecisionLog, request: SuppressionRequest) -> float:
    """What all hidden cells cost together."""
    total = 0.0
    for change in log.changes:
        if change.kind == "suppressed" and (change.attribute or "") in request.costs:
            cost = request.costs[str(change.attribute)]
            total += float(cost[change.records].sum() if cost.size > 1 else cost[0] * len(change))
    return total
