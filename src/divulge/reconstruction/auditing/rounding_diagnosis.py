"""Which rule of rounding fits: the tightest by which the totals of small instances can be met."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from divulge.reconstruction import tuning
from divulge.reconstruction.auditing.table_state import TableState
from divulge.reconstruction.auditing.totals import Group
from divulge.reconstruction.auditing.workers import Task, solve_all
from divulge.reconstruction.problem.rounding import TIGHTEST_FIRST, Rule, SumIntervals
from divulge.work.arrays import Bools


def allow_everywhere(group: Group) -> Bools:
    """Every record of an instance may be in each of its places."""
    return np.ones((len(group.records), len(group.rows)), bool)


def diagnose_rule(table: TableState, read: Callable[[Rule], list[SumIntervals]]) -> Rule:
    """The tightest rule by which small instances have an allocation: most of them, by vote."""
    sizes = [len(g.records) * len(g.rows) for g in table.totals_match.groups]
    # One package says little of the order of rounding and adding; very many take long.
    fewest, most = tuning.ROUNDING_DIAGNOSIS_PAIRS
    sample = [n for n in np.argsort(sizes) if fewest <= sizes[n] <= most][
        -tuning.ROUNDING_DIAGNOSIS_SAMPLE :
    ]
    sample = sample or list(range(min(len(sizes), tuning.ROUNDING_DIAGNOSIS_SAMPLE)))
    if not sample:
        return TIGHTEST_FIRST[-1]
    best: tuple[float, int] = (2.0, 0)
    for number, rule in enumerate(TIGHTEST_FIRST):
        readings = read(rule)
        tasks = [
            Task(
                instance=table.build_instance(g, readings, allow_everywhere(g)), premise="complete"
            )
            for g in (table.totals_match.groups[n] for n in sample)
        ]
        results = solve_all(
            tasks,
            tuning.ROUNDING_DIAGNOSIS_SECONDS,
            workers=1,
            step_name=f'Trying the rounding rule "{rule}"',
        )
        # Which records were left out or added does not depend on the rule: allow for some.
        failed_share = round(np.mean([r.status == "infeasible" for r in results]), 2)
        best = min(best, (float(failed_share), number))
    return TIGHTEST_FIRST[best[1]]
