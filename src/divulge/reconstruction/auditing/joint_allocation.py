"""Allocations that meet all tables at once, where records have a choice in several of them.

CP-SAT is asked for one in which some record is where it was not shown to be yet, again and again:
of all instances of the finest table that coarser ones tie together. What is found is a proof that
nobody can exclude, whatever they add up; what is not found says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from divulge import work
from divulge.reconstruction.auditing.cross_table_coupling import torn
from divulge.reconstruction.auditing.cross_table_limits import places_in
from divulge.reconstruction.auditing.table_state import Level
from divulge.reconstruction.auditing.totals import Group
from divulge.reconstruction.problem.amounts import Bools, Ints
from divulge.solvers import cp_sat
from divulge.work import Effort

MOST_PAIRS = 3_000
SECONDS_PER_QUESTION = 1.0  # nominal


@dataclass(frozen=True)
class Tied:
    """Instances that hang together: numbers of the finest table's; level and number of others."""

    fine: tuple[int, ...]
    others: tuple[tuple[int, int], ...]


def shown_together(levels: tuple[Level, ...], rows: int, seconds: float) -> dict[int, Bools]:
    """Pairs of records and places in allocations of all tables, by instance of the finest table.

    Args:
        levels: the tables as far as they are settled, the finest first.
        rows: how many records there are.
        seconds: the effort for all of it, in nominal seconds.
    """
    effort = Effort(seconds)
    found: dict[int, Bools] = {}
    for part in tied(levels, rows):
        found |= _shown(levels, part, effort)
    return found


