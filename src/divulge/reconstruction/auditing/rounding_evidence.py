"""Which rules of rounding the totals bear out, by plain addition.

The records of a key add up to what all its totals allow together, by the rule that was used. By
another rule some keys do not. Where one rule is right again and again while the other is wrong, the
other is ruled out; a few keys whose records were left out or added do not decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from divulge.reconstruction import tuning
from divulge.reconstruction.auditing.totals import Group
from divulge.reconstruction.problem.rounding import (
    CERTAIN_RULES,
    Rule,
    SumIntervals,
    list_covered_rules,
)
from divulge.work.arrays import Bools, Ints

RuleReader = Callable[[Rule, Ints, Ints], list[SumIntervals]]
"""Readings of some records and some rows of a table by a rule, one an amount."""


def find_fitting_rules(rule: Rule, groups: Sequence[Group], read: RuleReader) -> tuple[Rule, ...]:
    """Rules other than the one given that the totals do not rule out, and that allow more.

    Args:
        rule: by which totals are said to be rounded.
        groups: the keys, each with its records and rows.
        read: how amounts and totals are read by a rule.
    """
    others = [r for r in CERTAIN_RULES if r != rule and r not in list_covered_rules(rule)]
    sample = sorted(groups, key=_rank_evidence)[: tuning.ROUNDING_EVIDENCE_MOST_KEYS]
    if not sample:
        return tuple(others)
    rule_fits = _find_supporting_keys(rule, sample, read)
    fitting_rules = []
    for other in others:
        other_fits = _find_supporting_keys(other, sample, read)
        against, in_favour = (
            int((rule_fits & ~other_fits).sum()),
            int((other_fits & ~rule_fits).sum()),
        )
        if (
            against < tuning.ROUNDING_EVIDENCE_RATIO
            or against < tuning.ROUNDING_EVIDENCE_RATIO * in_favour
        ):
            fitting_rules.append(other)
    return tuple(fitting_rules)


def _rank_evidence(group: Group) -> tuple[int, bool, int]:
    """One place alone tells most; of one record, most rules make the same total."""
    return len(group.rows), len(group.records) == 1, len(group.records)


def _find_supporting_keys(rule: Rule, groups: Sequence[Group], read: RuleReader) -> Bools:
    """By which keys a rule is borne out: all records together can make up all totals together."""
    records = np.concatenate([group.records for group in groups])
    rows = np.concatenate([group.rows for group in groups])
    first_record = np.cumsum([0, *(len(group.records) for group in groups[:-1])])
    first_row = np.cumsum([0, *(len(group.rows) for group in groups[:-1])])
    counts = np.array([len(group.records) for group in groups])
    is_supporting = np.ones(len(groups), bool)
    for reading in read(rule, records, rows):
        sums = np.add.reduceat(reading.amounts, first_record)
        low = np.add.reduceat(reading.low, first_row)
        high = np.add.reduceat(reading.high, first_row)
        wide, deep = reading.slack_by_count[counts], reading.extra_above[counts]
        is_supporting &= (low - wide <= sums) & (sums <= high + wide + deep)
    return is_supporting
