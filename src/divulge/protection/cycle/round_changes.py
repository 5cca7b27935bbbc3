"""One round of the cycle: what is changed, and the decisions that tell why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from divulge.assessment import Sentence
from divulge.assessment.decision import Change as Kind
from divulge.classes.keys import assign_classes
from divulge.data import Dataset
from divulge.protection.changes.changes import (
    hide_cells,
    value_at,
)
from divulge.protection.changes.decision_log import Change
from divulge.protection.cycle.request import CycleState
from divulge.protection.limits.per_record import Goal, Standing
from divulge.work.arrays import Bools, Ints


@dataclass(frozen=True, kw_only=True)
class RoundChanges:
    """What all changes of one round have in common."""

    state: CycleState
    goal: Goal
    released: Dataset
    before: Standing
    after: Standing

    def build_changes(self, kind: Kind, name: str, chosen: Ints) -> Iterator[Change]:
        """The decisions to change an attribute: of who was at risk, then of who joins them."""
        company = str(Sentence("divulge.protection", "reason.wildcard"))
        at_risk = self.before.at_risk[chosen]
        for places, reason in ((chosen[at_risk], ""), (chosen[~at_risk], company)):
            if places.size:
                yield self._build_change(kind, name, places, reason)

    def _build_change(self, kind: Kind, name: str, chosen: Ints, reason: str) -> Change:
        column, new = self.state.current.columns[name], self.released.columns[name]
        return Change(
            kind=kind,
            attribute=name,
            records=self.state.alive[chosen],
            was=tuple(value_at(column, place) for place in chosen.tolist()),
            became=tuple(value_at(new, place) for place in chosen.tolist()),
            rule=self.goal.rule,
            reason=reason,
            before=self.before.risk[chosen],
            after=self.after.risk[chosen],
            company=count_equal_records(self.state.current, self.goal.among)[chosen],
            among=self.goal.among,
        )


def hide_and_log(
    state: CycleState, goal: Goal, standing: Standing, cells: Mapping[str, Ints]
) -> None:
    """Hide cells for a limit, and say of each why."""
    released = hide_cells(state.current, cells)
    after = state.measure(goal, released)
    round_changes = RoundChanges(
        state=state, goal=goal, released=released, before=standing, after=after
    )
    for name, places in cells.items():
        state.changes += round_changes.build_changes("suppressed", name, places)
    state.current = released


def list_cells(names: Sequence[str], hidden: Bools) -> dict[str, Ints]:
    """By attribute, the places of the records whose cell is hidden."""
    return {
        name: np.flatnonzero(hidden[:, a]) for a, name in enumerate(names) if hidden[:, a].any()
    }


def count_equal_records(dataset: Dataset, among: Sequence[str]) -> Ints:
    """How many records look like each, a missing value being a value."""
    columns = [dataset.columns[name] for name in among]
    class_of_record = assign_classes(
        [c.codes for c in columns], [len(c.values) + 1 for c in columns], dataset.rows
    )
    return np.bincount(class_of_record)[class_of_record]
