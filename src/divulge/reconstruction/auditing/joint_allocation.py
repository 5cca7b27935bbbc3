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
from divulge.reconstruction import tuning
from divulge.reconstruction.auditing.cross_table_coupling import find_records_open_in_several
from divulge.reconstruction.auditing.cross_table_limits import map_places
from divulge.reconstruction.auditing.table_state import TableState
from divulge.reconstruction.auditing.totals import Group
from divulge.solvers import cp_sat
from divulge.solvers import tuning as solver_tuning
from divulge.work import Effort
from divulge.work.arrays import Bools, Ints


@dataclass(frozen=True)
class CoupledInstances:
    """Instances that are connected: numbers of the finest table's; level and number of others."""

    fine: tuple[int, ...]
    others: tuple[tuple[int, int], ...]


def prove_jointly(levels: tuple[TableState, ...], rows: int, seconds: float) -> dict[int, Bools]:
    """Pairs of records and places in allocations of all tables, by instance of the finest table.

    Args:
        levels: the tables as far as they are settled, the finest first.
        rows: how many records there are.
        seconds: the effort for all of it, in nominal seconds.
    """
    effort = Effort(seconds)
    proved: dict[int, Bools] = {}
    for part in find_coupled_instances(levels, rows):
        proved |= _prove_pairs(levels, part, effort)
    return proved


