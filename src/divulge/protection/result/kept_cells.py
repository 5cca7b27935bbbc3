"""Cells that rules keep: a limit that cannot hold without a change of them is out of reach."""

from __future__ import annotations

import numpy as np

from divulge.data.value_texts import format_value
from divulge.protection.directives.settlement import CellGroup, SettledDirectives
from divulge.protection.result.protected import Protected
from divulge.work.arrays import Ints


def describe_changed_kept(protected: Protected, settled: SettledDirectives) -> str:
    """How many cells were changed, or went with their records, that rules keep; by rule."""
    places = np.full(protected.original.rows, -1, np.int64)
    places[protected.kept] = np.arange(protected.kept.size)
    lost: dict[str, int] = {}
    for group in settled.kept:
        changed = _count_changed(protected, group, places)
        if changed:
            name = group.rule or "keep"
            lost[name] = lost.get(name, 0) + changed
    return ", ".join(f'{count:,} that "{rule}" keeps' for rule, count in lost.items())


def _count_changed(protected: Protected, group: CellGroup, places: Ints) -> int:
    before = protected.original.columns[str(group.attribute)]
    after = protected.dataset.columns.get(str(group.attribute))
    here = places[group.records]
    if after is None:
        return int(here.size)
    stays = here >= 0
    was = [before.value(int(code)) for code in before.codes[group.records[stays]]]
    now = [after.value(int(code)) for code in after.codes[here[stays]]]
    differ = (format_value(a) != format_value(b) for a, b in zip(was, now, strict=True))
    return int((~stays).sum()) + sum(differ)
