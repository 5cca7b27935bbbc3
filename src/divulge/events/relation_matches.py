"""Knowledge of events looked up where the records are: whom it fits, by one group-by on another.

What is known, X, is a list of columns. Of every X and user the weight is summed, then of every X
how many users there are, the weight of all and of the likeliest; these come home by the number of
users. A basket is the sorted list of its items, and no hash of it: only equal baskets are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.data import Relation
from divulge.data.relation.relation import build_elsewhere_error
from divulge.events.history.calendar import COARSER
from divulge.events.history.history import History
from divulge.events.history.relation_tables import EVENTS, ROWS, USERS, open_history
from divulge.events.knowledge.attacker import Attacker
from divulge.events.knowledge.facets import Facet
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    from divulge.engines import Session

MATCHES = "history_matches"


@dataclass(frozen=True, eq=False, kw_only=True)
class MatchCounts:
    """What one attacker finds, by how many users match. Shares are of the weight that was drawn."""

    users: Ints
    """How many users match, rising."""
    cells_of: Ints
    """How many different pieces of knowledge fit so many users."""
    weight_of: Floats
    """What these weigh."""
    best_of: Floats
    """What of it the best guess gets right."""
    largest: float
    """The weight of the user who has most."""
    users_singled_out: int
    """Users of whom something may be known that fits nobody else."""

    @property
    def cells(self) -> int:
        """How many different pieces of knowledge there are."""
        return int(self.cells_of.sum())

    @property
    def weight(self) -> float:
        """All that can be drawn: records, events (or pairs), users."""
        return float(self.weight_of.sum())

    @property
    def right_uniform(self) -> float:
        """How much of it a guess among those who match gets right."""
        return float((self.weight_of / self.users).sum())

    @property
    def right_best(self) -> float:
        """How much of it the best guess gets right."""
        return float(self.best_of.sum())

    @property
    def certain(self) -> float:
        """How much of it fits one user only."""
        return float(self.weight_of[self.users == 1].sum())

    @property
    def largest_user(self) -> float:
        """The largest share of one user: what the best guess finds before."""
        return self.largest / self.weight

    @property
    def by_matches(self) -> Floats:
        """The weight by the number of users who match."""
        weights = np.zeros(int(self.users.max()) + 1)
        weights[self.users] = self.weight_of
        return weights


@dataclass(frozen=True)
class RelationMatching:
    """Attackers on a history whose records stay where they are, in one session."""

    history: History
    session: Session
    attributes: Sequence[str]

    def match(self, attacker: Attacker, at_worst: bool = True) -> MatchCounts:
        """Whom the knowledge of an attacker fits; `at_worst`: also figures of single users."""
        facets = attacker.facets(self.history)
        of_events = all(self._is_of_events(facet) for facet in facets)
        columns = [self._build_column(facet, of_events) for facet in facets]
        listed = "".join(f"{column} AS x{place}, " for place, column in enumerate(columns))
        grouped = ", ".join([*columns, "r.u"])
        source = self._build_source(facets, str(attacker.weight), of_events)
        weight = _build_weight(str(attacker.weight), of_events)
        known = [f"x{place}" for place in range(len(columns))]
        by_x = f" GROUP BY {', '.join(known)}" if known else ""
        self.session.keep(
            MATCHES, f"SELECT {listed}r.u AS u, {weight} AS m FROM {source} GROUP BY {grouped}"
        )
        found = self.session.arrays(
            f"SELECT users, count(*) AS cells, sum(all_of_it) AS weight, sum(most) AS best "
            f"FROM (SELECT count(*) AS users, sum(m) AS all_of_it, max(m) AS most "
            f"FROM {MATCHES}{by_x}) AS q GROUP BY users ORDER BY users"
        )
        largest, alone = 0.0, 0
        if at_worst:
            largest = float(self._ask(f"SELECT sum(m) AS n FROM {MATCHES} GROUP BY u", "max"))
            one = f"SELECT min(u) AS n FROM {MATCHES}{by_x} HAVING count(*) = 1"
            alone = int(self._ask(one, "count", "DISTINCT "))
        self.session.forget(MATCHES)
        return MatchCounts(
            users=found["users"].astype(np.int64),
            cells_of=found["cells"].astype(np.int64),
            weight_of=found["weight"].astype(np.float64),
            best_of=found["best"].astype(np.float64),
            largest=largest,
            users_singled_out=alone,
        )

    def _ask(self, sql: str, function: str, distinct: str = "") -> Any:
        asked = f"SELECT {function}({distinct}n) AS n FROM ({sql}) AS q"
        return self.session.arrays(asked)["n"][0]

    def _is_of_events(self, facet: Facet) -> bool:
        """Whether a facet is the same for all records of an event."""
        if facet.kind == "when":
            return facet.words in COARSER.get(self.history.event, ())
        return facet.kind in ("kinds", "records", "basket")

    def _build_column(self, facet: Facet, of_events: bool) -> str:
        """What is known, as a column of the records `r` or of their events `e`."""
        events = "r" if of_events else "e"
        if facet.kind == "when":
            return f"r.t_{facet.words}"
        if facet.kind == "basket" and not facet.every and not facet.level:
            return f"{events}.basket"
        if facet.kind in ("kinds", "records") and facet.band == int(facet.band):
            return f"CAST(floor(({events}.{facet.kind} - 1) / {int(facet.band)}) AS BIGINT)"
        if facet.kind == "item" and not facet.level:
            return "r.i"
        if facet.kind == "attribute":
            return f"r.a{self.attributes.index(facet.words)}"
        dataset = self.history.dataset
        engine = dataset.engine if isinstance(dataset, Relation) else "memory"
        raise build_elsewhere_error(dataset.name, engine, f'what knows "{facet.words}"')

    def _build_source(self, facets: Sequence[Facet], weight: str, of_events: bool) -> str:
        source = f"{EVENTS if of_events else ROWS} AS r"
        if not of_events and any(facet.kind in ("kinds", "records", "basket") for facet in facets):
            source += f" JOIN {EVENTS} AS e ON r.u = e.u AND r.w = e.w"
        if weight == "user":
            source += f" JOIN {USERS} AS o ON r.u = o.u"
        return source


def _build_weight(weight: str, of_events: bool) -> str:
    """What the records of a user weigh of which the same is known."""
    if weight == "event":
        return "count(*)" if of_events else "count(DISTINCT r.w)"
    count = "r.records" if of_events else "r.n"
    if weight == "record":
        return f"CAST(sum({count}) AS BIGINT)"
    return f"sum(CAST({count} AS DOUBLE) / CAST(o.records AS DOUBLE))"


@contextmanager
def open_matching(history: History, attackers: Sequence[Attacker]) -> Iterator[RelationMatching]:
    """A session in which these attackers are run on a history of a relation."""
    reading = history.relation_reading
    assert reading is not None  # noqa: S101  # asked of relations only
    relation = reading.relation
    if any(isinstance(attacker.weight, Mapping) for attacker in attackers):
        raise build_elsewhere_error(relation.name, relation.engine, "a prior of users")
    facets = [facet for attacker in attackers for facet in attacker.facets(history)]
    attributes = list(dict.fromkeys(f.words for f in facets if f.kind == "attribute"))
    baskets = any(facet.kind == "basket" for facet in facets)
    with open_history(reading, attributes, baskets) as tables:
        yield RelationMatching(history, tables.session, attributes)


@dataclass(frozen=True, kw_only=True)
class RelationTotals:
    """Totals of a history, from which the success of attackers is estimated."""

    when: Ints
    sizes: Ints
    items: Ints
    baskets: int


def count_totals(history: History, unit: str) -> RelationTotals:
    """How many events each unit of time and each size has, and each item; how many baskets."""
    reading = history.relation_reading
    assert reading is not None  # noqa: S101  # asked of relations only
    relation = reading.relation
    with open_history(reading, baskets=True) as tables:
        session = tables.session
        if unit not in COARSER.get(history.event, ()):
            torn = session.arrays(
                f"SELECT count(*) AS n FROM (SELECT u, w FROM {ROWS} GROUP BY u, w "
                f"HAVING min(t_{unit}) <> max(t_{unit})) AS q"
            )
            if int(torn["n"][0]):  # which of its units an event counts for hangs on an order
                what = f"a history with events of more than one {unit}"
                raise build_elsewhere_error(relation.name, relation.engine, what)
        when = session.arrays(
            f"SELECT t_{unit} AS v, count(*) AS n FROM {EVENTS} GROUP BY t_{unit} ORDER BY v"
        )
        kinds = session.arrays(f"SELECT kinds, count(*) AS n FROM {EVENTS} GROUP BY kinds")
        items = session.arrays(
            f"SELECT i, count(*) AS n FROM (SELECT u, w, i FROM {ROWS} GROUP BY u, w, i) AS q "
            "GROUP BY i ORDER BY i"
        )
        baskets = session.arrays(
            f"SELECT count(*) AS n FROM (SELECT basket FROM {EVENTS} GROUP BY basket) AS q"
        )
    sizes = np.zeros(int(kinds["kinds"].max()) + 1, np.int64)
    sizes[kinds["kinds"].astype(np.int64)] = kinds["n"]
    return RelationTotals(
        when=when["n"].astype(np.int64),
        sizes=sizes,
        items=items["n"].astype(np.int64),
        baskets=int(baskets["n"][0]),
    )
