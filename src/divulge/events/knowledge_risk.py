"""What an adversary may know of an event, value by value: which day or item is dangerous.

For every piece of knowledge X (a day, a number of kinds with one of the goods): how many events it
is of, how probable it is to be known, Pr(X), how many users it fits, the probability that one of
them is picked rightly, and what X adds to the risk (Ito et al. 2018, Tables 8 and 9).
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge.assessment.plain_text import align_table
from divulge.assessment.sentence import format_percent, read_phrases
from divulge.events.history.history import History, require_history
from divulge.events.knowledge.attacker import Attacker
from divulge.events.knowledge.facets import Facet, encode_items
from divulge.events.matching.matching import KnowledgeMatching
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

MOST_SHOWN = 20
"""So many rows are printed; all are in the table."""

CATALOGUE = "divulge.events"


@dataclass(frozen=True, kw_only=True)
class KnowledgeRisk:
    """One piece of knowledge, and what it is worth."""

    knows: tuple[str, ...]
    """Its values, in the order of the facets."""
    events: int
    chance: float
    """How probable it is that this is what is known, Pr(X)."""
    users: int
    """Whom it fits."""

    @property
    def right(self) -> float:
        """The probability that one of them, picked at random, is the right one."""
        return 1 / self.users

    @property
    def risk(self) -> float:
        """What it adds to the share that is identified."""
        return self.chance / self.users


@dataclass(frozen=True, kw_only=True)
class KnowledgeRisks:
    """All pieces of knowledge of a history, those that add most to the risk first."""

    facets: tuple[str, ...]
    weight: str
    rows: tuple[KnowledgeRisk, ...]

    @property
    def identified(self) -> float:
        """The share that is identified: the sum of all risks."""
        return float(sum(row.risk for row in self.rows))

    def to_dict(self) -> dict[str, Any]:
        """All rows as plain values."""
        return {
            "facets": list(self.facets),
            "weight": self.weight,
            "identified": self.identified,
            "knowledge": [
                {
                    **dict(zip(self.facets, row.knows, strict=True)),
                    "events": row.events,
                    "chance": row.chance,
                    "users": row.users,
                    "right": row.right,
                    "risk": row.risk,
                }
                for row in self.rows
            ],
        }

    def to_arrow(self) -> pa.Table:
        """One row per piece of knowledge."""
        import pyarrow as pa

        return pa.Table.from_pylist(self.to_dict()["knowledge"])

    def __str__(self) -> str:
        head = (*self.facets, *read_phrases(CATALOGUE, "head.knowledge_risk"))
        lines = [
            (
                *row.knows,
                f"{row.events:,}",
                format_percent(row.chance),
                f"{row.users:,}",
                format_percent(row.right),
                format_percent(row.risk),
            )
            for row in self.rows[:MOST_SHOWN]
        ]
        return align_table(head, lines)


def list_knowledge_risks(history: History, attacker: Attacker) -> KnowledgeRisks:
    """Every piece of knowledge that an attacker may have of one event, and what it is worth.

    Args:
        history: who did what when.
        attacker: what they know, of one event; they guess any user who fits.

    >>> import divulge as dv
    >>> purchases = History(dv.datasets.purchases_example(), "user", "date", "goods")
    >>> found = list_knowledge_risks(purchases, Attacker(["day"]))
    >>> [(row.knows[0], row.users, round(row.risk, 2)) for row in found.rows]
    [('2010-12-03', 1, 0.3), ('2010-12-01', 2, 0.2), ('2010-12-02', 2, 0.15)]
    >>> round(found.identified, 2)
    0.65
    """
    require_history("knowledge risks", history)
    facets = attacker.facets(history)
    if attacker.points != 1 or any(facet.kind == "items" for facet in facets):
        message = "is listed value by value for one event and at most one of its items."
        raise InvalidInput("knowledge risks", [Problem("knows", message)])
    matching = KnowledgeMatching(history, facets, attacker.weight)
    keys = matching.list_record_keys()
    shift = max(1, (history.events - 1).bit_length())
    cell = (keys >> np.uint64(shift)).astype(np.int64)
    values, first, cell = np.unique(cell, return_index=True, return_inverse=True)
    weights = matching.weigh_records()
    event = history.event_of_record
    drawn: Floats = np.bincount(cell, weights, len(values)).astype(np.float64)
    chances = drawn / drawn.sum()
    users = _count_pairs(cell, history.user_of_event[event], len(values))
    events = _count_pairs(cell, event, len(values))
    names = [_name_values(history, facet, first) for facet in facets]
    order = np.lexsort((np.arange(len(values)), users, -(chances / users)))
    rows = tuple(
        KnowledgeRisk(
            knows=tuple(column[place] for column in names),
            events=int(events[place]),
            chance=float(chances[place]),
            users=int(users[place]),
        )
        for place in order.tolist()
    )
    return KnowledgeRisks(
        facets=tuple(facet.words for facet in facets), weight=str(attacker.weight), rows=rows
    )


def _count_pairs(cell: Ints, other: npt.NDArray[Any], cells: int) -> Ints:
    """How many different values of the other each cell has."""
    pairs = np.unique(np.stack([cell, other.astype(np.int64)]), axis=1)
    return np.bincount(pairs[0], minlength=cells).astype(np.int64)


def _name_values(history: History, facet: Facet, places: Ints) -> list[str]:
    """What a facet says of the records at these places of the history, in words."""
    if facet.kind == "when":
        return [_name_period(n, facet.words) for n in history.times(facet.words)[places].tolist()]
    event = history.event_of_record[places]
    if facet.kind in ("kinds", "records"):
        counts = history.baskets[0] if facet.kind == "kinds" else history.records_of_event
        return [_name_band(int(n) - 1, facet.band, 1) for n in counts[event].tolist()]
    if facet.kind == "item":
        return _name_items(history, facet.level, places)
    if facet.kind == "basket":
        first = history.first_of_event[event]
        sizes = history.records_of_event[event]
        return [
            ", ".join(_list_items(history, facet, int(start), int(size)))
            for start, size in zip(first, sizes, strict=True)
        ]
    is_amount = facet.kind == "amount" and history.amount is not None
    column = history.dataset.columns[str(history.amount) if is_amount else facet.words]
    codes = column.codes[history.order][places]
    texts = [str(value) for value in column.values.to_pylist()]
    if is_amount:
        return [
            _name_band(float(texts[code]), facet.band, 0) if code < len(texts) else ""
            for code in codes.tolist()
        ]
    return [texts[code] if code < len(texts) else "" for code in codes.tolist()]


def _list_items(history: History, facet: Facet, start: int, size: int) -> list[str]:
    names = _name_items(history, facet.level, np.arange(start, start + size))
    return sorted(names if facet.every else set(names))


def _name_items(history: History, level: int, places: Ints) -> list[str]:
    column = history.dataset.columns[history.item]
    hierarchy = history.dataset.dictionary[history.item].hierarchy
    if level and hierarchy is not None:
        column = hierarchy.coarsen(column, level)
    codes = encode_items(history, level)[places]
    texts = [str(value) for value in column.values.to_pylist()]
    return [texts[code] if code < len(texts) else "" for code in codes.tolist()]


def _name_band(number: float, width: float, least: int) -> str:
    """A number, or the band that it lies in: `5 to 9` kinds."""
    low = int(number // width * width) if width == int(width) else number // width * width
    if width == 1:
        return f"{low + least:g}"
    return (
        f"{low + least:g} to {low + width - 1 + least:g}"
        if least
        else f"{low:g} to {low + width:g}"
    )


def _name_period(number: int, unit: str) -> str:
    """The hour, day, week, ... of a number, as dates are written.

    >>> _name_period(14944, "day"), _name_period(2135, "week"), _name_period(163, "quarter")
    ('2010-12-01', 'week of 2010-11-29', '2010 Q4')
    """
    origin = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # the wall clock of the data
    if unit == "hour":
        return f"{origin + dt.timedelta(hours=number):%Y-%m-%d %H}h"
    if unit == "day":
        return f"{origin + dt.timedelta(days=number):%Y-%m-%d}"
    if unit == "week":
        return f"week of {origin + dt.timedelta(days=7 * number - 3):%Y-%m-%d}"
    if unit == "month":
        return f"{1970 + number // 12}-{number % 12 + 1:02d}"
    return f"{1970 + number // 4} Q{number % 4 + 1}" if unit == "quarter" else f"{1970 + number}"
