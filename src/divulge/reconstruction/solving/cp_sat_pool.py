"""CP-SAT with pooled solutions: every solution proves all of its pairs at once.

The solver is asked for an allocation with some pair that is not proved yet, again and again. When
there is none, what is proved is all that is possible. Whole numbers, so no tolerance to fear.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.problem.instance import Instance
from divulge.solvers import cp_sat
from divulge.solvers import tuning as solver_tuning
from divulge.work import Effort
from divulge.work.arrays import Bools, Ints


@dataclass
class AllocationModel:
    """An instance as a CP-SAT model: one truth value a pair that is allowed."""

    model: Any
    pairs: dict[tuple[int, int], Any]


def build_model(instance: Instance) -> AllocationModel:
    """Exactly one bin a package; every bin's sums within their intervals."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    pairs = {(int(p), int(b)): model.new_bool_var("") for p, b in np.argwhere(instance.allowed)}
    for p in range(instance.packages):
        model.add_exactly_one(pairs[p, int(b)] for b in np.flatnonzero(instance.allowed[p]))
    for b in range(instance.bins):
        inside = np.flatnonzero(instance.allowed[:, b])
        variables = [pairs[int(p), b] for p in inside]
        for i in range(instance.attributes):
            total = cp_model.LinearExpr.weighted_sum(
                variables, [int(a) for a in instance.amounts[inside, i]]
            )
            low, high = int(instance.low[b, i]), int(instance.high[b, i])
            if not instance.counts_matter:
                model.add_linear_constraint(total, low, high)
                continue
            already_inside = int(instance.already_in_bin[b])
            span = slice(already_inside, already_inside + len(inside) + 1)
            wide, deep = instance.slack_by_count[i, span], instance.extra_above[i, span]
            count = model.new_int_var(0, len(inside), "")
            model.add(count == sum(variables))
            below = model.new_int_var(0, int(wide[-1]), "")
            above = model.new_int_var(0, int((wide + deep)[-1]), "")
            model.add_element(count, [int(w) for w in wide], below)
            model.add_element(count, [int(w) for w in wide + deep], above)
            model.add(total + below >= low)
            model.add(total - above <= high)
    return AllocationModel(model, pairs)


def enumerate_new_allocations(
    instance: Instance, proved: Bools, effort: Effort
) -> Iterator[Ints | None]:
    """Allocations with a pair that is not proved, one after the other; None: there is no more.

    The caller marks in `proved` what each allocation proves. The iteration ends without None
    where the effort is spent.
    """
    allocation_model = build_model(instance)
    while True:
        work.check()
        unproved = [var for pair, var in allocation_model.pairs.items() if not proved[pair]]
        if not unproved:
            yield None
            return
        if effort.left <= solver_tuning.MIN_CP_SAT_TIME:
            return
        # One question at a time: the model grows no clause that later questions do not share.
        question = allocation_model.model.clone()
        question.add_bool_or(question.get_bool_var_from_proto_index(v.index) for v in unproved)
        work.charge(solver_tuning.CP_SAT_MODEL, len(allocation_model.pairs) * instance.attributes)
        answer = cp_sat.solve_model(question, effort.part(tuning.CP_SAT_QUESTION_SECONDS))
        if answer.is_infeasible:
            yield None
            return
        if not answer.is_solution:
            return
        of_package = np.full(instance.packages, -1, np.int16)
        for (p, b), var in allocation_model.pairs.items():
            if answer.holds(question.get_bool_var_from_proto_index(var.index)):
                of_package[p] = b
        yield of_package


def find_least_violation(instance: Instance, seconds: float) -> list[tuple[int, int, int]] | None:
    """Which bins and attributes must give way so that an allocation exists, and by how much.

    As few pairs (bin, attribute) as possible, each with its excess in units; None if no answer
    was found with the effort.
    """
    from ortools.sat.python import cp_model

    wide = instance.slack_by_count[:, -1]
    deep = wide + instance.extra_above[:, -1]
    model = cp_model.CpModel()
    pairs = {(p, b): model.new_bool_var("") for p, b in np.ndindex(instance.allowed.shape)}
    for p in range(instance.packages):
        model.add_exactly_one(pairs[p, b] for b in range(instance.bins) if instance.allowed[p, b])
    violations: dict[tuple[int, int], tuple[Any, Any]] = {}
    for b in range(instance.bins):
        inside = [int(p) for p in np.flatnonzero(instance.allowed[:, b])]
        for i in range(instance.attributes):
            amounts = [int(instance.amounts[p, i]) for p in inside]
            limit = sum(amounts) + int(abs(instance.low[b, i])) + 1
            flag, excess = model.new_bool_var(""), model.new_int_var(0, limit, "")
            total = cp_model.LinearExpr.weighted_sum([pairs[p, b] for p in inside], amounts)
            model.add(total - excess <= int(instance.high[b, i] + deep[i]))
            model.add(total + excess >= int(instance.low[b, i] - wide[i]))
            model.add(excess == 0).only_enforce_if(flag.negated())
            violations[b, i] = flag, excess
    flags = sum(flag for flag, _ in violations.values())
    effort = Effort(seconds)
    model.minimize(flags)
    fewest_answer = cp_sat.solve_model(model, effort)
    if not fewest_answer.is_solution:
        return None
    # Of as few as possible, those that have to give way least.
    model.add(flags <= round(fewest_answer.objective))
    model.minimize(sum(excess for _, excess in violations.values()))
    least_answer = cp_sat.solve_model(model, effort)
    if not least_answer.is_solution:
        return None
    return [
        (b, i, least_answer.value(excess))
        for (b, i), (flag, excess) in violations.items()
        if least_answer.holds(flag)
    ]
