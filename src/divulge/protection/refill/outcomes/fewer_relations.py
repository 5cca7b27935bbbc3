"""What somebody refills who knows some of the relations that tell an attribute, and not the others.

Two relations may tell different cells: a postcode the region of who shares it, its first character
that of everybody. Who knows the first alone fills an own cell and leaves a neighbour's in doubt.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from divulge.protection.refill.search.discovery import CompletedColumn
from divulge.work.arrays import Bools, Ints


def choose_relations(column: CompletedColumn, truth: Ints) -> Iterator[CompletedColumn]:
    """The column filled by each relation alone, and by the first few together.

    Each way of filling it is listed once, and neither filling nothing nor all that is told rightly.
    """
    tellings = column.tellings
    choices = [tellings[number : number + 1] for number in range(len(tellings))]
    choices += [tellings[:number] for number in range(2, len(tellings) + 1)]
    is_shown = column.fill_by(()).codes >= 0
    is_right = (column.teller >= 0) & (column.codes == truth)
    known: list[Bools] = [is_shown, is_shown | is_right]
    for chosen in choices:
        few = column.fill_by(chosen)
        is_filled = few.codes >= 0
        if not any(np.array_equal(is_filled, each) for each in known):
            known.append(is_filled)
            yield few
