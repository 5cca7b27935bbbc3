"""Tables whose attributes go round in a ring: what records that show all of them can be."""

from itertools import product
from random import Random

import numpy as np
import pyarrow as pa
import pytest

import divulge as dv
from divulge.tables import Table, link

CODES = list(product("ab", "xy", "st"))
RING = [["one", "two"], ["two", "three"], ["one", "three"]]


def tabulate(counts: tuple[int, ...]) -> Table:
    """Three linked tables of records, so many of each combination of three attributes."""
    rows = [code for code, count in zip(CODES, counts, strict=True) for _ in range(count)]
    columns = {name: [row[k] for row in rows] for k, name in enumerate(["one", "two", "three"])}
    dataset = dv.Dataset.from_arrow(pa.table(columns))
    return link(*(Table.from_records(dataset, names) for names in RING))


@pytest.mark.parametrize("seed", range(6))
def test_what_is_known_of_a_ring_is_what_trying_all_records_tells(seed: int) -> None:
    random = Random(seed)  # noqa: S311  # made-up data
    counts = tuple(random.choice([1, 1, 2, 3]) for _ in CODES)
    table = tabulate(counts)
    hidden = np.array([random.random() < 0.5 for _ in range(table.structure.size)])
    published = table.publish(hidden)
    others = [
        tabulate(each).units
        for each in product(range(1, 4), repeat=len(CODES))
        if sum(each) == sum(counts)
    ]
    agreeing = np.array([units for units in others if (units == table.units)[~hidden].all()])
    assert len(agreeing)
    cells = np.flatnonzero(hidden)
    widths = np.ptp(agreeing[:, cells], axis=0)
    for width in (1, 2, 3):
        found = dv.tables.assess(table, published, hidden, zeros="known", width=width)
        # All these are tables of records; there are more of them than were tried.
        assert found.certain.posterior <= np.count_nonzero(widths < width)
    exact = dv.tables.assess(table, published, hidden, zeros="known")
    assert exact.claim == "bound"