def find_coupled_instances(levels: tuple[TableState, ...], rows: int) -> list[CoupledInstances]:
    """Instances of the finest table that are coupled, with those of others that tie them."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    fine = levels[0]
    nodes: dict[tuple[int, int], int] = {}
    edges: list[tuple[int, int]] = []
    for n in np.unique(
        fine.totals_match.group_of[find_records_open_in_several(levels, rows)]
    ).tolist():
        own = nodes.setdefault((0, n), len(nodes))
        edges.append((own, own))
        for at, level in enumerate(levels[1:], start=1):
            is_open = _map_reachable_places(level, fine, n).sum(axis=1) > 1
            coupling_groups = np.unique(
                level.totals_match.group_of[fine.totals_match.groups[n].records[is_open]]
            )
            others = [m for m in coupling_groups.tolist() if m >= 0 and not level.is_unsound(m)]
            edges += [(own, nodes.setdefault((at, m), len(nodes))) for m in others]
    if not nodes:
        return []
    first, second = np.array(edges).T
    graph = coo_array((np.ones(len(edges)), (first, second)), shape=(len(nodes), len(nodes)))
    parts: dict[int, list[tuple[int, int]]] = {}
    for node, part in zip(nodes, connected_components(graph, directed=False)[1], strict=True):
        parts.setdefault(int(part), []).append(node)
    return [
        CoupledInstances(
            tuple(n for at, n in part if at == 0), tuple(node for node in part if node[0])
        )
        for part in sorted(parts.values(), key=len)
    ]


def _map_reachable_places(level: TableState, fine: TableState, n: int) -> Bools:
    """In which places of another table the records of an instance of the finest may be."""
    group = fine.totals_match.groups[n]
    numbers = map_places(level, fine)[group.rows]
    is_reachable = np.zeros((len(group.records), len(level.totals_match.names) + 1), bool)
    for b, number in enumerate(numbers):
        is_reachable[:, number] |= fine.possible[n][:, b]
    return is_reachable


def _prove_pairs(
    levels: tuple[TableState, ...], part: CoupledInstances, effort: Effort
) -> dict[int, Bools]:
    """The pairs of one part; none where a premise is in doubt, or it is too large to ask."""
    fine = levels[0]
    proved = {n: np.zeros_like(fine.possible[n]) for n in part.fine}
    instances = [(fine, n) for n in part.fine] + [(levels[at], n) for at, n in part.others]
    complete = all(_is_complete(level, n) for level, n in instances)
    if (
        not complete
        or sum(int(fine.possible[n].sum()) for n in part.fine) > tuning.JOINT_MOST_PAIRS
    ):
        return proved
    joint_model = _JointModel.from_instances(levels, part)
    while joint_model is not None:
        work.check()
        # Who has two places is done; what is wanted is another place of somebody else.
        open_pairs = [
            (n, int(p), int(b))
            for n in part.fine
            for p, b in np.argwhere(fine.possible[n] & ~proved[n])
            if proved[n][p].sum() < 2
        ]
        allocation = (
            joint_model.find_allocation(open_pairs, effort)
            if open_pairs and not effort.spent
            else None
        )
        if allocation is None:
            break
        for n, p, b in allocation:
            proved[n][p, b] = True
    return proved


def _is_complete(level: TableState, n: int) -> bool:
    result = level.results[n]
    complete = result is not None and result.premise == "complete"
    return complete and n not in level.contradictions


@dataclass(frozen=True)
class _JointModel:
    """All instances of a part as one CP-SAT model: one truth value a pair that is possible."""

    model: Any
    pairs: dict[tuple[int, int, int], Any] = field(default_factory=dict)

    @classmethod
    def from_instances(
        cls, levels: tuple[TableState, ...], part: CoupledInstances
    ) -> _JointModel | None:
        """The model; None if a coarser table does not know a place of the finest."""
        from ortools.sat.python import cp_model

        joint_model, fine = cls(cp_model.CpModel()), levels[0]
        in_place: dict[int, dict[int, Any]] = {}  # of each record, its pairs by row of `fine`
        for n in part.fine:
            group = fine.totals_match.groups[n]
            for p, record in enumerate(group.records.tolist()):
                allowed = np.flatnonzero(fine.possible[n][p]).tolist()
                own = {b: joint_model.model.new_bool_var("") for b in allowed}
                joint_model.model.add_exactly_one(own.values())
                joint_model.pairs.update({(n, p, b): var for b, var in own.items()})
                in_place[record] = {int(group.rows[b]): var for b, var in own.items()}
            terms = [
                [
                    (var, p)
                    for p in range(len(group.records))
                    if (var := joint_model.pairs.get((n, p, b))) is not None
                ]
                for b in range(len(group.rows))
            ]
            joint_model._add_sum_constraints(fine, n, terms)
        for at, n in part.others:
            level = levels[at]
            number_of_row = map_places(level, fine)
            if (number_of_row == len(level.totals_match.names)).any():
                return None
            terms = joint_model._collect_terms(levels, (at, n), in_place, number_of_row)
            joint_model._add_sum_constraints(level, n, terms)
        return joint_model

    def _collect_terms(
        self,
        levels: tuple[TableState, ...],
        of: tuple[int, int],
        in_place: dict[int, dict[int, Any]],
        number_of_row: Ints,
    ) -> list[list[tuple[Any, int]]]:
        """Of every place of another table's instance, who may be there, and by which values."""
        fine, level, n = levels[0], levels[of[0]], of[1]
        group: Group = level.totals_match.groups[n]
        places = level.totals_match.place[group.rows]
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
            own = int(fine.totals_match.group_of[record])
            if own >= 0 and not fine.is_unsound(own):
                at = int(np.flatnonzero(fine.totals_match.groups[own].records == record)[0])
                allowed = allowed & _map_reachable_places(level, fine, own)[at][places]
            values = {b: self.model.new_bool_var("") for b in np.flatnonzero(allowed).tolist()}
            self.model.add_exactly_one(values.values())
            for b, var in values.items():
                terms[b].append((var, p))
        return terms

    def _add_sum_constraints(
        self, level: TableState, n: int, terms: list[list[tuple[Any, int]]]
    ) -> None:
        """The sums of every place within their intervals, as if they did not widen."""
        from ortools.sat.python import cp_model

        group = level.totals_match.groups[n]
        instance = level.build_instance(group, level.readings, level.possible[n])
        for b, inside in enumerate(terms):
            variables = [var for var, _ in inside]
            for i in range(instance.attributes):
                amounts = [int(instance.amounts[p, i]) for _, p in inside]
                total = cp_model.LinearExpr.weighted_sum(variables, amounts)
                low, high = int(instance.low[b, i]), int(instance.high[b, i])
                self.model.add_linear_constraint(total, low, high)

    def find_allocation(
        self, open_pairs: list[tuple[int, int, int]], effort: Effort
    ) -> list[tuple[int, int, int]] | None:
        """An allocation with some pair that is wanted; None if none was found."""
        question = self.model.clone()
        question.add_bool_or(
            question.get_bool_var_from_proto_index(self.pairs[pair].index) for pair in open_pairs
        )
        work.charge(solver_tuning.CP_SAT_MODEL, len(self.pairs))
        answer = cp_sat.solve_model(question, effort.part(tuning.JOINT_QUESTION_SECONDS))
        if not answer.is_solution:
            return None
        return [
            pair
            for pair, var in self.pairs.items()
            if answer.holds(question.get_bool_var_from_proto_index(var.index))
        ]
