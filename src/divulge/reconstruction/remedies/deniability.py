"""Which records can be denied: two places are shown to be possible, by every table that has them.

That no place is certain is not yet a denial: time may have run out, or totals may contradict the
records, and then nothing was concluded. A place is shown by an allocation of the finest table that
has it there, and by one of every coarser table that has it in the coarser place. Where records have
a choice in both, it must be one allocation of all tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from divulge.reconstruction import tuning
from divulge.reconstruction.auditing.cross_table_limits import map_places
from divulge.reconstruction.auditing.joint_allocation import prove_jointly
from divulge.reconstruction.auditing.table_state import TableState
from divulge.reconstruction.reporting.result import Reconstruction
from divulge.work.arrays import Bools


@dataclass(frozen=True, eq=False)
class Deniability:
    """Per record, whether two places of it are shown, and whether more time might show them."""

    two_places: Bools
    pending: Bools


def find_deniable_records(
    reconstruction: Reconstruction,
    holds: Mapping[str, int] | None = None,
    seconds: float = tuning.DENIABILITY_SECONDS,
) -> Deniability:
    """Which records can be in two places at least, as far as that was shown.

    Args:
        reconstruction: the audit.
        holds: of how many places that were published before a place is made, if of several; who
            is in such a place can be in any of them.
        seconds: how long allocations of all tables at once are looked for.

    >>> import pyarrow as pa
    >>> from divulge.data import Dataset
    >>> from divulge.reconstruction import Totals, reconstruct
    >>> records = Dataset.from_arrow(pa.table({"product": ["1", "1"], "value": [5.0, 5.0]}))
    >>> table = pa.table({"product": ["1", "1"], "city": ["a", "b"], "value": [5, 5]})
    >>> totals = Totals(Dataset.from_arrow(table, name="t"), {"product": "product"}, "city")
    >>> cities = Dataset.from_arrow(pa.table({"city": ["a", "b"]}), name="parties")
    >>> found = reconstruct(records, [totals], cities, units={"value": "1"}, workers=1)
    >>> find_deniable_records(found).two_places.tolist()
    [True, True]
    """
    fine, rows = reconstruction.levels[0], reconstruction.transactions.rows
    two_places, pending = np.zeros(rows, bool), np.zeros(rows, bool)
    places_before = np.array(
        [(holds or {}).get(name, 1) for name in fine.totals_match.names], np.int64
    )
    coarser = [
        (map_places(level, fine), *_map_proved_places(level, rows))
        for level in reconstruction.levels[1:]
    ]
    joint_pairs = prove_jointly(reconstruction.levels, rows, seconds)
    for n, group in enumerate(fine.totals_match.groups):
        if not _is_conclusive(fine, n):
            continue
        proved_pairs, may_be_decided = (
            _list_proved_pairs(fine, n),
            np.full(len(group.records), not _is_done(fine, n)),
        )
        for number_of_row, elsewhere, open_there in coarser:
            proved_pairs = proved_pairs & elsewhere[group.records][:, number_of_row[group.rows]]
            may_be_decided |= open_there[group.records]
        proved_pairs = joint_pairs.get(n, proved_pairs)
        # Who has one place left is nowhere else, whatever the others have shown by now.
        alone = fine.possible[n].sum(axis=1) == 1
        proved_pairs = proved_pairs | (fine.possible[n] & alone[:, None])
        two_places[group.records] = (
            proved_pairs @ places_before[fine.totals_match.place[group.rows]] > 1
        )
        pending[group.records] = may_be_decided & ~alone
    return Deniability(
        two_places & reconstruction.sound, pending & ~two_places & reconstruction.sound
    )


def _is_conclusive(level: TableState, n: int) -> bool:
    """Whether something is concluded from an instance: its totals contradict nothing."""
    silent = level.results[n] is None or level.is_unsound(n) or level.may_lack_records(n)
    return not silent and n not in level.contradictions


def _is_done(level: TableState, n: int) -> bool:
    return level.is_closed(n) or level.is_settled(n)


def _list_proved_pairs(level: TableState, n: int) -> Bools:
    """The pairs of an instance that an allocation has which still holds, or that alone are left."""
    result, possible = level.results[n], level.possible[n]
    if result is not None and (result.possible != possible).any():
        # Other tables have taken pairs away since: what was proved may have needed them.
        result = result.restricted_to(possible)
    alone: Bools = possible & (possible.sum(axis=1) == 1)[:, None]
    return alone if result is None else alone | (result.proved & possible)


def _map_proved_places(level: TableState, rows: int) -> tuple[Bools, Bools]:
    """Which places of a coarser table are shown for every record; and whose instance is open.

    All are, for records that the table does not have: it tells nothing of them.
    """
    is_proved = np.ones((rows, len(level.totals_match.names) + 1), bool)
    unsettled = np.zeros(rows, bool)
    for n, group in enumerate(level.totals_match.groups):
        inside = np.zeros((len(group.records), is_proved.shape[1]), bool)
        if _is_conclusive(level, n):
            inside[:, level.totals_match.place[group.rows]] = _list_proved_pairs(level, n)
            unsettled[group.records] = not _is_done(level, n)
        is_proved[group.records] = inside
    return is_proved, unsettled