def tied(levels: tuple[Level, ...], rows: int) -> list[Tied]:
    """Instances of the finest table that are coupled, with those of others that tie them."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    fine = levels[0]
    nodes: dict[tuple[int, int], int] = {}
    edges: list[tuple[int, int]] = []
    for n in np.unique(fine.matched.group_of[torn(levels, rows)]).tolist():
        own = nodes.setdefault((0, n), len(nodes))
        edges.append((own, own))
        for at, level in enumerate(levels[1:], start=1):
            free = _reached(level, fine, n).sum(axis=1) > 1
            tying = np.unique(level.matched.group_of[fine.matched.groups[n].records[free]])
            others = [m for m in tying.tolist() if m >= 0 and not level.is_unsound(m)]
            edges += [(own, nodes.setdefault((at, m), len(nodes))) for m in others]
    if not nodes:
        return []
    first, second = np.array(edges).T
    graph = coo_array((np.ones(len(edges)), (first, second)), shape=(len(nodes), len(nodes)))
    parts: dict[int, list[tuple[int, int]]] = {}
    for one, part in zip(nodes, connected_components(graph, directed=False)[1], strict=True):
        parts.setdefault(int(part), []).append(one)
    return [
        Tied(tuple(n for at, n in part if at == 0), tuple(one for one in part if one[0]))
        for part in sorted(parts.values(), key=len)
    ]


def _reached(level: Level, fine: Level, n: int) -> Bools:
    """In which places of another table the records of an instance of the finest may be."""
    group = fine.matched.groups[n]
    numbers = places_in(level, fine)[group.rows]
    found = np.zeros((len(group.records), len(level.matched.names) + 1), bool)
    for b, number in enumerate(numbers):
        found[:, number] |= fine.possible[n][:, b]
    return found


def _shown(levels: tuple[Level, ...], part: Tied, effort: Effort) -> dict[int, Bools]:
    """The pairs of one part; none where a premise is in doubt, or it is too large to ask."""
    fine = levels[0]
    found = {n: np.zeros_like(fine.possible[n]) for n in part.fine}
    instances = [(fine, n) for n in part.fine] + [(levels[at], n) for at, n in part.others]
    complete = all(_is_complete(level, n) for level, n in instances)
    if not complete or sum(int(fine.possible[n].sum()) for n in part.fine) > MOST_PAIRS:
        return found
    question = _Question.of(levels, part)
    while question is not None:
        work.check()
        # Who has two places is shown; what is asked for is another place of somebody else.
        open_pairs = [
            (n, int(p), int(b))
            for n in part.fine
            for p, b in np.argwhere(fine.possible[n] & ~found[n])
            if found[n][p].sum() < 2
        ]
        chosen = question.answer(open_pairs, effort) if open_pairs and not effort.spent else None
        if chosen is None:
            break
        for n, p, b in chosen:
            found[n][p, b] = True
    return found


def _is_complete(level: Level, n: int) -> bool:
    result = level.results[n]
    complete = result is not None and result.premise == "complete"
    return complete and n not in level.contradicted


@dataclass(frozen=True)
class _Question:
    """All instances of a part as one CP-SAT model: one truth value a pair that is possible."""

    model: Any
    pairs: dict[tuple[int, int, int], Any] = field(default_factory=dict)

    @classmethod
    def of(cls, levels: tuple[Level, ...], part: Tied) -> _Question | None:
        """The model; None if a coarser table does not know a place of the finest."""
        from ortools.sat.python import cp_model

        question, fine = cls(cp_model.CpModel()), levels[0]
        in_place: dict[int, dict[int, Any]] = {}  # of each record, its pairs by row of `fine`
        for n in part.fine:
            group = fine.matched.groups[n]
            for p, record in enumerate(group.records.tolist()):
                allowed = np.flatnonzero(fine.possible[n][p]).tolist()
                own = {b: question.model.new_bool_var("") for b in allowed}
                question.model.add_exactly_one(own.values())
                question.pairs.update({(n, p, b): var for b, var in own.items()})
                in_place[record] = {int(group.rows[b]): var for b, var in own.items()}
            terms = [
                [
                    (var, p)
                    for p in range(len(group.records))
                    if (var := question.pairs.get((n, p, b))) is not None
                ]
                for b in range(len(group.rows))
            ]
            question._add(fine, n, terms)
        for at, n in part.others:
            level = levels[at]
            number_of_row = places_in(level, fine)
            if (number_of_row == len(level.matched.names)).any():
                return None
            terms = question._terms(levels, (at, n), in_place, number_of_row)
            question._add(level, n, terms)
        return question

    def _terms(
        self,
        levels: tuple[Level, ...],
        of: tuple[int, int],
        in_place: dict[int, dict[int, Any]],
        number_of_row: Ints,
    ) -> list[list[tuple[Any, int]]]:
        """Of every place of another table's instance, who may be there, and by which values."""
        fine, level, n = levels[0], levels[of[0]], of[1]
        group: Group = level.matched.groups[n]
        places = level.matched.place[group.rows]
        where = {int(place): b for b, place in enumerate(places)}
        terms: list[list[tuple[Any, int]]] = [[] for _ in group.rows]
        for p, record in enumerate(group.records.tolist()):
            if record in in_place:
                for row, var in in_place[record].items():
                    b = where.get(int(number_of_row[row]))
                    if b is None:
                        self.model.add(var == 0)  # the instance has no such place
                    else:
                        terms[b].append((var, p))
                continue
            # Others are where both tables let them be; the finest does not tie them.
            allowed = level.possible[n][p]
            own = int(fine.matched.group_of[record])
            if own >= 0 and not fine.is_unsound(own):
                at = int(np.flatnonzero(fine.matched.groups[own].records == record)[0])
                allowed = allowed & _reached(level, fine, own)[at][places]
            values = {b: self.model.new_bool_var("") for b in np.flatnonzero(allowed).tolist()}
            self.model.add_exactly_one(values.values())
            for b, var in values.items():
                terms[b].append((var, p))
        return terms

    def _add(self, level: Level, n: int, terms: list[list[tuple[Any, int]]]) -> None:
        """The sums of every place within their intervals, as if they did not widen."""
        from ortools.sat.python import cp_model

        group = level.matched.groups[n]
        instance = level.instance(group, level.readings, level.possible[n])
        for b, inside in enumerate(terms):
            variables = [var for var, _ in inside]
            for i in range(instance.attributes):
                amounts = [int(instance.amounts[p, i]) for _, p in inside]
                total = cp_model.LinearExpr.weighted_sum(variables, amounts)
                low, high = int(instance.low[b, i]), int(instance.high[b, i])
                self.model.add_linear_constraint(total, low, high)

    def answer(
        self, wanted: list[tuple[int, int, int]], effort: Effort
    ) -> list[tuple[int, int, int]] | None:
        """An allocation with some pair that is wanted; None if none was found."""
        question = self.model.clone()
        question.add_bool_or(
            question.get_bool_var_from_proto_index(self.pairs[pair].index) for pair in wanted
        )
        work.charge(cp_sat.MODEL, len(self.pairs))
        answer = cp_sat.solve(question, effort.part(SECONDS_PER_QUESTION))
        if not answer.is_solution:
            return None
        return [
            pair
            for pair, var in self.pairs.items()
            if answer.holds(question.get_bool_var_from_proto_index(var.index))
        ]
